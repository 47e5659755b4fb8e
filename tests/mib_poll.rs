//! Polls over UDP on loopback: detection, contexts, restarts, what is remembered.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use poolsync::mib::{Descriptor, Fault, Glob, Library, Origin, RejectReason};
use poolsync::poll::{
    Choice, Filter, Polled, Remembered, RememberedTable, Request, Spaces, State, TableResult, poll,
};
use poolsync::snmp::{
    AuthProtocol, Context, Credentials, KeyExtension, Limits, PrivacyProtocol, Reason, Recording,
    ReplayAgent, ReplayEngine, Secret, Target, Transport, User,
};
use poolsync::table::{Name, TableOutcome};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

const NOW: i64 = 1_800_000_000;

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn walk(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/walks");
    std::fs::read_to_string(folder.join(format!("{file}.snmprec"))).unwrap()
}

/// The lines of a walk that do not hold a text.
fn without(walk: &str, text: &str) -> String {
    walk.lines().filter(|line| !line.contains(text)).map(|line| format!("{line}\n")).collect()
}

async fn agent(walks: &[(&str, &str)]) -> ReplayAgent {
    let recordings =
        walks.iter().map(|(community, walk)| ((*community).to_owned(), Recording::parse(walk).unwrap()));
    ReplayAgent::start(loopback(), recordings.collect()).await.unwrap()
}

fn request(address: SocketAddr) -> Request {
    Request {
        name: "bas".into(),
        target: Target {
            address,
            credentials: Credentials::V2c(Secret::new(*b"public")),
            limits: Limits { timeout: Duration::from_secs(5), ..Limits::default() },
            engine: None,
            reach: Default::default(),
        },
        context: Context::default(),
        community_contexts: false,
        choice: Choice::Auto(Arc::new(Library::built_in())),
        remembered: Remembered::default(),
        encoding: None,
        group_as_vrf: None,
        filter: Filter::default(),
        spaces: Arc::new(Spaces::new(vec![("internet".into(), vec!["".into()])])),
        now: Timestamp::from_second(NOW).unwrap(),
    }
}

/// The same, but silence is noticed soon (and a busy machine is not taken for it).
fn impatient(address: SocketAddr) -> Request {
    let mut request = request(address);
    request.target.limits.timeout = Duration::from_millis(500);
    request.target.limits.retries = 0;
    request
}

async fn run(request: Request) -> Polled {
    poll(&Transport::new().unwrap(), request).await
}

/// A table that had rows once.
fn had_rows() -> RememberedTable {
    RememberedTable { had_rows: true, ..RememberedTable::default() }
}

/// What a poll leaves to be remembered.
fn remember(polled: &Polled) -> Remembered {
    let tables = polled.tables.iter().map(|result| {
        let (rows, repetitions) = (result.rows, result.repetitions);
        let table = RememberedTable { had_rows: rows > 0, rows, repetitions };
        (result.table.name.clone(), table)
    });
    Remembered { detection: polled.detection.clone(), tables: tables.collect(), booted: polled.booted }
}

fn table<'a>(polled: &'a Polled, name: &str) -> &'a TableResult {
    polled.tables.iter().find(|result| *result.table.name == *name).unwrap_or_else(|| panic!("no {name}"))
}

fn failed(word: &str) -> TableOutcome {
    TableOutcome::Failed(word.into())
}

fn states(polled: &Polled) -> BTreeMap<&str, String> {
    let state = |result: &TableResult| match &result.table.outcome {
        TableOutcome::Complete => format!("complete {}", result.table.listed.len()),
        TableOutcome::Failed(reason) => reason.to_string(),
        TableOutcome::Unsupported => "unsupported".to_owned(),
    };
    polled.tables.iter().map(|result| (result.table.name.as_str(), state(result))).collect()
}

