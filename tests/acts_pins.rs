//! Pins and rejections: what a person says of what is published, and that it holds.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use acts_support::{Plant, Pool};
use support::json::has_keys;
use support::program::wait_for;
use support::site::content;

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

#[test]
fn a_freeze_keeps_what_is_published_while_polls_go_on_beneath() {
    let plant = plant();
    let file = content(&plant.site.export("edges.conf"));
    let frozen = plant.json(0, &["freeze", "--reason", "maintenance"]);
    has_keys(&frozen, &["generation", "pin", "changed", "published"]);
    assert_eq!([&frozen["generation"], &frozen["pin"]["generation"]], [1, 1]);
    plant.set("bas-b", B_MORE);
    let poll = plant.json(0, &["poll"]);
    assert_eq!([&poll["changed"]["added"], &poll["generation"], &poll["pinned"]], [1, 2, 1]);
    plant.run(&["poll"]).expect(0).said(&["generation 1", "whatever polls find"]);

    // Nobody is answered from it: neither files nor lookups.
    assert_eq!(content(&plant.site.export("edges.conf")), file);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    assert_eq!(plant.answer("198.18.80.1"), "centre: centre");
    let status = plant.status();
    assert_eq!([&status["frozen"], &status["pinned"]], [&serde_json::json!(true), &serde_json::json!(1)]);
    assert_eq!(status["pin"]["waiting"]["added"], 1);
    let text = plant.run(&["status"]).expect(0).stdout;
    assert!(text.starts_with("FROZEN: generation 1 stays published"), "{text}");
    assert!(text.contains("maintenance") && text.contains("1 added"), "{text}");

    // The daemon takes it up, and gives it up when told.
    let daemon = plant.daemon();
    assert_eq!(plant.status()["frozen"], true);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    let released = plant.json(0, &["unfreeze"]);
    assert_eq!([&released["pin"], &released["changed"]["added"]], [&serde_json::Value::Null, &1.into()]);
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);
    assert!(content(&plant.site.export("edges.conf")).contains("198.18.80.0/24 west;"));
    assert_eq!(
        [&plant.status()["frozen"], &plant.status()["pinned"]],
        [&serde_json::json!(false), &serde_json::Value::Null]
    );
    drop(daemon);
    // Nothing more to release is no error.
    assert_eq!(plant.json(0, &["rollback", "--release"])["changed"]["added"], 0);
}

#[test]
fn a_rollback_shows_the_ranges_of_an_earlier_generation_with_the_edges_of_now() {
    let plant = plant();
    plant.set("bas-b", B_MORE);
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.status()["generation"], 2);
    let back = plant.json(0, &["rollback", "1", "--reason", "new pool is wrong", "--by", "noc"]);
    assert_eq!([&back["pin"]["generation"], &back["changed"]["removed"]], [1, 1]);
    // A number that only grows, although it shows an earlier one's ranges.
    assert_eq!(back["generation"], 3);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    assert!(!content(&plant.site.export("edges.conf")).contains("198.18.80.0"));
    let status = plant.status();
    assert_eq!([&status["pinned"], &status["frozen"]], [&serde_json::json!(1), &serde_json::json!(false)]);
    assert!(status["pin"]["by"].as_str().unwrap().starts_with("noc, "), "{status}");

    // Edges and drains are those of now.
    plant.run(&["edge", "drain", "west", "--reason", "x"]).expect(0);
    assert_eq!(plant.answer("198.18.64.1"), "west: centre");
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);

    // What was published at a generation is what was: also while something was pinned.
    let at = |generation: &str| {
        let table = plant.run(&["export", "-f", "json", "--generation", generation]).expect(0).json();
        table["entries"].as_array().unwrap().len()
    };
    assert_eq!([at("1"), at("2"), at("3"), at("4")], [2, 3, 2, 2]);
    assert_eq!(plant.json(4, &["diff", "2", "3"])["removed"], 1);
    let drained = plant.json(4, &["diff", "3", "4"]);
    assert_eq!(
        [&drained["changes"], &drained["groups"][0]["token"]],
        [&serde_json::json!([]), &"west".into()]
    );
    plant.run(&["diff", "1", "1"]).expect(0);
    // Back to one that was pinned itself is back to what it showed.
    assert_eq!(plant.json(0, &["rollback", "3"])["pin"]["generation"], 1);

    let released = plant.json(0, &["rollback", "--release"]);
    assert_eq!(released["changed"]["added"], 1);
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);
    assert_eq!(plant.answer("198.18.64.1"), "west: centre", "the drain is no part of it");
}

#[test]
fn what_cannot_be_shown_is_refused_and_changes_nothing() {
    let plant = plant();
    let table = plant.site.table();
    plant.run(&["rollback", "7"]).expect(2).said(&["7", "0 to 1"]);
    plant.run(&["rollback", "0"]).expect(1).said(&["never published"]);
    plant.run(&["rollback"]).expect(2);
    plant.run(&["rollback", "1", "--release"]).expect(2);
    plant.run(&["freeze", "--for", "25h"]).expect(2).said(&["24 h"]);
    plant.run(&["freeze", "--for", "0s"]).expect(2);
    assert_eq!(plant.site.table(), table);

    // bas-b leaves for good: nobody knows any more what to answer for it.
    let address = plant.address("bas-a");
    plant.site.configure(&support::site::configuration(&[("bas-a", address, "east")]));
    plant.run(&["poll"]).expect(4);
    plant.run(&["held", "approve", "--bas", "bas-b"]).expect(0);
    assert_eq!(plant.entries(), [A_LINE]);
    plant.run(&["rollback", "1"]).expect(1).said(&["bas-b", "no group"]);
    assert_eq!(plant.entries(), [A_LINE]);
    assert_eq!(plant.status()["pin"], serde_json::Value::Null);
}

