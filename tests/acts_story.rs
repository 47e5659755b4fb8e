//! One long day of an operator, on the program as it is: at each step `status`, `held`,
//! `export` and the files say what a careful operator would expect.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use acts_support::{Plant, Pool};
use serde_json::{Value, json};
use support::program::{Program, wait_for};
use support::site::content;

const A: &[Pool] = &[("home", "198.18.0.0", "198.18.15.255")];
const B: &[Pool] = &[("home", "198.18.64.0", "198.18.79.255")];
const C: &[Pool] = &[("home", "198.18.128.0", "198.18.159.255")];

const A_ALL: &str = "198.18.0.0-198.18.15.255 bas-a";
const A_HALF: &str = "198.18.0.0-198.18.7.255 bas-a";
const B_ALL: &str = "198.18.64.0-198.18.79.255 bas-b";
const B_LEFT: &str = "198.18.64.0-198.18.64.255 bas-b";
const C_ALL: &str = "198.18.128.0-198.18.159.255 bas-c";
const C_WON: &str = "198.18.8.0-198.18.15.255 bas-c";

/// The operator's desk.
struct Desk {
    plant: Plant,
    daemon: Option<Program>,
}

impl Desk {
    /// What every step ends with: what is published, in files too, and how much is held.
    #[track_caller]
    fn shows(&self, step: &str, entries: &[&str], held: &[&str]) -> Value {
        assert_eq!(self.plant.entries(), entries, "{step}: export");
        let list = self.plant.json(0, &["held", "list"]);
        let told: Vec<String> = list.as_array().unwrap().iter().map(hold).collect();
        assert_eq!(told, held, "{step}: held");
        let status = self.plant.status();
        assert_eq!(status["held"], held.len(), "{step}: status");
        assert_eq!(status["running"], self.daemon.is_some(), "{step}");
        let export = &status["exports"][0];
        assert_eq!([&export["state"], &export["reason"]], [&json!("published"), &Value::Null], "{step}");
        // The file of the consumer says the same, prefix by prefix.
        let file = content(&self.plant.site.export("edges.conf"));
        for line in entries {
            let first = line.split('-').next().unwrap();
            assert!(file.contains(&format!("\n{first}/")), "{step}: {first} is missing in\n{file}");
        }
        status
    }

    #[track_caller]
    fn bas<'a>(&self, status: &'a Value, name: &str) -> &'a Value {
        let list = status["bas"].as_array().unwrap();
        list.iter().find(|bas| bas["name"] == name).unwrap()
    }

    fn stop(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.signal("TERM");
        assert_eq!(daemon.wait_end(std::time::Duration::from_secs(30)).code(), Some(0));
    }

    /// The files have the store's generation.
    fn wait_published(&self) {
        wait_for("the files", || {
            let status = self.plant.status();
            status["exports"][0]["generation"] == status["generation"]
        });
    }
}

/// A hold as `kind reason BAS units`.
fn hold(hold: &Value) -> String {
    let word = |key: &str| hold[key].as_str().unwrap().to_owned();
    format!("{} {} {} {}", word("kind"), word("reason"), word("bas"), hold["units"])
}

#[test]
fn a_day_at_the_desk() {
    let plant = Plant::with(&[("bas-a", "east", A), ("bas-b", "west", B), ("bas-c", "west", C)], |text| {
        // The reading of three routers is no fleet: one loss is not an incident of them all.
        text.replacen("[guard]\n", "[guard]\nremove = \"100%\"\n", 1)
    });
    plant.run(&["poll"]).expect(0);
    let daemon = Some(plant.daemon());
    let mut desk = Desk { plant, daemon };
    let status = desk.shows("built", &[A_ALL, B_ALL, C_ALL], &[]);
    for name in ["bas-a", "bas-b", "bas-c"] {
        let bas = desk.bas(&status, name);
        assert_eq!(
            [&bas["state"], &bas["stale"], &bas["held"]],
            [&json!("complete"), &json!(false), &json!(0)]
        );
    }
    assert_eq!(status["conflicts"], 0);

    empty_one(&desk);
    starve_one(&desk);
    overlap_two_and_move_a_pool(&desk);
    let before_move = desk.plant.status()["generation"].as_u64().unwrap() - 1;
    drain_and_roll_back(&desk, before_move);
    restore_and_crash(&mut desk);
}

