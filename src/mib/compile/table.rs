//! Tables: their index parts, columns and joins.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::cell::{ColumnForm, Written};
use super::super::descriptor::{Column, Join, On, Otherwise, Own, Table};
use super::super::error::Problem;
use super::super::field::Kind;
use super::super::file::{
    ColumnSection, ColumnType, JoinSection, OtherwiseValue, PartSection, PartType, TableSection, Word,
};
use super::super::index::{Part, PartForm};
use super::{check_word, own, own_named, table_named, unknown_field};

/// The longest fixed string: no OID has more arcs.
const MAX_LENGTH: usize = crate::snmp::MAX_ARCS;

/// A table with its parts and columns, without joins and ranges.
pub(super) fn fields(section: &TableSection) -> Result<Table, Problem> {
    check_word(&section.name)?;
    let entry = section.entry.get_ref();
    if !entry.arcs().starts_with(&[1, 3, 6, 1]) || entry.arcs().len() < 8 {
        let message = "an entry is the OID of a table's row object, under 1.3.6.1 (the table's OID and .1)";
        return Err(Problem::new(section.entry.span(), message));
    }
    let mut table = Table {
        name: section.name.get_ref().as_str().into(),
        mib: section.mib.clone(),
        entry: entry.clone(),
        max_rows: section.max_rows.as_ref().map(max_rows).transpose()?,
        parts: parts(&section.index)?,
        columns: Vec::new(),
        twins: Vec::new(),
        joins: Vec::new(),
        ranges: None,
    };
    columns(&mut table, section)?;
    twins(&mut table, section)?;
    Ok(table)
}

fn max_rows(rows: &Spanned<u32>) -> Result<u32, Problem> {
    match *rows.get_ref() {
        0 => Err(Problem::new(rows.span(), "a table that may have no row is not worth reading")),
        rows => Ok(rows),
    }
}

fn parts(index: &Spanned<Vec<Spanned<PartSection>>>) -> Result<Vec<Part>, Problem> {
    let sections = index.get_ref();
    if sections.is_empty() {
        return Err(Problem::new(index.span(), "a table has at least one index part"));
    }
    let mut parts: Vec<Part> = Vec::with_capacity(sections.len());
    for (at, section) in sections.iter().enumerate() {
        let raw = section.get_ref();
        check_word(&raw.name)?;
        if parts.iter().any(|part| *part.name == **raw.name.get_ref()) {
            return Err(Problem::new(
                raw.name.span(),
                format!("part `{}` stands here twice", raw.name.get_ref()),
            ));
        }
        if raw.form == PartType::OctetsImplied && at + 1 < sections.len() {
            let message = "an implied string has no length and can only be the last part";
            return Err(Problem::new(section.span(), message));
        }
        parts.push(Part { name: raw.name.get_ref().as_str().into(), form: part_form(section, &parts)? });
    }
    Ok(parts)
}

fn part_form(section: &Spanned<PartSection>, before: &[Part]) -> Result<PartForm, Problem> {
    let raw = section.get_ref();
    let form = match raw.form {
        PartType::Integer => PartForm::Integer,
        PartType::IpAddress => PartForm::IpAddress,
        PartType::Ipv6Address => PartForm::Ipv6Address,
        PartType::Octets => PartForm::Octets,
        PartType::OctetsFixed => PartForm::OctetsFixed(fixed_length(section)?),
        PartType::OctetsImplied => PartForm::OctetsImplied,
        PartType::InetAddressType => PartForm::AddressType,
        PartType::InetAddress => PartForm::Address { kind: part_address_type(section, before)? },
        PartType::Oid => PartForm::Oid,
    };
    match (&raw.length, &raw.address_type) {
        (Some(length), _) if raw.form != PartType::OctetsFixed => {
            Err(Problem::new(length.span(), "only octets-fixed has a length here"))
        }
        (_, Some(word)) if raw.form != PartType::InetAddress => {
            Err(Problem::new(word.span(), "only inet-address has an address-type"))
        }
        _ => Ok(form),
    }
}

fn fixed_length(section: &Spanned<PartSection>) -> Result<usize, Problem> {
    match &section.get_ref().length {
        Some(length) if (1..=MAX_LENGTH).contains(length.get_ref()) => Ok(*length.get_ref()),
        Some(length) => Err(Problem::new(length.span(), format!("a length is 1 to {MAX_LENGTH}"))),
        None => Err(Problem::new(section.span(), "octets-fixed needs its `length`")),
    }
}

fn part_address_type(section: &Spanned<PartSection>, before: &[Part]) -> Result<usize, Problem> {
    let Some(word) = &section.get_ref().address_type else {
        let message = "inet-address needs `address-type`: the part before it that gives its type";
        return Err(Problem::new(section.span(), message));
    };
    let kind =
        before.iter().position(|part| *part.name == **word.get_ref() && part.form == PartForm::AddressType);
    kind.ok_or_else(|| {
        let message = format!("`{}` is no part of type inet-address-type before this one", word.get_ref());
        Problem::new(word.span(), message)
    })
}

