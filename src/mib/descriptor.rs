//! A descriptor, checked: what the runtime reads and how it puts it together. Every number
//! in here that points into a list was checked when the file was read.

use std::path::PathBuf;

use super::cell::ColumnForm;
use super::error::{DescriptorError, Problem};
use super::field::Kind;
use super::index::Part;
use super::text::Encoding;
use super::{compile, file};
use crate::snmp::{Columns, Oid};
use crate::table::Glob;
use crate::table::Name;

/// One vendor family's pool tables.
#[derive(Clone, Debug)]
pub struct Descriptor {
    pub(super) name: Name,
    pub(super) vendor: String,
    pub(super) notes: Vec<String>,
    pub(super) encoding: Option<Encoding>,
    /// Whether a pool group stands for its VRF, where the configuration does not say.
    pub(super) group_as_vrf: bool,
    /// What the router calls its default VRF, which is the empty one here.
    pub(super) default_vrf: Option<String>,
    pub(super) detect: Option<Detect>,
    pub(super) contexts: Option<Contexts>,
    pub(super) tables: Vec<Table>,
    pub(super) origin: Origin,
    pub(super) source: String,
}

/// Where a descriptor comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is built into the binary.
    BuiltIn,
    /// A file, as the person named it.
    File(PathBuf),
}

/// By what `auto` knows a router.
#[derive(Clone, Debug)]
pub(super) struct Detect {
    pub(super) prefixes: Vec<Oid>,
    pub(super) accept: Vec<String>,
    pub(super) refuse: Vec<String>,
}

/// The table that lists the SNMP contexts in which the others are to be read again.
#[derive(Clone, Debug)]
pub(super) struct Contexts {
    pub(super) table: usize,
    pub(super) vrf: usize,
    pub(super) name: usize,
    pub(super) engine_id: Option<usize>,
    /// The context that the default one is another name of.
    pub(super) default: String,
}

/// One table of the router.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: Name,
    pub(super) mib: Option<String>,
    pub(super) entry: Oid,
    /// How many rows it may have before it is too large to be read.
    pub(super) max_rows: Option<u32>,
    pub(super) parts: Vec<Part>,
    /// Ascending by number.
    pub(super) columns: Vec<Column>,
    /// Index parts that are readable as a column too: part, column. Both must agree.
    pub(super) twins: Vec<(usize, usize)>,
    pub(super) joins: Vec<Join>,
    pub(super) ranges: Option<Ranges>,
}

/// One column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: Name,
    pub(super) number: u32,
    pub(super) form: ColumnForm,
    pub(super) optional: bool,
    pub(super) otherwise: Option<Otherwise>,
}

/// What a missing cell stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    Number(i128),
    /// What another field of the row says.
    Field(Own),
}

/// An index part or a column of the table at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    Part(usize),
    Column(usize),
}

/// A field of the table at hand, or of the row of another that is joined to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ref {
    Own(Own),
    Joined { join: usize, field: Own },
}

/// How a row of another table is found.
#[derive(Clone, Debug)]
pub(super) struct Join {
    /// The other table.
    pub(super) table: usize,
    pub(super) on: On,
}

/// What must be equal.
#[derive(Clone, Debug)]
pub(super) enum On {
    /// All arcs of both indexes.
    WholeIndex,
    /// These fields and the other table's index parts, one by one.
    Index(Vec<Own>),
    /// This field and a column of the other table.
    Column { own: Own, column: usize },
    /// Nothing: the other table has one row.
    Single,
}

/// How the rows of a table become ranges.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    /// The ways of making a range, at least one. A row is of the first that is for it and
    /// whose addresses are set.
    pub(super) kinds: Vec<RangeKind>,
    pub(super) pool: Pool,
    pub(super) vrf: Option<Vrf>,
    pub(super) size: Option<Ref>,
    pub(super) used: Option<Ref>,
    pub(super) delegated: Option<Delegated>,
    pub(super) only: Vec<Only>,
    pub(super) lengths: Lengths,
    pub(super) skip_pools: Vec<Glob>,
    pub(super) exclude: Option<Exclude>,
    /// The better tables: rows count only for what all of them lack.
    pub(super) fallbacks: Vec<Fallback>,
}

