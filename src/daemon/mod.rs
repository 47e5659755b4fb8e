//! The service: a schedule, the one task that owns the store, the control socket, and a
//! clean stop.

mod schedule;

pub use schedule::{Due, Schedule};
