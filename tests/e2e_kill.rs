//! SIGKILL at random moments while poolsync commits and exports: what is left is always the
//! one or the other of two known tables, whole, in the store and in every file.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use support::site::{Site, configuration, content};
use support::{have, junose, poolsync, program::Program, scratch::Scratch};

/// How often the process is killed; `POOLSYNC_KILLS` overrides it.
const KILLS: usize = 300;

/// How many pools each of the two routers lists.
const POOLS: u8 = 60;

/// Two routers whose pools overlap, so that priority decides where one ends and the other
/// begins: alternating it moves half of the table to and fro, and no address leaves it.
fn pools(router: &str) -> Vec<(String, String, String)> {
    let pool = |n: u8| match router {
        "bas-a" => (format!("a{n}"), format!("131.{n}.1.0"), format!("131.{n}.10.255")),
        _ => (format!("b{n}"), format!("131.{n}.8.77"), format!("131.{n}.14.200")),
    };
    (0..POOLS).map(pool).collect()
}

/// The files that are looked at: name, format, groups.
const EXPORTS: &[(&str, &str)] = &[
    ("edges.conf", "nginx-geo"),
    ("edge.map", "haproxy-map"),
    ("gslb.mmdb", "mmdb"),
    ("table.json", "json"),
];

/// The configuration in which one of the two goes first.
fn configured(routers: &[(&str, SocketAddr, &str)], first: &str) -> String {
    let text = configuration(routers)
        .replacen("settle = \"0s\"", "settle = \"0s\"\nmove = \"100%\"", 1)
        .replacen(&format!("[bas.{first}]\n"), &format!("[bas.{first}]\npriority = 10\n"), 1);
    let (head, rest) = text.split_once("[export.http]").unwrap();
    let mut text = head.to_owned() + &rest[rest.find("\n[bas.").unwrap()..];
    for (at, (file, format)) in EXPORTS.iter().enumerate() {
        text += &format!("\n[export.e{at}]\nformat = \"{format}\"\npath = \"export/{file}\"\n");
        text += match *format {
            "nginx-geo" => "groups = { format = \"nginx-map\", path = \"export/targets.conf\" }\n",
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
    let routers = ["bas-a", "bas-b"].map(|name| {
        let pools = pools(name);
        let pools: Vec<_> = pools.iter().map(|(n, a, b)| (n.as_str(), a.as_str(), b.as_str())).collect();
        junose::Router::start(&scratch, name, &pools)
    });
    let listed = [("bas-a", routers[0].address(), "east"), ("bas-b", routers[1].address(), "west")];
    let states = ["bas-a", "bas-b"].map(|first| configured(&listed, first));
    let site = Site::new(scratch, &states[0]);
    // What each state looks like undisturbed, and how long a poll takes.
    let mut known = Vec::new();
    let mut whole = Duration::ZERO;
    for (state, overlap) in
        states.iter().zip(["131.0.1.0-131.0.10.255 bas-a", "131.0.8.77-131.0.14.200 bas-b"])
    {
        site.configure(state);
        let start = Instant::now();
        site.run(&["poll"]).expect(0);
        whole = start.elapsed();
        let table = site.entries();
        assert_eq!(table.len(), 2 * usize::from(POOLS));
        assert!(table.iter().any(|entry| entry == overlap), "{overlap} is whole: {table:?}");
        known.push((table, published(&site)));
    }
    assert_ne!(known[0].0, known[1].0);
    assert!(known[0].1.iter().zip(&known[1].1).all(|(a, b)| a != b), "every file tells the states apart");

    let kills = std::env::var("POOLSYNC_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut killed = 0;
    let mut seen = [0; 2];
    let mut between = 0;
    for round in 0..kills {
        site.configure(&states[round % 2]);
        let mut poll = start_poll(&site);
        // A moment between the start and a little behind the usual end; every second time in
        // the later half, where it commits and publishes.
        let share = (random(&mut seed) % 1000) as f64 / 1000.0;
        let share = if round % 4 < 2 { 1.1 * share } else { 0.5 + 0.6 * share };
        thread::sleep(whole.mul_f64(share));
        killed += usize::from(poll.runs());
        poll.kill();
        let entries = site.entries();
        let state = known.iter().position(|(table, _)| *table == entries);
        let state = state.unwrap_or_else(|| panic!("round {round}: neither table: {entries:?}"));
        seen[state] += 1;
        let files = published(&site);
        between += usize::from(files != known[state].1);
        for (now, ((file, _), (a, b))) in
            files.iter().zip(EXPORTS.iter().zip(known[0].1.iter().zip(&known[1].1)))
        {
            assert!(
                now == a || now == b,
                "round {round}: {file} is neither:\n{}",
                String::from_utf8_lossy(now)
            );
        }
        groups_cover_tables(&site);
    }
    println!(
        "{killed} of {kills} killed at work (a poll takes {whole:?}); states left: {seen:?}; {between} between commit and last file"
    );
    // Many were killed while they worked, and both outcomes came about.
    assert!(killed > kills / 4, "{killed} of {kills} killed before their end");
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
    assert!(between > 0, "some were killed between the commit and the last file");

    // What is left works on: the next poll catches everything up.
    for state in [0, 1] {
        site.configure(&states[state]);
        site.run(&["poll"]).expect(0);
        assert_eq!(site.entries(), known[state].0);
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
