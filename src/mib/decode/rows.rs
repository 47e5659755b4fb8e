//! Rows with decoded indexes, and how they find each other.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::super::cell::{self, ColumnForm};
use super::super::descriptor::{On, Otherwise, Own, Table};
use super::super::field::Field;
use super::super::index::{self, Fields, IndexError};
use super::super::rejected::{Reject, RejectReason};
use super::Read;
use crate::snmp::{Cells, ValueRef};

/// The rows of one table, in the router's order.
pub(super) struct Rows<'a> {
    pub(super) table: &'a Table,
    pub(super) rows: Vec<Row<'a>>,
    /// The rows whose index cannot be decoded.
    pub(super) bad: Vec<(&'a [u32], IndexError)>,
}

/// One row.
pub(super) struct Row<'a> {
    pub(super) arcs: &'a [u32],
    pub(super) parts: Fields,
    cells: Cells<'a>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(table: &'a Table, read: Option<&'a Read>) -> Self {
        let count = read.map_or(0, |read| read.table.rows.len());
        let mut rows = Self { table, rows: Vec::with_capacity(count), bad: Vec::new() };
        for (arcs, cells) in read.iter().flat_map(|read| read.table.rows.iter()) {
            match index::decode(&table.parts, arcs) {
                Ok(parts) => rows.rows.push(Row { arcs, parts, cells }),
                Err(error) => rows.bad.push((arcs, error)),
            }
        }
        rows
    }

    /// The value of a field of a row.
    ///
    /// # Errors
    /// Where its cell is missing, or not of its form.
    pub(super) fn field(&self, row: &Row<'_>, field: Own) -> Result<Field, Reject> {
        match field {
            Own::Part(part) => match row.parts.get(part) {
                Some(Field::Refused(why)) => {
                    let detail = format!("{} of the index: {why}", self.table.field_name(field));
                    Err(Reject::new(RejectReason::BadCell, detail))
                }
                Some(value) => Ok(value.clone()),
                None => Err(Reject::new(RejectReason::BadIndex, "the index is shorter than its parts")),
            },
            Own::Column(column) => self.cell(row, column),
        }
    }

    /// The octets of a column of text, where the row has them; for everything else, and all
    /// that is wrong, there is `field`.
    pub(super) fn text<'r>(&self, row: &'r Row<'_>, field: Own) -> Option<&'r [u8]> {
        let Own::Column(at) = field else { return None };
        match (self.table.columns.get(at)?.form, row.cells.get(at)?) {
            (ColumnForm::Text, ValueRef::Octets(octets)) => Some(octets),
            _ => None,
        }
    }

    /// The address of a column of IpAddress, where the row has one and it stands for itself; for
    /// everything else there is `field`.
    pub(super) fn plain_address(&self, row: &Row<'_>, field: Own) -> Option<Ipv4Addr> {
        let Own::Column(at) = field else { return None };
        match (self.table.columns.get(at)?.form, row.cells.get(at)?) {
            (ColumnForm::IpAddress, ValueRef::IpAddress(octets)) => {
                let address = Ipv4Addr::from(<[u8; 4]>::try_from(octets).ok()?);
                (!address.is_unspecified() && !address.is_broadcast()).then_some(address)
            }
            _ => None,
        }
    }

    /// The number of a column of counts, where the row has one; for everything else there is
    /// `field`.
    pub(super) fn plain_count(&self, row: &Row<'_>, field: Own) -> Option<u64> {
        let Own::Column(at) = field else { return None };
        match (self.table.columns.get(at)?.form, row.cells.get(at)?) {
            (ColumnForm::Count, ValueRef::Integer(count)) => u64::try_from(count).ok(),
            (ColumnForm::Count, ValueRef::Gauge32(count)) => Some(count.into()),
            _ => None,
        }
    }

    fn cell(&self, row: &Row<'_>, at: usize) -> Result<Field, Reject> {
        let column = &self.table.columns[at];
        let place = || format!("column {} ({}) of {}", column.number, column.name, self.table.name);
        let value = match row.cells.get(at) {
            Some(ValueRef::NoSuchObject | ValueRef::NoSuchInstance | ValueRef::EndOfMibView) | None => {
                return match column.otherwise {
                    Some(Otherwise::Number(number)) => Ok(Field::Integer(number)),
                    Some(Otherwise::Field(other)) => self.field(row, other),
                    None => Err(Reject::new(RejectReason::MissingCell, format!("{} is missing", place()))),
                };
            }
            Some(value) => value,
        };
        let kind = match column.form.address_type() {
            Some(field) => match self.field(row, field)? {
                Field::Integer(kind) => Some(kind),
                _ => None,
            },
            None => None,
        };
        cell::decode(column.form, value, kind)
            .map_err(|why| Reject::new(RejectReason::BadCell, format!("{}: {why}", place())))
    }

    /// Whether a row may be believed: active, where it has a row status, and of one mind with
    /// itself, where an index part is readable as a column too.
    pub(super) fn check(&self, row: &Row<'_>) -> Result<(), Reject> {
        if let Some(column) = self.table.status()
            && !self.is_plainly_active(row, column)
        {
            match self.field(row, Own::Column(column)) {
                Ok(Field::Integer(1)) => {}
                Ok(status) => {
                    let detail = format!("the row status in {} is {status}, not active(1)", self.table.name);
                    return Err(Reject::new(RejectReason::NotActive, detail));
                }
                Err(reject) if reject.reason == RejectReason::MissingCell => {}
                Err(reject) => return Err(reject),
            }
        }
        self.table.twins.iter().try_for_each(|twin| self.check_twin(row, twin.0, twin.1))
    }

    /// Whether a row says, in the form of most, that it is active; for everything else there is
    /// `field`.
    fn is_plainly_active(&self, row: &Row<'_>, column: usize) -> bool {
        let form = self.table.columns.get(column).map(|column| column.form);
        form == Some(ColumnForm::RowStatus) && row.cells.get(column) == Some(ValueRef::Integer(1))
    }

    fn check_twin(&self, row: &Row<'_>, part: usize, column: usize) -> Result<(), Reject> {
        let here = self.field(row, Own::Part(part))?;
        match self.field(row, Own::Column(column)) {
            Ok(there) if here == there => Ok(()),
            Ok(there) => {
                let column = &self.table.columns[column];
                let detail =
                    format!("{} is {here} in the index and {there} in column {}", column.name, column.number);
                Err(Reject::new(RejectReason::Contradiction, detail))
            }
            Err(reject)
                if reject.reason == RejectReason::MissingCell && self.table.columns[column].optional =>
            {
                Ok(())
            }
            Err(reject) => Err(reject),
        }
    }
}