/// A relay before several agents: each datagram goes to the one that a rule names, or is lost.
struct Relay {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Relay {
    /// The rule is given a datagram's number, from 0, and its octets.
    async fn start(
        agents: &[&ReplayAgent],
        mut rule: impl FnMut(usize, &[u8]) -> Option<usize> + Send + 'static,
    ) -> Self {
        let agents: Vec<SocketAddr> = agents.iter().map(|agent| agent.address()).collect();
        let here = UdpSocket::bind(loopback()).await.unwrap();
        let there = UdpSocket::bind(loopback()).await.unwrap();
        let address = here.local_addr().unwrap();
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; 0xffff];
            let mut number = 0;
            loop {
                let (length, from) = here.recv_from(&mut buffer).await.unwrap();
                let to = rule(number, &buffer[..length]);
                number += 1;
                if let Some(to) = to {
                    there.send_to(&buffer[..length], agents[to]).await.unwrap();
                    let (length, _) = there.recv_from(&mut buffer).await.unwrap();
                    here.send_to(&buffer[..length], from).await.unwrap();
                }
            }
        });
        Self { address, task }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether a datagram asks for something in this place (an OID's octets, short arcs only).
fn asks(datagram: &[u8], arcs: &[u8]) -> bool {
    datagram.windows(arcs.len()).any(|window| window == arcs)
}

#[tokio::test]
async fn a_silent_router_fails_every_table_that_is_known() {
    let silent = UdpSocket::bind(loopback()).await.unwrap();
    let mut request = impatient(silent.local_addr().unwrap());
    request.choice = Choice::Named(Arc::clone(Library::built_in().get("huawei").unwrap()));
    request.remembered.tables.insert("old".into(), RememberedTable::default());
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Snmp(Reason::Timeout))));
    let mut names: Vec<&str> = states(&polled).into_keys().collect();
    names.sort_unstable();
    assert_eq!(names, ["dynamic", "old", "pools", "relay", "sections", "v6-pools", "v6-prefixes"]);
    assert!(states(&polled).values().all(|state| state == "timeout"));
    assert!(!polled.detail.is_empty());
    assert_eq!(polled.booted, None);
}

/// A router that is polled, loses what the texts stand for, and is polled again.
async fn after_loss(file: &str, texts: &[&str]) -> (Polled, Polled) {
    let full = walk(file);
    let agent = agent(&[("public", &full)]).await;
    let first = run(request(agent.address())).await;
    assert_eq!(first.state, State::Complete, "{}", first.detail);
    let left = texts.iter().fold(full, |walk, text| without(&walk, text));
    agent.replace("public", Recording::parse(&left).unwrap());
    let mut again = request(agent.address());
    again.remembered = remember(&first);
    (first, run(again).await)
}

#[tokio::test]
async fn a_router_whose_pools_are_all_gone_is_empty_and_complete() {
    let (_, polled) = after_loss("huawei-me60", &[".2011.6.8.1."]).await;
    assert_eq!((polled.state, polled.reason), (State::Complete, None), "{}", polled.detail);
    assert_eq!(states(&polled)["sections"], "complete 0");
    assert_eq!(states(&polled)["pools"], "complete 0");
    assert_eq!(polled.ranges().count(), 0);
    // The walk has six sections and five pools.
    for note in ["table sections: 0 rows, was 6", "table pools: 0 rows, was 5"] {
        assert!(polled.notes.iter().any(|other| other == note), "{:?}", polled.notes);
    }
    assert_eq!(table(&polled, "sections").fault, None);
}

#[tokio::test]
async fn an_empty_table_stays_empty_at_the_next_poll() {
    let (_, second) = after_loss("zte-bras-uas", &[".3902.1006."]).await;
    let agent = agent(&[("public", &without(&walk("zte-bras-uas"), ".3902.1006."))]).await;
    let mut third = request(agent.address());
    // As it is to be remembered: it had rows, and the last count of them is none.
    third.remembered = remember(&second);
    third.remembered.tables.insert("pools".into(), had_rows());
    // By another name than its own, so that nothing else speaks for the table.
    third.choice = Choice::Named(Arc::clone(Library::built_in().get("zte-uas").unwrap()));
    third.remembered.detection = None;
    let stranger = without(&walk("zte-bras-uas"), ".3902.1006.").replace(".3902.3.100", ".99999.3.100");
    agent.replace("public", Recording::parse(&stranger).unwrap());
    let polled = run(third).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(polled.notes[0], "table pools: 0 rows, though it once had some");
}

#[tokio::test]
async fn a_better_table_that_is_gone_is_not_believed_while_a_lesser_one_would_take_its_place() {
    let (_, polled) = after_loss("huawei-me60", &[".2011.6.8.1.2."]).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Vanished)));
    // The fallback is worth no more: what the sections lack is not known.
    let states_now = states(&polled);
    assert_eq!((states_now["pools"].as_str(), states_now["sections"].as_str()), ("vanished", "vanished"));
    // Where there is no dynamic subnet, none is lacked. The IPv6 pools are another matter.
    assert_eq!(
        (states_now["dynamic"].as_str(), states_now["v6-pools"].as_str()),
        ("complete 0", "complete 3")
    );
    assert_eq!(polled.ranges().count(), 3);
    assert!(polled.detail.contains("pools has ranges in its stead"), "{}", polled.detail);

    // A router that never had sections has the bounds of its pools.
    let agent = agent(&[("public", &without(&walk("huawei-me60"), ".2011.6.8.1.2."))]).await;
    let polled = run(request(agent.address())).await;
    assert_eq!(polled.state, State::Complete);
    assert_eq!(states(&polled)["pools"], "complete 4");
    assert_eq!(states(&polled)["sections"], "complete 0");
}

