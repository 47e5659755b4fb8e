//! Writes entries and conflicts in order, and merges neighbours as they come.

use super::{Conflict, ConflictClaim, Crowd, Rule};
use crate::address::Range;
use crate::table::chunks::Chunks;
use crate::table::{Claim, Entry};

/// What was found on one stretch of addresses where claims overlap. The claims are told by
/// their place in the cluster, so that nothing is cloned before it is known to be new.
#[derive(PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) winner: Option<usize>,
    pub(super) rule: Rule,
    pub(super) shown: Vec<usize>,
    pub(super) more: usize,
}

#[derive(Default)]
pub(super) struct Writer {
    pub(super) entries: Chunks,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) crowds: Vec<Crowd>,
    /// The overlap behind the last conflict, within the present cluster.
    last: Option<Overlap>,
}

impl Writer {
    /// Writes a whole claim.
    pub(super) fn take(&mut self, claim: Claim) {
        if !self.grow(&claim, claim.range) {
            let Claim { space, range, owner, bas, pool, vrf, class, .. } = claim;
            self.entries.push(Entry { space, range, owner, bas, pool, vrf, class });
        }
    }

    /// Writes a part of a claim.
    pub(super) fn extend(&mut self, claim: &Claim, range: Range) {
        if !self.grow(claim, range) {
            self.take(Claim { range, ..claim.clone() });
        }
    }

    /// Lengthens the last entry, where the claim continues it.
    fn grow(&mut self, claim: &Claim, range: Range) -> bool {
        let Some(last) = self.entries.last().filter(|last| last.range.touches(range)) else {
            return false;
        };
        let continues = last.space == claim.space
            && last.owner == claim.owner
            && last.bas == claim.bas
            && last.pool == claim.pool
            && last.vrf == claim.vrf
            && last.class.is_kind_of(claim.class);
        let joined = Range::from_bits(range.family(), last.range.first_bits(), range.last_bits());
        match joined.filter(|_| continues).zip(self.entries.last_mut()) {
            Some((joined, last)) => {
                last.range = joined;
                last.class = last.class.max(claim.class);
                true
            }
            None => false,
        }
    }

    /// A new cluster begins: its claims are counted anew.
    pub(super) fn begin_cluster(&mut self, claims: &[Claim], reached: Range) {
        self.last = None;
        if let Some(claim) = claims.first() {
            let mut bases: Vec<_> = claims.iter().filter_map(|claim| claim.bas.clone()).collect();
            bases.sort_unstable();
            bases.dedup();
            self.crowds.push(Crowd { space: claim.space.clone(), range: reached, bases });
        }
    }

    /// Writes an overlap of the present cluster.
    pub(super) fn overlap(&mut self, cluster: &[&Claim], range: Range, overlap: Overlap) {
        if self.last.as_ref() == Some(&overlap)
            && let Some(conflict) = self.conflicts.last_mut().filter(|last| last.range.touches(range))
            && let Some(joined) =
                Range::from_bits(range.family(), conflict.range.first_bits(), range.last_bits())
        {
            conflict.range = joined;
            return;
        }
        let claims: Vec<_> = overlap.shown.iter().filter_map(|place| cluster.get(*place).copied()).collect();
        if let Some(any) = claims.first() {
            self.conflicts.push(Conflict {
                space: any.space.clone(),
                range,
                owner: overlap.winner.and_then(|place| cluster.get(place)).map(|claim| claim.owner.clone()),
                rule: overlap.rule,
                claims: claims.iter().copied().map(ConflictClaim::from).collect(),
                more: overlap.more,
            });
            self.last = Some(overlap);
        }
    }
}
