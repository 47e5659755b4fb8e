//! Our own strict reader: takes exactly what the writer writes, and every bit of it.
//!
//! It shares no code with the writer but the data types, and trusts nothing: metadata whole
//! and of known values, sizes that add up, a tree in which each node is met once, pointers
//! that lead to the beginning of a record, records of one shape.

use std::collections::HashMap;

use super::data::{Decoder, Value};
use super::{DATABASE_TYPE, MARKER, SEPARATOR};
use crate::address::{Family, Range};
use crate::format::prove::Prover;
use crate::format::readback::Collector;
use crate::format::rest::Addresses;
use crate::format::{ReadBack, ReadError, View};
use crate::table::Token;

/// What a file of ours says.
pub(super) fn read(file: &[u8]) -> Result<ReadBack, ReadError> {
    let parts = Parts::of(file)?;
    let mut collector = Collector::default();
    let tokens: Vec<Token> = parts
        .records
        .tokens
        .iter()
        .map(|token| collector.token(token))
        .collect::<Result<_, _>>()
        .map_err(|problem| ReadError::new("data", problem))?;
    let none = || ReadError::new("data", "there are no records");
    let default = tokens.first().ok_or_else(none)?.clone();
    parts.walk(|record, family, first, last| {
        // What says the same as the default is left to it.
        let Some(token) = tokens.get(record).filter(|token| **token != default) else { return Ok(()) };
        let range = Range::from_bits(family, first, last).ok_or_else(|| "a leaf is no range".to_owned())?;
        collector.push_token(None, range, token.clone())
    })?;
    Ok(collector.finish(Some(default)))
}

/// Whether the file is ours in every bit, and answers as the view does.
pub(super) fn proves(file: &[u8], view: &View<'_>, excluded: &'static [Range]) -> Option<()> {
    let parts = Parts::of(file).ok()?;
    let default = view.default_group().token.as_str();
    let tokens = &parts.records.tokens;
    if *tokens.first()? != default || tokens.iter().any(|token| Token::new(token).is_none()) {
        return None;
    }
    // A record's token as the view has it, so that most are known by where they lie.
    let known: HashMap<&str, &str> =
        view.groups().map(|group| group.token.as_str()).map(|t| (t, t)).collect();
    let tells = |token: &&str| match known.get(token) {
        // What says the same as the default is left to it, here as there.
        Some(token) if *token == default => Tells::Default,
        Some(token) => Tells::Token(token),
        None => Tells::Unknown,
    };
    let telling: Vec<Tells<'_>> = tokens.iter().map(tells).collect();
    let wanted = view.answers().filter(|answer| answer.token.as_str() != default);
    let mut prover = Prover::new(wanted, excluded);
    let proven = parts.walk(|record, family, first, last| match telling.get(record) {
        Some(Tells::Default) => Ok(()),
        Some(Tells::Token(token)) if prover.takes(Addresses { family, first, last }, token) => Ok(()),
        _ => Err(String::new()),
    });
    proven.ok()?;
    prover.is_done().then_some(())
}

/// What a record says, beside a view.
enum Tells<'v> {
    /// The same as the default.
    Default,
    /// A token of the view's.
    Token(&'v str),
    /// A token that the view does not have.
    Unknown,
}

/// A file taken apart.
struct Parts<'a> {
    tree: &'a [u8],
    metadata: Metadata,
    records: Records<'a>,
}

impl<'a> Parts<'a> {
    fn of(file: &'a [u8]) -> Result<Self, ReadError> {
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
        let records = Records::read(data).map_err(|problem| ReadError::new("data", problem))?;
        Ok(Self { tree, metadata, records })
    }

    /// Goes through all addresses in order; for each leaf that is not the default's: the number
    /// of its record, and its addresses.
    fn walk(&self, leaf: impl Leaf) -> Result<(), ReadError> {
        fn be(octets: [u8; 3], high: u8) -> u32 {
            let [a, b, c] = octets;
            u32::from_be_bytes([high, a, b, c])
        }
        match self.metadata.size {
            24 => self.walk_by(leaf, |[a, b, c, d, e, f]| [be([a, b, c], 0), be([d, e, f], 0)]),
            28 => {
                self.walk_by(leaf, |[a, b, c, m, d, e, f]| [be([a, b, c], m >> 4), be([d, e, f], m & 0x0f)])
            }
            _ => self.walk_by(leaf, |[h, a, b, c, l, d, e, f]| [be([a, b, c], h), be([d, e, f], l)]),
        }
    }

