//! Moves and additions.

use std::collections::BTreeMap;

use super::delta::{Delta, addresses};
use super::ground::Ground;
use super::judge::{GuardSettings, Held};
use super::{HoldKind, HoldReason};
use crate::address::RangeSet;
use crate::table::Name;

/// Judges the moves: held where the distinct addresses that changed their owner in the window
/// are over their share of the table.
pub(super) fn judge_moves(
    ground: &Ground<'_>,
    moves: &BTreeMap<Name, Vec<Delta>>,
    settings: &GuardSettings,
    held: &mut Held,
) {
    let by_owner: Vec<(&Name, RangeSet)> =
        moves.iter().map(|(owner, deltas)| (owner, addresses(deltas))).collect();
    let all: RangeSet = by_owner.iter().flat_map(|(_, changes)| changes).copied().collect();
    let over = !all.is_empty() && all.units() >= settings.ignore_below && {
        let moved = ground.moved().union(&all).units();
        settings.moves.is_passed(moved, ground.published_units(false))
    };
    for (owner, changes) in by_owner {
        let stuck = ground.stuck(HoldKind::Move, owner, &changes);
        held.add(HoldKind::Move, owner, if over { changes } else { stuck }, HoldReason::Move);
    }
}

/// Judges the additions. What was published in the window comes back unjudged, static lines
/// are a person's word, and an owner that had nothing may bring what it has.
pub(super) fn judge_additions(
    ground: &Ground<'_>,
    additions: &BTreeMap<Name, Vec<Delta>>,
    settings: &GuardSettings,
    held: &mut Held,
) {
    if additions.is_empty() {
        return;
    }
    let ended = ground.table_ended();
    let mut together: Vec<(&Name, RangeSet)> = Vec::new();
    for (owner, deltas) in additions {
        let polled = deltas.iter().filter(|delta| delta.polled).map(|delta| delta.range);
        let new = polled.collect::<RangeSet>().subtract(&ended);
        let (units, base) = (new.units(), ground.owned_units(owner));
        if base > 0 && units >= settings.ignore_below && settings.add_bas.is_passed(units, base) {
            held.add(HoldKind::Addition, owner, new, HoldReason::AddBas);
        } else if base > 0 {
            together.push((owner, new));
        }
        let stuck = ground.stuck(HoldKind::Addition, owner, &addresses(deltas));
        let reason = ground.hold(HoldKind::Addition, owner).map_or(HoldReason::AddBas, |hold| hold.reason);
        held.add(HoldKind::Addition, owner, stuck, reason);
    }
    let all = together.iter().flat_map(|(_, new)| new).copied().collect::<RangeSet>().units();
    if all >= settings.ignore_below && settings.add.is_passed(all, ground.published_units(false).max(1)) {
        together.into_iter().for_each(|(owner, new)| {
            held.add(HoldKind::Addition, owner, new, HoldReason::Add);
        });
    }
}
