//! Our notion of an engine's boots and time (RFC 3414, 2.2 and 3.2).

use std::time::Duration;

use tokio::time::Instant;

/// How far behind ours a message's time may be, in seconds.
const WINDOW: u32 = 150;
/// The largest value of boots and time.
const MAX: u32 = 0x7fff_ffff;

/// An engine's boots and time, kept going by our own monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::snmp) struct Clock {
    boots: u32,
    time: u32,
    /// When `time` was true.
    at: Instant,
    /// Whether an authenticated message said so. If not, it is good for sending, and refuses
    /// nothing that is received.
    authentic: bool,
}

impl Clock {
    /// A guess: from discovery, from what was remembered, or nothing at all.
    pub(in crate::snmp) fn guessed(boots: u32, time: u32, now: Instant) -> Self {
        Self { boots, time, at: now, authentic: false }
    }

    /// Set by an authenticated answer that nobody can have kept from earlier.
    pub(in crate::snmp) fn resynced(boots: u32, time: u32, now: Instant) -> Self {
        Self { boots, time, at: now, authentic: true }
    }

    /// Whether an authenticated message confirmed it.
    pub(in crate::snmp) fn is_authentic(&self) -> bool {
        self.authentic
    }

    /// Boots and time now.
    pub(in crate::snmp) fn now(&self, now: Instant) -> (u32, u32) {
        let elapsed = u32::try_from(now.saturating_duration_since(self.at).as_secs()).unwrap_or(MAX);
        (self.boots, self.time.saturating_add(elapsed).min(MAX))
    }

    /// Whether an authenticated message of these boots and time is timely (RFC 3414, 3.2,
    /// step 7b). If so, the clock follows it, forward only.
    pub(in crate::snmp) fn accept(&mut self, boots: u32, time: u32, now: Instant) -> bool {
        if boots == MAX {
            return false;
        }
        if !self.authentic || boots > self.boots {
            *self = Self::resynced(boots, time, now);
            return true;
        }
        let (_, here) = self.now(now);
        if boots < self.boots || here.saturating_sub(time) > WINDOW {
            return false;
        }
        // `self.time` is the latest time received.
        if time > self.time {
            *self = Self::resynced(boots, time, now);
        }
        true
    }

    /// Time remembered from an earlier run, as it should be by now.
    pub(in crate::snmp) fn remembered(boots: u32, time: u32, age: Duration, now: Instant) -> Self {
        let age = u32::try_from(age.as_secs()).unwrap_or(MAX);
        Self::guessed(boots, time.saturating_add(age).min(MAX), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn time_goes_on_by_our_own_clock() {
        let start = Instant::now();
        let clock = Clock::guessed(3, 1_000, start);
        assert_eq!(clock.now(after(start, 200)), (3, 1_200));
        assert_eq!(Clock::guessed(3, MAX - 1, start).now(after(start, 5)), (3, MAX));
        assert_eq!(
            Clock::remembered(3, 1_000, Duration::from_secs(50), start).now(after(start, 1)),
            (3, 1_051)
        );
    }

    #[test]
    fn a_guess_is_replaced_by_the_first_authenticated_message() {
        let start = Instant::now();
        let mut clock = Clock::guessed(9, 500_000, start);
        assert!(clock.accept(5, 100, start));
        assert!(clock.is_authentic());
        assert_eq!(clock.now(after(start, 1)), (5, 101));
    }

    #[test]
    fn boots_of_zero_are_as_good_as_any() {
        let start = Instant::now();
        let mut clock = Clock::guessed(0, 0, start);
        assert!(clock.accept(0, 10, start));
        assert!(clock.accept(0, 11, after(start, 1)));
        assert_eq!(clock.now(after(start, 1)), (0, 11));
    }

    #[test]
    fn what_is_older_than_the_window_is_refused() {
        let start = Instant::now();
        let mut clock = Clock::resynced(5, 1_000, start);
        assert!(clock.accept(5, 1_050, after(start, 200)), "150 s behind is within the window");
        let mut clock = Clock::resynced(5, 1_000, start);
        assert!(!clock.accept(5, 1_049, after(start, 200)));
        assert!(!clock.accept(4, 9_999, start), "an earlier boot");
        assert_eq!(clock, Clock::resynced(5, 1_000, start), "nothing has changed");
    }

    #[test]
    fn the_clock_only_goes_forward() {
        let start = Instant::now();
        let mut clock = Clock::resynced(5, 1_000, start);
        assert!(clock.accept(5, 990, after(start, 10)));
        assert_eq!(clock, Clock::resynced(5, 1_000, start));
        assert!(clock.accept(6, 1, after(start, 20)), "the agent has booted");
        assert_eq!(clock.now(after(start, 20)), (6, 1));
    }

    #[test]
    fn boots_that_cannot_grow_any_more_are_never_timely() {
        let start = Instant::now();
        assert!(!Clock::guessed(1, 1, start).accept(MAX, 5, start));
        assert!(!Clock::resynced(MAX, 5, start).accept(MAX, 6, start));
    }
}
