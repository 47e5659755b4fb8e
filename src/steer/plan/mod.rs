//! The plan: how much of each source's traffic each node takes, so that the mean delay is
//! least.
//!
//! Sources `i` have traffic `F_i` to place, nodes `j` a capacity `C_j`, pairs a delay `T_ij`.
//! With `s_j` all that a node carries and `L` the sum of `F`, the flows `f_ij` minimise
//!
//! ```text
//! aggregate:  1/L [ w1 sum_j s_j/(C_j - s_j)        + w2 sum f_ij T_ij + w3 sum f_ij Z_j ]
//! per-flow:   1/L [ w1 sum_ij f_ij/(C_j - f_ij)     + w2 sum f_ij T_ij + w3 sum f_ij Z_j ]
//! ```
//!
//! with `sum_j f_ij = F_i` and `s_j <= bound C_j`. The first is the M/M/1 queue of a node that
//! its flows share; the second charges each flow as if it were alone there, and is kept to
//! reproduce published tables. With `F` in requests per second and `T` in seconds, equal
//! weights make the sum the mean number of users who wait (Little's law); in other units the
//! ratio of the weights is but a knob.
//!
//! `s/(C-s) = C/(C-s) - 1`, and `t >= C/(C-s)` is a second-order cone of three dimensions: the
//! problem is solved as one of those. A price says what one more unit of allowed load on a
//! node would save, in the unit of the objective times `L`.

mod cone;
mod cost;
mod file;
mod own_first;
mod problem;
mod report;
mod round;
mod structure;

pub use file::{FileError, ProblemFile};
pub use own_first::own_first;
pub use problem::{Link, Model, Node, Plan, PlanError, Problem, ProblemError, Weighing};
pub use report::PlanReport;
pub use round::Rounded;
pub use structure::{RESERVE, StructureReport};
