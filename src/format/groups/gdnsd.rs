//! `gdnsd`: the geoip plugin's configuration, beside a `gdnsd-nets` table, for
//! `plugins => { $include{FILE} }` in gdnsd's `config`; the zone has
//! `cdn 30 DYNC geoip!poolsync`.
//!
//! Each group is a datacenter, the default's the first, which answers for addresses in no
//! row. A group whose edges have different weights answers with one address drawn by
//! weight, any other with all that are up. `DYNC` it must be where a group is a host name.
//!
//! gdnsd reads this file at start alone: a new group needs `gdnsdctl replace`.

use std::net::IpAddr;
use std::path::Path;

use super::lines::{GDNSD_DATACENTERS, Reader, head, push};
use super::records::{Answers, Records};
use super::{
    Carries, Context, Domain, GroupsError, GroupsFormat, ReadError, Rendered, Rows, Stamp, View, text_rows,
};
use crate::table::{Group, Token};

/// See the module.
#[derive(Debug)]
pub(super) struct Gdnsd;

const NETS: &str = "# nets ";
const DEFAULT: &str = "# default ";
const OPEN: &str = "geoip => {\n  maps => { poolsync => { nets => ";
const RESOURCES: &str = "  resources => { poolsync => { map => poolsync, service_types => up, dcmap => {\n";
const CLOSE: &str = "  } } }\n}\n";

impl GroupsFormat for Gdnsd {
    fn name(&self) -> &'static str {
        "gdnsd"
    }

    fn about(&self) -> &'static str {
        "gdnsd's geoip plugin: map and datacenters, beside a gdnsd-nets table"
    }

    fn carries(&self) -> Carries {
        Carries::Weights
    }

    fn rows(&self, view: &View<'_>, context: &Context) -> Result<Rows, GroupsError> {
        let nets = context.table.as_deref().and_then(quoted);
        let nets = nets.ok_or(GroupsError::NeedsTable { format: self.name() })?;
        let (found, most) = (view.groups().count() as u64, GDNSD_DATACENTERS.most);
        if found > most {
            return Err(GroupsError::TooMany { format: self.name(), most, found });
        }
        let answers = Answers::new(view);
        let lead = format!("{NETS}{nets}\n{DEFAULT}{}\n", view.default_group().token);
        let mut rows = Rows { lead, ..Rows::default() };
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(&answers, group)?);
        }
        Ok(rows)
    }

    fn render(&self, rows: &Rows, stamp: &Stamp) -> Rendered {
        let mut body = rows.lead.clone();
        body.push_str(&frame(rows));
        rows.rows.values().for_each(|row| body.push_str(row));
        push(&mut body, format_args!("{CLOSE}# end {}\n", rows.rows.len()));
        let head = head(self.name(), stamp).into_bytes();
        Rendered { head, body: body.into_bytes(), tail: vec![], rows: rows.rows.len() as u64 }
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let nets = lines.tagged(NETS)?;
        let default = lines.tagged(DEFAULT)?;
        let mut found = String::new();
        // The frame has four lines.
        for _ in 0..4 {
            push(&mut found, format_args!("{}\n", lines.line()?));
        }
        let lead = format!("{NETS}{nets}\n{DEFAULT}{default}\n");
        let mut rows = text_rows(&mut lines, lead, token)?;
        let known = Token::new(default).is_some_and(|default| rows.rows.contains_key(&default));
        let closed = rows.rows.last_entry().is_some_and(|mut last| {
            let row = last.get_mut();
            row.strip_suffix(CLOSE).map(str::to_owned).map(|own| *row = own).is_some()
        });
        let whole = rows.rows.values().all(|row| row.lines().count() == 1);
        if known && closed && whole && frame(&rows) == found {
            return Ok(rows);
        }
        Err(lines.error("map, datacenters and rows do not fit together".to_owned()))
    }

    /// Not more than a map holds: what does not fit goes at once.
    fn with_retired(&self, rows: &Rows, before: Rows) -> Rows {
        let mut both = before;
        both.lead.clone_from(&rows.lead);
        both.rows.extend(rows.rows.clone());
        if both.rows.len() as u64 > GDNSD_DATACENTERS.most { rows.clone() } else { both }
    }
}

