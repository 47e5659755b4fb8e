//! The daemon and its consumers: each export goes its own way, whatever becomes of others.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use support::cisco;
use support::poolsync;
use support::program::{Program, wait_for};
use support::scratch::Scratch;
use support::site::{COMMUNITY_ENV, Site, content};
use support::snmprec::Range;
use support::snmpsim::is_root;

/// A router, and a site that polls it every second.
struct Lab {
    site: Site,
    router: cisco::Router,
    base: String,
}

impl Lab {
    fn new() -> Self {
        let scratch = Scratch::new();
        let router = cisco::Router::start(&scratch, "bas-a", &[pool(0)]);
        let base = format!(
            r#"default-edge = "centre"
[store]
path = "poolsync.db"
[control]
socket = "control.sock"
[poll]
interval = "1s"
batch = "50ms"
[guard]
settle = "0s"
remove = "100%"
remove-bas = "100%"
add-bas = "1000%"
add = "1000%"
[snmp.lab]
version = "2c"
community = "{}"
[edge.centre]
addresses = ["198.51.100.1"]
host = "centre.example.net"
[edge.east]
addresses = ["198.51.100.10"]
host = "east.example.net"
[bas.bas-a]
address = "{}"
snmp = "lab"
edges = ["east"]
"#,
            cisco::COMMUNITY,
            router.address()
        );
        Self { site: Site::new(scratch, &base), router, base }
    }

    /// Puts these exports into the configuration: name and further keys of each.
    fn export(&self, exports: &[(&str, &str)]) {
        let mut text = self.base.clone();
        for (name, keys) in exports {
            text += &format!("[export.{name}]\nformat = \"list\"\npath = \"export/{name}\"\n{keys}\n");
        }
        self.site.configure(&text);
    }

    fn start(&self) -> Program {
        let mut daemon = poolsync::daemon(&self.site.config, &self.site.scratch.join("daemon.log"));
        daemon.wait_ready("its socket", || self.site.scratch.join("control.sock").exists());
        daemon
    }

    /// The pools are these from now on.
    fn pools(&self, numbers: &[u8]) {
        let pools: Vec<Range> = numbers.iter().map(|number| pool(*number)).collect();
        self.router.set("bas-a", &pools);
    }

    fn says(&self, export: &str, number: u8) -> bool {
        let row = format!("131.1.{number}.0/24 east");
        fs::read_to_string(self.site.export(export)).is_ok_and(|text| text.contains(&row))
    }

    /// What `status` says of an export.
    fn status(&self, export: &str) -> Value {
        let status = self.site.run(&["status", "--json"]).expect(0).json();
        let found = status["exports"].as_array().unwrap().iter().find(|one| one["name"] == export);
        found.cloned().unwrap_or(Value::Null)
    }

    fn wait_state(&self, export: &str, state: &str) -> Value {
        let mut found = Value::Null;
        wait_for(&format!("{export} to be {state}"), || {
            found = self.status(export);
            found["state"] == state
        });
        found
    }

    /// How often a command has left its mark.
    fn count(&self, file: &str) -> usize {
        fs::read_to_string(self.site.export(file)).unwrap_or_default().lines().count()
    }
}

fn pool(number: u8) -> Range {
    Range::new(&format!("pool{number}"), &format!("131.1.{number}.0"), &format!("131.1.{number}.255"))
}

fn shell(script: &str) -> String {
    format!("reload = [\"sh\", \"-c\", {script:?}]\nreload-timeout = \"100s\"")
}

