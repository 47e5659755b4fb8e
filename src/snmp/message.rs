//! Messages and PDUs as strictly read: an envelope that is not framed properly is malformed,
//! a value that cannot be what its tag says is an error of its cell alone.

use snmp2::snmp as wire;

use super::ber::{self, Malformed, OBJECT_ID, Reader, SEQUENCE};
use super::{Oid, Value, ValueRef};

/// msgVersion of SNMPv2c.
pub(super) const VERSION_2C: i64 = 1;
/// msgVersion of SNMPv3.
pub(super) const VERSION_3: i64 = 3;

/// What a PDU is for (RFC 3416, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PduKind {
    Get,
    GetNext,
    Response,
    Set,
    GetBulk,
    Inform,
    Trap,
    Report,
}

impl PduKind {
    pub(super) fn tag(self) -> u8 {
        match self {
            Self::Get => wire::MSG_GET,
            Self::GetNext => wire::MSG_GET_NEXT,
            Self::Response => wire::MSG_RESPONSE,
            Self::Set => wire::MSG_SET,
            Self::GetBulk => wire::MSG_GET_BULK,
            Self::Inform => wire::MSG_INFORM,
            Self::Trap => wire::MSG_TRAP,
            Self::Report => wire::MSG_REPORT,
        }
    }

    /// Whether it is answered (RFC 3411, 2.8).
    pub(super) fn is_confirmed(self) -> bool {
        matches!(self, Self::Get | Self::GetNext | Self::Set | Self::GetBulk | Self::Inform)
    }

    fn from_tag(tag: u8) -> Option<Self> {
        [
            Self::Get,
            Self::GetNext,
            Self::Response,
            Self::Set,
            Self::GetBulk,
            Self::Inform,
            Self::Trap,
            Self::Report,
        ]
        .into_iter()
        .find(|kind| kind.tag() == tag)
    }
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Varbind {
    pub(super) oid: Oid,
    pub(super) value: Value,
}

/// How the varbinds of a PDU are kept.
pub(super) trait List: Sized {
    /// Reads them all; one that is not framed properly makes the whole list malformed.
    fn read(list: Reader<'_>) -> Result<Self, Malformed>;

    /// The name of the first one.
    fn first_name(&self) -> Option<Oid>;
}

impl List for Vec<Varbind> {
    fn read(mut list: Reader<'_>) -> Result<Self, Malformed> {
        let mut varbinds = Self::new();
        while !list.rest().is_empty() {
            varbinds.push(read_varbind(&mut list)?);
        }
        Ok(varbinds)
    }

    fn first_name(&self) -> Option<Oid> {
        self.first().map(|varbind| varbind.oid.clone())
    }
}

/// A PDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pdu<L = Vec<Varbind>> {
    pub(super) kind: PduKind,
    pub(super) request_id: i32,
    /// error-status; non-repeaters of a GETBULK.
    pub(super) error_status: i32,
    /// error-index; max-repetitions of a GETBULK.
    pub(super) error_index: i32,
    pub(super) varbinds: L,
}

/// A message of SNMPv2c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommunityMessage<'a, L = Vec<Varbind>> {
    pub(super) community: &'a [u8],
    pub(super) pdu: Pdu<L>,
    /// Octets behind the message, which some agents send.
    pub(super) trailing: usize,
}

/// Reads a message of SNMPv2c.
pub(super) fn read_community(datagram: &[u8]) -> Result<CommunityMessage<'_>, Malformed> {
    read_community_as(datagram)
}

/// The same, its varbinds kept in another way.
pub(super) fn read_community_as<L: List>(datagram: &[u8]) -> Result<CommunityMessage<'_, L>, Malformed> {
    let mut outer = Reader::new(datagram);
    let mut message = outer.expect(SEQUENCE, "the message")?.reader();
    let at = message.at();
    let version: i64 = message.integer("the version")?;
    if version != VERSION_2C {
        return Err(Malformed::new(at, format!("version {version} where 1 (v2c) belongs")));
    }
    let community = message.octets("the community")?;
    let pdu = read_pdu(&mut message)?;
    message.finish("the message")?;
    Ok(CommunityMessage { community, pdu, trailing: outer.rest().len() })
}

/// Reads a PDU of any kind.
pub(super) fn read_pdu<L: List>(reader: &mut Reader<'_>) -> Result<Pdu<L>, Malformed> {
    let at = reader.at();
    let found = reader.any("the PDU")?;
    let kind = PduKind::from_tag(found.tag)
        .ok_or_else(|| Malformed::new(at, format!("tag {:#04x} is no PDU", found.tag)))?;
    let mut body = found.reader();
    let request_id = body.integer("the request id")?;
    let error_status = body.integer("the error status")?;
    let error_index = body.integer("the error index")?;
    let list = body.expect(SEQUENCE, "the list of varbinds")?.reader();
    body.finish("the PDU")?;
    Ok(Pdu { kind, request_id, error_status, error_index, varbinds: L::read(list)? })
}

fn read_varbind(list: &mut Reader<'_>) -> Result<Varbind, Malformed> {
    let mut reader = list.expect(SEQUENCE, "a varbind")?.reader();
    let at = reader.at();
    let name = reader.expect(OBJECT_ID, "a varbind's name")?;
    let oid = ber::oid(name.contents)
        .ok_or_else(|| Malformed::new(at, "a varbind's name is no OID of at most 128 arcs of 32 bits"))?;
    let value = reader.any("a varbind's value")?;
    reader.finish("a varbind")?;
    Ok(Varbind { oid, value: read_value(value.tag, value.contents) })
}

/// The value that these octets are under this tag; what they cannot be is undecodable.
pub(super) fn read_value(tag: u8, octets: &[u8]) -> Value {
    ValueRef::read(tag, octets).to_value()
}

/// The version that a datagram says it is of.
pub(super) fn peek_version(datagram: &[u8]) -> Option<i64> {
    Reader::new(datagram).enter_cut(SEQUENCE, "the message").ok()?.integer("the version").ok()
}

/// The id that a datagram answers to: msgID of v3, the request id else. A cut or damaged
/// message still has one where its head can be read, so that its sender can be told apart
/// from a silent one.
pub(super) fn peek_id(datagram: &[u8]) -> Option<i32> {
    let mut message = Reader::new(datagram).enter_cut(SEQUENCE, "the message").ok()?;
    match message.integer::<i64>("the version").ok()? {
        VERSION_3 => message.enter_cut(SEQUENCE, "the header").ok()?.integer("msgID").ok(),
        VERSION_2C => {
            message.octets("the community").ok()?;
            message.enter_cut(PduKind::Response.tag(), "the PDU").ok()?.integer("the request id").ok()
        }
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests;
