//! The pure half of a walk: which OIDs to ask for next, and what an answer's varbinds mean.

use std::collections::BTreeMap;

use super::moment::Together;
use super::{Failure, Reason};
use crate::snmp::message::Varbind;
use crate::snmp::{Columns, Oid, Value};

/// Rows by index, cells in the order of the columns.
pub(super) type Rows = BTreeMap<Vec<u32>, Vec<Option<Value>>>;

/// Where the walk stands in one column.
#[derive(Debug)]
pub(super) struct Cursor {
    root: Oid,
    last: Oid,
    pub(super) ended: bool,
}

/// A walk through the columns of one table.
#[derive(Debug)]
pub(super) struct Walk {
    entry: Oid,
    cursors: Vec<Cursor>,
    pub(super) rows: Rows,
    /// Whether any OID under the entry was seen.
    inside: bool,
    /// The first OID behind the entry that was seen.
    pub(super) behind: Option<Oid>,
    /// Columns whose cells must be of one moment.
    pub(super) together: Vec<Together>,
}

/// The columns that one question is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    columns: Vec<usize>,
    pub(super) oids: Vec<Oid>,
}

impl Walk {
    /// A walk through a table.
    pub(super) fn table(columns: &Columns) -> Self {
        let roots = columns.columns.iter().map(|arc| columns.entry.child(&[*arc])).collect();
        Self::new(columns.entry.clone(), roots)
    }

    /// A walk through everything under a root, as one column.
    pub(super) fn subtree(root: &Oid) -> Self {
        Self::new(root.clone(), vec![root.clone()])
    }

    fn new(entry: Oid, roots: Vec<Oid>) -> Self {
        let cursor = |root: Oid| Cursor { last: root.clone(), root, ended: false };
        let cursors = roots.into_iter().map(cursor).collect();
        Self { entry, cursors, rows: Rows::new(), inside: false, behind: None, together: Vec::new() }
    }

    /// Whether nothing lies under the entry.
    pub(super) fn found_nothing(&self) -> bool {
        self.rows.is_empty() && !self.inside
    }

    /// The next question, of at most `width` columns; none where all have ended. Columns
    /// stay together in groups, so that the cells of a row come from one answer; the group
    /// that is furthest behind goes first.
    pub(super) fn next(&self, width: usize) -> Option<Asked> {
        let groups = self.cursors.len().div_ceil(width.max(1)).max(1);
        let size = self.cursors.len().div_ceil(groups).max(1);
        let open = || self.cursors.iter().enumerate().filter(|(_, cursor)| !cursor.ended);
        let (behind, _) = open().min_by_key(|(_, cursor)| cursor.position())?;
        let group = open().filter(|(column, _)| column / size == behind / size);
        let (columns, oids) = group.map(|(column, cursor)| (column, cursor.last.clone())).unzip();
        Some(Asked { columns, oids })
    }

    /// Takes the varbinds of a proper answer to `asked`; `bulk` where it was a GETBULK.
    pub(super) fn take(&mut self, asked: &Asked, varbinds: Vec<Varbind>, bulk: bool) -> Result<(), Failure> {
        let columns = asked.columns.len();
        let count = varbinds.len();
        if count == 0 || (!bulk && count != columns) {
            let detail = format!("{count} varbinds came for {columns} asked, without an error");
            return Err(Failure::new(Reason::Malformed, detail));
        }
        // A last repetition that was cut short is asked for again, so that the cells of its
        // row still come from one answer.
        let whole = if count < columns { count } else { count - count % columns };
        for (varbind, column) in varbinds.into_iter().take(whole).zip(asked.columns.iter().cycle()) {
            self.take_one(*column, varbind)?;
        }
        self.together.iter_mut().for_each(|together| together.note(&self.cursors));
        Ok(())
    }

    fn take_one(&mut self, column: usize, varbind: Varbind) -> Result<(), Failure> {
        let width = self.cursors.len();
        let Some(cursor) = self.cursors.get_mut(column) else { return Ok(()) };
        if cursor.ended {
            return Ok(());
        }
        match varbind.value {
            Value::EndOfMibView => {
                cursor.ended = true;
                return Ok(());
            }
            Value::NoSuchObject | Value::NoSuchInstance => {
                let detail = format!("{} came with noSuchObject or noSuchInstance in a walk", varbind.oid);
                return Err(Failure::new(Reason::Malformed, detail));
            }
            _ => {}
        }
        if varbind.oid <= cursor.last {
            let detail = format!("OIDs do not grow: after {} came {}", cursor.last, varbind.oid);
            return Err(Failure::new(Reason::OidOrder, detail));
        }
        if varbind.oid.suffix(&self.entry).is_some() {
            self.inside = true;
        } else {
            self.behind.get_or_insert_with(|| varbind.oid.clone());
        }
        let Some(index) = varbind.oid.suffix(&cursor.root) else {
            cursor.ended = true;
            return Ok(());
        };
        // Most cells are of the last row, which is found without a search.
        if self.rows.last_key_value().is_some_and(|(last, _)| last == index) {
            if let Some(mut last) = self.rows.last_entry() {
                put(last.get_mut(), column, varbind.value);
            }
        } else {
            let row = self.rows.entry(index.to_vec()).or_insert_with(|| vec![None; width]);
            put(row, column, varbind.value);
        }
        cursor.last = varbind.oid;
        Ok(())
    }
}

fn put(row: &mut [Option<Value>], column: usize, value: Value) {
    if let Some(cell) = row.get_mut(column) {
        *cell = Some(value);
    }
}

impl Cursor {
    /// How far the walk has come, as an index of a row.
    pub(super) fn position(&self) -> &[u32] {
        self.last.suffix(&self.root).unwrap_or_default()
    }
}

#[cfg(test)]
pub(super) mod tests;
