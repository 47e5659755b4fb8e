//! Lists of edges that are steered as one.

use std::collections::{BTreeMap, BTreeSet};

use super::loads::DEAD_AFTER;
use super::weights::shares;
use super::{Amount, Distances, Loads, Policy};
use crate::table::{Groups, Name, OwnerEdges};

/// What is known at the time of steering.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The edges' loads.
    pub loads: &'a Loads,
    /// The distances of owners and edges.
    pub distances: &'a Distances,
    /// The traffic of owners by service, in the unit of the loads. Where none is given, an
    /// equal part of what the edges carry is assumed.
    pub demands: &'a BTreeMap<(Name, Name), Amount>,
    /// The static weights of edges; 1 for those that have none.
    pub weights: &'a BTreeMap<Name, u32>,
    /// What a unit of load on an edge costs; nothing for those that have none.
    pub costs: &'a BTreeMap<Name, Amount>,
    /// Edges that are taken out of service: nothing is steered to them.
    pub drained: &'a BTreeSet<Name>,
    /// Whether weights by load, and what is shed, may move: once a reading of the loads.
    /// Otherwise they stay, and only what is new gets any.
    pub moving: bool,
}

/// A list of edges of one service, and all owners of it that are steered alike.
#[derive(Clone, Debug)]
pub(super) struct Unit<'a> {
    /// What parts its group from others of the same list.
    pub(super) scope: String,
    pub(super) service: &'a Name,
    /// At least two.
    pub(super) edges: &'a [Name],
    pub(super) lists: Vec<&'a OwnerEdges>,
    /// Its traffic.
    pub(super) demand: f64,
    /// The weights in force, by place in the list.
    pub(super) previous: Option<Vec<u32>>,
    /// The static weights, by place.
    pub(super) fixed: Vec<u32>,
    /// Whether the edge is in service, by place.
    pub(super) open: Vec<bool>,
    /// The distance where it is known, by place.
    pub(super) distances: Vec<Option<f64>>,
}

impl Unit<'_> {
    /// The shares in force, or the static ones.
    pub(super) fn present(&self) -> Vec<f64> {
        shares(self.previous.as_ref().unwrap_or(&self.fixed))
    }

    /// Its name for people.
    pub(super) fn name(&self) -> String {
        let owner = match self.lists.as_slice() {
            [only] => only.owner.to_string(),
            lists => format!("{} owners", lists.len()),
        };
        if &**self.service == super::fixed::DEFAULT_SERVICE {
            owner
        } else {
            format!("{owner} ({})", self.service)
        }
    }

    /// The places of edges in service.
    pub(super) fn open_places(&self) -> impl Iterator<Item = (usize, &Name)> {
        let edges = self.edges.iter().enumerate().zip(&self.open);
        edges.filter(|(_, open)| **open).map(|((place, edge), _)| (place, edge))
    }

    /// How far the edge of a place is; behind all others where that is unknown.
    pub(super) fn distance(&self, place: usize) -> f64 {
        self.distances.get(place).copied().flatten().unwrap_or(f64::INFINITY)
    }

    /// The place of the nearest edge in service; of equally near ones the first by name.
    pub(super) fn nearest(&self) -> Option<usize> {
        let order = |a: &(usize, &Name), b: &(usize, &Name)| {
            self.distance(a.0).total_cmp(&self.distance(b.0)).then_with(|| a.1.cmp(b.1))
        };
        self.open_places().min_by(order).map(|(place, _)| place)
    }
}

/// The units of a region's lists. A list of one edge has nothing to steer.
pub(super) fn units<'a>(
    region: &Name,
    policy: &Policy,
    lists: &[&'a OwnerEdges],
    known: Known<'_>,
    previous: &Groups,
) -> Vec<Unit<'a>> {
    let mut units: BTreeMap<(String, &Name, &[Name]), Unit<'a>> = BTreeMap::new();
    for list in lists.iter().copied().filter(|list| list.edges.len() > 1) {
        let own = policy.looks_at_distance() && known.distances.knows(&list.owner);
        // A newline is in no name, so that no two scopes run together.
        let scope = if own { format!("{region}\n{}", list.owner) } else { region.to_string() };
        let key = (scope.clone(), &list.service, list.edges.as_slice());
        let unit = units.entry(key).or_insert_with(|| unit(scope, list, known));
        unit.lists.push(list);
        if unit.previous.is_none() {
            unit.previous =
                previous_weights(list, previous).and_then(|weights| in_service(weights, &unit.open));
        }
    }
    let mut units: Vec<Unit<'a>> = units.into_values().collect();
    set_demands(&mut units, known);
    units
}