fn columns(table: &mut Table, section: &TableSection) -> Result<(), Problem> {
    let sections = section.columns.get_ref();
    if sections.is_empty() {
        return Err(Problem::new(section.columns.span(), "a walk needs at least one column"));
    }
    for (name, raw) in sections {
        check_word(name)?;
        let column = column(name, raw.get_ref())?;
        if let Some(other) = table.columns.iter().find(|other| other.number == column.number) {
            let message = format!("column {} is `{}` already", column.number, other.name);
            return Err(Problem::new(raw.get_ref().number.span(), message));
        }
        if column.form == ColumnForm::RowStatus && table.status().is_some() {
            return Err(Problem::new(raw.span(), "a table has one row status"));
        }
        table.columns.push(column);
    }
    table.columns.sort_by_key(|column| column.number);
    for (name, raw) in sections {
        let kind = column_address_type(table, raw)?;
        let otherwise = otherwise(table, sections, name, raw)?;
        let at = table.columns.iter().position(|column| *column.name == **name.get_ref());
        let Some(column) = at.and_then(|at| table.columns.get_mut(at)) else { continue };
        column.otherwise = otherwise;
        column.form = match (column.form, kind) {
            (ColumnForm::Address { .. }, Some(kind)) => ColumnForm::Address { kind },
            (ColumnForm::Network { written, .. }, kind) => ColumnForm::Network { kind, written },
            (form, _) => form,
        };
    }
    Ok(())
}

/// What a missing cell stands for.
fn otherwise(
    table: &Table,
    sections: &BTreeMap<Word, Spanned<ColumnSection>>,
    name: &Word,
    section: &Spanned<ColumnSection>,
) -> Result<Option<Otherwise>, Problem> {
    let Some(value) = &section.get_ref().otherwise else { return Ok(None) };
    let refuse = |message: String| Err(Problem::new(value.span(), message));
    if section.get_ref().optional.is_some() {
        return refuse(
            "a cell that stands for something is never missing: it is not optional too".to_owned(),
        );
    }
    let Some(column) = table.columns.iter().position(|column| *column.name == **name.get_ref()) else {
        return Ok(None);
    };
    let kind = table.kind(Own::Column(column));
    match value.get_ref() {
        OtherwiseValue::Number(number) if kind == Kind::Integer => {
            Ok(Some(Otherwise::Number((*number).into())))
        }
        OtherwiseValue::Number(_) => refuse(format!("`{}` is {kind}, not a number", name.get_ref())),
        OtherwiseValue::Field(other) => {
            let word = Spanned::new(value.span(), other.clone());
            let field = super::own(table, &word)?;
            if field == Own::Column(column) || table.kind(field) != kind {
                return refuse(format!("`{other}` is no other field that holds {kind}"));
            }
            let chained = matches!(field, Own::Column(_))
                && sections
                    .iter()
                    .any(|(name, section)| name.get_ref() == other && section.get_ref().otherwise.is_some());
            if chained {
                return refuse(format!("`{other}` may itself be missing and stand for something else"));
            }
            Ok(Some(Otherwise::Field(field)))
        }
    }
}

fn column(name: &Word, raw: &ColumnSection) -> Result<Column, Problem> {
    if *raw.number.get_ref() == 0 {
        return Err(Problem::new(raw.number.span(), "columns are numbered from 1"));
    }
    let form = match raw.form {
        ColumnType::Integer => ColumnForm::Integer,
        ColumnType::Count => ColumnForm::Count,
        ColumnType::IpAddress => ColumnForm::IpAddress,
        ColumnType::Octets4 => ColumnForm::Octets4,
        ColumnType::Octets16 => ColumnForm::Octets16,
        ColumnType::AddressInteger => ColumnForm::AddressInteger,
        ColumnType::AddressText => ColumnForm::AddressText,
        ColumnType::Ipv6Prefix => ColumnForm::Ipv6Prefix,
        ColumnType::InetAddressType => ColumnForm::AddressType,
        // Which field gives its type is looked up once all columns are known.
        ColumnType::InetAddress => ColumnForm::Address { kind: Own::Part(0) },
        ColumnType::Network => ColumnForm::Network { kind: None, written: Written::Either },
        ColumnType::NetworkText => ColumnForm::Network { kind: None, written: Written::Text },
        ColumnType::NetworkOctets => ColumnForm::Network { kind: None, written: Written::Octets },
        ColumnType::Text => ColumnForm::Text,
        ColumnType::RowStatus => ColumnForm::RowStatus,
        ColumnType::Bits => ColumnForm::Bits,
    };
    if let (ColumnForm::RowStatus, Some(optional)) = (form, &raw.optional) {
        return Err(Problem::new(optional.span(), "a row status is optional as it is"));
    }
    let optional = raw.optional.as_ref().is_some_and(|optional| *optional.get_ref());
    let (name, number) = (name.get_ref().as_str().into(), *raw.number.get_ref());
    Ok(Column { name, number, form, optional, otherwise: None })
}

