//! The daemon: what it tells the service manager, how it stops, who may talk to it, and that
//! it polls on schedule.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::ffi::OsStr;
use std::io::{BufReader, Write as _};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::http::{Response, read_response};
use support::json::has_keys;
use support::program::{Program, wait_for};
use support::scratch::Scratch;
use support::site::{self, Site, configuration, content};
use support::{have, junose, poolsync, repository, which};

const ROUTER: &[&str] = &["snmpd", "python3"];

/// A daemon that a test plays service manager for.
struct Service {
    daemon: Program,
    notices: UnixDatagram,
    told: Vec<String>,
}

impl Service {
    fn start(site: &Site) -> Self {
        let path = site.scratch.join("notify.sock");
        let _ = std::fs::remove_file(&path);
        let notices = UnixDatagram::bind(&path).unwrap();
        notices.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut command = poolsync::command([OsStr::new("-c"), site.config.as_os_str(), OsStr::new("run")]);
        command.env("NOTIFY_SOCKET", &path);
        let daemon = Program::start(&mut command, &site.scratch.join("daemon.log"));
        let mut service = Self { daemon, notices, told: Vec::new() };
        service.wait_told("READY=1");
        service
    }

    /// Waits for a line of the service manager's protocol (sd_notify(3)).
    fn wait_told(&mut self, wanted: &str) {
        let (notices, told) = (&self.notices, &mut self.told);
        let mut look = || {
            let mut buffer = [0; 4096];
            if let Ok(length) = notices.recv(&mut buffer) {
                let text = String::from_utf8(buffer[..length].to_vec()).unwrap();
                told.extend(text.lines().map(str::to_owned));
            }
            told.iter().any(|line| line == wanted)
        };
        if wanted.starts_with("READY") {
            self.daemon.wait_ready(wanted, look);
        } else {
            wait_for(wanted, &mut look);
        }
    }
}

fn fast(router: &junose::Router) -> String {
    configuration(&[("bas-a", router.address(), "east")]).replacen(
        "[poll]\n",
        "[poll]\ninterval = \"1s\"\nbatch = \"100ms\"\n",
        1,
    )
}

fn site(pools: &[(&str, &str, &str)], interval_of_a_second: bool) -> (Site, junose::Router) {
    let (site, router) = site::with_router(pools);
    if interval_of_a_second {
        site.configure(&fast(&router));
    }
    (site, router)
}

const POOL: (&str, &str, &str) = ("pool1", "131.1.1.0", "131.1.10.255");