/// The rows of another table by what a join compares.
pub(super) struct Joined(BTreeMap<Vec<Field>, Vec<usize>>);

/// One for each join of each table.
pub(super) fn joined(rows: &[Rows<'_>]) -> Vec<Vec<Joined>> {
    let joins = |here: &Rows<'_>| {
        here.table.joins.iter().map(|join| Joined::new(&rows[join.table], &join.on)).collect()
    };
    rows.iter().map(joins).collect()
}

impl Joined {
    fn new(there: &Rows<'_>, on: &On) -> Self {
        let mut keys: BTreeMap<Vec<Field>, Vec<usize>> = BTreeMap::new();
        for (number, row) in there.rows.iter().enumerate() {
            let key = match on {
                On::WholeIndex => vec![Field::Arcs(row.arcs.to_vec())],
                On::Index(_) => row.parts.to_vec(),
                On::Single => Vec::new(),
                // A row whose name cannot be read is joined to nothing.
                On::Column { column, .. } => match there.field(row, Own::Column(*column)) {
                    Ok(field) => vec![field],
                    Err(_) => continue,
                },
            };
            keys.entry(key).or_default().push(number);
        }
        Self(keys)
    }

    /// The numbers of the rows of a key.
    pub(super) fn rows(&self, key: &[Field]) -> impl Iterator<Item = usize> {
        self.0.get(key).into_iter().flatten().copied()
    }

    /// The one row of another table that a row is joined to.
    pub(super) fn find<'r, 'a>(
        &self,
        here: &Rows<'_>,
        row: &Row<'_>,
        on: &On,
        there: &'r Rows<'a>,
    ) -> Result<&'r Row<'a>, Reject> {
        let key = key(here, row, on)?;
        let numbers: Vec<usize> = self.rows(&key).collect();
        let name = &there.table.name;
        let words = || key.iter().map(Field::to_string).collect::<Vec<_>>().join(", ");
        match numbers.as_slice() {
            [number] => Ok(&there.rows[*number]),
            [] if names_nothing(on, &key) => {
                let detail = format!("it names no row of {name}: what names it is empty");
                Err(Reject::new(RejectReason::NoAddress, detail))
            }
            [] if key.is_empty() => Err(Reject::new(RejectReason::MissingRow, format!("{name} has no row"))),
            [] => Err(Reject::new(RejectReason::MissingRow, format!("{name} has no row for {}", words()))),
            several => {
                let detail = format!("{name} has {} rows for {}", several.len(), words());
                Err(Reject::new(RejectReason::AmbiguousJoin, detail))
            }
        }
    }
}

/// What a row looks for in another table.
pub(super) fn key(here: &Rows<'_>, row: &Row<'_>, on: &On) -> Result<Vec<Field>, Reject> {
    match on {
        On::WholeIndex => Ok(vec![Field::Arcs(row.arcs.to_vec())]),
        On::Index(fields) => fields.iter().map(|field| here.field(row, *field)).collect(),
        On::Column { own, .. } => Ok(vec![here.field(row, *own)?]),
        On::Single => Ok(Vec::new()),
    }
}

/// Whether a row says, by an empty name in a column, that it belongs to no row of the other
/// table. An empty name in an index is a name.
fn names_nothing(on: &On, key: &[Field]) -> bool {
    let by_column = match on {
        On::Column { own, .. } => matches!(own, Own::Column(_)),
        On::Index(fields) => fields.iter().all(|field| matches!(field, Own::Column(_))),
        On::WholeIndex | On::Single => false,
    };
    by_column && key.iter().all(|field| *field == Field::Octets(Vec::new()))
}
