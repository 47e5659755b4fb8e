//! Recordings of real routers, which may not be handed on with the sources and are looked for
//! beside them (`POOLSYNC_RECORDINGS` names their folder): served by `snmpsimd`, walked by the
//! program. What must come out is worked out by a slow reading of the files' own lines.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::json::text;
use support::poolsync::{self, Outcome};
use support::scratch::Scratch;
use support::snmprec::{cell, column};
use support::{have, repository, skip, snmpsim};

fn folder() -> PathBuf {
    let named = std::env::var_os("POOLSYNC_RECORDINGS");
    named.map_or_else(|| repository("../shared/walks/recorded"), PathBuf::from)
}

/// The recordings, served; none where they are not here, which is said.
fn simulator(test: &str, scratch: &Scratch, names: &[&str]) -> Option<(snmpsim::Simulator, PathBuf)> {
    if !have(test, &["snmpsimd"]) {
        return None;
    }
    let folder = folder();
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(format!("{name}.snmprec"))).collect();
    if let Some(missing) = files.iter().find(|file| !file.is_file()) {
        skip(test, &format!("{} is not here (POOLSYNC_RECORDINGS names the folder)", missing.display()));
        return None;
    }
    Some((snmpsim::Simulator::start(scratch, &files), folder))
}

fn walk(simulator: &snmpsim::Simulator, name: &str, more: &[&str]) -> Outcome {
    let address = simulator.address().to_string();
    let mut args = vec!["walk", &address, "--community-env", "WALK", "--json"];
    args.extend(more);
    let mut command = poolsync::command(args);
    command.env("WALK", name);
    poolsync::run_command(command)
}

/// The ranges as first and last address.
fn ends(walk: &Value) -> Vec<(String, String)> {
    let ranges = walk["ranges"].as_array().unwrap().iter();
    let mut ends: Vec<_> = ranges.map(|r| (text(&r["first"]), text(&r["last"]))).collect();
    ends.sort();
    ends
}

#[test]
fn the_recorded_flexbng_gives_32_ranges_in_32_pools() {
    let (scratch, name) = (Scratch::new(), "netelastic-flexbng-ippool");
    let test = "the_recorded_flexbng_gives_32_ranges_in_32_pools";
    let Some((simulator, folder)) = simulator(test, &scratch, &[name]) else { return };
    let json = walk(&simulator, name, &[]).expect(0).json();
    assert_eq!(json["descriptor"], "netelastic-flexbng");
    let mut pools: Vec<String> =
        json["ranges"].as_array().unwrap().iter().map(|r| text(&r["pool"])).collect();
    assert_eq!(pools.len(), 32);
    pools.sort();
    pools.dedup();
    assert_eq!(pools.len(), 32);
    // Start and end of every section, as its columns 1 and 2 have them.
    const SECTION: &str = "1.3.6.1.4.1.54268.1.1.2.2.1";
    let file = folder.join(format!("{name}.snmprec"));
    let starts = column(&file, &format!("{SECTION}.1"));
    let end = |index: &str| cell(&file, &format!("{SECTION}.2"), index).unwrap();
    let mut expected: Vec<(String, String)> =
        starts.iter().map(|(index, first)| (first.clone(), end(index))).collect();
    expected.sort();
    assert_eq!(ends(&json), expected);
}

/// Routers of vendors that are known, whose recordings have no pool table: they are empty, and
/// none of their addresses is taken for a pool.
#[test]
fn recorded_routers_without_pools_list_none() {
    let (scratch, test) = (Scratch::new(), "recorded_routers_without_pools_list_none");
    let names = ["huawei-ne40e-ipaddr", "juniper-vmx-ipaddr", "nokia-7750-ipaddr"];
    let Some((simulator, folder)) = simulator(test, &scratch, &names) else { return };
    for (name, descriptor) in names.into_iter().zip(["huawei", "juniper-junos", "nokia-sros"]) {
        let outcome = walk(&simulator, name, &[]).expect(0).said(&["lists no range at all"]);
        assert_eq!(
            [&outcome.json()["descriptor"], &outcome.json()["ranges"]],
            [&json!(descriptor), &json!([])]
        );
        // Their addresses, by name: the interfaces, whose names the networks would bear, were not
        // recorded, and without them nothing is believed.
        let json = walk(&simulator, name, &["--mib", "standard-connected"]).expect(1).json();
        assert_eq!([&json["state"], &json["reason"]], ["failed", "missing-table"], "{name}");
        assert_eq!(json["ranges"], json!([]), "{name}");
        let addresses = column(&folder.join(format!("{name}.snmprec")), "1.3.6.1.2.1.4.20.1.3");
        let read = &json["tables"][0];
        assert_eq!([&read["name"], &read["rows"]], [&json!("addresses"), &json!(addresses.len())]);
    }
}

/// A prefix as its first and last address.
fn block(network: &[u32], length: u32) -> (String, String) {
    let octets: Vec<u8> = network.iter().map(|arc| u8::try_from(*arc).unwrap()).collect();
    let first = u32::from_be_bytes(octets.try_into().unwrap());
    let last = first | (u64::from(u32::MAX) >> length) as u32;
    (Ipv4Addr::from(first).to_string(), Ipv4Addr::from(last).to_string())
}

fn arcs(index: &str) -> Vec<u32> {
    index.split('.').map(|arc| arc.parse().unwrap()).collect()
}

