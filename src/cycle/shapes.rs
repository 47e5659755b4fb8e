//! The JSON that commands print and the control socket speaks. Fields keep their names;
//! more may come.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use super::act_shapes::{DrainShape, EdgeShape, PinShape, PinnedShape, ReloadShape};
pub use super::explain::{ClaimShape, ExplainShape, RefusedShape};
pub use super::outlook::OutlookShape;
pub use super::past_shapes::{
    ActShape, ChangeShape, ConflictClaimShape, ConflictShape, DiffShape, GenerationShape, GroupChangeShape,
    HistoryShape, HourShape, LifetimeShape, OwnedShape, OwnerChangeShape, PoolShape, ShedChangeShape,
};
pub use super::status_shapes::{
    BasShape, EffectShape, ExportShape, LastRefusedShape, NotificationsShape, StatusShape, TwinsShape,
};
pub use super::steer_shapes::{EdgeWeightShape, PlannedShape, SteeringShape};
pub use super::walked::{polled_shape, walk_shape};
use crate::table::Change;

/// One table of one BAS, as read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableShape {
    /// Its name in the descriptor, with `@CONTEXT` behind it in another context.
    pub name: String,
    /// complete, failed or unsupported.
    pub state: String,
    /// The repetitions of a GETBULK that were found to work; 0 is GETNEXT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u32>,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// In words, what was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How many rows were read.
    pub rows: u64,
    /// Requests sent for it, tries after the first not counted; none where it was not asked for
    /// just now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u32>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// One range as a router lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeShape {
    /// The pool's name for people.
    pub pool: String,
    /// Its octets in hex where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_hex: Option<String>,
    /// The VRF as the router names it.
    pub vrf: String,
    /// The space that the VRF belongs to; null: none, so it enters no table.
    pub space: Option<String>,
    /// 4 or 6.
    pub family: u8,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// How many addresses, in decimal digits.
    pub addresses: String,
    /// The router's own count of addresses.
    pub size: Option<u64>,
    /// The router's own count of addresses in use.
    pub used: Option<u64>,
    /// The fewest prefixes that make it up.
    pub prefixes: Vec<String>,
    /// How long the prefixes are that are delegated out of an IPv6 range.
    #[serde(default)]
    pub delegated_len: Option<u8>,
}

/// A VRF that pools were seen in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VrfShape {
    /// The VRF as the router names it; empty for the default one.
    pub vrf: String,
    /// The space that it belongs to; null: none, so its pools enter no table.
    pub space: Option<String>,
    /// How many pools.
    pub pools: usize,
    /// How many ranges.
    pub ranges: usize,
    /// How many IPv4 addresses and IPv6 /64s, in decimal digits.
    pub units: String,
}

/// A row that claims nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedShape {
    /// The table.
    pub table: String,
    /// The row's index, dotted.
    pub index: String,
    /// Why; a closed list.
    pub reason: String,
    /// In words.
    pub detail: String,
    /// All of it in a sentence.
    #[serde(default)]
    pub sentence: String,
}

/// What `walk` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkShape {
    /// The BAS's name, or the address as typed.
    pub bas: String,
    /// Address and port that were asked.
    pub address: String,
    /// The descriptor that was used.
    pub descriptor: Option<String>,
    /// complete, failed or unsupported.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// In words, what was wrong and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// sysDescr, as far as it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// What a person should know, though nothing failed by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Requests sent, tries after the first not counted.
    pub requests: u32,
    /// Tries after the first.
    pub retries: u32,
    /// How long it took.
    pub duration_ms: u64,
    /// Table by table.
    pub tables: Vec<TableShape>,
    /// The ranges, in the router's order.
    pub ranges: Vec<RangeShape>,
    /// The VRFs that they are in, by name.
    #[serde(default)]
    pub vrfs: Vec<VrfShape>,
    /// The rows that claim nothing.
    pub rejected: Vec<RejectedShape>,
}

/// How many entries differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedShape {
    /// New entries.
    pub added: usize,
    /// Entries that are gone.
    pub removed: usize,
    /// Entries whose owner, pool, VRF or origin changed.
    pub altered: usize,
}

