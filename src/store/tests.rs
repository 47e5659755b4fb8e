//! What needs the inside: migrations that are still to come, and a disk that ends early.

use std::path::Path;

use jiff::Timestamp;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, ConnectOptions, SqlSafeStr};

use super::*;
use crate::address::{Family, Range};
use crate::table::{Change, Class, Entry, GuardMemory, PoolName, Table};

fn entries(count: u32) -> Vec<Entry> {
    (0..count)
        .map(|n| Entry {
            space: Name::from("internet"),
            range: Range::from_bits(Family::V4, u128::from(n * 2), u128::from(n * 2)).unwrap(),
            owner: Name::from("bas-1"),
            bas: Some(Name::from("bas-1")),
            pool: PoolName::new(b"pool"),
            vrf: Name::from(""),
            class: Class::Fresh,
        })
        .collect()
}

async fn add(store: &mut Store, entries: &[Entry]) -> Result<Committed, StoreError> {
    let changes: Vec<Change> = entries.iter().cloned().map(Change::Added).collect();
    let guard = GuardMemory::default();
    let at = Timestamp::UNIX_EPOCH;
    let batch = Commit {
        at,
        changes: &changes,
        groups: None,
        memories: &[],
        guard: &guard,
        filled: true,
        steering: None,
        acts: Acts::default(),
    };
    store.commit(batch).await
}

/// The migrations, and after them one more.
fn with_a_later_one(sql: &'static str) -> Migrator {
    let mut all: Vec<Migration> = open::MIGRATIONS.iter().cloned().collect();
    let last = all.iter().map(|migration| migration.version).max().unwrap();
    let later = Migration::new(last + 1, "later".into(), MigrationType::Simple, sql.into_sql_str(), false);
    all.push(later);
    Migrator::with_migrations(all)
}

async fn open_with(path: &Path, migrations: &Migrator) -> Result<Store, StoreError> {
    Store::open_with(path, Settings::default(), migrations).await
}

#[tokio::test]
async fn a_migration_of_an_existing_database_keeps_a_copy_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    add(&mut store, &entries(3)).await.unwrap();
    let session = store.session();
    store.close().await.unwrap();

    let later = with_a_later_one("CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT");
    let mut store = open_with(&path, &later).await.unwrap();
    assert_eq!(store.session(), session);
    assert_eq!(store.load().await.unwrap().table.entries(), entries(3));
    store.close().await.unwrap();
    // The next start has nothing to do and makes no copy.
    let copy = beside(&path, ".before-0005");
    let made = std::fs::metadata(&copy).unwrap().modified().unwrap();
    open_with(&path, &later).await.unwrap().close().await.unwrap();
    assert_eq!(std::fs::metadata(&copy).unwrap().modified().unwrap(), made);

    // The older program refuses the database, and takes the copy.
    let error = Store::open(&path, Settings::default()).await.unwrap_err();
    assert_eq!(error.kind(), "newer");
    let mut older = Store::open(&copy, Settings::default()).await.unwrap();
    assert_eq!(older.session(), session);
    assert_eq!(older.load().await.unwrap().table.entries(), entries(3));
}

#[tokio::test]
async fn a_migration_that_fails_leaves_the_database_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    add(&mut store, &entries(3)).await.unwrap();
    store.close().await.unwrap();
    let broken = with_a_later_one("DELETE FROM entry; INSERT INTO nowhere VALUES (1)");
    assert_eq!(open_with(&path, &broken).await.unwrap_err().kind(), "sql");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    assert_eq!(store.load().await.unwrap().table.entries(), entries(3));
}

#[tokio::test]
async fn a_reader_makes_no_migration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let none = Migrator::with_migrations(Vec::new());
    // As far as a program without our migrations would have come.
    let mut conn = open::writer(&path, Settings::default(), &none).await.unwrap();
    sqlx::query("CREATE TABLE earlier (id INTEGER)").execute(&mut conn).await.unwrap();
    sqlx::Connection::close(conn).await.unwrap();
    let error = Reader::open(&path, Settings::default()).await.unwrap_err();
    assert_eq!(error.kind(), "older");
    Store::open(&path, Settings::default()).await.unwrap();
}

