//! Figures: counts of addresses and shares.

use serde::{Serialize, Serializer};

use crate::address::{Family, Range};

/// A number of addresses; in JSON a decimal string, for it may pass 2^53. Saturating: the
/// whole of IPv6 counts as one less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses(pub u128);

impl Addresses {
    /// The addresses of a range.
    pub const fn of(range: Range) -> Self {
        Self(range.span().saturating_add(1))
    }

    /// What part of a total it is; none of nothing.
    pub fn share_of(self, total: Self) -> Option<f64> {
        (total.0 > 0).then(|| self.0 as f64 / total.0 as f64)
    }

    /// The number for people: addresses in IPv4, /64s in IPv6.
    pub fn text(self, family: Family) -> String {
        match family {
            Family::V4 => grouped(self.0),
            Family::V6 if self.0 == 0 => "0".to_owned(),
            Family::V6 if self.0 >> 64 == 0 => format!("{} in /64s", grouped(self.0)),
            Family::V6 => format!("{} /64s", grouped(self.0 >> 64)),
        }
    }
}

impl std::ops::AddAssign for Addresses {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl std::iter::Sum for Addresses {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self(0), |mut total, one| {
            total += one;
            total
        })
    }
}

impl Serialize for Addresses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A family as its number.
pub(super) fn family<S: Serializer>(family: &Family, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(family.number())
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share for people: `15.2 %`. What is not nothing never shows as nothing, and what is
/// not all never as all.
pub(super) fn percent(share: Option<f64>) -> String {
    match share {
        None => "-".to_owned(),
        Some(share) if share > 0.0 && share < 0.001 => "<0.1 %".to_owned(),
        Some(share) if share < 1.0 && share > 0.999 => ">99.9 %".to_owned(),
        Some(share) => format!("{:.1} %", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_lie_at_the_ends() {
        assert_eq!(percent(Some(0.1524)), "15.2 %");
        assert_eq!(percent(Some(0.0)), "0.0 %");
        assert_eq!(percent(Some(0.000_01)), "<0.1 %");
        assert_eq!(percent(Some(0.999_99)), ">99.9 %");
        assert_eq!(percent(Some(1.0)), "100.0 %");
        assert_eq!(percent(Addresses(1).share_of(Addresses(0))), "-");
    }

    #[test]
    fn counts_suit_their_family() {
        let count = |text: &str| Addresses::of(text.parse().unwrap());
        assert_eq!(count("10.0.0.0/8").text(Family::V4), "16,777,216");
        assert_eq!(count("2001:db8::/48").text(Family::V6), "65,536 /64s");
        assert_eq!(count("2001:db8::/112").text(Family::V6), "65,536 in /64s");
        assert_eq!(count("::/0").0, u128::MAX);
        assert_eq!(serde_json::to_string(&count("10.0.0.0/30")).unwrap(), "\"4\"");
    }
}
