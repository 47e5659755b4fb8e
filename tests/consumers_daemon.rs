//! All consumers at once behind one running daemon, with the configurations that we ship:
//! what routers list is polled, published to every server by its own `[export]` section, and
//! what the servers answer thousands of viewers is compared with a slow scan over the routers'
//! own rows; before and after a change.
//!
//! It runs in a network of its own, in which clients can have any address: some servers know
//! a viewer by the packet's source alone.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

mod support;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use serde_json::Value;
use support::consumer::{BOTH, EDGES, NAME, World, addresses, dns_right, example};
use support::network::{BLOCKS, run_apart};
use support::program::Program;
use support::scratch::{Scratch, free_port};
use support::site::Site;
use support::snmprec::{Range, cisco_pools};
use support::{
    bind, cisco, dns, dnsdist, gdnsd, haproxy, have, http, knot, nginx, pdns, poolsync, unbound, which,
};

const NEEDS: &[&str] = &[
    "knotd",
    "knotc",
    "knot-module-geoip",
    "pdns_server",
    "pdns_control",
    "pdns-geoip",
    "gdnsd",
    "gdnsdctl",
    "named",
    "rndc",
    "named-checkconf",
    "nginx",
    "nginx-module-geoip2",
    "haproxy",
    "unbound",
    "unbound-control",
    "unbound-checkconf",
    "dnsdist",
    "mmdblookup",
    "python3",
];

/// Each router: its name, and the edges that stand by it, nearest first.
const ROUTERS: [(&str, &[&str]); 3] =
    [("gz-1", &["gz-01"]), ("gz-2", &["gz-02"]), ("both-1", &["gz-01", "gz-02"])];
const GROUPS: [&str; 3] = ["gz-01", "gz-02", BOTH];

/// How long a change may take until every server answers anew: the slowest begins anew.
const PATIENCE: Duration = Duration::from_secs(180);

#[test]
fn every_consumer_answers_as_the_routers_list() {
    const TEST: &str = "every_consumer_answers_as_the_routers_list";
    if have(TEST, NEEDS) {
        run_apart(TEST, "all_consumers_at_once");
    }
}

/// The routers, by what they list.
struct Fleet {
    routers: Vec<cisco::Router>,
}

impl Fleet {
    fn start(scratch: &Scratch, world: &World) -> Self {
        let start = |(name, group): (&str, &str)| cisco::Router::start(scratch, name, &pools(world, group));
        let names = ROUTERS.iter().map(|(name, _)| *name);
        Self { routers: names.zip(GROUPS).map(start).collect() }
    }

    fn set(&self, world: &World) {
        for ((router, (name, _)), group) in self.routers.iter().zip(ROUTERS).zip(GROUPS) {
            router.set(name, &pools(world, group));
        }
    }

    /// What is right, from the routers' own rows.
    fn truth(&self) -> Truth {
        let mut ranges = Vec::new();
        for (router, (name, edges)) in self.routers.iter().zip(ROUTERS) {
            ranges.extend(cisco_pools(router.rows()).into_iter().map(|range| (range, name, edges)));
        }
        Truth { ranges }
    }
}

/// The prefixes of a group, as pools of the router that stands for it.
fn pools(world: &World, group: &str) -> Vec<Range> {
    let own = world.prefixes().filter(|(_, of)| *of == group).enumerate();
    own.map(|(at, (net, _))| {
        Range::new(&format!("p{at}"), &net.network().to_string(), &net.broadcast().to_string())
    })
    .collect()
}

struct Truth {
    ranges: Vec<(Range, &'static str, &'static [&'static str])>,
}

impl Truth {
    /// The edges that may answer a viewer: those of the smallest range that holds it, among
    /// routers whose name begins so.
    fn edges(&self, viewer: IpAddr, of: &str) -> &'static [&'static str] {
        let size = |range: &Range| bits(range.last) - bits(range.first);
        let holding = self.ranges.iter().filter(|(range, ..)| range.contains(viewer));
        match holding.min_by_key(|(range, ..)| size(range)) {
            Some((_, router, edges)) if router.starts_with(of) => edges,
            _ => &["centre"],
        }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u32::from(v4).into(),
        IpAddr::V6(v6) => v6.into(),
    }
}

/// How a server is asked, and what is right.
struct Asked<'a> {
    name: &'a str,
    ask: Box<dyn FnMut(IpAddr) -> Vec<String> + 'a>,
    right: fn(&[&str], IpAddr) -> Vec<String>,
    /// Only viewers that a client of this network can be.
    sourced: bool,
    /// Only what routers list whose name begins so is in its table.
    of: &'a str,
}

