//! The commands as a person or a script meets them: what they print, what they say, and
//! with which code they end.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::io::Write as _;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use support::json::{has_keys, text};
use support::program::{PATIENCE, Program};
use support::scratch::{Scratch, nobody};
use support::site::{self, Site, configuration, content};
use support::{have, junose, poolsync};

const ROUTER: &[&str] = &["snmpd", "python3"];

#[test]
fn a_poll_fills_the_table_and_its_shape_holds() {
    if !have("a_poll_fills_the_table_and_its_shape_holds", ROUTER) {
        return;
    }
    let pools = [("pool1", "131.1.1.0", "131.1.10.255"), ("pool1", "131.1.11.0", "131.1.11.255")];
    let (site, _router) = site::with_router(&pools);
    let poll = site.run(&["poll", "--json"]).expect(0).json();
    has_keys(&poll, &["generation", "filled", "changed", "bas", "held", "published"]);
    has_keys(&poll["changed"], &["added", "removed", "altered"]);
    has_keys(&poll["bas"][0], &["name", "state", "reason", "duration_ms", "requests", "tables"]);
    has_keys(&poll["published"][0], &["export", "state", "reason"]);
    assert_eq!(poll["generation"], 1);
    assert_eq!(poll["filled"], true);
    assert_eq!(poll["changed"]["added"], 1, "neighbours of one owner and pool are one entry");
    assert_eq!(poll["published"][0]["export"], "http");
    assert_eq!(poll["held"], serde_json::json!([]));

    let table = site.run(&["export", "-f", "json"]).expect(0).json();
    has_keys(&table, &["session", "generation", "default_edge", "groups", "entries"]);
    let entry = &table["entries"][0];
    let shape = ["space", "family", "first", "last", "prefixes", "bas", "pool", "vrf", "group", "origin"];
    has_keys(entry, &shape);
    assert_eq!([&entry["first"], &entry["last"]], ["131.1.1.0", "131.1.11.255"]);
    assert_eq!([&entry["bas"], &entry["group"], &entry["origin"]], ["bas-a", "east", "polled"]);
    assert_eq!(entry["family"], 4);
    assert_eq!(table["default_edge"], "centre");
    let session = text(&table["session"]);
    assert!(session.len() == 16 && session.bytes().all(|b| b.is_ascii_hexdigit()), "{session}");
    let east = table["groups"].as_array().unwrap().iter().find(|g| g["token"] == "east").unwrap();
    assert_eq!(east["edges"][0]["name"], "east");

    // The same again changes nothing: not the generation, not a byte of the files.
    let (file, before) = (site.export("edges.conf"), content(&site.export("edges.conf")));
    let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
    let again = site.run(&["poll", "--json"]).expect(0).json();
    assert_eq!(again["generation"], 1);
    assert_eq!(again["published"][0]["state"], "unchanged");
    assert_eq!(content(&file), before);
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), modified);
    // 131.1.1.0/24, 2.0/23, 4.0/22, 8.0/22
    let rows: Vec<&str> = before.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        rows,
        ["131.1.1.0/24 east;", "131.1.2.0/23 east;", "131.1.4.0/22 east;", "131.1.8.0/22 east;"]
    );
}

#[test]
fn a_router_that_falls_silent_leaves_the_table_alone() {
    if !have("a_router_that_falls_silent_leaves_the_table_alone", ROUTER) {
        return;
    }
    let (site, router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let (table, file) = (site.table(), content(&site.export("edges.conf")));
    drop(router);
    let poll = site.run(&["poll", "--json"]).expect(3);
    assert_eq!(poll.json()["bas"][0]["state"], "failed");
    assert!(poll.json()["bas"][0]["reason"].is_string());
    site.run(&["poll"]).expect(3).said(&["bas-a"]);
    assert_eq!(site.table(), table);
    assert_eq!(content(&site.export("edges.conf")), file);
    let status = site.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["bas"][0]["state"], "failed");
    assert!(status["bas"][0]["last_complete"].is_string());
}

