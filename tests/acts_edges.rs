//! Drained edges: out of every group, with no token changed and no table judged.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use acts_support::{Plant, Pool};
use support::json::has_keys;
use support::site::content;

const A: &[Pool] = &[("a", "198.18.0.0", "198.18.15.255")];
const B: &[Pool] = &[("b", "198.18.64.0", "198.18.79.255")];

/// Two routers: one on the east edge alone, one on west before east.
fn plant() -> Plant {
    let plant = Plant::with(&[("bas-a", "east", A), ("bas-b", "west", B)], |text| {
        text.replace("edges = [\"west\"]", "edges = [\"west\", \"east\"]")
    });
    plant.run(&["poll"]).expect(0);
    plant
}

#[test]
fn a_drained_edge_answers_nobody_and_comes_back() {
    let plant = plant();
    let before = plant.site.table();
    let two = plant.answer("198.18.64.1");
    let (token, edges) = two.split_once(": ").unwrap();
    assert_eq!(edges, "west east");
    assert_eq!(plant.answer("198.18.0.1"), "east: east");

    let drained = plant.json(0, &["edge", "drain", "east", "--reason", "fibre cut", "--by", "alice"]);
    has_keys(&drained, &["name", "state", "by", "reason", "since", "published"]);
    assert_eq!([&drained["state"], &drained["drained_from"]], [&"drained".into(), &serde_json::json!(2)]);
    assert_eq!(drained["published"][0]["state"], "published");
    // The tokens stay; what they stand for changes. A group without edges has the centre's.
    assert_eq!(plant.answer("198.18.0.1"), "east: centre");
    assert_eq!(plant.answer("198.18.64.1"), format!("{token}: west"));
    let targets = content(&plant.site.export("targets.conf"));
    assert!(!targets.contains("east.example.net"), "{targets}");

    let status = plant.status();
    assert_eq!(status["drained"][0]["edge"], "east");
    assert_eq!(status["drained"][0]["reason"], "fibre cut");
    assert!(status["drained"][0]["by"].as_str().unwrap().starts_with("alice, "), "{status}");
    let text = plant.run(&["status"]).expect(0).stdout;
    assert!(text.starts_with("DRAINED: edge east since "), "on top:\n{text}");
    let list = plant.json(0, &["edge", "list"]);
    let states: Vec<_> = list.as_array().unwrap().iter().map(|e| (&e["name"], &e["state"])).collect();
    assert_eq!(states.len(), 3);
    assert!(list[1]["name"] == "east" && list[1]["state"] == "drained" && list[0]["default"] == true);

    // Again is no error, and the first reason stays.
    plant.run(&["edge", "drain", "east", "--reason", "other"]).expect(0);
    assert_eq!(plant.status()["drained"][0]["reason"], "fibre cut");
    // It survives a poll, and polls that change the table.
    plant.set("bas-a", &[A[0], ("new", "198.18.32.0", "198.18.32.255")]);
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.answer("198.18.32.7"), "east: centre");
    plant.set("bas-a", A);
    plant.run(&["poll"]);

    plant.run(&["edge", "undrain", "east"]).expect(0);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
    assert_eq!(plant.answer("198.18.64.1"), two);
    assert_eq!(plant.status()["drained"], serde_json::json!([]));
    let (before, after): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&before).unwrap(), serde_json::from_str(&plant.site.table()).unwrap());
    assert_eq!(before["groups"], after["groups"]);
    plant.run(&["edge", "undrain", "east"]).expect(0);
}

#[test]
fn the_last_edge_of_a_group_stays_where_the_centre_is_drained_too() {
    let plant = plant();
    let centre = plant.run(&["edge", "drain", "centre", "--reason", "move"]).expect(0);
    centre.said(&["default edge"]);
    let refused = plant.run(&["edge", "drain", "east", "--reason", "x"]).expect(1);
    refused.said(&["centre", "east"]);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
    // West has east behind it.
    plant.run(&["edge", "drain", "west", "--reason", "x"]).expect(0);
    plant.run(&["edge", "undrain", "centre"]).expect(0);
    plant.run(&["edge", "drain", "east", "--reason", "x"]).expect(0);
    assert_eq!(plant.answer("198.18.64.1").split_once(": ").unwrap().1, "centre");
    // Now nothing else is left.
    plant.run(&["edge", "drain", "centre", "--reason", "x"]).expect(1);
    plant.run(&["edge", "drain", "nowhere", "--reason", "x"]).expect(2).said(&["nowhere", "west"]);
    plant.run(&["edge", "undrain", "nowhere"]).expect(2);
    plant.run(&["edge", "drain", "east"]).expect(2);
    plant.run(&["edge", "drain", "east", "--reason", " "]).expect(2);
}

#[test]
fn a_bas_that_left_gets_its_edge_back_with_all_others() {
    let plant = plant();
    let daemon = plant.daemon();
    // bas-a leaves the configuration; the guard holds that, and it keeps its last group.
    let address = plant.address("bas-b");
    plant.site.configure(&support::site::configuration(&[("bas-b", address, "west")]));
    let reloaded = plant.json(4, &["reload"]);
    assert_eq!([&reloaded["bas"], &reloaded["held"]], [1, 1]);
    plant.run(&["reload"]).expect(0);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
    plant.run(&["edge", "drain", "east", "--reason", "x"]).expect(0);
    assert_eq!(plant.answer("198.18.0.1"), "east: centre");
    plant.run(&["poll"]).expect(4);
    drop(daemon);
    plant.run(&["poll"]).expect(4);
    assert_eq!(plant.answer("198.18.0.1"), "east: centre");
    let _daemon = plant.daemon();
    let list = plant.json(0, &["edge", "list"]);
    assert_eq!([&list[1]["name"], &list[1]["drained_from"]], [&"east".into(), &serde_json::json!(1)]);
    plant.run(&["edge", "undrain", "east"]).expect(0);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
}

#[test]
fn a_drain_outlives_the_daemon_and_the_edges_place_in_the_configuration() {
    let plant = plant();
    let mut daemon = plant.daemon();
    plant.run(&["edge", "drain", "east", "--reason", "x"]).expect(0);
    // The kernel tells who it was.
    let by = plant.status()["drained"][0]["by"].as_str().unwrap().to_owned();
    assert!(by.contains("uid "), "{by}");
    assert_eq!(plant.answer("198.18.0.1"), "east: centre");
    daemon.kill();
    drop(daemon);
    let _daemon = plant.daemon();
    assert_eq!(plant.answer("198.18.0.1"), "east: centre");
    let targets = content(&plant.site.export("targets.conf"));
    assert!(!targets.contains("east.example.net"), "{targets}");
    plant.run(&["edge", "undrain", "east", "--reason", "mended"]).expect(0);
    assert_eq!(plant.answer("198.18.0.1"), "east: east");
    assert!(content(&plant.site.export("targets.conf")).contains("east.example.net"));
}
