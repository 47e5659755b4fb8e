//! From rows as read to ranges. Pure.
//!
//! A row is joined by its index, never by its place. One bad cell harms one row: the row is
//! *not read*, and what it listed before is kept. An index that cannot be decoded tells
//! nothing about which row it is, so whatever is missing from its table is held. Void rows
//! (no address, reversed, not active) are read, and claim nothing.

mod contexts;
mod exclude;
mod range;
mod rows;

use std::collections::BTreeSet;

pub use contexts::{FoundContext, FoundContexts, contexts};
use rows::{Joined, Row, Rows};

use super::cell::bits_set;
use super::descriptor::{Descriptor, Own, Ranges, Ref, name_in};
use super::fault::Fault;
use super::field::{Field, Kind};
use super::rejected::{Reject, RejectReason, Rejected};
use super::text::{self, Encoding};
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
}

/// Decodes all tables that were read in a context. Spaces are not given yet.
pub fn decode(descriptor: &Descriptor, read: &ContextRead, encoding: Option<Encoding>) -> Vec<DecodedTable> {
    let rows: Vec<Rows<'_>> = descriptor
        .tables
        .iter()
        .enumerate()
        .map(|(at, table)| Rows::new(table, read.reads.get(at).and_then(Option::as_ref)))
        .collect();
    let joined = rows::joined(&rows);
    let decoder = Decoder { read, encoding: encoding.or(descriptor.encoding), rows: &rows, joined: &joined };
    (0..rows.len()).filter_map(|at| decoder.table(at)).collect()
}

struct Decoder<'a> {
    read: &'a ContextRead,
    encoding: Option<Encoding>,
    rows: &'a [Rows<'a>],
    joined: &'a [Vec<Joined>],
}

/// What one row says.
struct Found {
    ranges: Vec<Range>,
    pool: PoolName,
    vrf: Name,
    size: Option<u64>,
    used: Option<u64>,
}

