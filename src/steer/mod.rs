//! Steering: which group answers for which owner, with which edges, in which order and with
//! which weights. Pure: loads, distances and the weights before come in as data.
//!
//! poolsync publishes tables and sees no requests. What is decided here holds until the next
//! publish: its age at the consumer is the load interval, the time to publish and the time to
//! live of an answer together. Where that is longer than a session, no policy beats equal
//! weights.
//!
//! * [`Loads`], [`Distances`]: what is known of the edges, one snapshot a cycle.
//! * [`Ranking`]: nearest, greedy, loadnear and nearload as choices among candidates.
//! * [`plan`]: the division of all traffic that costs least.
//! * [`shed`]: the share of its entries that an overloaded edge hands on.
//! * [`select`], [`simulate`]: selectors that see every request, and how all of them fare.
//! * [`Damping`]: weights move only if it is worth it, and only a step a cycle.

mod damping;
mod deal;
mod distance;
mod drain;
mod fixed;
mod loads;
pub mod plan;
mod policy;
mod random;
mod ranking;
mod region;
mod replan;
pub mod select;
pub mod shed;
pub mod simulate;
mod staleness;
mod steered;
mod unit;
mod weights;

pub use damping::Damping;
pub use distance::{DistanceError, Distances, Place};
pub use drain::{Drained, drained, undrained};
pub use fixed::Configured;
pub use loads::{Amount, EdgeLoad, Loads, Sample};
pub use policy::{PlanRules, Policy};
pub use random::Random;
pub use ranking::{Candidate, Ranking, Ties};
pub use region::{ListReport, ListState, Region, RegionReport, ShedTo};
pub use staleness::{Staleness, Use};
pub use steered::{Steered, steer};
pub use unit::Known;
pub use weights::{WHOLE, apportion, moved, shares};
