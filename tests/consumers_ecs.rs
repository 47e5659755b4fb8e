//! DNS servers that look at the client subnet, with the configurations that we ship: their
//! answers against a slow scan, before and after a change.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

mod support;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use support::consumer::{
    self, BOTH, NAME, World, compare, dns_right, export, publish_cold, publish_now, published,
};
use support::scratch::Scratch;
use support::{dns, gdnsd, have, knot, pdns, unbound, which};

use poolsync::publish::{Argv, Canary, Export, FailureReason, State};

const PDNS: [&str; 4] = ["pdns_server", "pdns_control", "pdns-geoip", "mmdblookup"];
const GROUPS: [&str; 3] = ["gz-01", "gz-02", BOTH];

fn world() -> World {
    World::new(["10.0.0.0/8", "2001:db8::/32"], &GROUPS, 180)
}

/// Asks the server for every viewer, and compares; no answer may claim to hold for all.
fn check(server: SocketAddr, world: &World, scoped: bool) {
    let mut client = dns::Client::new(server);
    let viewers = world.viewers(2500);
    compare(
        world,
        &viewers,
        |viewer| {
            let answer = client.ask(NAME, viewer).unwrap_or_else(|| panic!("no answer for {viewer}"));
            assert_eq!(answer.rcode, 0, "{viewer}");
            if scoped {
                assert!(answer.scope.is_some_and(|scope| scope > 0), "{viewer}: scope {:?}", answer.scope);
            }
            answer.addresses.iter().map(ToString::to_string).collect()
        },
        dns_right,
    );
}

/// The scope of an answer must not reach into rows with another one.
fn check_scopes(server: SocketAddr, world: &World) {
    let mut client = dns::Client::new(server);
    for viewer in world.viewers(600) {
        let scope = client.ask(NAME, viewer).unwrap().scope.unwrap();
        let net = ipnet::IpNet::new(viewer, scope).unwrap().trunc();
        let group = world.group(viewer);
        for other in world.viewers(600).into_iter().filter(|other| net.contains(other)) {
            assert_eq!(world.group(other), group, "{viewer} is answered for {net}, which holds {other}");
        }
    }
}

#[test]
fn powerdns_answers_by_table_and_groups() {
    if !have("powerdns_answers_by_table_and_groups", &PDNS) {
        return;
    }
    let scratch = Scratch::new();
    let plan = pdns::Plan::new(&scratch);
    let canary = format!("dns = \"{}\"", plan.address());
    let changes = [("\"pdns_control\"", plan.control()), ("dns = \"127.0.0.1:53\"", canary)];
    let changes = changes.each_ref().map(|(old, new)| (*old, new.as_str()));
    let export = export(&scratch, "pdns/poolsync.toml", &changes);
    let mut world = world();
    publish_cold(&export, &world.snapshot(1));
    let server = plan.start();
    check(plan.address(), &world, true);
    check_scopes(plan.address(), &world);

    world.change(&GROUPS);
    let manifest = published(publish_now(&export, &world.snapshot(2)));
    assert!(manifest.confirmed.is_some(), "the canary was asked");
    check(plan.address(), &world, true);

    // Weights: three in four.
    let mut client = dns::Client::new(plan.address());
    let viewer = world.viewers(2500).into_iter().find(|v| v.is_ipv4() && world.group(*v) == BOTH).unwrap();
    let mut first = 0;
    for _ in 0..400 {
        let answer = client.ask(NAME, viewer).unwrap().addresses;
        assert_eq!(answer.len(), 1, "one is drawn");
        first += usize::from(answer[0] == consumer::addresses("gz-01")[0]);
    }
    assert!((240..360).contains(&first), "{first} of 400 for a weight of three in four");

    // A table that PowerDNS cannot read: it says Ok, answers everybody with the default edge,
    // and the canary finds that out.
    let table = scratch.join("export/gslb.mmdb").display().to_string();
    let control = plan.control().replace(['"', ','], "");
    let script = format!(
        "if grep -q 'generation 3' {table}; then head -c 2000 {table} > {table}.cut; mv {table}.cut {table}; fi; \
         {control} rediscover"
    );
    let bad = Export {
        reload: Some(Argv::new(["sh", "-c", &script].map(str::to_owned).to_vec()).unwrap()),
        canary: export.canary.clone().map(|canary| Canary { timeout: Duration::from_secs(2), ..canary }),
        ..export.clone()
    };
    let before = world.clone();
    world.change(&GROUPS);
    match publish_now(&bad, &world.snapshot(3)).state {
        State::Failed(failure) => assert_eq!(failure.reason, FailureReason::Canary, "{failure}"),
        other => panic!("{other:?}\n{}", server.log()),
    }
    check(plan.address(), &before, true);
    published(publish_now(&export, &world.snapshot(4)));
    check(plan.address(), &world, true);
}

