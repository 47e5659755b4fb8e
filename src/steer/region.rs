//! One region: the weights of its lists for the next publish.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::deal::{Field, without_load};
use super::plan::PlanReport;
use super::policy::PlanRules;
use super::replan::replan;
use super::unit::{Knowledge, Known, Unit, beside, knowledge, missed};
use super::weights::shares;
use super::{Damping, Policy};
use crate::table::{GroupEdge, Name, Token};

/// Owners that are steered together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// Its name.
    pub name: Name,
    /// How its lists are steered.
    pub policy: Policy,
    /// When weights move, and how far.
    pub damping: Damping,
    /// The owners that belong to it.
    pub owners: BTreeSet<Name>,
}

/// Why a list has the weights that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListState {
    /// The policy's, or a step towards them.
    Followed,
    /// Those before: too little would be gained.
    Kept,
    /// Those before: nothing is known of the edges yet.
    Waiting,
    /// On the way to the static ones: an edge's load is unknown.
    FallingBack,
    /// The static ones: an edge's load is unknown for too long, or no edge can take anything.
    Static,
    /// The traffic does not fit: those of what fits, or those before where some owner's fits
    /// nowhere.
    Infeasible,
    /// Those before: the plan failed.
    Failed,
}

/// What was decided for a list of edges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListReport {
    /// The owners that have it.
    pub owners: Vec<Name>,
    /// The service.
    pub service: Name,
    /// Its group.
    pub group: Option<Token>,
    /// Why its weights are what they are.
    pub state: ListState,
    /// The edges whose load is unknown.
    pub unknown: Vec<Name>,
    /// The edges in order, with their weights.
    pub edges: Vec<GroupEdge>,
    /// What share of the entries is answered with another edge.
    pub shed: Vec<ShedTo>,
}

/// A share of entries, and the edge that they are answered with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShedTo {
    /// The edge.
    pub edge: Name,
    /// The share. What is shed may be less: entries are not divided.
    pub share: f64,
}

/// What was decided for a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionReport {
    /// The region.
    pub region: Name,
    /// Its policy.
    pub policy: &'static str,
    /// Its lists. A list of one edge has nothing to steer, and is not among them.
    pub lists: Vec<ListReport>,
    /// The plan, where the policy makes one.
    pub plan: Option<PlanReport>,
    /// Why there is no plan.
    pub failure: Option<String>,
}

impl ListState {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Followed => "followed",
            Self::Kept => "kept",
            Self::Waiting => "waiting",
            Self::FallingBack => "falling-back",
            Self::Static => "static",
            Self::Infeasible => "infeasible",
            Self::Failed => "failed",
        }
    }
}

impl RegionReport {
    /// The report as text: a line a list, and the plan.
    pub fn text(&self) -> String {
        let mut out = format!("region {}, policy {}\n", self.region, self.policy);
        for list in &self.lists {
            let owners: Vec<&str> = list.owners.iter().map(Name::as_str).collect();
            let edges: Vec<String> = list.edges.iter().map(|e| format!("{} {}", e.name, e.weight)).collect();
            let state = list.state.word();
            let _ = writeln!(out, "{} ({}): {} [{state}]", owners.join(", "), list.service, edges.join(", "));
            for shed in &list.shed {
                let _ = writeln!(out, "  up to {:.1} % of its entries to {}", shed.share * 100.0, shed.edge);
            }
            if !list.unknown.is_empty() {
                let unknown: Vec<&str> = list.unknown.iter().map(Name::as_str).collect();
                let _ = writeln!(out, "  unknown: {}", unknown.join(", "));
            }
        }
        if let Some(failure) = &self.failure {
            let _ = writeln!(out, "no plan: {failure}");
        }
        out + &self.plan.as_ref().map(PlanReport::text).unwrap_or_default()
    }
}

/// Between two readings of the loads weights stay as they are.
fn resting(unit: &Unit<'_>, known: Known<'_>) -> Option<Decision> {
    if known.moving { None } else { Some((unit.previous.clone()?, ListState::Kept)) }
}

/// The weights of one unit, by place, and why.
pub(super) type Decision = (Vec<u32>, ListState);

/// All that was decided for the units of a region.
pub(super) struct Decided {
    pub(super) units: Vec<Decision>,
    pub(super) plan: Option<PlanReport>,
    pub(super) failure: Option<String>,
}

