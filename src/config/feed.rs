//! What edges say of their load: `[edge.NAME.load]`, and how often they are asked: `[load]`.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use super::context::Context;
use super::endpoint::Endpoint;
use super::error::Problem;
use super::node::{Node, Value};
use super::poll::interval;
use super::print::{self, Writer};
use super::secret::{Secret, secret};
use super::section::Section;
use super::service::word;
use super::value::{
    amount, choice, duration, integer, number, parsed, read_as, reference, some, text, wrong_kind,
};
use crate::load::{Direction, Expression, Field, Fields, Interfaces, Pointer, Url};
use crate::steer::Amount;
use crate::table::Name;

/// `[load]`: one reading of all edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadCycle {
    /// From one reading to the next: weights move once in it.
    pub interval: Duration,
    /// How long an edge may take to answer.
    pub timeout: Duration,
}

impl Default for LoadCycle {
    fn default() -> Self {
        Self { interval: Duration::from_secs(60), timeout: Duration::from_secs(5) }
    }
}

impl LoadCycle {
    /// The keys of `[load]`.
    pub(super) const KEYS: &'static [&'static str] = &["interval", "timeout"];

    pub(super) fn read(cx: &mut Context, section: &Section<'_>) -> Self {
        let default = Self::default();
        Self {
            interval: section.read_or(cx, "interval", default.interval, interval),
            timeout: section
                .read_or(cx, "timeout", default.timeout, |cx, n| duration(cx, n, Duration::from_millis(1))),
        }
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["load"]);
        out.duration("interval", self.interval);
        out.duration("timeout", self.timeout);
    }
}

/// `[edge.NAME.load]`: where an edge's load is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// Where.
    pub source: FeedSource,
    /// What the edge can carry, where it is said here and not read.
    pub capacity: Option<Amount>,
}

/// Where an edge's load is read.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedSource {
    /// Octet counters of interfaces, by SNMP.
    Snmp {
        /// The device: the edge, or the switch before it.
        address: Endpoint,
        /// The profile by which it is spoken to.
        snmp: Name,
        /// Its interfaces.
        interfaces: Interfaces,
        /// Which way is counted.
        direction: Direction,
    },
    /// A Prometheus text.
    Prometheus {
        /// Where.
        url: Url,
        /// The `Authorization` header.
        authorization: Option<Secret>,
        /// What is taken from it.
        fields: Box<Fields<Expression>>,
    },
    /// A JSON text.
    Json {
        /// Where.
        url: Url,
        /// The `Authorization` header.
        authorization: Option<Secret>,
        /// What is taken from it.
        fields: Box<Fields<Pointer>>,
    },
    /// Nothing is asked.
    Static,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Snmp,
    Prometheus,
    Json,
    Static,
}

const KINDS: [(&str, Kind); 4] =
    [("snmp", Kind::Snmp), ("prometheus", Kind::Prometheus), ("json", Kind::Json), ("static", Kind::Static)];
const DIRECTIONS: [(&str, Direction); 2] = [("out", Direction::Out), ("in", Direction::In)];
const SNMP_KEYS: [&str; 4] = ["address", "snmp", "interfaces", "direction"];
const HTTP_KEYS: [&str; 5] = ["url", "authorization", "load", "p95-ms", "sessions"];
const EXPRESSION: &str = "a metric, as 'node_load{host=\"e1\"}', 'sum(...)', 'max(...)' or 'rate(...)'";
const POINTER: &str = "a JSON pointer, as \"/traffic/bps\"";

