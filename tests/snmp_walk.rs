//! The walk against agents that lose, lie, repeat, refuse and fall silent.
//!
//! Where each kind of fault is provoked:
//!
//! | fault | tests |
//! |---|---|
//! | order, completeness, size, damage, caps of a walk | here |
//! | answers from elsewhere, limited pace, source addresses | `snmp_reach.rs` |
//! | dead and dying routers, silent contexts | `snmp_dead.rs`; the fleet: `snmp_sockets.rs` |
//! | engines that reboot, forget, refuse, are cloned or impersonated | `snmp_v3.rs`, `snmp_agent.rs` |
//! | keys from one run to the next | `snmp_keys.rs` |
//! | every pair of protocols against another implementation, under loss and forgery | `snmp_snmpd.rs` |
//! | cells and indexes that cannot be read | `src/mib/cell.rs`, `src/mib/index.rs`, `src/mib/tests` |
//! | restarts, empty tables, contexts of a poll | `mib_poll.rs` |
//! | names that move or are not resolved; turns that overlap | `src/cycle/fleet.rs`, `src/daemon/schedule.rs` |

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use poolsync::snmp::{
    Columns, Context, Credentials, Learnt, Limits, Outcome, Reason, Secret, Session, TableRead, Target,
    Transport, Value,
};
use support::scripted::{Act, Scripted, lossy};
use support::wire::{
    AUTHORIZATION_ERROR, END_OF_MIB_VIEW, GEN_ERR, GET, GET_BULK, GET_NEXT, NO_ACCESS, NO_SUCH_OBJECT,
    Objects, RESOURCE_UNAVAILABLE, Request, TOO_BIG, arcs, error, integer, ip, octets, request, response,
    tlv, v2c,
};

const NAMES: &str = "1.3.6.1.4.1.9.1.2";
const FIRSTS: &str = "1.3.6.1.4.1.9.1.3";
/// For agents that are never silent: nothing but an error of ours waits this long.
const PATIENT: Duration = Duration::from_secs(5);
/// For agents that are silent.
const QUICK: Duration = Duration::from_millis(60);

/// A table of names and addresses, and an object behind it.
fn objects(rows: u32) -> Objects {
    let mut objects = Objects::table(&[NAMES, FIRSTS], rows, cell);
    objects.set("1.3.6.1.4.1.10.0", integer(1));
    objects
}

fn cell(column: usize, row: u32) -> Vec<u8> {
    match column {
        0 => octets(format!("pool-{row}").as_bytes()),
        _ => ip([10, (row >> 8) as u8, (row & 0xff) as u8, 0]),
    }
}

fn columns() -> Columns {
    Columns { entry: "1.3.6.1.4.1.9.1".parse().unwrap(), columns: vec![2, 3] }
}

fn limits(timeout: Duration) -> Limits {
    Limits { timeout, ..Limits::default() }
}

fn session(address: SocketAddr, limits: Limits) -> Session {
    let credentials = Credentials::V2c(Secret::new("public"));
    Session::new(
        &Transport::new().unwrap(),
        Target { address, credentials, limits, engine: None, reach: Default::default() },
    )
}

async fn walk(session: &mut Session) -> TableRead {
    session.table(&Context::default(), &columns(), None).await
}

/// The walk is complete, and its rows are those of [`objects`].
fn assert_read(read: &TableRead, rows: u32) {
    assert_eq!((read.outcome, read.detail.as_str()), (Outcome::Complete, ""));
    assert_eq!(read.rows.len(), rows as usize);
    for (row, (index, cells)) in (1..=rows).zip(&read.rows.to_map()) {
        assert_eq!(index, &[row]);
        let name = Value::Octets(format!("pool-{row}").into_bytes());
        let first = Value::IpAddress(vec![10, (row >> 8) as u8, (row & 0xff) as u8, 0]);
        assert_eq!(cells, &[Some(name), Some(first)], "row {row}");
    }
}

#[track_caller]
fn assert_failed(read: &TableRead, reason: Reason, detail: &str, rows: usize) {
    assert_eq!(read.outcome, Outcome::Failed(reason), "{}", read.detail);
    assert!(read.detail.contains(detail), "`{}` lacks `{detail}`", read.detail);
    assert_eq!(read.rows.len(), rows);
}

/// An agent that does with each request what the script says.
async fn agent(mut script: impl FnMut(&Request) -> Vec<Act> + Send + 'static) -> Scripted {
    Scripted::start(move |datagram| script(&request(datagram))).await
}

