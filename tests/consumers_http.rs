//! HTTP servers with the configurations that we ship: where they send thousands of viewers
//! against a slow scan, before and after a change.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

mod support;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use poolsync::publish::{Argv, Canary, Export, Failure, FailureReason, Published, State, TableFormat};
use support::consumer::{BOTH, World, compare, example, export, publish_cold, publish_now, published};
use support::program::wait_for;
use support::scratch::{Scratch, free_port};
use support::{haproxy, have, http, nginx, which};

const GROUPS: [&str; 3] = ["gz-01", "gz-02", BOTH];

fn world() -> World {
    World::new(["10.0.0.0/8", "2001:db8::/32"], &GROUPS, 180)
}

/// A redirect has room for one edge: a group's nearest.
fn right(edges: &[&str], _viewer: IpAddr) -> Vec<String> {
    edges.iter().take(1).map(|edge| format!("http://{edge}.example.net/v/a.ts")).collect()
}

fn check(server: SocketAddr, world: &World) {
    let mut client = http::Client::new(server);
    let ask = |viewer| nginx::redirect(&mut client, "/v/a.ts", viewer).into_iter().collect();
    compare(world, &world.viewers(2500), ask, right);
}

fn failure(published: Published) -> Failure {
    match published.state {
        State::Failed(failure) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

fn impatient(export: &Export) -> Export {
    let canary = export.canary.clone().map(|canary| Canary { timeout: Duration::from_millis(500), ..canary });
    Export { canary, ..export.clone() }
}

/// HAProxy draws one of a group's edges by weight.
fn check_drawn(server: SocketAddr, world: &World) {
    let mut client = http::Client::new(server);
    let ask = |viewer| nginx::redirect(&mut client, "/v/a.ts", viewer).into_iter().collect();
    let any =
        |edges: &[&str], _| edges.iter().map(|edge| format!("http://{edge}.example.net/v/a.ts")).collect();
    compare(world, &world.viewers(2500), ask, any);
}

/// Three in four go to the first of two edges; six deviations off is a false alarm once in 500
/// million times.
fn shares_are_drawn(server: SocketAddr, world: &World) {
    let viewer = world.viewers(0).into_iter().find(|viewer| world.group(*viewer) == BOTH).unwrap();
    let mut client = http::Client::new(server);
    let first = right(&["gz-01"], viewer);
    let count = 2000;
    let found =
        (0..count).filter(|_| nginx::redirect(&mut client, "/v/a.ts", viewer) == first.first().cloned());
    let off = (found.count() as f64 - 1500.0).abs();
    assert!(off <= 6.0 * (f64::from(count) * 0.75 * 0.25).sqrt(), "off by {off}");
}

#[test]
fn haproxy_takes_new_maps_by_its_socket() {
    if !have("haproxy_takes_new_maps_by_its_socket", &["haproxy"]) {
        return;
    }
    let scratch = Scratch::new();
    let plan = haproxy::Plan::new(&scratch);
    let socket = plan.socket();
    let url = format!("http://{}/", plan.address());
    let changes = [("/run/haproxy/poolsync.sock", socket.as_str()), ("http://127.0.0.1:80/", &url)];
    let export = export(&scratch, "haproxy/poolsync.toml", &changes);
    let mut world = world();
    publish_cold(&export, &world.snapshot(1));
    let mut server = plan.start();
    check_drawn(plan.address(), &world);
    shares_are_drawn(plan.address(), &world);

    // Few changes: one by one.
    world.change(&GROUPS);
    let first = published(publish_now(&export, &world.snapshot(2)));
    assert!(first.confirmed.is_some());
    check_drawn(plan.address(), &world);
    let path = scratch.join("export/edge.map").display().to_string();
    let line = |plan: &haproxy::Plan| {
        let maps = plan.ask("show map");
        maps.lines().find(|line| line.contains(&path)).unwrap_or_else(|| panic!("{maps}")).to_owned()
    };
    assert!(line(&plan).contains("curr_ver=0 "), "one by one there is no new version: {}", line(&plan));
    assert!(line(&plan).ends_with(&format!("entry_cnt={}", first.table.rows)), "{}", line(&plan));

    // A row that no file knows: the map is replaced as a whole, and the row is gone.
    plan.ask(&format!("add map {path} 203.0.113.0/24 gz-02"));
    world.change(&GROUPS);
    let second = published(publish_now(&export, &world.snapshot(3)));
    check_drawn(plan.address(), &world);
    assert!(line(&plan).ends_with(&format!("entry_cnt={}", second.table.rows)), "{}", line(&plan));
    assert!(!line(&plan).contains("curr_ver=0 "), "{}", line(&plan));
    assert!(plan.ask(&format!("get map {path} 203.0.113.7")).contains("found=no"));

    // Published again it changes nothing, and no row is there twice.
    assert!(matches!(publish_now(&export, &world.snapshot(4)).state, State::Unchanged(_)));
    assert!(line(&plan).ends_with(&format!("entry_cnt={}", second.table.rows)));

    // Started anew it reads the files, which say the same.
    drop(server);
    server = plan.start();
    check_drawn(plan.address(), &world);

    // Behind the canary's back somebody else answers: the maps before come back.
    let before = world.clone();
    world.change(&GROUPS);
    let elsewhere = Export {
        canary: Some(Canary {
            timeout: Duration::from_millis(300),
            ..Canary::new(poolsync::publish::Query::Http(format!("http://127.0.0.1:{}/", free_port())))
        }),
        ..export.clone()
    };
    let told = failure(publish_now(&elsewhere, &world.snapshot(5)));
    assert_eq!(told.reason, FailureReason::Canary, "{told}");
    assert!(told.detail.ends_with("the files before are back, and reloaded"), "{told}");
    check_drawn(plan.address(), &before);

    // A HAProxy that is not there is a failure, and the file before comes back.
    drop(server);
    let told = failure(publish_now(&export, &world.snapshot(6)));
    assert_eq!(told.reason, FailureReason::Haproxy, "{told}");
    assert!(told.detail.contains("sock: "), "{told}");
    let _server = plan.start();
    check_drawn(plan.address(), &before);
    published(publish_now(&export, &world.snapshot(7)));
    check_drawn(plan.address(), &world);
}

/// A map of many rows goes in pieces, within one transaction: nobody is sent by half of it.
#[test]
fn a_large_map_is_replaced_at_once() {
    if !have("a_large_map_is_replaced_at_once", &["haproxy"]) {
        return;
    }
    let scratch = Scratch::new();
    let plan = haproxy::Plan::new(&scratch);
    let socket = plan.socket();
    let url = format!("http://{}/", plan.address());
    let changes = [("/run/haproxy/poolsync.sock", socket.as_str()), ("http://127.0.0.1:80/", &url)];
    let export = export(&scratch, "haproxy/poolsync.toml", &changes);
    // Every other /28 of 10.0.0.0/13: all of them change their group each time.
    let table = |generation: u64, group: &'static str| {
        let mut world = World::new(["10.0.0.0/8", "2001:db8::/32"], &GROUPS, 0);
        for at in 0..16_384u32 {
            let net = Ipv4Addr::from(0x0a00_0000 + at * 32);
            world.put(&format!("{net}/28"), group);
        }
        world.flat_snapshot(generation)
    };
    publish_cold(&export, &table(1, "gz-01"));
    let _server = plan.start();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            // Two viewers, the first and the last row, asked in turn: in no moment has the
            // last one the new group before the first, or the first long before the last.
            let mut client = http::Client::new(plan.address());
            let mut asked = 0;
            while !done.load(Ordering::Relaxed) {
                let of = |client: &mut http::Client, ip: &str| {
                    nginx::redirect(client, "/", ip.parse().unwrap()).unwrap()
                };
                let ends = [
                    of(&mut client, "10.0.0.1"),
                    of(&mut client, "10.7.255.225"),
                    of(&mut client, "10.0.0.1"),
                ];
                assert!(ends[0] == ends[1] || ends[1] == ends[2], "{ends:?}");
                assert!(ends.iter().all(|end| !end.contains("centre")), "{ends:?}");
                asked += 1;
            }
            asked
        });
        for generation in 2..8 {
            let group = if generation % 2 == 0 { "gz-02" } else { "gz-01" };
            let manifest = published(publish_now(&export, &table(generation, group)));
            assert_eq!(manifest.table.rows, 16_384);
        }
        done.store(true, Ordering::Relaxed);
        assert!(watch.join().unwrap() > 50);
    });
}