/// What stands before the rows: it follows from lead and rows.
fn frame(rows: &Rows) -> String {
    let mut lead = rows.lead.lines();
    let nets = lead.next().and_then(|line| line.strip_prefix(NETS)).unwrap_or_default();
    let default = lead.next().and_then(|line| line.strip_prefix(DEFAULT)).unwrap_or_default();
    let others = rows.rows.keys().map(Token::as_str).filter(|token| *token != default);
    let all: Vec<&str> = std::iter::once(default).chain(others).collect();
    format!("{OPEN}{nets},\n    datacenters => [ {} ] }} }},\n{RESOURCES}", all.join(", "))
}

/// A path as a string of gdnsd's configuration; none where it cannot be one.
fn quoted(path: &Path) -> Option<String> {
    let text =
        path.to_str().filter(|text| !text.contains(|c: char| c.is_control() || c == '"' || c == '\\'))?;
    Some(format!("\"{text}\""))
}

fn row(answers: &Answers<'_>, group: &Group) -> Result<String, GroupsError> {
    let mut row = format!("    {} => ", group.token);
    match answers.of(group)? {
        Records::Host(host) => push(&mut row, format_args!("{host}.")),
        Records::Addresses { families, weighted } => {
            row.push_str(if weighted { "{ plugin => weighted" } else { "{ plugin => multifo" });
            for (key, list) in ["addrs_v4", "addrs_v6"].into_iter().zip(families) {
                if list.is_empty() {
                    continue;
                }
                let each = list.iter().enumerate().map(|(at, (address, weight))| match weighted {
                    true => format!("{} => [ {address}, {weight} ]", at + 1),
                    false => format!("{} => {address}", at + 1),
                });
                let each: Vec<String> = each.collect();
                push(&mut row, format_args!(", {key} => {{ {} }}", each.join(", ")));
            }
            row.push_str(" }");
        }
    }
    row.push_str(",\n");
    Ok(row)
}

/// The token of a row; the lines that close the frame belong to the last one.
fn token(line: &str) -> Result<Option<Token>, String> {
    let refuse = || format!("`{}` is no datacenter", line.escape_debug());
    if CLOSE.lines().any(|close| close == line) {
        return Ok(None);
    }
    let (token, answer) =
        line.strip_prefix("    ").and_then(|l| l.strip_suffix(',')?.split_once(" => ")).ok_or_else(refuse)?;
    let host = answer.ends_with('.') && answer.parse::<Domain>().is_ok();
    if !host && !is_answer(answer) {
        return Err(refuse());
    }
    Token::new(token).map(Some).ok_or_else(refuse)
}

/// Whether a text is a datacenter's addresses as we write them.
fn is_answer(text: &str) -> bool {
    let weighted = text.starts_with("{ plugin => weighted, ");
    let lists = text.strip_suffix(" }").and_then(|t| {
        t.strip_prefix("{ plugin => weighted, ").or_else(|| t.strip_prefix("{ plugin => multifo, "))
    });
    let Some(lists) = lists.and_then(|lists| lists.strip_suffix(" }")) else { return false };
    lists.split(" }, ").all(|list| {
        let (v4, rest) = match (list.strip_prefix("addrs_v4 => { "), list.strip_prefix("addrs_v6 => { ")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return false,
        };
        let ends = if weighted { "], " } else { ", " };
        rest.trim_end_matches(']').split(ends).enumerate().all(|(at, item)| {
            let value = item.strip_prefix(&format!("{} => ", at + 1));
            let address = match (value, weighted) {
                (Some(value), false) => value.parse::<IpAddr>().ok(),
                (Some(value), true) => weighted_address(value),
                (None, _) => None,
            };
            address.is_some_and(|address| address.is_ipv4() == v4)
        })
    })
}

fn weighted_address(text: &str) -> Option<IpAddr> {
    let (address, weight) = text.strip_prefix("[ ")?.trim_end().split_once(", ")?;
    weight.parse::<u32>().ok()?;
    address.parse().ok()
}
