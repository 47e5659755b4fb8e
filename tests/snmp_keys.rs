//! Localised keys from one run to the next: a restart makes none again, and none is taken for
//! another password, another engine, or out of a file that others may touch.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use poolsync::snmp::{
    AuthProtocol, Columns, Context, Credentials, KeyExtension, KeyFileProblem, Limits, Outcome,
    PrivacyProtocol, Reason, Recording, ReplayAgent, ReplayEngine, Secret, Session, Target, Transport, User,
};
use poolsync::table::Engine;
use support::poolsync as program;
use support::program::Program;
use support::scratch::Scratch;
use support::site::Site;

const ENGINE_ID: &[u8] = b"\x80\x00\x1f\x88\x04one";
const OTHER_ID: &[u8] = b"\x80\x00\x1f\x88\x04two";
const AUTH_PASSWORD: &str = "authpass-12345";
const PRIVACY_PASSWORD: &str = "privpass-12345";
const TABLE: &str = "1.3.6.1.4.1.9.1";

fn user(auth: &str) -> User {
    User {
        name: "tester".into(),
        auth: Some((AuthProtocol::Sha256, Secret::new(auth))),
        privacy: Some((PrivacyProtocol::Aes128, Secret::new(PRIVACY_PASSWORD))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}

async fn agent(engine_id: &[u8], auth: &str, recording: &str) -> ReplayAgent {
    let engine = ReplayEngine::new(engine_id, vec![user(auth)]).await.unwrap();
    let engine = engine.serving(Context::default(), Recording::parse(recording).unwrap());
    ReplayAgent::start_v3("127.0.0.1:0".parse().unwrap(), engine).await.unwrap()
}

/// Walks a table of three rows; gives the outcome and the engine as it was heard.
async fn walk(
    transport: &Transport,
    agent: &ReplayAgent,
    auth: &str,
    remembered: Option<Engine>,
) -> (Outcome, Option<Engine>) {
    let mut session = Session::new(
        transport,
        Target {
            address: agent.address(),
            credentials: Credentials::V3(user(auth)),
            limits: Limits { timeout: Duration::from_secs(5), ..Limits::default() },
            engine: remembered,
            reach: Default::default(),
        },
    );
    let columns = Columns { entry: TABLE.parse().unwrap(), columns: vec![2] };
    let read = session.table(&Context::default(), &columns, None).await;
    if read.outcome == Outcome::Complete {
        assert_eq!(read.rows.len(), 3);
    }
    (read.outcome, session.engine())
}

fn rows() -> String {
    (1..=3).map(|row| format!("{TABLE}.2.{row}|2|{row}\n")).collect()
}

/// A transport of the next run.
fn restarted(file: &Path, loaded: usize) -> Transport {
    let transport = Transport::new().unwrap();
    assert_eq!(transport.load_keys(file).unwrap(), loaded);
    transport
}

#[tokio::test]
async fn a_restart_costs_no_keys_and_no_discovery() {
    let scratch = Scratch::new();
    let file = scratch.join("keys");
    let agent = agent(ENGINE_ID, AUTH_PASSWORD, &rows()).await;
    let first = restarted(&file, 0);
    let (outcome, engine) = walk(&first, &agent, AUTH_PASSWORD, None).await;
    assert_eq!((outcome, first.keys_made()), (Outcome::Complete, 1));
    // The next poll of the same run.
    walk(&first, &agent, AUTH_PASSWORD, None).await;
    assert_eq!(first.keys_made(), 1);
    first.save_keys(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(AUTH_PASSWORD) && !text.contains(PRIVACY_PASSWORD) && !text.contains("tester"));
    let next = restarted(&file, 1);
    let before = next.heard().datagrams;
    let (outcome, _) = walk(&next, &agent, AUTH_PASSWORD, engine).await;
    assert_eq!((outcome, next.keys_made()), (Outcome::Complete, 0));
    // One answer holds the three rows and the end.
    assert_eq!(next.heard().datagrams - before, 1);
}

#[tokio::test]
async fn other_passwords_and_other_engines_get_keys_of_their_own() {
    let scratch = Scratch::new();
    let file = scratch.join("keys");
    let old = agent(ENGINE_ID, AUTH_PASSWORD, &rows()).await;
    let first = Transport::new().unwrap();
    let (_, engine) = walk(&first, &old, AUTH_PASSWORD, None).await;
    first.save_keys(&file).unwrap();
    // The passphrase was changed here: the router finds the digest wrong.
    let next = restarted(&file, 1);
    let (outcome, _) = walk(&next, &old, "another-12345", engine.clone()).await;
    assert_eq!((outcome, next.keys_made()), (Outcome::Failed(Reason::WrongDigest), 1));
    // It was changed there too.
    let changed = agent(ENGINE_ID, "another-12345", &rows()).await;
    let next = restarted(&file, 1);
    let (outcome, _) = walk(&next, &changed, "another-12345", engine.clone()).await;
    assert_eq!((outcome, next.keys_made()), (Outcome::Complete, 1));
    // The chassis was swapped.
    let swapped = agent(OTHER_ID, AUTH_PASSWORD, &rows()).await;
    let next = restarted(&file, 1);
    let (outcome, engine) = walk(&next, &swapped, AUTH_PASSWORD, engine).await;
    assert_eq!((outcome, next.keys_made()), (Outcome::Complete, 1));
    assert_eq!(engine.unwrap().id, "80001f880474776f");
}

#[tokio::test]
async fn a_file_that_cannot_be_trusted_is_not_taken() {
    let scratch = Scratch::new();
    let file = scratch.join("keys");
    let agent = agent(ENGINE_ID, AUTH_PASSWORD, &rows()).await;
    let first = Transport::new().unwrap();
    walk(&first, &agent, AUTH_PASSWORD, None).await;
    first.save_keys(&file).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o660] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let error = Transport::new().unwrap().load_keys(&file).unwrap_err();
        assert!(matches!(error.problem, KeyFileProblem::Open(found) if found == mode), "{error}");
    }
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let text = fs::read(&file).unwrap();
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    let error = Transport::new().unwrap().load_keys(&file).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: it is cut or damaged", file.display()));
    fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(matches!(Transport::new().unwrap().load_keys(&file).unwrap_err().problem, KeyFileProblem::Io(_)));
}

