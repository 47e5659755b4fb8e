//! `mmdb`: a MaxMind DB (format 2.0), read by Knot, PowerDNS, BIND, gdnsd, nginx and more.
//!
//! One record schema serves them all:
//! `{"edge": TOKEN, "bas": BAS, "edges": [EDGE...], "weights": [WEIGHT...],
//! "city": {"names": {"en": TOKEN}}}`.
//! `edge` is the group's token, which Knot's `geodb-key` matches and the groups file names;
//! `edges` are the names of the edges that the group answers with, nearest first, and `weights`
//! theirs, where they differ. Beside a groups file, which says all that, `edges` are all edges of
//! the group by name: weights that move leave the table as it is. `city.names.en` repeats the
//! token where servers that only know MaxMind's own fields look. `bas` is missing where no
//! BAS stands behind the entry. Equal records are stored once.
//!
//! Every address has a record: the default's is the root of the tree, and the first of the
//! data section. It stands at `::/0` and not at `::/96`: so a miss is answered for the
//! largest prefix that holds no row, never for less than was looked at, and resolvers that
//! cache by client subnet keep nothing too wide.
//!
//! IPv4 lives under `::/96` as the format has it. IPv6 rows cannot speak of these addresses
//! (IPv4-compatible, ::, ::1: no viewer has one), so that part of a row is left out.

mod data;
mod reader;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use tree::Duplicate;

use super::carried::{COMPATIBLE, carried};
use super::known::Known;
use super::{Carries, Format, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View, one_space};
use crate::address::{Range, prefixes};
use crate::table::{Group, GroupEdge, Name, Token};
use data::Encoder;
use tree::{Link, Nodes, Tree};

/// What marks the beginning of the metadata.
const MARKER: &[u8] = b"\xab\xcd\xefMaxMind.com";
/// The zeros between tree and data.
const SEPARATOR: [u8; 16] = [0; 16];
/// Where the default's record stands in the data section: first.
const DEFAULT_RECORD: u32 = 0;
/// Contains `City`, or servers that read city databases refuse it.
const DATABASE_TYPE: &str = "Poolsync-GSLB-City";

/// See the module.
#[derive(Debug)]
pub(super) struct Mmdb;

impl Format for Mmdb {
    fn name(&self) -> &'static str {
        "mmdb"
    }

    fn about(&self) -> &'static str {
        "a MaxMind database, for Knot, PowerDNS, BIND, gdnsd, nginx and others"
    }

    fn carries(&self) -> Carries {
        Carries::Weights
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        one_space(self.name(), view)?;
        let mut records = Records::new(view.default_group(), view.is_beside_groups());
        let mut tree = Tree::default();
        for row in view.rows() {
            let record = records.offset(row.entry.bas.as_ref(), row.group);
            for prefix in carried(row.entry.range, &COMPATIBLE).flat_map(prefixes) {
                tree.insert(prefix, record);
            }
        }
        let rows = tree.len() as u64;
        let nodes = tree.build(DEFAULT_RECORD)?;
        let size = record_size(&nodes, &records)?;
        let body = body(&nodes, &records, size);
        Ok(Rendered { head: vec![], body, tail: metadata(nodes.len(), size, stamp), rows })
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        reader::read(file)
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        reader::proves(file, view, &COMPATIBLE)
    }

    fn excluded(&self) -> &'static [Range] {
        &COMPATIBLE
    }
}

/// The data section: each record once, the default's first. A record is known by its
/// offset, which is also what the tree's leaves hold.
struct Records<'a> {
    data: Encoder,
    known: HashMap<(Option<&'a str>, &'a Token), u32>,
    by_place: Known<'a, u32>,
    /// Whether a groups file says what is in force.
    beside_groups: bool,
}

impl<'a> Records<'a> {
    fn new(default: &'a Group, beside_groups: bool) -> Self {
        let (known, by_place) = (HashMap::new(), Known::new());
        let mut records = Self { data: Encoder::default(), known, by_place, beside_groups };
        records.offset(None, default);
        records
    }

    fn offset(&mut self, bas: Option<&'a Name>, group: &'a Group) -> u32 {
        let (bas, token) = (bas.map(Name::as_str), &group.token);
        if let Some(offset) = bas.and_then(|bas| self.by_place.get(bas, token.as_str())) {
            return offset;
        }
        let offset = match self.known.get(&(bas, token)) {
            Some(offset) => *offset,
            None => {
                let offset = self.data.len() as u32;
                encode(&mut self.data, bas, group, self.beside_groups);
                self.known.insert((bas, token), offset);
                offset
            }
        };
        if let Some(bas) = bas {
            self.by_place.learn(bas, token.as_str(), offset);
        }
        offset
    }
}

