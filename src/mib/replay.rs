//! A recording through a descriptor: row by row what came of it. For people who write one.

mod words;

use std::collections::BTreeMap;

use serde::Serialize;

use super::decode::{
    self, ContextRead, DecodedTable, FoundContext, Read, RowWords, Settings, contexts, decode,
};
use super::descriptor::Descriptor;
use super::empty::{Known, judge_empty, judge_list};
use super::rejected::{RejectReason, Rejected};
use super::text::Encoding;
use crate::snmp::{Columns, Oid, Outcome, Recording, Rows, TableRead, Value};
use crate::table::{Listed, Name, TableOutcome};

const SYSTEM: [u32; 7] = [1, 3, 6, 1, 2, 1, 1];
const SYS_DESCR: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 1, 0];
const SYS_OBJECT_ID: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 2, 0];

/// What a descriptor makes of a recording of one context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replay {
    /// The descriptor's name.
    pub descriptor: Name,
    /// Whether `auto` would know the router as one of the descriptor's.
    pub known: bool,
    /// Table by table, in the descriptor's order.
    pub tables: Vec<ReplayedTable>,
    /// The VRFs of the other contexts that the router lists: each has a recording of its own.
    pub contexts: Vec<Name>,
    /// How many objects, but for the system group, the descriptor has no use for.
    pub unused_objects: usize,
}

/// One table of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayedTable {
    /// Its name in the descriptor.
    pub name: Name,
    /// Its entry, dotted.
    pub entry: String,
    /// Whether ranges come of it; else it serves the others.
    pub gives_ranges: bool,
    /// complete, failed or unsupported.
    pub state: &'static str,
    /// The stable reason of a failure.
    pub reason: Option<Name>,
    /// In words; empty unless failed.
    pub detail: String,
    /// Row by row, in the router's order.
    pub rows: Vec<ReplayedRow>,
}

/// What became of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowOutcome {
    /// It claims ranges.
    Listed,
    /// It claims nothing, for a reason.
    Rejected,
    /// It need not claim anything.
    Passed,
    /// It is there for the rows of other tables.
    Serves,
}

/// One row of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayedRow {
    /// The index, dotted.
    pub index: String,
    /// What became of it.
    pub outcome: RowOutcome,
    /// Its index parts and cells, as they were understood.
    pub fields: Vec<ReplayedField>,
    /// What it claims.
    pub ranges: Vec<ReplayedRange>,
    /// Why it claims nothing.
    pub reason: Option<RejectReason>,
    /// In words, why it claims nothing or need not.
    pub detail: String,
}

/// A part of an index, or a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayedField {
    /// Its name in the descriptor.
    pub name: Name,
    /// What it says; or that it is missing, or what is wrong with it.
    pub says: String,
}

/// A range that a row claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayedRange {
    /// The pool.
    pub pool: String,
    /// The VRF; empty for the default one.
    pub vrf: Name,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// How long the prefixes are that are delegated out of it.
    pub delegated_len: Option<u8>,
}

/// Replays a recording through a descriptor. Pure.
pub fn replay(descriptor: &Descriptor, recording: &Recording, settings: Settings) -> Replay {
    let read = |columns: &Columns| {
        let table = read_table(recording, columns);
        Some(Read { outcome: table.outcome.into(), table })
    };
    let reads = descriptor.tables().map(|table| read(&table.columns())).collect();
    let mut read = ContextRead { reads, ..ContextRead::default() };
    let router = is_known(descriptor, recording);
    let known = Known { router, had_rows: &|_| false };
    judge_list(descriptor, &mut read, &known);
    let found = contexts(descriptor, &read.reads, settings.encoding);
    judge_empty(descriptor, &mut read, &known, settings);
    let mut decoded = decode(descriptor, &read, settings);
    for rejected in found.rejected {
        if let Some(table) = decoded.iter_mut().find(|table| table.table.name == rejected.table) {
            table.rejected.push(rejected);
        }
    }
    let tables = decoded.into_iter().enumerate();
    Replay {
        descriptor: descriptor.name().clone(),
        known: router,
        tables: tables.map(|(at, table)| replayed(descriptor, at, &read, table)).collect(),
        contexts: found.contexts.into_iter().map(|found| found.vrf).collect(),
        unused_objects: unused_objects(descriptor, recording),
    }
}

/// The contexts besides the default one that the router of a recording lists.
pub fn recorded_contexts(
    descriptor: &Descriptor,
    recording: &Recording,
    encoding: Option<Encoding>,
) -> Vec<FoundContext> {
    let read = |columns: &Columns| {
        let table = read_table(recording, columns);
        Some(Read { outcome: table.outcome.into(), table })
    };
    let reads: Vec<_> = descriptor.tables().map(|table| read(&table.columns())).collect();
    contexts(descriptor, &reads, encoding).contexts
}

