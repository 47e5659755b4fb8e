//! One range from the fields that say it.

use std::net::IpAddr;

use super::super::descriptor::{Lengths, Recipe, Ref};
use super::super::field::Field;
use super::super::rejected::{Reject, RejectReason};
use crate::address::{Family, Range, RangeError};

/// The fields of a row that a range is made of.
#[derive(Clone, Debug)]
pub(super) enum Ends {
    StartEnd(Field, Field),
    NetworkMask(Field, Field),
    GatewayMask(Field, Field),
    Prefix(Field, Option<Field>),
    Run(Field, Field, Field),
}

impl Ends {
    /// Reads them. A length may be missing where it is optional and the network has one.
    pub(super) fn read(
        recipe: Recipe,
        field: impl Fn(Ref) -> Result<Field, Reject>,
        optional: impl Fn(Ref) -> bool,
    ) -> Result<Self, Reject> {
        Ok(match recipe {
            Recipe::StartEnd(first, last) => Self::StartEnd(field(first)?, field(last)?),
            Recipe::NetworkMask(network, mask) => Self::NetworkMask(field(network)?, field(mask)?),
            Recipe::GatewayMask(gateway, mask) => Self::GatewayMask(field(gateway)?, field(mask)?),
            Recipe::PrefixRun(first, last, length) => Self::Run(field(first)?, field(last)?, field(length)?),
            Recipe::PrefixLength(prefix, length) => {
                let prefix = field(prefix)?;
                let length = match length.map(|length| (field(length), optional(length))) {
                    None => None,
                    Some((Err(reject), true)) if reject.reason == RejectReason::MissingCell => None,
                    Some((length, _)) => Some(length?),
                };
                Self::Prefix(prefix, length)
            }
        })
    }

    /// Whether no address is configured: each stands for none.
    pub(super) fn are_unset(&self) -> bool {
        match self {
            Self::StartEnd(first, last) | Self::Run(first, last, _) => is_none(first) && is_none(last),
            Self::NetworkMask(address, _) | Self::GatewayMask(address, _) | Self::Prefix(address, _) => {
                is_none(address)
            }
        }
    }
}

/// The range that a row's fields make.
///
/// # Errors
/// Where they make none: void (no address, reversed) or not to be believed.
pub(super) fn range(ends: Ends) -> Result<Range, Reject> {
    match ends {
        Ends::StartEnd(first, last) => start_end(address(first)?, address(last)?),
        Ends::NetworkMask(network, mask) => {
            let network = address(network)?;
            block(network, mask_length(network, mask)?)
        }
        Ends::GatewayMask(gateway, mask) => gateway_block(gateway, mask),
        Ends::Prefix(Field::Network(network, told), length) => network_block(network, told, length),
        Ends::Prefix(prefix, length) => {
            let prefix = address(prefix)?;
            match length {
                Some(Field::Integer(length)) => block(prefix, length),
                _ => Err(unresolved(prefix)),
            }
        }
        Ends::Run(first, last, Field::Integer(length)) => run(address(first)?, address(last)?, length),
        Ends::Run(_, _, other) => {
            Err(Reject::new(RejectReason::BadCell, format!("{other} is no prefix length")))
        }
    }
}

/// Leaves out blocks that are longer or shorter than the descriptor wants.
pub(super) fn check_lengths(lengths: Lengths, range: Range) -> Result<(), Reject> {
    let wanted = match range.family() {
        Family::V4 => lengths.v4,
        Family::V6 => lengths.v6,
    };
    let Some((from, to)) = wanted else { return Ok(()) };
    let host_bits = (u128::BITS - range.span().leading_zeros()).try_into().unwrap_or(u8::MAX);
    let length = range.family().width().saturating_sub(host_bits);
    if (from..=to).contains(&length) {
        return Ok(());
    }
    let detail = format!("{}/{length}: prefixes of /{from} to /{to} are ranges", range.first());
    Err(Reject::new(RejectReason::Filtered, detail))
}

