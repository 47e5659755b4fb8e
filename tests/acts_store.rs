//! Copies of the store, changed configurations, counts of use: on the program as it is.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use std::net::SocketAddr;

use acts_support::{Plant, Pool};
use serde_json::{Value, json};
use support::json::has_keys;
use support::site::{configuration, content};

const A: &[Pool] = &[("a", "198.18.0.0", "198.18.15.255")];
const B: &[Pool] = &[("b", "198.18.64.0", "198.18.79.255")];
const B_MORE: &[Pool] = &[("b", "198.18.64.0", "198.18.79.255"), ("new", "198.18.80.0", "198.18.80.255")];

const A_LINE: &str = "198.18.0.0-198.18.15.255 bas-a";
const B_LINE: &str = "198.18.64.0-198.18.79.255 bas-b";
const NEW_LINE: &str = "198.18.80.0-198.18.80.255 bas-b";

fn plant() -> Plant {
    let plant = Plant::new(&[("bas-a", "east", A), ("bas-b", "west", B)]);
    plant.run(&["poll"]).expect(0);
    plant
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

#[test]
fn a_backup_is_taken_beside_the_daemon_and_put_back_without_it() {
    let plant = plant();
    let session = text(&plant.status()["session"]).to_owned();
    let mut daemon = plant.daemon();
    let copy = plant.site.scratch.join("copy.db");
    let copy = copy.to_str().unwrap();
    let backup = plant.json(0, &["backup", copy]);
    has_keys(&backup, &["file", "octets", "session", "generation", "entries"]);
    assert_eq!([&backup["generation"], &backup["entries"]], [1, 2]);
    assert_eq!(text(&backup["session"]), session);
    plant.run(&["edge", "drain", "east", "--reason", "later"]).expect(0);
    plant.set("bas-b", B_MORE);
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);

    // While the daemon owns the store nothing is put back.
    plant.run(&["restore", copy]).expect(1).said(&["belongs to process"]);
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);
    daemon.signal("TERM");
    daemon.wait_end(std::time::Duration::from_secs(20));
    drop(daemon);

    let restored = plant.json(0, &["restore", copy]);
    has_keys(&restored, &["store", "file", "session", "generation", "aside"]);
    assert_ne!(text(&restored["session"]), session, "generations are counted anew");
    assert_eq!(restored["generation"], 1);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    let status = plant.status();
    assert_eq!([&status["session"], &status["generation"]], [&restored["session"], &json!(1)]);
    assert_eq!(status["drained"], json!([]), "as of the copy");
    assert_eq!(plant.json(0, &["history"])[0]["acts"][0]["kind"], "restore");
    // The one before is whole, with all that was committed.
    let aside = text(&restored["aside"]).to_owned();
    let text_of = |path: &str| content(&plant.site.config).replace("poolsync.db", path);
    let other = plant.site.scratch.write("aside.toml", text_of(&aside));
    let before = support::poolsync::run_with(&other, &["status", "--json"]).expect(0).json();
    assert_eq!([&before["generation"], &before["session"]], [&json!(3), &json!(session)]);
    assert_eq!(before["drained"][0]["edge"], "east");
    // Nothing else lies about.
    let mut files: Vec<String> = std::fs::read_dir(plant.site.scratch.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("poolsync.db"))
        .collect();
    files.sort();
    assert!(!files.iter().any(|name| name.contains("restoring") || name.contains(".new")), "{files:?}");

    // The next poll brings the consumers to it, and goes on from there.
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);
    assert!(content(&plant.site.export("edges.conf")).contains(text(&restored["session"])));
    // A second one keeps the first one's predecessor.
    let again = plant.json(0, &["restore", copy]);
    assert_ne!(text(&again["aside"]), aside);
    assert!(std::path::Path::new(&aside).exists());
}

#[test]
fn what_is_no_copy_is_neither_put_back_nor_written_over() {
    let plant = plant();
    let scratch = &plant.site.scratch;
    let table = plant.site.table();
    let path = |name: &str| scratch.join(name).to_str().unwrap().to_owned();
    plant.run(&["restore", &path("missing.db")]).expect(1).said(&["missing.db"]);
    scratch.write("words.db", "these are words, and no database at all");
    plant.run(&["restore", &path("words.db")]).expect(1).said(&["not a poolsync database"]);
    plant.run(&["restore", &path("poolsync.db")]).expect(1).said(&["the database itself"]);
    // A copy that was cut short.
    plant.run(&["backup", &path("copy.db")]).expect(0);
    let whole = std::fs::read(path("copy.db")).unwrap();
    std::fs::write(path("cut.db"), &whole[..whole.len() / 2]).unwrap();
    plant.run(&["restore", &path("cut.db")]).expect(1).said(&["damaged"]);
    assert_eq!(plant.site.table(), table);
    assert!(!scratch.join("poolsync.db.before-restore").exists());

    // A backup replaces a backup, and nothing else.
    plant.run(&["backup", &path("copy.db")]).expect(0);
    plant.run(&["backup", &path("words.db")]).expect(1).said(&["words.db"]);
    assert_eq!(content(&scratch.join("words.db")), "these are words, and no database at all");
    plant.run(&["backup", &path("config.toml")]).expect(1);
    plant.run(&["backup", &path("poolsync.db")]).expect(1);
    plant.run(&["backup", &path("poolsync.db-wal")]).expect(1);
    std::fs::hard_link(path("poolsync.db"), path("link.db")).unwrap();
    plant.run(&["backup", &path("link.db")]).expect(1);
    plant.run(&["backup", &path("no/such/folder.db")]).expect(1);
    assert_eq!(plant.site.table(), table);
}

