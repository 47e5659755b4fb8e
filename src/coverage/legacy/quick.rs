//! The rows that most tables of cells have nothing but: an IPv4 prefix in one cell, a name that
//! was met before in another. They are read where they stand; all others the thorough way,
//! which has to come to the same.

use memchr::memchr;

use super::columns::{Column, Layout, Place};
use crate::address::{Family, Range};
use crate::coverage::octets::v4;

/// Where such rows have what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quick {
    separator: u8,
    range: usize,
    target: usize,
    /// What the name's column is.
    pub(super) column: Column,
}

impl Quick {
    /// For a layout that has such rows.
    pub(super) fn of(layout: &Layout, separator: u8) -> Option<Self> {
        match (layout.place, layout.targets.as_slice(), layout.space) {
            (Place::One(range), [(target, column)], None) if *target != range => {
                Some(Self { separator, range, target: *target, column: *column })
            }
            _ => None,
        }
    }

    /// The range and the name of a line; nothing where it is of another kind.
    #[inline]
    pub(super) fn row<'t>(&self, line: &'t str) -> Option<(Range, &'t str)> {
        if !line.as_bytes().first().is_some_and(u8::is_ascii_digit) || memchr(b'"', line.as_bytes()).is_some()
        {
            return None;
        }
        let (mut range, mut target) = (None, None);
        let mut rest = Some(line);
        for at in 0..=self.range.max(self.target) {
            let text = rest?;
            let cell = match memchr(self.separator, text.as_bytes()) {
                Some(end) => {
                    rest = text.get(end + 1..);
                    text.get(..end)?
                }
                None => {
                    rest = None;
                    text
                }
            };
            if at == self.range {
                range = Some(prefix(cell.trim().as_bytes())?);
            } else if at == self.target {
                target = Some(cell.trim());
            }
        }
        Some((range?, target.filter(|name| !name.starts_with('\''))?))
    }
}

/// An IPv4 prefix without host bits.
fn prefix(text: &[u8]) -> Option<Range> {
    let (address, length) = v4(text)?;
    let bits = match text.get(length..)? {
        [b'/', ones @ b'0'..=b'9'] => ones - b'0',
        [b'/', tens @ b'1'..=b'3', ones @ b'0'..=b'9'] => (tens - b'0') * 10 + (ones - b'0'),
        _ => return None,
    };
    let host = u32::MAX.checked_shr(bits.into()).filter(|_| bits <= 32).or((bits == 32).then_some(0))?;
    (address & host == 0)
        .then(|| Range::from_bits(Family::V4, address.into(), (address | host).into()))
        .flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_prefix_is_what_the_thorough_way_makes_of_it(
            bits in any::<u32>(),
            length in 0u32..40,
            text in "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}/?[0-9]{0,3}",
        ) {
            let net = std::net::Ipv4Addr::from_bits(bits & !u32::MAX.checked_shr(length).unwrap_or(0));
            let host = std::net::Ipv4Addr::from_bits(bits);
            for text in [format!("{net}/{length}"), format!("{host}/{length}"), format!("{net}/0{length}"), text] {
                let quick = prefix(text.as_bytes());
                let thorough = text.parse::<Range>().ok();
                prop_assert!(quick.is_none() || quick == thorough, "{}: {:?} {:?}", text, quick, thorough);
                if text == format!("{net}/{length}") {
                    prop_assert_eq!(quick, thorough, "{}", text);
                }
            }
        }
    }

    proptest! {
        /// In quotes a cell is read the thorough way.
        #[test]
        fn a_table_is_the_same_in_quotes(
            rows in proptest::collection::vec(
                ("(10\\.0\\.[0-9]{1,3}\\.(0|64|128|1)/(2[4-9]|3[0-3]))|2001:db8::/32|10\\.1\\.0\\.[0-9]-10\\.2\\.0\\.0|x", "e[0-9]?|'=x|e1;e2| e1 |"),
                1..30,
            ),
        ) {
            use crate::coverage::{Legacy, ReadOptions};
            let table = |quote: &str| {
                let rows = rows.iter().map(|(range, name)| format!("{quote}{range}{quote},{quote}{name}{quote}\n"));
                let text = format!("range,edges\n{}", rows.collect::<String>());
                Legacy::read(text.as_bytes(), &ReadOptions::default())
            };
            match (table(""), table("\"")) {
                (Ok(plain), Ok(quoted)) => {
                    prop_assert_eq!(plain.rows, quoted.rows);
                    let lines = |all: &[crate::coverage::Remark]| all.iter().map(|r| (r.line, r.kind)).collect::<Vec<_>>();
                    prop_assert_eq!(lines(&plain.remarks), lines(&quoted.remarks));
                }
                (plain, quoted) => prop_assert_eq!(plain.is_err(), quoted.is_err()),
            }
        }
    }

    #[test]
    fn the_first_and_the_longest() {
        let all = |text: &str| prefix(text.as_bytes()).map(|range| range.to_string());
        assert_eq!(all("0.0.0.0/0").as_deref(), Some("0.0.0.0-255.255.255.255"));
        assert_eq!(all("10.0.0.1/32").as_deref(), Some("10.0.0.1-10.0.0.1"));
        assert_eq!(all("10.0.0.0/33"), None);
        assert_eq!(all("10.0.0.1/31"), None);
    }
}
