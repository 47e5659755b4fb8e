//! Walks of whole recordings: through the replay agent, and over SNMP from `snmpsimd`. What
//! must come out is worked out by hand from the files.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::json::{has_keys, text};
use support::poolsync::{self, Outcome};
use support::scratch::{Scratch, nobody};
use support::site::{self, Site, configuration};
use support::{have, junose, repository, snmpsim};

fn walk_file(name: &str) -> PathBuf {
    repository(&format!("tests/data/walks/{name}.snmprec"))
}

/// A walk's ranges as `POOL VRF FIRST LAST ADDRESSES SIZE USED`, in any order.
fn ranges(walk: &Value) -> Vec<String> {
    let list = walk["ranges"].as_array().unwrap().iter();
    let number = |value: &Value| value.as_u64().map_or("-".to_owned(), |n| n.to_string());
    let mut lines: Vec<String> = list
        .map(|r| {
            let vrf = text(&r["vrf"]);
            let vrf = if vrf.is_empty() { "-" } else { &vrf };
            let [pool, first, last, count] = ["pool", "first", "last", "addresses"].map(|k| text(&r[k]));
            format!("{pool} {vrf} {first} {last} {count} {} {}", number(&r["size"]), number(&r["used"]))
        })
        .collect();
    lines.sort();
    lines
}

/// A walk, and what must come of it.
struct Walk {
    file: PathBuf,
    /// Whether auto does not choose the descriptor.
    named: bool,
    descriptor: String,
    /// As `ranges` writes them, with the length of delegated prefixes behind; sorted. Worked out
    /// by hand from the file.
    ranges: Vec<String>,
}

impl Walk {
    fn stem(&self) -> &str {
        self.file.file_stem().unwrap().to_str().unwrap()
    }
}

/// Every walk of a folder of which it is known what must come of it: the descriptor and the
/// ranges stand in `NAME.expected` beside the walks of this repository.
fn walks(folder: &Path) -> Vec<Walk> {
    let entries = std::fs::read_dir(repository("tests/data/walks")).unwrap();
    let mut expected: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    expected.retain(|path| path.extension().is_some_and(|e| e == "expected"));
    expected.sort();
    let walks = expected.iter().map(|path| {
        let text = site::content(path);
        let mut lines = text.lines().map(str::to_owned);
        let descriptor = lines.next().unwrap();
        let file = folder.join(path.with_extension("snmprec").file_name().unwrap());
        Walk { file, named: descriptor.starts_with("standard"), descriptor, ranges: lines.collect() }
    });
    walks.filter(|walk| walk.file.is_file()).collect()
}

#[track_caller]
fn check_walk(walk: &Walk, outcome: &Outcome) {
    let json = outcome.json();
    has_keys(
        &json,
        &[
            "bas",
            "address",
            "descriptor",
            "state",
            "reason",
            "requests",
            "retries",
            "duration_ms",
            "tables",
            "ranges",
            "rejected",
        ],
    );
    let file = walk.stem();
    assert_eq!(json["state"], "complete", "{file}");
    assert_eq!(json["reason"], Value::Null);
    assert_eq!(json["descriptor"], *walk.descriptor, "{file}");
    assert_eq!(with_delegated(&json), walk.ranges, "{file}");
    for table in json["tables"].as_array().unwrap() {
        has_keys(table, &["name", "state", "reason", "rows"]);
    }
}

