//! Small changes of a large table: noted beside it, entered into it when they have become many.
//!
//! The rows of `entry` lie by address. A hundred changes all over a large table touch as many
//! pages of the file, and each of them is written twice. So such a commit appends to two small
//! tables: to `ended` the rows that it ends, whole, and to `begun` those that begin. Of a row
//! of `entry` or `begun` that `ended` has as well, what `ended` says is true; the others are
//! as they say. The notes are entered before they are too many to be read beside the table, before
//! a large change, and before history is dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::iter::Peekable;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::block::{Block, Value};
use super::current::Kept;
use super::digest::is_static;
use super::entries;
use super::error::Fault;
use super::names::Names;
use super::rows::{self, Put, named, range};
use super::whose::{Parts, Whose};
use crate::address::Range;
use crate::table::{Class, Entry, PoolName, PoolNames};

/// Where a row lies: its space by number, its family by its, its first address.
pub(super) type Key = (i64, u8, u128);

/// A row of `begun`, names by number.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) range: Range,
    pub(super) owner: i64,
    pub(super) bas: Option<i64>,
    pub(super) pool: PoolName,
    pub(super) vrf: i64,
    pub(super) class: Class,
    /// The generation that it began with.
    pub(super) from: i64,
}

/// What is noted, as far as the table of now is concerned.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// The rows that began and are valid.
    open: BTreeMap<Key, Begun>,
    /// Where `entry` has a row that says it is valid, and is not.
    replaced: BTreeSet<Key>,
    /// How many rows are noted.
    rows: usize,
}

impl Noted {
    /// Reads the notes.
    pub(super) async fn load(conn: &mut SqliteConnection) -> Result<Self, Fault> {
        let mut pools = PoolNames::default();
        let sql =
            "SELECT space, family, first, from_gen, last, owner, bas, vrf, class, pool, pool_text FROM begun";
        let mut begun = HashMap::new();
        for row in sqlx::query(sql).fetch_all(&mut *conn).await? {
            let (key, row) = (key_of(&row)?, begun_of(&row, &mut pools)?);
            begun.insert((row.from, key), row);
        }
        let mut noted = Self { rows: begun.len(), ..Self::default() };
        let sql = "SELECT space, family, first, from_gen FROM ended";
        for row in sqlx::query(sql).fetch_all(&mut *conn).await? {
            let (key, from): (Key, i64) = (key_of(&row)?, row.try_get(3)?);
            noted.rows += 1;
            if begun.remove(&(from, key)).is_none() && !noted.replaced.insert(key) {
                return Err(Fault::Damaged("an entry ended twice".to_owned()));
            }
        }
        for ((_, key), row) in begun {
            if noted.open.insert(key, row).is_some() {
                return Err(Fault::Damaged("two entries begin at one address".to_owned()));
            }
        }
        Ok(noted)
    }

    /// How many rows are noted.
    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the row of `entry` at a place, which says that it is valid, is not.
    pub(super) fn replaces(&self, key: Key) -> bool {
        self.replaced.contains(&key)
    }

    /// The rows that began and are valid, with their spaces, by place.
    pub(super) fn open(&self) -> impl Iterator<Item = (i64, &Begun)> {
        self.open.iter().map(|((space, ..), row)| (*space, row))
    }

