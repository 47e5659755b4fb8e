//! Writing BER: what our requests and the replay agent's answers are made of.

use snmp2::snmp as wire;

use super::ber::{INTEGER, NULL, OBJECT_ID, OCTET_STRING, Reader, SEQUENCE};
use super::message::{Pdu, Varbind};
use super::{Oid, Value};

/// More octets than most questions have.
const USUAL: usize = 256;

/// Writes one element behind the other, in the shortest form.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// An element whose contents are written by `inner`.
    pub(super) fn constructed(&mut self, tag: u8, inner: impl FnOnce(&mut Self)) {
        // Most are so short that their length takes one octet.
        self.bytes.extend([tag, 0]);
        let start = self.bytes.len();
        inner(self);
        let end = self.bytes.len();
        let (head, used) = length_octets(end - start);
        if used > 1 {
            self.bytes.resize(end + used - 1, 0);
            self.bytes.copy_within(start..end, start + used - 1);
        }
        if let Some(place) = self.bytes.get_mut(start - 1..start - 1 + used) {
            place.iter_mut().zip(head).for_each(|(octet, head)| *octet = head);
        }
    }

    pub(super) fn sequence(&mut self, inner: impl FnOnce(&mut Self)) {
        self.constructed(SEQUENCE, inner);
    }

    pub(super) fn primitive(&mut self, tag: u8, contents: &[u8]) {
        match u8::try_from(contents.len()) {
            Ok(length @ 0..0x80) => self.bytes.extend([tag, length]),
            _ => {
                let (head, used) = length_octets(contents.len());
                self.bytes.push(tag);
                self.bytes.extend(head.into_iter().take(used));
            }
        }
        self.bytes.extend_from_slice(contents);
    }

    pub(super) fn octets(&mut self, contents: &[u8]) {
        self.primitive(OCTET_STRING, contents);
    }

    pub(super) fn integer(&mut self, value: i64) {
        self.signed(INTEGER, value);
    }

    /// Elements that are encoded already.
    pub(super) fn raw(&mut self, elements: &[u8]) {
        self.bytes.extend_from_slice(elements);
    }

    fn signed(&mut self, tag: u8, value: i64) {
        let octets = value.to_be_bytes();
        let sign = if value < 0 { 0xff } else { 0 };
        let skip = octets
            .windows(2)
            .take_while(|pair| matches!(pair, [high, low] if *high == sign && (low ^ sign) & 0x80 == 0))
            .count();
        self.primitive(tag, octets.get(skip..).unwrap_or(&octets));
    }

    fn unsigned(&mut self, tag: u8, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.signed(tag, value),
            Err(_) => {
                let mut octets = vec![0];
                octets.extend(value.to_be_bytes());
                self.primitive(tag, &octets);
            }
        }
    }

    pub(super) fn oid(&mut self, oid: &Oid) {
        self.constructed(OBJECT_ID, |w| push_oid(&mut w.bytes, oid));
    }

    pub(super) fn varbind(&mut self, oid: &Oid, value: &Value) {
        self.sequence(|w| {
            w.oid(oid);
            w.value(value);
        });
    }

    /// Tag and octets of a value.
    pub(super) fn parts(&mut self, value: &Value) -> (u8, Vec<u8>) {
        self.bytes.clear();
        self.value(value);
        let whole = std::mem::take(&mut self.bytes);
        let contents = Reader::new(&whole).any("a value").map(|found| (found.tag, found.contents.to_vec()));
        contents.unwrap_or((NULL, Vec::new()))
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Integer(n) => self.integer(*n),
            Value::Octets(octets) => self.octets(octets),
            Value::Null => self.primitive(NULL, &[]),
            Value::ObjectId(oid) => self.oid(oid),
            Value::IpAddress(octets) => self.primitive(wire::TYPE_IPADDRESS, octets),
            Value::Counter32(n) => self.unsigned(wire::TYPE_COUNTER32, u64::from(*n)),
            Value::Gauge32(n) => self.unsigned(wire::TYPE_GAUGE32, u64::from(*n)),
            Value::TimeTicks(n) => self.unsigned(wire::TYPE_TIMETICKS, u64::from(*n)),
            Value::Opaque(octets) => self.primitive(wire::TYPE_OPAQUE, octets),
            Value::Counter64(n) => self.unsigned(wire::TYPE_COUNTER64, *n),
            Value::Undecodable { tag, octets } => self.primitive(*tag, octets),
            Value::NoSuchObject => self.primitive(wire::SNMP_NOSUCHOBJECT, &[]),
            Value::NoSuchInstance => self.primitive(wire::SNMP_NOSUCHINSTANCE, &[]),
            Value::EndOfMibView => self.primitive(wire::SNMP_ENDOFMIBVIEW, &[]),
        }
    }

    /// A PDU (RFC 3416, section 3).
    pub(super) fn pdu(&mut self, pdu: &Pdu) {
        self.pdu_with(pdu, |w| {
            w.sequence(|w| pdu.varbinds.iter().for_each(|Varbind { oid, value }| w.varbind(oid, value)));
        });
    }

    /// A PDU whose varbinds are encoded already.
    pub(super) fn pdu_of(&mut self, head: &Pdu, list: &[u8]) {
        self.pdu_with(head, |w| w.primitive(SEQUENCE, list));
    }

    fn pdu_with(&mut self, head: &Pdu, list: impl FnOnce(&mut Self)) {
        self.constructed(head.kind.tag(), |w| {
            w.integer(i64::from(head.request_id));
            w.integer(i64::from(head.error_status));
            w.integer(i64::from(head.error_index));
            list(w);
        });
    }
}