#[test]
fn a_router_that_never_answered_keeps_the_table_from_being_published() {
    if !have("a_router_that_never_answered_keeps_the_table_from_being_published", ROUTER) {
        return;
    }
    let scratch = Scratch::new();
    let router = junose::Router::start(&scratch, "bas-a", &[("pool1", "131.1.1.0", "131.1.10.255")]);
    let routers = [("bas-a", router.address(), "east"), ("silent", nobody(), "west")];
    let site = Site::new(scratch, &configuration(&routers));
    let poll = site.run(&["poll", "--json"]).expect(3).json();
    assert_eq!(poll["filled"], false);
    assert!(!site.export("edges.conf").exists(), "half a fleet is not published");
    // A person may say that it is enough.
    let poll = site.run(&["poll", "--publish", "--json"]).expect(3).json();
    assert_eq!(poll["filled"], true);
    assert!(content(&site.export("edges.conf")).contains("131.1.1.0/24 east;"));
}

#[test]
fn an_emptied_router_is_held_until_somebody_approves() {
    if !have("an_emptied_router_is_held_until_somebody_approves", ROUTER) {
        return;
    }
    let (site, router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let (table, file) = (site.table(), content(&site.export("edges.conf")));
    router.set(&[junose::VOID]);
    let poll = site.run(&["poll", "--json"]).expect(4);
    assert_eq!(poll.json()["bas"][0]["state"], "complete");
    site.run(&["poll"]).expect(4).said(&["held"]);
    assert_eq!(site.table(), table);
    assert_eq!(content(&site.export("edges.conf")), file);

    let list = site.run(&["held", "list", "--json"]).expect(0).json();
    let held = &list[0];
    let shape =
        ["id", "digest", "bas", "space", "family", "kind", "reason", "units", "since", "incident", "ranges"];
    has_keys(held, &shape);
    assert_eq!([&held["bas"], &held["space"], &held["kind"]], ["bas-a", "internet", "removal"]);
    assert_eq!([&held["family"], &held["units"]], [4, 2560]);
    assert_eq!([&held["ranges"][0]["first"], &held["ranges"][0]["last"]], ["131.1.1.0", "131.1.10.255"]);
    let id = held["id"].to_string();
    let shown = site.run(&["held", "show", &id]).expect(0).stdout;
    assert!(shown.contains("131.1.1.0") && shown.contains("131.1.10.255"), "{shown}");
    assert_eq!(site.run(&["held", "show", &id, "--json"]).expect(0).json()["id"], held["id"]);
    let status = site.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["held"], 1);

    // An approval that names what is not there, or what has changed since, lets nothing through.
    assert_ne!(site.run(&["held", "approve", "987654"]).code, Some(0));
    site.run(&["held", "approve", &id, "--digest", "0000"]).expect(4);
    assert_eq!(site.table(), table);

    site.run(&["held", "approve", &id]).expect(0);
    site.run(&["poll"]).expect(0);
    assert_eq!(site.entries(), Vec::<String>::new());
    assert!(!content(&site.export("edges.conf")).contains("east;"));
    assert_eq!(site.run(&["held", "list", "--json"]).expect(0).json(), serde_json::json!([]));
}