    /// For who reads the valid rows of `entry`, in order.
    pub(super) fn beside(&self) -> Beside<'_> {
        Beside { open: self.open.iter().peekable(), replaced: self.replaced.iter().peekable() }
    }

    /// Notes what a generation ends, and what begins with it. After a failure it is to be read
    /// anew.
    ///
    /// # Errors
    /// `OutOfStep` where an entry that is to end is not in the store, exactly so, or one begins
    /// where the store has one.
    pub(super) async fn note(
        &mut self,
        conn: &mut SqliteConnection,
        names: &mut Names,
        (closed, opened): (&[&Entry], &[&Entry]),
        generation: i64,
    ) -> Result<(), Fault> {
        let (mut begun, mut entered) = (Vec::new(), Vec::new());
        for entry in closed {
            let key = key(names, entry);
            match self.open.remove(&key) {
                Some(row) if row.is(entry, names) => begun.push((key, row)),
                None if self.replaced.insert(key) => entered.push(*entry),
                _ => return Err(Fault::OutOfStep("an entry to be ended is another one".to_owned())),
            }
        }
        let (mut fresh, mut doubtful) = (Vec::with_capacity(opened.len()), Vec::new());
        for entry in opened {
            let key = key(names, entry);
            if self.open.contains_key(&key) {
                return Err(entries::occupied());
            }
            if !self.replaced.contains(&key) {
                doubtful.push(*entry);
            }
            fresh.push((key, Begun::of(entry, names, generation)));
        }
        self.rows += closed.len() + opened.len();
        entries::check_free(conn, names, &doubtful).await?;
        // In one go: to hand a statement over to SQLite's thread takes as long as twenty rows.
        let mut writes = Several::default();
        end_entered(&mut writes, names, &entered, generation);
        insert(&mut writes, "ended", &begun, Some(generation));
        insert(&mut writes, "begun", &fresh, None);
        if writes.execute(conn).await? != (closed.len() + opened.len()) as u64 {
            return Err(Fault::OutOfStep("an entry to be ended is not there".to_owned()));
        }
        self.open.extend(fresh);
        Ok(())
    }

    /// Enters what is noted into the table, within a transaction that the caller has begun and
    /// will end.
    ///
    /// # Errors
    /// `Damaged` where the table is not the one that the notes are about.
    pub(super) async fn enter(&mut self, conn: &mut SqliteConnection) -> Result<(), Fault> {
        if self.rows == 0 {
            return Ok(());
        }
        let replaced = sqlx::query(END).execute(&mut *conn).await?.rows_affected();
        sqlx::query(PUT_PAST).execute(&mut *conn).await?;
        sqlx::query(DROP_PAST).execute(&mut *conn).await?;
        let open = sqlx::query(PUT_OPEN).execute(&mut *conn).await?.rows_affected();
        if (replaced, open) != (self.replaced.len() as u64, self.open.len() as u64) {
            let detail = format!(
                "of {} entries that changed it has {replaced}, and {open} for {}",
                self.replaced.len(),
                self.open.len()
            );
            return Err(Fault::Damaged(detail));
        }
        sqlx::query("DELETE FROM begun").execute(&mut *conn).await?;
        sqlx::query("DELETE FROM ended").execute(&mut *conn).await?;
        *self = Self::default();
        Ok(())
    }
}

/// Ends the rows that are valid no longer. The signs say that no index can be made of the notes.
pub(super) const END: &str = "UPDATE entry SET to_gen = ended.to_gen FROM ended \
     WHERE entry.to_gen = 9223372036854775807 AND entry.space = +ended.space \
     AND entry.family = +ended.family AND entry.first = +ended.first AND entry.from_gen = +ended.from_gen";

/// Puts the rows in that began and ended.
const PUT_PAST: &str = "INSERT INTO entry SELECT * FROM ended \
     WHERE (from_gen, space, family, first) IN (SELECT from_gen, space, family, first FROM begun)";

/// Drops those that began and ended. (What `NOT IN` leaves over takes as long as all the rest.)
const DROP_PAST: &str = "DELETE FROM begun \
     WHERE (from_gen, space, family, first) IN (SELECT from_gen, space, family, first FROM ended)";

/// Puts the rows in that began and are valid: what is left then.
const PUT_OPEN: &str =
    "INSERT INTO entry SELECT 9223372036854775807, * FROM begun ORDER BY space, family, first";

/// The notes beside the valid rows of `entry`, while these are read in order.
pub(super) struct Beside<'n> {
    open: Peekable<std::collections::btree_map::Iter<'n, Key, Begun>>,
    replaced: Peekable<std::collections::btree_set::Iter<'n, Key>>,
}

impl<'n> Beside<'n> {
    /// The next row that began and comes before, or in the place of, one of `entry`.
    #[inline]
    pub(super) fn before(&mut self, key: Key) -> Option<(i64, &'n Begun)> {
        let (key, row) = self.open.next_if(|(begun, _)| **begun <= key)?;
        Some((key.0, row))
    }

    /// Whether a row of `entry` is valid.
    #[inline]
    pub(super) fn holds(&mut self, key: Key) -> bool {
        while self.replaced.next_if(|replaced| **replaced < key).is_some() {}
        self.replaced.peek().is_none_or(|replaced| **replaced != key)
    }

    /// The rows that come behind all of `entry`.
    pub(super) fn rest(self) -> impl Iterator<Item = (i64, &'n Begun)> {
        self.open.map(|(key, row)| (key.0, row))
    }
}

impl Begun {
    fn of(entry: &Entry, names: &mut Names, from: i64) -> Self {
        let (owner, bas) = names.ids_of(entry);
        Self {
            range: entry.range,
            owner,
            bas,
            pool: entry.pool.clone(),
            vrf: names.id(&entry.vrf),
            class: entry.class,
            from,
        }
    }

    /// Whether it is this entry, as `entries::is_same` asks it of the rows of `entry`.
    fn is(&self, entry: &Entry, names: &mut Names) -> bool {
        self.range == entry.range
            && (self.owner, self.bas) == names.ids_of(entry)
            && self.pool.raw() == entry.pool.raw()
            && self.vrf == names.id(&entry.vrf)
            && is_static(self.class) == is_static(entry.class)
    }

