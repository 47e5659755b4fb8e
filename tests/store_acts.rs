//! The store keeps what operators did, what became of entries, and what was counted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store_support;

use std::collections::BTreeMap;

use poolsync::store::{Acts, Commit, Committed, Reader, Repin, Settings, Shown, Store, Topic};
use poolsync::table::{
    Act, ActKind, Drain, Drains, GroupEdge, GuardMemory, Listed, Memory, Name, Pin, PinKind, PoolName, Row,
    Standing, Table, Token, Usage,
};
use store_support::*;

async fn act(store: &mut Store, second: i64, acts: Acts<'_>) -> Committed {
    let guard = GuardMemory::default();
    let commit = Commit {
        at: at(second),
        changes: &[],
        groups: None,
        memories: &[],
        guard: &guard,
        filled: true,
        steering: None,
        acts,
    };
    store.commit(commit).await.unwrap()
}

fn pin(generation: u64) -> Pin {
    Pin {
        kind: PinKind::Rollback,
        generation,
        by: Name::from("alice, uid 0 (root)"),
        reason: Name::from("wrong \u{0} pool"),
        since: at(10),
        expires: at(86_410),
    }
}

fn tables() -> [Table; 4] {
    let line = |n: usize| entry(&format!("192.0.2.{n}"), "bas-1");
    [0, 1, 2, 3].map(|n| table((0..=n).map(line).collect()))
}

/// Generations 1 to 4, at seconds 1 to 4.
async fn four(store: &mut Store) {
    let mut before = Table::default();
    for (second, after) in (1..).zip(&tables()) {
        commit(store, second, &before, after).await.unwrap();
        before = after.clone();
    }
}

#[tokio::test]
async fn a_pin_shows_an_earlier_generation_and_leaves_the_table_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    four(&mut store).await;
    let shown = Some(Shown { added: 0, removed: 2, altered: 0 });
    let made = act(&mut store, 10, Acts { pin: Some(Repin::Set(&pin(2))), shown, ..Acts::default() }).await;
    assert_eq!((made.generation, made.made), (5, true));
    // A poll beneath it.
    let five =
        table(tables()[3].entries().iter().cloned().chain([entry("198.51.100.0/24", "bas-2")]).collect());
    assert_eq!(commit(&mut store, 11, &tables()[3], &five).await.unwrap().generation, 6);

    store.close().await.unwrap();
    let mut store = open(&path).await;
    let loaded = store.load().await.unwrap();
    assert_eq!((loaded.generation, &loaded.table), (6, &five));
    assert_eq!(loaded.pinned, Some((pin(2), tables()[1].clone())));
    assert_eq!(loaded.shown, Some(1));
    for (generation, wanted, of) in [(4, &tables()[3], 4), (5, &tables()[1], 2), (6, &tables()[1], 2)] {
        let past = store.table_at(generation).await.unwrap();
        assert_eq!((&past.table, past.ranges_of), (wanted, of));
    }
    assert_eq!(store.changes_between(5, 6).await.unwrap(), []);
    assert_eq!(store.changes_between(4, 6).await.unwrap().len(), 2);
    let fifth = store.generations(2).await.unwrap()[1];
    assert_eq!((fifth.number, fifth.entries, fifth.added, fifth.removed), (5, 4, 0, 2));
    // The guard's window is that of the table, not of what is published.
    assert_eq!(store.runs_ended_since(at(9)).await.unwrap(), []);

    // Released with a generation of its own; before it, what was pinned is still told.
    let shown = Some(Shown { added: 3, removed: 0, altered: 0 });
    let made = act(&mut store, 12, Acts { pin: Some(Repin::Release), shown, ..Acts::default() }).await;
    assert_eq!(made.generation, 7);
    assert_eq!(store.table_at(6).await.unwrap().ranges_of, 2);
    assert_eq!(store.table_at(7).await.unwrap().table, five);
    assert_eq!(store.load().await.unwrap().pinned, None);
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    assert_eq!(reader.table_at(6).await.unwrap().ranges_of, 2);
}

