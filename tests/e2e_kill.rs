//! SIGKILL at random moments while poolsync commits and exports: what is left is always the
//! one or the other of two known tables, whole, in the store and in every file.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use support::site::{Site, configuration, content};
use support::{have, junose, poolsync, program::Program, scratch::Scratch};

/// How often the process is killed; `POOLSYNC_KILLS` overrides it.
const KILLS: usize = 300;

/// Two states of one router. Between them pools come, go, grow and move by fewer addresses
/// than the guard looks at.
const STATES: [&[(&str, &str, &str)]; 2] = [
    &[
        ("pool1", "131.1.1.0", "131.1.10.255"),
        ("pool2", "131.2.0.0", "131.2.0.127"),
        ("pool3", "131.3.0.3", "131.3.0.250"),
    ],
    &[
        ("pool1", "131.1.1.0", "131.1.10.255"),
        ("pool2", "131.2.0.0", "131.2.0.99"),
        ("pool4", "131.4.0.0", "131.4.0.255"),
    ],
];

/// The files that are looked at: name, format, groups.
const EXPORTS: &[(&str, &str)] = &[
    ("edges.conf", "nginx-geo"),
    ("edge.map", "haproxy-map"),
    ("gslb.mmdb", "mmdb"),
    ("table.json", "json"),
];

fn configured(router: &junose::Router) -> String {
    // No return of an address waits for repeated evidence here.
    let text = configuration(&[("bas-a", router.address(), "east")]).replacen(
        "settle = \"0s\"",
        "settle = \"0s\"\nconfirm = 0\nignore-below = 4096",
        1,
    );
    let mut text =
        text[..text.find("[export.http]").unwrap()].to_owned() + &text[text.find("\n[bas.bas-a]").unwrap()..];
    for (at, (file, format)) in EXPORTS.iter().enumerate() {
        text += &format!("\n[export.e{at}]\nformat = \"{format}\"\npath = \"export/{file}\"\n");
        text += match *format {
            "nginx-geo" => "groups = { format = \"nginx\", path = \"export/targets.conf\" }\n",
            "mmdb" => {
                "name = \"cdn.example.com\"\ngroups = { format = \"knot\", path = \"export/geo.conf\" }\n"
            }
            _ => "",
        };
    }
    text
}

/// What a file says, without the header that names the generation.
fn body(path: &Path) -> Vec<u8> {
    let name = path.file_name().unwrap().to_str().unwrap();
    if name.ends_with(".mmdb") {
        return mmdb_rows(path).into_bytes();
    }
    let text = content(path);
    if name.ends_with(".json") {
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        return json["entries"].to_string().into_bytes();
    }
    let kept = text.lines().filter(|line| !line.starts_with("# poolsync "));
    kept.collect::<Vec<_>>().join("\n").into_bytes()
}

/// Every network of an MMDB and its edge, by a reader that is not poolsync's.
fn mmdb_rows(path: &Path) -> String {
    let reader = maxminddb::Reader::open_readfile(path).unwrap();
    let mut rows = String::new();
    for row in reader.networks(maxminddb::WithinOptions::default()).unwrap() {
        let row = row.unwrap();
        let record: Option<BTreeMap<String, serde_json::Value>> = row.decode().unwrap();
        rows += &format!("{} {}\n", row.network().unwrap(), record.unwrap()["edge"]);
    }
    rows
}

/// What is published of a state: file by file.
fn published(site: &Site) -> Vec<Vec<u8>> {
    EXPORTS.iter().map(|(file, _)| body(&site.export(file))).collect()
}

/// The entries of the store's newest generation, in their spelling.
fn stored(site: &Site) -> Vec<String> {
    site.entries()
}

/// Every token that the table's files name has a line in the groups files.
fn groups_cover_tables(site: &Site) {
    let targets = content(&site.export("targets.conf"));
    let geo = content(&site.export("geo.conf"));
    for row in content(&site.export("edges.conf")).lines().filter(|line| !line.starts_with('#')) {
        let token = row.trim_end_matches(';').split(' ').nth(1).unwrap();
        assert!(targets.lines().any(|line| line.trim().starts_with(token)), "{token} is not in:\n{targets}");
        assert!(geo.contains(&format!("\"{token}\"")), "{token} is not in:\n{geo}");
    }
}

/// Random numbers that are the same in every run.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_kill_at_any_moment_leaves_one_of_the_two_tables() {
    if !have("a_kill_at_any_moment_leaves_one_of_the_two_tables", &["snmpd", "python3"]) {
        return;
    }
    let scratch = Scratch::new();
    let router = junose::Router::start(&scratch, "bas-a", STATES[0]);
    let site = Site::new(scratch, &configured(&router));
    // What each state looks like undisturbed, and how long a poll takes.
    let mut known = Vec::new();
    let mut whole = Duration::ZERO;
    for state in [0, 1] {
        router.set(STATES[state]);
        let start = Instant::now();
        site.run(&["poll"]).expect(0);
        whole = whole.max(start.elapsed());
        known.push((stored(&site), published(&site)));
    }
    assert_ne!(known[0].0, known[1].0);
    assert!(known[0].1.iter().zip(&known[1].1).all(|(a, b)| a != b), "every file tells the states apart");

    let kills = std::env::var("POOLSYNC_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut killed = 0;
    let mut seen = [0; 2];
    for round in 0..kills {
        router.set(STATES[round % 2]);
        let mut poll = start_poll(&site);
        // A moment between the start and a little behind the usual end.
        let moment = whole.mul_f64(1.2 * (random(&mut seed) % 1000) as f64 / 1000.0);
        thread::sleep(moment);
        killed += usize::from(poll.runs());
        poll.kill();
        let entries = stored(&site);
        let state = known.iter().position(|(table, _)| *table == entries);
        let state = state.unwrap_or_else(|| panic!("round {round}: neither table: {entries:?}"));
        seen[state] += 1;
        for ((file, _), (a, b)) in EXPORTS.iter().zip(known[0].1.iter().zip(&known[1].1)) {
            let now = body(&site.export(file));
            assert!(
                now == *a || now == *b,
                "round {round}: {file} is neither:\n{}",
                String::from_utf8_lossy(&now)
            );
        }
        groups_cover_tables(&site);
    }
    // Most were killed while they worked, and both outcomes came about.
    assert!(killed > kills / 2, "{killed} of {kills} killed before their end");
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");

    // What is left works on: the next poll catches everything up.
    for state in [0, 1] {
        router.set(STATES[state]);
        site.run(&["poll"]).expect(0);
        assert_eq!(stored(&site), known[state].0);
        assert!(published(&site) == known[state].1, "every file has caught up");
    }
    let left = std::fs::read_dir(site.scratch.join("export")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.ends_with(".new")), "temporary files were left: {left:?}");
}

fn start_poll(site: &Site) -> Program {
    let mut command = poolsync::command(["-c".as_ref(), site.config.as_os_str(), "poll".as_ref()]);
    Program::start(&mut command, &site.scratch.join("poll.log"))
}