#[tokio::test]
async fn a_better_table_is_empty_where_the_lesser_one_has_no_range_in_its_stead() {
    // The pools are still there, without a low and a high address.
    let (_, polled) = after_loss("huawei-me60", &[".2011.6.8.1.2.", ".8.1.1.1.27.", ".8.1.1.1.28."]).await;
    // A cell that is missing may hide a range.
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Vanished)));

    let full = walk("huawei-me60");
    let agent = agent(&[("public", &full)]).await;
    let first = run(request(agent.address())).await;
    let left: String = without(&full, ".2011.6.8.1.2.")
        .lines()
        .map(|line| match line.split_once("|64|") {
            Some((oid, _)) if oid.contains(".8.1.1.1.27.") || oid.contains(".8.1.1.1.28.") => {
                format!("{oid}|64|0.0.0.0\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    agent.replace("public", Recording::parse(&left).unwrap());
    let mut again = request(agent.address());
    again.remembered = remember(&first);
    let polled = run(again).await;
    assert_eq!((polled.state, polled.reason), (State::Complete, None), "{}", polled.detail);
    assert_eq!(
        (states(&polled)["sections"].as_str(), states(&polled)["pools"].as_str()),
        ("complete 0", "complete 0")
    );
    assert!(polled.notes.contains(&"table sections: 0 rows, was 6".to_owned()), "{:?}", polled.notes);
}

#[tokio::test]
async fn names_that_are_gone_are_not_believed_while_ranges_need_them() {
    let (_, polled) = after_loss("huawei-me60", &[".2011.6.8.1.1.1."]).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Vanished)));
    assert_eq!(states(&polled)["pools"], "vanished");
    assert_eq!(states(&polled)["sections"], "vanished");
    assert!(table(&polled, "pools").detail.contains("sections still has rows"), "{}", polled.detail);

    // flexBNG's groups are names alone.
    let (_, polled) = after_loss("netelastic-flexbng", &[".54268.1.1.2.1."]).await;
    assert_eq!(states(&polled)["groups"], "vanished");
    assert_eq!(states(&polled)["sections"], "vanished");
    // Once the ranges are gone too, nothing needs them.
    let (_, polled) = after_loss("netelastic-flexbng", &[".54268.1.1.2."]).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(states(&polled)["groups"], "complete 0");
    // And never having had any, they are simply not there.
    let agent = agent(&[("public", &without(&walk("netelastic-flexbng"), ".54268.1.1.2.1."))]).await;
    let polled = run(request(agent.address())).await;
    assert_eq!(states(&polled)["groups"], "unsupported");
    assert_eq!(states(&polled)["sections"], "missing-table");
}

#[tokio::test]
async fn counts_that_are_gone_are_no_failure() {
    let (first, polled) = after_loss("h3c-comware", &[".25506.2.101.2.6."]).await;
    assert_eq!((polled.state, polled.reason), (State::Complete, None), "{}", polled.detail);
    assert_eq!(states(&polled)["statistics"], "complete 0");
    assert_eq!(polled.ranges().count(), first.ranges().count());
    assert!(polled.ranges().all(|listed| listed.size.is_none() && listed.used.is_none()));
    assert!(polled.notes.contains(&"table statistics: 0 rows, was 3".to_owned()), "{:?}", polled.notes);
}

#[tokio::test]
async fn a_table_whose_wanted_columns_alone_are_gone_is_judged_the_same() {
    // Column 2, the description, is still there.
    let full = walk("huawei-me60");
    let agent = agent(&[("public", &full)]).await;
    let first = run(request(agent.address())).await;
    let left =
        (3..=10).fold(full.clone(), |walk, column| without(&walk, &format!(".2011.6.8.1.2.1.{column}.")));
    agent.replace("public", Recording::parse(&left).unwrap());
    let mut again = request(agent.address());
    again.remembered = remember(&first);
    assert_eq!(states(&run(again).await)["sections"], "vanished");
}