#[tokio::test]
async fn a_disk_that_ends_in_the_middle_of_a_commit_leaves_the_old_generation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    let all = entries(6000);
    let (first, rest) = all.split_at(5);
    add(&mut store, first).await.unwrap();
    let cap = |pages: u32| AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
    let conn = &mut store.writer.as_mut().unwrap().conn;
    sqlx::query(cap(60)).execute(conn).await.unwrap();
    for _ in 0..3 {
        let error = add(&mut store, rest).await.unwrap_err();
        assert_eq!(error.kind(), "full");
        let loaded = store.load().await.unwrap();
        assert_eq!(loaded.generation, 1);
        assert_eq!(loaded.table.entries(), first);
    }
    let conn = &mut store.writer.as_mut().unwrap().conn;
    sqlx::query(cap(1 << 30)).execute(conn).await.unwrap();
    assert_eq!(add(&mut store, rest).await.unwrap().generation, 2);
    assert_eq!(store.load().await.unwrap().table.entries(), all);
}

#[tokio::test]
async fn a_commit_is_on_the_disk_when_it_returns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    let conn = &mut store.writer.as_mut().unwrap().conn;
    for (pragma, wanted) in [("synchronous", 2i64), ("foreign_keys", 1), ("temp_store", 2)] {
        let sql = AssertSqlSafe(format!("PRAGMA {pragma}"));
        let found: i64 = sqlx::query_scalar(sql).fetch_one(&mut *conn).await.unwrap();
        assert_eq!(found, wanted, "{pragma}");
    }
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *conn).await.unwrap();
    assert_eq!(mode, "wal");
}

/// The state at a generation is to be one search by the clustered key, not a scan.
#[tokio::test]
async fn the_table_at_a_generation_is_an_indexed_query() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    Store::open(&path, Settings::default()).await.unwrap().close().await.unwrap();
    let mut conn = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    for (sql, wanted) in [
        (entries::PAGE_OF_ENTRIES, "SEARCH entry USING PRIMARY KEY ((to_gen,space,family,first)>"),
        (entries::PAGE_OF_ENDED, "SEARCH ended USING PRIMARY KEY ((to_gen,space,family,first)>"),
        (noted::END, "SEARCH entry USING PRIMARY KEY (to_gen=? AND space=? AND family=? AND first=?)"),
        (groups::GROUPS_AT, "SEARCH edge_group USING PRIMARY KEY (to_gen>?)"),
    ] {
        let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(sql).fetch_all(&mut conn).await.unwrap();
        assert!(plan.iter().any(|step| step.3.starts_with(wanted)), "{plan:?}");
        assert!(!plan.iter().any(|step| step.3.contains("TEMP B-TREE")), "{plan:?}");
    }
}

#[test]
fn what_it_does_can_be_spawned() {
    fn spawnable<T: Send>(_: &T) {}
    #[allow(unused, reason = "compiling is the test")]
    async fn uses(mut store: Store, mut reader: Reader, batch: Commit<'_>, name: &Name, memory: &Memory) {
        spawnable(&Store::open(Path::new("x"), Settings::default()));
        spawnable(&store.load());
        spawnable(&store.commit(batch));
        spawnable(&store.flush(&[(name, memory)], &[]));
        spawnable(&store.prune(Timestamp::UNIX_EPOCH, 1));
        spawnable(&store.table_at(1));
        spawnable(&store.changes_between(1, 2));
        spawnable(&store.runs_ended_since(Timestamp::UNIX_EPOCH));
        spawnable(&store.backup(Path::new("x")));
        spawnable(&Reader::open(Path::new("x"), Settings::default()));
        spawnable(&reader.load());
        spawnable(&store.close());
    }
    let _ = uses;
    // A table of a million entries goes from the store to whoever asked.
    fn sendable<T: Send + Sync>() {}
    sendable::<Loaded>();
    sendable::<Table>();
}

/// Entries of many kinds: more than a page of them, in two spaces and both families.
fn mixed() -> Vec<Entry> {
    let kind = |n: u32| Entry {
        space: Name::from(if n.is_multiple_of(7) { "iptv" } else { "internet" }),
        range: match n % 3 {
            0 => Range::from_bits(Family::V6, u128::from(n) << 64, (u128::from(n) << 64) + 9).unwrap(),
            _ => Range::from_bits(Family::V4, u128::from(n) * 4, u128::from(n) * 4 + 2).unwrap(),
        },
        owner: Name::from(format!("bas-{}", n % 5)),
        bas: (!n.is_multiple_of(11))
            .then(|| Name::from(format!("bas-{}{}", n % 5, if n.is_multiple_of(13) { "b" } else { "" }))),
        pool: match n % 17 {
            0 => PoolName::decoded(b"\xb9\xe3", "\u{5e7f}"),
            1 => PoolName::new(b""),
            other => PoolName::new(format!("pool,{other}").as_bytes()),
        },
        vrf: Name::from(if n.is_multiple_of(19) { "v" } else { "" }),
        class: Class::from_number((n % 4) as u8).unwrap(),
    };
    (0..30_000).map(kind).collect()
}

