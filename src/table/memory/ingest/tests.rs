//! Single polls, row by row.

use super::*;
use crate::table::{Row, Unread};

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(minutes * 60).unwrap()
}

fn row(table: &str, index: u32, pool: &str, range: &str) -> Listed {
    Listed {
        table: table.into(),
        row: Row { context: "".into(), index: [index].into() },
        space: Some("internet".into()),
        vrf: "".into(),
        pool: PoolName::new(pool.as_bytes()),
        range: range.parse().unwrap(),
        size: None,
        used: None,
        standing: Standing::Listed,
    }
}

fn complete(name: &str, listed: &[Listed]) -> PolledTable {
    let (listed, unread) = (listed.to_vec(), Vec::new());
    PolledTable { name: name.into(), outcome: TableOutcome::Complete, listed, unread, bad_index: false }
}

fn failed(name: &str) -> PolledTable {
    PolledTable { outcome: TableOutcome::Failed("timeout".into()), ..complete(name, &[]) }
}

fn unsupported(name: &str) -> PolledTable {
    PolledTable { outcome: TableOutcome::Unsupported, ..complete(name, &[]) }
}

fn poll(minutes: i64, tables: &[PolledTable]) -> Poll {
    let (at, tables) = (at(minutes), tables.to_vec());
    Poll { at, booted: Some(super::tests::at(-9_999)), scheduled: true, failure: None, tables }
}

fn ingest(memory: &mut Memory, poll: Poll) -> Ingested {
    memory.ingest(poll, &Published::new(), &IngestSettings::default())
}

/// Each remembered row as `pool range standing`.
fn rows(memory: &Memory) -> Vec<String> {
    memory.listed.iter().map(|r| format!("{} {} {:?}", r.pool, r.range, r.standing)).collect()
}

fn two_rows() -> [Listed; 2] {
    [row("t", 1, "p", "10.0.0.0/24"), row("t", 2, "q", "10.0.1.0/24")]
}

fn with_two_rows() -> Memory {
    let mut memory = Memory::default();
    assert!(ingest(&mut memory, poll(0, &[complete("t", &two_rows())])).changed);
    memory
}

const BOTH: [&str; 2] = ["p 10.0.0.0-10.0.0.255 Listed", "q 10.0.1.0-10.0.1.255 Listed"];

#[test]
fn a_complete_table_loses_what_it_does_not_list() {
    let mut memory = with_two_rows();
    assert_eq!(rows(&memory), BOTH);
    assert!(!ingest(&mut memory, poll(5, &[complete("t", &two_rows())])).changed);
    assert!(ingest(&mut memory, poll(10, &[complete("t", &two_rows()[..1])])).changed);
    assert_eq!(rows(&memory), ["p 10.0.0.0-10.0.0.255 Listed"]);
    assert_eq!((&*memory.state, memory.last_complete), ("complete", Some(at(10))));
    assert_eq!(memory.tables["t"].rows, 1);
}

#[test]
fn a_failed_table_keeps_its_rows_and_another_one_goes_on() {
    let mut memory = with_two_rows();
    let six = [row("u", 1, "six", "2001:db8::/48")];
    ingest(&mut memory, poll(5, &[complete("t", &two_rows()), complete("u", &six)]));
    ingest(&mut memory, poll(10, &[complete("t", &two_rows()[..1]), failed("u")]));
    assert_eq!(
        rows(&memory),
        ["p 10.0.0.0-10.0.0.255 Listed", "six 2001:db8::-2001:db8:0:ffff:ffff:ffff:ffff:ffff Listed"]
    );
    assert_eq!((&*memory.state, &*memory.reason), ("failed", "timeout"));
    assert_eq!(memory.last_complete, Some(at(5)), "not all was read");
    assert_eq!(memory.tables["t"].last_complete, Some(at(10)));
    assert_eq!(memory.tables["u"].last_complete, Some(at(5)));
}

#[test]
fn only_three_failures_and_time_make_a_table_stale() {
    let mut memory = with_two_rows();
    let after = IngestSettings::default().after;
    for minutes in [5, 10] {
        ingest(&mut memory, poll(minutes, &[failed("t")]));
    }
    assert!(!memory.tables["t"].is_stale(at(500), after), "two failures");
    ingest(&mut memory, poll(15, &[failed("t")]));
    assert!(!memory.tables["t"].is_stale(at(29), after), "not long enough");
    assert!(memory.tables["t"].is_stale(at(30), after));
    assert_eq!(memory.tables["t"].stale_since, None);
    ingest(&mut memory, Poll { failure: Some("no-answer".into()), ..poll(30, &[]) });
    assert_eq!(memory.tables["t"].stale_since, Some(at(30)));
    assert_eq!((&*memory.state, &*memory.reason), ("failed", "no-answer"));
    assert_eq!(rows(&memory), BOTH);
    assert!(ingest(&mut memory, poll(35, &[complete("t", &two_rows())])).changed, "its class may differ");
    assert_eq!(memory.tables["t"].stale_since, None);
    assert!(!memory.tables["t"].is_stale(at(500), after));
}