/// Whether an address stands for none: routers write 0.0.0.0 or 255.255.255.255 where
/// nothing is configured.
fn is_none(field: &Field) -> bool {
    match field {
        Field::Address(address) | Field::Network(address, _) => {
            address.is_unspecified() || matches!(address, IpAddr::V4(v4) if v4.is_broadcast())
        }
        Field::NoAddress => true,
        _ => false,
    }
}

/// An address that stands for addresses.
fn address(field: Field) -> Result<IpAddr, Reject> {
    match field {
        Field::NoAddress => Err(Reject::new(RejectReason::NoAddress, "the address is empty")),
        none if is_none(&none) => {
            Err(Reject::new(RejectReason::NoAddress, format!("{none} stands for none")))
        }
        Field::Address(address) => Ok(address),
        other => Err(Reject::new(RejectReason::BadCell, format!("{other} is no address"))),
    }
}

fn start_end(first: IpAddr, last: IpAddr) -> Result<Range, Reject> {
    Range::new(first, last).map_err(|error| match error {
        RangeError::Mixed { .. } => Reject::new(RejectReason::Contradiction, error.to_string()),
        RangeError::Reversed { .. } => Reject::new(RejectReason::Reversed, error.to_string()),
    })
}

/// The length of the prefix that a mask has: ones first, then zeros alone.
fn mask_length(network: IpAddr, mask: Field) -> Result<i128, Reject> {
    let mask = match mask {
        Field::Address(mask) => mask,
        other => return Err(Reject::new(RejectReason::NoAddress, format!("the mask is {other}"))),
    };
    let (family, bits) = (Family::of(mask), Range::single(mask).first_bits());
    if family != Family::of(network) {
        let detail = format!("{network} and its mask {mask} are of different families");
        return Err(Reject::new(RejectReason::Contradiction, detail));
    }
    let zeros = bits.trailing_zeros().min(family.width().into());
    let ones = u32::from(family.width()) - zeros;
    if bits.count_ones() == ones {
        return Ok(ones.into());
    }
    Err(Reject::new(RejectReason::BadCell, format!("{mask} is no mask: its ones do not stand together")))
}

/// The network that a gateway stands in.
fn gateway_block(gateway: Field, mask: Field) -> Result<Range, Reject> {
    let gateway = address(gateway)?;
    let length = mask_length(gateway, mask)?;
    let (family, single) = (Family::of(gateway), Range::single(gateway));
    if length == i128::from(family.width()) {
        let detail = format!("the network of gateway {gateway} has no other address");
        return Err(Reject::new(RejectReason::NoAddress, detail));
    }
    let host = host_bits(family, length)?;
    let network = family.address(single.first_bits() & !host);
    // A gateway without a mask would stand in the whole address space.
    block(address(Field::Address(network))?, length)
}

/// A network whose length stands with it, or in another field, or in both alike; 0 in the
/// other field means that it is not told there.
fn network_block(network: IpAddr, told: Option<u8>, length: Option<Field>) -> Result<Range, Reject> {
    let network = address(Field::Address(network))?;
    let other = match length {
        Some(Field::Integer(0)) | None => None,
        Some(Field::Integer(length)) => Some(length),
        Some(other) => {
            return Err(Reject::new(RejectReason::BadCell, format!("{other} is no prefix length")));
        }
    };
    match (told.map(i128::from), other) {
        (Some(told), Some(other)) if told != other => {
            let detail = format!("{network} has length {told} in its text, and {other} beside it");
            Err(Reject::new(RejectReason::Contradiction, detail))
        }
        (Some(length), _) | (None, Some(length)) => block(network, length),
        (None, None) => Err(unresolved(network)),
    }
}

fn unresolved(network: IpAddr) -> Reject {
    Reject::new(RejectReason::Unresolved, format!("how large {network} is, is not told"))
}

/// From the first address of a prefix to the last of another of the same length.
fn run(first: IpAddr, last: IpAddr, length: i128) -> Result<Range, Reject> {
    let (head, tail) = (block(first, length)?, block(last, length)?);
    start_end(head.first(), tail.last())
}