fn nginx_export(scratch: &Scratch, file: &str, plan: &nginx::Plan) -> Export {
    let words = plan.reload().iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    let reload = format!("[{words}]");
    let url = format!("http://{}/", plan.address());
    let changes = [("[\"nginx\", \"-s\", \"reload\"]", reload.as_str()), ("http://127.0.0.1:80/", &url)];
    export(scratch, file, &changes)
}

fn listening(scratch: &Scratch, file: &str, more: &[(&str, &str)]) -> (SocketAddr, String) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let folder = scratch.folder("export").display().to_string();
    let listen = format!("listen {address};");
    let mut changes = vec![("/var/lib/poolsync/export", folder.as_str()), ("listen 80;", &listen)];
    changes.extend_from_slice(more);
    (address, example(file, &changes))
}

fn follows_a_change(export: &Export, plan: &nginx::Plan, mut world: World) {
    publish_cold(export, &world.snapshot(1));
    let mut server = plan.start();
    check(plan.address(), &world);
    world.change(&GROUPS);
    assert!(published(publish_now(export, &world.snapshot(2))).confirmed.is_some());
    nginx::settled(&mut server);
    check(plan.address(), &world);
    // Somebody's script that breaks the groups: nginx keeps what it had, and so do the files.
    let before = world.clone();
    world.change(&GROUPS);
    let script = format!("echo '}}' >> {{groups}}; {}", plan.reload().join(" "));
    let argv = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let bad = Export { reload: Some(Argv::new(argv).unwrap()), ..impatient(export) };
    let told = failure(publish_now(&bad, &world.snapshot(3)));
    assert!(matches!(told.reason, FailureReason::Reload | FailureReason::Canary), "{told}");
    let mut client = http::Client::new(plan.address());
    let viewer = before.viewers(2500).into_iter().find(|v| before.group(*v) != world.group(*v)).unwrap();
    assert_eq!(nginx::redirect(&mut client, "/v/a.ts", viewer), right(before.edges(viewer), viewer).pop());
    published(publish_now(export, &world.snapshot(4)));
    nginx::settled(&mut server);
    check(plan.address(), &world);
}

