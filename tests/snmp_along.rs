//! An object that comes along with the pieces of a table, and agents that cannot do that.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::time::Duration;

use poolsync::snmp::{
    Columns, Context, Credentials, Limits, Oid, Outcome, Secret, Session, TableRead, Target, Transport, Value,
};
use support::scripted::{Act, Scripted};
use support::wire::{GEN_ERR, GET_BULK, Objects, Request, TOO_BIG, error, integer, request, tlv};

const COLUMNS: [&str; 2] = ["1.3.6.1.4.1.9.1.2", "1.3.6.1.4.1.9.1.3"];
const UP_TIME: &str = "1.3.6.1.2.1.1.3.0";

/// A table of two columns, the system group before it, an object behind it.
fn objects(rows: u32) -> Objects {
    let mut objects =
        Objects::table(&COLUMNS, rows, |column, row| integer(i64::from(row) * 10 + column as i64));
    objects.set(UP_TIME, tlv(0x43, &[&[7]]));
    objects.set("1.3.6.1.2.1.1.4.0", integer(4));
    objects.set("1.3.6.1.2.1.1.5.0", integer(5));
    objects.set("1.3.6.1.4.1.10.0", integer(1));
    objects
}

/// An agent with a table of so many rows that answers properly, or as the script has it.
async fn agent(rows: u32, mut script: impl FnMut(&Request) -> Option<Vec<Act>> + Send + 'static) -> Scripted {
    let objects = objects(rows);
    Scripted::start(move |datagram| {
        let asked = request(datagram);
        script(&asked).unwrap_or_else(|| vec![Act::Send(objects.answer(&asked))])
    })
    .await
}

fn session(agent: &Scripted, timeout: Duration) -> Session {
    let credentials = Credentials::V2c(Secret::new("public"));
    let limits = Limits { timeout, ..Limits::default() };
    let (address, reach) = (agent.address(), Default::default());
    let target = Target { address, credentials, limits, engine: None, reach };
    let mut session = Session::new(&Transport::new().unwrap(), target);
    session.take_along(&Context::default(), up_time());
    session
}

fn up_time() -> Oid {
    UP_TIME.parse().unwrap()
}

async fn walk(session: &mut Session, context: &str) -> TableRead {
    let columns = Columns { entry: "1.3.6.1.4.1.9.1".parse().unwrap(), columns: vec![2, 3] };
    let context = Context { name: context.into(), ..Context::default() };
    session.table(&context, &columns, None).await
}

#[track_caller]
fn assert_read(read: &TableRead, rows: u32) {
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
    let expected = (1..=rows).map(|row| {
        let cell = |column| Some(Value::Integer(i64::from(row) * 10 + column));
        (vec![row], vec![cell(0), cell(1)])
    });
    assert_eq!(read.rows.to_map(), expected.collect());
}

/// For each request: non-repeaters, and how many objects it names.
fn shapes(agent: &Scripted) -> Vec<(i64, usize)> {
    let asked = agent.heard().into_iter().map(|(_, datagram)| request(&datagram));
    asked.map(|asked| (asked.first, asked.oids.len())).collect()
}

const PATIENT: Duration = Duration::from_secs(5);
const QUICK: Duration = Duration::from_millis(60);

#[tokio::test]
async fn an_object_comes_along_with_every_piece() {
    let mut pieces = 0;
    let agent = agent(50, move |asked| {
        pieces += 1;
        let mut moved = objects(50);
        moved.set(UP_TIME, tlv(0x43, &[&[10 + pieces]]));
        Some(vec![Act::Send(moved.answer(asked))])
    })
    .await;
    let mut session = session(&agent, PATIENT);
    assert_eq!(session.came_along(), None);
    assert_read(&walk(&mut session, "").await, 50);
    // 20 rows, then 40: what came with the second piece is what counts.
    assert_eq!(shapes(&agent), [(1, 3), (1, 3)]);
    assert_eq!(session.came_along(), Some(&Value::TimeTicks(12)));
    // Whatever is asked for afterwards makes it a thing of the past.
    session.get(&Context::default(), &[up_time()]).await.unwrap();
    assert_eq!(session.came_along(), None);
}