impl Decoder<'_> {
    fn table(&self, at: usize) -> Option<DecodedTable> {
        let read = self.read.reads.get(at)?.as_ref()?;
        let rows = &self.rows[at];
        let name = match &self.read.vrf {
            Some(vrf) => name_in(&rows.table.name, vrf),
            None => rows.table.name.clone(),
        };
        let (outcome, detail) = self.outcome(at, read);
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
    fn outcome(&self, at: usize, read: &Read) -> (ReadOutcome, String) {
        let own = (read.outcome, read.table.detail.clone());
        let Some(ranges) = &self.rows[at].table.ranges else { return own };
        if read.outcome != ReadOutcome::Complete {
            return own;
        }
        if let Some(better) = ranges.fallback_for
            && let Some(ReadOutcome::Failed(fault)) = self.outcome_of(better)
        {
            let better = &self.rows[better].table.name;
            let detail = format!("{better} failed, so what it lacks is not known");
            return (ReadOutcome::Failed(fault), detail);
        }
        for field in ranges.needed() {
            let Ref::Joined { join, .. } = field else { continue };
            let other = self.rows[at].table.joins[join].table;
            let name = &self.rows[other].table.name;
            match self.outcome_of(other) {
                Some(ReadOutcome::Complete) => {}
                Some(ReadOutcome::Failed(fault)) => {
                    return (ReadOutcome::Failed(fault), format!("{name}, which it is joined to, failed"));
                }
                Some(ReadOutcome::Unsupported) | None if read.table.rows.is_empty() => {}
                Some(ReadOutcome::Unsupported) | None => {
                    let detail = format!("it has rows, but {name}, which they are joined to, is not there");
                    return (ReadOutcome::Failed(Fault::MissingTable), detail);
                }
            }
        }
        own
    }

    fn outcome_of(&self, at: usize) -> Option<ReadOutcome> {
        self.read.reads.get(at)?.as_ref().map(|read| read.outcome)
    }

    fn row(&self, index: &[u32]) -> table::Row {
        table::Row { context: self.read.context.clone(), index: index.into() }
    }

    fn ranges(&self, at: usize, ranges: &Ranges, decoded: &mut DecodedTable) {
        let lacking = match ranges.fallback_for {
            Some(better) => self.lacking(at, better),
            None => Lacking::Rows((0..self.rows[at].rows.len()).collect()),
        };
        let mut found = Vec::new();
        match lacking {
            Lacking::Unknown => {}
            Lacking::Uncertain(numbers) => {
                let detail = "the better table has rows whose index cannot be decoded: whether it lacks this pool is not known";
                decoded.table.bad_index = true;
                for row in numbers.iter().filter_map(|number| self.rows[at].rows.get(*number)) {
                    let reject = Reject::new(RejectReason::BadIndex, detail);
                    decoded.refuse(self.row(row.arcs), None, reject);
                }
            }
            Lacking::Rows(numbers) => {
                for row in numbers.iter().filter_map(|number| self.rows[at].rows.get(*number)) {
                    found.push((row, self.found(at, ranges, row)));
                }
            }
        }
        if let Some(rule) = &ranges.exclude {
            exclude::apply(rule, !self.rows[at].bad.is_empty(), &mut found);
        }
        for (row, found) in found {
            match found {
                Ok(found) => decoded.list(self.row(row.arcs), found),
                Err((pool, reject)) => decoded.refuse(self.row(row.arcs), pool, reject),
            }
        }
    }

    /// The rows of a fallback that the better table has nothing for.
    fn lacking(&self, at: usize, better: usize) -> Lacking {
        match self.outcome_of(better) {
            Some(ReadOutcome::Complete | ReadOutcome::Unsupported) => {}
            Some(ReadOutcome::Failed(_)) | None => return Lacking::Unknown,
        }
        let there = &self.rows[better];
        let mut had = BTreeSet::new();
        for (number, join) in there.table.joins.iter().enumerate().filter(|(_, join)| join.table == at) {
            let joined = &self.joined[better][number];
            for row in &there.rows {
                if let Ok(key) = rows::key(there, row, &join.on) {
                    had.extend(joined.rows(&key));
                }
            }
        }
        let lacking = (0..self.rows[at].rows.len()).filter(|number| !had.contains(number)).collect();
        if there.bad.is_empty() { Lacking::Rows(lacking) } else { Lacking::Uncertain(lacking) }
    }

    fn found(&self, at: usize, ranges: &Ranges, row: &Row<'_>) -> Result<Found, (Option<PoolName>, Reject)> {
        let pool = self.octets(at, row, ranges.pool);
        let pool = pool.map(|raw| text::pool_name(&raw, self.encoding));
        let for_people = pool.as_ref().ok().cloned();
        self.read_row(at, ranges, row, pool).map_err(|reject| (for_people, reject))
    }

    fn read_row(
        &self,
        at: usize,
        ranges: &Ranges,
        row: &Row<'_>,
        pool: Result<PoolName, Reject>,
    ) -> Result<Found, Reject> {
        self.rows[at].check(row)?;
        for (field, values) in &ranges.only {
            self.check_only(at, row, *field, values)?;
        }
        let pool = pool?;
        if let Some(pattern) = ranges.skip_pools.iter().find(|pattern| pattern.matches(pool.text())) {
            let detail = format!("pools named {} are no ranges", pattern.as_str());
            return Err(Reject::new(RejectReason::Filtered, detail));
        }
        let vrf = self.vrf(at, ranges, row)?;
        let [first, second] = ranges.ends();
        let (first, second) = (self.field(at, row, first)?, self.field(at, row, second)?);
        let range = range::range(ranges.recipe, first, second)?;
        let count = |field: Option<Ref>| match self.field(at, row, field?) {
            Ok(Field::Integer(n)) => u64::try_from(n).ok(),
            _ => None,
        };
        Ok(Found { ranges: vec![range], pool, vrf, size: count(ranges.size), used: count(ranges.used) })
    }

    fn check_only(&self, at: usize, row: &Row<'_>, field: Ref, values: &[i128]) -> Result<(), Reject> {
        let (table, own) = self.resolve(at, field);
        let value = self.field(at, row, field)?;
        let wanted = match &value {
            Field::Integer(n) => values.contains(n),
            Field::Octets(octets) if self.rows[table].table.kind(own) == Kind::Bits => {
                bits_set(octets).any(|bit| values.contains(&bit))
            }
            _ => false,
        };
        if wanted {
            return Ok(());
        }
        let name = self.rows[table].table.field_name(own);
        let values: Vec<String> = values.iter().map(i128::to_string).collect();
        let detail = format!("{name} is {value}; rows with {} are ranges", values.join(", "));
        Err(Reject::new(RejectReason::Filtered, detail))
    }

    fn vrf(&self, at: usize, ranges: &Ranges, row: &Row<'_>) -> Result<Name, Reject> {
        let Some(field) = ranges.vrf else { return Ok(self.read.vrf.clone().unwrap_or_default()) };
        let (table, own) = self.resolve(at, field);
        let optional = matches!(own, Own::Column(column) if self.rows[table].table.columns[column].optional);
        match self.octets(at, row, field) {
            Ok(raw) => Ok(text::text(&raw, self.encoding).into()),
            Err(reject) if optional && reject.reason == RejectReason::MissingCell => Ok(Name::default()),
            Err(reject) => Err(reject),
        }
    }

    fn octets(&self, at: usize, row: &Row<'_>, field: Ref) -> Result<Vec<u8>, Reject> {
        match self.field(at, row, field)? {
            Field::Octets(octets) => Ok(octets),
            other => Err(Reject::new(RejectReason::BadCell, format!("{other} is no text"))),
        }
    }

    fn field(&self, at: usize, row: &Row<'_>, field: Ref) -> Result<Field, Reject> {
        match field {
            Ref::Own(field) => self.rows[at].field(row, field),
            Ref::Joined { join, field } => {
                let on = &self.rows[at].table.joins[join];
                let there = &self.rows[on.table];
                let row = self.joined[at][join].find(&self.rows[at], row, &on.on, there)?;
                there.check(row)?;
                there.field(row, field)
            }
        }
    }

    fn resolve(&self, at: usize, field: Ref) -> (usize, Own) {
        match field {
            Ref::Own(field) => (at, field),
            Ref::Joined { join, field } => (self.rows[at].table.joins[join].table, field),
        }
    }
}

