//! What can be asked of a store. Each question is one read transaction, so that its parts
//! belong together.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use sqlx::{Row, SqliteConnection};

use super::acts;
use super::commit::{Known, Newest};
use super::current;
use super::digest::Digest;
use super::entries::{self, Span};
use super::error::Fault;
use super::groups;
use super::memory;
use super::names::Names;
use super::rows::OPEN;
use super::time;
use crate::address::Range;
use crate::table::{
    Change, Class, Drains, Entry, Groups, GuardMemory, Memory, Name, Pin, PoolNames, Run, Session, Table,
};

/// All that a start needs.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The store's identity.
    pub session: Session,
    /// The newest generation; 0 before the first.
    pub generation: u64,
    /// When it was committed; none before the first.
    pub committed: Option<Timestamp>,
    /// Whether enough of the fleet has been read for the table to be published.
    pub filled: bool,
    /// The first generation that was published.
    pub shown: Option<u64>,
    /// The table, as polls and the guard have it. An entry's class is that of when it was
    /// committed; only its origin is kept up to date.
    pub table: Table,
    /// What is published instead, and why.
    pub pinned: Option<(Pin, Table)>,
    /// The drained edges.
    pub drains: Drains,
    /// The groups.
    pub groups: Groups,
    /// What is remembered per BAS.
    pub memories: BTreeMap<Name, Memory>,
    /// The pools' names in both, each kept once.
    pub pools: PoolNames,
    /// What the guard remembers; its holds by number.
    pub guard: GuardMemory,
    /// What steering remembers, as it was given.
    pub steering: Option<String>,
}

/// The table of one generation.
#[derive(Clone, Debug)]
pub struct Past {
    /// Its number.
    pub generation: u64,
    /// When it was committed; none for generation 0, the empty table.
    pub committed: Option<Timestamp>,
    /// Whose ranges they are: another generation's, where one was pinned.
    pub ranges_of: u64,
    /// The entries that were published.
    pub table: Table,
    /// The groups.
    pub groups: Groups,
}

/// What one generation changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its number.
    pub number: u64,
    /// When it was committed.
    pub committed: Timestamp,
    /// How many entries the table had then.
    pub entries: u64,
    /// How many entries it added.
    pub added: u64,
    /// How many it removed.
    pub removed: u64,
    /// How many it altered.
    pub altered: u64,
    /// Whether it changed groups.
    pub groups: bool,
}

pub(super) struct Meta {
    pub(super) session: Session,
    pub(super) filled: bool,
    oldest: i64,
    shown: Option<i64>,
}

pub(super) async fn meta(conn: &mut SqliteConnection) -> Result<Meta, Fault> {
    let row = sqlx::query("SELECT session, filled, oldest, shown FROM meta").fetch_optional(conn).await?;
    let row = row.ok_or_else(|| Fault::Damaged("it has no session".to_owned()))?;
    let session: i64 = row.try_get(0)?;
    Ok(Meta {
        session: Session(session.cast_unsigned()),
        filled: row.try_get(1)?,
        oldest: row.try_get(2)?,
        shown: row.try_get(3)?,
    })
}

pub(super) async fn session(conn: &mut SqliteConnection) -> Result<Session, Fault> {
    Ok(meta(conn).await?.session)
}

pub(super) async fn load(conn: &mut SqliteConnection, known: &mut Known) -> Result<Loaded, Fault> {
    let mut pools = PoolNames::default();
    let (memories, written) = memory::load(conn, &known.names, &mut pools).await?;
    let loaded = load_with(conn, &known.names, memories, pools).await?;
    known.memories = written;
    known.guard = Some(loaded.guard.clone());
    Ok(loaded)
}

/// All but what BASes list, which of a large fleet is as much as the table.
pub(super) async fn load_table(conn: &mut SqliteConnection, names: &Names) -> Result<Loaded, Fault> {
    let memories = memory::load_states(conn, names).await?;
    load_with(conn, names, memories, PoolNames::default()).await
}

