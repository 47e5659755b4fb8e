//! dnsdist with the example configuration of `config/consumers/dnsdist`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use super::consumer::{example, sourced};
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::which;

/// Where dnsdist lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    config: PathBuf,
    console: PathBuf,
    log: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around the export's folder.
    pub fn new(scratch: &Scratch) -> Self {
        let folder = scratch.folder("dnsdist");
        let (port, control, behind) = (free_port(), free_port(), free_port());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let export = scratch.folder("export").display().to_string();
        let console = folder.join("poolsync-console.conf");
        let text =
            example("dnsdist/poolsync-console.conf", &[("127.0.0.1:5199", &format!("127.0.0.1:{control}"))]);
        std::fs::write(&console, text).unwrap();
        let text = example(
            "dnsdist/dnsdist.conf",
            &[
                ("setLocal(\"0.0.0.0:53\")", &format!("setLocal(\"127.0.0.1:{port}\")")),
                ("addLocal(\"[::]:53\")", &format!("addLocal(\"[::1]:{port}\")")),
                ("/etc/dnsdist/poolsync-console.conf", &console.display().to_string()),
                ("127.0.0.1:5300", &format!("127.0.0.1:{behind}")),
                ("/var/lib/poolsync/export", &export),
            ],
        );
        let config = folder.join("dnsdist.conf");
        std::fs::write(&config, text).unwrap();
        Self { address, config, console, log: folder.join("log") }
    }

    /// What the export's commands are to be, for the example's.
    pub fn changes(&self) -> [(&'static str, String); 3] {
        let program = which("dnsdist").unwrap().display().to_string();
        [
            ("[\"dnsdist\"", format!("[{program:?}")),
            ("$(dnsdist", format!("$({program}")),
            ("/etc/dnsdist/poolsync-console.conf", self.console.display().to_string()),
        ]
    }

    /// The example's command by which it is told of a new table.
    pub fn reload(&self) -> String {
        let program = which("dnsdist").unwrap();
        format!("{} -C {} -e 'poolsyncLoad()'", program.display(), self.console.display())
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        let mut command = Command::new(which("dnsdist").unwrap());
        command.args(["--supervised", "--disable-syslog", "-C"]).arg(&self.config);
        let mut program = Program::start(&mut command, &self.log);
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        program.wait_ready("an answer", || !sourced(self.address, local).is_empty());
        program
    }

    /// What it answers a client.
    pub fn ask_from(&self, client: IpAddr) -> Vec<String> {
        sourced(self.address, client)
    }
}
