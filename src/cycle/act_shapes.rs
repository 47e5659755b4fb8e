//! The JSON of what operators do: pins and drains.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shapes::{ChangedShape, EdgeWeightShape, PublishedShape};
use crate::load::EdgeLoadReport;

/// A pin on what is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinShape {
    /// freeze or rollback.
    pub kind: String,
    /// The generation whose ranges are published.
    pub generation: u64,
    /// Who pinned it.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// When it ends by itself.
    pub expires: Timestamp,
    /// What its release would change.
    pub waiting: ChangedShape,
}

/// What `freeze`, `unfreeze` and `rollback` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedShape {
    /// The generation that is published now.
    pub generation: u64,
    /// The pin; null where nothing is pinned any more.
    pub pin: Option<PinShape>,
    /// What it changed of what is published.
    pub changed: ChangedShape,
    /// What became of the exports, where it changed something.
    #[serde(default)]
    pub published: Vec<PublishedShape>,
}

/// A drained edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainShape {
    /// The edge.
    pub edge: String,
    /// Who drained it.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Since when.
    pub since: Timestamp,
    /// Whether it is the default edge, which addresses in no entry go to all the same.
    pub default: bool,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeShape {
    /// Its name.
    pub name: String,
    /// up or drained.
    pub state: String,
    /// Whether addresses in no entry go to it.
    pub default: bool,
    /// Whether the configuration has it.
    pub configured: bool,
    /// Its region.
    pub region: Option<String>,
    /// In how many groups it answers.
    pub groups: usize,
    /// How many groups lack it because it is drained.
    pub drained_from: usize,
    /// Who drained it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// What it said of its load when it was read last; null where nobody asks it, or has yet.
    #[serde(default)]
    pub load: Option<EdgeLoadReport>,
    /// How many seconds ago that was.
    #[serde(default)]
    pub load_age_s: Option<u64>,
    /// Its weight in the groups of several edges that it answers in.
    #[serde(default)]
    pub weights: Vec<EdgeWeightShape>,
    /// What became of the exports, where it was drained or taken up again just now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedShape>,
}

/// What `reload` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReloadShape {
    /// BASes in the configuration.
    pub bas: usize,
    /// The generation that is published now.
    pub generation: u64,
    /// What changed in the table.
    pub changed: ChangedShape,
    /// How many changes the guard holds of it. What was held before is not counted.
    pub held: usize,
    /// What became of the exports, where something changed.
    #[serde(default)]
    pub published: Vec<PublishedShape>,
}
