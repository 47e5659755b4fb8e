//! What became of addresses, or of a BAS, over the generations that are kept.

use std::collections::HashMap;

use jiff::Timestamp;
use sqlx::{Row, SqliteConnection};

use super::error::Fault;
use super::names::Names;
use super::rows::{self, OPEN, Packed, Put};
use super::time;
use crate::address::Range;
use crate::table::{Entry, Name, PoolNames};

/// What history is asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Entries that reach into these addresses, in any space.
    Range(Range),
    /// Entries of a BAS, or of an owner.
    Name(Name),
}

/// An entry, and from when to when it was in the table. Pins left it as it was: they change
/// what is published, and are told of apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The entry.
    pub entry: Entry,
    /// The generation that it came with.
    pub from: u64,
    /// When that was committed.
    pub began: Timestamp,
    /// The first generation that it is not in; none while it is in the table.
    pub to: Option<u64>,
    /// When that was committed.
    pub ended: Option<Timestamp>,
}

const PAGE_OF_TOPIC: &str = "SELECT json_group_array(json_array(to_gen, space, family, hex(first), hex(last), owner, \
     bas, hex(pool), iif(pool_text IS NULL, NULL, hex(pool_text)), vrf, class, from_gen)) \
     FROM (SELECT * FROM entry WHERE (to_gen, space, family, first) > (?1, ?2, ?3, ?4) \
     AND (?5 IS NULL OR family = ?5 AND first <= ?6 AND last >= ?7) \
     AND (?8 IS NULL OR owner = ?8 OR bas = ?8) \
     ORDER BY to_gen, space, family, first LIMIT ?9)";

/// The entries of a topic that are kept, by space and range, the oldest first.
pub(super) async fn of(
    conn: &mut SqliteConnection,
    names: &Names,
    topic: &Topic,
) -> Result<Vec<Lifetime>, Fault> {
    let (range, name) = match topic {
        Topic::Range(range) => (Some(*range), None),
        // A name that the database does not have is nobody's.
        Topic::Name(name) => match names.known(name) {
            Some(id) => (None, Some(id)),
            None => return Ok(Vec::new()),
        },
    };
    let bind = |put: &mut Put, behind: (i64, i64, u8, u128)| {
        put.value(behind.0);
        put.value(behind.1);
        put.value(i64::from(behind.2));
        put.value(behind.3.to_be_bytes().to_vec());
        put.value(range.map(|range| i64::from(range.family().number())));
        put.value(range.map(|range| range.last_bits().to_be_bytes().to_vec()));
        put.value(range.map(|range| range.first_bits().to_be_bytes().to_vec()));
        put.value(name);
    };
    let mut pools = PoolNames::default();
    let mut found = Vec::new();
    rows::pages(conn, PAGE_OF_TOPIC, (i64::MIN, i64::MIN, 0, 0), bind, rows::entry_key, |page| {
        for packed in rows::unpack::<Vec<Packed<'_>>>(page)? {
            found.push(rows::entry_of(names, &mut pools, packed)?);
        }
        Ok(())
    })
    .await?;
    let times = times(conn).await?;
    let mut lifetimes: Vec<Lifetime> =
        found.into_iter().map(|found| lifetime(found, &times)).collect::<Result<_, _>>()?;
    lifetimes.sort_by(|a, b| {
        (&a.entry.space, a.entry.range, a.from).cmp(&(&b.entry.space, b.entry.range, b.from))
    });
    Ok(lifetimes)
}

fn lifetime(
    (entry, from, to): (Entry, i64, i64),
    times: &HashMap<i64, Timestamp>,
) -> Result<Lifetime, Fault> {
    let time = |number: i64| {
        let missing = || Fault::Damaged(format!("generation {number} is missing"));
        times.get(&number).copied().ok_or_else(missing)
    };
    let ended = (to != OPEN).then_some(to);
    Ok(Lifetime {
        entry,
        from: from.cast_unsigned(),
        began: time(from)?,
        to: ended.map(i64::cast_unsigned),
        ended: ended.map(time).transpose()?,
    })
}

async fn times(conn: &mut SqliteConnection) -> Result<HashMap<i64, Timestamp>, Fault> {
    let rows = sqlx::query("SELECT number, committed FROM generation").fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, time::loaded(row.try_get(1)?)?))).collect()
}
