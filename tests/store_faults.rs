//! What happens to the store when something else goes wrong: other owners and writers,
//! files that are not ours or not whole, directories that cannot be written, full disks,
//! and death at any instant.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store_support;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use poolsync::store::{Acts, Commit, Reader, Settings, Store};
use poolsync::table::{Change, Groups, GuardMemory, Memory, Name, Table};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};
use store_support::*;

/// Names the database to the tests below that are run as children of others.
const CHILD: &str = "POOLSYNC_TEST_STORE";

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

async fn raw_sql(path: &Path, sql: &str) {
    let mut conn = raw(path).await;
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

async fn open_error(path: &Path) -> poolsync::store::StoreError {
    Store::open(path, Settings::default()).await.unwrap_err()
}

async fn read_error(path: &Path) -> poolsync::store::StoreError {
    match Reader::open(path, Settings::default()).await {
        Err(error) => error,
        Ok(mut reader) => reader.load().await.unwrap_err(),
    }
}

/// A closed store with generation 1: so many entries, 10.0.0.0/24 and on.
async fn filled_store(path: &Path, entries: u32) -> Table {
    let wanted =
        table((0..entries).map(|n| entry(&format!("10.{}.{}.0/24", n >> 8, n & 255), "bas-1")).collect());
    let mut store = open(path).await;
    commit(&mut store, 0, &Table::default(), &wanted).await.unwrap();
    store.close().await.unwrap();
    wanted
}

#[tokio::test]
async fn a_second_owner_is_refused_and_told_who_the_first_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await;
    let error = open_error(&path).await;
    assert_eq!(error.kind(), "locked");
    assert!(error.to_string().contains(&format!("process {}:", std::process::id())), "{error}");
    // By another name it is the same store.
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(open_error(&link).await.kind(), "locked");
    // Readers need no lock.
    Reader::open(&path, Settings::default()).await.unwrap().load().await.unwrap();
    store.close().await.unwrap();
    open(&path).await;
}

#[tokio::test]
async fn files_that_are_not_ours_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "these are the notes of somebody who mistyped a path\n".repeat(99)).unwrap();
    let other = folder.path().join("other.db");
    let mut conn =
        SqliteConnectOptions::new().filename(&other).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql("CREATE TABLE notes (note TEXT)").execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    let marked = folder.path().join("marked.db");
    let mut conn =
        SqliteConnectOptions::new().filename(&marked).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql("PRAGMA application_id = 7").execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    for path in [text, other, marked] {
        let before = fs::read(&path).unwrap();
        assert_eq!(open_error(&path).await.kind(), "foreign", "{}", path.display());
        assert_eq!(read_error(&path).await.kind(), "foreign", "{}", path.display());
        assert!(fs::read(&path).unwrap() == before, "{} was written to", path.display());
        assert!(!beside(&path, "-wal").exists());
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[tokio::test]
async fn a_directory_is_no_database() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(open_error(folder.path()).await.kind(), "foreign");
    assert_eq!(read_error(folder.path()).await.kind(), "foreign");
}

#[tokio::test]
async fn what_is_missing_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    assert_eq!(read_error(&path).await.kind(), "missing");
    assert!(!path.exists(), "a reader made a database");
    assert_eq!(open_error(&folder.path().join("no/such/a.db")).await.kind(), "missing");
    fs::write(&path, "").unwrap();
    assert_eq!(read_error(&path).await.kind(), "missing");
    // An empty file is what a crash while it is made leaves.
    assert_eq!(open(&path).await.load().await.unwrap().generation, 0);
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    filled_store(&path, 1).await;
    raw_sql(&path, "INSERT INTO _sqlx_migrations VALUES (7, 'x', CURRENT_TIMESTAMP, TRUE, x'00', 0)").await;
    let error = open_error(&path).await;
    assert_eq!(error.kind(), "newer");
    assert!(error.to_string().contains("its schema is 7, this program knows 4"), "{error}");
    assert_eq!(read_error(&path).await.kind(), "newer");
}

#[tokio::test]
async fn a_database_of_another_line_of_builds_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    filled_store(&path, 1).await;
    raw_sql(&path, "UPDATE _sqlx_migrations SET checksum = x'00'").await;
    assert_eq!(open_error(&path).await.kind(), "altered");
    assert_eq!(read_error(&path).await.kind(), "altered");
}

