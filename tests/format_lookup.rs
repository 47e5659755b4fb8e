//! Every format answers every address as the table does, and as every other format.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use std::net::IpAddr;
use std::process::Command;

use fixture::{edge, group, groups, snapshot, token};
use poolsync::address::{Family, Range};
use poolsync::format::groups::{Context, groups_formats};
use poolsync::format::{
    Format, Mismatch, ReadBack, RenderError, Scope, Stamp, View, ViewError, by_name, formats,
};
use poolsync::table::{Class, Entry, Group, Name, PoolName, Snapshot, Table, Token};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

const OWNERS: [&str; 4] = ["bas-a", "bas-b", "bas-c", "bas-d"];

/// Four owners, two of which share a group; another's group is the default's.
fn table(entries: Vec<Entry>) -> Snapshot {
    let groups = groups(
        &[
            group("gz-01", &[("gz-01", 1)]),
            group("gz-02", &[("gz-02", 1)]),
            group("centre", &[("centre", 1)]),
        ],
        &[("bas-a", "gz-01"), ("bas-b", "gz-01"), ("bas-c", "gz-02"), ("bas-d", "centre")],
    );
    let edges = ["gz-01", "gz-02", "centre"].map(|name| edge(name, &["198.51.100.1"], None, None));
    snapshot(entries, groups, &edges, "centre")
}

fn entry(range: Range, owner: &str, pool: &str) -> Entry {
    Entry {
        space: "internet".into(),
        range,
        owner: owner.into(),
        bas: Some(owner.into()),
        pool: PoolName::new(pool.as_bytes()),
        vrf: "".into(),
        class: Class::Fresh,
    }
}

/// The entry with these for BAS, pool and VRF.
fn named(entry: Entry, names: &[String]) -> Entry {
    let [bas, pool, vrf] = names else { panic!("{names:?}") };
    let bas = Some(bas.as_str()).filter(|bas| !bas.is_empty()).map(Name::from);
    Entry { bas, pool: PoolName::new(pool.as_bytes()), vrf: vrf.as_str().into(), ..entry }
}

fn internet() -> Scope {
    Scope { space: Some("internet".into()), service: "default".into() }
}

fn written(format: &dyn Format, snapshot: &Snapshot) -> (Vec<u8>, ReadBack) {
    let view = View::new(snapshot, &internet()).unwrap();
    let bytes = format.render(&view, &Stamp::from(snapshot)).unwrap().bytes();
    let read = format.read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", format.name()));
    read.verify(&view, format.excluded()).unwrap_or_else(|e| panic!("{}: {e}", format.name()));
    format.prove(&bytes, &view).unwrap_or_else(|e| panic!("{}: {e}", format.name()));
    // Its own file takes no second look, whatever names are in it.
    assert_eq!(format.proves(&bytes, &view), Some(()), "{}", format.name());
    (bytes, read)
}

/// What is wrong with a file, read whole and compared.
fn slowly(format: &dyn Format, file: &[u8], view: &View<'_>) -> Result<(), String> {
    let read = format.read(file).map_err(|e| e.to_string())?;
    read.verify(view, format.excluded()).map_err(|e| e.to_string())
}

/// The obviously right answer of a format that cannot speak of every address.
fn carried(format: &dyn Format, snapshot: &Snapshot, address: IpAddr) -> Option<Token> {
    let excluded = format.excluded().iter().any(|range| range.contains(address));
    if excluded { None } else { scan(snapshot, address) }
}

/// The obviously right answer.
fn scan(snapshot: &Snapshot, address: IpAddr) -> Option<Token> {
    let entry =
        snapshot.table.entries().iter().find(|e| &*e.space == "internet" && e.range.contains(address));
    entry.map(|e| snapshot.groups.of(&e.owner, &"default".into()).unwrap().token.clone())
}

/// Cuts a family's space (or a small part of it) into pieces and gives some to owners.
fn rows(family: Family, base: u128, cuts: Vec<(u16, Option<usize>)>, shift: u32) -> Vec<Entry> {
    let mut cuts: Vec<(u128, Option<usize>)> =
        cuts.into_iter().map(|(at, owner)| (base + (u128::from(at) << shift), owner)).collect();
    cuts.sort_unstable();
    cuts.dedup_by_key(|cut| cut.0);
    let ends = cuts.iter().skip(1).map(|cut| cut.0 - 1).chain([family.max()]);
    let pieces = cuts.iter().zip(ends).filter_map(|((first, owner), last)| {
        let owner = OWNERS[(*owner)?];
        Some(entry(Range::from_bits(family, *first, last)?, owner, "p"))
    });
    pieces.collect()
}

