//! The table of now, read fast: it is all that a start waits for.
//!
//! The driver hands over one row at a time between threads and copies each cell; for a
//! million entries that takes longer than all the rest. So SQLite packs the columns of many
//! rows into a few values, and while one page is read here it packs the next one on its own
//! thread.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::error::Fault;
use super::names::Names;
use super::noted::{Key, Noted};
use super::rows::{named, range};
use crate::address::Range;
use crate::table::{Class, Entry, PoolNames};

/// Rows of one page.
const PAGE: i64 = 8192;

/// The next space and family that have entries now.
const NEXT_GROUND: &str = "SELECT space, family FROM entry WHERE to_gen = 9223372036854775807 \
     AND (space, family) > (?1, ?2) ORDER BY space, family LIMIT 1";

/// What SQLite makes of the rows of a page: those of one space and family behind a first
/// address, as many as a page has.
///
/// The end of a page is looked up first: with a subquery of so many rows SQLite would copy each
/// of them once more, which takes as long as all the rest. The rows come in the order of the
/// one index that they are in; a table in another order would be told as damaged.
macro_rules! of_a_page {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM entry WHERE to_gen = 9223372036854775807 AND space = ?1 AND family = ?2 \
             AND first > ?3 AND first <= ifnull((SELECT first FROM entry \
             WHERE to_gen = 9223372036854775807 AND space = ?1 AND family = ?2 AND first > ?3 \
             ORDER BY first LIMIT 1 OFFSET ?4), x'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF')"
        )
    };
}
pub(super) use of_a_page;

/// Addresses have 16 octets each; numbers stand with commas between them, a class in one digit.
const PAGE_OF_NOW: &str = of_a_page!(
    "CAST(group_concat(first || last, '') AS BLOB), group_concat(owner), \
     group_concat(ifnull(bas, 0)), group_concat(vrf), group_concat(class, ''), \
     CAST(group_concat(pool, '') AS BLOB), group_concat(length(pool)), count(pool_text)"
);

/// The texts of the pools of such a page, where any are told; a length is one more than it is,
/// and 0: none.
const TEXTS_OF_NOW: &str = of_a_page!(
    "CAST(group_concat(ifnull(pool_text, ''), '') AS BLOB), \
     group_concat(ifnull(length(CAST(pool_text AS BLOB)) + 1, 0))"
);

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

/// A row as it is kept: names by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept<'p> {
    pub(super) space: i64,
    pub(super) range: Range,
    pub(super) owner: i64,
    pub(super) bas: Option<i64>,
    pub(super) vrf: i64,
    pub(super) class: Class,
    /// The pool's octets.
    pub(super) pool: &'p [u8],
    /// Its text, where the octets alone do not tell it.
    pub(super) text: Option<&'p [u8]>,
}

impl Kept<'_> {
    /// Where it lies.
    fn key(&self) -> Key {
        (self.space, self.range.family().number(), self.range.first_bits())
    }
}

/// Reads the entries that are valid now, by space number, family and first address.
pub(super) async fn read_current(
    conn: &mut SqliteConnection,
    names: &Names,
    pools: &mut PoolNames,
    mut each: impl FnMut(Entry) + Send,
) -> Result<(), Fault> {
    read_rows(conn, |row| {
        each(Entry {
            space: names.name(row.space)?,
            range: row.range,
            owner: names.name(row.owner)?,
            bas: row.bas.map(|bas| names.name(bas)).transpose()?,
            pool: named(pools, row.pool, row.text)?,
            vrf: names.name(row.vrf)?,
            class: row.class,
        });
        Ok(())
    })
    .await
}

/// Reads the rows that are valid now, in the same order.
pub(super) async fn read_rows(
    conn: &mut SqliteConnection,
    mut each: impl FnMut(&Kept<'_>) -> Result<(), Fault> + Send,
) -> Result<(), Fault> {
    let noted = Noted::load(conn).await?;
    let mut beside = noted.beside();
    let rows = |ground, page: &Page| {
        page.each(ground, &mut |row: &Kept<'_>| {
            while let Some((space, begun)) = beside.before(row.key()) {
                each(&begun.kept(space))?;
            }
            if beside.holds(row.key()) { each(row) } else { Ok(()) }
        })
    };
    read_pages(conn, rows).await?;
    beside.rest().try_for_each(|(space, begun)| each(&begun.kept(space)))
}

/// A space by its number, and a family by its.
pub(super) type Ground = (i64, u8);

/// Rows of one space and family, as SQLite packed them.
pub(super) trait Packed: Sized + Send + Sync {
    /// At most so many rows behind a first address; none where there are none.
    fn behind(
        conn: &mut SqliteConnection,
        ground: Ground,
        first: Vec<u8>,
    ) -> impl Future<Output = Result<Option<Self>, Fault>> + Send;

    /// The addresses of its rows, first and last.
    fn addresses(&self) -> &[u8];

    /// The same, row by row.
    fn rows(&self) -> Result<&[[u8; 32]], Fault> {
        let (rows, rest) = self.addresses().as_chunks::<32>();
        if rest.is_empty() { Ok(rows) } else { Err(broken("an address that is not 16 octets long")) }
    }
}