#[tokio::test]
async fn a_cut_database_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    filled_store(&path, 2000).await;
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2 / 4096 * 4096).unwrap();
    assert_eq!(open_error(&path).await.kind(), "damaged");
    assert_eq!(read_error(&path).await.kind(), "damaged");
}

#[tokio::test]
async fn a_database_with_pages_of_rubbish_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    filled_store(&path, 2000).await;
    let mut octets = fs::read(&path).unwrap();
    let from = octets.len() / 2 / 4096 * 4096;
    octets[from..from + 16 * 4096].fill(0xa5);
    fs::write(&path, octets).unwrap();
    match Store::open(&path, Settings::default()).await {
        Ok(mut store) => assert_eq!(store.load().await.unwrap_err().kind(), "damaged"),
        Err(error) => assert_eq!(error.kind(), "damaged"),
    }
}

#[tokio::test]
async fn a_table_that_is_not_what_was_committed_is_damaged() {
    let attempts = [
        "DELETE FROM entry WHERE first = (SELECT min(first) FROM entry)",
        "UPDATE entry SET last = x'0000000000000000000000000a0000fe' \
         WHERE first = (SELECT min(first) FROM entry)",
        "UPDATE entry SET owner = vrf WHERE first = (SELECT min(first) FROM entry)",
        "UPDATE entry SET last = (SELECT max(last) FROM entry)",
        "UPDATE name SET text = 'x' WHERE text = 'bas-1'",
        "UPDATE entry SET vrf = 99",
        "UPDATE entry SET first = last, last = first WHERE first = (SELECT min(first) FROM entry)",
        "DELETE FROM meta",
    ];
    for attempt in attempts {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        filled_store(&path, 3).await;
        raw_sql(&path, attempt).await;
        assert_eq!(read_error(&path).await.kind(), "damaged", "{attempt}");
        match Store::open(&path, Settings::default()).await {
            Ok(mut store) => assert_eq!(store.load().await.unwrap_err().kind(), "damaged", "{attempt}"),
            Err(error) => assert_eq!(error.kind(), "damaged", "{attempt}"),
        }
    }
}

#[tokio::test]
async fn a_memory_that_cannot_be_read_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    let (bas, memory) = (Name::from("bas-1"), Memory::default());
    store.flush(&[(&bas, &memory)], &[]).await.unwrap();
    store.close().await.unwrap();
    raw_sql(&path, "UPDATE bas_state SET state = '{'").await;
    let error = read_error(&path).await;
    assert_eq!(error.kind(), "damaged");
    assert!(error.to_string().contains("BAS bas-1"), "{error}");
}

#[tokio::test]
async fn a_database_that_is_removed_or_replaced_in_use_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.db"), folder.path().join("b.db"));
    let before = filled_store(&path, 1).await;
    filled_store(&other, 1).await;
    let mut store = open(&path).await;
    fs::remove_file(&path).unwrap();
    let after = table(vec![]);
    assert_eq!(commit(&mut store, 1, &before, &after).await.unwrap_err().kind(), "missing");
    fs::rename(&other, &path).unwrap();
    assert_eq!(commit(&mut store, 1, &before, &after).await.unwrap_err().kind(), "missing");
}

#[tokio::test]
async fn other_writers_delay_but_do_not_lose_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    let (stop, rival) = (Arc::new(AtomicBool::new(false)), path.clone());
    let stopped = Arc::clone(&stop);
    let rival = tokio::spawn(async move {
        let options = SqliteConnectOptions::new().filename(&rival).journal_mode(SqliteJournalMode::Wal);
        let mut conn = options.connect().await.unwrap();
        let mut rounds = 0u32;
        while !stopped.load(Ordering::Relaxed) {
            let mut tx = conn.begin_with("BEGIN IMMEDIATE").await.unwrap();
            sqlx::query("UPDATE meta SET filled = filled").execute(&mut *tx).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            tx.commit().await.unwrap();
            rounds += 1;
        }
        rounds
    });
    let mut before = Table::default();
    for n in 0..20 {
        let after = table(vec![entry(&format!("192.0.2.{n}"), "bas-1")]);
        let made = commit(&mut store, n, &before, &after).await.unwrap();
        assert_eq!(made.generation, n.cast_unsigned() + 1);
        before = after;
    }
    stop.store(true, Ordering::Relaxed);
    assert!(rival.await.unwrap() > 0);
    assert_eq!(store.load().await.unwrap().table, before);
}