async fn load_with(
    conn: &mut SqliteConnection,
    names: &Names,
    memories: BTreeMap<Name, Memory>,
    mut pools: PoolNames,
) -> Result<Loaded, Fault> {
    let meta = meta(conn).await?;
    let newest = Newest::load(conn).await?;
    let table = entries_now(conn, names, &mut pools, &newest).await?;
    let groups = groups::at(conn, names, newest.number).await?;
    let guard = memory::load_guard(conn).await?;
    let pinned = match acts::pin(conn).await? {
        Some(pin) => {
            let number = kept(conn, pin.generation).await?;
            let table = ranges_at(conn, names, number).await?;
            Some((pin, table))
        }
        None => None,
    };
    let drains = acts::drains(conn, names).await?;
    let steering = sqlx::query_scalar("SELECT body FROM steering").fetch_optional(&mut *conn).await?;
    Ok(Loaded {
        session: meta.session,
        generation: newest.number.cast_unsigned(),
        committed: newest.committed.map(time::loaded).transpose()?,
        filled: meta.filled,
        shown: meta.shown.map(i64::cast_unsigned),
        table,
        pinned,
        drains,
        groups,
        memories,
        pools,
        guard,
        steering,
    })
}

/// The table of now, checked against what the newest generation's row says of it.
async fn entries_now(
    conn: &mut SqliteConnection,
    names: &Names,
    pools: &mut PoolNames,
    newest: &Newest,
) -> Result<Table, Fault> {
    let mut check = Check::new(newest.number, newest.entries, newest.digest);
    current::read_current(conn, names, pools, |entry| check.add(entry)).await?;
    check.table()
}

/// The table of a generation, checked against what the generation's row says of it.
async fn entries_at(
    conn: &mut SqliteConnection,
    names: &Names,
    generation: i64,
    count: i64,
    digest: Digest,
) -> Result<Table, Fault> {
    let mut check = Check::new(generation, count, digest);
    entries::read_entries(conn, names, Span::at(generation), |entry, _, _| check.add(entry)).await?;
    check.table()
}

/// Entries as they are read, and what they have to come to.
struct Check {
    generation: i64,
    count: i64,
    digest: Digest,
    found: Digest,
    entries: Vec<Entry>,
}

impl Check {
    fn new(generation: i64, count: i64, digest: Digest) -> Self {
        let room = usize::try_from(count).unwrap_or_default().min(1 << 24);
        Self { generation, count, digest, found: Digest::default(), entries: Vec::with_capacity(room) }
    }

    fn add(&mut self, entry: Entry) {
        self.found.add(&entry);
        self.entries.push(entry);
    }

    fn table(self) -> Result<Table, Fault> {
        let Self { generation, count, digest, found, entries } = self;
        if (entries.len() as i64, found) != (count, digest) {
            let detail = format!(
                "the table of generation {generation} has {} entries where {count} were committed, or others",
                entries.len()
            );
            return Err(Fault::Damaged(detail));
        }
        Table::new(entries).map_err(|pair| {
            let (a, b) = *pair;
            Fault::Damaged(format!("entries {} and {} of space {} overlap", a.range, b.range, a.space))
        })
    }
}

pub(super) async fn table_at(
    conn: &mut SqliteConnection,
    names: &Names,
    generation: u64,
) -> Result<Past, Fault> {
    let number = kept(conn, generation).await?;
    let committed: Option<i64> = sqlx::query_scalar("SELECT committed FROM generation WHERE number = ?1")
        .bind(number)
        .fetch_optional(&mut *conn)
        .await?;
    let ranges_of = shown(conn, number).await?;
    Ok(Past {
        generation,
        committed: committed.map(time::loaded).transpose()?,
        ranges_of: ranges_of.cast_unsigned(),
        table: ranges_at(conn, names, ranges_of).await?,
        groups: groups::at(conn, names, number).await?,
    })
}

pub(super) async fn groups_at(
    conn: &mut SqliteConnection,
    names: &Names,
    generation: u64,
) -> Result<Groups, Fault> {
    let number = kept(conn, generation).await?;
    groups::at(conn, names, number).await
}

