//! Unbound: with the example configuration of `config/consumers/unbound`, and as a resolver
//! that keeps answers by client subnet.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use super::consumer::{NAME, example, sourced};
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::which;

/// What every Unbound of a test has in common.
fn around(folder: &std::path::Path, address: SocketAddr) -> String {
    format!(
        "server:\n  directory: \"{0}\"\n  chroot: \"\"\n  username: \"\"\n  pidfile: \"{0}/pid\"\n  \
         interface: 127.0.0.1@{1}\n  interface: ::1@{1}\n  num-threads: 1\n  do-daemonize: no\n  \
         use-syslog: no\n  logfile: \"\"\n",
        folder.display(),
        address.port()
    )
}

/// Where Unbound lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    config: PathBuf,
    log: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around the export's folder.
    pub fn new(scratch: &Scratch) -> Self {
        Self::allowing(scratch, &[])
    }

    /// The same, with clients of these blocks beside those of loopback.
    pub fn allowing(scratch: &Scratch, blocks: &[&str]) -> Self {
        let folder = scratch.folder("unbound");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let export = scratch.folder("export").display().to_string();
        let socket = folder.join("ctl").display().to_string();
        let changes = [("/var/lib/poolsync/export", export.as_str()), ("/run/unbound.ctl", &socket)];
        let mut text = around(&folder, address);
        text.extend(blocks.iter().map(|block| format!("  access-control: {block} allow\n")));
        text += &example("unbound/poolsync.conf", &changes);
        let config = folder.join("unbound.conf");
        std::fs::write(&config, text).unwrap();
        Self { address, config, log: folder.join("log") }
    }

    /// `unbound-control` for it, as the example's export begins its command.
    pub fn control(&self) -> String {
        let control = which("unbound-control").unwrap().display().to_string();
        format!("{control:?}, \"-c\", {:?}", self.config.display().to_string())
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        start(&self.config, &self.log, self.address)
    }

    /// What it answers a client.
    pub fn ask_from(&self, client: IpAddr) -> Vec<String> {
        sourced(self.address, client)
    }
}

fn start(config: &std::path::Path, log: &std::path::Path, address: SocketAddr) -> Program {
    let mut command = Command::new(which("unbound").unwrap());
    let mut program = Program::start(command.arg("-d").arg("-c").arg(config), log);
    program.wait_ready("an answer", || !sourced(address, IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1))).is_empty());
    program
}

/// A resolver of its own, which tells a server on loopback where its clients are, and keeps
/// the answers for as much as the server says.
pub struct Resolver {
    address: SocketAddr,
    _program: Program,
}

impl Resolver {
    /// Starts it in front of this server.
    pub fn start(scratch: &Scratch, server: SocketAddr) -> Self {
        let folder = scratch.folder("resolver");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let zone = NAME.split_once('.').unwrap().1;
        let text = around(&folder, address)
            + &format!(
                "  module-config: \"subnetcache iterator\"\n  send-client-subnet: 127.0.0.1\n  \
                 max-client-subnet-ipv4: 32\n  max-client-subnet-ipv6: 128\n  do-not-query-localhost: no\n  \
                 access-control: 127.0.0.0/8 allow\n  local-zone: \"{zone}.\" nodefault\n\
                 stub-zone:\n  name: \"{zone}\"\n  stub-addr: {}@{}\n  stub-prime: no\n\
                 remote-control:\n  control-enable: no\n",
                server.ip(),
                server.port()
            );
        let config = folder.join("unbound.conf");
        std::fs::write(&config, text).unwrap();
        let program = start(&config, &folder.join("log"), address);
        Self { address, _program: program }
    }

    /// What it answers a client.
    pub fn ask_from(&self, client: IpAddr) -> Vec<String> {
        sourced(self.address, client)
    }
}
