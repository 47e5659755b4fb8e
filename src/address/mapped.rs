//! IPv4 addresses in IPv6 clothing (RFC 4291, 2.5.5.2): one address must not be two.

use thiserror::Error;

use super::{Family, Range};

/// `::ffff:0:0/96`, where IPv4-mapped addresses live.
const MAPPED: u128 = 0xffff_0000_0000;

/// A range that lies partly in `::ffff:0:0/96`: it would mix the families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} reaches over the end of the IPv4-mapped addresses ::ffff:0:0/96")]
pub struct PartlyMapped(
    /// The range as given.
    pub Range,
);

/// The range itself, or the IPv4 range that an IPv4-mapped one stands for. Whether it was
/// one shows in the family.
///
/// # Errors
/// Where only a part of the range is IPv4-mapped.
pub fn unmapped(range: Range) -> Result<Range, PartlyMapped> {
    let Some(mapped) = Range::from_bits(Family::V6, MAPPED, MAPPED | Family::V4.max()) else {
        return Ok(range);
    };
    match range.intersection(mapped) {
        None => Ok(range),
        Some(common) if common == range => {
            Range::from_bits(Family::V4, range.first_bits() - MAPPED, range.last_bits() - MAPPED)
                .ok_or(PartlyMapped(range))
        }
        Some(_) => Err(PartlyMapped(range)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        text.parse().unwrap()
    }

    #[test]
    fn a_mapped_range_is_the_ipv4_range() {
        assert_eq!(unmapped(range("::ffff:192.0.2.0-::ffff:192.0.2.255")), Ok(range("192.0.2.0/24")));
        assert_eq!(unmapped(range("::ffff:0:0/96")), Ok(range("0.0.0.0/0")));
        assert_eq!(unmapped(range("::ffff:255.255.255.255")), Ok(range("255.255.255.255")));
    }

    #[test]
    fn other_ranges_stay() {
        for text in ["192.0.2.0/24", "2001:db8::/32", "::-::fffe:ffff:ffff", "::1:0:0:0/80", "::"] {
            assert_eq!(unmapped(range(text)), Ok(range(text)), "{text}");
        }
    }

    #[test]
    fn half_a_mapped_range_is_refused() {
        for text in ["::/0", "::fffe:ffff:ffff-::ffff:0.0.0.0", "::ffff:255.255.255.255-::1:0:0:0"] {
            assert_eq!(unmapped(range(text)), Err(PartlyMapped(range(text))), "{text}");
        }
    }
}
