//! `csv`: one entry a record, for spreadsheets and scripts (RFC 4180, LF line ends).
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage
//! return for a formula, and pool names come from routers. Such a cell, and one that begins
//! with an apostrophe itself, gets an apostrophe in front: spreadsheets hide it, a program
//! drops one leading apostrophe and has the value.

use std::borrow::Cow;
use std::net::IpAddr;

use ::csv::{ReaderBuilder, StringRecord};

use super::readback::Collector;
use super::rest::{Addresses, Rest};
use super::text::{push_address, push_number, push_prefix};
use super::{Format, ReadBack, ReadError, RenderError, Rendered, Row, Spaces, Stamp, View};
use crate::address::{Family, Range, prefixes};
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
        let mut body = String::with_capacity(view.rows().len() * 96 + 128);
        body.push_str(&HEADER.join(","));
        body.push('\n');
        view.rows().iter().for_each(|row| record(&mut body, row));
        Ok(Rendered { body: body.into_bytes(), rows: view.rows().len() as u64, ..Rendered::default() })
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        proves(file, view)
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

/// Whether the file says what the view says, record by record, names included. See [`Format::proves`].
fn proves(file: &[u8], view: &View<'_>) -> Option<()> {
    let mut rest = Rest(file);
    (rest.line()? == HEADER.join(",").as_bytes()).then_some(())?;
    view.rows().iter().try_for_each(|row| says(&mut rest, row))?;
    rest.is_empty().then_some(())
}

/// Takes the record of a row.
fn says(rest: &mut Rest<'_>, row: &Row<'_>) -> Option<()> {
    let (entry, range) = (row.entry, row.entry.range);
    cell(rest, &entry.space)?;
    rest.text(if range.family() == Family::V4 { ",4," } else { ",6," })?;
    (rest.ends(",")? == Addresses::from(range)).then_some(())?;
    rest.text(",")?;
    for (number, prefix) in prefixes(range).enumerate() {
        rest.text(if number == 0 { "" } else { " " })?;
        (rest.prefix()? == Addresses::from(Range::from(prefix))).then_some(())?;
    }
    let hex = entry.pool.hex().unwrap_or_default();
    let bas = entry.bas.as_deref().unwrap_or_default();
    for text in [bas, entry.pool.text(), &hex, &entry.vrf] {
        rest.text(",")?;
        cell(rest, text)?;
    }
    rest.text(",")?;
    rest.text(row.group.token.as_str())?;
    rest.text(match entry.origin() {
        Origin::Polled => ",polled\n",
        Origin::Static => ",static\n",
    })
}

/// Takes a cell that says this text.
#[inline]
fn cell(rest: &mut Rest<'_>, wanted: &str) -> Option<()> {
    // Most have nothing in them that is guarded or put in quotes.
    let begins_well = wanted.bytes().next().is_none_or(|octet| octet.is_ascii_alphanumeric());
    if begins_well && !wanted.bytes().any(|octet| matches!(octet, b',' | b'"' | b'\r' | b'\n')) {
        return rest.text(wanted);
    }
    let said = if rest.text("\"").is_some() { quoted(rest)? } else { bare(rest)? };
    let said = str::from_utf8(&said).ok()?;
    (unguarded(said).ok()? == wanted).then_some(())
}

/// What a cell says whose first quotation mark was taken.
fn quoted(rest: &mut Rest<'_>) -> Option<Vec<u8>> {
    let mut said = Vec::new();
    loop {
        let (own, behind) = rest.0.split_at_checked(memchr::memchr(b'"', rest.0)?)?;
        said.extend_from_slice(own);
        *rest = Rest(behind);
        rest.text("\"")?;
        // One that is doubled is one of the text.
        if rest.text("\"").is_none() {
            return Some(said);
        }
        said.push(b'"');
    }
}

/// What a cell without quotation marks says.
fn bare(rest: &mut Rest<'_>) -> Option<Vec<u8>> {
    let length = rest.0.iter().position(|octet| matches!(octet, b',' | b'"' | b'\r' | b'\n'))?;
    let (own, behind) = rest.0.split_at_checked(length)?;
    *rest = Rest(behind);
    Some(own.to_vec())
}

/// Appends a row as a record.
fn record(out: &mut String, row: &Row<'_>) {
    let entry = row.entry;
    let origin = match entry.origin() {
        Origin::Polled => "polled",
        Origin::Static => "static",
    };
    push_cell(out, &entry.space);
    out.push(',');
    push_number(out, entry.range.family().number());
    out.push(',');
    push_address(out, entry.range.first());
    out.push(',');
    push_address(out, entry.range.last());
    out.push(',');
    push_prefixes(out, entry.range);
    let hex = entry.pool.hex().unwrap_or_default();
    let bas = entry.bas.as_deref().unwrap_or_default();
    for cell in [bas, entry.pool.text(), &hex, &entry.vrf, row.group.token.as_str(), origin] {
        out.push(',');
        push_cell(out, cell);
    }
    out.push('\n');
}

/// Appends a cell, guarded, and in quotes where it has to be. A record never consists of one
/// empty cell, which would have to be, too.
fn push_cell(out: &mut String, cell: &str) {
    let guarded = guarded(cell);
    if !guarded.bytes().any(|octet| matches!(octet, b',' | b'"' | b'\r' | b'\n')) {
        out.push_str(&guarded);
        return;
    }
    out.push('"');
    for (number, part) in guarded.split('"').enumerate() {
        if number > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

fn push_prefixes(out: &mut String, range: Range) {
    for (number, prefix) in prefixes(range).enumerate() {
        if number > 0 {
            out.push(' ');
        }
        push_prefix(out, prefix);
    }
}

fn prefix_list(range: Range) -> String {
    let mut list = String::new();
    push_prefixes(&mut list, range);
    list
}

/// Whether a spreadsheet might take the cell for a formula. The wide forms are what input
/// methods of Chinese and Japanese make of the plain ones.
fn is_formula(cell: &str) -> bool {
    // Most cells begin with a digit or a letter.
    !cell.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠'])
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

#[cfg(test)]
mod tests {
    use ::csv::{QuoteStyle, Terminator, WriterBuilder};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cells_are_written_as_the_csv_crate_does(cells in vec("[a\"',\r\n=+é＝ -]{0,6}", 2..6)) {
            let mut writer = WriterBuilder::new()
                .quote_style(QuoteStyle::Necessary)
                .terminator(Terminator::Any(b'\n'))
                .from_writer(Vec::new());
            writer.write_record(cells.iter().map(|cell| guarded(cell).into_owned())).unwrap();
            let mut own = String::new();
            for (number, cell) in cells.iter().enumerate() {
                own.push_str(if number > 0 { "," } else { "" });
                push_cell(&mut own, cell);
            }
            own.push('\n');
            prop_assert_eq!(own, String::from_utf8(writer.into_inner().unwrap()).unwrap());
        }
    }
}
