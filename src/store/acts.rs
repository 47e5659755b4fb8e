//! What an operator did: pins, drains, and who said so.

use std::collections::BTreeMap;

use sqlx::{Row, SqliteConnection};

use super::commit::Committed;
use super::error::Fault;
use super::names::Names;
use super::rows::{self, OPEN};
use super::time;
use crate::table::{Act, ActKind, Drain, Drains, GroupEdge, Name, Pin, PinKind, Token};

/// What of a commit an operator did; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acts<'a> {
    /// What becomes of the pin.
    pub pin: Option<Repin<'a>>,
    /// The drains, where they changed.
    pub drains: Option<&'a Drains>,
    /// What is to be remembered as done, and by whom.
    pub done: &'a [Act],
    /// What is published changes by so much although the table beneath does not: a pin is
    /// set or released. Makes a generation.
    pub shown: Option<Shown>,
}

/// What becomes of the pin. There is one at most.
#[derive(Clone, Copy, Debug)]
pub enum Repin<'a> {
    /// This one holds from now on, in the place of any other.
    Set(&'a Pin),
    /// None holds any more.
    Release,
}

/// How many entries differ between what was published and what is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// New ones.
    pub added: u64,
    /// Those that are gone.
    pub removed: u64,
    /// Those that say something else.
    pub altered: u64,
}

/// An act, with the generation that was the newest when it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The generation.
    pub generation: u64,
    /// The act.
    pub act: Act,
}

/// Writes what an operator did, behind the generation that it made, if it made one.
pub(super) async fn write(
    conn: &mut SqliteConnection,
    names: &mut Names,
    acts: &Acts<'_>,
    committed: Committed,
) -> Result<(), Fault> {
    let newest = committed.generation.cast_signed();
    match acts.pin {
        Some(Repin::Set(pin)) => {
            end_pin(conn, newest).await?;
            set_pin(conn, pin, newest).await?;
        }
        // Where it made no generation the newest one still shows what was pinned.
        Some(Repin::Release) => end_pin(conn, newest + i64::from(!committed.made)).await?,
        None => {}
    }
    if let Some(drains) = acts.drains {
        write_drains(conn, names, drains).await?;
    }
    for act in acts.done {
        remember(conn, act, newest).await?;
    }
    Ok(())
}

async fn end_pin(conn: &mut SqliteConnection, to_gen: i64) -> Result<(), Fault> {
    sqlx::query("UPDATE pin SET to_gen = ?1 WHERE to_gen = ?2").bind(to_gen).bind(OPEN).execute(conn).await?;
    Ok(())
}

async fn set_pin(conn: &mut SqliteConnection, pin: &Pin, from_gen: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO pin (kind, generation, by, reason, since, expires, from_gen, to_gen) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    sqlx::query(sql)
        .bind(word_of_pin(pin.kind))
        .bind(pin.generation.cast_signed())
        .bind(pin.by.as_str())
        .bind(pin.reason.as_str())
        .bind(time::stored(pin.since))
        .bind(time::stored(pin.expires))
        .bind(from_gen)
        .bind(OPEN)
        .execute(conn)
        .await?;
    Ok(())
}

const fn word_of_pin(kind: PinKind) -> &'static str {
    match kind {
        PinKind::Freeze => "freeze",
        PinKind::Rollback => "rollback",
    }
}

async fn write_drains(conn: &mut SqliteConnection, names: &mut Names, drains: &Drains) -> Result<(), Fault> {
    sqlx::query("DELETE FROM drain").execute(&mut *conn).await?;
    sqlx::query("DELETE FROM drained_group").execute(&mut *conn).await?;
    let edges: Vec<(&Name, &Drain)> = drains.edges.iter().collect();
    let head = "INSERT INTO drain (edge, by, reason, since)";
    rows::insert(conn, head, 4, &edges, |put, (edge, drain)| {
        put.value(names.id(edge));
        put.value(drain.by.as_str());
        put.value(drain.reason.as_str());
        put.value(time::stored(drain.since));
    })
    .await?;
    let whole: Vec<(&Token, i64, &GroupEdge)> = drains
        .whole
        .iter()
        .flat_map(|(token, edges)| (0..).zip(edges).map(move |(place, edge)| (token, place, edge)))
        .collect();
    let head = "INSERT INTO drained_group (token, position, edge, weight)";
    rows::insert(conn, head, 4, &whole, |put, (token, position, edge)| {
        put.value(token.as_str());
        put.value(*position);
        put.value(names.id(&edge.name));
        put.value(i64::from(edge.weight));
    })
    .await
}