/// An agent that answers a request properly, or as the script has it.
async fn agent_but(
    rows: u32,
    mut script: impl FnMut(&Request) -> Option<Vec<Act>> + Send + 'static,
) -> Scripted {
    let objects = objects(rows);
    agent(move |asked| script(asked).unwrap_or_else(|| vec![Act::Send(objects.answer(asked))])).await
}

fn requests(agent: &Scripted) -> Vec<Request> {
    agent.heard().iter().map(|(_, datagram)| request(datagram)).collect()
}

#[tokio::test]
async fn a_lost_request_is_sent_again_octet_for_octet() {
    let objects = objects(50);
    let agent =
        Scripted::start(lossy(move |datagram| vec![Act::Send(objects.answer(&request(datagram)))])).await;
    let mut session = session(agent.address(), limits(QUICK));
    assert_read(&walk(&mut session).await, 50);
    let heard = agent.heard();
    let different: HashSet<_> = heard.iter().map(|(_, datagram)| datagram.clone()).collect();
    assert_eq!(different.len(), session.cost().requests as usize);
    assert_eq!(heard.len(), (session.cost().requests + session.cost().retries) as usize);
    assert!(session.cost().retries >= session.cost().requests);
    let sources: HashSet<_> = heard.iter().map(|(from, _)| *from).collect();
    assert_eq!(sources.len(), 1, "one source port for all");
}