/// The ranges with the length of delegated prefixes behind.
fn with_delegated(walk: &Value) -> Vec<String> {
    let lines = walk["ranges"].as_array().unwrap().iter().flat_map(|range| {
        let length = range["delegated_len"].as_u64().map_or("-".to_owned(), |length| format!("/{length}"));
        let one = ranges(&serde_json::json!({ "ranges": [range] }));
        one.into_iter().map(move |line| format!("{line} {length}"))
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

#[test]
fn walks_of_recordings_come_out_range_for_range() {
    let walks = walks(&repository("tests/data/walks"));
    assert!(walks.len() >= 20, "{}", walks.len());
    for walk in walks {
        let mut args = vec!["walk", "--json", "--replay", walk.file.to_str().unwrap()];
        if walk.named {
            args.extend(["--mib", &walk.descriptor]);
        }
        check_walk(&walk, &poolsync::run(args).expect(0));
    }
}

/// The program asks an agent that nobody here wrote.
fn check_over_snmp(walks: &[Walk]) {
    let scratch = Scratch::new();
    let files: Vec<PathBuf> = walks.iter().map(|walk| walk.file.clone()).collect();
    let simulator = snmpsim::Simulator::start(&scratch, &files);
    let address = simulator.address().to_string();
    for walk in walks {
        let mut args = vec!["walk", &address, "--community-env", "WALK", "--json"];
        if walk.named {
            args.extend(["--mib", &walk.descriptor]);
        }
        let mut command = poolsync::command(args);
        command.env("WALK", walk.stem());
        check_walk(walk, &poolsync::run_command(command).expect(0));
    }
}

#[test]
fn walks_over_snmp_come_out_range_for_range() {
    if have("walks_over_snmp_come_out_range_for_range", &["snmpsimd"]) {
        check_over_snmp(&walks(&repository("tests/data/walks")));
    }
}

/// Whatever a vendor's walk gives: the replay agent and `snmpsimd` must give the same.
#[test]
fn every_walk_comes_out_the_same_by_replay_and_over_snmp() {
    if !have("every_walk_comes_out_the_same_by_replay_and_over_snmp", &["snmpsimd"]) {
        return;
    }
    let folder = std::fs::read_dir(repository("tests/data/walks")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "snmprec"));
    assert!(files.len() >= 11, "{files:?}");
    let scratch = Scratch::new();
    let simulator = snmpsim::Simulator::start(&scratch, &files);
    let address = simulator.address().to_string();
    for file in &files {
        let mut command = poolsync::command(["walk", &address, "--community-env", "WALK", "--json"]);
        command.env("WALK", file.file_stem().unwrap());
        let asked = poolsync::run_command(command);
        let replayed = poolsync::run(["walk", "--json", "--replay", file.to_str().unwrap()]);
        assert_eq!(asked.code, replayed.code, "{}", file.display());
        let (asked, replayed) = (asked.json(), replayed.json());
        for key in ["descriptor", "state", "reason", "ranges", "vrfs", "rejected"] {
            assert_eq!(asked[key], replayed[key], "{}: {key}", file.display());
        }
        assert_eq!(support::json::tables(&asked), support::json::tables(&replayed), "{}", file.display());
    }
}

/// A community with the context in it reaches the second virtual router of the JUNOSe box.
/// The first one is the default context, and its ranges are in no VRF.
#[test]
fn virtual_routers_are_walked_as_contexts() {
    if !have("virtual_routers_are_walked_as_contexts", &["snmpsimd"]) {
        return;
    }
    let scratch = Scratch::new();
    let files = ["juniper-junose-erx", "juniper-junose-erx@router2"].map(walk_file);
    let simulator = snmpsim::Simulator::start(&scratch, &files);
    let text = configuration(&[("erx", simulator.address(), "east")]).replacen(
        &format!("community = {{ env = \"{}\" }}", site::COMMUNITY_ENV),
        "community = \"juniper-junose-erx\"\ncontext-community = \"{community}@{context}\"",
        1,
    );
    let site = Site::new(scratch, &text);
    let json = site.run(&["walk", "erx", "--json"]).expect(0).json();
    assert_eq!(json["state"], "complete");
    let expected = [
        "biz-static - 198.51.100.16 198.51.100.31 16 16 4",
        "corp-vpn vr-corp 192.168.10.5 192.168.10.99 95 95 9",
        "corp-vpn vr-corp 192.168.12.0 192.168.12.127 128 128 3",
        "dhcp-share - 10.9.0.0 10.9.3.255 1024 1021 55",
        "iptv - 100.64.0.10 100.64.3.250 1009 1009 12",
        "pppoe-a - 10.0.0.3 10.0.0.250 248 248 201",
        "pppoe-a - 10.0.4.0 10.0.5.255 512 512 300",
    ];
    assert_eq!(ranges(&json), expected);
    // The second virtual router is in no space, so that it enters no table.
    let spaces: Vec<(String, bool)> = json["ranges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (support::json::text(&r["vrf"]), r["space"].is_null()))
        .collect();
    assert!(spaces.iter().all(|(vrf, none)| (vrf == "vr-corp") == *none), "{spaces:?}");
    site.run(&["poll"]).expect(0);
    assert!(site.entries().iter().all(|entry| !entry.starts_with("192.168.")), "{:?}", site.entries());
}

#[test]
fn an_old_junose_box_is_read_by_its_first_ranges() {
    let scratch = Scratch::new();
    let system = "1.3.6.1.2.1.1.1.0|4|Juniper Networks, Inc. ERX-1440\n\
                  1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.4874.1.1.1.1.3\n\
                  1.3.6.1.2.1.1.3.0|67|123456789\n";
    let pools = junose::table(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    let file = scratch.write("old.snmprec", format!("{system}{pools}"));
    let outcome = poolsync::run(["walk", "--json", "--replay", file.to_str().unwrap()]).expect(0);
    let json = outcome.json();
    assert_eq!(ranges(&json), ["pool1 - 131.1.1.0 131.1.10.255 2560 2560 0"]);
    let prefixes = ["131.1.1.0/24", "131.1.2.0/23", "131.1.4.0/22", "131.1.8.0/23", "131.1.10.0/24"];
    assert_eq!(json["ranges"][0]["prefixes"], serde_json::json!(prefixes));
}

#[test]
fn prefixes_of_a_range_are_the_fewest() {
    let file = walk_file("zte-bras-uas");
    let json = poolsync::run(["walk", "--json", "--replay", file.to_str().unwrap()]).expect(0).json();
    let list = json["ranges"].as_array().unwrap();
    let range = list.iter().find(|r| r["first"] == "10.0.0.3").unwrap();
    // 3, 4-7, 8-15, 16-31, 32-63, 64-127, 128-191, 192-223, 224-239, 240-247, 248-249, 250
    let prefixes = [
        "10.0.0.3/32",
        "10.0.0.4/30",
        "10.0.0.8/29",
        "10.0.0.16/28",
        "10.0.0.32/27",
        "10.0.0.64/26",
        "10.0.0.128/26",
        "10.0.0.192/27",
        "10.0.0.224/28",
        "10.0.0.240/29",
        "10.0.0.248/31",
        "10.0.0.250/32",
    ];
    assert_eq!(range["prefixes"], serde_json::json!(prefixes));
}

#[test]
fn a_walk_that_nobody_answers_ends_with_1() {
    let nobody = nobody();
    let mut command = poolsync::command(["walk", &nobody.to_string(), "--community-env", "WALK", "--json"]);
    command.env("WALK", "public");
    let outcome = poolsync::run_command(command).expect(1);
    let json = outcome.json();
    assert_eq!(json["state"], "failed");
    assert!(json["reason"].is_string());
    assert_eq!(json["ranges"], serde_json::json!([]));
    let site = Site::new(Scratch::new(), &configuration(&[("silent", nobody, "east")]));
    site.run(&["walk", "silent"]).expect(1).said(&["silent"]);
}

#[test]
fn a_walk_can_be_saved_and_replayed() {
    if !have("a_walk_can_be_saved_and_replayed", &["snmpd", "python3"]) {
        return;
    }
    let (site, router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    let saved = site.scratch.join("saved.snmprec");
    let walked = site.run(&["walk", "bas-a", "--json", "--save", saved.to_str().unwrap()]).expect(0);
    drop(router);
    let replayed = poolsync::run(["walk", "--json", "--replay", saved.to_str().unwrap()]).expect(0);
    assert_eq!(ranges(&walked.json()), ranges(&replayed.json()));
    assert_eq!(ranges(&replayed.json()).len(), 1);
}

#[test]
fn descriptors_are_listed_shown_and_checked() {
    let names = ["juniper-junose", "huawei", "cisco-ios", "zte-uas", "netelastic-flexbng"];
    let list = poolsync::run(["mib", "list"]).expect(0).stdout;
    assert!(names.iter().all(|name| list.contains(name)), "{list}");
    poolsync::run(["mib", "list", "--json"]).expect(0).json();
    for name in names {
        assert!(!poolsync::run(["mib", "show", name]).expect(0).stdout.is_empty());
        poolsync::run(["mib", "show", name, "--json"]).expect(0).json();
    }
    poolsync::run(["mib", "show", "no-such"]).expect(2).said(&["no-such", "huawei"]);
    let file = repository("mibs/huawei.toml");
    let by_file = poolsync::run(["mib", "show", file.to_str().unwrap()]).expect(0).stdout;
    assert_eq!(by_file, poolsync::run(["mib", "show", "huawei"]).expect(0).stdout);
    for words in
        ["sysObjectID lies under 1.3.6.1.4.1.2011.2", "3 low (IpAddress)", "only where sections has no row"]
    {
        assert!(by_file.contains(words), "{words} in:\n{by_file}");
    }

    let scratch = Scratch::new();
    let file = std::fs::read_to_string(repository("mibs/zte-uas.toml")).unwrap();
    let good = scratch.write("good.toml", &file);
    poolsync::run(["mib", "check", good.to_str().unwrap()]).expect(0);
    let bad = scratch.write("bad.toml", format!("{file}\nno-such-key = 1\n"));
    let outcome = poolsync::run(["mib", "check", bad.to_str().unwrap()]);
    assert_ne!(outcome.code, Some(0));
    outcome.said(&["bad.toml", "no-such-key", "^"]);
    // A descriptor is taken from a file at once.
    let walk = walk_file("zte-bras-uas");
    let args = ["walk", "--json", "--mib", good.to_str().unwrap(), "--replay", walk.to_str().unwrap()];
    assert_eq!(ranges(&poolsync::run(args).expect(0).json()).len(), 6);
}
