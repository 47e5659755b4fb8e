//! What is remembered per BAS, and by the guard.
//!
//! Most of a memory changes with every poll and is small; what a BAS lists, and since when,
//! is large and changes seldom. The parts are kept apart, and those that have not changed
//! since they were last written are not written again.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::{Row as _, SqliteConnection};

use super::error::Fault;
use super::names::Names;
use super::rows::{self, Put};
use super::time;
use crate::address::Range;
use crate::table::{
    GuardMemory, Hold, Listed, ListedRef, Listing, Memory, Miss, Name, PoolNames, Row, Seen, SeenList,
    Standing,
};

/// What of a memory is in the database, as hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    listed: u64,
    seen: u64,
}

/// Saves what has changed of one BAS's memory.
pub(super) async fn save(
    conn: &mut SqliteConnection,
    names: &mut Names,
    written: &mut HashMap<Name, Written>,
    bas: &Name,
    memory: &Memory,
) -> Result<(), Fault> {
    let id = names.id(bas);
    let parts = Parts::of(memory, names)?;
    let now = Written { listed: hash_listed(&memory.listed), seen: hash_of(&parts.seen) };
    let before = written.get(bas).copied();
    save_parts(conn, id, parts, before.is_none_or(|before| before.seen != now.seen)).await?;
    if before.is_none_or(|before| before.listed != now.listed) {
        save_listed(conn, names, id, &memory.listed).await?;
    }
    written.insert(bas.clone(), now);
    Ok(())
}

/// The columns of `bas_state`.
struct Parts {
    state: String,
    seen: String,
    used: String,
}

impl Parts {
    fn of(memory: &Memory, names: &mut Names) -> Result<Self, Fault> {
        let mut rest = memory.clone();
        rest.listed = Listing::default();
        let (seen, misses) = (std::mem::take(&mut rest.seen), std::mem::take(&mut rest.misses));
        let used: Vec<Option<u64>> = memory.listed.iter().map(|listed| listed.used).collect();
        let seen = pack(names, &seen, &misses);
        Ok(Self { state: to_json(&rest)?, seen, used: to_json(&used)? })
    }
}

/// Space, family, first and last in hex, and since when (nanoseconds since 1970) or how often.
type Stretch<'a> = (i64, u8, &'a str, &'a str, i64);

/// Since when addresses are listed, and how often they were missing, as `[[...],[...]]` of
/// [`Stretch`]es: a fleet has as many of them as it has ranges.
fn pack(names: &mut Names, seen: &SeenList, misses: &[Miss]) -> String {
    let seen = seen.iter().map(|seen| (seen.space, seen.range, time::stored(seen.since)));
    let seen = pack_stretches(names, seen);
    let misses = misses.iter().map(|miss| (miss.space.clone(), miss.range, i64::from(miss.polls)));
    format!("[[{seen}],[{}]]", pack_stretches(names, misses))
}

fn pack_stretches(names: &mut Names, of: impl Iterator<Item = (Name, Range, i64)>) -> String {
    let mut json = String::new();
    for (space, range, number) in of {
        let (space, family) = (names.id(&space), range.family().number());
        let (first, last) = (range.first_bits(), range.last_bits());
        let comma = if json.is_empty() { "" } else { "," };
        json.push_str(&format!("{comma}[{space},{family},\"{first:x}\",\"{last:x}\",{number}]"));
    }
    json
}

fn unpack_seen(names: &Names, json: &str) -> Result<(SeenList, Vec<Miss>), Fault> {
    let (seen, misses): (Vec<Stretch<'_>>, Vec<Stretch<'_>>) = rows::unpack(json)?;
    let range = |s: &Stretch<'_>| rows::range(s.1, rows::bits(s.2)?, rows::bits(s.3)?);
    let seen = seen
        .iter()
        .map(|s| Ok(Seen { space: names.name(s.0)?, range: range(s)?, since: time::loaded(s.4)? }));
    let misses = misses.iter().map(|s| {
        let polls = u32::try_from(s.4).map_err(|_| Fault::Damaged(format!("{} polls missed", s.4)))?;
        Ok(Miss { space: names.name(s.0)?, range: range(s)?, polls })
    });
    Ok((seen.collect::<Result<_, Fault>>()?, misses.collect::<Result<_, Fault>>()?))
}

async fn save_parts(conn: &mut SqliteConnection, id: i64, parts: Parts, seen: bool) -> Result<(), Fault> {
    let sql = if seen {
        "INSERT INTO bas_state (bas, state, used, seen) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (bas) \
         DO UPDATE SET state = excluded.state, used = excluded.used, seen = excluded.seen"
    } else {
        "UPDATE bas_state SET state = ?2, used = ?3 WHERE bas = ?1"
    };
    let mut put = Put::default();
    put.value(id);
    put.value(parts.state);
    put.value(parts.used);
    if seen {
        put.value(parts.seen);
    }
    put.execute(conn, sql.to_owned()).await?;
    Ok(())
}

