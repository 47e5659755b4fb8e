//! `check --connect` on the real binary against Debian's `snmpd`: every cause that keeps a
//! router from being read, told from the others.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;

use serde_json::{Value, json};
use support::program::Program;
use support::scratch::{Scratch, free_port, nobody};
use support::site::Site;
use support::{have, junose, repository, snmpsim, which};

const PROGRAMS: &[&str] = &["snmpd", "python3"];
const AUTH: &str = "auth-password";
const PRIVACY: &str = "privacy-password";

/// A JUNOSe box, or what net-snmp says of itself, with communities and users that see all of
/// it, the system group alone, or nothing of use.
fn agent(scratch: &Scratch, name: &str, is_junose: bool) -> (Program, SocketAddr) {
    let folder = scratch.folder(name);
    let rows = folder.join("rows.snmprec");
    std::fs::write(&rows, junose::table(&[("res", "198.18.0.0", "198.18.0.255")])).unwrap();
    let port = free_port();
    let system = match is_junose {
        true => "sysobjectid .1.3.6.1.4.1.4874.1.1.1.1.3\nsysdescr Juniper Networks, Inc. ERX-1440\n",
        false => "sysdescr a box that nobody knows\n",
    };
    let config = format!(
        "agentAddress udp:127.0.0.1:{port}\n{system}\
         rocommunity public\n\
         view system included .1.3.6.1.2.1.1\n\
         view other included .1.3.6.1.2.1.11\n\
         rocommunity narrow default -V system\n\
         rocommunity blind default -V other\n\
         createUser full SHA-256 {AUTH} AES {PRIVACY}\n\
         rouser full authpriv\n\
         createUser narrow3 SHA-256 {AUTH} AES {PRIVACY}\n\
         rouser narrow3 authpriv -V system\n\
         pass_persist .1.3.6.1.4.1.4874.2 /usr/bin/python3 -u {} {}\n",
        repository("tests/support/pass_persist.py").display(),
        rows.display()
    );
    let path = folder.join("snmpd.conf");
    std::fs::write(&path, config).unwrap();
    let mut command = Command::new(which("snmpd").unwrap());
    command.args(["-f", "-Lo", "-C", "-I", "-smux", "-c"]).arg(&path);
    command.env("SNMP_PERSISTENT_DIR", &folder).env("MIBS", "");
    let mut program = Program::start(&mut command, &folder.join("log"));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    program.wait_ready("an answer", || snmpsim::answers(address, "public"));
    (program, address)
}

fn v2c(name: &str) -> String {
    format!("\n[snmp.{name}]\nversion = \"2c\"\ncommunity = \"{name}\"\n")
}

fn v3(name: &str, user: &str, auth: &str, privacy: &str) -> String {
    format!(
        "\n[snmp.{name}]\nversion = \"3\"\nuser = \"{user}\"\n\
         auth = {{ protocol = \"sha256\", secret = \"{auth}\" }}\n\
         privacy = {{ protocol = \"aes128\", secret = \"{privacy}\" }}\n"
    )
}

fn configuration(bas: &[(&str, SocketAddr, &str)]) -> String {
    let mut text = String::from(
        "default-edge = \"centre\"\n[store]\npath = \"poolsync.db\"\n[poll]\ntimeout = \"400ms\"\nretries = 1\n\
         [edge.centre]\naddresses = [\"198.51.100.1\"]\n",
    );
    text += &["public", "narrow", "blind", "secret"].map(v2c).concat();
    text += &v3("full", "full", AUTH, PRIVACY);
    text += &v3("narrow3", "narrow3", AUTH, PRIVACY);
    text += &v3("stranger", "stranger", AUTH, PRIVACY);
    text += &v3("badauth", "full", "another-password", PRIVACY);
    text += &v3("badpriv", "full", AUTH, "another-password");
    for (name, address, snmp) in bas {
        text +=
            &format!("\n[bas.{name}]\naddress = \"{address}\"\nsnmp = \"{snmp}\"\nedges = [\"centre\"]\n");
    }
    text
}

/// The cause of each BAS.
fn causes(json: &Value) -> Vec<(&str, &str)> {
    let all = json["connect"]["bas"].as_array().unwrap();
    all.iter().map(|one| (one["name"].as_str().unwrap(), one["cause"].as_str().unwrap())).collect()
}

