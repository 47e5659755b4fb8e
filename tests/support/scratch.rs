//! Folders and ports for one test.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};

use tempfile::TempDir;

/// A folder that lives as long as the test. Others may read it: some servers run as
/// another user.
pub struct Scratch(TempDir);

impl Scratch {
    /// A new folder, with a short path: the paths of unix sockets are limited.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("ps-").tempdir_in("/tmp").unwrap();
        open_to_all(folder.path());
        Self(folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path within.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// A new folder within, which others may read.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.join(name);
        std::fs::create_dir_all(&path).unwrap();
        open_to_all(&path);
        path
    }

    /// Writes a file within, which others may read, and gives its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        path
    }
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The range below the kernel's own choices (32768 and up), so that no outgoing socket
/// takes a port between our look at it and the server's start.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of loopback that nobody uses, for UDP and for TCP; not given twice by one
/// process, and seldom by two.
pub fn free_port() -> u16 {
    let offset = (std::process::id() as u16).wrapping_mul(97);
    for _ in 0..PORTS.len() {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + offset.wrapping_add(step) % PORTS.len() as u16;
        let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
            && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        if free {
            return port;
        }
    }
    panic!("no free port on loopback");
}

/// An address of loopback on which nobody listens.
pub fn nobody() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, free_port()).into()
}