/// The generation whose ranges were published at one that is kept.
async fn shown(conn: &mut SqliteConnection, number: i64) -> Result<i64, Fault> {
    let shown = acts::shown_at(conn, number).await?;
    kept(conn, shown.cast_unsigned()).await
}

async fn ranges_at(conn: &mut SqliteConnection, names: &Names, number: i64) -> Result<Table, Fault> {
    let row = sqlx::query("SELECT entries, digest FROM generation WHERE number = ?1")
        .bind(number)
        .fetch_optional(&mut *conn)
        .await?;
    let (count, digest) = match row {
        Some(row) => (row.try_get(0)?, Digest::from_stored(row.try_get(1)?)),
        None if number == 0 => (0, Digest::default()),
        None => return Err(Fault::Damaged(format!("generation {number} is missing"))),
    };
    entries_at(conn, names, number, count, digest).await
}

/// A generation's number, where its table can still be told.
async fn kept(conn: &mut SqliteConnection, generation: u64) -> Result<i64, Fault> {
    let oldest = meta(conn).await?.oldest;
    let newest = Newest::load(conn).await?.number;
    match i64::try_from(generation) {
        Ok(number) if (oldest..=newest).contains(&number) => Ok(number),
        _ => Err(Fault::NoGeneration {
            wanted: generation,
            oldest: oldest.cast_unsigned(),
            newest: newest.cast_unsigned(),
        }),
    }
}

pub(super) async fn changes_between(
    conn: &mut SqliteConnection,
    names: &Names,
    from: u64,
    to: u64,
) -> Result<Vec<Change>, Fault> {
    let (a, b) = (kept(conn, from).await?, kept(conn, to).await?);
    let (a, b) = (shown(conn, a).await?, shown(conn, b).await?);
    let (low, high) = (a.min(b), a.max(b));
    let gone = Span { to_after: low, to_until: high, from_after: i64::MIN, from_until: low };
    let come = Span { to_after: high, to_until: OPEN, from_after: low, from_until: high };
    let (before, after) = if a <= b { (gone, come) } else { (come, gone) };
    let mut sides: BTreeMap<(Name, Range), (Option<Entry>, Option<Entry>)> = BTreeMap::new();
    entries::read_entries(conn, names, before, |entry, _, _| {
        let key = (entry.space.clone(), entry.range);
        sides.entry(key).or_default().0 = Some(entry);
    })
    .await?;
    entries::read_entries(conn, names, after, |entry, _, _| {
        let key = (entry.space.clone(), entry.range);
        sides.entry(key).or_default().1 = Some(entry);
    })
    .await?;
    let change = |sides: (Option<Entry>, Option<Entry>)| match sides {
        (Some(before), Some(after)) if before.says_same(&after) => None,
        (Some(before), Some(after)) => Some(Change::Altered { before, after }),
        (Some(before), None) => Some(Change::Removed(before)),
        (None, Some(after)) => Some(Change::Added(after)),
        (None, None) => None,
    };
    Ok(sides.into_values().filter_map(change).collect())
}

pub(super) async fn generations(conn: &mut SqliteConnection, limit: u32) -> Result<Vec<Generation>, Fault> {
    let oldest = meta(conn).await?.oldest;
    let sql = "SELECT number, committed, entries, added, removed, altered, groups FROM generation \
               WHERE number >= ?1 ORDER BY number DESC LIMIT ?2";
    let rows = sqlx::query(sql).bind(oldest).bind(i64::from(limit)).fetch_all(conn).await?;
    let count = |row: &sqlx::sqlite::SqliteRow, column: usize| -> Result<u64, Fault> {
        Ok(row.try_get::<i64, _>(column)?.cast_unsigned())
    };
    rows.iter()
        .map(|row| {
            Ok(Generation {
                number: count(row, 0)?,
                committed: time::loaded(row.try_get(1)?)?,
                entries: count(row, 2)?,
                added: count(row, 3)?,
                removed: count(row, 4)?,
                altered: count(row, 5)?,
                groups: row.try_get(6)?,
            })
        })
        .collect()
}

