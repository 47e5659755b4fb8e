//! A problem given by hand, as JSON.

use serde::Deserialize;
use thiserror::Error;

use super::problem::{Link, Model, Node, Problem, ProblemError, Weighing};

/// A problem as it stands in a file.
///
/// `{"model": "aggregate" | "per-flow", "surplus": [F..], "capacity": [C..], "bound": 0.8,
/// "delay": [[T..]..], "w1": 0.5, "w2": 0.5, "cost": [Z..], "w3": 0, "own": [node..],
/// "sources": [name..], "nodes": [name..]}`: needed are `surplus`, `capacity` and `delay`. A
/// `null` in `delay` is a pair that may not exchange traffic.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemFile {
    /// How queueing is charged.
    #[serde(default)]
    pub model: Model,
    /// The traffic of each source.
    pub surplus: Vec<f64>,
    /// What each node can carry.
    pub capacity: Vec<f64>,
    /// How much of a capacity may be used; 0.8 unless given.
    pub bound: Option<f64>,
    /// The delay of each source (row) and node (column).
    pub delay: Vec<Vec<Option<f64>>>,
    /// The weight of queueing; 0.5 unless given.
    pub w1: Option<f64>,
    /// The weight of delay; what `w1` leaves of 1 unless given.
    pub w2: Option<f64>,
    /// What a unit of load costs, by node.
    pub cost: Option<Vec<f64>>,
    /// The weight of cost; needed where `cost` is given.
    pub w3: Option<f64>,
    /// What each node carries already.
    pub load: Option<Vec<f64>>,
    /// The own node of each source, from 0, for the comparison with own-first.
    pub own: Option<Vec<Option<usize>>>,
    /// The names of the sources.
    pub sources: Option<Vec<String>>,
    /// The names of the nodes.
    pub nodes: Option<Vec<String>>,
}

/// Why a file is no problem.
#[derive(Debug, Error)]
pub enum FileError {
    /// It is no JSON, or not of this shape.
    #[error("the problem is not of the shape that is expected: {0}")]
    Json(#[from] serde_json::Error),
    /// A list is not as long as what it is about.
    #[error("`{name}` has {found} values, and must have {expected}: one for each {what}")]
    Length {
        /// The key.
        name: &'static str,
        /// How long it is.
        found: usize,
        /// How long it has to be.
        expected: usize,
        /// What it is about.
        what: &'static str,
    },
    /// A key that needs another one.
    #[error("`cost` and `w3` go together: one is given without the other")]
    CostWithoutWeight,
    /// A place that is none.
    #[error("`own` names node {0}, and there is none of that place")]
    Own(usize),
    /// A number is wrong.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

impl ProblemFile {
    /// The problem that a JSON text describes.
    ///
    /// # Errors
    /// What is wrong with the text; the rest is checked by [`ProblemFile::problem`].
    pub fn parse(json: &str) -> Result<Self, FileError> {
        Ok(serde_json::from_str(json)?)
    }

    /// As what can be solved.
    ///
    /// # Errors
    /// The first list of a wrong length, or number that is none.
    pub fn problem(&self) -> Result<Problem, FileError> {
        self.check()?;
        let queue = self.w1.unwrap_or(0.5);
        let weighing = Weighing {
            queue,
            delay: self.w2.unwrap_or((1.0 - queue).max(0.0)),
            cost: self.w3.unwrap_or(0.0),
            bound: self.bound.unwrap_or(Weighing::default().bound),
        };
        let of = |list: &Option<Vec<f64>>, place: usize| {
            list.as_ref().and_then(|values| values.get(place)).copied().unwrap_or(0.0)
        };
        let node = |(place, capacity): (usize, &f64)| Node {
            capacity: *capacity,
            base: of(&self.load, place),
            cost: of(&self.cost, place),
        };
        let nodes = self.capacity.iter().enumerate().map(node).collect();
        let row = |(source, row): (usize, &Vec<Option<f64>>)| {
            let link =
                move |(node, delay): (usize, &Option<f64>)| delay.map(|delay| Link { source, node, delay });
            row.iter().enumerate().filter_map(link).collect::<Vec<Link>>()
        };
        let links = self.delay.iter().enumerate().flat_map(row).collect();
        Ok(Problem::new(self.model, weighing, self.surplus.clone(), nodes, links)?)
    }

    fn check(&self) -> Result<(), FileError> {
        let (sources, nodes) = (self.surplus.len(), self.capacity.len());
        length("delay", self.delay.len(), sources, "source")?;
        for row in &self.delay {
            length("delay", row.len(), nodes, "node")?;
        }
        let given = |list: &Option<Vec<f64>>| list.as_ref().map(Vec::len);
        for (name, found) in [("cost", given(&self.cost)), ("load", given(&self.load))] {
            length(name, found.unwrap_or(nodes), nodes, "node")?;
        }
        let names = |list: &Option<Vec<String>>, else_: usize| list.as_ref().map_or(else_, Vec::len);
        length("sources", names(&self.sources, sources), sources, "source")?;
        length("nodes", names(&self.nodes, nodes), nodes, "node")?;
        if self.cost.is_some() != self.w3.is_some() {
            return Err(FileError::CostWithoutWeight);
        }
        let own = self.own.as_deref().unwrap_or_default();
        length("own", self.own.as_ref().map_or(sources, Vec::len), sources, "source")?;
        match own.iter().flatten().find(|node| **node >= nodes) {
            Some(node) => Err(FileError::Own(*node)),
            None => Ok(()),
        }
    }

    /// The name of a source, or its place from 1.
    pub fn source_name(&self, place: usize) -> String {
        name_of(self.sources.as_deref(), "source", place)
    }

    /// The name of a node, or its place from 1.
    pub fn node_name(&self, place: usize) -> String {
        name_of(self.nodes.as_deref(), "node", place)
    }
}

fn name_of(names: Option<&[String]>, kind: &str, place: usize) -> String {
    names.and_then(|names| names.get(place)).cloned().unwrap_or_else(|| format!("{kind} {}", place + 1))
}

fn length(name: &'static str, found: usize, expected: usize, what: &'static str) -> Result<(), FileError> {
    if found == expected { Ok(()) } else { Err(FileError::Length { name, found, expected, what }) }
}
