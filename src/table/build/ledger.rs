//! A build that is kept, so that the next one costs what changed and not what there is.
//!
//! What a claim comes to depends on the claims that it overlaps, on those that they overlap,
//! and so on, and on the previous table below them; on nothing else. So an update looks for
//! the stretches that a change reaches in that way, asks those who claim something there
//! anew, builds these stretches, and puts them in their place. The claims themselves are not
//! kept: of a claim that stands alone the table has all that is needed to find it again, and
//! for the others there is a list of crowds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::writer::Writer;
use super::{BuildRules, Conflict, Crowd, cover, cut_blocks, sweep, write};
use crate::address::{Family, Range, RangeSet};
use crate::table::entries::Patch;
use crate::table::{Claim, Entry, Name, Table, diff};

/// Those who claim, to be asked again.
pub trait Claimants {
    /// All that everybody claims.
    fn all(&self) -> Vec<Claim>;

    /// All that a BAS claims, static lines apart.
    fn of_bas(&self, bas: &Name) -> Vec<Claim>;

    /// The static lines of a space that overlap a range.
    fn of_lines(&self, space: &Name, range: Range) -> Vec<Claim>;
}

/// What may be claimed otherwise than in the last build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// The BASes.
    pub bases: BTreeSet<Name>,
    /// The addresses, as they were claimed and as they are.
    pub ranges: Vec<(Name, Range)>,
}

impl Touched {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.bases.is_empty() && self.ranges.is_empty()
    }
}

/// Where more BASes than this claim something in what a change reaches, the whole build is
/// as good.
const MOST: usize = 500;

/// A table as it was built, and what is needed to bring it up to date.
#[derive(Clone, Debug)]
pub struct Ledger {
    rules: BuildRules,
    previous: Table,
    /// As the claims have it.
    exact: Table,
    /// With its pools rounded up, where the rules say so.
    table: Table,
    conflicts: Arc<Vec<Conflict>>,
    crowds: BTreeMap<(Name, Family), BTreeMap<u128, Crowd>>,
}

impl Ledger {
    /// Builds all of it.
    pub fn new(claimants: &impl Claimants, previous: &Table, rules: &BuildRules) -> Self {
        let Writer { entries, conflicts, crowds, .. } =
            write(claimants.all(), previous, rules, &mut Vec::new());
        let exact = Table::from_chunks(entries);
        // Memory for one table, where it is the same.
        let exact = if exact == *previous { previous.clone() } else { exact };
        let table = cover::covered(&exact, &conflicts, rules);
        let mut ledger = Self {
            rules: rules.clone(),
            previous: previous.clone(),
            exact,
            table,
            conflicts: Arc::new(conflicts),
            crowds: BTreeMap::new(),
        };
        ledger.add_crowds(crowds);
        ledger
    }

    /// The table.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Every overlap of claims, by space, family and first address.
    pub const fn conflicts(&self) -> &Arc<Vec<Conflict>> {
        &self.conflicts
    }

    /// Brings the build up to date: afterwards it is as if all had been built from what the
    /// claimants say now, on top of `previous`.
    pub fn update(&mut self, touched: &Touched, claimants: &impl Claimants, previous: &Table) {
        match self.reached(touched, claimants, previous) {
            Some(reached) => self.rebuild(reached, claimants, previous),
            None => *self = Self::new(claimants, previous, &self.rules),
        }
    }

    /// What a change reaches; none where that is too much.
    fn reached(
        &self,
        touched: &Touched,
        claimants: &impl Claimants,
        previous: &Table,
    ) -> Option<Vec<Reached>> {
        let mut grounds: BTreeMap<(Name, Family), Vec<Range>> = BTreeMap::new();
        for (space, range) in &touched.ranges {
            grounds.entry((space.clone(), range.family())).or_default().push(*range);
        }
        // Below claims that stand alone it does not matter what was before.
        for change in diff(&self.previous, previous) {
            let key = (change.space().clone(), change.range().family());
            let crowds = self.crowds_in(&key, change.range());
            let ranges: Vec<Range> = crowds.map(|crowd| crowd.range).collect();
            if !ranges.is_empty() {
                grounds.entry(key).or_default().extend(ranges);
            }
        }
        let mut asked = Asked { rules: &self.rules, claimants, of_bas: BTreeMap::new() };
        let reach = |(ground, ranges): ((Name, Family), Vec<Range>)| {
            let mut reach = Reach::new(self, ground, &mut asked);
            touched.bases.iter().for_each(|bas| reach.ask(bas));
            reach.grow(ranges.into_iter().collect())
        };
        grounds.into_iter().map(reach).collect()
    }

