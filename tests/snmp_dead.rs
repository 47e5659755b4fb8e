//! What dead routers cost: few packets, and little time.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use poolsync::mib::{Fault, Library};
use poolsync::poll::{Choice, Filter, Polled, Remembered, Request, Spaces, State, poll};
use poolsync::snmp::{
    AuthProtocol, Context, Credentials, KeyExtension, Limits, PrivacyProtocol, Reason, Recording,
    ReplayAgent, Secret, Target, Transport, User,
};
use support::engine::{AUTH_PASSWORD, PRIVACY_PASSWORD, USER};
use support::scripted::Scripted;

const QUICK: Duration = Duration::from_millis(20);

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
