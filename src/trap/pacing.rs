//! When a BAS is polled because of notifications: at once, and at most once in half its
//! interval, however many come. Time comes in as the time since the process started.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::table::Name;

/// What notifications have come to, by BAS.
#[derive(Debug, Default)]
pub struct Pacing {
    /// Since when a poll is due that no poll has answered yet; in the future where one was
    /// made a short while ago.
    due: BTreeMap<Name, Duration>,
    /// When the last poll began that notifications caused.
    last: BTreeMap<Name, Duration>,
}

impl Pacing {
    /// Notes a notification of a BAS that is polled every `interval`. It makes the BAS due now,
    /// or where notifications had it polled less than half an interval ago, once that is over:
    /// what has changed since is seen all the same.
    pub fn notified(&mut self, bas: &Name, interval: Duration, now: Duration) {
        let quiet = self.last.get(bas).map_or(Duration::ZERO, |last| *last + interval / 2);
        self.due.entry(bas.clone()).or_insert(now.max(quiet));
    }

    /// When the next BAS is due, of those that `may` be polled.
    pub fn next(&self, may: impl Fn(&Name) -> bool) -> Option<Duration> {
        self.due.iter().filter(|(bas, _)| may(bas)).map(|(_, at)| *at).min()
    }

    /// The BASes that are due by now, of those that `may` be polled. They stay due until
    /// [`Pacing::began`].
    pub fn ripe(&self, now: Duration, may: impl Fn(&Name) -> bool) -> Vec<Name> {
        let ripe = self.due.iter().filter(|(bas, at)| **at <= now && may(bas));
        ripe.map(|(bas, _)| bas.clone()).collect()
    }

    /// Notes that a poll of a BAS begins: whatever was notified before, it will see. Gives
    /// whether it is one that notifications caused, and not the schedule's own turn.
    pub fn began(&mut self, bas: &Name, scheduled: bool, now: Duration) -> bool {
        let caused = self.due.remove(bas).is_some() && !scheduled;
        if caused {
            self.last.insert(bas.clone(), now);
        }
        caused
    }

    /// Forgets BASes that are not configured any more.
    pub fn retain(&mut self, keep: impl Fn(&Name) -> bool) {
        self.due.retain(|bas, _| keep(bas));
        self.last.retain(|bas, _| keep(bas));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(600);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn any(_: &Name) -> bool {
        true
    }

    #[test]
    fn a_notification_makes_its_bas_due_now() {
        let mut pacing = Pacing::default();
        let bas = Name::from("a");
        assert_eq!((pacing.next(any), pacing.ripe(at(9), any)), (None, vec![]));
        pacing.notified(&bas, INTERVAL, at(7));
        assert_eq!((pacing.next(any), pacing.ripe(at(7), any)), (Some(at(7)), vec![bas.clone()]));
        assert!(pacing.began(&bas, false, at(8)));
        assert_eq!(pacing.next(any), None);
    }

    #[test]
    fn a_storm_is_one_poll_in_half_an_interval() {
        let mut pacing = Pacing::default();
        let bas = Name::from("a");
        let mut polls = Vec::new();
        // Ten a second for half an hour.
        for tenth in 0..18_000 {
            let now = Duration::from_millis(tenth * 100);
            pacing.notified(&bas, INTERVAL, now);
            for ripe in pacing.ripe(now, any) {
                assert!(pacing.began(&ripe, false, now));
                polls.push(now.as_secs());
            }
        }
        assert_eq!(polls, [0, 300, 600, 900, 1200, 1500]);
    }

    #[test]
    fn what_changes_after_a_poll_began_is_polled_for_once_more() {
        let mut pacing = Pacing::default();
        let bas = Name::from("a");
        pacing.notified(&bas, INTERVAL, at(0));
        pacing.began(&bas, false, at(0));
        pacing.notified(&bas, INTERVAL, at(5));
        assert_eq!((pacing.ripe(at(299), any), pacing.next(any)), (vec![], Some(at(300))));
        assert_eq!(pacing.ripe(at(300), any), [bas]);
    }

    #[test]
    fn a_poll_of_the_schedule_answers_a_notification_too() {
        let mut pacing = Pacing::default();
        let bas = Name::from("a");
        pacing.notified(&bas, INTERVAL, at(0));
        assert!(!pacing.began(&bas, true, at(1)), "it is the schedule's own");
        assert_eq!(pacing.next(any), None);
        // It was no extra poll, so the next notification need not wait.
        pacing.notified(&bas, INTERVAL, at(2));
        assert_eq!(pacing.next(any), Some(at(2)));
    }

    #[test]
    fn a_bas_that_is_being_polled_waits_and_holds_up_nobody() {
        let mut pacing = Pacing::default();
        let (a, b) = (Name::from("a"), Name::from("b"));
        pacing.notified(&a, INTERVAL, at(1));
        pacing.notified(&b, INTERVAL, at(2));
        let idle = |name: &Name| **name != *"a";
        assert_eq!((pacing.next(idle), pacing.ripe(at(9), idle)), (Some(at(2)), vec![b.clone()]));
        pacing.retain(|name| *name == b);
        assert_eq!(pacing.next(any), Some(at(2)));
    }
}