fn cuts() -> impl Strategy<Value = Vec<(u16, Option<usize>)>> {
    vec((any::<u16>(), prop::option::of(0..OWNERS.len())), 0..40)
}

fn random_table() -> impl Strategy<Value = Vec<Entry>> {
    (cuts(), cuts(), 0..=16u32, 0..=112u32).prop_map(|(v4, v6, low4, low6)| {
        let mut entries = rows(Family::V4, 0, v4, low4);
        // IPv6 below ::/96 is not what the formats can agree on; see mmdb.
        entries.extend(rows(Family::V6, 1 << 32, v6, low6));
        entries
    })
}

/// The addresses where answers change, and their neighbours.
fn edges_of(entries: &[Entry]) -> Vec<IpAddr> {
    let ends = entries.iter().flat_map(|e| {
        let (first, last, max) = (e.range.first_bits(), e.range.last_bits(), e.range.family().max());
        let all = [first.saturating_sub(1), first, last, last.saturating_add(1).min(max)];
        all.map(|bits| (e.range.family(), bits))
    });
    let outer = Family::ALL.into_iter().flat_map(|f| [(f, 0), (f, f.max())]);
    let carried = |(family, bits): &(Family, u128)| *family == Family::V4 || *bits >= 1 << 32;
    ends.chain(outer).filter(carried).map(|(family, bits)| family.address(bits)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A proof in one pass takes no file that reading and comparing does not take: not that of
    /// another table, none that was altered, lengthened or cut short.
    #[test]
    fn proving_is_as_strict_as_reading_and_comparing(
        (entries, others) in (random_table(), random_table()),
        kept in vec(any::<bool>(), 80),
        damages in vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 12),
        names in vec("([a-z0-9]{1,9}|[=,'\"\\\\\n\ra-é＝ -]{0,5})", 3),
    ) {
        let entries: Vec<Entry> = entries.into_iter().map(|entry| named(entry, &names)).collect();
        // A table that differs a little, and one that does a lot.
        let fewer = entries.iter().zip(kept.iter().chain(std::iter::repeat(&true)));
        let fewer: Vec<Entry> = fewer.filter(|(_, kept)| **kept).map(|(entry, _)| entry.clone()).collect();
        let snapshots = [entries, fewer, others].map(table);
        for format in formats() {
            let (file, _) = written(*format, &snapshots[0]);
            for other in &snapshots {
                let view = View::new(other, &internet()).unwrap();
                let proven = format.prove(&file, &view).map_err(|e| e.to_string());
                prop_assert_eq!(proven, slowly(*format, &file, &view), "{}", format.name());
            }
            let view = View::new(&snapshots[0], &internet()).unwrap();
            // Of no rows, ndjson has no octet.
            for (at, octet, kind) in damages.iter().filter(|_| !file.is_empty()) {
                let (mut damaged, at) = (file.clone(), at.index(file.len()));
                match kind {
                    0 => damaged[at] = *octet,
                    1 => damaged.insert(at, *octet),
                    2 => drop(damaged.remove(at)),
                    _ => damaged.truncate(at),
                }
                let proven = format.prove(&damaged, &view).map_err(|e| e.to_string());
                prop_assert_eq!(proven, slowly(*format, &damaged, &view), "{}", format.name());
            }
        }
    }

    #[test]
    fn every_format_answers_as_a_slow_scan(entries in random_table(), more in vec(any::<u32>(), 20)) {
        let probes: Vec<IpAddr> = edges_of(&entries)
            .into_iter()
            .chain(more.into_iter().map(|bits| Family::V4.address(bits.into())))
            .collect();
        let snapshot = table(entries);
        for format in formats() {
            let (_, read) = written(*format, &snapshot);
            for probe in &probes {
                let wanted = carried(*format, &snapshot, *probe).or(read.default().cloned());
                prop_assert_eq!(read.lookup("internet", *probe), wanted.as_ref(), "{} {}", format.name(), probe);
            }
        }
    }

    /// The MMDB, looked up by a library that nobody here wrote.
    #[test]
    fn an_mmdb_answers_others_as_a_slow_scan(entries in random_table()) {
        let probes = edges_of(&entries);
        let snapshot = table(entries);
        let (bytes, _) = written(by_name("mmdb").unwrap(), &snapshot);
        let reader = maxminddb::Reader::from_source(bytes.as_slice()).unwrap();
        for probe in probes {
            let record: Value = reader.lookup(probe).unwrap().decode().unwrap().unwrap();
            let wanted = scan(&snapshot, probe).unwrap_or(token("centre"));
            prop_assert_eq!(&record["edge"], wanted.as_str(), "{}", probe);
            let entry = snapshot.table.lookup("internet", probe);
            prop_assert_eq!(record["bas"].as_str(), entry.and_then(|e| e.bas.as_deref()), "{}", probe);
        }
    }

    /// Whatever routers call their pools and VRFs, and people their BASes: no line or
    /// directive breaks, and nothing but the rows is said.
    #[test]
    fn hostile_names_stay_data(
        pool in vec(any::<u8>(), 0..40),
        vrf in ".{0,20}",
        bas in "[\\PC\\pC]{1,20}",
        leads in "[=+@'\t\r\n\"-].{0,9}",
    ) {
        let mut entries = vec![
            entry("10.0.0.0/8".parse().unwrap(), "bas-a", "p"),
            entry("2001:db8::/32".parse().unwrap(), "bas-c", &leads),
        ];
        entries[0].pool = PoolName::new(&pool);
        entries[0].vrf = vrf.as_str().into();
        entries[0].bas = Some(bas.as_str().into());
        let plain = table(vec![
            entry("10.0.0.0/8".parse().unwrap(), "bas-a", "p"),
            entry("2001:db8::/32".parse().unwrap(), "bas-c", "p"),
        ]);
        let snapshot = table(entries);
        for format in formats() {
            let (bytes, read) = written(*format, &snapshot);
            prop_assert_eq!(read.rows().len(), if format.name() == "nginx-geo-ranges" { 1 } else { 2 });
            if !matches!(format.name(), "json" | "ndjson" | "csv" | "mmdb") {
                prop_assert_eq!(bytes, written(*format, &plain).0, "{}", format.name());
            }
        }
        csv_gives_back(&snapshot, &[&bas, PoolName::new(&pool).text(), &vrf, &leads])?;
    }

    /// Any one stretch of addresses answered otherwise is found.
    #[test]
    fn a_table_is_not_verified_against_another(
        entries in random_table(),
        at in any::<prop::sample::Index>(),
        how in 0..3u8,
    ) {
        prop_assume!(!entries.is_empty());
        let snapshot = table(entries.clone());
        let mut other = entries;
        let at = at.index(other.len());
        let owner = scan(&snapshot, other[at].range.first()).unwrap();
        let altered = match how {
            2 => Range::single(other[at].range.first()),
            _ => other[at].range,
        };
        match how {
            0 => drop(other.remove(at)),
            1 => other[at].owner = if owner == token("gz-02") { "bas-a".into() } else { "bas-c".into() },
            _ => {
                let range = other[at].range;
                prop_assume!(range.span() > 0);
                other[at].range =
                    Range::from_bits(range.family(), range.first_bits() + 1, range.last_bits()).unwrap();
            }
        }
        let other = table(other);
        let view = View::new(&other, &internet()).unwrap();
        for format in formats() {
            let (_, read) = written(*format, &snapshot);
            // Without the default's rows nothing is lost where the default is in the file.
            let unsaid = format.excluded().iter().any(|range| range.covers(altered));
            let same = unsaid || how != 1 && owner == token("centre") && read.default().is_some();
            let found = read.verify(&view, format.excluded());
            prop_assert_eq!(found.is_ok(), same, "{} {:?}", format.name(), found);
        }
    }
}