#[tokio::test]
async fn an_empty_table_of_a_router_that_nobody_vouches_for_is_unsupported_unless_its_mib_is_there() {
    let stranger = without(&walk("zte-bras-uas"), ".3902.1006.").replace(".3902.3.100", ".99999.3.100");
    let agent = agent(&[("public", &stranger)]).await;
    let mut request = request(agent.address());
    request.choice = Choice::Named(Arc::clone(Library::built_in().get("zte-uas").unwrap()));
    let polled = run(request.clone()).await;
    assert_eq!((polled.state, polled.reason), (State::Unsupported, Some(Fault::NoTables)));
    // Another table of the same MIB stands behind the empty one.
    let near = stranger.clone() + "1.3.6.1.4.1.3902.1006.1.1.2.2.1.1.1|2|7\n";
    agent.replace("public", Recording::parse(&near).unwrap());
    let polled = run(request.clone()).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(polled.notes, ["every table of ranges of zte-uas is empty"]);
    // And of another MIB of the same vendor.
    let far = stranger + "1.3.6.1.4.1.3902.1006.1.1.3.1.1.1|2|7\n";
    agent.replace("public", Recording::parse(&far).unwrap());
    assert_eq!(run(request).await.state, State::Unsupported);
}

#[tokio::test]
async fn a_router_that_restarted_meanwhile_is_not_believed() {
    let before = walk("cisco-iosxe-localpool");
    let after = before.replace("|67|123456789", "|67|300");
    let (before, after) = (agent(&[("public", &before)]).await, agent(&[("public", &after)]).await);
    // The first datagram asks for the system group.
    let relay = Relay::start(&[&before, &after], |number, _| Some(usize::from(number > 0))).await;
    let polled = run(request(relay.address)).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Restarted)));
    assert_eq!(table(&polled, "pools").table.outcome, failed("restarted"));
    assert_eq!(table(&polled, "pools").rows, 6);
}

#[tokio::test]
async fn a_poll_whose_end_cannot_be_vouched_for_is_failed() {
    let agent = agent(&[("public", &walk("cisco-iosxe-localpool"))]).await;
    // sysUpTime.0 is asked for first, with the rest of the system group. It does not come along
    // with the table, and so is asked for last, alone.
    let mut asked = 0;
    let relay = Relay::start(&[&agent], move |_, datagram| {
        asked += usize::from(asks(datagram, &[6, 8, 43, 6, 1, 2, 1, 1, 3, 0]));
        let along = asks(datagram, &[6, 7, 43, 6, 1, 2, 1, 1, 3, 5, 0]);
        (asked < 2 && !along).then_some(0)
    })
    .await;
    let polled = run(impatient(relay.address)).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Snmp(Reason::Timeout))));
    assert!(polled.detail.contains("sysUpTime could not be read at the end"), "{}", polled.detail);
    assert_eq!(table(&polled, "pools").table.outcome, failed("timeout"));
}

#[tokio::test]
async fn the_boot_time_does_not_waver() {
    let agent = agent(&[("public", &walk("cisco-iosxe-localpool"))]).await;
    let first = run(request(agent.address())).await;
    // 1234567.89 seconds before the poll.
    let booted = Timestamp::from_millisecond(NOW * 1000 - 1_234_567_890).unwrap();
    assert_eq!(first.booted, Some(booted));
    let mut again = request(agent.address());
    again.remembered = remember(&first);
    again.now = Timestamp::from_second(NOW + 20).unwrap();
    assert_eq!(run(again.clone()).await.booted, Some(booted));
    again.now = Timestamp::from_second(NOW + 300).unwrap();
    assert_ne!(run(again).await.booted, Some(booted));
}

#[tokio::test]
async fn a_router_that_nobody_knows_is_unsupported_unless_it_had_rows() {
    let stranger = walk("zte-bras-uas").replace("1.3.6.1.4.1.3902.3.100.6002.2", "1.3.6.1.4.1.99999.1");
    let agent = agent(&[("public", &stranger)]).await;
    let polled = run(request(agent.address())).await;
    assert_eq!((polled.state, polled.reason), (State::Unsupported, Some(Fault::NoDescriptor)));
    assert!(polled.detail.contains("1.3.6.1.4.1.99999.1"), "{}", polled.detail);
    assert_eq!(polled.detection, None);

    let mut request = request(agent.address());
    request.remembered.tables.insert("pools".into(), had_rows());
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::NoDescriptor)));
    assert_eq!(table(&polled, "pools").table.outcome, failed("no-descriptor"));
}

#[tokio::test]
async fn a_router_of_the_vendor_without_a_row_is_empty_and_complete() {
    let agent = agent(&[("public", &without(&walk("zte-bras-uas"), ".3902.1006."))]).await;
    let polled = run(request(agent.address())).await;
    assert_eq!((polled.state, polled.reason), (State::Complete, None));
    assert_eq!(states(&polled), [("pools", "complete 0".to_owned())].into());
    assert_eq!(polled.notes, ["every table of ranges of zte-uas is empty"]);
}

