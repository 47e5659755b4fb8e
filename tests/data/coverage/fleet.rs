//! A fleet of three BASes and an old table with planted faults, in each format that is read.
//! Every figure below is worked out by hand from the two lists.

#![allow(dead_code)] // not every test that shares this file uses all of it

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use poolsync::address::Family;
use poolsync::coverage::{Known, Served};
use poolsync::format::{Scope, Stamp, View, by_name};
use poolsync::table::{
    Class, Edge, Entry, Group, GroupEdge, Groups, Name, PoolName, Session, Snapshot, Table, Token,
};

/// Each BAS's pools: 163,840 IPv4 addresses in all. `bas-2` and `bas-2b` are a pair.
const POOLS: [(&str, &str, &str); 6] = [
    ("bas-1", "bas-1", "10.1.0.0/16"),
    ("bas-1", "bas-1", "2001:db8:1::/48"),
    ("bas-2", "pair-2", "10.2.0.0/17"),
    ("bas-2b", "pair-2", "10.2.128.0/17"),
    ("bas-2", "pair-2", "2001:db8:2::/48"),
    ("bas-3", "bas-3", "10.3.0.0/17"),
];

/// The old table: addresses, BAS, edge. Of 163,840 served addresses it has
/// * right: 61,440 of bas-1, 33,024 of bas-2, 16,384 of bas-3,
/// * wrong: 4,096 of bas-1 given to bas-2, 16,384 of bas-3 given to one long gone,
/// * in no row: 32,512 of bas-2b;
///
/// and 1,024 + 256 that nobody serves. In IPv6: one /48 right, one missing, one /64 dead.
pub(crate) const OLD: [(&str, &str, &str); 10] = [
    ("10.1.0.0/16", "bas-1", "e1"),
    ("10.1.128.0/20", "bas-2", "e2"),
    ("10.2.0.0/17", "bas-2", "e2"),
    ("10.2.192.0/24", "bas-2", "e2"),
    ("10.3.0.0/18", "bas-9", "e9"),
    ("10.3.64.0/18", "bas-3", "e3"),
    ("10.8.0.0/22", "bas-1", "e1"),
    ("10.9.0.0/24", "bas-1", "e1"),
    ("2001:db8:1::/48", "bas-1", "e1"),
    ("2001:db8:f::/64", "bas-3", "e3"),
];

fn entry(range: &str, owner: &str, bas: Option<&str>, class: Class) -> Entry {
    Entry {
        space: "internet".into(),
        range: range.parse().unwrap(),
        owner: owner.into(),
        bas: bas.map(Name::from),
        pool: PoolName::new(b"pool"),
        vrf: "".into(),
        class,
    }
}

/// The three BASes, and a static line that fills.
pub(crate) fn snapshot() -> Snapshot {
    let mut entries: Vec<Entry> =
        POOLS.iter().map(|(bas, owner, range)| entry(range, owner, Some(bas), Class::Fresh)).collect();
    entries.push(entry("10.9.0.0/24", "edges:e1", None, Class::Fill));
    made(entries, &[("bas-1", "e1"), ("pair-2", "e2"), ("bas-3", "e3"), ("edges:e1", "e1")])
}

fn made(entries: Vec<Entry>, of_owner: &[(&str, &str)]) -> Snapshot {
    let token = |text: &str| Token::new(text).unwrap();
    let mut groups = Groups::default();
    for (owner, edge) in of_owner {
        let edges = vec![GroupEdge { name: (*edge).into(), weight: 1 }];
        let group = Group { token: token(edge), service: "default".into(), edges };
        groups.groups.insert(group.token.clone(), group);
        groups.of_owner.insert(((*owner).into(), "default".into()), token(edge));
    }
    let edge = |name: &str| Edge {
        name: name.into(),
        addresses: vec![[198, 51, 100, 1].into()],
        host: None,
        region: None,
    };
    let edges: BTreeMap<Name, Edge> =
        ["centre", "e1", "e2", "e3", "e9"].map(|name| (Name::from(name), edge(name))).into();
    Snapshot {
        session: Session(1),
        generation: 1,
        committed: "2026-01-02T03:04:05Z".parse().unwrap(),
        filled: true,
        table: Arc::new(Table::new(entries).unwrap()),
        groups: Arc::new(groups),
        edges: Arc::new(edges),
        default_edge: "centre".into(),
    }
}

/// The names that a configuration of this fleet knows: not those of what is long gone.
pub(crate) fn known() -> Known {
    let mut known = Known::of_snapshot(&snapshot());
    known.edges.remove(&Name::from("e9"));
    known
}

