//! Notifications to a running daemon, sent by Debian's `snmptrap` and by hand: a changed table
//! shows in seconds though its interval is a month, and nobody else can make it poll.

#![allow(clippy::unwrap_used, clippy::panic)]

mod acts_support;
mod support;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Command, Output};

use acts_support::{Plant, Pool};
use poolsync::snmp::Recording;
use serde_json::{Value, json};
use support::program::{Program, wait_for};
use support::scratch::{Scratch, free_port};
use support::site::{Site, configuration};
use support::{have, junose, poolsync as program, which};

const COLD_START: &str = "1.3.6.1.6.3.1.1.5.1";
const LINK_DOWN: &str = "1.3.6.1.6.3.1.1.5.3";
const OLD: Pool = ("old", "198.18.0.0", "198.18.0.255");
const NEW: Pool = ("new", "198.18.9.0", "198.18.9.255");
const BOTH: [&str; 2] = ["198.18.0.0-198.18.0.255 bas-a", "198.18.9.0-198.18.9.255 bas-a"];

/// A month from one poll to the next, so that none comes by itself, and notifications listened
/// for.
fn monthly(text: &str, port: u16, more: &str) -> String {
    text.replacen("[poll]\n", "[poll]\ninterval = \"30d\"\nbatch = \"100ms\"\n", 1)
        + &format!("\n[notifications]\nlisten = [\"127.0.0.1:{port}\"]\n{more}")
}

/// A router that replays, polled once a month by a daemon, and the port for notifications.
struct Stand {
    // The daemon ends before its folder does.
    daemon: Program,
    plant: Plant,
    port: u16,
}

impl Stand {
    fn new(more: &str, change: impl Fn(String) -> String) -> Self {
        let port = free_port();
        let plant = Plant::with(&[("bas-a", "east", &[OLD])], |text| change(monthly(&text, port, more)));
        let daemon = plant.daemon();
        let stand = Self { daemon, plant, port };
        wait_for("the first table", || !stand.plant.status()["bas"][0]["last_complete"].is_null());
        stand
    }

    fn counted(&self) -> Value {
        self.plant.status()["notifications"].clone()
    }

    fn send_from(&self, from: Ipv4Addr, datagram: &[u8]) {
        let socket = UdpSocket::bind((from, 0)).unwrap();
        socket.send_to(datagram, (Ipv4Addr::LOCALHOST, self.port)).unwrap();
    }

    fn wait_refused(&self, cause: &str, count: u64) {
        wait_for(cause, || self.counted()["refused"][cause] == count);
    }
}

/// A trap of SNMPv2c (version 1), as RFC 3416 has it: sysUpTime.0, snmpTrapOID.0 = coldStart.
fn trap(version: u8, community: &str) -> Vec<u8> {
    let wrapped = |tag: u8, contents: &[u8]| [&[tag, contents.len() as u8], contents].concat();
    let up_time = [&[0x06, 8, 0x2b, 6, 1, 2, 1, 1, 3, 0][..], &[0x43, 1, 9]].concat();
    let name = [0x06, 10, 0x2b, 6, 1, 6, 3, 1, 1, 4, 1, 0];
    let cold_start = [0x06, 9, 0x2b, 6, 1, 6, 3, 1, 1, 5, 1];
    let list = [wrapped(0x30, &up_time), wrapped(0x30, &[&name[..], &cold_start].concat())].concat();
    let pdu = [&[2, 1, 7, 2, 1, 0, 2, 1, 0][..], &wrapped(0x30, &list)].concat();
    let message = [&[2, 1, version][..], &wrapped(4, community.as_bytes()), &wrapped(0xa7, &pdu)].concat();
    wrapped(0x30, &message)
}

/// Debian's `snmptrap`, with nothing of this machine's configuration.
fn snmptrap(scratch: &Scratch, args: &[&str], port: u16, oid: &str) -> Output {
    let state = scratch.folder("snmptrap");
    let mut command = Command::new(which("snmptrap").unwrap());
    command.args(args).arg(format!("udp:127.0.0.1:{port}")).args(["", oid]);
    command.env("MIBS", "").env("SNMPCONFPATH", &state).env("SNMP_PERSISTENT_DIR", &state);
    command.output().unwrap()
}