#[tokio::test]
async fn what_was_detected_stays_until_the_router_says_something_else_of_itself() {
    let agent = agent(&[("public", &walk("zte-bras-uas"))]).await;
    let first = run(request(agent.address())).await;
    let detection = first.detection.clone().unwrap();
    assert_eq!(detection.descriptor.as_str(), "zte-uas");
    assert_eq!(detection.sys_object_id, "1.3.6.1.4.1.3902.3.100.6002.2");

    // Remembered as another: it is kept, though nothing speaks for it.
    let mut again = request(agent.address());
    again.remembered.detection = first.detection.clone();
    again.remembered.detection.as_mut().unwrap().descriptor = "huawei".into();
    let polled = run(again.clone()).await;
    assert_eq!(polled.descriptor, Some("huawei".into()));
    assert_eq!((polled.state, polled.ranges().count()), (State::Complete, 0));
    assert!(polled.notes.contains(&"every table of ranges of huawei is empty".to_owned()));

    // A new sysDescr, as after an upgrade: it is found again.
    again.remembered.detection.as_mut().unwrap().sys_descr = "something older".to_owned();
    let polled = run(again).await;
    assert_eq!(polled.detection, Some(detection));
    assert_eq!(polled.state, State::Complete);
}

/// A descriptor for the same routers as another, and another table.
fn rival(name: &str, entry: &str) -> String {
    format!(
        r#"name = "{name}"
vendor = "Test"
[detect]
sys-object-id = ["1.3.6.1.4.1.99999"]
[[table]]
name = "pools"
entry = "{entry}"
index = [{{ name = "name", type = "octets" }}]
[table.columns]
start = {{ number = 2, type = "ip-address" }}
end = {{ number = 3, type = "ip-address" }}
[table.ranges]
start = "start"
end = "end"
pool = "name"
"#
    )
}

const RIVALS: &str = "1.3.6.1.2.1.1.1.0|4|rivals
1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.99999.7
1.3.6.1.2.1.1.3.0|67|5000
1.3.6.1.4.1.99999.2.1.2.1.97|64|192.0.2.1
1.3.6.1.4.1.99999.2.1.3.1.97|64|192.0.2.9
";

fn rivals(address: SocketAddr) -> Request {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: String| std::fs::write(folder.path().join(file), text).unwrap();
    write("one.toml", rival("one", "1.3.6.1.4.1.99999.1.1"));
    write("two.toml", rival("two", "1.3.6.1.4.1.99999.2.1"));
    let library = Library::built_in().with_folder(folder.path()).unwrap();
    Request { choice: Choice::Auto(Arc::new(library)), ..impatient(address) }
}

#[tokio::test]
async fn of_several_descriptors_the_one_is_taken_whose_tables_answer() {
    let agent = agent(&[("public", RIVALS)]).await;
    let mut request = rivals(agent.address());
    request.target.limits.timeout = Duration::from_secs(5);
    let polled = run(request.clone()).await;
    assert_eq!(polled.descriptor, Some("two".into()), "{}", polled.detail);
    assert_eq!((polled.state, polled.ranges().count()), (State::Complete, 1));

    let both = RIVALS.to_owned() + "1.3.6.1.4.1.99999.1.1.2.1.97|64|192.0.2.1\n";
    agent.replace("public", Recording::parse(&both).unwrap());
    let polled = run(request.clone()).await;
    assert_eq!((polled.state, polled.reason), (State::Unsupported, Some(Fault::AmbiguousDescriptor)));
    assert!(polled.detail.contains("several of one, two"), "{}", polled.detail);

    agent.replace("public", Recording::parse(&without(RIVALS, ".99999.2.")).unwrap());
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Unsupported, Some(Fault::AmbiguousDescriptor)));
    assert!(polled.detail.contains("none of one, two"), "{}", polled.detail);
}

#[tokio::test]
async fn silence_does_not_decide_between_descriptors() {
    let agent = agent(&[("public", RIVALS)]).await;
    // 99999 in BER is 86 8d 1f. What is asked under 99999.1 is lost.
    let relay =
        Relay::start(&[&agent], |_, datagram| (!asks(datagram, &[0x86, 0x8d, 0x1f, 1])).then_some(0)).await;
    let polled = run(rivals(relay.address)).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Snmp(Reason::Timeout))));
    assert_eq!((polled.descriptor, polled.detection), (None, None));
}