#[test]
fn a_bas_that_leaves_the_configuration_keeps_its_group_while_it_is_pinned() {
    let plant = plant();
    plant.run(&["freeze"]).expect(0);
    let address = plant.address("bas-a");
    plant.site.configure(&support::site::configuration(&[("bas-a", address, "east")]));
    plant.run(&["poll"]).expect(4);
    plant.run(&["held", "approve", "--bas", "bas-b"]).expect(0);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    assert_eq!(plant.answer("198.18.64.1"), "west: west");
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.answer("198.18.64.1"), "west: west");
    plant.run(&["unfreeze"]).expect(0);
    assert_eq!(plant.entries(), [A_LINE]);
    assert_eq!(plant.answer("198.18.64.1"), "centre: centre");
}

#[test]
fn a_pin_survives_a_kill_and_ends_by_itself() {
    let plant = plant();
    plant.run(&["freeze"]).expect(0);
    plant.set("bas-b", B_MORE);
    let mut daemon = plant.daemon();
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.status()["pin"]["waiting"]["added"], 1);
    daemon.kill();
    drop(daemon);
    // Without a daemon, too, what is published is what was pinned.
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    let daemon = plant.daemon();
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    assert!(!content(&plant.site.export("edges.conf")).contains("198.18.80.0"));
    // The daemon looks at the clock with every batch, and every half a minute.
    plant.run(&["freeze", "--for", "1s"]).expect(0);
    wait_for("the end of the pin", || {
        plant.run(&["poll"]).expect(0);
        plant.status()["pin"].is_null()
    });
    assert_eq!(plant.entries(), [A_LINE, B_LINE, NEW_LINE]);
    let history = plant.json(0, &["history"]);
    assert_eq!(history[0]["acts"][0]["kind"], "expire");
    drop(daemon);
}

#[test]
fn before_anything_is_published_nothing_can_be_pinned() {
    let mut plant = Plant::new(&[("bas-a", "east", A), ("bas-b", "west", B)]);
    plant.silence("bas-b");
    plant.run(&["poll"]).expect(3);
    plant.run(&["freeze"]).expect(1).said(&["nothing is published yet"]);
    plant.run(&["rollback", "1"]).expect(1);
    // Half a fleet was committed then, and never shown.
    plant.wake("bas-b", B);
    plant.run(&["poll"]).expect(0);
    plant.run(&["rollback", "1"]).expect(1).said(&["never published"]);
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
}

#[test]
fn a_rejected_hold_stays_and_polls_do_not_confirm_it() {
    let plant = Plant::with(&[("bas-a", "east", A), ("bas-b", "west", B)], |text| {
        // Two polls in a row approve a loss, and they may lie close together.
        text.replacen("[guard]\n", "[guard]\nconfirm = 2\nremove = \"100%\"\n", 1).replacen(
            "[poll]\n",
            "[poll]\ninterval = \"1s\"\n",
            1,
        )
    });
    plant.run(&["poll"]).expect(0);
    // Three quarters of bas-a go: held by `remove-bas`.
    plant.set("bas-a", &[("a", "198.18.0.0", "198.18.3.255")]);
    let held = plant.json(4, &["poll"])["held"][0].clone();
    assert_eq!([&held["reason"], &held["rejected"]], [&"remove-bas".into(), &serde_json::json!(false)]);
    let id = held["id"].to_string();
    let rejected = plant.json(0, &["held", "reject", &id, "--reason", "the router is being repaired"]);
    assert_eq!([&rejected[0]["id"], &rejected[0]["rejected"]], [&held["id"], &serde_json::json!(true)]);
    for _ in 0..4 {
        std::thread::sleep(std::time::Duration::from_millis(600));
        let poll = plant.json(4, &["poll"]);
        assert_eq!(poll["held"][0]["id"], held["id"]);
    }
    assert_eq!(plant.entries(), [A_LINE, B_LINE]);
    assert!(plant.run(&["held", "list"]).expect(0).stdout.contains("(rejected)"));
    plant.run(&["held", "reject", "77"]).expect(2);
    plant.run(&["held", "reject", &id, "--digest", "0000"]).expect(4);

    // A person may still change their mind; both is kept.
    plant.run(&["held", "approve", &id, "--by", "bob"]).expect(0);
    assert_eq!(plant.entries(), ["198.18.0.0-198.18.3.255 bas-a", B_LINE]);
    let acts: Vec<String> = plant
        .json(0, &["history"])
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .flat_map(|generation| generation["acts"].as_array().unwrap().clone())
        .map(|act| format!("{} {}", act["kind"].as_str().unwrap(), act["detail"].as_str().unwrap()))
        .collect();
    let what = format!("held change {id}: removal of bas-a, 3072 units");
    assert_eq!(acts, [format!("reject {what}"), format!("approve {what}")]);
}

#[test]
fn without_a_word_polls_do_confirm() {
    let plant = Plant::with(&[("bas-a", "east", A), ("bas-b", "west", B)], |text| {
        text.replacen("[guard]\n", "[guard]\nconfirm = 2\nremove = \"100%\"\n", 1).replacen(
            "[poll]\n",
            "[poll]\ninterval = \"1s\"\n",
            1,
        )
    });
    plant.run(&["poll"]).expect(0);
    plant.set("bas-a", &[("a", "198.18.0.0", "198.18.3.255")]);
    plant.run(&["poll"]).expect(4);
    wait_for("the confirmation", || plant.run(&["poll"]).code == Some(0));
    assert_eq!(plant.entries(), ["198.18.0.0-198.18.3.255 bas-a", B_LINE]);
}
