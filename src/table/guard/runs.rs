//! What was published lately: the runs that ended within the window. Together with the table
//! as it is published they are the guard's reference.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::address::{Family, Range, RangeSet};
use crate::table::{Change, Class, Entry, Name, Run};

/// A stretch of addresses that ceased to be an owner's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) range: Range,
    pub(super) owner: Name,
    pub(super) to: Timestamp,
}

/// The runs that ended, by space and family, the earliest end first. Runs that go on are the
/// table itself. A change of pool, BAS or VRF ends no run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    ended: BTreeMap<(Name, Family), Vec<Ended>>,
}

type Owned = BTreeMap<(Name, Name), RangeSet>;

impl Runs {
    /// Out of the store's rows: every run that did not end before the window. Where one run of
    /// an owner begins when another one of it ends, they are one.
    pub fn load(rows: &[Run]) -> Self {
        let mut begun: BTreeMap<Timestamp, Vec<&Run>> = BTreeMap::new();
        let mut ended: BTreeMap<Timestamp, Vec<&Run>> = BTreeMap::new();
        for row in rows {
            begun.entry(row.from).or_default().push(row);
            row.to.into_iter().for_each(|to| ended.entry(to).or_default().push(row));
        }
        let mut runs = Self::default();
        for (at, rows) in ended {
            let gained = begun.get(&at).map_or(&[][..], Vec::as_slice);
            let owned = |rows: &[&Run]| gather(rows.iter().map(|r| (&r.space, &r.owner, r.range)));
            runs.end(owned(&rows), &owned(gained), at);
        }
        runs
    }

    /// Takes in the changes of one commit. `at` has to be the time that they were judged at,
    /// and the one that the store gives to the generation.
    pub fn commit(&mut self, changes: &[Change], at: Timestamp) {
        if changes.iter().all(|change| change.before().is_none()) {
            // Nobody loses what nobody had; so it is when a table is made, with all it has.
            return;
        }
        let owned = |of: fn(&Change) -> Option<&Entry>| {
            let entries = changes.iter().filter_map(of).filter(|entry| entry.class != Class::Fill);
            gather(entries.map(|entry| (&entry.space, &entry.owner, entry.range)))
        };
        self.end(owned(Change::before), &owned(Change::after), at);
    }

    /// Forgets the runs that ended before the window.
    pub fn prune(&mut self, window_start: Timestamp) {
        for ended in self.ended.values_mut() {
            ended.retain(|run| run.to > window_start);
        }
        self.ended.retain(|_, ended| !ended.is_empty());
    }

    fn end(&mut self, lost: Owned, gained: &Owned, at: Timestamp) {
        for ((space, owner), set) in lost {
            let key = (space, owner);
            let left = gained.get(&key).map_or_else(|| set.clone(), |gained| set.subtract(gained));
            for range in left {
                let run = Ended { range, owner: key.1.clone(), to: at };
                self.ended.entry((key.0.clone(), range.family())).or_default().push(run);
            }
        }
    }

    /// The runs of a space and family that ended behind a time, the earliest end first.
    pub(super) fn since(&self, space: &Name, family: Family, start: Timestamp) -> &[Ended] {
        let ended = self.ended.get(&(space.clone(), family)).map_or(&[][..], Vec::as_slice);
        let from = ended.partition_point(|run| run.to <= start);
        ended.get(from..).unwrap_or_default()
    }
}

fn gather<'a>(owned: impl Iterator<Item = (&'a Name, &'a Name, Range)>) -> Owned {
    let mut ranges: BTreeMap<(Name, Name), Vec<Range>> = BTreeMap::new();
    for (space, owner, range) in owned {
        ranges.entry((space.clone(), owner.clone())).or_default().push(range);
    }
    ranges.into_iter().map(|(key, ranges)| (key, ranges.into_iter().collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{PoolName, Table, diff};

    fn minute(minutes: i64) -> Timestamp {
        Timestamp::from_second(minutes * 60).unwrap()
    }

    fn run(owner: &str, range: &str, from: i64, to: Option<i64>) -> Run {
        let (space, owner) = ("internet".into(), owner.into());
        Run { space, range: range.parse().unwrap(), owner, from: minute(from), to: to.map(minute) }
    }

    fn told(runs: &Runs, since: i64) -> Vec<String> {
        let ended = runs.since(&"internet".into(), Family::V4, minute(since));
        ended.iter().map(|e| format!("{} {} {}", e.owner, e.range, e.to.as_second() / 60)).collect()
    }

    #[test]
    fn a_run_that_goes_on_under_another_pool_did_not_end() {
        let runs = Runs::load(&[
            run("A", "10.0.0.0/24", 0, Some(10)),
            run("A", "10.0.0.0/25", 10, Some(30)),
            run("B", "10.0.0.128/25", 10, None),
        ]);
        assert_eq!(told(&runs, 0), ["A 10.0.0.128-10.0.0.255 10", "A 10.0.0.0-10.0.0.127 30"]);
        assert_eq!(told(&runs, 10), ["A 10.0.0.0-10.0.0.127 30"]);
    }

    #[test]
    fn commits_give_the_same_as_the_stores_rows() {
        let entry = |owner: &str, pool: &str, range: &str, class| Entry {
            space: "internet".into(),
            range: range.parse().unwrap(),
            owner: owner.into(),
            bas: Some(owner.into()),
            pool: PoolName::new(pool.as_bytes()),
            vrf: "".into(),
            class,
        };
        let tables = [
            vec![],
            vec![entry("A", "p", "10.0.0.0/24", Class::Fresh)],
            vec![
                entry("A", "q", "10.0.0.0/25", Class::Fresh),
                entry("B", "p", "10.0.0.128/25", Class::Fresh),
            ],
            vec![entry("A", "q", "10.0.0.0/25", Class::Fill), entry("B", "p", "10.0.0.128/25", Class::Fresh)],
        ]
        .map(|entries| Table::new(entries).unwrap());
        let mut runs = Runs::default();
        for (step, pair) in tables.windows(2).enumerate() {
            runs.commit(&diff(&pair[0], &pair[1]), minute(step as i64 * 10));
        }
        let stored = [
            run("A", "10.0.0.0/24", 0, Some(10)),
            run("A", "10.0.0.0/25", 10, Some(20)),
            run("B", "10.0.0.128/25", 10, None),
        ];
        assert_eq!(runs, Runs::load(&stored));
        assert_eq!(told(&runs, -1), ["A 10.0.0.128-10.0.0.255 10", "A 10.0.0.0-10.0.0.127 20"]);
        runs.prune(minute(10));
        assert_eq!(told(&runs, -1), ["A 10.0.0.0-10.0.0.127 20"]);
        runs.prune(minute(20));
        assert_eq!(runs, Runs::default());
    }
}
