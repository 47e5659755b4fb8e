//! Tests of descriptors and of what is decoded by them. A walk is written as it would be
//! recorded, and cut into tables here, by its OIDs alone.

mod contexts;
mod descriptors;
mod excludes;
mod fallbacks;
mod layouts;
mod reference;
mod replays;
mod rows;
mod ways;

use std::sync::{Arc, LazyLock};

use super::replay::read_table;
use super::*;
use crate::snmp::{Recording, Value};

/// The built-in descriptor of a name.
fn built_in(name: &str) -> Arc<Descriptor> {
    static LIBRARY: LazyLock<Library> = LazyLock::new(Library::built_in);
    Arc::clone(LIBRARY.get(name).unwrap())
}

fn parsed(source: &str) -> Descriptor {
    Descriptor::parse("test.toml", source, Origin::BuiltIn).unwrap_or_else(|error| panic!("{error}"))
}

/// A recording as read by a descriptor in the default context.
fn read(descriptor: &Descriptor, walk: &str) -> ContextRead {
    let recording = Recording::parse(walk).unwrap();
    let reads = descriptor.tables().map(|table| {
        let table = read_table(&recording, &table.columns());
        Some(Read { outcome: table.outcome.into(), table })
    });
    ContextRead { reads: reads.collect(), ..ContextRead::default() }
}

/// Sets what is to be made of one table.
fn set_outcome(descriptor: &Descriptor, read: &mut ContextRead, table: &str, outcome: ReadOutcome) {
    let at = descriptor.tables().position(|other| **other.name() == *table).unwrap();
    read.reads[at].as_mut().unwrap().outcome = outcome;
}

fn decoded_table(descriptor: &Descriptor, read: &ContextRead, table: &str) -> DecodedTable {
    decoded_with(descriptor, read, table, Settings::default())
}

fn decoded_with(
    descriptor: &Descriptor,
    read: &ContextRead,
    table: &str,
    settings: Settings,
) -> DecodedTable {
    let tables = decode(descriptor, read, settings);
    tables.into_iter().find(|decoded| *decoded.table.name == *table).unwrap()
}

/// The ranges as `pool|vrf|first-last`.
fn ranges(table: &DecodedTable) -> Vec<String> {
    let listed = table.table.listed.iter();
    listed.map(|listed| format!("{}|{}|{}", listed.pool, listed.vrf, listed.range)).collect()
}

/// What was rejected, as index and reason.
fn rejected(table: &DecodedTable) -> Vec<(&str, RejectReason)> {
    table.rejected.iter().map(|rejected| (rejected.index.as_str(), rejected.reason)).collect()
}

/// The indexes of the rows that were not read.
fn unread(table: &DecodedTable) -> Vec<Vec<u32>> {
    table.table.unread.iter().map(|unread| unread.row.index.to_vec()).collect()
}
