//! Our own strict reader: takes exactly what the writer writes, and every bit of it.
//!
//! It shares no code with the writer but the data types, and trusts nothing: metadata whole
//! and of known values, sizes that add up, a tree in which each node is met once, pointers
//! that lead to the beginning of a record, records of one shape.

use super::data::{Decoder, Value};
use super::{DATABASE_TYPE, MARKER, SEPARATOR};
use crate::address::{Family, Range};
use crate::format::readback::Collector;
use crate::format::{ReadBack, ReadError};
use crate::table::Token;

/// What a file of ours says.
pub(super) fn read(file: &[u8]) -> Result<ReadBack, ReadError> {
    let error = |place: &str, problem: &str| ReadError::new(place, problem);
    let at = metadata_at(file).ok_or_else(|| error("the end", "there is no metadata"))?;
    let (content, tail) = file.split_at(at);
    let tail = tail.get(MARKER.len()..).unwrap_or_default();
    let metadata = Metadata::read(tail).map_err(|problem| ReadError::new("metadata", problem))?;
    let octets = metadata.nodes as usize * metadata.size as usize / 4;
    let (tree, rest) =
        content.split_at_checked(octets).ok_or_else(|| error("the tree", "it is cut short"))?;
    let data = rest
        .strip_prefix(&SEPARATOR)
        .ok_or_else(|| error("behind the tree", "there are no sixteen zeros"))?;
    let mut collector = Collector::default();
    let records = Records::read(data, &mut collector).map_err(|problem| ReadError::new("data", problem))?;
    let default = records.default.clone();
    let mut walk = Walk { tree, metadata, records, collector, met: 0 };
    walk.node(0, 0, 0).map_err(|problem| ReadError::new("the tree", problem))?;
    if walk.met != metadata.nodes {
        return Err(ReadError::new("the tree", format!("only {} nodes are linked", walk.met)));
    }
    Ok(walk.collector.finish(Some(default)))
}

/// Where the last marker stands, within the last 128 KiB as the format has it.
fn metadata_at(file: &[u8]) -> Option<usize> {
    let skipped = file.len().saturating_sub(128 << 10);
    let at = file.get(skipped..)?.windows(MARKER.len()).rposition(|window| window == MARKER)?;
    Some(skipped + at)
}

#[derive(Clone, Copy)]
struct Metadata {
    nodes: u32,
    size: u64,
}

impl Metadata {
    fn read(tail: &[u8]) -> Result<Self, String> {
        let mut decoder = Decoder::new(tail);
        let pairs = match decoder.value() {
            Some(Value::Map(pairs)) if decoder.is_at_end() => pairs,
            _ => return Err("it is no map, or cut short, or there is more behind it".to_owned()),
        };
        let get = |key: &str| pairs.iter().find(|(k, _)| *k == key).map(|(_, value)| value);
        let number = |key: &str| match get(key) {
            Some(Value::Number(number)) => Ok(*number),
            _ => Err(format!("{key} is no number")),
        };
        for (key, wanted) in
            [("binary_format_major_version", 2), ("binary_format_minor_version", 0), ("ip_version", 6)]
        {
            if number(key)? != wanted {
                return Err(format!("{key} is not {wanted}"));
            }
        }
        let languages = matches!(get("languages"), Some(Value::Array(l)) if *l == [Value::Text("en")]);
        let described = matches!(get("description"), Some(Value::Map(d)) if d.len() == 1);
        if pairs.len() != 9 || number("build_epoch")? == 0 || !languages || !described {
            return Err("a key is missing or has an unusual value".to_owned());
        }
        if get("database_type").and_then(Value::text) != Some(DATABASE_TYPE) {
            return Err(format!("database_type is not {DATABASE_TYPE}"));
        }
        let nodes = u32::try_from(number("node_count")?).map_err(|e| e.to_string())?;
        let size = number("record_size")?;
        if !matches!(size, 24 | 28 | 32) {
            return Err(format!("record_size is {size}"));
        }
        Ok(Self { nodes, size })
    }
}