async fn save_listed(
    conn: &mut SqliteConnection,
    names: &mut Names,
    id: i64,
    listed: &Listing,
) -> Result<(), Fault> {
    sqlx::query("DELETE FROM listed WHERE bas = ?1").bind(id).execute(&mut *conn).await?;
    let head = "INSERT INTO listed (bas, position, source, context, arcs, space, vrf, pool, pool_text, \
                family, first, last, size, standing)";
    let mut position = 0i64;
    let rows: Vec<ListedRef<'_>> = listed.iter().collect();
    rows::insert(conn, head, 14, &rows, |put, listed| {
        put.value(id);
        put.value(position);
        put.value(names.id(listed.table));
        put.value(names.id(listed.context));
        put.value(listed.index.iter().flat_map(|arc| arc.to_be_bytes()).collect::<Vec<u8>>());
        put.value(listed.space.map(|space| names.id(space)));
        put.value(names.id(listed.vrf));
        rows::put_pool(put, listed.pool);
        rows::put_range(put, listed.range);
        put.value(listed.size.map(u64::cast_signed));
        put.value(i64::from(listed.standing == Standing::Unread));
        position += 1;
    })
    .await
}

/// The memories of all BASes, and what of them need not be written again.
pub(super) async fn load(
    conn: &mut SqliteConnection,
    names: &Names,
    pools: &mut PoolNames,
) -> Result<(BTreeMap<Name, Memory>, HashMap<Name, Written>), Fault> {
    let (mut memories, mut written) = (BTreeMap::new(), HashMap::new());
    let mut used_of: HashMap<i64, Vec<Option<u64>>> = HashMap::new();
    for row in sqlx::query("SELECT bas, state, seen, used FROM bas_state").fetch_all(&mut *conn).await? {
        let id: i64 = row.try_get(0)?;
        let bas = names.name(id)?;
        let mut memory: Memory = from_json(&bas, row.try_get(1)?)?;
        let seen: &str = row.try_get(2)?;
        (memory.seen, memory.misses) = unpack_seen(names, seen)?;
        used_of.insert(id, from_json(&bas, row.try_get(3)?)?);
        written.insert(bas.clone(), Written { listed: hash_listed(&memory.listed), seen: hash_of(seen) });
        memories.insert(bas, memory);
    }
    load_listed(conn, names, pools, |id, mut listed| {
        // Of a BAS that is not remembered there is nothing to be known.
        let Some(used) = used_of.remove(&id) else { return Ok(()) };
        let bas = names.name(id)?;
        give_use(&bas, &mut listed, used)?;
        let listed = Listing::from(listed);
        if let Some(written) = written.get_mut(&bas) {
            written.listed = hash_listed(&listed);
        }
        if let Some(memory) = memories.get_mut(&bas) {
            memory.listed = listed;
        }
        Ok(())
    })
    .await?;
    for (id, used) in used_of {
        give_use(&names.name(id)?, &mut [], used)?;
    }
    Ok((memories, written))
}

/// Says of a BAS's ranges how much of them is in use, which is kept beside them.
fn give_use(bas: &Name, listed: &mut [Listed], used: Vec<Option<u64>>) -> Result<(), Fault> {
    let (ranges, uses) = (listed.len(), used.len());
    if ranges != uses {
        let what = format!("of BAS {bas} it has {ranges} ranges but the use of {uses}");
        return Err(Fault::Damaged(what));
    }
    listed.iter_mut().zip(used).for_each(|(listed, used)| listed.used = used);
    Ok(())
}

/// What is remembered per BAS, without what it lists and since when.
pub(super) async fn load_states(
    conn: &mut SqliteConnection,
    names: &Names,
) -> Result<BTreeMap<Name, Memory>, Fault> {
    let rows = sqlx::query("SELECT bas, state FROM bas_state").fetch_all(&mut *conn).await?;
    let state = |row: &sqlx::sqlite::SqliteRow| {
        let bas = names.name(row.try_get(0)?)?;
        let memory = from_json(&bas, row.try_get(1)?)?;
        Ok((bas, memory))
    };
    rows.iter().map(state).collect()
}

/// A listed range as a page has it.
type Packed<'a> = (
    i64,
    i64,
    i64,
    i64,
    &'a str,
    Option<i64>,
    i64,
    &'a str,
    Option<&'a str>,
    u8,
    &'a str,
    &'a str,
    Option<i64>,
    u8,
);

const PAGE_OF_LISTED: &str = "SELECT json_group_array(json_array(bas, position, source, context, hex(arcs), space, vrf, \
     hex(pool), iif(pool_text IS NULL, NULL, hex(pool_text)), family, hex(first), hex(last), size, \
     standing)) FROM (SELECT * FROM listed WHERE (bas, position) > (?, ?) \
     ORDER BY bas, position LIMIT ?)";

