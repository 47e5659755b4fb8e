//! A UDP relay before a real agent: drops the first transmission of every datagram, and puts
//! forged packets before every true answer.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// What a relay has done so far.
#[derive(Debug, Default)]
pub struct Done {
    pub dropped: AtomicU32,
    pub forged: AtomicU32,
    pub answered: AtomicU32,
}

/// A running relay. It stops when dropped.
pub struct Relay {
    address: SocketAddr,
    done: Arc<Done>,
    task: JoinHandle<()>,
}

impl Relay {
    /// A relay on the agent's own loopback address. `forge` gives the packets that go before
    /// a true answer.
    pub async fn start(
        agent: SocketAddr,
        mut forge: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
    ) -> Self {
        let here = UdpSocket::bind(SocketAddr::new(agent.ip(), 0)).await.unwrap();
        let there = UdpSocket::bind(SocketAddr::new(agent.ip(), 0)).await.unwrap();
        let stranger = UdpSocket::bind(SocketAddr::new(agent.ip(), 0)).await.unwrap();
        there.connect(agent).await.unwrap();
        let address = here.local_addr().unwrap();
        let done = Arc::new(Done::default());
        let count = Arc::clone(&done);
        let task = tokio::spawn(async move {
            let (mut up, mut down) = (vec![0; 0xffff], vec![0; 0xffff]);
            let mut seen = HashSet::new();
            let mut client = None;
            loop {
                tokio::select! {
                    asked = here.recv_from(&mut up) => {
                        let (length, from) = asked.unwrap();
                        client = Some(from);
                        if seen.insert(up[..length].to_vec()) {
                            count.dropped.fetch_add(1, Ordering::Relaxed);
                        } else {
                            there.send(&up[..length]).await.unwrap();
                        }
                    }
                    // An error is the agent's port that is not open yet.
                    Ok(length) = there.recv(&mut down) => {
                        let Some(client) = client else { continue };
                        let answer = &down[..length];
                        stranger.send_to(answer, client).await.unwrap();
                        for forged in forge(answer) {
                            here.send_to(&forged, client).await.unwrap();
                            count.forged.fetch_add(1, Ordering::Relaxed);
                        }
                        here.send_to(answer, client).await.unwrap();
                        count.answered.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        Self { address, done, task }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Datagrams dropped, packets forged, answers passed on.
    pub fn done(&self) -> (u32, u32, u32) {
        let load = |count: &AtomicU32| count.load(Ordering::Relaxed);
        (load(&self.done.dropped), load(&self.done.forged), load(&self.done.answered))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}
