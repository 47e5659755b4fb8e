//! From the file to the descriptor: every name is looked up, every combination that the
//! runtime cannot handle is refused, at its place.

mod fallback;
mod ranges;
mod recipe;
mod table;
mod unused;

use toml::Spanned;

use super::descriptor::{Contexts, Descriptor, Detect, Origin, Own, Table};
use super::error::Problem;
use super::field::Kind;
use super::file::{ContextsSection, DetectSection, File, Word};
use super::text::Encoding;
use crate::snmp::Oid;

/// Where private enterprises begin: what `auto` may go by lies under it.
const ENTERPRISES: [u32; 6] = [1, 3, 6, 1, 4, 1];

pub(super) fn descriptor(file: File, origin: Origin, source: &str) -> Result<Descriptor, Problem> {
    check_word(&file.name)?;
    let sections = file.table.get_ref();
    let mut tables = Vec::with_capacity(sections.len());
    for section in sections {
        let table = table::fields(section)?;
        refuse_twice(&tables, &table, section)?;
        tables.push(table);
    }
    for (at, section) in sections.iter().enumerate() {
        let joins = table::joins(&tables, at, section)?;
        tables[at].joins = joins;
    }
    for (at, section) in sections.iter().enumerate() {
        if let Some(section) = &section.ranges {
            let ranges = ranges::ranges(&tables, at, section)?;
            tables[at].ranges = Some(ranges);
        }
    }
    fallback::tie(&mut tables, sections)?;
    let contexts = file.contexts.as_ref().map(|section| contexts(&tables, sections, section)).transpose()?;
    unused::refuse(&tables, contexts.as_ref(), &file.table)?;
    Ok(Descriptor {
        name: file.name.get_ref().as_str().into(),
        encoding: file.encoding.as_ref().map(encoding).transpose()?,
        group_as_vrf: file.group_as_vrf.unwrap_or(true),
        default_vrf: file.default_vrf,
        detect: file.detect.as_ref().map(detect).transpose()?,
        vendor: file.vendor,
        notes: file.notes,
        contexts,
        tables,
        origin,
        source: source.to_owned(),
    })
}

/// Names are shown, joined by `.` and `@`, and chosen by people.
fn check_word(word: &Word) -> Result<(), Problem> {
    let text = word.get_ref();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        return Ok(());
    }
    Err(Problem::new(word.span(), format!("`{text}` is no name here: a-z, 0-9 and - only")))
}

fn refuse_twice(before: &[Table], table: &Table, section: &super::file::TableSection) -> Result<(), Problem> {
    if before.iter().any(|other| other.name == table.name) {
        return Err(Problem::new(section.name.span(), format!("table `{}` stands here twice", table.name)));
    }
    match before.iter().find(|other| other.entry == table.entry) {
        Some(other) => Err(Problem::new(
            section.entry.span(),
            format!("table `{}` has this entry already: one table is read once", other.name),
        )),
        None => Ok(()),
    }
}

fn encoding(word: &Word) -> Result<Encoding, Problem> {
    word.get_ref().parse().map_err(|error| Problem::new(word.span(), format!("{error}")))
}

fn detect(section: &DetectSection) -> Result<Detect, Problem> {
    let prefixes = section.sys_object_id.get_ref();
    if prefixes.is_empty() {
        return Err(Problem::new(
            section.sys_object_id.span(),
            "without a prefix nothing can be detected; leave [detect] out for a descriptor that is only chosen by name",
        ));
    }
    let prefixes = prefixes.iter().map(prefix).collect::<Result<_, _>>()?;
    let (accept, refuse) = match &section.sys_descr {
        Some(section) => (section.accept.clone(), section.refuse.clone()),
        None => Default::default(),
    };
    Ok(Detect { prefixes, accept, refuse })
}

fn prefix(oid: &Spanned<Oid>) -> Result<Oid, Problem> {
    match oid.get_ref().arcs().strip_prefix(&ENTERPRISES) {
        Some([_, ..]) => Ok(oid.get_ref().clone()),
        _ => Err(Problem::new(oid.span(), "a sysObjectID prefix names an enterprise: 1.3.6.1.4.1.N...")),
    }
}

fn contexts(
    tables: &[Table],
    sections: &[super::file::TableSection],
    section: &Spanned<ContextsSection>,
) -> Result<Contexts, Problem> {
    let raw = section.get_ref();
    let at = table_named(tables, &raw.table)?;
    let table = &tables[at];
    if table.ranges.is_some() || !table.joins.is_empty() {
        return Err(Problem::new(
            raw.table.span(),
            "a table that lists contexts gives neither ranges nor joins",
        ));
    }
    for (other, section) in tables.iter().zip(sections) {
        if other.joins.iter().any(|join| join.table == at) {
            return Err(Problem::new(
                section.name.span(),
                format!("`{}` lists contexts: nothing can be joined to it", table.name),
            ));
        }
        let ranges = section.ranges.as_ref().map(Spanned::get_ref);
        if let Some(vrf) = ranges.and_then(|ranges| ranges.vrf.as_ref().or(ranges.group.as_ref())) {
            return Err(Problem::new(
                vrf.span(),
                "with contexts the VRF is the context's; a field cannot give it too",
            ));
        }
    }
    let column = |word: &Word| match own(table, word)? {
        Own::Column(column) if table.kind(Own::Column(column)) == Kind::Text => Ok(column),
        _ => Err(Problem::new(word.span(), format!("`{}` must be a column of type text", word.get_ref()))),
    };
    Ok(Contexts {
        table: at,
        vrf: column(&raw.vrf)?,
        name: column(&raw.name)?,
        engine_id: raw.engine_id.as_ref().map(column).transpose()?,
        default: raw.default.clone(),
    })
}

/// The table of a name.
fn table_named(tables: &[Table], word: &Word) -> Result<usize, Problem> {
    tables.iter().position(|table| *table.name == **word.get_ref()).ok_or_else(|| {
        let names = list(tables.iter().map(|table| &*table.name));
        Problem::new(word.span(), format!("unknown table `{}`, expected one of {names}", word.get_ref()))
    })
}

/// The index part or column of a name. Where both bear it, they are one thing; the part is
/// the one that is always there.
fn own(table: &Table, word: &Word) -> Result<Own, Problem> {
    own_named(table, word.get_ref()).ok_or_else(|| unknown_field(table, word, word.get_ref()))
}

fn own_named(table: &Table, name: &str) -> Option<Own> {
    let part = table.parts.iter().position(|part| *part.name == *name).map(Own::Part);
    part.or_else(|| table.columns.iter().position(|column| *column.name == *name).map(Own::Column))
}

fn unknown_field(table: &Table, word: &Word, name: &str) -> Problem {
    let parts = table.parts.iter().map(|part| &*part.name);
    let names = list(parts.chain(table.columns.iter().map(|column| &*column.name)));
    Problem::new(
        word.span(),
        format!("table `{}` has no field `{name}`, expected one of {names}", table.name),
    )
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.dedup();
    names.join(", ")
}
