//! Small changes are noted beside the table, and nobody can tell: whatever is asked, a store
//! that notes them answers as one that does not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store_support;

use std::path::Path;

use poolsync::store::{Lifetime, Owned, Reader, Settings, Store, Topic};
use poolsync::table::{Change, Class, Entry, Name, PoolName, Run, Table};
use proptest::prelude::*;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use store_support::*;

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

/// How many rows each table has: the table itself, and the notes of what began and ended.
async fn rows(path: &Path) -> (i64, i64, i64) {
    let sql =
        "SELECT (SELECT count(*) FROM entry), (SELECT count(*) FROM begun), (SELECT count(*) FROM ended)";
    sqlx::query_as(sql).fetch_one(&mut raw(path).await).await.unwrap()
}

fn pair(owner: &str) -> [Entry; 2] {
    [entry("192.0.2.0/24", owner), entry("198.51.100.0/24", "steady")]
}

fn one(owner: &str) -> Table {
    table(pair(owner).to_vec())
}

#[tokio::test]
async fn what_is_small_is_noted_and_entered_when_there_is_much_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    // Four rows are a large change where eight may be noted; two are a small one.
    let mut store = open_noting(&path, 8).await;
    let large = table((0..4).map(|n| entry(&format!("10.0.{n}.0/24"), "x")).collect());
    commit(&mut store, 1, &Table::default(), &large).await.unwrap();
    assert_eq!(rows(&path).await, (4, 0, 0));
    let mut before = large;
    let mut seen = Vec::new();
    for second in 2..9 {
        let mut entries = before.entries().to_vec();
        entries[(second % 2) as usize].owner = Name::from(format!("owner-{second}"));
        let after = table(entries);
        commit(&mut store, second, &before, &after).await.unwrap();
        assert_eq!(store.load().await.unwrap().table, after);
        seen.push(rows(&path).await);
        before = after;
    }
    // Each ends one row and begins one; the fifth would be nine and ten, so that the eight are
    // entered before it: two of the four that began are valid, and the four that ended stay.
    let noted = [(4, 1, 1), (4, 2, 2), (4, 3, 3), (4, 4, 4), (8, 1, 1), (8, 2, 2), (8, 3, 3)];
    assert_eq!(seen, noted);
    // A large change enters what is noted first, dropping history too.
    commit(&mut store, 9, &before, &Table::default()).await.unwrap();
    assert_eq!(rows(&path).await, (11, 0, 0));
    for second in 10..12 {
        let after = one(&format!("bas-{second}"));
        commit(&mut store, second, &Table::default(), &after).await.unwrap();
        commit(&mut store, second, &after, &Table::default()).await.unwrap();
    }
    assert_eq!(rows(&path).await, (11, 4, 4));
    assert_eq!(store.prune(at(99), 1).await.unwrap().entries, 15);
    assert_eq!(rows(&path).await, (0, 0, 0));
    // The next owner goes on from what the last one noted.
    commit(&mut store, 20, &Table::default(), &one("bas-1")).await.unwrap();
    drop(store);
    let mut store = open_noting(&path, 8).await;
    commit(&mut store, 21, &one("bas-1"), &one("bas-2")).await.unwrap();
    assert_eq!(rows(&path).await, (0, 3, 1));
    store.close().await.unwrap();
    // And one that notes nothing enters it with its first change.
    let mut store = open(&path).await;
    assert_eq!(store.load().await.unwrap().table, one("bas-2"));
    commit(&mut store, 22, &one("bas-2"), &one("bas-3")).await.unwrap();
    assert_eq!(rows(&path).await, (4, 0, 0));
    assert_eq!(store.load().await.unwrap().table, one("bas-3"));
}

