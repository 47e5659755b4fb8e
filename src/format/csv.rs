//! `csv`: one entry a record, for spreadsheets and scripts (RFC 4180, LF line ends).
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage
//! return for a formula, and pool names come from routers. Such a cell, and one that begins
//! with an apostrophe itself, gets an apostrophe in front: spreadsheets hide it, a program
//! drops one leading apostrophe and has the value.

use std::borrow::Cow;
use std::net::IpAddr;

use ::csv::{QuoteStyle, ReaderBuilder, StringRecord, Terminator, WriterBuilder};

use super::readback::Collector;
use super::{Format, ReadBack, ReadError, RenderError, Rendered, Row, Spaces, Stamp, View};
use crate::address::{Range, prefixes};
use crate::table::Origin;

const HEADER: [&str; 11] =
    ["space", "family", "first", "last", "prefixes", "bas", "pool", "pool_hex", "vrf", "group", "origin"];

/// See the module.
#[derive(Debug)]
pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "one entry a record, safe to open in a spreadsheet"
    }

    fn spaces(&self) -> Spaces {
        Spaces::Named
    }

    fn render(&self, view: &View<'_>, _stamp: &Stamp) -> Result<Rendered, RenderError> {
        let encoding = |e: ::csv::Error| RenderError::Encoding(e.to_string());
        let mut writer = WriterBuilder::new()
            .quote_style(QuoteStyle::Necessary)
            .terminator(Terminator::Any(b'\n'))
            .from_writer(Vec::new());
        writer.write_record(HEADER).map_err(encoding)?;
        for row in view.rows() {
            writer
                .write_record(record(row).iter().map(|cell| guarded(cell).into_owned()))
                .map_err(encoding)?;
        }
        let body = writer.into_inner().map_err(|e| RenderError::Encoding(e.to_string()))?;
        Ok(Rendered { body, rows: view.rows().len() as u64, ..Rendered::default() })
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        if file.last() != Some(&b'\n') {
            return Err(ReadError::new("the end", "the last line has no end"));
        }
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(file);
        let mut records = reader.records();
        let header = records.next().and_then(Result::ok);
        if !header.is_some_and(|header| header.iter().eq(HEADER)) {
            return Err(ReadError::new("line 1", "not the header of this format"));
        }
        let mut collector = Collector::default();
        for record in records {
            let record = record.map_err(|e| ReadError::new("a record", e.to_string()))?;
            collect(&record, &mut collector).map_err(|problem| {
                ReadError::new(format!("line {}", record.position().map_or(0, |p| p.line())), problem)
            })?;
        }
        Ok(collector.finish(None))
    }
}

fn record(row: &Row<'_>) -> [String; 11] {
    let entry = row.entry;
    let origin = match entry.origin() {
        Origin::Polled => "polled",
        Origin::Static => "static",
    };
    [
        entry.space.to_string(),
        entry.range.family().number().to_string(),
        entry.range.first().to_string(),
        entry.range.last().to_string(),
        prefix_list(entry.range),
        entry.bas.as_deref().unwrap_or_default().to_owned(),
        entry.pool.text().to_owned(),
        entry.pool.hex().unwrap_or_default(),
        entry.vrf.to_string(),
        row.group.token.to_string(),
        origin.to_owned(),
    ]
}

fn prefix_list(range: Range) -> String {
    let list: Vec<String> = prefixes(range).map(|p| p.to_string()).collect();
    list.join(" ")
}

/// Whether a spreadsheet might take the cell for a formula. The wide forms are what input
/// methods of Chinese and Japanese make of the plain ones.
fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠'])
}

fn guarded(cell: &str) -> Cow<'_, str> {
    if is_formula(cell) { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

fn unguarded(cell: &str) -> Result<&str, String> {
    match cell.strip_prefix('\'') {
        Some(value) if is_formula(value) => Ok(value),
        None if !is_formula(cell) => Ok(cell),
        _ => Err(format!("cell `{}` is not guarded as it should be", cell.escape_debug())),
    }
}

fn collect(record: &StringRecord, collector: &mut Collector) -> Result<(), String> {
    let mut cells = [""; 11];
    for (cell, text) in cells.iter_mut().zip(record) {
        *cell = unguarded(text)?;
    }
    let [space, family, first, last, prefixes, _bas, _pool, _hex, _vrf, group, origin] = cells;
    let address = |text: &str| text.parse::<IpAddr>().map_err(|e| format!("{}: {e}", text.escape_debug()));
    let range = Range::new(address(first)?, address(last)?).map_err(|e| e.to_string())?;
    if family != range.family().number().to_string() || prefixes != prefix_list(range) {
        return Err(format!("family or prefixes do not fit {range}"));
    }
    if !matches!(origin, "polled" | "static") {
        return Err(format!("`{}` is no origin", origin.escape_debug()));
    }
    collector.push(Some(space), range, group)
}
