//! SNMP messages written and taken apart by hand, so that the tests of the SNMP code do not
//! lean on it.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};

pub const GET: u8 = 0xa0;
pub const GET_NEXT: u8 = 0xa1;
pub const RESPONSE: u8 = 0xa2;
pub const GET_BULK: u8 = 0xa5;
pub const REPORT: u8 = 0xa8;
pub const END_OF_MIB_VIEW: [u8; 2] = [0x82, 0];
pub const NO_SUCH_OBJECT: [u8; 2] = [0x80, 0];

pub const TOO_BIG: i64 = 1;
pub const GEN_ERR: i64 = 5;
pub const NO_ACCESS: i64 = 6;
pub const RESOURCE_UNAVAILABLE: i64 = 13;
pub const AUTHORIZATION_ERROR: i64 = 16;

/// An element of parts.
pub fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let mut out = vec![tag];
    match contents.len() {
        n @ 0..=0x7f => out.push(n as u8),
        n @ 0x80..=0xff => out.extend([0x81, n as u8]),
        n => out.extend([0x82, (n >> 8) as u8, n as u8]),
    }
    out.extend(contents);
    out
}

pub fn integer(number: i64) -> Vec<u8> {
    let octets = number.to_be_bytes();
    let mut skip = 0;
    while skip < 7
        && octets[skip] == if number < 0 { 0xff } else { 0 }
        && (octets[skip] ^ octets[skip + 1]) < 0x80
    {
        skip += 1;
    }
    tlv(2, &[&octets[skip..]])
}

pub fn octets(contents: &[u8]) -> Vec<u8> {
    tlv(4, &[contents])
}

pub fn ip(address: [u8; 4]) -> Vec<u8> {
    tlv(0x40, &[&address])
}

/// Arcs of a dotted text.
pub fn arcs(text: &str) -> Vec<u32> {
    text.split('.').map(|arc| arc.parse().unwrap()).collect()
}

/// An OID as an element.
pub fn oid(arcs: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut numbers = vec![u64::from(arcs[0]) * 40 + u64::from(arcs[1])];
    numbers.extend(arcs[2..].iter().map(|arc| u64::from(*arc)));
    for number in numbers {
        let mut groups = vec![(number & 0x7f) as u8];
        let mut rest = number >> 7;
        while rest > 0 {
            groups.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        out.extend(groups.iter().rev());
    }
    tlv(6, &[&out])
}

fn arcs_of(octets: &[u8]) -> Vec<u32> {
    let mut numbers: Vec<u64> = vec![0];
    for octet in octets {
        let last = numbers.last_mut().unwrap();
        *last = *last << 7 | u64::from(octet & 0x7f);
        if octet & 0x80 == 0 {
            numbers.push(0);
        }
    }
    numbers.pop();
    let first = (numbers[0] / 40).min(2);
    let mut arcs = vec![first as u32, (numbers[0] - first * 40) as u32];
    arcs.extend(numbers[1..].iter().map(|number| *number as u32));
    arcs
}

/// An element within a message: its tag, and where its contents stand.
#[derive(Clone, Debug)]
pub struct Piece {
    pub tag: u8,
    pub contents: Range<usize>,
}

/// The elements within a range of a message.
pub fn pieces(message: &[u8], within: Range<usize>) -> Vec<Piece> {
    let mut at = within.start;
    let mut found = Vec::new();
    while at < within.end {
        let tag = message[at];
        let (start, length) = match message[at + 1] {
            n @ 0..=0x7f => (at + 2, usize::from(n)),
            0x81 => (at + 3, usize::from(message[at + 2])),
            0x82 => (at + 4, usize::from(message[at + 2]) << 8 | usize::from(message[at + 3])),
            other => panic!("a length of {other:#x}"),
        };
        found.push(Piece { tag, contents: start..start + length });
        at = start + length;
    }
    found
}

/// The elements of the outer SEQUENCE.
pub fn message_pieces(message: &[u8]) -> Vec<Piece> {
    let outer = pieces(message, 0..message.len()).remove(0);
    pieces(message, outer.contents)
}

pub fn number(message: &[u8], piece: &Piece) -> i64 {
    let octets = &message[piece.contents.clone()];
    let sign = if octets[0] & 0x80 == 0 { 0 } else { -1 };
    octets.iter().fold(sign, |number, octet| number << 8 | i64::from(*octet))
}

/// A PDU that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub community: Vec<u8>,
    pub kind: u8,
    pub id: i64,
    /// Error status, or non-repeaters.
    pub first: i64,
    /// Error index, or max-repetitions.
    pub second: i64,
    pub oids: Vec<Vec<u32>>,
}

/// Reads a request of v2c.
pub fn request(message: &[u8]) -> Request {
    let parts = message_pieces(message);
    assert_eq!(number(message, &parts[0]), 1, "version 2c");
    let community = message[parts[1].contents.clone()].to_vec();
    Request { community, ..pdu(message, &parts[2]) }
}

