//! Removals: of an owner, then of the table.

use std::collections::BTreeMap;

use super::delta::{Delta, addresses};
use super::ground::Ground;
use super::judge::{Evidence, GuardSettings, Held};
use super::{HoldKind, HoldReason};
use crate::address::RangeSet;
use crate::table::Name;

/// What becomes of the removals of one space and family.
#[derive(Default)]
pub(super) struct Removals {
    /// Addresses that polls confirmed and that leave now, by owner: out of the owner's
    /// reference, not of the table's.
    pub(super) confirmed: Vec<RangeSet>,
    /// Whether the table's losses passed their share.
    pub(super) incident: bool,
}

/// Judges the removals of all owners, then the losses of the table.
pub(super) fn judge(
    ground: &Ground<'_>,
    removals: &BTreeMap<Name, Vec<Delta>>,
    evidence: &Evidence<'_>,
    settings: &GuardSettings,
    held: &mut Held,
) -> Removals {
    let mut judged = Removals::default();
    let mut passing: Vec<(&Name, RangeSet)> = Vec::new();
    for (owner, deltas) in removals {
        let loss = Loss { ground, owner, changes: addresses(deltas), settings };
        let confirmed = loss.confirmed(evidence);
        loss.hold(&confirmed, evidence, held);
        let free = held.release(HoldKind::Removal, owner, &loss.changes);
        judged.confirmed.push(free.intersect(&confirmed));
        passing.push((owner, free));
    }
    let leaving = passing.iter().flat_map(|(_, free)| free).copied().collect();
    if is_incident(ground, &leaving, settings) {
        judged.incident = true;
        passing.into_iter().for_each(|(owner, free)| {
            held.add(HoldKind::Removal, owner, free, HoldReason::Incident);
        });
        judged.confirmed.clear();
    }
    judged
}

/// What one owner would lose in this batch.
struct Loss<'a> {
    ground: &'a Ground<'a>,
    owner: &'a Name,
    changes: RangeSet,
    settings: &'a GuardSettings,
}

impl Loss<'_> {
    fn emptied(&self) -> bool {
        self.ground.is_emptied(self.owner)
    }

    /// The reason of the hold that is there already.
    fn before(&self) -> Option<HoldReason> {
        self.ground.hold(HoldKind::Removal, self.owner).map(|hold| hold.reason)
    }

    /// What complete polls have confirmed often enough. An emptied owner and an incident wait
    /// for a person, and so does what a person rejected.
    fn confirmed(&self, evidence: &Evidence<'_>) -> RangeSet {
        let hold = self.ground.hold(HoldKind::Removal, self.owner);
        let stopped = hold.is_some_and(|hold| hold.rejected || hold.reason == HoldReason::Incident);
        if self.settings.confirm == 0 || stopped || self.emptied() {
            return RangeSet::new();
        }
        evidence.missed(self.owner, self.ground.space, &self.changes, self.settings.confirm)
    }

    fn hold(&self, confirmed: &RangeSet, evidence: &Evidence<'_>, held: &mut Held) {
        let (before, over) = (self.before(), self.is_over());
        let stuck = self.ground.stuck(HoldKind::Removal, self.owner, &self.changes);
        let reason = match before {
            Some(HoldReason::Incident) => HoldReason::Incident,
            _ if self.emptied() => HoldReason::Emptied,
            Some(HoldReason::Flapping) if !over => HoldReason::Flapping,
            _ => HoldReason::RemoveBas,
        };
        let part = if self.emptied() || over { &self.changes } else { &stuck };
        held.add(HoldKind::Removal, self.owner, part.subtract(confirmed), reason);

        let flapping = self.ground.returned(self.owner, &self.changes);
        if self.settings.confirm > 0 && !flapping.is_empty() {
            let enough = evidence.missed(self.owner, self.ground.space, &flapping, self.settings.confirm);
            held.add(HoldKind::Removal, self.owner, flapping.subtract(&enough), HoldReason::Flapping);
        }
    }

    /// Whether the owner's loss in the window is over its share of what was its own, less what
    /// others own now.
    fn is_over(&self) -> bool {
        let reference = self.ground.owner_reference(self.owner);
        let lost = reference.subtract(&self.ground.in_built(&reference)).units();
        let base = reference.subtract(&self.ground.of_others(&reference, self.owner)).units();
        lost >= self.settings.ignore_below && self.settings.remove_bas.is_passed(lost, base)
    }
}

/// Whether the table's losses in the window, with those that leave now, are over their share
/// of what was published in it. Losses that are held do not count: they did not happen.
fn is_incident(ground: &Ground<'_>, leaving: &RangeSet, settings: &GuardSettings) -> bool {
    if leaving.is_empty() {
        return false;
    }
    let ended = ground.table_ended();
    let not_published = ended.subtract(&ground.in_published(&ended));
    let gone = not_published.subtract(&ground.in_built(&not_published)).union(leaving).units();
    let base = ground.published_units(true).saturating_add(not_published.units());
    gone >= settings.ignore_below && settings.remove.is_passed(gone, base)
}
