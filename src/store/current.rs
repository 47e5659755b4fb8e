//! The table of now, read fast: it is all that a start waits for.
//!
//! The driver hands over one row at a time between threads and copies each cell; for a
//! million entries that takes longer than all the rest. So SQLite packs the columns of many
//! rows into a few values, and while one page is read here it packs the next one on its own
//! thread.

use sqlx::{Row, SqliteConnection};

use super::error::Fault;
use super::names::Names;
use super::rows::{named, range};
use crate::table::{Class, Entry, Name, PoolNames};

/// Rows of one page.
const PAGE: i64 = 8192;

/// The next space and family that have entries now.
const NEXT_GROUND: &str = "SELECT space, family FROM entry WHERE to_gen = 9223372036854775807 \
     AND (space, family) > (?1, ?2) ORDER BY space, family LIMIT 1";

/// Addresses have 16 octets each; numbers stand with commas between them, a class in one digit.
const PAGE_OF_NOW: &str = "SELECT CAST(group_concat(first || last, '') AS BLOB), group_concat(owner), \
     group_concat(ifnull(bas, 0)), group_concat(vrf), group_concat(class, ''), \
     CAST(group_concat(pool, '') AS BLOB), group_concat(length(pool)), count(pool_text) \
     FROM (SELECT * FROM entry WHERE to_gen = 9223372036854775807 AND space = ?1 AND family = ?2 \
     AND first > ?3 ORDER BY first LIMIT ?4)";

/// The texts of the pools of such a page, where any are told; a length of -1: none.
const TEXTS_OF_NOW: &str = "SELECT CAST(group_concat(ifnull(pool_text, ''), '') AS BLOB), \
     group_concat(ifnull(length(CAST(pool_text AS BLOB)), -1)) \
     FROM (SELECT * FROM entry WHERE to_gen = 9223372036854775807 AND space = ?1 AND family = ?2 \
     AND first > ?3 ORDER BY first LIMIT ?4)";

/// Columns of rows of one space and family, as SQLite packed them.
struct Page {
    addresses: Vec<u8>,
    owners: String,
    bases: String,
    vrfs: String,
    classes: String,
    pools: Vec<u8>,
    pool_lengths: String,
    texts: Option<(Vec<u8>, String)>,
}

/// Reads the entries that are valid now, by space number, family and first address.
pub(super) async fn read_current(
    conn: &mut SqliteConnection,
    names: &Names,
    pools: &mut PoolNames,
    mut each: impl FnMut(Entry) + Send,
) -> Result<(), Fault> {
    let mut ground = (i64::MIN, 0u8);
    loop {
        let next = sqlx::query(NEXT_GROUND).bind(ground.0).bind(i64::from(ground.1));
        let Some(row) = next.fetch_optional(&mut *conn).await? else { return Ok(()) };
        ground = (row.try_get(0)?, row.try_get(1)?);
        let space = names.name(ground.0)?;
        let mut page = Page::behind(conn, ground, Vec::new()).await?;
        while let Some(read) = page {
            let last = read.last()?;
            let (next, done) = tokio::join!(biased; Page::behind(conn, ground, last), async {
                read.entries(&space, ground.1, names, pools, &mut each)
            });
            done?;
            page = next?;
        }
    }
}

impl Page {
    /// The rows behind a first address; none where there are none.
    async fn behind(
        conn: &mut SqliteConnection,
        (space, family): (i64, u8),
        first: Vec<u8>,
    ) -> Result<Option<Self>, Fault> {
        let page = sqlx::query(PAGE_OF_NOW).bind(space).bind(i64::from(family));
        let row = page.bind(first.as_slice()).bind(PAGE).fetch_one(&mut *conn).await?;
        let Some(addresses) = row.try_get::<Option<Vec<u8>>, _>(0)? else { return Ok(None) };
        let told: i64 = row.try_get(7)?;
        let texts = match told {
            0 => None,
            _ => {
                let texts = sqlx::query(TEXTS_OF_NOW).bind(space).bind(i64::from(family));
                let row = texts.bind(first.as_slice()).bind(PAGE).fetch_one(&mut *conn).await?;
                Some((row.try_get(0)?, row.try_get(1)?))
            }
        };
        Ok(Some(Self {
            addresses,
            owners: row.try_get(1)?,
            bases: row.try_get(2)?,
            vrfs: row.try_get(3)?,
            classes: row.try_get(4)?,
            // Of nothing but empty names SQLite makes no octets.
            pools: row.try_get::<Option<_>, _>(5)?.unwrap_or_default(),
            pool_lengths: row.try_get(6)?,
            texts,
        }))
    }

    fn rows(&self) -> Result<&[[u8; 32]], Fault> {
        let (rows, rest) = self.addresses.as_chunks::<32>();
        if rest.is_empty() { Ok(rows) } else { Err(broken("an address that is not 16 octets long")) }
    }

    /// The last row's first address.
    fn last(&self) -> Result<Vec<u8>, Fault> {
        let last = self.rows()?.last().and_then(|row| row.first_chunk::<16>());
        last.map(|first| first.to_vec()).ok_or_else(|| broken("a page of no rows"))
    }

    fn entries(
        &self,
        space: &Name,
        family: u8,
        names: &Names,
        pools: &mut PoolNames,
        each: &mut impl FnMut(Entry),
    ) -> Result<(), Fault> {
        let (mut owners, mut bases, mut vrfs) =
            (numbers(&self.owners), numbers(&self.bases), numbers(&self.vrfs));
        let (mut lengths, mut octets) = (numbers(&self.pool_lengths), self.pools.as_slice());
        let mut texts = self.texts.as_ref().map(|(octets, lengths)| (octets.as_slice(), numbers(lengths)));
        let mut classes = self.classes.bytes();
        for row in self.rows()? {
            let (first, last) = row.split_at(16);
            let bas = next(&mut bases)?;
            let raw = take(&mut octets, next(&mut lengths)?)?;
            let text = match &mut texts {
                Some((octets, lengths)) => match next(lengths)? {
                    -1 => None,
                    length => Some(take(octets, length)?),
                },
                None => None,
            };
            let class = classes.next().and_then(|digit| Class::from_number(digit.wrapping_sub(b'0')));
            each(Entry {
                space: space.clone(),
                range: range(family, bits(first), bits(last))?,
                owner: names.name(next(&mut owners)?)?,
                bas: if bas == 0 { None } else { Some(names.name(bas)?) },
                pool: named(pools, raw, text)?,
                vrf: names.name(next(&mut vrfs)?)?,
                class: class.ok_or_else(|| broken("an entry of an unknown class"))?,
            });
        }
        Ok(())
    }
}

fn broken(what: &str) -> Fault {
    Fault::Damaged(format!("the table has {what}"))
}

fn bits(octets: &[u8]) -> u128 {
    octets.iter().fold(0, |bits, octet| bits << 8 | u128::from(*octet))
}

fn numbers(list: &str) -> impl Iterator<Item = Option<i64>> {
    list.split(',').map(|number| number.parse().ok())
}

fn next(numbers: &mut impl Iterator<Item = Option<i64>>) -> Result<i64, Fault> {
    numbers.next().flatten().ok_or_else(|| broken("a row that lacks a number"))
}

fn take<'a>(octets: &mut &'a [u8], length: i64) -> Result<&'a [u8], Fault> {
    let length = usize::try_from(length).ok();
    let split = length.and_then(|length| octets.split_at_checked(length));
    let (taken, rest) = split.ok_or_else(|| broken("a pool's name of another length"))?;
    *octets = rest;
    Ok(taken)
}