#[tokio::test]
async fn a_writer_that_never_lets_go_is_busy_and_nothing_is_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let settings = Settings { busy_timeout: Duration::from_millis(250), ..Settings::default() };
    let mut store = Store::open(&path, settings).await.unwrap();
    let mut rival = raw(&path).await;
    let tx = rival.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let after = table(vec![entry("192.0.2.1", "bas-1")]);
    let error = commit(&mut store, 1, &Table::default(), &after).await.unwrap_err();
    assert_eq!(error.kind(), "busy");
    assert_eq!(store.load().await.unwrap().generation, 0);
    tx.rollback().await.unwrap();
    assert_eq!(commit(&mut store, 1, &Table::default(), &after).await.unwrap().generation, 1);
}

#[tokio::test]
async fn the_log_is_kept_at_close_and_cut_back_when_it_has_grown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let settings = Settings { wal_limit: 256 << 10, ..Settings::default() };
    let mut store = Store::open(&path, settings).await.unwrap();
    let log = || fs::metadata(beside(&path, "-wal")).unwrap().len();
    let wanted = table((0..9000u32).map(|n| entry(&format!("10.0.{}.{}", n >> 8, n & 255), "x")).collect());
    // A reader that stays keeps the log from being used anew.
    let mut reader = raw(&path).await;
    let mut tx = reader.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM entry").fetch_one(&mut *tx).await.unwrap();
    commit(&mut store, 1, &Table::default(), &wanted).await.unwrap();
    store.flush(&[], &[]).await.unwrap();
    assert!(log() > settings.wal_limit);
    tx.rollback().await.unwrap();
    store.flush(&[], &[]).await.unwrap();
    assert!(log() <= settings.wal_limit, "{}", log());
    reader.close().await.unwrap();
    store.close().await.unwrap();
    assert_eq!(log(), 0);
    assert!(beside(&path, "-shm").exists());
}

/// This test binary again, for one test of it, as another process.
fn child(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", test]).env(CHILD, path);
    command
}

fn child_path() -> PathBuf {
    std::env::var_os(CHILD).map(PathBuf::from).unwrap()
}

/// A child that may only read: as `nobody` where the tests run as root (which may write
/// whatever the modes say), else as ourselves, in a directory without the right to write.
fn reading_child(test: &str, folder: &Path, path: &Path) -> Command {
    let program = folder.join("reader");
    if !program.exists() {
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o555)).unwrap();
    let mut command = Command::new(&program);
    command.args(["--ignored", "--exact", "--nocapture", test]).env(CHILD, path).current_dir("/");
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.uid(65534).gid(65534);
    }
    command
}

/// What such a child says.
fn only_reads(folder: &Path, path: &Path) -> String {
    let done = reading_child("child_that_only_reads", folder, path).output().unwrap();
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

#[tokio::test]
#[ignore = "runs as a child of the tests below"]
async fn child_that_only_reads() {
    let path = child_path();
    let refused = open_error(&path).await;
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    let loaded = reader.load().await.unwrap();
    assert_eq!(reader.table_at(loaded.generation).await.unwrap().table, loaded.table);
    println!("\nread {} {} {}", loaded.generation, loaded.table.entries().len(), refused.kind());
}

#[tokio::test]
async fn who_may_only_read_the_directory_can() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let path = data.join("a.db");
    let first = filled_store(&path, 3).await;

    // Closed: an empty log is there.
    assert!(only_reads(folder.path(), &path).contains("\nread 1 3 read-only\n"));

    // In use, with a generation that is in the log only.
    let mut store = open(&path).await;
    let second = table(vec![entry("192.0.2.0/24", "bas-1")]);
    commit(&mut store, 1, &first, &second).await.unwrap();
    assert!(fs::metadata(beside(&path, "-wal")).unwrap().len() > 0);
    assert!(only_reads(folder.path(), &path).contains("\nread 2 1 read-only\n"));

    // As a crash leaves it: a log with contents, nobody that uses it.
    let crashed = folder.path().join("crashed");
    fs::create_dir(&crashed).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let name = format!("a.db{suffix}");
        fs::copy(data.join(&name), crashed.join(&name)).unwrap();
    }
    assert!(only_reads(folder.path(), &crashed.join("a.db")).contains("\nread 2 1 read-only\n"));

    // As a copy of the database file alone is found: no log at all.
    store.close().await.unwrap();
    let alone = folder.path().join("alone");
    fs::create_dir(&alone).unwrap();
    fs::copy(&path, alone.join("a.db")).unwrap();
    assert!(only_reads(folder.path(), &alone.join("a.db")).contains("\nread 2 1 read-only\n"));
    assert!(!alone.join("a.db-wal").exists());
}

