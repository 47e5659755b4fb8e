//! Tables of cells.

use std::borrow::Cow;
use std::collections::HashMap;

use super::cells::{self, Record, Records, masked, range};
use super::collect::Collector;
use super::columns::{Column, Layout, Place, known_words};
use super::quick::Quick;
use super::remark::RemarkKind;
use super::{LegacyError, LegacyRow, ReadOptions};
use crate::address::Range;
use crate::coverage::{Known, Target};

/// How many lines are looked at before it is said what the columns hold.
const SAMPLE: usize = 100;

/// How many lines may stand before the first one with addresses.
const LEAD: usize = 50;

pub(super) fn read(text: &str, options: &ReadOptions, out: &mut Collector) -> Result<(), LegacyError> {
    let mut records = Records::new(text, cells::separator(text));
    if cells::told(text).is_some() {
        // The line that names the separator.
        let _ = records.next();
    }
    let (header, lead) = lead(records.clone());
    let layout = match &options.columns {
        Some(columns) => Layout::of_columns(columns, 1)?,
        None => {
            let sample = sample(records.clone(), lead);
            if sample.is_empty() && header.as_ref().is_none_or(|header| known_words(header) == 0) {
                return nothing(records, out);
            }
            Layout::found(header.as_ref(), &sample, &options.known)?
        }
    };
    let header = header.filter(|header| known_words(header) > 0).map(|header| header.line);
    let mut taken = Targets::default();
    out.make_room(memchr::memchr_iter(b'\n', text.as_bytes()).count());
    let quick = records.octet().and_then(|octet| Quick::of(&layout, octet));
    while let Some(record) = records.next_behind(|line, raw| {
        let row = quick.and_then(|quick| Some((quick.column, quick.row(raw)?)));
        let target = row.and_then(|(column, (range, name))| Some((range, taken.get(column, name)?)));
        match target.filter(|_| Some(line) != header) {
            Some((range, target)) => {
                out.take(LegacyRow { range, space: None, target: target.clone(), line });
                true
            }
            None => false,
        }
    }) {
        match record {
            Ok(record) if Some(record.line) == header => (),
            Ok(record) => take(&record, &layout, &options.known, &mut taken, out),
            Err(fault) => out.remark(fault.line, RemarkKind::Syntax, fault.detail, fault.raw),
        }
    }
    Ok(())
}

/// Whether a line is meant to have addresses.
fn has_addresses(record: &Record<'_>) -> bool {
    record.cells.iter().any(|cell| range(cell).is_some())
}

/// The header among the lines before the first one with addresses, and the last of these.
fn lead<'t>(mut records: Records<'t>) -> (Option<Record<'t>>, u64) {
    let mut header: Option<Record<'t>> = None;
    let mut last = 0;
    for record in std::iter::from_fn(|| records.next()).take(LEAD).filter_map(Result::ok) {
        if has_addresses(&record) {
            break;
        }
        last = record.line;
        if header.as_ref().is_none_or(|header| known_words(header) < known_words(&record)) {
            header = Some(record);
        }
    }
    (header, last)
}

fn sample<'t>(mut records: Records<'t>, lead: u64) -> Vec<Record<'t>> {
    let all = std::iter::from_fn(|| records.next()).filter_map(Result::ok);
    all.filter(|record| record.line > lead && has_addresses(record)).take(SAMPLE).collect()
}

/// A text without any addresses: each line is named.
fn nothing(mut records: Records<'_>, out: &mut Collector) -> Result<(), LegacyError> {
    while let Some(record) = records.next() {
        let (line, raw) = match record {
            Ok(record) => (record.line, record.raw),
            Err(fault) => (fault.line, fault.raw),
        };
        out.remark(line, RemarkKind::NotARange, "has no addresses", raw);
    }
    Ok(())
}

/// What cells were taken for, by their column: a table has few names and many rows.
#[derive(Default)]
struct Targets {
    bas: Names,
    edges: Names,
    name: Names,
}

type Names = HashMap<Box<str>, Target, foldhash::fast::RandomState>;

impl Targets {
    fn get(&self, column: Column, text: &str) -> Option<&Target> {
        match column {
            Column::Bas => &self.bas,
            Column::Edges => &self.edges,
            _ => &self.name,
        }
        .get(text)
    }

    fn insert(&mut self, column: Column, text: &str, target: Target) {
        match column {
            Column::Bas => &mut self.bas,
            Column::Edges => &mut self.edges,
            _ => &mut self.name,
        }
        .insert(text.into(), target);
    }
}

