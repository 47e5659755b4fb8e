//! The rows of a table as they were read, close together: one piece of memory for all
//! indexes, one for all cells, one for the octets of their values.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use crate::snmp::encode::Writer;
use crate::snmp::{Value, ValueRef};

/// No value has this tag: it is the first octet of a tag of several, which are refused.
const MISSING: u16 = 0x1f;
/// Beside the tag of a value that is said to be undecodable, whatever its octets.
const UNDECODABLE: u16 = 0x100;

/// The rows of a table by index, with a cell for each column that was asked for.
#[derive(Clone, Default)]
pub struct Rows {
    width: usize,
    /// The indexes, in the order of arrival.
    arcs: Vec<u32>,
    /// Where each index stands among them.
    indexes: Vec<Place>,
    /// `width` for each row.
    cells: Vec<Cell>,
    octets: Vec<u8>,
    /// The numbers of the rows that came in the order of their indexes.
    sorted: Vec<u32>,
    /// The numbers of the others, by index: rows that lack a cell in the first column.
    strays: BTreeMap<Vec<u32>, u32>,
}

#[derive(Clone, Copy)]
struct Place {
    at: u32,
    length: u32,
}

#[derive(Clone, Copy)]
struct Cell {
    at: u32,
    length: u32,
    /// The tag, or one of the marks above.
    tag: u16,
}

/// The cells of a row.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    rows: &'a Rows,
    row: u32,
}

/// More than can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::snmp) struct Full;

impl Rows {
    /// No rows of so many columns.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.indexes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// The rows, by index.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], Cells<'_>)> {
        let mut sorted = self.sorted.iter().copied().peekable();
        let mut strays = self.strays.values().copied().peekable();
        std::iter::from_fn(move || {
            let row = match (sorted.peek(), strays.peek()) {
                (Some(row), Some(stray)) if self.index(*stray) < self.index(*row) => strays.next(),
                (Some(_), _) => sorted.next(),
                (None, _) => strays.next(),
            }?;
            Some((self.index(row), Cells { rows: self, row }))
        })
    }

    /// The cells of a row.
    pub fn get(&self, index: &[u32]) -> Option<Cells<'_>> {
        self.find(index).map(|row| Cells { rows: self, row })
    }

    /// The same as a map, each cell in memory of its own.
    pub fn to_map(&self) -> BTreeMap<Vec<u32>, Vec<Option<Value>>> {
        let values = |cells: Cells<'_>| cells.iter().map(|cell| cell.map(ValueRef::to_value)).collect();
        self.iter().map(|(index, cells)| (index.to_vec(), values(cells))).collect()
    }

    /// Puts a cell, or none, in its place; the row is made where it is not there. What is
    /// beyond the last column, or beyond all bounds of memory, is left out.
    pub fn set(&mut self, index: &[u32], column: usize, value: Option<&Value>) {
        let Ok(row) = self.row(index, None) else { return };
        let Some(value) = value else { return self.clear(row, column) };
        let mut writer = Writer::new();
        let (tag, octets) = writer.parts(value);
        let mark = if matches!(value, Value::Undecodable { .. }) { UNDECODABLE } else { 0 };
        let _ = self.put(row, column, u16::from(tag) | mark, &octets);
    }

    /// The number of the row of an index, which is made where it is not there. `before`: the
    /// row whose cell the same column had before this one.
    pub(in crate::snmp) fn row(&mut self, index: &[u32], before: Option<u32>) -> Result<u32, Full> {
        // Most cells are of the last row that came, or of a new one.
        let newest = self.indexes.len().checked_sub(1).and_then(|row| u32::try_from(row).ok());
        if let Some(newest) = newest.filter(|newest| self.index(*newest) == index) {
            return Ok(newest);
        }
        let last = self.sorted.last().copied();
        if last.is_none_or(|last| self.index(last) < index) {
            let row = self.push(index)?;
            self.sorted.push(row);
            return Ok(row);
        }
        // Where columns are read in groups, a later one meets the rows in the same order.
        let next = before.map_or(0, |before| before.saturating_add(1));
        if (next as usize) < self.indexes.len() && self.index(next) == index {
            return Ok(next);
        }
        if let Some(row) = self.find(index) {
            return Ok(row);
        }
        let row = self.push(index)?;
        self.strays.insert(index.to_vec(), row);
        Ok(row)
    }

    /// Makes room for so many more rows, of indexes of one arc, and octets of values.
    pub(in crate::snmp) fn reserve(&mut self, rows: usize, octets: usize) {
        self.octets.reserve(octets);
        self.arcs.reserve(rows);
        self.indexes.reserve(rows);
        self.sorted.reserve(rows);
        self.cells.reserve(rows.saturating_mul(self.width));
    }

    /// Puts a value, as it is encoded, into a cell.
    #[inline]
    pub(in crate::snmp) fn put(
        &mut self,
        row: u32,
        column: usize,
        tag: u16,
        octets: &[u8],
    ) -> Result<(), Full> {
        let at = narrow(self.octets.len())?;
        let length = narrow(octets.len())?;
        if let Some(cell) = self.cell_mut(row, column) {
            *cell = Cell { at, length, tag };
            self.octets.extend_from_slice(octets);
        }
        Ok(())
    }

    /// Takes a cell away.
    pub(in crate::snmp) fn clear(&mut self, row: u32, column: usize) {
        if let Some(cell) = self.cell_mut(row, column) {
            *cell = Cell { at: 0, length: 0, tag: MISSING };
        }
    }

    /// The numbers of all rows, in no order that means anything.
    pub(in crate::snmp) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.indexes.len()).unwrap_or(u32::MAX)
    }

    /// The index of a row by its number.
    #[inline]
    pub(in crate::snmp) fn index(&self, row: u32) -> &[u32] {
        let Some(place) = self.indexes.get(row as usize) else { return &[] };
        self.arcs.get(place.at as usize..place.at as usize + place.length as usize).unwrap_or_default()
    }

    /// Tag and octets of a cell.
    #[inline]
    pub(in crate::snmp) fn raw(&self, row: u32, column: usize) -> Option<(u16, &[u8])> {
        let first = (row as usize).checked_mul(self.width)?;
        let cell = self.cells.get(first..first + self.width)?.get(column)?;
        let octets = self.octets.get(cell.at as usize..cell.at as usize + cell.length as usize)?;
        (cell.tag != MISSING).then_some((cell.tag, octets))
    }

    #[inline]
    fn cell_mut(&mut self, row: u32, column: usize) -> Option<&mut Cell> {
        let first = (row as usize).checked_mul(self.width)?;
        self.cells.get_mut(first..first + self.width)?.get_mut(column)
    }

    pub(in crate::snmp) fn find(&self, index: &[u32]) -> Option<u32> {
        let sorted = self.sorted.binary_search_by(|row| self.index(*row).cmp(index)).ok();
        match sorted {
            Some(place) => self.sorted.get(place).copied(),
            None => self.strays.get(index).copied(),
        }
    }

    fn push(&mut self, index: &[u32]) -> Result<u32, Full> {
        let row = narrow(self.indexes.len())?;
        let place = Place { at: narrow(self.arcs.len())?, length: narrow(index.len())? };
        self.arcs.extend_from_slice(index);
        self.indexes.push(place);
        self.cells.extend(std::iter::repeat_n(Cell { at: 0, length: 0, tag: MISSING }, self.width));
        Ok(row)
    }
}