/// What a walk of a table would find in a recording.
pub(super) fn read_table(recording: &Recording, columns: &Columns) -> TableRead {
    let mut read = TableRead {
        outcome: Outcome::Unsupported,
        detail: String::new(),
        rows: Rows::new(columns.columns.len()),
        repetitions: 0,
        behind: None,
    };
    for (oid, value) in recording.objects() {
        let Some([column, index @ ..]) = oid.suffix(&columns.entry) else {
            if *oid > columns.entry {
                read.behind.get_or_insert_with(|| oid.clone());
            }
            continue;
        };
        read.outcome = Outcome::Complete;
        let Some(at) = columns.columns.iter().position(|number| number == column) else { continue };
        read.rows.set(index, at, Some(value));
    }
    read
}

fn is_known(descriptor: &Descriptor, recording: &Recording) -> bool {
    let descr = match recording.objects().get(&Oid::new(SYS_DESCR)) {
        Some(Value::Octets(octets)) => String::from_utf8_lossy(octets).into_owned(),
        _ => String::new(),
    };
    match recording.objects().get(&Oid::new(SYS_OBJECT_ID)) {
        Some(Value::ObjectId(object_id)) => descriptor.is_for(object_id, &descr),
        _ => false,
    }
}

fn unused_objects(descriptor: &Descriptor, recording: &Recording) -> usize {
    let tables: Vec<Columns> = descriptor.tables().map(|table| table.columns()).collect();
    let system = Oid::new(SYSTEM);
    let used = |oid: &Oid| {
        oid.suffix(&system).is_some()
            || tables.iter().any(|table| match oid.suffix(&table.entry) {
                Some([column, _, ..]) => table.columns.contains(column),
                _ => false,
            })
    };
    recording.objects().keys().filter(|oid| !used(oid)).count()
}

fn replayed(descriptor: &Descriptor, at: usize, read: &ContextRead, decoded: DecodedTable) -> ReplayedTable {
    let fates = Fates::of(&decoded);
    let rows = decode::rows_in_words(descriptor, at, read).into_iter();
    let rows = rows.map(|row| fates.row(row, &decoded)).collect();
    let (state, reason) = match &decoded.table.outcome {
        TableOutcome::Complete => ("complete", None),
        TableOutcome::Failed(reason) => ("failed", Some(reason.clone())),
        TableOutcome::Unsupported => ("unsupported", None),
    };
    let table = descriptor.tables().nth(at);
    ReplayedTable {
        name: decoded.table.name.clone(),
        entry: table.map(|table| table.columns().entry.to_string()).unwrap_or_default(),
        gives_ranges: table.is_some_and(|table| table.has_ranges()),
        state,
        reason,
        detail: decoded.detail.clone(),
        rows,
    }
}

/// What became of the rows of a table, by index.
struct Fates<'a> {
    listed: BTreeMap<&'a [u32], Vec<&'a Listed>>,
    rejected: BTreeMap<&'a str, &'a Rejected>,
    passed: BTreeMap<&'a str, &'a str>,
}

impl<'a> Fates<'a> {
    fn of(decoded: &'a DecodedTable) -> Self {
        let mut listed: BTreeMap<&[u32], Vec<&Listed>> = BTreeMap::new();
        for range in &decoded.table.listed {
            listed.entry(&range.row.index).or_default().push(range);
        }
        let rejected = decoded.rejected.iter().map(|row| (row.index.as_str(), row)).collect();
        let passed = decoded.passed.iter().map(|row| (row.index.as_str(), row.why.as_str())).collect();
        Self { listed, rejected, passed }
    }

    fn row(&self, row: RowWords, decoded: &DecodedTable) -> ReplayedRow {
        let listed = self.listed.get(row.arcs.as_slice()).into_iter().flatten();
        let ranges: Vec<ReplayedRange> = listed.map(|listed| range(listed, decoded)).collect();
        let (outcome, reason, detail) =
            match (self.rejected.get(row.index.as_str()), self.passed.get(row.index.as_str())) {
                _ if !ranges.is_empty() => (RowOutcome::Listed, None, String::new()),
                (Some(row), _) => (RowOutcome::Rejected, Some(row.reason), row.detail.clone()),
                (None, Some(why)) => (RowOutcome::Passed, None, (*why).to_owned()),
                (None, None) => (RowOutcome::Serves, None, String::new()),
            };
        let fields = row.fields.into_iter().map(|(name, says)| ReplayedField { name, says }).collect();
        ReplayedRow { index: row.index, outcome, fields, ranges, reason, detail }
    }
}

fn range(listed: &Listed, decoded: &DecodedTable) -> ReplayedRange {
    ReplayedRange {
        pool: listed.pool.text().to_owned(),
        vrf: listed.vrf.clone(),
        first: listed.range.first().to_string(),
        last: listed.range.last().to_string(),
        delegated_len: decoded.delegated.get(&listed.row).copied(),
    }
}
