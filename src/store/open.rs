//! Opening: whose the file is, which migrations it has, and how SQLite is set up.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row, SqliteConnection};

use super::error::{self, Fault};
use super::{StoreError, keep};

/// The schema, one step after the other.
pub(super) static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// `psyn`: by this number in its header a database is known as ours, also to `file(1)`.
const APPLICATION: i64 = 0x7073_796e;

/// How the store behaves towards the system.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long another program that writes to the database is waited for.
    pub busy_timeout: Duration,
    /// Above how many octets the write-ahead log is cut back.
    pub wal_limit: u64,
    /// From how many entries on small changes are noted beside the table first.
    pub noted_from: u64,
    /// How many rows may be noted before they are entered into the table.
    pub noted_most: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(30),
            wal_limit: 64 << 20,
            // Of fewer, most pages of the table are touched by a few hundred changes anyway.
            noted_from: 50_000,
            // A commit that enters so many takes some 50 ms more.
            noted_most: 4096,
        }
    }
}

/// A connection that may write, to a database that is ours and up to date; made where there
/// is none.
pub(super) async fn writer(
    path: &Path,
    settings: Settings,
    migrations: &Migrator,
) -> Result<SqliteConnection, StoreError> {
    let mut conn = connect_writer(path, settings).await.map_err(|fault| foreign(fault).at(path))?;
    match prepare_writer(&mut conn, path, migrations).await {
        Ok(()) => Ok(conn),
        Err(error) => Err(closed(conn, error).await),
    }
}

async fn connect_writer(path: &Path, settings: Settings) -> Result<SqliteConnection, Fault> {
    let options = options(path, settings)
        .create_if_missing(true)
        // What is committed is on the disk, also when the power fails.
        .pragma("synchronous", "FULL")
        .pragma("journal_size_limit", settings.wal_limit.to_string())
        // A full /tmp is no reason to fail.
        .pragma("temp_store", "MEMORY")
        .pragma("cache_size", "-32768");
    Ok(options.connect().await?)
}

async fn prepare_writer(
    conn: &mut SqliteConnection,
    path: &Path,
    migrations: &Migrator,
) -> Result<(), StoreError> {
    let at = |fault: Fault| fault.at(path);
    let ours = identify(conn).await.map_err(|fault| at(foreign(fault)))?;
    if !ours {
        let sql = format!("PRAGMA application_id = {APPLICATION}");
        sqlx::query(AssertSqlSafe(sql)).execute(&mut *conn).await.map_err(|error| at(error.into()))?;
        tracing::info!(path = %path.display(), "database made");
    }
    write_ahead(conn).await.map_err(at)?;
    migrate(conn, path, migrations).await?;
    // From here on the waiting is ours (see `Store::begin`).
    let done = sqlx::query("PRAGMA busy_timeout = 0").execute(conn).await;
    done.map(|_| ()).map_err(|error| at(error.into()))
}

/// A connection that only reads.
///
/// Three ways, for who may do less and less. The plain one takes part in the locking of the
/// log's index. Where that index cannot be made or grown (directory not writable, disk full)
/// one that only looks at it builds its own in memory. Where there is no log either, the file
/// is read as one that nobody writes (`still`, which the caller has to make sure of).
pub(super) async fn reader(
    path: &Path,
    settings: Settings,
    still: bool,
) -> Result<(SqliteConnection, bool), Fault> {
    let plain = options(path, settings).read_only(true);
    let fault = match connect_reader(&plain).await {
        Ok(conn) => return Ok((conn, false)),
        Err(fault) => fault,
    };
    let refused = [error::READONLY, error::CANTOPEN, error::IOERR];
    if !fault.code().is_some_and(|code| refused.contains(&(code & 0xff))) {
        return Err(fault);
    }
    if let Ok(conn) = connect_reader(&plain.clone().filename(looking_only(path))).await {
        return Ok((conn, false));
    }
    match still {
        true => Ok((connect_reader(&plain.immutable(true)).await?, true)),
        false => Err(fault),
    }
}

