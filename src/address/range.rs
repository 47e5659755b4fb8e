//! A closed range of addresses of one family.

use std::cmp::Ordering;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4, 32 bits.
    V4,
    /// IPv6, 128 bits.
    V6,
}

impl Family {
    /// Both families, in the order in which tables are sorted.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// The number by which files and JSON name the family: 4 or 6.
    pub const fn number(self) -> u8 {
        match self {
            Self::V4 => 4,
            Self::V6 => 6,
        }
    }

    /// The family that a file or JSON names by 4 or 6.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            4 => Some(Self::V4),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    /// The width of an address in bits.
    pub const fn width(self) -> u8 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    /// The last address of the family's space, as a number.
    pub const fn max(self) -> u128 {
        match self {
            Self::V4 => u32::MAX as u128,
            Self::V6 => u128::MAX,
        }
    }

    /// The family of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// The address that a number stands for; bits above the family's width are dropped.
    pub const fn address(self, bits: u128) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::from_bits(bits as u32)),
            Self::V6 => IpAddr::V6(Ipv6Addr::from_bits(bits)),
        }
    }
}

/// The number that an address stands for: IPv4 in the low 32 bits.
pub(super) const fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(a) => a.to_bits() as u128,
        IpAddr::V6(a) => a.to_bits(),
    }
}

/// A closed range of addresses, `first..=last`, of one family. Both ends belong to it;
/// no address in it is special. Ordered by family, first and last address.
///
/// A table has millions of them, so that the family takes no room of its own: of an IPv4
/// range the last address stands before the first, above any first one (see [`V4`]), which
/// no IPv6 range has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    left: Half,
    right: Half,
}

/// A number of 128 bits in two halves, as what is aligned to 16 octets would waste room.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Half {
    high: u64,
    low: u64,
}

/// What is added to the last address of an IPv4 range.
const V4: u128 = 1 << 32;

impl Half {
    const fn new(number: u128) -> Self {
        Self { high: (number >> 64) as u64, low: number as u64 }
    }

    const fn number(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }
}

/// Why two addresses make no range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RangeError {
    /// The ends are of different families.
    #[error("{first} and {last} are of different families")]
    Mixed {
        /// The first address as given.
        first: IpAddr,
        /// The last address as given.
        last: IpAddr,
    },
    /// The first address lies behind the last.
    #[error("{first} lies behind {last}")]
    Reversed {
        /// The first address as given.
        first: IpAddr,
        /// The last address as given.
        last: IpAddr,
    },
}

impl Range {
    /// The range from `first` to `last`, both included.
    ///
    /// # Errors
    /// Where the families differ or `first` lies behind `last`.
    pub fn new(first: IpAddr, last: IpAddr) -> Result<Self, RangeError> {
        let family = Family::of(first);
        if family != Family::of(last) {
            return Err(RangeError::Mixed { first, last });
        }
        Self::from_bits(family, bits(first), bits(last)).ok_or(RangeError::Reversed { first, last })
    }

    /// The range between two numbers of a family; nothing where they are out of order or
    /// too large for it.
    #[inline]
    pub const fn from_bits(family: Family, first: u128, last: u128) -> Option<Self> {
        if first <= last && last <= family.max() { Some(Self::between(family, first, last)) } else { None }
    }

    /// Of numbers that are in order and of the family.
    const fn between(family: Family, first: u128, last: u128) -> Self {
        match family {
            Family::V4 => Self { left: Half::new(V4 | last), right: Half::new(first) },
            Family::V6 => Self { left: Half::new(first), right: Half::new(last) },
        }
    }

    /// The range of one address.
    pub const fn single(address: IpAddr) -> Self {
        Self::between(Family::of(address), bits(address), bits(address))
    }

    /// The whole space of a family.
    pub const fn all(family: Family) -> Self {
        Self::between(family, 0, family.max())
    }

    /// The family of both ends.
    #[inline]
    pub const fn family(self) -> Family {
        if self.left.number() > self.right.number() { Family::V4 } else { Family::V6 }
    }

    /// The first address.
    #[inline]
    pub const fn first(self) -> IpAddr {
        self.family().address(self.first_bits())
    }

    /// The last address.
    #[inline]
    pub const fn last(self) -> IpAddr {
        self.family().address(self.last_bits())
    }

    /// The first address as a number.
    #[inline]
    pub const fn first_bits(self) -> u128 {
        match self.family() {
            Family::V4 => self.right.number(),
            Family::V6 => self.left.number(),
        }
    }

    /// The last address as a number.
    #[inline]
    pub const fn last_bits(self) -> u128 {
        match self.family() {
            Family::V4 => self.left.number() ^ V4,
            Family::V6 => self.right.number(),
        }
    }

    /// How many addresses lie in it, less one: the count itself does not fit where the
    /// range is the whole of IPv6.
    #[inline]
    pub const fn span(self) -> u128 {
        self.last_bits() - self.first_bits()
    }

    /// How many addresses lie in it, in decimal digits (the count of `::/0` passes `u128`).
    pub fn addresses(self) -> String {
        match self.span().checked_add(1) {
            Some(count) => count.to_string(),
            None => "340282366920938463463374607431768211456".to_owned(),
        }
    }

    /// What the guard counts: addresses in IPv4, /64s touched in IPv6; saturating.
    pub const fn units(self) -> u64 {
        let span = match self.family() {
            Family::V4 => self.last_bits() - self.first_bits(),
            Family::V6 => (self.last_bits() >> 64) - (self.first_bits() >> 64),
        };
        (span as u64).saturating_add(1)
    }

