//! Routers of several vendors: `snmpsimd`, which serves walk files; the community names the
//! file.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::which;

/// A running simulator.
pub struct Simulator {
    program: Program,
    address: SocketAddr,
    data: PathBuf,
}

impl Simulator {
    /// Starts a simulator of these walk files. `NAME.snmprec` answers to community `NAME`.
    pub fn start(scratch: &Scratch, walks: &[PathBuf]) -> Self {
        let data = scratch.folder("walks");
        let cache = scratch.folder("snmpsim-cache");
        for walk in walks {
            let name = walk.file_name().unwrap().to_string_lossy();
            scratch.write(&format!("walks/{name}"), std::fs::read(walk).unwrap());
        }
        let port = free_port();
        let mut command = Command::new(which("snmpsimd").unwrap());
        if is_root() {
            // It refuses to run as root, and its cache must be writable for the other user.
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            std::fs::set_permissions(&cache, mode).unwrap();
            command.args(["--process-user=nobody", "--process-group=nogroup"]);
        }
        command.arg(format!("--cache-dir={}", cache.display()));
        command.arg(format!("--data-dir={}", data.display()));
        command.arg(format!("--agent-udpv4-endpoint=127.0.0.1:{port}"));
        command.arg("--logging-method=stderr");
        let mut program = Program::start(&mut command, &scratch.join("snmpsimd.log"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let community = walks[0].file_stem().unwrap().to_string_lossy().into_owned();
        program.wait_ready("an answer", || answers(address, &community));
        Self { program, address, data }
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The folder that it serves; a walk that is replaced there is read anew at the next
    /// start.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Its process.
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// Whether an agent answers a GET of sysDescr.0 by SNMPv2c.
pub fn answers(agent: SocketAddr, community: &str) -> bool {
    // version 1 (2c), community, GetRequest(id 1, no error, sysDescr.0 = NULL)
    const VARBINDS: [u8; 16] = [0x30, 0x0e, 0x30, 0x0c, 0x06, 0x08, 0x2b, 6, 1, 2, 1, 1, 1, 0, 0x05, 0];
    let pdu = [&[0xa0, 25, 2, 1, 1, 2, 1, 0, 2, 1, 0][..], &VARBINDS].concat();
    let mut message = vec![0x30, (3 + 2 + community.len() + pdu.len()) as u8, 2, 1, 1, 4];
    message.push(community.len() as u8);
    message.extend(community.as_bytes());
    message.extend(pdu);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect(agent).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut buffer = [0; 2048];
    socket.send(&message).is_ok() && socket.recv(&mut buffer).is_ok()
}