impl Feed {
    /// The keys of `[edge.NAME.load]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "source",
        "address",
        "snmp",
        "interfaces",
        "direction",
        "url",
        "authorization",
        "load",
        "capacity",
        "p95-ms",
        "sessions",
    ];
    /// The keys of a field that has a factor.
    pub(super) const FIELD_KEYS: &'static [&'static str] = &["at", "factor"];

    pub(super) fn read(cx: &mut Context, node: &Node, edge: &str) -> Option<Self> {
        let title = format!("[edge.{}.load]", print::key(edge));
        let section = Section::open(cx, node, &title, Self::KEYS)?;
        let kind = section.required(cx, "source", |cx, n| choice(cx, n, &KINDS))?;
        refuse_others(cx, &section, kind);
        let given = matches!(
            section.get("capacity").map(|node| &node.value),
            Some(Value::Integer(_) | Value::Float(_))
        );
        let capacity = if given || matches!(kind, Kind::Snmp | Kind::Static) {
            section.read(cx, "capacity", amount)
        } else {
            None
        };
        let source = match kind {
            Kind::Snmp => snmp(cx, &section)?,
            Kind::Prometheus => {
                let (url, authorization) = http(cx, &section);
                let fields = fields(cx, &section, given, EXPRESSION);
                FeedSource::Prometheus { url: url?, authorization, fields: fields? }
            }
            Kind::Json => {
                let (url, authorization) = http(cx, &section);
                let fields = fields(cx, &section, given, POINTER);
                FeedSource::Json { url: url?, authorization, fields: fields? }
            }
            Kind::Static => {
                section.required(cx, "capacity", |_, _| Some(()))?;
                FeedSource::Static
            }
        };
        Some(Self { source, capacity })
    }

    pub(super) fn write(&self, edge: &str, out: &mut Writer) {
        out.table(&["edge", edge, "load"]);
        out.string("source", word(&KINDS, self.kind()));
        match &self.source {
            FeedSource::Snmp { address, snmp, interfaces, direction } => {
                out.string("address", address);
                out.string("snmp", snmp);
                match interfaces {
                    Interfaces::Names(names) => out.strings("interfaces", names),
                    Interfaces::Indexes(indexes) => out.raw("interfaces", format_args!("{indexes:?}")),
                }
                out.string("direction", word(&DIRECTIONS, *direction));
            }
            FeedSource::Prometheus { url, authorization, fields } => {
                write_http(url, authorization.as_ref(), fields, out);
            }
            FeedSource::Json { url, authorization, fields } => {
                write_http(url, authorization.as_ref(), fields, out);
            }
            FeedSource::Static => {}
        }
        if let Some(capacity) = self.capacity {
            out.raw("capacity", capacity.get());
        }
    }

    const fn kind(&self) -> Kind {
        match &self.source {
            FeedSource::Snmp { .. } => Kind::Snmp,
            FeedSource::Prometheus { .. } => Kind::Prometheus,
            FeedSource::Json { .. } => Kind::Json,
            FeedSource::Static => Kind::Static,
        }
    }

    /// Whether it tells a load.
    pub fn tells_load(&self) -> bool {
        match &self.source {
            FeedSource::Snmp { .. } => true,
            FeedSource::Prometheus { fields, .. } => fields.load.is_some(),
            FeedSource::Json { fields, .. } => fields.load.is_some(),
            FeedSource::Static => false,
        }
    }

    /// Whether it tells a capacity.
    pub fn tells_capacity(&self) -> bool {
        self.capacity.is_some()
            || match &self.source {
                FeedSource::Snmp { .. } => true,
                FeedSource::Prometheus { fields, .. } => fields.capacity.is_some(),
                FeedSource::Json { fields, .. } => fields.capacity.is_some(),
                FeedSource::Static => false,
            }
    }

    /// Whether it tells a delay.
    pub fn tells_delay(&self) -> bool {
        match &self.source {
            FeedSource::Prometheus { fields, .. } => fields.p95_ms.is_some(),
            FeedSource::Json { fields, .. } => fields.p95_ms.is_some(),
            FeedSource::Snmp { .. } | FeedSource::Static => false,
        }
    }
}

/// Keys that another source has.
fn refuse_others(cx: &mut Context, section: &Section<'_>, kind: Kind) {
    let of_http = "goes with `source = \"prometheus\"` and `\"json\"` alone";
    let of_snmp = "goes with `source = \"snmp\"` alone";
    if kind != Kind::Snmp {
        for key in SNMP_KEYS {
            section.refuse(cx, key, of_snmp);
        }
    }
    if !matches!(kind, Kind::Prometheus | Kind::Json) {
        for key in HTTP_KEYS {
            section.refuse(cx, key, of_http);
        }
    }
}