fn take(record: &Record<'_>, layout: &Layout, known: &Known, taken: &mut Targets, out: &mut Collector) {
    let range = match addresses(&record.cells, layout.place) {
        Ok(range) => range,
        Err(detail) => return out.remark(record.line, RemarkKind::NotARange, &detail, record.raw),
    };
    let target = match target(&record.cells, layout, known, taken, out) {
        Ok(target) => target,
        Err((kind, detail)) => return out.remark(record.line, kind, detail, record.raw),
    };
    let space = layout.space.and_then(|at| record.cells.get(at)).filter(|space| !space.is_empty());
    let space = space.map(|space| out.name(space));
    out.take(LegacyRow { range, space, target, line: record.line });
}

fn addresses(cells: &[Cow<'_, str>], place: Place) -> Result<Range, String> {
    let cell = |at: usize| cells.get(at).map_or("", Cow::as_ref);
    let one = |at| match range(cell(at)) {
        Some(range) => range,
        None if cell(at).is_empty() => Err("has no addresses".to_owned()),
        None => Err(format!("`{}` is no range of addresses", cell(at).escape_debug())),
    };
    match place {
        Place::One(at) => one(at),
        Place::Ends(first, last) if cell(last).is_empty() => one(first),
        Place::Ends(first, last) => ends(cell(first), cell(last)),
        Place::Mask(network, mask) if cell(mask).is_empty() => one(network),
        Place::Mask(network, mask) => masked(cell(network), cell(mask)),
        Place::Length(network, length) if cell(length).is_empty() => one(network),
        Place::Length(network, length) => {
            let prefix = format!("{}/{}", cell(network), cell(length).trim_start_matches('/'));
            prefix.parse().map_err(|e: crate::address::ParseRangeError| e.to_string())
        }
    }
}

fn ends(first: &str, last: &str) -> Result<Range, String> {
    let address = |text: &str| text.parse().map_err(|_| format!("`{}` is no address", text.escape_debug()));
    Range::new(address(first)?, address(last)?).map_err(|e| e.to_string())
}

type Refused = (RemarkKind, &'static str);

fn target(
    cells: &[Cow<'_, str>],
    layout: &Layout,
    known: &Known,
    taken: &mut Targets,
    out: &mut Collector,
) -> Result<Target, Refused> {
    let filled = layout.targets.iter().find_map(|(at, column)| {
        let cell = unguarded(cells.get(*at)?);
        (!cell.is_empty()).then_some((cell, *column))
    });
    let Some((text, column)) = filled else {
        return Err((RemarkKind::NoTarget, "does not say whose the addresses are"));
    };
    if let Some(target) = taken.get(column, text) {
        return Ok(target.clone());
    }
    let target = named(text, column, known, out)?;
    taken.insert(column, text, target.clone());
    Ok(target)
}

/// Whom a cell names.
fn named(text: &str, column: Column, known: &Known, out: &mut Collector) -> Result<Target, Refused> {
    check(text)?;
    let whole = column == Column::Bas || known.resolve(&Target::Named(text.into())).is_some();
    let separators: &[char] = match column {
        _ if whole => &[],
        Column::Edges => &[';', ',', '|', ' '],
        _ => &[';', ',', '|'],
    };
    let parts: Vec<&str> = text.split(separators).map(str::trim).filter(|part| !part.is_empty()).collect();
    match (column, parts.as_slice()) {
        (_, []) => Err((RemarkKind::NoTarget, "does not say whose the addresses are")),
        (Column::Bas, _) => Ok(Target::Bas(out.name(text))),
        (Column::Name, [name]) => Ok(out.named(name)),
        (_, names) => Ok(Target::Edges(names.iter().map(|name| out.name(name)).collect())),
    }
}

/// Refuses what can be no name.
fn check(name: &str) -> Result<(), Refused> {
    if name.contains('\u{fffd}') {
        return Err((RemarkKind::NotUtf8, "the name is not UTF-8"));
    }
    if name.chars().any(char::is_control) {
        return Err((RemarkKind::NoTarget, "the name has control characters"));
    }
    if range(name).is_some() {
        return Err((RemarkKind::NoTarget, "addresses stand where a name should"));
    }
    Ok(())
}

/// A cell without the apostrophe that keeps a spreadsheet from taking it for a formula.
fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(['=', '+', '-', '@', '\'', '＝', '＋', '－', '＠']) => rest,
        _ => cell,
    }
}
