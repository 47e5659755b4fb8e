//! A simulation of policies on a network: how often a request finds its edge full, and how far
//! it goes.
//!
//! Requests arrive by Poisson processes at the nodes of a network and are served at one of its
//! gateways, each of which can hold so many at a time; one that finds its gateway full is
//! blocked, and does not come again. What a selector knows of a gateway is its last report,
//! and what it decided since. Uniform choice makes each gateway an Erlang loss system, by
//! which every run checks itself.

mod chart;
mod engine;
mod erlang;
mod network;
mod report;
mod scenario;
mod selector;
mod table;

pub use chart::{Chart, Series, svg};
pub use erlang::erlang_b;
pub use network::{Network, NetworkError, NetworkFile};
pub use report::{ErlangCheck, SimulationReport, SimulationRow, simulate};
pub use scenario::{Counting, Scenario};
pub use selector::{Method, UnknownMethod};
