use tokio::net::UdpSocket;

use super::*;
use crate::poll::State;
use crate::snmp::{Limits, Recording, ReplayAgent};

const WALK: &str = include_str!("../../../tests/data/walks/huawei-control-plane.snmprec");

fn fleet() -> Fleet {
    Fleet::of_strangers(Arc::new(Library::built_in()), Transport::new().unwrap())
}

/// A poll of a name, which soon takes a router for silent.
fn job(fleet: &Fleet, source: Option<IpAddr>) -> Job {
    let polling = Polling {
        limits: Limits { timeout: Duration::from_secs(1), retries: 0, ..Limits::default() },
        source,
        ..community_polling(Secret::new(*b"public"))
    };
    let choice = Choice::Auto(Arc::clone(fleet.library()));
    let endpoint = "bas1.example.test".parse().unwrap();
    fleet.stranger("bas1", endpoint, polling, choice, Timestamp::UNIX_EPOCH).unwrap()
}

async fn agent() -> ReplayAgent {
    let walk = vec![("public".to_owned(), Recording::parse(WALK).unwrap())];
    ReplayAgent::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), walk).await.unwrap()
}

async fn poll_found(fleet: &Fleet, found: Result<Vec<SocketAddr>, &str>) -> Polled {
    fleet.talk_at(job(fleet, None), found.map_err(str::to_owned), Instant::now()).await.judged()
}

#[track_caller]
fn assert_read(polled: &Polled, at: SocketAddr) {
    assert_eq!((polled.state, polled.address), (State::Complete, at), "{}", polled.detail);
}

#[tokio::test]
async fn a_name_with_a_dead_address_then_another_then_none_is_polled_each_time() {
    let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let (first, second, fleet) = (agent().await, agent().await, fleet());
    let both = || Ok(vec![dead.local_addr().unwrap(), first.address()]);
    let polled = poll_found(&fleet, both()).await;
    assert_read(&polled, first.address());
    let requests = polled.cost.requests;
    // The one that answered goes first from now on.
    let polled = poll_found(&fleet, both()).await;
    assert_read(&polled, first.address());
    assert_eq!(polled.cost.requests, requests - 1);
    // The name moves, and then cannot be resolved.
    assert_read(&poll_found(&fleet, Ok(vec![second.address()])).await, second.address());
    let polled = poll_found(&fleet, Err("SERVFAIL")).await;
    assert_read(&polled, second.address());
    let note = format!("SERVFAIL; asked {}, which answered before", second.address());
    assert_eq!(polled.notes.last(), Some(&note));
    // Nor is that forgotten when the configuration is read anew.
    let anew = self::fleet().remembering(&fleet);
    assert_read(&poll_found(&anew, Err("SERVFAIL")).await, second.address());
}

#[tokio::test]
async fn a_name_that_never_was_resolved_is_unresolved() {
    let polled = poll_found(&fleet(), Err("SERVFAIL")).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Unresolved)));
    assert_eq!((polled.detail.as_str(), polled.cost.requests), ("SERVFAIL", 0));
}

#[tokio::test]
async fn an_address_that_the_name_no_longer_has_is_not_asked() {
    let (old, fleet) = (agent().await, fleet());
    assert_read(&poll_found(&fleet, Ok(vec![old.address()])).await, old.address());
    let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let polled = poll_found(&fleet, Ok(vec![dead.local_addr().unwrap()])).await;
    assert_eq!(polled.reason, Some(Fault::Snmp(Reason::Timeout)));
    assert_eq!(polled.cost.requests, 1);
}

#[tokio::test]
async fn all_dead_addresses_of_a_name_share_one_deadline() {
    let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let fleet = fleet();
    let mut job = job(&fleet, None);
    let limits = &mut job.request.target.limits;
    (limits.timeout, limits.deadline) = (Duration::from_millis(300), Duration::from_millis(700));
    let begun = Instant::now();
    let polled = fleet.talk_at(job, Ok(vec![dead.local_addr().unwrap(); 9]), begun).await.judged();
    assert_eq!(polled.state, State::Failed);
    // Two pauses of 300 ms, and what is left of the third.
    assert_eq!(polled.cost.requests, 3);
    assert!(polled.duration >= Duration::from_millis(690), "{:?}", polled.duration);
}

#[test]
fn only_addresses_of_the_family_of_the_source_are_asked() {
    let v4: SocketAddr = "192.0.2.1:161".parse().unwrap();
    let v6: SocketAddr = "[2001:db8::1]:161".parse().unwrap();
    let both = || Ok(vec![v6, v4]);
    let from = |source: &str| Some(source.parse().unwrap());
    assert_eq!(candidates(both(), None, None), Ok(vec![v6, v4]));
    assert_eq!(candidates(both(), Some(v4), None), Ok(vec![v4, v6]));
    assert_eq!(candidates(both(), None, from("192.0.2.200")), Ok(vec![v4]));
    assert_eq!(candidates(both(), Some(v4), from("2001:db8::200")), Ok(vec![v6]));
}

#[test]
fn who_was_silent_is_known_from_what_is_remembered() {
    for (reason, silent) in [
        ("timeout", true),
        ("unreachable", true),
        ("", false),
        ("wrong-digest", false),
        ("deadline", false),
        ("unresolved", false),
    ] {
        let memory = Memory { reason: reason.into(), ..Memory::default() };
        assert_eq!(was_silent(&memory), silent, "{reason}");
    }
}
