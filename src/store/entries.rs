//! The rows of `entry`: written, ended, and read back by generation.

use sqlx::SqliteConnection;

use super::block::{Block, Value};
use super::digest;
use super::error::Fault;
use super::names::Names;
use super::noted::Noted;
use super::rows::{
    BATCH, OPEN, Put, bits, insert, pages, places, pool_name, put_pool, put_range, range, unpack,
};
use crate::table::{Class, Entry, PoolNames};

/// Appends entries as valid from a generation on.
pub(super) async fn insert_entries(
    conn: &mut SqliteConnection,
    names: &mut Names,
    entries: &[&Entry],
    generation: i64,
) -> Result<(), Fault> {
    let head = "INSERT INTO entry (to_gen, space, family, first, last, owner, bas, pool, pool_text, \
                vrf, class, from_gen)";
    insert(conn, head, 12, entries, |put, entry| {
        let (owner, bas) = names.ids_of(entry);
        put.value(OPEN);
        put.value(names.id(&entry.space));
        put_range(put, entry.range);
        put.value(owner);
        put.value(bas);
        put_pool(put, &entry.pool);
        put.value(names.id(&entry.vrf));
        put.value(i64::from(entry.class.number()));
        put.value(generation);
    })
    .await
}

/// What tells whether a valid row of `entry` is an entry, exactly so. Of its class only the
/// origin counts: a router's claim may go stale and fresh again without a change.
pub(super) fn same_of<'e>(names: &mut Names, entry: &'e Entry) -> [Value<'e>; 9] {
    let (owner, bas) = names.ids_of(entry);
    [
        Value::Address(entry.range.first_bits()),
        Value::Number(names.id(&entry.space)),
        Value::Number(entry.range.family().number().into()),
        Value::Address(entry.range.last_bits()),
        Value::Number(owner),
        bas.into(),
        Value::Octets(entry.pool.raw()),
        Value::Number(names.id(&entry.vrf)),
        Value::Number(digest::is_static(entry.class).into()),
    ]
}

/// That it is, of the columns of such values.
pub(super) fn is_same([first, space, family, last, owner, bas, pool, vrf, origin]: &[String; 9]) -> String {
    format!(
        "entry.to_gen = {OPEN} AND entry.first = {first} AND entry.space = {space} \
         AND entry.family = {family} AND entry.last = {last} AND entry.owner = {owner} \
         AND entry.bas IS {bas} AND entry.pool = {pool} AND entry.vrf = {vrf} \
         AND (entry.class IN (0, 3)) = {origin}"
    )
}

/// Ends the validity of entries at a generation.
///
/// # Errors
/// `OutOfStep` where one of them is not in the store, exactly so.
pub(super) async fn close_entries(
    conn: &mut SqliteConnection,
    names: &mut Names,
    entries: &[&Entry],
    generation: i64,
) -> Result<(), Fault> {
    for batch in entries.chunks(BATCH) {
        // Row by row, also what is the same in all: else each of all the entries that are valid
        // might be looked up among these few.
        let block = Block::row_by_row(batch.iter().map(|entry| same_of(names, entry)).collect());
        let (values, same) = (block.values(), is_same(&block.columns()));
        let mut put = Put::default();
        put.value(generation);
        block.put_values(&mut put);
        let sql = format!("UPDATE entry SET to_gen = ? FROM {values} WHERE {same}");
        let closed = put.execute(conn, sql).await?;
        if closed != batch.len() as u64 {
            let detail = format!("of {} entries to be ended it has {closed}", batch.len());
            return Err(Fault::OutOfStep(detail));
        }
    }
    Ok(())
}

/// That no valid row of `entry` begins where one of these entries does.
///
/// # Errors
/// `OutOfStep` where one does.
pub(super) async fn check_free(
    conn: &mut SqliteConnection,
    names: &mut Names,
    entries: &[&Entry],
) -> Result<(), Fault> {
    for batch in entries.chunks(BATCH) {
        let sql = format!(
            "SELECT count(*) FROM (VALUES {}) AS v CROSS JOIN entry WHERE entry.to_gen = {OPEN} \
             AND entry.space = +v.column1 AND entry.family = +v.column2 AND entry.first = +v.column3",
            places(batch.len(), 3)
        );
        let mut put = Put::default();
        for entry in batch {
            put.value(names.id(&entry.space));
            put.value(i64::from(entry.range.family().number()));
            put.value(entry.range.first_bits().to_be_bytes().to_vec());
        }
        if put.count(conn, sql).await? > 0 {
            return Err(occupied());
        }
    }
    Ok(())
}

/// A first address that is taken already is a change from another table than the stored one.
pub(super) fn occupied() -> Fault {
    Fault::OutOfStep("an entry begins where the store has one already".to_owned())
}

/// Which rows of a table with validity intervals: after and until of both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) to_after: i64,
    pub(super) to_until: i64,
    pub(super) from_after: i64,
    pub(super) from_until: i64,
}