/// One way of making a range.
#[derive(Clone, Debug)]
pub(super) struct RangeKind {
    pub(super) only: Vec<Only>,
    pub(super) recipe: Recipe,
}

/// Rows count only where the field has one of these numbers (or bits).
#[derive(Clone, Debug)]
pub(super) struct Only {
    pub(super) field: Ref,
    pub(super) values: Vec<i128>,
}

/// Where a pool's name is.
#[derive(Clone, Debug)]
pub(super) enum Pool {
    Field(Ref),
    /// All rows are of one pool, which the router has no name for.
    Named(Name),
}

/// Where the VRF is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vrf {
    pub(super) field: Ref,
    /// It is a pool group, which may stand for its VRF.
    pub(super) group: bool,
}

/// How long the prefixes are that are delegated out of a range.
#[derive(Clone, Debug)]
pub(super) struct Delegated {
    pub(super) length: Ref,
    pub(super) only: Vec<Only>,
}

/// How long a prefix may be, from and to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lengths {
    pub(super) v4: Option<(u8, u8)>,
    pub(super) v6: Option<(u8, u8)>,
}

/// A better table, and the fields by which it is seen to have a row: here, there.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    pub(super) better: usize,
    pub(super) same: Vec<(Own, Own)>,
}

/// What a range is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recipe {
    StartEnd(Ref, Ref),
    NetworkMask(Ref, Ref),
    /// The network that an address with host bits lies in.
    GatewayMask(Ref, Ref),
    /// A field that holds a network may have the length itself.
    PrefixLength(Ref, Option<Ref>),
    /// The first prefix and the last of a run, and the length of each.
    PrefixRun(Ref, Ref, Ref),
}

/// Rows whose addresses are taken out of the other rows of their group.
#[derive(Clone, Debug)]
pub(super) struct Exclude {
    pub(super) field: Own,
    pub(super) equals: i128,
    /// What the field is in the rows that are narrowed; anything else where it is none.
    pub(super) others: Option<i128>,
    pub(super) within: Vec<Own>,
}

impl Descriptor {
    /// Reads a descriptor. `file` is how the person named it, for messages.
    ///
    /// # Errors
    /// The first thing in it that is wrong or that the runtime cannot handle, and where.
    pub fn parse(file: &str, source: &str, origin: Origin) -> Result<Self, DescriptorError> {
        let refuse = |problem: Problem| DescriptorError::new(file, source, problem);
        let raw: file::File = toml::from_str(source).map_err(|error| refuse(error.into()))?;
        compile::descriptor(raw, origin, source).map_err(refuse)
    }

    /// Its name, by which the configuration chooses it.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Whom it is for, in words.
    pub fn vendor(&self) -> &str {
        &self.vendor
    }

    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The file's text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The encoding of the router's texts where they are not UTF-8 and the configuration
    /// says nothing else.
    pub fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// The tables to read in the default context, in order.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = TableRef<'_>> {
        (0..self.tables.len()).map(|index| TableRef { descriptor: self, index })
    }

    /// The name under which the router lists its default context, where its pools are spread
    /// over SNMP contexts.
    pub fn default_context(&self) -> Option<&str> {
        self.contexts.as_ref().map(|contexts| contexts.default.as_str())
    }
}

/// One table of a descriptor, for those who read it from a router.
#[derive(Clone, Copy, Debug)]
pub struct TableRef<'a> {
    descriptor: &'a Descriptor,
    index: usize,
}