#[test]
fn a_damaged_store_is_put_back_and_kept_aside() {
    let plant = plant();
    let copy = plant.site.scratch.join("copy.db");
    let copy = copy.to_str().unwrap();
    plant.run(&["backup", copy]).expect(0);
    let store = plant.site.scratch.join("poolsync.db");
    let mut octets = std::fs::read(&store).unwrap();
    let end = octets.len();
    octets[100..end.min(12_000)].fill(0x5a);
    std::fs::write(&store, &octets).unwrap();
    assert_ne!(plant.run(&["status"]).code, Some(0));
    let restored = plant.json(0, &["restore", copy]);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    assert_eq!(std::fs::read(text(&restored["aside"])).unwrap(), octets, "for those who look into it");
    // And where there is none at all.
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(plant.site.scratch.join(format!("poolsync.db{suffix}")));
    }
    assert_eq!(plant.json(0, &["restore", copy])["aside"], Value::Null);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    plant.run(&["poll"]).expect(0);
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_or_the_new() {
    let plant = plant();
    let path = |name: &str| plant.site.scratch.join(name).to_str().unwrap().to_owned();
    plant.run(&["backup", &path("one.db")]).expect(0);
    plant.set("bas-b", B_MORE);
    plant.run(&["poll"]).expect(0);
    plant.run(&["backup", &path("two.db")]).expect(0);
    let (one, two) = (vec![A_LINE, B_LINE], vec![A_LINE, B_LINE, NEW_LINE]);
    // As long as a whole one takes, so that the kills hit every part of it.
    let begin = std::time::Instant::now();
    plant.run(&["restore", &path("one.db")]).expect(0);
    let whole = begin.elapsed();
    let mut found = std::collections::BTreeMap::new();
    for round in 0..40u32 {
        let before = plant.entries();
        let copy = path(if round % 2 == 0 { "two.db" } else { "one.db" });
        let config = plant.site.config.to_str().unwrap();
        let mut command = support::poolsync::command(["-c", config, "restore", &copy]);
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * (round + 1) / 40);
        let _ = child.kill();
        child.wait().unwrap();
        let after = plant.entries();
        assert!(after == one || after == two, "round {round}: {after:?}");
        *found.entry(after == before).or_insert(0) += 1;
        // It is whole, and nobody is in the way of the next owner.
        plant.run(&["freeze"]).expect(0);
        plant.run(&["backup", &path("check.db")]).expect(0);
    }
    assert!(found.contains_key(&true), "some were killed before they were done: {found:?}");
}

/// Both routers, with what is told of the second.
fn changed(plant: &Plant, second: &str) -> String {
    let addresses: [SocketAddr; 2] = [plant.address("bas-a"), plant.address("bas-b")];
    let text = configuration(&[("bas-a", addresses[0], "east"), ("bas-b", addresses[1], "west")]);
    let (head, tail) = text.split_once("[bas.bas-b]").unwrap();
    match second {
        "gone" => head.to_owned(),
        edges => format!("{head}[bas.bas-b]{}", tail.replace("[\"west\"]", edges)),
    }
}

