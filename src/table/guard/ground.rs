//! One space and family while it is judged: what is published, what was built, and what was
//! published in the window.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::delta::Deltas;
use super::runs::Ended;
use super::{Forgiven, GuardMemory, Hold, HoldKind, Runs};
use crate::address::{Family, Range, RangeSet, units};
use crate::table::overlaps::Overlaps;
use crate::table::{Class, Entries, Entry, Name, Table};

pub(super) struct Ground<'a> {
    pub(super) space: &'a Name,
    pub(super) published: Entries<'a>,
    pub(super) built: Entries<'a>,
    /// The runs that ended in the window, the earliest end first.
    ended: &'a [Ended],
    /// The same by place; the values are places in `ended`.
    by_range: Overlaps<usize>,
    forgiven: Overlaps<&'a Forgiven>,
    holds: BTreeMap<(HoldKind, &'a Name), &'a Hold>,
    /// What is published as an owner's, for the owners whose changes are judged.
    owned: BTreeMap<&'a Name, RangeSet>,
    /// Those of them that would own something.
    remaining: BTreeSet<&'a Name>,
}

/// Whose reference an ended run is looked at for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference {
    Owner,
    Table,
}

fn is_owned(entry: &Entry) -> bool {
    entry.class != Class::Fill
}

impl<'a> Ground<'a> {
    pub(super) fn new(
        (space, family): (&'a Name, Family),
        (published, built): (&'a Table, &'a Table),
        (runs, start): (&'a Runs, Timestamp),
        memory: &'a GuardMemory,
    ) -> Self {
        let ended = runs.since(space, family, start);
        let forgiven = memory.forgiven.iter().filter(|f| f.space == *space && f.range.family() == family);
        let holds = memory.holds.iter().filter(|hold| hold.space == *space && hold.family == family);
        Self {
            space,
            published: published.of(space, family),
            built: built.of(space, family),
            ended,
            by_range: Overlaps::new(ended.iter().map(|run| run.range).zip(0..).collect()),
            forgiven: Overlaps::new(forgiven.map(|forgiven| (forgiven.range, forgiven)).collect()),
            holds: holds.map(|hold| ((hold.kind, &hold.owner), hold)).collect(),
            owned: BTreeMap::new(),
            remaining: BTreeSet::new(),
        }
    }

    /// Notes what the owners with changes have and would have: one pass over each table.
    pub(super) fn look_up_owners(&mut self, deltas: &Deltas) {
        let owners: BTreeSet<&Name> = deltas.removals.keys().chain(deltas.additions.keys()).collect();
        if owners.is_empty() {
            return;
        }
        let mut owned: BTreeMap<&'a Name, Vec<Range>> = BTreeMap::new();
        for entry in self.published.iter().filter(|e| is_owned(e) && owners.contains(&e.owner)) {
            owned.entry(&entry.owner).or_default().push(entry.range);
        }
        self.owned = owned.into_iter().map(|(owner, ranges)| (owner, ranges.into_iter().collect())).collect();
        let remaining = self.built.iter().filter(|e| is_owned(e) && owners.contains(&e.owner));
        self.remaining = remaining.map(|entry| &entry.owner).collect();
    }

    /// What is held already.
    pub(super) fn hold(&self, kind: HoldKind, owner: &Name) -> Option<&'a Hold> {
        self.holds.get(&(kind, owner)).copied()
    }

    /// The addresses of `changes` that are held already.
    pub(super) fn stuck(&self, kind: HoldKind, owner: &Name, changes: &RangeSet) -> RangeSet {
        self.hold(kind, owner).map_or_else(RangeSet::new, |hold| changes.intersect(&hold.addresses()))
    }

    /// Whether an owner would own nothing here.
    pub(super) fn is_emptied(&self, owner: &Name) -> bool {
        !self.remaining.contains(owner)
    }

    /// How much is published as an owner's.
    pub(super) fn owned_units(&self, owner: &Name) -> u64 {
        self.owned.get(owner).map_or(0, RangeSet::units)
    }

    /// How much is published at all; `routed`: without fill lines.
    pub(super) fn published_units(&self, routed: bool) -> u64 {
        let counted = self.published.iter().filter(|entry| !routed || is_owned(entry));
        units(counted.map(|entry| entry.range))
    }

    /// What was published as an owner's at any time in the window.
    pub(super) fn owner_reference(&self, owner: &Name) -> RangeSet {
        let ended = self.ended.iter().filter(|run| run.owner == *owner);
        let mut ranges: Vec<Range> = ended.flat_map(|run| self.counted(run, Reference::Owner)).collect();
        ranges.extend(self.owned.get(owner).into_iter().flatten());
        ranges.into_iter().collect()
    }

    /// What ceased to be an owner's in the window and counts in the table's reference.
    pub(super) fn table_ended(&self) -> RangeSet {
        self.ended.iter().flat_map(|run| self.counted(run, Reference::Table)).collect()
    }

    /// The published addresses that had another owner in the window.
    pub(super) fn moved(&self) -> RangeSet {
        let moved = |run: &'a Ended| {
            let counted = self.counted(run, Reference::Table);
            within(self.published, &counted, |entry| entry.owner != run.owner)
        };
        self.ended.iter().flat_map(moved).collect()
    }

