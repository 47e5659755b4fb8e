//! BIND with the example configuration of `config/consumers/bind`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use super::consumer::{EDGES, example, sourced};
use super::program::Program;
use super::scratch::{Scratch, free_port};
use super::which;

/// Where BIND lives in a test's folder.
pub struct Plan {
    address: SocketAddr,
    folder: PathBuf,
    rndc: String,
}

impl Plan {
    /// Lays out the example's configuration around the export's folder.
    pub fn new(scratch: &Scratch) -> Self {
        let folder = scratch.folder("bind");
        let (port, control) = (free_port(), free_port());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let export = scratch.folder("export").display().to_string();
        let own = folder.display().to_string();
        let key =
            "key rndc { algorithm hmac-sha256; secret \"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=\"; };\n";
        let around = format!(
            "{key}controls {{ inet 127.0.0.1 port {control} allow {{ 127.0.0.1; }} keys {{ rndc; }}; }};\n\
             options {{ directory \"{own}\"; listen-on port {port} {{ any; }}; listen-on-v6 port {port} {{ ::1; }}; \
             recursion no; pid-file \"{own}/pid\"; session-keyfile \"{own}/session\"; dnssec-validation no; }};\n"
        );
        let changes = [("/var/lib/poolsync/export", export.as_str()), ("/etc/bind/poolsync", &own)];
        std::fs::write(folder.join("named.conf"), around + &example("bind/named.conf", &changes)).unwrap();
        for (edge, _) in EDGES {
            std::fs::write(folder.join(format!("{edge}.zone")), example(&format!("bind/{edge}.zone"), &[]))
                .unwrap();
        }
        let client = folder.join("rndc.conf");
        let options =
            format!("options {{ default-key rndc; default-server 127.0.0.1; default-port {control}; }};\n");
        std::fs::write(&client, format!("{key}{options}")).unwrap();
        let rndc = format!(
            "{:?}, \"-c\", {:?}",
            which("rndc").unwrap().display().to_string(),
            client.display().to_string()
        );
        Self { address, folder, rndc }
    }

    /// `rndc` for it, as the example's export begins its command.
    pub fn rndc(&self) -> &str {
        &self.rndc
    }

    /// Starts it, with the files already there.
    pub fn start(&self) -> Program {
        let mut command = Command::new(which("named").unwrap());
        command.args(["-g", "-n", "1", "-c"]).arg(self.folder.join("named.conf"));
        let mut program = Program::start(&mut command, &self.folder.join("log"));
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        program.wait_ready("an answer", || !sourced(self.address, local).is_empty());
        program
    }

    /// What it answers a client.
    pub fn ask_from(&self, client: IpAddr) -> Vec<String> {
        sourced(self.address, client)
    }
}
