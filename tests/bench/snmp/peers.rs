//! Other programs that read the same tables: what is installed of them, how they are run, and
//! whether they got every cell. None of them is in this repository; where one is missing, it
//! is said and left out.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crate::usage::{Used, children};
use crate::wire::place;

/// Agents that each of them talks with at a time.
pub(crate) const AT_ONCE: usize = 64;

/// How many ticks /proc counts a second (USER_HZ), whatever the kernel's own clock.
const TICKS: f64 = 100.0;

/// By the shell, `$0` is the agents' port: how many lines snmpbulkwalk writes of one agent.
pub(crate) const BULKWALK: &str =
    "snmpbulkwalk -v2c -c public -Cr50 -OQn 127.1.0.1:$0 .1.3.6.1.4.1.4874.2.2.21.1.1.1.1 | wc -l";
/// The same of a thousand of them. Where they stand, `wire::place` says.
pub(crate) const XARGS: &str = r#"seq 1000 | awk -v port=$0 '{ print "127.1." int($1 / 256) "." $1 % 256 ":" port }' |
    xargs -P64 -I{} snmpbulkwalk -v2c -c public -Cr50 -OQn {} .1.3.6.1.4.1.4874.2.2.21.1.1.1.1 | wc -l"#;

fn is_there(program: &str, package: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        println!("  skipped: {program} is not installed (apt install {package})");
    }
    found.status.success()
}

/// Whether snmpbulkwalk can be run.
pub(crate) fn has_bulkwalk() -> bool {
    is_there("snmpbulkwalk", "snmp")
}

/// Runs snmpbulkwalk for so many agents by a script that prints the number of its lines.
pub(crate) fn bulkwalk(script: &str, agents: u32, port: u16) -> Used {
    let (begun, before) = (Instant::now(), children());
    let output = Command::new("sh").args(["-c", script, &port.to_string()]).output().unwrap();
    assert!(output.status.success(), "{script}");
    let lines: u32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    // A line a cell, and one for each agent that says that no more are left.
    let values = f64::from(lines) - f64::from(agents);
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), children() - before);
    Used { wall, cpu, values, ..Used::default() }
}

/// The program that walks by gosnmp, built; none where that cannot be.
pub(crate) fn gosnmp() -> Option<PathBuf> {
    if !is_there("go", "golang-go") {
        return None;
    }
    if !Path::new("/usr/share/gocode/src/github.com/gosnmp/gosnmp").is_dir() {
        println!("  skipped: gosnmp is not installed (apt install golang-github-gosnmp-gosnmp-dev)");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let program = folder.join("gosnmp");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(source("gosnmp.go"))
        // Debian's packages, and nothing from elsewhere.
        .envs([("GO111MODULE", "off"), ("GOPATH", "/usr/share/gocode"), ("GOFLAGS", "")])
        .env("GOCACHE", folder.join("cache"))
        .status()
        .unwrap();
    assert!(built.success(), "gosnmp.go");
    Some(program)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/snmp/peers").join(name)
}

/// Prometheus' snmp_exporter, which serves until this is dropped.
pub(crate) struct Exporter {
    child: Child,
    /// Where it is asked.
    address: String,
}

impl Exporter {
    /// Starts it on a free port; none where it is missing.
    pub(crate) fn start() -> Option<Self> {
        if !is_there("prometheus-snmp-exporter", "prometheus-snmp-exporter") {
            return None;
        }
        let mut child = Command::new("prometheus-snmp-exporter")
            .arg(format!("--config.file={}", source("snmp.yml").display()))
            .arg("--web.listen-address=127.0.0.1:0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let listening = log.find_map(|line| {
            let (_, address) = line.split_once("msg=\"Listening on\" address=")?;
            Some(address.trim().to_owned())
        });
        let address = listening.unwrap_or_else(|| panic!("snmp_exporter did not begin to listen"));
        // What else it says is read, so that it never waits to say it.
        std::thread::spawn(move || log.for_each(drop));
        Some(Self { child, address })
    }

    /// Has it read so many agents, and counts the cells that it tells of them. Processor time
    /// is the exporter's alone, without ours that ask it.
    pub(crate) fn sweep(&self, count: usize, port: u16) -> Used {
        let (next, cells) = (AtomicUsize::new(0), AtomicU64::new(0));
        let (begun, before) = (Instant::now(), self.cpu());
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    let mine = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                    let told = mine.take_while(|agent| *agent < count).map(|agent| self.scrape(agent, port));
                    cells.fetch_add(told.sum(), Ordering::Relaxed);
                });
            }
        });
        let (wall, cpu) = (begun.elapsed().as_secs_f64(), self.cpu() - before);
        Used { wall, cpu, rss: self.peak(), values: cells.into_inner() as f64, ..Used::default() }
    }

    /// How many cells it tells of an agent.
    fn scrape(&self, agent: usize, port: u16) -> u64 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let target = place(agent, port);
        write!(stream, "GET /snmp?module=pools&target={target} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
        answer.lines().filter(|line| line.starts_with("pool_")).count() as u64
    }

    /// Processor time so far, in seconds: utime and stime of proc_pid_stat(5), which count ticks.
    fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name of the program stands in brackets, and is field 2.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: f64 = [14, 15].iter().map(|field| fields[field - 3].parse::<f64>().unwrap()).sum();
        ticks / TICKS
    }

    /// The most memory so far, in MB.
    fn peak(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