pub(crate) fn served() -> Served {
    let snapshot = snapshot();
    let scope = Scope { space: Some("internet".into()), service: "default".into() };
    Served::of_view(&View::new(&snapshot, &scope).unwrap(), &"internet".into())
}

/// The old table in every format that is read, with a name for each.
pub(crate) fn formats() -> Vec<(&'static str, Vec<u8>)> {
    let lines = |row: fn(&(&str, &str, &str)) -> String| OLD.iter().map(row).collect::<String>();
    let ends = |range: &str| range.parse::<poolsync::address::Range>().unwrap();
    let utf16: String = std::iter::once("\u{feff}first\tlast\tbas\r\n".to_owned())
        .chain(
            OLD.iter()
                .map(|(range, bas, _)| format!("{}\t{}\t{bas}\r\n", ends(range).first(), ends(range).last())),
        )
        .collect();
    let mut all: Vec<(&'static str, Vec<u8>)> = vec![
        ("csv-bas", lines(|(range, bas, _)| format!("{range},{bas}\n")).into_bytes()),
        (
            "csv-edges",
            format!("\u{feff}edges;prefix\r\n{}", lines(|(r, _, e)| format!("{e};{r}\r\n"))).into_bytes(),
        ),
        (
            "csv-both",
            format!("range,bas,edges\n{}", lines(|(r, b, e)| format!("{r},{b},{e}\n"))).into_bytes(),
        ),
        ("utf16", utf16.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("haproxy-map", lines(|(range, _, edge)| format!("{range} {edge}\n")).into_bytes()),
        (
            "nginx-geo",
            format!("geo $edge {{\ndefault centre;\n{}}}\n", lines(|(r, _, e)| format!("{r} {e};\n")))
                .into_bytes(),
        ),
        ("gdnsd-nets", lines(|(range, _, edge)| format!("{range} => [ {edge}, centre ]\n")).into_bytes()),
        ("czf", zones("coverageZones", "")),
        ("czf-deep", zones("deepCoverageZones", ",\"caches\":[\"a\"]")),
        ("bind-acl", lists()),
    ];
    all.extend(["json", "ndjson", "csv", "mmdb"].map(|format| (format, exported(format))));
    all
}

fn by_edge() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut zones: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    OLD.iter().for_each(|(range, _, edge)| zones.entry(edge).or_default().push(range));
    zones
}

fn zones(key: &str, more: &str) -> Vec<u8> {
    let zone = |(edge, ranges): (&str, Vec<&str>)| {
        let list = |v6: bool| {
            let of = ranges.iter().filter(|r| r.contains(':') == v6).map(|r| format!("\"{r}\""));
            of.collect::<Vec<_>>().join(",")
        };
        format!("\"{edge}\":{{\"network\":[{}],\"network6\":[{}]{more}}}", list(false), list(true))
    };
    let zones: Vec<String> = by_edge().into_iter().map(zone).collect();
    format!("{{\"revision\":\"1\",\"{key}\":{{{}}}}}", zones.join(",")).into_bytes()
}

/// BIND takes the first list that matches, so the nested prefix's list comes first.
fn lists() -> Vec<u8> {
    let mut text = String::new();
    for (edge, ranges) in by_edge().into_iter().rev() {
        let _ = writeln!(text, "acl \"{edge}\" {{ {}; }};", ranges.join("; "));
    }
    text.into_bytes()
}

/// What an earlier poolsync would have exported: disjoint.
fn exported(format: &str) -> Vec<u8> {
    let around = ["10.1.0.0-10.1.127.255", "10.1.144.0-10.1.255.255"];
    let rows = OLD.iter().filter(|(range, ..)| *range != "10.1.0.0/16");
    let rows = rows.map(|(range, bas, _)| (*range, *bas)).chain(around.map(|range| (range, "bas-1")));
    let entries = rows.map(|(range, bas)| entry(range, bas, Some(bas), Class::Fresh)).collect();
    let snapshot = made(entries, &[("bas-1", "e1"), ("bas-2", "e2"), ("bas-3", "e3"), ("bas-9", "e9")]);
    let scope = Scope { space: Some("internet".into()), service: "default".into() };
    let view = View::new(&snapshot, &scope).unwrap();
    by_name(format).unwrap().render(&view, &Stamp::from(&snapshot)).unwrap().bytes()
}

/// How many addresses of a family a range has.
pub(crate) fn count(range: &str) -> u128 {
    let range: poolsync::address::Range = range.parse().unwrap();
    assert!(range.family() == Family::V4 || range.span() < u128::MAX);
    range.span() + 1
}