/// A message of SNMPv2c (RFC 1901).
pub(super) fn community_message(community: &[u8], pdu: &Pdu) -> Vec<u8> {
    community_envelope(community, |w| w.pdu(pdu))
}

/// A message of SNMPv2c with the head of a PDU that asks for objects: each has NULL for a value.
pub(super) fn community_asking<'o>(
    community: &[u8],
    head: &Pdu,
    objects: impl Iterator<Item = &'o Oid>,
) -> Vec<u8> {
    community_envelope(community, |w| {
        w.pdu_with(head, |w| w.sequence(|w| objects.for_each(|oid| w.varbind(oid, &Value::Null))));
    })
}

/// A message of SNMPv2c with the head of a PDU and varbinds that are encoded already.
pub(super) fn community_message_of(community: &[u8], head: &Pdu, list: &[u8]) -> Vec<u8> {
    community_envelope(community, |w| w.pdu_of(head, list))
}

fn community_envelope(community: &[u8], pdu: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer { bytes: Vec::with_capacity(USUAL) };
    writer.sequence(|w| {
        w.integer(1);
        w.octets(community);
        pdu(w);
    });
    writer.into_bytes()
}

/// The octets of a length, and how many of them count.
fn length_octets(length: usize) -> ([u8; 5], usize) {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    let [a, b, c, d] = length.to_be_bytes();
    match length {
        0..=0x7f => ([d, 0, 0, 0, 0], 1),
        0x80..=0xff => ([0x81, d, 0, 0, 0], 2),
        0x100..=0xffff => ([0x82, c, d, 0, 0], 3),
        _ => ([0x84, a, b, c, d], 5),
    }
}

/// The contents of an OID.
pub(super) fn oid_octets(oid: &Oid) -> Vec<u8> {
    let mut octets = Vec::with_capacity(oid.arcs().len() + 4);
    push_oid(&mut octets, oid);
    octets
}

fn push_oid(out: &mut Vec<u8>, oid: &Oid) {
    let (first, rest) = match oid.arcs() {
        [] => (0, &[][..]),
        [x] => (u64::from(*x) * 40, &[][..]),
        [x, y, rest @ ..] => (u64::from(*x) * 40 + u64::from(*y), rest),
    };
    push_base128(out, first);
    for &arc in rest {
        push_base128(out, u64::from(arc));
    }
}

fn push_base128(out: &mut Vec<u8>, value: u64) {
    if let Ok(short @ 0..0x80) = u8::try_from(value) {
        return out.push(short);
    }
    let groups = (64 - value.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        // Seven bits at a time cannot overflow the octet.
        let bits = ((value >> (7 * group)) & 0x7f) as u8;
        out.push(if group == 0 { bits } else { bits | 0x80 });
    }
}