/// Zone, groups and table in one file, by the template that is built in.
#[test]
fn powerdns_answers_by_a_small_zone_of_its_own() {
    if !have("powerdns_answers_by_a_small_zone_of_its_own", &PDNS) {
        return;
    }
    let scratch = Scratch::new();
    let plan = pdns::Plan::small(&scratch);
    let (canary, control) = (format!("dns = \"{}\"", plan.address()), plan.control());
    let changes = [("\"pdns_control\"", control.as_str()), ("dns = \"127.0.0.1:53\"", &canary)];
    let export = export(&scratch, "pdns/small.toml", &changes);
    let mut world = world();
    publish_cold(&export, &world.snapshot(1));
    let _server = plan.start();
    check(plan.address(), &world, true);
    check_scopes(plan.address(), &world);
    world.change(&GROUPS);
    published(publish_now(&export, &world.snapshot(2)));
    check(plan.address(), &world, true);
}

#[test]
fn gdnsd_answers_by_nets_and_datacenters() {
    if !have("gdnsd_answers_by_nets_and_datacenters", &["gdnsd", "gdnsdctl"]) {
        return;
    }
    let scratch = Scratch::new();
    let plan = gdnsd::Plan::new(&scratch);
    let canary = format!("dns = \"{}\"", plan.address());
    let gdnsdctl = format!("{:?}", which("gdnsdctl").unwrap().display().to_string());
    let folder = plan.folder();
    let changes =
        [("\"gdnsdctl\"", gdnsdctl.as_str()), ("/etc/gdnsd", &folder), ("dns = \"127.0.0.1:53\"", &canary)];
    let export = export(&scratch, "gdnsd/poolsync.toml", &changes);
    let mut world = world();
    publish_cold(&export, &world.snapshot(1));
    let server = plan.start();
    check(plan.address(), &world, true);
    check_scopes(plan.address(), &world);
    world.change(&GROUPS);
    let before = std::time::Instant::now();
    published(publish_now(&export, &world.snapshot(2)));
    assert!(before.elapsed() < Duration::from_secs(60));
    check(plan.address(), &world, true);
    assert!(!server.log().contains("error:"), "{}", server.log());
}

/// A resolver that keeps answers by client subnet must give nobody another's: the scope of an
/// answer for an outer prefix, or for an address in no row, must not reach into a nested one.
#[test]
fn a_caching_resolver_in_front_of_knot_is_not_poisoned() {
    const NEEDS: &[&str] = &["knotd", "knotc", "knot-module-geoip", "unbound", "mmdblookup"];
    if !have("a_caching_resolver_in_front_of_knot_is_not_poisoned", NEEDS) {
        return;
    }
    let scratch = Scratch::new();
    let folder = scratch.folder("export");
    let (table, groups) = (folder.join("gslb.mmdb"), folder.join("geo.conf"));
    let plan = knot::Plan::new(&scratch, &table, &groups);
    let knotc = plan.reload();
    let reload = format!("reload = {knotc:?}");
    let canary = format!("dns = \"{}\"", plan.address());
    let changes =
        [("reload = [\"knotc\", \"reload\"]", reload.as_str()), ("dns = \"127.0.0.1:53\"", &canary)];
    let export = export(&scratch, "knot/poolsync.toml", &changes);
    // Sources on loopback, as the resolver's clients have them.
    let mut world = World::new(["127.0.0.0/8", "2001:db8::/32"], &GROUPS, 180);
    publish_cold(&export, &world.snapshot(1));
    let _server = plan.start();
    check(plan.address(), &world, true);
    check_scopes(plan.address(), &world);
    world.change(&GROUPS);
    published(publish_now(&export, &world.snapshot(2)));
    check(plan.address(), &world, true);

    let resolver = unbound::Resolver::start(&scratch, plan.address());
    let clients: Vec<IpAddr> = world
        .viewers(1200)
        .into_iter()
        .filter(|client| match client {
            IpAddr::V4(v4) => v4.octets()[0] == 127 && *v4 != Ipv4Addr::new(127, 255, 255, 255),
            IpAddr::V6(_) => false,
        })
        .collect();
    assert!(clients.len() > 600);
    // Twice: the second time from the cache.
    for _ in 0..2 {
        compare(&world, &clients, |client| resolver.ask_from(client), dns_right);
    }
}
