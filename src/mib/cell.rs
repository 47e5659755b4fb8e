//! Cells: what a varbind's value says where its column is known. The column declares the
//! form; nothing is guessed from the content, and a contradiction is an error of the cell.

use std::net::IpAddr;

use super::descriptor::Own;
use super::field::{Field, Kind, inet_address, v4, v6};
use crate::snmp::ValueRef;

/// The form of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnForm {
    /// Any of SNMP's integer types: agents differ from their MIB in the tag.
    Integer,
    /// As `Integer`, but never negative.
    Count,
    /// IpAddress of exactly four octets.
    IpAddress,
    /// An IPv4 address as OCTET STRING of four octets.
    Octets4,
    /// An IPv6 address as OCTET STRING of sixteen octets.
    Octets16,
    /// The leading octets of an IPv6 address, at most sixteen; the rest are zeros.
    Ipv6Prefix,
    /// An IPv4 address as a 32-bit integer of either sign.
    AddressInteger,
    /// An address as text.
    AddressText,
    /// InetAddressType (RFC 4001).
    AddressType,
    /// InetAddress: octets whose type another field gives.
    Address { kind: Own },
    /// A network, whose type another field gives; as text its type may stand for itself.
    Network { kind: Option<Own>, written: Written },
    /// Text in the router's encoding.
    Text,
    /// RowStatus (RFC 2579).
    RowStatus,
    /// BITS (RFC 2578): bit 0 is the highest of the first octet.
    Bits,
}

/// How a network is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// As text where it is the text of a network, else as octets. No network that anybody
    /// has is, as sixteen octets, the text of one: they would begin with a digit or letter,
    /// and nothing is assigned there.
    Either,
    /// As text, perhaps with its length: `192.0.2.0/24`.
    Text,
    /// As four or sixteen octets.
    Octets,
}

impl ColumnForm {
    /// What the cells may be used for.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Integer | Self::Count => Kind::Integer,
            Self::IpAddress | Self::Octets4 | Self::Octets16 | Self::Ipv6Prefix => Kind::Address,
            Self::AddressInteger | Self::AddressText | Self::Address { .. } => Kind::Address,
            Self::AddressType => Kind::AddressType,
            Self::Network { .. } => Kind::Network,
            Self::Text => Kind::Text,
            Self::RowStatus => Kind::RowStatus,
            Self::Bits => Kind::Bits,
        }
    }

    /// The field that gives its InetAddressType.
    pub(super) fn address_type(self) -> Option<Own> {
        match self {
            Self::Address { kind } => Some(kind),
            Self::Network { kind, .. } => kind,
            _ => None,
        }
    }
}

/// Decodes a cell. `kind` is the InetAddressType where the form needs one.
///
/// # Errors
/// In words, where the value is not of the column's form.
pub(super) fn decode(form: ColumnForm, value: ValueRef<'_>, kind: Option<i128>) -> Result<Field, String> {
    let address = match form {
        ColumnForm::Integer | ColumnForm::AddressType | ColumnForm::RowStatus => return integer(value),
        ColumnForm::Count => match integer(value)? {
            Field::Integer(n) if n < 0 => return Err(format!("{n} is no count")),
            count => return Ok(count),
        },
        ColumnForm::Text | ColumnForm::Bits => return octets(value).map(|o| Field::Octets(o.to_vec())),
        ColumnForm::IpAddress => ip_address(value)?,
        ColumnForm::Octets4 => v4(exactly(octets(value)?)?),
        ColumnForm::Octets16 => v6(exactly(octets(value)?)?),
        ColumnForm::Ipv6Prefix => v6(padded(octets(value)?)?),
        ColumnForm::Network { written, .. } => network(written, kind, octets(value)?)?,
        ColumnForm::AddressInteger => address_integer(value)?,
        ColumnForm::AddressText => address_text(octets(value)?)?,
        ColumnForm::Address { .. } => inet_address(kind.unwrap_or(-1), octets(value)?)?,
    };
    match address {
        Field::Refused(why) => Err(why),
        address => Ok(address),
    }
}

fn integer(value: ValueRef<'_>) -> Result<Field, String> {
    Ok(Field::Integer(match value {
        ValueRef::Integer(n) => n.into(),
        ValueRef::Counter32(n) | ValueRef::Gauge32(n) => n.into(),
        ValueRef::Counter64(n) => n.into(),
        other => return Err(unexpected("an integer", other)),
    }))
}

fn octets(value: ValueRef<'_>) -> Result<&[u8], String> {
    match value {
        ValueRef::Octets(octets) => Ok(octets),
        other => Err(unexpected("an OCTET STRING", other)),
    }
}

