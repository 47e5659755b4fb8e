//! What edges say of themselves: one snapshot a cycle, in which a missing value is unknown
//! and never nought.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::table::Name;

/// After so many cycles without a sample the static weights are in force.
pub(super) const DEAD_AFTER: u32 = 3;

/// A finite number that is not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Amount(f64);

impl Amount {
    /// None.
    pub const ZERO: Self = Self(0.0);

    /// The number, where it is one.
    pub fn new(number: f64) -> Option<Self> {
        (number.is_finite() && number >= 0.0).then_some(Self(number + 0.0))
    }

    /// As a plain number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// What one edge reported in one cycle. What it did not report is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Its traffic, in the unit of its capacity (bits or requests per second, sessions).
    pub load: Option<Amount>,
    /// What it can carry; nought for an edge that is out of service.
    pub capacity: Option<Amount>,
    /// The delay that 95 % of its answers stay under, in ms.
    pub p95_ms: Option<Amount>,
    /// Its open sessions.
    pub sessions: Option<Amount>,
}

/// An edge in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EdgeLoad {
    /// What it reported in this cycle; none where nothing usable came.
    pub sample: Option<Sample>,
    /// For how many cycles in a row nothing came.
    pub missed: u32,
}

impl EdgeLoad {
    /// Its load, where it is known in this cycle.
    pub fn load(&self) -> Option<f64> {
        Some(self.sample?.load?.get())
    }

    /// Its capacity, where it is known in this cycle.
    pub fn capacity(&self) -> Option<f64> {
        Some(self.sample?.capacity?.get())
    }

    /// Its 95 % delay in ms, where it is known in this cycle.
    pub fn p95_ms(&self) -> Option<f64> {
        Some(self.sample?.p95_ms?.get())
    }
}

/// The loads of all edges, taken in one cycle and applied at once.
///
/// Reports applied one by one would make the edge that has just reported look empty beside
/// the others, and draw everything to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Loads {
    cycles: u32,
    edges: BTreeMap<Name, EdgeLoad>,
}

impl Loads {
    /// The snapshot of the next cycle. Edges that are not among the samples, or have none,
    /// have missed it.
    #[must_use]
    pub fn next(&self, samples: &BTreeMap<Name, Option<Sample>>) -> Self {
        let cycles = self.cycles.saturating_add(1);
        let edges = samples.iter().map(|(name, sample)| {
            let missed = match sample {
                Some(_) => 0,
                None => self.of(name).missed.saturating_add(1),
            };
            (name.clone(), EdgeLoad { sample: *sample, missed })
        });
        Self { cycles, edges: edges.collect() }
    }

    /// What is known of an edge. One without a source has missed every cycle there was.
    pub fn of(&self, edge: &Name) -> EdgeLoad {
        self.edges.get(edge).copied().unwrap_or(EdgeLoad { sample: None, missed: self.cycles })
    }

    /// How many cycles there were since start; none: nothing is known yet, and nothing moves.
    pub const fn cycles(&self) -> u32 {
        self.cycles
    }

    /// The edges that were asked in this cycle.
    pub fn edges(&self) -> &BTreeMap<Name, EdgeLoad> {
        &self.edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(load: f64) -> Option<Sample> {
        Some(Sample { load: Amount::new(load), ..Sample::default() })
    }

    #[test]
    fn an_amount_is_finite_and_not_negative() {
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Amount::new(wrong), None);
        }
        assert_eq!(Amount::new(-0.0).unwrap().get().to_bits(), 0);
    }

    #[test]
    fn misses_count_until_a_sample_comes() {
        let at = |samples: [Option<Sample>; 2]| {
            BTreeMap::from([(Name::from("a"), samples[0]), (Name::from("b"), samples[1])])
        };
        let one = Loads::default().next(&at([sample(5.0), None]));
        let two = one.next(&at([None, None]));
        let three = two.next(&at([sample(7.0), None]));
        let seen = |loads: &Loads, edge: &str| {
            let load = loads.of(&edge.into());
            (load.load(), load.missed)
        };
        assert_eq!((seen(&one, "a"), seen(&one, "b")), ((Some(5.0), 0), (None, 1)));
        assert_eq!((seen(&two, "a"), seen(&two, "b")), ((None, 1), (None, 2)));
        assert_eq!((seen(&three, "a"), seen(&three, "b")), ((Some(7.0), 0), (None, 3)));
        assert_eq!(seen(&three, "nobody"), (None, 3));
        assert_eq!(Loads::default().of(&"a".into()).missed, 0);
    }
}