/// A connection to a copy that is to be put back: ours, and not newer than this program.
pub(super) async fn source(path: &Path, settings: Settings) -> Result<SqliteConnection, StoreError> {
    let options = options(path, settings).read_only(true);
    let opened = options.connect().await.map_err(Fault::from);
    let mut conn = opened.map_err(|fault| foreign(fault).at(path))?;
    let checked = async {
        if !identify(&mut conn).await.map_err(foreign)? {
            return Err(Fault::Foreign("it is empty".to_owned()));
        }
        pending(&mut conn, &MIGRATIONS).await
    };
    match checked.await {
        Ok(_) => Ok(conn),
        Err(fault) => Err(closed(conn, fault.at(path)).await),
    }
}

/// Brings the write-ahead log of a database into its file, and leaves none.
///
/// # Errors
/// `busy` where another program still reads; anything else where the database is damaged.
pub(super) async fn drain_log(path: &Path, settings: Settings) -> Result<(), StoreError> {
    let opened = options(path, settings).connect().await.map_err(Fault::from);
    let mut conn = opened.map_err(|fault| fault.at(path))?;
    let drained: Result<(i64, i64, i64), _> =
        sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut conn).await;
    let closed = conn.close().await;
    let at = |error: sqlx::Error| Fault::from(error).at(path);
    let (busy, _, _) = drained.map_err(at)?;
    closed.map_err(at)?;
    if busy == 0 { Ok(()) } else { Err(StoreError::Busy { path: path.to_owned() }) }
}

/// The URI by which SQLite opens the log's index for reading only.
fn looking_only(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for octet in path.as_os_str().as_encoded_bytes() {
        match octet {
            b'/' | b'-' | b'.' | b'_' => uri.push(char::from(*octet)),
            _ if octet.is_ascii_alphanumeric() => uri.push(char::from(*octet)),
            _ => uri.push_str(&format!("%{octet:02x}")),
        }
    }
    uri + "?readonly_shm=1"
}

async fn connect_reader(options: &SqliteConnectOptions) -> Result<SqliteConnection, Fault> {
    let mut conn = options.connect().await?;
    match check_reader(&mut conn).await {
        Ok(()) => Ok(conn),
        Err(fault) => Err(closed(conn, fault).await),
    }
}

async fn check_reader(conn: &mut SqliteConnection) -> Result<(), Fault> {
    if !identify(conn).await.map_err(foreign)? {
        return Err(Fault::Foreign("it is empty".to_owned()));
    }
    match pending(conn, &MIGRATIONS).await?.is_empty() {
        true => Ok(()),
        false => Err(Fault::Older),
    }
}

/// Closes a connection for what went wrong with it, before anything else is tried: within a
/// process, SQLite shares what it knows of a file between connections.
async fn closed<E>(conn: SqliteConnection, error: E) -> E {
    // What is told is the first failure.
    let _ = conn.close().await;
    error
}

fn options(path: &Path, settings: Settings) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(settings.busy_timeout)
        .foreign_keys(true)
        .disable_statement_logging()
}

/// The path as SQLite is given it: absolute, so that it is never taken for a URI, and without
/// links, so that whoever owns the store locks the same file by whichever name.
pub(super) fn resolved(path: &Path) -> Result<PathBuf, StoreError> {
    let broken = |source| StoreError::io(path, source);
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(path) if path.is_dir() => {
            return Err(StoreError::Foreign { path, detail: "it is a directory".to_owned() });
        }
        found => return found.map_err(broken),
    }
    let path = std::path::absolute(path).map_err(broken)?;
    match (path.parent().map(fs::canonicalize), path.file_name()) {
        (Some(Err(error)), _) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(&path).to_owned();
            let detail = "the folder of the database must be there, and be the service's".to_owned();
            Err(StoreError::Missing { path: folder, detail })
        }
        (Some(folder), Some(name)) => Ok(folder.map_err(broken)?.join(name)),
        _ => Ok(path),
    }
}