#[tokio::test]
#[ignore = "runs as a child of the test below"]
async fn child_that_reads_twice() {
    let mut reader = Reader::open(&child_path(), Settings::default()).await.unwrap();
    println!("\nread {}", reader.load().await.unwrap().generation);
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("\nread {}", reader.load().await.unwrap_err().kind());
}

#[tokio::test]
async fn what_is_read_without_a_log_is_given_up_when_somebody_begins_to_write() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let path = data.join("a.db");
    let first = filled_store(&path, 3).await;
    fs::remove_file(beside(&path, "-wal")).unwrap();
    fs::remove_file(beside(&path, "-shm")).unwrap();

    let mut command = reading_child("child_that_reads_twice", folder.path(), &path);
    let mut child = Killed(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = || said.find_map(|line| line.unwrap().strip_prefix("read ").map(str::to_owned));
    assert_eq!(next().as_deref(), Some("1"));
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let mut store = open(&path).await;
    commit(&mut store, 1, &first, &table(vec![])).await.unwrap();
    child.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(next().as_deref(), Some("busy"));
}

/// A file system of a few MiB, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "none"]).arg(folder.path()).output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[tokio::test]
#[ignore = "runs as a child of the test below"]
async fn child_that_reads_once() {
    let loaded = Reader::open(&child_path(), Settings::default()).await.unwrap().load().await.unwrap();
    println!("\nread {} {}", loaded.generation, loaded.table.entries().len());
}

#[tokio::test]
async fn a_full_disk_refuses_commits_and_recovers() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("SKIPPED: a_full_disk_refuses_commits_and_recovers: cannot mount a small tmpfs here");
        return;
    };
    let path = disk.0.path().join("a.db");
    let mut store = open(&path).await;
    let first = table(vec![entry("192.0.2.0/24", "bas-1")]);
    commit(&mut store, 0, &Table::default(), &first).await.unwrap();
    let filler = disk.0.path().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
    drop(file);

    let big = table((0..30_000u32).map(|n| entry(&format!("10.0.{}.{}", n >> 8, n & 255), "x")).collect());
    for _ in 0..3 {
        assert_eq!(commit(&mut store, 1, &first, &big).await.unwrap_err().kind(), "full");
        assert_eq!(store.load().await.unwrap().table, first);
    }
    // Death, and a start while the disk is still full: the last table can be read.
    drop(store);
    let done = child("child_that_reads_once", &path).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.contains("\nread 1 1\n"), "{said}{}", String::from_utf8_lossy(&done.stderr));
    let mut store = match Store::open(&path, Settings::default()).await {
        Ok(store) => store,
        Err(error) => {
            assert_eq!(error.kind(), "full");
            fs::remove_file(&filler).unwrap();
            open(&path).await
        }
    };
    assert_eq!(store.load().await.unwrap().table, first);
    let _ = fs::remove_file(&filler);
    let small = table(vec![entry("198.51.100.0/24", "bas-1")]);
    assert_eq!(commit(&mut store, 2, &first, &small).await.unwrap().generation, 2);
    assert_eq!(store.load().await.unwrap().table, small);
}

/// What generation `n` holds in the tests that kill.
fn table_of(n: u64) -> Table {
    if n == 0 {
        return Table::default();
    }
    let mut random = StdRng::seed_from_u64(n);
    let slots = (0..400u32).filter_map(|slot| {
        let owner = random.random_range(0..4);
        (owner < 3).then(|| entry(&format!("10.0.{}.{}", slot >> 8, slot & 255), &format!("bas-{owner}")))
    });
    table(slots.collect())
}

fn groups_of(n: u64) -> Groups {
    let edges: [&[&str]; 3] = [&["gz-01"], &["centre"], &["gz-01", "centre"]];
    if n == 0 { Groups::default() } else { groups(&[("bas-1", edges[n as usize % 3])]) }
}

fn memory_of(n: u64) -> Memory {
    Memory { reason: Name::from(n.to_string()), ..Memory::default() }
}

fn guard_of(n: u64) -> GuardMemory {
    GuardMemory { last_id: n, ..GuardMemory::default() }
}

