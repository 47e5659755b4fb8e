//! Of the table of now only the addresses and whose they are, read in half the time: most of
//! what the rest costs is that SQLite has to write numbers as text.

use sqlx::{Row, SqliteConnection};

use super::current::{self, Ground, Numbers, Packed, halves, of_a_page, packed};
use super::error::Fault;
use super::names::Names;
use super::noted::Noted;
use super::rows::range;
use crate::address::Range;

/// Names by number below this one fit into a [`Whose`].
const NAMES: i64 = 1 << 24;

/// Addresses have 16 octets each; then a [`Whose`] for each, with commas between them.
const PAGE_OF_OWNERS: &str = of_a_page!(
    "CAST(group_concat(first || last, '') AS BLOB), group_concat(iif(bas = owner AND class <> 0, owner, \
     (owner << 25) | (ifnull(bas, 0) << 1) | (class = 0)))"
);

/// An owner, its BAS, and whether a line that fills is all that stands behind it, as one
/// number: that of the owner's name where the BAS has the same and no line fills (nearly
/// always), else the owner's, the BAS's in 24 bits (0: none), and one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Whose(i64);

/// The same in three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) owner: i64,
    pub(super) bas: Option<i64>,
    pub(super) fill: bool,
}

impl Whose {
    /// As SQLite makes it of a row.
    pub(super) const fn new(Parts { owner, bas, fill }: Parts) -> Self {
        let number = match bas {
            Some(bas) if bas == owner && !fill => owner,
            Some(bas) => owner << 25 | bas << 1 | fill as i64,
            None => owner << 25 | fill as i64,
        };
        Self(number)
    }

    pub(super) const fn parts(self) -> Parts {
        if self.0 < NAMES {
            return Parts { owner: self.0, bas: Some(self.0), fill: false };
        }
        let bas = self.0 >> 1 & (NAMES - 1);
        Parts { owner: self.0 >> 25, bas: if bas == 0 { None } else { Some(bas) }, fill: self.0 & 1 == 1 }
    }

    /// The number of the owner's name, in whichever way it is written.
    #[inline]
    pub(super) const fn owner(self) -> i64 {
        if self.0 < NAMES { self.0 } else { self.0 >> 25 }
    }
}

/// Whether all names of a database have numbers that fit.
pub(super) fn fits(names: &Names) -> bool {
    names.highest() < NAMES
}

/// Reads the entries that are valid now, by space number, family and first address.
pub(super) async fn read(
    conn: &mut SqliteConnection,
    mut each: impl FnMut(i64, Range, Whose) -> Result<(), Fault> + Send,
) -> Result<(), Fault> {
    let noted = Noted::load(conn).await?;
    let mut beside = noted.beside();
    let rows = |(space, family): Ground, page: &Page| {
        let mut whose = Numbers(page.whose.as_bytes());
        page.rows()?.iter().map(halves).try_for_each(|[first, last]| {
            let whose = Whose(whose.next()?);
            while let Some((space, begun)) = beside.before((space, family, first)) {
                each(space, begun.range, begun.whose())?;
            }
            match beside.holds((space, family, first)) {
                true => each(space, range(family, first, last)?, whose),
                false => Ok(()),
            }
        })
    };
    current::read_pages(conn, rows).await?;
    beside.rest().try_for_each(|(space, begun)| each(space, begun.range, begun.whose()))
}

struct Page {
    addresses: Vec<u8>,
    whose: String,
}

impl Packed for Page {
    async fn behind(
        conn: &mut SqliteConnection,
        ground: Ground,
        first: Vec<u8>,
    ) -> Result<Option<Self>, Fault> {
        let row = packed(conn, PAGE_OF_OWNERS, ground, &first).await?;
        let Some(addresses) = row.try_get::<Option<Vec<u8>>, _>(0)? else { return Ok(None) };
        Ok(Some(Self { addresses, whose: row.try_get(1)? }))
    }

    fn addresses(&self) -> &[u8] {
        &self.addresses
    }
}
