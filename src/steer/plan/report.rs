//! A plan for people and for programs.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::file::{FileError, ProblemFile};
use super::own_first;
use super::problem::{Model, Plan, PlanError, Problem};
use super::round::Rounded;

/// What came of a problem. Matrices have a row for each source and a column for each node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// How queueing was charged.
    pub model: Model,
    /// The names of the sources.
    pub sources: Vec<String>,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The least value of the objective; none where the traffic does not fit.
    pub objective: Option<f64>,
    /// The flows.
    pub flow: Option<Vec<Vec<f64>>>,
    /// By node: what one more unit of allowed load is worth, of the objective times all
    /// traffic.
    pub prices: Option<Vec<f64>>,
    /// By source: what one more unit of its traffic costs, likewise.
    pub source_prices: Option<Vec<f64>>,
    /// How much more traffic there is than the nodes may carry; 0 where it fits.
    pub infeasible_by: f64,
    /// The same by source; empty where it fits.
    pub unplaced: Vec<f64>,
    /// What each node carries.
    pub load: Option<Vec<f64>>,
    /// The mean delay on the way.
    pub mean_delay: Option<f64>,
    /// The flows as whole weights.
    pub weights: Option<Vec<Vec<u32>>>,
    /// The objective of those weights.
    pub weights_objective: Option<f64>,
    /// The most that those weights take a node over its bound.
    pub weights_overload: Option<f64>,
    /// The objective where each source's own node goes first.
    pub own_first_objective: Option<f64>,
    /// The objective of the weights in force.
    pub present_objective: Option<f64>,
    /// By node: how much more the weights in force give it than it may carry.
    pub present_overload: Option<Vec<f64>>,
    /// The share of the present objective which the plan saves; less than 0 where the weights in
    /// force are better only because they give a node more than it may carry.
    pub gain: Option<f64>,
}

impl PlanReport {
    /// Solves a problem given by hand.
    ///
    /// # Errors
    /// Where the file is no problem, or the solver fails. That its traffic does not fit is a
    /// report.
    pub fn of_file(file: &ProblemFile) -> Result<Self, FileError> {
        let problem = file.problem()?;
        let sources = (0..problem.surplus().len()).map(|place| file.source_name(place)).collect();
        let nodes = (0..problem.nodes().len()).map(|place| file.node_name(place)).collect();
        let mut report = Self::solve(&problem, sources, nodes)?;
        if let (Some(own), Some(_)) = (&file.own, report.objective) {
            report.own_first_objective = own_first(&problem, own).ok().map(|plan| plan.objective);
        }
        Ok(report)
    }

    /// Solves a problem.
    ///
    /// # Errors
    /// Where the solver fails; that the traffic does not fit is a report.
    pub fn solve(problem: &Problem, sources: Vec<String>, nodes: Vec<String>) -> Result<Self, PlanError> {
        let report = Self::named(problem, sources, nodes);
        match problem.solve() {
            Ok(plan) => Ok(report.with(problem, &plan, &problem.round(&plan))),
            Err(PlanError::Infeasible { by, sources }) => Ok(report.infeasible(by, sources)),
            Err(error) => Err(error),
        }
    }

    /// A report of nothing yet.
    pub fn named(problem: &Problem, sources: Vec<String>, nodes: Vec<String>) -> Self {
        Self { model: problem.model, sources, nodes, ..Self::default() }
    }

    /// With traffic that does not fit.
    #[must_use]
    pub fn infeasible(self, by: f64, sources: Vec<f64>) -> Self {
        Self { infeasible_by: by, unplaced: sources, ..self }
    }

    /// With a plan, and its weights.
    #[must_use]
    pub fn with(self, problem: &Problem, plan: &Plan, rounded: &Rounded) -> Self {
        let weights: Vec<f64> = rounded.weights.iter().map(|weight| f64::from(*weight)).collect();
        let whole = |row: Vec<f64>| row.into_iter().map(|weight| weight as u32).collect();
        Self {
            objective: Some(plan.objective),
            flow: Some(problem.matrix(&plan.flows)),
            prices: Some(plan.prices.clone()),
            source_prices: Some(plan.source_prices.clone()),
            load: Some(problem.node_loads(&plan.flows)),
            mean_delay: Some(problem.mean_delay(&plan.flows)),
            weights: Some(problem.matrix(&weights).into_iter().map(whole).collect()),
            weights_objective: Some(rounded.objective),
            weights_overload: Some(rounded.overload),
            ..self
        }
    }

    /// With the weights in force, by link, for comparison.
    #[must_use]
    pub fn beside(self, problem: &Problem, present: &[u32]) -> Self {
        let flows = problem.flows_of(present);
        let before = problem.cost(&flows);
        let loads = problem.node_loads(&flows).into_iter().zip(problem.nodes());
        let over = loads.map(|(load, node)| (load - problem.room(node)).max(0.0)).collect();
        let gain = self.objective.filter(|_| before.is_finite() && before > 0.0);
        Self {
            present_objective: before.is_finite().then_some(before),
            present_overload: Some(over),
            gain: gain.map(|after| (before - after) / before),
            ..self
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        match self.objective {
            Some(objective) => self.write_plan(&mut out, objective),
            None => self.write_shortage(&mut out),
        }
        out
    }

    fn write_shortage(&self, out: &mut String) {
        let _ =
            writeln!(out, "There is {} more traffic than the nodes may carry:", number(self.infeasible_by));
        for (name, left) in self.sources.iter().zip(&self.unplaced).filter(|(_, left)| **left > 1e-6) {
            let _ = writeln!(out, "  {name}: {} has no place", number(*left));
        }
    }

    fn write_plan(&self, out: &mut String, objective: f64) {
        if let Some(present) = self.present_objective {
            let _ = writeln!(out, "present  {present:.6}");
        }
        let _ = writeln!(out, "planned  {objective:.6}");
        if let Some(gain) = self.gain {
            // Nought has no sign here.
            let _ = writeln!(out, "gain     {:.1} %", (gain * 1000.0).round() / 10.0 + 0.0);
        }
        let over = self.nodes.iter().zip(self.present_overload.iter().flatten());
        for (node, over) in over.filter(|(_, over)| **over > 1e-6) {
            let _ = writeln!(out, "present gives {node} {} more than it may carry", number(*over));
        }
        if let Some(own_first) = self.own_first_objective {
            let _ = writeln!(out, "own node first  {own_first:.6}");
        }
        let rows = self.flow.iter().flatten().zip(self.weights.iter().flatten());
        for (name, (flow, weights)) in self.sources.iter().zip(rows) {
            let _ = writeln!(out, "{name}");
            let cells = self.nodes.iter().zip(flow).zip(weights);
            for ((node, flow), weight) in cells.filter(|((_, flow), weight)| **flow > 0.0 || **weight > 0) {
                let _ = writeln!(out, "  {weight:>3} %  {node}  ({})", number(*flow));
            }
        }
        self.write_prices(out);
    }

    fn write_prices(&self, out: &mut String) {
        let nodes = self.nodes.iter().zip(self.prices.iter().flatten()).zip(self.load.iter().flatten());
        for ((name, price), load) in nodes {
            let load = number(*load);
            let _ = match *price > 1e-6 {
                true => writeln!(
                    out,
                    "{name} carries {load}, all that it may: allowing it one more unit is worth {}",
                    number(*price)
                ),
                false => writeln!(out, "{name} carries {load}: more room there is worth nothing"),
            };
        }
    }
}

/// A number with four digits that count.
fn number(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.4}") }
}
