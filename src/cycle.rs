//! The sentence: collect, build, steer, compare, judge, commit, publish.

mod exports;
mod fleet;
mod operation;
mod recording;
pub mod shapes;
mod state;
mod walked;

pub use exports::{ExportError, exports_of};
pub use fleet::{Fleet, Job, community_polling};
pub use operation::{Answer, ApproveRequest, ExportRequest, LookupRequest, Operation, PollRequest, Reply};
pub use recording::Recorded;
pub use shapes::Problem;
pub use state::{State, export};
