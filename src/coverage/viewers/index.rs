//! Which cell an address lies in: the whole space of a family cut at sorted starts, with a
//! first level over the upper bits.
//!
//! Nothing but these two arrays is touched by a search, and gaps are stretches like others,
//! so that no end has to be compared.

use crate::address::{Family, Range};

/// The first level has this many places.
const PLACES: usize = 1 << 16;

/// The cells of IPv4.
#[derive(Debug)]
pub(super) struct Index4 {
    /// Start and cell of each stretch, in one number.
    stretches: Vec<u64>,
    /// By the upper 16 bits: the stretch that the first address of them lies in.
    upper: Vec<u32>,
}

impl Index4 {
    /// Stretches of IPv4 in order, disjoint; what is in none gets the cell `gap`.
    pub(super) fn new(stretches: &[(Range, u32)], gap: u32) -> Self {
        let all = filled(Family::V4, stretches, gap);
        let starts: Vec<u64> =
            all.iter().map(|(start, cell)| (*start as u64) << 32 | u64::from(*cell)).collect();
        let mut upper = Vec::with_capacity(PLACES + 1);
        let mut at = 0usize;
        for place in 0..PLACES as u64 {
            while starts.get(at + 1).is_some_and(|next| *next >> 32 <= place << 16) {
                at += 1;
            }
            upper.push(at as u32);
        }
        upper.push(starts.len().saturating_sub(1) as u32);
        Self { stretches: starts, upper }
    }

    /// The cell of an address.
    #[inline(always)]
    pub(super) fn find(&self, address: u32) -> u32 {
        let place = (address >> 16) as usize;
        let probe = u64::from(address) << 32 | u64::from(u32::MAX);
        let (Some(from), Some(to)) = (self.upper.get(place), self.upper.get(place + 1)) else { return 0 };
        let (from, to) = (*from as usize, *to as usize);
        let within = self.stretches.get(from + 1..to + 1).unwrap_or_default();
        let behind = if within.len() <= 8 {
            within.iter().map(|start| usize::from(*start <= probe)).sum()
        } else {
            within.partition_point(|start| *start <= probe)
        };
        self.stretches.get(from + behind).map_or(0, |stretch| *stretch as u32)
    }
}

/// The cells of IPv6. The places of the first level are dealt over what the stretches reach
/// over, for all that is in use begins with the same few bits.
#[derive(Debug)]
pub(super) struct Index6 {
    starts: Vec<u128>,
    cells: Vec<u32>,
    upper: Vec<u32>,
    first: u128,
    shift: u32,
}

impl Index6 {
    /// Stretches of IPv6 in order, disjoint; what is in none gets the cell `gap`.
    pub(super) fn new(stretches: &[(Range, u32)], gap: u32) -> Self {
        let all = filled(Family::V6, stretches, gap);
        let first = stretches.first().map_or(0, |(range, _)| range.first_bits());
        let last = stretches.last().map_or(0, |(range, _)| range.last_bits());
        let used = u128::BITS - (last - first).leading_zeros();
        let shift = used.saturating_sub(PLACES.ilog2());
        let (starts, cells): (Vec<u128>, Vec<u32>) = all.into_iter().unzip();
        let mut upper = Vec::with_capacity(PLACES + 1);
        let mut at = 0usize;
        for place in 0..=PLACES as u128 {
            let begin = first.saturating_add(place.saturating_mul(1 << shift));
            while starts.get(at + 1).is_some_and(|next| *next <= begin) {
                at += 1;
            }
            upper.push(at as u32);
        }
        Self { starts, cells, upper, first, shift }
    }

    /// The cell of an address.
    pub(super) fn find(&self, address: u128) -> u32 {
        let place = address.checked_sub(self.first).map(|behind| behind >> self.shift);
        let (from, to) = match place.and_then(|place| usize::try_from(place).ok()) {
            Some(place) if place < PLACES => {
                let place = self.upper.get(place..place + 2).unwrap_or_default();
                (place.first().map_or(0, |p| *p as usize), place.last().map_or(0, |p| *p as usize))
            }
            _ => (0, self.starts.len().saturating_sub(1)),
        };
        let within = self.starts.get(from + 1..to + 1).unwrap_or_default();
        let behind = within.partition_point(|start| *start <= address);
        self.cells.get(from + behind).copied().unwrap_or(0)
    }
}

