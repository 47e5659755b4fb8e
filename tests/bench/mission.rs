//! A whole fleet through the whole program, on one machine: simulated agents, the daemon, and
//! an export. Run it with `cargo bench --bench mission`; `-- --agents 1000 --rest 60` for less.
//!
//! Told are: the first sweep (an empty store: detection, walks, build, the commit of all
//! entries, the MMDB), a second one (nothing new), the most memory that start-up, sweep,
//! commit and export took, memory at rest, and the processor time of an interval.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub)]

#[path = "snmp/agents.rs"]
mod agents;
#[path = "snmp/options.rs"]
mod options;
#[path = "snmp/wire.rs"]
mod wire;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use options::Options;

const POOLSYNC: &str = env!("CARGO_BIN_EXE_poolsync");

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench").peekable();
    if words.next_if(|word| word == "agents").is_some() {
        return agents::serve(&Options::parse(words));
    }
    let options = Options::parse(words);
    let (count, rows) = (options.get("agents", 10_000), options.get("rows", 100));
    let rest = Duration::from_secs(options.get("rest", 300));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let agents = Agents::start(count, rows);
    let config = configure(folder.path(), count, agents.port);

    let daemon = Daemon::start(&config);
    let first = timed(|| poolsync(&config, &["poll", "--json"]));
    let mmdb = fs::metadata(folder.path().join("gslb.mmdb")).unwrap().len();
    tell("first sweep (empty store), walk to MMDB", first, 10.0, "s");
    let told: serde_json::Value = serde_json::from_slice(&poolsync(&config, &["poll", "--json"])).unwrap();
    let read = told["bas"].as_array().unwrap().iter().filter(|bas| bas["state"] == "complete").count();
    assert_eq!((read, &told["filled"]), (count, &serde_json::Value::Bool(true)));
    tell("second sweep, nothing new", timed(|| poolsync(&config, &["poll", "--json"])), 10.0, "s");
    tell("most memory, first start", daemon.memory("VmHWM"), 700.0, "MB");
    daemon.stop();

    let daemon = Daemon::start(&config);
    tell("start-up to ready with all of it in the store", daemon.ready.as_secs_f64(), f64::NAN, "s");
    poolsync(&config, &["poll", "--json"]);
    tell("most memory, second start", daemon.memory("VmHWM"), 700.0, "MB");
    let (began, used) = (Instant::now(), daemon.processor());
    std::thread::sleep(rest);
    let share = (daemon.processor() - used) / began.elapsed().as_secs_f64();
    tell("processor at an interval of 5 minutes", share * 100.0, 10.0, "% of a core");
    tell("memory at rest", daemon.memory("VmRSS"), 250.0, "MB");
    daemon.stop();
    println!("{count} agents, {rows} rows; MMDB of {:.1} MB", mmdb as f64 / 1e6);
}

fn tell(what: &str, measured: f64, goal: f64, unit: &str) {
    let goal = if goal.is_nan() { String::new() } else { format!("goal {goal} {unit}") };
    println!("{what:<50}{measured:>9.2} {unit:<12}{goal}");
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn configure(folder: &Path, count: usize, port: u16) -> PathBuf {
    let mut fleet = String::from("name,address,snmp,mib,edges\n");
    for bas in 0..count {
        let (address, edge) = (wire::place(bas, port), bas % 300);
        fleet.push_str(&format!("bas-{bas:05},{address},sim,auto,edge-{edge:03}\n"));
    }
    fs::write(folder.join("bas.csv"), fleet).unwrap();
    let mut config = String::from(
        "default-edge = \"edge-000\"\n\
         [store]\npath = \"poolsync.db\"\n\
         [control]\nsocket = \"control.sock\"\n\
         [inventory]\nfile = \"bas.csv\"\n\
         [snmp.sim]\nversion = \"2c\"\ncommunity = \"public\"\n\
         [export.dns]\nformat = \"mmdb\"\npath = \"gslb.mmdb\"\n",
    );
    for edge in 0..300 {
        config.push_str(&format!(
            "[edge.edge-{edge:03}]\naddresses = [\"198.18.{}.{}\"]\n",
            edge / 250,
            edge % 250
        ));
    }
    let path = folder.join("config.toml");
    fs::write(&path, config).unwrap();
    path
}

fn poolsync(config: &Path, words: &[&str]) -> Vec<u8> {
    let output = Command::new(POOLSYNC).arg("-c").arg(config).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The simulated routers; they end with their standard input.
struct Agents {
    child: Child,
    /// The port of all of them.
    port: u16,
}

impl Agents {
    fn start(count: usize, rows: u32) -> Self {
        let (count, rows) = (count.to_string(), rows.to_string());
        let words = ["agents", "--n", &count, "--rows", &rows, "--columns", "5"];
        let own = std::env::current_exe().unwrap();
        let mut child =
            Command::new(own).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("ready ").unwrap().parse().unwrap();
        Self { child, port }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The daemon.
struct Daemon {
    child: Child,
    ready: Duration,
}

impl Daemon {
    fn start(config: &Path) -> Self {
        let begun = Instant::now();
        let log = fs::File::create(config.with_file_name("log")).unwrap();
        let child = Command::new(POOLSYNC).arg("-c").arg(config).arg("run").stderr(log).spawn().unwrap();
        let asked = || Command::new(POOLSYNC).arg("-c").arg(config).args(["held", "list"]).output().unwrap();
        while !config.with_file_name("control.sock").exists() || !asked().status.success() {
            assert!(begun.elapsed() < Duration::from_secs(120), "the daemon does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, ready: begun.elapsed() }
    }

    /// A line of the process's status, in MB.
    fn memory(&self, key: &str) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }

    /// The processor time that it has used, in seconds.
    fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // USER_HZ is 100 on every Linux of today.
        ticks as f64 / 100.0
    }

    fn stop(mut self) {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        self.child.wait().unwrap();
    }
}
