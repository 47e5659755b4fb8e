//! The walk against Debian's snmpd: v2c and v3 with every pair of protocols on both
//! families, with a relay between that drops the first transmission of every request and
//! puts forged packets before every answer.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use poolsync::snmp::{
    AuthProtocol, Columns, Context, Credentials, KeyExtension, Limits, Oid, Outcome, PrivacyProtocol, Reason,
    Recording, ReplayAgent, Secret, Session, TableRead, Target, Transport, User, Value,
};
use support::have;
use support::relay::Relay;
use support::snmpd::{self, AUTH_PASSWORD, COMMUNITY, CONTEXT, PLAIN_USER, PRIVACY_PASSWORD, Snmpd};
use support::wire::{self, Address, integer, message_pieces, pieces, tlv};

const NEEDS: &[&str] = &["snmpd", "python3"];
const TABLE: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1";
const ROWS: u8 = 60;

/// The old JUNOSe pool table: status, name, first, last, size, in use.
fn rows() -> String {
    let mut text = String::new();
    for (column, kind) in [(2, 2), (3, 4), (4, 64), (5, 64), (6, 2), (7, 2)] {
        for row in 1..=ROWS {
            let value = match column {
                2 => "1".to_owned(),
                3 => format!("pool-{row}"),
                4 => format!("10.0.{row}.0"),
                5 => format!("10.0.{row}.255"),
                6 => "256".to_owned(),
                _ => row.to_string(),
            };
            writeln!(text, "{TABLE}.{column}.{row}|{kind}|{value}").unwrap();
        }
    }
    text
}

/// The same, as it should be read.
fn expected() -> BTreeMap<Vec<u32>, Vec<Option<Value>>> {
    let row = |row: u8| {
        let cells = vec![
            Some(Value::Integer(1)),
            Some(Value::Octets(format!("pool-{row}").into_bytes())),
            Some(Value::IpAddress(vec![10, 0, row, 0])),
            Some(Value::IpAddress(vec![10, 0, row, 255])),
            Some(Value::Integer(256)),
            Some(Value::Integer(i64::from(row))),
        ];
        (vec![u32::from(row)], cells)
    };
    (1..=ROWS).map(row).collect()
}

fn columns() -> Columns {
    Columns { entry: TABLE.parse().unwrap(), columns: (2..=7).collect() }
}

fn limits() -> Limits {
    let (timeout, deadline) = (Duration::from_millis(250), Duration::from_secs(120));
    Limits { timeout, retries: 6, deadline, ..Limits::default() }
}

fn user(auth: &str, privacy: &str) -> User {
    let auth_protocol = match auth {
        "MD5" => AuthProtocol::Md5,
        "SHA" => AuthProtocol::Sha1,
        "SHA-224" => AuthProtocol::Sha224,
        "SHA-256" => AuthProtocol::Sha256,
        "SHA-384" => AuthProtocol::Sha384,
        _ => AuthProtocol::Sha512,
    };
    let privacy_protocol = match privacy {
        "DES" => Some(PrivacyProtocol::Des),
        "AES" => Some(PrivacyProtocol::Aes128),
        "AES-192" => Some(PrivacyProtocol::Aes192),
        "AES-256" => Some(PrivacyProtocol::Aes256),
        _ => None,
    };
    User {
        name: snmpd::user(auth, privacy).into(),
        auth: Some((auth_protocol, Secret::new(AUTH_PASSWORD))),
        privacy: privacy_protocol.map(|protocol| (protocol, Secret::new(PRIVACY_PASSWORD))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}

fn plain_user() -> User {
    User {
        name: PLAIN_USER.into(),
        auth: None,
        privacy: None,
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    }
}

fn session(transport: &Transport, address: SocketAddr, credentials: Credentials) -> Session {
    Session::new(
        transport,
        Target { address, credentials, limits: limits(), engine: None, reach: Default::default() },
    )
}

fn community() -> Credentials {
    Credentials::V2c(Secret::new(COMMUNITY))
}

fn assert_complete(read: &TableRead, what: &str) {
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""), "{what}");
    assert_eq!(read.rows.to_map(), expected(), "{what}");
}

/// A copy with one bit changed.
fn flipped(message: &[u8], place: usize, bit: u8) -> Vec<u8> {
    let mut copy = message.to_vec();
    copy[place] ^= bit;
    copy
}

