//! What the black-box tests stand on: real programs in temporary folders on loopback.
//! Every program is started by the test that needs it, waited for by asking it, killed by
//! its own process id when the test is over, and its log is shown where a wait fails.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

pub mod bind;
pub mod cisco;
pub mod consumer;
pub mod dns;
pub mod dnsdist;
pub mod engine;
pub mod gdnsd;
pub mod haproxy;
pub mod http;
pub mod json;
pub mod junose;
pub mod knot;
pub mod loads;
pub mod mmdb;
pub mod network;
pub mod nginx;
pub mod pdns;
pub mod poolsync;
pub mod program;
pub mod relay;
pub mod scratch;
pub mod scripted;
pub mod site;
pub mod snmpd;
pub mod snmprec;
pub mod snmpsim;
pub mod unbound;
pub mod wire;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Which Debian package brings a program.
const PACKAGES: &[(&str, &str)] = &[
    ("snmpd", "snmpd"),
    ("snmpwalk", "snmp"),
    ("snmptrap", "snmp"),
    ("snmpsimd", "snmpsim"),
    ("knotd", "knot"),
    ("knotc", "knot"),
    ("knot-module-geoip", "knot-module-geoip"),
    ("dig", "dnsutils"),
    ("kdig", "knot-dnsutils"),
    ("nginx", "nginx"),
    ("mmdblookup", "mmdb-bin"),
    ("pdns_server", "pdns-server"),
    ("pdns_control", "pdns-server"),
    ("pdns-geoip", "pdns-backend-geoip"),
    ("unbound", "unbound"),
    ("unbound-control", "unbound"),
    ("unbound-checkconf", "unbound"),
    ("named", "bind9"),
    ("rndc", "bind9-utils"),
    ("named-checkconf", "bind9-utils"),
    ("dnsdist", "dnsdist"),
    ("haproxy", "haproxy"),
    ("nginx-module-geoip2", "libnginx-mod-http-geoip2"),
    ("gdnsd", "gdnsd"),
    ("gdnsdctl", "gdnsd"),
    ("curl", "curl"),
    ("python3", "python3"),
    ("systemd-analyze", "systemd"),
    ("unshare", "util-linux"),
    ("setpriv", "util-linux"),
    ("mount", "mount"),
    ("ip", "iproute2"),
    ("strace", "strace"),
];

/// Whether the programs are there. Where one is not, the test fails and says what to
/// install; only where `POOLSYNC_SKIP_PROGRAMS` names it (`tests/run` does so for what it
/// could not install) the test is skipped, and the skip is written down to be counted.
pub fn have(test: &str, programs: &[&str]) -> bool {
    for program in programs {
        if which(program).is_some() {
            continue;
        }
        let package = PACKAGES.iter().find(|(p, _)| p == program).map_or(*program, |(_, package)| package);
        let excused = std::env::var("POOLSYNC_SKIP_PROGRAMS").unwrap_or_default();
        assert!(
            excused.split_whitespace().any(|name| name == *program),
            "{program} is not installed: apt-get install {package}, or run tests/run, which does it"
        );
        skip(test, &format!("{program} is not installed (package {package})"));
        return false;
    }
    true
}

/// Writes down that a test was skipped and why, for `tests/run` to count and show.
pub fn skip(test: &str, reason: &str) {
    eprintln!("SKIPPED {test}: {reason}");
    if let Some(path) = std::env::var_os("POOLSYNC_SKIPPED") {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{test}: {reason}").unwrap();
    }
}

/// The path of a program, also where the administrator's folders are not in `PATH`; of
/// the modules of servers that are packages of their own, where `knot-module-geoip`,
/// `pdns-geoip` or `nginx-module-geoip2` is asked for.
pub fn which(program: &str) -> Option<PathBuf> {
    if program == "knot-module-geoip" {
        return library("knot", "geoip.so");
    }
    if program == "pdns-geoip" {
        return library("pdns", "libgeoipbackend.so");
    }
    if program == "nginx-module-geoip2" {
        return Some(PathBuf::from("/usr/lib/nginx/modules/ngx_http_geoip2_module.so"))
            .filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> =
        vec!["/usr/sbin".into(), "/usr/bin".into(), "/sbin".into(), "/bin".into()];
    folders.extend(std::env::split_paths(&path));
    folders.into_iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A module of a server, in its folder below /usr/lib/ARCHITECTURE or in a folder of that.
fn library(server: &str, module: &str) -> Option<PathBuf> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).map_or(Vec::new(), |list| list.flatten().map(|entry| entry.path()).collect())
    };
    let own = folders(Path::new("/usr/lib")).into_iter().map(|folder| folder.join(server));
    let all = own.flat_map(|folder| folders(&folder).into_iter().chain([folder]));
    all.map(|folder| folder.join(module)).find(|path| path.is_file())
}

/// A path of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