fn snmp(cx: &mut Context, section: &Section<'_>) -> Option<FeedSource> {
    let address = section.required(cx, "address", parsed);
    let snmp = section.required(cx, "snmp", |cx, n| reference(cx, n, "snmp", |cx| &cx.profiles));
    let interfaces = section.required(cx, "interfaces", interfaces);
    let direction =
        section.read_or(cx, "direction", Direction::default(), |cx, n| choice(cx, n, &DIRECTIONS));
    Some(FeedSource::Snmp { address: address?, snmp: snmp?, interfaces: interfaces?, direction })
}

fn interfaces(cx: &mut Context, node: &Node) -> Option<Interfaces> {
    const EXPECTED: &str = "a list of interfaces by name, as [\"eth0\"], or by index, as [3]";
    let indexes = match &node.value {
        Value::List(items) => items.iter().all(|item| matches!(item.value, Value::Integer(_))),
        _ => return wrong_kind(cx, node, EXPECTED),
    };
    if indexes {
        let read = |cx: &mut Context, node: &Node| integer(cx, node, 1..=i64::from(i32::MAX));
        return some(cx, node, EXPECTED, read).map(Interfaces::Indexes);
    }
    some(cx, node, EXPECTED, |cx, node| {
        text(cx, node, "the name of an interface").filter(|name| !name.is_empty()).map(str::to_owned)
    })
    .map(Interfaces::Names)
}

fn http(cx: &mut Context, section: &Section<'_>) -> (Option<Url>, Option<Secret>) {
    let title = section.title().to_owned();
    let url =
        section.required(cx, "url", |cx, n| read_as(cx, n, "a URL, as \"http://192.0.2.10:9100/metrics\""));
    let authorization = section.read(cx, "authorization", |cx, n| secret(cx, n, 1, &title));
    (url, authorization)
}

/// The fields; at least the load or the delay, or else nothing would be read.
fn fields<P: FromStr<Err: Display>>(
    cx: &mut Context,
    section: &Section<'_>,
    capacity_given: bool,
    expected: &str,
) -> Option<Box<Fields<P>>> {
    let before = cx.problems.len();
    let mut one = |key: &'static str| section.read(cx, key, |cx, n| field(cx, n, expected));
    let load = one("load");
    let capacity = if capacity_given { None } else { one("capacity") };
    let (p95_ms, sessions) = (one("p95-ms"), one("sessions"));
    let none = load.is_none() && p95_ms.is_none() && capacity.is_none() && sessions.is_none();
    if none && cx.problems.len() == before {
        let problem = Problem::new(section.place(), format!("{} reads nothing", section.title()));
        cx.wrong(problem.help("expected at least one of `load`, `capacity`, `p95-ms`, `sessions`"));
        return None;
    }
    (cx.problems.len() == before).then(|| Box::new(Fields { load, capacity, p95_ms, sessions }))
}

/// A place, or a place and a factor.
fn field<P: FromStr<Err: Display>>(cx: &mut Context, node: &Node, expected: &str) -> Option<Field<P>> {
    let Value::Table(_) = node.value else {
        return read_as(cx, node, expected).map(|place| Field { place, factor: 1.0 });
    };
    let section = Section::open(cx, node, "a field", Feed::FIELD_KEYS)?;
    let place = section.required(cx, "at", |cx, n| read_as(cx, n, expected));
    let factor = section.read_or(cx, "factor", 1.0, |cx, n| {
        number(cx, n, f64::MIN_POSITIVE..=f64::MAX, "a number greater than 0")
    });
    place.map(|place| Field { place, factor })
}

fn write_http<P: Display>(url: &Url, authorization: Option<&Secret>, fields: &Fields<P>, out: &mut Writer) {
    out.string("url", url);
    if let Some(authorization) = authorization {
        out.secret("authorization", authorization);
    }
    let all = [
        ("load", &fields.load),
        ("capacity", &fields.capacity),
        ("p95-ms", &fields.p95_ms),
        ("sessions", &fields.sessions),
    ];
    for (key, field) in all {
        match field {
            Some(field) if field.factor == 1.0 => out.string(key, &field.place),
            Some(field) => {
                let at = print::quote(&field.place);
                out.raw(key, format_args!("{{ at = {at}, factor = {} }}", field.factor));
            }
            None => {}
        }
    }
}
