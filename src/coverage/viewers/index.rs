//! Which cell an address lies in: the whole space of a family cut at sorted starts, with a
//! first level over the upper bits.
//!
//! Nothing but these two arrays is touched by a search, and gaps are stretches like others,
//! so that no end has to be compared.

use wide::u16x8;

use crate::address::{Family, Range, filled};

/// How many bits of an address are left below its place: few, so that a place has few
/// stretches even where pools are small.
const BELOW: u32 = 12;

/// The first level has this many places: 4 MiB.
const PLACES: u32 = 1 << (32 - BELOW);

/// So many stretches of a place are compared with at once, however many there are: a loop
/// over them would have to be foreseen, which costs more than it does.
const AT_ONCE: usize = 8;

/// The cells of IPv4.
#[derive(Debug)]
pub(super) struct Index4 {
    /// By the upper bits of an address: where in the words its stretches are. They are the
    /// lower bits of the starts within the place, then the cells: one more, that of the
    /// place's first address.
    upper: Vec<u32>,
    words: Words,
}

/// As small as may be: what does not fit into the processor's cache is what takes time.
#[derive(Debug)]
enum Words {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Index4 {
    /// Stretches of IPv4 in order, disjoint; what is in none gets the cell `gap`.
    pub(super) fn new(stretches: &[(Range, u32)], gap: u32) -> Self {
        let all = filled(Family::V4, stretches, gap);
        let (upper, words) = match cell_limit(&all) <= u32::from(u16::MAX) {
            true => {
                let (upper, words) = words_of(&all, |word| word as u16);
                (upper, Words::Narrow(words))
            }
            false => {
                let (upper, words) = words_of(&all, |word| word);
                (upper, Words::Wide(words))
            }
        };
        Self { upper, words }
    }

    /// The cells of addresses, one each. No look-up waits for the one before it, so that
    /// memory answers many of them in the time of one.
    #[inline(always)]
    pub(super) fn find(&self, addresses: &[u32], cells: &mut [u32]) {
        match &self.words {
            Words::Narrow(words) => {
                for (cell, address) in cells.iter_mut().zip(addresses) {
                    let (words, starts) = self.place(words, *address);
                    *cell = narrow(words, starts, (address & LOWER) as u16);
                }
            }
            Words::Wide(words) => {
                for (cell, address) in cells.iter_mut().zip(addresses) {
                    let (words, starts) = self.place(words, *address);
                    let within = words.get(..starts).unwrap_or_default();
                    let behind = within.partition_point(|start| *start <= address & LOWER);
                    *cell = words.get(starts + behind).copied().unwrap_or(0);
                }
            }
        }
    }

    /// The words of an address's place, and how many of them are starts.
    #[inline(always)]
    fn place<'w, T>(&self, words: &'w [T], address: u32) -> (&'w [T], usize) {
        let place =
            self.upper.get((address >> BELOW) as usize..).and_then(|places| places.first_chunk::<2>());
        let Some([from, to]) = place else { return (&[], 0) };
        (words.get(*from as usize..).unwrap_or_default(), (to - from) as usize / 2)
    }
}

/// The lower bits of an address.
const LOWER: u32 = (1 << BELOW) - 1;

