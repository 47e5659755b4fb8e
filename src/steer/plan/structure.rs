//! What capacity to rent: the plan with the cost of nodes as a third term.

use std::fmt::Write as _;

use serde::Serialize;

use super::problem::{PlanError, Problem};

/// What is rented of the load that is planned, unless said otherwise.
pub const RESERVE: f64 = 1.2;

/// How much capacity to have on each node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StructureReport {
    /// The least value of the objective; none where the traffic does not fit.
    pub objective: Option<f64>,
    /// The nodes.
    pub nodes: Vec<String>,
    /// The load of each node.
    pub load: Vec<f64>,
    /// The capacity to rent on each: the load and the reserve.
    pub rent: Vec<f64>,
    /// The cost of that, at the nodes' costs.
    pub cost: f64,
    /// How much more traffic there is than may be rented; 0 where it fits.
    pub infeasible_by: f64,
}

impl StructureReport {
    /// Solves the problem, and proposes `reserve` times each node's load. The capacities of
    /// the problem are what can be had at most.
    ///
    /// # Errors
    /// Where the solver fails; that the traffic does not fit is a report.
    pub fn solve(problem: &Problem, nodes: Vec<String>, reserve: f64) -> Result<Self, PlanError> {
        let none = Self {
            objective: None,
            nodes,
            load: Vec::new(),
            rent: Vec::new(),
            cost: 0.0,
            infeasible_by: 0.0,
        };
        let plan = match problem.solve() {
            Ok(plan) => plan,
            Err(PlanError::Infeasible { by, .. }) => return Ok(Self { infeasible_by: by, ..none }),
            Err(error) => return Err(error),
        };
        let load = problem.node_loads(&plan.flows);
        let rent: Vec<f64> = load.iter().map(|load| reserve * load).collect();
        let cost = rent.iter().zip(problem.nodes()).map(|(rent, node)| rent * node.cost).sum();
        Ok(Self { objective: Some(plan.objective), load, rent, cost, ..none })
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let Some(objective) = self.objective else {
            let _ = writeln!(out, "There is {:.4} more traffic than may be rented", self.infeasible_by);
            return out;
        };
        let _ = writeln!(out, "objective {objective:.6}, cost {:.4}", self.cost);
        for ((name, load), rent) in self.nodes.iter().zip(&self.load).zip(&self.rent) {
            let _ = match *load > 1e-6 {
                true => writeln!(out, "{name}: rent {rent:.4} for a load of {load:.4}"),
                false => writeln!(out, "{name}: rent nothing"),
            };
        }
        out
    }
}
