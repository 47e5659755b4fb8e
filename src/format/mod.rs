//! Formats: a generation as the bytes that a consumer reads, and our own strict readers of
//! them.
//!
//! Pure: bytes out, bytes in. A [`View`] is a generation as one export sees it; a
//! [`Format`] renders it and reads it back, so that publishing can prove a file before
//! anybody else sees it. [`formats`] is the one list that the command line, publishing and
//! the golden tests go by. What a consumer needs to know of a group (addresses, host
//! names, weights) is in a second, small file: [`groups`].
//!
//! A file has two parts. The *body* depends on the rows and groups alone; head and tail say
//! which generation it was made from. Two files with the same body are the same to a
//! consumer, and the older one is left in place.

mod bind_acl;
mod carried;
mod csv;
mod czf;
mod differences;
mod entry_json;
pub mod groups;
mod json;
mod known;
mod leading;
mod limits;
mod lines;
mod mmdb;
mod ndjson;
mod parts;
mod prove;
mod readback;
mod rest;
mod template;
mod text;
mod view;

use std::collections::BTreeMap;
use std::fmt;
use std::mem::take;

use thiserror::Error;

pub use differences::{Difference, differences, differences_of};
pub use limits::{Limit, Limits, Warning};
pub use mmdb::Duplicate;
pub use prove::Unproven;
pub use readback::{Mismatch, ReadBack, ReadError, ReadRow};
pub use template::{Template, TemplateError};
pub use view::{Answer, Row, Scope, Stamp, View, ViewError, default_group, groups_of};

use crate::address::Range;
use crate::table::{Name, Token};
use known::Known;

/// Whether a format can tell spaces apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spaces {
    /// Rows name their space: one file may hold them all.
    Named,
    /// Rows are addresses only: a file is of one space.
    One,
}

/// A file in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// What stands before the body and names the generation.
    pub head: Vec<u8>,
    /// What depends on rows and groups alone.
    pub body: Vec<u8>,
    /// What stands behind the body and names the generation.
    pub tail: Vec<u8>,
    /// How many rows the body has: entries, or prefixes in formats made of these.
    pub rows: u64,
}

impl Rendered {
    /// The pieces in the order of the file.
    pub fn pieces(&self) -> [&[u8]; 3] {
        [&self.head, &self.body, &self.tail]
    }

    /// The whole file.
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces().concat()
    }
}

/// Why a view cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RenderError {
    /// Rows of several spaces, in a format that cannot tell them apart.
    #[error("format {format} holds one space, the rows are of {first} and {second}")]
    ManySpaces {
        /// The format.
        format: &'static str,
        /// One space.
        first: Name,
        /// Another.
        second: Name,
    },
    /// The table does not fit into the format's numbers.
    #[error("{nodes} nodes and {data} octets of data do not fit into an MMDB")]
    TooLarge {
        /// Nodes of the search tree.
        nodes: usize,
        /// Octets of the data section.
        data: usize,
    },
    /// More groups than the consumer can hold.
    #[error("format {format} holds {most} groups, the table has {found}")]
    TooManyGroups {
        /// The format.
        format: &'static str,
        /// How many the consumer can hold.
        most: u64,
        /// How many there are.
        found: u64,
    },
    /// Two tokens that the consumer would take for one.
    #[error("groups {first} and {second} differ in case only, which {format} does not see")]
    CaseClash {
        /// The format.
        format: &'static str,
        /// One token.
        first: Token,
        /// The other.
        second: Token,
    },
    /// One prefix stands for two records.
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    /// A value could not be encoded.
    #[error("cannot encode: {0}")]
    Encoding(String),
}

/// What a file says of the edges behind a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Nothing: it names the group.
    Tokens,
    /// The first edge, or all that are as good.
    First,
    /// The edges in order.
    Order,
    /// The edges in order, and their weights.
    Weights,
}

/// One file format for tables.
pub trait Format: fmt::Debug + Sync {
    /// Its name in the configuration and on the command line.
    fn name(&self) -> &'static str;

    /// One line on who reads it.
    fn about(&self) -> &'static str;

    /// Whether one file may hold several spaces.
    fn spaces(&self) -> Spaces;

    /// The view as a file of this format. Deterministic; the body does not depend on the
    /// stamp.
    ///
    /// # Errors
    /// Where the view holds what the format cannot say.
    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError>;