impl Asked<'_> {
    /// What it answers wrongly, and how often it was asked for each first edge.
    fn wrong(&mut self, viewers: &[IpAddr], truth: &Truth) -> (Vec<String>, BTreeMap<&'static str, usize>) {
        let blocks: Vec<IpNet> = BLOCKS.iter().map(|block| block.parse().unwrap()).collect();
        let (mut wrong, mut asked) = (Vec::new(), BTreeMap::new());
        for viewer in viewers {
            if self.sourced && !blocks.iter().any(|block| block.contains(viewer)) {
                continue;
            }
            let edges = truth.edges(*viewer, self.of);
            *asked.entry(edges[0]).or_default() += 1;
            let (answers, right) = ((self.ask)(*viewer), (self.right)(edges, *viewer));
            if answers.is_empty() || !answers.iter().all(|answer| right.contains(answer)) {
                wrong.push(format!("{viewer} is answered {answers:?}, right is {right:?}"));
            }
        }
        (wrong, asked)
    }
}

fn redirects(edges: &[&str], _viewer: IpAddr) -> Vec<String> {
    vec![format!("http://{}.example.net/v/a.ts", edges[0])]
}

fn zones(edges: &[&str], _viewer: IpAddr) -> Vec<String> {
    vec![edges.join("+")]
}

