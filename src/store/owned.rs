//! Who owns which addresses: as much of the table as those need who hold something against
//! it. Of a million entries it is read in a quarter of the time that the entries take, for
//! neither pools nor VRFs are read, nor names made of the rows.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::commit::Newest;
use super::current;
use super::digest::{OwnedDigest, Said};
use super::error::Fault;
use super::names::Names;
use super::whose::{self, Parts, Whose};
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

/// Reads them, and holds what was read against what the newest generation's row says of it.
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
    let Some(digest) = newest.owned.filter(|_| whose::fits(names)) else { return Ok(None) };
    let mut reading = Reading::new(names, space, newest.entries);
    whose::read(conn, |space, range, whose| reading.take(space, range, whose)).await?;
    if (reading.count, reading.found) != (newest.entries, digest) {
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

/// What the table of now adds up to.
pub(super) async fn count(conn: &mut SqliteConnection, names: &Names) -> Result<OwnedDigest, Fault> {
    let mut found = OwnedDigest::NONE;
    current::read_rows(conn, |row| {
        let text = |id: i64| names.text(id).map(Name::as_str);
        let bas = row.bas.map(text).transpose()?;
        let said = Said::new(text(row.space)?, text(row.owner)?, bas, row.class == Class::Fill);
        found.add_said(row.range, said);
        Ok(())
    })
    .await?;
    Ok(found)
}

/// Rows as they are read.
struct Reading<'n> {
    names: &'n Names,
    /// The space that is asked for; none where the database has not even its name.
    space: Option<i64>,
    count: i64,
    found: OwnedDigest,
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
            found: OwnedDigest::NONE,
            last: None,
            ranges: Vec::with_capacity(room),
            owners: Owners::default(),
        }
    }

    #[inline]
    fn take(&mut self, space: i64, range: Range, whose: Whose) -> Result<(), Fault> {
        self.count += 1;
        match self.last.replace((space, range)) {
            Some((before, _)) if before != space => self.owners.forget(),
            Some((_, before))
                if before.family() == range.family() && before.last_bits() >= range.first_bits() =>
            {
                let space = self.names.text(space)?;
                return Err(Fault::Damaged(format!("entries {before} and {range} of space {space} overlap")));
            }
            _ => {}
        }
        let Known { said, number, .. } = self.owners.known(space, whose, self.names)?;
        self.found.add_said(range, said);
        if self.space == Some(space) {
            self.ranges.push((range, number));
        }
        Ok(())
    }
}

/// What is known of an owner in the space that is being read.
#[derive(Clone, Copy)]
struct Known {
    whose: Whose,
    said: Said,
    number: u32,
}

/// Owners by number.
#[derive(Default)]
struct Owners {
    all: Vec<Owner>,
    numbers: HashMap<Whose, u32>,
    /// By the owner's name: what was found last. Nearly all owners have one BAS and one class.
    last: Vec<Option<Known>>,
}

impl Owners {
    /// Another space is read from here on.
    fn forget(&mut self) {
        self.last.clear();
    }

    #[inline]
    fn known(&mut self, space: i64, whose: Whose, names: &Names) -> Result<Known, Fault> {
        let place = usize::try_from(whose.owner()).ok();
        match place.and_then(|place| self.last.get(place)) {
            Some(Some(known)) if known.whose == whose => Ok(*known),
            _ => self.find(space, whose, names),
        }
    }

    fn find(&mut self, space: i64, whose: Whose, names: &Names) -> Result<Known, Fault> {
        let Parts { owner, bas, fill } = whose.parts();
        let (name, bas) = (names.name(owner)?, bas.map(|bas| names.name(bas)).transpose()?);
        let said = Said::new(names.text(space)?, &name, bas.as_deref(), fill);
        let number = *self.numbers.entry(whose).or_insert_with(|| {
            self.all.push(Owner { name, bas, fill });
            self.all.len() as u32 - 1
        });
        let known = Known { whose, said, number };
        // It is the number of a name that there is, so that the place is not out of all bounds.
        let place = usize::try_from(owner).unwrap_or_default();
        if self.last.len() <= place {
            self.last.resize(place + 1, None);
        }
        if let Some(slot) = self.last.get_mut(place) {
            *slot = Some(known);
        }
        Ok(known)
    }
}
