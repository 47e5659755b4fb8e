//! An agent that does what a test tells it: a UDP socket and a closure that decides what
//! goes back for each datagram.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// What the agent does with a datagram.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends this back.
    Send(Vec<u8>),
    /// Sends this back from its other socket: another port, or another address.
    Elsewhere(Vec<u8>),
    /// Sends this back after a while.
    Later(Duration, Vec<u8>),
}

/// Datagrams, and where they came from.
pub type Heard = Vec<(SocketAddr, Vec<u8>)>;

/// A running agent. It stops when dropped.
pub struct Scripted {
    address: SocketAddr,
    elsewhere: SocketAddr,
    heard: Arc<Mutex<Heard>>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// An agent on 127.0.0.1.
    pub async fn start(script: impl FnMut(&[u8]) -> Vec<Act> + Send + 'static) -> Self {
        Self::start_on("127.0.0.1:0", script).await
    }

    /// An agent on an address; port 0 takes a free one.
    pub async fn start_on(address: &str, script: impl FnMut(&[u8]) -> Vec<Act> + Send + 'static) -> Self {
        let address: SocketAddr = address.parse().unwrap();
        Self::start_on_two(address, address.ip(), script).await
    }

    /// An agent on an address, with another one that it also sends from.
    pub async fn start_on_two(
        address: SocketAddr,
        other: IpAddr,
        mut script: impl FnMut(&[u8]) -> Vec<Act> + Send + 'static,
    ) -> Self {
        let socket = Arc::new(UdpSocket::bind(address).await.unwrap());
        let address = socket.local_addr().unwrap();
        let other = UdpSocket::bind(SocketAddr::new(other, 0)).await.unwrap();
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

    /// The other address and port that it sends from.
    pub fn elsewhere(&self) -> SocketAddr {
        self.elsewhere
    }

    /// What it heard so far, and from where.
    pub fn heard(&self) -> Heard {
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
