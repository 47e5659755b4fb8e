//! Which cell an address lies in: the space of a family cut at sorted starts, with a first
//! level over the upper bits of what the stretches reach over.
//!
//! Nothing but these two arrays is touched by a search, and gaps are stretches like others,
//! so that no end has to be compared.

use wide::u16x8;

use crate::address::{Family, Range, filled};

/// How many bits of an address are left below its place: few, so that a place has few
/// stretches even where pools are small.
const BELOW: u32 = 12;

/// So many stretches of a place are compared with at once, however many there are: a loop
/// over them would have to be foreseen, which costs more than it does.
const AT_ONCE: usize = 8;

/// Ranges of a family in order, disjoint, each with the number of its cell.
pub(super) trait Stretches:
    DoubleEndedIterator<Item = (Range, u32)> + ExactSizeIterator + Clone
{
}

impl<I: DoubleEndedIterator<Item = (Range, u32)> + ExactSizeIterator + Clone> Stretches for I {}

/// The cells of IPv4.
#[derive(Debug)]
pub(super) struct Index4 {
    /// The place of the first stretch, by the upper bits.
    base: u32,
    /// How many places there are from there to the last stretch: at most a million, in 4 MiB.
    places: u32,
    /// By place, and behind the last one for all addresses before and behind them: where in
    /// the words its stretches are. They are the lower bits of the starts within the place,
    /// then the cells: one more, that of the place's first address. Places without a start
    /// that follow each other have one word in common.
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
    /// Stretches of IPv4; what is in none gets the cell `gap`.
    pub(super) fn new(stretches: impl Stretches, gap: u32) -> Self {
        let of = |address: u128| (address as u32) >> BELOW;
        let base = stretches.clone().next().map_or(0, |(first, _)| of(first.first_bits()));
        let places = stretches.clone().next_back().map_or(0, |(last, _)| of(last.last_bits()) + 1 - base);
        let limit = stretches.clone().map(|(_, cell)| cell).fold(gap, u32::max);
        let span = Span { base, places, stretches: stretches.len(), gap };
        let all = filled(Family::V4, stretches, gap).map(|(start, cell)| (start as u32, cell));
        let (upper, words) = match limit <= u32::from(u16::MAX) {
            true => {
                let (upper, words) = span.words(all, |word| word as u16);
                (upper, Words::Narrow(words))
            }
            false => {
                let (upper, words) = span.words(all, |word| word);
                (upper, Words::Wide(words))
            }
        };
        Self { base, places, upper, words }
    }

    /// The cells of addresses, one each. No look-up waits for the one before it, so that
    /// memory answers many of them in the time of one.
    #[inline(always)]
    pub(super) fn find(&self, addresses: &[u32], cells: &mut [u32]) {
        let of = cells.iter_mut().zip(addresses);
        match &self.words {
            Words::Narrow(words) => of.for_each(|(cell, address)| {
                *cell = self.narrow(words, *address).map_or(0, u32::from);
            }),
            Words::Wide(words) => of.for_each(|(cell, address)| {
                *cell = self.wide(words, *address).unwrap_or(0);
            }),
        }
    }

    /// Where the words of an address's place begin, and how many of them are starts.
    #[inline(always)]
    fn place(&self, address: u32) -> Option<(usize, usize)> {
        let place = (address >> BELOW).wrapping_sub(self.base).min(self.places);
        let [from, to] = self.upper.get(place as usize..)?.first_chunk::<2>()?;
        Some((*from as usize, (to - from) as usize / 2))
    }

    /// The cell of an address.
    #[inline(always)]
    fn narrow(&self, words: &[u16], address: u32) -> Option<u16> {
        let (from, starts) = self.place(address)?;
        let (words, low) = (words.get(from..)?, (address & LOWER) as u16);
        let behind = match words.first_chunk::<AT_ONCE>()? {
            first if starts <= AT_ONCE => reached(first, starts, low),
            _ => words.get(..starts)?.partition_point(|start| *start <= low),
        };
        words.get(starts + behind).copied()
    }

    /// The same where cells have large numbers.
    #[inline(always)]
    fn wide(&self, words: &[u32], address: u32) -> Option<u32> {
        let (from, starts) = self.place(address)?;
        let words = words.get(from..)?;
        let behind = words.get(..starts)?.partition_point(|start| *start <= address & LOWER);
        words.get(starts + behind).copied()
    }
}

/// The lower bits of an address.
const LOWER: u32 = (1 << BELOW) - 1;

/// What the first level reaches over.
#[derive(Clone, Copy)]
struct Span {
    base: u32,
    places: u32,
    stretches: usize,
    /// The cell of what is outside.
    gap: u32,
}

