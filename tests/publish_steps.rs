//! Between any two steps: killed there, a publication leaves a real server on the old table or
//! the new one, whole; every file is on the disk before it gets its name; a full disk changes
//! nothing; and whoever has a database mapped reads on.
//!
//! The test runs itself again as a child under `strace`, which kills it as it is about to make
//! the next step on a file.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use poolsync::format::by_name;
use poolsync::format::groups::groups_by_name;
use poolsync::publish::{
    Argv, Canary, Export, FailureReason, GroupsFile, Manifest, Query, State, Target, publish,
};
use poolsync::table::{PoolName, Snapshot};
use support::consumer::fixture::{self, edge, group, groups, snapshot};
use support::program::wait_for;
use support::scratch::Scratch;
use support::snmpsim::is_root;
use support::{dns, have, http, knot, nginx, skip, which};

const FOLDER: &str = "POOLSYNC_TEST_STEPS_FOLDER";
const GENERATION: &str = "POOLSYNC_TEST_STEPS_GENERATION";
const RELOAD: &str = "POOLSYNC_TEST_STEPS_RELOAD";
const SERVER: &str = "POOLSYNC_TEST_STEPS_SERVER";

/// What changes a file or its name, under all the names that systems have for it.
const STEPS: [&str; 9] =
    ["unlink", "unlinkat", "fchmod", "fsync", "rename", "renameat", "renameat2", "link", "linkat"];
/// Rows of the table.
const ROWS: usize = 120;
const EDGES: usize = 6;

/// A generation whose tokens and addresses no other has, but for the default's. Every row is
/// answered otherwise than in the other generation.
fn generation(number: u64) -> Snapshot {
    let names: Vec<String> = (0..EDGES).map(|at| format!("edge-{number}-{at}")).collect();
    let list: Vec<_> = names.iter().map(|name| group(name, &[(name, 1)])).collect();
    let owners: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let mut edges: Vec<_> = (0..EDGES)
        .map(|at| {
            let host = format!("{}.example.net", names[at]);
            edge(&names[at], &[&address(number, at).to_string()], Some(&host), None)
        })
        .collect();
    edges.push(edge("centre", &["198.51.100.1"], Some("centre.example.net"), None));
    let entry = |at: usize| {
        let owner = &names[at % EDGES];
        fixture::entry("internet", &format!("10.0.{at}.0/25"), owner, Some(owner), PoolName::new(b"p"), "")
    };
    let entries = (0..ROWS).map(entry).collect();
    Snapshot { generation: number, ..snapshot(entries, groups(&list, &owners), &edges, "centre") }
}

fn address(generation: u64, edge: usize) -> IpAddr {
    Ipv4Addr::new(203, 0, 113, (generation * 10) as u8 + edge as u8).into()
}

fn export(folder: &Path) -> Export {
    let mut export = Export::new("dns", by_name("mmdb").unwrap(), folder.join("gslb.mmdb"));
    export.groups =
        Some(GroupsFile { format: groups_by_name("knot").unwrap(), path: folder.join("geo.conf") });
    export.context.name = Some(knot::NAME.parse().unwrap());
    export
}

/// The child: publishes one generation once.
#[test]
#[ignore = "run by the tests of this file, as a process of its own"]
fn publish_one() {
    let variable = |name: &str| std::env::var(name).ok();
    let mut export = export(&PathBuf::from(variable(FOLDER).expect("run by the tests of this file")));
    let words = variable(RELOAD).unwrap_or_default();
    let words: Vec<String> = words.split('\n').filter(|w| !w.is_empty()).map(str::to_owned).collect();
    export.reload = (!words.is_empty()).then(|| Argv::new(words).unwrap());
    export.canary = variable(SERVER).map(|server| Canary::new(Query::Dns(server.parse().unwrap())));
    let number = variable(GENERATION).unwrap().parse().unwrap();
    // One thread for the files, so that their steps are counted one after the other.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.max_blocking_threads(1).enable_all().build().unwrap();
    let now = "2026-01-02T05:00:00Z".parse().unwrap();
    let published = runtime.block_on(publish(&export, &generation(number), now));
    assert!(matches!(published.state, State::Published(_) | State::Unchanged(_)), "{published:?}");
}

/// The child under `strace` with these arguments.
fn child(strace: &[&str], folder: &Path, number: u64, more: &[(&str, &str)]) -> Output {
    let mut command = Command::new(which("strace").unwrap());
    command.args(["-f", "-qq"]).args(strace).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "publish_one", "--ignored", "--nocapture"]);
    command.env(FOLDER, folder).env(GENERATION, number.to_string());
    command.envs(more.iter().copied()).output().unwrap()
}

