//! A live policy in the simulation: its table is published at each report, and stands until
//! the next.

use std::collections::{BTreeMap, BTreeSet};

use super::scenario::{Scenario, Traffic};
use crate::steer::region::Region;
use crate::steer::select::weighted_random;
use crate::steer::shed::{ShedMemory, ShedSource, step};
use crate::steer::unit::{Known, Unit, units};
use crate::steer::{Amount, Damping, Distances, Loads, Policy, Random, Sample};
use crate::table::{Groups, Name, OwnerEdges};

/// The delay of an idle gateway, in ms: at nine tenths of its capacity, a queue of one server
/// makes it ten times that, the threshold of shedding.
const IDLE_MS: f64 = 14.0;
/// The delay of a full one.
const FULL_MS: f64 = 1600.0;

/// The weights in force, and what they are made of.
pub(super) struct PublishedTable {
    region: Region,
    lists: Vec<OwnerEdges>,
    distances: Distances,
    demands: BTreeMap<(Name, Name), Amount>,
    gateways: Vec<Name>,
    capacities: Vec<u32>,
    loads: Loads,
    shed: ShedMemory,
    /// By node: the gateways in the order of its list, and their weights.
    order: Vec<Vec<usize>>,
    weights: Vec<Vec<u32>>,
    /// By node: shares of requests that go elsewhere, by place in its list.
    shares: Vec<Vec<(usize, f64)>>,
    static_weights: BTreeMap<Name, u32>,
}

impl PublishedTable {
    /// Until the first report, everything goes to the nearest gateway.
    pub(super) fn new(scenario: &Scenario, traffic: &Traffic, policy: Policy) -> Self {
        let network = &scenario.network;
        let gateways: Vec<Name> = network.gateways.iter().map(|name| Name::from(name.as_str())).collect();
        let (mut lists, mut order) = (Vec::new(), Vec::new());
        let (mut distances, mut demands) = (Distances::default(), BTreeMap::new());
        for (node, (row, rate)) in network.distances.iter().zip(&traffic.rates).enumerate() {
            let owner = Name::from(format!("node-{node:06}"));
            let mut near: Vec<usize> = (0..row.len()).collect();
            let hops = |place: &usize| row.get(*place).copied().unwrap_or(f64::INFINITY);
            near.sort_by(|a, b| hops(a).total_cmp(&hops(b)).then(a.cmp(b)));
            for (gateway, hops) in gateways.iter().zip(row) {
                if let Some(hops) = Amount::new(*hops) {
                    distances.set(owner.clone(), gateway.clone(), hops);
                }
            }
            if let Some(demand) = Amount::new(rate * scenario.hold_s) {
                demands.insert((owner.clone(), Name::from("default")), demand);
            }
            let edges = near.iter().filter_map(|place| gateways.get(*place)).cloned().collect();
            lists.push(OwnerEdges { owner, service: "default".into(), edges });
            order.push(near);
        }
        let weights = order.iter().map(|list| crate::steer::weights::all_on(0, list.len())).collect();
        let static_weights = gateways.iter().cloned().zip(network.weights.iter().copied()).collect();
        Self {
            region: Region {
                name: "simulated".into(),
                policy,
                damping: Damping::default(),
                ..Region::default()
            },
            shares: vec![Vec::new(); lists.len()],
            lists,
            distances,
            demands,
            gateways,
            capacities: traffic.capacities.clone(),
            loads: Loads::default(),
            shed: ShedMemory::default(),
            order,
            weights,
            static_weights,
        }
    }

    /// Steers by what the gateways carry now.
    pub(super) fn publish(&mut self, busy: &[u32]) {
        if self.gateways.len() < 2 {
            return;
        }
        let samples = self.gateways.iter().cloned().zip(busy.iter().zip(&self.capacities).map(sample));
        self.loads = self.loads.next(&samples.collect());
        let drained = BTreeSet::new();
        let known = Known {
            loads: &self.loads,
            distances: &self.distances,
            demands: &self.demands,
            weights: &self.static_weights,
            costs: &BTreeMap::new(),
            drained: &drained,
            moving: true,
        };
        // One unit for each node, in the order of the nodes: what they know is their own.
        let mut all: Vec<Unit<'_>> = Vec::new();
        for list in &self.lists {
            all.extend(units(&list.owner, &self.region.policy, &[list], known, &Groups::default()));
        }
        for (unit, weights) in all.iter_mut().zip(&self.weights) {
            unit.previous = Some(weights.clone());
        }
        let decided = self.region.decide(&all, known);
        let demands: Vec<f64> = all.iter().map(|unit| unit.demand).collect();
        self.weights = decided.units.into_iter().map(|(weights, _)| weights).collect();
        self.shed(&demands);
    }

    /// The shares that go elsewhere, where the policy sheds.
    fn shed(&mut self, demands: &[f64]) {
        let Policy::Shed(rules) = &self.region.policy else { return };
        let source = |(list, demand)| {
            let list: &OwnerEdges = list;
            ShedSource { key: &list.owner, edges: &list.edges, demand }
        };
        let sources: Vec<ShedSource<'_>> =
            self.lists.iter().zip(demands.iter().copied()).map(source).collect();
        self.shed = step(rules, &self.loads, &BTreeSet::new(), &sources, &self.shed);
        let place = |list: &OwnerEdges, edge: &Name| list.edges.iter().position(|other| other == edge);
        let of = |list: &OwnerEdges| {
            let shares = self.shed.shares(&list.owner);
            shares.filter_map(|(edge, share)| Some((place(list, edge)?, share))).collect()
        };
        self.shares = self.lists.iter().map(of).collect();
    }

    /// The gateway for a request of a node.
    pub(super) fn choose(&self, node: usize, random: &mut Random) -> Option<usize> {
        let order = self.order.get(node)?;
        let mut drawn = random.uniform();
        for (place, share) in self.shares.get(node).into_iter().flatten() {
            if drawn < *share {
                return order.get(*place).copied();
            }
            drawn -= share;
        }
        let weights = self.weights.get(node)?;
        let sum: u32 = weights.iter().sum();
        let place = weighted_random(weights, random.below(sum as usize) as u32)?;
        order.get(place).copied()
    }
}

fn sample((busy, capacity): (&u32, &u32)) -> Option<Sample> {
    let idle = 1.0 - f64::from(*busy) / f64::from((*capacity).max(1));
    let delay = if idle > 0.0 { (IDLE_MS / idle).min(FULL_MS) } else { FULL_MS };
    Some(Sample {
        load: Amount::new(f64::from(*busy)),
        capacity: Amount::new(f64::from(*capacity)),
        p95_ms: Amount::new(delay),
        sessions: None,
    })
}
