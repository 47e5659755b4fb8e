//! The routers: `[bas.NAME]`, a row of the inventory, a file of `bas.d`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::context::Context;
use super::distance::{pairs, place, write_pairs, write_place};
use super::endpoint::Endpoint;
use super::error::Problem;
use super::node::{Entry, Node, Value};
use super::place::{VRFS, vrf};
use super::poll::{Overrides, interval};
use super::print::{self, Writer};
use super::section::Section;
use super::text::Encoding;
use super::value::{amount, boolean, integer, list, name, parsed, reference, some, wrong_kind};
use crate::mib::Glob;
use crate::steer::{Amount, Place};
use crate::table::Name;

/// The service that is meant where none is named.
pub const DEFAULT_SERVICE: &str = "default";

/// `[bas.NAME]`: a router that is polled.
#[derive(Clone, Debug, PartialEq)]
pub struct Bas {
    /// Its name.
    pub name: Name,
    /// Where its agent listens.
    pub address: Endpoint,
    /// The profile (`[snmp.NAME]`) by which it is spoken to.
    pub snmp: Name,
    /// Which descriptor its tables are read by.
    pub mib: Descriptor,
    /// Its edges by service, nearest first. There is always the `default` service; no list
    /// is empty.
    pub edges: BTreeMap<Name, Vec<Name>>,
    /// Its region.
    pub region: Option<Name>,
    /// Where it stands.
    pub place: Option<Place>,
    /// How far edges are from it; as the file of distances or the places say where it is none.
    pub distance: BTreeMap<Name, Amount>,
    /// The traffic of its viewers, in the unit of the edges' loads.
    pub demand: Option<Amount>,
    /// Who wins where claims overlap: the higher one.
    pub priority: i32,
    /// The pair that it is one owner with.
    pub pair: Option<Name>,
    /// The VRFs whose pools are taken; all where none are named.
    pub vrfs: Option<Vec<Name>>,
    /// Which pools are taken.
    pub pools: PoolFilter,
    /// From one poll to the next; as `[poll]` says where it is none.
    pub interval: Option<Duration>,
    /// The encoding of pool names; as the profile says where it is none.
    pub encoding: Option<Encoding>,
    /// Whether its pool groups stand for the VRFs of their names; as the descriptor says where
    /// it is none.
    pub group_as_vrf: Option<bool>,
    /// What it sets differently from its profile and `[poll]`.
    pub overrides: Overrides,
}

/// By which descriptor a BAS is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Descriptor {
    /// By the one that its sysObjectID asks for; never by a fallback.
    #[default]
    Auto,
    /// By this one.
    Named(Name),
}

/// Which pools of a BAS are taken: those that some `include` fits (all where there is
/// none) and no `exclude` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolFilter {
    /// Patterns of pools to take.
    pub include: Vec<Glob>,
    /// Patterns of pools to leave.
    pub exclude: Vec<Glob>,
}

impl PoolFilter {
    /// The keys of `pools`.
    pub(super) const KEYS: &'static [&'static str] = &["include", "exclude"];

    /// Whether a pool of this name (as text) is taken.
    pub fn takes(&self, pool: &str) -> bool {
        let fits = |patterns: &[Glob]| patterns.iter().any(|pattern| pattern.matches(pool));
        (self.include.is_empty() || fits(&self.include)) && !fits(&self.exclude)
    }

    fn read(cx: &mut Context, node: &Node) -> Option<Self> {
        const PATTERNS: &str = "a list of patterns, as [\"iptv-*\"]";
        let section = Section::open(cx, node, "`pools`", Self::KEYS)?;
        let include = section.read_or(cx, "include", Vec::new(), |cx, n| list(cx, n, PATTERNS, parsed));
        let exclude = section.read_or(cx, "exclude", Vec::new(), |cx, n| list(cx, n, PATTERNS, parsed));
        Some(Self { include, exclude })
    }
}

