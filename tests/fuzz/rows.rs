//! Rows through descriptors, and recordings.

use std::sync::{Arc, LazyLock};

use super::Bytes;
use crate::mib::{ContextRead, Descriptor, Library, Read, ReadOutcome, Settings, contexts, decode, replay};
use crate::snmp::{Outcome, Recording, Rows, TableRead, Value};

static DESCRIPTORS: LazyLock<Vec<Arc<Descriptor>>> =
    LazyLock::new(|| Library::built_in().iter().cloned().collect());

/// Any rows through any built-in descriptor: each is listed or refused, none is listed with
/// an address that no cell and no arc of its router can have meant, and what is listed is
/// bounded by what was read.
pub(super) fn rows(data: &[u8]) {
    let mut bytes = Bytes(data);
    let descriptor = bytes.of(&DESCRIPTORS);
    let settings = Settings {
        encoding: None,
        group_as_vrf: [None, Some(true), Some(false)][usize::from(bytes.octet() % 3)],
    };
    let vrf = (bytes.octet() % 4 == 0).then(|| "vr1".into());
    let mut tables: Vec<TableRead> =
        descriptor.tables().map(|table| empty(table.columns().columns.len())).collect();
    while !bytes.is_empty() {
        let at = usize::from(bytes.octet()) % tables.len();
        let width = descriptor.tables().nth(at).map_or(0, |table| table.columns().columns.len());
        let index = index(&mut bytes);
        for column in 0..width {
            tables[at].rows.set(&index, column, cell(&mut bytes).as_ref());
        }
    }
    let read: usize = tables.iter().map(|table| table.rows.len()).sum();
    let reads: Vec<Option<Read>> = tables.into_iter().map(|table| Some(judged(data, table))).collect();
    let found = contexts(descriptor, &reads, settings.encoding);
    assert!(found.contexts.len() <= read);
    let context = ContextRead { context: "".into(), vrf, reads };
    for table in decode(descriptor, &context, settings) {
        let listed = &table.table.listed;
        // A row of network and mask, or of first and last, is one range; blocks that leave
        // some out are few.
        assert!(listed.len() <= 1_024 * read.max(1), "{} ranges of {read} rows", listed.len());
        for rejected in &table.rejected {
            assert!(!rejected.detail.is_empty());
        }
        for listed in listed {
            let row = &listed.row.index;
            assert!(
                context.reads.iter().flatten().any(|read| read.table.rows.get(row).is_some()),
                "a row that was not read is listed"
            );
        }
    }
}

/// Recordings: what is read is rendered and read again without a change, and goes through
/// descriptors.
pub(super) fn snmprec(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(recording) = Recording::parse(text) else { return };
    assert!(recording.objects().len() <= text.lines().count());
    let rendered = recording.render();
    assert_eq!(Recording::parse(&rendered).as_ref(), Ok(&recording));
    for descriptor in DESCRIPTORS.iter() {
        let replayed = replay(descriptor, &recording, Settings::default());
        assert_eq!(replayed.descriptor, *descriptor.name());
    }
}

fn empty(width: usize) -> TableRead {
    TableRead {
        outcome: Outcome::Complete,
        detail: String::new(),
        rows: Rows::new(width),
        repetitions: 20,
        behind: None,
    }
}

/// A table without rows is one that the router has not; now and then one has failed.
fn judged(data: &[u8], table: TableRead) -> Read {
    let outcome = if table.rows.is_empty() && data.len().is_multiple_of(2) {
        ReadOutcome::Unsupported
    } else {
        ReadOutcome::Complete
    };
    Read { outcome, table }
}

/// Lengths, letters and octets of addresses are small arcs; some are not.
fn index(bytes: &mut Bytes<'_>) -> Vec<u32> {
    let length = bytes.octet();
    let arc =
        |bytes: &mut Bytes<'_>| if length & 0x80 == 0 { u32::from(bytes.octet()) } else { bytes.word() };
    (0..length & 0x3f).map(|_| arc(bytes)).collect()
}

fn cell(bytes: &mut Bytes<'_>) -> Option<Value> {
    let octets = |bytes: &mut Bytes<'_>| {
        let count = usize::from(bytes.octet() % 40);
        bytes.take(count).to_vec()
    };
    Some(match bytes.octet() % 16 {
        0 => return None,
        1 => Value::Integer((u64::from(bytes.word()) << 32 | u64::from(bytes.word())) as i64),
        2 | 3 => Value::Integer(i64::from(bytes.octet())),
        4 | 5 => Value::Octets(octets(bytes)),
        6 | 7 => Value::IpAddress(bytes.take(4).to_vec()),
        8 => Value::IpAddress(octets(bytes)),
        9 => Value::Gauge32(bytes.word()),
        10 => Value::Counter64(u64::from(bytes.word())),
        11 => Value::Undecodable { tag: 0x47, octets: octets(bytes) },
        12 => Value::ObjectId(crate::snmp::Oid::new(index(bytes))),
        13 => Value::Null,
        14 => Value::TimeTicks(bytes.word()),
        _ => Value::Integer(i64::from(bytes.word())),
    })
}