/// The value of a cell as it is kept.
#[inline]
pub(super) fn read(tag: u16, octets: &[u8]) -> ValueRef<'_> {
    let [mark, octet] = tag.to_be_bytes();
    match mark {
        0 => ValueRef::read(octet, octets),
        _ => ValueRef::Undecodable { tag: octet, octets },
    }
}

#[inline]
fn narrow(count: usize) -> Result<u32, Full> {
    u32::try_from(count).map_err(|_| Full)
}

impl<'a> Cells<'a> {
    /// The cell of a column; none where the row lacks it.
    #[inline]
    pub fn get(self, column: usize) -> Option<ValueRef<'a>> {
        self.rows.raw(self.row, column).map(|(tag, octets)| read(tag, octets))
    }

    /// The cells, column by column.
    pub fn iter(self) -> impl Iterator<Item = Option<ValueRef<'a>>> {
        (0..self.rows.width).map(move |column| self.get(column))
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        let same = |((index, cells), (others, there)): ((_, Cells<'_>), (_, Cells<'_>))| {
            Ordering::is_eq(<[u32]>::cmp(index, others)) && cells.iter().eq(there.iter())
        };
        self.width == other.width && self.len() == other.len() && self.iter().zip(other.iter()).all(same)
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(index, cells)| (index, cells.iter().collect::<Vec<_>>())))
            .finish()
    }
}

impl fmt::Debug for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::snmp::message::tests::any_value;

    /// What a cell of a table can hold.
    fn cells() -> impl Strategy<Value = Vec<(Vec<u32>, usize, Option<Value>)>> {
        let index = proptest::collection::vec(0..4_u32, 0..4);
        proptest::collection::vec((index, 0..4_usize, proptest::option::of(any_value())), 0..60)
    }

    proptest! {
        #[test]
        fn rows_are_a_map_in_whatever_order_they_come(cells in cells(), before in proptest::collection::vec(proptest::option::of(0..60_u32), 60)) {
            let mut rows = Rows::new(3);
            let mut map: BTreeMap<Vec<u32>, Vec<Option<Value>>> = BTreeMap::new();
            for ((index, column, value), before) in cells.into_iter().zip(before) {
                // A wrong hint does no harm.
                prop_assert!(rows.row(&index, before).is_ok());
                rows.set(&index, column, value.as_ref());
                let row = map.entry(index).or_insert_with(|| vec![None; 3]);
                if let Some(cell) = row.get_mut(column) {
                    *cell = value;
                }
            }
            prop_assert_eq!(rows.len(), map.len());
            for (index, cells) in &map {
                let found: Vec<Option<Value>> = rows.get(index).unwrap().iter().map(|cell| cell.map(ValueRef::to_value)).collect();
                prop_assert_eq!(&found, cells);
            }
            prop_assert!(rows.get(&[9]).is_none());
            prop_assert_eq!(rows.to_map(), map);
        }
    }
}
