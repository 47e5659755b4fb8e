//! A template's file: TOML with the sections of the file that it makes.

use serde::Deserialize;
use thiserror::Error;

use super::escape::Escape;
use super::pattern::{Field, Pattern, Rules};
use crate::format::groups::Context;

/// Why a template is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// Not the TOML of a template. The text has line, column and caret.
    #[error("{0}")]
    Toml(String),
    /// A section is not as it should be.
    #[error("section `{section}`: {problem}")]
    Section {
        /// Which: `head`, `group`, `address`, `middle`, `default`, `row`, `tail` or `comment`.
        section: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// There is no shipped template of the name.
    #[error("no template `{name}`; there are: {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that are shipped.
        known: Vec<&'static str>,
    },
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    about: Option<String>,
    comment: Option<String>,
    #[serde(default)]
    escape: Escape,
    #[serde(default)]
    gaps: bool,
    head: Option<String>,
    group: Option<String>,
    address: Option<String>,
    middle: Option<String>,
    default: Option<String>,
    row: String,
    tail: Option<String>,
}

/// A template with the export's own values in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// One line on who reads the file.
    pub(super) about: String,
    /// What begins a comment line, where there are comments.
    pub(super) comment: Option<String>,
    /// Whether addresses in no row get rows with the default group.
    pub(super) gaps: bool,
    /// Once, at the beginning.
    pub(super) head: Option<Pattern>,
    /// For each group.
    pub(super) group: Option<Pattern>,
    /// For each address of a group, behind the group's own.
    pub(super) address: Option<Pattern>,
    /// Once, before the rows.
    pub(super) middle: Option<Pattern>,
    /// For each address of the default group, behind that.
    pub(super) default: Option<Pattern>,
    /// For each row.
    pub(super) row: Pattern,
    /// Once, at the end.
    pub(super) tail: Option<Pattern>,
}

const ONCE: &[Field] = &[Field::Default];
const GROUP: &[Field] = &[Field::Group, Field::Default, Field::Target];
const ADDRESS: &[Field] = &[Field::Group, Field::Default, Field::Target, Field::Address, Field::Type];
const ROW: &[Field] = &[
    Field::Prefix,
    Field::First,
    Field::Last,
    Field::Network,
    Field::Length,
    Field::Family,
    Field::Group,
    Field::Default,
    Field::Target,
    Field::Bas,
    Field::Pool,
    Field::Vrf,
];

impl Layout {
    /// Reads a template.
    pub(super) fn parse(text: &str, context: &Context) -> Result<Self, TemplateError> {
        let file: File = toml::from_str(text).map_err(|e| TemplateError::Toml(e.to_string()))?;
        let constants = [
            ("name", context.name.as_ref().map(ToString::to_string)),
            ("ttl", context.ttl.as_ref().map(ToString::to_string)),
            ("nameserver", context.nameservers.first().map(ToString::to_string)),
        ];
        let pattern = |section, text: &str, allowed| {
            let rules = Rules { allowed, constants: &constants, escape: file.escape };
            Pattern::parse(text, &rules).map_err(|problem| TemplateError::Section { section, problem })
        };
        let some = |section, text: &Option<String>, allowed| {
            text.as_deref().map(|text| pattern(section, text, allowed)).transpose()
        };
        let layout = Self {
            head: some("head", &file.head, ONCE)?,
            group: some("group", &file.group, GROUP)?,
            address: some("address", &file.address, ADDRESS)?,
            middle: some("middle", &file.middle, ONCE)?,
            default: some("default", &file.default, ADDRESS)?,
            row: pattern("row", &file.row, ROW)?,
            tail: some("tail", &file.tail, ONCE)?,
            about: file.about.unwrap_or_else(|| "lines of your own".to_owned()),
            comment: file.comment,
            gaps: file.gaps,
        };
        layout.check()?;
        Ok(layout)
    }

    /// A row must say of itself what it is.
    fn check(&self) -> Result<(), TemplateError> {
        let refuse =
            |section, problem: &str| Err(TemplateError::Section { section, problem: problem.to_owned() });
        let has = |list: &[Field]| list.iter().all(|field| self.row.has(*field));
        let addresses =
            [&[Field::Prefix][..], &[Field::First, Field::Last], &[Field::Network, Field::Length]];
        if !addresses.into_iter().any(has) {
            return refuse(
                "row",
                "needs `{prefix}`, or `{first}` and `{last}`, or `{network}` and `{length}`",
            );
        }
        if !self.row.has(Field::Group) {
            return refuse("row", "needs `{group}`");
        }
        if self.gaps && self.comment.is_none() {
            return refuse(
                "comment",
                "must be there with `gaps`: a comment tells our reader the default group",
            );
        }
        let blank = |text: &str| text.trim().is_empty() || text.contains(char::is_control);
        if self.comment.as_deref().is_some_and(blank) {
            return refuse(
                "comment",
                "is what begins a comment line, as \"#\"; leave it out where there are none",
            );
        }
        Ok(())
    }

    /// Whether a row is one prefix, and not all of a stretch of addresses.
    pub(super) fn by_prefix(&self) -> bool {
        [Field::Prefix, Field::Network, Field::Length].iter().any(|field| self.row.has(*field))
    }
}
