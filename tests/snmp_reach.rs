//! Routers that are dead, that answer from elsewhere, that limit their pace, or that only
//! listen to one of our addresses.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use poolsync::snmp::{
    AuthProtocol, Columns, Context, Credentials, KeyExtension, Limits, Outcome, PrivacyProtocol, Reach,
    Reason, Secret, Session, TableRead, Target, Transport, User,
};
use support::engine::{AUTH_PASSWORD, Engine, Level, PRIVACY_PASSWORD, USER};
use support::scripted::{Act, Scripted};
use support::wire::{GET_BULK, Objects, RESPONSE, integer, request};

const COLUMN: &str = "1.3.6.1.4.1.9.1.2";
const ROWS: u32 = 40;
const QUICK: Duration = Duration::from_millis(60);
const PATIENT: Duration = Duration::from_secs(5);

fn objects() -> Objects {
    let mut objects = Objects::table(&[COLUMN], ROWS, |_, row| integer(i64::from(row)));
    objects.set("1.3.6.1.2.1.1.3.0", integer(1));
    objects
}

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

fn limits(timeout: Duration) -> Limits {
    Limits { timeout, max_repetitions: 5, ..Limits::default() }
}

async fn walk(address: SocketAddr, credentials: Credentials, limits: Limits, reach: Reach) -> TableRead {
    let target = Target { address, credentials, limits, engine: None, reach };
    let mut session = Session::new(&Transport::new().unwrap(), target);
    let columns = Columns { entry: "1.3.6.1.4.1.9.1".parse().unwrap(), columns: vec![2] };
    session.table(&Context::default(), &columns, None).await
}

#[track_caller]
fn assert_read(read: &TableRead) {
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
    assert_eq!(read.rows.len(), ROWS as usize);
}

fn loopback(last: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, last).into()
}

/// A v2c agent on 127.0.0.2 that answers from 127.0.0.3.
async fn from_elsewhere() -> Scripted {
    let objects = objects();
    Scripted::start_on_two((loopback(2), 0).into(), loopback(3), move |datagram| {
        vec![Act::Elsewhere(objects.answer(&request(datagram)))]
    })
    .await
}

/// The same, by SNMPv3.
async fn engine_from_elsewhere() -> Scripted {
    let (engine, objects) = (Engine::new(b"\x80\x00\x1f\x88\x04one", 7, 1000), objects());
    Scripted::start_on_two((loopback(2), 0).into(), loopback(3), move |datagram| {
        if Engine::is_probe(datagram) {
            return vec![Act::Elsewhere(engine.introduce(datagram))];
        }
        let asked = engine.read(datagram);
        let list = objects.varbinds(&asked);
        let pdu = support::wire::answer_pdu(RESPONSE, asked.id, 0, 0, &list);
        vec![Act::Elsewhere(engine.seal(Level::Encrypted, asked.id, &pdu))]
    })
    .await
}

#[track_caller]
fn assert_stranger(read: &TableRead, agent: &Scripted) {
    assert_eq!(read.outcome, Outcome::Failed(Reason::OtherAddress), "{}", read.detail);
    let detail = format!("came from {}, asked was {}", agent.elsewhere(), agent.address());
    assert!(read.detail.contains(&detail), "`{}` lacks `{detail}`", read.detail);
    assert_eq!(read.rows.len(), 0);
}

#[tokio::test]
async fn an_answer_from_another_address_is_refused_by_name_unless_it_is_listed() {
    let agent = from_elsewhere().await;
    let listed = |address| Reach { reply_from: vec![address], ..Reach::default() };
    assert_stranger(&walk(agent.address(), v2c(), limits(QUICK), Reach::default()).await, &agent);
    assert_stranger(&walk(agent.address(), v2c(), limits(QUICK), listed(loopback(4))).await, &agent);
    assert_read(&walk(agent.address(), v2c(), limits(PATIENT), listed(loopback(3))).await);
    let mapped = "::ffff:127.0.0.3".parse().unwrap();
    assert_read(&walk(agent.address(), v2c(), limits(PATIENT), listed(mapped)).await);
}

