//! One row as a JSON object: the shape that `json` and `ndjson` share.

use std::borrow::Cow;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize, Serializer};

use super::readback::Collector;
use super::rest::{Addresses, Rest};
use super::{RenderError, Row};
use crate::address::{Family, Range, prefixes};
use crate::table::Origin;

#[derive(Serialize)]
struct EntryOut<'a> {
    space: &'a str,
    family: u8,
    first: IpAddr,
    last: IpAddr,
    prefixes: PrefixesOut,
    bas: Option<&'a str>,
    pool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pool_hex: Option<String>,
    vrf: &'a str,
    group: &'a str,
    origin: Origin,
}

struct PrefixesOut(Range);

impl Serialize for PrefixesOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(prefixes(self.0))
    }
}

/// Appends the row as one line without its end.
pub(super) fn write(out: &mut Vec<u8>, row: &Row<'_>) -> Result<(), RenderError> {
    let entry = row.entry;
    let value = EntryOut {
        space: &entry.space,
        family: entry.range.family().number(),
        first: entry.range.first(),
        last: entry.range.last(),
        prefixes: PrefixesOut(entry.range),
        bas: entry.bas.as_deref(),
        pool: entry.pool.text(),
        pool_hex: entry.pool.hex(),
        vrf: &entry.vrf,
        group: row.group.token.as_str(),
        origin: entry.origin(),
    };
    json(out, &value)
}

/// Appends a value as JSON.
pub(super) fn json<T: Serialize>(out: &mut Vec<u8>, value: &T) -> Result<(), RenderError> {
    serde_json::to_writer(out, value).map_err(|e| RenderError::Encoding(e.to_string()))
}

/// Takes the object of a row, where it says what the row says: names by their text, or, where
/// one is not written as it is, as any reader of JSON has the line.
pub(super) fn says(rest: &mut Rest<'_>, row: &Row<'_>) -> Option<()> {
    let before = *rest;
    plainly(rest, row).or_else(|| {
        let end = memchr::memchr(b'\n', before.0).unwrap_or(before.0.len());
        let line = before.0.get(..end)?;
        let object = line.strip_suffix(b",").unwrap_or(line);
        *rest = Rest(before.0.get(object.len()..)?);
        serde_json::from_slice::<EntryIn<'_>>(object).ok()?.is(row)
    })
}

fn plainly(rest: &mut Rest<'_>, row: &Row<'_>) -> Option<()> {
    let (entry, range) = (row.entry, row.entry.range);
    rest.text("{\"space\":")?;
    string(rest, &entry.space)?;
    rest.text(if range.family() == Family::V4 { ",\"family\":4" } else { ",\"family\":6" })?;
    rest.text(",\"first\":\"")?;
    (rest.ends("\",\"last\":\"")? == Addresses::from(range)).then_some(())?;
    rest.text("\",\"prefixes\":[\"")?;
    for (number, prefix) in prefixes(range).enumerate() {
        rest.text(if number == 0 { "" } else { "\",\"" })?;
        (rest.prefix()? == Addresses::from(Range::from(prefix))).then_some(())?;
    }
    rest.text("\"],\"bas\":")?;
    match &entry.bas {
        Some(bas) => string(rest, bas)?,
        None => rest.text("null")?,
    }
    rest.text(",\"pool\":")?;
    string(rest, entry.pool.text())?;
    if entry.pool.hex().is_some() {
        return None;
    }
    rest.text(",\"vrf\":")?;
    string(rest, &entry.vrf)?;
    rest.text(",\"group\":")?;
    string(rest, row.group.token.as_str())?;
    rest.text(match entry.origin() {
        Origin::Polled => ",\"origin\":\"polled\"}",
        Origin::Static => ",\"origin\":\"static\"}",
    })
}

/// Takes a string of characters that stand for themselves.
#[inline]
fn string(rest: &mut Rest<'_>, wanted: &str) -> Option<()> {
    let plain = wanted.bytes().all(|octet| matches!(octet, b' '..=b'~') && !matches!(octet, b'"' | b'\\'));
    plain.then_some(())?;
    rest.text("\"")?;
    rest.text(wanted)?;
    rest.text("\"")
}

/// A row as read. What the table does not need is read for its shape alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryIn<'a> {
    #[serde(borrow)]
    space: Cow<'a, str>,
    family: u8,
    first: IpAddr,
    last: IpAddr,
    prefixes: Vec<IpNet>,
    #[serde(rename = "bas")]
    _bas: Option<String>,
    #[serde(rename = "pool")]
    _pool: String,
    #[serde(default, rename = "pool_hex")]
    _pool_hex: Option<String>,
    #[serde(rename = "vrf")]
    _vrf: String,
    #[serde(borrow)]
    group: Cow<'a, str>,
    #[serde(rename = "origin")]
    _origin: OriginIn,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OriginIn {
    Polled,
    Static,
}

impl EntryIn<'_> {
    /// Whether it says what a row says.
    fn is(&self, row: &Row<'_>) -> Option<()> {
        let range = self.range().ok()?;
        let same = range == row.entry.range && *self.space == *row.entry.space;
        (same && self.group == row.group.token.as_str()).then_some(())
    }

    /// Its addresses, if its parts agree with each other.
    fn range(&self) -> Result<Range, String> {
        let range = Range::new(self.first, self.last).map_err(|e| e.to_string())?;
        if range.family().number() != self.family {
            return Err(format!("{range} is not of family {}", self.family));
        }
        if !self.prefixes.iter().copied().eq(prefixes(range)) {
            return Err(format!("the prefixes of {range} are not these"));
        }
        Ok(range)
    }

    /// Hands the row to the collector, if its parts agree with each other.
    pub(super) fn collect(&self, collector: &mut Collector) -> Result<(), String> {
        let range = self.range()?;
        collector.push(Some(&self.space), range, &self.group)
    }
}
