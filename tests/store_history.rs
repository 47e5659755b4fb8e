//! The store keeps what it is given, and every generation of it.

#![allow(clippy::needless_update, reason = "what is remembered will grow")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store_support;

use std::collections::BTreeMap;

use poolsync::address::Family;
use poolsync::store::{Acts, Commit, Generation, Settings, Store, Topic};
use poolsync::table::{
    Change, Class, Detection, Engine, Entry, Forgiven, Groups, GuardMemory, HeldChange, Hold, HoldKind,
    HoldReason, Listed, Listing, Memory, Miss, Name, PoolName, Row, Run, Seen, Standing, Table, TableMemory,
};
use proptest::prelude::*;
use store_support::*;

fn odd_entries() -> Vec<Entry> {
    let mut entries = vec![
        entry("0.0.0.0-255.255.255.255", "bas-1"),
        entry("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "bas-2"),
        entry("198.51.100.7", "edges:gz-01,centre"),
        entry("::", "pair-1"),
        entry("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "bas-1"),
        entry("203.0.113.0/24", "bas-1"),
    ];
    entries[1].space = Name::from("iptv");
    entries[0].space = Name::from("lab \u{0} 实验室");
    entries[2].bas = None;
    entries[2].class = Class::Override;
    entries[2].pool = PoolName::new(b"");
    entries[3].bas = Some(Name::from("bas-3"));
    entries[3].class = Class::Kept;
    entries[3].pool = PoolName::new(&[0xff, 0xfe, 0xfd]);
    entries[4].pool = PoolName::decoded(&[0xbf, 0xed, 0xb4, 0xf8], "宽带");
    entries[4].vrf = Name::from("");
    entries[5].class = Class::Fill;
    entries[5].pool = PoolName::decoded(b"a\0b", "a\0'b\"\\");
    entries
}

fn listed(addresses: &str, index: &[u32]) -> Listed {
    Listed {
        table: Name::from("pools"),
        row: Row { context: Name::from(""), index: index.into() },
        space: Some(Name::from("internet")),
        vrf: Name::from("default"),
        pool: PoolName::new(&[0x50, 0x5a, 0xfc]),
        range: range(addresses),
        size: Some(u64::MAX),
        used: Some(3),
        standing: Standing::Listed,
    }
}

fn change_listed(memory: &mut Memory, change: impl FnOnce(&mut Vec<Listed>)) {
    let mut listed = memory.listed.to_vec();
    change(&mut listed);
    memory.listed = listed.into();
}

fn full_memory() -> Memory {
    let mut unread = listed("2001:db8::/64", &[u32::MAX, 0, 256]);
    unread.row.context = Name::from("vrf-cust");
    unread.space = None;
    unread.size = None;
    unread.used = None;
    unread.standing = Standing::Unread;
    let table = TableMemory {
        last_complete: Some(at(5)),
        state: Name::from("complete"),
        had_rows: true,
        rows: 2,
        empty_reads: 1,
        stale_since: Some(at(6)),
        repetitions: Some(24),
        ..TableMemory::default()
    };
    Memory {
        last_attempt: Some(at(7)),
        last_complete: Some(at(5)),
        tried: true,
        state: Name::from("failed"),
        reason: Name::from("timeout"),
        booted: Some(at(-100)),
        tables: BTreeMap::from([(Name::from("pools"), Box::new(table))]),
        detection: Some(Detection {
            descriptor: Name::from("junose"),
            sys_object_id: "1.3.6.1.4.1.4874.1.1".to_owned(),
            sys_descr: "a \"box\"".to_owned(),
        }),
        engine: Some(Engine { id: "80001f8804".to_owned(), boots: 3, time: 77, at: at(7) }),
        seen: vec![Seen { space: Name::from("internet"), range: range("10.0.0.0/8"), since: at(1) }].into(),
        misses: vec![Miss { space: Name::from("internet"), range: range("10.9.0.0/24"), polls: 2 }],
        last_counted: Some(at(4)),
        // Twice the same range: the router's order and repetitions are kept.
        listed: vec![listed("192.0.2.9", &[9]), unread, listed("192.0.2.0-192.0.2.8", &[])].into(),
        ..Memory::default()
    }
}

fn hold(id: u64, addresses: &str) -> Hold {
    Hold {
        id,
        kind: HoldKind::Removal,
        reason: HoldReason::Emptied,
        owner: Name::from("bas-1"),
        space: Name::from("internet"),
        family: Family::V4,
        since: at(3),
        incident: Some(2),
        rejected: true,
        changes: vec![HeldChange { range: range(addresses), from: Some(Name::from("bas-1")), to: None }],
    }
}

fn full_guard() -> GuardMemory {
    GuardMemory {
        holds: vec![hold(4, "203.0.113.0/24"), hold(9, "198.51.100.0/24")],
        last_id: 9,
        last_incident: 2,
        forgiven: vec![Forgiven {
            space: Name::from("internet"),
            range: range("2001:db8::/32"),
            at: at(2),
            table: true,
        }],
        ..GuardMemory::default()
    }
}

/// Equality of pools is of their octets; here their texts count too.
fn texts(entries: &[Entry]) -> Vec<(String, Class)> {
    entries.iter().map(|e| (e.pool.text().to_owned(), e.class)).collect()
}

#[tokio::test]
async fn everything_comes_back_as_it_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let wanted = table(odd_entries());
    let edges = groups(&[("bas-1", &["gz-01", "centre"]), ("bas-2", &["centre"])]);
    let (memory, guard) = (full_memory(), full_guard());
    let empty = Memory::default();
    let (bas, other) = (Name::from("bas-1"), Name::from("bas-never-tried"));
    let session = {
        let mut store = open(&path).await;
        let changes = difference(&Table::default(), &wanted);
        let committed = store
            .commit(Commit {
                at: at(0),
                changes: &changes,
                groups: Some(&edges),
                memories: &[(&bas, &memory), (&other, &empty)],
                guard: &guard,
                filled: true,
                steering: None,
                acts: Acts::default(),
            })
            .await
            .unwrap();
        assert_eq!((committed.generation, committed.made), (1, true));
        let session = store.session();
        store.close().await.unwrap();
        session
    };
    let mut store = open(&path).await;
    let loaded = store.load().await.unwrap();
    assert_eq!(loaded.session, session);
    assert_eq!((loaded.generation, loaded.committed, loaded.filled), (1, Some(at(0)), true));
    assert_eq!(loaded.table, wanted);
    assert_eq!(texts(&loaded.table.entries().to_vec()), texts(&wanted.entries().to_vec()));
    assert_eq!(loaded.groups, edges);
    assert_eq!(loaded.memories, BTreeMap::from([(bas, memory), (other, empty)]));
    assert_eq!(loaded.guard, guard);
}

#[tokio::test]
async fn a_new_store_is_generation_0_and_not_filled() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let loaded = store.load().await.unwrap();
    assert_eq!((loaded.generation, loaded.committed, loaded.filled), (0, None, false));
    assert_eq!(loaded.table, Table::default());
    assert_eq!(loaded.groups, Groups::default());
    assert!(loaded.memories.is_empty());
    assert_eq!(store.table_at(0).await.unwrap().table, Table::default());
    assert_eq!(store.generations(10).await.unwrap(), []);
    assert_eq!(store.runs_ended_since(at(0)).await.unwrap(), []);
}

