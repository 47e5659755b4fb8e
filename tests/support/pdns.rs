//! PowerDNS with the example configuration of `config/consumers/pdns`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use super::consumer::{NAME, example};
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::{dns, which};

/// Where PowerDNS lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    folder: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around the export's folder.
    pub fn new(scratch: &Scratch) -> Self {
        Self::with(scratch, &[])
    }

    /// The same without a database: zone, groups and table are one file.
    pub fn small(scratch: &Scratch) -> Self {
        let database = "geoip-database-files=mmdb:/var/lib/poolsync/export/gslb.mmdb;language=en";
        Self::with(scratch, &[(database, "geoip-database-files=")])
    }

    fn with(scratch: &Scratch, more: &[(&str, &str)]) -> Self {
        let folder = scratch.folder("pdns");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let export = scratch.folder("export").display().to_string();
        let mut changes = more.to_vec();
        changes.push(("/var/lib/poolsync/export", &export));
        let config = example("pdns/poolsync.conf", &changes);
        let around = format!(
            "local-address={}\nlocal-port={}\nsocket-dir={}\nsetuid=\nsetgid=\ndaemon=no\nguardian=no\n\
             security-poll-suffix=\nlaunch=\n",
            address.ip(),
            address.port(),
            folder.display()
        );
        std::fs::write(folder.join("pdns.conf"), format!("{around}{config}")).unwrap();
        Self { address, folder }
    }

    /// Where it will answer.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `pdns_control` for it, as the example's export begins its command.
    pub fn control(&self) -> String {
        let control = which("pdns_control").unwrap().display().to_string();
        format!("{control:?}, \"--socket-dir={}\"", self.folder.display())
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        let mut command = Command::new(which("pdns_server").unwrap());
        command.arg(format!("--config-dir={}", self.folder.display()));
        let mut program = Program::start(&mut command, &self.folder.join("log"));
        let mut client = dns::Client::new(self.address);
        let anybody = IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9));
        program
            .wait_ready("an answer", || client.ask(NAME, anybody).is_some_and(|a| !a.addresses.is_empty()));
        program
    }
}
