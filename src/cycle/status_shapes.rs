//! The JSON of `status`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shapes::{DrainShape, PinShape, ProgressShape, TableShape};

/// One BAS in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BasShape {
    /// Its name.
    pub name: String,
    /// complete, failed, unsupported, or unknown before its first poll.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// Its last complete poll.
    pub last_complete: Option<Timestamp>,
    /// Its last poll.
    pub last_attempt: Option<Timestamp>,
    /// Seconds since the last complete poll.
    pub age_s: Option<u64>,
    /// Whether it is stale.
    pub stale: bool,
    /// How many of its addresses (IPv6: /64s) are held.
    pub held: u64,
    /// How many ranges it lists.
    pub ranges: usize,
    /// How many addresses they have, in decimal digits.
    pub addresses: String,
    /// The descriptor it is read by.
    pub descriptor: Option<String>,
    /// Table by table.
    pub tables: Vec<TableShape>,
}

/// Two BASes that look like one router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinsShape {
    /// Their names.
    pub bas: [String; 2],
    /// What they have in common besides all their ranges: engine-id or sys-name.
    pub same: String,
}

/// One export in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportShape {
    /// Its name.
    pub name: String,
    /// published, deferred, failed, or missing.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// The newest generation that its file is true for.
    pub generation: Option<u64>,
    /// When that was written.
    pub published: Option<Timestamp>,
    /// When its file last changed.
    #[serde(default)]
    pub changed: Option<Timestamp>,
    /// When the consumer was last seen to answer as the file says; none where it is not
    /// asked.
    #[serde(default)]
    pub confirmed: Option<Timestamp>,
    /// Where a change came too soon: when it will be published.
    #[serde(default)]
    pub deferred_until: Option<Timestamp>,
    /// What a change on a router costs until viewers are answered anew, at most, in seconds:
    /// the poll's interval, the pace of the export, the last publication and the time to
    /// live of the answers.
    #[serde(default)]
    pub effect_s: u64,
}

/// What `status` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusShape {
    /// The store's identity, 16 hex digits.
    pub session: String,
    /// The generation that is published.
    pub generation: u64,
    /// When it was committed.
    pub committed: Option<Timestamp>,
    /// Whether enough of the fleet has been read.
    pub filled: bool,
    /// How far the fleet has been read.
    pub progress: ProgressShape,
    /// Whether somebody keeps what is published as it is.
    pub frozen: bool,
    /// The generation whose ranges are published whatever polls find; null where none is
    /// pinned.
    pub pinned: Option<u64>,
    /// More of that.
    pub pin: Option<PinShape>,
    /// The drained edges.
    pub drained: Vec<DrainShape>,
    /// BASes that look like one router under two names: a `pair` makes them one owner.
    #[serde(default)]
    pub twins: Vec<TwinsShape>,
    /// Whether a daemon answered, or the store was read.
    pub running: bool,
    /// BAS by BAS.
    pub bas: Vec<BasShape>,
    /// How many changes are held.
    pub held: usize,
    /// How many overlaps there are.
    pub conflicts: usize,
    /// Export by export.
    pub exports: Vec<ExportShape>,
}
