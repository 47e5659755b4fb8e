//! From rows as read to ranges. Pure.
//!
//! A row is joined by its index, never by its place. One bad cell harms one row: the row is
//! *not read*, and what it listed before is kept. An index that cannot be decoded tells
//! nothing about which row it is, so whatever is missing from its table is held. Void rows
//! (no address, reversed, not active) are read, and claim nothing.

mod contexts;
mod exclude;
mod fallback;
mod range;
mod row;
mod rows;
mod words;

use std::collections::BTreeMap;

pub use contexts::{FoundContext, FoundContexts, contexts};
use fallback::Stands;
use rows::{Joined, Rows};
pub(super) use words::{RowWords, rows_in_words};

use super::descriptor::{Descriptor, Ranges, Ref, name_in};
use super::fault::Fault;
use super::rejected::{Reject, RejectReason, Rejected, dotted};
use super::text::Encoding;
use serde::Serialize;
use smallvec::SmallVec;

use crate::address::Range;
use crate::snmp::{Outcome, TableRead};
use crate::table::{self, Listed, Name, PolledTable, PoolName, Standing, TableOutcome, Unread};

/// What became of the reading of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// Read to its end.
    Complete,
    /// Not read to its end, or not to be believed.
    Failed(Fault),
    /// The router has no such table.
    Unsupported,
}

impl From<Outcome> for ReadOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Complete => Self::Complete,
            Outcome::Failed(reason) => Self::Failed(Fault::Snmp(reason)),
            Outcome::Unsupported => Self::Unsupported,
        }
    }
}

/// One table as read in one context.
#[derive(Clone, Debug)]
pub struct Read {
    /// What is to be made of it.
    pub outcome: ReadOutcome,
    /// The rows, and what SNMP says about them.
    pub table: TableRead,
}

/// All tables of a descriptor as read in one context.
#[derive(Clone, Debug, Default)]
pub struct ContextRead {
    /// The context's name; empty for the default one.
    pub context: Name,
    /// The VRF of the pools read there; none in the default context.
    pub vrf: Option<Name>,
    /// One for each table of the descriptor, in its order; none where it was not read there.
    pub reads: Vec<Option<Read>>,
}

/// One table, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedTable {
    /// The table with its ranges. Where it is failed, `listed` is what was read before it
    /// failed: for people to see, not to be acted on.
    pub table: PolledTable,
    /// Why it counts as failed.
    pub fault: Option<Fault>,
    /// In words, for people; empty unless failed.
    pub detail: String,
    /// How many rows were read.
    pub rows: u64,
    /// The rows that claim nothing, in the router's order.
    pub rejected: Vec<Rejected>,
    /// The rows that need not claim anything, with why in words: what a better table has, or
    /// what is taken out of other rows.
    pub passed: Vec<Passed>,
    /// How long the prefixes are that are delegated out of an IPv6 range, by its row.
    pub delegated: BTreeMap<table::Row, u8>,
}

/// A row that need not claim anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The index, dotted.
    pub index: String,
    /// Why, in words.
    pub why: String,
}

/// What the configuration says about how a router's rows are understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The encoding of texts that are not UTF-8, instead of the descriptor's.
    pub encoding: Option<Encoding>,
    /// Whether a pool group stands for its VRF, instead of what the descriptor says.
    pub group_as_vrf: Option<bool>,
}

/// Decodes all tables that were read in a context. Spaces are not given yet.
pub fn decode(descriptor: &Descriptor, read: &ContextRead, settings: Settings) -> Vec<DecodedTable> {
    let rows: Vec<Rows<'_>> = descriptor
        .tables
        .iter()
        .enumerate()
        .map(|(at, table)| Rows::new(table, read.reads.get(at).and_then(Option::as_ref)))
        .collect();
    let joined = rows::joined(&rows);
    let encoding = settings.encoding.or(descriptor.encoding);
    let default_vrf = descriptor.default_vrf.as_deref();
    let groups = settings.group_as_vrf.unwrap_or(descriptor.group_as_vrf);
    let decoder = Decoder { read, encoding, groups, default_vrf, rows: &rows, joined: &joined };
    (0..rows.len()).filter_map(|at| decoder.table(at)).collect()
}

struct Decoder<'a> {
    read: &'a ContextRead,
    encoding: Option<Encoding>,
    /// Whether pool groups are VRFs.
    groups: bool,
    default_vrf: Option<&'a str>,
    rows: &'a [Rows<'a>],
    joined: &'a [Vec<Joined>],
}

/// What one row says.
struct Found {
    /// Mostly one.
    ranges: SmallVec<[Range; 1]>,
    pool: PoolName,
    vrf: Name,
    size: Option<u64>,
    used: Option<u64>,
    delegated_len: Option<u8>,
}

