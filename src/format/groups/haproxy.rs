//! `haproxy`: a second HAProxy map, from group to host, beside a `haproxy-map` table:
//! `http-request redirect location http://%[var(txn.edge),map_str(FILE,HOST)]%[capture.req.uri]`.
//! Scheme and port stay in HAProxy's own file, and so does what answers for a group that the
//! map does not have; none of the table's ever lacks.
//!
//! A row gives the group's nearest edge: its host, else its first address (IPv6 in
//! brackets).

use super::lines::{Reader, push};
use super::{Context, GroupsError, GroupsFormat, ReadError, Rows, View, is_target, target, text_rows};
use crate::table::Token;

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

    fn rows(&self, view: &View<'_>, _context: &Context) -> Result<Rows, GroupsError> {
        let lead = format!("# default {}\n", view.default_group().token);
        let mut rows = Rows { lead, ..Rows::default() };
        for group in view.groups() {
            let mut row = String::new();
            push(&mut row, format_args!("{} {}\n", group.token, target(view, group)?));
            rows.rows.insert(group.token.clone(), row);
        }
        Ok(rows)
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let default = lines.tagged("# default ")?;
        let known = Token::new(default).ok_or_else(|| lines.error("the default is no token".to_owned()))?;
        let rows = text_rows(&mut lines, format!("# default {default}\n"), |line| token(line).map(Some))?;
        if rows.rows.contains_key(&known) {
            return Ok(rows);
        }
        Err(lines.error("the default has no row".to_owned()))
    }
}

fn token(line: &str) -> Result<Token, String> {
    let refuse = || format!("`{}` is no row", line.escape_debug());
    let (token, target) = line.split_once(' ').ok_or_else(refuse)?;
    if is_target(target) { Token::new(token).ok_or_else(refuse) } else { Err(refuse()) }
}
