//! `json`: the groups as one document, a group a line: `session, generation, default_group,
//! groups[{token,edges[{name,weight,addresses[],host,region}]}]`.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::lines::push;
use super::{Carries, Context, GroupsError, GroupsFormat, ReadError, Rendered, Rows, Stamp, View};
use crate::format::json::json_error;
use crate::table::{Group, Name, Token};

/// See the module.
#[derive(Debug)]
pub(super) struct Json;

impl GroupsFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "everything as one JSON document, for programs of your own"
    }

    fn carries(&self) -> Carries {
        Carries::Weights
    }

    fn rows(&self, view: &View<'_>, _context: &Context) -> Result<Rows, GroupsError> {
        let default = view.default_group().token.as_str();
        let mut rows =
            Rows { lead: format!("\"default_group\":\"{default}\",\n\"groups\":[\n"), ..Rows::default() };
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(view, group)?);
        }
        Ok(rows)
    }

    fn render(&self, rows: &Rows, stamp: &Stamp) -> Rendered {
        let mut body = rows.lead.clone();
        for (at, row) in rows.rows.values().enumerate() {
            push(&mut body, format_args!("{}{row}", if at == 0 { "" } else { ",\n" }));
        }
        body.push_str("\n]}\n");
        let head = format!("{{\"session\":\"{}\",\"generation\":{},\n", stamp.session, stamp.generation);
        let count = rows.rows.len() as u64;
        Rendered { head: head.into_bytes(), body: body.into_bytes(), tail: vec![], rows: count }
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let document: Document = serde_json::from_slice(file).map_err(json_error)?;
        let default = &document.default_group;
        let mut rows =
            Rows { lead: format!("\"default_group\":\"{default}\",\n\"groups\":[\n"), ..Rows::default() };
        for group in &document.groups {
            let refuse = |problem: &str| ReadError::new("groups", format!("{}: {problem}", group.token));
            let token = Token::new(&group.token).ok_or_else(|| refuse("no token"))?;
            let text = serde_json::to_string(group).map_err(|e| refuse(&e.to_string()))?;
            if group.edges.is_empty() {
                return Err(refuse("no edges"));
            }
            if rows.rows.insert(token, text).is_some() {
                return Err(refuse("there twice"));
            }
        }
        let known = Token::new(default).is_some_and(|default| rows.rows.contains_key(&default));
        if document.session.len() != 16 || !known {
            return Err(ReadError::new("document", "no session, or a default group that is not there"));
        }
        Ok(rows)
    }
}

fn row(view: &View<'_>, group: &Group) -> Result<String, GroupsError> {
    let edges = view.edges_of(group).map(|(edge, weight)| EdgeJson {
        name: edge.name.to_string(),
        weight,
        addresses: edge.addresses.clone(),
        host: edge.host.as_ref().map(Name::to_string),
        region: edge.region.as_ref().map(Name::to_string),
    });
    let value = GroupJson { token: group.token.to_string(), edges: edges.collect() };
    serde_json::to_string(&value).map_err(|e| GroupsError::Encoding(e.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    session: String,
    #[serde(rename = "generation")]
    _generation: u64,
    default_group: String,
    groups: Vec<GroupJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupJson {
    token: String,
    edges: Vec<EdgeJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeJson {
    name: String,
    weight: u32,
    addresses: Vec<IpAddr>,
    host: Option<String>,
    region: Option<String>,
}
