//! What one poll found.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::detect::Chosen;
use super::remembered::empty;
use super::system::System;
use super::{Choice, Decoded, DecodedRead, Request, Spent, Stop};
use crate::mib::{Descriptor, Fault, RejectReason, Rejected};
use crate::snmp::{Cost, Reason};
use crate::table::{Detection, Engine, Name, PolledTable, Row, TableOutcome};

/// What became of a poll. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Every table of the router was read to its end.
    Complete,
    /// Some table was not.
    Failed,
    /// The router has none of the tables, or is not known.
    Unsupported,
}

/// One table of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableResult {
    /// The table, with its ranges and its unreadable rows. Where it failed, `listed` is what
    /// was read before: for people to see, not to be acted on.
    pub table: PolledTable,
    /// Why it failed.
    pub fault: Option<Fault>,
    /// In words, for people; empty unless failed.
    pub detail: String,
    /// How many rows were read. A table that only gives names to others has rows, and no
    /// ranges.
    pub rows: u64,
    /// The repetitions that were found to work; none where it was not asked for.
    pub repetitions: Option<u32>,
    /// How long the prefixes are that are delegated out of an IPv6 range, by its row.
    pub delegated: BTreeMap<Row, u8>,
    /// What it cost; nothing where it was not asked for.
    pub spent: Spent,
}

/// What one poll of one BAS found.
#[derive(Clone, Debug)]
pub struct Polled {
    /// The BAS.
    pub name: Name,
    /// Where it was asked.
    pub address: SocketAddr,
    /// The descriptor by which it was read.
    pub descriptor: Option<Name>,
    /// What became of the poll.
    pub state: State,
    /// Why it is not complete.
    pub reason: Option<Fault>,
    /// In words, for people; empty where complete.
    pub detail: String,
    /// Its tables: of the default context, then of each other, then those that are
    /// remembered and were not read.
    pub tables: Vec<TableResult>,
    /// Rows that claim nothing, in the order of the tables and of the router.
    pub rejected: Vec<Rejected>,
    /// What a person should know, though nothing failed by it.
    pub notes: Vec<String>,
    /// What it cost.
    pub cost: Cost,
    /// How long it took.
    pub duration: Duration,
    /// How the descriptor was found, to be remembered; none where it is named, or where the
    /// poll did not come to it: then what is remembered stays.
    pub detection: Option<Detection>,
    /// The SNMPv3 engine as last heard.
    pub engine: Option<Engine>,
    /// When the router booted.
    pub booted: Option<Timestamp>,
    /// sysName.
    pub sys_name: Option<String>,
    /// sysDescr.
    pub sys_descr: Option<String>,
    /// sysObjectID, dotted.
    pub sys_object_id: Option<String>,
}

impl Polled {
    /// A poll that has found nothing yet.
    pub(super) fn new(request: &Request) -> Self {
        Self::at(request.name.clone(), request.target.address)
    }

    fn at(name: Name, address: SocketAddr) -> Self {
        Self {
            name,
            address,
            descriptor: None,
            state: State::Failed,
            reason: None,
            detail: String::new(),
            tables: Vec::new(),
            rejected: Vec::new(),
            notes: Vec::new(),
            cost: Cost::default(),
            duration: Duration::ZERO,
            detection: None,
            engine: None,
            booted: None,
            sys_name: None,
            sys_descr: None,
            sys_object_id: None,
        }
    }

    /// A poll that could not begin because the router's name was not resolved.
    pub fn unresolved(request: &Request, detail: String) -> Self {
        let mut polled = Self::new(request);
        polled.stop(Stop::new(Fault::Unresolved, detail), request);
        polled
    }

    /// A poll that this program itself broke off.
    pub fn broken(name: &Name, address: SocketAddr) -> Self {
        let detail = "the poll panicked: a fault of poolsync, not of the router. Report it, with what the \
                      log says of the panic and what `poolsync walk` with --save records";
        Self { reason: Some(Fault::Internal), detail: detail.to_owned(), ..Self::at(name.clone(), address) }
    }

    /// Whether nothing came from where the poll was sent.
    pub fn is_unreached(&self) -> bool {
        self.cost.bytes == 0
            && matches!(
                self.reason,
                Some(Fault::Snmp(
                    Reason::Timeout | Reason::Unreachable | Reason::SendFailed | Reason::Deadline
                ))
            )
    }

    /// All ranges that were read, in the order of the tables and of the router.
    pub fn ranges(&self) -> impl Iterator<Item = &crate::table::Listed> {
        self.tables.iter().flat_map(|table| &table.table.listed)
    }

    pub(super) fn meet(&mut self, system: &System, request: &Request) {
        self.booted = request.remembered.boot(system, request.now);
        self.sys_name.clone_from(&system.name);
        self.sys_descr.clone_from(&system.descr);
        self.sys_object_id = system.object_id.as_ref().map(ToString::to_string);
        if system.up_time.is_none() {
            let note = "the router does not tell its sysUpTime: a restart during a poll cannot be seen";
            self.notes.push(note.to_owned());
        }
    }

    pub(super) fn choose(&mut self, chosen: &Chosen) {
        self.descriptor = Some(chosen.descriptor.name().clone());
        self.detection.clone_from(&chosen.detection);
    }

    /// Takes in what was read and judges it.
    pub(super) fn fill(&mut self, request: &Request, descriptor: &Descriptor, decoded: Decoded) {
        for DecodedRead { table, repetitions, spent } in decoded.tables {
            let mut result = TableResult {
                table: table.table,
                fault: table.fault,
                detail: table.detail,
                rows: table.rows,
                repetitions: Some(repetitions),
                delegated: table.delegated,
                spent,
            };
            let mut rejected = table.rejected;
            result.sort_out(request, &mut rejected);
            self.rejected.append(&mut rejected);
            self.tables.push(result);
        }
        self.notes.extend(decoded.notes);
        self.judge(descriptor);
        self.recall(request, descriptor, decoded.listed.as_deref());
        self.note_empty(request, descriptor);
    }

