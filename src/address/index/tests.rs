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
    let index = Index6::new(&[("::5".parse().unwrap(), 0), ("ffff::7".parse().unwrap(), 1)], 9);
    let probes = [4, 5, 6, (0xffff << 112) + 6, (0xffff << 112) + 7, u128::MAX];
    assert_eq!(probes.map(|address| index.find(address)), [9, 0, 9, 9, 1, 9]);
}

#[test]
fn clusters_far_apart_are_divided_until_they_are_few() {
    // A thousand single addresses, every other one, in each of three far corners.
    let corners = [0x0100_0000u128, 0x6440_0000, 0xdfff_f000];
    let ranges = corners.iter().flat_map(|corner| (0..1000).map(move |i| corner + 2 * i));
    let stretches: Vec<(Range, u32)> =
        ranges.zip(1..).filter_map(|(at, i)| Some((Range::from_bits(Family::V4, at, at)?, i))).collect();
    let index = Index4::new(&stretches, 0);
    assert!(index.0.nodes.len() > 3, "not divided");
    for (range, number) in &stretches {
        let at = range.first_bits() as u32;
        assert_eq!([index.find(at - 1), index.find(at), index.find(at + 1)], [0, *number, 0]);
    }
    assert!(index.size() <= 64 * stretches.len(), "{}", index.size());
}

#[test]
fn doubling_distances_end_in_a_search_and_not_in_ever_more_slots() {
    // Whatever is divided, half of the cells lie in the first slot.
    let stretches: Vec<(Range, u32)> =
        (3..128).filter_map(|bit| Some((Range::from_bits(Family::V6, 1 << bit, 1 << bit)?, bit))).collect();
    let index = Index6::new(&stretches, 0);
    for bit in 3..128 {
        let at = 1u128 << bit;
        assert_eq!([index.find(at - 1), index.find(at), index.find(at + 1)], [0, bit, 0], "{bit}");
    }
}

fn check(family: Family, set: RangeSet, probes: impl Iterator<Item = u128>) -> Result<(), TestCaseError> {
    let stretches: Vec<(Range, u32)> = set.iter().copied().zip(1..).collect();
    let (four, six) = match family {
        Family::V4 => (Index4::new(&stretches, 0), Index6::new(&[], 0)),
        Family::V6 => (Index4::new(&[], 0), Index6::new(&stretches, 0)),
    };
    let ends = stretches.iter().flat_map(|(r, _)| {
        let behind = r.last_bits().saturating_add(1).min(family.max());
        [r.first_bits().saturating_sub(1), r.first_bits(), r.last_bits(), behind]
    });
    for bits in ends.chain(probes) {
        let address = family.address(bits);
        let slow = stretches.iter().find(|(range, _)| range.contains(address)).map_or(0, |(_, cell)| *cell);
        let found = match family {
            Family::V4 => four.find(bits as u32),
            Family::V6 => six.find(bits),
        };
        prop_assert_eq!(found, slow, "{}", address);
    }
    Ok(())
}

proptest! {
    #[test]
    fn equals_the_slow_search(
        parts in vec((any::<u32>(), 0u32..200_000), 0..200),
        near in vec((any::<u16>(), 0u32..300), 0..60),
        probes in vec(any::<u32>(), 50),
        deep in 60u32..90,
    ) {
        for family in Family::ALL {
            // Cut within a /64 or at its border, as `deep` has it.
            let spread = |n: u32| match family {
                Family::V4 => n.into(),
                Family::V6 => (0x2001 << 112) + (u128::from(n) << deep),
            };
            let last = |n: u32| match family {
                Family::V4 => n.into(),
                Family::V6 => spread(n) + ((1 << deep) - 1),
            };
            let near = near.iter().map(|(n, span)| (0x0a00_0000 | u32::from(*n), *span));
            let set: RangeSet = parts
                .iter()
                .copied()
                .chain(near)
                .filter_map(|(n, span)| Range::from_bits(family, spread(n), last(n.saturating_add(span))))
                .collect();
            check(family, set, probes.iter().map(|n| spread(*n)))?;
        }
    }
}
