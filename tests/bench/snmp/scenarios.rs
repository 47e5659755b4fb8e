//! The scenarios: who is run against whom, how often, and what is asked of the result.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use crate::peers::{self, AT_ONCE, BULKWALK, Exporter, XARGS};
use crate::usage::Used;

/// Rounds of each scenario.
const ROUNDS: usize = 5;
/// Of those that take a tenth of a second, in which a shared machine is not the same twice.
const SHORT_ROUNDS: usize = 15;

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
    let program = if role == "sweep" { sweeper() } else { std::env::current_exe().unwrap() };
    let mut command = Command::new(program);
    command.arg(role).args(words.split_whitespace());
    command
}

/// The program that sweeps, which is built at its first use, as this one was.
fn sweeper() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let own = std::env::current_exe().unwrap();
        // TARGET/PROFILE/deps/PROGRAM
        let target = own.ancestors().nth(3).unwrap();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["bench", "--bench", "sweep", "--no-run", "--message-format=json-render-diagnostics"]);
        command.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
        let output = command.arg("--target-dir").arg(target).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{command:?}");
        let messages = String::from_utf8(output.stdout).unwrap();
        let mut built = messages.lines().filter_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            (message["target"]["name"] == "sweep")
                .then(|| message["executable"].as_str().map(PathBuf::from))?
        });
        built.next_back().unwrap()
    };
    BUILT.get_or_init(build).clone()
}

/// What programs said, by the names of their lines.
#[derive(Default)]
struct Said(BTreeMap<String, Vec<Used>>, BTreeMap<String, u32>);

impl Said {
    fn run(&mut self, agents: &Agents, role: &str, words: &str, prefix: Option<&str>) {
        self.hear(agents, own(role, words), prefix);
    }

    /// Runs a program against the agents, and takes what it prints.
    fn hear(&mut self, agents: &Agents, mut command: Command, prefix: Option<&str>) {
        let port = agents.port.to_string();
        let output = command.args(["--port", &port]).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{command:?}");
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
            self.note(&called(words[0]), used);
        }
    }

    fn note(&mut self, name: &str, used: Used) {
        self.0.entry(name.to_owned()).or_default().push(used);
    }

    fn median(&self, name: &str, of: impl Fn(&Used) -> f64) -> f64 {
        middle(self.0[name].iter().map(of).collect())
    }

    /// That a program came to so many values in every round, and not only to its end.
    fn check(&self, name: &str, values: u32) {
        let all: Vec<f64> = self.0.get(name).into_iter().flatten().map(|used| used.values).collect();
        assert!(all.iter().all(|found| *found == f64::from(values)), "{name}: {all:?} of {values}");
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
        self.compare(what, ours, theirs, of, Some(goal));
    }

    /// The same, for the record where there is no goal. Each round has a ratio of its own, of two
    /// runs that followed each other: the machine may have been another in the next round.
    fn compare(&self, what: &str, ours: &str, theirs: &str, of: fn(&Used) -> f64, goal: Option<f64>) {
        let ratios = self.0[ours].iter().zip(&self.0[theirs]).map(|(ours, theirs)| of(ours) / of(theirs));
        let ratio = middle(ratios.collect());
        let what = format!("{what}, {ours} / {theirs}");
        match goal {
            Some(goal) => judge(&what, ratio, goal),
            None => println!("  {what}: {ratio:.3} (1 / {:.1})", 1.0 / ratio),
        }
    }
}

fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
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
    for _ in 0..SHORT_ROUNDS {
        said.run(&agents, "floor", "--n 1000", None);
        said.run(&agents, "sweep", "--n 1000 --sweeps 2", None);
    }
    said.check("floor", 250_000);
    // A range a row, of all its cells.
    said.check("first", 50_000);
    said.check("learnt", 50_000);
    said.print("fleet: 1,000 agents x 50 rows x 5 columns");
    for name in ["first", "learnt"] {
        said.ratio("CPU", name, "floor", CPU, 2.5);
        said.ratio("wall", name, "floor", WALL, 2.0);
    }
    judge("peak memory in MB", said.median("learnt", RSS), 40.0);
}

fn large() {
    let agents = Agents::start("agents", "--n 1 --rows 100000");
    let bulkwalk = peers::has_bulkwalk();
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&agents, "codec", "", None);
        said.run(&agents, "sweep", "--n 1 --sweeps 2", None);
        if bulkwalk {
            said.note("bulkwalk", peers::bulkwalk(BULKWALK, 1, agents.port));
        }
    }
    said.check("codec", 500_000);
    said.check("bulkwalk", 500_000);
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
    for _ in 0..SHORT_ROUNDS {
        said.run(&plain, "sweep", "--n 1000 --sweeps 2", Some("v2c"));
        said.run(&sealed, "sweep", "--n 1000 --sweeps 2 --version 3", Some("v3"));
    }
    said.print("usm: 1,000 agents x 50 rows x 5 columns, authPriv by sha256 and aes128");
    said.ratio("CPU, keys known", "v3 learnt", "v2c learnt", CPU, 3.0);
}

fn dead() {
    let agents = Agents::start("agents", "--n 1000 --dead 1000");
    let mut said = Said::default();
    // What is waited for a dead one is not measured, so short that all of them are given up soon.
    let sweeps = "--n 1000 --sweeps 2 --timeout-ms 500 --retries 0";
    for _ in 0..SHORT_ROUNDS {
        said.run(&agents, "sweep", sweeps, Some("alone"));
        said.run(&agents, "sweep", &format!("{sweeps} --dead 1000"), Some("among"));
    }
    said.print("dead: 1,000 live agents among 1,000 dead ones");
    for (name, what) in [("first", "not known yet"), ("learnt", "known")] {
        let what = format!("wall until all live ones are polled, the dead {what}");
        said.ratio(&what, &format!("among {name}"), &format!("alone {name}"), WALL, 1.1);
    }
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

/// What others need for the same fleet.
fn peers() {
    let agents = Agents::start("agents", "--n 1000");
    let (gosnmp, exporter, bulkwalk) = (peers::gosnmp(), Exporter::start(), peers::has_bulkwalk());
    let mut said = Said::default();
    for _ in 0..ROUNDS {
        said.run(&agents, "floor", "--n 1000", None);
        said.run(&agents, "sweep", "--n 1000 --sweeps 2", None);
        if let Some(program) = &gosnmp {
            let mut command = Command::new(program);
            command.args(["--n", "1000", "--concurrency", &AT_ONCE.to_string()]);
            said.hear(&agents, command, None);
        }
        if let Some(exporter) = &exporter {
            said.note("exporter", exporter.sweep(1_000, agents.port));
        }
        if bulkwalk {
            said.note("xargs-P64", peers::bulkwalk(XARGS, 1_000, agents.port));
        }
    }
    said.print("peers: 1,000 agents x 50 rows x 5 columns by other programs");
    for (name, cpu, wall) in
        [("gosnmp", Some(0.4), Some(0.5)), ("exporter", None, None), ("xargs-P64", None, Some(0.05))]
    {
        said.check(name, 250_000);
        if said.0.contains_key(name) {
            said.compare("CPU", "learnt", name, CPU, cpu);
            said.compare("wall", "learnt", name, WALL, wall);
        }
    }
}
