//! The scenarios: who is run against whom, how often, and what is asked of the result.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Rounds of each scenario.
const ROUNDS: usize = 5;

pub(crate) const NAMES: [&str; 6] = ["fleet", "large", "usm", "dead", "far", "peers"];

pub(crate) fn run(only: Option<&str>) {
    if let Some(name) = only {
        assert!(NAMES.contains(&name), "`{name}` is no scenario; there are: {}", NAMES.join(" "));
    }
    for name in NAMES.iter().filter(|name| only.is_none_or(|only| only == **name)) {
        match *name {
            "fleet" => fleet(),
            "large" => large(),
            "dead" => dead(),
            "far" => far(),
            "usm" => usm(),
            _ => peers(),
        }
    }
}

/// Agents that run until this is dropped.
struct Agents {
    child: Child,
    /// The port of all of them.
    port: u16,
    _end: ChildStdin,
}

impl Agents {
    fn start(role: &str, words: &str) -> Self {
        let mut child = own(role, words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().strip_prefix("ready ").unwrap().parse().unwrap();
        let end = child.stdin.take().unwrap();
        Self { child, port, _end: end }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn own(role: &str, words: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(role).args(words.split_whitespace());
    command
}

/// What a program said of itself.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    wall: f64,
    cpu: f64,
    rss: f64,
    values: f64,
    requests: f64,
}

/// What programs said, by the names of their lines.
#[derive(Default)]
struct Said(BTreeMap<String, Vec<Used>>, BTreeMap<String, u32>);

impl Said {
    fn run(&mut self, agents: &Agents, role: &str, words: &str, prefix: Option<&str>) {
        let port = agents.port.to_string();
        let output = own(role, words).args(["--port", &port]).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{role} {words}");
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let called = |name: &str| prefix.map_or(name.to_owned(), |prefix| format!("{prefix} {name}"));
            if let ["most", name, most] = words[..] {
                self.1.insert(called(name), most.parse().unwrap());
                continue;
            }
            let number = |key: &str| {
                let at = words.iter().position(|word| *word == key).unwrap();
                words[at + 1].parse::<f64>().unwrap()
            };
            let used = Used {
                wall: number("wall"),
                cpu: number("cpu"),
                rss: number("rss"),
                values: number("values"),
                requests: number("requests"),
            };
            self.0.entry(called(words[0])).or_default().push(used);
        }
    }

    fn median(&self, name: &str, of: impl Fn(&Used) -> f64) -> f64 {
        let mut all: Vec<f64> = self.0[name].iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }

    fn print(&self, title: &str) {
        println!("\n{title}");
        println!(
            "  {:<12} {:>10} {:>10} {:>9} {:>10} {:>9}",
            "", "wall ms", "CPU ms", "peak MB", "values", "requests"
        );
        for name in self.0.keys() {
            println!(
                "  {name:<12} {:>10.1} {:>10.1} {:>9.1} {:>10} {:>9}",
                1e3 * self.median(name, |used| used.wall),
                1e3 * self.median(name, |used| used.cpu),
                self.median(name, |used| used.rss),
                self.median(name, |used| used.values),
                self.median(name, |used| used.requests),
            );
        }
    }

    fn ratio(&self, what: &str, ours: &str, theirs: &str, of: fn(&Used) -> f64, goal: f64) {
        let ratio = self.median(ours, of) / self.median(theirs, of);
        judge(&format!("{what}, {ours} / {theirs}"), ratio, goal);
    }
}

fn judge(what: &str, figure: f64, goal: f64) {
    let word = if figure <= goal { "met" } else { "MISSED" };
    println!("  {what}: {figure:.2} (goal: at most {goal}) {word}");
}

const WALL: fn(&Used) -> f64 = |used| used.wall;
const CPU: fn(&Used) -> f64 = |used| used.cpu;
const RSS: fn(&Used) -> f64 = |used| used.rss;

fn fleet() {
    let agents = Agents::start("agents", "--n 1000");
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&agents, "floor", "--n 1000", None);
        said.run(&agents, "sweep", "--n 1000 --sweeps 2", None);
    }
    said.print("fleet: 1,000 agents x 50 rows x 5 columns");
    for name in ["first", "learnt"] {
        said.ratio("CPU", name, "floor", CPU, 2.5);
        said.ratio("wall", name, "floor", WALL, 2.0);
    }
    judge("peak memory in MB", said.median("learnt", RSS), 40.0);
}

