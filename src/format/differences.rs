//! Where two tables answer differently.

use std::net::IpAddr;

use super::{ReadBack, ReadRow};
use crate::address::{Family, Range};
use crate::table::Token;

/// A stretch of addresses that two tables answer differently, in a row of at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'t> {
    /// The addresses.
    pub range: Range,
    /// The row's token in the one; none where it has no row.
    pub before: Option<&'t Token>,
    /// The row's token in the other; none where it has no row.
    pub after: Option<&'t Token>,
}

/// The differences of two tables of one space, in order. Addresses in no row count as
/// answered with the table's default.
pub fn differences<'t>(before: &'t ReadBack, after: &'t ReadBack) -> impl Iterator<Item = Difference<'t>> {
    let (mut old, mut new) = (Rows::of(before), Rows::of(after));
    let mut next = Some((Family::V4, 0));
    std::iter::from_fn(move || {
        while let Some((family, first)) = next {
            let (before, old_end) = old.at(family, first);
            let (after, new_end) = new.at(family, first);
            let last = old_end.min(new_end);
            next = behind(family, last);
            let same = before.or(old.default) == after.or(new.default) || (before, after) == (None, None);
            if let Some(range) = Range::from_bits(family, first, last).filter(|_| !same) {
                return Some(Difference { range, before, after });
            }
        }
        None
    })
}

fn behind(family: Family, last: u128) -> Option<(Family, u128)> {
    if last < family.max() {
        return Some((family, last + 1));
    }
    (family == Family::V4).then_some((Family::V6, 0))
}

struct Rows<'t> {
    rest: &'t [ReadRow],
    default: Option<&'t Token>,
}

impl<'t> Rows<'t> {
    fn of(table: &'t ReadBack) -> Self {
        Self { rest: table.rows(), default: table.default() }
    }

    /// What an address is answered with, and up to which address this holds. Addresses must
    /// be asked for in order.
    fn at(&mut self, family: Family, bits: u128) -> (Option<&'t Token>, u128) {
        let passed = |row: &ReadRow| (row.range.family(), row.range.last_bits()) < (family, bits);
        while let Some((_, rest)) = self.rest.split_first().filter(|(row, _)| passed(row)) {
            self.rest = rest;
        }
        let address: IpAddr = family.address(bits);
        match self.rest.first() {
            Some(row) if row.range.contains(address) => (Some(&row.token), row.range.last_bits()),
            Some(row) if row.range.family() == family => (None, row.range.first_bits() - 1),
            _ => (None, family.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::readback::Collector;
    use super::*;

    fn table(rows: &[(&str, &str)], default: Option<&str>) -> ReadBack {
        let mut collector = Collector::default();
        for (range, token) in rows {
            collector.push(None, range.parse().unwrap(), token).unwrap();
        }
        collector.finish(default.map(|token| Token::new(token).unwrap()))
    }

    fn text(before: &ReadBack, after: &ReadBack) -> Vec<String> {
        let word = |token: Option<&Token>| token.map_or("-".to_owned(), ToString::to_string);
        differences(before, after)
            .map(|d| format!("{} {} {}", d.range, word(d.before), word(d.after)))
            .collect()
    }

    #[test]
    fn only_what_is_answered_differently_differs() {
        let old = [("10.0.0.0/24", "a"), ("10.0.2.0/24", "b"), ("2001:db8::/32", "a")];
        let before = table(&old, Some("c"));
        assert_eq!(text(&before, &before), [""; 0]);
        let after = table(
            &[
                ("10.0.0.128/25", "a"),
                ("10.0.1.0-10.0.2.127", "b"),
                ("10.0.9.0/24", "c"),
                ("2001:db8::/32", "b"),
            ],
            Some("c"),
        );
        assert_eq!(
            text(&before, &after),
            [
                "10.0.0.0-10.0.0.127 a -",
                "10.0.1.0-10.0.1.255 - b",
                "10.0.2.128-10.0.2.255 b -",
                "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff a b",
            ]
        );
        // Another default alone is told of no address.
        assert_eq!(text(&before, &table(&old, Some("d"))), [""; 0]);
        assert_eq!(
            text(&<ReadBack as Default>::default(), &table(&[("0.0.0.0/0", "a")], None)),
            ["0.0.0.0-255.255.255.255 - a"]
        );
    }

    proptest! {
        #[test]
        fn equals_the_slow_comparison(
            old in vec((0u8..20, 1u8..9, 0..3usize), 0..8),
            new in vec((0u8..20, 1u8..9, 0..3usize), 0..8),
        ) {
            let of = |parts: &[(u8, u8, usize)]| {
                let mut collector = Collector::default();
                let mut next = 0u128;
                for (skip, length, token) in parts {
                    let first = next + u128::from(*skip);
                    next = first + u128::from(*length);
                    let range = Range::from_bits(Family::V6, first, next - 1).unwrap();
                    collector.push(None, range, ["a", "b", "d"][*token]).unwrap();
                }
                collector.finish(Token::new("d"))
            };
            let (before, after) = (of(&old), of(&new));
            let told: Vec<_> = differences(&before, &after).collect();
            for bits in 0..300u128 {
                let ip = Family::V6.address(bits);
                let differs = before.lookup("", ip) != after.lookup("", ip);
                prop_assert_eq!(told.iter().any(|d| d.range.contains(ip)), differs, "{}", ip);
            }
        }
    }
}