/// What an enemy on the path puts before an answer of v2c.
fn forge_v2c(answer: &[u8]) -> Vec<Vec<u8>> {
    let parts = message_pieces(answer);
    let id = pieces(answer, parts[2].contents.clone()).remove(0).contents.end - 1;
    let as_request = flipped(answer, parts[1].contents.end, wire::RESPONSE ^ wire::GET);
    vec![
        flipped(answer, id, 1),
        flipped(answer, parts[1].contents.start, 1),
        as_request,
        b"nonsense".to_vec(),
    ]
}

/// The same before an answer of v3. Of an unsigned one only what tells it from another is
/// changed: the rest is what its level leaves to anybody.
fn forge_v3(answer: &[u8], signs: bool) -> Vec<Vec<u8>> {
    let parts = message_pieces(answer);
    let global = pieces(answer, parts[1].contents.clone());
    let security = pieces(answer, parts[2].contents.clone()).remove(0);
    let security = pieces(answer, security.contents);
    let boots = security[1].contents.end - 1;
    let id = wire::number(answer, &global[0]);
    let other_id = flipped(answer, global[0].contents.end - 1, 1);
    let unsigned = answer[global[2].contents.start] & 1 == 0;
    if unsigned && !signs {
        return vec![other_id];
    }
    if unsigned {
        // Discovery: an id cannot be told from a forged one, boots must not be believed.
        return vec![other_id, flipped(answer, boots, 8)];
    }
    let engine = &answer[security[0].contents.clone()];
    let user = &answer[security[3].contents.clone()];
    let to = Address { id, engine, boots: 1, time: 5, user };
    let not_in_window = (wire::arcs("1.3.6.1.6.3.15.1.1.2.0"), tlv(0x41, &[&[5]]));
    let forged_pool = (wire::arcs(&format!("{TABLE}.2.1")), integer(666));
    let report = wire::answer_pdu(wire::REPORT, id, 0, 0, &[not_in_window]);
    let response = wire::answer_pdu(wire::RESPONSE, id, 0, 0, &vec![forged_pool; 6]);
    vec![
        other_id,
        flipped(answer, boots, 8),
        flipped(answer, security[4].contents.start, 1),
        flipped(answer, answer.len() - 1, 1),
        wire::unsigned_v3(Address { boots: 99, ..to }, &report),
        wire::unsigned_v3(to, &response),
    ]
}

/// Walks the table through a relay and checks what came, and that the relay did its worst.
async fn walk_through_relay(transport: Transport, agent: SocketAddr, credentials: Credentials, what: String) {
    let signs = match &credentials {
        Credentials::V2c(_) => None,
        Credentials::V3(user) => Some(user.auth.is_some()),
    };
    let forge = move |answer: &[u8]| match signs {
        None => forge_v2c(answer),
        Some(signs) => forge_v3(answer, signs),
    };
    let relay = Relay::start(agent, forge).await;
    let mut session = session(&transport, relay.address(), credentials);
    let read = session.table(&Context::default(), &columns(), None).await;
    assert_complete(&read, &what);
    let (cost, (dropped, forged, answered)) = (session.cost(), relay.done());
    assert!(cost.requests >= 4 && cost.retries >= cost.requests, "{what}: {cost:?}");
    assert_eq!(dropped, cost.requests, "{what}: the first transmission of each request is lost");
    assert!(forged >= answered && answered >= 4, "{what}: {forged} forged, {answered} answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v2c_and_every_pair_of_v3_survive_loss_and_forgery_on_both_families() {
    if !have("v2c_and_every_pair_of_v3_survive_loss_and_forgery_on_both_families", NEEDS) {
        return;
    }
    let agent = Snmpd::start(&rows(), None);
    let transport = Transport::new().unwrap();
    let mut users = vec![("v2c".to_owned(), community())];
    users.push(("noAuthNoPriv".to_owned(), Credentials::V3(plain_user())));
    for auth in snmpd::AUTHS {
        for privacy in snmpd::PRIVACIES {
            users.push((format!("{auth} with {privacy}"), Credentials::V3(user(auth, privacy))));
        }
    }
    assert_eq!(users.len(), 1 + 1 + 6 * 5);
    let mut walks = tokio::task::JoinSet::new();
    let mut finished = 0;
    for (name, credentials) in users {
        for (family, address) in [("IPv4", agent.v4()), ("IPv6", agent.v6())] {
            let what = format!("{name} over {family}");
            walks.spawn(walk_through_relay(transport.clone(), address, credentials.clone(), what));
        }
        // Not more at once than one agent answers in time.
        while walks.len() >= 8 {
            walks.join_next().await.unwrap().unwrap();
            finished += 1;
        }
    }
    while let Some(walk) = walks.join_next().await {
        walk.unwrap();
        finished += 1;
    }
    assert_eq!(finished, 2 * 32);
    assert!(transport.heard().strangers > 0, "the true answers came from elsewhere too");
}

#[tokio::test]
async fn a_context_has_a_table_of_its_own() {
    if !have("a_context_has_a_table_of_its_own", NEEDS) {
        return;
    }
    let recording =
        Recording::parse(&format!("{TABLE}.3.1|4|corp-vpn\n{TABLE}.4.1|64|192.168.10.5\n")).unwrap();
    let second =
        ReplayAgent::start("127.0.0.1:0".parse().unwrap(), vec![(COMMUNITY.into(), recording)]).await;
    let second = second.unwrap();
    let agent = Snmpd::start(&rows(), Some(second.address()));
    let transport = Transport::new().unwrap();
    let mut session = session(&transport, agent.v4(), Credentials::V3(user("SHA-256", "AES")));
    let context = Context { name: CONTEXT.into(), engine_id: None };
    let read = session.table(&context, &columns(), None).await;
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
    let name = Some(Value::Octets(b"corp-vpn".to_vec()));
    let first = Some(Value::IpAddress(vec![192, 168, 10, 5]));
    assert_eq!(read.rows.to_map(), BTreeMap::from([(vec![1], vec![None, name, first, None, None, None])]));
    assert_complete(&session.table(&Context::default(), &columns(), None).await, "the default context");
    // snmpd is silent in a context that it does not know.
    let typo = Context { name: "vrl".into(), engine_id: None };
    let read = session.table(&typo, &columns(), None).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::Timeout), "{}", read.detail);
    assert!(read.detail.contains("in context \"vrl\""), "{}", read.detail);
}

