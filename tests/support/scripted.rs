//! An agent that does what a test tells it: a UDP socket and a closure that decides what
//! goes back for each datagram.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// What the agent does with a datagram.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends this back.
    Send(Vec<u8>),
    /// Sends this back from another port.
    Elsewhere(Vec<u8>),
    /// Sends this back after a while.
    Later(Duration, Vec<u8>),
}

/// A running agent. It stops when dropped.
pub struct Scripted {
    address: SocketAddr,
    elsewhere: SocketAddr,
    heard: Arc<Mutex<Vec<(SocketAddr, Vec<u8>)>>>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// An agent on 127.0.0.1.
    pub async fn start(script: impl FnMut(&[u8]) -> Vec<Act> + Send + 'static) -> Self {
        Self::start_on("127.0.0.1:0", script).await
    }

    /// An agent on an address; port 0 takes a free one.
    pub async fn start_on(address: &str, mut script: impl FnMut(&[u8]) -> Vec<Act> + Send + 'static) -> Self {
        let socket = Arc::new(UdpSocket::bind(address).await.unwrap());
        let address = socket.local_addr().unwrap();
        let other = UdpSocket::bind(SocketAddr::new(address.ip(), 0)).await.unwrap();
        let elsewhere = other.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; 0xffff];
            loop {
                let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
                log.lock().unwrap().push((from, buffer[..length].to_vec()));
                for act in script(&buffer[..length]) {
                    match act {
                        Act::Send(datagram) => drop(socket.send_to(&datagram, from).await.unwrap()),
                        Act::Elsewhere(datagram) => drop(other.send_to(&datagram, from).await.unwrap()),
                        Act::Later(delay, datagram) => {
                            let socket = Arc::clone(&socket);
                            tokio::spawn(async move {
                                tokio::time::sleep(delay).await;
                                socket.send_to(&datagram, from).await.unwrap();
                            });
                        }
                    }
                }
            }
        });
        Self { address, elsewhere, heard, task }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The other port that it sends from.
    pub fn elsewhere(&self) -> SocketAddr {
        self.elsewhere
    }

    /// What it heard so far, and from where.
    pub fn heard(&self) -> Vec<(SocketAddr, Vec<u8>)> {
        self.heard.lock().unwrap().clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A script that drops the first transmission of every datagram.
pub fn lossy(
    mut script: impl FnMut(&[u8]) -> Vec<Act> + Send + 'static,
) -> impl FnMut(&[u8]) -> Vec<Act> + Send + 'static {
    let mut seen = std::collections::HashSet::new();
    move |datagram| if seen.insert(datagram.to_vec()) { Vec::new() } else { script(datagram) }
}
