//! Our own UDP transport: a few shared sockets, replies told apart by peer and id.

mod sockets;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::mpsc;

use self::sockets::Sockets;
use super::latency::Latencies;
use super::message::peek_id;
use super::pace::Paces;
use super::usm::Keyring;
use super::v3::Known;
use crate::table::Name;

/// Datagrams that one request holds before its owner has looked at them; more are lost, as
/// on the wire.
const BACKLOG: usize = 32;

/// The shared sockets. Cheap to clone; the last clone closes them.
#[derive(Clone, Debug)]
pub struct Transport {
    shared: Arc<Shared>,
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
    sockets: Sockets,
    switchboard: Arc<Switchboard>,
    paces: Paces,
    latencies: Latencies,
    keyring: Arc<Keyring>,
    /// Per target and user, never per engine id: clones of a router share that.
    engines: Mutex<HashMap<(SocketAddr, Name), Known>>,
    salt: AtomicU64,
}

impl Transport {
    /// Opens the sockets, on both families where the host has them. Must be called within a
    /// tokio runtime, which then runs the readers.
    ///
    /// # Errors
    /// Where no socket can be opened, or no runtime is there.
    pub fn new() -> io::Result<Self> {
        let switchboard = Arc::new(Switchboard::new());
        let shared = Shared {
            sockets: Sockets::open(&switchboard)?,
            switchboard,
            paces: Paces::default(),
            latencies: Latencies::default(),
            keyring: Arc::default(),
            engines: Mutex::default(),
            salt: AtomicU64::new(rand::random()),
        };
        Ok(Self { shared: Arc::new(shared) })
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

    /// Sends a datagram, from the local address `source` where one is given.
    pub(super) async fn send(
        &self,
        peer: SocketAddr,
        source: Option<IpAddr>,
        datagram: &[u8],
    ) -> io::Result<()> {
        let socket = self.shared.sockets.towards(peer, source)?;
        socket.send_to(datagram, peer).await.map(|_| ())
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

/// What a waiting request hears.
#[derive(Debug)]
pub(super) enum Sound {
    /// A datagram from the peer, with the id of the request or with none that can be read.
    Datagram(Vec<u8>),
    /// A datagram with the id of the request from somebody else.
    Stranger(SocketAddr),
}

/// A request that waits. Dropped, it waits no longer.
#[derive(Debug)]
pub(super) struct Pending {
    /// Request id, and msgID: 1 to 2^31-1, unlike that of any other waiting request.
    pub(super) id: i32,
    sounds: mpsc::Receiver<Sound>,
    switchboard: Arc<Switchboard>,
}

impl Pending {
    /// The next thing heard.
    pub(super) async fn hear(&mut self) -> Sound {
        match self.sounds.recv().await {
            Some(sound) => sound,
            // The sender lives in the switchboard until this request is dropped.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.switchboard.lock().remove(&self.id);
    }
}

#[derive(Debug)]
struct Waiting {
    peer: SocketAddr,
    /// Other addresses that answers are taken from.
    also: Vec<IpAddr>,
    sounds: mpsc::Sender<Sound>,
}

impl Waiting {
    fn takes(&self, from: SocketAddr) -> bool {
        same_peer(self.peer, from) || self.also.contains(&from.ip())
    }
}

#[derive(Debug, Default)]
struct Tally {
    datagrams: AtomicU64,
    unmatched: AtomicU64,
    strangers: AtomicU64,
    trailing: AtomicU64,
}

/// Who waits for what.
#[derive(Debug)]
struct Switchboard {
    waiting: Mutex<HashMap<i32, Waiting>>,
    next: AtomicU32,
    tally: Tally,
}

impl Switchboard {
    fn new() -> Self {
        Self { waiting: Mutex::default(), next: AtomicU32::new(rand::random()), tally: Tally::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i32, Waiting>> {
        unpoisoned(&self.waiting)
    }

    fn expect(self: &Arc<Self>, peer: SocketAddr, also: &[IpAddr]) -> Pending {
        let (sender, sounds) = mpsc::channel(BACKLOG);
        let mut waiting = self.lock();
        let id = loop {
            let id = i32::try_from(self.next.fetch_add(1, Ordering::Relaxed) & 0x7fff_ffff).unwrap_or(0);
            if id != 0 && !waiting.contains_key(&id) {
                break id;
            }
        };
        waiting.insert(id, Waiting { peer, also: also.to_vec(), sounds: sender });
        drop(waiting);
        Pending { id, sounds, switchboard: Arc::clone(self) }
    }

    fn deliver(&self, from: SocketAddr, datagram: &[u8]) {
        self.tally.datagrams.fetch_add(1, Ordering::Relaxed);
        let waiting = self.lock();
        let Some(id) = peek_id(datagram) else {
            // Nobody knows which request it was for: all that ask this peer hear of it.
            for one in waiting.values().filter(|one| one.takes(from)) {
                let _ = one.sounds.try_send(Sound::Datagram(datagram.to_vec()));
            }
            return;
        };
        let Some(one) = waiting.get(&id) else {
            self.tally.unmatched.fetch_add(1, Ordering::Relaxed);
            return;
        };
        if one.takes(from) {
            let _ = one.sounds.try_send(Sound::Datagram(datagram.to_vec()));
        } else {
            self.tally.strangers.fetch_add(1, Ordering::Relaxed);
            let _ = one.sounds.try_send(Sound::Stranger(from));
        }
    }
}

/// A panic elsewhere cannot leave a map half changed.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Equal address and port; a zone only counts where both sides name one, a flow label never.
fn same_peer(asked: SocketAddr, from: SocketAddr) -> bool {
    let zones = match (asked, from) {
        (SocketAddr::V6(asked), SocketAddr::V6(from)) => (asked.scope_id(), from.scope_id()),
        _ => (0, 0),
    };
    let same_zone = zones.0 == 0 || zones.1 == 0 || zones.0 == zones.1;
    asked.ip() == from.ip() && asked.port() == from.port() && same_zone
}

#[cfg(test)]
mod tests {
    use super::super::encode::community_message;
    use super::super::message::{Pdu, PduKind};
    use super::*;

    fn response(id: i32) -> Vec<u8> {
        let pdu = Pdu {
            kind: PduKind::Response,
            request_id: id,
            error_status: 0,
            error_index: 0,
            varbinds: Vec::new(),
        };
        community_message(b"public", &pdu)
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn answers_find_their_request_by_peer_and_id() {
        let board = Arc::new(Switchboard::new());
        let mut first = board.expect(address("192.0.2.1:161"), &[]);
        let mut second = board.expect(address("192.0.2.1:161"), &[]);
        assert_ne!(first.id, second.id);
        assert!(first.id > 0 && second.id > 0);
        board.deliver(address("192.0.2.1:161"), &response(second.id));
        board.deliver(address("192.0.2.2:161"), &response(first.id));
        assert!(matches!(second.sounds.try_recv(), Ok(Sound::Datagram(_))));
        assert!(second.sounds.try_recv().is_err());
        let Ok(Sound::Stranger(from)) = first.sounds.try_recv() else { panic!("nothing heard") };
        assert_eq!(from, address("192.0.2.2:161"));
        let id = first.id;
        drop(first);
        board.deliver(address("192.0.2.1:161"), &response(id));
        assert_eq!(board.tally.unmatched.load(Ordering::Relaxed), 1);
        assert_eq!(board.tally.strangers.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_listed_address_answers_from_any_port_and_no_other_does() {
        let board = Arc::new(Switchboard::new());
        let also = ["192.0.2.9".parse().unwrap(), "2001:db8::9".parse().unwrap()];
        let mut pending = board.expect(address("192.0.2.1:161"), &also);
        for (from, taken) in [
            ("192.0.2.9:1161", true),
            ("[2001:db8::9]:40000", true),
            ("192.0.2.1:161", true),
            ("192.0.2.1:171", false),
            ("192.0.2.8:161", false),
        ] {
            board.deliver(address(from), &response(pending.id));
            let heard = pending.sounds.try_recv().unwrap();
            assert_eq!(matches!(heard, Sound::Datagram(_)), taken, "{from}");
        }
    }

    #[test]
    fn ids_wrap_without_zero_and_without_repeats() {
        let board = Arc::new(Switchboard::new());
        board.next.store(0x7fff_ffff, Ordering::Relaxed);
        let peer = address("[2001:db8::1]:161");
        let pending: Vec<_> = (0..3).map(|_| board.expect(peer, &[])).collect();
        assert_eq!(pending.iter().map(|one| one.id).collect::<Vec<_>>(), [i32::MAX, 1, 2]);
        board.next.store(1, Ordering::Relaxed);
        assert_eq!(board.expect(peer, &[]).id, 3);
    }

    #[test]
    fn a_flood_does_not_grow_without_bound() {
        let board = Arc::new(Switchboard::new());
        let peer = address("192.0.2.1:161");
        let mut pending = board.expect(peer, &[]);
        for _ in 0..BACKLOG * 2 {
            board.deliver(peer, &response(pending.id));
        }
        let mut heard = 0;
        while pending.sounds.try_recv().is_ok() {
            heard += 1;
        }
        assert_eq!(heard, BACKLOG);
    }

    #[tokio::test]
    async fn no_salt_is_given_twice() {
        let transport = Transport::new().unwrap();
        let salts: std::collections::HashSet<u64> = (0..1000).map(|_| transport.salt()).collect();
        assert_eq!(salts.len(), 1000);
    }

    #[test]
    fn a_zone_counts_only_where_both_sides_name_one() {
        let zone = |id| SocketAddr::V6(std::net::SocketAddrV6::new("fe80::1".parse().unwrap(), 161, 0, id));
        assert!(same_peer(zone(0), zone(2)));
        assert!(same_peer(zone(2), zone(2)));
        assert!(!same_peer(zone(1), zone(2)));
        assert!(!same_peer(address("192.0.2.1:161"), address("192.0.2.1:171")));
    }
}
