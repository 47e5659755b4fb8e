//! When each BAS is polled next. Pure: time comes in as the time since the process started.
//!
//! Each BAS has a phase of its own within its interval, drawn from its name, so that a fleet
//! is spread evenly and stays so across restarts and reloads. A BAS is never due while a poll
//! of it runs; failures make it wait longer, up to a cap, and the first success takes that
//! back.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::time::Duration;

use crate::table::Name;

/// A BAS that fails waits at most this many intervals.
const MOST_INTERVALS: u32 = 8;
/// At start, what has never been read is read within this time, whatever its interval.
const FIRST_SPREAD: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    interval: Duration,
    phase: Duration,
    due: Duration,
    running: bool,
    /// When the poll that runs began.
    begun: Duration,
    /// Turns that passed while a poll ran.
    skipped: u64,
    failures: u32,
    forced: bool,
}

/// The schedule of a fleet.
#[derive(Debug, Default)]
pub struct Schedule {
    slots: BTreeMap<Name, Slot>,
    due: BTreeSet<(Duration, Name)>,
    /// How far the wall clock's epoch lies behind the process's start: phases count from it.
    epoch: Duration,
}

/// A poll that is to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The BAS.
    pub bas: Name,
    /// Whether it is the schedule's own turn, not a person's.
    pub scheduled: bool,
}

impl Schedule {
    /// An empty schedule. `epoch` is the wall clock at the process's start, since 1970.
    pub fn new(epoch: Duration) -> Self {
        Self { epoch, ..Self::default() }
    }

    /// Takes a fleet over: new BASes enter, missing ones leave, the others keep their turns.
    /// `known` says of which BASes something has been read before.
    pub fn set(&mut self, fleet: &BTreeMap<Name, Duration>, now: Duration, known: impl Fn(&Name) -> bool) {
        self.slots.retain(|name, _| fleet.contains_key(name));
        for (name, interval) in fleet {
            let phase = phase(name, *interval);
            if let Some(slot) = self.slots.get_mut(name) {
                if slot.interval != *interval {
                    (slot.interval, slot.phase) = (*interval, phase);
                    slot.due = next_turn(self.epoch, phase, *interval, now);
                }
                continue;
            }
            let due = if known(name) {
                next_turn(self.epoch, phase, *interval, now)
            } else {
                now + phase
                    .mul_f64(FIRST_SPREAD.as_secs_f64().min(interval.as_secs_f64()) / interval.as_secs_f64())
            };
            self.slots.insert(name.clone(), Slot { interval: *interval, phase, due, ..Slot::default() });
        }
        self.due = self.slots.iter().filter(|(_, s)| !s.running).map(|(n, s)| (s.due, n.clone())).collect();
    }

