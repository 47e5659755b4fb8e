//! The replay agent: serves recorded walks over UDP, by v2c communities, and by v3 as an
//! engine with users.

mod engine;
mod respond;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

pub use self::engine::{ReplayEngine, ReplayEngineError};

use self::engine::Running;
use self::respond::{Answer, respond};
use super::encode::community_message_of;
use super::message::read_community;
use super::snmprec::Recording;

/// The largest payload of a UDP datagram over IPv4.
const MAX_DATAGRAM: usize = 65_507;
/// What fits an Ethernet frame behind IPv6 and UDP headers, with room for a tunnel.
const DEFAULT_OCTETS: usize = 1_400;
/// The length octets that a full list of varbinds adds to the head around it.
const LENGTH_OCTETS: usize = 12;

/// How long the agent rests after an error of its socket, so as not to spin.
const REST: Duration = Duration::from_millis(10);

/// A running replay agent. It stops when dropped.
#[derive(Debug)]
pub struct ReplayAgent {
    address: SocketAddr,
    served: Arc<Served>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Served {
    recordings: Mutex<HashMap<Vec<u8>, Arc<Recording>>>,
    engine: Option<Running>,
    max_octets: AtomicUsize,
}

impl ReplayAgent {
    /// Serves recordings by v2c on `address` (port 0 takes a free one), each under its
    /// community. Other communities are not answered.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub async fn start(address: SocketAddr, recordings: Vec<(String, Recording)>) -> io::Result<Self> {
        let recordings = recordings
            .into_iter()
            .map(|(community, recording)| (community.into_bytes(), Arc::new(recording)));
        Self::serve(address, recordings.collect(), None).await
    }

    /// Serves what an engine has, by v3 alone. Agents are light: a thousand of them, a socket
    /// each, may run in one process.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub async fn start_v3(address: SocketAddr, engine: ReplayEngine) -> io::Result<Self> {
        Self::serve(address, HashMap::new(), Some(engine.run())).await
    }

    async fn serve(
        address: SocketAddr,
        recordings: HashMap<Vec<u8>, Arc<Recording>>,
        engine: Option<Running>,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind(address).await?;
        let address = socket.local_addr()?;
        let served = Arc::new(Served {
            recordings: Mutex::new(recordings),
            engine,
            max_octets: AtomicUsize::new(DEFAULT_OCTETS),
        });
        let task = tokio::spawn(serve(socket, Arc::clone(&served)));
        Ok(Self { address, served, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves another recording from the next request on.
    pub fn replace(&self, community: &str, recording: Recording) {
        let mut recordings = self.served.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        recordings.insert(community.as_bytes().to_vec(), Arc::new(recording));
    }

    /// Makes no answer larger than this many octets: 1,400 unless set, 65,507 at most.
    pub fn set_max_octets(&self, octets: usize) {
        self.served.max_octets.store(octets.min(MAX_DATAGRAM), Ordering::Relaxed);
    }

    /// Sets the boots and time (in seconds) of its engine, as a reboot or a wiped
    /// configuration does. An agent of v2c has none.
    pub fn set_engine_clock(&self, boots: u32, time: u32) {
        if let Some(engine) = &self.served.engine {
            engine.set_clock(boots, time);
        }
    }
}

impl Drop for ReplayAgent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: UdpSocket, served: Arc<Served>) {
    let mut buffer = vec![0; 0xffff];
    loop {
        // An error is that of an earlier answer whose receiver is gone.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            tokio::time::sleep(REST).await;
            continue;
        };
        if let Some(answer) = served.answer(buffer.get(..length).unwrap_or_default()) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

impl Served {
    /// The answer to a datagram; none to what is no request or names nothing that is served.
    fn answer(&self, datagram: &[u8]) -> Option<Vec<u8>> {
        let max = self.max_octets.load(Ordering::Relaxed);
        match &self.engine {
            Some(engine) => engine.answer(datagram, max),
            None => self.answer_v2c(datagram, max),
        }
    }

    fn answer_v2c(&self, datagram: &[u8], max: usize) -> Option<Vec<u8>> {
        let message = read_community(datagram).ok()?;
        let recording = {
            let recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(recordings.get(message.community)?)
        };
        let empty = Answer::empty(&message.pdu, 0);
        let empty = community_message_of(message.community, &empty.head, &[]).len() + LENGTH_OCTETS;
        let answer = respond(&recording, &message.pdu, max.saturating_sub(empty))?;
        Some(community_message_of(message.community, &answer.head, &answer.list))
    }
}

#[cfg(test)]
mod tests;
