//! What is published, where, and how a consumer is told: `[export.NAME]`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::bas::DEFAULT_SERVICE;
use super::context::Context;
use super::endpoint::HostName;
use super::error::Problem;
use super::formats::{Format, GroupsFormat, TemplateSource, groups_format, table_format};
use super::node::{Entry, Node, Value};
use super::place::INTERNET;
use super::print::{self, Writer};
use super::section::Section;
use super::text::Mode;
use super::value::{command, duration, file, integer, name, parsed, reference, some, text, wrong_kind};
use crate::mib::Glob;
use crate::table::Name;

/// `[export.NAME]`: one file that a consumer reads, and its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The table's format.
    pub format: Format,
    /// Where the lines of a `template` come from; none: a plain one.
    pub template: Option<TemplateSource>,
    /// The table's file.
    pub path: PathBuf,
    /// The groups' file.
    pub groups: Option<GroupsFile>,
    /// The domain name that the consumer answers for, without the dot at its end.
    pub domain: Option<Name>,
    /// The name servers of its zone, without the dot at their end.
    pub nameservers: Vec<Name>,
    /// How long an answer may be kept.
    pub ttl: Duration,
    /// The space.
    pub space: Name,
    /// The service.
    pub service: Name,
    /// The BASes whose entries are in it; all where there are no patterns.
    pub only: Vec<Glob>,
    /// The files' mode.
    pub mode: u32,
    /// The files' group, by name.
    pub group: Option<Name>,
    /// From one publish to the next, at least.
    pub min_interval: Duration,
    /// The consumer's own checker: a program and its arguments, `{file}` the new file; the
    /// working directory is the file's folder.
    pub check: Option<Vec<String>>,
    /// How long it may take.
    pub check_timeout: Duration,
    /// The program, with its arguments, that tells the consumer.
    pub reload: Option<Vec<String>>,
    /// How long it may take.
    pub reload_timeout: Duration,
    /// HAProxy's socket, by which a running one is given the new maps.
    pub haproxy_socket: Option<PathBuf>,
    /// The query that shows whether the consumer answers anew.
    pub canary: Option<Canary>,
}

/// The groups' file of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupsFile {
    /// Its format.
    pub format: GroupsFormat,
    /// The file.
    pub path: PathBuf,
}

/// A query to the consumer after it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    /// Where it is asked.
    pub query: Query,
    /// Until when the answer must be the new one.
    pub timeout: Duration,
    /// How often it is asked between publications whether it still answers so.
    pub every: Duration,
}

/// Where a consumer is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A DNS server, for the export's `name`, with the address as client subnet (RFC 7871).
    Dns(SocketAddr),
    /// An HTTP server, with the address in the header `X-Forwarded-For`.
    Http(String),
}

/// The longest TTL (RFC 2181, section 8).
const MAX_TTL: i64 = i32::MAX as i64;