#[test]
fn a_slow_and_a_failing_consumer_delay_no_other() {
    let lab = Lab::new();
    let slow = shell("until [ -e release ]; do sleep 0.02; done; echo >> slow.told");
    let failing = shell("echo >> failing.told; test -e healed");
    lab.export(&[("slow", &slow), ("failing", &failing), ("sound", "")]);
    let _daemon = lab.start();
    // All of them are begun; two of them come to no end, or to a bad one.
    wait_for("the slow one", || lab.says("slow", 0));
    let failed = lab.wait_state("failing", "failed");
    assert_eq!(failed["reason"], "reload");
    assert_eq!(failed["failures"], 1);
    assert!(failed["detail"].as_str().unwrap().contains("`sh` ended with exit status: 1"), "{failed}");
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let pause = time(&failed["retry_at"]).duration_since(time(&failed["since"]));
    assert_eq!(pause.as_secs(), 5, "the first pause, from the failure on");
    // Meanwhile changes reach the sound one, over and over.
    for numbers in [&[0, 2][..], &[0, 2, 4], &[0, 2, 4, 6]] {
        lab.pools(numbers);
        wait_for("the change", || lab.says("sound", numbers[numbers.len() - 1]));
    }
    assert_eq!(lab.count("slow.told"), 0, "it is still being told of the first table");
    assert!(!lab.says("slow", 6));
    let people = lab.site.run(&["status"]).expect(0).stdout;
    let line = people.lines().find(|line| line.starts_with("failing")).unwrap();
    assert!(line.contains("failed") && line.contains("reload"), "{people}");
    assert!(people.contains("failing: `sh` ended with exit status: 1"), "{people}");
    // The failing one is tried again by itself, with what is newest by then.
    fs::write(lab.site.export("healed"), "").unwrap();
    let healed = lab.wait_state("failing", "published");
    assert!(lab.says("failing", 6));
    assert_eq!(
        [&healed["failures"], &healed["retry_at"], &healed["detail"]],
        [&0.into(), &Value::Null, &Value::Null]
    );
    // So is the slow one's: what came meanwhile is one publication.
    fs::write(lab.site.export("release"), "").unwrap();
    wait_for("the newest for the slow one", || lab.says("slow", 6) && lab.count("slow.told") == 2);
    lab.wait_state("slow", "published");
}

#[test]
fn a_person_who_polls_has_a_failed_consumer_tried_again_at_once() {
    let lab = Lab::new();
    lab.export(&[("failing", &shell("echo >> failing.told; test -e healed"))]);
    let _daemon = lab.start();
    // Long into its pauses, so that only the command can be what ends one.
    wait_for("three failures", || lab.status("failing")["failures"].as_u64() >= Some(2));
    let told = lab.count("failing.told");
    let poll = lab.site.run(&["poll", "--json"]);
    assert_eq!(poll.json()["published"][0]["state"], "failed", "{poll:?}");
    assert!(lab.count("failing.told") > told);
    fs::write(lab.site.export("healed"), "").unwrap();
    let poll = lab.site.run(&["poll", "--json"]).expect(0).json();
    assert_eq!(poll["published"][0]["state"], "published");
}