#[tokio::test]
async fn small_tables_are_written_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let settings = Settings { noted_from: 2, ..Settings::default() };
    let mut store = Store::open(&path, settings).await.unwrap();
    commit(&mut store, 1, &Table::default(), &one("bas-1")).await.unwrap();
    assert_eq!(rows(&path).await, (2, 0, 0));
    commit(&mut store, 2, &one("bas-1"), &one("bas-2")).await.unwrap();
    assert_eq!(rows(&path).await, (2, 1, 1));
    commit(&mut store, 3, &one("bas-2"), &Table::default()).await.unwrap();
    assert_eq!(rows(&path).await, (2, 1, 3));
    commit(&mut store, 4, &Table::default(), &one("bas-4")).await.unwrap();
    assert_eq!(rows(&path).await, (5, 0, 0));
    assert_eq!(store.load().await.unwrap().table, one("bas-4"));
}

#[tokio::test]
async fn changes_that_do_not_start_from_what_is_stored_or_noted_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open_noting(&path, 40).await;
    let many: Vec<_> = (0..20).map(|n| entry(&format!("10.0.{n}.0/24"), "x")).collect();
    let stored = table([&many[..], &pair("bas-0")].concat());
    commit(&mut store, 1, &Table::default(), &stored).await.unwrap();
    // Noted: 192.0.2.0/24 was altered, 10.0.0.0/24 went, 10.0.1.0/24 went and came again.
    let lacking = table([&many[2..], &pair("bas-1")].concat());
    commit(&mut store, 2, &stored, &lacking).await.unwrap();
    let now = table([&many[1..], &pair("bas-1")].concat());
    commit(&mut store, 3, &lacking, &now).await.unwrap();
    assert_eq!(rows(&path).await, (22, 2, 3));
    let mut other_pool = entry("192.0.2.0/24", "bas-1");
    other_pool.pool = PoolName::new(b"pool-2");
    let mut other_vrf = entry("10.0.1.0/24", "x");
    other_vrf.vrf = Name::from("corp");
    let mut line = entry("10.0.1.0/24", "x");
    line.class = Class::Fill;
    let altered = |after| Change::Altered { before: entry("192.0.2.0/24", "bas-0"), after };
    let refused = [
        Change::Removed(entry("192.0.2.0/24", "bas-0")),
        Change::Removed(entry("192.0.2.0/25", "bas-1")),
        Change::Removed(other_pool),
        Change::Removed(other_vrf),
        Change::Removed(line),
        altered(entry("192.0.2.0/24", "bas-2")),
        Change::Removed(entry("10.0.0.0/24", "x")),
        Change::Removed(entry("10.0.2.0/24", "y")),
        Change::Removed(entry("10.0.99.0/24", "x")),
        Change::Added(entry("192.0.2.0/28", "bas-2")),
        Change::Added(entry("10.0.1.0/28", "bas-2")),
        Change::Added(entry("10.0.2.0/28", "bas-2")),
        Change::Added(entry("203.0.113.0/25", "bas-4")),
    ];
    for change in refused {
        let wanted = [Change::Added(entry("203.0.113.0/24", "bas-3")), change];
        let error = commit_all(&mut store, 4, &wanted, None, &[]).await.unwrap_err();
        assert_eq!(error.kind(), "out-of-step", "{:?}", wanted[1]);
        let loaded = store.load().await.unwrap();
        assert_eq!((loaded.generation, &loaded.table), (3, &now));
        assert_eq!(rows(&path).await, (22, 2, 3));
    }
    // A claim goes stale without a change; and there is room where something went.
    let mut stale = entry("10.0.1.0/24", "x");
    stale.class = Class::Kept;
    let fitting = [Change::Removed(stale), Change::Added(entry("10.0.0.0/25", "bas-5"))];
    commit_all(&mut store, 5, &fitting, None, &[]).await.unwrap();
    let wanted = table([&many[2..], &pair("bas-1"), &[entry("10.0.0.0/25", "bas-5")]].concat());
    assert_eq!(store.load().await.unwrap().table, wanted);
}

