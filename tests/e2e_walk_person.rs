//! `walk` and `mib check` for a person at a terminal: what they show, what they save, how they
//! end. What must be shown is worked out by hand from the files.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::json::tables;
use support::poolsync::{self, Outcome};
use support::scratch::Scratch;
use support::site::{self, Site, configuration};
use support::{have, repository, snmpsim};

const SYSTEM: &str = "1.3.6.1.2.1.1.1.0|4|somebody's router\n\
                      1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.3902.3.100.27\n\
                      1.3.6.1.2.1.1.3.0|67|123456789\n";

fn walk_file(name: &str) -> PathBuf {
    repository(&format!("tests/data/walks/{name}.snmprec"))
}

fn replay(file: &Path, more: &[&str]) -> Outcome {
    let mut args = vec!["walk", "--replay", file.to_str().unwrap()];
    args.extend(more);
    poolsync::run(args)
}

/// A line that holds all of these words, in their order.
#[track_caller]
fn has_line(text: &str, words: &[&str]) {
    let holds = |line: &str| {
        let mut found = line.split_whitespace();
        words.iter().all(|word| found.any(|other| other == *word))
    };
    assert!(text.lines().any(holds), "no line with {words:?} in:\n{text}");
}

#[test]
fn a_walk_shows_delegated_prefixes_vrfs_tables_and_why_rows_claim_nothing() {
    let file = walk_file("huawei-control-plane");
    let outcome = replay(&file, &[]).expect(0);
    let text = &outcome.stdout;
    has_line(text, &["pd-res", "internet", "2001:db8:2000::", "/56", "2001:db8:2000::/36"]);
    has_line(text, &["static", "198.51.100.1", "60", "4", "-"]);
    // 60 + 60 + 256 + 256 + 128 + 62 + 1024 addresses, and the /64s of two /36 and a /48.
    has_line(text, &["(default)", "internet", "7", "10", "536,938,294"]);
    has_line(text, &["vpn-corp", "(none)", "3", "3", "1,049,088"]);
    has_line(text, &["sections", "complete", "2", "1"]);
    for sentence in [
        "row 4 of pools: no range of addresses by the descriptor: type is 2",
        "row 9 of relay: nothing configured",
        "row 11 of relay: not active",
        "row 8 of v6-pools: nothing configured",
    ] {
        assert!(text.contains(sentence), "{sentence} in:\n{text}");
    }
    // The system group, and six tables, with the last of which sysUpTime comes.
    assert!(text.contains("13 ranges in 10 pools; 7 requests and 0 retries in "), "{text}");
    // What enters no table is said, and what to do.
    outcome.said(&["`vpn-corp` belongs to no space", "vrfs = [\"vpn-corp\"]"]);

    let json = replay(&file, &["--json"]).expect(0).json();
    let delegated: Vec<(&str, &Value)> = json["ranges"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|range| range["family"] == 6)
        .map(|range| (range["pool"].as_str().unwrap(), &range["delegated_len"]))
        .collect();
    let [a, b, c] = [json!(56), json!(64), json!(60)];
    assert_eq!(delegated, [("pd-res", &a), ("nd-res", &b), ("pd-corp", &a), ("second", &c)]);
    let vrfs = json!([
        {"vrf": "", "space": "internet", "pools": 7, "ranges": 10, "units": "536938294"},
        {"vrf": "vpn-corp", "space": null, "pools": 3, "ranges": 3, "units": "1049088"},
    ]);
    assert_eq!(json["vrfs"], vrfs);
    for table in json["tables"].as_array().unwrap() {
        assert!(table["requests"].as_u64().unwrap() > 0 && table["duration_ms"].is_u64(), "{table}");
    }
}