impl Bas {
    /// The keys of `[bas.NAME]`.
    pub(super) const KEYS: &'static [&'static str] = &[
        "address",
        "snmp",
        "mib",
        "edges",
        "region",
        "place",
        "distance",
        "demand",
        "priority",
        "pair",
        "vrfs",
        "pools",
        "interval",
        "encoding",
        "group-as-vrf",
        "timeout",
        "retries",
        "deadline",
        "max-rows",
        "max-bytes",
        "max-requests",
        "max-repetitions",
        "msg-max-size",
        "pps",
        "source",
        "reply-from",
    ];

    /// Who owns what it lists: its pair, else itself.
    pub fn owner(&self) -> &Name {
        self.pair.as_ref().unwrap_or(&self.name)
    }

    pub(super) fn read(cx: &mut Context, entry: &Entry) -> Option<Self> {
        let title = format!("[bas.{}]", print::key(&entry.key));
        owner(cx, &entry.key_node());
        let section = Section::open(cx, &entry.node, &title, Self::KEYS)?;
        let address = section.required(cx, "address", parsed);
        let snmp = section.required(cx, "snmp", |cx, n| reference(cx, n, "snmp", |cx| &cx.profiles));
        let mib = section.read_or(cx, "mib", Descriptor::Auto, |cx, n| name(cx, n).map(Descriptor::of));
        let edges = section.required(cx, "edges", by_service);
        let region = section.read(cx, "region", name);
        let place = section.read(cx, "place", place);
        let distance = section.read_or(cx, "distance", BTreeMap::new(), pairs);
        let demand = section.read(cx, "demand", amount);
        let priority =
            section.read_or(cx, "priority", 0, |cx, n| integer(cx, n, i32::MIN.into()..=i32::MAX.into()));
        let pair = section.read(cx, "pair", owner);
        let vrfs = section.read(cx, "vrfs", |cx, n| some(cx, n, VRFS, vrf));
        let pools = section.read_or(cx, "pools", PoolFilter::default(), PoolFilter::read);
        let interval = section.read(cx, "interval", interval);
        let encoding = section.read(cx, "encoding", parsed);
        let group_as_vrf = section.read(cx, "group-as-vrf", boolean);
        let overrides = Overrides::read(cx, &section);
        let name = entry.key.as_str().into();
        let (address, snmp, edges) = (address?, snmp?, edges?);
        Some(Self {
            name,
            address,
            snmp,
            mib,
            edges,
            region,
            place,
            distance,
            demand,
            priority,
            pair,
            vrfs,
            pools,
            interval,
            encoding,
            group_as_vrf,
            overrides,
        })
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.table(&["bas", &self.name]);
        out.string("address", &self.address);
        out.string("snmp", &self.snmp);
        out.string("mib", self.mib.as_str());
        write_edges(&self.edges, out);
        out.optional("region", self.region.as_ref());
        write_place(self.place, out);
        write_pairs(&self.distance, out);
        if let Some(demand) = self.demand {
            out.raw("demand", demand.get());
        }
        out.raw("priority", self.priority);
        out.optional("pair", self.pair.as_ref());
        if let Some(vrfs) = &self.vrfs {
            out.strings("vrfs", vrfs);
        }
        let PoolFilter { include, exclude } = &self.pools;
        if !include.is_empty() || !exclude.is_empty() {
            let patterns = |globs: &[Glob]| print::list(globs.iter().map(Glob::as_str));
            out.raw(
                "pools",
                format_args!("{{ include = {}, exclude = {} }}", patterns(include), patterns(exclude)),
            );
        }
        out.optional("interval", self.interval.map(super::duration::show));
        out.optional("encoding", self.encoding.map(|encoding| encoding.0.name()));
        if let Some(group_as_vrf) = self.group_as_vrf {
            out.raw("group-as-vrf", group_as_vrf);
        }
        self.overrides.write(out);
    }
}

impl Descriptor {
    fn of(name: Name) -> Self {
        if &*name == "auto" { Self::Auto } else { Self::Named(name) }
    }

    /// The word in the configuration.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Named(name) => name,
        }
    }
}

/// A name that owns addresses. Static lines that name edges own under `edges:`.
fn owner(cx: &mut Context, node: &Node) -> Option<Name> {
    let name = name(cx, node)?;
    if name.starts_with(super::statics::OWNER_PREFIX) {
        let message =
            format!("names that begin with `{}` are those of static lines", super::statics::OWNER_PREFIX);
        cx.wrong(Problem::new(node.place, message).help("expected another name"));
        return None;
    }
    Some(name)
}

/// Edges as a list, or as a table of lists by service.
fn by_service(cx: &mut Context, node: &Node) -> Option<BTreeMap<Name, Vec<Name>>> {
    let Value::Table(entries) = &node.value else {
        return Some([(DEFAULT_SERVICE.into(), edges(cx, node)?)].into());
    };
    if node.get(DEFAULT_SERVICE).is_none() {
        let problem = Problem::new(node.place, format!("`edges` lacks the service `{DEFAULT_SERVICE}`"));
        cx.wrong(problem.help("expected its edges: for every service that has no list here"));
        return None;
    }
    let read: Vec<_> = entries.iter().map(|entry| service(cx, entry)).collect();
    read.into_iter().collect()
}

fn service(cx: &mut Context, entry: &Entry) -> Option<(Name, Vec<Name>)> {
    let service = name(cx, &entry.key_node());
    let edges = edges(cx, &entry.node);
    Some((service?, edges?))
}

/// A list of at least one edge, none of them twice.
pub(super) fn edges(cx: &mut Context, node: &Node) -> Option<Vec<Name>> {
    const EDGES: &str = "a list of at least one edge, as [\"gz-01\"], nearest first";
    if !matches!(node.value, Value::List(_) | Value::Cell(_)) {
        return wrong_kind(cx, node, &format!("{EDGES}, or a table of such lists by service"));
    }
    let mut seen: Vec<Name> = Vec::new();
    some(cx, node, EDGES, |cx, node| {
        let edge = reference(cx, node, "edge", |cx| &cx.edges)?;
        if seen.contains(&edge) {
            cx.wrong(Problem::new(node.place, format!("`{edge}` stands in this list twice")));
            return None;
        }
        seen.push(edge.clone());
        Some(edge)
    })
}

fn write_edges(edges: &BTreeMap<Name, Vec<Name>>, out: &mut Writer) {
    match edges.get(DEFAULT_SERVICE) {
        Some(only) if edges.len() == 1 => out.strings("edges", only),
        _ => {
            let lists: Vec<String> = edges
                .iter()
                .map(|(service, list)| format!("{} = {}", print::key(service), print::list(list)))
                .collect();
            out.raw("edges", format_args!("{{ {} }}", lists.join(", ")));
        }
    }
}
