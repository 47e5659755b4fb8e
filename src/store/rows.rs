//! Rows in bulk: many per statement on the way in, many per value on the way out.
//!
//! The driver hands over one row at a time between threads and copies each cell; for a
//! million entries that is most of the start-up. Pages of rows packed by SQLite into one
//! JSON text are read in less than half the time.

use serde::Deserialize;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Encode, Row, Sqlite, SqliteConnection, Type};

use super::error::Fault;
use crate::address::{Family, Range};
use crate::table::{PoolName, PoolNames};

/// `to_gen` of what is valid now.
pub(super) const OPEN: i64 = i64::MAX;

/// Rows of one INSERT: beyond a few hundred nothing gets faster.
pub(super) const BATCH: usize = 200;

/// Rows of one packed page: one of more than 128 KiB would be given back to the system, and
/// asked for again, by each page.
const PAGE: i64 = 512;

/// The values of one statement, in the order of its question marks.
#[derive(Default)]
pub(super) struct Put {
    arguments: SqliteArguments,
    failed: Option<sqlx::Error>,
}

impl Put {
    pub(super) fn value<'q, T: Encode<'q, Sqlite> + Type<Sqlite>>(&mut self, value: T) {
        if let Err(error) = self.arguments.add(value) {
            self.failed.get_or_insert(sqlx::Error::Encode(error));
        }
    }

    /// The one text that a statement gives.
    async fn text(self, conn: &mut SqliteConnection, sql: &'static str) -> Result<String, Fault> {
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(sqlx::query_with(sql, self.arguments).fetch_one(conn).await?.try_get(0)?),
        }
    }

    /// The one number that a statement gives.
    pub(super) async fn count(self, conn: &mut SqliteConnection, sql: String) -> Result<i64, Fault> {
        match self.failed {
            Some(error) => Err(error.into()),
            // Safe: as below.
            None => {
                Ok(sqlx::query_with(AssertSqlSafe(sql), self.arguments).fetch_one(conn).await?.try_get(0)?)
            }
        }
    }

    pub(super) async fn execute(self, conn: &mut SqliteConnection, sql: String) -> Result<u64, Fault> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        // Safe: the text is made of constants of this module's callers; values are bound.
        let done = sqlx::query_with(AssertSqlSafe(sql), self.arguments).execute(conn).await?;
        Ok(done.rows_affected())
    }
}

/// `(?,?),(?,?)` for rows of so many columns.
pub(super) fn places(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    vec![row; rows].join(",")
}

/// Inserts items, each as one row of so many columns that `bind` puts. While SQLite writes one
/// batch on its own thread, the next is put together here.
pub(super) async fn insert<T: Sync>(
    conn: &mut SqliteConnection,
    head: &str,
    columns: usize,
    items: &[T],
    mut bind: impl FnMut(&mut Put, &T) + Send,
) -> Result<(), Fault> {
    let mut batches = items.chunks(BATCH).map(|batch| {
        let mut put = Put::default();
        for item in batch {
            bind(&mut put, item);
        }
        (put, format!("{head} VALUES {}", places(batch.len(), columns)))
    });
    let mut next = batches.next();
    while let Some((put, sql)) = next {
        let (written, following) =
            tokio::join!(biased; put.execute(&mut *conn, sql), async { batches.next() });
        written?;
        next = following;
    }
    Ok(())
}

/// Reads a table page by page, in the order of its key. The statement gives one text, an
/// array of rows behind a key; the values that `bind` puts are followed by the size of a page.
///
/// While one page is read here, SQLite packs the next on its own thread.
pub(super) async fn pages<K: Copy + Send>(
    conn: &mut SqliteConnection,
    sql: &'static str,
    start: K,
    bind: impl Fn(&mut Put, K) + Send,
    key: impl Fn(&str) -> Result<K, Fault> + Send,
    mut read: impl FnMut(&str) -> Result<(), Fault> + Send,
) -> Result<(), Fault> {
    let put = |behind: K| {
        let mut put = Put::default();
        bind(&mut put, behind);
        put.value(PAGE);
        put
    };
    let mut page = put(start).text(conn, sql).await?;
    while let Some(row) = last_row(&page) {
        let next = put(key(row)?);
        let (next, done) = tokio::join!(biased; next.text(conn, sql), async { read(&page) });
        done?;
        page = next?;
    }
    Ok(())
}

/// The last row of a packed page; rows hold no arrays, and no text but hex.
fn last_row(page: &str) -> Option<&str> {
    let page = page.strip_prefix('[')?.strip_suffix(']')?;
    page.get(page.rfind('[')?..)
}

/// Rows that SQLite packed into JSON.
pub(super) fn unpack<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Fault> {
    serde_json::from_str(json).map_err(|error| Fault::Damaged(error.to_string()))
}

/// Puts family, first and last.
pub(super) fn put_range(put: &mut Put, range: Range) {
    put.value(i64::from(range.family().number()));
    put.value(range.first_bits().to_be_bytes().to_vec());
    put.value(range.last_bits().to_be_bytes().to_vec());
}

/// Puts a pool's octets and its text.
pub(super) fn put_pool(put: &mut Put, pool: &PoolName) {
    put.value(pool.raw());
    put.value(text_of(pool));
}

/// A pool's text; none where the octets alone tell it.
pub(super) fn text_of(pool: &PoolName) -> Option<&str> {
    let plain = match std::str::from_utf8(pool.raw()) {
        Ok(text) => text == pool.text(),
        Err(_) => PoolName::new(pool.raw()).text() == pool.text(),
    };
    if plain { None } else { Some(pool.text()) }
}

/// A range of the database.
pub(super) fn range(family: u8, first: u128, last: u128) -> Result<Range, Fault> {
    Family::from_number(family)
        .and_then(|family| Range::from_bits(family, first, last))
        .ok_or_else(|| Fault::Damaged(format!("{first:x} to {last:x} is no range of family {family}")))
}

/// An address of the database, from hex.
pub(super) fn bits(hex: &str) -> Result<u128, Fault> {
    u128::from_str_radix(hex, 16).map_err(|_| Fault::Damaged(format!("`{hex}` is no address")))
}

/// Octets from hex.
pub(super) fn octets(hex: &str) -> Result<Vec<u8>, Fault> {
    let broken = || Fault::Damaged(format!("`{hex}` is no hex"));
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).map_err(|_| broken())?;
            u8::from_str_radix(pair, 16).map_err(|_| broken())
        })
        .collect()
}

/// The name of octets and, where they alone do not tell it, of a text; both in hex.
pub(super) fn pool_name(pools: &mut PoolNames, raw: &str, text: Option<&str>) -> Result<PoolName, Fault> {
    let raw = octets(raw)?;
    let text = text.map(octets).transpose()?;
    named(pools, &raw, text.as_deref())
}

/// The same of octets.
pub(super) fn named(pools: &mut PoolNames, raw: &[u8], text: Option<&[u8]>) -> Result<PoolName, Fault> {
    let text = text.map(std::str::from_utf8).transpose();
    let text = text.map_err(|_| Fault::Damaged("the text of a pool's name is not UTF-8".to_owned()))?;
    Ok(pools.name(raw, text))
}