#[tokio::test]
async fn one_pin_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    four(&mut store).await;
    // A freeze changes nothing that is published, and makes no generation.
    let freeze = Pin { kind: PinKind::Freeze, ..pin(4) };
    let made = act(&mut store, 10, Acts { pin: Some(Repin::Set(&freeze)), ..Acts::default() }).await;
    assert_eq!((made.generation, made.made), (4, false));
    let shown = Some(Shown { removed: 3, ..Shown::default() });
    act(&mut store, 11, Acts { pin: Some(Repin::Set(&pin(1))), shown, ..Acts::default() }).await;
    assert_eq!(store.load().await.unwrap().pinned.map(|(pin, _)| pin), Some(pin(1)));
    let of = |past: poolsync::store::Past| past.ranges_of;
    assert_eq!(of(store.table_at(4).await.unwrap()), 4);
    assert_eq!(of(store.table_at(5).await.unwrap()), 1);
    // What is pinned stays, however old it is.
    assert_eq!(store.prune(at(99), 1).await.unwrap().oldest, 1);
    let shown = Some(Shown { added: 3, ..Shown::default() });
    act(&mut store, 12, Acts { pin: Some(Repin::Release), shown, ..Acts::default() }).await;
    assert_eq!(store.prune(at(99), 2).await.unwrap().oldest, 5);
    // And goes, once nothing is pinned any more: then what 5 showed cannot be told.
    assert_eq!(
        store.table_at(5).await.unwrap_err().to_string(),
        "generation 1 is not kept: there are 5 to 6"
    );
    assert_eq!(of(store.table_at(6).await.unwrap()), 6);
}

#[tokio::test]
async fn drains_and_acts_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    four(&mut store).await;
    let drain = Drain { by: Name::from("uid 7"), reason: Name::from("纤维"), since: at(20) };
    let edge = |name: &str, weight| GroupEdge { name: Name::from(name), weight };
    let drains = Drains {
        edges: BTreeMap::from([(Name::from("gz-01"), drain.clone()), (Name::from("gone"), drain)]),
        whole: BTreeMap::from([(
            Token::new("g-1").unwrap(),
            vec![edge("gz-01", 3), edge("centre", u32::MAX)],
        )]),
    };
    let done: Vec<Act> = [ActKind::Drain, ActKind::Restore, ActKind::Reject]
        .map(|kind| Act {
            at: at(20),
            kind,
            by: Name::from("uid 7"),
            reason: Name::from(""),
            detail: format!("{kind:?} 'x'"),
        })
        .to_vec();
    let made = act(&mut store, 20, Acts { drains: Some(&drains), done: &done, ..Acts::default() }).await;
    assert!(!made.made, "an edge that is in no group changes nothing");
    store.close().await.unwrap();
    let mut store = open(&path).await;
    assert_eq!(store.load().await.unwrap().drains, drains);
    let found = store.acts_since(4).await.unwrap();
    assert_eq!(found.iter().map(|one| one.act.clone()).collect::<Vec<_>>(), done);
    assert!(found.iter().all(|one| one.generation == 4));
    assert_eq!(store.acts_since(5).await.unwrap(), []);
    act(&mut store, 21, Acts { drains: Some(&Drains::default()), ..Acts::default() }).await;
    assert_eq!(store.load().await.unwrap().drains, Drains::default());
}