fn ip_address(value: ValueRef<'_>) -> Result<Field, String> {
    match value {
        ValueRef::IpAddress(octets) => Ok(v4(exactly(octets)?)),
        other => Err(unexpected("an IpAddress", other)),
    }
}

fn exactly<const N: usize>(octets: &[u8]) -> Result<[u8; N], String> {
    octets.try_into().map_err(|_| format!("{} octets where an address has {N}", octets.len()))
}

fn padded(octets: &[u8]) -> Result<[u8; 16], String> {
    let mut all = [0; 16];
    let head = all.get_mut(..octets.len());
    head.ok_or_else(|| format!("{} octets where an address has 16", octets.len()))?.copy_from_slice(octets);
    Ok(all)
}

fn network(written: Written, kind: Option<i128>, octets: &[u8]) -> Result<Field, String> {
    let from_octets = || match inet_address(kind.unwrap_or(-1), octets)? {
        Field::Address(address) => Ok(Field::Network(address, None)),
        other => Ok(other),
    };
    match written {
        Written::Octets => from_octets(),
        Written::Text => network_text(kind, octets),
        Written::Either => network_text(kind, octets)
            .or_else(|no_text| if matches!(octets.len(), 4 | 16) { from_octets() } else { Err(no_text) }),
    }
}

/// A network as text: an address, perhaps with `/` and the length of its prefix.
fn network_text(kind: Option<i128>, octets: &[u8]) -> Result<Field, String> {
    if octets.is_empty() {
        return Ok(Field::NoAddress);
    }
    let no_network = || format!("\"{}\" is no network", octets.escape_ascii());
    let text = std::str::from_utf8(octets).map_err(|_| no_network())?;
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let (address, family, width) = match address.parse::<IpAddr>().map_err(|_| no_network())? {
        IpAddr::V4(address) => (v4(address.octets()), 1, 32),
        IpAddr::V6(address) => (v6(address.octets()), 2, 128),
    };
    if kind.is_some_and(|kind| kind != family) {
        return Err(format!("\"{text}\" is not of address type {}", kind.unwrap_or_default()));
    }
    let digits = |length: &&str| length.bytes().all(|byte| byte.is_ascii_digit());
    let length = length.map(|length| {
        let number = Some(length).filter(digits).and_then(|length| length.parse::<u8>().ok());
        number.filter(|number| *number <= width).ok_or_else(no_network)
    });
    match address {
        Field::Address(address) => Ok(Field::Network(address, length.transpose()?)),
        other => Ok(other),
    }
}

/// A 32-bit address as INTEGER is negative from 128.0.0.0 on, where the agent keeps to 32
/// bits, or has five octets, where it does not.
fn address_integer(value: ValueRef<'_>) -> Result<Field, String> {
    let Field::Integer(n) = integer(value)? else { return Err("no integer".to_owned()) };
    let bits = u32::try_from(n).or_else(|_| i32::try_from(n).map(i32::cast_unsigned));
    bits.map(|bits| v4(bits.to_be_bytes())).map_err(|_| format!("{n} does not fit 32 bits"))
}

fn address_text(octets: &[u8]) -> Result<Field, String> {
    let text = std::str::from_utf8(octets).map_err(|_| "an address that is no text".to_owned())?;
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Ok(v4(address.octets())),
        Ok(IpAddr::V6(address)) => Ok(v6(address.octets())),
        Err(_) => Err(format!("\"{}\" is no address", octets.escape_ascii())),
    }
}

fn unexpected(wanted: &str, value: ValueRef<'_>) -> String {
    let got = match value {
        ValueRef::Integer(_) => "an INTEGER",
        ValueRef::Octets(_) => "an OCTET STRING",
        ValueRef::Null => "NULL",
        ValueRef::ObjectId(_) => "an OBJECT IDENTIFIER",
        ValueRef::IpAddress(_) => "an IpAddress",
        ValueRef::Counter32(_) => "a Counter32",
        ValueRef::Gauge32(_) => "a Gauge32",
        ValueRef::TimeTicks(_) => "TimeTicks",
        ValueRef::Opaque(_) => "an Opaque",
        ValueRef::Counter64(_) => "a Counter64",
        ValueRef::Undecodable { tag, .. } => return format!("an undecodable value with tag {tag:#04x}"),
        ValueRef::NoSuchObject | ValueRef::NoSuchInstance | ValueRef::EndOfMibView => "an exception",
    };
    format!("{got} where {wanted} belongs")
}