/// bas-a answers without a single pool; then it is itself again.
fn empty_one(desk: &Desk) {
    let plant = &desk.plant;
    plant.set("bas-a", &[]);
    plant.run(&["poll", "bas-a"]).expect(4).said(&["1 change is held", "held show"]);
    let status = desk.shows("emptied", &[A_ALL, B_ALL, C_ALL], &["removal emptied bas-a 4096"]);
    let bas = desk.bas(&status, "bas-a");
    assert_eq!([&bas["state"], &bas["held"], &bas["ranges"]], [&json!("complete"), &json!(4096), &json!(0)]);
    let text = plant.run(&["status"]).expect(0).stdout;
    assert!(text.starts_with("HELD: 1 change waits"), "{text}");
    // Others go on meanwhile.
    plant.set("bas-b", &[B[0], ("new", "198.18.96.0", "198.18.96.255")]);
    plant.run(&["poll", "bas-b"]).expect(4);
    let new = "198.18.96.0-198.18.96.255 bas-b";
    desk.shows("others go on", &[A_ALL, B_ALL, new, C_ALL], &["removal emptied bas-a 4096"]);
    plant.set("bas-a", A);
    plant.run(&["poll", "bas-a"]).expect(0);
    plant.set("bas-b", B);
    plant.run(&["poll", "bas-b"]).expect(0);
    desk.shows("itself again", &[A_ALL, B_ALL, C_ALL], &[]);
}

/// bas-b loses fifteen sixteenths; a person looks at it, and lets it go.
fn starve_one(desk: &Desk) {
    let plant = &desk.plant;
    plant.set("bas-b", &[("home", "198.18.64.0", "198.18.64.255")]);
    plant.run(&["poll", "bas-b"]).expect(4);
    desk.shows("starved", &[A_ALL, B_ALL, C_ALL], &["removal remove-bas bas-b 3840"]);
    let held = plant.json(0, &["held", "list"])[0].clone();
    let (id, digest) = (held["id"].to_string(), held["digest"].as_str().unwrap().to_owned());
    assert_eq!(
        [&held["ranges"][0]["first"], &held["ranges"][0]["to"]],
        [&json!("198.18.65.0"), &Value::Null]
    );
    // It grows while it is looked at: what was seen is not what is there.
    plant.set("bas-b", &[("home", "198.18.64.0", "198.18.64.127")]);
    plant.run(&["poll", "bas-b"]).expect(4);
    plant.run(&["held", "approve", &id, "--digest", &digest]).expect(4);
    desk.shows("grown", &[A_ALL, B_ALL, C_ALL], &["removal remove-bas bas-b 3968"]);
    plant.set("bas-b", &[("home", "198.18.64.0", "198.18.64.255")]);
    plant.run(&["poll", "bas-b"]).expect(4);
    let held = plant.json(0, &["held", "list"])[0].clone();
    let (id, digest) = (held["id"].to_string(), held["digest"].as_str().unwrap().to_owned());
    plant.run(&["held", "approve", &id, "--digest", &digest, "--reason", "migrated"]).expect(0);
    desk.shows("let go", &[A_ALL, B_LEFT, C_ALL], &[]);
    assert_eq!(plant.answer("198.18.70.1"), "centre: centre");
}

/// bas-c begins to list half of what bas-a has; then bas-a gives it up.
fn overlap_two_and_move_a_pool(desk: &Desk) {
    let plant = &desk.plant;
    plant.set("bas-c", &[C[0], ("half", "198.18.8.0", "198.18.15.255")]);
    plant.run(&["poll", "bas-c"]).expect(0);
    // The smaller pool within the larger one has it: at most half of its size.
    let status = desk.shows("overlapping", &[A_HALF, C_WON, B_LEFT, C_ALL], &[]);
    assert_eq!(status["conflicts"], 1);
    let conflict = plant.json(0, &["conflicts"])[0].clone();
    assert_eq!([&conflict["owner"], &conflict["rule"]], ["bas-c", "nested"]);
    plant.set("bas-a", &[("home", "198.18.0.0", "198.18.7.255")]);
    plant.run(&["poll", "bas-a"]).expect(0);
    let status = desk.shows("moved", &[A_HALF, C_WON, B_LEFT, C_ALL], &[]);
    assert_eq!(status["conflicts"], 0);
    assert_eq!(plant.answer("198.18.8.1"), "west: west");
}

