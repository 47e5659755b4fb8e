//! What was, and why: history, differences, past answers, conflicts, explanations.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use acts_support::{Plant, Pool};
use serde_json::{Value, json};
use support::json::has_keys;
use support::poolsync;
use support::program::send_signal;

const A: &[Pool] = &[("a", "198.18.0.0", "198.18.15.255")];
const B: &[Pool] = &[("b", "198.18.64.0", "198.18.79.255")];

/// Generation 1: both routers. 2: a pool more on bas-b. 3: that pool under another name.
fn plant() -> Plant {
    let plant = Plant::new(&[("bas-a", "east", A), ("bas-b", "west", B)]);
    plant.run(&["poll"]).expect(0);
    for name in ["new", "other"] {
        plant.set("bas-b", &[B[0], (name, "198.18.80.0", "198.18.80.255")]);
        plant.run(&["poll"]).expect(0);
    }
    plant
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| text(one).to_owned()).collect()
}

#[test]
fn history_lists_generations_and_what_became_of_addresses_and_of_a_bas() {
    let plant = plant();
    let list = plant.json(0, &["history"]);
    let told: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|g| [&g["generation"], &g["added"], &g["removed"], &g["altered"]])
        .collect();
    assert_eq!(
        told,
        [
            [&json!(3), &json!(0), &json!(0), &json!(1)],
            [&json!(2), &json!(1), &json!(0), &json!(0)],
            [&json!(1), &json!(2), &json!(0), &json!(0)]
        ]
    );
    has_keys(&list[0], &["committed", "entries", "groups", "acts"]);
    assert_eq!(plant.json(0, &["history", "-n", "1"]).as_array().unwrap().len(), 1);
    let seen = plant.run(&["history"]).expect(0).stdout;
    assert!(seen.contains("GENERATION") && seen.contains("groups changed"), "{seen}");

    // An address, a prefix around it, a range: each finds both entries that had it.
    for of in ["198.18.80.7", "198.18.80.0/20", "198.18.80.200-198.18.90.0"] {
        let history = plant.json(0, &["history", of]);
        let entries = history["entries"].as_array().unwrap();
        let told: Vec<_> = entries
            .iter()
            .map(|e| (text(&e["pool"]), e["from_generation"].as_u64(), e["to_generation"].as_u64()))
            .collect();
        assert_eq!(told, [("new", Some(2), Some(3)), ("other", Some(3), None)], "{of}");
        has_keys(&entries[0], &["space", "family", "first", "last", "owner", "bas", "vrf", "from", "to"]);
    }
    assert_eq!(plant.json(0, &["history", "203.0.113.0/24"])["entries"], json!([]));
    let of_bas = plant.json(0, &["history", "bas-b"]);
    let pools: Vec<&str> = of_bas["entries"].as_array().unwrap().iter().map(|e| text(&e["pool"])).collect();
    assert_eq!(pools, ["b", "new", "other"]);
    plant.run(&["history", "bas-z"]).expect(2).said(&["bas-z"]);
    let seen = plant.run(&["history", "198.18.80.7"]).expect(0).stdout;
    assert!(seen.contains("(2)") && seen.contains("now"), "{seen}");
}

#[test]
fn generations_differ_by_what_the_polls_changed() {
    let plant = plant();
    let diff = plant.json(4, &["diff"]);
    assert_eq!([&diff["from"], &diff["to"], &diff["altered"]], [2, 3, 1]);
    let change = &diff["changes"][0];
    assert_eq!(
        [&change["kind"], &change["before"]["pool"], &change["after"]["pool"]],
        ["altered", "new", "other"]
    );
    assert_eq!([&change["first"], &change["last"]], ["198.18.80.0", "198.18.80.255"]);
    let wide = plant.json(4, &["diff", "1"]);
    assert_eq!([&wide["from"], &wide["to"], &wide["added"]], [1, 3, 1]);
    assert_eq!(plant.json(4, &["diff", "3", "1"])["removed"], 1);
    assert_eq!(plant.json(0, &["diff", "3", "3"])["changes"], json!([]));
    plant.run(&["diff", "3", "9"]).expect(2).said(&["9"]);
    let seen = plant.run(&["diff", "1", "2"]).expect(4).stdout;
    assert!(seen.contains("1 added, 0 removed") && seen.contains("198.18.80.0"), "{seen}");
}

