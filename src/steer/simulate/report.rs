//! What came of a simulation, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::chart::{Chart, Series};
use super::engine::{Outcome, Run};
use super::erlang::erlang_b;
use super::scenario::Scenario;
use super::selector::Method;
use crate::steer::select::PUBLISHED_SUM;

/// One policy at one interval, over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationRow {
    /// The policy, as it is named to the simulation.
    pub policy: String,
    /// Its `d`, where it has one.
    pub d: Option<usize>,
    /// The seconds between two reports.
    pub interval_s: f64,
    /// The share of requests that were not served.
    pub blocking: f64,
    /// How much that deviates from seed to seed.
    pub blocking_sd: f64,
    /// The mean hops of those that were.
    pub hops: f64,
    /// How much that deviates from seed to seed.
    pub hops_sd: f64,
    #[serde(skip)]
    family: String,
}

/// Uniform choice beside the formula: what tells whether the simulation is right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErlangCheck {
    /// The erlangs offered to one gateway, in the mean.
    pub offered: f64,
    /// The blocking of uniform choice by Erlang's formula.
    pub expected: f64,
    /// The blocking of uniform choice in the simulation.
    pub simulated: f64,
    /// How far apart the two may be by chance.
    pub tolerance: f64,
    /// Whether they are nearer than that.
    pub agrees: bool,
}

/// All policies at all intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationReport {
    /// The network.
    pub network: String,
    /// Its nodes.
    pub nodes: usize,
    /// Its gateways.
    pub gateways: usize,
    /// Requests counted for each policy, interval and seed.
    pub calls: u64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How many selectors there are.
    pub selectors: usize,
    /// Whether reports are staggered.
    pub staggered: bool,
    /// The mean seconds that a request is served.
    pub hold_s: f64,
    /// The check.
    pub check: ErlangCheck,
    /// The rows, in the order of policies, then of intervals.
    pub rows: Vec<SimulationRow>,
    /// What a reader has to know of single rows.
    pub notes: Vec<String>,
}

/// Runs every method at every interval with every seed. The same input gives the same report.
pub fn simulate(
    scenario: &Scenario,
    methods: &[Method],
    intervals: &[f64],
    seeds: &[u64],
) -> SimulationReport {
    let mut rows = Vec::new();
    for method in methods {
        for interval in intervals {
            let scenario = Scenario { interval_s: *interval, ..scenario.clone() };
            rows.push(row(&scenario, *method, seeds));
        }
    }
    SimulationReport {
        network: scenario.network.name.clone(),
        nodes: scenario.network.distances.len(),
        gateways: scenario.network.gateways.len(),
        calls: scenario.calls,
        seeds: seeds.to_vec(),
        selectors: scenario.selectors.max(1),
        staggered: scenario.staggered,
        hold_s: scenario.hold_s,
        check: check(scenario, seeds),
        rows,
        notes: notes(scenario, methods),
    }
}

/// The published `ratio` was written for weights that add up to 10; by others it chooses nobody.
fn notes(scenario: &Scenario, methods: &[Method]) -> Vec<String> {
    let sum: u32 = scenario.network.weights.iter().fold(0, |sum, weight| sum.saturating_add(*weight));
    let told = methods.contains(&Method::RatioAsPublished).then(|| match sum {
        PUBLISHED_SUM => "ratio-as-published chooses nobody on every 11th request: that is its fault, and such requests count as blocked".to_owned(),
        _ => format!(
            "ratio-as-published fills its list only where the weights add up to {PUBLISHED_SUM}; here they add up to {sum}, so that it never chooses anybody"
        ),
    });
    told.into_iter().collect()
}

fn run(scenario: &Scenario, method: Method, seed: u64) -> Outcome {
    let traffic = scenario.traffic(seed);
    Run::new(scenario, method, &traffic, seed).go()
}

fn row(scenario: &Scenario, method: Method, seeds: &[u64]) -> SimulationRow {
    let outcomes: Vec<Outcome> = seeds.iter().map(|seed| run(scenario, method, *seed)).collect();
    let (blocking, blocking_sd) = mean_and_deviation(outcomes.iter().map(Outcome::blocking));
    let (hops, hops_sd) = mean_and_deviation(outcomes.iter().map(Outcome::mean_hops));
    let (family, d) = method.family();
    SimulationRow {
        policy: method.to_string(),
        d,
        interval_s: scenario.interval_s,
        blocking,
        blocking_sd,
        hops,
        hops_sd,
        family,
    }
}

