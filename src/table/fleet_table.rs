//! The table of a fleet, batch by batch: only what changed is built anew, and nothing where
//! nothing did.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BuildRules, Claim, Claimants, Conflict, FleetClaims, Ledger, Name, Table, Touched};
use crate::address::Range;

/// What was built last under a configuration, and what has changed since.
#[derive(Clone, Debug, Default)]
pub struct FleetTable {
    /// None before the first build.
    ledger: Option<Ledger>,
    touched: Touched,
    /// What stale BASes claimed: the clock alone may change that, and what others list.
    stale: BTreeMap<Name, Vec<Claim>>,
    /// Whether what came of the last build is in force.
    settled: bool,
}

impl FleetTable {
    /// Notes that a BAS lists something else: what [`Memory::ingest`](super::Memory::ingest)
    /// told.
    pub fn touch(&mut self, bas: &Name, ranges: Vec<(Name, Range)>) {
        self.touched.bases.insert(bas.clone());
        self.touched.ranges.extend(ranges);
    }

    /// What is built is on its way to be in force.
    pub fn unsettle(&mut self) {
        self.settled = false;
    }

    /// It is in force.
    pub fn settle(&mut self) {
        self.settled = true;
    }

    /// Whether a build would come to what is in force.
    pub fn is_current(&self, claimants: &FleetClaims<'_>) -> bool {
        self.settled
            && self.ledger.is_some()
            && self.touched.is_empty()
            && self.stale.is_empty()
            && claimants.stale().next().is_none()
    }

    /// The table and the conflicts out of what is claimed now, on top of what is in force.
    pub fn bring(
        &mut self,
        claimants: &FleetClaims<'_>,
        previous: &Table,
        rules: &BuildRules,
    ) -> (Table, Arc<Vec<Conflict>>) {
        let stale: BTreeMap<Name, Vec<Claim>> =
            claimants.stale().map(|bas| (bas.clone(), claimants.of_bas(bas))).collect();
        self.touch_stale(&stale);
        self.stale = stale;
        let touched = std::mem::take(&mut self.touched);
        let ledger = match self.ledger.take() {
            Some(mut ledger) => {
                ledger.update(&touched, claimants, previous);
                ledger
            }
            None => Ledger::new(claimants, previous, rules),
        };
        let built = (ledger.table().clone(), Arc::clone(ledger.conflicts()));
        self.ledger = Some(ledger);
        built
    }

    /// A BAS that is stale, or was at the last build, may claim otherwise although it lists
    /// the same.
    fn touch_stale(&mut self, stale: &BTreeMap<Name, Vec<Claim>>) {
        let (was, touched) = (&self.stale, &mut self.touched);
        let differs = |(bas, claims): &(&Name, &Vec<Claim>), others: &BTreeMap<Name, Vec<Claim>>| {
            others.get(*bas) != Some(*claims)
        };
        let now = stale.iter().filter(|one| differs(one, was));
        let then = was.iter().filter(|one| differs(one, stale));
        for (bas, claims) in now.chain(then) {
            touched.bases.insert(bas.clone());
            touched.ranges.extend(claims.iter().map(|claim| (claim.space.clone(), claim.range)));
        }
    }
}
