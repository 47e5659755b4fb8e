//! What one poll changes in what is remembered of a BAS.
//!
//! Only a table that was read completely can lose rows; and even then not the rows that a
//! poll cannot vouch for: undecodable ones, and all that is missing shortly after a boot.
//! Those stay, as not read.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::carry::carry;
use super::{
    Listed, ListedRef, Listing, Memory, Miss, PolledTable, Seen, Standing, TableMemory, TableOutcome,
};
use crate::address::{Family, Range, RangeSet};
use crate::table::{Name, PoolName};

/// Addresses published as an owner's, by space.
pub type Published = BTreeMap<Name, RangeSet>;

/// One poll of one BAS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// When it ended.
    pub at: Timestamp,
    /// When the router booted, as its sysUpTime tells.
    pub booted: Option<Timestamp>,
    /// Whether the schedule made it; a poll that a person forced or a trap caused is none.
    pub scheduled: bool,
    /// Why the BAS could not be polled at all, as a stable reason. Then `tables` is empty.
    pub failure: Option<Name>,
    /// Every table of its descriptor. A remembered table that is missing here belongs to the
    /// descriptor no longer: its rows go.
    pub tables: Vec<PolledTable>,
}

/// What ingesting has to know of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IngestSettings {
    /// How often this BAS is polled: two polls that count as evidence lie at least half of it
    /// apart.
    pub interval: SignedDuration,
    /// How long after a boot a poll only adds.
    pub settle: SignedDuration,
    /// After how long without a complete read a table may be stale.
    pub after: SignedDuration,
}

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            interval: SignedDuration::from_mins(5),
            settle: SignedDuration::from_mins(10),
            after: SignedDuration::from_mins(30),
        }
    }
}

/// What a poll meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ingested {
    /// The claims of this BAS may differ from before.
    pub changed: bool,
    /// The ranges that came, went or changed in anything else.
    pub touched: Vec<(Name, Range)>,
    /// The router booted a short while ago: poll it again soon.
    pub settling: bool,
}

/// Failed reads in a row before a table may be stale.
const STALE_FAILURES: u32 = 3;

impl TableMemory {
    /// Whether the last complete read is too long ago, and three reads failed since start.
    pub fn is_stale(&self, now: Timestamp, after: SignedDuration) -> bool {
        self.failed >= STALE_FAILURES
            && self.last_complete.is_some_and(|last| now.duration_since(last) >= after)
    }

    fn read(&mut self, polled: &PolledTable, at: Timestamp) {
        let rows = polled.listed.len() + polled.unread.len();
        self.empty_reads = if rows == 0 && self.had_rows { self.empty_reads.saturating_add(1) } else { 0 };
        self.had_rows |= rows > 0;
        self.rows = rows as u64;
        self.state = Name::from("complete");
        self.reason = Name::default();
        (self.last_complete, self.failed, self.stale_since) = (Some(at), 0, None);
    }

    fn failed(&mut self, reason: Name, at: Timestamp, after: SignedDuration) {
        self.state = Name::from("failed");
        self.reason = reason;
        self.failed = self.failed.saturating_add(1);
        if self.stale_since.is_none() && self.is_stale(at, after) {
            self.stale_since = Some(at);
        }
    }

    fn unsupported(&mut self) {
        self.state = Name::from("unsupported");
        self.reason = Name::default();
        self.failed = 0;
    }
}

impl Memory {
    /// Takes in one poll. `published` is what is published as its owner's now: an address of
    /// it that is not listed is a miss.
    pub fn ingest(&mut self, poll: Poll, published: &Published, settings: &IngestSettings) -> Ingested {
        let Poll { at, booted, scheduled, failure, tables } = poll;
        self.tried = true;
        self.last_attempt = Some(at);
        self.booted = booted.or(self.booted);
        if let Some(reason) = failure {
            self.fail(&reason, at, settings.after);
            return Ingested::default();
        }
        let settling = self.booted.is_some_and(|boot| at.duration_since(boot) < settings.settle);
        let was_stale = self.tables.values().any(|table| table.is_stale(at, settings.after));
        let before = std::mem::take(&mut self.listed);
        self.listed = self.read_tables(&before, tables, settling, at, settings.after).into();
        let complete = self.settle_state();
        if complete {
            self.last_complete = Some(at);
        }
        self.note_addresses(at, published, scheduled && complete, settings.interval);
        let (same, touched) = compare(&before, &self.listed);
        Ingested { changed: was_stale || !same, touched, settling }
    }

