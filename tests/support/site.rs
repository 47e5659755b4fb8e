//! One installation of poolsync in a folder: configuration, store, exports.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::junose;
use super::poolsync::{self, Outcome};
use super::scratch::Scratch;

/// One installation.
pub struct Site {
    /// Its folder.
    pub scratch: Scratch,
    /// Its configuration file.
    pub config: PathBuf,
}

impl Site {
    /// An installation with this configuration, in a folder that may hold routers too.
    pub fn new(scratch: Scratch, configuration: &str) -> Self {
        let config = scratch.write("config.toml", configuration);
        scratch.folder("export");
        Self { scratch, config }
    }

    /// Writes another configuration in its place.
    pub fn configure(&self, configuration: &str) {
        self.scratch.write("config.toml", configuration);
    }

    /// Runs a command with its configuration.
    pub fn run(&self, args: &[&str]) -> Outcome {
        poolsync::run_with(&self.config, args)
    }

    /// A file of its exports.
    pub fn export(&self, name: &str) -> PathBuf {
        self.scratch.join("export").join(name)
    }

    /// What `export -f json` gives, as text: two of the same generation are equal.
    #[track_caller]
    pub fn table(&self) -> String {
        self.run(&["export", "-f", "json"]).expect(0).stdout
    }

    /// The entries of the table as `first-last BAS`.
    #[track_caller]
    pub fn entries(&self) -> Vec<String> {
        let json: serde_json::Value = serde_json::from_str(&self.table()).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
        let entries = json["entries"].as_array().unwrap().iter();
        entries.map(|e| format!("{}-{} {}", text(&e["first"]), text(&e["last"]), text(&e["bas"]))).collect()
    }
}

/// A configuration of JUNOSe routers (name, address, edge), with the edges `centre`, `east`
/// and `west`, and one export for nginx.
pub fn configuration(routers: &[(&str, SocketAddr, &str)]) -> String {
    let mut text = format!(
        r#"default-edge = "centre"

[store]
path = "poolsync.db"

[control]
socket = "control.sock"

[poll]
timeout = "300ms"
retries = 1
deadline = "10s"

[guard]
settle = "0s"

[snmp.lab]
version = "2c"
community = {{ env = "{COMMUNITY_ENV}" }}

[edge.centre]
addresses = ["198.51.100.1"]
host = "centre.example.net"

[edge.east]
addresses = ["198.51.100.10"]
host = "east.example.net"

[edge.west]
addresses = ["198.51.100.20"]
host = "west.example.net"

[export.http]
format = "nginx-geo"
path = "export/edges.conf"
groups = {{ format = "nginx-map", path = "export/targets.conf" }}
"#
    );
    for (name, address, edge) in routers {
        text += &format!(
            "\n[bas.{name}]\naddress = \"{address}\"\nsnmp = \"lab\"\nmib = \"auto\"\nedges = [\"{edge}\"]\n"
        );
    }
    text
}

/// The variable that holds the routers' community; [`poolsync::command`] sets it.
pub const COMMUNITY_ENV: &str = "POOLSYNC_TEST_COMMUNITY";

/// A router with these pools, and a site that polls it as `bas-a`.
pub fn with_router(pools: &[(&str, &str, &str)]) -> (Site, junose::Router) {
    let scratch = Scratch::new();
    let router = junose::Router::start(&scratch, "bas-a", pools);
    let configuration = configuration(&[("bas-a", router.address(), "east")]);
    (Site::new(scratch, &configuration), router)
}

/// The content of a file.
pub fn content(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
