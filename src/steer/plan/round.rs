//! Flows as whole weights, within the bounds again.

use std::ops::Range;

use super::problem::{Plan, Problem};
use crate::steer::weights::{WHOLE, apportion};

/// How many points may be moved for each that was rounded wrongly.
const REPAIRS: usize = 2;

/// A plan as weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounded {
    /// By link: points of [`WHOLE`] of its source's traffic.
    pub weights: Vec<u32>,
    /// The flows that they stand for.
    pub flows: Vec<f64>,
    /// The objective of those.
    pub objective: f64,
    /// The most that a node is still over its bound: rounding may leave no other choice.
    pub overload: f64,
}

impl Problem {
    /// A plan as weights. Where rounding takes a node over its bound, points go to the node
    /// where they cost least, as long as that has room.
    pub fn round(&self, plan: &Plan) -> Rounded {
        let mut weights = self.by_source(&plan.flows);
        for _ in 0..REPAIRS * self.links.len().max(1) {
            let flows = self.flows_of(&weights);
            let Some((from, to)) = self.repair(&weights, &flows) else { break };
            if let Some(weight) = weights.get_mut(from) {
                *weight -= 1;
            }
            if let Some(weight) = weights.get_mut(to) {
                *weight += 1;
            }
        }
        let flows = self.flows_of(&weights);
        Rounded { objective: self.cost(&flows), overload: self.overload(&flows), weights, flows }
    }

    /// The flows that weights stand for.
    pub fn flows_of(&self, weights: &[u32]) -> Vec<f64> {
        let mut sums = vec![0_u32; self.surplus.len()];
        for (link, weight) in self.links.iter().zip(weights) {
            if let Some(sum) = sums.get_mut(link.source) {
                *sum += weight;
            }
        }
        let flow = |(link, weight): (&super::Link, &u32)| match sums.get(link.source) {
            Some(sum) if *sum > 0 => {
                let surplus = self.surplus.get(link.source).copied().unwrap_or(0.0);
                surplus * f64::from(*weight) / f64::from(*sum)
            }
            _ => 0.0,
        };
        self.links.iter().zip(weights).map(flow).collect()
    }

    fn by_source(&self, flows: &[f64]) -> Vec<u32> {
        let mut weights = Vec::with_capacity(flows.len());
        for links in self.of_sources() {
            weights.extend(apportion(flows.get(links).unwrap_or_default()));
        }
        weights
    }

    /// The places of each source's links, which stand together.
    fn of_sources(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.links.chunk_by(|a, b| a.source == b.source).map(move |links| {
            let start = end;
            end += links.len();
            start..end
        })
    }

    /// The point whose move from a node over its bound to one with room costs least.
    fn repair(&self, weights: &[u32], flows: &[f64]) -> Option<(usize, usize)> {
        let loads = self.node_loads(flows);
        let room = |node: usize| {
            let most = self.nodes.get(node).map_or(0.0, |node| self.room(node));
            most - loads.get(node).copied().unwrap_or(0.0)
        };
        let slack = 1e-6 * self.total();
        let mut best: Option<(f64, (usize, usize))> = None;
        for places in self.of_sources() {
            let links = places.clone().zip(self.links.get(places).unwrap_or_default());
            for (from, out) in links.clone().filter(|(_, link)| room(link.node) < -slack) {
                let point = self.surplus.get(out.source).copied().unwrap_or(0.0) / f64::from(WHOLE);
                if weights.get(from).copied().unwrap_or(0) == 0 || point <= 0.0 {
                    continue;
                }
                for (to, link) in links.clone().filter(|(_, link)| room(link.node) >= point - slack) {
                    let dearer = (link.delay - out.delay) * point;
                    if best.is_none_or(|(least, _)| dearer < least) {
                        best = Some((dearer, (from, to)));
                    }
                }
            }
        }
        best.map(|(_, pair)| pair)
    }
}
