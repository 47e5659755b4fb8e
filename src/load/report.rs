//! The loads of edges, for people and for programs.

use serde::{Deserialize, Serialize};

use super::reader::Collected;
use crate::steer::{Amount, Loads};
use crate::table::Name;

/// What is known of one edge's load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeLoadReport {
    /// The edge.
    pub name: Name,
    /// Its load, in the unit of its capacity.
    pub load: Option<f64>,
    /// What it can carry.
    pub capacity: Option<f64>,
    /// The delay that 95 % of its answers stay under, in ms.
    pub p95_ms: Option<f64>,
    /// Its open sessions.
    pub sessions: Option<f64>,
    /// For how many cycles in a row nothing usable came.
    pub missed: u32,
    /// The stable reason why nothing came in the last cycle.
    pub reason: Option<String>,
    /// The same in words.
    pub detail: Option<String>,
}

impl EdgeLoadReport {
    /// A report for each edge that was asked in the last cycle.
    pub fn all(loads: &Loads, collected: &Collected) -> Vec<Self> {
        let of = |(name, read): (&Name, &Result<_, super::LoadError>)| {
            let known = loads.of(name);
            let sample = known.sample.unwrap_or_default();
            let error = read.as_ref().err();
            Self {
                name: name.clone(),
                load: sample.load.map(Amount::get),
                capacity: sample.capacity.map(Amount::get),
                p95_ms: sample.p95_ms.map(Amount::get),
                sessions: sample.sessions.map(Amount::get),
                missed: known.missed,
                reason: error.map(|error| error.kind().to_owned()),
                detail: error.map(ToString::to_string),
            }
        };
        collected.edges.iter().map(of).collect()
    }

    /// The report as a line of text.
    pub fn text(&self) -> String {
        if let (Some(reason), Some(detail)) = (&self.reason, &self.detail) {
            return format!("{}: unknown for {} cycle(s): {reason}: {detail}", self.name, self.missed);
        }
        let mut parts = Vec::new();
        match (self.load, self.capacity) {
            (Some(load), Some(capacity)) if capacity > 0.0 => {
                parts.push(format!("{load:.0} of {capacity:.0} ({:.0} %)", 100.0 * load / capacity));
            }
            (load, capacity) => {
                parts.extend(load.map(|load| format!("load {load:.0}")));
                parts.extend(capacity.map(|capacity| format!("capacity {capacity:.0}")));
            }
        }
        parts.extend(self.p95_ms.map(|ms| format!("p95 {ms:.1} ms")));
        parts.extend(self.sessions.map(|sessions| format!("{sessions:.0} sessions")));
        format!("{}: {}", self.name, parts.join(", "))
    }
}
