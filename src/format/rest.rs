//! What is left to read of a file, for readers that prove: they know what comes next, and
//! stop at the first octet that is something else.

use super::leading;
use crate::address::{Family, Range};

/// The part of a file that was not read yet.
#[derive(Clone, Copy)]
pub(super) struct Rest<'f>(pub(super) &'f [u8]);

impl<'f> Rest<'f> {
    /// Takes these octets.
    #[inline]
    pub(super) fn text(&mut self, wanted: &str) -> Option<()> {
        let (own, behind) = self.0.split_at_checked(wanted.len())?;
        if !same(own, wanted.as_bytes()) {
            return None;
        }
        self.0 = behind;
        Some(())
    }

    /// Takes a line, and gives it without its end.
    #[inline]
    pub(super) fn line(&mut self) -> Option<&'f [u8]> {
        let end = memchr::memchr(b'\n', self.0)?;
        let (line, behind) = self.0.split_at_checked(end)?;
        self.0 = behind.get(1..)?;
        Some(line)
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a prefix, written as we write it.
    #[inline]
    pub(super) fn prefix(&mut self) -> Option<Addresses> {
        if let Some((first, last, behind)) = leading::v4_prefix(self.0) {
            self.0 = behind;
            return Some(Addresses { family: Family::V4, first: first.into(), last: last.into() });
        }
        let (first, last, behind) = leading::v6_prefix(self.0)?;
        self.0 = behind;
        Some(Addresses { family: Family::V6, first, last })
    }

    /// Takes an address, written as we write it.
    #[inline]
    pub(super) fn address(&mut self) -> Option<(Family, u128)> {
        if let Some((address, behind)) = leading::v4(self.0) {
            self.0 = behind;
            return Some((Family::V4, address.into()));
        }
        let (address, behind) = leading::v6(self.0)?;
        self.0 = behind;
        Some((Family::V6, address))
    }

    /// Takes two addresses with this between.
    #[inline]
    pub(super) fn ends(&mut self, between: &str) -> Option<Addresses> {
        let (family, first) = self.address()?;
        self.text(between)?;
        let (other, last) = self.address()?;
        (family == other).then_some(Addresses { family, first, last })
    }

    /// Takes the addresses of a range, row by row in their order. Says how many rows there are.
    #[inline]
    pub(super) fn rows(&mut self, of: Range, row: impl Fn(&mut Self) -> Option<Addresses>) -> Option<u64> {
        let mut left = Addresses::from(of);
        let mut count = 1;
        while !left.take(row(self)?)? {
            count += 1;
        }
        Some(count)
    }
}

/// Whether two texts of one length are the same. Most are shorter than what a call costs.
#[inline]
fn same(own: &[u8], wanted: &[u8]) -> bool {
    match wanted.len() {
        0..=16 => own.iter().zip(wanted).all(|(a, b)| a == b),
        _ => own == wanted,
    }
}

/// Addresses that follow each other; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addresses {
    pub(super) family: Family,
    pub(super) first: u128,
    pub(super) last: u128,
}

impl From<Range> for Addresses {
    #[inline]
    fn from(range: Range) -> Self {
        Self { family: range.family(), first: range.first_bits(), last: range.last_bits() }
    }
}

impl Addresses {
    /// Takes some away from the front. Says whether these were all, and nothing where they do
    /// not lie there.
    #[inline]
    pub(super) fn take(&mut self, next: Self) -> Option<bool> {
        let fits = next.family == self.family && next.first == self.first && next.first <= next.last;
        if !fits || next.last > self.last {
            return None;
        }
        let done = next.last == self.last;
        if !done {
            self.first = next.last + 1;
        }
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, range: &str) -> Option<(u64, String)> {
        let mut rest = Rest(text.as_bytes());
        let row = |rest: &mut Rest<'_>| rest.prefix().filter(|_| rest.text(";").is_some());
        let count = rest.rows(range.parse().unwrap(), row)?;
        Some((count, String::from_utf8(rest.0.to_vec()).unwrap()))
    }

    #[test]
    fn prefixes_are_taken_until_the_range_is_full() {
        let some = |count, rest: &str| Some((count, rest.to_owned()));
        assert_eq!(taken("10.0.0.0/24;x", "10.0.0.0-10.0.0.255"), some(1, "x"));
        assert_eq!(taken("10.0.0.3/32;10.0.0.4/30;", "10.0.0.3-10.0.0.7"), some(2, ""));
        assert_eq!(taken("2001:db8::/33;2001:db8:8000::/33;y", "2001:db8::/32"), some(2, "y"));
        assert_eq!(taken("0.0.0.0/0;", "0.0.0.0/0"), some(1, ""));
        for (text, range) in [
            ("10.0.0.0/24;", "10.0.0.0-10.0.1.255"),
            ("10.0.0.0/23;", "10.0.0.0-10.0.0.255"),
            ("10.0.1.0/24;", "10.0.0.0-10.0.0.255"),
            ("10.0.0.0/25;10.0.0.0/25;", "10.0.0.0-10.0.0.255"),
            ("10.0.0.0/24", "10.0.0.0-10.0.0.255"),
            ("::a00:0/120;", "10.0.0.0-10.0.0.255"),
            ("10.0.0.0/024;", "10.0.0.0-10.0.0.255"),
            ("", "10.0.0.0-10.0.0.255"),
        ] {
            assert_eq!(taken(text, range), None, "{text}");
        }
    }

    #[test]
    fn texts_are_taken_to_the_last_octet_whatever_their_length() {
        for length in [0, 1, 15, 16, 17, 40] {
            let wanted = "a".repeat(length);
            let mut rest = Rest(b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
            assert!(rest.text(&wanted).is_some() && rest.0.len() == 41 - length, "{length}");
            let longer = wanted + "b";
            assert_eq!(rest.text(&longer).is_some(), rest.0 == longer.as_bytes(), "{length}");
        }
    }
}
