//! Shares, sizes, prefix lengths.

use std::fmt;

use super::value::FromText;

/// A share, written as `"30%"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    millionths: u32,
}

impl Share {
    /// A share of so many hundredths.
    pub const fn percent(percent: u32) -> Self {
        Self { millionths: percent * 10_000 }
    }

    /// The share in millionths, exactly.
    pub const fn millionths(self) -> u32 {
        self.millionths
    }

    /// The share that is nearest to a fraction.
    pub fn of_fraction(fraction: f64) -> Self {
        Self { millionths: (fraction * 1e6).round() as u32 }
    }

    /// The share as a fraction: 30 % is 0.3.
    pub fn fraction(self) -> f64 {
        f64::from(self.millionths) / 1e6
    }
}

impl FromText for Share {
    const EXPECTED: &'static str = "a share in percent, as \"30%\" or \"0.5%\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || "is not a share".to_owned();
        let number = text.strip_suffix('%').ok_or_else(wrong)?.trim_end();
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > 4 {
            return Err(wrong());
        }
        let whole: u32 = whole.parse().ok().filter(|whole| *whole <= 100_000).ok_or("is out of range")?;
        let part: u32 = format!("{part:0<4}").parse().map_err(|_| wrong())?;
        Ok(Self { millionths: whole * 10_000 + part })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.millionths % 10_000 {
            0 => write!(f, "{}%", self.millionths / 10_000),
            part => write!(f, "{}.{}%", self.millionths / 10_000, format!("{part:04}").trim_end_matches('0')),
        }
    }
}

/// A number of octets, written as `"64MB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(pub(super) u64);

const UNITS: [(&str, u64); 8] = [
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("B", 1),
];

impl FromText for Size {
    const EXPECTED: &'static str =
        "a size with a unit, as \"64MB\" or \"512KiB\" (B, kB, MB, GB, KiB, MiB, GiB)";

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || "is not a size".to_owned();
        let (number, factor) = UNITS
            .iter()
            .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
            .ok_or_else(wrong)?;
        let number = number.trim_end();
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        let octets = number.parse::<u64>().ok().and_then(|n| n.checked_mul(*factor));
        octets.filter(|n| *n > 0).map(Self).ok_or_else(|| "is out of range".to_owned())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = ["GB", "MB", "kB"].into_iter().find_map(|name| {
            let (unit, factor) = UNITS.iter().find(|(unit, _)| *unit == name)?;
            self.0.is_multiple_of(*factor).then(|| (unit, self.0 / factor))
        });
        match unit {
            Some((unit, number)) => write!(f, "{number}{unit}"),
            None => write!(f, "{}B", self.0),
        }
    }
}

/// The length of a prefix, written as `"/8"`, of at most `MAX` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits<const MAX: u8>(pub(super) u8);

impl<const MAX: u8> FromText for Bits<MAX> {
    const EXPECTED: &'static str = if MAX == 32 {
        "the length of an IPv4 prefix, from \"/0\" to \"/32\""
    } else {
        "the length of an IPv6 prefix, from \"/0\" to \"/128\""
    };

    fn from_text(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('/').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let bits = digits.and_then(|digits| digits.parse().ok()).filter(|bits| *bits <= MAX);
        bits.map(Self).ok_or_else(|| "is not the length of such a prefix".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        for (text, millionths, shown) in [
            ("30%", 300_000, "30%"),
            ("0.5 %", 5_000, "0.5%"),
            ("200%", 2_000_000, "200%"),
            ("0%", 0, "0%"),
            ("0.0001%", 1, "0.0001%"),
            ("12.50%", 125_000, "12.5%"),
        ] {
            let share = Share::from_text(text).unwrap();
            assert_eq!((share.millionths(), share.to_string().as_str()), (millionths, shown));
        }
        assert!((Share::percent(30).fraction() - 0.3).abs() < 1e-12);
        for text in ["", "%", "30", "-1%", "+1%", "1e3%", "0.00001%", ".5%", "5.%", "100001%", "99999999999%"]
        {
            assert!(Share::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_a_unit() {
        for (text, octets, shown) in [
            ("64MB", 64_000_000, "64MB"),
            ("1 GiB", 1_073_741_824, "1073741824B"),
            ("1500B", 1500, "1500B"),
            ("2000KB", 2_000_000, "2MB"),
        ] {
            let size = Size::from_text(text).unwrap();
            assert_eq!((size.0, size.to_string().as_str()), (octets, shown));
        }
        for text in
            ["64", "MB", "0MB", "-1MB", "1.5MB", "64mb", "99999999999999999999GB", "18446744073709551615GB"]
        {
            assert!(Size::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn prefix_lengths_fit_their_family() {
        assert_eq!(Bits::<32>::from_text("/8"), Ok(Bits(8)));
        assert_eq!(Bits::<128>::from_text("/128"), Ok(Bits(128)));
        for text in ["8", "/33", "/", "/+8", "/-1", "/256"] {
            assert!(Bits::<32>::from_text(text).is_err(), "{text}");
        }
        assert!(Bits::<128>::from_text("/129").is_err());
    }
}
