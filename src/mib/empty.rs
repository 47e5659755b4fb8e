//! Tables without rows. SNMP does not tell an empty table from one that is not there; what
//! is known of the router does.
//!
//! A table of ranges is empty, and complete, where it had rows before, or the router is one
//! of the descriptor's, or the walk ended within the descriptor's own MIB: then its owner is
//! seen to be emptied. It is not believed, where a lesser table would take its place, or
//! where rows need it that are still there.

use super::decode::{ContextRead, Read, ReadOutcome, Settings, decode};
use super::descriptor::{Descriptor, Ref, Table, name_in};
use super::fault::Fault;
use crate::snmp::Oid;
use crate::table::Name;

/// What is known of a router besides what it answers.
pub struct Known<'a> {
    /// Whether the router is one of the descriptor's: by its sysObjectID, or by a stored
    /// detection.
    pub router: bool,
    /// Whether a table ever had rows, by the name under which polls report it.
    pub had_rows: &'a (dyn Fn(&Name) -> bool + Sync),
}

/// Decides what the tables without rows are that were read in a context.
pub fn judge_empty(descriptor: &Descriptor, read: &mut ContextRead, known: &Known<'_>, settings: Settings) {
    let judge = Judge { descriptor, known };
    let outcomes: Vec<Option<Judged>> =
        (0..descriptor.tables.len()).map(|at| judge.table(read, at)).collect();
    for (read, judged) in read.reads.iter_mut().zip(outcomes) {
        if let (Some(read), Some(judged)) = (read, judged) {
            judged.apply(read);
        }
    }
    judge.replaced(read, settings);
}

/// Decides on the table that lists contexts alone, before they are asked in.
pub fn judge_list(descriptor: &Descriptor, read: &mut ContextRead, known: &Known<'_>) {
    let Some(list) = &descriptor.contexts else { return };
    let judged = Judge { descriptor, known }.table(read, list.table);
    if let (Some(Some(read)), Some(judged)) = (read.reads.get_mut(list.table), judged) {
        judged.apply(read);
    }
}

struct Judge<'a> {
    descriptor: &'a Descriptor,
    known: &'a Known<'a>,
}

enum Judged {
    Empty,
    NotThere,
    Vanished(String),
}

impl Judged {
    fn apply(self, read: &mut Read) {
        match self {
            Self::Empty => read.outcome = ReadOutcome::Complete,
            Self::NotThere => read.outcome = ReadOutcome::Unsupported,
            Self::Vanished(detail) => {
                read.outcome = ReadOutcome::Failed(Fault::Vanished);
                read.table.detail = detail;
            }
        }
    }
}

impl Judge<'_> {
    /// What a table without rows is; none where there is nothing to decide.
    fn table(&self, read: &ContextRead, at: usize) -> Option<Judged> {
        let this = empty(read, at)?;
        let table = self.descriptor.tables.get(at)?;
        let had_rows = self.had_rows(read, table);
        let lists = self.descriptor.contexts.as_ref().is_some_and(|contexts| contexts.table == at);
        let needed = self.needed_by(read, at);
        Some(match needed {
            Some(by) if had_rows => {
                let by = &by.name;
                Judged::Vanished(format!(
                    "it once had rows, now it has none, and {by} still has rows that need it"
                ))
            }
            Some(_) => Judged::NotThere,
            None if lists && had_rows => {
                Judged::Vanished("it once listed the router's contexts, and now it has no rows".to_owned())
            }
            None if had_rows => Judged::Empty,
            None if table.ranges.is_some() && (self.known.router || self.in_module(this)) => Judged::Empty,
            None => Judged::NotThere,
        })
    }

    fn had_rows(&self, read: &ContextRead, table: &Table) -> bool {
        let name = match &read.vrf {
            Some(vrf) => name_in(&table.name, vrf),
            None => table.name.clone(),
        };
        (self.known.had_rows)(&name)
    }

    /// A table with rows that cannot do without this one; for counts alone they can.
    fn needed_by(&self, read: &ContextRead, at: usize) -> Option<&Table> {
        let joined = |table: &&Table| {
            let needed = table.ranges.iter().flat_map(|ranges| ranges.needed(true));
            let mut joins = needed.filter_map(|field| match field {
                Ref::Joined { join, .. } => table.joins.get(join),
                Ref::Own(_) => None,
            });
            joins.any(|join| join.table == at)
        };
        let has_rows = |number: usize| {
            read.reads.get(number).and_then(Option::as_ref).is_some_and(|read| !read.table.rows.is_empty())
        };
        let tables = self.descriptor.tables.iter().enumerate();
        tables.filter(|(number, table)| joined(table) && has_rows(*number)).map(|(_, table)| table).next()
    }

    /// Whether the walk ended in the MIB of one of the descriptor's tables.
    fn in_module(&self, read: &Read) -> bool {
        let Some(behind) = &read.table.behind else { return false };
        self.descriptor.tables.iter().any(|table| behind.suffix(&around(&table.entry)).is_some())
    }

    /// A better table that had rows is not believed to be empty while a lesser one has ranges
    /// in its stead.
    fn replaced(&self, read: &mut ContextRead, settings: Settings) {
        let tables = self.descriptor.tables.iter().enumerate();
        let fallbacks = |table: &Table| {
            table.ranges.iter().flat_map(|ranges| ranges.fallbacks.clone()).collect::<Vec<_>>()
        };
        let pairs: Vec<(usize, usize)> = tables
            .flat_map(|(at, table)| fallbacks(table).into_iter().map(move |fallback| (at, fallback.better)))
            .collect();
        for (lesser, better) in pairs {
            let (Some(table), Some(name)) =
                (self.descriptor.tables.get(better), self.descriptor.tables.get(lesser).map(|t| &t.name))
            else {
                continue;
            };
            let gone = empty(read, better).is_some_and(|read| read.outcome == ReadOutcome::Complete);
            if !gone || !self.had_rows(read, table) || !self.has_ranges(read, lesser, settings) {
                continue;
            }
            let detail = format!("it once had rows, now it has none, and {name} has ranges in its stead");
            if let Some(Some(read)) = read.reads.get_mut(better) {
                Judged::Vanished(detail).apply(read);
            }
        }
    }

    /// Whether a table claims something, or might.
    fn has_ranges(&self, read: &ContextRead, at: usize, settings: Settings) -> bool {
        if read.reads.get(at).and_then(Option::as_ref).is_none_or(|read| read.table.rows.is_empty()) {
            return false;
        }
        let name = match (self.descriptor.tables.get(at), &read.vrf) {
            (Some(table), Some(vrf)) => name_in(&table.name, vrf),
            (Some(table), None) => table.name.clone(),
            (None, _) => return false,
        };
        let decoded = decode(self.descriptor, read, settings);
        let decoded = decoded.iter().find(|decoded| decoded.table.name == name);
        decoded.is_some_and(|decoded| !decoded.table.listed.is_empty() || !decoded.table.unread.is_empty())
    }
}

/// A table that was read properly and has no rows.
fn empty(read: &ContextRead, at: usize) -> Option<&Read> {
    let read = read.reads.get(at)?.as_ref()?;
    let proper = matches!(read.outcome, ReadOutcome::Complete | ReadOutcome::Unsupported);
    (proper && read.table.rows.is_empty()).then_some(read)
}

/// What a table's OID is defined under: the entry is `around.TABLE.1`.
fn around(entry: &Oid) -> Oid {
    let arcs = entry.arcs();
    Oid::new(arcs.get(..arcs.len().saturating_sub(2)).unwrap_or_default())
}
