//! Values of varbinds, as strictly read.

use super::Oid;

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
