//! Knot DNS with the example configuration of `config/consumers/knot`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::{dns, repository, which};

/// The name that is asked for.
pub const NAME: &str = "cdn.example.com";

/// Where Knot lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    config: PathBuf,
    log: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around these two files.
    pub fn new(scratch: &Scratch, mmdb: &Path, groups: &Path) -> Self {
        let folder = scratch.folder("knot");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let zones = scratch.folder("knot/zones");
        let zone = std::fs::read(repository("config/consumers/knot/example.com.zone")).unwrap();
        std::fs::write(zones.join("example.com.zone"), zone).unwrap();
        let listen = format!("listen: 127.0.0.1@{}", address.port());
        let config = std::fs::read_to_string(repository("config/consumers/knot/knot.conf")).unwrap();
        let config = put(&config, "    listen: ::@53\n", "");
        let config = put(&config, "listen: 0.0.0.0@53", &listen);
        let config = put(&config, "rundir: /run/knot", &format!("rundir: {}", folder.display()));
        let config = put(&config, "target: syslog", "target: stderr");
        let config = put(&config, "storage: /var/lib/knot", &format!("storage: {}", folder.display()));
        let config = put(&config, "storage: /etc/knot/zones", &format!("storage: {}", zones.display()));
        let setting = |key: &str, path: &Path| format!("    {key}: {}", path.display());
        let config =
            put(&config, "    geodb-file: /var/lib/poolsync/export/gslb.mmdb", &setting("geodb-file", mmdb));
        let config = put(
            &config,
            "    config-file: /var/lib/poolsync/export/geo.conf",
            &setting("config-file", groups),
        );
        let path = folder.join("knot.conf");
        std::fs::write(&path, config).unwrap();
        Self { address, config: path, log: folder.join("log") }
    }

    /// Where it will answer.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The command that makes it read its files again.
    pub fn reload(&self) -> Vec<String> {
        let knotc = which("knotc").unwrap().display().to_string();
        vec![knotc, "-c".into(), self.config.display().to_string(), "reload".into()]
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        let mut command = Command::new(which("knotd").unwrap());
        let mut program = Program::start(command.arg("-c").arg(&self.config), &self.log);
        let mut client = dns::Client::new(self.address);
        let anybody = IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9));
        program.wait_ready("an answer", || client.ask(NAME, anybody).is_some());
        program
    }
}

/// The text with one thing put in another's place; the example must have it.
pub fn put(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "the example has {old:?} once:\n{text}");
    text.replace(old, new)
}

/// What `dig` is answered on behalf of a subnet.
pub fn dig(server: SocketAddr, subnet: &str, kind: &str) -> Vec<IpAddr> {
    let mut command = Command::new(which("dig").unwrap());
    command.arg("@127.0.0.1").arg(format!("-p{}", server.port())).args([NAME, kind, "+short", "+tries=3"]);
    let output = command.arg("+time=5").arg(format!("+subnet={subnet}")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}
