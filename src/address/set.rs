//! A set of addresses, as sorted, disjoint, non-touching ranges.

use super::Range;

/// A set of addresses of both families.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    _ranges: Vec<Range>,
}