/// The places of the first level, and their words.
fn words_of<T: Clone + Default>(all: &[(u128, u32)], word: impl Fn(u32) -> T) -> (Vec<u32>, Vec<T>) {
    let mut upper = Vec::with_capacity(PLACES as usize + 1);
    let mut words: Vec<T> = Vec::with_capacity(PLACES as usize + 2 * all.len() + AT_ONCE);
    let mut rest = all.iter().map(|(start, cell)| (*start as u32, *cell)).peekable();
    let mut cell = 0;
    let mut cells = Vec::new();
    loop {
        // Most places have no start, and the cell of the one before.
        let place = upper.len() as u32;
        let next = rest.peek().map_or(PLACES, |(start, _)| start >> BELOW);
        let (from, count) = (words.len() as u32, next - place);
        upper.extend(from..from + count);
        words.resize((from + count) as usize, word(cell));
        if next == PLACES {
            break;
        }
        upper.push(words.len() as u32);
        if let Some((_, first)) = rest.next_if(|(start, _)| *start == next << BELOW) {
            cell = first;
        }
        cells.push(word(cell));
        while let Some((start, within)) = rest.next_if(|(start, _)| start >> BELOW == next) {
            words.push(word(start & LOWER));
            cells.push(word(within));
            cell = within;
        }
        words.append(&mut cells);
    }
    upper.push(words.len() as u32);
    words.resize(words.len() + AT_ONCE, T::default());
    (upper, words)
}

fn cell_limit(all: &[(u128, u32)]) -> u32 {
    all.iter().map(|(_, cell)| *cell).max().unwrap_or(0)
}

/// The cell of the lower bits of an address among the words of its place.
#[inline(always)]
fn narrow(words: &[u16], starts: usize, low: u16) -> u32 {
    let behind = match words.first_chunk::<AT_ONCE>() {
        Some(first) if starts <= AT_ONCE => reached(first, starts, low),
        _ => words.get(..starts).map_or(0, |starts| starts.partition_point(|start| *start <= low)),
    };
    words.get(starts + behind).map_or(0, |cell| u32::from(*cell))
}

/// How many of the first words are not above a limit; only some of them count.
#[inline(always)]
fn reached(words: &[u16; AT_ONCE], count: usize, limit: u16) -> usize {
    // What is left above the limit is nothing.
    let left = u16x8::new(*words).saturating_sub(u16x8::new([limit; 8]));
    let bits = left.simd_eq(u16x8::ZERO).to_bitmask();
    (bits & ((1 << count) - 1)).trailing_ones() as usize
}

/// The first level of IPv6 has this many places.
const PLACES6: usize = 1 << 16;

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
        let shift = used.saturating_sub(PLACES6.ilog2());
        let (starts, cells): (Vec<u128>, Vec<u32>) = all.into_iter().unzip();
        let mut upper = Vec::with_capacity(PLACES6 + 1);
        let mut at = 0usize;
        for place in 0..=PLACES6 as u128 {
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
            Some(place) if place < PLACES6 => {
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn one(index: &Index4, address: u32) -> u32 {
        let mut cells = [0];
        index.find(&[address], &mut cells);
        cells[0]
    }
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
            assert_eq!([0, 0x8000_0000, u32::MAX].map(|address| one(&index, address)), wanted, "{ranges:?}");
        }
        // More cells than the narrow words can name.
        let many: Vec<(Range, u32)> = (0..70_000u32)
            .map(|n| (Range::from_bits(Family::V4, (n * 7).into(), (n * 7 + 4).into()).unwrap(), n + 1))
            .collect();
        let index = Index4::new(&many, 0);
        assert!(matches!(index.words, Words::Wide(_)));
        assert_eq!(
            [0, 4, 5, 489_993, 489_997, 489_998].map(|a| one(&index, a)),
            [1, 1, 0, 70_000, 70_000, 0]
        );
        let index = Index6::new(&[("::/1".parse().unwrap(), 0), ("ffff::/16".parse().unwrap(), 1)], 9);
        assert_eq!([0, 1 << 127, u128::MAX].map(|address| index.find(address)), [0, 9, 1]);
        assert_eq!(Index6::new(&[], 9).find(u128::MAX), 9);
    }

    proptest! {
        // Each case has the whole first level of IPv4.
        #![proptest_config(ProptestConfig::with_cases(32))]

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
                        Family::V4 => one(&four, bits as u32),
                        Family::V6 => six.find(bits),
                    };
                    prop_assert_eq!(found, slow, "{}", address);
                }
            }
        }
    }
}