/// West goes down; then the move turns out to be wrong, and is taken back for a while.
fn drain_and_roll_back(desk: &Desk, before_move: u64) {
    let plant = &desk.plant;
    plant.run(&["edge", "drain", "west", "--reason", "fibre cut"]).expect(0);
    let status = desk.shows("drained", &[A_HALF, C_WON, B_LEFT, C_ALL], &[]);
    assert_eq!(status["drained"][0]["edge"], "west");
    assert_eq!(plant.answer("198.18.8.1"), "west: centre");
    assert!(!content(&plant.site.export("targets.conf")).contains("west.example.net"));

    plant.run(&["rollback", &before_move.to_string(), "--reason", "viewers complain"]).expect(0);
    let status = desk.shows("rolled back", &[A_ALL, B_LEFT, C_ALL], &[]);
    assert_eq!(
        [&status["pinned"], &status["pin"]["reason"]],
        [&json!(before_move), &json!("viewers complain")]
    );
    assert_eq!(plant.answer("198.18.8.1"), "east: east");
    assert_eq!(plant.answer("198.18.64.1"), "west: centre", "drained all the same");
    // Polls go on beneath, and are judged there.
    plant.set("bas-c", &[]);
    plant.run(&["poll", "bas-c"]).expect(4).said(&["whatever polls find"]);
    let status = desk.shows("held beneath", &[A_ALL, B_LEFT, C_ALL], &["removal emptied bas-c 10240"]);
    assert_eq!(status["pinned"], before_move);
    plant.set("bas-c", &[C[0], ("half", "198.18.8.0", "198.18.15.255")]);
    plant.run(&["poll", "bas-c"]).expect(0);

    plant.run(&["edge", "undrain", "west"]).expect(0);
    plant.run(&["rollback", "--release"]).expect(0);
    let status = desk.shows("released", &[A_HALF, C_WON, B_LEFT, C_ALL], &[]);
    assert_eq!([&status["pin"], &status["drained"]], [&Value::Null, &json!([])]);
    assert_eq!(plant.answer("198.18.8.1"), "west: west");
}

/// The store is put back from the morning's copy; then the machine dies in the middle of work.
fn restore_and_crash(desk: &mut Desk) {
    let copy = desk.plant.site.scratch.join("morning.db").to_str().unwrap().to_owned();
    desk.plant.run(&["backup", &copy]).expect(0);
    desk.plant
        .set("bas-b", &[("home", "198.18.64.0", "198.18.64.255"), ("late", "198.18.96.0", "198.18.96.255")]);
    desk.plant.run(&["poll", "bas-b"]).expect(0);
    let late = "198.18.96.0-198.18.96.255 bas-b";
    let before = desk.shows("late", &[A_HALF, C_WON, B_LEFT, late, C_ALL], &[]);
    desk.stop();
    let restored = desk.plant.json(0, &["restore", &copy]);
    let status = desk.plant.status();
    assert_ne!(status["session"], before["session"]);
    assert_eq!(desk.plant.entries(), [A_HALF, C_WON, B_LEFT, C_ALL]);
    // The service publishes what it finds, and polls bring what is missing.
    desk.daemon = Some(desk.plant.daemon());
    desk.wait_published();
    assert!(content(&desk.plant.site.export("edges.conf")).contains(restored["session"].as_str().unwrap()));
    desk.plant.run(&["poll"]).expect(0);
    desk.shows("caught up", &[A_HALF, C_WON, B_LEFT, late, C_ALL], &[]);

    // A hold, a drain and a pin stand when the process is killed while it polls.
    desk.plant.set("bas-a", &[]);
    desk.plant.run(&["poll", "bas-a"]).expect(4);
    desk.plant.run(&["edge", "drain", "east", "--reason", "x"]).expect(0);
    desk.plant.run(&["freeze"]).expect(0);
    let (table, held) = (desk.plant.site.table(), desk.plant.json(0, &["held", "list"]));
    let mut daemon = desk.daemon.take().unwrap();
    let config = desk.plant.site.config.to_str().unwrap().to_owned();
    let mut poll = support::poolsync::command(["-c", &config, "poll"]);
    let mut poll =
        poll.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    daemon.kill();
    poll.wait().unwrap();
    drop(daemon);
    for _ in 0..2 {
        // First without a service, then with one.
        assert_eq!(desk.plant.site.table(), table);
        assert_eq!(desk.plant.json(0, &["held", "list"]), held);
        let status = desk.plant.status();
        assert_eq!([&status["frozen"], &status["drained"][0]["edge"]], [&json!(true), &json!("east")]);
        if desk.daemon.is_none() {
            desk.daemon = Some(desk.plant.daemon());
        }
    }
    desk.wait_published();
    desk.shows("after the crash", &[A_HALF, C_WON, B_LEFT, late, C_ALL], &["removal emptied bas-a 2048"]);
    desk.stop();
}
