//! Where two tables answer differently.

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
    let rows = |table: &'t ReadBack| table.rows().iter().map(|row: &ReadRow| (row.range, &row.token));
    differences_of((rows(before), before.default()), (rows(after), after.default()))
}

/// The same of rows in order, and what answers beside them.
pub fn differences_of<'t>(
    (before, old_default): (impl Iterator<Item = (Range, &'t Token)>, Option<&'t Token>),
    (after, new_default): (impl Iterator<Item = (Range, &'t Token)>, Option<&'t Token>),
) -> impl Iterator<Item = Difference<'t>> {
    let (mut old, mut new) = (Rows::of(before, old_default), Rows::of(after, new_default));
    let mut next = Some((Family::V4, 0));
    std::iter::from_fn(move || {
        while let Some((family, first)) = next {
            let (before, old_end) = old.at(family, first);
            let (after, new_end) = new.at(family, first);
            let last = old_end.min(new_end);
            next = behind(family, last);
            let same =
                is_same(before.or(old.default), after.or(new.default)) || before.is_none() && after.is_none();
            if let Some(range) = Range::from_bits(family, first, last).filter(|_| !same) {
                return Some(Difference { range, before, after });
            }
        }
        None
    })
}

/// Whether two tokens are one. Most are the very same text, which then need not be read.
fn is_same(one: Option<&Token>, other: Option<&Token>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one.as_str(), other.as_str()) || one == other,
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn behind(family: Family, last: u128) -> Option<(Family, u128)> {
    if last < family.max() {
        return Some((family, last + 1));
    }
    (family == Family::V4).then_some((Family::V6, 0))
}

struct Rows<'t, I> {
    rest: I,
    /// The first row that was not passed.
    row: Option<(Range, &'t Token)>,
    default: Option<&'t Token>,
}

impl<'t, I: Iterator<Item = (Range, &'t Token)>> Rows<'t, I> {
    fn of(mut rest: I, default: Option<&'t Token>) -> Self {
        let row = rest.next();
        Self { rest, row, default }
    }

    /// What an address is answered with, and up to which address this holds. Addresses must
    /// be asked for in order.
    fn at(&mut self, family: Family, bits: u128) -> (Option<&'t Token>, u128) {
        while self.row.is_some_and(|(range, _)| (range.family(), range.last_bits()) < (family, bits)) {
            self.row = self.rest.next();
        }
        match self.row {
            Some((range, token)) if range.family() == family && range.first_bits() <= bits => {
                (Some(token), range.last_bits())
            }
            Some((range, _)) if range.family() == family => (None, range.first_bits() - 1),
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
