//! HAProxy with the example configuration of `config/consumers/haproxy`.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use super::consumer::example;
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::{http, nginx, which};

/// Where HAProxy lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    folder: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around the export's folder.
    pub fn new(scratch: &Scratch) -> Self {
        let folder = scratch.folder("haproxy");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let export = scratch.folder("export").display().to_string();
        let socket = format!("{} mode 600 level", folder.join("sock").display());
        let text = example(
            "haproxy/haproxy.cfg",
            &[
                ("/var/lib/poolsync/export", &export),
                (
                    "    stats socket /run/haproxy/poolsync.sock mode 660 group haproxy level",
                    &format!("    stats socket {socket}"),
                ),
                ("bind :80", &format!("bind {address}")),
            ],
        );
        std::fs::write(folder.join("haproxy.cfg"), text).unwrap();
        Self { address, folder }
    }

    /// Where it will answer.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its socket.
    pub fn socket(&self) -> String {
        self.folder.join("sock").display().to_string()
    }

    /// What its socket answers to a command.
    pub fn ask(&self, command: &str) -> String {
        let mut stream = UnixStream::connect(self.folder.join("sock")).unwrap();
        stream.write_all(format!("{command}\n").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        let mut command = Command::new(which("haproxy").unwrap());
        command.arg("-db").arg("-f").arg(self.folder.join("haproxy.cfg"));
        let mut program = Program::start(&mut command, &self.folder.join("log"));
        let mut client = http::Client::new(self.address);
        let anybody = IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9));
        program.wait_ready("an answer", || nginx::redirect(&mut client, "/", anybody).is_some());
        program
    }
}
