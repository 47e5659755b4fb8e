//! A hand-kept table and a log of viewers, held against the table: what the old table gets
//! wrong, in figures.
//!
//! * [`Legacy`] is an old table as read; [`Legacy::static_file`] makes the static file of it
//!   that configuration reads.
//! * [`AgainstReport`] is an old table held against the table, address by address: holes,
//!   wrong owners, dead rows.
//! * [`measure`] reads a log of viewers and says how many of them an entry covers.
//!
//! Old tables and logs are read packed or not, and nothing here enumerates addresses or
//! grows with the length of a log.

mod diff;
mod figure;
mod flat;
mod grid;
mod input;
mod known;
mod legacy;
mod octets;
mod overlay;
mod served;
mod targets;
mod viewers;

pub use diff::{
    AgainstReport, FamilyFigures, Figure, Finding, FindingKind, NameFigures, OldFigures, OldTable,
};
pub use figure::Addresses;
pub use flat::Rule;
pub use input::{InputError, Packing};
pub use known::{Known, Target};
pub use legacy::{
    Column, Legacy, LegacyError, LegacyFormat, LegacyRow, ReadOptions, Remark, RemarkKind, StaticFile,
};
pub use served::{Answer, Served};
pub use viewers::{
    AgainstRequests, CoverageError, CoverageReport, FamilyRequests, Forms, LogFigures, LogShape, MissFigures,
    NameRequests, Part, PrefixMisses, Progress, Question, ResolverFigures, Resolvers, ShapeError,
    StepFigures, TimeFigures, Unreadable, measure,
};
