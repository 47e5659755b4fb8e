//! A network of a test's own: loopback alone, on which some blocks are local as a whole, so
//! that a client can have any address of them.

use std::process::Command;

use super::snmpsim::is_root;
use super::{have, skip, which};

/// The blocks that every process in such a network may send from.
pub const BLOCKS: [&str; 2] = ["198.18.0.0/15", "2001:db8::/32"];

/// Runs an ignored test of this test binary in a network of its own, as a process of its own.
/// Where the system does not permit that, says aloud that `test` is skipped.
pub fn run_apart(test: &str, inner: &str) {
    if !have(test, &["unshare", "ip"]) {
        return;
    }
    let ip = which("ip").unwrap().display().to_string();
    let [v4, v6] = BLOCKS;
    let set_up = format!(
        "{ip} link set lo up && {ip} -4 route add local {v4} dev lo && {ip} -6 route add local {v6} dev lo \
         && echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind"
    );
    let apart = |script: &str| {
        let mut command = Command::new(which("unshare").unwrap());
        if !is_root() {
            command.arg("--map-root-user");
        }
        command.args(["--net", "--", "sh", "-c", script]);
        command
    };
    let tried = apart(&set_up).output().unwrap();
    if !tried.status.success() {
        let why = String::from_utf8_lossy(&tried.stderr).trim().replace('\n', " ");
        skip(test, &format!("no network of its own is permitted here: {why}"));
        return;
    }
    let mut command = apart(&format!("{set_up} && exec \"$0\" \"$@\""));
    command.arg(std::env::current_exe().unwrap()).args(["--exact", inner, "--ignored", "--nocapture"]);
    let output = command.output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{inner}:\n{said}");
}
