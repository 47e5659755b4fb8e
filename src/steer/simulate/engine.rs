//! One run: events in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::scenario::{Counting, Scenario, Traffic, purpose};
use super::selector::{Method, Selector};
use super::table::PublishedTable;
use crate::steer::{Candidate, Random};

/// What came of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Requests that were counted.
    pub(super) calls: u64,
    /// Those that found their gateway full, or none.
    pub(super) blocked: u64,
    /// The hops of those that were served.
    pub(super) hops: f64,
}

impl Outcome {
    pub(super) fn blocking(&self) -> f64 {
        self.blocked as f64 / self.calls.max(1) as f64
    }

    pub(super) fn mean_hops(&self) -> f64 {
        self.hops / self.calls.saturating_sub(self.blocked).max(1) as f64
    }
}

/// A time in seconds, to be sorted by.
#[derive(Clone, Copy, Debug, PartialEq)]
struct At(f64);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What one selector believes of one gateway.
#[derive(Clone, Copy, Debug, Default)]
struct Belief {
    load: f64,
    since: f64,
}

impl Belief {
    fn at(self, now: f64, fading: Option<f64>) -> f64 {
        match fading {
            Some(hold) => self.load * (-(now - self.since) / hold).exp(),
            None => self.load,
        }
    }
}

struct View {
    selector: Selector,
    beliefs: Vec<Belief>,
}

/// The state of a run.
pub(super) struct Run<'a> {
    scenario: &'a Scenario,
    method: Method,
    traffic: &'a Traffic,
    /// Sums of the rates, to draw a node by.
    sums: Vec<f64>,
    busy: Vec<u32>,
    ends: BinaryHeap<Reverse<(At, usize)>>,
    reports: BinaryHeap<Reverse<(At, usize)>>,
    views: Vec<View>,
    table: Option<PublishedTable>,
    arrivals: Random,
    holding: Random,
    choice: Random,
    candidates: Vec<Candidate>,
}

impl<'a> Run<'a> {
    pub(super) fn new(scenario: &'a Scenario, method: Method, traffic: &'a Traffic, seed: u64) -> Self {
        let gateways = scenario.network.gateways.len();
        let mut choice = Random::new(seed, purpose::CHOICE);
        let mut view = || View {
            selector: Selector::new(method, &scenario.network.weights, &mut choice),
            beliefs: vec![Belief::default(); gateways],
        };
        let views = (0..scenario.selectors.max(1)).map(|_| view()).collect();
        let sum = |sum: &mut f64, rate: &f64| {
            *sum += rate;
            Some(*sum)
        };
        let table = match method {
            Method::Table(policy) => Some(PublishedTable::new(scenario, traffic, policy)),
            _ => None,
        };
        Self {
            scenario,
            method,
            traffic,
            sums: traffic.rates.iter().scan(0.0, sum).collect(),
            busy: vec![0; gateways],
            ends: BinaryHeap::new(),
            reports: first_reports(scenario, table.is_some()),
            views,
            table,
            arrivals: Random::new(seed, purpose::ARRIVALS),
            holding: Random::new(seed, purpose::HOLDING),
            choice,
            candidates: vec![Candidate { distance: 0.0, load: 0.0 }; gateways],
        }
    }

    pub(super) fn go(mut self) -> Outcome {
        let mut outcome = Outcome::default();
        let total: f64 = self.traffic.rates.iter().sum();
        let warm_up = (self.scenario.calls as f64 * self.scenario.warm_up) as u64;
        let mut now = 0.0;
        for call in 0..self.scenario.calls + warm_up {
            now += self.arrivals.exponential(1.0 / total);
            self.advance(now);
            let node = self.node(total);
            let chosen = self.choose(node, now);
            let served = chosen.is_some_and(|gateway| self.serve(gateway, now));
            if call >= warm_up {
                outcome.calls += 1;
                match chosen.filter(|_| served) {
                    Some(gateway) => outcome.hops += self.distance(node, gateway),
                    None => outcome.blocked += 1,
                }
            }
        }
        outcome
    }

