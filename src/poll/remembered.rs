//! What is remembered of a BAS between polls, as far as a poll needs it.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan as _};

use super::system::System;
use crate::mib::{Descriptor, Fault};
use crate::table::{Detection, Memory, Name, PolledTable, TableOutcome};

/// Two boot times no further apart than this many seconds are one: sysUpTime and our clock
/// do not run quite alike, and an answer takes its time.
const SAME_BOOT: i64 = 30;

/// What a poll needs to remember of the ones before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The stored detection.
    pub detection: Option<Detection>,
    /// The tables, by the names under which a poll reports them.
    pub tables: BTreeMap<Name, RememberedTable>,
    /// When the router booted.
    pub booted: Option<Timestamp>,
}

/// What a poll needs to remember of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RememberedTable {
    /// Whether it ever had rows.
    pub had_rows: bool,
    /// How many rows it had when it was last read completely.
    pub rows: u64,
    /// The repetitions that were found to work.
    pub repetitions: Option<u32>,
}

impl From<&Memory> for Remembered {
    fn from(memory: &Memory) -> Self {
        let tables = memory.tables.iter().map(|(name, table)| {
            let (had_rows, rows, repetitions) = (table.had_rows, table.rows, table.repetitions);
            (name.clone(), RememberedTable { had_rows, rows, repetitions })
        });
        Self { detection: memory.detection.clone(), tables: tables.collect(), booted: memory.booted }
    }
}

impl Remembered {
    /// Whether any table ever had rows.
    pub fn had_rows(&self) -> bool {
        self.tables.values().any(|table| table.had_rows)
    }

    /// When the router booted, by its sysUpTime; the remembered time where it is the same
    /// boot, so that it does not waver.
    pub(super) fn boot(&self, system: &System, now: Timestamp) -> Option<Timestamp> {
        let ticks = system.up_time?;
        let booted = now.checked_sub((i64::from(ticks) * 10).milliseconds()).ok()?;
        match self.booted {
            Some(before) if (booted.as_second() - before.as_second()).abs() <= SAME_BOOT => Some(before),
            _ => Some(booted),
        }
    }

    /// The remembered tables that a poll did not read, and what is to be made of each.
    ///
    /// `listed` are the VRFs of the contexts that are to be read, where that is certain. A table of a context that is gone is
    /// empty, and so is one of another descriptor once everything of this one was read; of
    /// all others it is not known.
    pub(super) fn unread(
        &self,
        read: &[Name],
        descriptor: &Descriptor,
        listed: Option<&[Name]>,
        all_read: bool,
    ) -> Vec<(PolledTable, Option<Fault>)> {
        let missing = self.tables.keys().filter(|name| !read.contains(name));
        let fate = |name: &Name| {
            let (table, vrf) =
                name.split_once('@').map_or((&**name, None), |(table, vrf)| (table, Some(vrf)));
            let ours = descriptor.tables().any(|own| **own.name() == *table);
            match (ours, vrf, listed) {
                (true, Some(vrf), Some(listed)) if !listed.iter().any(|other| **other == *vrf) => Some(None),
                // The default context is not wanted any more.
                (true, None, Some(_)) => Some(None),
                (true, ..) => Some(Some(Fault::MissingContext)),
                (false, ..) if all_read => Some(None),
                (false, ..) => None,
            }
        };
        missing.filter_map(|name| Some((empty(name.clone(), fate(name)?), fate(name)?))).collect()
    }
}

/// A table without rows.
pub(super) fn empty(name: Name, fault: Option<Fault>) -> PolledTable {
    let outcome = match fault {
        Some(fault) => TableOutcome::Failed(fault.as_str().into()),
        None => TableOutcome::Complete,
    };
    PolledTable { name, outcome, listed: Vec::new(), unread: Vec::new(), bad_index: false }
}