#[test]
fn staleness_starts_anew_with_the_program() {
    let mut memory = with_two_rows();
    for minutes in [5, 10, 30] {
        ingest(&mut memory, poll(minutes, &[failed("t")]));
    }
    let text = serde_json::to_string(&memory).unwrap();
    let memory: Memory = serde_json::from_str(&text).unwrap();
    assert!(!memory.tables["t"].is_stale(at(9_999), IngestSettings::default().after));
}

#[test]
fn a_table_that_had_rows_is_not_unsupported() {
    let mut memory = with_two_rows();
    ingest(&mut memory, poll(5, &[unsupported("t")]));
    assert_eq!(rows(&memory), BOTH);
    assert_eq!((&*memory.state, &*memory.reason), ("failed", "unsupported"));

    let mut memory = Memory::default();
    ingest(&mut memory, poll(5, &[unsupported("t")]));
    assert_eq!((&*memory.state, memory.last_complete), ("unsupported", None));
    ingest(&mut memory, poll(10, &[unsupported("t"), complete("u", &two_rows())]));
    assert_eq!((&*memory.state, memory.last_complete), ("complete", Some(at(10))));
}

#[test]
fn an_unreadable_row_pins_what_it_held_by_index_or_by_pool() {
    let unread = |index: u32, pool: Option<&str>| Unread {
        row: Row { context: "".into(), index: [index].into() },
        pool: pool.map(|pool| PoolName::new(pool.as_bytes())),
    };
    for (unread, kept) in [
        (unread(2, None), true),
        (unread(7, Some("q")), true),
        (unread(7, None), false),
        (unread(7, Some("other")), false),
    ] {
        let mut memory = with_two_rows();
        let table = PolledTable { unread: vec![unread], ..complete("t", &two_rows()[..1]) };
        ingest(&mut memory, poll(5, std::slice::from_ref(&table)));
        assert_eq!(memory.listed.len(), if kept { 2 } else { 1 });
        if kept {
            assert_eq!(rows(&memory)[1], "q 10.0.1.0-10.0.1.255 Unread");
            ingest(&mut memory, poll(10, &[table]));
            assert_eq!(memory.listed.len(), 2, "as long as it is unreadable");
            ingest(&mut memory, poll(15, &[complete("t", &two_rows()[..1])]));
            assert_eq!(memory.listed.len(), 1);
        }
    }
}

#[test]
fn an_index_that_cannot_be_decoded_holds_all_that_is_missing() {
    let mut memory = with_two_rows();
    let new = row("t", 3, "r", "10.0.2.0/24");
    ingest(&mut memory, poll(5, &[PolledTable { bad_index: true, ..complete("t", &[new]) }]));
    assert_eq!(
        rows(&memory),
        ["r 10.0.2.0-10.0.2.255 Listed", "p 10.0.0.0-10.0.0.255 Unread", "q 10.0.1.0-10.0.1.255 Unread"]
    );
}

#[test]
fn shortly_after_a_boot_a_poll_only_adds() {
    let mut memory = with_two_rows();
    let half = [two_rows()[1].clone(), row("t", 1, "p", "10.0.0.0/25")];
    let booted = |minutes| Poll { booted: Some(at(10)), ..poll(minutes, &[complete("t", &half)]) };
    assert!(ingest(&mut memory, booted(12)).settling);
    assert_eq!(
        rows(&memory),
        ["q 10.0.1.0-10.0.1.255 Listed", "p 10.0.0.0-10.0.0.127 Listed", "p 10.0.0.0-10.0.0.255 Unread"]
    );
    assert!(!ingest(&mut memory, booted(20)).settling, "ten minutes after");
    assert_eq!(rows(&memory), ["q 10.0.1.0-10.0.1.255 Listed", "p 10.0.0.0-10.0.0.127 Listed"]);
}

#[test]
fn a_table_that_falls_empty_beside_others_is_not_believed_at_once() {
    let mut memory = with_two_rows();
    let other = [row("u", 1, "r", "10.0.2.0/24")];
    let tables = [complete("t", &[]), complete("u", &other)];
    ingest(&mut memory, poll(5, &[complete("t", &two_rows()), complete("u", &other)]));
    ingest(&mut memory, poll(10, &tables));
    assert_eq!(memory.listed.len(), 3);
    assert_eq!(rows(&memory)[0], "p 10.0.0.0-10.0.0.255 Unread");
    assert_eq!(memory.tables["t"].empty_reads, 1);
    ingest(&mut memory, poll(15, &tables));
    assert_eq!(rows(&memory), ["r 10.0.2.0-10.0.2.255 Listed"]);
    // Where nothing of the family is left, the guard holds the emptied owner at once.
    let mut memory = with_two_rows();
    ingest(
        &mut memory,
        poll(5, &[complete("t", &[]), complete("v6", &[row("v6", 1, "six", "2001:db8::/48")])]),
    );
    assert_eq!(memory.listed.len(), 1);
}

