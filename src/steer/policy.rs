//! The policies of a region.

use std::num::NonZeroUsize;

use super::Ranking;
use super::plan::{Model, Weighing};
use super::shed;

/// How a region's lists of edges are steered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// The configured order.
    #[default]
    Fixed,
    /// All to the nearest edge.
    Nearest,
    /// Equal weights.
    RoundRobin,
    /// The configured weights.
    Weighted,
    /// All to the edge with the least traffic, whatever its capacity; what this decides is not
    /// counted. It herds: use it to compare.
    Statistics,
    /// To the least loaded edge, own decisions counted.
    Greedy,
    /// To the nearest of the `d` least loaded edges, own decisions counted.
    LoadNear(NonZeroUsize),
    /// To the least loaded of the `d` nearest edges, own decisions counted.
    NearLoad(NonZeroUsize),
    /// By the plan of least mean delay.
    Plan(PlanRules),
    /// To the first edge, which hands a share of its entries on while its delay is too high.
    Shed(shed::Rules),
}

/// How a live plan is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanRules {
    /// How queueing is charged.
    pub model: Model,
    /// The weights of the terms and the bound of capacities.
    pub weighing: Weighing,
    /// How many edges, nearest first, an owner is planned on.
    pub candidates: NonZeroUsize,
    /// Whether the first edge of each list is filled before anything goes elsewhere.
    pub own_first: bool,
    /// What one unit of distance is in the objective: 0.001 for ms and requests per second,
    /// so that the sum is the mean number of users who wait.
    pub delay_unit: f64,
}

impl Default for PlanRules {
    fn default() -> Self {
        Self {
            model: Model::default(),
            weighing: Weighing::default(),
            candidates: NonZeroUsize::MIN.saturating_add(5),
            own_first: false,
            delay_unit: 0.001,
        }
    }
}

impl Policy {
    /// Its name in the configuration.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Nearest => "nearest",
            Self::RoundRobin => "round-robin",
            Self::Weighted => "weighted",
            Self::Statistics => "statistics",
            Self::Greedy => "greedy",
            Self::LoadNear(_) => "loadnear",
            Self::NearLoad(_) => "nearload",
            Self::Plan(_) => "plan",
            Self::Shed(_) => "shed",
        }
    }

    /// Whether it can tell owners of one list apart by their distances.
    pub(super) const fn looks_at_distance(&self) -> bool {
        matches!(self, Self::Nearest | Self::LoadNear(_) | Self::NearLoad(_) | Self::Plan(_))
    }

    /// The ranking that it deals by.
    pub(super) const fn ranking(&self) -> Option<Ranking> {
        match self {
            Self::Statistics | Self::Greedy => Some(Ranking::Greedy),
            Self::LoadNear(d) => Some(Ranking::LoadNear(*d)),
            Self::NearLoad(d) => Some(Ranking::NearLoad(*d)),
            _ => None,
        }
    }
}
