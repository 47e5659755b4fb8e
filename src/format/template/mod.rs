//! `template`: lines of the operator's own, for consumers that no other format is for.
//!
//! ```toml
//! comment = "#"             # what begins a comment line; none: no comments, and no end mark
//! escape = "word"           # how names (bas, pool, vrf) are written: word, json, lua, csv
//! gaps = false              # rows with the default group for addresses in no row
//! head = "..."              # once: {default}; anywhere: {name}, {ttl}, {nameserver}
//! group = "..."             # for each group: {group}, {target}
//! address = "..."           # for each address of a group, behind it: {address}, {type}
//! middle = "..."            # once, before the rows
//! default = "..."           # for each address of the default group, behind that
//! row = "{prefix} {group}"  # for each row: {prefix}, {first}, {last}, {network}, {length},
//!                           # {family}, {group}, {target}, {bas}, {pool}, {vrf}
//! tail = "..."              # once
//! ```
//!
//! Every section is whole lines, and only `row` must be there. `{{` and `}}` are braces. A
//! row of `{first}` and `{last}` alone is a stretch of addresses, any other a prefix. Where
//! a row names BAS, pool or VRF, touching rows of one group stay apart.
//!
//! What comes out can be read back with the same template: the reader knows every line, and
//! a template whose fields it could not tell apart is refused. Templates for Unbound,
//! dnsdist, PowerDNS and F5 are built in.

mod escape;
mod layout;
mod pattern;
mod read;
mod write;

use std::sync::LazyLock;

pub use layout::TemplateError;

use super::groups::Context;
use super::{
    Carries, Format, Limit, Limits, ReadBack, ReadError, RenderError, Rendered, Spaces, Stamp, View,
};
use layout::Layout;

const NAME: &str = "template";

/// The templates that are built in, by name.
const SHIPPED: [(&str, &str); 5] = [
    ("dnsdist", include_str!("../../../config/consumers/dnsdist/template.toml")),
    ("f5-topology", include_str!("../../../config/consumers/f5/template.toml")),
    ("pdns-yaml", include_str!("../../../config/consumers/pdns/template.toml")),
    ("plain", PLAIN_TEXT),
    ("unbound", include_str!("../../../config/consumers/unbound/template.toml")),
];

const PLAIN_TEXT: &str = r##"comment = "#"
row = "{prefix} {group}"
"##;

/// A template, with the domain name and time to live of its export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    layout: Layout,
}

impl Template {
    /// Reads a template's TOML; see the format's documentation.
    ///
    /// # Errors
    /// What is wrong with it, with its place.
    pub fn parse(text: &str, context: &Context) -> Result<Self, TemplateError> {
        Ok(Self { layout: Layout::parse(text, context)? })
    }

    /// A template that is built in.
    ///
    /// # Errors
    /// Where there is none of the name, or the context lacks what it needs.
    pub fn shipped(name: &str, context: &Context) -> Result<Self, TemplateError> {
        Self::parse(Self::text(name)?, context)
    }

    /// The TOML of a template that is built in.
    ///
    /// # Errors
    /// Where there is none of the name.
    pub fn text(name: &str) -> Result<&'static str, TemplateError> {
        let found = SHIPPED.iter().find(|(known, _)| *known == name);
        let unknown = || TemplateError::Unknown { name: name.to_owned(), known: Self::names().collect() };
        found.map(|(_, text)| *text).ok_or_else(unknown)
    }

    /// The names of those that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        SHIPPED.iter().map(|(name, _)| *name)
    }
}

impl Format for Template {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "lines of your own, by a template"
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn carries(&self) -> Carries {
        Carries::First
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        write::render(&self.layout, view, stamp)
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        read::proves(&self.layout, file, view)
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        read::read(&self.layout, file)
    }

    fn limits(&self) -> Limits {
        let gaps =
            Limit { most: 1_000_000, above: "filled gaps make the file many times larger than the table" };
        Limits { rows: self.layout.gaps.then_some(gaps), ..Limits::NONE }
    }
}

/// The template that there is without one: prefix and group a line.
#[derive(Debug)]
pub(super) struct Plain;

static PLAIN: LazyLock<Template> = LazyLock::new(|| {
    Template::parse(PLAIN_TEXT, &Context::default()).expect("the plain template is one: a test reads it")
});

impl Format for Plain {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        PLAIN.about()
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn carries(&self) -> Carries {
        Carries::First
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        PLAIN.render(view, stamp)
    }

    fn proves(&self, file: &[u8], view: &View<'_>) -> Option<()> {
        PLAIN.proves(file, view)
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        PLAIN.read(file)
    }
}
