//! The guard: which changes wait for a person, or for repeated evidence.
//!
//! [`judge`] compares the table as it is published with the one that was built, each space
//! and family by itself, against what was published at any time in the window ([`Runs`]).
//! What is held stays in the table as it is published.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Name;
use crate::address::{Family, Range};

mod approve;
mod delta;
mod ground;
mod growth;
mod hold;
mod judge;
mod overlay;
mod removal;
mod runs;

pub use approve::{ApproveError, Approved, Selection};
pub use judge::{Case, GuardSettings, Judged, judge};
pub use runs::Runs;

/// What a held change would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldKind {
    /// Addresses would get an owner.
    Addition,
    /// Addresses would change their owner.
    Move,
    /// Addresses would lose their owner.
    Removal,
}

/// Which rule holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldReason {
    /// `add`: additions over a share of the table.
    Add,
    /// `add-bas`: additions over a share of what the owner had.
    AddBas,
    /// The owner, or one family of it, would have nothing left.
    Emptied,
    /// The addresses left and came back within the window.
    Flapping,
    /// `remove`: the batch brings the table's losses over its share.
    Incident,
    /// `move`: moves over a share of the table.
    Move,
    /// `remove-bas`: the owner's loss is over its share.
    RemoveBas,
}

/// One stretch of addresses whose change is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldChange {
    /// The addresses.
    pub range: Range,
    /// As whose they are published; none: nobody's.
    pub from: Option<Name>,
    /// Whose they would become; none: nobody's.
    pub to: Option<Name>,
}

/// A change that waits. The addresses stay published as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Its number; never used again.
    pub id: u64,
    /// What it would do.
    pub kind: HoldKind,
    /// Which rule holds it.
    pub reason: HoldReason,
    /// Whose addresses: the owner that loses them, or that gains them (an addition).
    pub owner: Name,
    /// The space.
    pub space: Name,
    /// The family.
    #[serde(with = "family")]
    pub family: Family,
    /// Since when.
    pub since: Timestamp,
    /// The number that all holds of one incident share.
    pub incident: Option<u64>,
    /// A person said no: `confirm` does not count.
    pub rejected: bool,
    /// What is held, sorted and merged.
    pub changes: Vec<HeldChange>,
}

/// Addresses taken out of the reference: approved by a person (of the owner and of the
/// table) or confirmed by polls (of the owner alone).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgiven {
    /// The space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Runs that ended before this are out.
    pub at: Timestamp,
    /// Whether the table's reference forgives them too.
    pub table: bool,
}

/// What the guard remembers between batches and across restarts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardMemory {
    /// What is held.
    pub holds: Vec<Hold>,
    /// The last hold number given.
    pub last_id: u64,
    /// The last incident number given.
    pub last_incident: u64,
    /// What is out of the reference.
    pub forgiven: Vec<Forgiven>,
}

mod family {
    //! A family as 4 or 6.
    use super::Family;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(family: &Family, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(family.number())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Family, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Family::from_number(number)
            .ok_or_else(|| de::Error::custom(format!("{number} is no family (4 or 6)")))
    }
}