impl Export {
    /// The keys of `[export.NAME]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "format",
        "template",
        "path",
        "groups",
        "name",
        "nameservers",
        "ttl",
        "space",
        "service",
        "only",
        "mode",
        "group",
        "min-interval",
        "check",
        "check-timeout",
        "reload",
        "reload-timeout",
        "haproxy-socket",
        "canary",
    ];
    /// The keys of `groups`.
    pub(super) const GROUPS_KEYS: &'static [&'static str] = &["format", "path"];
    /// The keys of `canary`.
    pub(super) const CANARY_KEYS: &'static [&'static str] = &["dns", "http", "timeout", "every"];

    pub(super) fn read(cx: &mut Context, entry: &Entry) -> Option<Self> {
        const NAMESERVERS: &str = "a list of at least one host name, as [\"ns1.example.net\"]";
        const PATTERNS: &str = "a list of at least one pattern for names of BASes, as [\"gz-*\"]";
        let title = format!("[export.{}]", print::key(&entry.key));
        let section = Section::open(cx, &entry.node, &title, Self::KEYS)?;
        let seconds = Duration::from_secs;
        let limit = |cx: &mut Context, n: &Node| duration(cx, n, Duration::from_millis(1));
        let format = section.required(cx, "format", table_format);
        let template = section.read(cx, "template", TemplateSource::read);
        let path = section.required(cx, "path", file);
        let groups = section.read(cx, "groups", groups_file);
        let domain: Option<HostName> = section.read(cx, "name", parsed);
        let export = Self {
            format: format?,
            template,
            path: path?,
            groups,
            domain: domain.map(|name| name.0.into()),
            nameservers: section.read_or(cx, "nameservers", Vec::new(), |cx, n| {
                some(cx, n, NAMESERVERS, parsed::<HostName>)
                    .map(|l| l.into_iter().map(|n| n.0.into()).collect())
            }),
            ttl: section.read_or(cx, "ttl", seconds(30), ttl),
            space: section
                .read_or(cx, "space", INTERNET.into(), |cx, n| reference(cx, n, "space", |cx| &cx.spaces)),
            service: section.read_or(cx, "service", DEFAULT_SERVICE.into(), name),
            only: section.read_or(cx, "only", Vec::new(), |cx, n| some(cx, n, PATTERNS, parsed)),
            mode: section.read(cx, "mode", parsed).map_or(0o644, |mode: Mode| mode.0),
            group: section.read(cx, "group", name),
            min_interval: section
                .read_or(cx, "min-interval", Duration::ZERO, |cx, n| duration(cx, n, Duration::ZERO)),
            check: section.read(cx, "check", checker),
            check_timeout: section.read_or(cx, "check-timeout", seconds(60), limit),
            reload: section.read(cx, "reload", command),
            reload_timeout: section.read_or(cx, "reload-timeout", seconds(30), limit),
            haproxy_socket: section.read(cx, "haproxy-socket", file),
            canary: section.read(cx, "canary", canary),
        };
        export.needs_domain(cx, &section, &title);
        export.needs_nameservers(cx, &section, &title);
        export.needs_format(cx, &section);
        Some(export)
    }

    /// Whether entries of a BAS are in it.
    pub fn takes(&self, bas: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|glob| glob.matches(bas))
    }

    /// Groups files that hold the domain name, and DNS queries, cannot do without it.
    fn needs_domain(&self, cx: &mut Context, section: &Section<'_>, title: &str) {
        if section.get("name").is_some() {
            return;
        }
        let groups = self.groups.as_ref().is_some_and(|groups| groups.format.needs_domain());
        let dns = matches!(self.canary, Some(Canary { query: Query::Dns(_), .. }));
        let because = match (groups, dns) {
            (true, _) => "groups",
            (false, true) => "canary",
            (false, false) => return,
        };
        let place = section.get(because).map_or(section.place(), |node| node.place);
        let problem = Problem::new(place, format!("this needs the domain name that {title} answers for"));
        cx.wrong(problem.help("expected a key `name` beside it, as name = \"video.cdn.example.net\""));
    }

    /// A file that holds the whole zone cannot do without its name servers.
    fn needs_nameservers(&self, cx: &mut Context, section: &Section<'_>, title: &str) {
        let whole = self.groups.as_ref().is_some_and(|groups| groups.format.as_str() == "pdns");
        if section.get("nameservers").is_some() || !whole {
            return;
        }
        let place = section.get("groups").map_or(section.place(), |node| node.place);
        let problem =
            Problem::new(place, format!("this holds the zone of {title}, which needs its name servers"));
        cx.wrong(
            problem.help("expected a key `nameservers` beside it, as nameservers = [\"ns1.example.net\"]"),
        );
    }

    /// Keys that mean something with one format alone.
    fn needs_format(&self, cx: &mut Context, section: &Section<'_>) {
        for (key, format) in [("template", "template"), ("haproxy-socket", "haproxy-map")] {
            if let Some(node) = section.get(key).filter(|_| self.format.as_str() != format) {
                let problem =
                    Problem::new(node.place, format!("`{key}` goes with format = \"{format}\" alone"));
                cx.wrong(problem.help("expected that format, or no such key"));
            }
        }
    }

    pub(super) fn write(&self, name: &str, out: &mut Writer) {
        out.table(&["export", name]);
        out.string("format", self.format.as_str());
        match &self.template {
            Some(TemplateSource::Shipped(name)) => out.string("template", name),
            Some(TemplateSource::File(path)) => {
                out.raw("template", format_args!("{{ file = {} }}", print::quote(path.display())));
            }
            None => {}
        }
        out.path("path", &self.path);
        if let Some(groups) = &self.groups {
            let (format, path) = (print::quote(groups.format.as_str()), print::quote(groups.path.display()));
            out.raw("groups", format_args!("{{ format = {format}, path = {path} }}"));
        }
        out.optional("name", self.domain.as_ref());
        if !self.nameservers.is_empty() {
            out.strings("nameservers", &self.nameservers);
        }
        out.duration("ttl", self.ttl);
        out.string("space", &self.space);
        out.string("service", &self.service);
        if !self.only.is_empty() {
            out.strings("only", self.only.iter().map(Glob::as_str));
        }
        out.string("mode", format_args!("{:04o}", self.mode));
        out.optional("group", self.group.as_ref());
        out.duration("min-interval", self.min_interval);
        for (key, command, limit) in
            [("check", &self.check, self.check_timeout), ("reload", &self.reload, self.reload_timeout)]
        {
            if let Some(command) = command {
                out.strings(key, command);
            }
            out.duration(&format!("{key}-timeout"), limit);
        }
        if let Some(socket) = &self.haproxy_socket {
            out.path("haproxy-socket", socket);
        }
        if let Some(canary) = &self.canary {
            let (key, server) = match &canary.query {
                Query::Dns(server) => ("dns", server.to_string()),
                Query::Http(url) => ("http", url.clone()),
            };
            let [timeout, every] =
                [canary.timeout, canary.every].map(|time| print::quote(super::duration::show(time)));
            let server = print::quote(server);
            out.raw("canary", format_args!("{{ {key} = {server}, timeout = {timeout}, every = {every} }}"));
        }
    }
}

