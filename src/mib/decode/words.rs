//! Rows in words: what each part and cell says.

use super::super::descriptor::{Descriptor, Own};
use super::super::rejected::{RejectReason, dotted};
use super::ContextRead;
use super::rows::{Row, Rows};
use crate::table::Name;

/// A row as it was understood, for people.
pub(in super::super) struct RowWords {
    pub(in super::super) arcs: Vec<u32>,
    pub(in super::super) index: String,
    /// Index parts and cells, by name.
    pub(in super::super) fields: Vec<(Name, String)>,
}

/// The rows of a table, in the router's order.
pub(in super::super) fn rows_in_words(
    descriptor: &Descriptor,
    at: usize,
    read: &ContextRead,
) -> Vec<RowWords> {
    let Some(table) = descriptor.tables.get(at) else { return Vec::new() };
    let rows = Rows::new(table, read.reads.get(at).and_then(Option::as_ref));
    let mut words: Vec<RowWords> = rows.rows.iter().map(|row| words_of(&rows, row)).collect();
    let bad = |(arcs, _): &(&[u32], _)| RowWords { arcs: arcs.to_vec(), index: dotted(arcs), fields: vec![] };
    words.extend(rows.bad.iter().map(bad));
    words.sort_by(|a, b| a.arcs.cmp(&b.arcs));
    words
}

fn words_of(rows: &Rows<'_>, row: &Row<'_>) -> RowWords {
    let parts = (0..rows.table.parts.len()).map(Own::Part);
    let columns = (0..rows.table.columns.len()).map(Own::Column);
    let says = |field: Own| {
        let says = match rows.field(row, field) {
            Ok(value) => value.to_string(),
            Err(reject) if reject.reason == RejectReason::MissingCell => "missing".to_owned(),
            Err(reject) => format!("({})", reject.detail),
        };
        (rows.table.field_name(field).clone(), says)
    };
    RowWords {
        arcs: row.arcs.to_vec(),
        index: dotted(row.arcs),
        fields: parts.chain(columns).map(says).collect(),
    }
}