    /// The same as a row of the table of now.
    pub(super) fn kept(&self, space: i64) -> Kept<'_> {
        Kept {
            space,
            range: self.range,
            owner: self.owner,
            bas: self.bas,
            vrf: self.vrf,
            class: self.class,
            pool: self.pool.raw(),
            text: Some(self.pool.text().as_bytes()),
        }
    }

    /// Whose it is.
    pub(super) const fn whose(&self) -> Whose {
        Whose::new(Parts { owner: self.owner, bas: self.bas, fill: matches!(self.class, Class::Fill) })
    }

    /// The entry.
    pub(super) fn entry(&self, space: i64, names: &Names) -> Result<Entry, Fault> {
        Ok(Entry {
            space: names.name(space)?,
            range: self.range,
            owner: names.name(self.owner)?,
            bas: self.bas.map(|bas| names.name(bas)).transpose()?,
            pool: self.pool.clone(),
            vrf: names.name(self.vrf)?,
            class: self.class,
        })
    }
}

fn key(names: &mut Names, entry: &Entry) -> Key {
    (names.id(&entry.space), entry.range.family().number(), entry.range.first_bits())
}

/// The place that a row begins with.
fn key_of(row: &SqliteRow) -> Result<Key, Fault> {
    Ok((row.try_get(0)?, row.try_get(1)?, address(row, 2)?))
}

fn begun_of(row: &SqliteRow, pools: &mut PoolNames) -> Result<Begun, Fault> {
    let class: u8 = row.try_get(8)?;
    let text: Option<&str> = row.try_get(10)?;
    Ok(Begun {
        range: range(row.try_get(1)?, address(row, 2)?, address(row, 4)?)?,
        owner: row.try_get(5)?,
        bas: row.try_get(6)?,
        pool: named(pools, row.try_get(9)?, text.map(str::as_bytes))?,
        vrf: row.try_get(7)?,
        class: Class::from_number(class)
            .ok_or_else(|| Fault::Damaged(format!("an entry has a class {class}")))?,
        from: row.try_get(3)?,
    })
}

fn address(row: &SqliteRow, column: usize) -> Result<u128, Fault> {
    let octets: &[u8] = row.try_get(column)?;
    let octets: [u8; 16] =
        octets.try_into().map_err(|_| Fault::Damaged(format!("an address has {} octets", octets.len())))?;
    Ok(u128::from_be_bytes(octets))
}

/// Statements one behind the other, with their values.
#[derive(Default)]
struct Several {
    sql: String,
    put: Put,
}

impl Several {
    /// Executes them all; gives how many rows they wrote.
    async fn execute(self, conn: &mut SqliteConnection) -> Result<u64, Fault> {
        self.put.execute(conn, self.sql).await
    }
}

/// Notes the end of entries that `entry` has, exactly so.
fn end_entered(writes: &mut Several, names: &mut Names, entries: &[&Entry], generation: i64) {
    if entries.is_empty() {
        return;
    }
    let block = Block::new(entries.iter().map(|entry| entries::same_of(names, entry)).collect());
    let (values, same) = (block.values(), entries::is_same(&block.columns()));
    let _ = write!(
        writes.sql,
        "INSERT INTO ended SELECT ?, entry.space, entry.family, entry.first, entry.last, entry.owner, \
         entry.bas, entry.pool, entry.pool_text, entry.vrf, entry.class, entry.from_gen \
         FROM {values} CROSS JOIN entry WHERE {same};"
    );
    writes.put.value(generation);
    block.put_values(&mut writes.put);
    block.put_common(&mut writes.put);
}

/// Notes rows that only began since: that they ended, or that they begin.
fn insert(writes: &mut Several, table: &str, begun: &[(Key, Begun)], to: Option<i64>) {
    if begun.is_empty() {
        return;
    }
    let block = Block::new(begun.iter().map(values_of).collect());
    let (end, value) = if to.is_some() { (", to_gen", ", ?") } else { ("", "") };
    let _ = write!(
        writes.sql,
        "INSERT INTO {table} (first, space, family, last, owner, bas, pool, pool_text, vrf, class, \
         from_gen{end}) SELECT {}{value} FROM {};",
        block.columns().join(", "),
        block.values()
    );
    block.put_common(&mut writes.put);
    if let Some(to) = to {
        writes.put.value(to);
    }
    block.put_values(&mut writes.put);
}

fn values_of(((space, family, first), row): &(Key, Begun)) -> [Value<'_>; 11] {
    [
        Value::Address(*first),
        Value::Number(*space),
        Value::Number((*family).into()),
        Value::Address(row.range.last_bits()),
        Value::Number(row.owner),
        row.bas.into(),
        Value::Octets(row.pool.raw()),
        rows::text_of(&row.pool).map_or(Value::Null, Value::Text),
        Value::Number(row.vrf),
        Value::Number(row.class.number().into()),
        Value::Number(row.from),
    ]
}
