//! The whole way, with programs nobody here wrote: routers (`snmpd` with v2c and v3,
//! `snmpsimd` with walks of three vendors), a poll, and Knot and nginx answering viewers;
//! then a pool changes, and both answer anew. What is right is read off the routers' own
//! rows, slowly.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use support::poolsync::{self, Outcome};
use support::program::{Program, wait_for};
use support::scratch::Scratch;
use support::snmprec::{self, Range};
use support::{dns, have, http, junose, knot, mmdb, nginx, repository, snmpsim};

const PROGRAMS: &[&str] =
    &["snmpd", "python3", "snmpsimd", "knotd", "knotc", "knot-module-geoip", "dig", "nginx"];

/// The edges: name and the last number of its addresses.
const EDGES: &[(&str, u8)] =
    &[("centre", 1), ("east", 10), ("west", 20), ("north", 30), ("south", 40), ("middle", 50)];

/// Which edge stands by which router.
const NEAREST: &[(&str, &str)] =
    &[("erx-v2c", "east"), ("erx-v3", "west"), ("zte", "north"), ("huawei", "south"), ("cisco", "middle")];

fn a(edge: &str) -> IpAddr {
    Ipv4Addr::new(198, 51, 100, number(edge)).into()
}

fn aaaa(edge: &str) -> IpAddr {
    Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, number(edge).into()).into()
}

fn number(edge: &str) -> u8 {
    EDGES.iter().find(|(name, _)| *name == edge).unwrap().1
}

/// The network of the test: five routers, two servers, one configuration.
struct Network {
    v2c: junose::Router,
    v3: junose::Router,
    _simulator: snmpsim::Simulator,
    knot: knot::Plan,
    nginx: nginx::Plan,
    _knotd: Program,
    nginx_master: Program,
    config: PathBuf,
    // The last to go: what runs in it must have ended.
    scratch: Scratch,
}

impl Network {
    /// The servers run before poolsync has ever written a file, as on the day it is put in.
    fn start() -> Self {
        let scratch = Scratch::new();
        let v2c = junose::Router::start(
            &scratch,
            "erx-v2c",
            &[
                ("pool1", "131.1.1.0", "131.1.10.255"),
                ("pool2", "131.1.20.16", "131.1.20.31"),
                ("pool3", "131.1.30.0", "131.1.30.255"),
            ],
        );
        let v3 = junose::Router::start(&scratch, "erx-v3", &[("pool1", "131.2.0.5", "131.2.7.250")]);
        let walks = ["zte", "huawei", "cisco"].map(walk);
        let simulator = snmpsim::Simulator::start(&scratch, &walks);

        let export = scratch.folder("export");
        scratch.write("export/gslb.mmdb", mmdb::of_one_prefix(&[10], "nobody"));
        scratch.write("export/geo.conf", "cdn.example.com:\n  - geo: \"nobody\"\n    A: 192.0.2.77\n");
        scratch.write("export/edges.conf", "");
        scratch.write("export/targets.conf", "default unfilled.example.net;\n");
        let knot = knot::Plan::new(&scratch, &export.join("gslb.mmdb"), &export.join("geo.conf"));
        let nginx = nginx::Plan::new(&scratch, &export.join("edges.conf"), &export.join("targets.conf"));
        let (knotd, nginx_master) = (knot.start(), nginx.start());
        let simulated = simulator.address().to_string();
        let addresses = [
            ("erx-v2c", v2c.address().to_string(), "erx-v2c"),
            ("erx-v3", v3.address().to_string(), "erx-v3"),
            ("zte", simulated.clone(), "zte"),
            ("huawei", simulated.clone(), "huawei"),
            ("cisco", simulated, "cisco"),
        ];
        scratch.write("privacy.key", format!("{}\n", junose::PRIVACY));
        let config = scratch.write("config.toml", configuration(&addresses, &knot, &nginx));
        Self { v2c, v3, _simulator: simulator, knot, nginx, _knotd: knotd, nginx_master, config, scratch }
    }

    fn poll(&self) -> Outcome {
        let mut command = poolsync::command(["-c".as_ref(), self.config.as_os_str()]);
        command.args(["poll", "--json"]).env("TEST_COMMUNITY", junose::COMMUNITY);
        poolsync::run_command(command_with_auth(command))
    }

