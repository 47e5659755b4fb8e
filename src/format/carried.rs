//! Rows without the addresses that a format cannot speak of.

use std::net::{IpAddr, Ipv6Addr};

use crate::address::Range;

/// The part of IPv6 between two addresses, given by their words.
pub(super) const fn part(first: [u16; 8], last: [u16; 8]) -> Range {
    let (first, last) = (address(first), address(last));
    match Range::from_bits(crate::address::Family::V6, first.to_bits(), last.to_bits()) {
        Some(range) => range,
        None => Range::single(IpAddr::V6(first)),
    }
}

const fn address(words: [u16; 8]) -> Ipv6Addr {
    let [a, b, c, d, e, f, g, h] = words;
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}

/// `::/96`, where formats that know IPv6 only keep IPv4. No viewer has such an address.
pub(super) const COMPATIBLE: [Range; 1] = [part([0; 8], [0, 0, 0, 0, 0, 0, 0xffff, 0xffff])];

/// What is left of a range, in order. See [`carried`].
pub(super) struct Carried {
    rest: Option<Range>,
    excluded: std::slice::Iter<'static, Range>,
}

/// The parts of a range outside of `excluded`, which is sorted and disjoint.
pub(super) fn carried(range: Range, excluded: &'static [Range]) -> Carried {
    Carried { rest: Some(range), excluded: excluded.iter() }
}

impl Iterator for Carried {
    type Item = Range;

    #[inline]
    fn next(&mut self) -> Option<Range> {
        let rest = self.rest?;
        let Some(cut) = self.excluded.find_map(|cut| rest.intersection(*cut)) else {
            return self.rest.take();
        };
        let part = |first, last| Range::from_bits(rest.family(), first, last);
        let before = cut.first_bits().checked_sub(1).and_then(|last| part(rest.first_bits(), last));
        self.rest = cut.last_bits().checked_add(1).and_then(|first| part(first, rest.last_bits()));
        before.or_else(|| self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Family;

    static HOLES: [Range; 3] = [
        Range::single(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 5))),
        Range::single(std::net::IpAddr::V4(std::net::Ipv4Addr::BROADCAST)),
        Range::all(Family::V6),
    ];

    fn left(range: &str) -> Vec<String> {
        carried(range.parse().unwrap(), &HOLES).map(|r| r.to_string()).collect()
    }

    #[test]
    fn holes_are_cut_out_wherever_they_lie() {
        assert_eq!(left("10.0.0.0-10.0.0.9"), ["10.0.0.0-10.0.0.4", "10.0.0.6-10.0.0.9"]);
        assert_eq!(left("10.0.0.5-10.0.0.9"), ["10.0.0.6-10.0.0.9"]);
        assert_eq!(left("10.0.0.0-10.0.0.5"), ["10.0.0.0-10.0.0.4"]);
        assert_eq!(left("10.0.0.5"), [""; 0]);
        assert_eq!(left("10.0.0.6-10.0.0.7"), ["10.0.0.6-10.0.0.7"]);
        assert_eq!(
            left("0.0.0.0/0"),
            ["0.0.0.0-10.0.0.4", "10.0.0.6-255.255.255.254"],
            "nothing lies behind the last address"
        );
        assert_eq!(left("2001:db8::/32"), [""; 0]);
    }
}
