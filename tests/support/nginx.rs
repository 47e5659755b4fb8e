//! nginx with the example configuration of `config/consumers/nginx`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::knot::put;
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::{http, repository, which};

/// Where nginx lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    folder: PathBuf,
}

impl Plan {
    /// Lays out the example's configuration around these two files.
    pub fn new(scratch: &Scratch, table: &Path, groups: &Path) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let example = std::fs::read_to_string(repository("config/consumers/nginx/poolsync.conf")).unwrap();
        let include = |path: &Path| format!("    include {};", path.display());
        let example = put(&example, "listen 80;", &format!("listen {address};"));
        let example = put(&example, "    include /var/lib/poolsync/export/edges.conf;", &include(table));
        let example = put(&example, "    include /var/lib/poolsync/export/targets.conf;", &include(groups));
        Self::around(scratch, address, &example, "")
    }

    /// Lays out a whole configuration around the text of an example, which listens on this
    /// address; `before` stands before everything, for modules.
    pub fn around(scratch: &Scratch, address: SocketAddr, example: &str, before: &str) -> Self {
        let folder = scratch.folder("nginx");
        std::fs::write(folder.join("poolsync.conf"), example).unwrap();
        // Where root is the only user that there is, its workers can be nobody else's.
        let users = std::fs::read_to_string("/proc/self/uid_map").unwrap();
        let alone = users.split_whitespace().nth(2) == Some("1");
        let mut config = before.to_owned()
            + if alone { "user root;\n" } else { "" }
            + "daemon off; worker_processes 1; pid nginx.pid; error_log stderr notice;\n\
                          events { worker_connections 256; }\n\
                          http {\n    access_log off; keepalive_requests 1000000;\n";
        for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            config.push_str(&format!("    {kind}_temp_path {kind};\n"));
        }
        config.push_str("    include poolsync.conf;\n}\n");
        std::fs::write(folder.join("nginx.conf"), config).unwrap();
        Self { address, folder }
    }

    /// Where it will answer.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The command that makes a running one read its files again.
    pub fn reload(&self) -> Vec<String> {
        let mut command = self.command();
        command.extend(["-s".to_owned(), "reload".to_owned()]);
        command
    }

    /// The command that says whether the configuration and its files are sound.
    pub fn check(&self) -> Vec<String> {
        let mut command = self.command();
        command.push("-t".to_owned());
        command
    }

    /// The command that starts it.
    pub fn start_command(&self) -> Vec<String> {
        self.command()
    }

    fn command(&self) -> Vec<String> {
        let nginx = which("nginx").unwrap().display().to_string();
        let folder = self.folder.display().to_string();
        // The log named here is the one before the configuration is read.
        [nginx.as_str(), "-p", &folder, "-e", "stderr", "-c", "nginx.conf"].map(str::to_owned).into()
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        let line = self.command();
        let mut program = Program::start(Command::new(&line[0]).args(&line[1..]), &self.folder.join("log"));
        let anybody = IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9));
        let mut client = http::Client::new(self.address);
        program.wait_ready("an answer", || redirect(&mut client, "/", anybody).is_some());
        program
    }
}

/// How many worker processes a running nginx has: after a reload the old ones go on
/// answering the connections that they have, with the table that they have.
pub fn workers(nginx: &Program) -> usize {
    children(nginx.pid())
}

fn children(pid: u32) -> usize {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().count()
}

/// Waits until only the workers of the newest configuration are left. After a reload that has
/// shown its effect, an old worker may still take a new connection before it hears of its end.
pub fn settled(nginx: &mut Program) {
    let pid = nginx.pid();
    nginx.wait_ready("its old workers' end", || children(pid) == 1);
}

/// Where a viewer is redirected to with 302.
pub fn redirect(client: &mut http::Client, path: &str, viewer: IpAddr) -> Option<String> {
    let response = client.get(path, &[("X-Forwarded-For", &viewer.to_string())])?;
    assert_eq!(response.status, 302, "{response:?}");
    Some(response.header("location").unwrap().to_owned())
}