    /// The whole poll failed: every table did.
    fn fail(&mut self, reason: &Name, at: Timestamp, after: SignedDuration) {
        (self.state, self.reason) = (Name::from("failed"), reason.clone());
        self.tables.values_mut().for_each(|table| table.failed(reason.clone(), at, after));
    }

    fn read_tables(
        &mut self,
        before: &Listing,
        tables: Vec<PolledTable>,
        settling: bool,
        at: Timestamp,
        after: SignedDuration,
    ) -> Vec<Listed> {
        let mut old: BTreeMap<&Name, Vec<ListedRef<'_>>> = BTreeMap::new();
        before.iter().for_each(|row| old.entry(row.table).or_default().push(row));
        let elsewhere = still_there(&tables, &old);
        let any_complete = tables.iter().any(|table| table.outcome == TableOutcome::Complete);
        let mut remembered = std::mem::take(&mut self.tables);
        let mut rows = Vec::new();
        for polled in tables {
            let mut table = remembered.remove(&polled.name).unwrap_or_default();
            let old = old.remove(&polled.name).unwrap_or_default();
            let name = polled.name.clone();
            match &polled.outcome {
                TableOutcome::Complete => {
                    table.read(&polled, at);
                    let doubted = if table.empty_reads == 1 { Some(&elsewhere) } else { None };
                    rows.extend(read_rows(polled, &old, settling, doubted));
                }
                TableOutcome::Unsupported if !table.had_rows => table.unsupported(),
                outcome => {
                    table.failed(outcome.reason(), at, after);
                    rows.extend(old.into_iter().map(ListedRef::to_listed));
                }
            }
            self.tables.insert(name, table);
        }
        if !any_complete {
            // Nothing was read, so nothing tells that the rest is gone.
            remembered.values_mut().for_each(|table| table.failed(Name::from("not-polled"), at, after));
            let old = remembered.keys().filter_map(|name| old.remove(name)).flatten();
            rows.extend(old.map(ListedRef::to_listed));
            self.tables.append(&mut remembered);
        }
        rows
    }

    /// The BAS's state out of its tables'; whether all were read.
    fn settle_state(&mut self) -> bool {
        let failed = self.tables.values().find(|table| &*table.state == "failed");
        let read = self.tables.values().any(|table| &*table.state == "complete");
        let (state, reason) = match failed {
            Some(table) => ("failed", table.reason.clone()),
            None if read => ("complete", Name::default()),
            None => ("unsupported", Name::default()),
        };
        (self.state, self.reason) = (Name::from(state), reason);
        state == "complete"
    }

    fn note_addresses(
        &mut self,
        at: Timestamp,
        published: &Published,
        counts: bool,
        interval: SignedDuration,
    ) {
        let alive = self.alive();
        let old = self.seen.iter().map(|s| (s.space, s.range, s.since)).collect();
        let seen = carry(&alive, &old, |since| since, at).into_iter();
        self.seen = seen.map(|(space, range, since)| Seen { space, range, since }).collect();

        let apart = |last: Timestamp| at.duration_since(last) >= interval / 2;
        let counts = counts && self.last_counted.is_none_or(apart);
        if counts {
            self.last_counted = Some(at);
        }
        let gone = published.iter().map(|(space, set)| {
            let gone = alive.get(space).map_or_else(|| set.clone(), |alive| set.subtract(alive));
            (space.clone(), gone)
        });
        let old = self.misses.drain(..).map(|m| (m.space, m.range, m.polls)).collect();
        let more = u32::from(counts);
        let misses = carry(&gone.collect(), &old, |polls: u32| polls.saturating_add(more), more).into_iter();
        let misses = misses.filter(|(_, _, polls)| *polls > 0);
        self.misses = misses.map(|(space, range, polls)| Miss { space, range, polls }).collect();
    }