fn groups_file(cx: &mut Context, node: &Node) -> Option<GroupsFile> {
    let section = Section::open(cx, node, "`groups`", Export::GROUPS_KEYS)?;
    let format = section.required(cx, "format", groups_format);
    let path = section.required(cx, "path", file);
    Some(GroupsFile { format: format?, path: path? })
}

/// A TTL: whole seconds, as a number or as a duration.
fn ttl(cx: &mut Context, node: &Node) -> Option<Duration> {
    match node.value {
        Value::Integer(_) => {
            integer(cx, node, 0..=MAX_TTL).map(|seconds: u32| Duration::from_secs(seconds.into()))
        }
        Value::Text(_) => {
            let ttl = duration(cx, node, Duration::ZERO)?;
            if ttl.subsec_nanos() != 0 {
                cx.wrong(
                    Problem::new(node.place, "a TTL counts whole seconds")
                        .help("expected a duration, as \"30s\""),
                );
                return None;
            }
            Some(ttl)
        }
        _ => wrong_kind(cx, node, "a duration, as \"30s\", or a number of seconds"),
    }
}

/// A command that is given the new file.
fn checker(cx: &mut Context, node: &Node) -> Option<Vec<String>> {
    let arguments = command(cx, node)?;
    if !arguments.iter().skip(1).any(|argument| argument.contains("{file}")) {
        let problem = Problem::new(node.place, "this checks nothing: no argument holds `{file}`");
        cx.wrong(problem.help("expected `{file}` where the new file's name goes, as [\"knotc\", \"-c\", \"{file}\", \"conf-check\"]"));
        return None;
    }
    Some(arguments)
}

fn canary(cx: &mut Context, node: &Node) -> Option<Canary> {
    let section = Section::open(cx, node, "`canary`", Export::CANARY_KEYS)?;
    let timeout = section
        .read_or(cx, "timeout", Duration::from_secs(5), |cx, n| duration(cx, n, Duration::from_millis(1)));
    let every = section
        .read_or(cx, "every", Duration::from_secs(60), |cx, n| duration(cx, n, Duration::from_secs(1)));
    let query = match (section.get("dns"), section.get("http")) {
        (Some(node), None) => Query::Dns(parsed(cx, node)?),
        (None, Some(node)) => Query::Http(url(cx, node)?),
        _ => {
            let problem = Problem::new(node.place, "a canary asks one server");
            cx.wrong(problem.help("expected exactly one of `dns`, `http`"));
            return None;
        }
    };
    Some(Canary { query, timeout, every })
}

fn url(cx: &mut Context, node: &Node) -> Option<String> {
    const EXPECTED: &str = "a URL, as \"http://127.0.0.1:8080/\"";
    let url = text(cx, node, EXPECTED)?;
    let authority =
        url.parse::<hyper::Uri>().is_ok_and(|uri| uri.scheme_str() == Some("http") && uri.host().is_some());
    if !authority {
        cx.wrong(Problem::new(node.place, "this is not an http URL").help(format!("expected {EXPECTED}")));
        return None;
    }
    Some(url.to_owned())
}