#[test]
fn past_answers_are_those_that_viewers_got() {
    let plant = plant();
    let list = plant.json(0, &["history"]);
    let time = |generation: usize| text(&list[3 - generation]["committed"]).to_owned();
    let at = |args: &[&str]| {
        let mut all = vec!["lookup", "198.18.80.7"];
        all.extend(args);
        let found = plant.json(0, &all)[0].clone();
        (found["covered"].as_bool().unwrap(), found["generation"].as_u64().unwrap())
    };
    assert_eq!(at(&[]), (true, 3));
    assert_eq!(at(&["--generation", "1"]), (false, 1));
    assert_eq!(at(&["--generation", "2"]), (true, 2));
    assert_eq!(at(&["--at", &time(1)]), (false, 1));
    assert_eq!(at(&["--at", &time(3)]), (true, 3));
    // The same moment as `history` prints it for people: cut to seconds, it may lie before.
    let local = plant.run(&["history"]).expect(0).stdout;
    let printed =
        local.lines().nth(1).unwrap().split_whitespace().skip(1).take(3).collect::<Vec<_>>().join(" ");
    let outcome = plant.run(&["lookup", "198.18.80.7", "--at", &printed]);
    assert!(matches!(outcome.code, Some(0 | 2)), "{printed}: {outcome:?}");
    assert!(!outcome.stderr.contains("no time"), "{outcome:?}");

    plant.run(&["lookup", "198.18.80.7", "--at", "2001-01-01T00:00:00Z"]).expect(2).said(&["published"]);
    plant.run(&["lookup", "198.18.80.7", "--at", "2199-01-01T00:00:00Z"]).expect(2).said(&["to come"]);
    plant.run(&["lookup", "198.18.80.7", "--at", "2026-11-30 06:45"]).expect(2).said(&["offset"]);
    plant.run(&["lookup", "198.18.80.7", "--generation", "4"]).expect(2);
    plant.run(&["lookup", "198.18.80.7", "--generation", "1", "--at", &time(1)]).expect(2);
    // The same with a daemon.
    let _daemon = plant.daemon();
    assert_eq!(at(&["--generation", "1"]), (false, 1));
    assert_eq!(at(&["--at", &time(1)]), (false, 1));
    assert_eq!(plant.json(4, &["diff", "1", "2"])["added"], 1);
    assert_eq!(plant.json(0, &["history", "bas-b"])["entries"].as_array().unwrap().len(), 3);
}

#[test]
fn history_goes_by_age_and_count() {
    let plant = Plant::with(&[("bas-a", "east", A)], |text| {
        text.replacen("[store]\n", "[store]\nkeep = \"1s\"\nkeep-at-least = 2\n", 1)
    });
    let pools: Vec<[Pool; 2]> =
        ["p", "q", "r", "s"].map(|name| [A[0], (name, "198.18.32.0", "198.18.32.255")]).to_vec();
    for both in &pools {
        plant.set("bas-a", both);
        plant.run(&["poll"]).expect(0);
    }
    assert_eq!(plant.status()["generation"], 4);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    // Pruning is the daemon's: once when it starts, and every hour.
    let daemon = plant.daemon();
    support::program::wait_for("the old to go", || {
        plant.json(0, &["history"]).as_array().unwrap().len() == 2
    });
    plant
        .run(&["export", "--generation", "2"])
        .expect(2)
        .said(&["generation 2 is not kept: there are 3 to 4"]);
    plant.run(&["rollback", "2"]).expect(2);
    let first = plant.json(0, &["history"])[1]["committed"].clone();
    // Of the time before, nothing can be said; and nothing is.
    plant.run(&["lookup", "198.18.32.1", "--at", "2024-01-01T00:00:00Z"]).expect(2).said(&["since"]);
    plant.run(&["lookup", "198.18.32.1", "--at", text(&first)]).expect(0);
    drop(daemon);
}

#[test]
fn overlaps_are_listed_with_the_rule_that_decided() {
    // The second claims what the first has; and a small pool lies within a large one.
    let plant = Plant::new(&[("bas-a", "east", A), ("bas-b", "west", B)]);
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.json(0, &["conflicts"]), json!([]));
    plant.run(&["conflicts"]).expect(0);
    plant.set("bas-b", &[("b", "198.18.8.0", "198.18.23.255"), ("small", "198.18.0.0", "198.18.0.255")]);
    plant.run(&["poll"]);
    let check = |plant: &Plant| {
        let list = plant.json(0, &["conflicts"]);
        let told: Vec<String> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|c| {
                has_keys(c, &["space", "first", "last", "owner", "rule", "claims"]);
                has_keys(&c["claims"][0], &["bas", "pool", "class"]);
                let claims: Vec<&str> =
                    c["claims"].as_array().unwrap().iter().map(|c| text(&c["bas"])).collect();
                format!(
                    "{}-{} {} {} {claims:?}",
                    text(&c["first"]),
                    text(&c["last"]),
                    text(&c["owner"]),
                    text(&c["rule"])
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                "198.18.0.0-198.18.0.255 bas-b nested [\"bas-a\", \"bas-b\"]",
                "198.18.8.0-198.18.15.255 bas-a previous [\"bas-a\", \"bas-b\"]"
            ]
        );
    };
    check(&plant);
    assert_eq!(plant.status()["conflicts"], 2);
    let _daemon = plant.daemon();
    support::program::wait_for("a build", || plant.status()["conflicts"] == 2);
    check(&plant);
    // What to do stands with each in JSON, and once a rule for people.
    let list = plant.json(0, &["conflicts"]);
    assert!(text(&list[0]["because"]).contains("at most half as large"), "{list}");
    assert!(text(&list[1]["to_do"]).contains("`priority` for one of bas-a, bas-b, `pair`"), "{list}");
    let told = plant.run(&["conflicts"]).expect(0).stdout;
    for line in [
        "* nested (1 range): the range that lies within the others, and is at most half as large, goes before them.",
        "* previous (1 range): nothing else decides: who had the addresses before keeps them.",
    ] {
        assert!(told.lines().any(|l| l == line), "no `{line}` in\n{told}");
    }
}