#[tokio::test]
async fn who_owns_what_is_what_the_entries_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    add(&mut store, &mixed()).await.unwrap();
    store.close().await.unwrap();
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    let loaded = reader.load_table().await.unwrap();
    for space in ["internet", "iptv", "nowhere"] {
        let owned = reader.load_owned(space).await.unwrap().unwrap();
        let of_entry = |entry: &Entry| {
            let fill = entry.class == Class::Fill;
            (entry.range, Owner { name: entry.owner.clone(), bas: entry.bas.clone(), fill })
        };
        let entries = loaded.table.entries().iter().filter(|entry| &*entry.space == space);
        let rows = owned.ranges.iter().map(|(range, owner)| (*range, owned.owners[*owner as usize].clone()));
        assert!(entries.map(of_entry).eq(rows), "{space}");
        assert_eq!((owned.generation, owned.filled, owned.session), (1, true, loaded.session));
    }
}

/// What a reader says of the table, and of who owns what, after a change from outside.
async fn after(harm: &'static str) -> [Option<&'static str>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    add(&mut store, &mixed()).await.unwrap();
    let mut writer = store.take().await.unwrap();
    sqlx::query(AssertSqlSafe(harm)).execute(&mut writer.conn).await.unwrap();
    store.writer = Some(writer);
    store.close().await.unwrap();
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    let table = reader.load_table().await.map(drop).err();
    let owned = reader.load_owned("internet").await.map(drop).err();
    [table, owned].map(|error| error.map(|error| error.kind()))
}

#[tokio::test]
async fn a_table_that_was_altered_is_damaged_whatever_is_asked_of_it() {
    for harm in [
        "DELETE FROM entry WHERE family = 6",
        "UPDATE entry SET last = x'00000000000000000000000000010000' WHERE family = 4",
        "UPDATE entry SET owner = 4711",
        "UPDATE entry SET owner = -1",
        "UPDATE entry SET bas = -1 WHERE bas = owner",
        "UPDATE entry SET bas = 4711 WHERE bas = owner",
        "UPDATE entry SET owner = 16777216 + owner",
        "UPDATE entry SET owner = (SELECT id FROM name WHERE text = 'bas-1') \
         WHERE owner = (SELECT id FROM name WHERE text = 'bas-2')",
        "UPDATE entry SET class = 0 WHERE class > 0",
        "UPDATE name SET text = 'another' WHERE text = 'bas-3'",
        "UPDATE name SET text = 'another' WHERE text = 'iptv'",
    ] {
        assert_eq!(after(harm).await, [Some("damaged"); 2], "{harm}");
    }
    // What is not asked is not looked at.
    for harm in [
        "UPDATE entry SET vrf = owner WHERE vrf <> owner",
        "UPDATE entry SET pool = x'00' WHERE space = (SELECT id FROM name WHERE text = 'iptv')",
    ] {
        assert_eq!(after(harm).await, [Some("damaged"), None], "{harm}");
    }
}

#[tokio::test]
async fn who_owns_what_of_an_older_generation_is_told_after_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut store = Store::open(&path, Settings::default()).await.unwrap();
    let all = mixed();
    let (first, next) = all.split_at(29_000);
    add(&mut store, first).await.unwrap();
    let mut writer = store.take().await.unwrap();
    sqlx::query("UPDATE generation SET owned = NULL").execute(&mut writer.conn).await.unwrap();
    // As a start would find it.
    writer.known.newest = None;
    store.writer = Some(writer);
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    assert!(reader.load_owned("internet").await.unwrap().is_none());
    add(&mut store, next).await.unwrap();
    let owned = reader.load_owned("internet").await.unwrap().unwrap();
    let entries = all.iter().filter(|entry| &*entry.space == "internet");
    assert_eq!((owned.generation, owned.ranges.len()), (2, entries.count()));
}