/// Reads the rows of `entry` that say they are valid page by page; while one is looked at SQLite packs the next.
pub(super) async fn read_pages<P: Packed>(
    conn: &mut SqliteConnection,
    mut each: impl FnMut(Ground, &P) -> Result<(), Fault> + Send,
) -> Result<(), Fault> {
    let mut ground = (i64::MIN, 0u8);
    loop {
        let next = sqlx::query(NEXT_GROUND).bind(ground.0).bind(i64::from(ground.1));
        let Some(row) = next.fetch_optional(&mut *conn).await? else { return Ok(()) };
        ground = (row.try_get(0)?, row.try_get(1)?);
        let mut page = P::behind(conn, ground, Vec::new()).await?;
        while let Some(read) = page {
            let last = read.rows()?.last().and_then(|row| row.first_chunk::<16>());
            let last = last.ok_or_else(|| broken("a page of no rows"))?.to_vec();
            let (next, done) =
                tokio::join!(biased; P::behind(conn, ground, last), async { each(ground, &read) });
            done?;
            page = next?;
        }
    }
}

/// Asks for one page.
pub(super) async fn packed(
    conn: &mut SqliteConnection,
    of_a_page: &'static str,
    (space, family): Ground,
    first: &[u8],
) -> Result<SqliteRow, Fault> {
    let page = sqlx::query(of_a_page).bind(space).bind(i64::from(family)).bind(first).bind(PAGE - 1);
    Ok(page.fetch_one(conn).await?)
}

impl Packed for Page {
    async fn behind(
        conn: &mut SqliteConnection,
        ground: Ground,
        first: Vec<u8>,
    ) -> Result<Option<Self>, Fault> {
        let row = packed(conn, PAGE_OF_NOW, ground, &first).await?;
        let Some(addresses) = row.try_get::<Option<Vec<u8>>, _>(0)? else { return Ok(None) };
        let told: i64 = row.try_get(7)?;
        let texts = match told {
            0 => None,
            _ => {
                let row = packed(conn, TEXTS_OF_NOW, ground, &first).await?;
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

    fn addresses(&self) -> &[u8] {
        &self.addresses
    }
}

impl Page {
    fn each(
        &self,
        (space, family): Ground,
        each: &mut impl FnMut(&Kept<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (mut owners, mut bases, mut vrfs) =
            (Numbers(self.owners.as_bytes()), Numbers(self.bases.as_bytes()), Numbers(self.vrfs.as_bytes()));
        let (mut lengths, mut octets) = (Numbers(self.pool_lengths.as_bytes()), self.pools.as_slice());
        let mut texts =
            self.texts.as_ref().map(|(octets, lengths)| (octets.as_slice(), Numbers(lengths.as_bytes())));
        let mut classes = self.classes.bytes();
        for [first, last] in self.rows()?.iter().map(halves) {
            let pool = take(&mut octets, lengths.next()?)?;
            let text = match &mut texts {
                Some((octets, lengths)) => match lengths.next()? {
                    0 => None,
                    length => Some(take(octets, length - 1)?),
                },
                None => None,
            };
            let class = classes.next().and_then(|digit| Class::from_number(digit.wrapping_sub(b'0')));
            each(&Kept {
                space,
                range: range(family, first, last)?,
                owner: owners.next()?,
                bas: Some(bases.next()?).filter(|bas| *bas != 0),
                vrf: vrfs.next()?,
                class: class.ok_or_else(|| broken("an entry of an unknown class"))?,
                pool,
                text,
            })?;
        }
        Ok(())
    }
}

pub(super) fn broken(what: &str) -> Fault {
    Fault::Damaged(format!("the table has {what}"))
}

/// First and last address.
pub(super) fn halves(row: &[u8; 32]) -> [u128; 2] {
    let (halves, _) = row.as_chunks::<16>();
    let half = |at: usize| halves.get(at).map_or(0, |half| u128::from_be_bytes(*half));
    [half(0), half(1)]
}

/// Numbers with commas between them.
pub(super) struct Numbers<'p>(pub(super) &'p [u8]);

impl Numbers<'_> {
    pub(super) fn next(&mut self) -> Result<i64, Fault> {
        let lacking = || broken("a row that lacks a number");
        let (mut number, mut length) = (0i64, 0);
        for octet in self.0 {
            match octet {
                b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(i64::from(octet - b'0')),
                b',' => break,
                _ => return Err(lacking()),
            }
            length += 1;
        }
        // No number that is kept has more than 18 digits, and none is below zero.
        if !(1..=18).contains(&length) {
            return Err(lacking());
        }
        self.0 = self.0.get(length + 1..).unwrap_or_default();
        Ok(number)
    }
}

fn take<'a>(octets: &mut &'a [u8], length: i64) -> Result<&'a [u8], Fault> {
    let length = usize::try_from(length).ok();
    let split = length.and_then(|length| octets.split_at_checked(length));
    let (taken, rest) = split.ok_or_else(|| broken("a pool's name of another length"))?;
    *octets = rest;
    Ok(taken)
}