impl Span {
    /// What is valid at a generation.
    pub(super) const fn at(generation: i64) -> Self {
        Self { to_after: generation, to_until: OPEN, from_after: i64::MIN, from_until: generation }
    }

    const fn holds(&self, from: i64, to: i64) -> bool {
        self.to_after < to && to <= self.to_until && self.from_after < from && from <= self.from_until
    }
}

/// An entry as a page has it.
pub(super) type Packed<'a> =
    (i64, i64, u8, &'a str, &'a str, i64, Option<i64>, &'a str, Option<&'a str>, i64, u8, i64);

/// The next rows of `entry` or `ended`, packed: those behind a key for which something is so.
macro_rules! page_of {
    ($table:literal, $so:literal, $limit:literal) => {
        concat!(
            "SELECT json_group_array(json_array(to_gen, space, family, hex(first), hex(last), owner, \
             bas, hex(pool), iif(pool_text IS NULL, NULL, hex(pool_text)), vrf, class, from_gen)) \
             FROM (SELECT * FROM ",
            $table,
            " WHERE (to_gen, space, family, first) > (?1, ?2, ?3, ?4) AND ",
            $so,
            " ORDER BY to_gen, space, family, first LIMIT ",
            $limit,
            ")"
        )
    };
}
pub(super) use page_of;

/// The next rows of a span.
pub(super) const PAGE_OF_ENTRIES: &str =
    page_of!("entry", "to_gen <= ?5 AND from_gen > ?6 AND from_gen <= ?7", "?8");

/// The same of what is noted to have ended.
pub(super) const PAGE_OF_ENDED: &str =
    page_of!("ended", "to_gen <= ?5 AND from_gen > ?6 AND from_gen <= ?7", "?8");

/// Reads the entries of a span: each with `from_gen` and `to_gen`, in no order.
pub(super) async fn read_entries(
    conn: &mut SqliteConnection,
    names: &Names,
    span: Span,
    mut each: impl FnMut(Entry, i64, i64) + Send,
) -> Result<(), Fault> {
    let noted = Noted::load(conn).await?;
    let mut pools = PoolNames::default();
    for sql in [PAGE_OF_ENTRIES, PAGE_OF_ENDED] {
        let bind = |put: &mut Put, behind: Key| {
            put_key(put, behind);
            put.value(span.to_until);
            put.value(span.from_after);
            put.value(span.from_until);
        };
        // Behind whatever ends at `to_after`, whichever its space.
        let start = (span.to_after, i64::MAX, 0, 0);
        pages(conn, sql, start, bind, entry_key, |page| {
            for packed in unpack::<Vec<Packed<'_>>>(page)? {
                if is_valid(&packed, &noted)? {
                    let (entry, from, to) = entry_of(names, &mut pools, packed)?;
                    each(entry, from, to);
                }
            }
            Ok(())
        })
        .await?;
    }
    for (space, begun) in noted.open().filter(|(_, begun)| span.holds(begun.from, OPEN)) {
        each(begun.entry(space, names)?, begun.from, OPEN);
    }
    Ok(())
}

/// Whether a row is as it says, and not as a note says.
pub(super) fn is_valid(packed: &Packed<'_>, noted: &Noted) -> Result<bool, Fault> {
    Ok(packed.0 != OPEN || !noted.replaces((packed.1, packed.2, bits(packed.3)?)))
}

/// Where a row of `entry` stands: its end, space, family and first address.
pub(super) type Key = (i64, i64, u8, u128);

/// Puts the key that a page begins behind.
pub(super) fn put_key(put: &mut Put, (to, space, family, first): Key) {
    put.value(to);
    put.value(space);
    put.value(i64::from(family));
    put.value(first.to_be_bytes().to_vec());
}

/// The key of a packed entry: behind it the next page begins.
pub(super) fn entry_key(row: &str) -> Result<Key, Fault> {
    let row: Packed<'_> = unpack(row)?;
    Ok((row.0, row.1, row.2, bits(row.3)?))
}

/// An entry with `from_gen` and `to_gen`.
pub(super) fn entry_of(
    names: &Names,
    pools: &mut PoolNames,
    (to, space, family, first, last, owner, bas, raw, text, vrf, class, from): Packed<'_>,
) -> Result<(Entry, i64, i64), Fault> {
    let entry = Entry {
        space: names.name(space)?,
        range: range(family, bits(first)?, bits(last)?)?,
        owner: names.name(owner)?,
        bas: bas.map(|bas| names.name(bas)).transpose()?,
        pool: pool_name(pools, raw, text)?,
        vrf: names.name(vrf)?,
        class: Class::from_number(class)
            .ok_or_else(|| Fault::Damaged(format!("an entry has a class {class}")))?,
    };
    Ok((entry, from, to))
}
