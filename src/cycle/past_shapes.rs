//! The JSON of the past: generations, lifetimes of entries, differences.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationShape {
    /// Its number.
    pub generation: u64,
    /// When it was committed.
    pub committed: Timestamp,
    /// How many entries the table had then.
    pub entries: u64,
    /// Entries that it added: to the table, or to what is published where a pin changed it.
    pub added: u64,
    /// Entries that it removed.
    pub removed: u64,
    /// Entries that it altered.
    pub altered: u64,
    /// Whether it changed what groups are answered with.
    pub groups: bool,
    /// What operators did by it, or while it was the newest.
    pub acts: Vec<ActShape>,
}

/// What an operator did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActShape {
    /// When.
    pub at: Timestamp,
    /// accept, approve, drain, expire, freeze, reject, release, restore, rollback or undrain.
    pub kind: String,
    /// Who.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// On what, in words.
    pub detail: String,
}

/// What became of addresses, or of a BAS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryShape {
    /// What was asked.
    pub of: String,
    /// The entries, by space and range, the oldest first.
    pub entries: Vec<LifetimeShape>,
    /// Of a BAS: the most addresses in use in each hour, the oldest first.
    pub hours: Vec<HourShape>,
    /// Of a BAS: its pools' use.
    pub pools: Vec<PoolShape>,
}

/// An entry, and from when to when it was in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifetimeShape {
    /// The space.
    pub space: String,
    /// 4 or 6.
    pub family: u8,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// What it said.
    #[serde(flatten)]
    pub owned: OwnedShape,
    /// The generation that it came with.
    pub from_generation: u64,
    /// When that was committed.
    pub from: Timestamp,
    /// The first generation that it is not in; null while it is in the table.
    pub to_generation: Option<u64>,
    /// When that was committed.
    pub to: Option<Timestamp>,
}

/// Whose addresses are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedShape {
    /// The owner: the BAS's pair, else the BAS; `edges:` and names for a static line.
    pub owner: String,
    /// The BAS; null for a static line that names edges.
    pub bas: Option<String>,
    /// The pool.
    pub pool: String,
    /// Its octets in hex where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_hex: Option<String>,
    /// The VRF.
    pub vrf: String,
    /// polled or static.
    pub origin: String,
}

/// The most addresses of a BAS in use within an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourShape {
    /// The hour's begin.
    pub hour: Timestamp,
    /// How many addresses there were, in decimal digits.
    pub size: String,
    /// How many were in use.
    pub used: String,
}

/// How much of a pool is in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolShape {
    /// The VRF.
    pub vrf: String,
    /// The pool.
    pub pool: String,
    /// Its octets in hex where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_hex: Option<String>,
    /// When it was read.
    pub at: Timestamp,
    /// How many addresses it had, in decimal digits.
    pub size: String,
    /// How many were in use.
    pub used: String,
    /// The most that were in use on that day (UTC).
    pub peak: String,
}

/// How two generations differ, as they were published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiffShape {
    /// The one.
    pub from: u64,
    /// The other.
    pub to: u64,
    /// How many entries only the other has.
    pub added: usize,
    /// How many only the one has.
    pub removed: usize,
    /// How many say something else.
    pub altered: usize,
    /// Entry by entry, by space and range.
    pub changes: Vec<ChangeShape>,
    /// The groups whose edges differ, by token.
    pub groups: Vec<GroupChangeShape>,
    /// The owners that another group answers for.
    pub owners: Vec<OwnerChangeShape>,
    /// The owners of whose entries another part is shed.
    #[serde(default)]
    pub shed: Vec<ShedChangeShape>,
}

/// An owner of whose entries another part is answered with another group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShedChangeShape {
    /// The owner.
    pub owner: String,
    /// The service.
    pub service: String,
    /// The shares in the one, by edge.
    pub before: BTreeMap<String, f64>,
    /// The shares in the other.
    pub after: BTreeMap<String, f64>,
}

/// An entry that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeShape {
    /// added, removed or altered.
    pub kind: String,
    /// The space.
    pub space: String,
    /// 4 or 6.
    pub family: u8,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// What the one says; null where it has no such entry.
    pub before: Option<OwnedShape>,
    /// What the other says; null where it has no such entry.
    pub after: Option<OwnedShape>,
}

/// A group that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupChangeShape {
    /// The group.
    pub token: String,
    /// Its edges in the one; null where there is no such group.
    pub before: Option<Vec<String>>,
    /// Its edges in the other.
    pub after: Option<Vec<String>>,
    /// The weights of its edges in the one.
    #[serde(default)]
    pub weights_before: Vec<u32>,
    /// The weights of its edges in the other.
    #[serde(default)]
    pub weights_after: Vec<u32>,
}

/// An owner that another group answers for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerChangeShape {
    /// The owner.
    pub owner: String,
    /// The service.
    pub service: String,
    /// Its group in the one; null where it had none.
    pub before: Option<String>,
    /// Its group in the other.
    pub after: Option<String>,
}

/// Addresses that are claimed more than once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictShape {
    /// The space.
    pub space: String,
    /// 4 or 6.
    pub family: u8,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// Whose they are; null: nobody's.
    pub owner: Option<String>,
    /// Which rule said so: class, nested, private, priority, previous or name.
    pub rule: String,
    /// Who claims them, best class first.
    pub claims: Vec<ConflictClaimShape>,
    /// How many more claims there are.
    pub more: usize,
    /// Why the rule gives them so.
    pub because: String,
    /// What a person should do about it.
    pub to_do: String,
}

/// One of the claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictClaimShape {
    /// Whose claim it is.
    pub owner: String,
    /// The BAS that lists it; null for a static line that names edges.
    pub bas: Option<String>,
    /// The pool.
    pub pool: String,
    /// Its octets in hex where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_hex: Option<String>,
    /// fill, kept, fresh or override.
    pub class: String,
}