impl ChangedShape {
    /// How many changes of each kind there are.
    pub fn of(changes: &[Change]) -> Self {
        let count = |wanted: fn(&Change) -> bool| changes.iter().filter(|change| wanted(change)).count();
        Self {
            added: count(|c| matches!(c, Change::Added(_))),
            removed: count(|c| matches!(c, Change::Removed(_))),
            altered: count(|c| matches!(c, Change::Altered { .. })),
        }
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What became of one BAS in a poll.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledShape {
    /// Its name.
    pub name: String,
    /// complete, failed or unsupported.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// Requests sent.
    pub requests: u32,
    /// Table by table.
    pub tables: Vec<TableShape>,
}

/// A change that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldShape {
    /// Its number.
    pub id: u64,
    /// Stands for exactly what is shown.
    pub digest: String,
    /// The owner that loses or gains the addresses.
    pub bas: String,
    /// The space.
    pub space: String,
    /// 4 or 6.
    pub family: u8,
    /// addition, move or removal.
    pub kind: String,
    /// Which rule holds it; a closed list.
    pub reason: String,
    /// How much: addresses in IPv4, /64s in IPv6.
    pub units: u64,
    /// Since when.
    pub since: Timestamp,
    /// The incident it belongs to.
    pub incident: Option<u64>,
    /// A person has said no to it.
    #[serde(default)]
    pub rejected: bool,
    /// What is held.
    pub ranges: Vec<HeldRangeShape>,
}

/// One stretch of a held change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRangeShape {
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// As whose it is published.
    pub from: Option<String>,
    /// Whose it would become.
    pub to: Option<String>,
}

/// What became of one export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedShape {
    /// Its name.
    pub export: String,
    /// published, unchanged or failed.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What `poll` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollShape {
    /// The generation that is published now.
    pub generation: u64,
    /// Whether enough of the fleet has been read.
    pub filled: bool,
    /// How many BASes have been tried and read completely, of how many.
    pub progress: ProgressShape,
    /// What changed in the table.
    pub changed: ChangedShape,
    /// BAS by BAS.
    pub bas: Vec<PolledShape>,
    /// What is held, all of it.
    pub held: Vec<HeldShape>,
    /// Export by export.
    pub published: Vec<PublishedShape>,
    /// The generation whose ranges are published whatever polls find.
    #[serde(default)]
    pub pinned: Option<u64>,
}

/// How far the fleet has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressShape {
    /// BASes in the configuration.
    pub bas: usize,
    /// Tried at least once.
    pub tried: usize,
    /// Read completely at least once.
    pub complete: usize,
}

/// An entry of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryShape {
    /// The space.
    pub space: String,
    /// 4 or 6.
    pub family: u8,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// The fewest prefixes that make it up.
    pub prefixes: Vec<String>,
    /// The BAS; null for a static line that names edges.
    pub bas: Option<String>,
    /// The pool.
    pub pool: String,
    /// Its octets in hex where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_hex: Option<String>,
    /// The VRF.
    pub vrf: String,
    /// The group that answers.
    pub group: String,
    /// polled or static.
    pub origin: String,
}

/// What answers one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupShape {
    /// The address.
    pub ip: String,
    /// The space it was looked up in.
    pub space: String,
    /// Whether an entry covers it.
    pub covered: bool,
    /// The entry.
    pub entry: Option<EntryShape>,
    /// The group that answers.
    pub group: String,
    /// The edges that it answers with, in order.
    pub edges: Vec<String>,
    /// Their weights.
    #[serde(default)]
    pub weights: Vec<u32>,
    /// The generation that was looked up in.
    pub generation: u64,
}

/// An error as the control socket answers it (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A sentence.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Stable; a closed list.
    pub code: String,
    /// What to do, or what exactly was wrong.
    pub detail: String,
}

impl Problem {
    /// A problem.
    pub fn new(status: u16, code: &str, title: &str, detail: &str) -> Self {
        Self { title: title.to_owned(), status, code: code.to_owned(), detail: detail.to_owned() }
    }
}