/// The generation that was the newest at a time.
///
/// Times may step back, generation numbers do not. The first generation dated later than the
/// time ends the search, except that one dated after the newest, while that one lies after
/// the time too, was dated by a clock that has been set right since. In doubt the answer is
/// too early a generation: a window that begins too early holds too much back, one that
/// begins too late lets a loss through.
pub(super) async fn generation_at(conn: &mut SqliteConnection, at: Timestamp) -> Result<i64, Fault> {
    let newest = Newest::load(conn).await?;
    let at = time::stored(at);
    let credible = newest.committed.filter(|committed| *committed > at).unwrap_or(i64::MAX);
    let sql = "SELECT min(number) FROM generation WHERE committed > ?1 AND committed <= ?2";
    let later: Option<i64> = sqlx::query_scalar(sql).bind(at).bind(credible).fetch_one(&mut *conn).await?;
    let oldest = meta(conn).await?.oldest;
    Ok(later.map_or(newest.number, |later| later - 1).max(oldest))
}

/// What of the runs the guard's reference is made of. Those that go on, nearly all, are left
/// in the database: of a large table they take as much memory as the table.
pub(super) async fn runs_ended_since(
    conn: &mut SqliteConnection,
    names: &Names,
    since: Timestamp,
) -> Result<Vec<Run>, Fault> {
    let start = generation_at(conn, since).await?;
    let times = times(conn, start).await?;
    let ended = Span { to_after: start, to_until: OPEN - 1, from_after: i64::MIN, from_until: OPEN };
    let mut runs = Vec::new();
    read_runs(conn, names, ended, &times, since, |run| runs.push(run)).await?;
    let ends: HashSet<Timestamp> = runs.iter().filter_map(|run| run.to).collect();
    if ends.is_empty() {
        return Ok(runs);
    }
    let begun = Span { to_after: OPEN - 1, to_until: OPEN, from_after: start, from_until: OPEN };
    let goes_on = |run: Run| runs.extend(Some(run).filter(|run| ends.contains(&run.from)));
    read_runs(conn, names, begun, &times, since, goes_on).await?;
    Ok(runs)
}

async fn read_runs(
    conn: &mut SqliteConnection,
    names: &Names,
    span: Span,
    times: &HashMap<i64, Timestamp>,
    since: Timestamp,
    mut each: impl FnMut(Run) + Send,
) -> Result<(), Fault> {
    let mut untimed = None;
    entries::read_entries(conn, names, span, |entry, from, to| {
        if entry.class == Class::Fill {
            return;
        }
        let begun = times.get(&from).copied();
        let ended = if to == OPEN { Some(None) } else { times.get(&to).copied().map(Some) };
        match begun.zip(ended) {
            // A clock that stepped back must not end a run before it begins, nor before the
            // window in which it was seen.
            Some((begun, ended)) => each(Run {
                space: entry.space,
                range: entry.range,
                owner: entry.owner,
                from: begun,
                to: ended.map(|ended| ended.max(begun).max(since)),
            }),
            None => untimed = Some(from),
        }
    })
    .await?;
    match untimed {
        Some(generation) => Err(Fault::Damaged(format!("generation {generation} is missing"))),
        None => Ok(()),
    }
}

/// When the generations were committed that entries which ended after one refer to, and those
/// after it.
async fn times(conn: &mut SqliteConnection, start: i64) -> Result<HashMap<i64, Timestamp>, Fault> {
    let sql = "SELECT number, committed FROM generation WHERE number > ?1 \
               OR number IN (SELECT from_gen FROM entry WHERE to_gen > ?1 AND to_gen < ?2) \
               OR number IN (SELECT from_gen FROM ended)";
    let rows = sqlx::query(sql).bind(start).bind(OPEN).fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, time::loaded(row.try_get(1)?)?))).collect()
}
