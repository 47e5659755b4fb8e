//! DNS servers that look at the packet's source, with the configurations that we ship: their
//! answers to thousands of sources on loopback against a slow scan, before and after a
//! change.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

mod support;

use std::net::{IpAddr, Ipv4Addr};

use poolsync::publish::{Argv, Export, Failure, FailureReason, Published, State};
use support::consumer::{BOTH, World, compare, dns_right, export, publish_cold, publish_now, published};
use support::scratch::Scratch;
use support::{bind, dnsdist, have, unbound, which};

/// Sources on loopback. All of them can be bound, but the broadcast address.
fn clients(world: &World) -> Vec<IpAddr> {
    let usable = |client: &IpAddr| match client {
        IpAddr::V4(v4) => v4.octets()[0] == 127 && *v4 != Ipv4Addr::new(127, 255, 255, 255),
        IpAddr::V6(v6) => v6.is_loopback(),
    };
    let all: Vec<IpAddr> = world.viewers(4000).into_iter().filter(usable).collect();
    assert!(all.len() > 2000, "{}", all.len());
    assert!(all.iter().any(IpAddr::is_ipv6));
    all
}

/// Nested prefixes of loopback; ::1 is the one IPv6 source.
fn world(groups: &[&'static str]) -> World {
    let mut world = World::new(["127.0.0.0/8", "::1/128"], groups, 120);
    world.put("::1/128", "gz-01");
    world
}

fn check(world: &World, ask: impl Fn(IpAddr) -> Vec<String>) {
    compare(world, &clients(world), ask, dns_right);
}

fn failure(published: Published) -> Failure {
    match published.state {
        State::Failed(failure) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

fn with_reload(export: &Export, script: &str) -> Export {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    Export { reload: Some(Argv::new(argv).unwrap()), ..export.clone() }
}

#[test]
fn bind_answers_by_its_lists() {
    if !have("bind_answers_by_its_lists", &["named", "rndc", "named-checkconf"]) {
        return;
    }
    const GROUPS: [&str; 2] = ["gz-01", "gz-02"];
    let scratch = Scratch::new();
    let plan = bind::Plan::new(&scratch);
    let checkconf = which("named-checkconf").unwrap().display().to_string();
    let changes = [("\"rndc\"", plan.rndc()), ("\"named-checkconf\"", &format!("{checkconf:?}"))];
    let export = export(&scratch, "bind/poolsync.toml", &changes);
    let mut world = world(&GROUPS);
    publish_cold(&export, &world.snapshot(1));
    let _server = plan.start();
    check(&world, |client| plan.ask_from(client));
    world.change(&GROUPS);
    published(publish_now(&export, &world.snapshot(2)));
    check(&world, |client| plan.ask_from(client));
    // The consumer's own checker refuses what it would not take.
    let before = world.clone();
    world.change(&GROUPS);
    let script = ["sh", "-c", "echo 'acl x {' >> \"$0\"; exec named-checkconf \"$0\"", "{file}"];
    let checker = Argv::checker(script.map(str::to_owned).to_vec()).unwrap();
    let bad = Export { check: Some(checker), ..export.clone() };
    let told = failure(publish_now(&bad, &world.snapshot(3)));
    assert_eq!(told.reason, FailureReason::Check, "{told}");
    check(&before, |client| plan.ask_from(client));
}

#[test]
fn unbound_answers_by_its_views() {
    const NEEDS: &[&str] = &["unbound", "unbound-control", "unbound-checkconf"];
    if !have("unbound_answers_by_its_views", NEEDS) {
        return;
    }
    const GROUPS: [&str; 3] = ["gz-01", "gz-02", BOTH];
    let scratch = Scratch::new();
    let plan = unbound::Plan::new(&scratch);
    let checkconf = format!("{:?}", which("unbound-checkconf").unwrap().display().to_string());
    let control = plan.control();
    let changes = [("\"unbound-control\"", control.as_str()), ("\"unbound-checkconf\"", &checkconf)];
    let export = export(&scratch, "unbound/poolsync.toml", &changes);
    let mut world = world(&GROUPS);
    publish_cold(&export, &world.snapshot(1));
    let _server = plan.start();
    check(&world, |client| plan.ask_from(client));
    world.change(&GROUPS);
    published(publish_now(&export, &world.snapshot(2)));
    check(&world, |client| plan.ask_from(client));
    // A reload that fails brings the table before back, and Unbound with it.
    let before = world.clone();
    world.change(&GROUPS);
    let command = control.replace(['"', ','], "");
    let table = scratch.join("export/views.conf").display().to_string();
    let script = format!("{command} reload; ! grep -q 'generation 3' {table}");
    let told = failure(publish_now(&with_reload(&export, &script), &world.snapshot(3)));
    assert_eq!(told.reason, FailureReason::Reload, "{told}");
    check(&before, |client| plan.ask_from(client));
}

#[test]
fn dnsdist_answers_by_its_rules() {
    if !have("dnsdist_answers_by_its_rules", &["dnsdist"]) {
        return;
    }
    const GROUPS: [&str; 3] = ["gz-01", "gz-02", BOTH];
    let scratch = Scratch::new();
    let plan = dnsdist::Plan::new(&scratch);
    let changes = plan.changes();
    let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
    let export = export(&scratch, "dnsdist/poolsync.toml", &changes);
    let mut world = world(&GROUPS);
    publish_cold(&export, &world.snapshot(1));
    let server = plan.start();
    check(&world, |client| plan.ask_from(client));
    world.change(&GROUPS);
    published(publish_now(&export, &world.snapshot(2)));
    check(&world, |client| plan.ask_from(client));
    // A table that is not whole changes nothing in the running dnsdist.
    let table = scratch.join("export/poolsync.lua");
    let whole = std::fs::read_to_string(&table).unwrap();
    std::fs::write(&table, &whole[..whole.len() / 2]).unwrap();
    std::process::Command::new("sh").args(["-c", &plan.reload()]).output().unwrap();
    check(&world, |client| plan.ask_from(client));
    // What it could not load is a failure of the publication, though its client ends with 0.
    std::fs::write(&table, &whole).unwrap();
    let damaging = format!("sed -i /whole/d {}; said=$(", table.display());
    let damaging: Vec<_> = changes.into_iter().chain([("said=$(", damaging.as_str())]).collect();
    let damaged = support::consumer::export(&scratch, "dnsdist/poolsync.toml", &damaging);
    let before = world.clone();
    world.change(&GROUPS);
    let told = failure(publish_now(&damaged, &world.snapshot(3)));
    assert!(told.reason == FailureReason::Reload && told.detail.contains("not whole"), "{told}");
    check(&before, |client| plan.ask_from(client));
    drop(server);
}
