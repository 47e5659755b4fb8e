//! Which of many ranges, that may overlap each other, overlap a given one.

use crate::address::{Family, Range};

/// Ranges of both families with a value each, sorted once.
#[derive(Clone, Debug)]
pub(super) struct Overlaps<T> {
    sorted: Vec<(Range, T)>,
    /// By place: the last address that anything of the family up to here reaches.
    reach: Vec<u128>,
}

impl<T> Overlaps<T> {
    pub(super) fn new(mut sorted: Vec<(Range, T)>) -> Self {
        sorted.sort_by_key(|(range, _)| *range);
        let mut reached: Option<(Family, u128)> = None;
        let reach = sorted.iter().map(|(range, _)| {
            let before = reached.filter(|(family, _)| *family == range.family()).map_or(0, |(_, last)| last);
            let last = range.last_bits().max(before);
            reached = Some((range.family(), last));
            last
        });
        let reach = reach.collect();
        Self { sorted, reach }
    }

    /// What overlaps a range: the common part and the value, the nearest to its end first.
    pub(super) fn of(&self, range: Range) -> impl Iterator<Item = (Range, &T)> {
        let to = self
            .sorted
            .partition_point(|(r, _)| (r.family(), r.first_bits()) <= (range.family(), range.last_bits()));
        let places = self.sorted.iter().zip(&self.reach).take(to).rev();
        places
            .take_while(move |((r, _), reach)| r.family() == range.family() && **reach >= range.first_bits())
            .filter_map(move |((r, value), _)| r.intersection(range).map(|common| (common, value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn ranges() -> impl Strategy<Value = Vec<Range>> {
        let one = (any::<bool>(), 0u128..60, 0u128..20).prop_map(|(v4, first, span)| {
            let family = if v4 { Family::V4 } else { Family::V6 };
            Range::from_bits(family, first, first + span).unwrap()
        });
        vec(one, 0..20)
    }

    proptest! {
        #[test]
        fn equals_looking_at_each(ranges in ranges(), probes in ranges()) {
            let index = Overlaps::new(ranges.iter().copied().zip(0usize..).collect());
            for probe in probes {
                let mut found: Vec<_> = index.of(probe).map(|(common, place)| (*place, common)).collect();
                found.sort_unstable();
                let slow: Vec<_> = ranges
                    .iter()
                    .enumerate()
                    .filter_map(|(place, range)| Some((place, range.intersection(probe)?)))
                    .collect();
                prop_assert_eq!(found, slow);
            }
        }
    }
}