fn can_trace(test: &str) -> bool {
    if !have(test, &["strace"]) {
        return false;
    }
    let tried =
        Command::new(which("strace").unwrap()).args(["-qq", "-e", "trace=none", "true"]).output().unwrap();
    if !tried.status.success() {
        skip(
            test,
            &format!("no process may be traced here: {}", String::from_utf8_lossy(&tried.stderr).trim()),
        );
    }
    tried.status.success()
}

/// A running Knot over the files of a folder.
struct Server {
    plan: knot::Plan,
    knotd: support::program::Program,
    folder: PathBuf,
}

impl Server {
    /// Every answer must be the one of the same generation, whole; which it is comes back.
    fn generation(&self, when: &str) -> u64 {
        // Told to read anew, it may do so between two answers, but not for long.
        let mut whole = None;
        wait_for(&format!("answers of one generation, {when}"), || {
            whole = self.whole(when);
            whole.is_some()
        });
        whole.unwrap()
    }

    fn whole(&self, when: &str) -> Option<u64> {
        let mut client = dns::Client::new(self.plan.address());
        let mut seen = BTreeSet::new();
        for at in 0..ROWS {
            let viewer = Ipv4Addr::new(10, 0, at as u8, 77).into();
            let answer = client.ask(knot::NAME, viewer).unwrap_or_else(|| panic!("{when}: no answer"));
            let of = [1, 2].into_iter().find(|number| answer.addresses == [address(*number, at % EDGES)]);
            seen.insert(of.unwrap_or_else(|| panic!("{when}: {viewer} is answered {answer:?}")));
            let miss = Ipv4Addr::new(10, 0, at as u8, 200).into();
            let answer = client.ask(knot::NAME, miss).unwrap();
            assert_eq!(answer.addresses, ["198.51.100.1".parse::<IpAddr>().unwrap()], "{when}: {miss}");
            assert!(answer.scope.is_some_and(|scope| scope > 0), "{when}: {answer:?}");
        }
        seen.pop_first().filter(|_| seen.is_empty())
    }

    /// Has it read the files that are there, as after a restart of the machine.
    fn reload(&mut self) {
        let words = self.plan.reload();
        let told = Command::new(&words[0]).args(&words[1..]).output().unwrap();
        assert!(told.status.success(), "{told:?}\n{}", self.knotd.log());
    }

    /// Both files, and those kept of them, are whole.
    fn examine(&self, when: &str) {
        let export = export(&self.folder);
        let rows = export.groups.as_ref().unwrap();
        let (table, list) = (Target::resolve(&export.path).unwrap(), Target::resolve(&rows.path).unwrap());
        for path in [table.path(), &table.previous()] {
            let Ok(found) = fs::read(path) else { continue };
            export.format.read(&found).unwrap_or_else(|e| panic!("{when}: {}: {e}", path.display()));
        }
        for path in [list.path(), &list.previous()] {
            let Ok(found) = fs::read(path) else { continue };
            rows.format.read(&found).unwrap_or_else(|e| panic!("{when}: {}: {e}", path.display()));
        }
        if let Ok(text) = fs::read(table.manifest()) {
            serde_json::from_slice::<Manifest>(&text).unwrap();
        }
    }
}

