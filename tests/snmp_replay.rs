//! Walks against the replay agent.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::net::SocketAddr;
use std::time::Duration;

use poolsync::snmp::{
    Columns, Context, Credentials, Limits, Oid, Outcome, Reason, Recording, ReplayAgent, Secret, Session,
    Target, Transport, Value,
};

/// Two columns of an address-pool table, 100 rows, and an object behind it.
fn recording() -> Recording {
    let mut text = String::from("1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.4874.1\n1.3.6.1.2.1.1.3.0|67|4711\n");
    for row in 1..=100 {
        text += &format!("1.3.6.1.4.1.9.1.2.{row}|4|pool-{row}\n1.3.6.1.4.1.9.1.3.{row}|64|10.0.{row}.0\n");
    }
    Recording::parse(&(text + "1.3.6.1.4.1.10.1|2|1\n")).unwrap()
}

fn oid(text: &str) -> Oid {
    text.parse().unwrap()
}

fn table() -> Columns {
    Columns { entry: oid("1.3.6.1.4.1.9.1"), columns: vec![2, 3] }
}

fn target(address: SocketAddr, community: &str) -> Target {
    let limits = Limits { timeout: Duration::from_millis(500), ..Limits::default() };
    Target {
        address,
        credentials: Credentials::V2c(Secret::new(community)),
        limits,
        engine: None,
        reach: Default::default(),
    }
}

async fn agent(address: &str) -> ReplayAgent {
    ReplayAgent::start(address.parse().unwrap(), vec![("public".into(), recording())]).await.unwrap()
}

#[tokio::test]
async fn a_table_is_walked_to_its_end_on_both_families() {
    let transport = Transport::new().unwrap();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let agent = agent(address).await;
        let mut session = Session::new(&transport, target(agent.address(), "public"));
        let read = session.table(&Context::default(), &table(), None).await;
        assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
        assert_eq!(read.rows.len(), 100);
        for (row, (index, cells)) in (1..).zip(&read.rows.to_map()) {
            assert_eq!(index, &[row]);
            let name = Value::Octets(format!("pool-{row}").into_bytes());
            let first = Value::IpAddress(vec![10, 0, u8::try_from(row).unwrap(), 0]);
            assert_eq!(cells, &[Some(name), Some(first)]);
        }
        // 20 rows came whole; of the 40 asked for then, what fits into an answer of 1,400
        // octets, which is more than 20, and no more is asked for.
        assert_eq!((read.repetitions, session.cost().retries), (40, 0));
        assert!((4..=5).contains(&session.cost().requests), "{:?}", session.cost());
    }
}

#[tokio::test]
async fn a_table_that_is_not_there_is_unsupported() {
    let agent = agent("127.0.0.1:0").await;
    let mut session = Session::new(&Transport::new().unwrap(), target(agent.address(), "public"));
    for entry in ["1.3.6.1.4.1.8.1", "1.3.6.1.4.1.11.1"] {
        let columns = Columns { entry: oid(entry), columns: vec![2, 3] };
        let read = session.table(&Context::default(), &columns, None).await;
        assert_eq!((read.outcome, read.rows.len()), (Outcome::Unsupported, 0));
    }
}

#[tokio::test]
async fn get_gives_a_value_for_each_object_in_order() {
    let agent = agent("127.0.0.1:0").await;
    let mut session = Session::new(&Transport::new().unwrap(), target(agent.address(), "public"));
    let mut oids = vec![oid("1.3.6.1.2.1.1.3.0"), oid("1.3.6.1.2.1.1.9.0"), oid("1.3.6.1.4.1.9.1.2.777")];
    oids.extend((1..=30).map(|row| oid(&format!("1.3.6.1.4.1.9.1.2.{row}"))));
    let values = session.get(&Context::default(), &oids).await.unwrap();
    assert_eq!(values[..3], [Value::TimeTicks(4711), Value::NoSuchObject, Value::NoSuchInstance]);
    assert_eq!(values.len(), 33);
    assert_eq!(values[32], Value::Octets(b"pool-30".to_vec()));
}

#[tokio::test]
async fn a_subtree_is_read_for_recording() {
    let agent = agent("127.0.0.1:0").await;
    let mut session = Session::new(&Transport::new().unwrap(), target(agent.address(), "public"));
    let (outcome, detail, objects) = session.subtree(&Context::default(), &oid("1.3")).await;
    assert_eq!((outcome, detail.as_str()), (Outcome::Complete, ""));
    assert_eq!(Recording::from_objects(objects), recording());
}

#[tokio::test]
async fn another_recording_is_served_from_the_next_request_on() {
    let agent = agent("127.0.0.1:0").await;
    let mut session = Session::new(&Transport::new().unwrap(), target(agent.address(), "public"));
    agent.replace("public", Recording::parse("1.3.6.1.4.1.9.1.2.5|4|new\n").unwrap());
    let read = session.table(&Context::default(), &table(), None).await;
    assert_eq!(read.outcome, Outcome::Complete);
    assert_eq!(
        read.rows.to_map().into_iter().collect::<Vec<_>>(),
        [(vec![5], vec![Some(Value::Octets(b"new".into())), None])]
    );
}

#[tokio::test]
async fn contexts_are_communities_under_v2c() {
    let agent = agent("127.0.0.1:0").await;
    agent.replace("public@router2", Recording::parse("1.3.6.1.4.1.9.1.2.1|4|second\n").unwrap());
    let mut session = Session::new(&Transport::new().unwrap(), target(agent.address(), "public"));
    let context = Context { name: b"router2".to_vec(), engine_id: None };
    let read = session.table(&context, &table(), None).await;
    assert_eq!(read.rows.len(), 1);
}

#[tokio::test]
async fn an_unknown_community_meets_silence() {
    let agent = agent("127.0.0.1:0").await;
    let mut target = target(agent.address(), "wrong");
    target.limits.timeout = Duration::from_millis(20);
    let mut session = Session::new(&Transport::new().unwrap(), target);
    let read = session.table(&Context::default(), &table(), None).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::Timeout));
    let asked = format!("no answer from {}, asked 4 times in ", agent.address());
    assert!(read.detail.starts_with(&asked), "{}", read.detail);
    // A bulk sent twice, then a GETNEXT sent four times.
    assert_eq!((session.cost().requests, session.cost().retries, session.cost().bytes), (2, 4, 0));
}

#[tokio::test]
async fn large_answers_are_read_whole() {
    let agent = agent("127.0.0.1:0").await;
    agent.set_max_octets(65_507);
    let mut target = target(agent.address(), "public");
    target.limits.max_repetitions = 5_000;
    let text: String = (1..=4_000).map(|row| format!("1.3.6.1.4.1.9.1.2.{row}|2|{row}\n")).collect();
    agent.replace("public", Recording::parse(&text).unwrap());
    let mut session = Session::new(&Transport::new().unwrap(), target);
    let read = session.table(&Context::default(), &table(), None).await;
    assert_eq!((read.outcome, read.rows.len()), (Outcome::Complete, 4_000));
    assert!(session.cost().requests < 5);
}