#[test]
fn many_rows_of_one_kind_are_counted() {
    let scratch = Scratch::new();
    let mut rows = SYSTEM.to_owned();
    const ENTRY: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1";
    for at in 1..=30 {
        // Ends before it begins.
        rows +=
            &format!("{ENTRY}.4.1.80.1.4.10.0.{at}.9|4x|0a00{at:02x}01\n{ENTRY}.7.1.80.1.4.10.0.{at}.9|4|\n");
    }
    let file = scratch.write("rows.snmprec", rows);
    let outcome = replay(&file, &["--mib", "cisco-ios"]).expect(0).said(&["warning: rows answers"]);
    assert_eq!(outcome.stdout.matches("its end lies before its start").count(), 8, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("and 22 rows more of pools: reversed"), "{}", outcome.stdout);
    let json = replay(&file, &["--mib", "cisco-ios", "--json"]).expect(0).json();
    assert_eq!(json["rejected"].as_array().unwrap().len(), 30);
}

/// A walk over SNMP, and what was saved of it: all but the costs must be the same.
fn assert_replays(walked: &Outcome, replayed: &Outcome, what: &str) {
    assert_eq!(walked.code, replayed.code, "{what}: {}\n{}", walked.stderr, replayed.stderr);
    let (walked, replayed) = (walked.json(), replayed.json());
    for key in ["descriptor", "state", "reason", "ranges", "vrfs", "rejected", "system"] {
        assert_eq!(walked[key], replayed[key], "{what}: {key}");
    }
    assert_eq!(tables(&walked), tables(&replayed), "{what}");
}

#[test]
fn what_is_saved_of_every_walk_replays_to_the_same() {
    if !have("what_is_saved_of_every_walk_replays_to_the_same", &["snmpsimd"]) {
        return;
    }
    let folder = std::fs::read_dir(repository("tests/data/walks")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "snmprec"));
    let scratch = Scratch::new();
    let simulator = snmpsim::Simulator::start(&scratch, &files);
    let address = simulator.address().to_string();
    for file in &files {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let saved = scratch.folder(&format!("saved-{stem}")).join("router.snmprec");
        let mut args = vec!["walk", &address, "--community-env", "WALK", "--json"];
        args.extend(["--save", saved.to_str().unwrap()]);
        // By name, what auto does not choose; empty tables of a MIB that is there are empty.
        let named: &[&str] =
            if stem.starts_with("standard") { &["--mib", "standard-connected"] } else { &[] };
        args.extend(named);
        let mut command = poolsync::command(args);
        command.env("WALK", stem);
        let walked = poolsync::run_command(command);
        let mut again = vec!["--json"];
        again.extend(named);
        assert_replays(&walked, &replay(&saved, &again), stem);
    }
}

#[test]
fn the_contexts_of_a_router_are_saved_beside_it() {
    if !have("the_contexts_of_a_router_are_saved_beside_it", &["snmpsimd"]) {
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
    let saved = site.scratch.join("erx.snmprec");
    let walked = site.run(&["walk", "erx", "--json", "--save", saved.to_str().unwrap()]).expect(0);
    let ranges = walked.json()["ranges"].as_array().unwrap().len();
    assert_eq!(ranges, 7, "five of the first virtual router, two of the second");
    assert!(site.scratch.join("erx@router2.snmprec").is_file());
    walked.clone().said(&["erx.snmprec", "erx@router2.snmprec"]);
    let replayed = replay(&saved, &["--json"]);
    assert_replays(&walked, &replayed, "erx");
    // One that is not there any more is missed, and one that was never saved is not taken.
    std::fs::remove_file(site.scratch.join("erx@router2.snmprec")).unwrap();
    replay(&saved, &[]).expect(1).said(&["erx@router2.snmprec"]);
    let alone = replay(&walk_file("juniper-junose-erx"), &["--json"]).expect(0).json();
    assert_eq!(alone["ranges"].as_array().unwrap().len(), 5);
    // What is printed raw names the context.
    let raw = site.run(&["walk", "erx", "--raw"]).expect(0).stdout;
    let (first, second) = raw.split_once("# context router2\n").unwrap();
    const START: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.3.1.3";
    assert!(first.contains(&format!("{START}.1.1|64|10.0.0.3\n")), "{first}");
    assert!(second.contains(&format!("{START}.1.1|64|192.168.10.5\n")), "{second}");
}

#[test]
fn raw_shows_every_object_of_the_tables() {
    let file = walk_file("zte-bras-uas");
    let raw = replay(&file, &["--raw"]).expect(0).stdout;
    let oids = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| Some(line.split_once('|')?.0.to_owned()));
        lines.filter(|oid| oid.starts_with("1.3.6.1.2.1.1.") || oid.contains(".3902.1006.")).collect()
    };
    let (shown, mut all) = (oids(&raw), oids(&site::content(&file)));
    all.sort_by_key(|oid| oid.split('.').map(|arc| arc.parse::<u32>().unwrap()).collect::<Vec<_>>());
    assert!(shown.len() > 60, "six rows of ten columns, and who it is");
    assert_eq!(shown, all);
}

