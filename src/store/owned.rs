//! Who owns which addresses: as much of the table as those need who hold something against
//! it. Of a million entries it is read in a third of the time that the entries take, for
//! neither pools nor names have to be made of the rows.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::commit::Newest;
use super::current::{self, Kept};
use super::digest::Digest;
use super::error::Fault;
use super::names::Names;
use super::{acts, groups, memory, read, time};
use crate::address::Range;
use crate::table::{Class, Groups, Memory, Name, Session};

/// An owner of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub name: Name,
    /// The BAS; none for a static line that names edges.
    pub bas: Option<Name>,
    /// Whether a static line that fills is all that stands behind it.
    pub fill: bool,
}

/// Who owns the addresses of one space now.
#[derive(Clone, Debug)]
pub struct Owned {
    /// The store's identity.
    pub session: Session,
    /// The newest generation; 0 before the first.
    pub generation: u64,
    /// When it was committed; none before the first.
    pub committed: Option<Timestamp>,
    /// Whether enough of the fleet has been read for the table to be published.
    pub filled: bool,
    /// The entries' ranges by family and first address, disjoint, each with its owner's place
    /// in `owners`.
    pub ranges: Vec<(Range, u32)>,
    /// The owners; no two are equal.
    pub owners: Vec<Owner>,
    /// The groups.
    pub groups: Groups,
    /// What is remembered per BAS, without what it lists.
    pub memories: BTreeMap<Name, Memory>,
}

/// Reads them, and holds the whole table against what the newest generation's row says of it.
pub(super) async fn load(
    conn: &mut SqliteConnection,
    names: &Names,
    space: &str,
) -> Result<Option<Owned>, Fault> {
    if acts::pin(conn).await?.is_some() {
        return Ok(None);
    }
    let meta = read::meta(conn).await?;
    let newest = Newest::load(conn).await?;
    let mut reading = Reading::new(names, space, newest.entries);
    current::read_rows(conn, |row| reading.take(row)).await?;
    if (reading.count, reading.found) != (newest.entries, newest.digest) {
        return Err(Fault::Damaged(format!(
            "the table of generation {} has {} entries where {} were committed, or others",
            newest.number, reading.count, newest.entries
        )));
    }
    let (ranges, owners) = (reading.ranges, reading.owners.all);
    Ok(Some(Owned {
        session: meta.session,
        generation: newest.number.cast_unsigned(),
        committed: newest.committed.map(time::loaded).transpose()?,
        filled: meta.filled,
        ranges,
        owners,
        groups: groups::at(conn, names, newest.number).await?,
        memories: memory::load_states(conn, names).await?,
    }))
}

/// Rows as they are read.
struct Reading<'n> {
    names: &'n Names,
    /// The space that is asked for; none where the database has not even its name.
    space: Option<i64>,
    count: i64,
    found: Digest,
    last: Option<(i64, Range)>,
    ranges: Vec<(Range, u32)>,
    owners: Owners,
}

impl<'n> Reading<'n> {
    fn new(names: &'n Names, space: &str, entries: i64) -> Self {
        let room = usize::try_from(entries).unwrap_or_default().min(1 << 24);
        Self {
            names,
            space: names.known(&space.into()),
            count: 0,
            found: Digest::default(),
            last: None,
            ranges: Vec::with_capacity(room),
            owners: Owners::default(),
        }
    }

    #[inline]
    fn take(&mut self, row: &Kept<'_>) -> Result<(), Fault> {
        let text = |id: i64| self.names.text(id).map(Name::as_str);
        let texts = [text(row.space)?, text(row.owner)?, text(row.vrf)?];
        let bas = row.bas.map(text).transpose()?;
        self.found.add_parts(row.range, row.class, texts, bas, row.pool);
        self.count += 1;
        if let Some((space, before)) = self.last
            && space == row.space
            && before.family() == row.range.family()
            && before.last_bits() >= row.range.first_bits()
        {
            let detail = format!("entries {before} and {} of space {} overlap", row.range, text(space)?);
            return Err(Fault::Damaged(detail));
        }
        self.last = Some((row.space, row.range));
        if self.space == Some(row.space) {
            let owner = self.owners.number(row, self.names)?;
            self.ranges.push((row.range, owner));
        }
        Ok(())
    }
}

/// Owner, BAS and whether it fills, as rows tell them.
type Key = (i64, Option<i64>, bool);

/// Owners by number.
#[derive(Default)]
struct Owners {
    all: Vec<Owner>,
    numbers: HashMap<Key, u32>,
    /// By the owner's name: what was found last. Nearly all owners have one BAS and one class.
    last: Vec<Option<(Key, u32)>>,
}

impl Owners {
    #[inline]
    fn number(&mut self, row: &Kept<'_>, names: &Names) -> Result<u32, Fault> {
        let key = (row.owner, row.bas, row.class == Class::Fill);
        // Its name was looked at already, so that the place is not out of all bounds.
        let place = usize::try_from(row.owner).unwrap_or_default();
        if let Some(Some((last, number))) = self.last.get(place)
            && *last == key
        {
            return Ok(*number);
        }
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let bas = row.bas.map(|bas| names.name(bas)).transpose()?;
                self.all.push(Owner { name: names.name(row.owner)?, bas, fill: key.2 });
                let number = self.all.len() as u32 - 1;
                self.numbers.insert(key, number);
                number
            }
        };
        if self.last.len() <= place {
            self.last.resize(place + 1, None);
        }
        if let Some(slot) = self.last.get_mut(place) {
            *slot = Some((key, number));
        }
        Ok(number)
    }
}
