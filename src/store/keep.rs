//! How long history is kept, and copies of the whole.

use std::fs::{self, File};
use std::path::Path;

use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::commit::{Known, Newest};
use super::error::Fault;
use super::rows::OPEN;
use super::{StoreError, read, time};
use crate::table::{Name, Session};

/// What [`Store::prune`](super::Store::prune) dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The oldest generation whose table can still be told.
    pub oldest: u64,
    /// How many entries of history were dropped.
    pub entries: u64,
}

/// Drops history, within a transaction that the caller has begun and will end.
pub(super) async fn prune(
    conn: &mut SqliteConnection,
    known: &mut Known,
    before: Timestamp,
    at_least: u64,
) -> Result<Pruned, Fault> {
    known.noted(conn).await?.enter(conn).await?;
    let horizon = horizon(conn, before, at_least).await?;
    for sql in [
        "DELETE FROM shed WHERE to_gen <= ?1",
        "DELETE FROM owner_group WHERE to_gen <= ?1",
        "DELETE FROM edge_group WHERE to_gen <= ?1",
    ] {
        sqlx::query(sql).bind(horizon).execute(&mut *conn).await?;
    }
    let done = sqlx::query("DELETE FROM entry WHERE to_gen <= ?1").bind(horizon).execute(&mut *conn).await?;
    // When an entry began is asked for as long as the entry is there.
    sqlx::query("DELETE FROM generation WHERE number < ?1 AND number NOT IN (SELECT from_gen FROM entry)")
        .bind(horizon)
        .execute(&mut *conn)
        .await?;
    sqlx::query("UPDATE meta SET oldest = ?1 WHERE oldest < ?1").bind(horizon).execute(&mut *conn).await?;
    // What was pinned tells what generations showed that are not kept any more.
    sqlx::query("DELETE FROM pin WHERE to_gen <= ?1").bind(horizon).execute(&mut *conn).await?;
    let early = time::stored(before);
    sqlx::query("DELETE FROM act WHERE generation < ?1 AND at < ?2")
        .bind(horizon)
        .bind(early)
        .execute(&mut *conn)
        .await?;
    sqlx::query("DELETE FROM use_pool WHERE at < ?1").bind(early).execute(&mut *conn).await?;
    sqlx::query("DELETE FROM use_hour WHERE hour < ?1")
        .bind(before.as_second() / 3600)
        .execute(&mut *conn)
        .await?;
    Ok(Pruned { oldest: horizon.cast_unsigned(), entries: done.rows_affected() })
}

/// The oldest generation to keep: the one that was the newest at the time, earlier where so
/// many are to be kept or a pin needs it.
async fn horizon(conn: &mut SqliteConnection, before: Timestamp, at_least: u64) -> Result<i64, Fault> {
    let at = read::generation_at(conn, before).await?;
    let newest = Newest::load(conn).await?.number;
    let kept = newest.saturating_sub(i64::try_from(at_least.saturating_sub(1)).unwrap_or(i64::MAX));
    let pinned: Option<i64> = sqlx::query_scalar("SELECT min(generation) FROM pin WHERE to_gen = ?1")
        .bind(OPEN)
        .fetch_one(&mut *conn)
        .await?;
    let oldest: i64 = sqlx::query_scalar("SELECT oldest FROM meta").fetch_one(&mut *conn).await?;
    Ok(at.min(kept).min(pinned.unwrap_or(i64::MAX)).max(oldest))
}

/// Drops what is remembered of a BAS, within a transaction of the caller's.
pub(super) async fn forget(conn: &mut SqliteConnection, bas: &Name) -> Result<(), Fault> {
    sqlx::query("DELETE FROM bas_state WHERE bas = (SELECT id FROM name WHERE text = ?1)")
        .bind(bas.as_str())
        .execute(conn)
        .await?;
    Ok(())
}

/// Writes the store's identity, within a transaction of the caller's.
pub(super) async fn set_session(conn: &mut SqliteConnection, session: Session) -> Result<(), Fault> {
    sqlx::query("UPDATE meta SET session = ?1").bind(session.0.cast_signed()).execute(conn).await?;
    Ok(())
}

/// Copies the database to `target`, whole and on the disk or not at all. What stood there is
/// replaced.
pub(super) async fn copy(conn: &mut SqliteConnection, db: &Path, target: &Path) -> Result<(), StoreError> {
    let broken = |source| StoreError::io(target, source);
    let target = std::path::absolute(target).map_err(broken)?;
    let temporary = super::beside(&target, ".new");
    let broken = |source| StoreError::io(&target, source);
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(broken(error)),
        _ => {}
    }
    let Some(name) = temporary.to_str() else {
        return Err(broken(std::io::Error::other("SQLite takes file names in UTF-8 only")));
    };
    let copied = sqlx::query("VACUUM INTO ?1").bind(name).execute(conn).await;
    let kept = match copied {
        Ok(_) => settle(&temporary, &target).map_err(broken),
        Err(error) => Err(Fault::from(error).at(db)),
    };
    if kept.is_err() {
        // Best effort: the failure itself is what is told.
        let _ = fs::remove_file(&temporary);
    }
    kept
}

fn settle(temporary: &Path, target: &Path) -> std::io::Result<()> {
    File::open(temporary)?.sync_all()?;
    fs::rename(temporary, target)?;
    match target.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
