//! Steering on the running daemon: three edges that report their load (two by HTTP, one by
//! Debian's snmpd), and PowerDNS answering in the proportions that are published.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use acts_support::{Plant, Pool};
use serde_json::Value;
use support::loads::{Edge, Loads};
use support::program::{Program, wait_for};
use support::scratch::Scratch;
use support::snmpd::Snmpd;
use support::{dns, have, pdns};

const PROGRAMS: &[&str] = &["pdns_server", "pdns_control", "pdns-geoip", "mmdblookup", "snmpd"];

/// What the viewers of the router ask for, in the unit of the edges' capacities.
const DEMAND: f64 = 400.0;
const QUERIES: u32 = 2000;
/// So many deviations off is a false alarm once in 500 million times, for each edge.
const DEVIATIONS: f64 = 6.0;

const EDGES: [(&str, &str); 3] = [("e1", "198.51.100.11"), ("e2", "198.51.100.12"), ("e3", "198.51.100.13")];

fn edge(at: usize, base: f64) -> Edge {
    Edge { address: EDGES[at].1, base, capacity: 1000.0, p95_ms: 20.0, silent: false }
}

/// The router's pools: sixty of a /26, so that a part of them can be shed.
fn pools() -> Vec<Pool> {
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let pool = |n: u8| {
        let first = leak(format!("10.{}.0.0", n));
        (leak(format!("pool{n}")), first, leak(format!("10.{}.0.63", n)))
    };
    (1..=60).map(pool).collect()
}

struct World {
    plant: Plant,
    loads: Loads,
    _snmpd: Snmpd,
    pdns: pdns::Plan,
    _server: Program,
    daemon: Program,
}

impl World {
    /// Everything runs; the region is steered by these lines.
    fn start(steer: &str) -> Self {
        let pools = pools();
        let plant = Plant::new(&[("bas-a", "centre", &pools)]);
        let snmpd = Snmpd::start("", None);
        let pdns = pdns::Plan::new(&plant.site.scratch);
        let zone = plant.site.export("zone.yaml");
        let loads = Loads::start(&[("e1", edge(0, 200.0)), ("e2", edge(1, 100.0))], DEMAND, zone);
        let router = plant.address("bas-a").to_string();
        let control = |on: bool| match on {
            true => format!(
                "reload = [{}, \"rediscover\"]\ncanary = {{ dns = \"{}\" }}\n",
                pdns.control(),
                pdns.address()
            ),
            false => String::new(),
        };
        let text = |on| configuration(&router, &loads, &snmpd, steer, &control(on));
        // The files have to be there before PowerDNS, which is to take up what changes.
        plant.site.configure(&text(false));
        plant.run(&["poll"]).expect(0);
        let server = pdns.start();
        plant.site.configure(&text(true));
        let daemon = plant.daemon();
        Self { plant, loads, _snmpd: snmpd, pdns, _server: server, daemon }
    }

