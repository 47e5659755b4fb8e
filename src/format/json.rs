//! `json`: the whole generation as one document.
//!
//! `session, generation, default_edge, default_group, groups[{token,edges[{name,weight}]}],
//! entries[...]`; one group or entry a line, so that two files can be compared with `diff`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use memchr::memmem;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::entry_json::{self, EntryIn};
use super::readback::Collector;
use super::rest::Rest;
use super::{Carries, Format, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View};
use crate::table::{GroupEdge, Token};

/// See the module.
#[derive(Debug)]
pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "everything as one JSON document, for programs of your own"
    }

    fn carries(&self) -> Carries {
        Carries::Weights
    }

    fn spaces(&self) -> Spaces {
        Spaces::Named
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        let head = format!("{{\"session\":\"{}\",\"generation\":{},\n", stamp.session, stamp.generation);
        let mut body = Vec::new();
        body.extend_from_slice(b"\"default_edge\":");
        entry_json::json(&mut body, view.default_edge())?;
        body.extend_from_slice(b",\"default_group\":");
        entry_json::json(&mut body, &view.default_group().token)?;
        body.extend_from_slice(b",\n\"groups\":");
        array(&mut body, view.groups(), |out, group| {
            entry_json::json(out, &GroupOut { token: &group.token, edges: &group.edges })
        })?;
        body.extend_from_slice(b",\n\"entries\":");
        array(&mut body, view.rows().iter(), entry_json::write)?;
        body.extend_from_slice(b"}\n");
        Ok(Rendered { head: head.into_bytes(), body, tail: vec![], rows: view.rows().len() as u64 })
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        proves(file, view)
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        let document: Document<'_> = serde_json::from_slice(file).map_err(json_error)?;
        document.check().map_err(|problem| ReadError::new("document", problem))
    }
}

/// Whether the file says what the view says, line by line. See [`Format::proves`].
fn proves(file: &[u8], view: &View<'_>) -> Option<()> {
    const ENTRIES: &str = "\n\"entries\":[";
    let (head, rest) = file.split_at_checked(memmem::find(file, ENTRIES.as_bytes())?)?;
    // All that stands before the entries, as a document without any.
    let small = [head, ENTRIES.as_bytes(), b"]}"].concat();
    let document: Document<'_> = serde_json::from_slice(&small).ok()?;
    let listed: HashSet<String> = document.groups.iter().map(|group| group.token.clone()).collect();
    let read = document.check().ok()?;
    let same = read.default() == Some(&view.default_group().token)
        && view.groups().all(|group| listed.contains(group.token.as_str()));
    same.then_some(())?;
    let mut rest = Rest(rest);
    rest.text(ENTRIES)?;
    for (number, row) in view.rows().iter().enumerate() {
        rest.text(if number == 0 { "\n" } else { ",\n" })?;
        entry_json::says(&mut rest, row)?;
    }
    rest.text("\n]}\n")?;
    rest.is_empty().then_some(())
}

/// Where and why a JSON text was refused.
pub(super) fn json_error(error: serde_json::Error) -> ReadError {
    let place = format!("line {} column {}", error.line(), error.column());
    let text = error.to_string();
    let problem = text.strip_suffix(&format!(" at {place}")).unwrap_or(&text);
    ReadError::new(place, problem)
}

/// Appends an array with each element on a line of its own.
pub(super) fn array<T>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut Vec<u8>, T) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        write(out, item)?;
    }
    out.extend_from_slice(b"\n]");
    Ok(())
}

#[derive(Serialize)]
struct GroupOut<'a> {
    token: &'a Token,
    edges: &'a [GroupEdge],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(rename = "generation")]
    _generation: u64,
    #[serde(borrow)]
    default_edge: Cow<'a, str>,
    #[serde(borrow)]
    default_group: Cow<'a, str>,
    groups: Vec<GroupIn>,
    entries: Entries,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupIn {
    token: String,
    edges: Vec<EdgeIn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeIn {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "weight")]
    _weight: u32,
}

impl Document<'_> {
    /// The rows, if the document's parts agree with each other.
    fn check(self) -> Result<ReadBack, String> {
        if self.session.len() != 16 || !self.session.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err("session is not 16 hex digits".to_owned());
        }
        if self.default_edge.is_empty() {
            return Err("default_edge is empty".to_owned());
        }
        let mut tokens = HashSet::new();
        for group in &self.groups {
            if group.edges.is_empty() {
                return Err(format!("group {} has no edges", group.token.escape_debug()));
            }
            if !tokens.insert(group.token.as_str()) {
                return Err(format!("group {} is there twice", group.token.escape_debug()));
            }
        }
        let mut collector = self.entries.0;
        let default = collector.token(&self.default_group)?;
        let read = collector.finish(Some(default));
        if let Some(token) = read.tokens().find(|token| !tokens.contains(token.as_str())) {
            return Err(format!("group {token} is not listed"));
        }
        Ok(read)
    }
}

/// The entries, taken up one by one: a million of them never stand in memory twice.
struct Entries(Collector);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of entries")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Entries, A::Error> {
                let mut collector = Collector::default();
                while let Some(entry) = entries.next_element::<EntryIn<'de>>()? {
                    entry.collect(&mut collector).map_err(de::Error::custom)?;
                }
                Ok(Entries(collector))
            }
        }
        deserializer.deserialize_seq(Each)
    }
}