fn check(scenario: &Scenario, seeds: &[u64]) -> ErlangCheck {
    let gateways = scenario.network.gateways.len().max(1) as f64;
    let (mut offered, mut expected, mut simulated) = (0.0, 0.0, 0.0);
    for seed in seeds {
        let traffic = scenario.traffic(*seed);
        let each = traffic.offered / gateways;
        offered += each;
        expected += traffic.capacities.iter().map(|servers| erlang_b(each, *servers)).sum::<f64>() / gateways;
        simulated += run(scenario, Method::Uniform, *seed).blocking();
    }
    let count = seeds.len().max(1) as f64;
    let (offered, expected, simulated) = (offered / count, expected / count, simulated / count);
    // Blocked requests come in bursts as long as a gateway stays full; the deviation of their
    // share is some times that of independent ones.
    let calls = scenario.calls.max(1) as f64 * count;
    let tolerance = 4.0 * (4.0 * expected * (1.0 - expected) / calls).sqrt() + 0.02 * expected + 1e-4;
    ErlangCheck { offered, expected, simulated, tolerance, agrees: (expected - simulated).abs() <= tolerance }
}

fn mean_and_deviation(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

impl SimulationReport {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let reports = if self.staggered { "staggered" } else { "all at once" };
        let _ = writeln!(
            out,
            "{}: {} nodes, {} gateways; {} requests for each of {} seeds; reports {reports}, {} selector(s)",
            self.network,
            self.nodes,
            self.gateways,
            self.calls,
            self.seeds.len(),
            self.selectors
        );
        let check = self.check;
        let _ = writeln!(
            out,
            "uniform choice blocks {:.3} %, Erlang B says {:.3} %: {}",
            check.simulated * 100.0,
            check.expected * 100.0,
            if check.agrees { "they agree" } else { "THEY DO NOT AGREE, do not trust what follows" }
        );
        let _ = writeln!(out, "{:<28} {:>10} {:>18} {:>15}", "policy", "interval", "blocking", "hops");
        for row in &self.rows {
            let _ = writeln!(
                out,
                "{:<28} {:>8} s {:>8.3} ± {:>5.3} % {:>7.3} ± {:>5.3}",
                row.policy,
                row.interval_s,
                row.blocking * 100.0,
                row.blocking_sd * 100.0,
                row.hops,
                row.hops_sd
            );
        }
        self.warn(&mut out);
        out
    }

    fn warn(&self, out: &mut String) {
        for note in &self.notes {
            let _ = writeln!(out, "{note}.");
        }
        let old = self.rows.iter().map(|row| row.interval_s).fold(0.0, f64::max);
        if old > self.hold_s {
            let _ = writeln!(
                out,
                "Reports are up to {old} s old, longer than a request is served ({} s): by then every policy that looks at loads is round-robin at best.",
                self.hold_s
            );
        }
    }

    /// Blocking and path length against the interval, and against `d`, as far as there is
    /// more than one of them.
    pub fn charts(&self) -> Vec<Chart> {
        let by_interval =
            |value: fn(&SimulationRow) -> f64| self.series(|row| (row.policy.clone(), row.interval_s), value);
        let by_d = |value: fn(&SimulationRow) -> f64| {
            let rows = |row: &SimulationRow| {
                let name = match self.intervals() {
                    1 => row.family.clone(),
                    _ => format!("{}, {} s", row.family, row.interval_s),
                };
                (name, row.d.map_or(f64::NAN, |d| d as f64))
            };
            self.series(rows, value)
        };
        let percent = |row: &SimulationRow| row.blocking * 100.0;
        let hops = |row: &SimulationRow| row.hops;
        let mut charts = Vec::new();
        let mut add = |title: &str, x: &str, y: &str, log: bool, series: Vec<Series>| {
            let series: Vec<Series> = series.into_iter().filter(|s| s.points.len() > 1).collect();
            if !series.is_empty() {
                charts.push(Chart { title: title.into(), x: x.into(), y: y.into(), log, series });
            }
        };
        add(
            "Blocking by report interval",
            "seconds between reports",
            "% blocked",
            true,
            by_interval(percent),
        );
        add("Path length by report interval", "seconds between reports", "hops", true, by_interval(hops));
        add("Blocking by d", "d", "% blocked", false, by_d(percent));
        add("Path length by d", "d", "hops", false, by_d(hops));
        charts
    }

    fn intervals(&self) -> usize {
        let mut all: Vec<f64> = self.rows.iter().map(|row| row.interval_s).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all.len()
    }

    fn series(
        &self,
        place: impl Fn(&SimulationRow) -> (String, f64),
        value: fn(&SimulationRow) -> f64,
    ) -> Vec<Series> {
        let mut series: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for row in &self.rows {
            let (name, x) = place(row);
            if x.is_finite() {
                series.entry(name).or_default().push((x, value(row)));
            }
        }
        let sorted = |(name, mut points): (String, Vec<(f64, f64)>)| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series { name, points }
        };
        series.into_iter().map(sorted).collect()
    }
}
