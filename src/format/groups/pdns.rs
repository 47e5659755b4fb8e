//! `pdns`: the zones file of PowerDNS's geoip backend, beside an `mmdb` table:
//! `geoip-database-files=mmdb:TABLE;language=en`.
//!
//! The file is the whole zone of the name that is answered for. The name itself is a
//! service: PowerDNS looks the client up, takes the group's token from where the database
//! has the city, and answers with the records of `TOKEN.NAME`; where there are none, with
//! the default group's. A group whose edges have different weights answers with one address
//! drawn by weight, any other with all.
//!
//! Names in DNS have no case: tokens must not differ in case alone.

use super::lines::{Reader, push};
use super::records::{Answers, Records};
use super::{
    Carries, Context, Domain, GroupsError, GroupsFormat, ReadError, Rows, View, refuse_case_clash, text_rows,
};
use crate::table::{Group, Token};

const TTL: u32 = 30;

/// See the module.
#[derive(Debug)]
pub(super) struct Pdns;

impl GroupsFormat for Pdns {
    fn name(&self) -> &'static str {
        "pdns"
    }

    fn about(&self) -> &'static str {
        "PowerDNS geoip backend: the zone's file, beside an mmdb table"
    }

    fn carries(&self) -> Carries {
        Carries::Weights
    }

    fn rows(&self, view: &View<'_>, context: &Context) -> Result<Rows, GroupsError> {
        let name = context.name.as_ref().ok_or(GroupsError::NeedsName { format: self.name() })?;
        if context.nameservers.is_empty() {
            return Err(GroupsError::NeedsNameservers { format: self.name() });
        }
        refuse_case_clash(self.name(), view)?;
        let (answers, default) = (Answers::new(view), &view.default_group().token);
        let mut rows = Rows { lead: lead(name, context, default), ..Rows::default() };
        for group in view.groups() {
            rows.rows.insert(group.token.clone(), row(&answers, group, name)?);
        }
        Ok(rows)
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        let mut lines = Reader::new(file, self.name())?;
        let mut text = lines.tagged("# default ")?.to_owned();
        let default = Token::new(&text).ok_or_else(|| lines.error("the default is no token".to_owned()))?;
        let mut lead = String::new();
        let mut nameservers = Vec::new();
        let mut name: Option<Domain> = None;
        let mut ttl = None;
        push(&mut lead, format_args!("# default {default}\ndomains:\n"));
        if lines.line()? != "domains:" {
            return Err(lines.error("the domain is missing".to_owned()));
        }
        while !text.starts_with("# groups") {
            text.clear();
            text.push_str(lines.line()?);
            let own = |before: &str, behind: &str| {
                Some(text.strip_prefix(before)?.strip_suffix(behind)?.to_owned())
            };
            name = name.or_else(|| own("- domain: \"", "\"")?.parse().ok());
            ttl = ttl.or_else(|| own("  ttl: ", "")?.parse::<u32>().ok());
            nameservers.extend(own("    - ns: \"", "\"").and_then(|ns| ns.parse::<Domain>().ok()));
            push(&mut lead, format_args!("{text}\n"));
        }
        let known = name.filter(|name| {
            let context =
                Context { name: Some(name.clone()), ttl, nameservers: nameservers.clone(), table: None };
            !nameservers.is_empty() && self::lead(name, &context, &default) == lead
        });
        let name = known.ok_or_else(|| lines.error("the zone is not as we write it".to_owned()))?;
        let rows = text_rows(&mut lines, lead, |line| token(line, &name))?;
        if rows.rows.contains_key(&default) {
            return Ok(rows);
        }
        Err(lines.error("the default has no row".to_owned()))
    }

    fn folds_case(&self) -> bool {
        true
    }
}

fn lead(name: &Domain, context: &Context, default: &Token) -> String {
    let mut lead = format!("# default {default}\ndomains:\n- domain: \"{name}\"\n");
    push(&mut lead, format_args!("  ttl: {}\n  services:\n", context.ttl.unwrap_or(TTL)));
    push(&mut lead, format_args!("    \"{name}\": [\"%ci.{name}\", \"{default}.{name}\"]\n  records:\n"));
    push(&mut lead, format_args!("    \"{name}\":\n"));
    if let Some(first) = context.nameservers.first() {
        push(&mut lead, format_args!("    - soa: \"{first} hostmaster.{name} 1 3600 600 86400 60\"\n"));
    }
    for nameserver in &context.nameservers {
        push(&mut lead, format_args!("    - ns: \"{nameserver}\"\n"));
    }
    lead.push_str("# groups\n");
    lead
}

fn row(answers: &Answers<'_>, group: &Group, name: &Domain) -> Result<String, GroupsError> {
    let own = format!("{}.{name}", group.token);
    // The name as a whole may be too long.
    own.parse::<Domain>().map_err(|source| GroupsError::BadName { token: group.token.clone(), source })?;
    let mut row = format!("    \"{own}\":\n");
    match answers.of(group)? {
        Records::Host(host) => push(&mut row, format_args!("    - cname: \"{host}\"\n")),
        Records::Addresses { families, weighted } => {
            for (kind, list) in ["a", "aaaa"].into_iter().zip(families) {
                for (address, weight) in list {
                    match weighted {
                        true => push(
                            &mut row,
                            format_args!("    - {kind}: {{content: \"{address}\", weight: {weight}}}\n"),
                        ),
                        false => push(&mut row, format_args!("    - {kind}: \"{address}\"\n")),
                    }
                }
            }
        }
    }
    Ok(row)
}

fn token(line: &str, name: &Domain) -> Result<Option<Token>, String> {
    let refuse = || format!("`{}` is no record", line.escape_debug());
    if let Some(rest) = line.strip_prefix("    \"") {
        let own = rest.strip_suffix(&format!(".{name}\":")).and_then(Token::new);
        return own.map(Some).ok_or_else(refuse);
    }
    let (kind, value) =
        line.strip_prefix("    - ").and_then(|record| record.split_once(": ")).ok_or_else(refuse)?;
    let quoted = |text: &str| Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    let weighted = |text: &str| {
        let (content, weight) =
            text.strip_prefix("{content: ")?.strip_suffix('}')?.split_once(", weight: ")?;
        weight.parse::<u32>().ok()?;
        quoted(content)
    };
    let content = quoted(value).or_else(|| weighted(value)).ok_or_else(refuse)?;
    let known = match kind {
        "a" => content.parse::<std::net::Ipv4Addr>().is_ok(),
        "aaaa" => content.parse::<std::net::Ipv6Addr>().is_ok(),
        "cname" => content.parse::<Domain>().is_ok(),
        _ => false,
    };
    if known { Ok(None) } else { Err(refuse()) }
}