    /// The addresses of `changes` that left the owner and came back to it within the window,
    /// with nobody's between.
    pub(super) fn returned(&self, owner: &Name, changes: &RangeSet) -> RangeSet {
        let mut runs: Vec<usize> =
            changes.iter().flat_map(|range| self.by_range.of(*range).map(|(_, place)| *place)).collect();
        runs.sort_unstable();
        runs.dedup();
        // What the owner's was until it left, as far as nobody else had it since.
        let (mut left, mut returned) = (RangeSet::new(), RangeSet::new());
        for run in runs.iter().filter_map(|place| self.ended.get(*place)) {
            let range = RangeSet::from(run.range);
            if run.owner == *owner {
                returned = returned.union(&left.intersect(&range));
            }
            left = left.subtract(&range);
            if run.owner == *owner {
                left = left.union(&self.counted(run, Reference::Table));
            }
        }
        changes.intersect(&returned.union(&left))
    }

    /// The part of an ended run that was not forgiven since.
    fn counted(&self, run: &Ended, reference: Reference) -> RangeSet {
        let forgives =
            |forgiven: &Forgiven| forgiven.at >= run.to && (forgiven.table || reference == Reference::Owner);
        let forgiven = self.forgiven.of(run.range).filter(|(_, forgiven)| forgives(forgiven));
        forgiven.map(|(common, _)| common).collect::<RangeSet>().gaps(run.range)
    }

    /// The addresses of `set` that are published as somebody's, fill lines apart.
    pub(super) fn in_published(&self, set: &RangeSet) -> RangeSet {
        within(self.published, set, is_owned)
    }

    /// The addresses of `set` that would be somebody's, fill lines apart.
    pub(super) fn in_built(&self, set: &RangeSet) -> RangeSet {
        within(self.built, set, is_owned)
    }

    /// The addresses of `set` that would be somebody else's.
    pub(super) fn of_others(&self, set: &RangeSet, owner: &Name) -> RangeSet {
        within(self.built, set, |entry| is_owned(entry) && entry.owner != *owner)
    }
}

/// What of a set lies in entries of a kind.
fn within(entries: Entries<'_>, set: &RangeSet, of_kind: impl Fn(&Entry) -> bool) -> RangeSet {
    let mut ranges = Vec::new();
    for range in set {
        let (_, behind) = entries.split(|entry| entry.range.last_bits() < range.first_bits());
        let here = behind.iter().map_while(|entry| Some((entry, entry.range.intersection(*range)?)));
        ranges.extend(here.filter(|(entry, _)| of_kind(entry)).map(|(_, common)| common));
    }
    ranges.into_iter().collect()
}
