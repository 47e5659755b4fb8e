//! Descriptors: what a vendor's pool tables look like, as data.
//!
//! A descriptor is a TOML file of `mibs/`; `mibs/README.md` is the reference of its keys. It is
//! parsed (`file`), checked and tied together (`compile`) into a [`Descriptor`], which says
//! what to read ([`TableRef::columns`]) and what rows mean ([`decode`]). What is not
//! understood, cannot be handled, or would be read for nothing is refused when it is parsed.

mod cell;
mod compile;
mod decode;
mod describe;
mod descriptor;
mod detect;
mod empty;
mod error;
mod fault;
mod field;
mod file;
mod index;
mod library;
mod rejected;
mod replay;
mod summary;
mod text;

pub use crate::table::Glob;
pub use decode::{
    ContextRead, DecodedTable, FoundContext, FoundContexts, Passed, Read, ReadOutcome, Settings, contexts,
    decode,
};
pub use descriptor::{Descriptor, Origin, TableRef};
pub use empty::{Known, judge_empty, judge_list};
pub use error::DescriptorError;
pub use fault::Fault;
pub use library::{Library, LibraryError};
pub use rejected::{RejectReason, Rejected};
pub use replay::{
    Replay, ReplayedField, ReplayedRange, ReplayedRow, ReplayedTable, RowOutcome, recorded_contexts, replay,
};
pub use summary::{Summary, TableSummary};
pub use text::{Encoding, UnknownEncoding};

#[cfg(test)]
mod tests;
