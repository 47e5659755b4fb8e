//! The pure half of a walk: which OIDs to ask for next, and what an answer's varbinds mean.

use super::moment::Together;
use super::rows::{Full, Rows};
use super::{Failure, Reason};
use crate::snmp::ber;
use crate::snmp::binds::Bind;
use crate::snmp::encode::oid_octets;
use crate::snmp::{Columns, Oid, ValueRef};

/// Where the walk stands in one column.
#[derive(Debug)]
pub(super) struct Cursor {
    root: Oid,
    /// The root as names under it begin; none where it has no such form.
    octets: Option<Vec<u8>>,
    /// The number of the row that the walk has come to.
    row: Option<u32>,
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
    /// The index of the row that is being looked at.
    index: Vec<u32>,
    step: Option<Step>,
    /// What its name ended by.
    suffix: Vec<u8>,
}

/// The last step that a column made: the other columns mostly make the same.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: Option<u32>,
    to: u32,
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
        let cursors: Vec<Cursor> = roots.into_iter().map(Cursor::new).collect();
        let rows = Rows::new(cursors.len());
        let (together, index, suffix) = (Vec::new(), Vec::new(), Vec::new());
        Self { entry, cursors, rows, inside: false, behind: None, together, index, step: None, suffix }
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
        let (behind, _) = open().min_by_key(|(_, cursor)| cursor.position(&self.rows))?;
        let group = open().filter(|(column, _)| column / size == behind / size);
        let (columns, oids) = group.map(|(column, cursor)| (column, cursor.last(&self.rows))).unzip();
        Some(Asked { columns, oids })
    }

    /// Takes the varbinds of a proper answer to `asked`; `bulk` where it was a GETBULK.
    pub(super) fn take<'b>(
        &mut self,
        asked: &Asked,
        binds: impl ExactSizeIterator<Item = Bind<'b>> + Clone,
        bulk: bool,
    ) -> Result<(), Failure> {
        let columns = asked.columns.len();
        let count = binds.len();
        if count == 0 || (!bulk && count != columns) {
            let detail = format!("{count} varbinds came for {columns} asked, without an error");
            return Err(Failure::new(Reason::Malformed, detail));
        }
        // A last repetition that was cut short is asked for again, so that the cells of its
        // row still come from one answer.
        let whole = if count < columns { count } else { count - count % columns };
        let octets = binds.clone().take(whole).map(|bind| bind.octets.len()).sum();
        self.rows.reserve(whole / columns.max(1), octets);
        let mut cells = binds.take(whole).zip(asked.columns.iter().cycle());
        let taken = cells.try_for_each(|(bind, column)| self.take_one(*column, bind));
        // Also what stands before a fault was taken: the walk may go on behind it.
        self.together.iter_mut().for_each(|together| together.note(&self.cursors, &self.rows));
        taken
    }

    fn take_one(&mut self, column: usize, bind: Bind<'_>) -> Result<(), Failure> {
        let Some(cursor) = self.cursors.get_mut(column).filter(|cursor| !cursor.ended) else { return Ok(()) };
        if is_exception(bind.tag) {
            match ValueRef::read(bind.tag, bind.octets) {
                ValueRef::EndOfMibView => {
                    cursor.ended = true;
                    return Ok(());
                }
                ValueRef::NoSuchObject | ValueRef::NoSuchInstance => {
                    let detail = format!("{} came with noSuchObject or noSuchInstance in a walk", bind.oid());
                    return Err(Failure::new(Reason::Malformed, detail));
                }
                _ => {}
            }
        }
        let row = match self.step {
            Some(step) if cursor.makes(step, bind.name, &self.suffix) => step.to,
            _ => {
                if !cursor.is_under(bind.name, &mut self.index) {
                    return self.leave(column, &bind.oid());
                }
                if self.index.as_slice() <= cursor.position(&self.rows) {
                    return Err(out_of_order(&cursor.last(&self.rows), &bind.oid()));
                }
                self.inside = true;
                let row = self.rows.row(&self.index, cursor.row).map_err(full)?;
                self.step = cursor.suffix(bind.name).map(|suffix| {
                    self.suffix.clear();
                    self.suffix.extend_from_slice(suffix);
                    Step { from: cursor.row, to: row }
                });
                row
            }
        };
        self.rows.put(row, column, bind.tag.into(), bind.octets).map_err(full)?;
        cursor.row = Some(row);
        Ok(())
    }

    /// A column ends by a name that does not lie under it, and behind what came before.
    fn leave(&mut self, column: usize, name: &Oid) -> Result<(), Failure> {
        let Some(cursor) = self.cursors.get_mut(column) else { return Ok(()) };
        let last = cursor.last(&self.rows);
        if *name <= last {
            return Err(out_of_order(&last, name));
        }
        if name.suffix(&self.entry).is_some() {
            self.inside = true;
        } else {
            self.behind.get_or_insert_with(|| name.clone());
        }
        cursor.ended = true;
        Ok(())
    }
}

/// noSuchObject, noSuchInstance, endOfMibView.
fn is_exception(tag: u8) -> bool {
    (0x80..=0x82).contains(&tag)
}

fn full(_: Full) -> Failure {
    Failure::new(Reason::TooLarge, "more rows than memory holds")
}

fn out_of_order(last: &Oid, name: &Oid) -> Failure {
    Failure::new(Reason::OidOrder, format!("OIDs do not grow: after {last} came {name}"))
}

impl Cursor {
    fn new(root: Oid) -> Self {
        let octets = oid_octets(&root);
        // Names are compared by their octets where those of the root mean the root.
        let octets = (ber::oid(&octets).as_ref() == Some(&root)).then_some(octets);
        Self { root, octets, row: None, ended: false }
    }

    /// How far the walk has come, as an index of a row; the empty one where it begins.
    pub(super) fn position<'r>(&self, rows: &'r Rows) -> &'r [u32] {
        self.row.map_or(&[], |row| rows.index(row))
    }

    /// The last name that came, or the root.
    fn last(&self, rows: &Rows) -> Oid {
        self.root.child(self.position(rows))
    }

    /// Whether this column makes the step that another one has made: from the same row, by a
    /// name that ends in the same octets. Then it is in order as that was, and to the same row.
    #[inline]
    fn makes(&self, step: Step, name: &[u8], suffix: &[u8]) -> bool {
        self.row == step.from && self.suffix(name) == Some(suffix)
    }

    /// What stands behind the root, where the name begins with its octets.
    #[inline]
    fn suffix<'n>(&self, name: &'n [u8]) -> Option<&'n [u8]> {
        name.strip_prefix(self.octets.as_deref()?)
    }

    /// Whether a name lies under the root. Then `index` is what stands behind that.
    fn is_under(&self, name: &[u8], index: &mut Vec<u32>) -> bool {
        index.clear();
        if let Some(behind) = self.suffix(name) {
            ber::arcs(behind, index);
            return true;
        }
        // Other octets may still be the same arcs: a length is not always the shortest.
        let Some(name) = ber::oid(name) else { return false };
        let Some(behind) = name.suffix(&self.root) else { return false };
        index.extend_from_slice(behind);
        true
    }
}

#[cfg(test)]
pub(super) mod tests;