#[test]
fn a_table_that_the_descriptor_no_longer_has_goes_but_not_with_a_poll_that_read_nothing() {
    let mut memory = with_two_rows();
    ingest(&mut memory, poll(5, &[failed("u")]));
    assert_eq!(rows(&memory), BOTH);
    assert_eq!(&*memory.tables["t"].reason, "not-polled");
    ingest(&mut memory, poll(10, &[]));
    assert_eq!(rows(&memory), BOTH);
    ingest(&mut memory, poll(15, &[complete("u", &[row("u", 1, "r", "10.0.2.0/24")])]));
    assert_eq!(rows(&memory), ["r 10.0.2.0-10.0.2.255 Listed"]);
    assert_eq!(memory.tables.keys().map(|name| name.to_string()).collect::<Vec<_>>(), ["u"]);
}

#[test]
fn addresses_are_seen_since_they_were_first_listed_without_a_break() {
    let mut memory = with_two_rows();
    let seen = |memory: &Memory| -> Vec<String> {
        memory.seen.iter().map(|s| format!("{} {}", s.range, s.since.as_second() / 60)).collect()
    };
    // Another pool, another split: no new beginning for the addresses that stay.
    let split = [row("t", 5, "x", "10.0.0.0/25"), row("t", 6, "y", "10.0.0.128-10.0.2.255")];
    ingest(&mut memory, poll(5, &[complete("t", &split)]));
    assert_eq!(seen(&memory), ["10.0.0.0-10.0.1.255 0", "10.0.2.0-10.0.2.255 5"]);
    ingest(&mut memory, Poll { failure: Some("timeout".into()), ..poll(10, &[]) });
    assert_eq!(seen(&memory).len(), 2, "a failed poll is no break");
    ingest(&mut memory, poll(15, &[complete("t", &split[..1])]));
    ingest(&mut memory, poll(20, &[complete("t", &split)]));
    assert_eq!(seen(&memory), ["10.0.0.0-10.0.0.127 0", "10.0.0.128-10.0.2.255 20"]);
}

#[test]
fn misses_are_counted_by_complete_scheduled_polls_apart() {
    let published: Published =
        [("internet".into(), RangeSet::from("10.0.0.0/23".parse::<Range>().unwrap()))].into();
    let mut memory = with_two_rows();
    let gone = [complete("t", &two_rows()[..1])];
    let mut ingest = |poll: Poll| {
        memory.ingest(poll, &published, &IngestSettings::default());
        memory.misses.iter().map(|m| format!("{} {}", m.range, m.polls)).collect::<Vec<_>>()
    };
    let none: [String; 0] = [];
    assert_eq!(ingest(Poll { scheduled: false, ..poll(5, &gone) }), none, "forced");
    assert_eq!(ingest(poll(6, &gone)), ["10.0.1.0-10.0.1.255 1"]);
    assert_eq!(ingest(poll(8, &gone)), ["10.0.1.0-10.0.1.255 1"], "two minutes are less than half of five");
    assert_eq!(
        ingest(poll(9, &[complete("t", &two_rows()[..1]), failed("u")])),
        ["10.0.1.0-10.0.1.255 1"],
        "not all read"
    );
    assert_eq!(ingest(Poll { failure: Some("timeout".into()), ..poll(14, &[]) }), ["10.0.1.0-10.0.1.255 1"]);
    assert_eq!(ingest(poll(19, &gone)), ["10.0.1.0-10.0.1.255 2"]);
    let half = [two_rows()[0].clone(), row("t", 2, "q", "10.0.1.0/25")];
    assert_eq!(ingest(poll(24, &[complete("t", &half)])), ["10.0.1.128-10.0.1.255 3"]);
    assert_eq!(ingest(poll(29, &gone)), ["10.0.1.0-10.0.1.127 1", "10.0.1.128-10.0.1.255 4"]);
    assert_eq!(ingest(poll(34, &[complete("t", &two_rows())])), none);
}

#[test]
fn rows_in_no_space_are_remembered_and_are_nowhere() {
    let mut memory = Memory::default();
    let row = Listed { space: None, ..row("t", 1, "p", "10.0.0.0/24") };
    ingest(&mut memory, poll(0, &[complete("t", &[row])]));
    assert_eq!(memory.listed.len(), 1);
    assert!(memory.seen.is_empty());
}