#[test]
fn nginx_redirects_by_its_geo_block() {
    if !have("nginx_redirects_by_its_geo_block", &["nginx"]) {
        return;
    }
    let scratch = Scratch::new();
    let (address, text) = listening(&scratch, "nginx/poolsync.conf", &[]);
    let plan = nginx::Plan::around(&scratch, address, &text, "");
    let export = nginx_export(&scratch, "nginx/poolsync.toml", &plan);
    follows_a_change(&export, &plan, world());
}

#[test]
fn nginx_redirects_by_a_database() {
    if !have("nginx_redirects_by_a_database", &["nginx", "nginx-module-geoip2", "mmdblookup"]) {
        return;
    }
    let scratch = Scratch::new();
    let (address, text) = listening(&scratch, "nginx/geoip2.conf", &[]);
    let module = format!("load_module {};\n", which("nginx-module-geoip2").unwrap().display());
    let plan = nginx::Plan::around(&scratch, address, &text, &module);
    let export = nginx_export(&scratch, "nginx/geoip2.toml", &plan);
    follows_a_change(&export, &plan, world());
}

/// nginx compiles a large file of ranges into one beside it, and takes that for the newer one
/// within the same second.
#[test]
fn nginx_never_serves_a_stale_compiled_table() {
    if !have("nginx_never_serves_a_stale_compiled_table", &["nginx"]) {
        return;
    }
    let scratch = Scratch::new();
    let ranges = [("    default centre;", "    ranges;\n    default centre;")];
    let (address, text) = listening(&scratch, "nginx/poolsync.conf", &ranges);
    let plan = nginx::Plan::around(&scratch, address, &text, "");
    let export = Export {
        format: TableFormat::from(poolsync::format::by_name("nginx-geo-ranges").unwrap()),
        ..nginx_export(&scratch, "nginx/poolsync.toml", &plan)
    };
    // Above 100,000 rows nginx compiles.
    let table = |generation: u64, group: &'static str| {
        let mut world = World::new(["10.0.0.0/8", "2001:db8::/32"], &GROUPS, 0);
        for at in 0..100_010u32 {
            let net = Ipv4Addr::from(0x0a00_0000 + at * 32);
            world.put(&format!("{net}/28"), group);
        }
        world.flat_snapshot(generation)
    };
    publish_cold(&export, &table(1, "gz-01"));
    let _server = plan.start();
    assert!(scratch.join("export/edges.conf.bin").exists(), "nginx compiles tables of this size");
    for generation in 2..6 {
        let group = if generation % 2 == 0 { "gz-02" } else { "gz-01" };
        // The canary asks nginx itself.
        published(publish_now(&export, &table(generation, group)));
    }
}