/// Reads the ranges of one BAS after the other.
async fn load_listed(
    conn: &mut SqliteConnection,
    names: &Names,
    pools: &mut PoolNames,
    mut each: impl FnMut(i64, Vec<Listed>) -> Result<(), Fault> + Send,
) -> Result<(), Fault> {
    let mut open: Option<(i64, Vec<Listed>)> = None;
    let bind = |put: &mut Put, behind: (i64, i64)| {
        put.value(behind.0);
        put.value(behind.1);
    };
    let key = |row: &str| rows::unpack::<Packed<'_>>(row).map(|row| (row.0, row.1));
    rows::pages(conn, PAGE_OF_LISTED, (i64::MIN, i64::MIN), bind, key, |page| {
        for packed in rows::unpack::<Vec<Packed<'_>>>(page)? {
            let bas = packed.0;
            let listed = listed_of(names, pools, packed)?;
            match &mut open {
                Some((of, rows)) if *of == bas => rows.push(listed),
                _ => {
                    if let Some((of, rows)) = open.replace((bas, vec![listed])) {
                        each(of, rows)?;
                    }
                }
            }
        }
        Ok(())
    })
    .await?;
    open.map_or(Ok(()), |(of, rows)| each(of, rows))
}

fn listed_of(names: &Names, pools: &mut PoolNames, packed: Packed<'_>) -> Result<Listed, Fault> {
    let (_, _, table, context, arcs, space, vrf, raw, text, family, first, last, size, standing) = packed;
    let arcs = rows::octets(arcs)?;
    let (arcs, rest) = arcs.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Fault::Damaged("an index has a part of an arc".to_owned()));
    }
    Ok(Listed {
        table: names.name(table)?,
        row: Row {
            context: names.name(context)?,
            index: arcs.iter().map(|arc| u32::from_be_bytes(*arc)).collect(),
        },
        space: space.map(|space| names.name(space)).transpose()?,
        vrf: names.name(vrf)?,
        pool: rows::pool_name(pools, raw, text)?,
        range: rows::range(family, rows::bits(first)?, rows::bits(last)?)?,
        size: size.map(i64::cast_unsigned),
        used: None,
        standing: if standing == 0 { Standing::Listed } else { Standing::Unread },
    })
}

/// Saves what has changed of the guard's memory.
pub(super) async fn save_guard(
    conn: &mut SqliteConnection,
    before: Option<&GuardMemory>,
    guard: &GuardMemory,
) -> Result<(), Fault> {
    if before == Some(guard) {
        return Ok(());
    }
    let mut rest = guard.clone();
    let holds = std::mem::take(&mut rest.holds);
    let body = to_json(&rest)?;
    sqlx::query("INSERT INTO guard VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET body = excluded.body")
        .bind(body)
        .execute(&mut *conn)
        .await?;
    let mut old: HashMap<u64, Option<&Hold>> = match before {
        Some(before) => before.holds.iter().map(|hold| (hold.id, Some(hold))).collect(),
        None => ids_of_holds(conn).await?.into_iter().map(|id| (id, None)).collect(),
    };
    for hold in &holds {
        if old.remove(&hold.id).flatten() == Some(hold) {
            continue;
        }
        sqlx::query("INSERT INTO hold VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body")
            .bind(hold.id.cast_signed())
            .bind(to_json(hold)?)
            .execute(&mut *conn)
            .await?;
    }
    for id in old.into_keys() {
        sqlx::query("DELETE FROM hold WHERE id = ?1").bind(id.cast_signed()).execute(&mut *conn).await?;
    }
    Ok(())
}

async fn ids_of_holds(conn: &mut SqliteConnection) -> Result<Vec<u64>, Fault> {
    let ids: Vec<i64> = sqlx::query_scalar("SELECT id FROM hold").fetch_all(conn).await?;
    Ok(ids.into_iter().map(i64::cast_unsigned).collect())
}

/// What the guard remembers; its holds by number.
pub(super) async fn load_guard(conn: &mut SqliteConnection) -> Result<GuardMemory, Fault> {
    let body: Option<String> =
        sqlx::query_scalar("SELECT body FROM guard WHERE id = 1").fetch_optional(&mut *conn).await?;
    let mut guard: GuardMemory = match body {
        Some(body) => rows::unpack(&body)?,
        None => GuardMemory::default(),
    };
    let bodies: Vec<String> =
        sqlx::query_scalar("SELECT body FROM hold ORDER BY id").fetch_all(&mut *conn).await?;
    guard.holds = bodies.iter().map(|body| rows::unpack(body)).collect::<Result<_, _>>()?;
    Ok(guard)
}

pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String, Fault> {
    // Only a map with keys that are no text could fail.
    serde_json::to_string(value).map_err(|error| Fault::Sql(sqlx::Error::Encode(Box::new(error))))
}

fn from_json<T: DeserializeOwned>(bas: &Name, json: &str) -> Result<T, Fault> {
    serde_json::from_str(json)
        .map_err(|error| Fault::Damaged(format!("what it remembers of BAS {bas}: {error}")))
}

fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Of all but the use, which is kept beside the rows.
fn hash_listed(listed: &Listing) -> u64 {
    let mut hasher = DefaultHasher::new();
    for l in listed.iter() {
        let place = (l.table, l.context, l.index, l.space, l.vrf);
        (place, l.pool, l.pool.text(), l.range, l.size).hash(&mut hasher);
        (l.standing == Standing::Unread).hash(&mut hasher);
    }
    hasher.finish()
}