/// A request over the control socket, by hand.
fn ask(site: &Site, request: &str) -> Response {
    let mut stream = UnixStream::connect(site.scratch.join("control.sock")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    read_response(&mut BufReader::new(stream)).unwrap()
}

#[test]
fn it_says_ready_and_stopping_and_stops_soon() {
    if !have("it_says_ready_and_stopping_and_stops_soon", ROUTER) {
        return;
    }
    let (site, _router) = site(&[POOL], false);
    let mut service = Service::start(&site);
    let start = Instant::now();
    service.daemon.signal("TERM");
    service.wait_told("STOPPING=1");
    let status = service.daemon.wait_end(Duration::from_secs(10));
    assert_eq!(status.code(), Some(0), "{}", service.daemon.log());
    assert!(start.elapsed() < Duration::from_secs(5), "it took {:?}", start.elapsed());
    assert!(!site.scratch.join("control.sock").exists(), "its socket is gone");
    // It left the store in order, and another may have it now.
    site.run(&["poll"]).expect(0);
}

#[test]
fn it_stops_soon_while_a_router_is_silent() {
    let silent = [("silent", support::scratch::nobody(), "east")];
    let patient = configuration(&silent).replacen("timeout = \"300ms\"", "timeout = \"20s\"", 1).replacen(
        "deadline = \"10s\"",
        "deadline = \"60s\"",
        1,
    );
    let site = Site::new(Scratch::new(), &patient);
    let mut service = Service::start(&site);
    service.daemon.signal("TERM");
    assert_eq!(service.daemon.wait_end(Duration::from_secs(10)).code(), Some(0));
}

#[test]
fn it_polls_on_schedule_and_publishes_what_changes() {
    if !have("it_polls_on_schedule_and_publishes_what_changes", ROUTER) {
        return;
    }
    let (site, router) = site(&[POOL], true);
    let _service = Service::start(&site);
    let file = site.export("edges.conf");
    let says = |row: &str| std::fs::read_to_string(&file).is_ok_and(|text| text.contains(row));
    wait_for("the first table", || says("131.1.1.0/24 east;"));
    router.set(&[POOL, ("pool2", "131.2.0.0", "131.2.0.255")]);
    wait_for("the change", || says("131.2.0.0/24 east;"));
    // Held, where it empties: the file keeps what it had, and says so to whoever asks.
    router.set(&[junose::VOID]);
    wait_for("the hold", || {
        site.run(&["held", "list", "--json"]).expect(0).json().as_array().is_some_and(|l| !l.is_empty())
    });
    assert!(says("131.1.1.0/24 east;") && says("131.2.0.0/24 east;"));
}

#[test]
fn a_second_process_asks_the_daemon() {
    if !have("a_second_process_asks_the_daemon", ROUTER) {
        return;
    }
    let (site, router) = site(&[POOL], false);
    let _service = Service::start(&site);
    let file = site.export("edges.conf");
    wait_for("the first table", || file.exists());
    let status = site.run(&["status", "--json"]).expect(0).json();
    assert_eq!([&status["running"], &status["filled"]], [true, true]);
    assert_eq!(status["bas"][0]["state"], "complete");

    // The interval is five minutes: only the command makes it poll now.
    router.set(&[POOL, ("pool2", "131.2.0.0", "131.2.0.255")]);
    let poll = site.run(&["poll", "--json"]).expect(0).json();
    assert_eq!(poll["changed"]["added"], 1);
    assert!(content(&file).contains("131.2.0.0/24 east;"));
    assert_eq!(site.entries().len(), 2);
    let found = site.run(&["lookup", "131.2.0.9", "--json"]).expect(0).json();
    assert_eq!(found[0]["group"], "east");

    router.set(&[junose::VOID]);
    site.run(&["poll", "bas-a"]).expect(4);
    let held = site.run(&["held", "list", "--json"]).expect(0).json();
    assert_eq!(held.as_array().unwrap().len(), 1);
    site.run(&["held", "approve", &held[0]["id"].to_string(), "--digest", "0000"]).expect(4);
    site.run(&["held", "approve", &held[0]["id"].to_string()]).expect(0);
    wait_for("the approval", || !content(&file).contains("east;"));
    site.run(&["poll", "no-such-bas"]).expect(2);
}

/// How many pools come one after the other.
const STEPS: usize = 4;

/// What they are, the first of them there from the start.
fn growing() -> Vec<(String, String, String)> {
    let pool = |n: usize| {
        let last = if n == 0 { "131.0.255.255".to_owned() } else { format!("131.{n}.0.255") };
        (format!("pool{n}"), format!("131.{n}.0.0"), last)
    };
    (0..=STEPS).map(pool).collect()
}

#[test]
fn commands_beside_it_see_one_generation_each_while_it_commits() {
    if !have("commands_beside_it_see_one_generation_each_while_it_commits", ROUTER) {
        return;
    }
    let pools = growing();
    let pools: Vec<(&str, &str, &str)> = pools.iter().map(|(n, f, l)| (&**n, &**f, &**l)).collect();
    let (site, router) = site(&pools[..1], true);
    let mut service = Service::start(&site);
    // One viewer in each pool, a row of the old table for each, and one of both for nobody.
    let log: String = (0..=STEPS + 1).map(|n| format!("131.{n}.0.7\n")).collect();
    let log = site.scratch.write("viewers.log", &log);
    let rows: String = (1..=STEPS + 1).map(|n| format!("131.{n}.0.0/24,east\n")).collect();
    let old = site.scratch.write("old.csv", format!("range,edge\n131.0.0.0/16,east\n{rows}"));
    let (log, old) = (log.to_str().unwrap(), old.to_str().unwrap());
    let viewer = |n: usize| format!("131.{n}.0.7");
    let covered = |n: usize| {
        // Before the first publication it is refused.
        let answer = site.run(&["lookup", &viewer(n), "--json"]);
        answer.code == Some(0) && answer.json()[0]["covered"] == true
    };
    wait_for("the first table", || covered(0));
    let mut seen: Vec<(u64, u64)> = Vec::new();
    for step in 1..=STEPS {
        router.set(&pools[..=step]);
        wait_for("the next pool", || {
            let coverage = site.run(&["coverage", log, "--json"]).expect(0).json();
            let diff = site.run(&["diff", "--against", old, "--json"]).expect(4).json();
            let explained = site.run(&["explain", &viewer(step - 1), "--json"]).expect(0).json();
            assert_eq!(explained["covered"], true, "{explained}");
            let dead = diff["families"][0]["dead"]["addresses"].as_str().unwrap().parse::<u64>().unwrap();
            let generation = |report: &Value| report["table"]["generation"].as_u64().unwrap();
            seen.push((generation(&coverage), coverage["covered"]["requests"].as_u64().unwrap()));
            seen.push((generation(&diff), STEPS as u64 + 2 - dead / 256));
            covered(step)
        });
    }
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= STEPS, "{seen:?}");
    for (generation, covered) in seen {
        let file = ["export", "-f", "json", "--generation", &generation.to_string()];
        let table = site.run(&file).expect(0).json();
        assert_eq!(table["entries"].as_array().unwrap().len() as u64, covered, "generation {generation}");
    }
    service.daemon.signal("TERM");
    assert_eq!(service.daemon.wait_end(Duration::from_secs(10)).code(), Some(0), "{}", service.daemon.log());
}

