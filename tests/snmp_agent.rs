//! The replay agent as an SNMPv3 engine: net-snmp's client, messages written by hand and our
//! own walk are what asks it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use poolsync::snmp::{
    AuthProtocol, Columns, Context, Credentials, KeyExtension, Limits, Outcome, PrivacyProtocol, Reason,
    Recording, ReplayAgent, ReplayEngine, ReplayEngineError, Secret, Session, TableRead, Target, Transport,
    User, Value,
};
use support::scratch::Scratch;
use support::wire::{self, Address, arcs, integer, octets, tlv};
use support::{have, which};
use tokio::net::UdpSocket;
use tokio::process::Command;

const ENGINE_ID: &[u8] = b"\x80\x00\x1f\x88\x04one";
const AUTH_PASSWORD: &str = "authpass-12345";
const PRIVACY_PASSWORD: &str = "privpass-12345";
const TABLE: &str = "1.3.6.1.4.1.9.1";
const ROWS: u32 = 90;

const AUTHS: [(&str, AuthProtocol); 6] = [
    ("MD5", AuthProtocol::Md5),
    ("SHA", AuthProtocol::Sha1),
    ("SHA-224", AuthProtocol::Sha224),
    ("SHA-256", AuthProtocol::Sha256),
    ("SHA-384", AuthProtocol::Sha384),
    ("SHA-512", AuthProtocol::Sha512),
];

const PRIVACIES: [(&str, Option<PrivacyProtocol>); 5] = [
    ("", None),
    ("DES", Some(PrivacyProtocol::Des)),
    ("AES", Some(PrivacyProtocol::Aes128)),
    ("AES-192", Some(PrivacyProtocol::Aes192)),
    ("AES-256", Some(PrivacyProtocol::Aes256)),
];

