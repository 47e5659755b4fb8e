//! A file by the template that it was written with.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::NAME;
use super::layout::Layout;
use super::pattern::{Field, Found, Pattern, value};
use crate::address::{Family, Range};
use crate::format::lines::{self, is_head};
use crate::format::readback::Collector;
use crate::format::rest::Rest;
use crate::format::{ReadBack, ReadError, View};

/// What the file says.
pub(super) fn read(layout: &Layout, file: &[u8]) -> Result<ReadBack, ReadError> {
    let text = std::str::from_utf8(file)
        .map_err(|e| ReadError::new(format!("byte {}", e.valid_up_to()), "not UTF-8"))?;
    let mut reader = Reader { text, rest: text, layout, groups: BTreeSet::new() };
    let mut collector = Collector::default();
    let default = reader.begin()?;
    reader.once(layout.head.as_ref(), "head")?;
    reader.groups();
    reader.once(layout.middle.as_ref(), "middle")?;
    reader.many(layout.default.as_ref());
    let rows = reader.rows(&mut collector)?;
    reader.once(layout.tail.as_ref(), "tail")?;
    reader.end(rows)?;
    let default = default.map(|token| collector.token(token)).transpose();
    Ok(collector.finish(default.map_err(|problem| reader.error(problem))?))
}

/// Whether the file says what the view says, row by row. See [`Format::proves`](crate::format::Format::proves).
pub(super) fn proves(layout: &Layout, file: &[u8], view: &View<'_>) -> Option<()> {
    // Rows that stay apart for their names, and those for addresses in no row, are read at leisure.
    if layout.gaps || layout.row.has_names() {
        return None;
    }
    let text = std::str::from_utf8(file).ok()?;
    let mut reader = Reader { text, rest: text, layout, groups: BTreeSet::new() };
    let default = reader.begin().ok()?;
    default.is_none_or(|token| token == view.default_group().token.as_str()).then_some(())?;
    reader.once(layout.head.as_ref(), "head").ok()?;
    reader.groups();
    reader.once(layout.middle.as_ref(), "middle").ok()?;
    reader.many(layout.default.as_ref());
    let named = layout.group.as_ref().is_some_and(|section| section.has(Field::Group));
    if named && !view.groups().all(|group| reader.groups.contains(group.token.as_str())) {
        return None;
    }
    let mut rest = Rest(reader.rest.as_bytes());
    let mut rows: u64 = 0;
    for answer in view.answers() {
        let count = rest.rows(answer.range, |rest| layout.row.row(rest, answer.token.as_str()))?;
        if count > 1 && !layout.by_prefix() {
            return None;
        }
        rows += count;
    }
    reader.rest = text.get(text.len().checked_sub(rest.0.len())?..)?;
    if reader.scan(&layout.row).is_some() {
        return None;
    }
    reader.once(layout.tail.as_ref(), "tail").ok()?;
    reader.end(rows).ok()
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
    layout: &'t Layout,
    /// The tokens of the groups' sections.
    groups: BTreeSet<&'t str>,
}

impl<'t> Reader<'t> {
    /// The first two lines, and the default's token.
    fn begin(&mut self) -> Result<Option<&'t str>, ReadError> {
        let Some(comment) = &self.layout.comment else { return Ok(None) };
        let first = self.comment(comment)?;
        if !is_head(&format!("#{first}"), NAME) {
            return Err(self.error("not the first line of such a file"));
        }
        let before = self.rest;
        let default = self.comment(comment)?.strip_prefix(" default ");
        default.map(Some).ok_or_else(|| self.error_at(before, "the default is missing"))
    }

    /// The next line behind what begins a comment.
    fn comment(&mut self, comment: &str) -> Result<&'t str, ReadError> {
        let (line, rest) = self.rest.split_once('\n').ok_or_else(|| self.error("the file ends too early"))?;
        let said = line.strip_prefix(comment).ok_or_else(|| self.error("a comment is missing"))?;
        self.rest = rest;
        Ok(said)
    }

    fn once(&mut self, section: Option<&Pattern>, name: &str) -> Result<(), ReadError> {
        let Some(section) = section else { return Ok(()) };
        self.scan(section).map(|_| ()).ok_or_else(|| self.error(format!("not the template's `{name}`")))
    }

    fn groups(&mut self) {
        let layout = self.layout;
        while let Some(found) = layout.group.as_ref().and_then(|section| self.scan(section)) {
            self.groups.extend(value(&found, Field::Group));
            self.many(layout.address.as_ref());
        }
        self.many(layout.address.as_ref());
    }

    fn many(&mut self, section: Option<&Pattern>) {
        while section.and_then(|section| self.scan(section)).is_some() {}
    }

    fn rows(&mut self, collector: &mut Collector) -> Result<u64, ReadError> {
        let mut rows = 0;
        let named = self.layout.group.as_ref().is_some_and(|section| section.has(Field::Group));
        loop {
            let before = self.rest;
            let Some(found) = self.scan(&self.layout.row) else { return Ok(rows) };
            let (range, token) =
                row(&found).ok_or_else(|| self.error_at(before, "not the addresses of a row"))?;
            if named && !self.groups.contains(token) {
                return Err(self.error_at(before, format!("group {token} has no section")));
            }
            collector.push(None, range, token).map_err(|problem| self.error_at(before, problem))?;
            rows += 1;
        }
    }

    fn end(&mut self, rows: u64) -> Result<(), ReadError> {
        if let Some(comment) = &self.layout.comment {
            let before = self.rest;
            if self.comment(comment)? != format!(" end {rows}") {
                return Err(self.error_at(before, format!("it should end after {rows} rows")));
            }
        }
        if self.rest.is_empty() { Ok(()) } else { Err(self.error("this is no line of the template")) }
    }

    fn scan(&mut self, section: &Pattern) -> Option<Found<'t>> {
        let (found, rest) = section.scan(self.rest)?;
        self.rest = rest;
        Some(found)
    }

    fn error(&self, problem: impl AsRef<str>) -> ReadError {
        self.error_at(self.rest, problem)
    }

    fn error_at(&self, rest: &str, problem: impl AsRef<str>) -> ReadError {
        let behind = self.text.len().saturating_sub(rest.len());
        let line = self.text.get(..behind).unwrap_or_default().matches('\n').count() + 1;
        ReadError::new(format!("line {line}"), problem.as_ref())
    }
}

/// The addresses and the token of a row, if its fields agree with each other.
fn row<'t>(found: &Found<'t>) -> Option<(Range, &'t str)> {
    let token = value(found, Field::Group)?;
    let address = |field| match value(found, field) {
        Some(text) => text.parse::<IpAddr>().ok().filter(|a| a.to_string() == text).map(Some),
        None => Some(None),
    };
    let (first, last, network) = (address(Field::First)?, address(Field::Last)?, address(Field::Network)?);
    let joined = || Some(format!("{}/{}", value(found, Field::Network)?, value(found, Field::Length)?));
    let range = match value(found, Field::Prefix).map(str::to_owned).or_else(joined) {
        Some(prefix) => lines::prefix(&prefix).ok()?,
        None => Range::new(first?, last?).ok()?,
    };
    let length = u32::from(range.family().width()).checked_sub(range.span().count_ones())?;
    let number = |field, wanted: u32| value(found, field).is_none_or(|text| text == wanted.to_string());
    let agrees = first.is_none_or(|a| a == range.first())
        && last.is_none_or(|a| a == range.last())
        && network.is_none_or(|a| a == range.first())
        && number(Field::Length, length)
        && number(Field::Family, Family::number(range.family()).into());
    agrees.then_some((range, token))
}
