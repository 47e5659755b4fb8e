//! Rows that claim nothing, and why.

use serde::Serialize;

use crate::table::Name;

/// Why a row claims nothing. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectReason {
    /// Not read: several rows of another table are equally joined to it.
    AmbiguousJoin,
    /// Not read: a cell, or an address in the index, is not of its form.
    BadCell,
    /// Not read: the index cannot be decoded. What is missing from the table is held.
    BadIndex,
    /// Not read: two of its values cannot both be true.
    Contradiction,
    /// Void: the configuration leaves this pool or VRF out, or the router itself excludes
    /// all of its addresses.
    Excluded,
    /// Void: the descriptor says that such rows are no ranges.
    Filtered,
    /// Not read: a cell that a range needs is missing.
    MissingCell,
    /// Not read: the row of another table that it is joined to is missing.
    MissingRow,
    /// Void: it holds no address (0.0.0.0, ::, 255.255.255.255, or none).
    NoAddress,
    /// Void: its row status is not active(1).
    NotActive,
    /// Void: its last address lies before its first.
    Reversed,
    /// Not read: the router does not tell how large the network is.
    Unresolved,
}

impl RejectReason {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::AmbiguousJoin,
        Self::BadCell,
        Self::BadIndex,
        Self::Contradiction,
        Self::Excluded,
        Self::Filtered,
        Self::MissingCell,
        Self::MissingRow,
        Self::NoAddress,
        Self::NotActive,
        Self::Reversed,
        Self::Unresolved,
    ];

    /// Whether the row was read and means nothing; else it was not read, and what it listed
    /// before is kept.
    pub const fn is_void(self) -> bool {
        match self {
            Self::Excluded | Self::Filtered | Self::NoAddress | Self::NotActive | Self::Reversed => true,
            Self::AmbiguousJoin
            | Self::BadCell
            | Self::BadIndex
            | Self::Contradiction
            | Self::MissingCell
            | Self::MissingRow
            | Self::Unresolved => false,
        }
    }
}

impl RejectReason {
    /// The reason in words, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AmbiguousJoin => "not read, because several rows could be the one it belongs to",
            Self::BadCell => "not read, because a value is not what it must be",
            Self::BadIndex => "not read, because its index cannot be decoded",
            Self::Contradiction => "not read, because two of its values cannot both be true",
            Self::Excluded => "left out",
            Self::Filtered => "no range of addresses by the descriptor",
            Self::MissingCell => "not read, because a value is missing",
            Self::MissingRow => "not read, because the row that it belongs to is missing",
            Self::NoAddress => "nothing configured",
            Self::NotActive => "not active",
            Self::Reversed => "its end lies before its start",
            Self::Unresolved => "not read, because its size is not told",
        }
    }
}

/// A row that claims nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The table, with its context where it is not the default one.
    pub table: Name,
    /// The index, dotted.
    pub index: String,
    /// Why.
    pub reason: RejectReason,
    /// Which cell, which value, in words.
    pub detail: String,
}

/// A reason and its detail, before the row is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reject {
    pub(super) reason: RejectReason,
    pub(super) detail: String,
}

impl Reject {
    pub(super) fn new(reason: RejectReason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

impl Rejected {
    pub(super) fn of(table: &Name, index: &[u32], reject: Reject) -> Self {
        Self { table: table.clone(), index: dotted(index), reason: reject.reason, detail: reject.detail }
    }

    /// The row and the reason in a sentence, for people.
    pub fn sentence(&self) -> String {
        let kept = if self.reason.is_void() { "" } else { " (what it listed before is kept)" };
        format!("row {} of {}: {}: {}{kept}", self.index, self.table, self.reason.words(), self.detail)
    }

    /// A row that the configuration leaves out.
    pub(crate) fn excluded(table: &Name, index: &[u32], detail: String) -> Self {
        Self::of(table, index, Reject { reason: RejectReason::Excluded, detail })
    }

    /// The index as arcs, by which rows are sorted as the router sorts them.
    pub(crate) fn arcs(&self) -> Vec<u32> {
        self.index.split('.').filter_map(|arc| arc.parse().ok()).collect()
    }
}

/// An index as people and programs read it.
pub(super) fn dotted(index: &[u32]) -> String {
    let arcs: Vec<String> = index.iter().map(u32::to_string).collect();
    arcs.join(".")
}