impl Span {
    /// The places of the first level, and their words, of cells that fill the space.
    fn words<T: Clone + Default>(
        self,
        filled: impl Iterator<Item = (u32, u32)>,
        word: impl Fn(u32) -> T,
    ) -> (Vec<u32>, Vec<T>) {
        let Self { base, places, stretches, gap } = self;
        let mut upper = Vec::with_capacity(places as usize + 2);
        // A stretch has two starts, a place two words beside those of its starts. What is not
        // needed of it is never touched.
        let room = 4 * stretches + 2 * places as usize + 4 + AT_ONCE;
        let mut words: Vec<T> = Vec::with_capacity(room);
        let (mut rest, mut cells) = (filled.peekable(), Vec::new());
        let mut cell = gap;
        // What begins before the first place is the gap.
        while rest.next_if(|(start, _)| start >> BELOW < base).is_some() {}
        loop {
            // Most places have no start, and the cell of the one before.
            let next = rest.peek().map_or(places, |(start, _)| ((start >> BELOW) - base).min(places));
            if upper.len() < next as usize {
                upper.resize(next as usize, words.len() as u32);
                words.push(word(cell));
            }
            if next == places {
                break;
            }
            let begin = base + next;
            upper.push(words.len() as u32);
            if let Some((_, first)) = rest.next_if(|(start, _)| *start == begin << BELOW) {
                cell = first;
            }
            cells.push(word(cell));
            while let Some((start, within)) = rest.next_if(|(start, _)| start >> BELOW == begin) {
                words.push(word(start & LOWER));
                cells.push(word(within));
                cell = within;
            }
            words.append(&mut cells);
        }
        upper.push(words.len() as u32);
        words.push(word(gap));
        upper.push(words.len() as u32);
        // As many as are looked at behind the last place.
        words.resize(words.len() + AT_ONCE, T::default());
        (upper, words)
    }
}

/// How many of the first words are not above a limit; only some of them count.
#[inline(always)]
fn reached(words: &[u16; AT_ONCE], count: usize, limit: u16) -> usize {
    // What is left above the limit is nothing.
    let left = u16x8::new(*words).saturating_sub(u16x8::new([limit; 8]));
    let bits = left.simd_eq(u16x8::ZERO).to_bitmask();
    (bits & ((1 << count) - 1)).trailing_ones() as usize
}

/// The first level of IPv6 has at most this many places.
const PLACES6: usize = 1 << 16;

/// The cells of IPv6. The places of the first level are dealt over what the stretches reach
/// over, for all that is in use begins with the same few bits.
#[derive(Debug)]
pub(super) struct Index6 {
    starts: Vec<u128>,
    cells: Vec<u32>,
    /// By place, and once more for the end of the last: the cell of its first address.
    upper: Vec<u32>,
    first: u128,
    shift: u32,
}

