//! Two lists of disjoint ranges laid over each other.

use crate::address::Range;

/// Calls `each` for every stretch of addresses that is in one of the lists, in order, with
/// what the lists say of it. Both are sorted and disjoint; the work is linear.
pub(super) fn overlay<A: Copy, B: Copy>(
    a: impl Iterator<Item = (Range, A)>,
    b: impl Iterator<Item = (Range, B)>,
    mut each: impl FnMut(Range, Option<A>, Option<B>),
) {
    let (mut a, mut b) = (Side::new(a), Side::new(b));
    loop {
        match (a.now, b.now) {
            (None, None) => return,
            (Some((range, value)), None) => {
                each(range, Some(value), None);
                a.pass(range);
            }
            (None, Some((range, value))) => {
                each(range, None, Some(value));
                b.pass(range);
            }
            (Some((left, x)), Some((right, y))) => {
                let (ahead, behind) = (before(left, right), before(right, left));
                if let Some(alone) = ahead {
                    each(alone, Some(x), None);
                    a.pass(alone);
                } else if let Some(alone) = behind {
                    each(alone, None, Some(y));
                    b.pass(alone);
                } else if let Some(both) = left.intersection(right) {
                    each(both, Some(x), Some(y));
                    a.pass(both);
                    b.pass(both);
                } else {
                    // Both begin at one address, so they have something in common.
                    return;
                }
            }
        }
    }
}

/// The part of a range that lies before another begins.
fn before(range: Range, other: Range) -> Option<Range> {
    if range.family() != other.family() {
        return (range.family() < other.family()).then_some(range);
    }
    let last = range.last_bits().min(other.first_bits().checked_sub(1)?);
    Range::from_bits(range.family(), range.first_bits(), last)
}

struct Side<I, T> {
    rest: I,
    now: Option<(Range, T)>,
}

impl<T: Copy, I: Iterator<Item = (Range, T)>> Side<I, T> {
    fn new(mut rest: I) -> Self {
        let now = rest.next();
        Self { rest, now }
    }

    /// Goes on behind a part of what is before it.
    fn pass(&mut self, part: Range) {
        let Some((range, value)) = self.now else { return };
        let behind = part.last_bits().checked_add(1);
        self.now = behind
            .and_then(|first| Range::from_bits(range.family(), first, range.last_bits()))
            .map(|left| (left, value))
            .or_else(|| self.rest.next());
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::address::{Family, RangeSet};

    fn list(parts: &[(bool, u8, u8)]) -> Vec<(Range, usize)> {
        let range = |(v6, first, span): &(bool, u8, u8)| {
            let (family, top) = if *v6 { (Family::V6, u128::MAX) } else { (Family::V4, u32::MAX.into()) };
            let first = if first % 2 == 0 { u128::from(*first) } else { top - u128::from(*first) };
            Range::from_bits(family, first, first.saturating_add((*span).into()).min(top))
        };
        parts
            .iter()
            .filter_map(range)
            .collect::<RangeSet>()
            .into_iter()
            .enumerate()
            .map(|(i, r)| (r, i))
            .collect()
    }

    proptest! {
        #[test]
        fn equals_asking_both_lists(
            a in vec((any::<bool>(), any::<u8>(), 0u8..30), 0..10),
            b in vec((any::<bool>(), any::<u8>(), 0u8..30), 0..10),
        ) {
            let (a, b) = (list(&a), list(&b));
            let mut stretches = Vec::new();
            overlay(a.iter().copied(), b.iter().copied(), |range, x, y| stretches.push((range, x, y)));
            for pair in stretches.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].0.intersection(pair[1].0).is_none());
            }
            let of = |list: &[(Range, usize)], address| {
                list.iter().find(|(range, _)| range.contains(address)).map(|(_, value)| *value)
            };
            for (range, x, y) in &stretches {
                prop_assert!(x.is_some() || y.is_some());
                for address in [range.first(), range.last()] {
                    prop_assert_eq!((of(&a, address), of(&b, address)), (*x, *y));
                }
            }
            let all: RangeSet = stretches.iter().map(|s| s.0).collect();
            prop_assert_eq!(all, a.iter().chain(&b).map(|(range, _)| *range).collect());
        }
    }
}