    fn rebuild(&mut self, reached: Vec<Reached>, claimants: &impl Claimants, previous: &Table) {
        let (mut patches, mut changed) = (Vec::new(), Vec::new());
        for Reached { ground, set, mut claims } in reached {
            claims.extend(lines(claimants, &self.rules, &ground.0, &set));
            let mut writer = Writer::default();
            sweep(claims, previous, &mut writer);
            let mut entries = Table::from_chunks(writer.entries).into_entries().into_iter().peekable();
            for range in &set {
                let mut within: Vec<Entry> = Vec::new();
                while let Some(entry) = entries.next_if(|entry| range.covers(entry.range)) {
                    within.push(entry);
                }
                patches.push(Patch { space: ground.0.clone(), range: *range, entries: within });
            }
            self.replace_conflicts(&ground.0, &set, writer.conflicts);
            self.remove_crowds(&ground, &set);
            self.add_crowds(writer.crowds);
            changed.push((ground.0, set));
        }
        if !patches.is_empty() {
            let rounded = self.rules.cover.values().any(|most| *most > 0);
            self.exact = self.exact.patched(patches.clone());
            self.table = if rounded { self.rounded(patches, &changed) } else { self.exact.clone() };
        }
        self.previous = previous.clone();
    }

    /// The table with what changed in it, and rounded up anew thereabouts.
    fn rounded(&self, patches: Vec<Patch>, changed: &[(Name, RangeSet)]) -> Table {
        changed.iter().fold(self.table.patched(patches), |table, (space, set)| {
            cover::renewed(table, &self.exact, &self.conflicts, &self.rules, (space, set))
        })
    }

    fn replace_conflicts(&mut self, space: &Name, set: &RangeSet, new: Vec<Conflict>) {
        let gone = |conflict: &Conflict| conflict.space == *space && set.overlaps(conflict.range);
        if new.is_empty() && !self.conflicts.iter().any(gone) {
            return;
        }
        let conflicts = Arc::make_mut(&mut self.conflicts);
        conflicts.retain(|conflict| !gone(conflict));
        conflicts.extend(new);
        // Two sorted runs.
        conflicts.sort_by(|a, b| (&a.space, a.range).cmp(&(&b.space, b.range)));
    }

    fn add_crowds(&mut self, crowds: Vec<Crowd>) {
        for crowd in crowds {
            let ground = (crowd.space.clone(), crowd.range.family());
            self.crowds.entry(ground).or_default().insert(crowd.range.first_bits(), crowd);
        }
    }

    fn remove_crowds(&mut self, ground: &(Name, Family), set: &RangeSet) {
        let gone: Vec<u128> = set
            .iter()
            .flat_map(|range| self.crowds_in(ground, *range).map(|crowd| crowd.range.first_bits()))
            .collect();
        if let Some(crowds) = self.crowds.get_mut(ground) {
            gone.iter().for_each(|first| drop(crowds.remove(first)));
        }
    }

    /// The crowds that overlap a range. They are disjoint.
    fn crowds_in<'a>(
        &'a self,
        ground: &(Name, Family),
        range: Range,
    ) -> impl Iterator<Item = &'a Crowd> + use<'a> {
        let before = self.crowds.get(ground).into_iter();
        let before = before.flat_map(move |crowds| crowds.range(..=range.last_bits()).rev());
        before.map(|(_, crowd)| crowd).take_while(move |crowd| crowd.range.last_bits() >= range.first_bits())
    }
}

/// The static lines that lie in some stretches of a space.
fn lines(claimants: &impl Claimants, rules: &BuildRules, space: &Name, set: &RangeSet) -> Vec<Claim> {
    let mut lines = Vec::new();
    for range in set {
        // A line may be cut into parts that lie in several of the stretches.
        let within = cut(claimants.of_lines(space, *range), rules);
        lines.extend(within.into_iter().filter(|claim| claim.range.intersection(*range).is_some()));
    }
    lines
}

