//! Stale BASes: who has begun to list what they last listed, and who fell silent with others.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::address::{Range, RangeSet};
use crate::table::overlaps::Overlaps;
use crate::table::{ClaimSettings, Fleet, Memory, Name, TableMemory};

/// A stale table of a BAS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The BAS.
    pub bas: Name,
    /// The table.
    pub table: Name,
    /// Its last complete read.
    pub last_complete: Timestamp,
    /// The BAS fell silent together with a large part of the fleet: the fault is ours, and
    /// time alone takes nothing from it.
    pub poller_isolated: bool,
    /// The last complete read is older than `takeover`: any other BAS may take its addresses.
    pub taken_over: bool,
}

/// More BASes than this, in percent of the fleet, silent within one `after` are no accident.
const ISOLATED_PERCENT: usize = 20;
/// And at least this many.
const ISOLATED_LEAST: usize = 3;

/// What there is to know of a fleet in order to judge its stale tables.
pub(super) struct Staleness<'a> {
    settings: ClaimSettings,
    now: Timestamp,
    fleet: usize,
    /// The last complete reads of BASes that are silent; sorted.
    silent: Vec<Timestamp>,
    /// By space: what was begun to be listed after the oldest last read of a stale table.
    newer: BTreeMap<Name, Overlaps<Newer<'a>>>,
}

struct Newer<'a> {
    since: Timestamp,
    owner: &'a Name,
}

impl<'a> Staleness<'a> {
    pub(super) fn new(fleet: Fleet<'a>, settings: ClaimSettings, now: Timestamp) -> Self {
        let memories = || fleet.iter().map(|(_, _, memory)| memory);
        let mut silent: Vec<_> =
            memories().filter_map(|memory| silent_since(memory, now, settings.after)).collect();
        silent.sort_unstable();
        let stale = memories().flat_map(|memory| memory.tables.values());
        let stale = stale.filter(|table| table.is_stale(now, settings.after));
        let oldest = stale.filter_map(|table| table.last_complete).min();
        let newer = oldest.map(|oldest| newer(fleet, oldest, now, settings.after)).unwrap_or_default();
        Self { settings, now, fleet: fleet.members.len(), silent, newer }
    }

    /// The stale tables of a BAS, in order of their names.
    pub(super) fn of(&self, bas: &Name, memory: &Memory) -> Vec<Stale> {
        let isolated = self.is_isolated(memory);
        let stale = memory.tables.iter().filter(|(_, table)| table.is_stale(self.now, self.settings.after));
        let told = stale.filter_map(|(name, table)| {
            let last_complete = table.last_complete?;
            let old = self.now.duration_since(last_complete) >= self.settings.takeover;
            Some(Stale {
                bas: bas.clone(),
                table: name.clone(),
                last_complete,
                poller_isolated: isolated,
                taken_over: old && !isolated,
            })
        });
        told.collect()
    }

    /// Whether it fell silent within one `after` of more than a fifth of the fleet, and of at
    /// least two others.
    fn is_isolated(&self, memory: &Memory) -> bool {
        let after = self.settings.after;
        let Some(since) = silent_since(memory, self.now, after) else { return false };
        let before = self.silent.partition_point(|other| since.duration_since(*other) > after);
        let until = self.silent.partition_point(|other| other.duration_since(since) <= after);
        let together = until.saturating_sub(before);
        together >= ISOLATED_LEAST && together * 100 > ISOLATED_PERCENT * self.fleet
    }

    /// The addresses of a range of a stale table that are only kept: taken over, or begun to be
    /// listed by another owner after the table's last read.
    pub(super) fn kept(&self, stale: &Stale, owner: &Name, space: &Name, range: Range) -> RangeSet {
        if stale.taken_over {
            return range.into();
        }
        let Some(newer) = self.newer.get(space) else { return RangeSet::new() };
        let begun = newer.of(range).filter(|(_, by)| by.owner != owner && by.since > stale.last_complete);
        begun.map(|(common, _)| common).collect()
    }
}

/// When a BAS was last heard of, if it is silent: no table of it was read for so long, and
/// the last try failed. It need not be stale yet: when the poller starts behind a dead
/// uplink, the first BAS to fail three times must not be taken for a dead one.
fn silent_since(memory: &Memory, now: Timestamp, after: SignedDuration) -> Option<Timestamp> {
    let silent = |table: &TableMemory, last: Timestamp| table.failed > 0 && now.duration_since(last) >= after;
    let mut heard = None;
    for table in memory.tables.values() {
        if let Some(last) = table.last_complete {
            if !silent(table, last) {
                return None;
            }
            heard = heard.max(Some(last));
        }
    }
    heard
}

/// What BASes that are not stale began to list after a time.
fn newer(
    fleet: Fleet<'_>,
    after_time: Timestamp,
    now: Timestamp,
    after: SignedDuration,
) -> BTreeMap<Name, Overlaps<Newer<'_>>> {
    let mut begun: BTreeMap<Name, Vec<(Range, Newer<'_>)>> = BTreeMap::new();
    for (_, member, memory) in fleet.iter() {
        let all_fresh = !memory.tables.values().any(|table| table.is_stale(now, after));
        for seen in memory.seen.iter().filter(|seen| seen.since > after_time) {
            let fresh = if all_fresh { seen.range.into() } else { fresh(memory, seen.range, now, after) };
            let of_space = begun.entry(seen.space).or_default();
            let owner = &member.owner;
            of_space.extend(fresh.iter().map(|range| (*range, Newer { since: seen.since, owner })));
        }
    }
    begun.into_iter().map(|(space, ranges)| (space, Overlaps::new(ranges))).collect()
}

/// The part of a range that tables list which are not stale.
fn fresh(memory: &Memory, range: Range, now: Timestamp, after: SignedDuration) -> RangeSet {
    let stale = |name: &Name| memory.tables.get(name).is_some_and(|table| table.is_stale(now, after));
    let rows = memory.listed.iter().filter(|row| !stale(row.table));
    rows.filter_map(|row| row.range.intersection(range)).collect()
}
