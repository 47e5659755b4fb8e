//! A JUNOSe router: Debian's `snmpd`, which hands the pool table to a script that serves
//! the rows of a file. The test may replace the file at any time.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::{repository, snmpsim, which};

/// The community for version 2c.
pub const COMMUNITY: &str = "public";
/// The user for version 3, with SHA-256 and AES-128.
pub const USER: &str = "poller";
/// The user's authentication password.
pub const AUTH: &str = "auth-password";
/// The user's privacy password.
pub const PRIVACY: &str = "privacy-password";

/// A pool whose range is void: it is there, and has no address.
pub const VOID: (&str, &str, &str) = ("pool1", "0.0.0.0", "0.0.0.0");

const POOLS: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1";

/// A running router with the pool table alone, as before JUNOSe 3.3.
pub struct Router {
    program: Program,
    address: SocketAddr,
    rows: PathBuf,
}

impl Router {
    /// Starts a router with these pools (name, first, last).
    pub fn start(scratch: &Scratch, name: &str, pools: &[(&str, &str, &str)]) -> Self {
        let folder = scratch.folder(name);
        let rows = folder.join("rows.snmprec");
        std::fs::write(&rows, table(pools)).unwrap();
        let port = free_port();
        let script = repository("tests/support/pass_persist.py");
        let config = format!(
            "agentAddress udp:127.0.0.1:{port}\n\
             sysobjectid .1.3.6.1.4.1.4874.1.1.1.1.3\n\
             sysdescr Juniper Networks, Inc. ERX-1440 Edge Routing Switch\n\
             sysname {name}\n\
             rocommunity {COMMUNITY}\n\
             createUser {USER} SHA-256 {AUTH} AES {PRIVACY}\n\
             rouser {USER} authpriv\n\
             pass_persist .1.3.6.1.4.1.4874.2 /usr/bin/python3 -u {} {}\n",
            script.display(),
            rows.display()
        );
        let path = folder.join("snmpd.conf");
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new(which("snmpd").unwrap());
        command.args(["-f", "-Lo", "-C", "-I", "-smux", "-c"]).arg(&path);
        command.env("SNMP_PERSISTENT_DIR", &folder).env("MIBS", "");
        let mut program = Program::start(&mut command, &folder.join("log"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // The first pool's row status, so that the script behind it is known to answer too.
        program.wait_ready("an answer", || snmpsim::answers(address, COMMUNITY));
        Self { program, address, rows }
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The file of its rows.
    pub fn rows(&self) -> &PathBuf {
        &self.rows
    }

    /// Replaces its pools in one step.
    pub fn set(&self, pools: &[(&str, &str, &str)]) {
        let new = self.rows.with_extension("new");
        std::fs::write(&new, table(pools)).unwrap();
        std::fs::rename(&new, &self.rows).unwrap();
    }

    /// Its process.
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }
}

impl Drop for Router {
    /// SIGKILL: told to end, snmpd would first write its state into a folder that may be gone.
    fn drop(&mut self) {
        self.program.kill();
    }
}

/// The rows of the pool table: row status, name, start, end, size, in use.
pub fn table(pools: &[(&str, &str, &str)]) -> String {
    let mut columns = [const { String::new() }; 6];
    for (at, (name, first, last)) in pools.iter().enumerate() {
        let index = at + 1;
        let bits = |text: &str| u32::from(text.parse::<Ipv4Addr>().unwrap());
        let size = bits(last) - bits(first) + 1;
        let cells = ["2|1", &format!("4|{name}"), &format!("64|{first}"), &format!("64|{last}")];
        let counts = [format!("2|{size}"), "2|0".to_owned()];
        let cells = cells.into_iter().chain(counts.iter().map(String::as_str));
        for (arc, (column, cell)) in columns.iter_mut().zip(cells).enumerate() {
            writeln!(column, "{POOLS}.{}.{index}|{cell}", arc + 2).unwrap();
        }
    }
    // The next free pool index: the group answers even where no pool is left.
    let next = format!("1.3.6.1.4.1.4874.2.2.21.1.1.2.0|2|{}\n", pools.len() + 1);
    columns.concat() + &next
}
