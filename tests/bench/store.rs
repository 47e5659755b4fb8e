//! The store beside SQLite's own program: a first commit of a million entries, small commits
//! on top of them, and what a start reads. Run it with `cargo bench --bench store`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub)]

mod fleet;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use jiff::Timestamp;
use poolsync::address::Family;
use poolsync::store::{Acts, Commit, Store};
use poolsync::table::{Change, Entry, GuardMemory, PoolName};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};

/// As the program has it; SQLite's memory is of it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 3;
const SMALL: usize = 50;

/// The columns and the key of the store's table; a text of 16 characters stands for an
/// address, for CSV has no octets.
const TABLE: &str = "CREATE TABLE entry (to_gen INTEGER NOT NULL, space INTEGER NOT NULL, \
     family INTEGER NOT NULL CHECK (family IN (4, 6)), first BLOB NOT NULL CHECK (length(first) = 16), \
     last BLOB NOT NULL CHECK (length(last) = 16), owner INTEGER NOT NULL, bas INTEGER, \
     pool BLOB NOT NULL, pool_text TEXT, vrf INTEGER NOT NULL, \
     class INTEGER NOT NULL CHECK (class BETWEEN 0 AND 3), from_gen INTEGER NOT NULL, \
     PRIMARY KEY (to_gen, space, family, first)) WITHOUT ROWID;";

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let entries = entries();
    let csv = folder.path().join("entries.csv");
    fs::write(&csv, as_csv(&entries)).unwrap();

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let path = folder.path().join("poolsync.db");
    for round in 0..ROUNDS {
        for file in ["poolsync.db", "poolsync.db-wal", "poolsync.db-shm", "poolsync.db.lock"] {
            let _ = fs::remove_file(folder.path().join(file));
        }
        theirs.push(import(folder.path(), &csv, round));
        let added: Vec<Change> = entries.iter().cloned().map(Change::Added).collect();
        let mut store = Store::open(&path, Default::default()).await.unwrap();
        let begun = Instant::now();
        commit(&mut store, &added).await;
        ours.push(begun.elapsed().as_secs_f64());
        store.close().await.unwrap();
    }
    tell("first commit of 1,000,000 / sqlite3 .import", &mut ours, &mut theirs, 1.0);

    let (mut ours, mut theirs) = small(&path, &entries, folder.path()).await;
    tell("commit of 100 changes / durable row", &mut ours, &mut theirs, 5.0);
    let (sum, slowest) = (ours.iter().sum::<f64>(), ours.iter().copied().fold(0.0, f64::max));
    // What commits note beside the table one of them enters, now and then.
    println!("  of them the slowest {:.1} ms, on average {:.1} ms", slowest * 1e3, sum / SMALL as f64 * 1e3);

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..2 * ROUNDS {
        let begun = Instant::now();
        let select =
            Command::new("sqlite3").arg(&path).arg("select * from entry").stdout(Stdio::null()).status();
        assert!(select.unwrap().success());
        theirs.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let mut store = Store::open(&path, Default::default()).await.unwrap();
        let loaded = store.load().await.unwrap();
        ours.push(begun.elapsed().as_secs_f64());
        assert_eq!(loaded.table.len(), entries.len());
        store.close().await.unwrap();
    }
    tell("start-up load / select * from entry", &mut ours, &mut theirs, 1.5);
}

fn tell(what: &str, ours: &mut [f64], theirs: &mut [f64], goal: f64) {
    let (ours, theirs) = (median(ours), median(theirs));
    println!("{what:<46}{:>10.1} ms{:>10.1} ms{:>8.2}  goal {goal}", ours * 1e3, theirs * 1e3, ours / theirs);
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// In the order of the table, as a build gives them.
fn entries() -> Vec<Entry> {
    let ranges = fleet::ranges(Family::V4, fleet::BASES * fleet::RANGES, &mut fleet::Numbers(5));
    let mut entries = fleet::snapshot(&ranges).table.as_ref().clone().into_entries();
    for (place, entry) in entries.iter_mut().enumerate() {
        entry.pool = PoolName::new(format!("pool-{:03}", place % 100).as_bytes());
    }
    entries
}

fn as_csv(entries: &[Entry]) -> String {
    let mut csv = String::new();
    for entry in entries {
        let bas = entry.owner.trim_start_matches("bas-").parse::<u32>().unwrap() + 10;
        let (first, last) = (entry.range.first_bits(), entry.range.last_bits());
        writeln!(csv, "{},1,4,{first:016x},{last:016x},{bas},{bas},{},,2,2,1", i64::MAX, entry.pool).unwrap();
    }
    csv
}

async fn commit(store: &mut Store, changes: &[Change]) {
    let guard = GuardMemory::default();
    let commit = Commit {
        at: Timestamp::now(),
        changes,
        groups: None,
        memories: &[],
        guard: &guard,
        filled: true,
        steering: None,
        acts: Acts::default(),
    };
    assert!(store.commit(commit).await.unwrap().made);
}

/// What sqlite3 takes for the same rows, durable as ours are, in seconds.
fn import(folder: &Path, csv: &Path, round: usize) -> f64 {
    let path = folder.join(format!("import-{round}.db"));
    let script = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768; {TABLE}\n\
         .import --csv {} entry\n",
        csv.display()
    );
    let begun = Instant::now();
    let mut sqlite = Command::new("sqlite3")
        .arg("-bail")
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    sqlite.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(sqlite.wait().unwrap().success(), "sqlite3 is needed for this bench");
    let took = begun.elapsed().as_secs_f64();
    fs::remove_file(&path).unwrap();
    took
}

/// Commits of 100 altered entries, and durable transactions of one row beside them.
async fn small(path: &Path, entries: &[Entry], folder: &Path) -> (Vec<f64>, Vec<f64>) {
    let mut store = Store::open(path, Default::default()).await.unwrap();
    store.load().await.unwrap();
    let mut other: SqliteConnection = SqliteConnectOptions::new()
        .filename(folder.join("one.db"))
        .create_if_missing(true)
        .pragma("journal_mode", "WAL")
        .pragma("synchronous", "FULL")
        .connect()
        .await
        .unwrap();
    sqlx::query("CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT)").execute(&mut other).await.unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut numbers = fleet::Numbers(23);
    let mut left: Vec<&Entry> = entries.iter().collect();
    for _ in 0..SMALL {
        let mut changes: Vec<Change> = (0..100)
            .map(|_| {
                let before = left.swap_remove(numbers.below(left.len() as u64) as usize);
                let owner = fleet::bas(numbers.below(fleet::BASES as u64) as usize);
                let after = Entry { owner: owner.clone(), bas: Some(owner), ..before.clone() };
                Change::Altered { before: before.clone(), after }
            })
            .filter(|change| change.before().map(|e| &e.owner) != change.after().map(|e| &e.owner))
            .collect();
        changes.sort_by_key(Change::range);
        let begun = Instant::now();
        sqlx::query("INSERT INTO one (text) VALUES ('row')").execute(&mut other).await.unwrap();
        theirs.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        commit(&mut store, &changes).await;
        ours.push(begun.elapsed().as_secs_f64());
    }
    store.close().await.unwrap();
    (ours, theirs)
}
