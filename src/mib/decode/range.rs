//! One range from two fields.

use std::net::IpAddr;

use super::super::descriptor::Recipe;
use super::super::field::Field;
use super::super::rejected::{Reject, RejectReason};
use crate::address::{Family, Range, RangeError};

/// The range that a row's two fields make.
///
/// # Errors
/// Where they make none: void (no address, reversed) or not to be believed.
pub(super) fn range(recipe: Recipe, first: Field, second: Field) -> Result<Range, Reject> {
    match recipe {
        Recipe::StartEnd(..) => start_end(address(first)?, address(second)?),
        Recipe::NetworkMask(..) => {
            let network = address(first)?;
            match second {
                Field::Address(mask) => block(network, mask_length(network, mask)?),
                other => Err(Reject::new(RejectReason::NoAddress, format!("the mask is {other}"))),
            }
        }
        Recipe::PrefixLength(..) => {
            let prefix = address(first)?;
            match second {
                Field::Integer(length) => block(prefix, length),
                other => Err(Reject::new(RejectReason::BadCell, format!("{other} is no prefix length"))),
            }
        }
    }
}

/// An address that stands for addresses: routers write 0.0.0.0 or 255.255.255.255 where
/// nothing is configured.
fn address(field: Field) -> Result<IpAddr, Reject> {
    match field {
        Field::Address(address) => {
            let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
            if address.is_unspecified() || broadcast {
                return Err(Reject::new(RejectReason::NoAddress, format!("{address} stands for none")));
            }
            Ok(address)
        }
        Field::NoAddress => Err(Reject::new(RejectReason::NoAddress, "the address is empty")),
        other => Err(Reject::new(RejectReason::BadCell, format!("{other} is no address"))),
    }
}

fn start_end(first: IpAddr, last: IpAddr) -> Result<Range, Reject> {
    Range::new(first, last).map_err(|error| match error {
        RangeError::Mixed { .. } => Reject::new(RejectReason::Contradiction, error.to_string()),
        RangeError::Reversed { .. } => Reject::new(RejectReason::Reversed, error.to_string()),
    })
}

fn mask_length(network: IpAddr, mask: IpAddr) -> Result<i128, Reject> {
    let (ones, zeros, width) = match (network, mask) {
        (IpAddr::V4(_), IpAddr::V4(mask)) => {
            (mask.to_bits().leading_ones(), mask.to_bits().trailing_zeros(), 32)
        }
        (IpAddr::V6(_), IpAddr::V6(mask)) => {
            (mask.to_bits().leading_ones(), mask.to_bits().trailing_zeros(), 128)
        }
        _ => {
            let detail = format!("{network} and its mask {mask} are of different families");
            return Err(Reject::new(RejectReason::Contradiction, detail));
        }
    };
    // Ones first, then zeros alone. All ones have no trailing zero.
    if ones + zeros == width || ones == width {
        return Ok(ones.into());
    }
    Err(Reject::new(RejectReason::BadCell, format!("{mask} is no mask: its ones do not stand together")))
}

fn block(network: IpAddr, length: i128) -> Result<Range, Reject> {
    let family = Family::of(network);
    let width = i128::from(family.width());
    if !(0..=width).contains(&length) {
        return Err(Reject::new(RejectReason::BadCell, format!("{length} is no prefix length of {network}")));
    }
    let single = Range::single(network);
    let host = match u32::try_from(width - length) {
        Ok(128) => u128::MAX,
        Ok(bits) => (1 << bits) - 1,
        Err(_) => 0,
    };
    if single.first_bits() & host != 0 {
        let detail = format!("{network}/{length} has host bits set");
        return Err(Reject::new(RejectReason::Contradiction, detail));
    }
    Range::from_bits(family, single.first_bits(), single.first_bits() | host)
        .ok_or_else(|| Reject::new(RejectReason::BadCell, format!("{network}/{length} is no prefix")))
}

