//! DNS servers that look at the client subnet, with the configurations that we ship: their
//! answers against a slow scan, before and after a change.

mod support;

use std::net::{IpAddr, SocketAddr};

use support::consumer::{
    self, BOTH, NAME, World, compare, cut_in_half, dns_right, export, publish_cold, publish_now, published,
};
use support::scratch::Scratch;
use support::{dns, gdnsd, have, pdns, which};

use poolsync::publish::{FailureReason, State};

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
    if !have("powerdns_answers_by_table_and_groups", &["pdns_server", "pdns_control", "mmdblookup"]) {
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

    // A groups file that PowerDNS cannot read: it says Ok, and the canary finds it out.
    let bad = poolsync::publish::Export {
        reload: {
            let script = format!(
                "printf 'domains: [' > {}; exec {} --socket-dir={} rediscover",
                scratch.join("export/zone.yaml").display(),
                which("pdns_control").unwrap().display(),
                scratch.join("pdns").display()
            );
            Some(poolsync::publish::Argv::new(vec!["sh".into(), "-c".into(), script]).unwrap())
        },
        canary: export
            .canary
            .clone()
            .map(|canary| poolsync::publish::Canary { timeout: std::time::Duration::from_secs(2), ..canary }),
        ..export.clone()
    };
    let before = world.clone();
    world.change(&GROUPS);
    match publish_now(&bad, &world.snapshot(3)).state {
        State::Failed(failure) => assert_eq!(failure.reason, FailureReason::Canary, "{failure}"),
        other => panic!("{other:?}\n{}", server.log()),
    }
    let _ = before;
    // Told again by the export as it is, it answers as it should.
    published(publish_now(&export, &world.snapshot(4)));
    check(plan.address(), &world, true);
    let _ = cut_in_half;
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
    assert!(before.elapsed() < std::time::Duration::from_secs(60));
    check(plan.address(), &world, true);
    assert!(!server.log().contains("error:"), "{}", server.log());
}

fn _unused(_: IpAddr) {}
