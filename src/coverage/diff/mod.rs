//! An old table held against the table: holes, wrong owners, dead rows.
//!
//! * A *hole* is an address that a BAS serves and that the old table has in no row.
//! * A *wrong owner* is an address that a BAS serves and that the old table gives to another.
//!   It is compared by what the old row names: a BAS by its owner, edges by the nearest.
//! * A *dead* address is one that the old table gives to somebody and that nobody serves.
//!
//! Static lines that only fill serve nothing: they may be the old table itself.

mod csv;
mod merge;
mod text;

use serde::Serialize;

use super::figure::{self, Addresses};
use super::legacy::{Legacy, LegacyFormat};
use super::{Known, Served};
use crate::address::{Family, Range};
use crate::table::Name;

/// What is the matter with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A BAS serves them, the old table misses them.
    Hole,
    /// A BAS serves them, the old table gives them to another.
    WrongOwner,
    /// The old table has them, nobody serves them.
    Dead,
}

/// One stretch of addresses about which the tables differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What is the matter.
    pub kind: FindingKind,
    /// The addresses.
    pub range: Range,
    /// How many.
    pub addresses: Addresses,
    /// Their share of what is served in their family; of dead ones, of the old table.
    pub share: Option<f64>,
    /// The BAS that serves them.
    pub bas: Option<Name>,
    /// The edge that answers for them.
    pub edge: Option<Name>,
    /// Whose they are in the old table.
    pub old: Option<Name>,
    /// The first line of the old table that says so; 0 where it has no lines.
    pub line: u64,
}

/// A number of addresses and its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// How many.
    pub addresses: Addresses,
    /// Their share of the whole that the field's own words name; none where that is empty.
    pub share: Option<f64>,
}

/// The figures of one family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyFigures {
    /// 4 or 6.
    #[serde(serialize_with = "figure::family")]
    pub family: Family,
    /// What BASes, or static lines that override, serve.
    pub served: Addresses,
    /// What only static lines that fill answer for.
    pub filled: Addresses,
    /// What the old table has rows for.
    pub old: Addresses,
    /// Of what is served: the old table says the same.
    pub agreed: Figure,
    /// Of what is served: the old table has no row.
    pub holes: Figure,
    /// Of what is served: the old table gives it to another.
    pub wrong: Figure,
    /// Of the old table: nobody serves it.
    pub dead: Figure,
}

/// The figures of one BAS or one edge in one family. Shares are of what it serves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameFigures {
    /// The BAS or the edge.
    pub name: Name,
    /// 4 or 6.
    #[serde(serialize_with = "figure::family")]
    pub family: Family,
    /// What it serves.
    pub served: Addresses,
    /// The old table says the same.
    pub agreed: Figure,
    /// The old table has no row.
    pub holes: Figure,
    /// The old table gives it to another.
    pub wrong: Figure,
}

/// The figures of one name of the old table in one family. Shares are of what the old table
/// gives to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OldFigures {
    /// The name; several edges with `;` between them.
    pub name: Name,
    /// 4 or 6.
    #[serde(serialize_with = "figure::family")]
    pub family: Family,
    /// Whether the configuration knows the name.
    pub known: bool,
    /// What the old table gives to it.
    pub old: Addresses,
    /// It is its own.
    pub agreed: Figure,
    /// Another serves it.
    pub wrong: Figure,
    /// Nobody serves it.
    pub dead: Figure,
}

/// The old table in a few words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OldTable {
    /// Its format.
    pub format: LegacyFormat,
    /// How many rows were read.
    pub rows: u64,
    /// How many lines were left out.
    pub left_out: u64,
    /// What it gives to addresses in no row.
    pub default: Option<Name>,
}

/// What an old table gets wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgainstReport {
    /// The space.
    pub space: Name,
    /// The old table.
    pub old: OldTable,
    /// IPv4, then IPv6; a family that neither table has is left out.
    pub families: Vec<FamilyFigures>,
    /// By BAS: those with the most holes and wrong owners first.
    pub by_bas: Vec<NameFigures>,
    /// By edge: those with the most holes and wrong owners first.
    pub by_edge: Vec<NameFigures>,
    /// By name of the old table: those with the most wrong and dead addresses first.
    pub by_old: Vec<OldFigures>,
    /// Holes, wrong owners, dead rows; of each the biggest first.
    pub findings: Vec<Finding>,
}

impl AgainstReport {
    /// Holds an old table against the table.
    pub fn new(served: &Served, old: &Legacy, known: &Known) -> Self {
        merge::report(served, old, known)
    }

    /// Whether the old table has no fault.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// The report for people. Of each list the `top` biggest are shown.
    pub fn text(&self, top: usize) -> String {
        text::render(self, top)
    }

    /// The findings as CSV: `kind, family, first, last, prefixes, addresses, share, bas,
    /// edge, old, line`.
    pub fn csv(&self) -> String {
        csv::render(&self.findings)
    }
}
