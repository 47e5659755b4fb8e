//! `czf` and `czf-deep`: the coverage zone files of Apache Traffic Control's Traffic Router.
//!
//! A zone is named as its group, so cache groups (or, in the deep file, locations) must have
//! the groups' names. `network` and `network6` are both there, also empty ones: Traffic
//! Router warns of a missing one. Touching prefixes of a group are joined, for Traffic
//! Router compares each with all before it. Zones without addresses are left out: their
//! names may be of nothing there. A deep zone lists its edges by name, which are the host
//! names of the caches in Traffic Ops.
//!
//! `revision` is session and generation. A line a zone, so that two files can be compared.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::groups::answering;
use super::json::json_error;
use super::lines::{prefix, push};
use super::parts::Parts;
use super::readback::Collector;
use super::rest::{Addresses, Rest};
use super::text::push_prefix;
use super::{
    Carries, Format, Limit, Limits, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View,
    by_group, one_space,
};
use crate::address::{Family, Range, prefixes};
use crate::table::Token;

/// The coverage zone file.
pub(super) const CZF: Czf =
    Czf { name: "czf", about: "a coverage zone file of Traffic Control", key: "coverageZones", deep: false };

/// The deep coverage zone file.
pub(super) const CZF_DEEP: Czf = Czf {
    name: "czf-deep",
    about: "a deep coverage zone file of Traffic Control",
    key: "deepCoverageZones",
    deep: true,
};

const CUSTOMER: &str = "poolsync";

/// See the module.
#[derive(Debug)]
pub(super) struct Czf {
    name: &'static str,
    about: &'static str,
    key: &'static str,
    /// Whether zones list caches.
    deep: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Zone<'a> {
    #[serde(borrow)]
    network: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    network6: Vec<Cow<'a, str>>,
    caches: Option<Vec<String>>,
}

impl Format for Czf {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn carries(&self) -> Carries {
        if self.deep { Carries::Order } else { Carries::Tokens }
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        one_space(self.name, view)?;
        let head = format!(
            "{{\"revision\":\"{}-{}\",\"customerName\":\"{CUSTOMER}\",\n",
            stamp.session, stamp.generation
        );
        let mut body = String::with_capacity(view.rows().len() * 24 + 128);
        push(&mut body, format_args!("\"{}\":{{", self.key));
        let (mut rows, mut first) = (0, true);
        for (token, ranges) in by_group(view).into_iter().filter(|(_, ranges)| !ranges.is_empty()) {
            body.push_str(if first { "\n" } else { ",\n" });
            first = false;
            body.push_str(&text(token)?);
            body.push(':');
            rows += self.zone(&mut body, view, token, &ranges)?;
        }
        body.push_str("\n}}\n");
        Ok(Rendered { head: head.into_bytes(), body: body.into_bytes(), tail: vec![], rows })
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        self.agrees(file, view)
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        let document: Document<'_> = serde_json::from_slice(file).map_err(json_error)?;
        document.check(self).map_err(|problem| ReadError::new("document", problem))
    }

    fn limits(&self) -> Limits {
        let rows = Limit {
            most: 50_000,
            above: "Traffic Router takes long to load it: it compares each prefix with all before it",
        };
        Limits { rows: Some(rows), ..Limits::NONE }
    }
}

impl Czf {
    /// Whether the file says what the view says: each answer is looked for where the list of its
    /// group and family goes on. See [`Format::proves`].
    fn agrees(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        let mut rest = Rest(file);
        let line = str::from_utf8(rest.line()?).ok()?;
        let revision =
            line.strip_prefix("{\"revision\":\"")?.strip_suffix("\",\"customerName\":\"poolsync\",")?;
        if !is_revision(revision) {
            return None;
        }
        rest.text("\"")?;
        rest.text(self.key)?;
        rest.text("\":{\n")?;
        let mut lists = Parts::new();
        let mut before: Option<&str> = None;
        let mut more = true;
        while rest.0.starts_with(b"\"") && more {
            let (token, own, is_last) = self.line(rest.line()?)?;
            if before.is_some_and(|before| before >= token) || own.iter().all(|list| list.is_empty()) {
                return None;
            }
            lists.add(token, own)?;
            (before, more) = (Some(token), !is_last);
        }
        rest.text("}}\n")?;
        for answer in view.answers() {
            let [v4, v6] = lists.of(answer.token)?;
            let list = if answer.range.family() == Family::V4 { v4 } else { v6 };
            list.rows(answer.range, member)?;
        }
        let ended = before.is_none() || !more;
        (ended && rest.is_empty() && lists.are_done()).then_some(())
    }