/// Start and cell of each stretch, gaps included: the first starts at 0.
fn filled(family: Family, stretches: &[(Range, u32)], gap: u32) -> Vec<(u128, u32)> {
    let mut all: Vec<(u128, u32)> = Vec::with_capacity(stretches.len() * 2 + 1);
    let mut push = |start: u128, cell: u32| {
        if all.last().is_none_or(|(_, last)| *last != cell) {
            all.push((start, cell));
        }
    };
    let mut next = Some(0);
    for (range, cell) in stretches {
        if let Some(start) = next.filter(|start| *start < range.first_bits()) {
            push(start, gap);
        }
        push(range.first_bits(), *cell);
        next = range.last_bits().checked_add(1).filter(|next| *next <= family.max());
    }
    if let Some(start) = next {
        push(start, gap);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::address::RangeSet;

    #[test]
    fn the_ends_of_the_space_have_cells() {
        for (ranges, wanted) in [
            (vec![], [9, 9, 9]),
            (vec!["0.0.0.0/1"], [0, 9, 9]),
            (vec!["0.0.0.0-0.0.0.0", "0.0.0.5-255.255.255.255"], [0, 1, 1]),
        ] {
            let stretches: Vec<(Range, u32)> =
                ranges.iter().zip(0..).map(|(r, i)| (r.parse().unwrap(), i)).collect();
            let index = Index4::new(&stretches, 9);
            assert_eq!([0, 0x8000_0000, u32::MAX].map(|address| index.find(address)), wanted, "{ranges:?}");
        }
        let index = Index6::new(&[("::/1".parse().unwrap(), 0), ("ffff::/16".parse().unwrap(), 1)], 9);
        assert_eq!([0, 1 << 127, u128::MAX].map(|address| index.find(address)), [0, 9, 1]);
        assert_eq!(Index6::new(&[], 9).find(u128::MAX), 9);
    }

    proptest! {
        #[test]
        fn equals_the_slow_search(
            parts in vec((any::<u32>(), 0u32..200_000), 0..200),
            near in vec((any::<u16>(), 0u32..300), 0..40),
            probes in vec(any::<u32>(), 50),
        ) {
            for family in Family::ALL {
                let spread = |n: u32| if family == Family::V4 { n.into() } else { (0x2001 << 112) + (u128::from(n) << 70) };
                let parts = parts.iter().copied().chain(near.iter().map(|(n, span)| (0x0a00_0000 | u32::from(*n), *span)));
                let set: RangeSet = parts
                    .filter_map(|(n, span)| Range::from_bits(family, spread(n), spread(n.saturating_add(span))))
                    .collect();
                let stretches: Vec<(Range, u32)> = set.iter().copied().zip(1..).collect();
                let (four, six) = match family {
                    Family::V4 => (Index4::new(&stretches, 0), Index6::new(&[], 0)),
                    Family::V6 => (Index4::new(&[], 0), Index6::new(&stretches, 0)),
                };
                let ends = stretches.iter().flat_map(|(r, _)| {
                    [r.first_bits().saturating_sub(1), r.first_bits(), r.last_bits(), (r.last_bits() + 1).min(family.max())]
                });
                for bits in ends.chain(probes.iter().map(|n| spread(*n))) {
                    let address = family.address(bits);
                    let slow = stretches.iter().find(|(range, _)| range.contains(address)).map_or(0, |(_, cell)| *cell);
                    let found = match family {
                        Family::V4 => four.find(bits as u32),
                        Family::V6 => six.find(bits),
                    };
                    prop_assert_eq!(found, slow, "{}", address);
                }
            }
        }
    }
}