#[tokio::test]
async fn an_engine_that_answers_from_another_address_is_refused_unless_it_is_listed() {
    let agent = engine_from_elsewhere().await;
    assert_stranger(&walk(agent.address(), v3(), limits(QUICK), Reach::default()).await, &agent);
    let listed = Reach { reply_from: vec![loopback(3)], ..Reach::default() };
    assert_read(&walk(agent.address(), v3(), limits(PATIENT), listed).await);
}

#[tokio::test]
async fn the_address_asked_may_be_listed_for_the_sake_of_its_other_ports() {
    let objects = objects();
    let agent =
        Scripted::start(move |datagram| vec![Act::Elsewhere(objects.answer(&request(datagram)))]).await;
    let listed = Reach { reply_from: vec![agent.address().ip()], ..Reach::default() };
    assert_read(&walk(agent.address(), v2c(), limits(PATIENT), listed).await);
}

/// An agent that answers five requests within a second, drops those beyond, and after
/// three of them says nothing any more.
async fn policed() -> Scripted {
    let objects = objects();
    let (mut recent, mut dropped) = (VecDeque::new(), 0);
    Scripted::start(move |datagram| {
        let now = Instant::now();
        while recent.front().is_some_and(|&then| now.duration_since(then) >= Duration::from_secs(1)) {
            recent.pop_front();
        }
        if dropped >= 3 || recent.len() >= 5 {
            dropped += 1;
            return Vec::new();
        }
        recent.push_back(now);
        vec![Act::Send(objects.answer(&request(datagram)))]
    })
    .await
}

#[tokio::test]
async fn a_router_that_limits_its_pace_is_read_at_that_pace() {
    let agent = policed().await;
    let begun = Instant::now();
    let reach = Reach { pps: Some(4), ..Reach::default() };
    assert_read(&walk(agent.address(), v2c(), limits(PATIENT), reach).await);
    // 40 rows by 5, and one request that finds the end.
    assert_eq!(agent.heard().len(), 9);
    assert!(begun.elapsed() >= Duration::from_millis(8 * 250));
}

#[tokio::test]
async fn without_a_limit_such_a_router_falls_silent() {
    let agent = policed().await;
    let read = walk(agent.address(), v2c(), limits(QUICK), Reach::default()).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::Timeout));
}

#[tokio::test]
async fn what_is_sent_again_keeps_the_pace_too() {
    let agent = Scripted::start(|_| Vec::new()).await;
    let begun = Instant::now();
    let limits = Limits { timeout: Duration::from_millis(1), retries: 3, ..Limits::default() };
    let reach = Reach { pps: Some(10), ..Reach::default() };
    let target = Target { address: agent.address(), credentials: v2c(), limits, engine: None, reach };
    let transport = Transport::new().unwrap();
    let up_time = ["1.3.6.1.2.1.1.3.0".parse().unwrap()];
    // The second session is as the next poll of the same router.
    for polls in 1..=2 {
        let mut session = Session::new(&transport, target.clone());
        let failure = session.get(&Context::default(), &up_time).await.unwrap_err();
        assert_eq!(failure.reason, Reason::Timeout);
        assert_eq!(agent.heard().len(), polls * 4);
    }
    assert!(begun.elapsed() >= Duration::from_millis(7 * 100), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn requests_leave_from_the_configured_source_alone() {
    let objects = objects();
    let agent = Scripted::start(move |datagram| vec![Act::Send(objects.answer(&request(datagram)))]).await;
    let reach = Reach { source: Some(loopback(7)), ..Reach::default() };
    assert_read(&walk(agent.address(), v2c(), limits(PATIENT), reach).await);
    let heard = agent.heard();
    assert!(heard.iter().any(|(_, datagram)| request(datagram).kind == GET_BULK));
    assert!(heard.iter().all(|(from, _)| from.ip() == loopback(7)), "{heard:?}");
}

#[tokio::test]
async fn a_source_that_the_host_does_not_have_is_a_fault_of_ours() {
    let agent = Scripted::start(|_| Vec::new()).await;
    let reach = Reach { source: Some("192.0.2.1".parse().unwrap()), ..Reach::default() };
    let read = walk(agent.address(), v2c(), limits(QUICK), reach).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::SendFailed), "{}", read.detail);
    assert!(read.detail.contains("nothing can be sent from 192.0.2.1"), "{}", read.detail);
    assert_eq!(agent.heard().len(), 0);
}