impl Region {
    /// The weights of the region's units.
    pub(super) fn decide(&self, units: &[Unit<'_>], known: Known<'_>) -> Decided {
        let plain = |unit: &Unit<'_>| without_load(&self.policy, unit).map(|w| (w, ListState::Followed));
        if let Some(units) = units.iter().map(plain).collect() {
            return Decided { units, plan: None, failure: None };
        }
        let capacities = self.compares_capacities(units, known);
        let knowledge = |unit| knowledge(&self.policy, unit, known, capacities);
        let back: Vec<Option<Decision>> = units
            .iter()
            .map(|unit| resting(unit, known).or_else(|| self.without_knowledge(unit, knowledge(unit))))
            .collect();
        let loads = self.loads(units, &back, known);
        let whole = units.iter().zip(&back).filter(|(_, back)| back.is_none());
        let steered: Vec<&Unit<'_>> = whole.map(|(unit, _)| unit).collect();
        let mut decided = match &self.policy {
            Policy::Plan(rules) => self.planned(rules, &steered, known, &loads),
            policy => {
                let dealt = Field::new(loads, known, capacities).deal(policy, &steered);
                let units = steered.iter().zip(dealt).map(|(unit, weights)| self.damped(unit, weights));
                Decided { units: units.collect(), plan: None, failure: None }
            }
        };
        let mut of_steered = decided.units.into_iter();
        let all = back.into_iter().map(|back| back.or_else(|| of_steered.next()));
        decided.units = all.flatten().collect();
        decided
    }

    fn compares_capacities(&self, units: &[Unit<'_>], known: Known<'_>) -> bool {
        let mut edges = units.iter().flat_map(|unit| unit.edges);
        !matches!(self.policy, Policy::Statistics)
            && edges.any(|edge| known.loads.of(edge).capacity().is_some())
    }

    /// What edges carry that is not steered now: beside the lists' own traffic, and with that
    /// of the lists that are not steered.
    fn loads<'a>(
        &self,
        units: &[Unit<'a>],
        back: &[Option<Decision>],
        known: Known<'_>,
    ) -> BTreeMap<&'a Name, f64> {
        if matches!(self.policy, Policy::Statistics) {
            // It looks at all traffic there is.
            let edges = units.iter().flat_map(|unit| unit.edges);
            return edges.map(|edge| (edge, known.loads.of(edge).load().unwrap_or(0.0))).collect();
        }
        let mut loads = beside(units, known);
        for (unit, back) in units.iter().zip(back) {
            let Some((weights, _)) = back else { continue };
            for (edge, share) in unit.edges.iter().zip(shares(weights)) {
                loads.entry(edge).and_modify(|load| *load += share * unit.demand);
            }
        }
        loads
    }

    /// What is left to a unit some of whose edges are unknown.
    fn without_knowledge(&self, unit: &Unit<'_>, knowledge: Knowledge) -> Option<Decision> {
        let now = unit.previous.as_ref().unwrap_or(&unit.fixed);
        match knowledge {
            Knowledge::Whole => None,
            Knowledge::Awaited => Some((now.clone(), ListState::Waiting)),
            Knowledge::Missing(missed) => {
                let weights = self.damping.fall_back(now, &unit.fixed, missed);
                let there = weights == unit.fixed;
                Some((weights, if there { ListState::Static } else { ListState::FallingBack }))
            }
        }
    }

    /// A step towards wanted weights; the static ones where no edge can take anything.
    fn damped(&self, unit: &Unit<'_>, wanted: Option<Vec<u32>>) -> Decision {
        let Some(wanted) = wanted else { return (unit.fixed.clone(), ListState::Static) };
        let Some(previous) = &unit.previous else { return (wanted, ListState::Followed) };
        let weights = self.damping.toward(previous, &wanted);
        let kept = weights == *previous && shares(&wanted) != shares(previous);
        (weights, if kept { ListState::Kept } else { ListState::Followed })
    }

    fn planned(
        &self,
        rules: &PlanRules,
        units: &[&Unit<'_>],
        known: Known<'_>,
        beside: &BTreeMap<&Name, f64>,
    ) -> Decided {
        let keep = |state: ListState| {
            let now = |unit: &&Unit<'_>| (unit.previous.clone().unwrap_or_else(|| unit.fixed.clone()), state);
            units.iter().map(now).collect::<Vec<Decision>>()
        };
        let replan = match replan(rules, units, known, beside, self.damping.min_gain) {
            Ok(Some(replan)) => replan,
            Ok(None) => return Decided { units: keep(ListState::Kept), plan: None, failure: None },
            Err(failure) => {
                return Decided { units: keep(ListState::Failed), plan: None, failure: Some(failure) };
            }
        };
        let fits = replan.report.objective.is_some();
        let mut units = match replan.adopt {
            false => keep(ListState::Kept),
            // That it is worth it is known of all together: each moves, however little.
            true => {
                let free = Self { damping: Damping { min_move: 0.0, ..self.damping }, ..Self::default() };
                units.iter().zip(replan.weights).map(|(unit, weights)| free.damped(unit, weights)).collect()
            }
        };
        if !fits {
            units.iter_mut().for_each(|(_, state)| *state = ListState::Infeasible);
        }
        Decided { units, plan: Some(replan.report), failure: None }
    }

    /// A unit's edges in order: what is preferred first.
    pub(super) fn ordered(&self, unit: &Unit<'_>, weights: &[u32]) -> Vec<GroupEdge> {
        let mut places: Vec<(usize, &Name, u32)> =
            unit.edges.iter().enumerate().zip(weights).map(|((place, name), w)| (place, name, *w)).collect();
        let by_place = matches!(self.policy, Policy::RoundRobin | Policy::Weighted);
        places.sort_by(|a, b| {
            let weight = if by_place { (b.2 > 0).cmp(&(a.2 > 0)) } else { b.2.cmp(&a.2) };
            let distance = || match self.policy.looks_at_distance() {
                true => unit.distance(a.0).total_cmp(&unit.distance(b.0)),
                false => std::cmp::Ordering::Equal,
            };
            weight.then_with(distance).then(a.0.cmp(&b.0))
        });
        places.into_iter().map(|(_, name, weight)| GroupEdge { name: name.clone(), weight }).collect()
    }

    /// The edges of a unit of which something is unknown that the policy needs.
    pub(super) fn unknown(&self, unit: &Unit<'_>, known: Known<'_>) -> Vec<Name> {
        let unknown = |edge: &&Name| match self.policy {
            Policy::Shed(_) => known.loads.of(edge).p95_ms().is_none(),
            _ => missed(&self.policy, edge, known, false) > 0,
        };
        unit.open_places().map(|(_, edge)| edge).filter(unknown).cloned().collect()
    }
}
