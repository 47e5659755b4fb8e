//! The minimal list of prefixes that makes up a range.

use std::iter::FusedIterator;

use ipnet::IpNet;

use super::{Family, Range};

/// The prefixes of one range, in ascending order. See [`prefixes`].
#[derive(Clone, Debug)]
pub struct Prefixes {
    rest: Option<Range>,
}

/// The fewest prefixes that cover exactly the addresses of `range`: at most two per bit
/// of the family's width.
#[inline]
pub fn prefixes(range: Range) -> Prefixes {
    Prefixes { rest: Some(range) }
}

impl Iterator for Prefixes {
    type Item = IpNet;

    #[inline]
    fn next(&mut self) -> Option<IpNet> {
        let rest = self.rest?;
        let free = host_bits(rest);
        let last = rest.first_bits() | low_bits(free);
        self.rest =
            last.checked_add(1).and_then(|next| Range::from_bits(rest.family(), next, rest.last_bits()));
        Some(prefix(rest.family(), rest.first_bits(), free))
    }
}

impl FusedIterator for Prefixes {}

/// The host bits of the largest prefix that begins where the range does and stays in it.
fn host_bits(range: Range) -> u32 {
    let aligned = range.first_bits().trailing_zeros().min(u32::from(range.family().width()));
    let fits = match range.span().checked_add(1) {
        Some(count) => count.ilog2(),
        None => u128::BITS,
    };
    aligned.min(fits)
}

/// A number of `count` ones; a plain shift by the full width would overflow.
fn low_bits(count: u32) -> u128 {
    1u128.checked_shl(count).map_or(u128::MAX, |bit| bit - 1)
}

fn prefix(family: Family, first: u128, host_bits: u32) -> IpNet {
    let length = u32::from(family.width()) - host_bits;
    IpNet::new(family.address(first), length as u8).expect("host_bits() is at most the family's width")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(range: &str) -> Vec<String> {
        prefixes(range.parse().unwrap()).map(|net| net.to_string()).collect()
    }

    /// The obvious way: halve the whole space until a block lies in the range or outside it.
    fn slow(range: Range) -> Vec<IpNet> {
        fn descend(range: Range, block: IpNet, found: &mut Vec<IpNet>) {
            let of_block = Range::from(block);
            if range.covers(of_block) {
                found.push(block);
            } else if range.intersection(of_block).is_some() {
                block.subnets(block.prefix_len() + 1).unwrap().for_each(|half| descend(range, half, found));
            }
        }
        let mut found = Vec::new();
        descend(range, IpNet::new(range.family().address(0), 0).unwrap(), &mut found);
        found
    }

    #[test]
    fn a_pool_of_2560_addresses_is_five_prefixes() {
        assert_eq!(
            list("131.1.1.0-131.1.10.255"),
            ["131.1.1.0/24", "131.1.2.0/23", "131.1.4.0/22", "131.1.8.0/23", "131.1.10.0/24"]
        );
    }

    #[test]
    fn the_top_of_the_space_does_not_overflow() {
        assert_eq!(list("255.255.255.250-255.255.255.255"), ["255.255.255.250/31", "255.255.255.252/30"]);
        assert_eq!(list("255.255.255.255"), ["255.255.255.255/32"]);
        let top = "ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assert_eq!(list(&format!("{top}:fff0-{top}:ffff")), [format!("{top}:fff0/124")]);
        assert_eq!(list(&format!("{top}:ffff")), [format!("{top}:ffff/128")]);
    }

    #[test]
    fn the_whole_space_is_one_prefix_and_one_address_is_one() {
        assert_eq!(list("0.0.0.0-255.255.255.255"), ["0.0.0.0/0"]);
        assert_eq!(prefixes(Range::all(Family::V6)).map(|n| n.to_string()).collect::<Vec<_>>(), ["::/0"]);
        assert_eq!(list("198.51.100.7"), ["198.51.100.7/32"]);
        assert_eq!(list("0.0.0.0"), ["0.0.0.0/32"]);
        assert_eq!(list("::"), ["::/128"]);
    }

    #[test]
    fn both_ends_belong_to_the_range() {
        assert_eq!(list("198.18.0.0-198.18.1.255"), ["198.18.0.0/23"]);
        assert_eq!(list("203.0.113.250-203.0.113.255"), ["203.0.113.250/31", "203.0.113.252/30"]);
        let middle = list("192.0.2.1-192.0.2.254");
        assert_eq!(middle.len(), 14);
        assert_eq!(middle[0], "192.0.2.1/32");
        assert_eq!(middle[13], "192.0.2.254/32");
    }

    #[test]
    fn a_large_ipv6_range_takes_two_prefixes_a_bit_at_most() {
        // From ...::1 each of the 64 low bits gives one prefix (/128 .. /65), then 2001:db8:0:1::
        // itself; between them lie the /64 halves of nothing else.
        let nets = list("2001:db8::1-2001:db8:0:1::");
        assert_eq!(nets.len(), 65);
        assert_eq!(nets[0], "2001:db8::1/128");
        assert_eq!(nets[64], "2001:db8:0:1::/128");
        let widest = Range::from_bits(Family::V6, 1, u128::MAX - 1).unwrap();
        assert_eq!(prefixes(widest).count(), 254);
    }

    fn ranges() -> impl Strategy<Value = Range> {
        let bits = (any::<u128>(), 0u32..128).prop_map(|(number, shift)| number >> shift);
        let near = prop_oneof![bits.clone(), bits.prop_map(|number| u128::MAX - number)];
        (near.clone(), near, any::<bool>()).prop_map(|(a, b, v4)| {
            let (family, cut) = if v4 { (Family::V4, u128::from(u32::MAX)) } else { (Family::V6, u128::MAX) };
            let (a, b) = (a & cut, b & cut);
            Range::from_bits(family, a.min(b), a.max(b)).unwrap()
        })
    }

    proptest! {
        #[test]
        fn equals_the_slow_reference(range in ranges()) {
            let fast: Vec<_> = prefixes(range).collect();
            prop_assert!(fast.len() <= 2 * usize::from(range.family().width()));
            prop_assert_eq!(fast, slow(range));
        }

        #[test]
        fn close_ends_equal_the_slow_reference(first in any::<u32>(), span in 0u32..600) {
            let last = first.saturating_add(span);
            let range = Range::from_bits(Family::V4, first.into(), last.into()).unwrap();
            prop_assert_eq!(prefixes(range).collect::<Vec<_>>(), slow(range));
        }
    }
}
