//! A router whose tables changed for good: what is remembered of them is forgotten by a person's
//! word, and that is kept.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use acts_support::{Plant, Pool};
use poolsync::snmp::Recording;
use serde_json::Value;
use support::json::has_keys;

const POOLS: &[Pool] = &[("a", "198.18.0.0", "198.18.15.255")];

/// The router with the better table, too: one profile for each pool.
fn with_profiles(pools: &[Pool]) -> Recording {
    const ENTRY: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.3.1";
    let rows = pools.iter().zip(1..).map(|((_, first, last), at)| {
        format!("{ENTRY}.2.{at}.1|2|1\n{ENTRY}.3.{at}.1|64|{first}\n{ENTRY}.4.{at}.1|64|{last}\n")
    });
    let profiles: String = rows.collect();
    Recording::parse(&(acts_support::walk(pools, 0).render() + &profiles)).unwrap()
}

fn plant() -> Plant {
    let plant = Plant::new(&[("bas-a", "east", POOLS)]);
    plant.set_recording("bas-a", with_profiles(POOLS));
    plant.run(&["poll"]).expect(0);
    // Other software: the better table is gone, the lesser one says more by now.
    plant.set("bas-a", &[POOLS[0], ("b", "198.18.32.0", "198.18.32.255")]);
    plant
}

/// All that was ever done.
fn acts(plant: &Plant) -> Vec<Value> {
    let history = plant.json(0, &["history"]);
    history.as_array().unwrap().iter().flat_map(|one| one["acts"].as_array().unwrap().clone()).collect()
}

#[test]
fn a_table_that_is_gone_for_good_is_forgotten_by_a_persons_word() {
    let plant = plant();
    plant.run(&["poll"]).expect(3).said(&["profiles: it once had rows", "`poolsync poll bas-a --forget`"]);
    for _ in 0..2 {
        let polled = plant.json(3, &["poll"]);
        assert_eq!([&polled["bas"][0]["state"], &polled["bas"][0]["reason"]], ["failed", "vanished"]);
    }
    assert_eq!(plant.entries(), ["198.18.0.0-198.18.15.255 bas-a"]);
    let args = ["poll", "bas-a", "--forget", "--reason", "new software", "--by", "alice"];
    let polled = plant.json(0, &args);
    assert_eq!(polled["bas"][0]["state"], "complete");
    assert_eq!(plant.entries(), ["198.18.0.0-198.18.15.255 bas-a", "198.18.32.0-198.18.32.255 bas-a"]);
    // It stays so, and it is in history.
    plant.run(&["poll"]).expect(0);
    let acts = acts(&plant);
    assert_eq!(acts.len(), 1, "{acts:?}");
    has_keys(&acts[0], &["at", "kind", "by", "reason", "detail"]);
    assert_eq!([&acts[0]["kind"], &acts[0]["reason"]], ["forget", "new software"]);
    assert!(acts[0]["by"].as_str().unwrap().starts_with("alice, "), "{acts:?}");
    assert!(acts[0]["detail"].as_str().unwrap().contains("bas-a"));
}

#[test]
fn the_daemon_forgets_too_and_the_guard_judges_what_comes_of_it() {
    let plant = plant();
    let _daemon = plant.daemon();
    let failed = plant.json(3, &["poll", "bas-a"]);
    assert_eq!(failed["bas"][0]["reason"], "vanished");
    // Another pool altogether: the one that was published is lost, and that is held.
    plant.set("bas-a", &[("b", "198.18.32.0", "198.18.32.255")]);
    let polled = plant.json(4, &["poll", "bas-a", "--forget"]);
    assert_eq!(polled["bas"][0]["state"], "complete");
    assert_eq!(polled["held"].as_array().unwrap().len(), 1);
    assert!(plant.entries().contains(&"198.18.0.0-198.18.15.255 bas-a".to_owned()));
    assert_eq!(acts(&plant).len(), 1);
}

#[test]
fn the_descriptor_is_found_anew() {
    let plant = Plant::new(&[("bas-a", "east", POOLS)]);
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.status()["bas"][0]["descriptor"], "juniper-junose");
    // A router that hides who it is stays what it was found to be, until a person says otherwise.
    let all = acts_support::walk(POOLS, 0).render();
    let hidden: String =
        all.lines().filter(|l| !l.starts_with("1.3.6.1.2.1.1.2.0|")).map(|l| format!("{l}\n")).collect();
    plant.set_recording("bas-a", Recording::parse(&hidden).unwrap());
    plant.run(&["poll"]).expect(0);
    let polled = plant.json(3, &["poll", "bas-a", "--forget"]);
    assert_eq!([&polled["bas"][0]["state"], &polled["bas"][0]["reason"]], ["unsupported", "no-descriptor"]);
    // Nothing is lost by that, and it is found again.
    assert_eq!(plant.entries(), ["198.18.0.0-198.18.15.255 bas-a"]);
    plant.set("bas-a", POOLS);
    plant.run(&["poll"]).expect(0);
    assert_eq!(plant.status()["bas"][0]["descriptor"], "juniper-junose");
}

#[test]
fn only_named_and_known_bases_are_forgotten() {
    let plant = plant();
    plant.run(&["poll", "--forget"]).expect(2).said(&["<BAS>"]);
    plant.run(&["poll", "bas-a", "--forget", "--dry-run"]).expect(2);
    plant.run(&["poll", "bas-a", "--reason", "x"]).expect(2).said(&["--forget"]);
    plant.run(&["poll", "nobody", "--forget"]).expect(2).said(&["nobody"]);
    assert_eq!(plant.json(3, &["poll"])["bas"][0]["reason"], "vanished");
    let _daemon = plant.daemon();
    plant.run(&["poll", "nobody", "--forget"]).expect(2).said(&["nobody"]);
}