/// The host bits of a prefix of a length.
fn host_bits(family: Family, length: i128) -> Result<u128, Reject> {
    let width = i128::from(family.width());
    match u32::try_from(width - length) {
        Ok(bits) if bits <= u32::from(family.width()) => {
            Ok(1u128.checked_shl(bits).map_or(u128::MAX, |bit| bit - 1))
        }
        _ => Err(Reject::new(RejectReason::BadCell, format!("{length} is no prefix length"))),
    }
}

fn block(network: IpAddr, length: i128) -> Result<Range, Reject> {
    let (family, single) = (Family::of(network), Range::single(network));
    let host = host_bits(family, length)?;
    if single.first_bits() & host != 0 {
        let detail = format!("{network}/{length} has host bits set");
        return Err(Reject::new(RejectReason::Contradiction, detail));
    }
    Range::from_bits(family, single.first_bits(), single.first_bits() | host)
        .ok_or_else(|| Reject::new(RejectReason::BadCell, format!("{network}/{length} is no prefix")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ip(text: &str) -> Field {
        Field::Address(text.parse().unwrap())
    }

    fn reason(result: Result<Range, Reject>) -> RejectReason {
        result.unwrap_err().reason
    }

    #[test]
    fn start_and_end() {
        let range = |first, last| range(Ends::StartEnd(first, last));
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
        let range = |first, last| range(Ends::NetworkMask(first, last));
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
        let range = |first, length| range(Ends::Prefix(first, Some(Field::Integer(length))));
        assert_eq!(range(ip("2001:db8:1000::"), 40), Ok("2001:db8:1000::/40".parse().unwrap()));
        assert_eq!(range(ip("10.0.0.7"), 32), Ok("10.0.0.7".parse().unwrap()));
        assert_eq!(range(ip("2001:db8::7"), 128), Ok("2001:db8::7".parse().unwrap()));
        assert_eq!(reason(range(ip("10.0.0.0"), 33)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("10.0.0.0"), -1)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("2001:db8::"), 129)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("2001:db8:1000::"), 32)), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("2001:db8::"), 0)), RejectReason::Contradiction);
    }

    #[test]
    fn gateway_and_mask() {
        let range = |first, last| range(Ends::GatewayMask(first, last));
        assert_eq!(range(ip("10.9.2.1"), ip("255.255.252.0")), Ok("10.9.0.0/22".parse().unwrap()));
        assert_eq!(range(ip("10.9.0.0"), ip("255.255.252.0")), Ok("10.9.0.0/22".parse().unwrap()));
        assert_eq!(range(ip("2001:db8::1"), ip("ffff:ffff::")), Ok("2001:db8::/32".parse().unwrap()));
        assert_eq!(reason(range(ip("10.9.2.1"), ip("255.255.255.255"))), RejectReason::NoAddress);
        assert_eq!(reason(range(ip("255.255.255.255"), ip("255.255.255.255"))), RejectReason::NoAddress);
        assert_eq!(reason(range(ip("10.9.2.1"), ip("255.0.255.0"))), RejectReason::BadCell);
        assert_eq!(reason(range(ip("10.9.2.1"), ip("0.0.0.0"))), RejectReason::NoAddress);
    }

    #[test]
    fn a_network_has_its_length_with_it_or_beside_it() {
        let range = |told, beside: Option<i128>| {
            let network = Field::Network("10.9.0.0".parse().unwrap(), told);
            range(Ends::Prefix(network, beside.map(Field::Integer)))
        };
        let block = || Ok("10.9.0.0/22".parse().unwrap());
        assert_eq!(range(Some(22), Some(0)), block());
        assert_eq!(range(Some(22), None), block());
        assert_eq!(range(Some(22), Some(22)), block());
        assert_eq!(range(None, Some(22)), block());
        assert_eq!(reason(range(Some(22), Some(23))), RejectReason::Contradiction);
        assert_eq!(reason(range(None, Some(0))), RejectReason::Unresolved);
        assert_eq!(reason(range(None, None)), RejectReason::Unresolved);
        assert_eq!(reason(range(Some(8), None)), RejectReason::Contradiction);
        assert_eq!(reason(range(None, Some(-1))), RejectReason::BadCell);
        let everything = Field::Network("0.0.0.0".parse().unwrap(), Some(0));
        assert_eq!(reason(super::range(Ends::Prefix(everything, None))), RejectReason::NoAddress);
    }

    #[test]
    fn a_run_of_prefixes() {
        let range = |first, last, length| range(Ends::Run(first, last, Field::Integer(length)));
        assert_eq!(
            range(ip("2001:db8:1000::"), ip("2001:db8:10ff:ff00::"), 56),
            Ok("2001:db8:1000::/40".parse().unwrap())
        );
        assert_eq!(
            range(ip("2001:db8:0:1::"), ip("2001:db8:0:3::"), 64),
            Ok("2001:db8:0:1::-2001:db8:0:3:ffff:ffff:ffff:ffff".parse().unwrap())
        );
        assert_eq!(range(ip("10.0.0.0"), ip("10.0.0.0"), 32), Ok("10.0.0.0".parse().unwrap()));
        assert_eq!(reason(range(ip("2001:db8::1"), ip("2001:db8:1::"), 64)), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("2001:db8::"), ip("2001:db8:1::1"), 64)), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("2001:db8:1::"), ip("2001:db8::"), 64)), RejectReason::Reversed);
        assert_eq!(reason(range(ip("2001:db8::"), ip("10.0.0.0"), 8)), RejectReason::Contradiction);
        assert_eq!(reason(range(ip("2001:db8::"), ip("2001:db8:1::"), 129)), RejectReason::BadCell);
        assert_eq!(reason(range(ip("2001:db8::"), ip("::"), 64)), RejectReason::NoAddress);
    }

    #[test]
    fn only_wholly_unset_addresses_are_unset() {
        let unset = |first, last| Ends::StartEnd(first, last).are_unset();
        assert!(unset(ip("0.0.0.0"), ip("0.0.0.0")) && unset(Field::NoAddress, ip("255.255.255.255")));
        assert!(!unset(ip("0.0.0.0"), ip("10.0.0.1")) && !unset(ip("10.0.0.1"), ip("0.0.0.0")));
        assert!(Ends::NetworkMask(ip("0.0.0.0"), ip("255.0.0.0")).are_unset());
        assert!(!Ends::NetworkMask(ip("10.0.0.0"), ip("0.0.0.0")).are_unset());
        assert!(!Ends::Prefix(Field::Octets(vec![]), None).are_unset());
    }

    #[test]
    fn lengths_are_wanted_from_and_to() {
        let lengths = Lengths { v4: Some((8, 29)), v6: None };
        let wants = |text: &str| check_lengths(lengths, text.parse().unwrap()).is_ok();
        assert!(wants("10.0.0.0/8") && wants("10.0.0.0/29") && wants("::/0") && wants("2001:db8::1"));
        assert!(
            !wants("10.0.0.0/7") && !wants("10.0.0.0/30") && !wants("10.0.0.0/32") && !wants("0.0.0.0/0")
        );
        let lengths = Lengths { v4: None, v6: Some((0, 128)) };
        let wants = |text: &str| check_lengths(lengths, text.parse().unwrap()).is_ok();
        assert!(wants("::/0") && wants("2001:db8::1") && wants("10.0.0.0/30"));
    }

    proptest! {
        /// A mask has a length exactly where it is that of a prefix of this length.
        #[test]
        fn masks_of_prefixes_and_no_others(length in 0..=32u32, bits in any::<u32>()) {
            let mask = |bits: u32| Field::Address(IpAddr::V4(bits.into()));
            let network = IpAddr::V4(0x0a00_0000.into());
            let of_prefix = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            prop_assert_eq!(mask_length(network, mask(of_prefix)), Ok(i128::from(length)));
            let is_mask = (0..=32).any(|length| u32::MAX.checked_shl(32 - length).unwrap_or(0) == bits);
            prop_assert_eq!(mask_length(network, mask(bits)).is_ok(), is_mask);
        }
    }
}
