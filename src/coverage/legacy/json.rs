//! Exports of poolsync as JSON and NDJSON: an entry names its BAS, or has a group.

use std::borrow::Cow;
use std::net::IpAddr;

use serde::Deserialize;

use super::collect::Collector;
use super::remark::RemarkKind;
use super::{LegacyError, LegacyRow};
use crate::address::Range;
use crate::coverage::Target;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    default_group: Option<Cow<'a, str>>,
    #[serde(borrow)]
    entries: Vec<Entry<'a>>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    space: Option<Cow<'a, str>>,
    #[serde(borrow)]
    first: Cow<'a, str>,
    #[serde(borrow)]
    last: Cow<'a, str>,
    #[serde(borrow)]
    bas: Option<Cow<'a, str>>,
    #[serde(borrow)]
    group: Option<Cow<'a, str>>,
}

pub(super) fn document(text: &str, out: &mut Collector) -> Result<(), LegacyError> {
    let document: Document<'_> = serde_json::from_str(text).map_err(|e| broken(&e))?;
    out.default = document.default_group.map(|token| out.named(&token));
    document.entries.iter().for_each(|entry| take(entry, 0, out));
    Ok(())
}

pub(super) fn lines(text: &str, out: &mut Collector) {
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at as u64 + 1;
        match serde_json::from_str::<Entry<'_>>(line) {
            Ok(entry) => take(&entry, number, out),
            Err(e) => out.remark(number, RemarkKind::Syntax, &format!("is no entry: {e}"), line),
        }
    }
}

/// Where and why a JSON text was refused.
pub(super) fn broken(error: &serde_json::Error) -> LegacyError {
    let place = format!("line {} column {}", error.line(), error.column());
    let text = error.to_string();
    let problem = text.strip_suffix(&format!(" at {place}")).unwrap_or(&text).to_owned();
    LegacyError::Broken { place, problem }
}

fn take(entry: &Entry<'_>, line: u64, out: &mut Collector) {
    let ends = entry.first.parse::<IpAddr>().ok().zip(entry.last.parse::<IpAddr>().ok());
    let Some(range) = ends.and_then(|(first, last)| Range::new(first, last).ok()) else {
        let text = format!("{} {}", entry.first, entry.last);
        return out.remark(line, RemarkKind::NotARange, "its ends are no range", &text);
    };
    let target = match (&entry.bas, &entry.group) {
        (Some(bas), _) => Target::Bas(out.name(bas)),
        (None, Some(group)) => out.named(group),
        (None, None) => return out.remark(line, RemarkKind::NoTarget, "has neither BAS nor group", ""),
    };
    let space = entry.space.as_ref().map(|space| out.name(space));
    out.take(LegacyRow { range, space, target, line });
}