#[tokio::test]
async fn sessions_differ_between_stores_and_when_drawn_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut a = open(&folder.path().join("a.db")).await;
    let b = open(&folder.path().join("b.db")).await;
    let first = a.session();
    assert_ne!(first, b.session());
    let second = a.draw_session().await.unwrap();
    assert_ne!(first, second);
    assert_eq!(a.load().await.unwrap().session, second);
}

#[tokio::test]
async fn without_a_change_no_generation_is_made_but_the_rest_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let wanted = table(vec![entry("192.0.2.0/24", "bas-1")]);
    let edges = groups(&[("bas-1", &["gz-01"])]);
    let changes = difference(&Table::default(), &wanted);
    let made = commit_all(&mut store, 0, &changes, Some(&edges), &[]).await.unwrap();
    assert_eq!((made.generation, made.made), (1, true));

    let (bas, memory, guard) = (Name::from("bas-1"), full_memory(), full_guard());
    let again = Commit {
        at: at(60),
        changes: &[],
        groups: Some(&edges),
        memories: &[(&bas, &memory)],
        guard: &guard,
        filled: false,
        steering: None,
        acts: Acts::default(),
    };
    let made = store.commit(again).await.unwrap();
    assert_eq!((made.generation, made.made), (1, false));
    let loaded = store.load().await.unwrap();
    assert_eq!((loaded.generation, loaded.committed, loaded.filled), (1, Some(at(0)), false));
    assert_eq!((loaded.memories[&bas].clone(), loaded.guard), (memory, guard));
}