fn large() {
    let agents = Agents::start("agents", "--n 1 --rows 100000");
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&agents, "codec", "", None);
        said.run(&agents, "sweep", "--n 1 --sweeps 2", None);
        if let Some(used) = other("snmpbulkwalk", BULKWALK, &[&agents.port.to_string()]) {
            said.0.entry("bulkwalk".to_owned()).or_default().push(used);
        }
    }
    said.print("large: one agent with 100,000 rows x 5 columns");
    for name in ["first", "learnt"] {
        said.ratio("CPU", name, "codec", CPU, 1.3);
        if said.0.contains_key("bulkwalk") {
            said.ratio("wall", name, "bulkwalk", WALL, 0.125);
        }
    }
}

fn usm() {
    let plain = Agents::start("agents", "--n 1000");
    let sealed = Agents::start("sealed", "--n 1000");
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&plain, "sweep", "--n 1000 --sweeps 2", Some("v2c"));
        said.run(&sealed, "sweep", "--n 1000 --sweeps 2 --version 3", Some("v3"));
    }
    said.print("usm: 1,000 agents x 50 rows x 5 columns, authPriv by sha256 and aes128");
    said.ratio("CPU, keys known", "v3 learnt", "v2c learnt", CPU, 3.0);
}

fn dead() {
    let agents = Agents::start("agents", "--n 1000 --dead 1000");
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&agents, "sweep", "--n 1000", Some("alone"));
        said.run(&agents, "sweep", "--n 1000 --dead 1000", Some("among"));
    }
    said.print("dead: 1,000 live agents among 1,000 dead ones");
    said.ratio("wall until all live ones are polled", "among first", "alone first", WALL, 1.1);
}

fn far() {
    let agents = Agents::start("agents", "--n 200 --delay-ms 20");
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&agents, "sweep", "--n 200 --sweeps 3", None);
    }
    said.print("far: 200 agents 20 ms away");
    for (name, goal) in [("first", 5), ("learnt", 2)] {
        judge(&format!("requests of a BAS, {name}, at most"), f64::from(said.1[name]), f64::from(goal));
    }
    judge("wall in s, learnt", said.median("learnt", WALL), 0.12);
}

// By the shell; `$0` is the agents' port. Where they stand, `wire::place` says.
const BULKWALK: &str =
    "exec snmpbulkwalk -v2c -c public -Cr50 -OQn 127.1.0.1:$0 .1.3.6.1.4.1.4874.2.2.21.1.1.1.1 >/dev/null";
const XARGS: &str = r#"seq 1000 | awk -v port=$0 '{ print "127.1." int($1 / 256) "." $1 % 256 ":" port }' |
    xargs -P64 -I{} snmpbulkwalk -v2c -c public -Cr50 -OQn {} .1.3.6.1.4.1.4874.2.2.21.1.1.1.1 >/dev/null"#;

/// Another program by the shell; none where it is not installed.
fn other(program: &str, script: &str, words: &[&str]) -> Option<Used> {
    let there = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !there.status.success() {
        println!("  {program} is not installed: left out");
        return None;
    }
    let begun = (std::time::Instant::now(), crate::usage::children());
    let status = Command::new("sh").args(["-c", script]).args(words).status().unwrap();
    assert!(status.success(), "{script}");
    let cpu = crate::usage::children() - begun.1;
    Some(Used { wall: begun.0.elapsed().as_secs_f64(), cpu, ..Used::default() })
}

/// What others need for the same fleet: for the record, without a goal.
fn peers() {
    let agents = Agents::start("agents", "--n 1000");
    let mut said = Said::default();
    said.run(&agents, "floor", "--n 1000", None);
    said.run(&agents, "sweep", "--n 1000 --sweeps 2", None);
    if let Some(used) = other("snmpbulkwalk", XARGS, &[&agents.port.to_string()]) {
        said.0.entry("xargs-P64".to_owned()).or_default().push(used);
    }
    said.print("peers: the fleet by other programs");
}