    /// Steers otherwise from now on.
    fn steer(&self, from: &str, to: &str) {
        let path = &self.plant.site.config;
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(from));
        self.plant.site.configure(&text.replacen(from, to, 1));
        self.plant.run(&["reload"]).expect(0);
    }

    /// The weights in force, by edge.
    fn weights(&self) -> BTreeMap<String, u64> {
        let found = &self.plant.json(0, &["lookup", "10.1.0.9"])[0];
        let edges = found["edges"].as_array().unwrap().iter().map(|edge| edge.as_str().unwrap().to_owned());
        edges.zip(found["weights"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap())).collect()
    }

    /// Waits for weights; of edges that are not named there are none.
    fn wait_weights(
        &self,
        what: &str,
        right: impl Fn(&BTreeMap<String, u64>) -> bool,
    ) -> BTreeMap<String, u64> {
        let mut last = BTreeMap::new();
        wait_for(&format!("{what}; the daemon's log:\n{}", self.daemon.log()), || {
            last = self.weights();
            right(&last)
        });
        last
    }

    /// Waits until nothing changes over some readings of the loads, and all is published.
    fn settle(&self) -> BTreeMap<String, u64> {
        let mut seen = (0, 0);
        wait_for("weights that stay", || {
            let status = self.plant.status();
            let generation = status["generation"].as_u64().unwrap();
            let published = status["exports"][0]["generation"].as_u64() == Some(generation)
                && status["exports"][0]["state"] == "published";
            let read = status["steering"][0]["read"].as_str().unwrap_or_default().to_owned();
            let reading = u64::from_str_radix(&hex(&read), 16).unwrap_or_default();
            if seen.0 != generation || !published {
                seen = (generation, reading);
                return false;
            }
            // Another reading came, and changed nothing.
            reading != seen.1
        });
        self.weights()
    }

    /// How often each edge answers.
    fn asked(&self, viewer: impl Fn(u32) -> IpAddr) -> BTreeMap<String, u32> {
        let mut client = dns::Client::new(self.pdns.address());
        let mut counts = BTreeMap::new();
        for n in 0..QUERIES {
            let answer = client.ask("cdn.example.com", viewer(n)).unwrap();
            let [IpAddr::V4(address)] = answer.addresses[..] else { panic!("one address: {answer:?}") };
            let edge = EDGES.iter().find(|(_, own)| *own == address.to_string()).unwrap().0;
            *counts.entry(edge.to_owned()).or_default() += 1;
        }
        counts
    }

    /// The answers are in the proportions of the weights.
    fn answers_by(&self, weights: &BTreeMap<String, u64>) {
        let counts = self.asked(|n| IpAddr::V4(Ipv4Addr::new(10, 1, 0, (n % 64) as u8)));
        let sum: u64 = weights.values().sum();
        for (edge, _) in EDGES {
            let share = weights.get(edge).copied().unwrap_or(0) as f64 / sum as f64;
            let expected = share * f64::from(QUERIES);
            let allowed = DEVIATIONS * (expected * (1.0 - share)).sqrt();
            let found = f64::from(counts.get(edge).copied().unwrap_or(0));
            assert!(
                (found - expected).abs() <= allowed,
                "{edge}: {found}, {expected} ± {allowed}; {counts:?}"
            );
        }
    }

    /// The weights that each generation since gave, by edge.
    fn steps(&self, since: u64) -> Vec<BTreeMap<String, u64>> {
        let newest = self.plant.status()["generation"].as_u64().unwrap();
        let mut steps = Vec::new();
        for generation in since + 1..=newest {
            let (before, after) = ((generation - 1).to_string(), generation.to_string());
            let diff = self.plant.json(4, &["diff", &before, &after]);
            assert_eq!(diff["changes"], serde_json::json!([]), "the table stays as it is");
            let group = &diff["groups"][0];
            let edges =
                group["after"].as_array().unwrap().iter().map(|edge| edge.as_str().unwrap().to_owned());
            let weights = group["weights_after"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap());
            steps.push(edges.zip(weights).collect());
        }
        steps
    }
}

/// A text as a number that another text does not share by chance.
fn hex(text: &str) -> String {
    let sum = text.bytes().fold(7_u64, |sum, octet| sum.wrapping_mul(31).wrapping_add(octet.into()));
    format!("{:x}", sum & 0x7fff_ffff_ffff)
}

