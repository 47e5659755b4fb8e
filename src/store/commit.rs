//! One batch, one transaction.

use std::collections::HashMap;

use jiff::Timestamp;
use sqlx::{Row, SqliteConnection};

use super::acts::{self, Acts};
use super::digest::{Digest, OwnedDigest};
use super::error::Fault;
use super::groups;
use super::memory::{self, Written};
use super::names::Names;
use super::owned;
use super::rows::{self, OPEN};
use super::{time, usage};
use crate::table::{Change, Entry, Groups, GuardMemory, Memory, Name, Usage};

/// What one batch brings.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    /// When, by the clock.
    pub at: Timestamp,
    /// What turns the stored table into the new one.
    pub changes: &'a [Change],
    /// The groups, where they may have changed.
    pub groups: Option<&'a Groups>,
    /// The memories that the batch changed.
    pub memories: &'a [(&'a Name, &'a Memory)],
    /// What the guard remembers.
    pub guard: &'a GuardMemory,
    /// Whether enough of the fleet has been read for the table to be published.
    pub filled: bool,
    /// What steering remembers, as text, where it changed.
    pub steering: Option<&'a str>,
    /// What an operator did.
    pub acts: Acts<'a>,
}

/// What a commit came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The newest generation.
    pub generation: u64,
    /// Whether this commit made it: an entry or a group changed, or what is published did.
    pub made: bool,
}

/// The newest generation, as far as the next one builds on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    pub(super) number: i64,
    pub(super) entries: i64,
    pub(super) digest: Digest,
    /// The same of who owns what; none where the generation is from before it was counted.
    pub(super) owned: Option<OwnedDigest>,
    /// As stored; none before the first generation.
    pub(super) committed: Option<i64>,
}

impl Newest {
    /// Before the first one.
    const NONE: Self =
        Self { number: 0, entries: 0, digest: Digest::NONE, owned: Some(OwnedDigest::NONE), committed: None };

    pub(super) async fn load(conn: &mut SqliteConnection) -> Result<Self, Fault> {
        let sql = "SELECT number, entries, digest, committed, owned FROM generation \
                   ORDER BY number DESC LIMIT 1";
        let Some(row) = sqlx::query(sql).fetch_optional(conn).await? else { return Ok(Self::NONE) };
        Ok(Self {
            number: row.try_get(0)?,
            entries: row.try_get(1)?,
            digest: Digest::from_stored(row.try_get(2)?),
            committed: Some(row.try_get(3)?),
            owned: row.try_get::<Option<i64>, _>(4)?.map(OwnedDigest::from_stored),
        })
    }
}

/// What the writer knows to be in the database already.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) names: Names,
    pub(super) memories: HashMap<Name, Written>,
    pub(super) guard: Option<GuardMemory>,
}

/// Writes a batch, within a transaction that the caller has begun and will end.
pub(super) async fn write(
    conn: &mut SqliteConnection,
    known: &mut Known,
    commit: &Commit<'_>,
) -> Result<Committed, Fault> {
    let newest = Newest::load(conn).await?;
    let committed = write_generation(conn, &mut known.names, commit, newest).await?;
    memory::save_guard(conn, known.guard.as_ref(), commit.guard).await?;
    write_filled(conn, commit.filled, committed.generation).await?;
    known.guard = Some(commit.guard.clone());
    acts::write(conn, &mut known.names, &commit.acts, committed).await?;
    if let Some(body) = commit.steering {
        write_steering(conn, body).await?;
    }
    write_remembered(conn, known, commit.memories, &[]).await?;
    Ok(committed)
}

async fn write_steering(conn: &mut SqliteConnection, body: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO steering VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET body = excluded.body";
    sqlx::query(sql).bind(body).execute(conn).await?;
    Ok(())
}

async fn write_filled(conn: &mut SqliteConnection, filled: bool, newest: u64) -> Result<(), Fault> {
    let sql = "UPDATE meta SET filled = ?1, shown = iif(?1, coalesce(shown, ?2), shown) WHERE filled <> ?1";
    sqlx::query(sql).bind(i64::from(filled)).bind(newest.cast_signed()).execute(conn).await?;
    Ok(())
}

/// Writes memories and what was counted of their BASes, and the names that were new, within a
/// transaction of the caller's.
pub(super) async fn write_remembered(
    conn: &mut SqliteConnection,
    known: &mut Known,
    memories: &[(&Name, &Memory)],
    usages: &[(&Name, &Usage)],
) -> Result<(), Fault> {
    for (bas, memory) in memories {
        memory::save(conn, &mut known.names, &mut known.memories, bas, memory).await?;
    }
    for (bas, usage) in usages {
        usage::write(conn, &mut known.names, bas, usage).await?;
    }
    known.names.save(conn).await
}

async fn write_generation(
    conn: &mut SqliteConnection,
    names: &mut Names,
    commit: &Commit<'_>,
    newest: Newest,
) -> Result<Committed, Fault> {
    let before = match commit.groups {
        Some(_) => groups::at(conn, names, OPEN - 1).await?,
        None => Groups::default(),
    };
    let groups = commit.groups.map(|after| groups::difference(&before, after)).filter(|d| !d.is_empty());
    if commit.changes.is_empty() && groups.is_none() && commit.acts.shown.is_none() {
        return Ok(Committed { generation: newest.number.cast_unsigned(), made: false });
    }
    let number = newest.number + 1;
    let (closed, opened) = sides(commit.changes);
    let counted = match newest.owned {
        Some(owned) => owned,
        None => owned::count(conn, names).await?,
    };
    rows::close_entries(conn, names, &closed, number).await?;
    rows::insert_entries(conn, names, &opened, number).await.map_err(overlapping)?;
    if let Some(difference) = &groups {
        difference.apply(conn, names, number).await?;
    }
    let (mut digest, mut owned) = (newest.digest, counted);
    for entry in &closed {
        digest.subtract(entry);
        owned.subtract(entry);
    }
    for entry in &opened {
        digest.add(entry);
        owned.add(entry);
    }
    let altered = commit.changes.iter().filter(|c| matches!(c, Change::Altered { .. })).count() as i64;
    let (ended, begun) = (closed.len() as i64, opened.len() as i64);
    let shown = commit.acts.shown.unwrap_or_default();
    sqlx::query("INSERT INTO generation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        .bind(number)
        .bind(time::stored(commit.at))
        .bind(newest.entries + begun - ended)
        .bind(digest.stored())
        .bind(begun - altered + shown.added.cast_signed())
        .bind(ended - altered + shown.removed.cast_signed())
        .bind(altered + shown.altered.cast_signed())
        .bind(i64::from(groups.is_some()))
        .bind(owned.stored())
        .execute(&mut *conn)
        .await?;
    Ok(Committed { generation: number.cast_unsigned(), made: true })
}

/// The entries that end and those that begin.
fn sides(changes: &[Change]) -> (Vec<&Entry>, Vec<&Entry>) {
    let (mut closed, mut opened) = (Vec::new(), Vec::with_capacity(changes.len()));
    for change in changes {
        match change {
            Change::Added(entry) => opened.push(entry),
            Change::Removed(entry) => closed.push(entry),
            Change::Altered { before, after } => {
                closed.push(before);
                opened.push(after);
            }
        }
    }
    (closed, opened)
}

/// A first address that is taken already is a change from another table than the stored one.
fn overlapping(fault: Fault) -> Fault {
    match fault {
        Fault::Sql(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Fault::OutOfStep("an entry begins where the store has one already".to_owned())
        }
        other => other,
    }
}