/// Which rows of a fallback count.
enum Lacking {
    /// The better table was not read: none.
    Unknown,
    /// The better table has rows that cannot be told: these may or may not.
    Uncertain(Vec<usize>),
    /// These.
    Rows(Vec<usize>),
}

impl DecodedTable {
    fn new(name: Name, outcome: ReadOutcome, detail: String, rows: u64) -> Self {
        let (outcome, fault) = match outcome {
            ReadOutcome::Complete => (TableOutcome::Complete, None),
            ReadOutcome::Failed(fault) => (TableOutcome::Failed(fault.as_str().into()), Some(fault)),
            ReadOutcome::Unsupported => (TableOutcome::Unsupported, None),
        };
        let table = PolledTable { name, outcome, listed: Vec::new(), unread: Vec::new(), bad_index: false };
        Self { table, fault, detail, rows, rejected: Vec::new() }
    }

    fn list(&mut self, row: table::Row, found: Found) {
        for range in found.ranges {
            self.table.listed.push(Listed {
                table: self.table.name.clone(),
                row: row.clone(),
                space: None,
                vrf: found.vrf.clone(),
                pool: found.pool.clone(),
                range,
                size: found.size,
                used: found.used,
                standing: Standing::Listed,
            });
        }
    }

    fn refuse(&mut self, row: table::Row, pool: Option<PoolName>, reject: Reject) {
        self.rejected.push(Rejected::of(&self.table.name, &row.index, reject.clone()));
        self.table.bad_index |= reject.reason == RejectReason::BadIndex;
        if !reject.reason.is_void() {
            self.table.unread.push(Unread { row, pool });
        }
    }
}
