//! gdnsd with the example configuration of `config/consumers/gdnsd`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use super::consumer::{NAME, example};
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::{dns, which};

/// Where gdnsd lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    folder: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around the export's folder.
    pub fn new(scratch: &Scratch) -> Self {
        let folder = scratch.folder("gdnsd");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let export = scratch.folder("export").display().to_string();
        let [run, state] =
            ["run", "state"].map(|name| scratch.folder(&format!("gdnsd/{name}")).display().to_string());
        let listen = format!(
            "listen => {}\n  dns_port => {}\n  run_dir => {run}\n  state_dir => {state}\n  \
             udp_threads => 1\n  tcp_threads => 1",
            address.ip(),
            address.port()
        );
        let changes = [("listen => any", listen.as_str()), ("/var/lib/poolsync/export", &export)];
        std::fs::write(folder.join("config"), example("gdnsd/config", &changes)).unwrap();
        let zones = scratch.folder("gdnsd/zones");
        std::fs::write(zones.join("example.com"), example("gdnsd/zones/example.com", &[])).unwrap();
        Self { address, folder }
    }

    /// Where it will answer.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its configuration's folder.
    pub fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// A command to the running one.
    pub fn control(&self, word: &str) -> bool {
        let mut command = Command::new(which("gdnsdctl").unwrap());
        command.args(["-c", &self.folder(), word]).output().unwrap().status.success()
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Running<'_> {
        let mut command = Command::new(which("gdnsd").unwrap());
        command.args(["-c", &self.folder(), "start"]);
        let mut program = Program::start(&mut command, &self.folder.join("log"));
        let mut client = dns::Client::new(self.address);
        let anybody = IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9));
        program
            .wait_ready("an answer", || client.ask(NAME, anybody).is_some_and(|a| !a.addresses.is_empty()));
        Running { plan: self, program }
    }
}

/// A running gdnsd, of whichever process: `replace` puts another in its place, which only
/// its own control socket can tell to stop.
pub struct Running<'p> {
    plan: &'p Plan,
    program: Program,
}

impl Running<'_> {
    /// What it has logged, and the processes in its place, which share its output.
    pub fn log(&self) -> String {
        self.program.log()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.plan.control("stop");
    }
}