const DEFAULT_TABLES: [&str; 5] = ["pools", "profiles", "shared", "dhcp", "routers"];

/// A JUNOSe router with its second context, polled in both.
async fn in_contexts(walks: &[(&str, &str)], remembered: Remembered) -> Polled {
    let agent = agent(walks).await;
    let mut request = request(agent.address());
    request.community_contexts = true;
    request.remembered = remembered;
    run(request).await
}

#[tokio::test]
async fn a_context_that_does_not_answer_fails_its_own_tables() {
    let agent = agent(&[("public", &walk("juniper-junose-erx"))]).await;
    let mut request = impatient(agent.address());
    request.community_contexts = true;
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Snmp(Reason::Timeout))));
    assert!(polled.detail.contains("in context router2"), "{}", polled.detail);
    for name in DEFAULT_TABLES {
        assert_eq!(table(&polled, name).table.outcome, TableOutcome::Complete, "{name}");
    }
    assert_eq!(table(&polled, "profiles@vr-corp").table.outcome, failed("timeout"));
    assert_eq!(polled.ranges().count(), 5);
}

#[tokio::test]
async fn a_context_of_snmpv3_is_asked_in_by_its_name_and_its_engine() {
    let user = User {
        name: "tester".into(),
        auth: Some((AuthProtocol::Sha256, Secret::new("authpass-12345"))),
        privacy: Some((PrivacyProtocol::Aes128, Secret::new("privpass-12345"))),
        key_extension: KeyExtension::Blumenthal,
        engine_id: None,
    };
    // The router's list tells the engine id of the second router beside its name.
    let engine_id = b"\x80\x00\x13\x0a\x05vr-corp".to_vec();
    let hex: String = engine_id.iter().map(|octet| format!("{octet:02x}")).collect();
    let listed = format!("1.3.6.1.4.1.4874.2.2.32.1.2.1.6.2147483650|4x|{hex}\n");
    let default = Recording::parse(&(walk("juniper-junose-erx") + &listed)).unwrap();
    let corp = Recording::parse(&walk("juniper-junose-erx@router2")).unwrap();
    let engine = ReplayEngine::new(*b"\x80\x00\x13\x0a\x05default", vec![user.clone()]).await.unwrap();
    let named = |name: &str, engine_id| Context { name: name.into(), engine_id };
    for (served, complete) in [
        (named("router2", Some(engine_id.clone())), true),
        (named("router2", None), false),
        (named("", Some(engine_id)), false),
    ] {
        let engine =
            engine.clone().serving(Context::default(), default.clone()).serving(served, corp.clone());
        let agent = ReplayAgent::start_v3(loopback(), engine).await.unwrap();
        let mut request = request(agent.address());
        request.target.credentials = Credentials::V3(user.clone());
        let polled = run(request).await;
        let outcome = if complete { TableOutcome::Complete } else { failed("unknown-context") };
        assert_eq!(table(&polled, "profiles@vr-corp").table.outcome, outcome, "{}", polled.detail);
        assert_eq!(table(&polled, "profiles").table.outcome, TableOutcome::Complete);
        let corp = polled.ranges().filter(|listed| *listed.vrf == *"vr-corp").count();
        assert_eq!(corp, if complete { 2 } else { 0 });
    }
}

#[tokio::test]
async fn the_tables_of_a_context_that_is_gone_are_empty_and_of_one_not_asked_unknown() {
    let (default, corp) = (walk("juniper-junose-erx"), walk("juniper-junose-erx@router2"));
    let both = [("public", default.as_str()), ("public@router2", corp.as_str())];
    let first = in_contexts(&both, Remembered::default()).await;
    assert_eq!(first.state, State::Complete, "{}", first.detail);

    // The router lists it no more.
    let gone = without(&default, ".2147483650|");
    let polled = in_contexts(&[("public", &gone)], remember(&first)).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(states(&polled)["profiles@vr-corp"], "complete 0");

    // The router's list is gone altogether: that is not to be believed.
    let unlisted = without(&default, ".4874.2.2.32.");
    let polled = in_contexts(&[("public", &unlisted)], remember(&first)).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Vanished)));
    assert_eq!(states(&polled)["profiles@vr-corp"], "missing-context");

    // It may not be asked any more.
    let agent = agent(&both).await;
    let mut request = request(agent.address());
    request.remembered = remember(&first);
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::MissingContext)));
    assert_eq!(states(&polled)["profiles@vr-corp"], "missing-context");
    assert_eq!(states(&polled)["profiles"], "complete 4");
    assert!(polled.notes[0].contains("context-community"), "{:?}", polled.notes);
}

