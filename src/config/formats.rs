//! Formats, as the configuration names them.

use std::path::PathBuf;

use super::context::Context;
use super::error::Problem;
use super::node::{Node, Value};
use super::section::Section;
use super::value::{choice, file, wrong_kind};
use super::words;
use crate::format::{self, groups};

/// A format of tables. Equal by name.
#[derive(Clone, Copy, Debug)]
pub struct Format(pub &'static dyn format::Format);

/// A format of groups. Equal by name.
#[derive(Clone, Copy, Debug)]
pub struct GroupsFormat(pub &'static dyn groups::GroupsFormat);

impl Format {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        self.0.name()
    }
}

impl GroupsFormat {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        self.0.name()
    }

    /// Whether it holds the domain name that is answered for.
    pub(super) fn needs_domain(self) -> bool {
        matches!(self.as_str(), "knot" | "pdns")
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Format {}

impl PartialEq for GroupsFormat {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for GroupsFormat {}

/// Reads a format of tables.
pub(super) fn table_format(cx: &mut Context, node: &Node) -> Option<Format> {
    let choices: Vec<(&str, Format)> = format::formats().iter().map(|f| (f.name(), Format(*f))).collect();
    choice(cx, node, &choices)
}

/// Reads a format of groups.
pub(super) fn groups_format(cx: &mut Context, node: &Node) -> Option<GroupsFormat> {
    let choices: Vec<(&str, GroupsFormat)> =
        groups::groups_formats().iter().map(|f| (f.name(), GroupsFormat(*f))).collect();
    choice(cx, node, &choices)
}

/// Where the lines of `format = "template"` come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateSource {
    /// A template that is built in, by its name.
    Shipped(&'static str),
    /// A file of one.
    File(PathBuf),
}

impl TemplateSource {
    /// The keys of `template`, where it is a table.
    pub(super) const KEYS: &'static [&'static str] = &["file"];

    /// Reads a name, or `{ file = "..." }`.
    pub(super) fn read(cx: &mut Context, node: &Node) -> Option<Self> {
        match &node.value {
            Value::Text(name) => {
                let known = format::Template::names().find(|known| known == name);
                if known.is_none() {
                    let problem =
                        Problem::new(node.place, format!("there is no template `{}`", name.escape_debug()));
                    cx.wrong(problem.help(words::expected_near(name, format::Template::names())));
                }
                known.map(Self::Shipped)
            }
            Value::Table(_) => {
                let section = Section::open(cx, node, "`template`", Self::KEYS)?;
                section.required(cx, "file", file).map(Self::File)
            }
            _ => wrong_kind(cx, node, "the name of a template, as \"unbound\", or { file = \"my.toml\" }"),
        }
    }
}