#[test]
fn killed_between_any_two_steps_it_leaves_knot_on_a_whole_table() {
    const TEST: &str = "killed_between_any_two_steps_it_leaves_knot_on_a_whole_table";
    if !have(TEST, &["knotd", "knotc", "knot-module-geoip"]) || !can_trace(TEST) {
        return;
    }
    let scratch = Scratch::new();
    let folder = scratch.folder("export");
    assert!(child(&["-e", "trace=none"], &folder, 1, &[]).status.success());
    let plan = knot::Plan::new(&scratch, &folder.join("gslb.mmdb"), &folder.join("geo.conf"));
    let knotd = plan.start();
    let (reload, address) = (plan.reload().join("\n"), plan.address().to_string());
    let mut server = Server { plan, knotd, folder };
    let told = [(RELOAD, reload.as_str()), (SERVER, address.as_str())];
    let (mut kills, mut left) = (0, [0, 0]);
    let mut now = 1;
    for call in STEPS {
        for step in 1.. {
            let next = 3 - now;
            let (trace, inject) =
                (format!("trace=?{call}"), format!("inject=?{call}:signal=SIGKILL:when={step}"));
            let strace = ["-e", &trace, "-e", &inject, "-o", "/dev/null"];
            let ended = child(&strace, &server.folder, next, &told);
            let when = format!("killed before {call} number {step}");
            if ended.status.success() {
                // It makes fewer of these than that.
                assert_eq!(server.generation("not killed"), next);
                now = next;
                break;
            }
            // A command of its own that makes such calls may have been killed in its place:
            // the same holds then.
            let signal = ended.status.signal().or(ended.status.code().map(|code| code - 128));
            kills += usize::from(signal == Some(9));
            server.examine(&when);
            // As it runs, and again with the files that it would find after a restart.
            server.generation(&when);
            server.reload();
            left[usize::from(server.generation(&format!("{when}, read anew")) == next)] += 1;
            // Started again, the work is done to its end.
            let again = child(&["-e", "trace=none"], &server.folder, next, &told);
            assert!(again.status.success(), "{when}: {}", String::from_utf8_lossy(&again.stdout));
            server.examine(&when);
            assert_eq!(server.generation(&format!("{when}, done again")), next);
            now = next;
        }
    }
    assert!(kills >= 35, "only {kills} steps");
    assert!(left[0] >= 10 && left[1] >= 5, "killed both before and behind the change: {left:?}");
    let names = fs::read_dir(&server.folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".new")).collect();
    assert!(left.is_empty(), "{left:?}");
    // And while the server is being told: before it hears of it, and after.
    for (at, script) in ["kill -9 $PPID; \"$@\"", "\"$@\"; kill -9 $PPID"].iter().enumerate() {
        let next = 3 - now;
        let over = scratch.join(format!("over-{at}"));
        let words = format!("sh\n-c\n{script}; : > {}\nsh\n{reload}", over.display());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "publish_one", "--ignored", "--nocapture"]);
        command.env(FOLDER, &server.folder).env(GENERATION, next.to_string()).env(RELOAD, words);
        let ended = command.output().unwrap();
        assert_eq!(ended.status.signal(), Some(9));
        // Who was told by a publisher that is gone is still told.
        wait_for("the command to end", || over.exists());
        let when = format!("killed during the reload ({at})");
        server.examine(&when);
        server.generation(&when);
        server.reload();
        assert_eq!(server.generation(&when), next, "the files were in place");
        let again = child(&["-e", "trace=none"], &server.folder, next, &told);
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
        now = next;
    }
}

/// A file's content is on the disk before the file gets its name, and the name before anybody
/// is told of it.
#[test]
fn files_are_durable_before_they_are_named_and_named_before_anybody_is_told() {
    const TEST: &str = "files_are_durable_before_they_are_named_and_named_before_anybody_is_told";
    if !can_trace(TEST) {
        return;
    }
    let scratch = Scratch::new();
    let folder = scratch.folder("export");
    let log = scratch.join("trace");
    assert!(child(&["-e", "trace=none"], &folder, 1, &[]).status.success());
    let calls = "trace=?rename,?renameat,?renameat2,fsync,execve";
    let trace = ["-y", "-e", calls, "-e", "signal=none", "-o", log.to_str().unwrap()];
    let told = [(RELOAD, "true\ntold")];
    let ended = child(&trace, &folder, 2, &told);
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    let steps = steps(&fs::read_to_string(&log).unwrap(), &folder);
    // Each file: synced under its new name, renamed, then its folder synced. The groups come
    // first, then the table, then the stamp, all before the command; then the groups without
    // those that nobody uses any more, and the manifest last.
    let file =
        |name: &str| [format!("sync .{name}.new"), format!("rename .{name}.new {name}"), "sync .".into()];
    let written: Vec<String> =
        ["geo.conf", "gslb.mmdb"].iter().map(|name| format!("sync .{name}.new")).collect();
    let wanted: Vec<String> = [
        vec![written[1].clone(), written[0].clone()],
        file("geo.conf")[1..].to_vec(),
        file("gslb.mmdb")[1..].to_vec(),
        vec![
            "sync ..gslb.mmdb.reload.new".into(),
            "rename ..gslb.mmdb.reload.new .gslb.mmdb.reload".into(),
            "sync .".into(),
            "told".into(),
        ],
        file("geo.conf").to_vec(),
        file("gslb.mmdb.manifest.json").to_vec(),
    ]
    .concat();
    let found: Vec<&String> = steps.iter().filter(|step| !step.contains(".prev")).collect();
    assert_eq!(found, wanted.iter().collect::<Vec<_>>());
}