#[tokio::test]
async fn a_configured_context_is_read_alone_and_has_the_vrf_that_the_router_lists() {
    // The list of routers is in the second context too.
    let routers: String = walk("juniper-junose-erx")
        .lines()
        .filter(|line| line.contains(".4874.2.2.32."))
        .map(|line| format!("{line}\n"))
        .collect();
    let corp = walk("juniper-junose-erx@router2") + &routers;
    let agent = agent(&[("public@router2", &corp)]).await;
    let mut request = request(agent.address());
    request.context.name = b"router2".to_vec();
    let polled = run(request.clone()).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    let vrfs: Vec<&str> = polled.ranges().map(|listed| listed.vrf.as_str()).collect();
    assert_eq!(vrfs, ["vr-corp", "vr-corp"]);

    let mut again = request.clone();
    again.remembered = remember(&polled);

    // A list that is there no more would leave its pools without a VRF.
    agent.replace("public@router2", Recording::parse(&walk("juniper-junose-erx@router2")).unwrap());
    let unlisted = run(again.clone()).await;
    assert_eq!((unlisted.state, unlisted.reason), (State::Failed, Some(Fault::MissingContext)));
    assert_eq!(states(&unlisted)["profiles@vr-corp"], "missing-context");
    assert_eq!(states(&unlisted)["profiles"], "missing-context");
    // Pools that are there no more are gone from this VRF.
    agent.replace("public@router2", Recording::parse(&without(&corp, ".4874.2.2.21.")).unwrap());
    let emptied = run(again).await;
    assert_eq!((emptied.state, emptied.reason), (State::Complete, None), "{}", emptied.detail);
    assert_eq!(states(&emptied)["profiles@vr-corp"], "complete 0");
    assert!(
        emptied.notes.contains(&"table profiles@vr-corp: 0 rows, was 2".to_owned()),
        "{:?}",
        emptied.notes
    );

    // What it was, is not known where the list is not to be believed.
    let broken = corp.replace("|4|router2", "|2|2");
    agent.replace("public@router2", Recording::parse(&broken).unwrap());
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::MissingContext)));
}

#[tokio::test]
async fn tables_of_another_descriptor_are_empty_once_everything_was_read() {
    let agent = agent(&[("public", &walk("zte-bras-uas"))]).await;
    let mut request = request(agent.address());
    request.remembered.tables.insert("sections".into(), had_rows());
    let polled = run(request.clone()).await;
    assert_eq!(
        states(&polled),
        [("pools", "complete 6".to_owned()), ("sections", "complete 0".to_owned())].into()
    );

    // And are not mentioned, where something is missing.
    request.choice = Choice::Named(Arc::clone(Library::built_in().get("netelastic-flexbng").unwrap()));
    agent.replace(
        "public",
        Recording::parse(&without(&walk("netelastic-flexbng"), ".54268.1.1.2.1.")).unwrap(),
    );
    request.remembered.tables.insert("old".into(), had_rows());
    let polled = run(request).await;
    assert_eq!(states(&polled)["sections"], "missing-table");
    assert!(!states(&polled).contains_key("old") && !states(&polled).contains_key("pools"));
}

#[tokio::test]
async fn unwanted_pools_and_vrfs_are_left_out_and_said() {
    let agent = agent(&[("public", &walk("huawei-me60"))]).await;
    let mut request = request(agent.address());
    request.filter = Filter {
        include: vec![Glob::new("pppoe-*"), Glob::new("iptv"), Glob::new("corp")],
        exclude: vec![Glob::new("ipt*")],
        vrfs: vec!["".into()],
    };
    let polled = run(request).await;
    let pools: Vec<&str> = polled.ranges().map(|listed| listed.pool.text()).collect();
    assert_eq!(pools, ["pppoe-a", "pppoe-a"]);
    let excluded: Vec<&str> = polled
        .rejected
        .iter()
        .filter(|rejected| rejected.reason == RejectReason::Excluded)
        .map(|rejected| rejected.index.as_str())
        .collect();
    assert_eq!(excluded, ["1.0", "2.0", "3.0", "3.3", "0", "2", "3"]);
}