#[tokio::test]
async fn it_comes_along_in_its_own_context_and_only_as_long_as_it_is_wanted() {
    let agent = agent(3, |_| None).await;
    let mut session = session(&agent, PATIENT);
    assert_read(&walk(&mut session, "").await, 3);
    assert_read(&walk(&mut session, "other").await, 3);
    assert_eq!(session.came_along(), None, "the last answer is of another context");
    session.leave_along();
    assert_read(&walk(&mut session, "").await, 3);
    assert_eq!(shapes(&agent), [(1, 3), (0, 2), (0, 2)]);
}

#[tokio::test]
async fn an_agent_that_does_not_know_non_repeaters_is_asked_without() {
    let all = objects(50);
    let agent = agent(50, move |asked| {
        // To it all are repeaters: the objects behind sysUpTime come between the cells.
        let plain = Request { first: 0, ..asked.clone() };
        Some(vec![Act::Send(all.answer(&plain))])
    })
    .await;
    let mut session = session(&agent, PATIENT);
    assert_read(&walk(&mut session, "").await, 50);
    assert_eq!(session.came_along(), None);
    assert_eq!(shapes(&agent)[..2], [(1, 3), (0, 2)]);
    assert!(shapes(&agent)[1..].iter().all(|shape| *shape == (0, 2)), "{:?}", shapes(&agent));
}

#[tokio::test]
async fn an_agent_that_refuses_is_asked_for_as_much_without() {
    for status in [TOO_BIG, GEN_ERR] {
        let agent =
            agent(50, move |asked| (asked.first > 0).then(|| vec![Act::Send(error(asked, status, 1))])).await;
        let mut session = session(&agent, PATIENT);
        assert_read(&walk(&mut session, "").await, 50);
        let asked: Vec<i64> = agent.heard().iter().map(|(_, datagram)| request(datagram).second).collect();
        assert_eq!(asked, [20, 20, 40], "no fewer rows for that");
    }
}

#[tokio::test]
async fn an_agent_that_is_silent_to_it_is_asked_once() {
    let agent = agent(50, |asked| (asked.first > 0).then(Vec::new)).await;
    let mut session = session(&agent, QUICK);
    assert_read(&walk(&mut session, "").await, 50);
    assert_eq!(shapes(&agent), [(1, 3), (0, 2), (0, 2)]);
    assert_eq!(session.cost().retries, 0);
}

#[tokio::test]
async fn an_object_that_is_hidden_does_not_come_along() {
    let mut hidden = objects(50);
    hidden.remove(UP_TIME);
    let agent = agent(50, move |asked| Some(vec![Act::Send(hidden.answer(asked))])).await;
    let mut session = session(&agent, PATIENT);
    assert_read(&walk(&mut session, "").await, 50);
    assert_eq!((session.came_along(), shapes(&agent)[0]), (None, (1, 3)));
    assert!(shapes(&agent)[1..].iter().all(|shape| *shape == (0, 2)));
}

#[tokio::test]
async fn a_piece_that_is_lost_later_is_asked_for_again_with_it() {
    let mut lost = 0;
    let agent = agent(100, move |asked| {
        let loses = asked.kind == GET_BULK && asked.second == 40 && lost == 0;
        lost += usize::from(loses);
        loses.then(Vec::new)
    })
    .await;
    let mut session = session(&agent, QUICK);
    assert_read(&walk(&mut session, "").await, 100);
    assert_eq!(session.came_along(), Some(&Value::TimeTicks(7)));
    assert!(shapes(&agent).iter().all(|shape| *shape == (1, 3)), "{:?}", shapes(&agent));
}