/// What a GET of sysUpTime fails by.
async fn failure(agent: SocketAddr, user: User) -> (Reason, String) {
    let transport = Transport::new().unwrap();
    let limits = Limits { retries: 2, ..limits() };
    let target = Target {
        address: agent,
        credentials: Credentials::V3(user),
        limits,
        engine: None,
        reach: Default::default(),
    };
    let mut session = Session::new(&transport, target);
    let up_time: Oid = "1.3.6.1.2.1.1.3.0".parse().unwrap();
    let failure = session.get(&Context::default(), &[up_time]).await.unwrap_err();
    assert!(session.cost().requests <= 4, "credentials are not tried again: {:?}", session.cost());
    (failure.reason, failure.detail)
}

#[tokio::test]
async fn wrong_credentials_are_told_apart() {
    if !have("wrong_credentials_are_told_apart", NEEDS) {
        return;
    }
    let agent = Snmpd::start(&rows(), None);
    let mut stranger = user("SHA", "AES");
    stranger.name = "nobody".into();
    let (reason, detail) = failure(agent.v4(), stranger).await;
    assert_eq!(reason, Reason::UnknownUser, "{detail}");
    let mut wrong = user("SHA", "AES");
    wrong.auth = Some((AuthProtocol::Sha1, Secret::new("wrongpass-12345")));
    let (reason, detail) = failure(agent.v4(), wrong).await;
    assert_eq!(reason, Reason::WrongDigest, "{detail}");
    let mut other_protocol = user("SHA", "AES");
    other_protocol.auth = Some((AuthProtocol::Sha256, Secret::new(AUTH_PASSWORD)));
    let (reason, detail) = failure(agent.v4(), other_protocol).await;
    assert_eq!(reason, Reason::WrongDigest, "{detail}");
    // snmpd is silent to what it cannot decrypt.
    for privacy in ["DES", "AES", "AES-192", "AES-256"] {
        let mut wrong = user("SHA", privacy);
        let protocol = wrong.privacy.unwrap().0;
        wrong.privacy = Some((protocol, Secret::new("wrongpass-12345")));
        let (reason, detail) = failure(agent.v4(), wrong).await;
        assert_eq!(reason, Reason::DecryptionError, "{privacy}: {detail}");
    }
    let mut stretched = user("SHA", "AES-256");
    stretched.key_extension = KeyExtension::Reeder;
    let (reason, detail) = failure(agent.v4(), stretched).await;
    assert_eq!(reason, Reason::DecryptionError, "{detail}");
    assert!(detail.contains("key-extension = \"blumenthal\""), "{detail}");
    let mut above = user("SHA", "NONE");
    above.privacy = Some((PrivacyProtocol::Aes128, Secret::new(PRIVACY_PASSWORD)));
    let (reason, detail) = failure(agent.v4(), above).await;
    assert_eq!(reason, Reason::UnsupportedLevel, "{detail}");
    let mut below = user("SHA", "AES");
    below.privacy = None;
    let (reason, detail) = failure(agent.v4(), below).await;
    assert_eq!(reason, Reason::AuthorizationError, "{detail}");
}