fn unit<'a>(scope: String, list: &'a OwnerEdges, known: Known<'_>) -> Unit<'a> {
    let open: Vec<bool> = list.edges.iter().map(|edge| !known.drained.contains(edge)).collect();
    // Where everything is drained, what is drained goes on answering.
    let all_drained = !open.contains(&true);
    let weight = |edge: &Name| known.weights.get(edge).copied().unwrap_or(1);
    let fixed = list.edges.iter().zip(&open);
    let fixed = fixed.map(|(edge, open)| if *open || all_drained { weight(edge) } else { 0 });
    Unit {
        scope,
        service: &list.service,
        edges: &list.edges,
        lists: Vec::new(),
        demand: 0.0,
        previous: None,
        fixed: fixed.collect(),
        distances: list.edges.iter().map(|edge| known.distances.of(&list.owner, edge)).collect(),
        open,
    }
}

/// The weights in force by place in the list, where the group in force has its edges.
fn previous_weights(list: &OwnerEdges, previous: &Groups) -> Option<Vec<u32>> {
    let group = previous.of(&list.owner, &list.service)?;
    if group.edges.len() != list.edges.len() {
        return None;
    }
    let weight = |name: &Name| group.edges.iter().find(|edge| edge.name == *name).map(|edge| edge.weight);
    list.edges.iter().map(weight).collect()
}

/// Without what is drained, which is not a matter of steps.
fn in_service(mut weights: Vec<u32>, open: &[bool]) -> Option<Vec<u32>> {
    for (weight, open) in weights.iter_mut().zip(open) {
        *weight = if *open { *weight } else { 0 };
    }
    weights.iter().any(|weight| *weight > 0).then_some(weights)
}

/// What edges carry beside the units' own traffic.
pub(super) fn beside<'a>(units: &[Unit<'a>], known: Known<'_>) -> BTreeMap<&'a Name, f64> {
    let edges = units.iter().flat_map(|unit| unit.edges);
    let load = |edge: &Name| known.loads.of(edge).load().unwrap_or(0.0);
    let mut loads: BTreeMap<&Name, f64> = edges.map(|edge| (edge, load(edge))).collect();
    for unit in units {
        for (edge, share) in unit.edges.iter().zip(unit.present()) {
            loads.entry(edge).and_modify(|load| *load -= share * unit.demand);
        }
    }
    loads.values_mut().for_each(|load| *load = load.max(0.0));
    loads
}

/// How well a unit's edges are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// All that the policy needs.
    Whole,
    /// Nothing yet: no cycle was since start.
    Awaited,
    /// Something is missing, for so many cycles in a row.
    Missing(u32),
}

/// What of the edges in service a policy needs and does not know. Where one edge tells its
/// capacity (`capacities`), all have to.
pub(super) fn knowledge(policy: &Policy, unit: &Unit<'_>, known: Known<'_>, capacities: bool) -> Knowledge {
    let missed = unit.open_places().map(|(_, edge)| missed(policy, edge, known, capacities)).max();
    match missed.unwrap_or(0) {
        0 => Knowledge::Whole,
        _ if known.loads.cycles() == 0 => Knowledge::Awaited,
        missed => Knowledge::Missing(missed),
    }
}

/// For how many cycles something needed of an edge is unknown; at least one where it is.
pub(super) fn missed(policy: &Policy, edge: &Name, known: Known<'_>, capacities: bool) -> u32 {
    let load = known.loads.of(edge);
    let whole = match policy {
        Policy::Statistics => load.load().is_some(),
        Policy::Greedy | Policy::LoadNear(_) | Policy::NearLoad(_) => {
            load.load().is_some() && (!capacities || load.capacity().is_some())
        }
        // A capacity alone is enough: then nothing but what is planned is carried.
        Policy::Plan(_) => load.capacity().is_some(),
        _ => true,
    };
    match load.sample {
        _ if whole => 0,
        // A sample is whole or it is none: what it lacks will not come.
        Some(_) => DEAD_AFTER,
        None => load.missed.max(1),
    }
}

fn set_demands(units: &mut [Unit<'_>], known: Known<'_>) {
    let given = |list: &OwnerEdges| {
        known.demands.get(&(list.owner.clone(), list.service.clone())).map(|amount| amount.get())
    };
    let lists = || units.iter().flat_map(|unit| &unit.lists);
    let count = lists().count().max(1) as f64;
    let edges: BTreeSet<&Name> = units.iter().flat_map(|unit| unit.edges).collect();
    let carried: f64 = edges.iter().filter_map(|edge| known.loads.of(edge).load()).sum();
    let known_demands: Vec<f64> = lists().filter_map(|list| given(list)).collect();
    let assumed = match known_demands.len() {
        0 => carried / count,
        some => known_demands.iter().sum::<f64>() / some as f64,
    };
    for unit in units.iter_mut() {
        unit.demand = unit.lists.iter().map(|list| given(list).unwrap_or(assumed)).sum();
    }
}
