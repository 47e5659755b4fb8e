//! `haproxy`: a second HAProxy map, from group to host, beside a `haproxy-map` table:
//! `http-request redirect location http://%[var(txn.edge),map_str(FILE,HOST)]%[capture.req.uri]`.
//! Scheme and port stay in HAProxy's own file, and so does what answers for a group that the
//! map does not have; none of the table's ever lacks.
//!
//! A row gives the group's first edge: its host, else its first address (IPv6 in brackets).
//! Where the weights of a group's edges differ, it has a hundred rows more, `TOKEN.0` to
//! `TOKEN.99`, shared out by weight: HAProxy draws a number and looks for that row before the
//! plain one.

use super::lines::{Reader, push};
use super::{
    Carries, Context, GroupsError, GroupsFormat, ReadError, Rows, View, is_target, target, target_of,
    text_rows,
};
use crate::table::{Group, Token};

/// How many rows are shared out by weight.
const SLOTS: u64 = 100;

/// See the module.
#[derive(Debug)]
pub(super) struct Haproxy;

impl GroupsFormat for Haproxy {
    fn name(&self) -> &'static str {
        "haproxy"
    }

    fn about(&self) -> &'static str {
        "a HAProxy map from group to host, beside a haproxy-map table"
    }

    fn carries(&self) -> Carries {
        Carries::Weights
    }

    fn rows(&self, view: &View<'_>, _context: &Context) -> Result<Rows, GroupsError> {
        let lead = format!("# default {}\n", view.default_group().token);
        let mut rows = Rows { lead, ..Rows::default() };
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(view, group)?);
        }
        Ok(rows)
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let default = lines.tagged("# default ")?;
        let known = Token::new(default).ok_or_else(|| lines.error("the default is no token".to_owned()))?;
        let rows = text_rows(&mut lines, format!("# default {default}\n"), token)?;
        let drawn = |(token, row): (&Token, &String)| is_whole(token, row);
        match rows.rows.contains_key(&known) {
            true if rows.rows.iter().all(drawn) => Ok(rows),
            true => Err(lines.error("a group's shares are not all there".to_owned())),
            false => Err(lines.error("the default has no row".to_owned())),
        }
    }
}

fn row(view: &View<'_>, group: &Group) -> Result<String, GroupsError> {
    let token = &group.token;
    let mut row = String::new();
    push(&mut row, format_args!("{token} {}\n", target(view, group)?));
    if !group.is_weighted() {
        return Ok(row);
    }
    let mut shares = Vec::new();
    for (edge, weight) in view.edges_of(group).filter(|(_, weight)| *weight > 0) {
        // One without host and address cannot be gone to.
        shares.extend(target_of(edge)?.map(|target| (target, u64::from(weight))));
    }
    let sum: u64 = shares.iter().map(|(_, weight)| weight).sum();
    for slot in 0..SLOTS {
        let mut below = 0;
        let drawn = shares.iter().find(|(_, weight)| {
            below += weight;
            (2 * slot + 1) * sum < 2 * SLOTS * below
        });
        if let Some((target, _)) = drawn {
            push(&mut row, format_args!("{token}.{slot} {target}\n"));
        }
    }
    Ok(row)
}

/// Whether a row is one line, or has all its shares in order.
fn is_whole(token: &Token, row: &str) -> bool {
    let mut lines = row.lines().skip(1).zip(0..);
    let right = lines.all(|(line, slot): (&str, u64)| line.starts_with(&format!("{token}.{slot} ")));
    let count = row.lines().count() as u64;
    right && (count == 1 || count == 1 + SLOTS)
}

/// The token of a group's first line; none of the lines of its shares, which go with it.
fn token(line: &str) -> Result<Option<Token>, String> {
    let refuse = || format!("`{}` is no row", line.escape_debug());
    let (key, _) = line.split_once(' ').filter(|(_, target)| is_target(target)).ok_or_else(refuse)?;
    match key.split_once('.') {
        None => Token::new(key).map(Some).ok_or_else(refuse),
        Some((token, _)) => Token::new(token).map(|_| None).ok_or_else(refuse),
    }
}