    /// When the next BAS is due.
    pub fn next(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Takes the next BAS that is due; it counts as running until [`Schedule::done`].
    pub fn take(&mut self, now: Duration) -> Option<Due> {
        let (due, name) = self.due.first()?.clone();
        if due > now {
            return None;
        }
        self.due.pop_first();
        let slot = self.slots.get_mut(&name)?;
        slot.running = true;
        slot.begun = now;
        Some(Due { bas: name, scheduled: !std::mem::take(&mut slot.forced) })
    }

    /// Makes a BAS due now, by a person's word. While a poll of it runs, that one has to do.
    pub fn force(&mut self, name: &Name, now: Duration) {
        if let Some(slot) = self.slots.get_mut(name) {
            if slot.running {
                return;
            }
            self.due.remove(&(slot.due, name.clone()));
            (slot.due, slot.forced) = (now, true);
            self.due.insert((now, name.clone()));
        }
    }

    /// Notes that a poll of a BAS ended, and when it is due again. Turns that passed meanwhile
    /// are left out, and counted. Gives their number where the poll took as long as an interval:
    /// one that began out of turn may well be short, and a turn pass.
    pub fn done(&mut self, name: &Name, failed: bool, now: Duration) -> u64 {
        let mut overran = 0;
        if let Some(slot) = self.slots.get_mut(name) {
            slot.running = false;
            let passed = turns(self.epoch, slot.phase, slot.interval, slot.begun, now);
            slot.skipped = slot.skipped.saturating_add(passed);
            overran = if now.saturating_sub(slot.begun) < slot.interval { 0 } else { passed };
            slot.failures = if failed { slot.failures.saturating_add(1) } else { 0 };
            let skipped = slot.interval * (backoff(slot.failures) - 1);
            slot.due = next_turn(self.epoch, slot.phase, slot.interval, now + skipped);
            self.due.insert((slot.due, name.clone()));
        }
        overran
    }

    /// How many turns of a BAS passed while a poll of it ran, since start.
    pub fn skipped(&self, name: &Name) -> u64 {
        self.slots.get(name).map_or(0, |slot| slot.skipped)
    }

    /// Whether a poll of a BAS runs.
    pub fn is_running(&self, name: &Name) -> bool {
        self.slots.get(name).is_some_and(|slot| slot.running)
    }

    /// How many polls run.
    pub fn running(&self) -> usize {
        self.slots.values().filter(|s| s.running).count()
    }
}

/// How many intervals lie between two polls after so many failures in a row: the first three
/// come at the usual pace, so that a BAS is called stale in time.
const fn backoff(failures: u32) -> u32 {
    match failures {
        0..=3 => 1,
        4 => 2,
        5 => 4,
        _ => MOST_INTERVALS,
    }
}

/// A BAS's place within its interval.
fn phase(name: &Name, interval: Duration) -> Duration {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    interval.mul_f64((hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64)
}

/// The first turn after `now`.
fn next_turn(epoch: Duration, phase: Duration, interval: Duration, now: Duration) -> Duration {
    let interval = interval.max(Duration::from_millis(1));
    let wall = epoch + now;
    let into = Duration::from_nanos(((wall.as_nanos()) % interval.as_nanos()) as u64);
    let wait = if phase > into { phase - into } else { phase + interval - into };
    now + wait
}

/// The turns after `begun`, up to `now`.
fn turns(epoch: Duration, phase: Duration, interval: Duration, begun: Duration, now: Duration) -> u64 {
    let first = next_turn(epoch, phase, interval, begun);
    let Some(rest) = now.checked_sub(first) else { return 0 };
    let more = rest.as_nanos() / interval.max(Duration::from_millis(1)).as_nanos();
    u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn fleet(count: usize, interval: Duration) -> BTreeMap<Name, Duration> {
        (0..count).map(|i| (Name::from(format!("bas-{i}")), interval)).collect()
    }

    fn schedule(fleet: &BTreeMap<Name, Duration>, known: bool) -> Schedule {
        let mut schedule = Schedule::new(Duration::from_secs(1_796_000_000));
        schedule.set(fleet, Duration::ZERO, |_| known);
        schedule
    }

    /// The starts of `length`, as (time, BAS), where every poll takes no time.
    fn starts(schedule: &mut Schedule, length: Duration) -> Vec<(Duration, Name)> {
        let mut starts = Vec::new();
        while let Some(now) = schedule.next().filter(|due| *due < length) {
            while let Some(due) = schedule.take(now) {
                starts.push((now, due.bas.clone()));
                schedule.done(&due.bas, false, now);
            }
        }
        starts
    }

    #[test]
    fn a_fleet_is_spread_over_the_interval() {
        let starts = starts(&mut schedule(&fleet(1000, MINUTE), true), MINUTE * 3);
        let mut buckets = BTreeMap::new();
        for (at, _) in &starts {
            *buckets.entry(at.as_secs()).or_insert(0) += 1;
        }
        assert_eq!(starts.len(), 3000);
        assert!(buckets.values().all(|n| *n <= 50), "{buckets:?}");
    }

    #[test]
    fn a_restart_keeps_the_phases() {
        let fleet = fleet(50, MINUTE);
        let before = starts(&mut schedule(&fleet, true), MINUTE);
        let mut later = Schedule::new(Duration::from_secs(1_796_000_000 + 600));
        later.set(&fleet, Duration::ZERO, |_| true);
        let after = starts(&mut later, MINUTE);
        assert_eq!(before, after);
    }

    #[test]
    fn what_was_never_read_is_read_within_half_a_minute() {
        let mut schedule = schedule(&fleet(100, MINUTE * 60), false);
        let within = starts(&mut schedule, FIRST_SPREAD);
        assert_eq!(within.len(), 100);
    }

    #[test]
    fn a_poll_never_overlaps_itself() {
        let mut schedule = schedule(&fleet(1, MINUTE), true);
        let first = schedule.next().unwrap();
        let due = schedule.take(first).unwrap();
        schedule.force(&due.bas, first + MINUTE);
        assert_eq!(schedule.take(first + MINUTE * 10), None);
        schedule.done(&due.bas, false, first + MINUTE * 10);
        assert!(schedule.next().unwrap() > first + MINUTE * 10);
    }

    #[test]
    fn turns_that_pass_while_a_poll_runs_are_left_out_and_counted() {
        let mut schedule = schedule(&fleet(1, MINUTE), true);
        let name = Name::from("bas-0");
        for (length, passed, total) in [(59, 0, 0), (60, 1, 1), (150, 2, 3), (0, 0, 3)] {
            let now = schedule.next().unwrap();
            schedule.take(now).unwrap();
            let end = now + Duration::from_secs(length);
            assert_eq!(schedule.done(&name, false, end), passed, "{length} s");
            assert_eq!(schedule.skipped(&name), total);
            assert!(schedule.next().unwrap() > end);
        }
    }

    #[test]
    fn a_short_poll_out_of_turn_has_not_overrun() {
        let mut schedule = schedule(&fleet(1, MINUTE), true);
        let (name, turn) = (Name::from("bas-0"), schedule.next().unwrap());
        let begun = turn - Duration::from_secs(1);
        schedule.force(&name, begun);
        schedule.take(begun).unwrap();
        assert_eq!(schedule.done(&name, false, turn + Duration::from_secs(1)), 0);
        assert_eq!((schedule.skipped(&name), schedule.next()), (1, Some(turn + MINUTE)));
    }

    #[test]
    fn failures_back_off_and_a_success_takes_that_back() {
        let mut schedule = schedule(&fleet(1, MINUTE), true);
        let mut gaps = Vec::new();
        let mut last = None;
        for _ in 0..9 {
            let now = schedule.next().unwrap();
            let due = schedule.take(now).unwrap();
            if let Some(last) = last {
                gaps.push((now - last).as_secs());
            }
            last = Some(now);
            schedule.done(&due.bas, true, now);
        }
        assert_eq!(gaps, [60, 60, 60, 120, 240, 480, 480, 480]);
        let now = schedule.next().unwrap();
        let due = schedule.take(now).unwrap();
        schedule.done(&due.bas, false, now);
        assert_eq!((schedule.next().unwrap() - now).as_secs(), 60);
    }

    #[test]
    fn a_forced_poll_is_told_apart_and_comes_at_once() {
        let mut schedule = schedule(&fleet(3, MINUTE), true);
        let name = Name::from("bas-1");
        schedule.force(&name, Duration::from_millis(1));
        let due = schedule.take(Duration::from_millis(1)).unwrap();
        assert_eq!(due, Due { bas: name.clone(), scheduled: false });
        schedule.done(&name, false, Duration::from_millis(2));
        let now = schedule.slots[&name].due;
        while let Some(due) = schedule.take(now) {
            if due.bas == name {
                assert!(due.scheduled);
            }
        }
    }

    #[test]
    fn a_reload_keeps_the_turns_of_those_that_stay() {
        let mut schedule = schedule(&fleet(3, MINUTE), true);
        let kept = schedule.slots[&Name::from("bas-0")].due;
        let mut smaller = fleet(1, MINUTE);
        smaller.insert(Name::from("new"), MINUTE);
        schedule.set(&smaller, Duration::from_millis(1), |_| false);
        assert_eq!(schedule.slots.len(), 2);
        assert_eq!(schedule.slots[&Name::from("bas-0")].due, kept);
        assert!(schedule.slots[&Name::from("new")].due <= FIRST_SPREAD + Duration::from_millis(1));
    }
}
