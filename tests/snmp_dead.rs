//! What dead and dying routers cost: few packets, and little time.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use poolsync::mib::{Fault, Library};
use poolsync::poll::{Choice, Filter, Polled, Remembered, Request, Spaces, State, poll};
use poolsync::snmp::{
    AuthProtocol, Columns, Context, Credentials, KeyExtension, Limits, Oid, Outcome, PrivacyProtocol, Reason,
    Recording, ReplayAgent, Secret, Session, Target, Transport, User,
};
use support::engine::{AUTH_PASSWORD, Engine, Level, PRIVACY_PASSWORD, USER};
use support::scripted::{Act, Scripted};
use support::wire::{self, Objects, integer, tlv};

const QUICK: Duration = Duration::from_millis(20);
/// What an agent that lives answers within, in a few tries, on a busy machine too.
const SOON: Duration = Duration::from_millis(80);

fn v2c() -> Credentials {
    Credentials::V2c(Secret::new("public"))
}

fn v3() -> Credentials {
    Credentials::V3(User {
        name: USER.into(),
        auth: Some((AuthProtocol::Sha256, Secret::new(AUTH_PASSWORD))),
        privacy: Some((PrivacyProtocol::Aes128, Secret::new(PRIVACY_PASSWORD))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    })
}

fn asked(address: SocketAddr, credentials: Credentials, limits: Limits) -> Request {
    Request {
        name: "bas".into(),
        target: Target { address, credentials, limits, engine: None, reach: Default::default() },
        context: Context::default(),
        community_contexts: false,
        choice: Choice::Auto(Arc::new(Library::built_in())),
        remembered: Remembered::default(),
        encoding: None,
        group_as_vrf: None,
        filter: Filter::default(),
        spaces: Arc::new(Spaces::new(vec![("internet".into(), vec!["".into()])])),
        now: Timestamp::from_second(1_800_000_000).unwrap(),
    }
}

#[track_caller]
fn assert_silent(polled: &Polled) {
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Snmp(Reason::Timeout))));
}

/// A poll of a silent agent: what it was sent, and the poll.
async fn silent(credentials: Credentials, named: bool, retries: u32) -> (Vec<Vec<u8>>, Polled) {
    let agent = Scripted::start(|_| Vec::new()).await;
    let limits = Limits { timeout: QUICK, retries, ..Limits::default() };
    let mut request = asked(agent.address(), credentials, limits);
    if named {
        let library = Library::built_in();
        request.choice = Choice::Named(Arc::clone(library.get("huawei").unwrap()));
    }
    let polled = poll(&Transport::new().unwrap(), request).await;
    (agent.heard().into_iter().map(|(_, datagram)| datagram).collect(), polled)
}

#[tokio::test]
async fn a_dead_router_is_asked_one_question_and_no_smaller_one() {
    for (credentials, named) in [(v2c(), false), (v2c(), true), (v3(), false), (v3(), true)] {
        for retries in [0, 3] {
            let (mut heard, polled) = silent(credentials.clone(), named, retries).await;
            assert_silent(&polled);
            assert_eq!(heard.len(), retries as usize + 1, "named: {named}");
            assert_eq!((polled.cost.requests, polled.cost.retries), (1, retries));
            heard.dedup();
            assert_eq!(heard.len(), 1, "one question");
        }
    }
}