#[test]
fn the_control_socket_speaks_http_and_json() {
    if !have("the_control_socket_speaks_http_and_json", ROUTER) {
        return;
    }
    let (site, _router) = site(&[POOL], false);
    let _service = Service::start(&site);
    wait_for("the first table", || site.export("edges.conf").exists());
    let get =
        |path: &str| ask(&site, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    let status = get("/api/v1/status");
    assert_eq!(status.status, 200);
    let json: Value = serde_json::from_slice(&status.body).unwrap();
    has_keys(&json, &["session", "generation", "bas", "exports"]);
    assert_eq!(serde_json::from_slice::<Value>(&get("/api/v1/held").body).unwrap(), serde_json::json!([]));
    let nothing = get("/api/v1/no-such-thing");
    assert_eq!(nothing.status, 404);
    assert_eq!(nothing.header("content-type"), Some("application/problem+json"));
    has_keys(&serde_json::from_slice(&nothing.body).unwrap(), &["title", "status", "code", "detail"]);
    let body = r#"{"bas": [], "no-such-key": 1}"#;
    let bad = ask(
        &site,
        &format!(
            "POST /api/v1/poll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
    );
    assert!((400..500).contains(&bad.status), "{bad:?}");
    // Nobody else may use it.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(site.scratch.join("control.sock")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o007, 0, "{mode:o}");
}

#[test]
fn a_second_daemon_is_refused() {
    if !have("a_second_daemon_is_refused", ROUTER) {
        return;
    }
    let (site, _router) = site(&[POOL], false);
    let mut service = Service::start(&site);
    let refused = site.run(&["run"]).expect(1);
    assert!(refused.stderr.contains("poolsync.db"), "it says which store is taken: {}", refused.stderr);
    assert!(service.daemon.runs());
    // The first one still answers: its socket was not taken away.
    site.run(&["status", "--json"]).expect(0);
    assert_eq!(site.run(&["status", "--json"]).expect(0).json()["running"], true);
    // After a kill nothing is in the way of the next one.
    service.daemon.kill();
    drop(service);
    let mut next = Service::start(&site);
    assert!(next.daemon.runs());
}

#[test]
fn it_publishes_its_last_table_at_once_when_it_starts_again() {
    if !have("it_publishes_its_last_table_at_once_when_it_starts_again", ROUTER) {
        return;
    }
    let (site, mut router) = site(&[POOL], false);
    site.run(&["poll"]).expect(0);
    router.program().kill();
    std::fs::remove_file(site.export("edges.conf")).unwrap();
    let _service = Service::start(&site);
    let file = site.export("edges.conf");
    wait_for("the last table", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("131.1.1.0/24 east;"))
    });
}