/// While the file is replaced, whoever downloads it gets one generation, whole.
#[test]
fn traffic_router_downloads_whole_files() {
    if !have("traffic_router_downloads_whole_files", &["nginx", "python3"]) {
        return;
    }
    let scratch = Scratch::new();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let folder = scratch.folder("export").display().to_string();
    let listen = format!("listen {address};");
    let changes = [("/var/lib/poolsync/export", folder.as_str()), ("listen 8088;", &listen)];
    let plan = nginx::Plan::around(&scratch, address, &example("traffic-control/nginx.conf", &changes), "");
    let python = format!("{:?}", which("python3").unwrap().display().to_string());
    let export = export(&scratch, "traffic-control/poolsync.toml", &[("\"python3\"", &python)]);
    let mut world = world();
    publish_cold(&export, &world.snapshot(1));
    let line = plan.start_command();
    let mut server = support::program::Program::start(
        std::process::Command::new(&line[0]).args(&line[1..]),
        &scratch.join("nginx.log"),
    );
    let get = || http::Client::new(address).get("/czf.json", &[]);
    server.wait_ready("the file", || get().is_some_and(|response| response.status == 200));
    let done = AtomicBool::new(false);
    let format = poolsync::format::by_name("czf").unwrap();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let (mut count, mut tags) = (0, std::collections::BTreeSet::new());
                    while !done.load(Ordering::Relaxed) {
                        let response = get().unwrap();
                        assert_eq!(response.status, 200);
                        format.read(&response.body).unwrap();
                        let text = String::from_utf8(response.body.clone()).unwrap();
                        tags.insert((
                            response.header("etag").unwrap().to_owned(),
                            text.lines().next().unwrap().to_owned(),
                        ));
                        count += 1;
                    }
                    (count, tags.len())
                })
            })
            .collect();
        for generation in 2..22 {
            world.change(&GROUPS);
            published(publish_now(&export, &world.snapshot(generation)));
        }
        done.store(true, Ordering::Relaxed);
        let seen: Vec<(usize, usize)> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        assert!(seen.iter().all(|(count, tags)| *count > 20 && *tags > 1), "{seen:?}");
    });
    // Read as Traffic Router does: the longest prefix of all zones.
    let body = get().unwrap().body;
    let zones: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let zones = zones["coverageZones"].as_object().unwrap();
    let mut nets: Vec<(ipnet::IpNet, &str)> = Vec::new();
    for (name, zone) in zones {
        for list in ["network", "network6"] {
            let list = zone[list].as_array().unwrap().iter();
            nets.extend(list.map(|net| (net.as_str().unwrap().parse().unwrap(), name.as_str())));
        }
    }
    for viewer in world.viewers(2500) {
        let found =
            nets.iter().filter(|(net, _)| net.contains(&viewer)).max_by_key(|(net, _)| net.prefix_len());
        assert_eq!(found.map_or("centre", |(_, name)| *name), world.group(viewer), "{viewer}");
    }
    // A file that does not parse is never put in place.
    let checker =
        ["sh", "-c", "truncate -s 100 \"$0\"; exec python3 -m json.tool \"$0\" /dev/null", "{file}"];
    let bad = Export { check: Some(Argv::checker(checker.map(str::to_owned).to_vec()).unwrap()), ..export };
    world.change(&GROUPS);
    assert_eq!(failure(publish_now(&bad, &world.snapshot(30))).reason, FailureReason::Check);
    wait_for("the file before", || get().is_some_and(|response| response.body == body));
}
