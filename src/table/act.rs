//! Acts of an operator: what is pinned, which edges are drained, and what was done by whom.
//! Plain data; the store keeps it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{GroupEdge, Name, Token};

/// Why something is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PinKind {
    /// What is published stays as it was when this was said.
    Freeze,
    /// The ranges of an earlier generation are published again.
    Rollback,
}

/// A pin on what is published: the ranges of one generation, whatever polls find, until it is
/// released or expires. Groups, edges and drains are not pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// How it came about.
    pub kind: PinKind,
    /// The generation whose ranges are published.
    pub generation: u64,
    /// Who pinned it.
    pub by: Name,
    /// Why; empty where nobody said.
    pub reason: Name,
    /// Since when.
    pub since: Timestamp,
    /// When it ends by itself.
    pub expires: Timestamp,
}

/// An edge that is taken out of every group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drain {
    /// Who drained it.
    pub by: Name,
    /// Why.
    pub reason: Name,
    /// Since when.
    pub since: Timestamp,
}

/// The drained edges, and what the groups would be without them being drained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drains {
    /// The edges by name.
    pub edges: BTreeMap<Name, Drain>,
    /// The whole list of each group that lacks an edge. A group whose owner has left the
    /// configuration is known from nowhere else.
    pub whole: BTreeMap<Token, Vec<GroupEdge>>,
}

/// What was done. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActKind {
    /// What a changed configuration does was let through.
    Accept,
    /// A held change was let through.
    Approve,
    /// An edge was drained.
    Drain,
    /// A pin ended by itself.
    Expire,
    /// What was remembered of a BAS's tables was forgotten.
    Forget,
    /// What is published was frozen.
    Freeze,
    /// A held change was rejected.
    Reject,
    /// A pin was released.
    Release,
    /// The database was put back from a copy.
    Restore,
    /// An earlier generation was published again.
    Rollback,
    /// An edge was taken up again.
    Undrain,
}

/// One act, as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: ActKind,
    /// Who.
    pub by: Name,
    /// Why; empty where nobody said.
    pub reason: Name,
    /// On what, in words.
    pub detail: String,
}