#[tokio::test]
async fn what_could_not_be_kept_is_kept_later() {
    let scratch = Scratch::new();
    let folder = scratch.join("runtime");
    let file = folder.join("keys");
    let agent = agent(ENGINE_ID, AUTH_PASSWORD, &rows()).await;
    let transport = Transport::new().unwrap();
    walk(&transport, &agent, AUTH_PASSWORD, None).await;
    let error = transport.save_keys(&file).unwrap_err();
    assert!(error.to_string().starts_with(&file.display().to_string()), "{error}");
    fs::create_dir(&folder).unwrap();
    transport.save_keys(&file).unwrap();
    restarted(&file, 1);
    // What was kept is not written again.
    fs::remove_file(&file).unwrap();
    transport.save_keys(&file).unwrap();
    assert!(!file.exists());
}

/// A site with one router that is polled by SNMPv3.
fn site(agent: &ReplayAgent) -> Site {
    let address = agent.address();
    let text = format!(
        r#"default-edge = "centre"
[store]
path = "poolsync.db"
[control]
socket = "control.sock"
[poll]
timeout = "5s"
deadline = "30s"
[snmp.core]
version = "3"
user = "tester"
auth = {{ protocol = "sha256", secret = "{AUTH_PASSWORD}" }}
privacy = {{ protocol = "aes128", secret = "{PRIVACY_PASSWORD}" }}
[edge.centre]
addresses = ["198.51.100.1"]
[bas.one]
address = "{address}"
snmp = "core"
mib = "auto"
edges = ["centre"]
"#
    );
    Site::new(Scratch::new(), &text)
}

/// The file of keys, which must be its owner's alone.
#[track_caller]
fn keys_of(site: &Site) -> String {
    let file = site.scratch.join("control.sock.keys");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    fs::read_to_string(file).unwrap()
}

const HUAWEI: &str = include_str!("data/walks/huawei-control-plane.snmprec");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_and_the_service_keep_them_beside_the_control_socket() {
    let agent = agent(ENGINE_ID, AUTH_PASSWORD, HUAWEI).await;
    let site = site(&agent);
    site.run(&["poll"]).expect(0);
    let kept = keys_of(&site);
    // What was not made anew is not written anew.
    site.run(&["poll"]).expect(0);
    assert_eq!(keys_of(&site), kept);
    // A damaged file is said, costs nothing else, and is mended.
    fs::write(site.scratch.join("control.sock.keys"), &kept[..40]).unwrap();
    let polled = site.run(&["poll"]).expect(0);
    assert!(polled.stderr.contains("keys of an earlier run are made anew"), "{}", polled.stderr);
    let mended = keys_of(&site);
    assert_eq!(mended.lines().count(), kept.lines().count());
    // The service takes them over, and leaves them behind.
    fs::remove_file(site.scratch.join("control.sock.keys")).unwrap();
    let config = site.config.as_os_str();
    let mut command = program::command([std::ffi::OsStr::new("-c"), config, std::ffi::OsStr::new("run")]);
    let mut daemon = Program::start(&mut command, &site.scratch.join("daemon.log"));
    daemon.wait_ready("its control socket", || site.scratch.join("control.sock").exists());
    site.run(&["poll"]).expect(0);
    daemon.signal("TERM");
    assert_eq!(daemon.wait_end(Duration::from_secs(30)).code(), Some(0), "{}", daemon.log());
    assert_eq!(keys_of(&site).lines().count(), kept.lines().count());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_learnt_of_a_router_stands_in_status() {
    let agent = agent(ENGINE_ID, AUTH_PASSWORD, HUAWEI).await;
    let site = site(&agent);
    site.run(&["poll"]).expect(0);
    let status: serde_json::Value =
        serde_json::from_str(&site.run(&["status", "--json"]).expect(0).stdout).unwrap();
    let tables = status["bas"][0]["tables"].as_array().unwrap();
    assert!(!tables.is_empty());
    let learnt = |table: &serde_json::Value| table["repetitions"].as_u64().is_some_and(|n| n > 0);
    assert!(tables.iter().all(learnt), "{tables:?}");
}
