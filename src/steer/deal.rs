//! Weights by dealing: the traffic of all lists is dealt out in small parts, each to the edge
//! that the ranking chooses, and counted there before the next is dealt.
//!
//! This is what a selector does that sees every request and counts its own decisions, with
//! one report a cycle. What an edge carries beside the lists' own traffic stays where it is.

use std::collections::BTreeMap;

use super::unit::{Known, Unit};
use super::weights::{WHOLE, all_on};
use super::{Candidate, Policy, Ranking, Ties};
use crate::table::Name;

/// In how many parts a list's traffic is dealt: each is five points of weight.
const PARTS: u32 = 20;

/// An edge while parts are dealt.
#[derive(Clone, Copy, Debug)]
struct Filling {
    load: f64,
    /// What loads are divided by to compare them.
    capacity: f64,
}

/// The edges that a region's lists name; none where their load is unknown.
#[derive(Debug)]
pub(super) struct Field<'a> {
    edges: BTreeMap<&'a Name, Option<Filling>>,
}

impl<'a> Field<'a> {
    /// The edges with what they carry beside the lists' own traffic. Without `capacities`
    /// they count as equal.
    pub(super) fn new(loads: BTreeMap<&'a Name, f64>, known: Known<'_>, capacities: bool) -> Self {
        let filling = |edge: &Name, load: f64| {
            let told = known.loads.of(edge);
            told.load()?;
            Some(Filling { load, capacity: if capacities { told.capacity()? } else { 1.0 } })
        };
        Self { edges: loads.into_iter().map(|(edge, load)| (edge, filling(edge, load))).collect() }
    }

    fn add(&mut self, edge: &Name, amount: f64) {
        if let Some(Some(filling)) = self.edges.get_mut(edge) {
            filling.load += amount;
        }
    }

    /// The weights of all `units`. A list none of whose edges can take anything gets none.
    pub(super) fn deal(mut self, policy: &Policy, units: &[&Unit<'_>]) -> Vec<Option<Vec<u32>>> {
        let Some(ranking) = policy.ranking() else { return vec![None; units.len()] };
        let counted = !matches!(policy, Policy::Statistics);
        let mut dealt: Vec<Vec<u32>> = units.iter().map(|unit| vec![0; unit.edges.len()]).collect();
        for _ in 0..PARTS {
            for (unit, weights) in units.iter().zip(&mut dealt) {
                let Some(place) = self.choose(ranking, unit) else { continue };
                if let Some(weight) = weights.get_mut(place) {
                    *weight += WHOLE / PARTS;
                }
                if let Some(edge) = unit.edges.get(place).filter(|_| counted) {
                    self.add(edge, unit.demand / f64::from(PARTS));
                }
            }
        }
        dealt.into_iter().map(|weights| weights.iter().any(|weight| *weight > 0).then_some(weights)).collect()
    }

    fn choose(&self, ranking: Ranking, unit: &Unit<'_>) -> Option<usize> {
        let filling = |edge: &Name| self.edges.get(edge).copied().flatten().filter(|f| f.capacity > 0.0);
        let mut places: Vec<(&Name, usize, Candidate)> = unit
            .open_places()
            .filter_map(|(place, edge)| {
                let filling = filling(edge)?;
                let load = filling.load / filling.capacity;
                Some((edge, place, Candidate { distance: unit.distance(place), load }))
            })
            .collect();
        // The last tie-break is the edge's name, wherever the list has it.
        places.sort_by(|a, b| a.0.cmp(b.0));
        let candidates: Vec<Candidate> = places.iter().map(|(_, _, candidate)| *candidate).collect();
        let chosen = ranking.choose(&candidates, Ties::Place)?;
        places.get(chosen).map(|(_, place, _)| *place)
    }
}

/// Weights that need no load.
pub(super) fn without_load(policy: &Policy, unit: &Unit<'_>) -> Option<Vec<u32>> {
    let count = unit.edges.len();
    let weights = match policy {
        Policy::Nearest => unit.nearest().map(|place| all_on(place, count)),
        Policy::RoundRobin => Some(unit.open.iter().map(|open| u32::from(*open)).collect()),
        Policy::Weighted => Some(unit.fixed.clone()),
        Policy::Shed(_) => unit.open.iter().position(|open| *open).map(|place| all_on(place, count)),
        _ => return None,
    };
    // Where everything is drained, what is drained goes on answering.
    weights.filter(|weights| weights.iter().any(|weight| *weight > 0)).or_else(|| Some(unit.fixed.clone()))
}