/// A program that reads the CSV as RFC 4180 says and drops one leading apostrophe has the
/// names; none of its cells is a formula to a spreadsheet.
fn csv_gives_back(snapshot: &Snapshot, names: &[&str]) -> Result<(), TestCaseError> {
    let (bytes, _) = written(by_name("csv").unwrap(), snapshot);
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let mut cells = vec![];
    for record in reader.records() {
        for cell in &record.unwrap() {
            prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{:?}", cell);
            cells.push(cell.strip_prefix('\'').unwrap_or(cell).to_owned());
        }
    }
    for name in names {
        prop_assert!(cells.iter().any(|cell| cell == name), "{:?} in {:?}", name, cells);
    }
    Ok(())
}

/// A fixed sequence of numbers (xorshift64), so that a failure can be seen again.
fn numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn ten_thousand_addresses_are_answered_alike_by_all_formats() {
    let mut next = numbers(0x9e37_79b9_7f4a_7c15);
    let mut entries: Vec<Entry> = vec![];
    for at in 0..2000u32 {
        // Pieces of 10/8 and 2001:db8::/32 with gaps, of lengths that are no powers of two.
        let (from, length) = (at * 8192, 1 + next() % 8000);
        let owner = OWNERS[(next() % 4) as usize];
        let first = 0x0a00_0000 + u128::from(from);
        let v4 = Range::from_bits(Family::V4, first, first + u128::from(length)).unwrap();
        let first = (0x2001_0db8u128 << 96) + (u128::from(from) << 60);
        let v6 = Range::from_bits(Family::V6, first, first + (u128::from(length) << 60)).unwrap();
        entries.extend([entry(v4, owner, "p"), entry(v6, owner, "p")]);
    }
    let snapshot = table(entries);
    let read: Vec<_> = formats().iter().map(|f| (*f, written(*f, &snapshot).1)).collect();
    let mut hits = 0;
    for _ in 0..10_000 {
        let number = next();
        let address = if number & 1 == 0 {
            Family::V4.address(0x0a00_0000 + u128::from(next() % (2100 * 8192)))
        } else {
            Family::V6.address((0x2001_0db8u128 << 96) + (u128::from(next() % (2100 * 8192)) << 60))
        };
        hits += u32::from(scan(&snapshot, address).is_some());
        for (format, read) in &read {
            let wanted = carried(*format, &snapshot, address).or(read.default().cloned());
            assert_eq!(read.lookup("internet", address), wanted.as_ref(), "{} at {address}", format.name());
        }
    }
    assert!((2_000..8_000).contains(&hits), "the addresses should be in rows and in gaps: {hits} hits");
}