/// Two generations: four entries, then one of them altered and one gone, which is noted.
async fn noted(store: &mut Store) {
    let others = ["10.0.0.0/24", "10.0.1.0/24"].map(|text| entry(text, "x"));
    let first = table([&pair("bas-1")[..], &others].concat());
    let second = table([&pair("bas-2")[..], &others[1..]].concat());
    commit(store, 1, &Table::default(), &first).await.unwrap();
    commit(store, 2, &first, &second).await.unwrap();
}

#[tokio::test]
async fn notes_that_are_not_what_was_committed_are_damage() {
    // Of the table before the notes they tell nothing, but what ended since.
    let of_now = [
        "DELETE FROM begun",
        "DELETE FROM ended",
        "UPDATE begun SET last = x'000000000000000000000000c00002fe' WHERE last = x'000000000000000000000000c00002ff'",
        "UPDATE begun SET owner = vrf",
        "UPDATE begun SET bas = 99",
        "UPDATE begun SET class = 0",
    ];
    for harm in of_now {
        assert_eq!(harmed(harm).await, [Some("damaged"), Some("damaged"), None], "{harm}");
    }
    let of_all = [
        "DELETE FROM entry",
        "UPDATE begun SET first = last, last = first",
        "UPDATE ended SET first = last",
        "INSERT INTO ended SELECT to_gen + 1, space, family, first, last, owner, bas, pool, pool_text, vrf, \
         class, from_gen FROM ended",
        "INSERT INTO begun SELECT space, family, first, last, owner, bas, pool, pool_text, vrf, class, \
         from_gen + 1 FROM begun",
    ];
    for harm in of_all {
        assert_eq!(harmed(harm).await, [Some("damaged"); 3], "{harm}");
    }
    // When an entry began that ended is nothing that the table of now has to know.
    let later = harmed("UPDATE ended SET from_gen = 99").await;
    assert_eq!(later, [None, None, Some("damaged")]);
}

/// What a reader says of the table of now, of who owns it, and of the one before the notes.
async fn harmed(harm: &'static str) -> [Option<&'static str>; 3] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open_noting(&path, 12).await;
    noted(&mut store).await;
    assert_eq!(rows(&path).await, (4, 1, 2));
    store.close().await.unwrap();
    let mut conn = raw(&path).await;
    sqlx::query(harm).execute(&mut conn).await.unwrap();
    sqlx::Connection::close(conn).await.unwrap();
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    let told = [
        reader.load_table().await.err(),
        reader.load_owned("internet").await.err(),
        reader.table_at(1).await.err(),
    ];
    told.map(|error| error.map(|error| error.kind()))
}

#[tokio::test]
async fn notes_are_not_entered_into_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open_noting(&path, 12).await;
    noted(&mut store).await;
    let mut conn = raw(&path).await;
    sqlx::query("DELETE FROM entry WHERE first = x'000000000000000000000000c0000200'")
        .execute(&mut conn)
        .await
        .unwrap();
    let error = store.prune(at(99), 1).await.unwrap_err();
    assert_eq!(error.kind(), "damaged");
    assert_eq!(rows(&path).await, (3, 1, 2), "nothing is lost on top of it");
}

/// All that can be asked of a store that concerns entries.
#[derive(Debug, PartialEq)]
struct Told {
    now: Table,
    past: Vec<Table>,
    changes: Vec<Vec<Change>>,
    history: Vec<Vec<Lifetime>>,
    runs: Vec<Vec<Run>>,
    owned: Vec<String>,
}

fn owned(owned: Option<Owned>) -> String {
    let owned = owned.unwrap();
    let whose = owned.ranges.iter().map(|(range, owner)| (range, &owned.owners[*owner as usize]));
    format!("{} {:?}", owned.generation, whose.collect::<Vec<_>>())
}

