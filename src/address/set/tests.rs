//! The set against hand-worked values and against plain bit masks.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn set(texts: &[&str]) -> RangeSet {
    texts.iter().map(|text| text.parse::<Range>().unwrap()).collect()
}

#[test]
fn touching_and_overlapping_ranges_are_one() {
    let merged = set(&["10.0.0.128/25", "10.0.0.0/25", "10.0.1.0-10.0.1.9", "10.0.1.5-10.0.1.20"]);
    assert_eq!(merged, set(&["10.0.0.0-10.0.1.20"]));
    assert_eq!(merged.ranges().len(), 1);
}

#[test]
fn the_families_never_touch() {
    let both = set(&["255.255.255.255", "::"]);
    assert_eq!(both.ranges().len(), 2);
    assert_eq!(both.of_family(Family::V6), set(&["::"]));
    assert_eq!(both.of_family(Family::V4), set(&["255.255.255.255"]));
}

#[test]
fn both_ends_of_the_space_can_be_cut() {
    let all = RangeSet::from(Range::all(Family::V6));
    let top = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let cut = all.subtract(&set(&["::", top]));
    assert_eq!(cut, set(&["::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"]));
    assert!(all.subtract(&all).is_empty());
    let whole = set(&["0.0.0.0/0"]);
    assert_eq!(whole.subtract(&set(&["255.255.255.255"])), set(&["0.0.0.0-255.255.255.254"]));
}

#[test]
fn units_count_addresses_and_distinct_64s() {
    assert_eq!(set(&["192.0.2.0/24", "192.0.3.8"]).units(), 257);
    // Three ranges in one /64, then one that begins in the next: two /64s.
    let within = ["2001:db8::1-2001:db8::9", "2001:db8::20", "2001:db8::ff:0:0-2001:db8:0:1::5"];
    assert_eq!(set(&within).units(), 2);
    assert_eq!(RangeSet::from(Range::all(Family::V6)).units(), u64::MAX);
    assert_eq!(RangeSet::new().units(), 0);
}

#[test]
fn a_hundred_thousand_ranges_take_no_time() {
    let numbers = (0..100_000u128).map(|i| (i * 48_271) % 100_003 * 4);
    let big: RangeSet = numbers.filter_map(|n| Range::from_bits(Family::V6, n, n + 1)).collect();
    assert_eq!(big.ranges().len(), 100_000);
    assert_eq!(big.subtract(&big), RangeSet::new());
    assert_eq!(big.union(&big), big);
}

/// The addresses 0..64 of IPv4 and IPv6, a bit each.
fn mask(set: &RangeSet) -> (u64, u64) {
    let bits = |family: Family| {
        (0..64u32)
            .filter(|&n| set.contains(family.address(n.into())))
            .fold(0u64, |mask, n| mask | (1u64 << n))
    };
    (bits(Family::V4), bits(Family::V6))
}

fn ranges() -> impl Strategy<Value = Vec<Range>> {
    let one = (any::<bool>(), 0u128..64, 0u128..12).prop_map(|(v4, first, span)| {
        let family = if v4 { Family::V4 } else { Family::V6 };
        Range::from_bits(family, first, (first + span).min(63)).unwrap()
    });
    vec(one, 0..12)
}

fn slow_mask(ranges: &[Range]) -> (u64, u64) {
    let bits = |family: Family| {
        (0..64u32)
            .filter(|&n| ranges.iter().any(|r| r.contains(family.address(n.into()))))
            .fold(0u64, |mask, n| mask | (1u64 << n))
    };
    (bits(Family::V4), bits(Family::V6))
}

fn is_canonical(set: &RangeSet) -> bool {
    set.ranges().windows(2).all(|w| w[0] < w[1] && w[0].intersection(w[1]).is_none() && !w[0].touches(w[1]))
}

proptest! {
    #[test]
    fn operations_equal_those_on_bits(left in ranges(), right in ranges()) {
        let (a, b): (RangeSet, RangeSet) = (left.iter().copied().collect(), right.iter().copied().collect());
        let ((a4, a6), (b4, b6)) = (slow_mask(&left), slow_mask(&right));
        prop_assert_eq!(mask(&a), (a4, a6));
        for (made, wanted) in [
            (a.union(&b), (a4 | b4, a6 | b6)),
            (a.intersect(&b), (a4 & b4, a6 & b6)),
            (a.subtract(&b), (a4 & !b4, a6 & !b6)),
        ] {
            prop_assert!(is_canonical(&made), "{made:?}");
            prop_assert_eq!(mask(&made), wanted);
        }
        for range in &right {
            let single = RangeSet::from(*range);
            prop_assert_eq!(a.covers(*range), single.subtract(&a).is_empty());
            prop_assert_eq!(a.overlaps(*range), !single.intersect(&a).is_empty());
            prop_assert_eq!(a.within(*range).collect::<RangeSet>(), single.intersect(&a));
            prop_assert_eq!(a.gaps(*range), single.subtract(&a));
        }
    }

    #[test]
    fn inserting_one_by_one_equals_collecting(list in ranges()) {
        let mut grown = RangeSet::new();
        list.iter().for_each(|range| grown.insert(*range));
        prop_assert_eq!(&grown, &list.iter().copied().collect::<RangeSet>());
        let mut extended = RangeSet::new();
        list.chunks(3).for_each(|some| extended.extend(some.iter().copied()));
        prop_assert_eq!(extended, grown);
    }
}