/// Debian's `mmdblookup` (libmaxminddb, the C library that the servers use).
#[test]
fn mmdblookup_answers_as_the_table() {
    if Command::new("mmdblookup").arg("--version").output().is_err() {
        eprintln!("SKIPPED: mmdblookup is not installed (Debian package mmdb-bin)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mmdb = by_name("mmdb").unwrap();
    let look = |path: &std::path::Path, ip: &str, key: &[&str]| {
        let out =
            Command::new("mmdblookup").arg("--file").arg(path).args(["--ip", ip]).args(key).output().unwrap();
        assert!(out.status.success(), "{ip}: {}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8(out.stdout).unwrap();
        text.split('"').nth(1).map(str::to_owned)
    };
    let fixed = fixture::fixed();
    for (name, snapshot) in [("fixed", &fixed), ("empty", &table(vec![]))] {
        let path = folder.path().join(name);
        std::fs::write(&path, written(mmdb, snapshot).0).unwrap();
        for ip in ["8.8.8.8", "0.0.0.0", "255.255.255.254", "::", "::1", "2001:db8:280::", "ffff::"] {
            assert_eq!(look(&path, ip, &["edge"]).as_deref(), Some("centre"), "{name} {ip}");
        }
    }
    let path = folder.path().join("fixed");
    for (ip, edge) in [
        ("10.0.0.0", "gz-01"),
        ("10.0.1.127", "gz-01"),
        ("10.0.1.128", "centre"),
        ("131.1.0.255", "centre"),
        ("131.1.1.0", "g-0a1b2c3d4e"),
        ("131.1.10.255", "g-0a1b2c3d4e"),
        ("131.1.11.0", "centre"),
        ("203.0.113.7", "sh-01"),
        ("255.255.255.255", "g-0a1b2c3d4e"),
        ("2001:db8:1ff:ffff:ffff:ffff:ffff:ffff", "gz-01"),
        ("2001:db8:200::", "g-0a1b2c3d4e"),
    ] {
        assert_eq!(look(&path, ip, &["edge"]).as_deref(), Some(edge), "{ip}");
        assert_eq!(look(&path, ip, &["city", "names", "en"]).as_deref(), Some(edge), "{ip}");
    }
    assert_eq!(look(&path, "131.1.1.0", &["bas"]).as_deref(), Some("hz-1"));
    assert_eq!(look(&path, "131.1.1.0", &["edges", "0"]).as_deref(), Some("gz-02"));
    assert_eq!(look(&path, "131.1.1.0", &["edges", "1"]).as_deref(), Some("gz-01"));
}

#[test]
fn touching_rows_of_one_group_are_one_only_where_nothing_else_is_said() {
    let snapshot = table(vec![
        entry("203.0.113.0/25".parse().unwrap(), "bas-a", "p"),
        entry("203.0.113.128/25".parse().unwrap(), "bas-b", "p"),
        entry("192.0.2.64/26".parse().unwrap(), "bas-a", "p"),
        entry("192.0.2.128/26".parse().unwrap(), "bas-a", "q"),
    ]);
    let text = |format: &str| String::from_utf8(written(by_name(format).unwrap(), &snapshot).0).unwrap();
    let map = text("haproxy-map");
    let rows: Vec<&str> = map.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows, ["192.0.2.64/26 gz-01", "192.0.2.128/26 gz-01", "203.0.113.0/24 gz-01"]);
    assert_eq!(text("csv").lines().count(), 5);
}

#[test]
fn an_ipv6_row_over_the_ipv4_part_does_not_reach_ipv4() {
    let snapshot = table(vec![entry("::/20".parse().unwrap(), "bas-c", "p")]);
    let (bytes, read) = written(by_name("mmdb").unwrap(), &snapshot);
    let reader = maxminddb::Reader::from_source(bytes.as_slice()).unwrap();
    for (ip, edge) in [("8.8.8.8", "centre"), ("0:1::", "gz-02"), ("::1:0:0", "gz-02"), ("::1", "centre")] {
        let ip: IpAddr = ip.parse().unwrap();
        let record: Value = reader.lookup(ip).unwrap().decode().unwrap().unwrap();
        assert_eq!(record["edge"], edge, "{ip}");
        assert_eq!(read.lookup("internet", ip).unwrap().as_str(), edge, "{ip}");
    }
}

#[test]
fn several_spaces_are_refused_where_the_format_has_no_room_for_them() {
    let snapshot = fixture::fixed();
    let view = View::new(&snapshot, &Scope { space: None, service: "default".into() }).unwrap();
    let mut refused = vec![];
    for format in formats() {
        if let Err(e) = format.render(&view, &Stamp::from(&snapshot)) {
            let (first, second) = ("internet".into(), "iptv".into());
            assert_eq!(e, RenderError::ManySpaces { format: format.name(), first, second });
            refused.push(format.name());
        }
    }
    let all = formats().iter().map(|f| f.name());
    let one: Vec<&str> = all.filter(|name| !matches!(*name, "json" | "ndjson" | "csv")).collect();
    assert_eq!(refused, one);
}

#[test]
fn spaces_are_looked_up_apart() {
    let snapshot = fixture::fixed();
    let view = View::new(&snapshot, &Scope { space: None, service: "default".into() }).unwrap();
    for name in ["json", "ndjson", "csv"] {
        let format = by_name(name).unwrap();
        let read = format.read(&format.render(&view, &Stamp::from(&snapshot)).unwrap().bytes()).unwrap();
        let at = |space: &str, ip: &str| read.lookup(space, ip.parse().unwrap()).map(Token::as_str);
        assert_eq!(at("internet", "10.0.0.7"), Some("gz-01"), "{name}");
        assert_eq!(at("iptv", "10.0.0.7"), Some("g-0a1b2c3d4e"), "{name}");
        assert_eq!(at("iptv", "10.0.1.7"), read.default().map(Token::as_str), "{name}");
        assert_eq!(at("office", "10.0.0.7"), read.default().map(Token::as_str), "{name}");
    }
}

#[test]
fn an_unknown_format_lists_those_that_exist() {
    let error = by_name("mmbd").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no format `mmbd`; there are: json, ndjson, csv, list, mmdb, haproxy-map, nginx-geo, \
         nginx-geo-ranges, gdnsd-nets, bind-acl, czf, czf-deep, template"
    );
}

#[test]
fn an_owner_without_a_group_is_no_default() {
    let snapshot = table(vec![entry("10.0.0.0/8".parse().unwrap(), "stranger", "p")]);
    let error = View::new(&snapshot, &internet()).unwrap_err();
    assert_eq!(error, ViewError::NoGroup { owner: "stranger".into(), service: "default".into() });
}

#[test]
fn a_group_with_an_unknown_edge_is_refused() {
    let mut snapshot = table(vec![entry("10.0.0.0/8".parse().unwrap(), "bas-a", "p")]);
    let mut edges = (*snapshot.edges).clone();
    edges.remove("gz-01");
    snapshot.edges = edges.into();
    let error = View::new(&snapshot, &internet()).unwrap_err();
    assert_eq!(error, ViewError::NoEdge { token: token("gz-01"), edge: "gz-01".into() });
}

/// The default group: by token, by being the edge alone, or made.
#[test]
fn the_default_group_is_found_or_made() {
    let default = |name: &str, list: &[Group]| {
        let edges = [edge(name, &["198.51.100.1"], None, None), edge("b", &["198.51.100.2"], None, None)];
        let snapshot = snapshot(vec![], groups(list, &[]), &edges, name);
        let view = View::new(&snapshot, &internet()).unwrap();
        let group = view.default_group().clone();
        assert_eq!(view.groups().cloned().collect::<Vec<_>>(), std::slice::from_ref(&group));
        group
    };
    assert_eq!(default("centre", &[]), group("centre", &[("centre", 1)]));
    assert_eq!(default("centre", &[group("centre", &[("centre", 7)])]), group("centre", &[("centre", 7)]));
    let alone = group("g-0011223344", &[("the centre", 1)]);
    let both = group("g-5566778899", &[("the centre", 1), ("b", 1)]);
    assert_eq!(default("the centre", &[both.clone(), alone.clone()]), alone);
    // printf 'default-edge\nthe centre' | sha256sum
    assert_eq!(default("the centre", &[both]), group("g-a275937f19", &[("the centre", 1)]));
}

#[test]
fn a_file_with_another_default_is_found_out() {
    let snapshot = table(vec![]);
    let other = Snapshot { default_edge: "gz-02".into(), ..snapshot.clone() };
    let view = View::new(&other, &internet()).unwrap();
    for name in
        ["json", "list", "mmdb", "haproxy-map", "nginx-geo", "nginx-geo-ranges", "gdnsd-nets", "bind-acl"]
    {
        let (_, read) = written(by_name(name).unwrap(), &snapshot);
        assert_eq!(
            read.verify(&view, &[]),
            Err(Mismatch::Default { expected: token("gz-02"), found: token("centre") }),
            "{name}"
        );
    }
}

/// Text that the writers would not have written is refused, with its place.
#[test]
fn altered_text_is_refused() {
    let snapshot = fixture::fixed();
    let refused = |format: &str, from: &str, to: &str, place: &str| {
        let format = by_name(format).unwrap();
        let text = String::from_utf8(written(format, &snapshot).0).unwrap();
        assert!(text.contains(from), "{}: {from}", format.name());
        let error = format.read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert_eq!(error.place, place, "{} with {to}: {error}", format.name());
    };
    for (name, end, end_line) in [("haproxy-map", "", 14), ("nginx-geo", ";", 13)] {
        let row = |text: &str| format!("{text}{end}\n");
        refused(name, "session 0", "session X", "line 1");
        refused(name, "# default centre", "# default", "line 2");
        refused(name, &row("10.0.0.0/24 gz-01"), &row("10.0.0.1/24 gz-01"), "line 3");
        refused(name, &row("10.0.0.0/24 gz-01"), &row("10.0.0.0/24  gz-01"), "line 3");
        refused(name, &row("10.0.0.0/24 gz-01"), &row("10.0.0.0/24 gz 01"), "line 3");
        refused(name, &row("10.0.0.0/24 gz-01"), &row("10.0.0.0 gz-01"), "line 3");
        refused(name, &row("10.0.1.0/25 gz-01"), &row("10.0.0.128/25 gz-01"), "line 4");
        refused(name, &row("10.0.1.0/25 gz-01"), "", &format!("line {}", end_line - 1));
        refused(name, "# end 1", "# end 2", &format!("line {end_line}"));
        refused(name, "# end 1", "# end 1\n# end 1", &format!("line {end_line}"));
    }
    refused("nginx-geo", "gz-01;", "gz-01", "line 3");
    refused("nginx-geo-ranges", "10.0.0.0-10.0.1.127", "10.0.0.0/24", "line 3");
    refused("nginx-geo-ranges", "10.0.0.0-10.0.1.127", "10.0.1.127-10.0.0.0", "line 3");
    refused("nginx-geo-ranges", "10.0.0.0-10.0.1.127", "010.0.0.0-10.0.1.127", "line 3");
    refused("nginx-geo-ranges", "131.1.1.0-", "10.0.1.0-", "line 4");
    refused("gdnsd-nets", " => gz-01", " = gz-01", "line 3");
    refused("gdnsd-nets", " => gz-01", " => [gz-01]", "line 3");
    refused("list", "10.0.0.0/24 gz-01", "10.0.0.0/24\tgz-01", "line 3");
    refused("bind-acl", "acl \"gz-01\" {", "acl \"gz-01\"{", "line 15");
    refused("bind-acl", "acl \"gz-01\" {", "acl \".gz-01\" {", "line 15");
    refused("bind-acl", "acl \"gz-01\" {", "acl \"any\" {", "line 15");
    refused("bind-acl", "acl \"gz-01\" {", "acl \"aa-01\" {", "line 15");
    refused("bind-acl", "  none;\n", "", "line 4");
    refused("bind-acl", "  none;\n", "  none;\n  none;\n", "line 5");
    refused("bind-acl", "  203.0.113.0/24;\n", "  none;\n  203.0.113.0/24;\n", "line 22");
    refused("bind-acl", "  203.0.113.0/24;", "  10.0.0.128/25;", "line 23");
    refused("bind-acl", "  203.0.113.0/24;", "  !203.0.113.0/24;", "line 21");
    refused("bind-acl", "# end 11", "# end 12", "line 23");
    refused("czf", "\"coverageZones\"", "\"deepCoverageZones\"", "document");
    refused("czf", "\"revision\":\"0", "\"revision\":\"", "document");
    refused("czf", "\"network6\":[]", "\"network6\":[],\"caches\":[\"a\"]", "document");
    refused("czf", ",\"network6\":[]", "", "line 5 column 38");
    refused("czf", "\"10.0.1.0/25\"", "\"2001:db8::/32\"", "document");
    refused("czf", "\"10.0.1.0/25\"", "\"10.0.0.0/25\"", "document");
    refused("czf", "\"sh-01\"", "\"gz-01\"", "line 6 column 1");
    refused("czf", "[\"203.0.113.0/24\"]", "[]", "document");
    refused("czf-deep", ",\"caches\":[\"sh-01\"]", "", "document");
    refused("czf-deep", "[\"gz-01\"]", "[]", "document");
    refused("json", "\"10.0.0.0/24\"", "\"10.0.0.0/25\"", "line 11 column 0");
    refused("json", "\"group\":\"gz-01\"", "\"group\":\"gz-03\"", "document");
    refused("json", "\"default_group\":\"centre\"", "\"default_group\":\"center\"", "document");
    refused("json", "\"weight\":3", "\"weight\":3,\"x\":1", "line 5 column 63");
    refused("ndjson", "\"family\":4", "\"family\":6", "line 1");
    refused("ndjson", "\"origin\":\"polled\"", "\"origin\":\"guessed\"", "line 1");
    refused("csv", "'=1+1", "=1+1", "line 3");
    refused("csv", "pool1", "'pool1", "line 2");
    refused("csv", "internet,4,10.0.0.0", "internet,6,10.0.0.0", "line 2");
    refused("csv", "pool,", "pools,", "line 1");
}

#[test]
fn an_empty_table_has_whole_files_too() {
    let snapshot = table(vec![]);
    for format in formats() {
        let (_, read) = written(*format, &snapshot);
        assert!(read.rows().is_empty(), "{}", format.name());
        let ip = "8.8.8.8".parse().unwrap();
        assert_eq!(read.lookup("internet", ip), read.default(), "{}", format.name());
    }
    let view = View::new(&snapshot, &internet()).unwrap();
    let context = Context {
        name: Some("cdn.example.com".parse().unwrap()),
        ttl: None,
        nameservers: vec!["ns1.example.net".parse().unwrap()],
        table: Some("/srv/table".into()),
    };
    for format in groups_formats() {
        let rows = format.rows(&view, &context).unwrap();
        assert_eq!(rows.rows.keys().cloned().collect::<Vec<_>>(), [token("centre")], "{}", format.name());
    }
}

#[test]
fn groups_of_a_service_answer() {
    let mut snapshot = table(vec![entry("10.0.0.0/8".parse().unwrap(), "bas-a", "p")]);
    let mut groups = (*snapshot.groups).clone();
    let iptv = Group { service: "iptv".into(), ..group("g-00000000aa", &[("gz-02", 1)]) };
    groups.of_owner.insert(("bas-a".into(), "iptv".into()), iptv.token.clone());
    groups.groups.insert(iptv.token.clone(), iptv);
    snapshot.groups = groups.into();
    let answer = |service: &str| {
        let scope = Scope { space: None, service: Name::from(service) };
        View::new(&snapshot, &scope).unwrap().rows()[0].group.token.to_string()
    };
    assert_eq!(answer("iptv"), "g-00000000aa");
    assert_eq!(answer("default"), "gz-01");
    assert_eq!(answer("web"), "gz-01");
}

/// `Table` itself refuses what the formats rely on.
#[test]
fn overlapping_rows_never_get_here() {
    let rows = ["10.0.0.0/8", "10.1.0.0/16"].map(|range| entry(range.parse().unwrap(), "bas-a", "p"));
    assert!(Table::new(rows.to_vec()).is_err());
}

/// BIND and DNS compare names without regard to case; BIND has names of its own.
#[test]
fn bind_lists_have_names_that_are_nobody_elses() {
    let of = |tokens: [&str; 2]| {
        let list = tokens.map(|name| group(name, &[("centre", 1)]));
        let entries = vec![
            entry("10.0.0.0/8".parse().unwrap(), "a", "p"),
            entry("11.0.0.0/8".parse().unwrap(), "b", "p"),
        ];
        let edges = [edge("centre", &["198.51.100.1"], None, None)];
        snapshot(entries, groups(&list, &[("a", tokens[0]), ("b", tokens[1])]), &edges, "centre")
    };
    let own = of(["Any", "localnets"]);
    let (bytes, read) = written(by_name("bind-acl").unwrap(), &own);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("acl \".Any\" {\n  10.0.0.0/8;\n};\n"), "{text}");
    assert!(text.contains("acl \".localnets\" {\n  11.0.0.0/8;\n};\n"), "{text}");
    assert_eq!(read.lookup("", "10.0.0.1".parse().unwrap()), Some(&token("Any")));
    let clash = of(["GZ-01", "gz-01"]);
    let view = View::new(&clash, &internet()).unwrap();
    let error = by_name("bind-acl").unwrap().render(&view, &Stamp::from(&clash)).unwrap_err();
    let (first, second) = (token("GZ-01"), token("gz-01"));
    assert_eq!(error, RenderError::CaseClash { format: "bind-acl", first, second });
}