#[tokio::test]
async fn what_changes_in_memories_and_holds_is_saved_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    let (bas, other) = (Name::from("bas-1"), Name::from("bas-2"));
    let (mut memory, mut guard) = (full_memory(), full_guard());
    let save = |guard: &GuardMemory, memory: &Memory| (guard.clone(), memory.clone());
    for step in 0..6 {
        match step {
            0 => {}
            1 => memory.last_attempt = Some(at(99)),
            2 => change_listed(&mut memory, |listed| listed[0].used = Some(5)),
            3 => {
                change_listed(&mut memory, |listed| drop(listed.remove(1)));
                guard.holds[0].rejected = false;
            }
            4 => {
                change_listed(&mut memory, |listed| listed[0].standing = Standing::Unread);
                memory.seen = Vec::new().into();
                guard.holds.remove(0);
                guard.holds.push(hold(12, "192.0.2.0/24"));
            }
            _ => {
                // From what is on the disk, not from what this process remembers.
                store.close().await.unwrap();
                store = open(&path).await;
                memory.listed = Listing::default();
                guard.holds.clear();
            }
        }
        let (guard, memory) = save(&guard, &memory);
        let memories: &[(&Name, &Memory)] = &[(&bas, &memory), (&other, &memory)];
        let batch = Commit {
            at: at(step),
            changes: &[],
            groups: None,
            memories,
            guard: &guard,
            filled: true,
            steering: None,
            acts: Acts::default(),
        };
        store.commit(batch).await.unwrap();
        let loaded = store.load().await.unwrap();
        assert_eq!(loaded.memories[&bas], memory, "step {step}");
        assert_eq!(loaded.memories[&other], memory, "step {step}");
        assert_eq!(loaded.guard, guard, "step {step}");
    }
    memory.state = Name::from("flushed");
    store.flush(&[(&bas, &memory)], &[]).await.unwrap();
    store.forget(&other).await.unwrap();
    let loaded = store.load().await.unwrap();
    assert_eq!(loaded.memories, BTreeMap::from([(bas.clone(), memory.clone())]));
    // Forgotten and come back: all of it is there again.
    let full = full_memory();
    store.flush(&[(&other, &full)], &[]).await.unwrap();
    assert_eq!(store.load().await.unwrap().memories, BTreeMap::from([(bas, memory), (other, full)]));
}

#[tokio::test]
async fn groups_are_kept_by_generation() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let mut steps = vec![
        groups(&[("bas-1", &["gz-01", "centre"]), ("bas-2", &["gz-01"])]),
        groups(&[("bas-1", &["centre"]), ("bas-2", &["gz-01"])]),
        groups(&[]),
        groups(&[("bas-1", &["gz-01", "centre"])]),
    ];
    // The same token with other weights and another order.
    let mut turned = steps[3].clone();
    for group in turned.groups.values_mut() {
        group.edges.reverse();
        group.edges[0].weight = u32::MAX;
    }
    steps.push(turned);
    for (second, edges) in (1..).zip(&steps) {
        let made = commit_all(&mut store, second, &[], Some(edges), &[]).await.unwrap();
        assert_eq!((made.generation, made.made), (second.cast_unsigned(), true));
        assert_eq!(&store.load().await.unwrap().groups, edges);
    }
    for (generation, edges) in (1..).zip(&steps) {
        assert_eq!(&store.table_at(generation).await.unwrap().groups, edges, "generation {generation}");
    }
}