#[test]
fn a_reload_adds_removes_and_changes_exports() {
    let lab = Lab::new();
    lab.export(&[("first", &shell("echo >> first.told")), ("second", "")]);
    let _daemon = lab.start();
    wait_for("both", || lab.says("first", 0) && lab.says("second", 0));
    lab.wait_state("first", "published");
    // The first one's command fails from now on; the second is gone; a third comes.
    lab.export(&[("first", &shell("exit 3")), ("third", "")]);
    let reload = lab.site.run(&["reload", "--json"]).expect(0).json();
    let states = |shape: &Value| -> Vec<String> {
        let list = shape["published"].as_array().unwrap().iter();
        list.map(|one| format!("{} {}", one["export"].as_str().unwrap(), one["state"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(states(&reload), ["first unchanged", "third published"]);
    assert!(lab.says("third", 0));
    assert_eq!(lab.status("second"), Value::Null);
    lab.pools(&[0, 2]);
    wait_for("the change", || lab.says("third", 2));
    let failed = lab.wait_state("first", "failed");
    assert!(failed["detail"].as_str().unwrap().contains("exit status: 3"), "{failed}");
    assert!(lab.says("first", 0) && !lab.says("first", 2), "the file before is back");
    assert!(!lab.says("second", 2), "nobody writes it any more");
    // A sound command again, and it need not wait for the pause to end.
    lab.export(&[("first", &shell("echo >> first.told")), ("third", "")]);
    let reload = lab.site.run(&["reload", "--json"]).expect(0).json();
    assert_eq!(states(&reload), ["first published", "third unchanged"]);
    assert!(lab.says("first", 2));
}

/// Told to stop while a consumer is being told, it waits for that, or leaves it; either way
/// what is on the disk is whole, and the next start ends the work.
#[test]
fn a_stop_during_a_publication_leaves_a_whole_state() {
    for patient in [true, false] {
        let lab = Lab::new();
        let script = "echo >> begun; until [ -e release ]; do sleep 0.02; done; echo >> ended";
        lab.export(&[("slow", &shell(script)), ("sound", "")]);
        let mut daemon = lab.start();
        wait_for("the reload", || lab.count("begun") == 1);
        let manifest = lab.site.export("slow.manifest.json");
        assert!(!manifest.exists(), "it is not done before the consumer was told");
        daemon.signal("TERM");
        if patient {
            fs::write(lab.site.export("release"), "").unwrap();
        }
        let status = daemon.wait_end(Duration::from_secs(30));
        assert_eq!(status.code(), Some(0), "{}", daemon.log());
        assert_eq!(lab.count("ended"), usize::from(patient), "{}", daemon.log());
        assert_eq!(manifest.exists(), patient);
        let whole = content(&lab.site.export("slow"));
        assert!(whole.ends_with("131.1.0.0/24 east\n# end 1\n"), "{whole}");
        let left = fs::read_dir(lab.site.scratch.join("export")).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        assert!(left.into_iter().all(|name| !name.ends_with(".new")));
        fs::write(lab.site.export("release"), "").unwrap();
        let _daemon = lab.start();
        wait_for("the end of the work", || manifest.exists());
        assert_eq!(lab.count("begun"), if patient { 1 } else { 2 }, "done is done");
        lab.wait_state("slow", "published");
    }
}

/// Two hundred changes at once, at a pace of some seconds, are few reloads.
#[test]
fn a_storm_of_changes_keeps_the_pace() {
    let lab = Lab::new();
    lab.export(&[("paced", &format!("{}\nmin-interval = \"3s\"", shell("echo >> told")))]);
    let _daemon = lab.start();
    lab.wait_state("paced", "published");
    let begun = std::time::Instant::now();
    let mut numbers = vec![0];
    for number in 1..60 {
        numbers.push(number);
        lab.pools(&numbers);
        std::thread::sleep(Duration::from_millis(100));
    }
    // 60 touching /24s from 131.1.0.0 on: 32, 16, 8 and 4 of them.
    wait_for("the last change", || {
        let text = fs::read_to_string(lab.site.export("paced")).unwrap_or_default();
        text.contains("131.1.0.0/19 east\n131.1.32.0/20 east\n131.1.48.0/21 east\n131.1.56.0/22 east\n")
    });
    let most = 2 + begun.elapsed().as_secs() as usize / 3;
    assert!((2..=most).contains(&lab.count("told")), "{} reloads, {most} at most", lab.count("told"));
    let now = lab.wait_state("paced", "published");
    let effect = &now["effect"];
    assert_eq!([&effect["poll_s"], &effect["pace_s"], &effect["ttl_s"]], [2, 3, 30], "{now}");
    let parts = ["poll_s", "pace_s", "publish_s", "ttl_s"].map(|part| effect[part].as_u64().unwrap());
    assert_eq!(now["effect_s"], parts.iter().sum::<u64>());
    assert!(parts[2] >= 1, "a begun second counts: {now}");
    let people = lab.site.run(&["status"]).expect(0).stdout;
    let words =
        format!("{} s (poll 2 s, pace 3 s, publish {} s, ttl 30 s)", parts.iter().sum::<u64>(), parts[2]);
    assert!(people.contains(&words), "{people}");
}

/// What a consumer does not bear is said before it happens: too many groups as soon as the
/// configuration leads to them, too many rows as soon as the table has them.
#[test]
fn check_warns_of_what_consumers_do_not_bear() {
    let mut text = "default-edge = \"centre\"\n[store]\npath = \"poolsync.db\"\n[edge.centre]\n\
                    addresses = [\"198.51.100.1\"]\n[snmp.lab]\nversion = \"2c\"\ncommunity = \"public\"\n"
        .to_owned();
    // With the default edge's these are 254 groups, as many as gdnsd takes; one more is not.
    for number in 0..253 {
        text += &format!("[edge.e{number}]\naddresses = [\"198.51.100.1\"]\n");
        let address = format!("198.19.{}.{}", number / 200, 1 + number % 200);
        text += &format!("[bas.b{number}]\naddress = \"{address}\"\nsnmp = \"lab\"\n");
        text += &format!("edges = [\"e{number}\"]\n");
    }
    let gdnsd = "[export.gdnsd]\nformat = \"gdnsd-nets\"\npath = \"nets\"\nmin-interval = \"15s\"\n";
    let site = Site::new(Scratch::new(), &(text.clone() + gdnsd));
    let check = site.run(&["check"]).expect(0);
    assert!(!check.stderr.contains("datacenters"), "{}", check.stderr);
    let more = "[edge.more]\naddresses = [\"198.51.100.1\"]\n\
                [bas.more]\naddress = \"192.0.2.1\"\nsnmp = \"lab\"\nedges = [\"more\"]\n";
    site.configure(&(text + more + gdnsd));
    site.run(&["check"]).expect(0).said(&["gdnsd-nets with 255 groups: above 254", "254 datacenters"]);

    let lines: String = (0..50_001_u32)
        .map(|n| format!("{}/32,east\n", std::net::Ipv4Addr::from(0x0b00_0000 + 2 * n)))
        .collect();
    let lab = Lab::new();
    lab.site.scratch.write("lines.csv", format!("range,edges\n{lines}"));
    let czf = "[export.router]\nformat = \"czf\"\npath = \"export/czf.json\"\n";
    lab.site.configure(&format!("static-file = \"lines.csv\"\n{}{czf}", lab.base));
    lab.site.run(&["poll"]).expect(0);
    let check = lab.site.run(&["check", "--against-store"]);
    assert!(
        check.stderr.contains("[export.router]: czf with 50002 rows: above 50000, Traffic Router"),
        "{check:?}"
    );
    let check = lab.site.run(&["check", "--against-store", "--json"]).json();
    assert!(check["warnings"].to_string().contains("czf with 50002 rows"), "{}", check["warnings"]);
}

/// The templates that are built in, and one's own, from the command line as in an export.
#[test]
fn templates_are_exported_by_name_or_file() {
    let lab = Lab::new();
    lab.site.run(&["poll"]).expect(0);
    let export = |more: &[&str]| lab.site.run(&[&["export", "-f", "template"], more].concat());
    let holds = |more: &[&str], rows: &[&str]| {
        let text = export(more).expect(0).stdout;
        rows.iter().for_each(|row| assert!(text.lines().any(|line| line == *row), "{row:?} in\n{text}"));
    };
    let unbound = [
        "  access-control-view: 131.1.0.0/24 east",
        "  local-data: \"cdn.example.com. 60 IN A 198.51.100.10\"",
    ];
    let named = ["--name", "cdn.example.com"];
    holds(&[&["--template", "unbound", "--ttl", "60"][..], &named].concat(), &unbound);
    let pdns =
        ["      \"131.1.0.0/24\": \"east.cdn.example.com\"", "  ttl: 30", "    - ns: \"ns1.example.net\""];
    let served = ["--nameserver", "ns1.example.net"];
    holds(&[&["--template", "pdns-yaml"][..], &named, &served].concat(), &pdns);
    holds(&["--template", "dnsdist"], &["poolsync.rows = [[", "131.1.0.0/24 east", "]]"]);
    let f5 = "create gtm topology ldns: subnet 131.1.0.0/24 server: pool /Common/east score 100";
    holds(&["--template", "f5-topology"], &[f5]);
    holds(&["--template", "plain"], &["131.1.0.0/24 east"]);
    holds(&[], &["131.1.0.0/24 east"]);
    let own = lab.site.scratch.write("own.toml", "row = \"allow {first} {last} to {group} of {bas}\"\n");
    let own = own.to_str().unwrap();
    holds(&["--template", own], &["allow 131.1.0.0 131.1.0.255 to east of bas-a"]);
    // The same through the daemon, which reads no file of whoever asks.
    let daemon = lab.start();
    holds(&["--template", own], &["allow 131.1.0.0 131.1.0.255 to east of bas-a"]);
    drop(daemon);

    export(&["--template", "no-such"])
        .expect(2)
        .said(&["no template `no-such`; there are: dnsdist, f5-topology"]);
    // A template that needs what was not said.
    let lacking = export(&["--template", "unbound"]);
    assert!(lacking.code == Some(2) && lacking.stderr.contains("{name}"), "{lacking:?}");
    let broken = lab.site.scratch.write("broken.toml", "row = \"{prefix}\"\n");
    export(&["--template", broken.to_str().unwrap()]).expect(2).said(&["section `row`: needs `{group}`"]);
    lab.site.run(&["export", "--template", "plain"]).expect(2).said(&["-f template"]);
}

/// Whom all files below a folder belong to, by their numbers.
fn owners(folder: &std::path::Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            found.extend(owners(&path));
        }
        found.insert(path, metadata.uid());
    }
    found
}

/// An administrator polls by hand where no service runs: the service, a user of its own, goes on
/// with the store and the exports that this has made.
#[test]
fn what_root_makes_in_the_services_folder_is_the_services() {
    const TEST: &str = "what_root_makes_in_the_services_folder_is_the_services";
    const SERVICE: u32 = 65_534;
    if !is_root() || !support::have(TEST, &["setpriv"]) {
        return support::skip(TEST, "only root can give files away");
    }
    let lab = Lab::new();
    let folder = lab.site.scratch.folder("state");
    std::os::unix::fs::chown(&folder, Some(SERVICE), Some(SERVICE)).unwrap();
    let keys = "format = \"list\"\npath = \"state/export/list\"\nmode = \"0600\"\n";
    let text = lab.base.replace("\"poolsync.db\"", "\"state/poolsync.db\"") + "[export.own]\n" + keys;
    lab.site.configure(&text);
    lab.site.run(&["poll"]).expect(0);
    let found = owners(&folder);
    let files = ["poolsync.db", "poolsync.db-wal", "poolsync.db.lock", "export", "export/list"];
    for file in files {
        assert_eq!(found.get(&folder.join(file)), Some(&SERVICE), "{file} in {found:?}");
    }
    assert!(found.values().all(|owner| *owner == SERVICE), "{found:?}");
    // And it can: with a change, so that it writes to all of them.
    lab.pools(&[0, 1]);
    let own = poolsync::command([OsStr::new("-c"), lab.site.config.as_os_str(), OsStr::new("poll")]);
    let mut service = std::process::Command::new("setpriv");
    service.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    service.arg(own.get_program()).args(own.get_args()).env(COMMUNITY_ENV, cisco::COMMUNITY);
    poolsync::run_command(service).expect(0);
    let list = content(&folder.join("export/list"));
    assert!(list.contains("131.1.0.0/23 east"), "{list}");
}

#[test]
fn a_store_without_its_folder_says_which_one_is_missing() {
    let lab = Lab::new();
    lab.site.configure(&lab.base.replace("\"poolsync.db\"", "\"no/such/poolsync.db\""));
    let missing = lab.site.scratch.join("no/such").display().to_string();
    lab.site
        .run(&["poll"])
        .expect(1)
        .said(&[&format!("{missing}: does not exist: the folder of the database")]);
}

/// An HTTP server that says the group of whoever is forwarded for, as the table has it or not.
struct Teller {
    address: SocketAddr,
    honest: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Teller {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (honest, asked) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
        let (mood, count) = (Arc::clone(&honest), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let mut viewer = String::new();
                let mut line = String::new();
                while reader.read_line(&mut line).unwrap_or(0) > 2 {
                    if let Some((_, value)) =
                        line.split_once(':').filter(|(key, _)| key.eq_ignore_ascii_case("x-forwarded-for"))
                    {
                        viewer = value.trim().to_owned();
                    }
                    line.clear();
                }
                count.fetch_add(1, Ordering::Relaxed);
                let right = if viewer.starts_with("131.1.0.") { "east" } else { "centre" };
                let group = if mood.load(Ordering::Relaxed) { right } else { "elsewhere" };
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{group}",
                    group.len()
                );
                // Whoever asked may have left.
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Self { address, honest, asked }
    }
}

/// A consumer that answered right once is asked again and again: `status` says when it last
/// did, and where it does not any more. Nothing is published anew for that.
#[test]
fn a_consumer_is_asked_between_publications() {
    let lab = Lab::new();
    let teller = Teller::start();
    let canary = format!(
        "canary = {{ http = \"http://{}/\", timeout = \"500ms\", every = \"1s\" }}\n{}",
        teller.address,
        shell("echo >> told")
    );
    lab.export(&[("asked", &canary)]);
    let _daemon = lab.start();
    let first = lab.wait_state("asked", "published");
    let time = |export: &Value| export["confirmed"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let confirmed = time(&first);
    wait_for("another confirmation", || time(&lab.status("asked")) > confirmed);
    assert!(lab.status("asked")["confirmed_age_s"].as_u64().unwrap() < 60);

    teller.honest.store(false, Ordering::Relaxed);
    let doubted = lab.wait_state("asked", "unconfirmed");
    assert_eq!(doubted["reason"], "canary");
    let detail = doubted["detail"].as_str().unwrap();
    assert!(detail.contains("`elsewhere`, which does not name group"), "{detail}");
    assert_eq!(doubted["changed"], first["changed"], "the files stay as they are");
    let people = lab.site.run(&["status"]).expect(0).stdout;
    assert!(people.contains("unconfirmed") && people.contains("asked: for "), "{people}");
    // Asked once more it is doubted since the same time.
    let asked = teller.asked.load(Ordering::Relaxed);
    wait_for("more questions", || teller.asked.load(Ordering::Relaxed) > asked + 5);
    let again = lab.status("asked");
    assert_eq!([&again["since"], &again["confirmed"]], [&doubted["since"], &doubted["confirmed"]]);

    teller.honest.store(true, Ordering::Relaxed);
    let found = lab.wait_state("asked", "published");
    assert!(time(&found) > time(&doubted));
    assert_eq!(lab.count("told"), 1, "it was told once, and asked since");
}