#[tokio::test]
#[ignore = "runs as a child of the tests below"]
async fn child_that_commits_until_it_is_killed() {
    // What a generation changes is some 400 rows: every fourth enters what was noted.
    let mut store = open_noting(&child_path(), 1700).await;
    let mut n = store.load().await.unwrap().generation;
    let bas = Name::from("bas-1");
    loop {
        println!("\nat {n}");
        let (before, after) = (table_of(n), table_of(n + 1));
        n += 1;
        let (changes, groups, memory, guard) =
            (difference(&before, &after), groups_of(n), memory_of(n), guard_of(n));
        let batch = Commit {
            at: at(n as i64),
            changes: &changes,
            groups: Some(&groups),
            memories: &[(&bas, &memory)],
            guard: &guard,
            filled: n % 2 == 0,
            steering: None,
            acts: Acts::default(),
        };
        assert_eq!(store.commit(batch).await.unwrap().generation, n);
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the child until it has told of so many generations and a random moment more, kills
/// it, and gives the last generation that it told of.
fn kill_after(path: &Path, lines: usize, pause: Duration) -> u64 {
    let mut command = child("child_that_commits_until_it_is_killed", path);
    command.stdout(Stdio::piped());
    let mut child = Killed(command.spawn().unwrap());
    let mut said = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let told = |line: &String| line.strip_prefix("at ").and_then(|n| n.parse::<u64>().ok());
    let mut last = 0;
    for _ in 0..lines {
        last = said.by_ref().find_map(|line| told(&line.unwrap())).expect("the child goes on");
    }
    // Not to wait for anything: this is what makes the moment random.
    std::thread::sleep(pause);
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let rest = said.map_while(Result::ok).filter_map(|line| told(&line)).last();
    rest.unwrap_or(last)
}

async fn check_boundary(path: &Path, told: u64) -> u64 {
    let mut store = open(path).await;
    let loaded = store.load().await.unwrap();
    let n = loaded.generation;
    assert!(n == told || n == told + 1, "told of {told}, found {n}");
    assert_eq!(loaded.table, table_of(n), "generation {n}");
    assert_eq!(loaded.groups, groups_of(n), "generation {n}");
    if n > 0 {
        assert_eq!(loaded.memories[&Name::from("bas-1")], memory_of(n));
        assert_eq!(loaded.guard, guard_of(n));
        assert_eq!(loaded.filled, n % 2 == 0);
    }
    n
}

#[tokio::test]
async fn killed_at_any_moment_the_store_is_at_one_generation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut random = StdRng::seed_from_u64(20);
    let mut last = 0;
    for _ in 0..50 {
        let pause = Duration::from_micros(random.random_range(0..6000));
        let told = kill_after(&path, random.random_range(1..5), pause);
        last = check_boundary(&path, told).await;
    }
    let mut store = open(&path).await;
    for n in 0..=last {
        assert_eq!(store.table_at(n).await.unwrap().table, table_of(n), "generation {n}");
    }
    assert!(last >= 50, "only {last} generations");
}

#[tokio::test]
async fn killed_while_it_is_made_the_store_can_be_opened() {
    let mut random = StdRng::seed_from_u64(21);
    for _ in 0..25 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let told = kill_after(&path, 0, Duration::from_micros(random.random_range(500..30_000)));
        check_boundary(&path, told).await;
    }
}

#[tokio::test]
async fn a_commit_that_is_dropped_half_way_leaves_a_store_that_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("a.db")).await;
    let big = table((0..20_000u32).map(|n| entry(&format!("10.0.{}.{}", n >> 8, n & 255), "x")).collect());
    let changes = difference(&Table::default(), &big);
    for millis in [0, 1, 5, 20] {
        let all = commit_all(&mut store, 1, &changes, None, &[]);
        let _ = tokio::time::timeout(Duration::from_millis(millis), all).await;
        let found = store.load().await.unwrap();
        match found.generation {
            0 => assert_eq!(found.table, Table::default()),
            1 => return assert_eq!(found.table, big),
            n => panic!("generation {n}"),
        }
    }
    let made = commit_all(&mut store, 1, &changes, None, &[]).await.unwrap();
    assert_eq!((made.generation, store.load().await.unwrap().table == big), (1, true));
    assert_eq!(
        commit_all(&mut store, 2, &[Change::Removed(big.entries()[0].clone())], None, &[])
            .await
            .unwrap()
            .generation,
        2
    );
}
