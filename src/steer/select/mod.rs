//! Selectors that see each request: what a table cannot do, for comparison with what it can.

mod candidates;
mod ratio;
mod weighted;

pub use candidates::{bounded, two_choices};
pub use ratio::{PUBLISHED_SUM, Ratio};
pub use weighted::{SmoothWeighted, weighted_random};
