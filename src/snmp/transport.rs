//! Our own UDP transport: a few shared sockets, replies told apart by peer and id.

mod apart;
mod outbox;
mod sockets;
mod switchboard;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::runtime::{Builder, Handle};

use self::apart::Apart;
use self::outbox::Letter;
use self::sockets::Sockets;
use self::switchboard::Switchboard;
pub(super) use self::switchboard::{Pending, Sound};
use super::latency::Latencies;
use super::pace::Paces;
use super::slots::{Slot, Slots};
use super::usm::Keyring;
use super::v3::Known;
use crate::table::Name;

/// From so many requests on that wait, it is worth while to let datagrams wait for each other.
const MANY: usize = 8;

/// The shared sockets. Cheap to clone; the last clone closes them.
#[derive(Clone, Debug)]
pub struct Transport {
    shared: Arc<Shared>,
    slots: Option<Arc<Slots>>,
}

/// What the sockets heard since they were opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Heard {
    /// Datagrams received.
    pub datagrams: u64,
    /// Those that answered nothing that was asked: late, twice, or foreign.
    pub unmatched: u64,
    /// Those that answered a request from another address than the one asked.
    pub strangers: u64,
    /// Octets behind a complete message, which some agents send.
    pub trailing: u64,
}

#[derive(Debug)]
struct Shared {
    /// Runs the sockets' tasks.
    runtime: Handle,
    sockets: Sockets,
    switchboard: Arc<Switchboard>,
    paces: Paces,
    latencies: Latencies,
    keyring: Arc<Keyring>,
    /// Per target and user, never per engine id: clones of a router share that.
    engines: Mutex<HashMap<(SocketAddr, Name), Known>>,
    salt: AtomicU64,
    /// The thread that is this transport's alone, where it has one.
    _apart: Option<Apart>,
}

impl Transport {
    /// Opens the sockets, on both families where the host has them. Must be called within a
    /// tokio runtime, which then runs the readers.
    ///
    /// # Errors
    /// Where no socket can be opened, or no runtime is there.
    pub fn new() -> io::Result<Self> {
        Self::open(Handle::try_current().map_err(io::Error::other)?, None)
    }

    /// The same with a thread of its own, which ends with the last clone: for many routers. To
    /// talk with one takes some microseconds at a time, and costs more where threads hand each
    /// other every answer than on one alone; only where many datagrams wait, a second one sends them.
    /// Polls are to run on [`Transport::runtime`].
    ///
    /// # Errors
    /// Where no socket can be opened, or no thread.
    pub fn apart() -> io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("snmp").enable_all().build()?;
        let handle = runtime.handle().clone();
        let apart = Apart::new(runtime);
        let _within = handle.enter();
        Self::open(handle.clone(), Some(apart))
    }

    fn open(runtime: Handle, apart: Option<Apart>) -> io::Result<Self> {
        let switchboard = Arc::new(Switchboard::new());
        let shared = Shared {
            runtime,
            sockets: Sockets::open(&switchboard)?,
            switchboard,
            paces: Paces::default(),
            latencies: Latencies::default(),
            keyring: Arc::default(),
            engines: Mutex::default(),
            salt: AtomicU64::new(rand::random()),
            _apart: apart,
        };
        Ok(Self { shared: Arc::new(shared), slots: None })
    }

    /// Where the sockets are read, and where what talks by them runs best.
    pub fn runtime(&self) -> &Handle {
        &self.shared.runtime
    }

    /// The same sockets, by which no more than so many routers are talked with at a time. A
    /// router that does not answer does not count.
    #[must_use]
    pub fn limited(&self, routers: usize) -> Self {
        Self { shared: Arc::clone(&self.shared), slots: Some(Arc::new(Slots::new(routers))) }
    }

    /// The claim of one poll to a slot.
    pub(super) fn slot(&self) -> Slot {
        Slot::new(self.slots.clone())
    }

    /// What the sockets heard so far.
    pub fn heard(&self) -> Heard {
        let tally = &self.shared.switchboard.tally;
        Heard {
            datagrams: tally.datagrams.load(Ordering::Relaxed),
            unmatched: tally.unmatched.load(Ordering::Relaxed),
            strangers: tally.strangers.load(Ordering::Relaxed),
            trailing: tally.trailing.load(Ordering::Relaxed),
        }
    }

    /// Waits for answers from `peer` under an id of its own, and from the addresses `also`,
    /// whatever their port.
    pub(super) fn expect(&self, peer: SocketAddr, also: &[IpAddr]) -> Pending {
        self.shared.switchboard.expect(peer, also)
    }

    /// Sends the datagram of the request `id`, from the local address `source` where one is
    /// given. Where many requests wait, it goes out with others, and the request hears of it
    /// if it could not.
    pub(super) async fn send(
        &self,
        id: i32,
        peer: SocketAddr,
        source: Option<IpAddr>,
        datagram: &[u8],
    ) -> io::Result<()> {
        let socket = self.shared.sockets.towards(peer, source)?;
        if self.shared.switchboard.waiting() < MANY {
            // Rare in a fleet, of which no poll is to keep room for it.
            return Box::pin(socket.send_to(datagram, peer)).await;
        }
        socket.post(Letter { id, peer, datagram: datagram.to_vec() });
        Ok(())
    }

    /// When peers that are limited may be sent to.
    pub(super) fn paces(&self) -> &Paces {
        &self.shared.paces
    }

    /// How long peers take to answer.
    pub(super) fn latencies(&self) -> &Latencies {
        &self.shared.latencies
    }

    /// The keys made so far.
    pub(super) fn keyring(&self) -> &Arc<Keyring> {
        &self.shared.keyring
    }

    /// A number that no encrypted message has been sent with: random at start, then counted.
    pub(super) fn salt(&self) -> u64 {
        self.shared.salt.fetch_add(1, Ordering::Relaxed)
    }

    /// What is known of the engine behind a target, as a user heard it.
    pub(super) fn engine(&self, peer: SocketAddr, user: &Name) -> Option<Known> {
        unpoisoned(&self.shared.engines).get(&(peer, user.clone())).cloned()
    }

    /// Remembers it.
    pub(super) fn remember_engine(&self, peer: SocketAddr, user: &Name, known: &Known) {
        unpoisoned(&self.shared.engines).insert((peer, user.clone()), known.clone());
    }

    /// Counts octets behind a message.
    pub(super) fn count_trailing(&self, octets: usize) {
        let octets = u64::try_from(octets).unwrap_or(u64::MAX);
        self.shared.switchboard.tally.trailing.fetch_add(octets, Ordering::Relaxed);
    }
}

/// A panic elsewhere cannot leave a map half changed.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_salt_is_given_twice() {
        let transport = Transport::new().unwrap();
        let salts: std::collections::HashSet<u64> = (0..1000).map(|_| transport.salt()).collect();
        assert_eq!(salts.len(), 1000);
    }
}
