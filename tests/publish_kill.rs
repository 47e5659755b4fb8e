//! Killed at any instant, a publication leaves whole old or whole new files.
//!
//! The test runs itself again as a child that publishes two generations in turn, without
//! end, and kills it with SIGKILL at a random moment; and again, over what the one before
//! left.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fixture::{edge, group, groups, snapshot};
use poolsync::format::groups::groups_by_name;
use poolsync::format::{Stamp, View, by_name};
use poolsync::publish::{Export, GroupsFile, Manifest, State, Target, publish};
use poolsync::table::{PoolName, Snapshot};
use rand::Rng;

const KILLS: usize = 50;
const FOLDER: &str = "POOLSYNC_TEST_PUBLISH_FOLDER";

/// A generation whose tokens no other has, but for the default's.
fn generation(number: u64) -> Snapshot {
    let names: Vec<String> = (0..8).map(|at| format!("edge-{number}-{at}")).collect();
    let list: Vec<_> = names.iter().map(|name| group(name, &[(name, 1)])).collect();
    let owners: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let mut edges: Vec<_> = names.iter().map(|name| edge(name, &["198.51.100.10"], None, None)).collect();
    edges.push(edge("centre", &["198.51.100.1"], None, None));
    let entry = |at: usize| {
        let (range, owner) = (format!("10.{}.{}.0/25", at / 256, at % 256), &names[at % names.len()]);
        fixture::entry("internet", &range, owner, Some(owner), PoolName::new(b"p"), "")
    };
    let entries = (0..200).map(entry).collect();
    Snapshot { generation: number, ..snapshot(entries, groups(&list, &owners), &edges, "centre") }
}

fn exports(folder: &Path) -> [Export; 2] {
    let groups = |format: &str, name: &str| {
        Some(GroupsFile { format: groups_by_name(format).unwrap(), path: folder.join(name) })
    };
    let export = |format: &str, name: &str| Export::new(name, by_name(format).unwrap(), folder.join(name));
    let mut mmdb = export("mmdb", "gslb.mmdb");
    mmdb.groups = groups("knot", "geo.conf");
    mmdb.context.name = Some("cdn.example.com".parse().unwrap());
    let mut map = export("haproxy-map", "edge.map");
    map.groups = groups("nginx-map", "groups.conf");
    [mmdb, map]
}

/// The child: publishes until it is killed, and says so each time.
#[tokio::test]
#[ignore = "run by the test below, as a process of its own"]
async fn publish_in_a_loop() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("run by the test below"));
    let (exports, generations) = (exports(&folder), [generation(1), generation(2)]);
    for round in 0.. {
        for export in &exports {
            let published =
                publish(export, &generations[round % 2], "2026-01-02T05:00:00Z".parse().unwrap()).await;
            let word = match published.state {
                State::Failed(failure) => format!("failed {failure}"),
                _ => "done".to_owned(),
            };
            let mut out = std::io::stdout().lock();
            writeln!(out, "\n@{word}").unwrap();
            out.flush().unwrap();
        }
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "publish_in_a_loop", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a child a random time after some of its publications, and reads its files until then.
/// Says how many publications it made.
fn run_and_kill(folder: &Path, exports: &[Export; 2], whole: &[[Vec<u8>; 2]; 2]) -> usize {
    let mut child = start(folder);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    // However slow the machine is, each export is met in each generation.
    for _ in 0..rand::rng().random_range(1..=5) {
        let mut line = String::new();
        while !line.starts_with('@') {
            line.clear();
            assert_ne!(out.read_line(&mut line).unwrap(), 0, "the child ended by itself");
        }
        first += &line;
    }
    let end = Instant::now() + Duration::from_micros(rand::rng().random_range(0..60_000));
    while Instant::now() < end {
        // Whoever reads meanwhile, reads whole files.
        exports.iter().zip(whole).for_each(|(export, whole)| examine_table(&export.path, whole));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let said: Vec<&str> = rest.lines().chain(first.lines()).filter(|line| line.starts_with('@')).collect();
    let failed: Vec<_> = said.iter().filter(|line| line.starts_with("@failed")).collect();
    assert!(failed.is_empty(), "{failed:?}");
    said.len()
}

/// The file is not there, or of one of the generations to the last octet.
fn examine_table(path: &Path, whole: &[Vec<u8>; 2]) {
    let found = fs::read(path).ok();
    assert!(found.is_none_or(|found| whole.contains(&found)), "{} is of no generation", path.display());
}

/// Both files of an export are whole, of one of the generations, and every token of the
/// table has its row.
fn examine(export: &Export, whole: &[Vec<u8>; 2]) -> usize {
    let at = |path: &Path| fs::read(path).ok();
    let groups = export.groups.as_ref().unwrap();
    let (table, rows) = (Target::resolve(&export.path).unwrap(), Target::resolve(&groups.path).unwrap());
    examine_table(table.path(), whole);
    examine_table(&table.previous(), whole);
    for path in [rows.path(), &rows.previous()] {
        if let Some(found) = at(path) {
            groups.format.read(&found).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
    }
    if let Some(text) = at(&table.manifest()) {
        serde_json::from_slice::<Manifest>(&text).unwrap();
    }
    let found = at(table.path()).unwrap();
    let read = export.format.read(&found).unwrap();
    let tokens: BTreeSet<_> = read.tokens().cloned().collect();
    let rows = groups.format.read(&at(rows.path()).unwrap()).unwrap();
    let missing: Vec<_> = tokens.iter().filter(|token| !rows.rows.contains_key(token)).collect();
    assert!(missing.is_empty(), "{}: no rows for {missing:?}", export.name);
    whole.iter().position(|bytes| *bytes == found).unwrap()
}

#[tokio::test]
async fn killed_at_any_instant_it_leaves_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let exports = exports(folder.path());
    let generations = [generation(1), generation(2)];
    let whole = exports.each_ref().map(|export| {
        generations.each_ref().map(|generation| {
            let view = View::new(generation, &export.scope()).unwrap();
            export.format.render(&view, &Stamp::from(generation)).unwrap().bytes()
        })
    });
    let (mut published, mut seen) = (0, BTreeSet::new());
    for _ in 0..KILLS {
        published += run_and_kill(folder.path(), &exports, &whole);
        for (at, export) in exports.iter().enumerate() {
            // The second export may not have been written at the first kill.
            if export.path.exists() {
                seen.insert((at, examine(export, &whole[at])));
            }
        }
    }
    assert!(published > KILLS, "only {published} publications");
    assert_eq!(seen.len(), 4, "both exports should have been met in both generations: {seen:?}");
    for (export, whole) in exports.iter().zip(&whole) {
        let last = publish(export, &generations[1], "2026-01-02T05:00:00Z".parse().unwrap()).await;
        assert!(!matches!(last.state, State::Failed(_)), "{last:?}");
        assert_eq!(examine(export, whole), 1);
    }
    let names = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".new")).collect();
    assert!(left.is_empty(), "{left:?}");
}