async fn told(store: &mut Store, path: &Path, oldest: u64, newest: u64) -> Told {
    let mut reader = Reader::open(path, Settings::default()).await.unwrap();
    let now = store.load().await.unwrap().table;
    assert_eq!(reader.load_table().await.unwrap().table, now);
    let (mut past, mut changes, mut history, mut runs) = (vec![], vec![], vec![], vec![]);
    for a in oldest..=newest {
        past.push(store.table_at(a).await.unwrap().table);
        for b in oldest..=newest {
            changes.push(store.changes_between(a, b).await.unwrap());
        }
        let mut ended = store.runs_ended_since(at(a as i64)).await.unwrap();
        ended.sort_by_key(|run| (run.space.clone(), run.range, run.from, run.to));
        runs.push(ended);
    }
    let ranges = ["0.0.0.0/0", "::/0", "10.0.0.3", "10.0.0.16-10.0.0.40", "2001:db8::20-2001:db8::50"];
    for topic in ranges.map(|text| Topic::Range(range(text))) {
        history.push(store.history(&topic).await.unwrap());
    }
    for topic in ["bas-0", "bas-1", "member"].map(|name| Topic::Name(Name::from(name))) {
        history.push(store.history(&topic).await.unwrap());
    }
    let mut whose = Vec::new();
    for space in ["internet", "iptv"] {
        whose.push(owned(reader.load_owned(space).await.unwrap()));
    }
    Told { now, past, changes, history, runs, owned: whose }
}

/// Entries whose BAS is another than their owner, lines that fill, names that need a text.
fn varied(table: &Table, seed: u8) -> Table {
    let mut entries = table.entries().to_vec();
    for (place, entry) in entries.iter_mut().enumerate() {
        match (place + usize::from(seed)) % 7 {
            0 => entry.bas = None,
            1 => entry.bas = Some(Name::from("member")),
            2 => entry.class = Class::Fill,
            3 => entry.pool = PoolName::decoded(b"\xb9\xe3", "\u{5e7f}"),
            _ => {}
        }
    }
    store_support::table(entries)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nobody_can_tell_whether_changes_are_noted(
        steps in proptest::collection::vec((any_table(), 0u8..4, 0u8..7), 1..9),
        most in 8usize..250,
        slow in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(compare(&steps, most, slow));
    }
}

async fn compare(steps: &[(Table, u8, u8)], most: usize, slow: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (path, plain_path) = (folder.path().join("noted.db"), folder.path().join("plain.db"));
    let (mut noting, mut plain) = (open_noting(&path, most).await, open(&plain_path).await);
    let (mut before, mut newest, mut oldest) = (Table::default(), 0, 0);
    for (second, (after, act, seed)) in (1..).zip(steps) {
        // Few entries change at a time where it goes slowly.
        let kept =
            before.entries().iter().filter(|old| slow && old.range.first_bits() % 3 != u128::from(*act) % 3);
        let mut entries: Vec<_> = kept.cloned().collect();
        let free = |entries: &[Entry], new: &Entry| {
            !entries.iter().any(|old| old.space == new.space && old.range.intersection(new.range).is_some())
        };
        for new in varied(after, *seed).entries() {
            if free(&entries, new) {
                entries.push(new.clone());
            }
        }
        let after = table(entries);
        let made = commit(&mut noting, second, &before, &after).await.unwrap();
        assert_eq!(commit(&mut plain, second, &before, &after).await.unwrap(), made);
        newest = made.generation;
        match act {
            0 => {
                drop(noting);
                noting = open_noting(&path, most).await;
            }
            1 => {
                let pruned = noting.prune(at(second - 2), 2).await.unwrap();
                assert_eq!(plain.prune(at(second - 2), 2).await.unwrap(), pruned);
                oldest = pruned.oldest;
            }
            _ => {}
        }
        before = after;
    }
    let found = told(&mut noting, &path, oldest, newest).await;
    assert_eq!(found.now, before);
    assert_eq!(found, told(&mut plain, &plain_path, oldest, newest).await);
}