#[cfg(test)]
mod tests {
    use super::super::super::descriptor::{Own, Ref};
    use super::*;

    const FIELD: Ref = Ref::Own(Own::Part(0));

    fn ip(text: &str) -> Field {
        Field::Address(text.parse().unwrap())
    }

    fn reason(result: Result<Range, Reject>) -> RejectReason {
        result.unwrap_err().reason
    }

    #[test]
    fn start_and_end() {
        let range = |first, last| range(Recipe::StartEnd(FIELD, FIELD), first, last);
        assert_eq!(range(ip("10.0.0.3"), ip("10.0.0.250")), Ok("10.0.0.3-10.0.0.250".parse().unwrap()));
        assert_eq!(range(ip("10.0.0.3"), ip("10.0.0.3")), Ok("10.0.0.3".parse().unwrap()));
        assert_eq!(reason(range(ip("10.0.0.3"), ip("10.0.0.2"))), RejectReason::Reversed);
        assert_eq!(reason(range(ip("10.0.0.3"), ip("2001:db8::"))), RejectReason::Contradiction);
        for void in ["0.0.0.0", "255.255.255.255", "::"] {
            assert_eq!(reason(range(ip(void), ip("10.0.0.2"))), RejectReason::NoAddress, "{void}");
            assert_eq!(reason(range(ip("10.0.0.2"), ip(void))), RejectReason::NoAddress, "{void}");
        }
        assert_eq!(reason(range(Field::NoAddress, ip("10.0.0.2"))), RejectReason::NoAddress);
        assert_eq!(reason(range(Field::Octets(vec![]), ip("10.0.0.2"))), RejectReason::BadCell);
    }

    #[test]
    fn network_and_mask() {
        let range = |first, last| range(Recipe::NetworkMask(FIELD, FIELD), first, last);
        assert_eq!(range(ip("10.9.0.0"), ip("255.255.252.0")), Ok("10.9.0.0/22".parse().unwrap()));
        assert_eq!(range(ip("10.9.0.1"), ip("255.255.255.255")), Ok("10.9.0.1/32".parse().unwrap()));
        assert_eq!(range(ip("128.0.0.0"), ip("128.0.0.0")), Ok("128.0.0.0/1".parse().unwrap()));
        assert_eq!(range(ip("2001:db8::"), ip("ffff:ffff::")), Ok("2001:db8::/32".parse().unwrap()));
        assert_eq!(reason(range(ip("10.9.0.0"), ip("255.0.255.0"))), RejectReason::BadCell);
        assert_eq!(reason(range(ip("10.9.0.0"), ip("0.0.0.255"))), RejectReason::BadCell);
        assert_eq!(reason(range(ip("10.9.0.1"), ip("255.255.252.0"))), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("10.9.0.0"), ip("0.0.0.0"))), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("10.9.0.0"), ip("ffff::"))), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("0.0.0.0"), ip("255.0.0.0"))), RejectReason::NoAddress);
        assert_eq!(reason(range(ip("10.9.0.0"), Field::NoAddress)), RejectReason::NoAddress);
    }

    #[test]
    fn prefix_and_length() {
        let range = |first, length| range(Recipe::PrefixLength(FIELD, FIELD), first, Field::Integer(length));
        assert_eq!(range(ip("2001:db8:1000::"), 40), Ok("2001:db8:1000::/40".parse().unwrap()));
        assert_eq!(range(ip("10.0.0.7"), 32), Ok("10.0.0.7".parse().unwrap()));
        assert_eq!(range(ip("2001:db8::7"), 128), Ok("2001:db8::7".parse().unwrap()));
        assert_eq!(reason(range(ip("10.0.0.0"), 33)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("10.0.0.0"), -1)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("2001:db8::"), 129)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("2001:db8:1000::"), 32)), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("2001:db8::"), 0)), RejectReason::Contradiction);
    }
}
