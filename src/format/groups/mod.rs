//! Groups files: what a consumer answers for each token of the table.
//!
//! The table carries a token a row and changes often; addresses, host names and weights
//! stand here, a row a group, and change rarely. Publishing puts this file in place before
//! the table, with the rows of the table before still in it, so that no token is ever
//! without its row.

mod domain;
mod gdnsd;
mod haproxy;
mod json;
mod knot;
mod nginx_map;
mod pdns;
mod records;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use thiserror::Error;

pub use domain::{BadDomain, Domain};

use super::lines::{self, push};
use super::{Carries, ReadError, Rendered, Stamp, Unknown, View};
use crate::table::{Edge, Group, Name, Token};

/// What an export's configuration adds to a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The name that the DNS server answers for.
    pub name: Option<Domain>,
    /// The time to live of its answers, in seconds.
    pub ttl: Option<u32>,
    /// The name servers of its zone, for files that hold the whole zone.
    pub nameservers: Vec<Domain>,
    /// Where the table is, for files that name it.
    pub table: Option<PathBuf>,
}

/// The rows of a groups file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// What stands before the rows.
    pub lead: String,
    /// Each group's row, in the format's own text.
    pub rows: BTreeMap<Token, String>,
}

/// Why there can be no groups file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroupsError {
    /// The format needs the name that the server answers for.
    #[error("groups format {format} needs `name`, the domain name to answer for")]
    NeedsName {
        /// The format.
        format: &'static str,
    },
    /// The format needs the zone's name servers.
    #[error("groups format {format} needs `nameservers`, those of the name's zone")]
    NeedsNameservers {
        /// The format.
        format: &'static str,
    },
    /// The format names the table's file, and its path cannot be written there.
    #[error("groups format {format} needs the table's path, in plain characters")]
    NeedsTable {
        /// The format.
        format: &'static str,
    },
    /// More groups than the consumer can hold.
    #[error("groups format {format} holds {most} groups, the table has {found}")]
    TooMany {
        /// The format.
        format: &'static str,
        /// How many the consumer can hold.
        most: u64,
        /// How many there are.
        found: u64,
    },
    /// A token makes no domain name with the name that is answered for.
    #[error("group {token}: {source}")]
    BadName {
        /// The group.
        token: Token,
        /// What is wrong.
        source: BadDomain,
    },
    /// A group's edges have nothing that the format could answer with.
    #[error("group {token}: none of its edges has an address or a host")]
    NoAnswer {
        /// The group.
        token: Token,
    },
    /// An edge's host is no domain name.
    #[error("edge {edge}: {source}")]
    BadHost {
        /// The edge.
        edge: Name,
        /// What is wrong with its host.
        source: BadDomain,
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
    /// A value could not be encoded.
    #[error("cannot encode: {0}")]
    Encoding(String),
}

/// One format of groups files.
pub trait GroupsFormat: fmt::Debug + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &'static str;

    /// One line on who reads it.
    fn about(&self) -> &'static str;

    /// A row for each group of the view, the default one always among them.
    ///
    /// # Errors
    /// Where a group has nothing to answer with.
    fn rows(&self, view: &View<'_>, context: &Context) -> Result<Rows, GroupsError>;

    /// The rows as a file.
    fn render(&self, rows: &Rows, stamp: &Stamp) -> Rendered {
        text_file(self.name(), rows, stamp)
    }

    /// The rows of a file. Strict, as [`super::Format::read`].
    ///
    /// # Errors
    /// The first thing that is wrong.
    fn read(&self, file: &[u8]) -> Result<Rows, ReadError>;

    /// What a file says of the edges behind a group.
    fn carries(&self) -> Carries {
        Carries::First
    }

    /// Whether the consumer takes tokens that differ in case only for one.
    fn folds_case(&self) -> bool {
        false
    }

    /// The rows, and those of `before` that they do not have: for the time in which the
    /// consumer may still hold the table before.
    fn with_retired(&self, rows: &Rows, before: Rows) -> Rows {
        let mut both = rows.clone();
        for (token, row) in before.rows {
            let same = |known: &Token| known.as_str().eq_ignore_ascii_case(token.as_str());
            if self.folds_case() && both.rows.keys().any(same) {
                continue;
            }
            if let Entry::Vacant(entry) = both.rows.entry(token) {
                entry.insert(row);
            }
        }
        both
    }
}

/// All formats of groups files.
pub fn groups_formats() -> &'static [&'static dyn GroupsFormat] {
    &[&json::Json, &knot::Knot, &pdns::Pdns, &gdnsd::Gdnsd, &nginx_map::NginxMap, &haproxy::Haproxy]
}

/// The groups format of a name.
///
/// # Errors
/// Where there is none; the error lists all.
pub fn groups_by_name(name: &str) -> Result<&'static dyn GroupsFormat, Unknown> {
    groups_formats().iter().find(|f| f.name() == name).copied().ok_or_else(|| Unknown {
        kind: "groups format",
        name: name.to_owned(),
        known: groups_formats().iter().map(|f| f.name()).collect(),
    })
}

/// A file of commented text: first line, lead, rows, and an end that tells whether it is
/// whole.
fn text_file(format: &str, rows: &Rows, stamp: &Stamp) -> Rendered {
    let mut body = rows.lead.clone();
    for row in rows.rows.values() {
        body.push_str(row);
    }
    push(&mut body, format_args!("# end {}\n", rows.rows.len()));
    Rendered {
        head: lines::head(format, stamp).into_bytes(),
        body: body.into_bytes(),
        tail: vec![],
        rows: rows.rows.len() as u64,
    }
}