/// The network and length that the arcs of an index say.
type Reading = fn(&[u32]) -> Option<(Vec<u32>, u32)>;

/// The routes of these types between /8 and /31, by the type's column and what its index says.
fn routes(file: &Path, types: &str, wanted: &[&str], read: Reading) -> Vec<(String, String)> {
    let rows = column(file, types).into_iter().filter(|(_, kind)| wanted.contains(&kind.as_str()));
    let read = rows.filter_map(|(index, _)| read(&arcs(&index)));
    let mut blocks: Vec<_> = read
        .filter(|(_, length)| (8..=31).contains(length))
        .map(|(network, length)| block(&network, length))
        .collect();
    blocks.sort();
    blocks
}

#[test]
fn recorded_routes_give_the_aggregates_and_nothing_else() {
    let (scratch, test) = (Scratch::new(), "recorded_routes_give_the_aggregates_and_nothing_else");
    let names = ["huawei-vrp-inetcidrroute", "huawei-vrp-s5328-routes", "netelastic-flexbng-ipcidrroute"];
    let Some((simulator, folder)) = simulator(test, &scratch, &names) else { return };
    // IPv4 rows begin with 1.4, then address and length.
    let inet = |arcs: &[u32]| match arcs {
        [1, 4, a, b, c, d, length, ..] => Some((vec![*a, *b, *c, *d], *length)),
        _ => None,
    };
    // Address, then mask.
    let old = |arcs: &[u32]| match arcs {
        [a, b, c, d, m, n, o, p, ..] => {
            Some((vec![*a, *b, *c, *d], [m, n, o, p].iter().map(|octet| octet.count_ones()).sum()))
        }
        _ => None,
    };
    let file = |name: &str| folder.join(format!("{name}.snmprec"));
    const INET: &str = "1.3.6.1.2.1.4.24.7.1.8";
    const OLD: &str = "1.3.6.1.2.1.4.24.4.1.6";
    // The descriptors as they are; and copies that take connected networks, too, as their notes say.
    let more = |name: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(repository(&format!("mibs/{name}.toml"))).unwrap();
        assert!(text.contains(from));
        scratch.write(&format!("{name}.toml"), text.replace(from, to)).to_str().unwrap().to_owned()
    };
    let more_inet =
        more("standard-inet-routes", "only = { type = [2, 5] }\n", "only = { type = [2, 3, 5] }\n");
    let more_old = more("standard-ip-routes", "only = { type = [2] }\n", "only = { type = [2, 3] }\n");
    let mut found = 0;
    for (name, mib, expected) in [
        (names[0], "standard-inet-routes", routes(&file(names[0]), INET, &["2", "5"], inet)),
        (names[0], &more_inet, routes(&file(names[0]), INET, &["2", "3", "5"], inet)),
        (names[1], "standard-ip-routes", routes(&file(names[1]), OLD, &["2"], old)),
        (names[1], &more_old, routes(&file(names[1]), OLD, &["2", "3"], old)),
        (names[2], "standard-ip-routes", routes(&file(names[2]), OLD, &["2"], old)),
        (names[2], &more_old, routes(&file(names[2]), OLD, &["2", "3"], old)),
    ] {
        let outcome = walk(&simulator, name, &["--mib", mib]).expect(0);
        let mut read = ends(&outcome.json());
        read.dedup();
        let mut expected = expected;
        expected.dedup();
        assert_eq!(read, expected, "{name} by {mib}");
        found += expected.len();
    }
    assert!(found > 10, "{found} in all");
}

#[test]
fn a_recorded_box_with_counts_alone_is_unsupported() {
    let (scratch, name) = (Scratch::new(), "benuos-ippool-scalars");
    let test = "a_recorded_box_with_counts_alone_is_unsupported";
    let Some((simulator, _)) = simulator(test, &scratch, &[name]) else { return };
    let outcome = walk(&simulator, name, &[]).expect(1);
    assert_eq!(outcome.json()["state"], "unsupported");
}

/// The made walks of that folder's neighbour: as those of this repository, file by file.
#[test]
fn made_walks_beside_the_recordings_come_out_range_for_range() {
    let (scratch, test) = (Scratch::new(), "made_walks_beside_the_recordings_come_out_range_for_range");
    let folder = folder().with_file_name("made");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let expected = |path: &Path| {
        let name = path.with_extension("expected");
        repository("tests/data/walks").join(name.file_name().unwrap())
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "snmprec") && expected(path).is_file());
    if files.is_empty() {
        return skip(test, &format!("{} is not here", folder.display()));
    }
    if !have(test, &["snmpsimd"]) {
        return;
    }
    let simulator = snmpsim::Simulator::start(&scratch, &files);
    for file in &files {
        let text = std::fs::read_to_string(expected(file)).unwrap();
        let (descriptor, lines) = text.split_once('\n').unwrap();
        let more: &[&str] = if descriptor.starts_with("standard") { &["--mib", descriptor] } else { &[] };
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let json = walk(&simulator, stem, more).expect(0).json();
        assert_eq!(json["descriptor"], descriptor, "{stem}");
        let mut wanted: Vec<(String, String)> = lines
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                (words[2].to_owned(), words[3].to_owned())
            })
            .collect();
        wanted.sort();
        assert_eq!(ends(&json), wanted, "{stem}");
    }
}
