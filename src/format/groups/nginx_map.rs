//! `nginx-map`: rows of an nginx `map` block from token to host (ngx_http_map_module):
//! `map $edge $edge_host { include FILE; }`, then `return 302 http://$edge_host$request_uri;`.
//! Scheme and port stay in nginx's own file.
//!
//! A row gives the group's nearest edge: its host, else its first address (IPv6 in
//! brackets). The row `default` answers for the default group.

use super::lines::{Reader, push};
use super::{
    Context, GroupsError, GroupsFormat, ReadError, Rows, View, is_target, refuse_case_clash, target,
    text_rows,
};
use crate::table::Token;

/// Words that nginx takes for parameters of the map, unless a backslash stands before them.
const PARAMETERS: [&str; 4] = ["default", "hostnames", "include", "volatile"];

/// See the module.
#[derive(Debug)]
pub(super) struct NginxMap;

impl GroupsFormat for NginxMap {
    fn name(&self) -> &'static str {
        "nginx-map"
    }

    fn about(&self) -> &'static str {
        "rows of an nginx map from group to host, beside an nginx-geo table"
    }

    fn rows(&self, view: &View<'_>, _context: &Context) -> Result<Rows, GroupsError> {
        refuse_case_clash(self.name(), view)?;
        let mut rows =
            Rows { lead: format!("default {};\n", target(view, view.default_group())?), ..Rows::default() };
        for group in view.groups() {
            let mut row = String::new();
            push(&mut row, format_args!("{} {};\n", key(&group.token), target(view, group)?));
            rows.rows.insert(group.token.clone(), row);
        }
        Ok(rows)
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let default = lines.tagged("default ")?;
        value(default).map_err(|e| lines.error(e))?;
        text_rows(&mut lines, format!("default {default}\n"), |line| token(line).map(Some))
    }

    /// nginx compares map keys without regard to case.
    fn folds_case(&self) -> bool {
        true
    }
}

fn is_parameter(token: &str) -> bool {
    PARAMETERS.contains(&token)
}

fn key(token: &Token) -> String {
    let escape = if is_parameter(token.as_str()) { "\\" } else { "" };
    format!("{escape}{token}")
}

fn token(line: &str) -> Result<Token, String> {
    let refuse = || format!("`{}` is no row", line.escape_debug());
    let (key, rest) = line.split_once(' ').ok_or_else(refuse)?;
    value(rest)?;
    let name = match key.strip_prefix('\\') {
        Some(name) if is_parameter(name) => name,
        None if !is_parameter(key) => key,
        _ => return Err(refuse()),
    };
    Token::new(name).ok_or_else(refuse)
}

fn value(text: &str) -> Result<(), String> {
    match text.strip_suffix(';') {
        Some(target) if is_target(target) => Ok(()),
        _ => Err(format!("`{}` is no host", text.escape_debug())),
    }
}