/// The calls of a trace on files of a folder: `sync NAME`, `rename OLD NEW`, `told`.
fn steps(trace: &str, folder: &Path) -> Vec<String> {
    let folder = fs::canonicalize(folder).unwrap().display().to_string();
    let name = |path: &str| {
        let rest = path.strip_prefix(&folder)?;
        Some(if rest.is_empty() { ".".to_owned() } else { rest.trim_start_matches('/').to_owned() })
    };
    let step = |line: &str| {
        let call = line.split_once(' ')?.1.trim_start();
        if call.starts_with("execve(") && call.contains("\"told\"") && call.contains(" = 0") {
            return Some("told".to_owned());
        }
        if let Some(rest) = call.strip_prefix("fsync(") {
            let path = rest.split_once('<')?.1.split_once('>')?.0;
            return Some(format!("sync {}", name(path)?));
        }
        let quoted: Vec<&str> = call.split('"').skip(1).step_by(2).collect();
        match (call.starts_with("rename"), quoted.as_slice()) {
            (true, [from, to]) => Some(format!("rename {} {}", name(from)?, name(to)?)),
            _ => None,
        }
    };
    trace.lines().filter_map(step).collect()
}

/// On a disk without room for the new table, the consumer keeps the old one; with room again
/// it gets the new one.
#[test]
fn a_full_disk_leaves_the_consumer_on_the_last_table() {
    const TEST: &str = "a_full_disk_leaves_the_consumer_on_the_last_table";
    if !have(TEST, &["mount", "unshare", "nginx"]) {
        return;
    }
    let may = Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    if !is_root() || !may {
        skip(TEST, "a small disk cannot be mounted here");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--"]).arg(std::env::current_exe().unwrap());
    let ended = command.args(["--exact", "on_a_small_disk", "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by the test above, with mounts of its own"]
fn on_a_small_disk() {
    let scratch = Scratch::new();
    let folder = scratch.folder("export");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=1m,mode=755", "none"]).arg(&folder);
    assert!(mount.status().unwrap().success());
    let geo = |name: &str| by_name(name).unwrap();
    let (table, targets) = (folder.join("edges.conf"), folder.join("targets.conf"));
    let plan = nginx::Plan::new(&scratch, &table, &targets);
    let mut export = Export::new("http", geo("nginx-geo"), &table);
    export.groups = Some(GroupsFile { format: groups_by_name("nginx-map").unwrap(), path: targets });
    let run = |export: &Export, number| {
        support::consumer::run(publish(export, &generation(number), jiff::Timestamp::now())).state
    };
    assert!(matches!(run(&export, 1), State::Published(_)));
    let mut server = plan.start();
    export.reload = Some(Argv::new(plan.reload()).unwrap());
    export.canary = Some(Canary::new(Query::Http(format!("http://{}/", plan.address()))));
    let sent = |at: u8| {
        let viewer = Ipv4Addr::new(10, 0, at, 1).into();
        nginx::redirect(&mut http::Client::new(plan.address()), "/", viewer).unwrap()
    };
    assert_eq!(sent(3), "http://edge-1-3.example.net/");
    let before = fs::read(&table).unwrap();
    // Somebody else has filled the disk, but for less than the new table.
    let ballast = folder.join("ballast");
    assert!(fs::write(&ballast, vec![7; 2 << 20]).is_err(), "it takes as much as there is room for");
    let State::Failed(failure) = run(&export, 2) else { panic!("it was published without room") };
    assert_eq!(failure.reason, FailureReason::Write, "{failure}");
    assert!(failure.detail.contains("No space left on device"), "{failure}");
    assert_eq!(fs::read(&table).unwrap(), before);
    assert!(!folder.join(".edges.conf.new").exists(), "half a file would fill the disk further");
    assert_eq!(sent(3), "http://edge-1-3.example.net/");
    fs::remove_file(&ballast).unwrap();
    assert!(matches!(run(&export, 2), State::Published(_)));
    nginx::settled(&mut server);
    assert_eq!(sent(3), "http://edge-2-3.example.net/");
}

/// Sets it when it goes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whoever has the database mapped, as servers have, reads on while it is replaced many times
/// by larger and smaller ones: every answer is of some generation, and nobody dies of it.
#[test]
fn a_mapped_database_is_never_pulled_from_under_its_readers() {
    const TEST: &str = "a_mapped_database_is_never_pulled_from_under_its_readers";
    if !have(TEST, &["nginx", "nginx-module-geoip2", "mmdblookup"]) {
        return;
    }
    let scratch = Scratch::new();
    let folder = scratch.folder("export");
    let (table, targets) = (folder.join("gslb.mmdb"), folder.join("targets.conf"));
    let mut export = Export::new("http", by_name("mmdb").unwrap(), &table);
    export.groups = Some(GroupsFile { format: groups_by_name("nginx-map").unwrap(), path: targets });
    // Large ones have rows that small ones have not.
    let table_of = |number: u64| {
        let mut snapshot = generation(1 + number % 2);
        snapshot.generation = number;
        if number.is_multiple_of(2) {
            let mut entries = snapshot.table.entries().to_vec();
            let owner = entries[0].owner.clone();
            for at in 0..3_000_u32 {
                let range = format!("{}/31", Ipv4Addr::from(0x0b00_0000 + at * 4));
                entries.push(fixture::entry("internet", &range, &owner, None, PoolName::new(b"q"), ""));
            }
            snapshot.table = std::sync::Arc::new(poolsync::table::Table::new(entries).unwrap());
        }
        snapshot
    };
    let put = |number: u64| {
        let now = jiff::Timestamp::now();
        match support::consumer::run(publish(&export, &table_of(number), now)).state {
            State::Published(_) => {}
            other => panic!("{other:?}"),
        }
    };
    put(1);
    let address = std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, support::scratch::free_port()));
    let (place, listen) = (folder.display().to_string(), format!("listen {address};"));
    let changes = [
        ("/var/lib/poolsync/export", place.as_str()),
        ("listen 80;", &listen),
        ("auto_reload 60s", "auto_reload 1s"),
    ];
    let module = format!("load_module {};\n", which("nginx-module-geoip2").unwrap().display());
    let text = support::consumer::example("nginx/geoip2.conf", &changes);
    // Both generations' groups, so that either table's tokens lead somewhere.
    let rows: String = [1, 2]
        .iter()
        .flat_map(|g| (0..EDGES).map(move |at| format!("    edge-{g}-{at} edge-{g}-{at}.example.net;\n")))
        .collect();
    let text = text.replace(&format!("    include {place}/targets.conf;\n"), &rows);
    let plan = nginx::Plan::around(&scratch, address, &text, &module);
    let mut server = plan.start();
    let (done, asked, served) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let ask = || {
            let mut client = http::Client::new(address);
            while !done.load(Ordering::Relaxed) {
                // The publications need some of the machine too.
                std::thread::sleep(std::time::Duration::from_millis(2));
                let count = asked.fetch_add(1, Ordering::Relaxed);
                let at = count % ROWS;
                let viewer = Ipv4Addr::new(10, 0, at as u8, 5).into();
                let target = nginx::redirect(&mut client, "/", viewer).unwrap();
                let right = |of: &u64| target == format!("http://edge-{of}-{}.example.net/", at % EDGES);
                let of = [1, 2].into_iter().find(right);
                served.store(of.unwrap_or_else(|| panic!("{viewer} is sent to {target}")), Ordering::Relaxed);
            }
        };
        let clients = [scope.spawn(ask), scope.spawn(ask)];
        let look = scope.spawn(|| {
            let mut looked = 0;
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(20));
                let mut command = Command::new(which("mmdblookup").unwrap());
                command.arg("--file").arg(&table).args(["--ip", "10.0.4.5", "edge"]);
                let output = command.output().unwrap();
                assert!(output.status.success(), "{output:?}");
                let said = String::from_utf8(output.stdout).unwrap();
                assert!(said.contains("\"edge-1-4\"") || said.contains("\"edge-2-4\""), "{said}");
                looked += 1;
            }
            looked
        });
        // Also where it fails: the others must not go on for ever.
        let _over = Over(&done);
        for number in 2..32 {
            put(number);
            // nginx looks once a second, and takes the file for another one by the second.
            if number % 5 == 0 {
                wait_for("nginx to take it up", || {
                    served.load(Ordering::Relaxed) == 1 + number % 2
                        || clients.iter().any(|c| c.is_finished())
                });
            }
        }
        done.store(true, Ordering::Relaxed);
        clients.into_iter().for_each(|client| client.join().unwrap());
        assert!(look.join().unwrap() > 10);
    });
    assert!(asked.load(Ordering::Relaxed) > 200);
    assert!(server.runs());
    for word in ["exited on signal", "emerg", "crit"] {
        assert!(!server.log().contains(word), "{}", server.log());
    }
}
