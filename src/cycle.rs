//! The sentence: collect, build, steer, compare, judge, commit, publish.

mod operation;
pub mod shapes;

pub use operation::{Answer, ApproveRequest, ExportRequest, LookupRequest, Operation, PollRequest, Reply};
pub use shapes::Problem;
