//! Values of varbinds, as strictly read.

use snmp2::snmp as wire;

use super::Oid;
use super::ber;

/// The value of a varbind (RFC 2578, section 7.1; RFC 3416, section 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// INTEGER, tag 2.
    Integer(i64),
    /// OCTET STRING, tag 4.
    Octets(Vec<u8>),
    /// NULL, tag 5.
    Null,
    /// OBJECT IDENTIFIER, tag 6.
    ObjectId(Oid),
    /// IpAddress, tag 0x40. The octets as sent: some routers send 0 or 8 of them, and that
    /// is an error of the cell, not of the message.
    IpAddress(Vec<u8>),
    /// Counter32, tag 0x41.
    Counter32(u32),
    /// Gauge32 or Unsigned32, tag 0x42.
    Gauge32(u32),
    /// TimeTicks in hundredths of a second, tag 0x43.
    TimeTicks(u32),
    /// Opaque, tag 0x44.
    Opaque(Vec<u8>),
    /// Counter64, tag 0x46.
    Counter64(u64),
    /// A value of a well-framed varbind that cannot be what its tag says: an error of this
    /// cell alone.
    Undecodable {
        /// The BER tag.
        tag: u8,
        /// The octets behind it.
        octets: Vec<u8>,
    },
    /// Exception noSuchObject, tag 0x80.
    NoSuchObject,
    /// Exception noSuchInstance, tag 0x81.
    NoSuchInstance,
    /// Exception endOfMibView, tag 0x82.
    EndOfMibView,
}

/// A value where it was read: what a [`Value`] holds is borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRef<'a> {
    /// INTEGER.
    Integer(i64),
    /// OCTET STRING.
    Octets(&'a [u8]),
    /// NULL.
    Null,
    /// OBJECT IDENTIFIER, encoded.
    ObjectId(&'a [u8]),
    /// IpAddress, of whatever length.
    IpAddress(&'a [u8]),
    /// Counter32.
    Counter32(u32),
    /// Gauge32 or Unsigned32.
    Gauge32(u32),
    /// TimeTicks in hundredths of a second.
    TimeTicks(u32),
    /// Opaque.
    Opaque(&'a [u8]),
    /// Counter64.
    Counter64(u64),
    /// What cannot be what its tag says.
    Undecodable {
        /// The BER tag.
        tag: u8,
        /// The octets behind it.
        octets: &'a [u8],
    },
    /// Exception noSuchObject.
    NoSuchObject,
    /// Exception noSuchInstance.
    NoSuchInstance,
    /// Exception endOfMibView.
    EndOfMibView,
}

impl<'a> ValueRef<'a> {
    /// The value that these octets are under this tag; what they cannot be is undecodable.
    pub(super) fn read(tag: u8, octets: &'a [u8]) -> Self {
        let narrow = |octets| ber::unsigned(octets, 4).and_then(|n| u32::try_from(n).ok());
        let decoded = match tag {
            ber::INTEGER => ber::signed(octets).map(Self::Integer),
            ber::OCTET_STRING => Some(Self::Octets(octets)),
            ber::NULL => octets.is_empty().then_some(Self::Null),
            ber::OBJECT_ID => ber::oid(octets).map(|_| Self::ObjectId(octets)),
            wire::TYPE_IPADDRESS => Some(Self::IpAddress(octets)),
            wire::TYPE_COUNTER32 => narrow(octets).map(Self::Counter32),
            wire::TYPE_GAUGE32 => narrow(octets).map(Self::Gauge32),
            wire::TYPE_TIMETICKS => narrow(octets).map(Self::TimeTicks),
            wire::TYPE_OPAQUE => Some(Self::Opaque(octets)),
            wire::TYPE_COUNTER64 => ber::unsigned(octets, 8).map(Self::Counter64),
            wire::SNMP_NOSUCHOBJECT => octets.is_empty().then_some(Self::NoSuchObject),
            wire::SNMP_NOSUCHINSTANCE => octets.is_empty().then_some(Self::NoSuchInstance),
            wire::SNMP_ENDOFMIBVIEW => octets.is_empty().then_some(Self::EndOfMibView),
            _ => None,
        };
        decoded.unwrap_or(Self::Undecodable { tag, octets })
    }

    /// The value in memory of its own.
    pub fn to_value(self) -> Value {
        match self {
            Self::Integer(n) => Value::Integer(n),
            Self::Octets(octets) => Value::Octets(octets.to_vec()),
            Self::Null => Value::Null,
            Self::ObjectId(octets) => match ber::oid(octets) {
                Some(oid) => Value::ObjectId(oid),
                None => Value::Undecodable { tag: ber::OBJECT_ID, octets: octets.to_vec() },
            },
            Self::IpAddress(octets) => Value::IpAddress(octets.to_vec()),
            Self::Counter32(n) => Value::Counter32(n),
            Self::Gauge32(n) => Value::Gauge32(n),
            Self::TimeTicks(n) => Value::TimeTicks(n),
            Self::Opaque(octets) => Value::Opaque(octets.to_vec()),
            Self::Counter64(n) => Value::Counter64(n),
            Self::Undecodable { tag, octets } => Value::Undecodable { tag, octets: octets.to_vec() },
            Self::NoSuchObject => Value::NoSuchObject,
            Self::NoSuchInstance => Value::NoSuchInstance,
            Self::EndOfMibView => Value::EndOfMibView,
        }
    }
}
