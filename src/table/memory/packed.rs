//! Ranges in two words: most are IPv4, and a fleet has millions of them.

use crate::address::{Family, Range};

/// A range: the first and last address of IPv4, else its place among those that stand apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedRange([u32; 2]);

/// The ranges that do not fit into two words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Apart(Vec<Range>);

impl Apart {
    pub(super) fn pack(&mut self, range: Range) -> PackedRange {
        match (u32::try_from(range.first_bits()), u32::try_from(range.last_bits())) {
            (Ok(first), Ok(last)) if range.family() == Family::V4 => PackedRange([first, last]),
            _ => {
                self.0.push(range);
                PackedRange([(self.0.len() - 1) as u32, 0])
            }
        }
    }

    /// The range; none where it was packed beside others.
    pub(super) fn unpack(&self, family: Family, PackedRange([first, last]): PackedRange) -> Option<Range> {
        match family {
            Family::V4 => Range::from_bits(Family::V4, first.into(), last.into()),
            Family::V6 => self.0.get(first as usize).copied(),
        }
    }

    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }
}