    /// A zone's token and lists, and whether no other zone is to follow.
    fn line<'f>(&self, line: &'f [u8]) -> Option<(&'f str, [&'f [u8]; 2], bool)> {
        fn until<'f>(rest: &mut Rest<'f>, end: &str) -> Option<&'f [u8]> {
            let (own, behind) = rest.0.split_at_checked(memmem::find(rest.0, end.as_bytes())?)?;
            *rest = Rest(behind);
            rest.text(end)?;
            Some(own)
        }
        let mut rest = Rest(line);
        rest.text("\"")?;
        let token = str::from_utf8(until(&mut rest, "\":{\"network\":[")?).ok()?;
        Token::new(token)?;
        let v4 = until(&mut rest, "],\"network6\":[")?;
        let v6 = until(&mut rest, "]")?;
        if self.deep {
            rest.text(",\"caches\":")?;
            let end = memchr::memrchr(b'}', rest.0)?;
            let (names, behind) = rest.0.split_at_checked(end)?;
            let names: Vec<String> = serde_json::from_slice(names).ok()?;
            if !are_names(&names) {
                return None;
            }
            rest = Rest(behind);
        }
        rest.text("}")?;
        let is_last = rest.is_empty();
        (is_last || rest.0 == b",").then_some((token, [v4, v6], is_last))
    }

    /// Appends a zone, and says how many prefixes it has.
    fn zone(
        &self,
        body: &mut String,
        view: &View<'_>,
        token: &Token,
        ranges: &[Range],
    ) -> Result<u64, RenderError> {
        let split = ranges.partition_point(|range| range.family() == Family::V4);
        let (v4, v6) = ranges.split_at(split);
        body.push_str("{\"network\":");
        let mut rows = push_list(body, v4);
        body.push_str(",\"network6\":");
        rows += push_list(body, v6);
        if let Some(group) = view.groups().find(|group| group.token == *token).filter(|_| self.deep) {
            let names: Vec<&str> = answering(view, group).iter().map(|edge| edge.name.as_str()).collect();
            push(body, format_args!(",\"caches\":{}", text(&names)?));
        }
        body.push('}');
        Ok(rows)
    }
}

/// The next prefix of a list, which does not end behind a comma.
#[inline]
fn member(list: &mut Rest<'_>) -> Option<Addresses> {
    list.text("\"")?;
    let addresses = list.prefix()?;
    list.text("\"")?;
    if !list.is_empty() {
        list.text(",")?;
        return Some(addresses).filter(|_| !list.is_empty());
    }
    Some(addresses)
}

/// Session and generation.
fn is_revision(text: &str) -> bool {
    text.split_once('-').is_some_and(|(session, generation)| {
        let hex = session.len() == 16 && session.bytes().all(|b| b.is_ascii_hexdigit());
        hex && generation.parse::<u64>().is_ok()
    })
}

/// Whether there are names, none of them empty.
fn are_names(list: &[String]) -> bool {
    !list.is_empty() && !list.iter().any(String::is_empty)
}

/// Appends the prefixes of ranges as a list, and says how many they are.
fn push_list(body: &mut String, ranges: &[Range]) -> u64 {
    let mut rows = 0;
    body.push('[');
    for prefix in ranges.iter().copied().flat_map(prefixes) {
        body.push_str(if rows == 0 { "\"" } else { ",\"" });
        push_prefix(body, prefix);
        body.push('"');
        rows += 1;
    }
    body.push(']');
    rows
}

/// A value as JSON.
fn text<T: Serialize>(value: &T) -> Result<String, RenderError> {
    serde_json::to_string(value).map_err(|e| RenderError::Encoding(e.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(borrow)]
    revision: Cow<'a, str>,
    #[serde(borrow, rename = "customerName")]
    customer: Cow<'a, str>,
    #[serde(borrow, rename = "coverageZones")]
    zones: Option<Zones<'a>>,
    #[serde(borrow, rename = "deepCoverageZones")]
    deep: Option<Zones<'a>>,
}

impl Document<'_> {
    fn check(self, format: &Czf) -> Result<ReadBack, String> {
        if !is_revision(&self.revision) || self.customer != CUSTOMER {
            return Err("revision or customerName is not of ours".to_owned());
        }
        let zones = match (self.zones, self.deep, format.deep) {
            (Some(zones), None, false) | (None, Some(zones), true) => zones.0,
            _ => return Err(format!("not the zones of a {} file", format.name)),
        };
        let mut collector = Collector::default();
        let mut rows = Vec::new();
        for (name, zone) in &zones {
            let token = Token::new(name).ok_or_else(|| format!("`{}` is no token", name.escape_debug()))?;
            let caches = zone.caches.as_deref().map(are_names);
            if caches != format.deep.then_some(true) {
                return Err(format!("{token}: caches are not as they should be"));
            }
            zone.collect(&token, &mut rows)?;
        }
        collector.push_all(rows)?;
        Ok(collector.finish(None))
    }
}

impl Zone<'_> {
    fn collect(&self, token: &Token, rows: &mut Vec<(Range, Token)>) -> Result<(), String> {
        let before = rows.len();
        for (family, list) in [(Family::V4, &self.network), (Family::V6, &self.network6)] {
            for text in list {
                let range = prefix(text)?;
                if range.family() != family {
                    return Err(format!("{token}: {text} stands among the other family's"));
                }
                rows.push((range, token.clone()));
            }
        }
        if rows.len() == before { Err(format!("{token}: a zone of nothing")) } else { Ok(()) }
    }
}

/// The zones in the order of the file; none is there twice.
struct Zones<'a>(Vec<(Cow<'a, str>, Zone<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Zones<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Zones<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("zones by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Zones<'de>, A::Error> {
                let mut zones: Vec<(Cow<'de, str>, Zone<'de>)> = Vec::new();
                while let Some((name, zone)) = map.next_entry::<Cow<'de, str>, Zone<'de>>()? {
                    if zones.last().is_some_and(|last| last.0 >= name) {
                        return Err(de::Error::custom("a zone is not behind the one before"));
                    }
                    zones.push((name, zone));
                }
                Ok(Zones(zones))
            }
        }
        deserializer.deserialize_map(Each)
    }
}