#[tokio::test]
async fn lifetimes_are_found_by_address_and_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    let mut six = entry("2001:db8::/48", "bas-1");
    six.bas = Some(Name::from("member"));
    let one = table(vec![entry("10.0.0.0/24", "bas-1"), entry("10.0.1.0/24", "bas-2"), six]);
    let two = table(vec![entry("10.0.0.0/25", "bas-1"), entry("10.0.1.0/24", "bas-2")]);
    commit(&mut store, 1, &Table::default(), &one).await.unwrap();
    commit(&mut store, 2, &one, &two).await.unwrap();
    let told = |lifetimes: Vec<poolsync::store::Lifetime>| -> Vec<(String, u64, Option<u64>)> {
        lifetimes.iter().map(|l| (l.entry.range.to_string(), l.from, l.to)).collect()
    };
    let of = |text: &str| Topic::Range(range(text));
    let whole = ("10.0.0.0-10.0.0.255".to_owned(), 1, Some(2));
    let half = ("10.0.0.0-10.0.0.127".to_owned(), 2, None);
    assert_eq!(told(store.history(&of("10.0.0.200")).await.unwrap()), std::slice::from_ref(&whole));
    assert_eq!(told(store.history(&of("10.0.0.0/30")).await.unwrap()), [half.clone(), whole.clone()]);
    assert_eq!(store.history(&of("10.0.0.0/8")).await.unwrap().len(), 3);
    assert_eq!(store.history(&of("::/0")).await.unwrap().len(), 1);
    let found = store.history(&Topic::Name(Name::from("bas-1"))).await.unwrap();
    assert_eq!((found.len(), found[0].began, found[1].ended), (3, at(2), Some(at(2))));
    assert_eq!(store.history(&Topic::Name(Name::from("member"))).await.unwrap().len(), 1);
    assert_eq!(store.history(&Topic::Name(Name::from("nobody"))).await.unwrap(), []);
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    assert_eq!(told(reader.history(&of("10.0.0.200")).await.unwrap()), [whole]);
}

fn listed(pool: &[u8], used: u64) -> Listed {
    Listed {
        table: Name::from("pools"),
        row: Row { context: Name::from(""), index: [1].into() },
        space: None,
        vrf: Name::from("v"),
        pool: PoolName::new(pool),
        range: range("10.0.0.0/24"),
        size: Some(u64::MAX),
        used: Some(used),
        standing: Standing::Listed,
    }
}

#[tokio::test]
async fn use_is_the_hours_most_and_the_pools_last_and_days_peak() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let (bas, memory) = (Name::from("bas-1"), Memory::default());
    // 1_900_000_000 is 17:46:40 on day 21_990: seconds 0 and 100 lie within one hour.
    for (second, used) in [(0, 50), (100, 20), (3600, 30), (86_400, 5)] {
        let mut usage = Usage::default();
        usage.note(at(second), &vec![listed(&[0xff, 0x01], used), listed(b"b", 1)].into());
        store.flush(&[(&bas, &memory)], &[(&bas, &usage)]).await.unwrap();
    }
    let found = store.used(&bas).await.unwrap();
    let hours: Vec<_> = found.hours.iter().map(|hour| (hour.hour - 527_777, hour.used)).collect();
    assert_eq!(hours, [(0, 51), (1, 31), (24, 6)]);
    assert_eq!(found.hours[0].size, i64::MAX as u64, "more than can be kept is the most that can");
    let pool = &found.pools[1];
    assert_eq!(
        (pool.pool.raw(), pool.used, pool.peak, pool.day, pool.at),
        (&[0xff, 0x01][..], 5, 5, 21_991, at(86_400))
    );
    assert_eq!(store.used(&Name::from("nobody")).await.unwrap(), Default::default());
    // What is pruned goes by its own age; what the BAS is forgotten with, goes with it.
    store.prune(at(700), 1).await.unwrap();
    assert_eq!(store.used(&bas).await.unwrap().hours.len(), 3);
    store.prune(at(7200), 1).await.unwrap();
    assert_eq!(store.used(&bas).await.unwrap().hours.len(), 1);
    store.forget(&bas).await.unwrap();
    assert_eq!(store.used(&bas).await.unwrap(), Default::default());
    // Of a BAS that is not remembered nothing is written, and nothing half.
    let mut usage = Usage::default();
    usage.note(at(0), &vec![listed(b"b", 1)].into());
    store.flush(&[], &[(&bas, &usage)]).await.unwrap_err();
    store.flush(&[(&bas, &memory)], &[(&bas, &usage)]).await.unwrap();
    assert_eq!(store.used(&bas).await.unwrap().pools.len(), 1);
}