fn user(name: &str, auth: Option<AuthProtocol>, privacy: Option<PrivacyProtocol>) -> User {
    User {
        name: name.into(),
        auth: auth.map(|auth| (auth, Secret::new(AUTH_PASSWORD))),
        privacy: privacy.map(|privacy| (privacy, Secret::new(PRIVACY_PASSWORD))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}

/// A user of each level: `plain`, `signing`, `sealing`.
fn users() -> Vec<User> {
    let (auth, privacy) = (Some(AuthProtocol::Sha256), Some(PrivacyProtocol::Aes128));
    vec![user("plain", None, None), user("signing", auth, None), user("sealing", auth, privacy)]
}

/// A table of one column, and an object behind it; `base` tells it from others.
fn recording(base: u32) -> Recording {
    let rows = (1..=ROWS).map(|row| format!("{TABLE}.2.{row}|2|{}\n", base + row));
    Recording::parse(&(rows.collect::<String>() + "1.3.6.1.4.1.10.1|2|1\n")).unwrap()
}

async fn start(engine: ReplayEngine) -> ReplayAgent {
    ReplayAgent::start_v3("127.0.0.1:0".parse().unwrap(), engine).await.unwrap()
}

async fn engine() -> ReplayEngine {
    let engine = ReplayEngine::new(ENGINE_ID, users()).await.unwrap();
    engine.serving(Context::default(), recording(0)).at(3, 1000)
}

fn session(transport: &Transport, address: SocketAddr, user: User) -> Session {
    let limits = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let credentials = Credentials::V3(user);
    Session::new(transport, Target { address, credentials, limits, engine: None, reach: Default::default() })
}

async fn walk(session: &mut Session, context: &Context) -> TableRead {
    let columns = Columns { entry: TABLE.parse().unwrap(), columns: vec![2] };
    session.table(context, &columns, None).await
}

#[track_caller]
fn assert_read(read: &TableRead, base: u32) {
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
    let rows: Vec<_> =
        (1..=ROWS).map(|row| (vec![row], vec![Some(Value::Integer(i64::from(base + row)))])).collect();
    assert_eq!(read.rows.to_map().into_iter().collect::<Vec<_>>(), rows);
}

/// What net-snmp's client prints on standard output and on standard error.
async fn client(program: &str, scratch: &Scratch, arguments: &[&str], address: SocketAddr) -> [String; 2] {
    let output = Command::new(which(program).unwrap())
        .env("MIBS", "")
        .env("SNMPCONFPATH", scratch.path())
        .env("SNMP_PERSISTENT_DIR", scratch.path())
        .args(["-v3", "-r", "1", "-t", "10", "-OQn"])
        .args(arguments)
        .args([&address.to_string(), TABLE])
        .output()
        .await
        .unwrap();
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn net_snmp_walks_it_with_every_pair_of_protocols() {
    if !have("net_snmp_walks_it_with_every_pair_of_protocols", &["snmpwalk"]) {
        return;
    }
    let name = |auth: &str, privacy: &str| format!("u{auth}{privacy}");
    let mut users = vec![user("plain", None, None)];
    for (auth_name, auth) in AUTHS {
        for (privacy_name, privacy) in PRIVACIES {
            users.push(user(&name(auth_name, privacy_name), Some(auth), privacy));
        }
    }
    let engine = ReplayEngine::new(ENGINE_ID, users).await.unwrap();
    let agent = start(engine.serving(Context::default(), recording(0)).at(3, 1000)).await;
    let scratch = Scratch::new();
    let rows: String = (1..=ROWS).map(|row| format!(".{TABLE}.2.{row} = {row}\n")).collect();
    let ask = async |arguments: &[&str]| {
        client("snmpbulkwalk", &scratch, arguments, agent.address()).await[0].clone()
    };
    assert_eq!(ask(&["-u", "plain", "-l", "noAuthNoPriv"]).await, rows);
    for (auth, _) in AUTHS {
        for (privacy, _) in PRIVACIES {
            let name = name(auth, privacy);
            let mut arguments = vec!["-u", &name, "-a", auth, "-A", AUTH_PASSWORD, "-Cr25"];
            arguments.extend(match privacy {
                "" => vec!["-l", "authNoPriv"],
                privacy => vec!["-l", "authPriv", "-x", privacy, "-X", PRIVACY_PASSWORD],
            });
            assert_eq!(ask(&arguments).await, rows, "{auth} with {privacy}");
        }
    }
}

#[tokio::test]
async fn net_snmp_understands_its_reports() {
    if !have("net_snmp_understands_its_reports", &["snmpwalk"]) {
        return;
    }
    let agent = start(engine().await).await;
    let scratch = Scratch::new();
    let sealing = ["-l", "authPriv", "-a", "SHA-256", "-x", "AES"];
    let (right_auth, right_privacy) = (["-A", AUTH_PASSWORD], ["-X", PRIVACY_PASSWORD]);
    for (arguments, expected) in [
        ([&["-u", "nobody"][..], &sealing, &right_auth, &right_privacy], "Unknown user name"),
        ([&["-u", "sealing"], &sealing, &["-A", "wrong-12345"], &right_privacy], "Authentication failure"),
        ([&["-u", "sealing"], &sealing, &right_auth, &["-X", "wrong-12345"]], "Decryption error"),
        ([&["-u", "signing"], &sealing, &right_auth, &right_privacy], "Unsupported security level"),
        ([&["-u", "sealing", "-n", "vr9"], &sealing, &right_auth, &right_privacy], "Bad context specified"),
        ([&["-u", "sealing"], &["-l", "noAuthNoPriv"], &[], &[]], "authorizationError"),
    ] {
        let [_, said] = client("snmpget", &scratch, &arguments.concat(), agent.address()).await;
        assert!(said.to_lowercase().contains(&expected.to_lowercase()), "`{said}` lacks `{expected}`");
    }
}

/// One message there, and what comes back.
async fn ask_raw(agent: &ReplayAgent, message: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(message, agent.address()).await.unwrap();
    let mut buffer = vec![0; 0xffff];
    let length = tokio::time::timeout(Duration::from_secs(20), socket.recv(&mut buffer)).await.unwrap();
    buffer.truncate(length.unwrap());
    buffer
}

/// An unsigned GET of the first row, with these flags.
fn plain_get(to: Address<'_>, flags: u8) -> Vec<u8> {
    let name = (arcs(&format!("{TABLE}.2.1")), vec![5, 0]);
    let message = wire::unsigned_v3(to, &wire::answer_pdu(wire::GET, 77, 0, 0, &[name]));
    // The flags are the one octet behind 65507.
    let place = message.windows(4).position(|octets| octets == [0xff, 0xe3, 4, 1]).unwrap() + 4;
    let mut message = message;
    message[place] = flags;
    message
}

#[tokio::test]
async fn its_messages_are_those_of_the_rfcs() {
    let agent = start(engine().await).await;
    let to = Address { id: 4711, engine: ENGINE_ID, boots: 0, time: 0, user: b"plain" };
    let by_hand = |kind: u8, request: i64, time: i64, user: &[u8], varbind: (Vec<u32>, Vec<u8>)| {
        let address = Address { id: 4711, engine: ENGINE_ID, boots: 3, time, user };
        wire::unsigned_v3(address, &wire::answer_pdu(kind, request, 0, 0, &[varbind]))
    };
    // What time it is by then depends on the machine: it is taken from the answer.
    let time_of = |message: &[u8]| support::engine::Engine::head(message).time;
    let reply = ask_raw(&agent, &plain_get(to, 4)).await;
    let row = (arcs(&format!("{TABLE}.2.1")), integer(1));
    assert_eq!(reply, by_hand(wire::RESPONSE, 77, time_of(&reply), b"plain", row));
    assert!((1000..1060).contains(&time_of(&reply)));
    // Discovery: no engine, no user; a Report, though of a request that was not read.
    let report = ask_raw(&agent, &plain_get(Address { engine: b"", user: b"", ..to }, 4)).await;
    let count = |of: &str, count: u8| (arcs(of), tlv(0x41, &[&[count]]));
    let unknown_engine = "1.3.6.1.6.3.15.1.1.4.0";
    assert_eq!(report, by_hand(wire::REPORT, 0, time_of(&report), b"", count(unknown_engine, 1)));
    let report = ask_raw(&agent, &plain_get(Address { engine: b"\x80other", ..to }, 4)).await;
    assert_eq!(report, by_hand(wire::REPORT, 0, time_of(&report), b"plain", count(unknown_engine, 2)));
    let report = ask_raw(&agent, &plain_get(Address { user: b"nobody", ..to }, 4)).await;
    let unknown_user = count("1.3.6.1.6.3.15.1.1.3.0", 1);
    assert_eq!(report, by_hand(wire::REPORT, 0, time_of(&report), b"nobody", unknown_user));
}

#[tokio::test]
async fn who_wants_no_report_gets_none() {
    let agent = start(engine().await).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = Address { id: 1, engine: ENGINE_ID, boots: 0, time: 0, user: b"nobody" };
    for message in [
        plain_get(to, 0),
        // An answer, a trap and nonsense are no requests.
        wire::unsigned_v3(Address { user: b"plain", ..to }, &wire::answer_pdu(wire::RESPONSE, 1, 0, 0, &[])),
        wire::unsigned_v3(Address { user: b"plain", ..to }, &wire::answer_pdu(0xa7, 1, 0, 0, &[])),
        octets(b"nonsense"),
        wire::v2c(b"public", &wire::answer_pdu(wire::GET, 1, 0, 0, &[])),
    ] {
        socket.send_to(&message, agent.address()).await.unwrap();
    }
    // The agent answers in order: what comes first is the answer to the last message.
    let asked = plain_get(Address { id: 2, user: b"plain", ..to }, 4);
    socket.send_to(&asked, agent.address()).await.unwrap();
    let mut buffer = vec![0; 0xffff];
    let length = socket.recv(&mut buffer).await.unwrap();
    assert_eq!(support::engine::Engine::head(&buffer[..length]).id, 2);
}

#[tokio::test]
async fn it_fills_an_answer_as_far_as_the_asker_takes_it() {
    let agent = start(engine().await).await;
    agent.set_max_octets(9_000);
    let to = Address { id: 9, engine: ENGINE_ID, boots: 0, time: 0, user: b"plain" };
    let name = (arcs(TABLE), vec![5, 0]);
    // GETBULK: no non-repeaters, 1,000 repetitions.
    let bulk = wire::unsigned_v3(to, &wire::answer_pdu(wire::GET_BULK, 9, 0, 1_000, &[name]));
    let reply = ask_raw(&agent, &bulk).await;
    assert!(reply.len() > 484, "all rows and the end of the view fit");
    // msgMaxSize of 484 in three octets, as 65507 was.
    let place = bulk.windows(3).position(|octets| octets == [0, 0xff, 0xe3]).unwrap();
    let mut modest = bulk.clone();
    modest[place..place + 3].copy_from_slice(&[0, 1, 0xe4]);
    let reply = ask_raw(&agent, &modest).await;
    // A varbind has less than 20 octets here, what is left free for the longest forms 112.
    assert!((484 - 132..=484).contains(&reply.len()), "{}", reply.len());
}

#[tokio::test]
async fn our_walk_hears_each_cause() {
    let agent = start(engine().await).await;
    let sealing = || users().remove(2);
    let nobody = User { name: "nobody".into(), ..sealing() };
    let unsigned = User { auth: Some((AuthProtocol::Sha256, Secret::new("wrong-12345"))), ..sealing() };
    let unsealed = User { privacy: Some((PrivacyProtocol::Aes128, Secret::new("wrong-12345"))), ..sealing() };
    let too_private = User { name: "signing".into(), ..sealing() };
    let too_plain = User { auth: None, privacy: None, ..sealing() };
    let named = |name: &str, engine_id: Option<&[u8]>| Context {
        name: name.into(),
        engine_id: engine_id.map(<[u8]>::to_vec),
    };
    for (user, context, reason) in [
        (nobody, named("", None), Reason::UnknownUser),
        (unsigned, named("", None), Reason::WrongDigest),
        (unsealed, named("", None), Reason::DecryptionError),
        (too_private, named("", None), Reason::UnsupportedLevel),
        (too_plain, named("", None), Reason::AuthorizationError),
        (sealing(), named("vr9", None), Reason::UnknownContext),
        (sealing(), named("", Some(b"\x80other")), Reason::UnknownContext),
    ] {
        let mut session = session(&Transport::new().unwrap(), agent.address(), user);
        let read = walk(&mut session, &context).await;
        assert_eq!(read.outcome, Outcome::Failed(reason), "{}", read.detail);
        assert_eq!((session.cost().requests, session.cost().retries), (2, 0), "{reason:?}");
    }
}

#[tokio::test]
async fn a_boot_in_the_middle_of_a_walk_costs_one_message() {
    let agent = start(engine().await).await;
    let transport = Transport::new().unwrap();
    let mut session = session(&transport, agent.address(), users().remove(2));
    assert_read(&walk(&mut session, &Context::default()).await, 0);
    let before = session.cost().requests;
    // Up; down; the same boots at another time.
    for (boots, time) in [(4, 5), (1, 70_000), (1, 200)] {
        agent.set_engine_clock(boots, time);
        let at = session.cost().requests;
        assert_read(&walk(&mut session, &Context::default()).await, 0);
        assert_eq!(session.cost().requests - at, before - 1 + 1, "the walk, and one message twice");
        assert_eq!(session.engine().unwrap().boots, boots);
    }
}

#[tokio::test]
async fn each_context_has_its_own_recording() {
    let second = b"\x80\x00\x13\x0a\x05vr-2".to_vec();
    let context = |name: &str, engine_id: Option<Vec<u8>>| Context { name: name.into(), engine_id };
    let served = [context("", None), context("vr1", None), context("", Some(second.clone()))];
    let mut engine = ReplayEngine::new(ENGINE_ID, users()).await.unwrap();
    for (context, base) in served.iter().zip([0, 1000, 2000]) {
        engine = engine.serving(context.clone(), recording(base));
    }
    let agent = start(engine).await;
    let transport = Transport::new().unwrap();
    let mut session = session(&transport, agent.address(), users().remove(1));
    for (context, base) in served.iter().zip([0, 1000, 2000]) {
        assert_read(&walk(&mut session, context).await, base);
    }
    // The engine's own id may be said or left unsaid.
    assert_read(&walk(&mut session, &context("vr1", Some(ENGINE_ID.to_vec()))).await, 1000);
    let read = walk(&mut session, &context("vr1", Some(second))).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::UnknownContext));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_of_engines_is_walked_from_one_process() {
    let first = ReplayEngine::new(ENGINE_ID, users()).await.unwrap();
    let served = Arc::new(recording(0));
    let mut agents = Vec::new();
    for number in 0..300_u32 {
        let id = [ENGINE_ID, &number.to_be_bytes()].concat();
        let engine = first.another(id).await.unwrap();
        agents.push(start(engine.serving(Context::default(), Arc::clone(&served))).await);
    }
    let transport = Transport::new().unwrap();
    let mut walks = tokio::task::JoinSet::new();
    for agent in &agents {
        let mut session = session(&transport, agent.address(), users().remove(2));
        walks.spawn(async move { (walk(&mut session, &Context::default()).await, session.engine()) });
    }
    let mut ids = std::collections::BTreeSet::new();
    while let Some(walked) = walks.join_next().await {
        let (read, engine) = walked.unwrap();
        assert_read(&read, 0);
        ids.insert(engine.unwrap().id);
    }
    assert_eq!(ids.len(), 300);
}

#[tokio::test]
async fn an_engine_that_cannot_be_is_refused() {
    let id = ReplayEngine::new(*b"four", users()).await.unwrap_err();
    assert_eq!(id, ReplayEngineError::EngineId(4));
    let engine = ReplayEngine::new(ENGINE_ID, users()).await.unwrap();
    assert_eq!(engine.another([7; 33]).await.unwrap_err(), ReplayEngineError::EngineId(33));
    let mut careless = users();
    careless[2].privacy = Some((PrivacyProtocol::Des, Secret::new("")));
    let error = ReplayEngine::new(ENGINE_ID, careless).await.unwrap_err();
    assert_eq!(error.to_string(), "no keys can be made for user sealing: a password is empty");
}
