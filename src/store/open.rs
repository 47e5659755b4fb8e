//! Opening: whose the file is, which migrations it has, and how SQLite is set up.

use std::collections::BTreeMap;
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
    /// How long SQLite waits for another program's lock, each time.
    pub busy_timeout: Duration,
    /// How often a batch is tried anew when the lock was not to be had.
    pub busy_retries: u32,
    /// Above how many octets the write-ahead log is cut back.
    pub wal_limit: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(10), busy_retries: 2, wal_limit: 64 << 20 }
    }
}

/// A connection that may write, to a database that is ours and up to date; made where there
/// is none.
pub(super) async fn writer(
    path: &Path,
    settings: Settings,
    migrations: &Migrator,
) -> Result<SqliteConnection, StoreError> {
    let existed = path.exists();
    let mut conn = connect_writer(path, settings).await.map_err(|fault| foreign(fault).at(path))?;
    let prepared = async {
        let ours = identify(&mut conn).await.map_err(foreign)?;
        if !ours {
            let sql = format!("PRAGMA application_id = {APPLICATION}");
            sqlx::query(AssertSqlSafe(sql)).execute(&mut conn).await?;
        }
        write_ahead(&mut conn).await
    };
    prepared.await.map_err(|fault: Fault| fault.at(path))?;
    migrate(&mut conn, path, migrations).await?;
    // SQLite falls back to reading where it may not write, and says so only at the first
    // write. This asks.
    let may_write = sqlx::raw_sql("BEGIN IMMEDIATE; ROLLBACK").execute(&mut conn).await;
    may_write.map_err(|error| Fault::from(error).at(path))?;
    if !existed {
        tracing::info!(path = %path.display(), "database made");
    }
    Ok(conn)
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

/// A connection that only reads.
pub(super) async fn reader(path: &Path, settings: Settings) -> Result<SqliteConnection, Fault> {
    let mut conn = options(path, settings).read_only(true).connect().await?;
    check_reader(&mut conn).await?;
    Ok(conn)
}

/// A connection that reads a file which nobody writes, without its log.
pub(super) async fn still_reader(path: &Path, settings: Settings) -> Result<SqliteConnection, Fault> {
    let mut conn = options(path, settings).read_only(true).immutable(true).connect().await?;
    check_reader(&mut conn).await?;
    Ok(conn)
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

fn options(path: &Path, settings: Settings) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(settings.busy_timeout)
        .foreign_keys(true)
        .disable_statement_logging()
}

/// The path as SQLite is given it: absolute, so that it is never taken for a URI.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|source| StoreError::io(path, source))
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
    migrations.run(conn).await.map_err(|error| Fault::from(error).at(path))
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
