//! `nginx-map`: rows of an nginx `map` block from token to host (ngx_http_map_module):
//! `map $edge $edge_host { include FILE; }`, then `return 302 http://$edge_host$request_uri;`.
//! Scheme and port stay in nginx's own file.
//!
//! A row gives the group's nearest edge: its host, else its first address (IPv6 in
//! brackets). The row `default` answers for the default group.

use super::lines::{Reader, push};
use super::{Context, Domain, GroupsError, GroupsFormat, ReadError, Rows, View, target, text_rows};
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
        self.refuse_clash(view)?;
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

impl NginxMap {
    fn refuse_clash(&self, view: &View<'_>) -> Result<(), GroupsError> {
        let mut tokens: Vec<&Token> = view.groups().map(|group| &group.token).collect();
        tokens.sort_by_key(|token| token.as_str().to_ascii_lowercase());
        match tokens.windows(2).find(|pair| pair[0].as_str().eq_ignore_ascii_case(pair[1].as_str())) {
            Some(pair) => Err(GroupsError::CaseClash {
                format: self.name(),
                first: pair[0].clone(),
                second: pair[1].clone(),
            }),
            None => Ok(()),
        }
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
    let host = text.strip_suffix(';').unwrap_or_default();
    let bracketed = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let good = match bracketed {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.parse::<std::net::Ipv4Addr>().is_ok() || host.parse::<Domain>().is_ok(),
    };
    if good { Ok(()) } else { Err(format!("`{}` is no host", text.escape_debug())) }
}