#[test]
fn a_changed_configuration_is_looked_at_before_it_is_let_through() {
    let plant = plant();
    let check = |code: i32| plant.json(code, &["check", "--against-store"])["against_store"].clone();
    let same = check(0);
    has_keys(
        &same,
        &["generation", "digest", "added", "removed", "altered", "changes", "groups", "owners", "held"],
    );
    assert_eq!([&same["changes"], &same["held"]], [&json!([]), &json!([])]);

    // Other edges: not judged, but shown.
    plant.site.configure(&changed(&plant, "[\"east\"]"));
    let edges = check(4);
    assert_eq!([&edges["changes"], &edges["held"]], [&json!([]), &json!([])]);
    assert_eq!([&edges["owners"][0]["owner"], &edges["owners"][0]["after"]], ["bas-b", "east"]);

    // A BAS less: half of the table, which the guard would hold.
    plant.site.configure(&changed(&plant, "gone"));
    let gone = check(4);
    assert_eq!([&gone["removed"], &gone["changes"][0]["first"]], [&json!(1), &json!("198.18.64.0")]);
    assert_eq!([&gone["held"][0]["bas"], &gone["held"][0]["units"]], [&json!("bas-b"), &json!(4096)]);
    let seen = plant.run(&["check", "--against-store"]).expect(4).stdout;
    assert!(seen.contains(&format!("reload --accept {}", text(&gone["digest"]))), "{seen}");
    assert_eq!(plant.entries(), [A_LINE, B_LINE], "it was only looked at");

    // Another digest lets nothing through, and takes nothing up.
    plant.run(&["reload", "--accept", text(&edges["digest"])]).expect(4).said(&["is not taken"]);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    let done = plant.json(0, &["reload", "--accept", text(&gone["digest"])]);
    assert_eq!([&done["changed"]["removed"], &done["held"], &done["bas"]], [1, 0, 1]);
    assert_eq!(done["published"][0]["state"], "published");
    assert_eq!(plant.entries(), [A_LINE]);
    assert_eq!(plant.json(0, &["history"])[0]["acts"][0]["kind"], "accept");
}

#[test]
fn the_daemon_takes_exactly_what_was_shown() {
    let plant = plant();
    let daemon = plant.daemon();
    plant.site.configure(&changed(&plant, "gone"));
    let digest = text(&plant.json(4, &["check", "--against-store"])["against_store"]["digest"]).to_owned();
    // What was shown grows meanwhile: bas-b has a pool more by now.
    plant.set("bas-b", B_MORE);
    plant.run(&["poll"]).expect(0);
    plant.run(&["reload", "--accept", &digest]).expect(4).said(&["look again"]);
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);
    assert_eq!(plant.status()["bas"].as_array().unwrap().len(), 2, "the configuration before is in force");
    // What another BAS lists meanwhile is nothing to it.
    let digest = text(&plant.json(4, &["check", "--against-store"])["against_store"]["digest"]).to_owned();
    plant.set("bas-a", &[A[0], ("more", "198.18.32.0", "198.18.32.255")]);
    plant.run(&["poll"]).expect(0);
    let done = plant.json(0, &["reload", "--accept", &digest]);
    assert_eq!([&done["changed"]["removed"], &done["held"]], [2, 0]);
    assert_eq!(plant.entries(), [A_LINE, "198.18.32.0-198.18.32.255 bas-a"]);
    assert!(!content(&plant.site.export("edges.conf")).contains("west;"));

    // Without a digest what is too large is held.
    let empty = configuration(&[]) + "\n[[static]]\nrange = \"203.0.113.0/24\"\nedges = [\"west\"]\n";
    plant.site.configure(&empty);
    plant.run(&["reload"]).expect(4).said(&["held"]);
    assert_eq!(plant.entries().len(), 3);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
    plant.site.configure("no configuration");
    plant.run(&["reload"]).expect(78);
    drop(daemon);
}

#[test]
fn use_is_counted_by_hour_and_by_pool_and_makes_no_generation() {
    let plant = plant();
    plant.set_used("bas-a", A, 700);
    plant.run(&["poll"]).expect(0);
    plant.set_used("bas-a", A, 300);
    plant.run(&["poll"]).expect(0);
    let used = |code: i32| {
        let history = plant.json(code, &["history", "bas-a"]);
        let (pool, hours) = (history["pools"][0].clone(), history["hours"].as_array().unwrap().clone());
        let number = |count: &Value| text(count).parse::<u64>().ok();
        let most = hours.iter().filter_map(|hour| number(&hour["used"])).max();
        (number(&pool["used"]), number(&pool["peak"]), number(&pool["size"]), most)
    };
    // One of them may be the first of a new day, or of a new hour.
    let (last, peak, size, most) = used(0);
    assert_eq!((last, size, most), (Some(300), Some(4096), Some(700)));
    assert!(matches!(peak, Some(700 | 300)), "{peak:?}");
    assert_eq!(plant.status()["generation"], 1);

    // The daemon writes it down with what it remembers, at the latest when it stops.
    let mut daemon = plant.daemon();
    plant.set_used("bas-a", A, 900);
    plant.run(&["poll"]).expect(0);
    daemon.signal("TERM");
    daemon.wait_end(std::time::Duration::from_secs(20));
    let (last, _, _, most) = used(0);
    assert_eq!((last, most), (Some(900), Some(900)));
    let seen = plant.run(&["history", "bas-a"]).expect(0).stdout;
    assert!(seen.contains("DAY'S PEAK") && seen.contains("900"), "{seen}");
    assert_eq!(plant.status()["generation"], 1);
}