#[track_caller]
fn sent(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_trap_shows_a_changed_table_in_seconds() {
    if !have("a_trap_shows_a_changed_table_in_seconds", &["snmptrap"]) {
        return;
    }
    let stand = Stand::new("", |text| text);
    stand.plant.set("bas-a", &[OLD, NEW]);
    sent(&snmptrap(&stand.plant.site.scratch, &["-v2c", "-cpublic"], stand.port, COLD_START));
    wait_for("the new pool", || stand.plant.entries() == BOTH);
    let counted = stand.counted();
    let listen = json!([format!("127.0.0.1:{}", stand.port)]);
    assert_eq!([&counted["listen"], &counted["refused"]], [&listen, &json!({})]);
    assert_eq!([&counted["received"], &counted["traps"], &counted["polls"]], [1, 1, 1]);
    // It is not one of the schedule's polls, which may confirm a loss.
    stand.plant.set("bas-a", &[NEW]);
    let text = stand.plant.run(&["status"]).expect(0).stdout;
    let told = "1 received; 1 trap and 0 informs believed, 0 of them left out by oids; 1 poll came of them\n";
    assert!(text.contains(told), "{text}");
}

#[test]
fn an_inform_is_acknowledged() {
    if !have("an_inform_is_acknowledged", &["snmptrap"]) {
        return;
    }
    let stand = Stand::new("", |text| text);
    stand.plant.set("bas-a", &[OLD, NEW]);
    let scratch = &stand.plant.site.scratch;
    sent(&snmptrap(scratch, &["-Ci", "-v2c", "-cpublic", "-t5", "-r5"], stand.port, COLD_START));
    wait_for("the new pool", || stand.plant.entries() == BOTH);
    assert!(stand.counted()["informs"].as_u64() >= Some(1));
    // Who does not know the community waits in vain.
    let vain = snmptrap(scratch, &["-Ci", "-v2c", "-cwrong", "-t1", "-r0"], stand.port, COLD_START);
    assert!(!vain.status.success());
    stand.wait_refused("wrong-community", 1);
}

#[test]
fn nobody_else_makes_it_poll() {
    let stand = Stand::new("", |text| text);
    stand.send_from(Ipv4Addr::new(127, 0, 0, 2), &trap(1, junose::COMMUNITY));
    stand.wait_refused("unknown-sender", 1);
    stand.send_from(Ipv4Addr::LOCALHOST, &trap(1, "wrong"));
    stand.wait_refused("wrong-community", 1);
    stand.send_from(Ipv4Addr::LOCALHOST, &trap(0, junose::COMMUNITY));
    stand.wait_refused("unsupported-version", 1);
    let whole = trap(1, junose::COMMUNITY);
    for length in 0..whole.len() {
        stand.send_from(Ipv4Addr::LOCALHOST, &whole[..length]);
    }
    stand.send_from(Ipv4Addr::LOCALHOST, &[0xff; 1400]);
    stand.wait_refused("malformed", whole.len() as u64 + 1);
    let counted = stand.counted();
    assert_eq!([&counted["traps"], &counted["polls"]], [0, 0]);
    let last = &counted["last_refused"];
    assert_eq!([&last["from"], &last["cause"]], ["127.0.0.1", "malformed"]);
    // The first of each cause is logged, with where it came from.
    let log = stand.daemon.log();
    assert_eq!(log.matches("a notification was refused").count(), 4, "{log}");
    assert!(log.contains("127.0.0.2"), "{log}");
    // The real one is heard all the same.
    stand.plant.set("bas-a", &[OLD, NEW]);
    stand.send_from(Ipv4Addr::LOCALHOST, &whole);
    wait_for("the new pool", || stand.plant.entries() == BOTH);
}

#[test]
fn a_storm_is_one_poll() {
    let stand = Stand::new("", |text| text);
    stand.plant.set("bas-a", &[OLD, NEW]);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (trap, to) = (trap(1, junose::COMMUNITY), SocketAddr::from((Ipv4Addr::LOCALHOST, stand.port)));
    for _ in 0..10_000 {
        socket.send_to(&trap, to).unwrap();
    }
    wait_for("the new pool", || stand.plant.entries() == BOTH);
    // Whatever the kernel had to drop of it, what came was counted, and read to its end.
    let mut before = 0;
    wait_for("the end of the storm", || {
        let now = stand.counted()["traps"].as_u64().unwrap();
        std::mem::replace(&mut before, now) == now
    });
    wait_for("what comes behind it", || {
        stand.send_from(Ipv4Addr::new(127, 0, 0, 2), &trap);
        stand.counted()["refused"]["unknown-sender"].is_u64()
    });
    let counted = stand.counted();
    assert!(counted["traps"].as_u64().unwrap() > 100, "{counted}");
    assert_eq!(counted["polls"], 1);
    assert_eq!(counted["refused"].as_object().unwrap().len(), 1, "{counted}");
}

#[test]
fn what_oids_leaves_out_is_counted_and_nothing_else() {
    if !have("what_oids_leaves_out_is_counted_and_nothing_else", &["snmptrap"]) {
        return;
    }
    let stand = Stand::new(&format!("oids = [\"{COLD_START}\"]\n"), |text| text);
    let scratch = &stand.plant.site.scratch;
    let inform = ["-Ci", "-v2c", "-cpublic", "-t5", "-r5"];
    // Acknowledged all the same. Its OID begins with the same digits.
    sent(&snmptrap(scratch, &inform, stand.port, &format!("{COLD_START}0")));
    sent(&snmptrap(scratch, &["-v2c", "-cpublic"], stand.port, LINK_DOWN));
    wait_for("both", || stand.counted()["filtered"].as_u64() >= Some(2));
    assert_eq!(stand.counted()["polls"], 0);
    // Another filter is taken up with the configuration.
    stand.plant.site.configure(
        &std::fs::read_to_string(&stand.plant.site.config).unwrap().replace(COLD_START, "1.3.6.1.6.3.1.1.5"),
    );
    stand.plant.run(&["reload"]).expect(0);
    stand.plant.set("bas-a", &[OLD, NEW]);
    sent(&snmptrap(scratch, &["-v2c", "-cpublic"], stand.port, LINK_DOWN));
    wait_for("the new pool", || stand.plant.entries() == BOTH);
}

#[test]
fn a_bas_is_known_by_where_its_name_led_and_by_where_it_answers_from() {
    let mut stand = Stand::new("", |text| {
        let named = text.replacen("address = \"127.0.0.1:", "address = \"localhost:", 1);
        named.replacen("snmp = \"lab\"", "snmp = \"lab\"\nreply-from = [\"127.0.0.3\"]", 1)
    });
    let trap = trap(1, junose::COMMUNITY);
    stand.plant.set("bas-a", &[OLD, NEW]);
    stand.send_from(Ipv4Addr::new(127, 0, 0, 1), &trap);
    stand.send_from(Ipv4Addr::new(127, 0, 0, 3), &trap);
    wait_for("both", || stand.counted()["traps"] == 2);
    wait_for("the new pool", || stand.plant.entries() == BOTH);
    assert_eq!(stand.counted()["refused"], json!({}));
    stand.send_from(Ipv4Addr::new(127, 0, 0, 4), &trap);
    stand.wait_refused("unknown-sender", 1);
    // After a restart it is known before it is polled, which would take a month.
    stand.daemon.signal("TERM");
    stand.daemon.wait_end(support::program::PATIENCE);
    stand.daemon = stand.plant.daemon();
    wait_for("the trap", || {
        stand.send_from(Ipv4Addr::new(127, 0, 0, 1), &trap);
        stand.counted()["traps"].as_u64() >= Some(1)
    });
}

#[test]
fn a_router_that_boots_shows_at_once_and_loses_nothing() {
    let stand = Stand::new("", |text| text.replacen("settle = \"0s\"", "settle = \"10m\"", 1));
    // It booted ten seconds ago, and its tables are not full yet.
    let booted = acts_support::walk(&[NEW], 0).render().replace("|67|864000000", "|67|1000");
    stand.plant.set_recording("bas-a", Recording::parse(&booted).unwrap());
    stand.send_from(Ipv4Addr::LOCALHOST, &trap(1, junose::COMMUNITY));
    wait_for("the new pool", || stand.plant.entries() == BOTH);
    assert_eq!(stand.plant.json(0, &["held", "list"]), json!([]));
}

const ROUTER: &[&str] = &["snmpd", "python3", "snmptrap"];
const POOL: Pool = ("pool1", "131.1.1.0", "131.1.10.255");
const MORE: Pool = ("pool2", "131.2.0.0", "131.2.0.255");

/// A site that polls a router by SNMPv3, with privacy.
fn by_v3(router: &junose::Router, scratch: Scratch, port: u16) -> Site {
    let text = configuration(&[("bas-a", router.address(), "east")]);
    let (before, after) = text.split_once("[snmp.lab]\n").unwrap();
    let (_, after) = after.split_once("\n\n").unwrap();
    let profile = format!(
        "[snmp.lab]\nversion = \"3\"\nuser = \"{}\"\nauth = {{ protocol = \"sha256\", secret = \"{}\" }}\n\
         privacy = {{ protocol = \"aes128\", secret = \"{}\" }}\n\n",
        junose::USER,
        junose::AUTH,
        junose::PRIVACY
    );
    Site::new(scratch, &monthly(&format!("{before}{profile}{after}"), port, ""))
}

/// The arguments for a user of SNMPv3 with these passwords.
fn as_user<'a>(user: &'a str, auth: &'a str, privacy: &'a str) -> Vec<&'a str> {
    vec!["-v3", "-lauthPriv", "-u", user, "-aSHA-256", "-A", auth, "-xAES", "-X", privacy, "-t5", "-r3"]
}