#[tokio::test]
async fn changes_that_do_not_start_from_the_stored_table_are_refused_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let first = table(vec![entry("192.0.2.0/24", "bas-1")]);
    commit(&mut store, 0, &Table::default(), &first).await.unwrap();
    let mut other_pool = entry("192.0.2.0/24", "bas-1");
    other_pool.pool = PoolName::new(b"pool-2");
    let refused = [
        Change::Removed(entry("192.0.2.0/25", "bas-1")),
        Change::Removed(entry("192.0.2.0/24", "bas-2")),
        Change::Removed(other_pool),
        Change::Altered { before: entry("198.51.100.0/24", "bas-1"), after: entry("198.51.100.0/24", "x") },
        Change::Added(entry("192.0.2.0/28", "bas-2")),
    ];
    for change in refused {
        let wanted = [Change::Added(entry("203.0.113.0/24", "bas-3")), change];
        let error = commit_all(&mut store, 1, &wanted, None, &[]).await.unwrap_err();
        assert_eq!(error.kind(), "out-of-step", "{:?}", wanted[1]);
        let loaded = store.load().await.unwrap();
        assert_eq!((loaded.generation, &loaded.table), (1, &first));
    }
    // And it can be used on.
    let second = table(vec![entry("203.0.113.0/24", "bas-3")]);
    assert_eq!(commit(&mut store, 2, &first, &second).await.unwrap().generation, 2);
    assert_eq!(store.load().await.unwrap().table, second);
}

#[tokio::test]
async fn a_claim_that_goes_stale_and_is_removed_is_the_same_entry() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let fresh = table(vec![entry("192.0.2.0/24", "bas-1")]);
    commit(&mut store, 0, &Table::default(), &fresh).await.unwrap();
    let mut kept = entry("192.0.2.0/24", "bas-1");
    kept.class = Class::Kept;
    commit_all(&mut store, 1, &[Change::Removed(kept)], None, &[]).await.unwrap();
    assert_eq!(store.load().await.unwrap().table, Table::default());
}

fn run(addresses: &str, owner: &str, from: i64, to: Option<i64>) -> Run {
    Run {
        space: Name::from("internet"),
        range: range(addresses),
        owner: Name::from(owner),
        from: at(from),
        to: to.map(at),
    }
}

async fn runs(store: &mut Store, since: i64) -> Vec<Run> {
    let mut runs = store.runs_ended_since(at(since)).await.unwrap();
    runs.sort_by_key(|run| (run.from, run.range));
    runs
}

#[tokio::test]
async fn runs_are_those_that_ended_in_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let mut fill = entry("192.0.2.0/24", "bas-3");
    fill.class = Class::Fill;
    let steady = entry("198.51.100.0/24", "bas-1");
    let steps = [
        (0, table(vec![entry("192.0.2.0/24", "bas-1"), steady.clone()])),
        (10, table(vec![entry("192.0.2.0/24", "bas-2"), steady.clone()])),
        (20, table(vec![steady.clone()])),
        (30, table(vec![fill, steady])),
    ];
    let mut before = Table::default();
    for (second, after) in &steps {
        commit(&mut store, *second, &before, after).await.unwrap();
        before = after.clone();
    }
    let first = || run("192.0.2.0/24", "bas-1", 0, Some(10));
    let second = || run("192.0.2.0/24", "bas-2", 10, Some(20));
    for since in [-5, 0, 5] {
        assert_eq!(runs(&mut store, since).await, [first(), second()], "since {since}");
    }
    for since in [10, 15] {
        assert_eq!(runs(&mut store, since).await, [second()], "since {since}");
    }
    for since in [20, 29, 30, 99] {
        assert_eq!(runs(&mut store, since).await, [], "since {since}");
    }
    assert_eq!(store.generation_at(at(-1)).await.unwrap(), 0);
    assert_eq!(store.generation_at(at(10)).await.unwrap(), 2);
    assert_eq!(store.generation_at(at(19)).await.unwrap(), 2);
}