/// Asks every server for every viewer. What is on its way to a server is waited for: some
/// begin to answer anew after their reload has come back, and old workers of nginx end their
/// connections in their own time. But all of it must be right in the end.
fn check_all(asked: &mut [Asked<'_>], viewers: &[IpAddr], truth: &Truth) {
    for one in asked {
        let end = Instant::now() + PATIENCE;
        loop {
            let (wrong, counts) = one.wrong(viewers, truth);
            if wrong.is_empty() {
                assert!(counts.len() >= 3 && counts.values().all(|n| *n >= 50), "{}: {counts:?}", one.name);
                break;
            }
            let some = wrong[..wrong.len().min(5)].join("\n");
            assert!(
                Instant::now() < end,
                "{}: {} of {} wrong:\n{some}",
                one.name,
                wrong.len(),
                viewers.len()
            );
        }
    }
}

/// An example's section, under a name of its own.
fn section(file: &str, folder: &Scratch, name: &str, changes: &[(&str, &str)]) -> String {
    let export = folder.folder("export").display().to_string();
    let mut all = vec![("/var/lib/poolsync/export", export.as_str())];
    all.extend_from_slice(changes);
    let text = example(file, &all);
    // Asked every second between publications, so that the test sees many rounds of it.
    let text = ["10s", "20s"].iter().fold(text, |text, time| {
        text.replace(&format!("timeout = \"{time}\" }}"), &format!("timeout = \"{time}\", every = \"1s\" }}"))
    });
    let begin = text.find("\n[export.").unwrap() + 1;
    let end = begin + text[begin..].find(']').unwrap();
    format!("{}[export.{name}]{}\n", &text[..begin], &text[end + 1..])
}

fn words(command: &[String]) -> String {
    command.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

fn quoted(program: &str) -> String {
    format!("{:?}", which(program).unwrap().display().to_string())
}

fn configuration(fleet: &Fleet) -> String {
    let mut text = r#"default-edge = "centre"
[store]
path = "poolsync.db"
[control]
socket = "control.sock"
[poll]
interval = "2s"
batch = "100ms"
[guard]
# The test's routers have just booted, and change at will.
settle = "0s"
remove = "100%"
remove-bas = "100%"
move = "100%"
add = "1000%"
add-bas = "1000%"
[snmp.lab]
version = "2c"
community = "public"
"#
    .to_owned();
    for (edge, _) in EDGES {
        let addresses = addresses(edge).map(|address| address.to_string());
        text += &format!("[edge.{edge}]\naddresses = {addresses:?}\nhost = \"{edge}.example.net\"\n");
    }
    for (router, (name, edges)) in fleet.routers.iter().zip(ROUTERS) {
        text +=
            &format!("[bas.{name}]\naddress = \"{}\"\nsnmp = \"lab\"\nedges = {edges:?}\n", router.address());
    }
    text
}

/// How the exports stand, as `status` has it: each one's state and generation.
fn standing(site: &Site) -> (u64, BTreeMap<String, (String, u64)>) {
    let status = site.run(&["status", "--json"]).expect(0).json();
    let exports = status["exports"].as_array().unwrap().iter().map(|export| {
        let text = |key: &str| export[key].as_str().unwrap_or_default().to_owned();
        (text("name"), (text("state"), export["generation"].as_u64().unwrap_or(0)))
    });
    (status["generation"].as_u64().unwrap(), exports.collect())
}

/// Waits until every export has published what is newest, and that is newer than `than`.
fn wait_published(site: &Site, daemon: &mut Program, than: u64) -> u64 {
    let end = Instant::now() + PATIENCE;
    loop {
        let (generation, exports) = standing(site);
        let done = |(state, of): &(String, u64)| state == "published" && *of == generation;
        if generation > than && exports.values().all(done) {
            return generation;
        }
        assert!(daemon.runs(), "{}", daemon.log());
        assert!(Instant::now() < end, "generation {generation}: {exports:?}\n{}", daemon.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "run by the test above, in a network of its own"]
#[allow(clippy::too_many_lines)] // one server after the other, each in a few lines
fn all_consumers_at_once() {
    let site = Scratch::new();
    let mut world = World::new(BLOCKS, &GROUPS, 180);
    let fleet = Fleet::start(&site, &world);
    let mut text = configuration(&fleet);
    let [k, p, g, b, n, n2, h, u, d, t] = std::array::from_fn::<_, 10, _>(|_| Scratch::new());

    // Each server with its own folder, and its `[export]` as shipped but for places.
    let dns_canary = |address: SocketAddr| format!("dns = \"{address}\"");
    let http_canary = |address: SocketAddr| format!("http://{address}/");
    let export = k.folder("export");
    let knot = knot::Plan::new(&k, &export.join("gslb.mmdb"), &export.join("geo.conf"));
    let (reload, canary) = (format!("reload = [{}]", words(&knot.reload())), dns_canary(knot.address()));
    let changes =
        [("reload = [\"knotc\", \"reload\"]", reload.as_str()), ("dns = \"127.0.0.1:53\"", &canary)];
    text += &section("knot/poolsync.toml", &k, "knot", &changes);

    let pdns = pdns::Plan::new(&p);
    let (control, canary) = (pdns.control(), dns_canary(pdns.address()));
    let changes = [("\"pdns_control\"", control.as_str()), ("dns = \"127.0.0.1:53\"", &canary)];
    text += &section("pdns/poolsync.toml", &p, "pdns", &changes);

    let gdnsd = gdnsd::Plan::new(&g);
    let (gdnsdctl, folder, canary) = (quoted("gdnsdctl"), gdnsd.folder(), dns_canary(gdnsd.address()));
    let changes =
        [("\"gdnsdctl\"", gdnsdctl.as_str()), ("/etc/gdnsd", &folder), ("dns = \"127.0.0.1:53\"", &canary)];
    text += &section("gdnsd/poolsync.toml", &g, "gdnsd", &changes);

    let bind = bind::Plan::new(&b);
    let checkconf = quoted("named-checkconf");
    let changes = [("\"rndc\"", bind.rndc()), ("\"named-checkconf\"", &checkconf)];
    // Its views are written by hand: one for each edge, none for the group of two.
    text += &(section("bind/poolsync.toml", &b, "bind", &changes) + "only = [\"gz-*\"]\n");

    let plan = |scratch: &Scratch, file: &str, port: &str, before: &str| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let (folder, listen) = (scratch.folder("export").display().to_string(), format!("listen {address};"));
        let changes = [("/var/lib/poolsync/export", folder.as_str()), (port, listen.as_str())];
        nginx::Plan::around(scratch, address, &example(file, &changes), before)
    };
    let nginx = plan(&n, "nginx/poolsync.conf", "listen 80;", "");
    let module = format!("load_module {};\n", which("nginx-module-geoip2").unwrap().display());
    let geoip2 = plan(&n2, "nginx/geoip2.conf", "listen 80;", &module);
    for (plan, scratch, file, name) in
        [(&nginx, &n, "nginx/poolsync.toml", "nginx"), (&geoip2, &n2, "nginx/geoip2.toml", "nginx-geoip2")]
    {
        let (reload, url) = (format!("[{}]", words(&plan.reload())), http_canary(plan.address()));
        let changes = [("[\"nginx\", \"-s\", \"reload\"]", reload.as_str()), ("http://127.0.0.1:80/", &url)];
        text += &section(file, scratch, name, &changes);
    }

    let haproxy = haproxy::Plan::new(&h);
    let (socket, url) = (haproxy.socket(), http_canary(haproxy.address()));
    let changes = [("/run/haproxy/poolsync.sock", socket.as_str()), ("http://127.0.0.1:80/", &url)];
    text += &section("haproxy/poolsync.toml", &h, "haproxy", &changes);

    let unbound = unbound::Plan::allowing(&u, &BLOCKS);
    let (control, checkconf) = (unbound.control(), quoted("unbound-checkconf"));
    let changes = [("\"unbound-control\"", control.as_str()), ("\"unbound-checkconf\"", &checkconf)];
    text += &section("unbound/poolsync.toml", &u, "unbound", &changes);

    let dnsdist = dnsdist::Plan::new(&d);
    let changes = dnsdist.changes();
    let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
    text += &section("dnsdist/poolsync.toml", &d, "dnsdist", &changes);

    let czf = plan(&t, "traffic-control/nginx.conf", "listen 8088;", "");
    let python = quoted("python3");
    text += &section("traffic-control/poolsync.toml", &t, "traffic-router", &[("\"python3\"", &python)]);

    // The first day: no server runs, since none of its files is there. The daemon writes them
    // whatever the servers' own commands say.
    let site = Site::new(site, &text);
    let mut daemon = poolsync::daemon(&site.config, &site.scratch.join("daemon.log"));
    daemon.wait_ready("the first files", || {
        site.scratch.join("control.sock").exists() && {
            let (generation, exports) = standing(&site);
            generation > 0 && exports.len() == 10 && exports.values().all(|(state, _)| state != "missing")
        }
    });
    let (_, first) = standing(&site);
    assert_eq!(first["knot"].0, "failed", "nobody is there to be told: {first:?}");
    let mut servers = [nginx.start(), geoip2.start()];
    let line = czf.start_command();
    let mut files = Program::start(Command::new(&line[0]).args(&line[1..]), &t.join("log"));
    files.wait_ready("the file", || http::Client::new(czf.address()).get("/czf.json", &[]).is_some());
    let _others =
        [knot.start(), pdns.start(), bind.start(), haproxy.start(), unbound.start(), dnsdist.start()];
    let _gdnsd = gdnsd.start();
    // Told to poll, it tries those again that failed.
    let poll = site.run(&["poll", "--json"]).expect(0).json();
    let published = poll["published"].as_array().unwrap();
    assert_eq!(published.len(), 10, "{poll}");
    let fine = |one: &Value| one["state"] == "published" || one["state"] == "unchanged";
    assert!(published.iter().all(fine), "{poll}");

    let mut asked: Vec<Asked<'_>> = Vec::new();
    for (name, address) in
        [("Knot", knot.address()), ("PowerDNS", pdns.address()), ("gdnsd", gdnsd.address())]
    {
        let mut client = dns::Client::new(address);
        let ask = move |viewer| {
            let answer = client.ask(NAME, viewer).unwrap_or_else(|| panic!("{name}: no answer for {viewer}"));
            // For everybody: a resolver would give it to everybody.
            assert!(answer.scope.is_some_and(|scope| scope > 0), "{name}: {viewer}: {:?}", answer.scope);
            answer.addresses.iter().map(ToString::to_string).collect()
        };
        asked.push(Asked { name, ask: Box::new(ask), right: dns_right, sourced: false, of: "" });
    }
    for (name, address) in
        [("nginx", nginx.address()), ("nginx geoip2", geoip2.address()), ("HAProxy", haproxy.address())]
    {
        // A connection each: an old worker keeps those that it has.
        let ask = move |viewer| {
            nginx::redirect(&mut http::Client::new(address), "/v/a.ts", viewer).into_iter().collect()
        };
        asked.push(Asked { name, ask: Box::new(ask), right: redirects, sourced: false, of: "" });
    }
    let ask = |viewer| bind.ask_from(viewer);
    asked.push(Asked { name: "BIND", ask: Box::new(ask), right: dns_right, sourced: true, of: "gz-" });
    let ask = |viewer| unbound.ask_from(viewer);
    asked.push(Asked { name: "Unbound", ask: Box::new(ask), right: dns_right, sourced: true, of: "" });
    let ask = |viewer| dnsdist.ask_from(viewer);
    asked.push(Asked { name: "dnsdist", ask: Box::new(ask), right: dns_right, sourced: true, of: "" });
    let mut router = TrafficRouter { address: czf.address(), etag: String::new(), nets: Vec::new() };
    let ask = move |viewer| vec![router.edges(viewer)];
    asked.push(Asked { name: "Traffic Router", ask: Box::new(ask), right: zones, sourced: false, of: "" });

    let generation = wait_published(&site, &mut daemon, 0);
    servers.iter_mut().for_each(nginx::settled);
    check_all(&mut asked, &world.viewers(2500), &fleet.truth());

    // Prefixes go, change their routers, come: the daemon finds that out by itself.
    world.change(&GROUPS);
    fleet.set(&world);
    wait_published(&site, &mut daemon, generation);
    servers.iter_mut().for_each(nginx::settled);
    check_all(&mut asked, &world.viewers(2500), &fleet.truth());

    // Every consumer that can be asked has confirmed that, and does so again and again, for other
    // addresses each time.
    let time = |value: &Value| value.as_str().map(|text| text.parse::<jiff::Timestamp>().unwrap());
    let end = Instant::now() + PATIENCE;
    for name in ["knot", "pdns", "gdnsd", "nginx", "nginx-geoip2", "haproxy"] {
        loop {
            let status = site.run(&["status", "--json"]).expect(0).json();
            let exports = status["exports"].as_array().unwrap();
            let export = exports.iter().find(|export| export["name"] == name).unwrap();
            assert_eq!(export["state"], "published", "{export}");
            let (confirmed, changed) = (time(&export["confirmed"]), time(&export["changed"]));
            let since = confirmed.unwrap().duration_since(changed.unwrap());
            // The canary of the publication itself is asked before it is over.
            let took = export["effect"]["publish_s"].as_u64().unwrap();
            if since.as_secs() > took as i64 + 5 {
                break;
            }
            assert!(Instant::now() < end, "{export}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    for export in site.run(&["status", "--json"]).expect(0).json()["exports"].as_array().unwrap() {
        let name = export["name"].as_str().unwrap();
        let asks = !["bind", "unbound", "dnsdist", "traffic-router"].contains(&name);
        assert_eq!(export["confirmed_age_s"].is_u64(), asks, "{export}");
    }
}

/// Reads the coverage zone file as Traffic Router does: fetched anew where it changed, the
/// longest prefix of all zones.
struct TrafficRouter {
    address: SocketAddr,
    etag: String,
    nets: Vec<(IpNet, String)>,
}

impl TrafficRouter {
    fn edges(&mut self, viewer: IpAddr) -> String {
        let mut client = http::Client::new(self.address);
        let response = client.get("/czf.json", &[("If-None-Match", &self.etag)]).unwrap();
        if response.status == 200 {
            self.etag = response.header("etag").unwrap().to_owned();
            let file: Value = serde_json::from_slice(&response.body).unwrap();
            self.nets.clear();
            for (zone, lists) in file["coverageZones"].as_object().unwrap() {
                for net in ["network", "network6"].iter().flat_map(|list| lists[list].as_array().unwrap()) {
                    self.nets.push((net.as_str().unwrap().parse().unwrap(), zone.clone()));
                }
            }
        } else {
            assert_eq!(response.status, 304);
        }
        let holding = self.nets.iter().filter(|(net, _)| net.contains(&viewer));
        let zone = holding.max_by_key(|(net, _)| net.prefix_len()).map_or("centre", |(_, zone)| zone);
        // The group of both edges is the one whose token is no edge's name.
        if zone.starts_with("g-") { "gz-01+gz-02".to_owned() } else { zone.to_owned() }
    }
}