fn encode(data: &mut Encoder, bas: Option<&str>, group: &Group, beside_groups: bool) {
    let mut edges: Vec<&GroupEdge> =
        if beside_groups { group.edges.iter().collect() } else { group.answering().collect() };
    if beside_groups {
        edges.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let weighted = !beside_groups && group.is_weighted();
    data.map(3 + usize::from(bas.is_some()) + usize::from(weighted));
    data.pair("edge", group.token.as_str());
    if let Some(bas) = bas {
        data.pair("bas", bas);
    }
    data.string("edges");
    data.array(edges.len());
    edges.iter().for_each(|edge| data.string(&edge.name));
    if weighted {
        data.string("weights");
        data.array(edges.len());
        edges.iter().for_each(|edge| data.uint32(edge.weight));
    }
    data.string("city");
    data.map(1);
    data.string("names");
    data.map(1);
    data.pair("en", group.token.as_str());
}

/// The narrowest record that can hold every pointer. Refuses also what was too large for the
/// tree's own links while it was made.
fn record_size(nodes: &Nodes, records: &Records<'_>) -> Result<u16, RenderError> {
    let end = nodes.len() + SEPARATOR.len() + records.data.len();
    let fits = |bits: u16| (end as u64) < 1 << bits;
    [24, 28, 32]
        .into_iter()
        .find(|bits| fits(*bits) && nodes.len().max(records.data.len()) < tree::LIMIT)
        .ok_or(RenderError::TooLarge { nodes: nodes.len(), data: records.data.len() })
}

fn body(nodes: &Nodes, records: &Records<'_>, size: u16) -> Vec<u8> {
    let tree_octets = nodes.len() * usize::from(size) / 4;
    let mut body = Vec::with_capacity(tree_octets + SEPARATOR.len() + records.data.len() + 1024);
    let base = (nodes.len() + SEPARATOR.len()) as u32;
    let number = |link: Link| match link {
        Link::Node(number) => number,
        Link::Leaf(offset) => base + offset,
    };
    match size {
        24 => append(&mut body, nodes, number, |l, r| [l[1], l[2], l[3], r[1], r[2], r[3]]),
        28 => append(&mut body, nodes, number, |l, r| [l[1], l[2], l[3], l[0] << 4 | r[0], r[1], r[2], r[3]]),
        _ => append(&mut body, nodes, number, |l, r| [l[0], l[1], l[2], l[3], r[0], r[1], r[2], r[3]]),
    }
    body.extend_from_slice(&SEPARATOR);
    body.extend_from_slice(records.data.bytes());
    body
}

/// Appends the tree, of so many octets a node.
fn append<const OCTETS: usize>(
    body: &mut Vec<u8>,
    nodes: &Nodes,
    number: impl Fn(Link) -> u32,
    pack: impl Fn([u8; 4], [u8; 4]) -> [u8; OCTETS],
) {
    nodes.iter().for_each(|[left, right]| {
        body.extend_from_slice(&pack(number(left).to_be_bytes(), number(right).to_be_bytes()));
    });
}

fn metadata(nodes: usize, size: u16, stamp: &Stamp) -> Vec<u8> {
    let mut data = Encoder::default();
    data.map(9);
    data.string("binary_format_major_version");
    data.uint16(2);
    data.string("binary_format_minor_version");
    data.uint16(0);
    data.string("build_epoch");
    data.uint64(build_epoch(stamp));
    data.pair("database_type", DATABASE_TYPE);
    data.string("description");
    data.map(1);
    data.pair("en", &format!("poolsync, session {}, generation {}", stamp.session, stamp.generation));
    data.string("ip_version");
    data.uint16(6);
    data.string("languages");
    data.array(1);
    data.string("en");
    data.string("node_count");
    data.uint32(nodes as u32);
    data.string("record_size");
    data.uint16(size);
    [MARKER, data.bytes()].concat()
}

/// Seconds since 1970 of the commit; readers refuse 0.
fn build_epoch(stamp: &Stamp) -> u64 {
    u64::try_from(stamp.committed.as_second()).unwrap_or(0).max(1)
}
