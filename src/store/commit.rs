//! One batch, one transaction.

use std::collections::HashMap;

use jiff::Timestamp;
use sqlx::{Row, SqliteConnection};

use super::acts::{self, Acts};
use super::digest::{Digest, OwnedDigest};
use super::entries;
use super::error::Fault;
use super::groups;
use super::memory::{self, Written};
use super::names::Names;
use super::noted::Noted;
use super::open::Settings;
use super::owned;
use super::rows::OPEN;
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

    /// The generation after this one, whose entries add up to `owned` by owner.
    fn after(mut self, mut owned: OwnedDigest, (closed, opened): Sides<'_>, committed: i64) -> Self {
        for entry in closed {
            self.digest.subtract(entry);
            owned.subtract(entry);
        }
        for entry in opened {
            self.digest.add(entry);
            owned.add(entry);
        }
        Self {
            number: self.number + 1,
            entries: self.entries + opened.len() as i64 - closed.len() as i64,
            digest: self.digest,
            owned: Some(owned),
            committed: Some(committed),
        }
    }
}

/// What the writer knows to be in the database already.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) names: Names,
    pub(super) memories: HashMap<Name, Written>,
    pub(super) guard: Option<GuardMemory>,
    // None of these where it was not read yet.
    pub(super) newest: Option<Newest>,
    pub(super) filled: Option<bool>,
    pub(super) noted: Option<Noted>,
}

impl Known {
    /// What is noted.
    pub(super) async fn noted(&mut self, conn: &mut SqliteConnection) -> Result<&mut Noted, Fault> {
        let noted = match self.noted.take() {
            Some(noted) => noted,
            None => Noted::load(conn).await?,
        };
        Ok(self.noted.insert(noted))
    }
}

/// Writes a batch, within a transaction that the caller has begun and will end.
pub(super) async fn write(
    conn: &mut SqliteConnection,
    known: &mut Known,
    commit: &Commit<'_>,
    settings: Settings,
) -> Result<Committed, Fault> {
    let newest = match known.newest {
        Some(newest) => newest,
        None => Newest::load(conn).await?,
    };
    let committed = write_generation(conn, known, commit, newest, settings).await?;
    memory::save_guard(conn, known.guard.as_ref(), commit.guard).await?;
    if known.filled != Some(commit.filled) {
        write_filled(conn, commit.filled, committed.generation).await?;
        known.filled = Some(commit.filled);
    }
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
    known: &mut Known,
    commit: &Commit<'_>,
    newest: Newest,
    settings: Settings,
) -> Result<Committed, Fault> {
    let before = match commit.groups {
        Some(_) => groups::at(conn, &known.names, OPEN - 1).await?,
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
        None => owned::count(conn, &known.names).await?,
    };
    let noted = newest.entries.cast_unsigned() >= settings.noted_from;
    let writes = async {
        match noted {
            true => write_noted(conn, known, (&closed, &opened), number, settings.noted_most).await,
            false => write_entered(conn, known, (&closed, &opened), number).await,
        }
    };
    // While SQLite writes on its own thread, what the table adds up to is counted here.
    let counts = async { newest.after(counted, (&closed, &opened), time::stored(commit.at)) };
    let (written, next) = tokio::join!(biased; writes, counts);
    written?;
    if let Some(difference) = &groups {
        difference.apply(conn, &mut known.names, number).await?;
    }
    insert_generation(conn, &next, commit, groups.is_some()).await?;
    known.newest = Some(next);
    Ok(Committed { generation: number.cast_unsigned(), made: true })
}

/// Writes the row of a generation.
async fn insert_generation(
    conn: &mut SqliteConnection,
    next: &Newest,
    commit: &Commit<'_>,
    groups: bool,
) -> Result<(), Fault> {
    let count = |of: fn(&Change) -> bool| commit.changes.iter().filter(|change| of(change)).count() as i64;
    let shown = commit.acts.shown.unwrap_or_default();
    sqlx::query("INSERT INTO generation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        .bind(next.number)
        .bind(next.committed)
        .bind(next.entries)
        .bind(next.digest.stored())
        .bind(count(|change| matches!(change, Change::Added(_))) + shown.added.cast_signed())
        .bind(count(|change| matches!(change, Change::Removed(_))) + shown.removed.cast_signed())
        .bind(count(|change| matches!(change, Change::Altered { .. })) + shown.altered.cast_signed())
        .bind(i64::from(groups))
        .bind(next.owned.map(OwnedDigest::stored))
        .execute(&mut *conn)
        .await?;
    Ok(())
}

/// Entries that end, and entries that begin.
type Sides<'s> = (&'s [&'s Entry], &'s [&'s Entry]);

/// Notes changes beside the table, where they are few.
async fn write_noted(
    conn: &mut SqliteConnection,
    known: &mut Known,
    (closed, opened): Sides<'_>,
    number: i64,
    most: usize,
) -> Result<(), Fault> {
    let rows = closed.len() + opened.len();
    if rows > most / 4 {
        return write_entered(conn, known, (closed, opened), number).await;
    }
    let noted = known.noted(conn).await?;
    if noted.rows() + rows > most {
        noted.enter(conn).await?;
    }
    let mut noted = known.noted.take().unwrap_or_default();
    noted.note(conn, &mut known.names, (closed, opened), number).await.map_err(overlapping)?;
    known.noted = Some(noted);
    Ok(())
}

/// Writes changes into the table itself.
async fn write_entered(
    conn: &mut SqliteConnection,
    known: &mut Known,
    (closed, opened): Sides<'_>,
    number: i64,
) -> Result<(), Fault> {
    known.noted(conn).await?.enter(conn).await?;
    entries::close_entries(conn, &mut known.names, closed, number).await?;
    entries::insert_entries(conn, &mut known.names, opened, number).await.map_err(overlapping)
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
        Fault::Sql(sqlx::Error::Database(error)) if error.is_unique_violation() => entries::occupied(),
        other => other,
    }
}
