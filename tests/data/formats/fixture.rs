//! The snapshot that the golden files of this folder show, and what it is made of.

#![allow(dead_code)] // not every test that shares this file uses all of it

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use poolsync::table::{
    Class, Edge, Entry, Group, GroupEdge, Groups, Name, PoolName, Session, Snapshot, Table, Token,
};

pub(crate) fn token(text: &str) -> Token {
    Token::new(text).unwrap()
}

pub(crate) fn entry(
    space: &str,
    range: &str,
    owner: &str,
    bas: Option<&str>,
    pool: PoolName,
    vrf: &str,
) -> Entry {
    Entry {
        space: space.into(),
        range: range.parse().unwrap(),
        owner: owner.into(),
        bas: bas.map(Name::from),
        pool,
        vrf: vrf.into(),
        class: if bas.is_some() { Class::Fresh } else { Class::Override },
    }
}

pub(crate) fn edge(name: &str, addresses: &[&str], host: Option<&str>, region: Option<&str>) -> Edge {
    let addresses = addresses.iter().map(|a| a.parse::<IpAddr>().unwrap()).collect();
    Edge { name: name.into(), addresses, host: host.map(Name::from), region: region.map(Name::from) }
}

pub(crate) fn group(name: &str, edges: &[(&str, u32)]) -> Group {
    let edges = edges.iter().map(|(name, weight)| GroupEdge { name: (*name).into(), weight: *weight });
    Group { token: token(name), service: "default".into(), edges: edges.collect() }
}

pub(crate) fn groups(groups: &[Group], of_owner: &[(&str, &str)]) -> Groups {
    Groups {
        groups: groups.iter().map(|g| (g.token.clone(), g.clone())).collect(),
        of_owner: of_owner
            .iter()
            .map(|(owner, t)| ((Name::from(*owner), Name::from("default")), token(t)))
            .collect(),
        ..Groups::default()
    }
}

pub(crate) fn snapshot(entries: Vec<Entry>, groups: Groups, edges: &[Edge], default_edge: &str) -> Snapshot {
    let edges: BTreeMap<Name, Edge> = edges.iter().map(|e| (e.name.clone(), e.clone())).collect();
    Snapshot {
        session: Session(0xaa),
        generation: 42,
        committed: "2026-01-02T03:04:05Z".parse().unwrap(),
        filled: true,
        table: Arc::new(Table::new(entries).unwrap()),
        groups: Arc::new(groups),
        edges: Arc::new(edges),
        default_edge: default_edge.into(),
    }
}

/// Two spaces, both families, both ends of IPv4's, touching rows of one group, names that
/// no file format likes, an edge of one family, one without any address, a group that no
/// row uses.
pub(crate) fn fixed() -> Snapshot {
    let (tianhe, pair) = (Some("gz-tianhe-1"), Some("hz-1"));
    let gbk = PoolName::decoded(b"\xb9\xe3", "\u{5e7f}");
    let hostile = PoolName::new(b"a\"b\nc;d # e");
    let entries = vec![
        entry("iptv", "10.0.0.0/24", "hz-pair", pair, hostile, "iptv"),
        entry("internet", "2001:db8:200::/41", "hz-pair", pair, PoolName::new(b"six"), "Base"),
        entry("internet", "2001:db8:100::/40", "gz-tianhe-1", tianhe, PoolName::new(b"six"), ""),
        entry("internet", "255.255.255.255", "hz-pair", pair, PoolName::new(b"top"), ""),
        entry("internet", "203.0.113.0/24", "edges:sh-01", None, PoolName::new(b""), ""),
        entry("internet", "131.1.1.0-131.1.10.255", "hz-pair", pair, gbk, "Base"),
        entry("internet", "10.0.1.0/25", "gz-tianhe-1", tianhe, PoolName::new(b"=1+1,2"), "global"),
        entry("internet", "10.0.0.0/24", "gz-tianhe-1", tianhe, PoolName::new(b"pool1"), ""),
    ];
    let groups = groups(
        &[
            group("gz-01", &[("gz-01", 1)]),
            group("g-0a1b2c3d4e", &[("gz-02", 3), ("gz-01", 1)]),
            group("sh-01", &[("sh-01", 1)]),
            group("gz-02", &[("gz-02", 1)]),
        ],
        &[("gz-tianhe-1", "gz-01"), ("hz-pair", "g-0a1b2c3d4e"), ("edges:sh-01", "sh-01")],
    );
    let edges = [
        edge("centre", &["198.51.100.1"], Some("centre.cdn.example.net"), None),
        edge("gz-01", &["198.51.100.10", "2001:db8:1::10"], None, Some("south")),
        edge("gz-02", &["198.51.100.11"], Some("gz-02.cdn.example.net"), Some("south")),
        edge("sh-01", &[], Some("SH-01.cdn.example.net."), Some("east \"1\"")),
    ];
    snapshot(entries, groups, &edges, "centre")
}