#[tokio::test]
async fn a_late_answer_to_an_earlier_transmission_is_used() {
    let objects = objects(3);
    let agent = agent(move |asked| vec![Act::Later(Duration::from_millis(150), objects.answer(asked))]).await;
    let start = Instant::now();
    let mut session = session(agent.address(), limits(Duration::from_millis(100)));
    assert_read(&walk(&mut session).await, 3);
    assert!(session.cost().retries >= 1, "the answer came after the timeout");
    assert!(start.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_slow_router_is_soon_waited_for_as_long_as_it_needs() {
    let objects = objects(12);
    let slow = Duration::from_millis(250);
    let agent = agent(move |asked| vec![Act::Later(slow, objects.answer(asked))]).await;
    let limits = Limits { retries: 6, ..limits(Duration::from_millis(100)) };
    let mut session = session(agent.address(), limits);
    let read = session.table(&Context::default(), &columns(), Some(0)).await;
    assert_read(&read, 12);
    // Row by row for the most part. Who does not learn sends everything twice at least.
    let cost = session.cost();
    assert!(cost.requests > 8 && cost.retries >= 1 && cost.retries < cost.requests, "{cost:?}");
}

#[tokio::test]
async fn forged_answers_before_the_true_one_change_nothing() {
    let objects = objects(50);
    let agent = agent(move |asked| {
        let truth = objects.answer(asked);
        let lie: Vec<_> = objects.varbinds(asked).into_iter().map(|(name, _)| (name, integer(666))).collect();
        let with = |request: Request| Act::Send(response(&request, &lie));
        vec![
            with(Request { id: asked.id + 1, ..asked.clone() }),
            with(Request { id: -asked.id, ..asked.clone() }),
            with(Request { community: b"private".to_vec(), ..asked.clone() }),
            Act::Elsewhere(response(asked, &lie)),
            Act::Send(b"nonsense".to_vec()),
            Act::Send(Vec::new()),
            Act::Send(truth.clone()),
            // And once more, behind it.
            Act::Send(truth),
            with(asked.clone()),
        ]
    })
    .await;
    let credentials = Credentials::V2c(Secret::new("public"));
    let transport = Transport::new().unwrap();
    let target = Target {
        address: agent.address(),
        credentials,
        limits: limits(PATIENT),
        engine: None,
        reach: Default::default(),
    };
    let mut session = Session::new(&transport, target);
    assert_read(&walk(&mut session).await, 50);
    // 20 rows, then up to 40: an answer that comes whole proves that twice as much may be asked.
    assert_eq!((session.cost().requests, session.cost().retries), (2, 0));
    let heard = transport.heard();
    assert_eq!(heard.strangers, 2);
    assert!(heard.unmatched >= 4, "{heard:?}");
}

#[tokio::test]
async fn an_answer_from_another_address_is_told_as_such() {
    let objects = objects(3);
    let agent = agent(move |asked| vec![Act::Elsewhere(objects.answer(asked))]).await;
    let read = walk(&mut session(agent.address(), limits(QUICK))).await;
    let detail = format!("came from {}, asked was {}", agent.elsewhere(), agent.address());
    assert_failed(&read, Reason::OtherAddress, &detail, 0);
}

#[tokio::test]
async fn noise_beside_a_slow_agent_does_not_end_the_walk() {
    // The agent is silent to a bulk of more than 3; somebody else answers all the same.
    let objects = objects(20);
    let agent = agent(move |asked| {
        let answer = objects.answer(asked);
        if asked.second > 3 { vec![Act::Elsewhere(answer)] } else { vec![Act::Send(answer)] }
    })
    .await;
    assert_read(&walk(&mut session(agent.address(), limits(QUICK))).await, 20);
}

#[tokio::test]
async fn an_answer_of_another_community_is_told_as_such() {
    let objects = objects(3);
    let agent = agent(move |asked| {
        let mut asked = asked.clone();
        asked.community = b"other".to_vec();
        vec![Act::Send(objects.answer(&asked))]
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(QUICK))).await;
    assert_failed(&read, Reason::Malformed, "another community", 0);
}

#[tokio::test]
async fn a_repeated_oid_ends_the_walk_at_once() {
    // Behind row 5 there is row 5, for ever.
    let objects = objects(5);
    let agent = agent(move |asked| {
        let mut varbinds = objects.varbinds(asked);
        let last = [2, 3].map(|column| {
            let name = arcs(&format!("1.3.6.1.4.1.9.1.{column}.5"));
            (name.clone(), objects.0[&name].clone())
        });
        for (at, varbind) in varbinds.iter_mut().enumerate() {
            if varbind.0 > last[at % 2].0 {
                *varbind = last[at % 2].clone();
            }
        }
        vec![Act::Send(response(asked, &varbinds))]
    })
    .await;
    let start = Instant::now();
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::OidOrder, "after 1.3.6.1.4.1.9.1.2.5 came 1.3.6.1.4.1.9.1.2.5", 5);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_smaller_oid_ends_the_walk_at_once() {
    let agent = agent_but(30, |asked| {
        let wrong = asked.oids[0] == arcs(&format!("{NAMES}.20"));
        wrong.then(|| vec![Act::Send(response(asked, &vec![(arcs(&format!("{NAMES}.9")), integer(1)); 2]))])
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::OidOrder, "after 1.3.6.1.4.1.9.1.2.20 came 1.3.6.1.4.1.9.1.2.9", 20);
}

#[tokio::test]
async fn too_big_is_asked_for_in_smaller_parts() {
    let agent =
        agent_but(500, |asked| (asked.second > 12).then(|| vec![Act::Send(error(asked, TOO_BIG, 0))])).await;
    let mut session = session(agent.address(), limits(PATIENT));
    let read = walk(&mut session).await;
    assert_read(&read, 500);
    assert_eq!(read.repetitions, 10);
    assert!(session.cost().requests < 80, "{:?}", session.cost());
    // What was learnt saves the detour.
    let before = session.cost().requests;
    let read = session.table(&Context::default(), &columns(), Some(6)).await;
    assert_read(&read, 500);
    assert!(session.cost().requests - before < 90);
}

#[tokio::test]
async fn too_big_for_everything_is_a_failure() {
    let agent = agent_but(5, |asked| Some(vec![Act::Send(error(asked, TOO_BIG, 0))])).await;
    let mut session = session(agent.address(), limits(PATIENT));
    assert_failed(&walk(&mut session).await, Reason::ErrorStatus, "tooBig(1)", 0);
    // 20, 10, 5, 2, 1 repetitions, GETNEXT, GETNEXT of one column.
    assert_eq!(session.cost().requests, 7);
    let last = requests(&agent).pop().unwrap();
    assert_eq!((last.kind, last.oids.len()), (GET_NEXT, 1));
}

#[tokio::test]
async fn an_agent_that_can_answer_but_one_column_is_read() {
    let agent =
        agent_but(9, |asked| (asked.oids.len() > 1).then(|| vec![Act::Send(error(asked, TOO_BIG, 0))])).await;
    assert_read(&walk(&mut session(agent.address(), limits(PATIENT))).await, 9);
}

#[tokio::test]
async fn an_error_in_the_middle_fails_the_table_and_keeps_what_was_read() {
    // Row 5 of the first column cannot be read.
    let before = arcs(&format!("{NAMES}.4"));
    let row = arcs(&format!("{NAMES}.5"));
    let objects = objects(10);
    let agent = agent(move |asked| {
        let varbinds = objects.varbinds(asked);
        let broken = asked.oids.contains(&before) || varbinds.iter().any(|(name, _)| *name == row);
        vec![Act::Send(if broken { error(asked, GEN_ERR, 1) } else { response(asked, &varbinds) })]
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::ErrorStatus, "genErr(5), at 1.3.6.1.4.1.9.1.2.4", 4);
}

#[tokio::test]
async fn gen_err_on_large_answers_is_asked_for_in_smaller_parts() {
    let agent =
        agent_but(100, |asked| (asked.second > 3).then(|| vec![Act::Send(error(asked, GEN_ERR, 0))])).await;
    assert_read(&walk(&mut session(agent.address(), limits(PATIENT))).await, 100);
}

#[tokio::test]
async fn refusals_are_told_apart_and_end_the_walk() {
    for (status, reason, name) in [
        (NO_ACCESS, Reason::AuthorizationError, "noAccess(6)"),
        (AUTHORIZATION_ERROR, Reason::AuthorizationError, "authorizationError(16)"),
        (RESOURCE_UNAVAILABLE, Reason::ErrorStatus, "resourceUnavailable(13)"),
        (2, Reason::ErrorStatus, "noSuchName(2)"),
        (77, Reason::ErrorStatus, "unknown(77)"),
    ] {
        let agent = agent_but(50, move |asked| {
            (asked.oids[0].len() > 9).then(|| vec![Act::Send(error(asked, status, 0))])
        })
        .await;
        let mut session = session(agent.address(), limits(PATIENT));
        assert_failed(&walk(&mut session).await, reason, name, 20);
        assert_eq!(session.cost().requests, 2);
    }
}

#[tokio::test]
async fn silence_after_a_part_is_a_failure_with_the_part() {
    let objects = objects(100);
    let mut answers = 0;
    let agent = agent(move |asked| {
        answers += 1;
        if answers > 2 { Vec::new() } else { vec![Act::Send(objects.answer(asked))] }
    })
    .await;
    let mut session = session(agent.address(), limits(QUICK));
    assert_failed(&walk(&mut session).await, Reason::Timeout, "no answer from 127.0.0.1:", 20 + 40);
    // 80 had not worked before, and are sent twice; then a GETNEXT is heard out, and a proof of
    // life is sent twice.
    assert_eq!((session.cost().requests, session.cost().retries), (2 + 1 + 2, 1 + 3 + 1));
}

#[tokio::test]
async fn an_agent_that_is_silent_to_large_bulks_is_read() {
    let agent = agent_but(100, |asked| {
        (asked.second > 10 || asked.kind == GET_BULK && asked.second == 0).then(Vec::new)
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(QUICK))).await;
    assert_read(&read, 100);
    assert_eq!(read.repetitions, 10);
    let heard = requests(&agent);
    assert!(heard.iter().all(|asked| asked.kind != GET_BULK || asked.second > 0), "never 0 repetitions");
}

#[tokio::test]
async fn an_agent_that_knows_no_getbulk_is_read() {
    let agent = agent_but(6, |asked| (asked.kind == GET_BULK).then(Vec::new)).await;
    let mut limits = limits(Duration::from_millis(30));
    let read = walk(&mut session(agent.address(), limits)).await;
    assert_read(&read, 6);
    assert_eq!(read.repetitions, 0);
    // What is learnt, or configured, asks for none at all.
    let before = agent.heard().len();
    let read = session(agent.address(), limits).table(&Context::default(), &columns(), Some(0)).await;
    assert_read(&read, 6);
    limits.max_repetitions = 0;
    assert_read(&walk(&mut session(agent.address(), limits)).await, 6);
    assert!(requests(&agent)[before..].iter().all(|asked| asked.kind == GET_NEXT));
}

#[tokio::test]
async fn answers_that_are_lost_for_their_size_are_asked_for_in_smaller_parts() {
    let objects = objects(100);
    let agent = agent(move |asked| {
        let answer = objects.answer(asked);
        if answer.len() > 484 { Vec::new() } else { vec![Act::Send(answer)] }
    })
    .await;
    assert_read(&walk(&mut session(agent.address(), limits(QUICK))).await, 100);
}

/// A message whose last octets are cut, and whose outer lengths are not.
fn cut(mut message: Vec<u8>) -> Vec<u8> {
    message.truncate(message.len() - 3);
    message
}

#[tokio::test]
async fn large_answers_that_are_cut_are_asked_for_in_smaller_parts() {
    let objects = objects(100);
    let agent = agent(move |asked| {
        let answer = objects.answer(asked);
        vec![Act::Send(if asked.second > 12 { cut(answer) } else { answer })]
    })
    .await;
    let mut session = session(agent.address(), limits(PATIENT));
    assert_read(&walk(&mut session).await, 100);
    assert_eq!(session.cost().retries, 0, "nobody waits for what has come");
}

#[tokio::test]
async fn answers_that_are_always_cut_fail_with_the_place() {
    let objects = objects(10);
    let agent = agent(move |asked| vec![Act::Send(cut(objects.answer(asked)))]).await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::Malformed, "octet 0: the message is said to be ", 0);
    assert!(read.detail.ends_with("(asked from 1.3.6.1.4.1.9.1.2)"), "{}", read.detail);
}

#[tokio::test]
async fn a_varbind_that_is_cut_within_the_message_fails_with_the_place() {
    // The value says 9 octets and has 3; all lengths around it are right.
    let agent = agent(|asked| {
        let varbind = tlv(0x30, &[&support::wire::oid(&arcs(&format!("{NAMES}.1"))), &[4, 9, 1, 2, 3]]);
        let pdu = tlv(0xa2, &[&integer(asked.id), &integer(0), &integer(0), &tlv(0x30, &[&varbind])]);
        vec![Act::Send(v2c(b"public", &pdu))]
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::Malformed, "a varbind's value is said to be 9 octets long, 3 are left", 0);
}

#[tokio::test]
async fn an_empty_answer_without_an_error_is_no_end() {
    let agent =
        agent_but(50, |asked| (asked.oids[0].len() > 9).then(|| vec![Act::Send(response(asked, &[]))])).await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::Malformed, "0 varbinds came for ", 20);
}

#[tokio::test]
async fn no_such_object_in_a_walk_is_no_end() {
    let agent = agent_but(50, |asked| {
        let varbinds: Vec<_> =
            asked.oids.iter().map(|name| (name.clone(), NO_SUCH_OBJECT.to_vec())).collect();
        (asked.oids[0].len() > 9).then(|| vec![Act::Send(response(asked, &varbinds))])
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_failed(&read, Reason::Malformed, "noSuchObject", 20);
}

#[tokio::test]
async fn the_end_of_the_view_is_an_end() {
    let mut objects = objects(50);
    objects.remove("1.3.6.1.4.1.10.0");
    let agent = agent(move |asked| vec![Act::Send(objects.answer(asked))]).await;
    assert_read(&walk(&mut session(agent.address(), limits(PATIENT))).await, 50);
}

#[tokio::test]
async fn a_table_without_rows_is_unsupported() {
    let behind = agent(|asked| vec![Act::Send(objects(0).answer(asked))]).await;
    let nothing = agent(|asked| vec![Act::Send(Objects::default().answer(asked))]).await;
    for agent in [behind, nothing] {
        let mut session = session(agent.address(), limits(PATIENT));
        let read = walk(&mut session).await;
        assert_eq!((read.outcome, read.rows.len(), session.cost().requests), (Outcome::Unsupported, 0, 1));
    }
}

#[tokio::test]
async fn sparse_columns_are_joined_by_index() {
    for repetitions in [0, 1, 2, 20] {
        let mut objects = objects(30);
        for row in [2, 3, 4, 17, 30] {
            objects.remove(&format!("{FIRSTS}.{row}"));
        }
        objects.remove(&format!("{NAMES}.1"));
        let agent = agent(move |asked| vec![Act::Send(objects.answer(asked))]).await;
        let mut session = session(agent.address(), limits(PATIENT));
        let read = session.table(&Context::default(), &columns(), Some(repetitions)).await;
        assert_eq!((read.outcome, read.rows.len()), (Outcome::Complete, 30));
        for (index, cells) in &read.rows.to_map() {
            let row = index[0];
            let name = (row != 1).then(|| Value::Octets(format!("pool-{row}").into_bytes()));
            let missing = [2, 3, 4, 17, 30].contains(&row);
            let first = (!missing).then(|| Value::IpAddress(vec![10, 0, row as u8, 0]));
            assert_eq!(cells, &[name, first], "row {row}");
        }
    }
}

#[tokio::test]
async fn answers_that_hold_less_than_a_row_are_put_together() {
    for room in 1..=5 {
        let objects = objects(20);
        let agent = agent(move |asked| {
            let mut varbinds = objects.varbinds(asked);
            if asked.kind == GET_BULK {
                varbinds.truncate(room);
            }
            vec![Act::Send(response(asked, &varbinds))]
        })
        .await;
        assert_read(&walk(&mut session(agent.address(), limits(PATIENT))).await, 20);
    }
}

#[tokio::test]
async fn cells_that_are_nothing_spoil_no_other() {
    let mut objects = objects(6);
    objects.set(&format!("{FIRSTS}.3"), tlv(0x40, &[]));
    objects.set(&format!("{FIRSTS}.5"), tlv(0x40, &[&[192, 0, 2, 0, 192, 0, 2, 255]]));
    objects.set(&format!("{NAMES}.2"), tlv(0x45, &[&[1, 2]]));
    objects.set(&format!("{NAMES}.4"), tlv(2, &[]));
    let agent = agent(move |asked| vec![Act::Send(objects.answer(asked))]).await;
    let read = walk(&mut session(agent.address(), limits(PATIENT))).await;
    assert_eq!((read.outcome, read.rows.len()), (Outcome::Complete, 6));
    let cell = |row: u32, column: usize| read.rows.to_map()[&vec![row]][column].clone().unwrap();
    assert_eq!(cell(3, 1), Value::IpAddress(vec![]));
    assert_eq!(cell(5, 1), Value::IpAddress(vec![192, 0, 2, 0, 192, 0, 2, 255]));
    assert_eq!(cell(2, 0), Value::Undecodable { tag: 0x45, octets: vec![1, 2] });
    assert_eq!(cell(4, 0), Value::Undecodable { tag: 2, octets: vec![] });
    assert_eq!(cell(6, 0), Value::Octets(b"pool-6".to_vec()));
}

#[tokio::test]
async fn octets_behind_a_message_are_taken_and_counted() {
    let objects = objects(30);
    let agent = agent(move |asked| vec![Act::Send([objects.answer(asked), vec![0]].concat())]).await;
    let credentials = Credentials::V2c(Secret::new("public"));
    let transport = Transport::new().unwrap();
    let target = Target {
        address: agent.address(),
        credentials,
        limits: limits(PATIENT),
        engine: None,
        reach: Default::default(),
    };
    let mut session = Session::new(&transport, target);
    assert_read(&walk(&mut session).await, 30);
    assert_eq!(transport.heard().trailing, u64::from(session.cost().requests));
}

#[tokio::test]
async fn an_indefinite_length_is_refused() {
    let objects = objects(30);
    let agent = agent(move |asked| {
        let answer = objects.answer(asked);
        let head = if answer[1] == 0x82 { 4 } else { 3 };
        vec![Act::Send([&[0x30, 0x80][..], &answer[head..], &[0, 0]].concat())]
    })
    .await;
    let read = walk(&mut session(agent.address(), limits(QUICK))).await;
    assert_failed(&read, Reason::Malformed, "octet 0: the message has an indefinite length", 0);
}

#[tokio::test]
async fn requests_of_any_length_are_understood_and_so_are_large_answers() {
    // 12 columns with long names: more than 255 octets of request, about 9,000 of answer.
    let entry = format!("1.3.6.1.4.1.{}.1", ["4294967295"; 12].join("."));
    let roots: Vec<String> = (1..=12).map(|column| format!("{entry}.{column}")).collect();
    let names: Vec<&str> = roots.iter().map(String::as_str).collect();
    let objects =
        Objects::table(&names, 30, |column, row| integer((column as i64 + 1) * 1000 + i64::from(row)));
    let agent = agent(move |asked| vec![Act::Send(objects.answer(asked))]).await;
    let mut session = session(agent.address(), limits(PATIENT));
    let table = Columns { entry: entry.parse().unwrap(), columns: (1..=12).collect() };
    let read = session.table(&Context::default(), &table, None).await;
    assert_eq!((read.outcome, read.rows.len()), (Outcome::Complete, 30));
    for (index, cells) in &read.rows.to_map() {
        let expected: Vec<_> =
            (1..=12).map(|column| Some(Value::Integer(column * 1000 + i64::from(index[0])))).collect();
        assert_eq!(cells, &expected);
    }
    let heard = agent.heard();
    assert!(heard.iter().any(|(_, datagram)| datagram.len() > 255));
    assert!(heard.iter().all(|(_, datagram)| request(datagram).oids.len() <= 10));
    assert!(session.cost().bytes > 9_000, "{:?}", session.cost());
}

#[tokio::test]
async fn answers_that_come_in_another_order_find_their_requests() {
    let objects = objects(40);
    let mut first = None;
    let agent = agent(move |asked| {
        let answer = Act::Send(objects.answer(asked));
        // The first of two waits until the second has come.
        match first.take() {
            None => {
                first = Some(answer);
                Vec::new()
            }
            Some(earlier) => vec![answer, earlier],
        }
    })
    .await;
    let transport = Transport::new().unwrap();
    let session = || {
        let credentials = Credentials::V2c(Secret::new("public"));
        Session::new(
            &transport,
            Target {
                address: agent.address(),
                credentials,
                limits: limits(PATIENT),
                engine: None,
                reach: Default::default(),
            },
        )
    };
    let (mut one, mut two) = (session(), session());
    let (one, two) = tokio::join!(walk(&mut one), walk(&mut two));
    assert_read(&one, 40);
    assert_read(&two, 40);
    let sources: HashSet<_> = agent.heard().iter().map(|(from, _)| *from).collect();
    assert_eq!(sources.len(), 1);
}

/// A table without an end.
async fn endless() -> Scripted {
    agent(|asked| {
        let mut lasts = asked.oids.clone();
        let mut list = Vec::new();
        for _ in 0..asked.second.max(1) {
            for last in &mut lasts {
                if last.len() == 9 {
                    last.push(0);
                }
                *last.last_mut().unwrap() += 1;
                list.push((last.clone(), integer(1)));
            }
        }
        vec![Act::Send(response(asked, &list))]
    })
    .await
}

#[tokio::test]
async fn caps_end_what_does_not_end_by_itself() {
    let agent = endless().await;
    let base = limits(PATIENT);
    let read = walk(&mut session(agent.address(), Limits { max_rows: 1_000, ..base })).await;
    assert_failed(&read, Reason::TooLarge, "more than 1000 rows", 1_040);
    let read = walk(&mut session(agent.address(), Limits { max_requests: 7, ..base })).await;
    assert_failed(&read, Reason::TooLarge, "more than 7 requests", 20 + 40 + 80 + 4 * 100);
    let mut capped = session(agent.address(), Limits { max_bytes: 10_000, ..base });
    let read = walk(&mut capped).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::TooLarge), "{}", read.detail);
    assert!(read.detail.contains("more than 10000 octets"), "{}", read.detail);
    // Caps are those of the session, not of the table.
    let mut both = session(agent.address(), Limits { max_rows: 1_000, max_requests: 60, ..base });
    assert_eq!(walk(&mut both).await.outcome, Outcome::Failed(Reason::TooLarge));
    let read = walk(&mut both).await;
    assert_failed(&read, Reason::TooLarge, "more than 1000 rows", 20);
}

#[tokio::test]
async fn the_deadline_is_that_of_the_session() {
    let agent = endless().await;
    let limits = Limits { deadline: Duration::from_millis(100), ..limits(PATIENT) };
    let mut both = session(agent.address(), limits);
    let read = walk(&mut both).await;
    assert_eq!(read.outcome, Outcome::Failed(Reason::Deadline), "{}", read.detail);
    assert!(!read.rows.is_empty());
    let start = Instant::now();
    assert_failed(&walk(&mut both).await, Reason::Deadline, "not done within 100ms", 0);
    assert!(start.elapsed() < Duration::from_secs(1));
    // It ends a wait too.
    let silent = Scripted::start(|_| Vec::new()).await;
    let start = Instant::now();
    let read =
        walk(&mut session(silent.address(), Limits { timeout: Duration::from_secs(60), ..limits })).await;
    assert_failed(&read, Reason::Deadline, "", 0);
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn get_holds_answers_to_what_was_asked() {
    let objects = objects(5);
    let name = format!("{NAMES}.1");
    let good = agent({
        let objects = objects.clone();
        move |asked| {
            assert_eq!(asked.kind, GET);
            let many = asked.oids.len() > 2;
            vec![Act::Send(if many { error(asked, TOO_BIG, 0) } else { objects.answer(asked) })]
        }
    })
    .await;
    let oids: Vec<_> = (1..=5).map(|row| format!("{NAMES}.{row}").parse().unwrap()).collect();
    let values = session(good.address(), limits(PATIENT)).get(&Context::default(), &oids).await.unwrap();
    let expected: Vec<_> = (1..=5).map(|row| Value::Octets(format!("pool-{row}").into_bytes())).collect();
    assert_eq!(values, expected);
    // Another object, none, and one too many.
    let other = (arcs(&format!("{NAMES}.2")), integer(1));
    let end = (arcs(&name), END_OF_MIB_VIEW.to_vec());
    for wrong in [vec![other.clone()], vec![], vec![end, other]] {
        let agent = agent(move |asked| vec![Act::Send(response(asked, &wrong))]).await;
        let asked = [name.parse().unwrap()];
        let failure =
            session(agent.address(), limits(PATIENT)).get(&Context::default(), &asked).await.unwrap_err();
        assert_eq!(failure.reason, Reason::Malformed, "{failure}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_sent_to_is_no_timeout() {
    // Broadcast without permission, and no way to an interface that does not exist: nothing
    // is sent.
    for (address, reason) in
        [("255.255.255.255:161", Reason::SendFailed), ("[fe80::1%99999]:161", Reason::Unreachable)]
    {
        let read = walk(&mut session(address.parse().unwrap(), limits(PATIENT))).await;
        assert_failed(&read, reason, &format!("cannot send to {address}: "), 0);
    }
}

#[tokio::test]
async fn damaged_answers_never_harm() {
    let objects = objects(40);
    let mut state: u32 = 1;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize
    };
    let agent = agent(move |asked| {
        let truth = objects.answer(asked);
        let mut acts: Vec<Act> = (0..20)
            .map(|_| {
                let mut copy = truth.clone();
                for _ in 0..1 + random() % 3 {
                    // Not what tells whose answer it is, which would make it a true one.
                    let place = random() % copy.len();
                    copy[place] = random() as u8;
                }
                copy.truncate(1 + random() % truth.len());
                Act::Send(copy)
            })
            .collect();
        acts.push(Act::Send(truth));
        acts
    })
    .await;
    for _ in 0..20 {
        let limits = Limits { max_requests: 200, ..limits(QUICK) };
        let read = walk(&mut session(agent.address(), limits)).await;
        assert_ne!(read.outcome, Outcome::Unsupported);
    }
}

#[tokio::test]
async fn start_and_end_of_a_row_are_of_one_moment_or_not_read() {
    // One column at a time, and row 5 becomes another one between its name and its address.
    let mut objects = objects(10);
    let mut changed = false;
    let agent = agent(move |asked| {
        if asked.oids.len() > 1 {
            return vec![Act::Send(error(asked, TOO_BIG, 0))];
        }
        if !changed && asked.oids[0] == arcs(&format!("{FIRSTS}.4")) {
            changed = true;
            objects.set(&format!("{NAMES}.5"), octets(b"pool-other"));
            objects.set(&format!("{FIRSTS}.5"), ip([192, 0, 2, 0]));
        }
        vec![Act::Send(objects.answer(asked))]
    })
    .await;
    let mut session = session(agent.address(), limits(PATIENT));
    let read = session
        .table_of_one_moment(&Context::default(), &columns(), Learnt::default(), None, &[vec![2, 3]])
        .await;
    assert_eq!((read.outcome, read.rows.len()), (Outcome::Complete, 10));
    for (index, cells) in &read.rows.to_map() {
        let row = index[0];
        let same = [
            Some(Value::Octets(format!("pool-{row}").into_bytes())),
            Some(Value::IpAddress(vec![10, 0, row as u8, 0])),
        ];
        // The name was another one at the second read; the address was the same, and alone.
        let torn = [None, Some(Value::IpAddress(vec![192, 0, 2, 0]))];
        assert_eq!(cells, if row == 5 { &torn } else { &same }, "row {row}");
    }
}

#[tokio::test]
async fn rows_behind_a_hole_are_read_again_and_rows_that_come_whole_are_not() {
    let read = async |objects: Objects| {
        let agent = agent(move |asked| vec![Act::Send(objects.answer(asked))]).await;
        let mut session = session(agent.address(), limits(PATIENT));
        let read = session
            .table_of_one_moment(&Context::default(), &columns(), Learnt::default(), None, &[vec![2, 3]])
            .await;
        (read, session.cost().requests)
    };
    // 30 rows by 20, and the end.
    let (whole, requests) = read(objects(30)).await;
    assert_read(&whole, 30);
    assert_eq!(requests, 2);
    let mut sparse = objects(30);
    sparse.remove(&format!("{FIRSTS}.7"));
    let (read, requests) = read(sparse).await;
    // The 24 rows behind the hole are read again by as many as were found to work, 40.
    assert_eq!((read.outcome, read.rows.len(), requests), (Outcome::Complete, 30, 2 + 1));
    for (index, cells) in &read.rows.to_map() {
        let row = index[0];
        let first = (row != 7).then(|| Value::IpAddress(vec![10, 0, row as u8, 0]));
        assert_eq!(cells, &[Some(Value::Octets(format!("pool-{row}").into_bytes())), first]);
    }
}

#[tokio::test]
async fn a_table_that_cannot_be_read_again_is_failed() {
    let mut sparse = objects(30);
    sparse.remove(&format!("{FIRSTS}.7"));
    let mut asked_before = 0;
    let agent = agent(move |asked| {
        asked_before += 1;
        let refused = asked_before > 2;
        vec![Act::Send(if refused { error(asked, NO_ACCESS, 0) } else { sparse.answer(asked) })]
    })
    .await;
    let mut session = session(agent.address(), limits(PATIENT));
    let read = session
        .table_of_one_moment(&Context::default(), &columns(), Learnt::default(), None, &[vec![2, 3]])
        .await;
    assert_failed(&read, Reason::AuthorizationError, "read again, as start and end", 30);
}
