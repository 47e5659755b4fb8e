//! The daemon and its consumers: each export goes its own way, whatever becomes of others.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;
use std::time::Duration;

use serde_json::Value;
use support::cisco;
use support::poolsync;
use support::program::{Program, wait_for};
use support::scratch::Scratch;
use support::site::{Site, content};
use support::snmprec::Range;

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
