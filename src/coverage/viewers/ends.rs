//! Where the lines of a text end, many at a time.

use wide::u8x16;

/// How much text is looked at together.
pub(super) const STRIP: usize = 4096;

/// How many ends are written for each block, whether it has so many or not: what follows
/// overwrites the rest. Lines of eight octets and more need no second look.
const AT_ONCE: usize = 8;

/// The ends of one strip's lines.
pub(super) struct Ends {
    places: Box<[u32; STRIP + AT_ONCE]>,
}

impl Ends {
    pub(super) fn new() -> Self {
        Self { places: Box::new([0; STRIP + AT_ONCE]) }
    }

    /// Where in a strip its line ends are.
    #[inline(always)]
    pub(super) fn of(&mut self, strip: &[u8]) -> &[u32] {
        let mut count = 0;
        let (blocks, rest) = strip.as_chunks::<64>();
        for (at, block) in (0u32..).zip(blocks) {
            count = self.take(count, at * 64, bits(block));
        }
        if !rest.is_empty() {
            let mut block = [0; 64];
            block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            count = self.take(count, blocks.len() as u32 * 64, bits(&block));
        }
        self.places.get(..count).unwrap_or_default()
    }

    /// Takes the ends of a block up; gives how many there are by now.
    #[inline(always)]
    fn take(&mut self, count: usize, base: u32, mut bits: u64) -> usize {
        let behind = count + bits.count_ones() as usize;
        let mut at = count;
        loop {
            let Some(places) =
                self.places.get_mut(at..).and_then(|places| places.first_chunk_mut::<AT_ONCE>())
            else {
                return behind;
            };
            for place in places {
                *place = base + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            at += AT_ONCE;
            if at >= behind {
                return behind;
            }
        }
    }
}

/// Which octets of a block are line ends, the first in the lowest bit.
#[inline(always)]
fn bits(block: &[u8; 64]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    let mut bits = 0;
    for (at, quarter) in quarters.iter().enumerate() {
        let ends = u8x16::new(*quarter).simd_eq(u8x16::new([b'\n'; 16])).to_bitmask();
        bits |= u64::from(ends) << (16 * at);
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn slow(strip: &[u8]) -> Vec<u32> {
        (0u32..).zip(strip).filter(|(_, octet)| **octet == b'\n').map(|(at, _)| at).collect()
    }

    #[test]
    fn strips_full_of_ends_and_without_any() {
        for strip in [vec![b'\n'; STRIP], vec![b'x'; STRIP], vec![b'\n'; 65], vec![]] {
            assert_eq!(Ends::new().of(&strip), slow(&strip));
        }
    }

    proptest! {
        #[test]
        fn equals_the_slow_way(
            strip in vec(prop_oneof![3 => Just(b'x'), 1 => Just(b'\n'), 1 => any::<u8>()], 0..400),
            before in vec(Just(b'\n'), 0..200),
        ) {
            let mut ends = Ends::new();
            // What was there before must not be seen.
            ends.of(&before);
            prop_assert_eq!(ends.of(&strip), slow(&strip));
        }
    }
}