    /// Whether an address lies in it.
    #[inline]
    pub const fn contains(self, address: IpAddr) -> bool {
        let number = bits(address);
        self.family().number() == Family::of(address).number()
            && self.first_bits() <= number
            && number <= self.last_bits()
    }

    /// Whether all of `other` lies in it.
    pub fn covers(self, other: Self) -> bool {
        self.family() == other.family()
            && self.first_bits() <= other.first_bits()
            && other.last_bits() <= self.last_bits()
    }

    /// What both have in common.
    #[inline]
    pub fn intersection(self, other: Self) -> Option<Self> {
        if self.family() != other.family() {
            return None;
        }
        let first = self.first_bits().max(other.first_bits());
        Self::from_bits(self.family(), first, self.last_bits().min(other.last_bits()))
    }

    /// Whether `next` begins with the very address behind this range's last.
    #[inline]
    pub fn touches(self, next: Self) -> bool {
        self.family() == next.family() && self.last_bits().checked_add(1) == Some(next.first_bits())
    }
}

impl Ord for Range {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |range: &Self| (range.family(), range.first_bits(), range.last_bits());
        place(self).cmp(&place(other))
    }
}

impl PartialOrd for Range {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<IpNet> for Range {
    fn from(net: IpNet) -> Self {
        Self::between(Family::of(net.addr()), bits(net.network()), bits(net.broadcast()))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first(), self.last())
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is no range. The message quotes the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a prefix (10.0.0.0/24), an address, or first-last (10.0.0.3-10.0.0.250){detail}")]
pub struct ParseRangeError {
    text: String,
    detail: String,
}

impl FromStr for Range {
    type Err = ParseRangeError;

    /// Reads a prefix, one address, or `first-last`. A prefix with host bits set is
    /// refused: whoever wrote it meant something else.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |detail: String| ParseRangeError { text: text.to_owned(), detail };
        if let Ok(net) = text.parse::<IpNet>() {
            if net.addr() != net.network() {
                return Err(refuse(format!(": it has host bits set, the prefix is {}", net.trunc())));
            }
            return Ok(net.into());
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::single(address));
        }
        let (first, last) = text.split_once('-').ok_or_else(|| refuse(String::new()))?;
        let (first, last) = match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) => (first, last),
            _ => return Err(refuse(String::new())),
        };
        Self::new(first, last).map_err(|e| refuse(format!(": {e}")))
    }
}

/// As `first-last`, in text.
impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_is_read_from_a_prefix_an_address_or_two_ends() {
        assert_eq!(range("10.0.0.0/24"), range("10.0.0.0 - 10.0.0.255"));
        assert_eq!(range("10.0.0.7"), range("10.0.0.7-10.0.0.7"));
        assert_eq!(range("::/0"), Range::all(Family::V6));
        assert_eq!(range("10.0.0.0/31").to_string(), "10.0.0.0-10.0.0.1");
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_reason() {
        for (text, reason) in [
            ("10.0.0.1/24", "the prefix is 10.0.0.0/24"),
            ("10.0.0.9-10.0.0.3", "10.0.0.9 lies behind 10.0.0.3"),
            ("10.0.0.1-::1", "of different families"),
            ("10.0.0.0/33", "is not a prefix"),
            ("10.0.0", "is not a prefix"),
            ("", "is not a prefix"),
        ] {
            let error = text.parse::<Range>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_make_no_range() {
        assert_eq!(Range::from_bits(Family::V4, 0, 1 << 32), None);
        assert_eq!(Range::from_bits(Family::V6, 2, 1), None);
    }

    #[test]
    fn both_ends_and_the_family_are_kept_at_the_ends_of_the_space() {
        let (top4, top6) = (u128::from(u32::MAX), u128::MAX);
        let v6 = [(0, 0), (0, top4), (1, 1 << 32), (top4, (1 << 32) | 7), (0, top6), (top6, top6)];
        let v4 = [(0, 0), (0, top4), (top4, top4), (7, 9)];
        let both = v4.map(|ends| (Family::V4, ends)).into_iter().chain(v6.map(|ends| (Family::V6, ends)));
        for (family, (first, last)) in both {
            let range = Range::from_bits(family, first, last).unwrap();
            assert_eq!((range.family(), range.first_bits(), range.last_bits()), (family, first, last));
        }
        assert_eq!(size_of::<Range>(), 32);
    }

    #[test]
    fn the_order_is_of_family_first_and_last() {
        let sorted =
            ["0.0.0.0", "0.0.0.0-0.0.0.9", "0.0.0.5", "255.255.255.255", "::", "::-::9", "::5", "ffff::"];
        for (place, text) in sorted.iter().enumerate() {
            for (other, against) in sorted.iter().enumerate() {
                assert_eq!(range(text).cmp(&range(against)), place.cmp(&other), "{text} and {against}");
            }
        }
    }

    #[test]
    fn counts_are_exact_at_the_ends_of_the_space() {
        assert_eq!(range("0.0.0.0/0").addresses(), "4294967296");
        assert_eq!(range("::/0").addresses(), "340282366920938463463374607431768211456");
        assert_eq!(range("::/0").units(), u64::MAX);
        assert_eq!(range("2001:db8::/32").units(), 1 << 32);
        assert_eq!(range("2001:db8::ffff-2001:db8:0:1::").units(), 2);
        assert_eq!(range("192.0.2.0/24").units(), 256);
    }

    #[test]
    fn nothing_lies_behind_the_last_address() {
        assert!(!range("255.255.255.255").touches(range("0.0.0.0")));
        assert!(!range("255.255.255.255").touches(range("::1:0:0")));
        assert!(range("10.0.0.0/25").touches(range("10.0.0.128/25")));
    }
}