impl<'a> TableRef<'a> {
    /// Its name in the descriptor.
    pub fn name(self) -> &'a Name {
        &self.table().name
    }

    /// The name under which its rows of another context than the default one are known.
    pub fn name_in(self, vrf: &str) -> Name {
        name_in(&self.table().name, vrf)
    }

    /// What to read of it.
    pub fn columns(self) -> Columns {
        let table = self.table();
        let columns = table.columns.iter().map(|column| column.number).collect();
        Columns { entry: table.entry.clone(), columns }
    }

    /// The numbers of its columns that one range is made of, for each way of making one: they
    /// must be of one moment.
    pub fn together(self) -> Vec<Vec<u32>> {
        let table = self.table();
        let number = |field: Ref| match field {
            Ref::Own(Own::Column(column)) => table.columns.get(column).map(|column| column.number),
            Ref::Own(Own::Part(_)) | Ref::Joined { .. } => None,
        };
        let kinds = table.ranges.iter().flat_map(|ranges| &ranges.kinds);
        let groups = kinds.map(|kind| kind.recipe.fields().into_iter().filter_map(number).collect());
        groups.filter(|group: &Vec<u32>| group.len() > 1).collect()
    }

    /// How many rows it may have before it is too large to be read; none where only the
    /// poll's own cap holds.
    pub fn max_rows(self) -> Option<u32> {
        self.table().max_rows
    }

    /// Whether ranges are read from it; the others give names to them.
    pub fn has_ranges(self) -> bool {
        self.table().ranges.is_some()
    }

    /// Whether ranges are read from it only where a better table lacks them.
    pub fn is_fallback(self) -> bool {
        self.table().ranges.as_ref().is_some_and(|ranges| !ranges.fallbacks.is_empty())
    }

    /// Whether it lists the SNMP contexts; then it is read in the default one alone.
    pub fn lists_contexts(self) -> bool {
        self.descriptor.contexts.as_ref().is_some_and(|contexts| contexts.table == self.index)
    }

    fn table(self) -> &'a Table {
        &self.descriptor.tables[self.index]
    }
}

/// A table's name in another context than the default one.
pub(super) fn name_in(table: &str, vrf: &str) -> Name {
    format!("{table}@{vrf}").into()
}

impl Table {
    /// What a field holds.
    pub(super) fn kind(&self, field: Own) -> Kind {
        match field {
            Own::Part(part) => self.parts[part].form.kind(),
            Own::Column(column) => self.columns[column].form.kind(),
        }
    }

    /// A field's name.
    pub(super) fn field_name(&self, field: Own) -> &Name {
        match field {
            Own::Part(part) => &self.parts[part].name,
            Own::Column(column) => &self.columns[column].name,
        }
    }

    /// The row status column.
    pub(super) fn status(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.form == ColumnForm::RowStatus)
    }
}

impl Recipe {
    /// The fields that a range is made of.
    pub(super) fn fields(self) -> Vec<Ref> {
        match self {
            Self::StartEnd(a, b) | Self::NetworkMask(a, b) | Self::GatewayMask(a, b) => vec![a, b],
            Self::PrefixLength(prefix, length) => [Some(prefix), length].into_iter().flatten().collect(),
            Self::PrefixRun(first, last, length) => vec![first, last, length],
        }
    }

    /// Whether every range of it is one prefix.
    pub(super) fn is_block(self) -> bool {
        matches!(self, Self::NetworkMask(..) | Self::GatewayMask(..) | Self::PrefixLength(..))
    }
}

impl Ranges {
    /// The fields without which a row is not read. `groups`: whether pool groups are VRFs.
    pub(super) fn needed(&self, groups: bool) -> Vec<Ref> {
        let mut fields: Vec<Ref> = self.kinds.iter().flat_map(|kind| kind.recipe.fields()).collect();
        if let Pool::Field(field) = self.pool {
            fields.push(field);
        }
        fields.extend(self.vrf.filter(|vrf| groups || !vrf.group).map(|vrf| vrf.field));
        let kinds = self.kinds.iter().flat_map(|kind| &kind.only);
        fields.extend(self.only.iter().chain(kinds).map(|only| only.field));
        fields
    }

    /// All fields that are used, but for those that better tables are compared by.
    pub(super) fn used_fields(&self) -> Vec<Ref> {
        let mut fields = self.needed(true);
        fields.extend(self.size);
        fields.extend(self.used);
        if let Some(delegated) = &self.delegated {
            fields.push(delegated.length);
            fields.extend(delegated.only.iter().map(|only| only.field));
        }
        if let Some(exclude) = &self.exclude {
            fields.push(Ref::Own(exclude.field));
            fields.extend(exclude.within.iter().map(|field| Ref::Own(*field)));
        }
        fields
    }
}