fn cut(mut claims: Vec<Claim>, rules: &BuildRules) -> Vec<Claim> {
    cut_blocks(&mut claims, rules, &mut Vec::new());
    claims
}

/// What BASes claim, each asked once.
struct Asked<'a, C> {
    rules: &'a BuildRules,
    claimants: &'a C,
    of_bas: BTreeMap<Name, Vec<Claim>>,
}

impl<C: Claimants> Asked<'_, C> {
    fn of_bas(&mut self, bas: &Name) -> &[Claim] {
        if !self.of_bas.contains_key(bas) {
            let mut by_space: BTreeMap<Name, Vec<Claim>> = BTreeMap::new();
            for claim in self.claimants.of_bas(bas) {
                by_space.entry(claim.space.clone()).or_default().push(claim);
            }
            let claims = by_space.into_values().flat_map(|claims| cut(claims, self.rules)).collect();
            self.of_bas.insert(bas.clone(), claims);
        }
        self.of_bas.get(bas).map_or(&[], Vec::as_slice)
    }
}

/// What a change reaches in one space and family.
struct Reached {
    ground: (Name, Family),
    /// No claim, no entry and no crowd reaches over its ends.
    set: RangeSet,
    /// What BASes claim there.
    claims: Vec<Claim>,
}

/// The same while it grows.
struct Reach<'a, 'b, C> {
    ledger: &'a Ledger,
    ground: (Name, Family),
    asked: &'a mut Asked<'b, C>,
    bases: BTreeSet<Name>,
    /// What those who were asked claim, whether it was reached yet or not.
    claims: Vec<Claim>,
    set: RangeSet,
    /// Reached, and not looked at yet.
    open: Vec<Range>,
}

impl<'a, 'b, C: Claimants> Reach<'a, 'b, C> {
    fn new(ledger: &'a Ledger, ground: (Name, Family), asked: &'a mut Asked<'b, C>) -> Self {
        let (bases, claims, set, open) = Default::default();
        Self { ledger, ground, asked, bases, claims, set, open }
    }

    /// Takes in what a BAS claims.
    fn ask(&mut self, bas: &Name) {
        if !self.bases.insert(bas.clone()) {
            return;
        }
        let claims = self.asked.of_bas(bas).iter();
        let here = |claim: &&Claim| claim.space == self.ground.0 && claim.range.family() == self.ground.1;
        let from = self.claims.len();
        self.claims.extend(claims.filter(here).cloned());
        let new = self.claims.get(from..).unwrap_or_default().iter().map(|claim| claim.range);
        self.open.extend(new.filter(|range| self.set.overlaps(*range)));
    }

    fn grow(mut self, ranges: RangeSet) -> Option<Reached> {
        self.open.extend(ranges.iter().copied());
        self.set = ranges;
        while let Some(range) = self.open.pop() {
            self.set.insert(range);
            self.look(range);
            if self.bases.len() > MOST {
                return None;
            }
        }
        let Self { ground, set, mut claims, .. } = self;
        claims.retain(|claim| set.overlaps(claim.range));
        Some(Reached { ground, set, claims })
    }

    /// Finds what overlaps a range that was reached.
    fn look(&mut self, range: Range) {
        let ledger = self.ledger;
        let mut bases: Vec<&Name> = Vec::new();
        for entry in ledger.exact.overlapping(&self.ground.0, range) {
            self.reach(entry.range);
            bases.extend(&entry.bas);
        }
        let crowds: Vec<&Crowd> = ledger.crowds_in(&self.ground, range).collect();
        for crowd in crowds {
            self.reach(crowd.range);
            bases.extend(&crowd.bases);
        }
        bases.into_iter().for_each(|bas| self.ask(bas));
        let overlapping = self.claims.iter().map(|claim| claim.range);
        let overlapping: Vec<Range> = overlapping.filter(|r| r.intersection(range).is_some()).collect();
        let lines = lines(self.asked.claimants, self.asked.rules, &self.ground.0, &range.into());
        let lines = lines.iter().map(|line| line.range);
        overlapping.into_iter().chain(lines).for_each(|range| self.reach(range));
    }

    fn reach(&mut self, range: Range) {
        if !self.set.covers(range) {
            self.set.insert(range);
            self.open.push(range);
        }
    }
}
