//! Carrying what is known of addresses from one poll to the next.

use std::collections::BTreeMap;

use crate::address::{Range, RangeSet};
use crate::table::Name;

/// What is known of addresses: sorted by space and range, disjoint.
pub(super) type Known<T> = Vec<(Name, Range, T)>;

/// What is known of the addresses in `now`: what `old` said of them, moved on by `step`, and
/// `fresh` where it said nothing. Of other addresses nothing is known any more.
pub(super) fn carry<T: Copy + PartialEq>(
    now: &BTreeMap<Name, RangeSet>,
    old: &Known<T>,
    step: impl Fn(T) -> T,
    fresh: T,
) -> Known<T> {
    let mut known = Known::new();
    for (space, set) in now {
        for range in set {
            let mut pieces: Vec<(Range, T)> =
                overlapping(old, space, *range).map(|(piece, value)| (piece, step(value))).collect();
            let told: RangeSet = pieces.iter().map(|(piece, _)| *piece).collect();
            pieces.extend(told.gaps(*range).iter().map(|gap| (*gap, fresh)));
            pieces.sort_unstable_by_key(|(piece, _)| *piece);
            pieces.into_iter().for_each(|(piece, value)| push(&mut known, space, piece, value));
        }
    }
    known
}

fn overlapping<'a, T: Copy>(
    known: &'a Known<T>,
    space: &Name,
    range: Range,
) -> impl Iterator<Item = (Range, T)> + use<'a, T> {
    let wanted = (space, range.family(), range.first_bits());
    let from = known.partition_point(|(space, told, _)| (space, told.family(), told.last_bits()) < wanted);
    let space = space.clone();
    known.iter().skip(from).map_while(move |(of, told, value)| {
        told.intersection(range).filter(|_| *of == space).map(|piece| (piece, *value))
    })
}

/// Appends, merging neighbours of one value.
fn push<T: PartialEq>(known: &mut Known<T>, space: &Name, piece: Range, value: T) {
    if let Some((of, last, told)) = known.last_mut()
        && of == space
        && last.touches(piece)
        && *told == value
        && let Some(joined) = Range::from_bits(piece.family(), last.first_bits(), piece.last_bits())
    {
        *last = joined;
    } else {
        known.push((space.clone(), piece, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaced(ranges: &[&str]) -> BTreeMap<Name, RangeSet> {
        [("internet".into(), ranges.iter().map(|r| r.parse::<Range>().unwrap()).collect())].into()
    }

    fn told(known: &Known<u32>) -> Vec<String> {
        known.iter().map(|(_, range, value)| format!("{range} {value}")).collect()
    }

    #[test]
    fn what_was_known_is_moved_on_and_the_rest_is_new() {
        let old = carry(&spaced(&["10.0.0.0-10.0.0.9", "10.0.0.20-10.0.0.29"]), &Known::new(), |v| v, 1u32);
        assert_eq!(told(&old), ["10.0.0.0-10.0.0.9 1", "10.0.0.20-10.0.0.29 1"]);
        // 5-24 keeps both ends' values, the middle is new; 40 is new; 0-4 and 25-29 are forgotten.
        let new = carry(&spaced(&["10.0.0.5-10.0.0.24", "10.0.0.40"]), &old, |v| v + 1, 9);
        assert_eq!(
            told(&new),
            [
                "10.0.0.5-10.0.0.9 2",
                "10.0.0.10-10.0.0.19 9",
                "10.0.0.20-10.0.0.24 2",
                "10.0.0.40-10.0.0.40 9"
            ]
        );
    }

    #[test]
    fn one_old_range_may_reach_into_two_new_ones_and_neighbours_merge() {
        let old = carry(&spaced(&["10.0.0.0/24", "::/64"]), &Known::new(), |v| v, 1u32);
        let split = carry(&spaced(&["10.0.0.0/26", "10.0.0.128/26", "::5"]), &old, |v| v, 2);
        assert_eq!(told(&split), ["10.0.0.0-10.0.0.63 1", "10.0.0.128-10.0.0.191 1", "::5-::5 1"]);
        let merged = carry(&spaced(&["10.0.0.0/24"]), &split, |_| 7, 7);
        assert_eq!(told(&merged), ["10.0.0.0-10.0.0.255 7"]);
    }

    #[test]
    fn spaces_are_apart() {
        let old = carry(&spaced(&["10.0.0.0/24"]), &Known::new(), |v| v, 1u32);
        let other = [("iptv".into(), RangeSet::from("10.0.0.0/24".parse::<Range>().unwrap()))].into();
        assert_eq!(told(&carry(&other, &old, |v| v, 2)), ["10.0.0.0-10.0.0.255 2"]);
    }
}
