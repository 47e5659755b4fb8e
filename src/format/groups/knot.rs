//! `knot`: the configuration file of Knot DNS's mod-geoip in `geodb` mode, with
//! `geodb-key: [ edge ]` and the table as `mmdb`.
//!
//! In this mode mod-geoip knows no weights: a row lists the addresses of all its edges, nearest
//! first; where their weights differ, those of the first edge alone.
//! For a type that the row does not have, it looks into no other row but into the zone, and
//! says that what it found there is true for everybody (client subnet scope /0): see
//! [`super::records`].

use std::net::IpAddr;

use super::lines::{Reader, push};
use super::records::{Answers, Records, of_first};
use super::{Context, Domain, GroupsError, GroupsFormat, ReadError, Rows, View, text_rows};
use crate::table::{Group, Token};

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
        let answers = Answers::new(view);
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(&answers, view, group)?);
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

fn row(answers: &Answers<'_>, view: &View<'_>, group: &Group) -> Result<String, GroupsError> {
    let mut row = format!("{GEO}{}\"\n", group.token);
    match answers.of(group)? {
        Records::Host(host) => push(&mut row, format_args!("    CNAME: {host}.\n")),
        Records::Addresses { families, weighted } => {
            for (kind, list) in ["A", "AAAA"].into_iter().zip(families) {
                let addresses = match weighted {
                    true => of_first(view, group, &list),
                    false => list.iter().map(|(address, _)| *address).collect(),
                };
                let text: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                if !text.is_empty() {
                    push(&mut row, format_args!("    {kind}: [{}]\n", text.join(", ")));
                }
            }
        }
    }
    Ok(row)
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