    fn judge(&mut self, descriptor: &Descriptor) {
        let failed = self.tables.iter().find_map(|result| Some((result.fault?, result)));
        (self.state, self.reason, self.detail) = match failed {
            Some((fault, result)) => {
                (State::Failed, Some(fault), format!("{}: {}", result.table.name, result.detail))
            }
            None if self.tables.iter().any(|result| result.is_complete_source(descriptor)) => {
                (State::Complete, None, String::new())
            }
            None => {
                let detail = format!("the router has none of the tables of {}", descriptor.name());
                (State::Unsupported, Some(Fault::NoTables), detail)
            }
        };
    }

    /// Says which tables were read completely and have no rows, where that is news.
    fn note_empty(&mut self, request: &Request, descriptor: &Descriptor) {
        for result in &self.tables {
            let before = request.remembered.tables.get(&result.table.name).copied().unwrap_or_default();
            let empty = result.table.outcome == TableOutcome::Complete && result.rows == 0;
            if !empty || !before.had_rows {
                continue;
            }
            let name = &result.table.name;
            self.notes.push(match before.rows {
                0 => format!("table {name}: 0 rows, though it once had some"),
                rows => format!("table {name}: 0 rows, was {rows}"),
            });
        }
        let mut sources =
            self.tables.iter().filter(|result| result.is_complete_source(descriptor)).peekable();
        if self.state == State::Complete && sources.peek().is_some() && sources.all(|result| result.rows == 0)
        {
            self.notes.push(format!("every table of ranges of {} is empty", descriptor.name()));
        }
    }

    /// Adds the tables that are remembered and were not read.
    fn recall(&mut self, request: &Request, descriptor: &Descriptor, listed: Option<&[Name]>) {
        let read: Vec<Name> = self.tables.iter().map(|result| result.table.name.clone()).collect();
        let all_read = self.state == State::Complete;
        for (table, fault) in request.remembered.unread(&read, descriptor, listed, all_read) {
            let detail = match fault {
                Some(_) => "its context was not read".to_owned(),
                None => String::new(),
            };
            if let (Some(fault), State::Complete | State::Unsupported) = (fault, self.state) {
                self.state = State::Failed;
                self.reason = Some(fault);
                self.detail = format!("{}: {detail}", table.name);
            }
            self.tables.push(TableResult::not_read(table, fault, detail));
        }
    }

    /// Ends a poll before its tables could be judged one by one: nothing of it is believed.
    pub(super) fn stop(&mut self, stop: Stop, request: &Request) {
        let unknown = matches!(stop.fault, Fault::NoDescriptor | Fault::AmbiguousDescriptor);
        self.state = match unknown && !request.remembered.had_rows() {
            true => State::Unsupported,
            false => State::Failed,
        };
        self.reason = Some(stop.fault);
        for result in &mut self.tables {
            result.table.outcome = TableOutcome::Failed(stop.fault.as_str().into());
            result.fault = Some(stop.fault);
            result.detail.clone_from(&stop.detail);
        }
        for name in expected(request) {
            if self.tables.iter().all(|result| result.table.name != name) {
                let table = empty(name, Some(stop.fault));
                let detail = stop.detail.clone();
                self.tables.push(TableResult::not_read(table, Some(stop.fault), detail));
            }
        }
        self.detail = stop.detail;
    }
}

/// The tables that a poll should have read, as far as that is known beforehand.
fn expected(request: &Request) -> Vec<Name> {
    let descriptor: Option<&Arc<Descriptor>> = match &request.choice {
        Choice::Named(descriptor) => Some(descriptor),
        Choice::Auto(library) => {
            request.remembered.detection.as_ref().and_then(|detection| library.get(&detection.descriptor))
        }
    };
    let tables =
        descriptor.into_iter().flat_map(|d| d.tables().map(|table| table.name().clone()).collect::<Vec<_>>());
    let mut names: Vec<Name> = tables.collect();
    names.extend(request.remembered.tables.keys().cloned());
    names
}

impl TableResult {
    fn not_read(table: PolledTable, fault: Option<Fault>, detail: String) -> Self {
        Self {
            table,
            fault,
            detail,
            rows: 0,
            repetitions: None,
            delegated: BTreeMap::new(),
            spent: Spent::default(),
        }
    }

    /// Whether ranges come of it, and it was read to its end.
    fn is_complete_source(&self, descriptor: &Descriptor) -> bool {
        let name = self.table.name.split('@').next().unwrap_or_default();
        self.table.outcome == TableOutcome::Complete
            && descriptor.tables().any(|table| table.has_ranges() && **table.name() == *name)
    }

    /// Gives every range its space, and leaves out what the configuration does not want.
    fn sort_out(&mut self, request: &Request, rejected: &mut Vec<Rejected>) {
        let before = rejected.len();
        self.table.listed.retain_mut(|listed| {
            listed.space = request.spaces.of(&listed.vrf).cloned();
            let Some(why) = request.filter.refuses(&listed.pool, &listed.vrf) else { return true };
            let detail = format!("{why}: {} in VRF \"{}\"", listed.pool, listed.vrf);
            rejected.push(Rejected::excluded(&listed.table, &listed.row.index, detail));
            false
        });
        if rejected.len() > before {
            rejected.sort_by_cached_key(Rejected::arcs);
            rejected.dedup_by(|a, b| a == b && a.reason == RejectReason::Excluded);
        }
    }
}