/// Reads rows until the end line. `token` names the token of a row's first line, or says
/// that the line goes on with the row before.
fn text_rows<'a>(
    lines: &mut lines::Reader<'a>,
    lead: String,
    token: impl Fn(&'a str) -> Result<Option<Token>, String>,
) -> Result<Rows, ReadError> {
    let mut rows = Rows { lead, rows: BTreeMap::new() };
    let mut current: Option<(Token, String)> = None;
    loop {
        let line = lines.line()?;
        let end = line.strip_prefix("# end ");
        let next = if end.is_some() { None } else { token(line).map_err(|e| lines.error(e))? };
        if next.is_some() || end.is_some() {
            let finished = std::mem::replace(&mut current, next.map(|token| (token, String::new())));
            take(&mut rows, finished).map_err(|e| lines.error(e))?;
        }
        if let Some(count) = end {
            if count != rows.rows.len().to_string() {
                return Err(lines.error(format!("it ends after {} rows", rows.rows.len())));
            }
            lines.end()?;
            return Ok(rows);
        }
        match &mut current {
            Some((_, row)) => push(row, format_args!("{line}\n")),
            None => return Err(lines.error(format!("`{}` belongs to no row", line.escape_debug()))),
        }
    }
}

fn take(rows: &mut Rows, row: Option<(Token, String)>) -> Result<(), String> {
    let Some((token, text)) = row else { return Ok(()) };
    if rows.rows.last_key_value().is_some_and(|(last, _)| *last >= token) {
        return Err(format!("row {token} is not behind the one before"));
    }
    rows.rows.insert(token, text);
    Ok(())
}

/// What a consumer may answer for a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// The addresses of its edges.
    pub addresses: Vec<IpAddr>,
    /// The host names of its edges.
    pub hosts: Vec<Domain>,
}

/// What a consumer may answer for the group of a token; nothing for one that the view does
/// not have.
pub fn allowed(view: &View<'_>, token: &Token) -> Allowed {
    let Some(group) = view.groups().find(|group| group.token == *token) else { return Allowed::default() };
    let edges = answering(view, group);
    Allowed {
        addresses: edges.iter().flat_map(|edge| edge.addresses.iter().copied()).collect(),
        hosts: edges.iter().filter_map(|edge| host(edge).ok().flatten()).collect(),
    }
}

/// The edges of a group that are to be answered with: those with a weight, or all where
/// none has one.
pub(in crate::format) fn answering<'v>(view: &'v View<'_>, group: &'v Group) -> Vec<&'v Edge> {
    group.answering().filter_map(|edge| view.edge(&edge.name)).collect()
}

/// The addresses of edges of one family, in order, each once.
pub(in crate::format) fn addresses<'v>(
    edges: &[&'v Edge],
    family: impl Fn(&IpAddr) -> bool,
) -> Vec<&'v IpAddr> {
    let mut list: Vec<&IpAddr> = Vec::new();
    for address in edges.iter().flat_map(|edge| &edge.addresses).filter(|a| family(a)) {
        if !list.contains(&address) {
            list.push(address);
        }
    }
    list
}

/// An edge's host as a domain name.
pub(in crate::format) fn host(edge: &Edge) -> Result<Option<Domain>, GroupsError> {
    let parse =
        |host: &Name| host.parse().map_err(|source| GroupsError::BadHost { edge: edge.name.clone(), source });
    edge.host.as_ref().map(parse).transpose()
}

/// Where a group's viewers go that can go to one place only: the host of its nearest edge,
/// else its first address, IPv6 in brackets.
pub(in crate::format) fn target(view: &View<'_>, group: &Group) -> Result<String, GroupsError> {
    for edge in answering(view, group) {
        if let Some(target) = target_of(edge)? {
            return Ok(target);
        }
    }
    Err(GroupsError::NoAnswer { token: group.token.clone() })
}

/// Where an edge is: its host, else its first address, IPv6 in brackets.
fn target_of(edge: &Edge) -> Result<Option<String>, GroupsError> {
    if let Some(host) = host(edge)? {
        return Ok(Some(host.to_string()));
    }
    Ok(edge.addresses.first().map(|address| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }))
}

/// Whether a text is what [`target`] gives.
fn is_target(text: &str) -> bool {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => text.parse::<std::net::Ipv4Addr>().is_ok() || text.parse::<Domain>().is_ok(),
    }
}

/// Refuses tokens that differ in case alone, on behalf of a consumer that does not see it.
fn refuse_case_clash(format: &'static str, view: &View<'_>) -> Result<(), GroupsError> {
    match case_clash(view.groups().map(|group| &group.token)) {
        Some((first, second)) => Err(GroupsError::CaseClash { format, first, second }),
        None => Ok(()),
    }
}

/// Two tokens that differ in case alone.
pub(in crate::format) fn case_clash<'t>(tokens: impl Iterator<Item = &'t Token>) -> Option<(Token, Token)> {
    let mut tokens: Vec<&Token> = tokens.collect();
    tokens.sort_by_key(|token| token.as_str().to_ascii_lowercase());
    tokens.windows(2).find_map(|pair| match pair {
        [a, b] if a.as_str().eq_ignore_ascii_case(b.as_str()) => Some(((*a).clone(), (*b).clone())),
        _ => None,
    })
}
