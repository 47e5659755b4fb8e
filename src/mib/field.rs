//! What a cell or an index part says, once decoded.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The value of an index part or of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Field {
    /// A number of any of SNMP's integer types.
    Integer(i128),
    /// An address.
    Address(IpAddr),
    /// A network, with the length of its prefix where that was told with it.
    Network(IpAddr, Option<u8>),
    /// InetAddressType unknown(0) with no octets: there is no address.
    NoAddress,
    /// An address that is well framed but that no range can be made of; why.
    Refused(String),
    /// Text or bits, as the octets that were sent.
    Octets(Vec<u8>),
    /// An object identifier.
    Arcs(Vec<u32>),
}

/// What kind of value a field holds: what it may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Address,
    AddressType,
    Bits,
    Integer,
    Network,
    Oid,
    RowStatus,
    Text,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "an address",
            Self::AddressType => "an address type",
            Self::Bits => "bits",
            Self::Integer => "a number",
            Self::Network => "a network",
            Self::Oid => "an OID",
            Self::RowStatus => "a row status",
            Self::Text => "text",
        })
    }
}

/// Four octets as an address.
pub(super) fn v4(octets: [u8; 4]) -> Field {
    Field::Address(IpAddr::V4(Ipv4Addr::from(octets)))
}

/// Sixteen octets as an address. IPv4 written as IPv6 is refused: taken as it stands it
/// would claim IPv6 addresses that nobody has, and taken as IPv4 it would mix families.
pub(super) fn v6(octets: [u8; 16]) -> Field {
    let address = Ipv6Addr::from(octets);
    match address.to_ipv4_mapped() {
        Some(v4) => Field::Refused(format!("{address} is {v4} written as IPv6")),
        None => Field::Address(IpAddr::V6(address)),
    }
}

/// An InetAddress (RFC 4001) of an InetAddressType.
///
/// # Errors
/// Where octets and type contradict each other.
pub(super) fn inet_address(kind: i128, octets: &[u8]) -> Result<Field, String> {
    let contradiction = || format!("address type {kind} with {} octets", octets.len());
    match (kind, octets.len()) {
        (0, 0) => Ok(Field::NoAddress),
        (1, 4) => octets.try_into().map(v4).map_err(|_| contradiction()),
        (2, 16) => octets.try_into().map(v6).map_err(|_| contradiction()),
        (3, 8) | (4, 20) => Ok(Field::Refused("the address has a zone".to_owned())),
        _ => Err(contradiction()),
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(n) => write!(f, "{n}"),
            Self::Address(address) | Self::Network(address, None) => write!(f, "{address}"),
            Self::Network(address, Some(length)) => write!(f, "{address}/{length}"),
            Self::NoAddress => f.write_str("no address"),
            Self::Refused(why) => f.write_str(why),
            Self::Octets(octets) => write!(f, "\"{}\"", octets.escape_ascii()),
            Self::Arcs(arcs) => {
                let arcs: Vec<String> = arcs.iter().map(u32::to_string).collect();
                f.write_str(&arcs.join("."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inet_addresses_need_octets_that_fit_their_type() {
        assert_eq!(inet_address(0, &[]), Ok(Field::NoAddress));
        assert_eq!(inet_address(1, &[192, 0, 2, 1]), Ok(Field::Address("192.0.2.1".parse().unwrap())));
        let mut octets = [0; 16];
        octets[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
        assert_eq!(inet_address(2, &octets), Ok(Field::Address("2001:db8::".parse().unwrap())));
        for (kind, length) in
            [(0, 4), (1, 0), (1, 5), (1, 16), (2, 4), (2, 15), (3, 4), (4, 16), (16, 4), (-1, 4)]
        {
            assert!(inet_address(kind, &vec![1; length]).is_err(), "{kind} {length}");
        }
        assert!(matches!(inet_address(3, &[0; 8]), Ok(Field::Refused(_))));
    }

    #[test]
    fn ipv4_written_as_ipv6_is_refused() {
        let mut octets = [0; 16];
        octets[10..].copy_from_slice(&[0xff, 0xff, 192, 0, 2, 1]);
        assert!(matches!(inet_address(2, &octets), Ok(Field::Refused(_))));
    }
}