#[tokio::test]
async fn a_known_engine_needs_no_discovery_and_a_reboot_is_noticed() {
    if !have("a_known_engine_needs_no_discovery_and_a_reboot_is_noticed", NEEDS) {
        return;
    }
    let agent = Snmpd::start(&rows(), None);
    let credentials = Credentials::V3(user("SHA-256", "AES"));
    let up_time: Oid = "1.3.6.1.2.1.1.3.0".parse().unwrap();
    let get = |mut session: Session, up_time: Oid| async move {
        session.get(&Context::default(), &[up_time]).await.unwrap();
        (session.cost().requests, session.engine().unwrap())
    };
    let first = session(&Transport::new().unwrap(), agent.v4(), credentials.clone());
    let (requests, engine) = get(first, up_time.clone()).await;
    assert!(requests >= 2, "discovery and the question");
    // Another run of the program, which remembers.
    let transport = Transport::new().unwrap();
    let target = |engine| Target {
        address: agent.v4(),
        credentials: credentials.clone(),
        limits: limits(),
        engine: Some(engine),
        reach: Default::default(),
    };
    let second = Session::new(&transport, target(engine.clone()));
    assert_eq!(get(second, up_time.clone()).await.0, 1);
    // The same program again, which needs nothing from outside.
    let third = session(&transport, agent.v4(), credentials.clone());
    assert_eq!(get(third, up_time.clone()).await.0, 1);
    // What is remembered is of another boot: one more message brings the clocks together.
    let mut stale = engine.clone();
    stale.boots += 5;
    stale.time += 100_000;
    let fourth = Session::new(&Transport::new().unwrap(), target(stale));
    let (requests, heard) = get(fourth, up_time.clone()).await;
    assert_eq!((requests, heard.boots), (2, engine.boots));
    // What is remembered is another engine: it is discovered anew.
    let mut other = engine.clone();
    other.id = "80001f8804706f6f6c".to_owned();
    let fifth = Session::new(&Transport::new().unwrap(), target(other));
    assert_eq!(get(fifth, up_time).await.1.id, engine.id);
}

#[tokio::test]
async fn a_pinned_engine_id_is_held_to() {
    if !have("a_pinned_engine_id_is_held_to", NEEDS) {
        return;
    }
    let agent = Snmpd::start(&rows(), None);
    let mut pinned = user("SHA-512", "AES-256");
    pinned.engine_id = Some(vec![0x80, 0, 0x1f, 0x88, 4, b'x']);
    let (reason, detail) = failure(agent.v4(), pinned.clone()).await;
    assert_eq!(reason, Reason::UnknownEngine, "{detail}");
    let transport = Transport::new().unwrap();
    let mut free = session(&transport, agent.v4(), Credentials::V3(user("SHA-512", "AES-256")));
    assert_complete(&free.table(&Context::default(), &columns(), None).await, "not pinned");
    let id = free.engine().unwrap().id;
    let octet = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
    pinned.engine_id = Some((0..id.len()).step_by(2).map(octet).collect());
    let mut session = session(&Transport::new().unwrap(), agent.v4(), Credentials::V3(pinned));
    assert_complete(&session.table(&Context::default(), &columns(), None).await, "pinned");
}

#[tokio::test]
async fn an_agent_that_is_gone_is_silent() {
    if !have("an_agent_that_is_gone_is_silent", NEEDS) {
        return;
    }
    let mut agent = Snmpd::start(&rows(), None);
    let transport = Transport::new().unwrap();
    for credentials in [community(), Credentials::V3(user("SHA", "AES"))] {
        let mut session = session(&transport, agent.v6(), credentials);
        assert_complete(&session.table(&Context::default(), &columns(), None).await, "alive");
    }
    agent.stop();
    let limits = Limits { timeout: Duration::from_millis(10), ..limits() };
    for credentials in [community(), Credentials::V3(user("SHA", "AES"))] {
        let target =
            Target { address: agent.v6(), credentials, limits, engine: None, reach: Default::default() };
        let read = Session::new(&transport, target).table(&Context::default(), &columns(), None).await;
        assert_eq!(read.outcome, Outcome::Failed(Reason::Timeout), "{}", read.detail);
        assert!(read.rows.is_empty());
    }
}
