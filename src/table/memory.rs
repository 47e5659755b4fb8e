//! What is remembered per BAS between polls and across restarts. Plain data; the store
//! keeps it, `poll` and the build read it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Name, PoolName};
use crate::address::Range;

mod carry;
mod index;
mod ingest;
mod listing;
mod packed;
mod since;

pub use index::Index;
pub use ingest::{IngestSettings, Ingested, Poll, Published};
pub use listing::{ListedRef, Listing};
pub use since::SeenList;

/// Whether a range was listed by the last complete poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The last complete poll of its table listed it.
    Listed,
    /// The last complete poll could not vouch for its absence: its row was not readable, or
    /// the router had just booted.
    Unread,
}

/// One range as a router listed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The table of the descriptor that it was read from.
    pub table: Name,
    /// The row's index, with the SNMP context before it: how an unreadable row is told apart.
    pub row: Row,
    /// The space that its VRF belongs to; none where the VRF belongs to no space.
    pub space: Option<Name>,
    /// The VRF as the router names it.
    pub vrf: Name,
    /// The pool's name.
    pub pool: PoolName,
    /// The addresses.
    pub range: Range,
    /// The router's own count of addresses in it.
    pub size: Option<u64>,
    /// The router's own count of addresses in use.
    pub used: Option<u64>,
    /// Whether the last complete poll listed it.
    pub standing: Standing,
}

/// Which row of a table: SNMP context and index.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Row {
    /// The context's name; empty for the default one.
    pub context: Name,
    /// The index arcs behind the column's OID.
    pub index: Index,
}

/// A row that could not be read: a cell that cannot be decoded or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Which row.
    pub row: Row,
    /// The pool, where that much could be read.
    pub pool: Option<PoolName>,
}

/// What became of one table in one poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableOutcome {
    /// Read to its end: only this can remove anything.
    Complete,
    /// Not read to its end; the stable reason is one of a closed list.
    Failed(Name),
    /// The router has no such table.
    Unsupported,
}

/// One table as one poll found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledTable {
    /// The table's name in its descriptor.
    pub name: Name,
    /// What became of it.
    pub outcome: TableOutcome,
    /// The rows that claim something, in the router's order.
    pub listed: Vec<Listed>,
    /// The rows that could not be read.
    pub unread: Vec<Unread>,
    /// Whether some row's index could not be decoded: what is missing is then held.
    pub bad_index: bool,
}

/// What is remembered of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableMemory {
    /// Its last complete read.
    pub last_complete: Option<Timestamp>,
    /// Its state at the last attempt: complete, failed, unsupported.
    pub state: Name,
    /// The stable reason of a failure; empty else.
    pub reason: Name,
    /// Whether it ever had rows, be they such as claim nothing: then `unsupported` is a failure,
    /// and that it reads empty is not believed at once.
    pub had_rows: bool,
    /// How many rows the last complete read had, those that claim nothing included.
    pub rows: u64,
    /// Complete polls in a row that found none where there were some.
    pub empty_reads: u32,
    /// Failed reads in a row, since start.
    #[serde(skip)]
    pub failed: u32,
    /// Since when it is stale.
    pub stale_since: Option<Timestamp>,
    /// The repetitions that were found to work.
    pub repetitions: Option<u32>,
}

/// Which descriptor a BAS was found to answer to, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detection {
    /// The descriptor's name.
    pub descriptor: Name,
    /// sysObjectID, dotted, when it was found.
    pub sys_object_id: String,
    /// sysDescr when it was found.
    pub sys_descr: String,
}

/// The SNMPv3 engine behind an address, as last heard in an authenticated message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// snmpEngineID, in hex.
    pub id: String,
    /// snmpEngineBoots.
    pub boots: u32,
    /// snmpEngineTime when it was heard, in seconds.
    pub time: u32,
    /// When it was heard.
    pub at: Timestamp,
}

/// Since when addresses are listed by a BAS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Since when.
    pub since: Timestamp,
}

/// How often addresses were missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Miss {
    /// The space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Complete scheduled polls in a row that did not list them.
    pub polls: u32,
}

/// What is remembered of one BAS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// When it was last tried.
    pub last_attempt: Option<Timestamp>,
    /// When all its tables were last read completely.
    pub last_complete: Option<Timestamp>,
    /// Whether it was tried at all since the store was made.
    pub tried: bool,
    /// The last poll's state (complete, failed, unsupported) and its stable reason.
    pub state: Name,
    /// The stable reason of a failure; empty else.
    pub reason: Name,
    /// When it booted, as sysUpTime told.
    pub booted: Option<Timestamp>,
    /// Per table of its descriptor: most routers have one or two, and room for eleven would be
    /// kept if they lay in the map itself.
    pub tables: BTreeMap<Name, Box<TableMemory>>,
    /// The stored detection.
    pub detection: Option<Detection>,
    /// The SNMPv3 engine last heard.
    pub engine: Option<Engine>,
    /// sysName as last heard; empty where none was told.
    #[serde(default)]
    pub sys_name: Name,
    /// Since when each address is listed without a break in complete polls; sorted,
    /// disjoint, neighbours of one time merged.
    pub seen: SeenList,
    /// How many complete scheduled polls in a row did not list an address that is still
    /// published as this BAS's; sorted, disjoint.
    pub misses: Vec<Miss>,
    /// When a poll last counted as one of those.
    pub last_counted: Option<Timestamp>,
    /// The ranges that it listed last, and those not read since. The store keeps them as
    /// rows, not within this record.
    #[serde(skip)]
    pub listed: Listing,
}

impl Memory {
    /// Forgets by which descriptor it is read, and which of its tables ever had rows: the next
    /// poll finds both out anew. What it listed stays, until that poll says otherwise.
    pub fn forget_tables(&mut self) {
        self.detection = None;
        for table in self.tables.values_mut() {
            (table.had_rows, table.repetitions) = (false, None);
        }
    }
}
