//! From a poll to what is remembered of its BAS.

use jiff::Timestamp;

use super::shaped::word;
use crate::mib::Fault;
use crate::poll::{Polled, State, TableResult};
use crate::table::{IngestSettings, Ingested, Memory, Name, Poll, PolledTable, Published, TableOutcome};

/// Takes a poll in.
pub(super) fn ingest(
    memory: &mut Memory,
    mut polled: Polled,
    scheduled: bool,
    at: Timestamp,
    published: &Published,
    settings: &IngestSettings,
) -> Ingested {
    if polled.detection.is_some() {
        memory.detection.clone_from(&polled.detection);
    }
    if polled.engine.is_some() {
        memory.engine.clone_from(&polled.engine);
    }
    if let Some(name) = polled.sys_name.as_deref().filter(|name| **name != *memory.sys_name) {
        memory.sys_name = name.into();
    }
    let ingested = memory.ingest(poll_of(memory, &mut polled, scheduled, at), published, settings);
    memory.state = word(&polled.state).into();
    memory.reason = polled.reason.map(|reason| reason.as_str().into()).unwrap_or_default();
    polled.tables.iter().for_each(|result| learn(memory, result));
    ingested
}

/// What the table itself cannot tell: rows that are no ranges, and the size of requests.
fn learn(memory: &mut Memory, result: &TableResult) {
    let Some(table) = memory.tables.get_mut(&result.table.name) else { return };
    table.repetitions = result.repetitions.or(table.repetitions);
    if result.table.outcome == TableOutcome::Complete {
        table.had_rows |= result.rows > 0;
        table.rows = result.rows;
    }
}

/// Takes out of a poll what it read.
fn poll_of(memory: &Memory, polled: &mut Polled, scheduled: bool, at: Timestamp) -> Poll {
    let read = polled.tables.iter().any(|result| !matches!(result.table.outcome, TableOutcome::Failed(_)));
    if !read {
        let fault = polled.reason.unwrap_or(Fault::NoTables);
        let failure = Some(fault.as_str().into());
        return Poll { at, booted: polled.booted, scheduled, failure, tables: Vec::new() };
    }
    let mut tables: Vec<PolledTable> = polled.tables.iter_mut().map(taken).collect();
    if polled.state != State::Complete {
        // Of a table that was not even tried nothing is known.
        let tried = |name: &Name| polled.tables.iter().any(|result| result.table.name == *name);
        let reason = polled.reason.map_or("not-read", Fault::as_str);
        tables.extend(memory.tables.keys().filter(|name| !tried(name)).map(|name| not_read(name, reason)));
    }
    for table in &mut tables {
        if matches!(table.outcome, TableOutcome::Failed(_)) {
            // What was read before it failed is for people to see, not to be acted on.
            table.listed.clear();
            table.unread.clear();
        }
    }
    Poll { at, booted: polled.booted, scheduled, failure: None, tables }
}

/// A table with its rows; name and outcome stay.
fn taken(result: &mut TableResult) -> PolledTable {
    let table = &mut result.table;
    PolledTable {
        name: table.name.clone(),
        outcome: table.outcome.clone(),
        listed: std::mem::take(&mut table.listed),
        unread: std::mem::take(&mut table.unread),
        bad_index: table.bad_index,
    }
}

fn not_read(name: &Name, reason: &str) -> PolledTable {
    PolledTable {
        name: name.clone(),
        outcome: TableOutcome::Failed(reason.into()),
        listed: Vec::new(),
        unread: Vec::new(),
        bad_index: false,
    }
}