    /// What a file of this format says. Strict: whatever [`Format::render`] would not have
    /// written is refused, so that a file cut short or altered cannot pass.
    ///
    /// # Errors
    /// The first thing that is wrong.
    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError>;

    /// Whether a file of this format answers every address as the view does. As strict as
    /// [`Format::read`] with [`ReadBack::verify`].
    ///
    /// # Errors
    /// The first thing that is wrong.
    fn prove(&self, file: &[u8], view: &View<'_>) -> Result<(), Unproven> {
        match self.proves(file, view) {
            Some(()) => Ok(()),
            None => prove::slowly(self, file, view),
        }
    }

    /// Whether a file says what the view says in the very words in which this format writes it:
    /// both gone through side by side, once. Takes no file that [`Format::prove`] would not
    /// take; nothing also where a file cannot be told so.
    fn proves(&self, _file: &[u8], _view: &View<'_>) -> Option<()> {
        None
    }

    /// The addresses that the format, or its consumer, cannot speak of; sorted, disjoint.
    /// None of them is a viewer's: they are left out of the file.
    fn excluded(&self) -> &'static [Range] {
        &[]
    }

    /// The ending of a file that the consumer makes of this one, beside it, and may take for
    /// newer than it is: publishing removes it.
    fn derived(&self) -> Option<&'static str> {
        None
    }

    /// What a file says of the edges behind a group.
    fn carries(&self) -> Carries {
        Carries::Tokens
    }

    /// What the consumer bears.
    fn limits(&self) -> Limits {
        Limits::NONE
    }
}

/// All formats. The order is that of the documentation.
pub fn formats() -> &'static [&'static dyn Format] {
    &[
        &json::Json,
        &ndjson::Ndjson,
        &csv::Csv,
        &lines::LIST,
        &mmdb::Mmdb,
        &lines::HAPROXY_MAP,
        &lines::NGINX_GEO,
        &lines::NGINX_GEO_RANGES,
        &lines::GDNSD_NETS,
        &bind_acl::BindAcl,
        &czf::CZF,
        &czf::CZF_DEEP,
        &template::Plain,
    ]
}

/// A name that no format has. The message lists those that exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no {kind} `{name}`; there are: {}", .known.join(", "))]
pub struct Unknown {
    /// What was asked for: a format, or a format of groups files.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The names that exist.
    pub known: Vec<&'static str>,
}

/// The format of a name.
///
/// # Errors
/// Where there is none; the error lists all.
pub fn by_name(name: &str) -> Result<&'static dyn Format, Unknown> {
    formats().iter().find(|f| f.name() == name).copied().ok_or_else(|| Unknown {
        kind: "format",
        name: name.to_owned(),
        known: formats().iter().map(|f| f.name()).collect(),
    })
}

/// The addresses of each group of the view, also of those without any: touching ones are
/// one, sorted by family and first address.
fn by_group<'v>(view: &'v View<'_>) -> BTreeMap<&'v Token, Vec<Range>> {
    let mut places: BTreeMap<&Token, usize> = view.groups().map(|g| &g.token).zip(0..).collect();
    let mut ranges: Vec<Vec<Range>> = vec![Vec::new(); places.len()];
    let mut known = Known::new();
    for answer in view.answers() {
        let token = answer.token.as_str();
        let place = known.get(token, "").unwrap_or_else(|| {
            let next = places.len();
            let place = *places.entry(answer.token).or_insert(next);
            known.learn(token, "", place);
            place
        });
        if place == ranges.len() {
            ranges.push(Vec::new());
        }
        if let Some(own) = ranges.get_mut(place) {
            own.push(answer.range);
        }
    }
    places.into_iter().map(|(token, at)| (token, ranges.get_mut(at).map(take).unwrap_or_default())).collect()
}

/// Refuses a view of several spaces on behalf of a format that cannot tell them apart.
fn one_space(format: &'static str, view: &View<'_>) -> Result<(), RenderError> {
    // Rows are sorted by space: the first and the last tell.
    match (view.rows().first(), view.rows().last()) {
        (Some(a), Some(b)) if a.entry.space != b.entry.space => Err(RenderError::ManySpaces {
            format,
            first: a.entry.space.clone(),
            second: b.entry.space.clone(),
        }),
        _ => Ok(()),
    }
}