fn configuration(router: &str, loads: &Loads, snmpd: &Snmpd, steer: &str, control: &str) -> String {
    let mut text = format!(
        r#"default-edge = "centre"
[store]
path = "poolsync.db"
[control]
socket = "control.sock"
[guard]
settle = "0s"
[snmp.lab]
version = "2c"
community = {{ env = "{}" }}
[load]
interval = "1s"
timeout = "5s"
[edge.centre]
addresses = ["198.51.100.1"]
[bas.bas-a]
address = "{router}"
snmp = "lab"
edges = ["e1", "e2", "e3"]
region = "south"
distance = {{ e1 = 1, e2 = 2, e3 = 9 }}
demand = {DEMAND}
[steer.south]
session = "1h"
{steer}
[export.pdns]
format = "mmdb"
path = "export/gslb.mmdb"
groups = {{ format = "pdns", path = "export/zone.yaml" }}
name = "cdn.example.com"
nameservers = ["ns1.example.net"]
ttl = "30s"
{control}
"#,
        support::site::COMMUNITY_ENV
    );
    for (name, address) in EDGES {
        let _ = write!(text, "[edge.{name}]\naddresses = [\"{address}\"]\n[edge.{name}.load]\n");
        let _ = match name {
            "e3" => write!(
                text,
                "source = \"snmp\"\naddress = \"{}\"\nsnmp = \"lab\"\ninterfaces = [\"lo\"]\ncapacity = 1e15\n",
                snmpd.v4()
            ),
            _ => write!(
                text,
                "source = \"json\"\nurl = \"{}\"\nload = \"/traffic/now\"\ncapacity = \"/traffic/most\"\n\
                 p95-ms = {{ at = \"/p95\", factor = 1000 }}\n",
                loads.url(name)
            ),
        };
    }
    text
}

