//! `knot`: the configuration file of Knot DNS's mod-geoip in `geodb` mode, with
//! `geodb-key: [ edge ]` and the table as `mmdb`.
//!
//! mod-geoip knows no weights: a row lists the addresses of all its edges, nearest first.
//! Where no edge of a group has an address, the row is a CNAME to the first edge's host.
//!
//! mod-geoip answers NODATA for a type that the row does not have; it looks nowhere else.
//! So each row has an A: where a group's edges have no IPv4 address, the default group's
//! stand in, or viewers without IPv6 would get no answer at all. AAAA has no stand-in: a
//! viewer with both families would then go to the default edge over IPv6 although its own
//! edge answers over IPv4.

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
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(view, group)?);
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

fn row(view: &View<'_>, group: &Group) -> Result<String, GroupsError> {
    let edges = answering(view, group);
    let mut row = format!("{GEO}{}\"\n", group.token);
    let (v4, v6) = (addresses(&edges, IpAddr::is_ipv4), addresses(&edges, IpAddr::is_ipv6));
    if v4.is_empty() && v6.is_empty() {
        push(&mut row, format_args!("    CNAME: {}.\n", first_host(group, &edges)?));
        return Ok(row);
    }
    let stand_in = answering(view, view.default_group());
    let v4 = if v4.is_empty() { addresses(&stand_in, IpAddr::is_ipv4) } else { v4 };
    list(&mut row, "A", &v4);
    list(&mut row, "AAAA", &v6);
    Ok(row)
}

fn first_host(group: &Group, edges: &[&Edge]) -> Result<Domain, GroupsError> {
    let named = edges.iter().find(|edge| edge.host.is_some());
    let host = named.map(|edge| host(edge)).transpose()?.flatten();
    host.ok_or_else(|| GroupsError::NoAnswer { token: group.token.clone() })
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
