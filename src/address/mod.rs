//! Address arithmetic: closed ranges, minimal prefix lists, sets, and an index over them.
//!
//! Pure: no I/O, no clock, and nothing else of this crate. Addresses are kept as
//! numbers (`u128`, IPv4 in the low 32 bits) beside their family, so that one piece of
//! code serves both families and the top of the address space needs no special case.

mod cidr;
mod index;
mod mapped;
mod range;
mod reserved;
mod set;

pub use cidr::{Prefixes, prefixes};
pub use index::{Index4, Index6, filled};
pub use mapped::{PartlyMapped, unmapped};
pub use range::{Family, ParseRangeError, Range, RangeError};
pub use reserved::never_published;
pub use set::RangeSet;
pub(crate) use set::units;