#[tokio::test]
async fn a_run_that_begins_as_another_one_ends_is_told_though_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let steady = || entry("198.51.100.0/24", "bas-1");
    let first = table(vec![entry("192.0.2.0/24", "bas-1"), steady()]);
    // Half of it goes on as the same owner's, and another BAS begins beside it.
    let halves = || [entry("192.0.2.0/25", "bas-1"), entry("192.0.2.128/25", "bas-2")];
    let second = table([&halves()[..], &[steady()]].concat());
    let third = table([&halves()[..], &[steady(), entry("203.0.113.0/24", "bas-3")]].concat());
    commit(&mut store, 0, &Table::default(), &first).await.unwrap();
    commit(&mut store, 10, &first, &second).await.unwrap();
    commit(&mut store, 20, &second, &third).await.unwrap();
    let ended = run("192.0.2.0/24", "bas-1", 0, Some(10));
    let (same, other) = (run("192.0.2.0/25", "bas-1", 10, None), run("192.0.2.128/25", "bas-2", 10, None));
    assert_eq!(runs(&mut store, 5).await, [ended, same, other]);
    assert_eq!(runs(&mut store, 10).await, []);
}

#[tokio::test]
async fn a_clock_that_steps_does_not_shorten_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let lost = entry("192.0.2.0/24", "bas-1");
    let steady = entry("198.51.100.0/24", "bas-1");
    let both = table(vec![lost, steady.clone()]);
    let one = table(vec![steady]);
    commit(&mut store, 100, &Table::default(), &both).await.unwrap();
    // Dated a year ahead, then by a clock that was set right, then one from 1970 or so.
    let ahead = table(vec![both.entries()[0].clone(), both.entries()[1].clone(), entry("10.0.0.1", "x")]);
    commit(&mut store, 31_536_000, &both, &ahead).await.unwrap();
    commit(&mut store, 120, &ahead, &both).await.unwrap();
    commit(&mut store, -1_900_000_000, &both, &one).await.unwrap();
    // The newest is dated before the window: what is dated in it still counts.
    assert_eq!(store.generation_at(at(110)).await.unwrap(), 1);
    commit(&mut store, 140, &one, &table(vec![])).await.unwrap();
    assert_eq!(store.generation_at(at(130)).await.unwrap(), 4);
    // 1970 lies within the window by its place between the generations, not by its date:
    // the search ends at the first generation that is dated after the window's start.
    assert_eq!(store.generation_at(at(110)).await.unwrap(), 2);
    let found = runs(&mut store, 110).await;
    let lost: Vec<_> = found.iter().filter(|run| run.range == range("192.0.2.0/24")).collect();
    assert_eq!(lost.len(), 1);
    assert!(lost[0].from <= lost[0].to.unwrap());
    for (generation, wanted) in [(1, &both), (2, &ahead), (3, &both), (4, &one)] {
        assert_eq!(&store.table_at(generation).await.unwrap().table, wanted);
    }
}