fn column_address_type(table: &Table, section: &Spanned<ColumnSection>) -> Result<Option<Own>, Problem> {
    let raw = section.get_ref();
    let typed = matches!(raw.form, ColumnType::InetAddress | ColumnType::Network | ColumnType::NetworkOctets);
    match &raw.address_type {
        Some(word) if typed || raw.form == ColumnType::NetworkText => {
            let field = own(table, word)?;
            if table.kind(field) == Kind::AddressType {
                return Ok(Some(field));
            }
            let message = format!("`{}` is not of type inet-address-type", word.get_ref());
            Err(Problem::new(word.span(), message))
        }
        Some(word) => Err(Problem::new(word.span(), "only inet-address and networks have an address-type")),
        None if typed => {
            let message = "inet-address needs `address-type`, and so does a network that may be octets: the part or column that gives its type";
            Err(Problem::new(section.span(), message))
        }
        None => Ok(None),
    }
}

/// A column that bears an index part's name is that part, made readable.
fn twins(table: &mut Table, section: &TableSection) -> Result<(), Problem> {
    for name in section.columns.get_ref().keys() {
        let part = table.parts.iter().position(|part| *part.name == **name.get_ref());
        let column = table.columns.iter().position(|column| *column.name == **name.get_ref());
        let (Some(part), Some(column)) = (part, column) else { continue };
        let (there, here) = (table.kind(Own::Part(part)), table.kind(Own::Column(column)));
        if there != here {
            let message = format!("the index part of this name is {there}, the column is {here}");
            return Err(Problem::new(name.span(), message));
        }
        table.twins.push((part, column));
    }
    table.twins.sort_unstable();
    Ok(())
}

/// The joins of a table.
pub(super) fn joins(tables: &[Table], at: usize, section: &TableSection) -> Result<Vec<Join>, Problem> {
    let mut joins = Vec::with_capacity(section.joins.len());
    for (name, raw) in &section.joins {
        let table = table_named(tables, name)?;
        if table == at {
            return Err(Problem::new(name.span(), "a table is not joined to itself"));
        }
        joins.push(Join { table, on: on(&tables[at], &tables[table], raw)? });
    }
    Ok(joins)
}

fn on(here: &Table, there: &Table, section: &Spanned<JoinSection>) -> Result<On, Problem> {
    let raw = section.get_ref();
    let whole = raw.whole_index.as_ref().is_some_and(|whole| *whole.get_ref());
    let single = raw.single.as_ref().is_some_and(|single| *single.get_ref());
    if single {
        return match (&raw.by, &raw.to, whole) {
            (None, None, false) => Ok(On::Single),
            _ => Err(Problem::new(section.span(), "a single row is joined by nothing else")),
        };
    }
    match (&raw.by, &raw.to, whole) {
        (None, None, true) => {
            let same = here.parts.iter().map(|p| p.form).eq(there.parts.iter().map(|p| p.form));
            let message = format!("the indexes of `{}` and `{}` are not made alike", here.name, there.name);
            if same { Ok(On::WholeIndex) } else { Err(Problem::new(section.span(), message)) }
        }
        (Some(by), None, false) => {
            if by.len() != there.parts.len() {
                let message =
                    format!("`{}` has {} index parts: name as many fields", there.name, there.parts.len());
                return Err(Problem::new(section.span(), message));
            }
            let fields = by.iter().enumerate().map(|(at, word)| key(here, there, word, Own::Part(at)));
            Ok(On::Index(fields.collect::<Result<_, _>>()?))
        }
        (Some(by), Some(to), false) => match (by.as_slice(), own_named(there, to.get_ref())) {
            ([word], Some(Own::Column(column))) => {
                Ok(On::Column { own: key(here, there, word, Own::Column(column))?, column })
            }
            ([_], _) => Err(unknown_field(there, to, to.get_ref())),
            _ => Err(Problem::new(section.span(), "with `to` one field is compared: `by` names one")),
        },
        _ => Err(Problem::new(
            section.span(),
            "a join needs `by` (fields of this table), perhaps with `to` (a column of the other), or whole-index = true, or single = true",
        )),
    }
}

fn key(here: &Table, there: &Table, word: &Word, other: Own) -> Result<Own, Problem> {
    let field = own(here, word)?;
    let (kind, wanted) = (here.kind(field), there.kind(other));
    if kind == wanted && matches!(kind, Kind::Integer | Kind::Text | Kind::Address) {
        return Ok(field);
    }
    let message = format!(
        "`{}` is {kind} and `{}` of `{}` is {wanted}: they cannot be compared",
        word.get_ref(),
        there.field_name(other),
        there.name
    );
    Err(Problem::new(word.span(), message))
}