fn moved(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> f64 {
    let share = |weights: &BTreeMap<String, u64>, edge: &str| {
        weights.get(edge).copied().unwrap_or(0) as f64 / weights.values().sum::<u64>() as f64
    };
    EDGES.iter().map(|(edge, _)| (share(before, edge) - share(after, edge)).abs()).sum::<f64>() / 2.0
}

/// The share of e1 in the plan of least mean delay, by bisection: the last unit costs the same
/// on e1 and on e2 (half of the slope of s/(C-s), and half of the delay in seconds); e3 would
/// cost 9 ms, more than either.
fn planned_share() -> f64 {
    let slope = |load: f64| 0.5 * 1000.0 / (1000.0 - load).powi(2);
    let dearer = |share: f64| {
        let e1 = slope(200.0 + share * DEMAND) + 0.5 * 0.001;
        let e2 = slope(100.0 + (1.0 - share) * DEMAND) + 0.5 * 0.002;
        assert!(e1 < 0.5 * 0.009 && e2 < 0.5 * 0.009);
        e1 > e2
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if dearer(middle) { high = middle } else { low = middle }
    }
    low
}

#[test]
fn the_server_answers_in_the_proportions_of_loadnear_then_of_the_plan() {
    if !have("the_server_answers_in_the_proportions_of_loadnear_then_of_the_plan", PROGRAMS) {
        return;
    }
    let loadnear = "policy = \"loadnear\"\nd = 2\nstep = \"12%\"\n";
    let world = World::start(loadnear);
    // e3 is always among the two least loaded, and far: e1 and e2 are filled to the same level,
    // 350 of 1000, from 200 and 100. Dealt in twentieths, that is 7 or 8 to e1.
    let right = |weights: &BTreeMap<String, u64>| {
        let all = weights.get("e1").copied().zip(weights.get("e2").copied());
        weights.len() == 2 && all.is_some_and(|(e1, e2)| e1 + e2 == 100 && (30..=45).contains(&e1))
    };
    world.wait_weights("the weights of loadnear", right);
    let weights = world.settle();
    assert!(right(&weights), "{weights:?}");
    world.answers_by(&weights);

    // What people are told.
    let edges = world.plant.json(0, &["edge", "list"]);
    let of = |name: &str| edges.as_array().unwrap().iter().find(|edge| edge["name"] == name).unwrap();
    assert_eq!(of("e1")["load"]["capacity"], 1000.0);
    assert!(of("e1")["load"]["load"].as_f64().unwrap() > 200.0);
    assert!(of("e3")["load"]["load"].as_f64().is_some(), "{}", of("e3"));
    assert_eq!(of("e1")["weights"][0]["weight"], weights["e1"]);
    assert_eq!(of("e3")["weights"][0]["weight"], 0);
    assert!(of("e1")["load_age_s"].as_u64().is_some() && of("centre")["load"].is_null());
    let listed = world.plant.run(&["edge", "list"]).expect(0).stdout;
    assert!(listed.contains("1 000") || listed.contains("1,000") || listed.contains("1000"), "{listed}");
    let steering = &world.plant.status()["steering"][0];
    assert_eq!((&steering["policy"], &steering["good_for"]), (&"loadnear".into(), &"fresh".into()));
    assert_eq!((&steering["interval_s"], &steering["ttl_s"]), (&1.0.into(), &30.0.into()));
    let status = world.plant.run(&["status"]).expect(0).stdout;
    assert!(status.contains("region south: loadnear") && status.contains("fresh enough"), "{status}");

    // The plan says what it would gain before anything is published, and then is followed.
    let share = planned_share();
    let plan = &world.plant.json(0, &["plan"])[0];
    let place = plan["plan"]["nodes"].as_array().unwrap().iter().position(|node| node == "e1").unwrap();
    let flow = plan["plan"]["flow"][0][place].as_f64().unwrap();
    assert!((flow / DEMAND - share).abs() < 0.01, "{flow}, {share}");
    assert!(plan["plan"]["gain"].as_f64().unwrap() > 0.005, "{plan}");
    assert_eq!(world.weights(), weights, "nothing is published by it");
    world.steer(loadnear, "policy = \"plan\"\nmin-gain = \"0.1%\"\n");
    let near = |weights: &BTreeMap<String, u64>| {
        let e1 = weights.get("e1").copied().unwrap_or(0) as f64;
        weights.values().sum::<u64>() == 100 && (e1 - 100.0 * share).abs() <= 2.0
    };
    world.wait_weights("the weights of the plan", near);
    let weights = world.settle();
    assert!(near(&weights), "{weights:?}, planned is {share}");
    world.answers_by(&weights);
    let told = world.plant.run(&["explain", "10.1.0.9"]).expect(0).stdout;
    let line = format!("): e1 {} %, e2 {} % of its requests.", weights["e1"], weights["e2"]);
    assert!(told.contains("Region south is steered by plan (loads read ") && told.contains(&line), "{told}");

    // Without the service, loads are read for whoever asks.
    drop(world.daemon);
    let edges = world.plant.json(0, &["edge", "list"]);
    let of = |name: &str| edges.as_array().unwrap().iter().find(|edge| edge["name"] == name).unwrap();
    assert!(of("e1")["load"]["load"].as_f64().unwrap() > 200.0, "{edges}");
    assert!(of("e3")["load"]["load"].as_f64().is_some(), "counters are read twice: {edges}");
    assert_eq!(of("e1")["weights"][0]["weight"], weights["e1"]);
}

#[test]
fn a_source_that_dies_leaves_the_static_weights_in_three_small_steps() {
    if !have("a_source_that_dies_leaves_the_static_weights_in_three_small_steps", PROGRAMS) {
        return;
    }
    let world = World::start("policy = \"loadnear\"\nd = 2\nstep = \"12%\"\n");
    world.wait_weights("the weights of loadnear", |weights| !weights.contains_key("e3"));
    let before = world.settle();
    let generation = world.plant.status()["generation"].as_u64().unwrap();
    let table = std::fs::read(world.plant.site.export("gslb.mmdb")).unwrap();
    world.loads.change("e1", |edge| edge.silent = true);
    // The static weights are those of the configuration: equal.
    let fixed = |weights: &BTreeMap<String, u64>| {
        weights.len() == 3 && weights.values().all(|weight| *weight == weights["e1"])
    };
    world.wait_weights("the static weights", fixed);
    let mut last = before;
    let steps = world.steps(generation);
    assert!(steps.len() <= 3, "{steps:?}");
    for step in steps {
        assert!(moved(&last, &step) <= 0.12 + 0.011, "from {last:?} to {step:?}");
        last = step;
    }
    assert!(fixed(&last));
    wait_for("all of it published", || {
        let status = world.plant.status();
        status["exports"][0]["generation"] == status["generation"]
    });
    let after = std::fs::read(world.plant.site.export("gslb.mmdb")).unwrap();
    assert!(table == after, "weights are the groups file's, and leave the table alone");
    let edges = world.plant.json(0, &["edge", "list"]);
    let e1 = edges.as_array().unwrap().iter().find(|edge| edge["name"] == "e1").unwrap();
    assert_eq!(e1["load"]["reason"], "http", "{e1}");
    assert!(e1["load"]["missed"].as_u64().unwrap() >= 3 && e1["load"]["load"].is_null());
    assert_eq!(world.plant.status()["steering"][0]["unknown"], serde_json::json!(["e1"]));
    // It comes back, and is steered by again.
    world.loads.change("e1", |edge| edge.silent = false);
    world.wait_weights("the weights of loadnear again", |weights| !weights.contains_key("e3"));
}

#[test]
fn a_slow_edge_hands_entries_on_and_takes_them_back() {
    if !have("a_slow_edge_hands_entries_on_and_takes_them_back", PROGRAMS) {
        return;
    }
    let world = World::start("policy = \"shed\"\nmode = \"fixed\"\nsmoothing = \"100%\"\ndecay = \"20%\"\n");
    let viewer = |n: u32| IpAddr::V4(Ipv4Addr::new(10, 1 + (n % 60) as u8, 0, (n / 60 % 64) as u8));
    assert_eq!(world.asked(viewer), BTreeMap::from([("e1".to_owned(), QUERIES)]));
    world.loads.change("e1", |edge| edge.p95_ms = 500.0);
    let shed = || world.plant.status()["steering"][0]["shed"].as_f64().unwrap();
    wait_for("the cap", || shed() > 0.39);
    assert!(shed() <= 0.4 + 1e-9, "{}", shed());
    // Between leaving and entering the share stays.
    world.loads.change("e1", |edge| edge.p95_ms = 120.0);
    world.settle();
    let tokens = |table: &Value| -> BTreeMap<String, String> {
        let entries = table["entries"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        entries.map(|entry| (text(&entry["first"]), text(&entry["group"]))).collect()
    };
    let table: Value = serde_json::from_str(&world.plant.site.table()).unwrap();
    let own = world.plant.json(0, &["lookup", "192.0.2.1"])[0]["group"].clone();
    assert_eq!(own, "centre");
    let groups = tokens(&table);
    let edges_of = |token: &str| {
        let group = table["groups"].as_array().unwrap().iter().find(|group| group["token"] == token).unwrap();
        group["edges"][0]["name"].as_str().unwrap().to_owned()
    };
    let gone: Vec<&String> =
        groups.iter().filter(|(_, token)| edges_of(token) == "e2").map(|(first, _)| first).collect();
    // 24 of 60 entries may go, all of one size; by their hashes some less do.
    assert!((12..=24).contains(&gone.len()), "{}", gone.len());
    // Every viewer is answered by the group of its entry: 2000 queries over all of them.
    let mut client = dns::Client::new(world.pdns.address());
    for n in 0..QUERIES {
        let viewer = viewer(n);
        let IpAddr::V4(v4) = viewer else { panic!() };
        let first = format!("10.{}.0.0", v4.octets()[1]);
        let expected = if gone.contains(&&first) { EDGES[1].1 } else { EDGES[0].1 };
        let answer = client.ask("cdn.example.com", viewer).unwrap();
        assert_eq!(answer.addresses, [expected.parse::<IpAddr>().unwrap()], "{viewer}");
    }
    // A restart forgets nothing of it, and `explain` says it.
    let shed_one = gone[0].clone();
    let told = world.plant.run(&["explain", &shed_one]).expect(0).stdout;
    assert!(told.contains("hands a part"), "{told}");
    drop(world.daemon);
    let again: Value = serde_json::from_str(&world.plant.site.table()).unwrap();
    assert_eq!(tokens(&again), groups);
    let _daemon = world.plant.daemon();
    let again: Value = serde_json::from_str(&world.plant.site.table()).unwrap();
    assert_eq!(tokens(&again), groups);
    world.loads.change("e1", |edge| edge.p95_ms = 10.0);
    wait_for("all of it back", || {
        let table: Value = serde_json::from_str(&world.plant.site.table()).unwrap();
        tokens(&table).values().collect::<std::collections::BTreeSet<_>>().len() == 1
    });
}

#[test]
fn a_pin_keeps_the_weights_and_a_drain_goes_before_them() {
    if !have("a_pin_keeps_the_weights_and_a_drain_goes_before_them", PROGRAMS) {
        return;
    }
    let world = World::start("policy = \"loadnear\"\nd = 2\n");
    world.wait_weights("the weights of loadnear", |weights| !weights.contains_key("e3"));
    let before = world.settle();
    world.plant.run(&["freeze", "--reason", "maintenance"]).expect(0);
    world.loads.change("e2", |edge| edge.base = 900.0);
    let read = || world.plant.status()["steering"][0]["read"].clone();
    for _ in 0..3 {
        let last = read();
        wait_for("another reading", || read() != last);
    }
    assert_eq!(world.weights(), before);
    assert_eq!(world.plant.status()["steering"][0]["pinned"], true);
    world.plant.run(&["edge", "drain", "e2", "--reason", "broken"]).expect(0);
    assert!(!world.weights().contains_key("e2"), "{:?}", world.weights());
    world.plant.run(&["unfreeze"]).expect(0);
    let last = read();
    wait_for("another reading", || read() != last);
    assert!(!world.weights().contains_key("e2"), "{:?}", world.weights());
    world.plant.run(&["edge", "undrain", "e2"]).expect(0);
    world.loads.change("e2", |edge| edge.base = 100.0);
    world.wait_weights("e2 again", |weights| weights.get("e2").is_some_and(|weight| *weight > 40));
}

/// Without a daemon one poll reads the loads too, and moves one step.
#[test]
fn a_poll_steers_once() {
    if !have("a_poll_steers_once", &["snmpd"]) {
        return;
    }
    let pools = pools();
    let plant = Plant::new(&[("bas-a", "centre", &pools)]);
    let snmpd = Snmpd::start("", None);
    let loads =
        Loads::start(&[("e1", edge(0, 200.0)), ("e2", edge(1, 100.0))], DEMAND, Scratch::new().join("none"));
    let text = configuration(
        &plant.address("bas-a").to_string(),
        &loads,
        &snmpd,
        "policy = \"greedy\"\nstep = \"10%\"\n",
        "",
    );
    plant.site.configure(&text);
    let equal = BTreeMap::from(EDGES.map(|(edge, _)| (edge.to_owned(), 1)));
    let mut before = equal;
    for _ in 0..3 {
        plant.run(&["poll"]).expect(0);
        let found = &plant.json(0, &["lookup", "10.1.0.9"])[0];
        let edges = found["edges"].as_array().unwrap().iter().map(|edge| edge.as_str().unwrap().to_owned());
        let weights = found["weights"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap());
        let now: BTreeMap<String, u64> = edges.zip(weights).collect();
        let step = moved(&before, &now);
        assert!(step > 0.05 && step <= 0.1 + 0.011, "from {before:?} to {now:?}");
        // Nearly nothing of a capacity that nobody fills.
        assert!(now["e3"] > before["e3"]);
        before = now;
    }
}