    fn walk_by<const OCTETS: usize>(
        &self,
        leaf: impl Leaf,
        halves: impl Fn([u8; OCTETS]) -> [u32; 2],
    ) -> Result<(), ReadError> {
        let (nodes, _) = self.tree.as_chunks();
        let base = self.metadata.nodes.saturating_add(SEPARATOR.len() as u32);
        let mut walk =
            Walk { nodes, base, records: &self.records, halves, leaf, met: 0, problem: String::new() };
        if walk.node(0, 0, 1 << 127).is_none() {
            return Err(ReadError::new("the tree", walk.problem));
        }
        if walk.met != nodes.len() {
            return Err(ReadError::new("the tree", format!("only {} nodes are linked", walk.met)));
        }
        Ok(())
    }
}

/// What becomes of a leaf: the number of its record, its family, first and last address.
trait Leaf: FnMut(usize, Family, u128, u128) -> Result<(), String> {}

impl<F: FnMut(usize, Family, u128, u128) -> Result<(), String>> Leaf for F {}

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

/// All records by their offset. The first one is the default's.
struct Records<'a> {
    tokens: Vec<&'a str>,
    /// For each octet of the data, the number of the record that begins there, or [`NONE`].
    at: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a> Records<'a> {
    fn read(data: &'a [u8]) -> Result<Self, String> {
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
            tokens.push(token);
        }
        Ok(Self { tokens, at })
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

struct Walk<'a, const OCTETS: usize, H, L> {
    nodes: &'a [[u8; OCTETS]],
    /// What a link to the first record is.
    base: u32,
    records: &'a Records<'a>,
    halves: H,
    leaf: L,
    met: usize,
    /// What is wrong, where something is.
    problem: String,
}

impl<const OCTETS: usize, H: Fn([u8; OCTETS]) -> [u32; 2], L: Leaf> Walk<'_, OCTETS, H, L> {
    /// Walks the tree below a node whose prefix begins at `bits`, in order of addresses; `half` is
    /// how many addresses lie in one half of it, and none where it has no halves. Nothing where
    /// something is wrong.
    fn node(&mut self, mut number: u32, mut bits: u128, mut half: u128) -> Option<()> {
        loop {
            self.met += 1;
            if self.met > self.nodes.len() || half == 0 {
                return self.refuse(format!("node {number} is met twice, or too deep"));
            }
            let Some(node) = self.nodes.get(number as usize) else {
                return self.refuse(format!("there is no node {number}"));
            };
            let [left, right] = (self.halves)(*node);
            let (left_below, right_below) = (self.is_node(left), self.is_node(right));
            // The way goes on here where only one half has more nodes, as most have, and in any
            // case in the right one, which comes last.
            if left_below && right == self.base && !self.records.tokens.is_empty() {
                (number, half) = (left, half >> 1);
                continue;
            }
            match left_below {
                true => self.node(left, bits, half >> 1)?,
                false => self.leaf(left, bits, half)?,
            }
            bits |= half;
            if !right_below {
                return self.leaf(right, bits, half);
            }
            (number, half) = (right, half >> 1);
        }
    }

    #[inline]
    fn is_node(&self, link: u32) -> bool {
        (link as usize) < self.nodes.len()
    }

    /// Tells of a leaf that begins at `bits` and has so many addresses.
    #[inline]
    fn leaf(&mut self, link: u32, bits: u128, addresses: u128) -> Option<()> {
        // Most leaves are the default's, whose record is the first.
        if link == self.base && !self.records.tokens.is_empty() {
            return Some(());
        }
        let record = link.checked_sub(self.base).and_then(|offset| self.records.at.get(offset as usize));
        let Some(record) = record.filter(|record| **record != NONE) else {
            return self.refuse(format!("record {link} is none"));
        };
        let (record, last, v4_end) = (*record as usize, bits | (addresses - 1), u128::from(u32::MAX));
        let mut told = Ok(());
        if bits <= v4_end {
            told = (self.leaf)(record, Family::V4, bits, last.min(v4_end));
        }
        if last > v4_end && told.is_ok() {
            told = (self.leaf)(record, Family::V6, bits.max(v4_end + 1), last);
        }
        told.map_or_else(|problem| self.refuse(problem), Some)
    }

    #[cold]
    fn refuse(&mut self, problem: String) -> Option<()> {
        self.problem = problem;
        None
    }
}
