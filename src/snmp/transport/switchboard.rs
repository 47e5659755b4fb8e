//! Who waits for what: replies told apart by peer and id.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use foldhash::HashMap;

use super::unpoisoned;
use crate::snmp::message::peek_id;

/// Datagrams that one request holds before its owner has looked at them; more are lost, as
/// on the wire.
const BACKLOG: usize = 32;

/// What a waiting request hears.
#[derive(Debug)]
pub(in crate::snmp) enum Sound {
    /// A datagram from the peer, with the id of the request or with none that can be read.
    Datagram(Vec<u8>),
    /// A datagram with the id of the request from somebody else.
    Stranger(SocketAddr),
    /// The request could not be sent.
    Unsent(io::Error),
}

/// A request that waits. Dropped, it waits no longer.
#[derive(Debug)]
pub(in crate::snmp) struct Pending {
    /// Request id, and msgID: 1 to 2^31-1, unlike that of any other waiting request.
    pub(in crate::snmp) id: i32,
    switchboard: Arc<Switchboard>,
}

impl Pending {
    /// The next thing heard.
    pub(in crate::snmp) async fn hear(&mut self) -> Sound {
        poll_fn(|context| {
            let mut waiting = self.switchboard.lock();
            // It is there until this request is dropped.
            let Some(own) = waiting.get_mut(&self.id) else { return Poll::Pending };
            match own.sounds.pop_front() {
                Some(sound) => Poll::Ready(sound),
                None => {
                    own.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    #[cfg(test)]
    fn heard(&mut self) -> Option<Sound> {
        self.switchboard.lock().get_mut(&self.id)?.sounds.pop_front()
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
    sounds: VecDeque<Sound>,
    waker: Option<Waker>,
}

impl Waiting {
    fn takes(&self, from: SocketAddr) -> bool {
        same_peer(self.peer, from) || self.also.contains(&from.ip())
    }

    /// Gives the one to be woken.
    fn hear(&mut self, sound: Sound) -> Option<Waker> {
        if self.sounds.len() < BACKLOG {
            self.sounds.push_back(sound);
        }
        self.waker.take()
    }
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) datagrams: AtomicU64,
    pub(super) unmatched: AtomicU64,
    pub(super) strangers: AtomicU64,
    pub(super) trailing: AtomicU64,
}

/// Who waits for what.
#[derive(Debug)]
pub(super) struct Switchboard {
    waiting: Mutex<HashMap<i32, Waiting>>,
    next: AtomicU32,
    pub(super) tally: Tally,
}

impl Switchboard {
    pub(super) fn new() -> Self {
        Self { waiting: Mutex::default(), next: AtomicU32::new(rand::random()), tally: Tally::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i32, Waiting>> {
        unpoisoned(&self.waiting)
    }

    pub(super) fn expect(self: &Arc<Self>, peer: SocketAddr, also: &[IpAddr]) -> Pending {
        let mut waiting = self.lock();
        let id = loop {
            let id = i32::try_from(self.next.fetch_add(1, Ordering::Relaxed) & 0x7fff_ffff).unwrap_or(0);
            if id != 0 && !waiting.contains_key(&id) {
                break id;
            }
        };
        let one = Waiting { peer, also: also.to_vec(), sounds: VecDeque::new(), waker: None };
        waiting.insert(id, one);
        drop(waiting);
        Pending { id, switchboard: Arc::clone(self) }
    }

    /// How many requests wait.
    pub(super) fn waiting(&self) -> usize {
        self.lock().len()
    }

    /// Tells a request that it could not be sent.
    pub(super) fn unsent(&self, id: i32, error: io::Error) {
        let waker = self.lock().get_mut(&id).and_then(|one| one.hear(Sound::Unsent(error)));
        waker.into_iter().for_each(Waker::wake);
    }

    /// Gives datagrams to those who wait for them.
    pub(super) fn deliver<'d>(&self, datagrams: impl IntoIterator<Item = (SocketAddr, &'d [u8])>) {
        let mut wakers = Vec::new();
        let mut waiting = self.lock();
        for (from, datagram) in datagrams {
            self.tally.datagrams.fetch_add(1, Ordering::Relaxed);
            let Some(id) = peek_id(datagram) else {
                // Nobody knows which request it was for: all that ask this peer hear of it.
                let askers = waiting.values_mut().filter(|one| one.takes(from));
                wakers.extend(askers.filter_map(|one| one.hear(Sound::Datagram(datagram.to_vec()))));
                continue;
            };
            let Some(one) = waiting.get_mut(&id) else {
                self.tally.unmatched.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            let sound = if one.takes(from) {
                Sound::Datagram(datagram.to_vec())
            } else {
                self.tally.strangers.fetch_add(1, Ordering::Relaxed);
                Sound::Stranger(from)
            };
            wakers.extend(one.hear(sound));
        }
        drop(waiting);
        wakers.into_iter().for_each(Waker::wake);
    }
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
    use super::*;
    use crate::snmp::encode::community_message;
    use crate::snmp::message::{Pdu, PduKind};

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
        board.deliver([
            (address("192.0.2.1:161"), &response(second.id)[..]),
            (address("192.0.2.2:161"), &response(first.id)),
        ]);
        assert!(matches!(second.heard(), Some(Sound::Datagram(_))));
        assert!(second.heard().is_none());
        let Some(Sound::Stranger(from)) = first.heard() else { panic!("nothing heard") };
        assert_eq!(from, address("192.0.2.2:161"));
        let id = first.id;
        drop(first);
        board.deliver([(address("192.0.2.1:161"), &response(id)[..])]);
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
            board.deliver([(address(from), &response(pending.id)[..])]);
            let heard = pending.heard().unwrap();
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
            board.deliver([(peer, &response(pending.id)[..])]);
        }
        let mut heard = 0;
        while pending.heard().is_some() {
            heard += 1;
        }
        assert_eq!(heard, BACKLOG);
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
