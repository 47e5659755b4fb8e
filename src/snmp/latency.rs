//! How long a router takes to answer, as measured (in the manner of RFC 6298), and how long
//! an answer is waited for by that before the question is sent again.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::HashMap;

/// The first pause is never shorter than this part of the configured one: tables take longer
/// than single objects, and routers that limit SNMP do not like to be asked twice.
const LEAST_PART: u32 = 4;
/// Nor is it shorter than this, unless what is configured is.
const LEAST: Duration = Duration::from_millis(100);
/// Nor is it longer than this many times the configured one.
const MOST_TIMES: u32 = 4;

/// The smoothed time to an answer, and its variation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Latency {
    smoothed: Duration,
    variation: Duration,
}

impl Latency {
    fn first(measured: Duration) -> Self {
        Self { smoothed: measured, variation: measured / 2 }
    }

    fn then(self, measured: Duration) -> Self {
        Self {
            smoothed: (self.smoothed * 7 + measured) / 8,
            variation: (self.variation * 3 + self.smoothed.abs_diff(measured)) / 4,
        }
    }

    /// The time within which nearly every answer comes.
    fn expected(self) -> Duration {
        self.smoothed + self.variation * 4
    }
}

/// The latency of each peer that has answered.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    peers: Mutex<HashMap<SocketAddr, Latency>>,
}

impl Latencies {
    /// Takes in how long an answer took, counted from the first transmission of its question:
    /// after a retransmission nobody can say which one was answered, and too long a time does
    /// less harm than too short a one.
    pub(super) fn measured(&self, peer: SocketAddr, took: Duration) {
        let first = || Latency::first(took);
        self.lock().entry(peer).and_modify(|known| *known = known.then(took)).or_insert_with(first);
    }

    /// How long to wait for an answer of `peer` before a question is sent again, where
    /// `configured` is what is waited without having measured anything.
    pub(super) fn pause(&self, peer: SocketAddr, configured: Duration) -> Duration {
        let expected = self.lock().get(&peer).map(|latency| latency.expected());
        let least = (configured / LEAST_PART).max(LEAST).min(configured);
        expected.map_or(configured, |expected| expected.clamp(least, configured.saturating_mul(MOST_TIMES)))
    }

    /// A panic elsewhere cannot leave the map half changed.
    fn lock(&self) -> MutexGuard<'_, HashMap<SocketAddr, Latency>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIGURED: Duration = Duration::from_secs(2);

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn peer(last: u8) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, last], 161))
    }

    /// The pause after answers that took so long.
    fn pause_after(took: &[u64]) -> Duration {
        let latencies = Latencies::default();
        took.iter().for_each(|took| latencies.measured(peer(1), ms(*took)));
        assert_eq!(latencies.pause(peer(2), CONFIGURED), CONFIGURED, "another one's latency is none of its");
        latencies.pause(peer(1), CONFIGURED)
    }

    #[test]
    fn the_pause_follows_what_was_measured_within_bounds() {
        assert_eq!(pause_after(&[]), CONFIGURED);
        // 400 and four times 200.
        assert_eq!(pause_after(&[400]), ms(1_200));
        // (7 x 400 + 800) / 8 and four times (3 x 200 + 400) / 4.
        assert_eq!(pause_after(&[400, 800]), ms(450 + 1_000));
        assert_eq!(pause_after(&[1; 9]), ms(500), "a quarter of what is configured");
        assert_eq!(pause_after(&[60_000]), ms(8_000), "four times what is configured");
        // What is steady needs little room.
        let steady = pause_after(&[3_000; 40]);
        assert!((ms(3_000)..ms(3_010)).contains(&steady), "{steady:?}");
    }

    #[test]
    fn no_pause_is_shorter_than_a_router_needs_on_a_bad_day() {
        let latencies = Latencies::default();
        latencies.measured(peer(1), ms(1));
        assert_eq!(latencies.pause(peer(1), ms(300)), ms(100));
        assert_eq!(latencies.pause(peer(1), ms(60)), ms(60));
    }

    #[test]
    fn a_lost_packet_is_forgotten_after_some_answers() {
        let mut took = vec![10; 10];
        took.push(510);
        assert!(pause_after(&took) > ms(500));
        took.extend([10; 12]);
        assert_eq!(pause_after(&took), ms(500));
    }
}