#[test]
fn every_cause_is_told_from_the_others() {
    if !have("every_cause_is_told_from_the_others", PROGRAMS) {
        return;
    }
    let scratch = Scratch::new();
    let (_junose, box_) = agent(&scratch, "junose", true);
    let (_stranger, unknown) = agent(&scratch, "stranger", false);
    // Something that hears and says nothing: as a router without SNMPv3 does to a wrong community.
    let mute = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mute = (mute.local_addr().unwrap(), mute);
    let gone = nobody();
    let bas = [
        ("a-ready", box_, "public"),
        ("b-ready3", box_, "full"),
        ("c-community", box_, "secret"),
        ("d-mute", mute.0, "public"),
        ("e-gone", gone, "public"),
        ("f-gone3", gone, "full"),
        ("g-user", box_, "stranger"),
        ("h-auth", box_, "badauth"),
        ("i-priv", box_, "badpriv"),
        ("j-view", box_, "narrow"),
        ("k-view3", box_, "narrow3"),
        ("l-blind", box_, "blind"),
        ("m-box", unknown, "public"),
    ];
    let text = configuration(&bas)
        + "\n[bas.n-name]\naddress = \"bas.example.invalid\"\nsnmp = \"public\"\nedges = [\"centre\"]\n";
    let site = Site::new(scratch, &text);
    let outcome = site.run(&["check", "--connect", "--json"]).expect(3);
    let json = outcome.json();
    assert_eq!(
        causes(&json),
        [
            ("a-ready", "none"),
            ("b-ready3", "none"),
            ("c-community", "wrong-community"),
            ("d-mute", "unreachable-or-wrong-community"),
            ("e-gone", "unreachable-or-wrong-community"),
            ("f-gone3", "unreachable"),
            ("g-user", "unknown-user"),
            ("h-auth", "wrong-key"),
            ("i-priv", "wrong-key"),
            ("j-view", "view-hides-table"),
            ("k-view3", "view-hides-table"),
            ("l-blind", "view-hides-table"),
            ("m-box", "unknown-box"),
            ("n-name", "unresolved"),
        ]
    );
    let connect = &json["connect"];
    assert_eq!(connect["ready"], 2);
    assert_eq!(
        connect["causes"][0],
        json!({
            "cause": "view-hides-table",
            "count": 3,
            "bas": ["j-view", "k-view3", "l-blind"],
            "next": connect["causes"][0]["next"],
        })
    );
    let counts: u64 =
        connect["causes"].as_array().unwrap().iter().map(|of| of["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 12);
    assert_eq!(connect["bas"][0]["descriptor"], "juniper-junose");
    assert_eq!(connect["bas"][12]["sys_descr"], "a box that nobody knows");
    // For people: what is the matter, with whom, and the next step of each.
    let told = site.run(&["check", "--connect"]).expect(3).stdout;
    for line in [
        "2 of 14 BASes answer and show a table",
        "a view hides the table, or there is no pool (3 BASes): j-view, k-view3, l-blind",
        "unreachable, or another community (2 BASes): d-mute, e-gone",
        "wrong key (2 BASes): h-auth, i-priv",
        "wrong community (1 BAS): c-community",
        "unknown user (1 BAS): g-user",
        "unknown box (1 BAS): m-box",
        "name not resolved (1 BAS): n-name",
        "unreachable (1 BAS): f-gone3",
    ] {
        assert!(told.lines().any(|l| l == line), "no `{line}` in\n{told}");
    }
    assert!(told.contains("SNMPv2c does not tell which"), "{told}");
    for secret in ["another-password", AUTH, PRIVACY, "secret\n"] {
        assert!(!told.contains(secret) && !outcome.stdout.contains(secret), "{secret} is told");
    }
    // Nothing is left behind.
    assert!(!site.scratch.join("poolsync.db").exists());
}

#[test]
fn a_fleet_that_is_ready_and_one_of_which_nothing_is() {
    if !have("a_fleet_that_is_ready_and_one_of_which_nothing_is", PROGRAMS) {
        return;
    }
    let scratch = Scratch::new();
    let (_junose, address) = agent(&scratch, "junose", true);
    let site = Site::new(scratch, &configuration(&[("a", address, "public"), ("b", address, "full")]));
    let told = site.run(&["check", "--connect"]).expect(0).stdout;
    assert!(told.contains("2 of 2 BASes answer and show a table"), "{told}");
    site.configure(&configuration(&[("a", nobody(), "full")]));
    site.run(&["check", "--connect"]).expect(1);
}