    /// What ends or is reported before a time, in order.
    fn advance(&mut self, now: f64) {
        loop {
            let end = self.ends.peek().map(|Reverse((at, _))| *at);
            let report = self.reports.peek().map(|Reverse((at, _))| *at);
            let next = end.into_iter().chain(report).min();
            match next {
                Some(at) if at.0 <= now => {}
                _ => return,
            }
            if end == next {
                if let Some(Reverse((_, gateway))) = self.ends.pop() {
                    self.free(gateway);
                }
            } else if let Some(Reverse((at, gateway))) = self.reports.pop() {
                self.report(gateway, at.0);
                self.reports.push(Reverse((At(at.0 + self.scenario.interval_s), gateway)));
            }
        }
    }

    fn free(&mut self, gateway: usize) {
        if let Some(busy) = self.busy.get_mut(gateway) {
            *busy = busy.saturating_sub(1);
        }
    }

    /// All gateways report at once, unless they are staggered.
    fn report(&mut self, gateway: usize, now: f64) {
        if let Some(table) = &mut self.table {
            table.publish(&self.busy);
            return;
        }
        let all = !self.scenario.staggered;
        for view in &mut self.views {
            for (place, (belief, busy)) in view.beliefs.iter_mut().zip(&self.busy).enumerate() {
                if all || place == gateway {
                    *belief = Belief { load: f64::from(*busy), since: now };
                }
            }
        }
    }

    fn node(&mut self, total: f64) -> usize {
        let drawn = self.arrivals.uniform() * total;
        let place = self.sums.partition_point(|sum| *sum <= drawn);
        place.min(self.sums.len().saturating_sub(1))
    }

    fn choose(&mut self, node: usize, now: f64) -> Option<usize> {
        if let Some(table) = &self.table {
            return table.choose(node, &mut self.choice);
        }
        let view = match self.views.len() {
            1 => 0,
            count => self.choice.below(count),
        };
        let view = self.views.get_mut(view)?;
        let distances = self.scenario.network.distances.get(node)?;
        let fresh = self.scenario.interval_s <= 0.0;
        for (place, candidate) in self.candidates.iter_mut().enumerate() {
            let busy = self.busy.get(place).copied().unwrap_or(0);
            let belief = view.beliefs.get(place).copied().unwrap_or_default();
            let load = if fresh { f64::from(busy) } else { belief.at(now, self.scenario.fading_s) };
            candidate.distance = distances.get(place).copied().unwrap_or(f64::INFINITY);
            let capacity = f64::from(self.traffic.capacities.get(place).copied().unwrap_or(0));
            candidate.load = match self.method {
                Method::Statistics => load,
                Method::Bounded(_) => (load + 1.0) / capacity,
                _ => load / capacity,
            };
        }
        let chosen = view.selector.choose(&self.candidates, self.scenario.ties, &mut self.choice)?;
        let full = self.busy.get(chosen) >= self.traffic.capacities.get(chosen);
        let counted = match self.scenario.counting {
            _ if self.method == Method::Statistics => false,
            Counting::All => true,
            Counting::Accepted => !full,
            Counting::None => false,
        };
        if let Some(belief) = view.beliefs.get_mut(chosen).filter(|_| counted) {
            *belief = Belief { load: belief.at(now, self.scenario.fading_s) + 1.0, since: now };
        }
        Some(chosen)
    }

    /// Whether there was room.
    fn serve(&mut self, gateway: usize, now: f64) -> bool {
        // Drawn for every request, so that two policies meet the same ones.
        let end = now + self.holding.exponential(self.scenario.hold_s);
        let (Some(busy), Some(capacity)) = (self.busy.get_mut(gateway), self.traffic.capacities.get(gateway))
        else {
            return false;
        };
        if *busy >= *capacity {
            return false;
        }
        *busy += 1;
        self.ends.push(Reverse((At(end), gateway)));
        true
    }

    fn distance(&self, node: usize, gateway: usize) -> f64 {
        let row = self.scenario.network.distances.get(node);
        row.and_then(|row| row.get(gateway)).copied().unwrap_or(0.0)
    }
}

/// One report of all, or of each gateway in its turn.
fn first_reports(scenario: &Scenario, table: bool) -> BinaryHeap<Reverse<(At, usize)>> {
    let gateways = scenario.network.gateways.len();
    let interval = scenario.interval_s;
    if interval <= 0.0 {
        return BinaryHeap::new();
    }
    // A table is made of one snapshot, whenever the reports come.
    let turns = if scenario.staggered && !table { gateways } else { 1 };
    let at = |turn: usize| Reverse((At(interval * turn as f64 / gateways.max(1) as f64), turn));
    (0..turns).map(at).collect()
}
