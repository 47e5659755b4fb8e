//! What became of addresses, or of a BAS, over the generations that are kept.

use std::collections::HashMap;

use jiff::Timestamp;
use sqlx::{Row, SqliteConnection};

use super::entries::{self, Packed};
use super::error::Fault;
use super::names::Names;
use super::noted::{Begun, Noted};
use super::rows::{self, OPEN, Put};
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

/// What is asked of the rows of a topic.
macro_rules! page_of_topic {
    ($table:literal) => {
        entries::page_of!(
            $table,
            "(?5 IS NULL OR family = ?5 AND first <= ?6 AND last >= ?7) \
             AND (?8 IS NULL OR owner = ?8 OR bas = ?8)",
            "?9"
        )
    };
}

const PAGES_OF_TOPIC: [&str; 2] = [page_of_topic!("entry"), page_of_topic!("ended")];

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
    let noted = Noted::load(conn).await?;
    let mut pools = PoolNames::default();
    let mut found = Vec::new();
    for sql in PAGES_OF_TOPIC {
        let bind = |put: &mut Put, behind: entries::Key| {
            entries::put_key(put, behind);
            put.value(range.map(|range| i64::from(range.family().number())));
            put.value(range.map(|range| range.last_bits().to_be_bytes().to_vec()));
            put.value(range.map(|range| range.first_bits().to_be_bytes().to_vec()));
            put.value(name);
        };
        rows::pages(conn, sql, (i64::MIN, i64::MIN, 0, 0), bind, entries::entry_key, |page| {
            for packed in rows::unpack::<Vec<Packed<'_>>>(page)? {
                if entries::is_valid(&packed, &noted)? {
                    found.push(entries::entry_of(names, &mut pools, packed)?);
                }
            }
            Ok(())
        })
        .await?;
    }
    for (space, begun) in noted.open().filter(|(_, begun)| concerns(begun, range, name)) {
        found.push((begun.entry(space, names)?, begun.from, OPEN));
    }
    let times = times(conn).await?;
    let mut lifetimes: Vec<Lifetime> =
        found.into_iter().map(|found| lifetime(found, &times)).collect::<Result<_, _>>()?;
    lifetimes.sort_by(|a, b| {
        (&a.entry.space, a.entry.range, a.from).cmp(&(&b.entry.space, b.entry.range, b.from))
    });
    Ok(lifetimes)
}

/// Whether a row is one that is asked for.
fn concerns(begun: &Begun, range: Option<Range>, name: Option<i64>) -> bool {
    range.is_none_or(|range| begun.range.intersection(range).is_some())
        && name.is_none_or(|name| begun.owner == name || begun.bas == Some(name))
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