#[tokio::test]
async fn pruning_keeps_the_window_and_so_many_generations_and_what_is_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    let tables: Vec<Table> = (0..10)
        .map(|n| table(vec![entry(&format!("192.0.2.{n}"), "bas-1"), entry("10.0.0.0/8", "bas-1")]))
        .collect();
    let mut before = Table::default();
    for (second, after) in (1..).zip(&tables) {
        let edges = groups(&[("bas-1", if second % 2 == 0 { &["centre"] } else { &["gz-01"] })]);
        commit_all(&mut store, second, &difference(&before, after), Some(&edges), &[]).await.unwrap();
        before = after.clone();
    }
    assert_eq!(store.prune(at(4), 100).await.unwrap().oldest, 0);
    // Generation 4 was the newest at second 4; it and the six after it stay.
    let pruned = store.prune(at(4), 2).await.unwrap();
    assert_eq!((pruned.oldest, pruned.entries), (4, 3));
    assert_eq!(store.prune(at(99), 3).await.unwrap().oldest, 8);
    for (generation, wanted) in (1u64..).zip(&tables) {
        let past = store.table_at(generation).await;
        if generation < 8 {
            assert_eq!(
                past.unwrap_err().to_string(),
                format!("generation {generation} is not kept: there are 8 to 10")
            );
        } else {
            let past = past.unwrap();
            assert_eq!((&past.table, past.groups.groups.len()), (wanted, 1));
        }
    }
    assert_eq!(store.changes_between(7, 10).await.unwrap_err().kind(), "no-generation");
    let numbers: Vec<u64> = store.generations(99).await.unwrap().iter().map(|g| g.number).collect();
    assert_eq!(numbers, [10, 9, 8]);
    // When the steady entry began is still known.
    let steady = store.history(&Topic::Range(range("10.0.0.0/8"))).await.unwrap();
    assert_eq!(
        steady.iter().map(|kept| (kept.from, kept.began, kept.to)).collect::<Vec<_>>(),
        [(1, at(1), None)]
    );
    store.close().await.unwrap();

    let raw = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut raw = sqlx::ConnectOptions::connect(&raw).await.unwrap();
    sqlx::query("INSERT INTO pin VALUES (1, 'freeze', 9, 'somebody', '', 0, 0, 9, 9223372036854775807)")
        .execute(&mut raw)
        .await
        .unwrap();
    sqlx::Connection::close(raw).await.unwrap();
    let mut store = open(&path).await;
    assert_eq!(store.prune(at(99), 1).await.unwrap().oldest, 9);
}

#[tokio::test]
async fn a_backup_is_a_store_with_the_same_contents() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let wanted = table(odd_entries());
    commit(&mut store, 0, &Table::default(), &wanted).await.unwrap();
    let copy = folder.path().join("copy.db");
    std::fs::write(&copy, "an older backup").unwrap();
    store.backup(&copy).await.unwrap();
    let mut second = Store::open(&copy, Settings::default()).await.unwrap();
    assert_eq!(second.session(), store.session());
    assert_eq!(second.load().await.unwrap().table, wanted);
    let nowhere = folder.path().join("no/such/copy.db");
    store.backup(&nowhere).await.unwrap_err();
    // The store itself is none the worse.
    assert_eq!(store.load().await.unwrap().table, wanted);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_generation_and_every_step_between_two_is_what_was_committed(
        tables in proptest::collection::vec(any_table(), 1..7)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(compare(&tables));
    }
}

async fn compare(tables: &[Table]) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    // By generation: 0 is the empty table, and equal neighbours make none.
    let mut kept = vec![Table::default()];
    let mut told = Vec::new();
    for (second, after) in (1..).zip(tables) {
        let before = kept.last().unwrap().clone();
        let made = commit(&mut store, second, &before, after).await.unwrap();
        assert_eq!(made.made, *after != before);
        if made.made {
            told.push(info(kept.len() as u64, second, &difference(&before, after), after));
            kept.push(after.clone());
        }
        assert_eq!(made.generation, kept.len() as u64 - 1);
        assert_eq!(store.load().await.unwrap().table, *after);
    }
    told.reverse();
    assert_eq!(store.generations(99).await.unwrap(), told);
    for (a, from) in (0u64..).zip(&kept) {
        assert_eq!(store.table_at(a).await.unwrap().table, *from);
        for (b, to) in (0u64..).zip(&kept) {
            let changes = store.changes_between(a, b).await.unwrap();
            assert_eq!(changes.len(), difference(from, to).len(), "from {a} to {b}");
            assert_eq!(applied(from, &changes), *to, "from {a} to {b}");
        }
    }
}

fn info(number: u64, second: i64, changes: &[Change], after: &Table) -> Generation {
    let count = |of: fn(&Change) -> bool| changes.iter().filter(|c| of(c)).count() as u64;
    Generation {
        number,
        committed: at(second),
        entries: after.entries().len() as u64,
        added: count(|c| matches!(c, Change::Added(_))),
        removed: count(|c| matches!(c, Change::Removed(_))),
        altered: count(|c| matches!(c, Change::Altered { .. })),
        groups: false,
    }
}
