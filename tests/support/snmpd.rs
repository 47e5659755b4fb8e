//! Debian's `snmpd` on both families of loopback, with a user for every pair of protocols,
//! a second context, and a pool table served by a script.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::Command;
use std::time::{Duration, Instant};

use super::program::{PATIENCE, Program};
use super::scratch::{Scratch, free_port};
use super::{repository, snmpsim, which};

pub const COMMUNITY: &str = "public";
pub const AUTH_PASSWORD: &str = "authpass-12345";
pub const PRIVACY_PASSWORD: &str = "privpass-12345";
/// The user without authentication.
pub const PLAIN_USER: &str = "u_none";
/// The second context.
pub const CONTEXT: &str = "vr1";
/// snmpd's names of authentication protocols.
pub const AUTHS: [&str; 6] = ["MD5", "SHA", "SHA-224", "SHA-256", "SHA-384", "SHA-512"];
/// snmpd's names of privacy protocols; `NONE` is none.
pub const PRIVACIES: [&str; 5] = ["NONE", "DES", "AES", "AES-192", "AES-256"];

const POOLS: &str = "1.3.6.1.4.1.4874";
/// How often another port is tried where somebody took the one that was free.
const STARTS: u32 = 5;

/// A running agent.
pub struct Snmpd {
    program: Program,
    port: u16,
    _scratch: Scratch,
}

/// The user of a pair of protocols.
pub fn user(auth: &str, privacy: &str) -> String {
    format!("u_{auth}_{privacy}")
}

impl Snmpd {
    /// Starts an agent that serves these rows (a `.snmprec` text) of the pool tables. The
    /// second context is asked of another agent, of v2c, where one is given.
    pub fn start(rows: &str, second: Option<SocketAddr>) -> Self {
        for _ in 1..STARTS {
            if let Some(snmpd) = Self::try_start(rows, second) {
                return snmpd;
            }
        }
        panic!("snmpd finds no port, after {STARTS} tries");
    }

    /// None where the port was taken meanwhile.
    fn try_start(rows: &str, second: Option<SocketAddr>) -> Option<Self> {
        let scratch = Scratch::new();
        let port = free_port();
        let rows = scratch.write("rows.snmprec", rows);
        let mut config = format!(
            "agentAddress udp:127.0.0.1:{port},udp6:[::1]:{port}\n\
             rocommunity {COMMUNITY}\n\
             rocommunity6 {COMMUNITY}\n\
             view all included .1\n\
             pass_persist .{POOLS}.2 /usr/bin/python3 -u {} {}\n",
            repository("tests/support/pass_persist.py").display(),
            rows.display(),
        );
        config += &users();
        if let Some(second) = second {
            writeln!(config, "proxy -Cn {CONTEXT} -v 2c -c {COMMUNITY} {second} .{POOLS}").unwrap();
        }
        let path = scratch.write("snmpd.conf", config);
        let mut command = Command::new(which("snmpd").unwrap());
        command.args(["-f", "-Lo", "-C", "-I", "-smux", "-c"]).arg(&path);
        command.env("SNMP_PERSISTENT_DIR", scratch.folder("var")).env("MIBS", "");
        let mut program = Program::start(&mut command, &scratch.join("log"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let end = Instant::now() + PATIENCE;
        while !snmpsim::answers(address, COMMUNITY) {
            if !program.runs() {
                let log = program.log();
                assert!(log.contains("ddress already in use"), "snmpd does not start:\n{log}");
                return None;
            }
            assert!(Instant::now() < end, "snmpd does not answer:\n{}", program.log());
        }
        Some(Self { program, port, _scratch: scratch })
    }

    /// Where it answers on IPv4.
    pub fn v4(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Where it answers on IPv6.
    pub fn v6(&self) -> SocketAddr {
        SocketAddr::from((Ipv6Addr::LOCALHOST, self.port))
    }

    /// Ends it.
    pub fn stop(&mut self) {
        self.program.signal("TERM");
        self.program.wait_end(Duration::from_secs(20));
    }
}

/// A user for every pair of protocols, allowed to read both contexts at its own level.
fn users() -> String {
    let mut out = format!("createUser {PLAIN_USER}\nrouser {PLAIN_USER} noauth\n");
    for auth in AUTHS {
        for privacy in PRIVACIES {
            let name = user(auth, privacy);
            let (keys, level) = match privacy {
                "NONE" => (String::new(), "auth"),
                _ => (format!("{privacy} {PRIVACY_PASSWORD}"), "authpriv"),
            };
            writeln!(out, "createUser {name} {auth} {AUTH_PASSWORD} {keys}").unwrap();
            writeln!(out, "rouser {name} {level}").unwrap();
            writeln!(out, "rouser -s usm {name} {level} -V all {CONTEXT}").unwrap();
        }
    }
    out
}
