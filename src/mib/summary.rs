//! A descriptor as data, for lists and for programs.

use serde::Serialize;

use super::descriptor::{Descriptor, Origin};
use crate::table::Name;

/// A descriptor in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its name, by which the configuration chooses it.
    pub name: Name,
    /// Whom it is for.
    pub vendor: String,
    /// Its file; none where it is built in.
    pub file: Option<String>,
    /// The sysObjectID prefixes by which `auto` finds it, dotted; none: only by its name.
    pub sys_object_ids: Vec<String>,
    /// Its tables, in the order in which they are read.
    pub tables: Vec<TableSummary>,
    /// What is known to lie, and what is not known.
    pub notes: Vec<String>,
}

/// A table of a descriptor in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableSummary {
    /// Its name in the descriptor.
    pub name: Name,
    /// Its name in the vendor's MIB.
    pub mib: Option<String>,
    /// Its entry, dotted.
    pub entry: String,
    /// The numbers of the columns that are read.
    pub columns: Vec<u32>,
    /// Whether ranges come of it; else it serves the others.
    pub ranges: bool,
    /// Whether its ranges count only where a better table lacks them.
    pub fallback: bool,
}

impl Descriptor {
    /// This descriptor in short.
    pub fn summary(&self) -> Summary {
        let prefixes = self.detect.iter().flat_map(|detect| &detect.prefixes);
        let tables = self.tables().zip(&self.tables).map(|(table, checked)| TableSummary {
            name: table.name().clone(),
            mib: checked.mib.clone(),
            entry: checked.entry.to_string(),
            columns: table.columns().columns,
            ranges: table.has_ranges(),
            fallback: table.is_fallback(),
        });
        Summary {
            name: self.name.clone(),
            vendor: self.vendor.clone(),
            file: match &self.origin {
                Origin::BuiltIn => None,
                Origin::File(path) => Some(path.display().to_string()),
            },
            sys_object_ids: prefixes.map(ToString::to_string).collect(),
            tables: tables.collect(),
            notes: self.notes.clone(),
        }
    }
}
