//! A problem that can be solved, and its solution.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cone;

/// How queueing is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A node is one M/M/1 queue that all its flows share.
    #[default]
    Aggregate,
    /// Each flow is charged as if it were alone on the node.
    #[serde(alias = "per_flow")]
    PerFlow,
}

/// What can carry traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// What it can carry; nought where it is out of service.
    pub capacity: f64,
    /// What it carries anyway, of nobody's in the problem.
    pub base: f64,
    /// What one unit of load on it costs, for the third term.
    pub cost: f64,
}

impl Node {
    /// A node of a capacity, without load or cost.
    pub const fn of(capacity: f64) -> Self {
        Self { capacity, base: 0.0, cost: 0.0 }
    }
}

/// A pair of a source and a node that may serve it. A pair without a link may not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The source's place.
    pub source: usize,
    /// The node's place.
    pub node: usize,
    /// The delay between them.
    pub delay: f64,
}

/// The weights of the three terms, and the share of a capacity that may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighing {
    /// Of queueing.
    pub queue: f64,
    /// Of delay on the way.
    pub delay: f64,
    /// Of the cost of nodes.
    pub cost: f64,
    /// How much of a capacity may be used.
    pub bound: f64,
}

impl Default for Weighing {
    fn default() -> Self {
        Self { queue: 0.5, delay: 0.5, cost: 0.0, bound: 0.8 }
    }
}

/// What is wrong with a problem.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProblemError {
    /// A number that is negative, infinite or none.
    #[error("{what} is {value}, and must be a number that is not negative")]
    Number {
        /// What it is of.
        what: String,
        /// The number.
        value: f64,
    },
    /// A bound that is no share.
    #[error("the bound is {0}, and must be more than 0 and at most 1")]
    Bound(f64),
    /// A link to a source or node that is not there, or two of one pair.
    #[error("the link of source {source_place} and node {node} names none, or comes twice")]
    Link {
        /// The source's place.
        source_place: usize,
        /// The node's place.
        node: usize,
    },
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlanError {
    /// The traffic does not fit.
    #[error("{by} more than the nodes may carry")]
    Infeasible {
        /// How much of it does not fit, at the least.
        by: f64,
        /// The same by source.
        sources: Vec<f64>,
    },
    /// The solver came to no end.
    #[error("the solver stopped: {status}")]
    Solver {
        /// Its own word for it.
        status: String,
    },
}

/// A problem whose numbers are right. Links are sorted by source and node.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(super) model: Model,
    pub(super) weighing: Weighing,
    pub(super) surplus: Vec<f64>,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
}

/// The flows that cost least.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The value that was minimised.
    pub objective: f64,
    /// The flow over each link, in the order of [`Problem::links`].
    pub flows: Vec<f64>,
    /// By node: what one more unit of allowed load would save, of the objective times all
    /// traffic. Nought where the bound is not reached.
    pub prices: Vec<f64>,
    /// By source: what one more unit of its traffic would cost, likewise.
    pub source_prices: Vec<f64>,
    /// The solver's iterations.
    pub iterations: u32,
    /// The solver's own time, in seconds.
    pub solver_seconds: f64,
}

impl Problem {
    /// A problem, once its numbers are found to be right.
    ///
    /// # Errors
    /// The first number that is not.
    pub fn new(
        model: Model,
        weighing: Weighing,
        surplus: Vec<f64>,
        nodes: Vec<Node>,
        mut links: Vec<Link>,
    ) -> Result<Self, ProblemError> {
        check_numbers(weighing, &surplus, &nodes)?;
        links.sort_by_key(|link| (link.source, link.node));
        let mut before = None;
        for link in &links {
            let pair = (link.source, link.node);
            if link.source >= surplus.len() || link.node >= nodes.len() || before == Some(pair) {
                return Err(ProblemError::Link { source_place: link.source, node: link.node });
            }
            before = Some(pair);
            number(link.delay, || format!("the delay of source {} and node {}", pair.0, pair.1))?;
        }
        Ok(Self { model, weighing, surplus, nodes, links })
    }

    /// The same, charged by another model.
    #[must_use]
    pub fn with_model(&self, model: Model) -> Self {
        Self { model, ..self.clone() }
    }

    /// The same with less traffic by source, and a trace less still, so that it fits if what
    /// is left out is what did not. None where a source has none left.
    pub(crate) fn without(&self, unplaced: &[f64]) -> Option<Self> {
        let left = self.surplus.iter().zip(unplaced).map(|(all, less)| (all - less) * (1.0 - 1e-4));
        let surplus: Vec<f64> = left.collect();
        let some = surplus.iter().zip(&self.surplus).all(|(left, all)| *left > 0.0 || *all <= 0.0);
        some.then(|| Self { surplus, ..self.clone() })
    }

    /// The pairs that may exchange traffic.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The traffic of each source.
    pub fn surplus(&self) -> &[f64] {
        &self.surplus
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All traffic.
    pub fn total(&self) -> f64 {
        self.surplus.iter().sum()
    }

    /// What a node may carry of the problem's traffic.
    pub(super) fn room(&self, node: &Node) -> f64 {
        (self.weighing.bound * node.capacity - node.base).max(0.0)
    }

    /// The plan of least cost.
    ///
    /// # Errors
    /// Where the traffic does not fit, by how much; where the solver fails, its word.
    pub fn solve(&self) -> Result<Plan, PlanError> {
        cone::solve(self)
    }

    /// Values by link as a matrix of sources by nodes.
    pub fn matrix(&self, of_links: &[f64]) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; self.nodes.len()]; self.surplus.len()];
        for (link, value) in self.links.iter().zip(of_links) {
            if let Some(cell) = rows.get_mut(link.source).and_then(|row| row.get_mut(link.node)) {
                *cell = *value;
            }
        }
        rows
    }

    /// What each node carries of the problem's traffic.
    pub fn node_loads(&self, flows: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.nodes.len()];
        for (link, flow) in self.links.iter().zip(flows) {
            if let Some(load) = loads.get_mut(link.node) {
                *load += flow;
            }
        }
        loads
    }
}

fn check_numbers(weighing: Weighing, surplus: &[f64], nodes: &[Node]) -> Result<(), ProblemError> {
    if !(weighing.bound > 0.0 && weighing.bound <= 1.0) {
        return Err(ProblemError::Bound(weighing.bound));
    }
    for (name, value) in [("w1", weighing.queue), ("w2", weighing.delay), ("w3", weighing.cost)] {
        number(value, || name.to_owned())?;
    }
    for (place, value) in surplus.iter().enumerate() {
        number(*value, || format!("the surplus of source {place}"))?;
    }
    for (place, node) in nodes.iter().enumerate() {
        number(node.capacity, || format!("the capacity of node {place}"))?;
        number(node.base, || format!("the load of node {place}"))?;
        number(node.cost, || format!("the cost of node {place}"))?;
    }
    Ok(())
}

fn number(value: f64, what: impl FnOnce() -> String) -> Result<(), ProblemError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ProblemError::Number { what: what(), value })
}