impl Decoder<'_> {
    fn table(&self, at: usize) -> Option<DecodedTable> {
        let read = self.read.reads.get(at)?.as_ref()?;
        let rows = &self.rows[at];
        let name = match &self.read.vrf {
            Some(vrf) => name_in(&rows.table.name, vrf),
            None => rows.table.name.clone(),
        };
        let (outcome, detail) = self.outcome(at)?;
        let mut decoded = DecodedTable::new(name, outcome, detail, read.table.rows.len() as u64);
        for (index, error) in &rows.bad {
            decoded.refuse(self.row(index), None, Reject::new(RejectReason::BadIndex, error.to_string()));
        }
        if let Some(ranges) = &rows.table.ranges {
            self.ranges(at, ranges, &mut decoded);
        }
        decoded.rejected.sort_by_cached_key(Rejected::arcs);
        Some(decoded)
    }

    /// A table of ranges is worth what the tables are that it cannot do without.
    fn outcome(&self, at: usize) -> Option<(ReadOutcome, String)> {
        let read = self.read.reads.get(at)?.as_ref()?;
        let own = (read.outcome, read.table.detail.clone());
        let Some(ranges) = &self.rows[at].table.ranges else { return Some(own) };
        if read.outcome != ReadOutcome::Complete {
            return Some(own);
        }
        // Without rows of its own there is nothing to know.
        for fallback in ranges.fallbacks.iter().filter(|_| !read.table.rows.is_empty()) {
            if let Some((ReadOutcome::Failed(fault), _)) = self.outcome(fallback.better) {
                let better = &self.rows[fallback.better].table.name;
                let detail = format!("{better} failed, so what it lacks is not known");
                return Some((ReadOutcome::Failed(fault), detail));
            }
        }
        Some(self.joined_fault(at, ranges, read).unwrap_or(own))
    }

    /// Where a table that is needed was not read, or is not there though there are rows.
    fn joined_fault(&self, at: usize, ranges: &Ranges, read: &Read) -> Option<(ReadOutcome, String)> {
        ranges.needed(self.groups).into_iter().find_map(|field| {
            let Ref::Joined { join, .. } = field else { return None };
            let other = self.rows[at].table.joins[join].table;
            let name = &self.rows[other].table.name;
            match self.outcome_of(other) {
                Some(ReadOutcome::Complete) => None,
                Some(ReadOutcome::Failed(fault)) => {
                    Some((ReadOutcome::Failed(fault), format!("{name}, which it is joined to, failed")))
                }
                Some(ReadOutcome::Unsupported) | None if read.table.rows.is_empty() => None,
                Some(ReadOutcome::Unsupported) | None => {
                    let detail = format!("it has rows, but {name}, which they are joined to, is not there");
                    Some((ReadOutcome::Failed(Fault::MissingTable), detail))
                }
            }
        })
    }

    fn outcome_of(&self, at: usize) -> Option<ReadOutcome> {
        self.read.reads.get(at)?.as_ref().map(|read| read.outcome)
    }

    fn row(&self, index: &[u32]) -> table::Row {
        table::Row { context: self.read.context.clone(), index: index.into() }
    }

    fn ranges(&self, at: usize, ranges: &Ranges, decoded: &mut DecodedTable) {
        let rows = &self.rows[at].rows;
        decoded.table.listed.reserve(rows.len());
        let mut found = Vec::new();
        let mut standing = self.standing(at, ranges).into_iter();
        for row in rows {
            match standing.next().unwrap_or(Stands::Counts) {
                Stands::Counts if ranges.exclude.is_none() => {
                    decoded.take(self.row(row.arcs), self.found(at, ranges, row));
                }
                Stands::Counts => found.push((row, self.found(at, ranges, row))),
                Stands::Better(better) => {
                    let better = &self.rows[better].table.name;
                    decoded.pass(row.arcs, format!("not needed: {better} has it"));
                }
                Stands::Unknown => decoded.pass(row.arcs, "not used: what the better table has is not known"),
                Stands::Refused(reject) => decoded.refuse(self.row(row.arcs), None, reject),
            }
        }
        // Only where rows are taken out of others, they have to wait for each other.
        if let Some(rule) = &ranges.exclude {
            for taken in exclude::apply(rule, !self.rows[at].bad.is_empty(), &mut found) {
                decoded.pass(taken.arcs, "taken out of the other rows of its group");
            }
        }
        for (row, outcome) in found {
            decoded.take(self.row(row.arcs), outcome);
        }
    }
}

impl DecodedTable {
    fn new(name: Name, outcome: ReadOutcome, detail: String, rows: u64) -> Self {
        let (outcome, fault) = match outcome {
            ReadOutcome::Complete => (TableOutcome::Complete, None),
            ReadOutcome::Failed(fault) => (TableOutcome::Failed(fault.as_str().into()), Some(fault)),
            ReadOutcome::Unsupported => (TableOutcome::Unsupported, None),
        };
        let table = PolledTable { name, outcome, listed: Vec::new(), unread: Vec::new(), bad_index: false };
        let (rejected, passed) = (Vec::new(), Vec::new());
        Self { table, fault, detail, rows, rejected, passed, delegated: BTreeMap::new() }
    }

    fn take(&mut self, row: table::Row, outcome: row::Outcome) {
        match outcome {
            Ok(found) => self.list(row, found),
            Err((pool, reject)) => self.refuse(row, pool, reject),
        }
    }

    fn list(&mut self, row: table::Row, found: Found) {
        if let Some(length) = found.delegated_len {
            self.delegated.insert(row.clone(), length);
        }
        let Found { ranges, pool, vrf, size, used, .. } = found;
        let table = self.table.name.clone();
        let listed = |range| Listed {
            table,
            row,
            space: None,
            vrf,
            pool,
            range,
            size,
            used,
            standing: Standing::Listed,
        };
        // The last one needs no copy, and mostly is the only one.
        let Some((last, before)) = ranges.split_last() else { return };
        let last = listed(*last);
        self.table.listed.extend(before.iter().map(|range| Listed { range: *range, ..last.clone() }));
        self.table.listed.push(last);
    }

    fn pass(&mut self, index: &[u32], why: impl Into<String>) {
        self.passed.push(Passed { index: dotted(index), why: why.into() });
    }

    fn refuse(&mut self, row: table::Row, pool: Option<PoolName>, reject: Reject) {
        self.rejected.push(Rejected::of(&self.table.name, &row.index, reject.clone()));
        self.table.bad_index |= reject.reason == RejectReason::BadIndex;
        if !reject.reason.is_void() {
            self.table.unread.push(Unread { row, pool });
        }
    }
}