#[test]
fn a_recording_is_read_as_the_bas_that_is_named() {
    let site = Site::new(Scratch::new(), &configuration(&[]));
    let file = walk_file("cisco-iosxe-localpool");
    let file = file.to_str().unwrap();
    let with = |keys: &str| {
        let bas =
            format!("\n[bas.xe]\naddress = \"192.0.2.1\"\nsnmp = \"lab\"\nedges = [\"east\"]\n{keys}\n");
        site.configure(&(configuration(&[]) + &bas));
        site.run(&["walk", "xe", "--replay", file, "--json"])
    };
    let pools = |outcome: &Outcome| -> Vec<String> {
        let ranges = outcome.json()["ranges"].as_array().unwrap().clone();
        ranges.iter().map(|r| format!("{} {} {}", r["pool"], r["vrf"], r["space"])).collect()
    };
    // The pool group is the VRF, which is in no space.
    let by_group = with("").expect(0);
    assert_eq!(pools(&by_group)[5], r#""corp-pool" "vrf-corp" null"#);
    let without = with("group-as-vrf = false").expect(0);
    assert_eq!(pools(&without)[5], r#""corp-pool" "" "internet""#);
    assert_eq!(with("group-as-vrf = true").expect(0).json()["ranges"], by_group.json()["ranges"]);
    with("group-as-vrf = \"no\"").expect(78).said(&["group-as-vrf", "expected true or false"]);

    let only = with("pools = { include = [\"PPP\", \"v6*\"] }").expect(0);
    assert_eq!(pools(&only).len(), 3);
    let rejected = only.json()["rejected"].as_array().unwrap().clone();
    assert_eq!(rejected.len(), 3);
    assert!(rejected.iter().all(|row| row["reason"] == "excluded"), "{rejected:?}");
    assert_eq!(pools(&with("vrfs = [\"vrf-corp\"]").expect(0)), [r#""corp-pool" "vrf-corp" null"#]);
    // IOS XR's pools are contained in a VRF likewise.
    let file = walk_file("cisco-iosxr-addrpool");
    let xr = site.run(&["walk", "xe", "--replay", file.to_str().unwrap(), "--json"]).expect(0);
    assert_eq!(pools(&xr), [r#""corp-v4" "vrf-corp" null"#]);
    with("group-as-vrf = false");
    let xr = site.run(&["walk", "xe", "--replay", file.to_str().unwrap(), "--json"]).expect(0);
    assert_eq!(pools(&xr)[2], r#""corp-v4" "" "internet""#);
    // Another name than that of a BAS is just a name.
    let other = site.run(&["walk", "other", "--replay", file.to_str().unwrap(), "--json"]).expect(0);
    assert_eq!(pools(&other)[2], r#""corp-v4" "vrf-corp" null"#);
}

#[test]
fn a_walk_that_reads_a_part_ends_with_3_and_one_that_reads_nothing_with_1() {
    let bas = "\n[bas.me]\naddress = \"192.0.2.1\"\nsnmp = \"lab\"\nedges = [\"east\"]\nmax-rows = 16\n";
    let site = Site::new(Scratch::new(), &(configuration(&[]) + bas));
    let file = walk_file("huawei-control-plane");
    // The four tables of IPv4 have 2, 5, 5 and 4 rows; the fifth table is too much.
    let part = site.run(&["walk", "me", "--replay", file.to_str().unwrap()]).expect(3);
    has_line(&part.stdout, &["relay", "complete", "4"]);
    has_line(&part.stdout, &["v6-prefixes", "failed", "too-large:"]);
    part.said(&["me: too-large"]);

    let uncovered = replay(&walk_file("standard-connected"), &[]).expect(1);
    uncovered.said(&["no-descriptor", "no descriptor covers", "mib check", "walk --mib"]);
    let scratch = Scratch::new();
    let empty = scratch.write("empty.snmprec", SYSTEM);
    // The router is a ZTE, so that its table is known to be empty.
    replay(&empty, &[]).expect(0).said(&["warning: empty answers, but lists no range at all"]);
    // Of a router that is not Huawei's nothing of the kind is known.
    replay(&empty, &["--mib", "huawei"]).expect(1).said(&["none of the tables of huawei"]);

    let bad = scratch.write("bad.snmprec", format!("{SYSTEM}1.3.6|64|10.0.0\n"));
    replay(&bad, &[]).expect(1).said(&["bad.snmprec", "line 4", "10.0.0"]);
    replay(&scratch.join("missing.snmprec"), &[]).expect(1).said(&["missing.snmprec"]);
    replay(&walk_file("zte-bras-uas"), &["--mib", "no-such"]).expect(2).said(&["no-such", "zte-uas"]);
}

#[test]
fn a_recording_that_cannot_be_written_is_said() {
    if !have("a_recording_that_cannot_be_written_is_said", &["snmpsimd"]) {
        return;
    }
    let scratch = Scratch::new();
    let simulator = snmpsim::Simulator::start(&scratch, &[walk_file("zte-bras-uas")]);
    let save = scratch.join("no/such/folder.snmprec");
    let args = [
        "walk",
        &simulator.address().to_string(),
        "--community-env",
        "WALK",
        "--save",
        save.to_str().unwrap(),
    ];
    let mut command = poolsync::command(args);
    command.env("WALK", "zte-bras-uas");
    poolsync::run_command(command).expect(1).said(&["no/such/folder.snmprec"]);
    // Nobody there: nothing is written, and that is said too.
    let save = scratch.join("nobody.snmprec");
    let nobody = support::scratch::nobody().to_string();
    let mut command =
        poolsync::command(["walk", &nobody, "--community-env", "WALK", "--save", save.to_str().unwrap()]);
    command.env("WALK", "public");
    poolsync::run_command(command).expect(1).said(&["told nothing that could be recorded"]);
    assert!(!save.exists());
}

fn check(descriptor: &str, walk: &Path, more: &[&str]) -> Outcome {
    let descriptor = repository(&format!("mibs/{descriptor}.toml"));
    let mut args = vec!["mib", "check", descriptor.to_str().unwrap(), "--walk", walk.to_str().unwrap()];
    args.extend(more);
    poolsync::run(args)
}

#[test]
fn a_recording_is_shown_row_by_row_through_a_descriptor() {
    let text = check("huawei", &walk_file("huawei-control-plane"), &[]).expect(0).stdout;
    for line in [
        "huawei knows this router by its sysObjectID and sysDescr.",
        "Table sections (1.3.6.1.4.1.2011.6.8.1.2.1): complete, 2 rows: 2 listed, 0 rejected, 0 passed over",
        "    -> pool static: 198.51.100.1 - 198.51.100.60",
        "    -> pool pd-corp in VRF vpn-corp: fd00:20:: - fd00:20:f:ffff:ffff:ffff:ffff:ffff, delegated by /56",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in:\n{text}");
    }
    let json = check("huawei", &walk_file("huawei-control-plane"), &["--json"]).expect(0).json();
    assert_eq!([&json["descriptor"], &json["known"]], [&json!("huawei"), &json!(true)]);
    let sections = &json["tables"][0];
    assert_eq!(sections["rows"][0]["outcome"], "listed");
    assert_eq!(sections["rows"][0]["ranges"][0]["first"], "198.51.100.1");
    let relay = json["tables"].as_array().unwrap().iter().find(|table| table["name"] == "relay").unwrap();
    let told: Vec<&Value> = relay["rows"].as_array().unwrap().iter().map(|row| &row["outcome"]).collect();
    assert_eq!(
        told,
        ["listed", "rejected", "listed", "rejected"].map(Value::from).iter().collect::<Vec<_>>()
    );
}

#[test]
fn rows_of_a_recording_that_cannot_be_read_are_counted() {
    let scratch = Scratch::new();
    const END: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1.4";
    const GROUP: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1.7";
    // An index that says five octets and has three; an end of three octets; a good row.
    let rows = format!(
        "{SYSTEM}{END}.1.80.1.4.10.0.0.1|4x|0a000009\n{END}.1.81.1.4.10.0.1.1|4x|0a0001\n\
         {END}.5.80.80.80|4x|0a000009\n\
         {GROUP}.1.80.1.4.10.0.0.1|4|\n{GROUP}.1.81.1.4.10.0.1.1|4|\n"
    );
    let file = scratch.write("rows.snmprec", rows);
    let outcome = check("cisco-ios", &file, &[]).expect(0).said(&["2 rows were not read"]);
    let text = &outcome.stdout;
    assert!(
        text.contains("does not know this router") && text.contains("3 rows: 1 listed, 2 rejected"),
        "{text}"
    );

    // None of its tables; nothing that gives a range; no recording; no descriptor.
    check("huawei", &file, &[]).expect(1).said(&["none of the tables of huawei"]);
    let empty = scratch.write("empty.snmprec", SYSTEM);
    check("zte-uas", &empty, &[]).expect(0).said(&["no row of the recording gives a range"]);
    check("zte-uas", &scratch.join("missing"), &[]).expect(1).said(&["missing"]);
    let torn = scratch.write("torn.snmprec", "1.3.6.1|2\n");
    check("zte-uas", &torn, &[]).expect(1).said(&["torn.snmprec", "line 1"]);
    let bad = scratch.write("bad.toml", "name = \"x\"\nvendor = 1\n");
    let args = ["mib", "check", bad.to_str().unwrap(), "--walk", file.to_str().unwrap()];
    poolsync::run(args).expect(1).said(&["bad.toml", "2", "^"]);
}

#[test]
fn names_of_a_recording_are_told_in_their_encoding() {
    let scratch = Scratch::new();
    // "电信" in GBK: b5 e7 d0 c5.
    const ENTRY: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1";
    const INDEX: &str = "4.181.231.208.197.1.4.10.0.0.1";
    let row = format!("{ENTRY}.4.{INDEX}|4x|0a000009\n{ENTRY}.7.{INDEX}|4|\n");
    let file = scratch.write("gbk.snmprec", format!("{SYSTEM}{row}"));
    let json = check("cisco-ios", &file, &["--json"]).expect(0).json();
    assert_eq!(json["tables"][0]["rows"][0]["ranges"][0]["pool"], "\\xb5\\xe7\\xd0\\xc5");
    let json = check("cisco-ios", &file, &["--json", "--encoding", "gbk"]).expect(0).json();
    assert_eq!(json["tables"][0]["rows"][0]["ranges"][0]["pool"], "电信");
    check("cisco-ios", &file, &["--encoding", "klingon"]).expect(2).said(&["klingon"]);
}