/// All records by their offset.
struct Records {
    /// The first one's token, which is the default.
    default: Token,
    tokens: Vec<Token>,
    /// For each octet of the data, the number of the record that begins there, or [`NONE`].
    at: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Records {
    fn read(data: &[u8], collector: &mut Collector) -> Result<Self, String> {
        let mut decoder = Decoder::new(data);
        let mut tokens = Vec::new();
        let mut at = vec![NONE; data.len()];
        while !decoder.is_at_end() {
            let begin = decoder.position();
            let token = decoder
                .value()
                .as_ref()
                .and_then(token)
                .ok_or_else(|| format!("the record at {begin} is none of ours"))?;
            if let Some(place) = at.get_mut(begin) {
                *place = tokens.len() as u32;
            }
            tokens.push(collector.token(token)?);
        }
        let default = tokens.first().cloned().ok_or_else(|| "there are no records".to_owned())?;
        Ok(Self { default, tokens, at })
    }

    fn get(&self, offset: u64) -> Option<&Token> {
        let number = self.at.get(usize::try_from(offset).ok()?)?;
        self.tokens.get(*number as usize)
    }
}

/// The token of a record of the one shape that we write.
fn token<'a>(record: &Value<'a>) -> Option<&'a str> {
    let Value::Map(pairs) = record else { return None };
    let [("edge", edge), rest @ ..] = pairs.as_slice() else { return None };
    let rest = match rest {
        [("bas", Value::Text(_)), rest @ ..] => rest,
        rest => rest,
    };
    let (edges, weights, city) = match rest {
        [("edges", edges), ("city", city)] => (edges, None, city),
        [("edges", edges), ("weights", weights), ("city", city)] => (edges, Some(weights), city),
        _ => return None,
    };
    let Value::Array(edges) = edges else { return None };
    if let Some(weights) = weights {
        let Value::Array(weights) = weights else { return None };
        let numbers = weights.iter().all(|weight| matches!(weight, Value::Number(_)));
        if weights.len() != edges.len() || !numbers {
            return None;
        }
    }
    let Value::Map(city) = city else { return None };
    let [("names", Value::Map(names))] = city.as_slice() else { return None };
    let [("en", name)] = names.as_slice() else { return None };
    let named = !edges.is_empty() && edges.iter().all(|edge| edge.text().is_some());
    edge.text().filter(|_| named && edge == name)
}

struct Walk<'a> {
    tree: &'a [u8],
    metadata: Metadata,
    records: Records,
    collector: Collector,
    met: u32,
}

impl Walk<'_> {
    /// Walks the tree below a node whose prefix is `bits`/`length`, in order of addresses.
    fn node(&mut self, number: u32, bits: u128, length: u8) -> Result<(), String> {
        self.met += 1;
        if self.met > self.metadata.nodes || length >= 128 {
            return Err(format!("node {number} is met twice, or too deep"));
        }
        let halves = self.halves(number).ok_or_else(|| format!("there is no node {number}"))?;
        for (half, link) in halves.into_iter().enumerate() {
            let bits = bits | (half as u128) << (127 - length);
            if link < self.metadata.nodes {
                self.node(link, bits, length + 1)?;
            } else {
                self.leaf(link, bits, length + 1)?;
            }
        }
        Ok(())
    }

    fn halves(&self, number: u32) -> Option<[u32; 2]> {
        let octets = self.metadata.size as usize / 4;
        let at = octets.checked_mul(number as usize)?;
        let be = |octets: &[u8]| octets.iter().fold(0, |n, o| n << 8 | u32::from(*o));
        let node = self.tree.get(at..at + octets)?;
        match (self.metadata.size, node) {
            (28, [l @ .., middle, r1, r2, r3]) => {
                let (high, low) = (u32::from(middle >> 4), u32::from(middle & 0x0f));
                Some([high << 24 | be(l), low << 24 | be(&[*r1, *r2, *r3])])
            }
            _ => node.split_at_checked(octets / 2).map(|(l, r)| [be(l), be(r)]),
        }
    }

    fn leaf(&mut self, link: u32, bits: u128, length: u8) -> Result<(), String> {
        let offset = u64::from(link).checked_sub(u64::from(self.metadata.nodes) + SEPARATOR.len() as u64);
        let token = offset
            .and_then(|offset| self.records.get(offset))
            .ok_or_else(|| format!("record {link} is none"))?;
        // What says the same as the default is left to it.
        if *token == self.records.default {
            return Ok(());
        }
        let token = token.clone();
        let last = bits | u128::MAX.checked_shr(length.into()).unwrap_or(0);
        let v4_end = u128::from(u32::MAX);
        if bits <= v4_end {
            let range = Range::from_bits(Family::V4, bits, last.min(v4_end));
            self.push(range, &token)?;
        }
        if last > v4_end {
            let range = Range::from_bits(Family::V6, bits.max(v4_end + 1), last);
            self.push(range, &token)?;
        }
        Ok(())
    }

    fn push(&mut self, range: Option<Range>, token: &Token) -> Result<(), String> {
        let range = range.ok_or_else(|| "a leaf is no range".to_owned())?;
        self.collector.push_token(None, range, token.clone())
    }
}
