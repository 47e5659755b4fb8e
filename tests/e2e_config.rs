//! What a person is told whose configuration is wrong: the place, the word, what would have
//! been right; exit code 78.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use support::scratch::{Scratch, nobody};
use support::site::{self, Site, configuration};
use support::{junose, poolsync};

fn line_of(text: &str, wanted: &str) -> usize {
    text.lines().position(|line| line.contains(wanted)).unwrap() + 1
}

#[test]
fn a_misspelt_key_is_shown_where_it_stands() {
    let good = configuration(&[("bas-a", nobody(), "east")]);
    let places = [
        ("retries = 1", "retrys = 1", "retrys"),
        ("community = ", "comunity = ", "comunity"),
        ("settle = ", "setle = ", "setle"),
        ("path = \"poolsync.db\"", "file = \"poolsync.db\"", "file"),
        ("{ env = ", "{ enw = ", "enw"),
    ];
    for (right, wrong, key) in places {
        let bad = good.replacen(right, wrong, 1);
        let site = Site::new(Scratch::new(), &bad);
        let line = line_of(&bad, wrong);
        let column = bad.lines().nth(line - 1).unwrap().find(key).unwrap() + 1;
        for command in [&["check"][..], &["poll"], &["run"], &["lookup", "192.0.2.1"], &["status", "--json"]]
        {
            let outcome = site.run(command).expect(78);
            assert_eq!(outcome.stdout, "", "{command:?}: nothing but data on standard output");
            let place = [format!("line {line}, column {column}"), format!("config.toml:{line}:{column}")];
            let told = place.iter().any(|place| outcome.stderr.contains(place));
            assert!(told, "it does not say {place:?}:\n{}", outcome.stderr);
            outcome.said(&["config.toml", key, "^"]);
        }
    }
}

#[test]
fn the_expected_keys_are_named() {
    let bad = configuration(&[("bas-a", nobody(), "east")]).replacen("retries = 1", "retrys = 1", 1);
    let site = Site::new(Scratch::new(), &bad);
    site.run(&["check"]).expect(78).said(&["retries", "deadline", "interval"]);
}

#[test]
fn a_missing_secret_is_told_and_what_it_was_for() {
    let site = Site::new(Scratch::new(), &configuration(&[("bas-a", nobody(), "east")]));
    for args in [["check"], ["poll"]] {
        let mut command = poolsync::command(["-c".as_ref(), site.config.as_os_str(), args[0].as_ref()]);
        command.env_remove(site::COMMUNITY_ENV);
        poolsync::run_command(command).expect(78).said(&[site::COMMUNITY_ENV, "snmp.lab", "^"]);
    }
    let file = configuration(&[("bas-a", nobody(), "east")])
        .replace(&format!("{{ env = \"{}\" }}", site::COMMUNITY_ENV), "{ file = \"no-such-file\" }");
    let site = Site::new(Scratch::new(), &file);
    site.run(&["check"]).expect(78).said(&["no-such-file"]);
}

#[test]
fn an_unknown_descriptor_is_told_with_those_that_there_are() {
    let bad = configuration(&[("bas-a", nobody(), "east")]).replacen("\"auto\"", "\"junpier\"", 1);
    let site = Site::new(Scratch::new(), &bad);
    site.run(&["check"]).expect(78).said(&["junpier", "juniper-junose", "^"]);
    site.run(&["poll"]).expect(78).said(&["junpier"]);
}

#[test]
fn other_names_that_lead_nowhere_are_configuration_errors() {
    let good = configuration(&[("bas-a", nobody(), "east")]);
    let cases = [
        ("edges = [\"east\"]", "edges = [\"eest\"]", "eest"),
        ("snmp = \"lab\"", "snmp = \"lap\"", "lap"),
        ("default-edge = \"centre\"", "default-edge = \"center\"", "center"),
        ("format = \"nginx-geo\"", "format = \"nginx-gio\"", "nginx-gio"),
        ("timeout = \"300ms\"", "timeout = \"300 parsecs\"", "parsecs"),
    ];
    for (right, wrong, name) in cases {
        let site = Site::new(Scratch::new(), &good.replacen(right, wrong, 1));
        site.run(&["check"]).expect(78).said(&[name, "^"]);
    }
}

#[test]
fn a_configuration_that_is_not_there_is_told() {
    let outcome = poolsync::run(["-c", "/no/such/file.toml", "check"]).expect(78);
    outcome.said(&["/no/such/file.toml"]);
}

#[test]
fn a_sound_configuration_passes_the_check() {
    let site = Site::new(Scratch::new(), &configuration(&[("bas-a", nobody(), "east")]));
    site.run(&["check"]).expect(0);
    assert!(site.run(&["check", "--json"]).expect(0).json().is_object());
    let printed = site.run(&["check", "--print"]).expect(0).stdout;
    assert!(printed.contains("bas-a") && !printed.contains(junose::COMMUNITY), "{printed}");
}