/// What is no database at all is not ours either.
fn foreign(fault: Fault) -> Fault {
    match fault.code() {
        Some(error::NOTADB) => Fault::Foreign("SQLite says that it is no database".to_owned()),
        _ => fault,
    }
}

/// Whether the database is ours (true) or still empty (false).
async fn identify(conn: &mut SqliteConnection) -> Result<bool, Fault> {
    let id: i64 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *conn).await?;
    if id == APPLICATION {
        return Ok(true);
    }
    let objects: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *conn).await?;
    if id == 0 && objects == 0 {
        return Ok(false);
    }
    Err(Fault::Foreign(format!("its application_id is {id:#x} and it holds {objects} tables and indexes")))
}

async fn write_ahead(conn: &mut SqliteConnection) -> Result<(), Fault> {
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(conn).await?;
    if mode == "wal" {
        return Ok(());
    }
    let detail = format!("the file system allows no write-ahead log (journal mode `{mode}`)");
    Err(Fault::Sql(sqlx::Error::Configuration(detail.into())))
}

/// The migrations that the database still lacks, by number.
async fn pending(conn: &mut SqliteConnection, migrations: &Migrator) -> Result<Vec<i64>, Fault> {
    let applied = applied(conn).await?;
    let known = migrations.iter().map(|migration| migration.version).max().unwrap_or_default();
    if let Some(found) = applied.keys().max().filter(|found| **found > known) {
        return Err(Fault::Newer { found: *found, known });
    }
    for (version, checksum) in &applied {
        if !migrations.iter().any(|m| m.version == *version && *m.checksum == **checksum) {
            return Err(Fault::Altered(*version));
        }
    }
    Ok(migrations.iter().map(|m| m.version).filter(|version| !applied.contains_key(version)).collect())
}

/// The migrations that the database has, with their checksums.
async fn applied(conn: &mut SqliteConnection) -> Result<BTreeMap<i64, Vec<u8>>, Fault> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = '_sqlx_migrations'";
    let begun: i64 = sqlx::query_scalar(sql).fetch_one(&mut *conn).await?;
    if begun == 0 {
        return Ok(BTreeMap::new());
    }
    let rows = sqlx::query("SELECT version, checksum FROM _sqlx_migrations").fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Brings the schema up to date; a database that has one already is copied first, to
/// `<db>.before-<version>`.
async fn migrate(conn: &mut SqliteConnection, path: &Path, migrations: &Migrator) -> Result<(), StoreError> {
    let pending = pending(conn, migrations).await.map_err(|fault| fault.at(path))?;
    let Some(first) = pending.first() else { return Ok(()) };
    if !applied(conn).await.map_err(|fault| fault.at(path))?.is_empty() {
        let copy = super::beside(path, &format!(".before-{first:04}"));
        keep::copy(conn, path, &copy).await?;
        tracing::info!(copy = %copy.display(), migration = first, "copy kept before the schema changes");
    }
    // Not `run`: behind its `Acquire` the compiler loses sight of the future being `Send`.
    migrations.run_direct(None, conn, false).await.map_err(|error| Fault::from(error).at(path))
}

/// Closes the last writing connection so that the log stays: SQLite deletes it when the last
/// connection closes, unless that one may only read. Who may only read the directory needs
/// it there.
pub(super) async fn close(mut conn: SqliteConnection, path: &Path, settings: Settings) -> Result<(), Fault> {
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await?;
    let mut keeper = options(path, settings).read_only(true).connect().await?;
    sqlx::query("SELECT count(*) FROM sqlite_schema").execute(&mut keeper).await?;
    conn.close().await?;
    Ok(keeper.close().await?)
}