    /// The ranges of every router, by the edge that stands by it: from the routers' rows.
    fn truth(&self) -> BTreeMap<&'static str, Vec<Range>> {
        let huawei = walk("huawei");
        BTreeMap::from([
            ("east", snmprec::junose_pools(self.v2c.rows())),
            ("west", snmprec::junose_pools(self.v3.rows())),
            ("north", snmprec::zte_pools(&walk("zte"))),
            ("south", [snmprec::huawei_sections(&huawei), snmprec::huawei_prefixes(&huawei)].concat()),
            ("middle", snmprec::cisco_pools(&walk("cisco"))),
        ])
    }
}

fn command_with_auth(mut command: std::process::Command) -> std::process::Command {
    command.env("TEST_AUTH", junose::AUTH);
    command
}

fn walk(name: &str) -> PathBuf {
    repository(&format!("tests/data/flow/{name}.snmprec"))
}

fn configuration(routers: &[(&str, String, &str)], knot: &knot::Plan, nginx: &nginx::Plan) -> String {
    let mut text = r#"
default-edge = "centre"

[store]
path = "poolsync.db"

[poll]
timeout = "1s"
retries = 2
deadline = "30s"

[guard]
# The test's routers have just booted.
settle = "0s"

[space.internet]
vrfs = ["", "default", "global", "Base"]

[snmp.erx-v2c]
version = "2c"
community = { env = "TEST_COMMUNITY" }

[snmp.erx-v3]
version = "3"
user = "poller"
auth = { protocol = "sha256", secret = { env = "TEST_AUTH" } }
privacy = { protocol = "aes128", secret = { file = "privacy.key" } }
"#
    .to_owned();
    for community in ["zte", "huawei", "cisco"] {
        text += &format!("\n[snmp.{community}]\nversion = \"2c\"\ncommunity = \"{community}\"\n");
    }
    for (name, number) in EDGES {
        text += &format!(
            "\n[edge.{name}]\naddresses = [\"198.51.100.{number}\", \"{}\"]\nhost = \"{name}.example.net\"\n",
            aaaa(name)
        );
    }
    for (name, address, snmp) in routers {
        let edge = NEAREST.iter().find(|(router, _)| router == name).unwrap().1;
        text += &format!(
            "\n[bas.{name}]\naddress = \"{address}\"\nsnmp = \"{snmp}\"\nmib = \"auto\"\nedges = [\"{edge}\"]\n"
        );
    }
    text += &format!(
        r#"
[export.dns]
format = "mmdb"
path = "export/gslb.mmdb"
name = "{}"
groups = {{ format = "knot", path = "export/geo.conf" }}
reload = {:?}

[export.http]
format = "nginx-geo"
path = "export/edges.conf"
groups = {{ format = "nginx-map", path = "export/targets.conf" }}
reload = {:?}
"#,
        knot::NAME,
        knot.reload(),
        nginx.reload()
    );
    text
}