impl Index6 {
    /// Stretches of IPv6; what is in none gets the cell `gap`.
    pub(super) fn new(stretches: impl Stretches, gap: u32) -> Self {
        let first = stretches.clone().next().map_or(0, |(range, _)| range.first_bits());
        let last = stretches.clone().next_back().map_or(0, |(range, _)| range.last_bits());
        let room = 2 * stretches.len() + 1;
        let (mut starts, mut cells) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for (start, cell) in filled(Family::V6, stretches, gap) {
            starts.push(start);
            cells.push(cell);
        }
        // Of one place alone the shift would be the width of an address.
        let places = starts.len().next_power_of_two().clamp(2, PLACES6);
        let used = u128::BITS - (last - first).leading_zeros();
        let shift = used.saturating_sub(places.ilog2());
        let mut upper = Vec::with_capacity(places + 1);
        let mut at = 0usize;
        for place in 0..=places as u128 {
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
        let place = place.and_then(|place| usize::try_from(place).ok());
        let (from, to) = match place.and_then(|place| self.upper.get(place..)?.first_chunk::<2>()) {
            Some([from, to]) => (*from as usize, *to as usize),
            None => (0, self.starts.len().saturating_sub(1)),
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

    use crate::address::RangeSet;

    fn one(index: &Index4, address: u32) -> u32 {
        let mut cells = [0];
        index.find(&[address], &mut cells);
        cells[0]
    }

    /// Ranges with numbers from 0.
    fn numbered(ranges: &[&str]) -> Vec<(Range, u32)> {
        ranges.iter().zip(0..).map(|(range, number)| (range.parse().unwrap(), number)).collect()
    }

    fn four(ranges: &[&str]) -> Index4 {
        Index4::new(numbered(ranges).iter().copied(), 9)
    }

    fn six(ranges: &[&str]) -> Index6 {
        Index6::new(numbered(ranges).iter().copied(), 9)
    }

    #[test]
    fn what_is_outside_of_all_places_is_in_the_gap() {
        // A place has 4,096 addresses: the two of the second index begin and end within theirs.
        for (ranges, places) in [
            (vec!["10.0.0.0/20"], 1),
            (vec!["10.0.0.7-10.0.16.0"], 2),
            (vec!["0.0.0.0/20", "255.255.255.255-255.255.255.255"], 1 << 20),
            (vec![], 0),
        ] {
            let index = four(&ranges);
            assert_eq!((index.places, index.upper.len()), (places, places as usize + 2), "{ranges:?}");
            for (range, number) in numbered(&ranges) {
                let (first, last) = (range.first_bits() as u32, range.last_bits() as u32);
                let asked = [first, last, first.saturating_sub(1), last.saturating_add(1)];
                let wanted = [
                    number,
                    number,
                    if first == 0 { number } else { 9 },
                    if last == u32::MAX { number } else { 9 },
                ];
                assert_eq!(asked.map(|address| one(&index, address)), wanted, "{range}");
            }
            for far in [0x4000_0000, 0x8000_0000, 0x0a10_0000, 0x09ff_0000] {
                assert_eq!(one(&index, far), 9, "{ranges:?}");
            }
        }
    }

    #[test]
    fn places_without_a_start_have_one_word_in_common() {
        let index = four(&["10.0.0.0/20", "11.0.0.0/20"]);
        // 4,097 places. The first has its own word, so have the second, where the gap starts, and
        // the last; those between have one, and one is for what is outside.
        let words = match &index.words {
            Words::Narrow(words) => words.len(),
            Words::Wide(words) => words.len(),
        };
        assert_eq!((index.places, words), (4097, 5 + AT_ONCE));
        let asked = [0x0a00_0000, 0x0a00_0fff, 0x0a00_1000, 0x0aff_ffff, 0x0b00_0000, 0x0b00_1000];
        assert_eq!(asked.map(|address| one(&index, address)), [0, 0, 9, 9, 1, 9]);
    }

    #[test]
    fn one_stretch_may_be_the_whole_space() {
        let index = four(&["0.0.0.0/0"]);
        assert_eq!([0, 1 << 31, u32::MAX].map(|address| one(&index, address)), [0; 3]);
        let index = six(&["::/0"]);
        assert_eq!([0, 1 << 127, u128::MAX].map(|address| index.find(address)), [0; 3]);
    }

    #[test]
    fn the_ends_of_the_space_have_cells() {
        for (ranges, wanted) in [
            (vec![], [9, 9, 9]),
            (vec!["0.0.0.0/1"], [0, 9, 9]),
            (vec!["0.0.0.0-0.0.0.0", "0.0.0.5-255.255.255.255"], [0, 1, 1]),
        ] {
            let index = four(&ranges);
            assert_eq!([0, 0x8000_0000, u32::MAX].map(|address| one(&index, address)), wanted, "{ranges:?}");
        }
        // More cells than the narrow words can name.
        let many: Vec<(Range, u32)> = (0..70_000u32)
            .map(|n| (Range::from_bits(Family::V4, (n * 7).into(), (n * 7 + 4).into()).unwrap(), n + 1))
            .collect();
        let index = Index4::new(many.iter().copied(), 0);
        assert!(matches!(index.words, Words::Wide(_)));
        assert_eq!(
            [0, 4, 5, 489_993, 489_997, 489_998].map(|a| one(&index, a)),
            [1, 1, 0, 70_000, 70_000, 0]
        );
        let index = six(&["::/1", "ffff::/16"]);
        assert_eq!([0, 1 << 127, u128::MAX].map(|address| index.find(address)), [0, 9, 1]);
        assert_eq!(six(&[]).find(u128::MAX), 9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn equals_the_slow_search(
            parts in vec((any::<u32>(), 0u32..200_000), 0..200),
            near in vec((any::<u16>(), 0u32..300), 0..40),
            // How far all of it lies together, and where.
            (narrow, from) in (0u32..32, any::<u32>()),
            probes in vec(any::<u32>(), 50),
        ) {
            for family in Family::ALL {
                let spread = |n: u32| if family == Family::V4 { n.into() } else { (0x2001 << 112) + (u128::from(n) << 70) };
                let parts = parts.iter().copied().chain(near.iter().map(|(n, span)| (0x0a00_0000 | u32::from(*n), *span)));
                let set: RangeSet = parts
                    .map(|(n, span)| (from.saturating_add(n >> narrow), span >> (narrow / 2)))
                    .filter_map(|(n, span)| Range::from_bits(family, spread(n), spread(n.saturating_add(span))))
                    .collect();
                // Neighbours may have one number.
                let stretches: Vec<(Range, u32)> = set.iter().copied().zip((1..=3).cycle()).collect();
                let (of, none) = (stretches.iter().copied(), [].into_iter());
                let (four, six) = match family {
                    Family::V4 => (Index4::new(of.clone(), 0), Index6::new(none, 0)),
                    Family::V6 => (Index4::new(none, 0), Index6::new(of, 0)),
                };
                let ends = stretches.iter().flat_map(|(r, _)| {
                    let (first, last) = (r.first_bits(), r.last_bits());
                    let place = 1 << BELOW;
                    let around = [first.saturating_sub(1), first, last, last.saturating_add(1)];
                    around.into_iter().chain([first.saturating_sub(place), last.saturating_add(place)])
                });
                let near = probes.iter().map(|n| spread(from.saturating_add(*n >> narrow)));
                for bits in ends.chain(near).chain(probes.iter().map(|n| spread(*n))) {
                    let bits = bits.min(family.max());
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
