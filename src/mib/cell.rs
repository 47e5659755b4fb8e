//! Cells: what a varbind's value says where its column is known. The column declares the
//! form; nothing is guessed from the content, and a contradiction is an error of the cell.

use std::net::IpAddr;

use super::descriptor::Own;
use super::field::{Field, Kind, inet_address, v4, v6};
use crate::snmp::Value;

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
    /// An IPv4 address as a 32-bit integer of either sign.
    AddressInteger,
    /// An address as text.
    AddressText,
    /// InetAddressType (RFC 4001).
    AddressType,
    /// InetAddress: octets whose type another field gives.
    Address { kind: Own },
    /// Text in the router's encoding.
    Text,
    /// RowStatus (RFC 2579).
    RowStatus,
    /// BITS (RFC 2578): bit 0 is the highest of the first octet.
    Bits,
}

impl ColumnForm {
    /// What the cells may be used for.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Integer | Self::Count => Kind::Integer,
            Self::IpAddress | Self::Octets4 | Self::Octets16 => Kind::Address,
            Self::AddressInteger | Self::AddressText | Self::Address { .. } => Kind::Address,
            Self::AddressType => Kind::AddressType,
            Self::Text => Kind::Text,
            Self::RowStatus => Kind::RowStatus,
            Self::Bits => Kind::Bits,
        }
    }
}

/// Decodes a cell. `kind` is the InetAddressType where the form needs one.
///
/// # Errors
/// In words, where the value is not of the column's form.
pub(super) fn decode(form: ColumnForm, value: &Value, kind: Option<i128>) -> Result<Field, String> {
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
        ColumnForm::AddressInteger => address_integer(value)?,
        ColumnForm::AddressText => address_text(octets(value)?)?,
        ColumnForm::Address { .. } => inet_address(kind.unwrap_or(-1), octets(value)?)?,
    };
    match address {
        Field::Refused(why) => Err(why),
        address => Ok(address),
    }
}

fn integer(value: &Value) -> Result<Field, String> {
    Ok(Field::Integer(match value {
        Value::Integer(n) => (*n).into(),
        Value::Counter32(n) | Value::Gauge32(n) => (*n).into(),
        Value::Counter64(n) => (*n).into(),
        other => return Err(unexpected("an integer", other)),
    }))
}

fn octets(value: &Value) -> Result<&[u8], String> {
    match value {
        Value::Octets(octets) => Ok(octets),
        other => Err(unexpected("an OCTET STRING", other)),
    }
}

fn ip_address(value: &Value) -> Result<Field, String> {
    match value {
        Value::IpAddress(octets) => Ok(v4(exactly(octets)?)),
        other => Err(unexpected("an IpAddress", other)),
    }
}

fn exactly<const N: usize>(octets: &[u8]) -> Result<[u8; N], String> {
    octets.try_into().map_err(|_| format!("{} octets where an address has {N}", octets.len()))
}

/// A 32-bit address as INTEGER is negative from 128.0.0.0 on, where the agent keeps to 32
/// bits, or has five octets, where it does not.
fn address_integer(value: &Value) -> Result<Field, String> {
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

fn unexpected(wanted: &str, value: &Value) -> String {
    let got = match value {
        Value::Integer(_) => "an INTEGER",
        Value::Octets(_) => "an OCTET STRING",
        Value::Null => "NULL",
        Value::ObjectId(_) => "an OBJECT IDENTIFIER",
        Value::IpAddress(_) => "an IpAddress",
        Value::Counter32(_) => "a Counter32",
        Value::Gauge32(_) => "a Gauge32",
        Value::TimeTicks(_) => "TimeTicks",
        Value::Opaque(_) => "an Opaque",
        Value::Counter64(_) => "a Counter64",
        Value::Undecodable { tag, .. } => return format!("an undecodable value with tag {tag:#04x}"),
        Value::NoSuchObject | Value::NoSuchInstance | Value::EndOfMibView => "an exception",
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
        assert!(super::decode(ColumnForm::IpAddress, &octets(&[192, 0, 2, 1]), None).is_err());
        let broken = Value::Undecodable { tag: 0x40, octets: vec![1] };
        assert!(super::decode(ColumnForm::IpAddress, &broken, None).is_err());
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
    fn bit_0_is_the_highest_of_the_first_octet() {
        assert_eq!(bits_set(&[0x80]).collect::<Vec<_>>(), [0]);
        assert_eq!(bits_set(&[0xc0, 0x01]).collect::<Vec<_>>(), [0, 1, 15]);
        assert_eq!(bits_set(&[]).count(), 0);
    }
}