#[tokio::test]
async fn a_dead_router_takes_no_longer_than_the_pauses_between_its_tries() {
    // 2 s by default, and each pause 1.75 times the last, give or take a quarter:
    // 2 + (3.5 + 6.125 + 10.71875) * 1.25 = 27.4 s of the 60 s. Here by the hundredth.
    let agent = Scripted::start(|_| Vec::new()).await;
    let default = Limits::default();
    let limits = Limits { timeout: default.timeout / 100, deadline: default.deadline / 100, ..default };
    let begun = Instant::now();
    assert_silent(&poll(&Transport::new().unwrap(), asked(agent.address(), v2c(), limits)).await);
    assert!(begun.elapsed() >= Duration::from_millis(20 + 152), "{:?}", begun.elapsed());
    assert!(begun.elapsed() < limits.deadline, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_silent_router_takes_no_slot_from_one_that_answers() {
    let walk = include_str!("data/walks/huawei-me60.snmprec");
    let recording = Recording::parse(walk).unwrap();
    let alive = ReplayAgent::start("127.0.0.1:0".parse().unwrap(), vec![("public".to_owned(), recording)]);
    let alive = alive.await.unwrap();
    let dead = Scripted::start(|_| Vec::new()).await;
    let transport = Transport::new().unwrap().limited(1);
    // The dead one would be waited for half an hour.
    let patient = Duration::from_secs(600);
    let limits = Limits { timeout: patient, retries: 0, deadline: patient * 3, ..Limits::default() };
    let waiting = tokio::spawn({
        let (transport, request) = (transport.clone(), asked(dead.address(), v2c(), limits));
        async move { poll(&transport, request).await }
    });
    while dead.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..2 {
        let polled = poll(&transport, asked(alive.address(), v2c(), Limits::default())).await;
        assert_eq!(polled.state, State::Complete, "{polled:?}");
    }
    assert!(!waiting.is_finished());
    waiting.abort();
}

/// Five tables of two columns and three rows, and sysUpTime.
fn objects() -> Objects {
    let mut objects = Objects::default();
    for table in 1..=5 {
        for (column, row) in [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)] {
            objects.set(&format!("1.3.6.1.4.1.9.{table}.1.{column}.{row}"), integer(row));
        }
    }
    objects.set("1.3.6.1.2.1.1.3.0", tlv(0x43, &[&[9]]));
    objects.set("1.3.6.1.4.1.10.1", integer(1));
    objects
}

fn columns(table: u32) -> Columns {
    Columns { entry: Oid::new([1, 3, 6, 1, 4, 1, 9, table, 1]), columns: vec![1, 2] }
}

/// Whether a request is about one of the tables.
fn is_about(request: &wire::Request, table: u32) -> bool {
    request.oids.iter().any(|oid| oid.starts_with(&[1, 3, 6, 1, 4, 1, 9, table]))
}

fn session(agent: &Scripted) -> Session {
    let limits = Limits { timeout: SOON, ..Limits::default() };
    let target = asked(agent.address(), v2c(), limits).target;
    Session::new(&Transport::new().unwrap(), target)
}

fn context(name: &str) -> Context {
    Context { name: name.into(), engine_id: None }
}

/// Reads the tables one after the other: what became of each, and in words.
async fn read(session: &mut Session, context: &Context, tables: &[u32]) -> Vec<(Outcome, String)> {
    let mut outcomes = Vec::new();
    for table in tables {
        let read = session.table(context, &columns(*table), Some(20)).await;
        outcomes.push((read.outcome, read.detail));
    }
    outcomes
}

#[tokio::test]
async fn a_router_that_dies_in_the_middle_is_not_asked_for_the_rest() {
    let agent = Scripted::start(|message| {
        let request = wire::request(message);
        let alive = is_about(&request, 1) || is_about(&request, 2);
        if alive { vec![Act::Send(objects().answer(&request))] } else { Vec::new() }
    })
    .await;
    let silent = |agent: &Scripted| {
        let about = |request: &wire::Request| is_about(request, 1) || is_about(request, 2);
        agent.heard().iter().filter(|(_, message)| !about(&wire::request(message))).count()
    };
    let mut session = session(&agent);
    let outcomes = read(&mut session, &Context::default(), &[1, 2, 3, 4, 5]).await;
    let timeout = Outcome::Failed(Reason::Timeout);
    assert_eq!(outcomes.iter().map(|(outcome, _)| *outcome).collect::<Vec<_>>(), {
        [Outcome::Complete, Outcome::Complete, timeout, timeout, timeout]
    });
    assert!(outcomes[2].1.starts_with("no answer from"), "{}", outcomes[2].1);
    for (_, detail) in &outcomes[3..] {
        assert!(
            detail.starts_with("not asked any more: ") && detail.ends_with("no sign of life"),
            "{detail}"
        );
    }
    // The learnt bulk four times, a GETNEXT and the proof of life twice each.
    assert_eq!(silent(&agent), 4 + 2 + 2);
    let failure = session.get(&Context::default(), &[Oid::new([1, 3])]).await.unwrap_err();
    assert_eq!(failure.reason, Reason::Timeout);
    assert_eq!(silent(&agent), 8, "nothing more was sent");
}

#[tokio::test]
async fn a_table_that_hangs_costs_no_other_table() {
    let agent = Scripted::start(|message| {
        let request = wire::request(message);
        if is_about(&request, 2) { Vec::new() } else { vec![Act::Send(objects().answer(&request))] }
    })
    .await;
    let outcomes = read(&mut session(&agent), &Context::default(), &[1, 2, 3, 4]).await;
    let outcomes: Vec<_> = outcomes.into_iter().map(|(outcome, _)| outcome).collect();
    let (complete, timeout) = (Outcome::Complete, Outcome::Failed(Reason::Timeout));
    assert_eq!(outcomes, [complete, timeout, complete, complete]);
}

#[tokio::test]
async fn a_silent_context_is_asked_for_one_table_and_costs_no_other_context() {
    let agent = Scripted::start(|message| {
        let request = wire::request(message);
        let silent = request.community == b"public@vr9";
        if silent { Vec::new() } else { vec![Act::Send(objects().answer(&request))] }
    })
    .await;
    let mut session = session(&agent);
    let complete = |outcomes: &[(Outcome, String)]| outcomes.iter().all(|(o, _)| *o == Outcome::Complete);
    assert!(complete(&read(&mut session, &Context::default(), &[1, 2]).await));
    let outcomes = read(&mut session, &context("vr9"), &[1, 2, 3, 4]).await;
    assert!(outcomes.iter().all(|(outcome, _)| *outcome == Outcome::Failed(Reason::Timeout)));
    assert!(outcomes[1..].iter().all(|(_, detail)| detail.ends_with("is silent in this context")));
    // Of table 1 the learnt bulk four times and a GETNEXT twice; sysUpTime twice.
    let heard = agent.heard();
    let there = heard.iter().filter(|(_, message)| wire::request(message).community == b"public@vr9");
    assert_eq!(there.count(), 4 + 2 + 2);
    assert!(complete(&read(&mut session, &context("vr8"), &[1, 2]).await));
    assert!(complete(&read(&mut session, &Context::default(), &[3]).await));
}

/// An engine of an earlier run.
fn remembered() -> poolsync::table::Engine {
    let (id, at) = ("80001f88046f6e65".into(), Timestamp::now());
    poolsync::table::Engine { id, boots: 3, time: 1000, at }
}

#[tokio::test]
async fn a_dead_router_that_is_remembered_costs_no_more_by_v3() {
    for retries in [0, 1, 3] {
        let agent = Scripted::start(|_| Vec::new()).await;
        let limits = Limits { timeout: QUICK, retries, ..Limits::default() };
        let mut request = asked(agent.address(), v3(), limits);
        request.target.engine = Some(remembered());
        assert_silent(&poll(&Transport::new().unwrap(), request).await);
        assert_eq!(agent.heard().len(), retries as usize + 1);
    }
}

#[tokio::test]
async fn a_remembered_engine_that_cannot_decrypt_is_told_from_a_dead_one() {
    let engine = Engine::new(b"\x80\x00\x1f\x88\x04one", 3, 1000);
    let agent = Scripted::start(move |message| {
        let head = Engine::head(message);
        let pdu = wire::answer_pdu(wire::RESPONSE, head.id, 16, 0, &[]);
        let deaf = head.flags & 2 != 0;
        if deaf { Vec::new() } else { vec![Act::Send(engine.seal(Level::Signed, head.id, &pdu))] }
    })
    .await;
    let limits = Limits { timeout: SOON, ..Limits::default() };
    let mut request = asked(agent.address(), v3(), limits);
    request.target.engine = Some(remembered());
    let polled = poll(&Transport::new().unwrap(), request).await;
    assert_eq!(polled.reason, Some(Fault::Snmp(Reason::DecryptionError)), "{}", polled.detail);
}