/// A map of gdnsd holds 254 datacenters, the default's among them.
#[test]
fn more_groups_than_the_consumer_holds_are_refused() {
    let of = |count: usize| {
        let names: Vec<String> = (1..count).map(|n| format!("e{n}")).collect();
        let list: Vec<Group> = names.iter().map(|n| group(n, &[("centre", 1)])).collect();
        let owners: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), n.as_str())).collect();
        let range = |at: usize| format!("10.{}.{}.0/24", at / 256, at % 256).parse().unwrap();
        let entries = names.iter().enumerate().map(|(at, name)| entry(range(at), name, "p")).collect();
        snapshot(entries, groups(&list, &owners), &[edge("centre", &["198.51.100.1"], None, None)], "centre")
    };
    let nets = by_name("gdnsd-nets").unwrap();
    assert_eq!(nets.limits().groups.unwrap().most, 254);
    written(nets, &of(254));
    let many = of(255);
    let error = nets.render(&View::new(&many, &internet()).unwrap(), &Stamp::from(&many)).unwrap_err();
    assert_eq!(error, RenderError::TooManyGroups { format: "gdnsd-nets", most: 254, found: 255 });
}

/// gdnsd refuses a whole file for one row in a space that it looks up as IPv4.
#[test]
fn rows_that_gdnsd_refuses_are_cut_out() {
    let snapshot = table(vec![
        entry("2001::-2003:ffff::".parse().unwrap(), "bas-a", "p"),
        entry("64:ff9b::/95".parse().unwrap(), "bas-c", "p"),
    ]);
    let (bytes, read) = written(by_name("gdnsd-nets").unwrap(), &snapshot);
    let text = String::from_utf8(bytes).unwrap();
    let rows: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).take(3).collect();
    // 64:ff9b::/96 and 2001::/32 are out; the first prefix behind Teredo's is 2001:1::/32.
    assert_eq!(rows, ["64:ff9b::1:0:0/96 => gz-02", "2001:1::/32 => gz-01", "2001:2::/31 => gz-01"]);
    for (ip, token) in
        [("2001:0:ffff::", "centre"), ("2001:1::", "gz-01"), ("2002::1", "centre"), ("2003::1", "gz-01")]
    {
        assert_eq!(read.lookup("", ip.parse().unwrap()).unwrap().as_str(), token, "{ip}");
    }
}