#[tokio::test]
async fn a_named_descriptor_needs_no_detection_and_leaves_none() {
    let stranger = walk("zte-bras-uas").replace("1.3.6.1.4.1.3902.3.100.6002.2", "1.3.6.1.4.1.99999.1");
    let agent = agent(&[("public", &stranger)]).await;
    let source = Library::built_in().get("zte-uas").unwrap().source().to_owned();
    let descriptor = Descriptor::parse("mine.toml", &source, Origin::File("mine.toml".into())).unwrap();
    let mut request = request(agent.address());
    request.choice = Choice::Named(Arc::new(descriptor));
    let polled = run(request).await;
    assert_eq!((polled.state, polled.ranges().count()), (State::Complete, 6));
    assert_eq!(polled.detection, None);
    let names: Vec<&Name> = polled.tables.iter().map(|result| &result.table.name).collect();
    assert_eq!(names, [&Name::from("pools")]);
    assert!(table(&polled, "pools").repetitions.is_some_and(|repetitions| repetitions > 0));
}

#[tokio::test]
async fn a_table_beyond_its_cap_is_too_large_and_harms_no_other() {
    let source = Library::built_in().get("standard-connected").unwrap().source().to_owned();
    // The walk has seven addresses, five prefixes and four interfaces.
    let capped = |rows: u32| {
        let source = source.replace("max-rows = 20000", &format!("max-rows = {rows}"));
        Choice::Named(Arc::new(
            Descriptor::parse("mine.toml", &source, Origin::File("mine.toml".into())).unwrap(),
        ))
    };
    let agent = agent(&[("public", &walk("standard-connected"))]).await;
    let mut request = request(agent.address());
    request.choice = capped(7);
    let polled = run(request.clone()).await;
    assert_eq!((polled.state, polled.reason), (State::Complete, None), "{}", polled.detail);
    request.choice = capped(6);
    let polled = run(request).await;
    assert_eq!((polled.state, polled.reason), (State::Failed, Some(Fault::Snmp(Reason::TooLarge))));
    assert!(polled.detail.contains("more than 6 rows of this table"), "{}", polled.detail);
    let states = states(&polled);
    assert_eq!((states["addresses"].as_str(), states["v6-prefixes"].as_str()), ("too-large", "complete 2"));
}

fn ranges(polled: &Polled) -> Vec<poolsync::table::Listed> {
    polled.ranges().cloned().collect()
}

/// A router of five tables whose rows fit into one answer each.
async fn small() -> ReplayAgent {
    let agent = agent(&[("public", &walk("juniper-junose-old"))]).await;
    agent.set_max_octets(65_507);
    agent
}

#[tokio::test]
async fn a_known_router_is_asked_for_itself_and_its_largest_table_at_once() {
    let agent = small().await;
    let first = run(request(agent.address())).await;
    // The system group, and five tables, with the last of which sysUpTime comes.
    assert_eq!((first.state, first.cost.requests), (State::Complete, 6));
    let again = run(Request { remembered: remember(&first), ..request(agent.address()) }).await;
    assert_eq!((again.state, again.cost.requests), (State::Complete, 5));
    assert_eq!((states(&again), ranges(&again)), (states(&first), ranges(&first)));
    assert_eq!((&again.sys_descr, &again.sys_name), (&first.sys_descr, &first.sys_name));
    assert_eq!((again.booted, &again.detection), (first.booted, &first.detection));
}

#[tokio::test]
async fn a_known_router_that_does_not_answer_everything_at_once_is_asked_step_by_step() {
    let agent = small().await;
    let first = run(request(agent.address())).await;
    // Whatever asks for sysUpTime and a table in one GETBULK is lost.
    let relay = Relay::start(&[&agent], |_, datagram| {
        let bulk = datagram.iter().position(|octet| *octet == 0xa5).is_some_and(|at| at < 20);
        let up_time = datagram.windows(8).any(|part| part == [0x2b, 6, 1, 2, 1, 1, 3, 5]);
        (!(bulk && up_time)).then_some(0)
    })
    .await;
    let mut asked = impatient(relay.address);
    asked.remembered = remember(&first);
    let again = run(asked).await;
    assert_eq!((again.state, again.cost.requests, again.cost.retries), (State::Complete, 8, 0));
    assert_eq!((states(&again), ranges(&again)), (states(&first), ranges(&first)));
}

#[tokio::test]
async fn a_known_router_that_hides_its_up_time_is_read_all_the_same() {
    let shown = small().await;
    let first = run(request(shown.address())).await;
    let hidden = agent(&[("public", &without(&walk("juniper-junose-old"), "1.3.6.1.2.1.1.3.0|"))]).await;
    let again = run(Request { remembered: remember(&first), ..request(hidden.address()) }).await;
    assert_eq!((again.state, again.booted), (State::Complete, None));
    assert_eq!(again.ranges().count(), first.ranges().count());
}
