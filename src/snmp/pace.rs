//! Routers that limit SNMP: the least time from one packet to the next, kept over all polls.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When each peer that is limited may be sent to again.
#[derive(Debug, Default)]
pub(super) struct Paces {
    next: Mutex<HashMap<SocketAddr, Instant>>,
}

impl Paces {
    /// Books the next packet to `peer`: the moment it may go. The one after it may go `gap`
    /// later at the earliest, whoever sends it.
    pub(super) fn book(&self, peer: SocketAddr, gap: Duration, now: Instant) -> Instant {
        // A panic elsewhere cannot leave the map half changed.
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = next.get(&peer).map_or(now, |&slot| slot.max(now));
        next.insert(peer, slot + gap);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_to_one_peer_keep_their_distance_and_idleness_saves_nothing_up() {
        let (paces, gap) = (Paces::default(), Duration::from_millis(250));
        let one = SocketAddr::from(([192, 0, 2, 1], 161));
        let other = SocketAddr::from(([192, 0, 2, 2], 161));
        let start = Instant::now();
        assert_eq!(paces.book(one, gap, start), start);
        assert_eq!(paces.book(one, gap, start), start + gap);
        assert_eq!(paces.book(one, gap, start), start + 2 * gap);
        assert_eq!(paces.book(other, gap, start), start);
        let later = start + Duration::from_secs(10);
        assert_eq!(paces.book(one, gap, later), later);
        assert_eq!(paces.book(one, gap, later), later + gap);
    }
}