/// Reads a PDU within a message.
pub fn pdu(message: &[u8], piece: &Piece) -> Request {
    let parts = pieces(message, piece.contents.clone());
    let varbinds = pieces(message, parts[3].contents.clone());
    let name = |varbind: &Piece| {
        let parts = pieces(message, varbind.contents.clone());
        arcs_of(&message[parts[0].contents.clone()])
    };
    Request {
        community: Vec::new(),
        kind: piece.tag,
        id: number(message, &parts[0]),
        first: number(message, &parts[1]),
        second: number(message, &parts[2]),
        oids: varbinds.iter().map(name).collect(),
    }
}

/// A name and its encoded value.
pub type Varbind = (Vec<u32>, Vec<u8>);

/// An answering PDU.
pub fn answer_pdu(kind: u8, id: i64, status: i64, index: i64, varbinds: &[Varbind]) -> Vec<u8> {
    let list: Vec<u8> = varbinds.iter().flat_map(|(name, value)| tlv(0x30, &[&oid(name), value])).collect();
    tlv(kind, &[&integer(id), &integer(status), &integer(index), &tlv(0x30, &[&list])])
}

/// A message of v2c around a PDU.
pub fn v2c(community: &[u8], pdu: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&integer(1), &octets(community), pdu])
}

/// What a message of v3 is addressed by.
#[derive(Clone, Copy, Debug)]
pub struct Address<'a> {
    pub id: i64,
    pub engine: &'a [u8],
    pub boots: i64,
    pub time: i64,
    pub user: &'a [u8],
}

/// An unsigned message of v3 around a PDU.
pub fn unsigned_v3(to: Address<'_>, pdu: &[u8]) -> Vec<u8> {
    let none = octets(&[]);
    let global = tlv(0x30, &[&integer(to.id), &integer(65_507), &octets(&[0]), &integer(3)]);
    let (engine, user) = (octets(to.engine), octets(to.user));
    let security = tlv(0x30, &[&engine, &integer(to.boots), &integer(to.time), &user, &none, &none]);
    let scoped = tlv(0x30, &[&engine, &none, pdu]);
    tlv(0x30, &[&integer(3), &global, &octets(&security), &scoped])
}

/// A Response to a request of v2c.
pub fn response(request: &Request, varbinds: &[Varbind]) -> Vec<u8> {
    v2c(&request.community, &answer_pdu(RESPONSE, request.id, 0, 0, varbinds))
}

/// A Response with an error status.
pub fn error(request: &Request, status: i64, index: i64) -> Vec<u8> {
    v2c(&request.community, &answer_pdu(RESPONSE, request.id, status, index, &[]))
}

/// The objects of an agent, which answers as it should.
#[derive(Clone, Debug, Default)]
pub struct Objects(pub BTreeMap<Vec<u32>, Vec<u8>>);

impl Objects {
    /// A table: for each column (its OID) a value for each row (the last arc).
    pub fn table(columns: &[&str], rows: u32, cell: impl Fn(usize, u32) -> Vec<u8>) -> Self {
        let mut objects = BTreeMap::new();
        for (at, column) in columns.iter().enumerate() {
            for row in 1..=rows {
                let mut name = arcs(column);
                name.push(row);
                objects.insert(name, cell(at, row));
            }
        }
        Self(objects)
    }

    pub fn set(&mut self, name: &str, value: Vec<u8>) {
        self.0.insert(arcs(name), value);
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(&arcs(name)).unwrap();
    }

    pub fn next(&self, name: &[u32]) -> Varbind {
        let range = (Bound::Excluded(name.to_vec()), Bound::Unbounded);
        let found = self.0.range(range).next();
        found.map_or_else(
            || (name.to_vec(), END_OF_MIB_VIEW.to_vec()),
            |(name, value)| (name.clone(), value.clone()),
        )
    }

    /// The varbinds of a proper answer.
    pub fn varbinds(&self, request: &Request) -> Vec<Varbind> {
        let get = |name: &Vec<u32>| {
            let value = self.0.get(name).cloned().unwrap_or_else(|| NO_SUCH_OBJECT.to_vec());
            (name.clone(), value)
        };
        match request.kind {
            GET => request.oids.iter().map(get).collect(),
            GET_NEXT => request.oids.iter().map(|name| self.next(name)).collect(),
            GET_BULK => {
                let (once, repeated) = request.oids.split_at(request.first as usize);
                let mut lasts = repeated.to_vec();
                let mut list: Vec<Varbind> = once.iter().map(|name| self.next(name)).collect();
                for _ in 0..request.second {
                    for last in &mut lasts {
                        let varbind = self.next(last);
                        last.clone_from(&varbind.0);
                        list.push(varbind);
                    }
                }
                list
            }
            other => panic!("PDU {other:#x}"),
        }
    }

    /// A proper answer to a request of v2c.
    pub fn answer(&self, request: &Request) -> Vec<u8> {
        response(request, &self.varbinds(request))
    }
}
