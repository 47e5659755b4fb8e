//! Judging one batch.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::approve::Approved;
use super::delta::Deltas;
use super::ground::Ground;
use super::{Forgiven, GuardMemory, HoldKind, HoldReason, Runs, growth, hold, overlay, removal};
use crate::address::{Family, RangeSet};
use crate::table::{Fleet, Name, Share, Table};

/// What the guard lets pass. Shares are of the reference in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardSettings {
    /// Of the table: removals over it are an incident.
    pub remove: Share,
    /// Of an owner: removals over it are held.
    pub remove_bas: Share,
    /// Of the table: moves over it are held.
    pub moves: Share,
    /// Of the table: additions over it are held.
    pub add: Share,
    /// Of an owner: additions over it are held.
    pub add_bas: Share,
    /// Fewer units (IPv4 addresses, IPv6 /64s) are never over a share.
    pub ignore_below: u64,
    /// How far back the reference reaches.
    pub window: SignedDuration,
    /// How many complete scheduled polls in a row approve a partial loss; 0: none do.
    pub confirm: u32,
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            remove: Share::percent(10),
            remove_bas: Share::percent(50),
            moves: Share::percent(30),
            add: Share::percent(20),
            add_bas: Share::percent(200),
            ignore_below: 1024,
            window: SignedDuration::from_hours(24),
            confirm: 12,
        }
    }
}

/// A batch to be judged.
#[derive(Debug)]
pub struct Case<'a> {
    /// The table as it is published.
    pub published: &'a Table,
    /// The table as it was built.
    pub built: Table,
    /// What ceased to be published lately.
    pub runs: &'a Runs,
    /// What is held and forgiven.
    pub memory: GuardMemory,
    /// The configured BASes; their misses are evidence.
    pub fleet: Fleet<'a>,
    /// What a person let through.
    pub approved: &'a Approved,
    /// The settings.
    pub settings: &'a GuardSettings,
    /// Now. The commit has to bear the same time.
    pub now: Timestamp,
}

/// What came out of judging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The table to commit: the built one, with held addresses as they are published.
    pub table: Table,
    /// What is held and forgiven now.
    pub memory: GuardMemory,
    /// Holds that are new.
    pub opened: Vec<u64>,
    /// Holds that are gone: approved, confirmed, or their change is.
    pub closed: Vec<u64>,
}

/// Judges a batch. Holds are made anew from the difference each time; what stays of the old
/// ones is their number, their time, and that their addresses are held.
pub fn judge(case: Case<'_>) -> Judged {
    let Case { published, built, runs, mut memory, fleet, approved, settings, now } = case;
    let start = now.checked_sub(settings.window).unwrap_or(Timestamp::MIN);
    memory.forgiven.retain(|forgiven| forgiven.at > start);
    let evidence = Evidence::new(fleet);
    let mut holds = Vec::new();
    let mut confirmed = Vec::new();
    for (space, family) in grounds(published, &built) {
        let (old, new) = (published.of(&space, family), built.of(&space, family));
        let deltas = Deltas::between(old, new, &approved.passing(&space, family));
        if deltas.is_empty() {
            continue;
        }
        let mut ground = Ground::new((&space, family), (published, &built), (runs, start), &memory);
        ground.look_up_owners(&deltas);
        let mut held = Held::default();
        let removals = removal::judge(&ground, &deltas.removals, &evidence, settings, &mut held);
        growth::judge_moves(&ground, &deltas.moves, settings, &mut held);
        growth::judge_additions(&ground, &deltas.additions, settings, &mut held);
        let ranges = removals.confirmed.iter().flatten().copied();
        confirmed.extend(ranges.map(|range| (space.clone(), range)));
        holds.extend(held.drafts(&space, family, &deltas, removals.incident));
    }
    forgive(&mut memory, approved, confirmed, now);
    let (opened, closed) = hold::renew(&mut memory, holds, now);
    let table = overlay::keep(built, published, &hold::addresses(&memory.holds));
    Judged { table, memory, opened, closed }
}

fn grounds(published: &Table, built: &Table) -> BTreeSet<(Name, Family)> {
    let both = [published, built].into_iter().flat_map(Table::grounds);
    both.map(|(space, family, _)| (space.clone(), family)).collect()
}

/// The commit that takes the addresses away may be written a moment later.
const MOMENT: SignedDuration = SignedDuration::from_secs(1);

/// Takes addresses out of the reference: approved ones out of the owner's and the table's,
/// confirmed ones out of the owner's alone.
fn forgive(
    memory: &mut GuardMemory,
    approved: &Approved,
    confirmed: Vec<(Name, crate::address::Range)>,
    now: Timestamp,
) {
    let at = now.checked_add(MOMENT).unwrap_or(now);
    let approved = approved.changes().map(|(space, change)| (space.clone(), change.range, true));
    let confirmed = confirmed.into_iter().map(|(space, range)| (space, range, false));
    let forgiven = approved.chain(confirmed);
    memory.forgiven.extend(forgiven.map(|(space, range, table)| Forgiven { space, range, at, table }));
}

/// What the polls say about addresses that would be removed.
pub(super) struct Evidence<'a> {
    fleet: Fleet<'a>,
    owners: BTreeMap<&'a Name, Vec<&'a Name>>,
}

impl<'a> Evidence<'a> {
    fn new(fleet: Fleet<'a>) -> Self {
        Self { fleet, owners: fleet.by_owner() }
    }

    /// The addresses that every BAS of the owner missed in so many polls.
    pub(super) fn missed(&self, owner: &Name, space: &Name, within: &RangeSet, polls: u32) -> RangeSet {
        let bases = self.owners.get(owner).map_or(&[][..], Vec::as_slice);
        self.fleet.missed(bases, space, within, polls)
    }
}

/// What is held of one space and family.
#[derive(Default)]
pub(super) struct Held {
    held: BTreeMap<(HoldKind, Name), (RangeSet, HoldReason)>,
}

impl Held {
    /// Holds addresses. The first reason stays, but for an incident, which only a person ends.
    pub(super) fn add(&mut self, kind: HoldKind, owner: &Name, addresses: RangeSet, reason: HoldReason) {
        if addresses.is_empty() {
            return;
        }
        let (held, why) = self.held.entry((kind, owner.clone())).or_insert_with(|| (RangeSet::new(), reason));
        *held = held.union(&addresses);
        if reason == HoldReason::Incident {
            *why = reason;
        }
    }

    /// What of some changes is not held.
    pub(super) fn release(&self, kind: HoldKind, owner: &Name, changes: &RangeSet) -> RangeSet {
        let held = self.held.get(&(kind, owner.clone()));
        held.map_or_else(|| changes.clone(), |(held, _)| changes.subtract(held))
    }

    fn drafts(self, space: &Name, family: Family, deltas: &Deltas, incident: bool) -> Vec<hold::Draft> {
        let draft = |((kind, owner), (addresses, reason)): ((HoldKind, Name), (RangeSet, HoldReason))| {
            let of_kind = match kind {
                HoldKind::Addition => &deltas.additions,
                HoldKind::Move => &deltas.moves,
                HoldKind::Removal => &deltas.removals,
            };
            let changes = of_kind.get(&owner).map_or(&[][..], Vec::as_slice);
            hold::Draft {
                kind,
                reason,
                space: space.clone(),
                family,
                incident: incident && reason == HoldReason::Incident,
                changes: hold::changes(changes, &addresses),
                owner,
            }
        };
        self.held.into_iter().map(draft).collect()
    }
}
