//! The programs that the end-to-end tests lean on, each proven alone: that they start here,
//! answer, read their files again and are gone afterwards.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::IpAddr;
use std::process::Command;

use support::scratch::Scratch;
use support::snmprec::{self, Range};
use support::{dns, have, http, junose, knot, mmdb, nginx, repository, snmpsim, which};

fn viewer(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn walk(args: &[&str]) -> Vec<String> {
    let output =
        Command::new(which("snmpwalk").unwrap()).args(["-On", "-m", ""]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

const POOL_STARTS: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1.4";

#[test]
fn snmpd_serves_a_table_that_changes() {
    if !have("snmpd_serves_a_table_that_changes", &["snmpd", "snmpwalk", "python3"]) {
        return;
    }
    let scratch = Scratch::new();
    let mut router = junose::Router::start(&scratch, "bas-a", &[("pool1", "131.1.1.0", "131.1.10.255")]);
    let agent = router.address().to_string();
    let v2c = ["-v2c", "-c", junose::COMMUNITY, &agent, POOL_STARTS];
    assert_eq!(walk(&v2c), [".1.3.6.1.4.1.4874.2.2.21.1.1.1.1.4.1 = IpAddress: 131.1.1.0"]);
    router.set(&[("pool1", "131.1.1.0", "131.1.10.255"), ("pool2", "131.2.0.0", "131.2.0.9")]);
    let mut v3 = vec!["-v3", "-l", "authPriv", "-u", junose::USER, "-a", "SHA-256", "-A", junose::AUTH];
    v3.extend(["-x", "AES", "-X", junose::PRIVACY, &agent, POOL_STARTS]);
    let rows = walk(&v3);
    assert_eq!(rows.len(), 2);
    assert!(rows[1].ends_with(".4.2 = IpAddress: 131.2.0.0"), "{rows:?}");
    router.program().kill();
    assert!(!snmpsim::answers(router.address(), junose::COMMUNITY));
}

#[test]
fn snmpsimd_serves_walks_by_community_and_context() {
    if !have("snmpsimd_serves_walks_by_community_and_context", &["snmpsimd", "snmpwalk"]) {
        return;
    }
    let scratch = Scratch::new();
    let walks = ["zte-bras-uas", "juniper-junose-erx", "juniper-junose-erx@router2"];
    let walks = walks.map(|name| repository(&format!("tests/data/walks/{name}.snmprec")));
    let simulator = snmpsim::Simulator::start(&scratch, &walks);
    let agent = simulator.address().to_string();
    let zte = walk(&["-v2c", "-c", "zte-bras-uas", &agent, "1.3.6.1.4.1.3902.1006.1.1.2.1.1.5"]);
    assert_eq!(zte.len(), 6);
    let second = walk(&["-v2c", "-c", "juniper-junose-erx@router2", &agent, POOL_STARTS]);
    assert_eq!(second, [".1.3.6.1.4.1.4874.2.2.21.1.1.1.1.4.1 = IpAddress: 192.168.10.5"]);
}

/// What the groups file holds for the edges of the example.
const GEO: &str = "cdn.example.com:\n  - geo: \"near\"\n    A: 198.51.100.10\n    AAAA: 2001:db8:1::10\n";

#[test]
fn knot_answers_from_an_mmdb_and_reads_it_again() {
    if !have("knot_answers_from_an_mmdb_and_reads_it_again", &["knotd", "knotc", "knot-module-geoip", "dig"])
    {
        return;
    }
    let scratch = Scratch::new();
    let mmdb = scratch.write("gslb.mmdb", mmdb::of_one_prefix(&[10], "near"));
    let groups = scratch.write("geo.conf", GEO);
    let plan = knot::Plan::new(&scratch, &mmdb, &groups);
    let _knot = plan.start();
    let mut client = dns::Client::new(plan.address());
    let near = client.ask(knot::NAME, viewer("10.1.2.3")).unwrap();
    assert_eq!(near.addresses, [viewer("198.51.100.10")]);
    let elsewhere = client.ask(knot::NAME, viewer("203.0.113.9")).unwrap();
    assert_eq!(elsewhere.addresses, [viewer("198.51.100.1")], "the zone's own answer");
    let six = client.ask(knot::NAME, viewer("2001:db8::1")).unwrap();
    assert_eq!(six.addresses, [viewer("2001:db8:1::1")]);
    assert_eq!(knot::dig(plan.address(), "10.1.2.3/32", "A"), [viewer("198.51.100.10")]);

    scratch.write("geo.conf", GEO.replace("198.51.100.10", "198.51.100.11"));
    let reload = plan.reload();
    assert!(Command::new(&reload[0]).args(&reload[1..]).output().unwrap().status.success());
    support::program::wait_for("the new answer", || {
        client.ask(knot::NAME, viewer("10.1.2.3")).unwrap().addresses == [viewer("198.51.100.11")]
    });
}

#[test]
fn nginx_redirects_by_its_table_and_reads_it_again() {
    if !have("nginx_redirects_by_its_table_and_reads_it_again", &["nginx"]) {
        return;
    }
    let scratch = Scratch::new();
    let table = scratch.write("edges.conf", "10.0.0.0/8 near;\n2001:db8:2::/48 near;\n");
    let groups = scratch.write("targets.conf", "near near.example.net;\ndefault centre.example.net;\n");
    let plan = nginx::Plan::new(&scratch, &table, &groups);
    let mut server = plan.start();
    let mut client = http::Client::new(plan.address());
    let mut target = |ip: &str| nginx::redirect(&mut client, "/v/a.ts", viewer(ip)).unwrap();
    assert_eq!(target("10.1.2.3"), "http://near.example.net/v/a.ts");
    assert_eq!(target("2001:db8:2::9"), "http://near.example.net/v/a.ts");
    assert_eq!(target("11.0.0.1"), "http://centre.example.net/v/a.ts");

    scratch.write("edges.conf", "11.0.0.0/8 near;\n");
    let reload = plan.reload();
    assert!(Command::new(&reload[0]).args(&reload[1..]).output().unwrap().status.success());
    support::program::wait_for("the new answer", || target("11.0.0.1").contains("near"));
    assert_eq!(target("10.1.2.3"), "http://centre.example.net/v/a.ts");
    assert!(server.runs());
}

/// What tells right from wrong in the other tests, held against what a person reads.
#[test]
fn rows_are_read_as_a_person_reads_them() {
    let file = |name: &str| repository(&format!("tests/data/flow/{name}.snmprec"));
    let zte = [
        Range::new("one", "203.0.113.9", "203.0.113.9"),
        Range::new("iptv", "100.70.0.10", "100.70.0.137"),
        Range::new("pppoe-a", "10.20.0.3", "10.20.0.250"),
        Range::new("pppoe-a", "10.20.4.0", "10.20.4.255"),
        Range::new("pppoe-a", "10.20.5.0", "10.20.5.255"),
    ];
    assert_eq!(snmprec::zte_pools(&file("zte")), zte);
    let huawei = [
        Range::new("pppoe-a", "10.30.0.3", "10.30.0.250"),
        Range::new("pppoe-a", "10.30.4.0", "10.30.5.255"),
        Range::new("iptv", "100.72.0.2", "100.72.3.254"),
        Range::new("old-locked", "192.0.2.2", "192.0.2.62"),
    ];
    assert_eq!(snmprec::huawei_sections(&file("huawei")), huawei);
    let huawei = [
        Range::new("pool-nd", "2001:db8:200::", "2001:db8:200:ffff:ffff:ffff:ffff:ffff"),
        Range::new("pool-pd", "2001:db8:2000::", "2001:db8:20ff:ffff:ffff:ffff:ffff:ffff"),
    ];
    assert_eq!(snmprec::huawei_prefixes(&file("huawei")), huawei);
    let cisco = [
        Range::new("PPP", "10.40.0.3", "10.40.0.250"),
        Range::new("PPP", "10.40.4.0", "10.40.5.255"),
        Range::new("one", "192.0.2.200", "192.0.2.200"),
        Range::new("v6pd", "2001:db8:1000::", "2001:db8:10ff:ffff:ffff:ffff:ffff:ffff"),
        Range::new("IPTV-CUST", "100.74.0.1", "100.74.3.254"),
    ];
    assert_eq!(snmprec::cisco_pools(&file("cisco")), cisco);
    let scratch = Scratch::new();
    let rows = scratch.write("rows", junose::table(&[("pool1", "131.1.1.0", "131.1.10.255")]));
    assert_eq!(snmprec::junose_pools(&rows), [Range::new("pool1", "131.1.1.0", "131.1.10.255")]);
    assert_eq!(snmprec::cell(&rows, "1.3.6.1.4.1.4874.2.2.21.1.1.1.1.6", "1").as_deref(), Some("2560"));
}

#[test]
#[should_panic(expected = "apt-get install")]
fn a_missing_program_fails_a_test_and_says_what_to_install() {
    have("none", &["no-such-program"]);
}
