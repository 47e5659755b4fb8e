//! A hand-kept table and a log of viewers, held against the table: what the old table gets
//! wrong, in figures.
//!
//! * [`Legacy`] is an old table as read; [`Legacy::static_file`] makes the static file of it
//!   that configuration reads.

mod flat;
mod input;
mod known;
mod legacy;

pub use flat::Rule;
pub use input::{InputError, Packing};
pub use known::{Known, Target};
pub use legacy::{
    Column, Legacy, LegacyError, LegacyFormat, LegacyRow, ReadOptions, Remark, RemarkKind, StaticFile,
};
