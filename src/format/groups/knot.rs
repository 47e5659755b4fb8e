//! `knot`: the configuration file of Knot DNS's mod-geoip in `geodb` mode, with
//! `geodb-key: [ edge ]` and the table as `mmdb`.
//!
//! mod-geoip knows no weights: a row lists the addresses of all its edges, nearest first.
//!
//! For a type that the row does not have, mod-geoip looks into no other row but into the
//! zone, and says that what it found there is true for everybody (client subnet scope /0):
//! one viewer's missing AAAA would be cached for all. So every row answers for every family
//! that any row has. Where a group's edges lack one, the row is a CNAME to its first host;
//! without a host, the default group's addresses stand in; and only where that has none
//! either the type is left out.

use std::net::IpAddr;

use super::lines::{Reader, push};
use super::{
    Context, Domain, GroupsError, GroupsFormat, ReadError, Rows, View, addresses, answering, host, text_rows,
};
use crate::table::{Edge, Group, Token};

const GEO: &str = "  - geo: \"";

/// See the module.
#[derive(Debug)]
pub(super) struct Knot;

impl GroupsFormat for Knot {
    fn name(&self) -> &'static str {
        "knot"
    }

    fn about(&self) -> &'static str {
        "Knot DNS mod-geoip, geodb mode, beside an mmdb table"
    }

    fn rows(&self, view: &View<'_>, context: &Context) -> Result<Rows, GroupsError> {
        let name = context.name.as_ref().ok_or(GroupsError::NeedsName { format: self.name() })?;
        let mut rows = Rows { lead: lead(name, context.ttl), ..Rows::default() };
        let wanted = families(view);
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(view, group, wanted)?);
        }
        Ok(rows)
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let mut lead = String::new();
        loop {
            let line = lines.line()?;
            push(&mut lead, format_args!("{line}\n"));
            if !line.starts_with("# mod-geoip") {
                match line.strip_suffix(':').map(str::parse::<Domain>) {
                    Some(Ok(_)) => break,
                    _ => return Err(lines.error("the domain name is missing".to_owned())),
                }
            }
        }
        text_rows(&mut lines, lead, token)
    }
}

/// mod-geoip takes the time to live from its own section; here it is a reminder.
fn lead(name: &Domain, ttl: Option<u32>) -> String {
    let ttl = ttl.map(|ttl| format!(", ttl: {ttl}")).unwrap_or_default();
    format!("# mod-geoip: mode: geodb, geodb-key: [ edge ]{ttl}\n{name}:\n")
}

/// The addresses of edges, by family.
struct Both<'v>([Vec<&'v IpAddr>; 2]);

impl<'v> Both<'v> {
    fn of(edges: &[&'v Edge]) -> Self {
        Self([addresses(edges, IpAddr::is_ipv4), addresses(edges, IpAddr::is_ipv6)])
    }

    fn has(&self) -> [bool; 2] {
        self.0.each_ref().map(|list| !list.is_empty())
    }
}

/// The families that any row has.
fn families(view: &View<'_>) -> [bool; 2] {
    let each = view.groups().map(|group| Both::of(&answering(view, group)).has());
    each.fold([false; 2], |all, one| [all[0] || one[0], all[1] || one[1]])
}

fn row(view: &View<'_>, group: &Group, wanted: [bool; 2]) -> Result<String, GroupsError> {
    let edges = answering(view, group);
    let mut row = format!("{GEO}{}\"\n", group.token);
    let Both(mut own) = Both::of(&edges);
    let none = own.iter().all(Vec::is_empty);
    let lacks = own.iter().zip(wanted).any(|(list, wanted)| wanted && list.is_empty());
    let host = if none || lacks { first_host(&edges)? } else { None };
    if let Some(host) = host {
        push(&mut row, format_args!("    CNAME: {host}.\n"));
        return Ok(row);
    }
    if none {
        return Err(GroupsError::NoAnswer { token: group.token.clone() });
    }
    let Both(stand_in) = Both::of(&answering(view, view.default_group()));
    for ((kind, own), other) in ["A", "AAAA"].iter().zip(&mut own).zip(stand_in) {
        if own.is_empty() {
            *own = other;
        }
        list(&mut row, kind, own);
    }
    Ok(row)
}

fn first_host(edges: &[&Edge]) -> Result<Option<Domain>, GroupsError> {
    let named = edges.iter().find(|edge| edge.host.is_some());
    Ok(named.map(|edge| host(edge)).transpose()?.flatten())
}

fn list(row: &mut String, kind: &str, addresses: &[&IpAddr]) {
    if !addresses.is_empty() {
        let text: Vec<String> = addresses.iter().map(|a| a.to_string()).collect();
        push(row, format_args!("    {kind}: [{}]\n", text.join(", ")));
    }
}

fn token(line: &str) -> Result<Option<Token>, String> {
    if let Some(rest) = line.strip_prefix(GEO) {
        let token = rest.strip_suffix('"').and_then(Token::new);
        return token.map(Some).ok_or_else(|| format!("`{}` names no token", line.escape_debug()));
    }
    let value = |list: &str| {
        let list = list.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
        list.is_some_and(|l| l.split(", ").all(|a| a.parse::<IpAddr>().is_ok()))
    };
    let known = match line.strip_prefix("    ").and_then(|record| record.split_once(": ")) {
        Some(("A" | "AAAA", list)) => value(list),
        Some(("CNAME", host)) => host.ends_with('.') && host.parse::<Domain>().is_ok(),
        _ => false,
    };
    if known { Ok(None) } else { Err(format!("`{}` is no record", line.escape_debug())) }
}