async fn remember(conn: &mut SqliteConnection, act: &Act, generation: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO act (at, generation, kind, by, reason, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    sqlx::query(sql)
        .bind(time::stored(act.at))
        .bind(generation)
        .bind(word(act.kind)?)
        .bind(act.by.as_str())
        .bind(act.reason.as_str())
        .bind(act.detail.as_str())
        .execute(conn)
        .await?;
    Ok(())
}

fn word(kind: ActKind) -> Result<String, Fault> {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        _ => Err(Fault::Damaged("an act has no word".to_owned())),
    }
}

/// The pin that holds.
pub(super) async fn pin(conn: &mut SqliteConnection) -> Result<Option<Pin>, Fault> {
    let sql = "SELECT kind, generation, by, reason, since, expires FROM pin WHERE to_gen = ?1";
    let Some(row) = sqlx::query(sql).bind(OPEN).fetch_optional(conn).await? else { return Ok(None) };
    let kind = match row.try_get::<&str, _>(0)? {
        "freeze" => PinKind::Freeze,
        _ => PinKind::Rollback,
    };
    Ok(Some(Pin {
        kind,
        generation: row.try_get::<i64, _>(1)?.cast_unsigned(),
        by: Name::from(row.try_get::<&str, _>(2)?),
        reason: Name::from(row.try_get::<&str, _>(3)?),
        since: time::loaded(row.try_get(4)?)?,
        expires: time::loaded(row.try_get(5)?)?,
    }))
}

/// The generation whose ranges were published at a generation: itself, unless one was pinned.
pub(super) async fn shown_at(conn: &mut SqliteConnection, generation: i64) -> Result<i64, Fault> {
    let sql = "SELECT generation FROM pin WHERE from_gen <= ?1 AND to_gen > ?1 ORDER BY id DESC LIMIT 1";
    let pinned: Option<i64> = sqlx::query_scalar(sql).bind(generation).fetch_optional(conn).await?;
    Ok(pinned.unwrap_or(generation))
}

/// The drains of now.
pub(super) async fn drains(conn: &mut SqliteConnection, names: &Names) -> Result<Drains, Fault> {
    let mut drains = Drains::default();
    for row in sqlx::query("SELECT edge, by, reason, since FROM drain").fetch_all(&mut *conn).await? {
        let drain = Drain {
            by: Name::from(row.try_get::<&str, _>(1)?),
            reason: Name::from(row.try_get::<&str, _>(2)?),
            since: time::loaded(row.try_get(3)?)?,
        };
        drains.edges.insert(names.name(row.try_get(0)?)?, drain);
    }
    drains.whole = whole(conn, names).await?;
    Ok(drains)
}

async fn whole(conn: &mut SqliteConnection, names: &Names) -> Result<BTreeMap<Token, Vec<GroupEdge>>, Fault> {
    let mut whole: BTreeMap<Token, Vec<GroupEdge>> = BTreeMap::new();
    let sql = "SELECT token, edge, weight FROM drained_group ORDER BY token, position";
    for row in sqlx::query(sql).fetch_all(conn).await? {
        let token = super::groups::token(row.try_get(0)?)?;
        let name = names.name(row.try_get(1)?)?;
        let weight = super::groups::weight(row.try_get(2)?)?;
        whole.entry(token).or_default().push(GroupEdge { name, weight });
    }
    Ok(whole)
}

/// What was done since a generation was the newest, oldest first.
pub(super) async fn since(conn: &mut SqliteConnection, generation: u64) -> Result<Vec<Remembered>, Fault> {
    let sql = "SELECT at, generation, kind, by, reason, detail FROM act WHERE generation >= ?1 ORDER BY id";
    let rows = sqlx::query(sql).bind(generation.cast_signed()).fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            let word: &str = row.try_get(2)?;
            let kind = serde_json::from_value(serde_json::Value::from(word))
                .map_err(|_| Fault::Damaged(format!("`{word}` is no act")))?;
            let act = Act {
                at: time::loaded(row.try_get(0)?)?,
                kind,
                by: Name::from(row.try_get::<&str, _>(3)?),
                reason: Name::from(row.try_get::<&str, _>(4)?),
                detail: row.try_get(5)?,
            };
            Ok(Remembered { generation: row.try_get::<i64, _>(1)?.cast_unsigned(), act })
        })
        .collect()
}