#[test]
fn a_reload_takes_the_new_configuration_and_keeps_the_old_one_if_it_is_broken() {
    if !have("a_reload_takes_the_new_configuration_and_keeps_the_old_one_if_it_is_broken", ROUTER) {
        return;
    }
    let (site, _router) = site(&[POOL], false);
    let mut service = Service::start(&site);
    let file = site.export("edges.conf");
    let says = |row: &str| std::fs::read_to_string(&file).is_ok_and(|text| text.contains(row));
    wait_for("the first table", || says("131.1.1.0/24 east;"));
    let good = content(&site.config);

    site.configure(&good.replacen("retries = 1", "retrys = 1", 1));
    site.run(&["reload"]).expect(78).said(&["retrys", "^"]);
    service.daemon.signal("HUP");
    wait_for("the fault in the log", || service.daemon.log().contains("retrys"));
    assert!(service.daemon.runs() && says("131.1.1.0/24 east;"));

    site.configure(&good.replacen("edges = [\"east\"]", "edges = [\"west\"]", 1));
    site.run(&["reload"]).expect(0);
    wait_for("the other edge", || says("131.1.1.0/24 west;"));
    site.configure(&good);
    service.daemon.signal("HUP");
    wait_for("the first edge again", || says("131.1.1.0/24 east;"));
    assert!(service.daemon.runs());
}

#[test]
fn it_bears_kills_at_any_moment() {
    if !have("it_bears_kills_at_any_moment", ROUTER) {
        return;
    }
    let (site, router) = site(&[POOL], true);
    let file = site.export("edges.conf");
    let mut grown = vec![POOL];
    let blocks: Vec<[String; 2]> =
        (0..10).map(|n| [format!("132.{n}.0.0"), format!("132.{n}.0.15")]).collect();
    let mut generation = 0;
    for (n, [first, last]) in blocks.iter().enumerate() {
        let mut service = Service::start(&site);
        grown.push(("more", first, last));
        router.set(&grown);
        // Somewhere in the second that it takes until the next poll and its publishing.
        std::thread::sleep(Duration::from_millis(130 * n as u64));
        service.daemon.kill();
        if file.exists() {
            let text = content(&file);
            assert!(text.ends_with('\n') && text.contains("# end "), "a whole file:\n{text}");
        }
        let status = site.run(&["status", "--json"]).expect(0).json();
        assert_eq!(status["running"], false);
        let now = status["generation"].as_u64().unwrap();
        assert!(now >= generation, "generations only grow: {now} after {generation}");
        generation = now;
    }
    let _service = Service::start(&site);
    wait_for("everything", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.contains("131.1.1.0/24 east;")
            && blocks.iter().all(|[first, _]| text.contains(&format!("{first}/28 east;")))
    });
}

#[test]
fn a_broken_configuration_does_not_start_it() {
    let silent = [("silent", support::scratch::nobody(), "east")];
    let site = Site::new(Scratch::new(), &configuration(&silent).replacen("retries", "retrys", 1));
    site.run(&["run"]).expect(78).said(&["retrys", "^"]);
    assert!(!site.scratch.join("poolsync.db").exists());
}

/// `systemd-analyze verify` on the unit as shipped, with the program where it is here.
#[test]
fn the_systemd_unit_is_sound() {
    if !have("the_systemd_unit_is_sound", &["systemd-analyze"]) {
        return;
    }
    let scratch = Scratch::new();
    let unit = std::fs::read_to_string(repository("config/poolsync.service")).unwrap();
    assert_eq!(unit.matches("/usr/bin/poolsync").count(), 3, "start, check and reload");
    let unit = unit.replace("/usr/bin/poolsync", poolsync::PROGRAM);
    let path: PathBuf = scratch.write("poolsync.service", unit);
    let analyze = which("systemd-analyze").unwrap();
    let output = Command::new(&analyze).args(["verify", "--man=no"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Units of the machine itself are none of this test's business.
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("poolsync")).collect();
    assert!(output.status.success() && ours.is_empty(), "{said}");
    let mut command = Command::new(&analyze);
    let output = command.args(["security", "--offline=yes", "--threshold=30"]).arg(&path).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "exposure above 3.0 of 10:\n{said}");
}