/// No row at all could as well mean that the router no longer shows its table: whether it is
/// called failed or held, it is told, and the table stays.
#[test]
fn a_table_without_rows_leaves_the_table_alone() {
    if !have("a_table_without_rows_leaves_the_table_alone", ROUTER) {
        return;
    }
    let (site, router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let (table, file) = (site.table(), content(&site.export("edges.conf")));
    router.set(&[]);
    for _ in 0..3 {
        let poll = site.run(&["poll"]);
        assert!(matches!(poll.code, Some(3 | 4)), "{poll:?}");
        assert!(poll.stdout.contains("bas-a") && !poll.stderr.is_empty(), "{poll:?}");
        assert_eq!(site.table(), table);
        assert_eq!(content(&site.export("edges.conf")), file);
    }
}

#[test]
fn a_held_change_that_goes_away_is_no_longer_held() {
    if !have("a_held_change_that_goes_away_is_no_longer_held", ROUTER) {
        return;
    }
    let pools = [("pool1", "131.1.1.0", "131.1.10.255")];
    let (site, router) = site::with_router(&pools);
    site.run(&["poll"]).expect(0);
    let table = site.table();
    router.set(&[junose::VOID]);
    site.run(&["poll"]).expect(4);
    router.set(&pools);
    site.run(&["poll"]).expect(0);
    assert_eq!(site.table(), table);
    assert_eq!(site.run(&["held", "list", "--json"]).expect(0).json(), serde_json::json!([]));
}

#[test]
fn a_dry_run_changes_nothing() {
    if !have("a_dry_run_changes_nothing", ROUTER) {
        return;
    }
    let (site, router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let table = site.table();
    router.set(&[("pool1", "131.1.1.0", "131.1.10.255"), ("pool2", "131.2.0.0", "131.2.0.255")]);
    let dry = site.run(&["poll", "--dry-run", "--json"]).expect(0).json();
    assert_eq!(dry["changed"]["added"], 1);
    assert_eq!(site.table(), table);
    site.run(&["poll"]).expect(0);
    assert_eq!(site.entries(), ["131.1.1.0-131.1.10.255 bas-a", "131.2.0.0-131.2.0.255 bas-a"]);
}

#[test]
fn a_reload_that_fails_puts_the_previous_files_back() {
    if !have("a_reload_that_fails_puts_the_previous_files_back", ROUTER) {
        return;
    }
    let (site, router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let before = content(&site.export("edges.conf"));
    let good = content(&site.config);
    for line in ["reload = [\"false\"]", "check = [\"grep\", \"-q\", \"no such line\", \"{file}\"]"] {
        site.configure(&good.replacen(
            "format = \"nginx-geo\"",
            &format!("format = \"nginx-geo\"\n{line}"),
            1,
        ));
        router.set(&[("pool1", "131.1.1.0", "131.1.10.255"), ("pool2", "131.2.0.0", "131.2.0.255")]);
        let poll = site.run(&["poll", "--json"]).expect(3).json();
        assert_eq!(poll["published"][0]["state"], "failed", "{line}");
        assert!(poll["published"][0]["reason"].is_string());
        assert_eq!(content(&site.export("edges.conf")), before, "{line}");
    }
    // As soon as the command works, the files follow, although the table is the same.
    site.configure(&good);
    site.run(&["poll"]).expect(0);
    assert!(content(&site.export("edges.conf")).contains("131.2.0.0/24 east;"));
}

#[test]
fn private_addresses_of_two_routers_are_nobodys_and_nested_pools_the_inner_ones() {
    if !have("private_addresses_of_two_routers_are_nobodys_and_nested_pools_the_inner_ones", ROUTER) {
        return;
    }
    let scratch = Scratch::new();
    let outer = [("lan", "10.0.0.0", "10.0.1.255"), ("big", "131.1.0.0", "131.1.255.255")];
    let inner = [("lan", "10.0.1.0", "10.0.1.127"), ("small", "131.1.7.0", "131.1.7.255")];
    // Too close in size to be nested: contested, although one lies within the other.
    let inner = [&inner[..], &[("lan2", "10.0.0.0", "10.0.1.99")]].concat();
    let a = junose::Router::start(&scratch, "bas-a", &outer);
    let b = junose::Router::start(&scratch, "bas-b", &inner);
    let routers = [("bas-a", a.address(), "east"), ("bas-b", b.address(), "west")];
    let site = Site::new(scratch, &configuration(&routers));
    site.run(&["poll"]).expect(0);
    let addresses =
        ["131.1.6.255", "131.1.7.0", "131.1.7.255", "131.1.8.0", "10.0.0.5", "10.0.1.50", "10.0.1.200"];
    let mut args = vec!["lookup", "--json"];
    args.extend(addresses);
    let found = site.run(&args).expect(0).json();
    let groups: Vec<String> = found.as_array().unwrap().iter().map(|l| text(&l["group"])).collect();
    // 10.0.1.0-10.0.1.99 is within a pool of half a /24 of bas-b, and within bas-b's other one;
    // both are bas-b's, and the outer one of bas-a is more than twice the inner: bas-b's.
    assert_eq!(groups, ["east", "west", "west", "east", "centre", "west", "east"]);
    assert!(site.run(&["status", "--json"]).expect(0).json()["conflicts"].as_u64() >= Some(1));
}

#[test]
fn one_process_owns_the_store() {
    // A router that takes requests and keeps silent: while it is waited for, the poll runs.
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    let text = configuration(&[("silent", silent.local_addr().unwrap(), "east")])
        .replacen("timeout = \"300ms\"", "timeout = \"20s\"", 1)
        .replacen("deadline = \"10s\"", "deadline = \"60s\"", 1);
    let site = Site::new(Scratch::new(), &text);
    let mut command = poolsync::command(["-c".as_ref(), site.config.as_os_str(), "poll".as_ref()]);
    let mut first = Program::start(&mut command, &site.scratch.join("first.log"));
    silent.recv(&mut [0; 2048]).unwrap();
    for args in [&["poll"][..], &["held", "approve", "1"], &["run"]] {
        site.run(args).expect(1).said(&["poolsync.db"]);
    }
    // Reading goes on meanwhile.
    site.run(&["status", "--json"]).expect(0);
    assert!(first.runs(), "{}", first.log());
    // With its process the lock is gone.
    first.kill();
    site.configure(&text.replacen("timeout = \"20s\"", "timeout = \"100ms\"", 1));
    site.run(&["poll"]).expect(3);
}

#[test]
fn names_that_nobody_has_are_usage_errors() {
    let site = Site::new(Scratch::new(), &configuration(&[("bas-a", nobody(), "east")]));
    site.run(&["walk", "no-such-bas"]).expect(2).said(&["no-such-bas"]);
    site.run(&["poll", "no-such-bas"]).expect(2).said(&["no-such-bas"]);
    site.run(&["lookup", "not-an-address"]).expect(2).said(&["not-an-address"]);
    site.run(&["no-such-command"]).expect(2);
    let known = ["json", "csv", "mmdb", "nginx-geo", "haproxy-map"];
    site.run(&["export", "-f", "no-such-format"]).expect(2).said(&["no-such-format"]).said(&known);
}

#[test]
fn lookups_answer_covered_and_uncovered_addresses() {
    if !have("lookups_answer_covered_and_uncovered_addresses", ROUTER) {
        return;
    }
    let (site, _router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let found = site.run(&["lookup", "131.1.10.255", "131.1.11.0", "2001:db8::1", "--json"]).expect(0).json();
    has_keys(&found[0], &["ip", "space", "covered", "entry", "group", "edges"]);
    assert_eq!([&found[0]["ip"], &found[0]["group"]], ["131.1.10.255", "east"]);
    assert_eq!(found[0]["covered"], true);
    assert_eq!(found[0]["entry"]["bas"], "bas-a");
    assert_eq!(found[0]["edges"], serde_json::json!(["east"]));
    for uncovered in [&found[1], &found[2]] {
        assert_eq!([&uncovered["covered"], &uncovered["entry"]], [&Value::Bool(false), &Value::Null]);
        assert_eq!(uncovered["group"], "centre");
        assert_eq!(uncovered["edges"], serde_json::json!(["centre"]));
    }
    let people = site.run(&["lookup", "131.1.11.0"]).expect(0).stdout;
    assert!(people.contains("centre"), "{people}");

    let mut command = poolsync::command(["-c".as_ref(), site.config.as_os_str(), "lookup".as_ref()]);
    command.args(["-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"131.1.1.0\n\n9.9.9.9\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!([&found[0]["group"], &found[1]["group"]], ["east", "centre"]);
}

#[test]
fn exports_of_every_format_say_the_same() {
    if !have("exports_of_every_format_say_the_same", &["snmpd", "python3", "mmdblookup"]) {
        return;
    }
    let (site, _router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let prefixes = ["131.1.1.0/24", "131.1.2.0/23", "131.1.4.0/22", "131.1.8.0/23", "131.1.10.0/24"];
    let geo = site.run(&["export", "-f", "nginx-geo"]).expect(0).stdout;
    let map = site.run(&["export", "--format", "haproxy-map"]).expect(0).stdout;
    let rows = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(rows(&geo), prefixes.map(|p| format!("{p} east;")));
    assert_eq!(rows(&map), prefixes.map(|p| format!("{p} east")));
    let csv = site.run(&["export", "-f", "csv"]).expect(0).stdout;
    assert!(csv.contains("131.1.1.0") && csv.contains("131.1.10.255") && csv.contains("bas-a"), "{csv}");
    assert_eq!(site.table(), site.table());

    let mmdb = site.scratch.join("gslb.mmdb");
    site.run(&["export", "-f", "mmdb", "-o", mmdb.to_str().unwrap()]).expect(0);
    for (ip, edge) in
        [("131.1.1.0", "east"), ("131.1.10.255", "east"), ("131.1.11.0", "centre"), ("::1", "centre")]
    {
        assert_eq!(mmdblookup(&mmdb, ip), edge, "{ip}");
    }
}

/// The field `edge` by libmaxminddb's own program.
fn mmdblookup(file: &Path, ip: &str) -> String {
    let mut command = std::process::Command::new(support::which("mmdblookup").unwrap());
    let output = command.arg("--file").arg(file).args(["--ip", ip, "edge"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{ip}: {}", String::from_utf8_lossy(&output.stderr));
    text.split('"').nth(1).unwrap_or_else(|| panic!("{ip}: {text}")).to_owned()
}

#[test]
fn status_has_its_shape_before_and_after_the_first_poll() {
    if !have("status_has_its_shape_before_and_after_the_first_poll", ROUTER) {
        return;
    }
    let (site, _router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    site.run(&["poll"]).expect(0);
    let status = site.run(&["status", "--json"]).expect(0).json();
    has_keys(
        &status,
        &[
            "session",
            "generation",
            "committed",
            "filled",
            "frozen",
            "pinned",
            "bas",
            "held",
            "conflicts",
            "exports",
        ],
    );
    let bas = &status["bas"][0];
    has_keys(
        bas,
        &[
            "name",
            "state",
            "reason",
            "last_complete",
            "last_attempt",
            "age_s",
            "stale",
            "held",
            "ranges",
            "addresses",
            "tables",
        ],
    );
    assert_eq!([&bas["name"], &bas["state"], &bas["addresses"]], ["bas-a", "complete", "2560"]);
    assert_eq!(bas["ranges"], 1);
    assert_eq!(bas["stale"], false);
    let export = &status["exports"][0];
    has_keys(export, &["name", "state", "reason", "generation", "published"]);
    assert_eq!([&export["name"], &export["state"]], ["http", "published"]);
    let people = site.run(&["status"]).expect(0).stdout;
    assert!(people.contains("bas-a") && people.contains("http"), "{people}");
}

#[test]
fn reading_commands_before_the_first_poll_do_not_invent_a_table() {
    let site = Site::new(Scratch::new(), &configuration(&[("bas-a", nobody(), "east")]));
    for args in [&["status", "--json"][..], &["held", "list", "--json"], &["lookup", "192.0.2.1", "--json"]] {
        let outcome = site.run(args);
        assert!(outcome.code == Some(0) || outcome.code == Some(1), "{args:?}: {outcome:?}");
        assert_eq!(
            outcome.code == Some(1),
            outcome.stdout.is_empty() && !outcome.stderr.is_empty(),
            "{outcome:?}"
        );
    }
    assert!(!site.scratch.join("poolsync.db").exists(), "a reading command makes no store");
}

#[test]
fn the_demo_runs_to_its_end_without_anything() {
    let scratch = Scratch::new();
    let mut command = poolsync::command(["demo", "--folder", scratch.join("demo").to_str().unwrap()]);
    command.current_dir(scratch.path()).env("HOME", scratch.path());
    let demo = poolsync::run_command(command).expect(0).stdout;
    assert!(demo.contains("poolsync"), "it says what to do next:\n{demo}");
    let left = std::fs::read_dir(scratch.join("demo")).unwrap().count();
    assert!(left > 0, "it leaves its files to be looked at");
}

#[test]
fn help_and_the_configurations_place_work_everywhere() {
    let commands = ["run", "check", "walk", "poll", "export", "lookup", "status", "held", "mib", "demo"];
    let help = poolsync::run(["--help"]).expect(0).stdout;
    for command in commands {
        assert!(help.contains(command), "{command} is missing:\n{help}");
        assert!(poolsync::run([command, "--help"]).expect(0).stdout.contains("Usage"), "{command}");
    }
    assert!(poolsync::run(["--version"]).expect(0).stdout.starts_with("poolsync "));
    let site = Site::new(Scratch::new(), &configuration(&[("bas-a", nobody(), "east")]));
    let config = site.config.to_str().unwrap();
    poolsync::run(["-c", config, "check"]).expect(0);
    poolsync::run(["check", "-c", config]).expect(0);
    poolsync::run(["check", "--config", config]).expect(0);
    poolsync::run(["--config", config, "check", "--json"]).expect(0);
    poolsync::run(["--json", "-c", config, "check"]).expect(0);
}

#[test]
fn relative_paths_are_from_the_configurations_folder() {
    if !have("relative_paths_are_from_the_configurations_folder", ROUTER) {
        return;
    }
    let (site, _router) = site::with_router(&[("pool1", "131.1.1.0", "131.1.10.255")]);
    let elsewhere = Scratch::new();
    let mut command = poolsync::command(["-c".as_ref(), site.config.as_os_str(), "poll".as_ref()]);
    command.current_dir(elsewhere.path());
    poolsync::run_command(command).expect(0);
    assert!(site.scratch.join("poolsync.db").is_file());
    assert!(site.export("edges.conf").is_file());
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// What a package ships comes from the program: a page for every command, completions that a
/// shell reads, and a unit that the service manager accepts.
#[test]
fn pages_completions_and_the_unit_come_from_the_program() {
    let scratch = Scratch::new();
    let pages = scratch.join("man");
    let made = poolsync::run(["generate", "man", "--dir", pages.to_str().unwrap()]).expect(0);
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    assert!(made.stdout.lines().any(|line| line.ends_with("/poolsync-held-approve.1")), "{}", made.stdout);
    assert!(page("poolsync-held-approve.1").contains("\\-\\-digest"));
    assert!(page("poolsync.1").contains("poolsync\\-walk(1)"));
    let exits = page("poolsync-poll.1");
    assert!(exits.contains(".SH \"EXIT STATUS\"") && exits.contains("\\fB78\\fR"), "{exits}");
    assert_eq!(poolsync::run(["generate", "man"]).expect(0).stdout, page("poolsync.1"));

    let script = scratch.join("poolsync.bash");
    std::fs::write(&script, poolsync::run(["generate", "completions", "bash"]).expect(0).stdout).unwrap();
    let line = "source \"$1\"; COMP_WORDS=(poolsync held ap); COMP_CWORD=2; \
                _poolsync poolsync ap held; echo \"${COMPREPLY[*]}\"";
    let bash = std::process::Command::new("bash").args(["-c", line, "bash"]).arg(&script).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&bash.stdout).trim(), "approve");
    let refused = poolsync::run(["generate", "completions", "csh"]).expect(2);
    assert!(refused.stderr.contains("zsh"), "{}", refused.stderr);

    let config = scratch.join("a %b/config.toml");
    let unit = poolsync::run_with(&config, &["generate", "unit"]).expect(0).stdout;
    let start = unit.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    let program = Path::new(poolsync::PROGRAM);
    let written = config.display().to_string().replace('%', "%%");
    assert_eq!(start, format!("ExecStart={} run --config \"{written}\"", program.display()));
    if have("pages_completions_and_the_unit_come_from_the_program", &["systemd-analyze"]) {
        let file = scratch.join("poolsync.service");
        std::fs::write(&file, &unit).unwrap();
        let checked =
            std::process::Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success() && !said.contains("poolsync.service"), "{said}");
    }
}