/// The edge that must answer a viewer.
fn right(truth: &BTreeMap<&'static str, Vec<Range>>, viewer: IpAddr) -> &'static str {
    let mut edges = truth.iter().filter(|(_, ranges)| ranges.iter().any(|range| range.contains(viewer)));
    let edge = edges.next().map_or("centre", |(edge, _)| *edge);
    assert_eq!(edges.next(), None, "{viewer} is listed by one router only");
    edge
}

/// Viewers to ask for: both ends of every range and their neighbours, some within, some
/// around, and some from anywhere.
fn viewers(truth: &BTreeMap<&'static str, Vec<Range>>) -> Vec<IpAddr> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut viewers = Vec::new();
    for range in truth.values().flatten() {
        let (first, last) = (bits(range.first), bits(range.last));
        viewers.extend([first, last, first - 1, last + 1].map(|b| address(b, range.first)));
        for _ in 0..60 {
            let within = first + random.below(last - first + 1);
            let around = first.saturating_sub(3000) + random.below(last - first + 6000);
            viewers.extend([within, around].map(|b| address(b, range.first)));
        }
    }
    for _ in 0..1500 {
        let v4 = 1 + random.below(223 << 24);
        viewers.push(address(v4, IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
    }
    for _ in 0..300 {
        let v6 = (0x2 << 124) + random.below(1 << 124);
        viewers.push(address(v6, IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
    }
    viewers
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u32::from(v4).into(),
        IpAddr::V6(v6) => v6.into(),
    }
}

fn address(bits: u128, like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::from(u32::try_from(bits).unwrap()).into(),
        IpAddr::V6(_) => Ipv6Addr::from(bits).into(),
    }
}

/// Random numbers that are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u128) -> u128 {
        (u128::from(self.next()) << 64 | u128::from(self.next())) % limit
    }
}

/// Asks both servers for every viewer, and compares with the rows.
fn check_all(network: &Network, truth: &BTreeMap<&'static str, Vec<Range>>) {
    let viewers = viewers(truth);
    let mut dns = dns::Client::new(network.knot.address());
    let mut http = http::Client::new(network.nginx.address());
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for viewer in &viewers {
        let edge = right(truth, *viewer);
        *asked.entry(edge).or_default() += 1;
        let answer = dns.ask(knot::NAME, *viewer).unwrap();
        let expected = if viewer.is_ipv4() { a(edge) } else { aaaa(edge) };
        if answer.addresses != [expected] {
            wrong.push(format!("Knot answers {viewer} with {:?}, {edge} is right", answer.addresses));
        }
        // Scope 0 would let a resolver give this answer to everybody.
        if answer.scope.is_none_or(|scope| scope == 0) {
            wrong.push(format!("Knot answers {viewer} with scope {:?}", answer.scope));
        }
        let target = nginx::redirect(&mut http, "/v/a.ts", *viewer).unwrap();
        if target != format!("http://{edge}.example.net/v/a.ts") {
            wrong.push(format!("nginx sends {viewer} to {target}, {edge} is right"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} wrong:\n{}",
        wrong.len(),
        viewers.len(),
        wrong[..20.min(wrong.len())].join("\n")
    );
    assert_eq!(asked.len(), EDGES.len(), "every edge was asked for: {asked:?}");
    assert!(asked.values().all(|times| *times >= 60), "{asked:?}");
}

/// Waits until both servers send a viewer to an edge: a reload returns before it is done.
fn settled(network: &Network, viewer: &str, edge: &str) {
    let viewer: IpAddr = viewer.parse().unwrap();
    wait_for("Knot to answer anew", || {
        let answer = dns::Client::new(network.knot.address()).ask(knot::NAME, viewer);
        answer.is_some_and(|answer| answer.addresses == [a(edge)])
    });
    wait_for("nginx to answer anew", || {
        let mut client = http::Client::new(network.nginx.address());
        nginx::redirect(&mut client, "/", viewer).is_some_and(|target| target.contains(edge))
    });
    wait_for("nginx's old workers to go", || nginx::workers(&network.nginx_master) == 1);
}

fn states(outcome: &Outcome) -> BTreeMap<String, String> {
    let json = outcome.json();
    let list = json["bas"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    list.map(|bas| (text(&bas["name"]), text(&bas["state"]))).collect()
}

#[test]
fn from_walked_routers_to_served_viewers_and_again_after_a_change() {
    if !have("from_walked_routers_to_served_viewers_and_again_after_a_change", PROGRAMS) {
        return;
    }
    let mut network = Network::start();
    let first = network.poll().expect(0);
    assert!(states(&first).values().all(|state| state == "complete"), "{first:?}");
    assert_eq!(first.json()["filled"], true);
    settled(&network, "131.1.1.0", "east");
    check_all(&network, &network.truth());
    let address = network.knot.address();
    assert_eq!(knot::dig(address, "131.1.10.255/32", "A"), [a("east")]);
    assert_eq!(knot::dig(address, "131.2.0.5/32", "A"), [a("west")]);
    assert_eq!(knot::dig(address, "131.1.11.0/32", "A"), [a("centre")]);
    assert_eq!(knot::dig(address, "2001:db8:1000::/48", "AAAA"), [aaaa("middle")]);

    // pool2 moves to the other router, pool3 gives way to pool4, pool1 grows by a /24.
    network.v2c.set(&[("pool1", "131.1.1.0", "131.1.11.255"), ("pool4", "131.1.40.0", "131.1.40.255")]);
    network.v3.set(&[("pool1", "131.2.0.5", "131.2.7.250"), ("pool2", "131.1.20.16", "131.1.20.31")]);
    let second = network.poll().expect(0);
    assert!(second.json()["generation"].as_u64() > first.json()["generation"].as_u64());
    settled(&network, "131.1.20.16", "west");
    settled(&network, "131.1.40.0", "east");
    check_all(&network, &network.truth());

    // A router that does not answer changes nothing.
    let truth = network.truth();
    network.v2c.program().kill();
    let third = network.poll().expect(3);
    assert_eq!(states(&third)["erx-v2c"], "failed");
    assert_eq!(third.json()["generation"], second.json()["generation"]);
    check_all(&network, &truth);
    assert!(no_leftovers(&network.scratch.join("export")), "temporary files are gone");
}

fn no_leftovers(export: &Path) -> bool {
    let names = std::fs::read_dir(export).unwrap().map(|entry| entry.unwrap().file_name());
    names.into_iter().all(|name| !name.to_string_lossy().ends_with(".new"))
}