#[test]
fn informs_and_traps_of_v3_are_believed_by_the_users_keys() {
    if !have("informs_and_traps_of_v3_are_believed_by_the_users_keys", ROUTER) {
        return;
    }
    let (scratch, port) = (Scratch::new(), free_port());
    let router = junose::Router::start(&scratch, "bas-a", &[POOL]);
    let site = by_v3(&router, scratch, port);
    let mut daemon = program::daemon(&site.config, &site.scratch.join("daemon.log"));
    let status = || site.run(&["status", "--json"]);
    daemon.wait_ready("the first table", || {
        let status = status();
        status.code == Some(0) && !status.json()["bas"][0]["last_complete"].is_null()
    });
    let counted = || status().json()["notifications"].clone();
    let (user, auth, privacy) = (junose::USER, junose::AUTH, junose::PRIVACY);
    let good = as_user(user, auth, privacy);
    let inform = |args: &[&str]| snmptrap(&site.scratch, &[&["-Ci"], args].concat(), port, COLD_START);

    // Whoever has another key is told what is wrong, and nothing is polled.
    for (args, cause) in [
        (as_user(user, "another-password", privacy), "wrong-digest"),
        (as_user(user, auth, "another-password"), "decryption-error"),
        (as_user("somebody", auth, privacy), "unknown-user"),
        (vec!["-v3", "-lauthNoPriv", "-u", user, "-aSHA-256", "-A", auth, "-t2", "-r1"], "unsupported-level"),
    ] {
        let refused = inform(&args);
        assert!(!refused.status.success(), "{args:?}");
        wait_for(cause, || counted()["refused"][cause].as_u64() >= Some(1));
    }
    // Traps are signed under the engine of their sender.
    let engine = ["-e", "0x80000000056261732d61"];
    let wrong = [&engine[..], &as_user(user, "another-password", privacy)].concat();
    let before = counted()["refused"]["wrong-digest"].as_u64().unwrap();
    sent(&snmptrap(&site.scratch, &wrong, port, COLD_START));
    wait_for("the forged trap", || counted()["refused"]["wrong-digest"] == before + 1);
    assert_eq!([&counted()["polls"], &counted()["informs"], &counted()["traps"]], [0, 0, 0]);

    router.set(&[POOL, MORE]);
    sent(&inform(&good));
    wait_for("the new pool", || site.entries().len() == 2);
    // One that was sent again is acknowledged again, and makes no other poll.
    assert_eq!(counted()["polls"], 1);
    assert!(counted()["informs"].as_u64() >= Some(1));
    let right = [&engine[..], &good].concat();
    sent(&snmptrap(&site.scratch, &right, port, COLD_START));
    wait_for("the trap", || counted()["traps"] == 1);

    // Another start is another boot of the same engine.
    let first = counted();
    daemon.signal("TERM");
    daemon.wait_end(support::program::PATIENCE);
    let _daemon = program::daemon(&site.config, &site.scratch.join("second.log"));
    wait_for("the second start", || status().code == Some(0) && counted()["received"] == 0);
    let second = counted();
    assert_eq!(second["engine_id"], first["engine_id"]);
    assert_eq!(second["boots"].as_u64().unwrap(), first["boots"].as_u64().unwrap() + 1);
    sent(&inform(&good));
    wait_for("the inform", || counted()["informs"].as_u64() >= Some(1));
}

#[test]
fn without_a_section_nothing_is_listened_for_and_a_taken_port_is_said() {
    let plant = Plant::new(&[("bas-a", "east", &[OLD])]);
    let daemon = plant.daemon();
    assert_eq!(plant.status()["notifications"], Value::Null);
    drop(daemon);
    let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let text = std::fs::read_to_string(&plant.site.config).unwrap();
    plant.site.configure(&monthly(&text, port, ""));
    plant.run(&["run"]).expect(1).said(&[&format!("127.0.0.1:{port}"), "in use"]);
    for (key, expected) in [
        ("listen = \"127.0.0.1\"", "a list of addresses"),
        ("listen = [\"localhost\"]", "with a port or without"),
        ("oids = [\"coldStart\"]", "an OID in numbers"),
        ("engine-id = \"01\"", "an SNMP engine id"),
        ("port = 162", "`listen`"),
    ] {
        plant.site.configure(&format!("{text}\n[notifications]\n{key}\n"));
        plant.run(&["check"]).expect(78).said(&[expected, "^"]);
    }
}
