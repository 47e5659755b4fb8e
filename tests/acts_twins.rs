//! One router under two names is pointed out, with the remedy.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use acts_support::{Plant, Pool};
use serde_json::json;

const POOLS: &[Pool] = &[("home", "198.18.0.0", "198.18.15.255")];

/// bas-a, and bas-b, which is the same router.
fn plant(pair: &'static str) -> Plant {
    let plant = Plant::with(&[("bas-a", "east", POOLS)], |text| {
        let (head, bas) = text.split_once("\n[bas.bas-a]\n").unwrap();
        let other = bas.replace("127.0.0.1:", "localhost:");
        format!("{head}\n[bas.bas-a]\n{bas}{pair}\n[bas.bas-b]\n{other}{pair}")
    });
    plant.name("bas-a", "bng-7", POOLS);
    plant
}

#[test]
fn two_names_of_one_router_are_pointed_out_until_they_are_a_pair() {
    let alone = plant("");
    alone.run(&["poll"]).expect(0);
    let status = alone.status();
    assert_eq!(status["twins"], json!([{ "bas": ["bas-a", "bas-b"], "same": "sys-name" }]));
    // It stands in conflict with itself.
    assert_eq!(status["conflicts"], 1);
    let remedy = "bas-a and bas-b have one sysName and the same ranges";
    assert!(alone.run(&["status"]).expect(0).stdout.contains(remedy));
    let checked = alone.run(&["check", "--against-store"]).expect(0).stdout;
    assert!(checked.contains(remedy) && checked.contains("`pair`"), "{checked}");

    let pair = plant("pair = \"p\"\n");
    pair.run(&["poll"]).expect(0);
    let status = pair.status();
    assert_eq!([&status["twins"], &status["conflicts"]], [&json!([]), &json!(0)]);
}