#[test]
fn an_explanation_says_what_led_to_the_answer_and_what_would_change_it() {
    let plant = Plant::with(&[("bas-a", "east", A), ("bas-b", "west", B)], |text| {
        text + "\n[[static]]\nrange = \"198.18.128.0/24\"\nedges = [\"west\"]\n"
    });
    plant.set_used("bas-a", A, 77);
    plant.run(&["poll"]).expect(0);
    let explain = |ip: &str| plant.json(0, &["explain", ip]);
    let because = |ip: &str| strings(&explain(ip)["because"]).join("\n");

    let plain = explain("198.18.0.1");
    has_keys(
        &plain,
        &["ip", "space", "covered", "entry", "group", "edges", "claims", "rule", "held", "pin", "refused"],
    );
    assert_eq!(
        [&plain["owner"], &plain["built"], &plain["rule"]],
        [&json!("bas-a"), &json!("bas-a"), &Value::Null]
    );
    assert_eq!([&plain["claims"][0]["class"], &plain["claims"][0]["standing"]], ["fresh", "listed"]);
    assert_eq!([&plain["claims"][0]["wins"], &plain["pool"]["used"]], [&json!(true), &json!("77")]);
    let words = because("198.18.0.1");
    assert!(words.contains("198.18.0.0-198.18.15.255 of bas-a, pool \"a\""), "{words}");
    assert!(words.contains("77 of 4096 addresses were in use"), "{words}");
    assert!(because("203.0.113.1").contains("No router and no static line claims it."));
    assert!(because("198.18.128.1").contains("A static line gives 198.18.128.0-198.18.128.255"));
    plant.run(&["explain", "198.18.0.300"]).expect(2);
    plant.run(&["explain", "198.18.0.1", "--space", "nowhere"]).expect(2).said(&["nowhere", "internet"]);
    // Private addresses of two owners are nobody's.
    plant.set("bas-a", &[A[0], ("x", "10.0.0.0", "10.0.0.255")]);
    plant.set("bas-b", &[B[0], ("y", "10.0.0.0", "10.0.0.255"), ("z", "127.0.0.0", "127.0.0.255")]);
    plant.run(&["poll"]);
    let private = explain("10.0.0.1");
    assert_eq!([&private["rule"], &private["built"]], [&json!("private"), &Value::Null]);
    assert!(strings(&private["would_change"]).join(" ").contains("`pair`"));
    assert_eq!(explain("127.0.0.1")["refused"][0]["reason"], "never-published");
    plant.set("bas-a", A);
    plant.set("bas-b", B);
    plant.run(&["poll"]);

    // Held, drained and pinned, all at once; each is told, with the way out.
    plant.set("bas-a", &[]);
    plant.run(&["poll"]).expect(4);
    plant.run(&["edge", "drain", "east", "--reason", "fibre cut"]).expect(0);
    plant.run(&["freeze", "--reason", "quiet"]).expect(0);
    let all = explain("198.18.0.1");
    assert_eq!([&all["owner"], &all["built"]], [&json!("bas-a"), &Value::Null]);
    assert_eq!([&all["held"]["reason"], &all["drained"][0]["edge"]], ["emptied", "east"]);
    assert_eq!(all["pin"]["kind"], "freeze");
    let words = strings(&all["because"]).join("\n");
    assert!(
        words.contains("By the claims it would be nobody's; the guard holds that back as change"),
        "{words}"
    );
    assert!(
        words.contains("bas-a was read to its end ")
            && words.contains(" ago, and does not list it any more."),
        "{words}"
    );
    assert!(words.contains("Edge east was drained") && words.contains("fibre cut"), "{words}");
    let ways = strings(&all["would_change"]).join("\n");
    for way in ["poolsync unfreeze", "poolsync held approve", "poolsync edge undrain east"] {
        assert!(ways.contains(way), "{way}: {ways}");
    }
    let seen = plant.run(&["explain", "198.18.0.1"]).expect(0).stdout;
    assert!(
        seen.contains("What would change that") && seen.contains("group east answers, with centre"),
        "{seen}"
    );
}

#[test]
fn a_watched_status_comes_again_and_again() {
    let plant = plant();
    let mut command =
        poolsync::command(["-c", plant.site.config.to_str().unwrap(), "status", "--watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let status: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(status["generation"], 3);
    }
    send_signal(child.id(), "INT");
    assert!(!child.wait().unwrap().success());
    // One whose reader leaves ends by itself.
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut String::new()).unwrap();
    drop(reader);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