/// The numbers of the bits that are set.
pub(super) fn bits_set(octets: &[u8]) -> impl Iterator<Item = i128> {
    octets.iter().enumerate().flat_map(|(at, &octet)| {
        (0..8u8)
            .filter(move |bit| octet & (0x80 >> bit) != 0)
            .map(move |bit| (at as i128) * 8 + i128::from(bit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snmp::{Rows, Value};

    /// Decodes a value as it stands in a table that was read.
    fn decode(form: ColumnForm, value: &Value, kind: Option<i128>) -> Result<Field, String> {
        let mut rows = Rows::new(1);
        rows.set(&[1], 0, Some(value));
        super::decode(form, rows.get(&[1]).unwrap().get(0).unwrap(), kind)
    }

    fn address(text: &str) -> Result<Field, String> {
        Ok(Field::Address(text.parse().unwrap()))
    }

    fn octets(text: &[u8]) -> Value {
        Value::Octets(text.to_vec())
    }

    #[test]
    fn counts_come_with_any_integer_tag() {
        let values = [Value::Integer(7), Value::Counter32(7), Value::Gauge32(7), Value::Counter64(7)];
        for value in values {
            assert_eq!(decode(ColumnForm::Count, &value, None), Ok(Field::Integer(7)), "{value:?}");
        }
        assert!(decode(ColumnForm::Count, &Value::Integer(-1), None).is_err());
        assert!(decode(ColumnForm::Count, &octets(b"7"), None).is_err());
        assert!(decode(ColumnForm::Count, &Value::TimeTicks(7), None).is_err());
    }

    #[test]
    fn an_ip_address_has_four_octets_or_is_an_error_of_its_cell() {
        let decode = |octets: &[u8]| decode(ColumnForm::IpAddress, &Value::IpAddress(octets.to_vec()), None);
        assert_eq!(decode(&[192, 0, 2, 1]), address("192.0.2.1"));
        assert!(decode(&[]).is_err());
        assert!(decode(&[0xc0, 0, 2, 0, 0xc0, 0, 2, 0xff]).is_err());
        assert!(super::tests::decode(ColumnForm::IpAddress, &octets(&[192, 0, 2, 1]), None).is_err());
        let broken = Value::Undecodable { tag: 0x40, octets: vec![1] };
        assert!(super::tests::decode(ColumnForm::IpAddress, &broken, None).is_err());
    }

    #[test]
    fn an_address_as_integer_is_the_same_in_all_its_forms() {
        let decode = |value| decode(ColumnForm::AddressInteger, &value, None);
        assert_eq!(decode(Value::Integer(-889163270)), address("203.0.113.250"));
        assert_eq!(decode(Value::Integer(0xcb00_71fa)), address("203.0.113.250"));
        assert_eq!(decode(Value::Gauge32(0xcb00_71fa)), address("203.0.113.250"));
        assert!(decode(Value::Integer(0x01_cb00_71fa)).is_err());
        assert!(decode(Value::Integer(i64::from(i32::MIN) - 1)).is_err());
    }

    #[test]
    fn the_column_says_whether_octets_are_text_or_an_address() {
        assert_eq!(decode(ColumnForm::Octets4, &octets(b"10.1"), None), address("49.48.46.49"));
        assert_eq!(decode(ColumnForm::AddressText, &octets(b"192.0.2.10"), None), address("192.0.2.10"));
        assert!(decode(ColumnForm::AddressText, &octets(b"10.1"), None).is_err());
        assert!(decode(ColumnForm::AddressText, &octets(&[0xff]), None).is_err());
        let mut six = [0; 16];
        six[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
        six[15] = 0x10;
        assert_eq!(decode(ColumnForm::Octets16, &octets(&six), None), address("2001:db8::10"));
        assert!(decode(ColumnForm::Octets16, &octets(&six[..15]), None).is_err());
        assert!(decode(ColumnForm::Octets4, &octets(&six), None).is_err());
    }

    #[test]
    fn ipv4_written_as_ipv6_is_refused_in_every_form() {
        let mut mapped = [0; 16];
        mapped[10..].copy_from_slice(&[0xff, 0xff, 192, 0, 2, 1]);
        let form = ColumnForm::Address { kind: Own::Part(0) };
        assert!(decode(ColumnForm::Octets16, &octets(&mapped), None).is_err());
        assert!(decode(form, &octets(&mapped), Some(2)).is_err());
        assert!(decode(ColumnForm::AddressText, &octets(b"::ffff:192.0.2.1"), None).is_err());
    }

    #[test]
    fn an_inet_address_needs_its_type() {
        let form = ColumnForm::Address { kind: Own::Part(0) };
        assert_eq!(decode(form, &octets(&[10, 0, 0, 250]), Some(1)), address("10.0.0.250"));
        assert_eq!(decode(form, &octets(&[]), Some(0)), Ok(Field::NoAddress));
        assert!(decode(form, &octets(&[10, 0, 0, 250]), Some(2)).is_err());
        assert!(decode(form, &octets(&[10, 0, 0, 250]), None).is_err());
    }

    #[test]
    fn a_short_ipv6_prefix_is_padded_with_zeros() {
        let decode = |text: &[u8]| decode(ColumnForm::Ipv6Prefix, &octets(text), None);
        assert_eq!(decode(&[0x20, 1, 0xd, 0xb8, 0x10]), address("2001:db8:1000::"));
        assert_eq!(decode(&[]), address("::"));
        let mut whole = [0; 16];
        whole[..2].copy_from_slice(&[0x20, 1]);
        whole[15] = 9;
        assert_eq!(decode(&whole), address("2001::9"));
        assert!(decode(&[0x20; 17]).is_err());
        let mut mapped = [0; 16];
        mapped[10..].copy_from_slice(&[0xff, 0xff, 192, 0, 2, 1]);
        assert!(decode(&mapped).is_err());
    }

    fn network(written: Written, kind: Option<i128>, text: &[u8]) -> Result<Field, String> {
        decode(ColumnForm::Network { kind: Some(Own::Part(0)), written }, &octets(text), kind)
    }

    #[test]
    fn a_network_is_read_as_text_or_as_octets() {
        let ip = |text: &str| text.parse().unwrap();
        let text = |kind, text: &str| network(Written::Either, Some(kind), text.as_bytes());
        assert_eq!(text(1, "10.0.0.0/22"), Ok(Field::Network(ip("10.0.0.0"), Some(22))));
        assert_eq!(text(1, "10.0.0.0"), Ok(Field::Network(ip("10.0.0.0"), None)));
        assert_eq!(text(2, "2001:db8:1000::"), Ok(Field::Network(ip("2001:db8:1000::"), None)));
        // Sixteen characters are no sixteen octets.
        assert_eq!(text(2, "2001:db8:10::/48"), Ok(Field::Network(ip("2001:db8:10::"), Some(48))));
        assert_eq!(text(1, ""), Ok(Field::NoAddress));
        let either = |kind, octets: &[u8]| network(Written::Either, Some(kind), octets);
        assert_eq!(either(1, &[100, 64, 0, 0]), Ok(Field::Network(ip("100.64.0.0"), None)));
        // Four characters are four octets where the type is IPv4, and a text where it is IPv6.
        assert_eq!(either(1, b"::/0"), Ok(Field::Network(ip("58.58.47.48"), None)));
        assert_eq!(either(2, b"::/0"), Ok(Field::Network(ip("::"), Some(0))));
    }

    #[test]
    fn a_network_that_contradicts_its_type_or_form_is_refused() {
        for (written, kind, octets) in [
            (Written::Either, Some(1), &b"2001:db8::/32"[..]),
            (Written::Either, Some(2), b"10.0.0.0/22"),
            (Written::Either, Some(1), b"10.0.0.0/33"),
            (Written::Either, Some(1), b"10.0.0.0/"),
            (Written::Either, Some(1), b"10.0.0.0/+8"),
            (Written::Either, Some(1), b"10.0.0.0/22 "),
            (Written::Either, Some(2), &[100, 64, 0, 0]),
            (Written::Either, Some(1), &[1, 2, 3]),
            (Written::Either, Some(2), b"::ffff:192.0.2.0/120"),
            (Written::Either, Some(3), &[100, 64, 0, 0]),
            (Written::Either, None, &[100, 64, 0, 0]),
            (Written::Text, Some(1), &[100, 64, 0, 0]),
            (Written::Octets, Some(1), b"10.0.0.0/22"),
        ] {
            assert!(network(written, kind, octets).is_err(), "{written:?} {kind:?} {octets:?}");
        }
        let untyped = ColumnForm::Network { kind: None, written: Written::Text };
        assert!(decode(untyped, &octets(b"10.0.0.0/22"), None).is_ok());
    }

    #[test]
    fn bit_0_is_the_highest_of_the_first_octet() {
        assert_eq!(bits_set(&[0x80]).collect::<Vec<_>>(), [0]);
        assert_eq!(bits_set(&[0xc0, 0x01]).collect::<Vec<_>>(), [0, 1, 15]);
        assert_eq!(bits_set(&[]).count(), 0);
    }
}