    /// The addresses that it lists, and those not read since, by space.
    fn alive(&self) -> BTreeMap<Name, RangeSet> {
        let mut ranges: BTreeMap<Name, Vec<Range>> = BTreeMap::new();
        for (space, row) in self.listed.iter().filter_map(|row| Some((row.space?, row))) {
            match ranges.get_mut(space) {
                Some(known) => known.push(row.range),
                None => drop(ranges.insert(space.clone(), vec![row.range])),
            }
        }
        ranges.into_iter().map(|(space, ranges)| (space, ranges.into_iter().collect())).collect()
    }
}

impl TableOutcome {
    fn reason(&self) -> Name {
        match self {
            Self::Failed(reason) => reason.clone(),
            Self::Unsupported => Name::from("unsupported"),
            Self::Complete => Name::default(),
        }
    }
}

/// A space and family: where an owner's emptiness is judged.
type Spot = (Name, Family);

fn spot(space: Option<&Name>, range: Range) -> Option<Spot> {
    space.cloned().map(|space| (space, range.family()))
}

/// Where the BAS has something left after this poll, whatever an empty table says.
fn still_there(tables: &[PolledTable], old: &BTreeMap<&Name, Vec<ListedRef<'_>>>) -> BTreeSet<Spot> {
    let not_read = tables.iter().filter(|table| table.outcome != TableOutcome::Complete);
    let kept = not_read.filter_map(|table| old.get(&table.name)).flatten();
    let kept = kept.filter_map(|row| spot(row.space, row.range));
    let listed = tables.iter().flat_map(|table| &table.listed);
    listed.filter_map(|row| spot(row.space.as_ref(), row.range)).chain(kept).collect()
}

type Identity<'a> = (Option<&'a Name>, &'a Name, &'a PoolName, Range);

const fn identity<'a>(row: &ListedRef<'a>) -> Identity<'a> {
    (row.space, row.vrf, row.pool, row.range)
}

/// The rows of a table that was read, and behind them those that it may still have.
///
/// `doubted`: it had rows, and now for the first time has none. Where the BAS has something
/// left elsewhere, that is not believed at once; where not, the owner is emptied there, which
/// the guard holds.
fn read_rows(
    polled: PolledTable,
    old: &[ListedRef<'_>],
    settling: bool,
    doubted: Option<&BTreeSet<Spot>>,
) -> Vec<Listed> {
    let unread: Vec<Listed> = {
        let now = polled.listed.iter();
        let now: BTreeSet<Identity<'_>> =
            now.map(|row| (row.space.as_ref(), &row.vrf, &row.pool, row.range)).collect();
        let rows = polled.unread.iter().map(|unread| (&unread.row.context, &*unread.row.index));
        let rows: BTreeSet<(&Name, &[u32])> = rows.collect();
        let pools: BTreeSet<&PoolName> =
            polled.unread.iter().filter_map(|unread| unread.pool.as_ref()).collect();
        let kept = |row: &&ListedRef<'_>| {
            settling
                || polled.bad_index
                || rows.contains(&(row.context, row.index))
                || pools.contains(row.pool)
                || doubted
                    .is_some_and(|spots| spot(row.space, row.range).is_some_and(|spot| spots.contains(&spot)))
        };
        let unread = old.iter().filter(|row| !now.contains(&identity(row))).filter(kept);
        unread.map(|row| ListedRef { standing: Standing::Unread, ..*row }.to_listed()).collect()
    };
    let mut rows = polled.listed;
    rows.extend(unread);
    rows
}

/// Whether two lists claim the same, and where they do not.
fn compare(before: &Listing, after: &Listing) -> (bool, Vec<(Name, Range)>) {
    fn claims(rows: &Listing) -> impl Iterator<Item = (Identity<'_>, &Name)> {
        rows.iter().map(|row| (identity(&row), row.table))
    }
    // Routers list in one order: mostly this tells.
    if claims(before).eq(claims(after)) {
        return (true, Vec::new());
    }
    let (before, after): (BTreeSet<_>, BTreeSet<_>) = (claims(before).collect(), claims(after).collect());
    let touched = before.symmetric_difference(&after);
    let touched = touched.filter_map(|((space, _, _, range), _)| Some(((*space)?.clone(), *range)));
    (before == after, touched.collect())
}

#[cfg(test)]
mod tests;
