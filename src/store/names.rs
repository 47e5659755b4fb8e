//! Names are kept once and referred to by number.

use std::collections::HashMap;

use sqlx::{Row, SqliteConnection};

use super::error::Fault;
use super::rows;
use crate::table::{Entry, Name};

/// More names than any fleet has: a number beyond is damage.
const MOST: usize = 100_000_000;

/// The names of a database, and those that the running transaction adds to them.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By number, from 1 on.
    by_id: Vec<Option<Name>>,
    ids: HashMap<Name, i64, foldhash::fast::RandomState>,
    unsaved: Vec<(i64, Name)>,
}

impl Names {
    pub(super) async fn load(conn: &mut SqliteConnection) -> Result<Self, Fault> {
        let mut names = Self::default();
        for row in sqlx::query("SELECT id, text FROM name").fetch_all(conn).await? {
            let (id, text): (i64, &str) = (row.try_get(0)?, row.try_get(1)?);
            names.add(id, Name::from(text))?;
        }
        Ok(names)
    }

    /// The name of a number that the database refers to.
    pub(super) fn name(&self, id: i64) -> Result<Name, Fault> {
        self.text(id).cloned()
    }

    /// The same, only to be looked at.
    pub(super) fn text(&self, id: i64) -> Result<&Name, Fault> {
        let place = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        let name = place.and_then(|place| self.by_id.get(place)?.as_ref());
        name.ok_or_else(|| Fault::Damaged(format!("it refers to a name {id} that it does not have")))
    }

    /// The highest number that a name has; 0 where there is none.
    pub(super) fn highest(&self) -> i64 {
        self.by_id.len() as i64
    }

    /// The number of a name that the database has.
    pub(super) fn known(&self, name: &Name) -> Option<i64> {
        self.ids.get(name).copied()
    }

    /// The number of a name; a new one is to be saved with [`Names::save`] before the
    /// transaction ends.
    pub(super) fn id(&mut self, name: &Name) -> i64 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        self.by_id.push(Some(name.clone()));
        let id = self.by_id.len() as i64;
        self.ids.insert(name.clone(), id);
        self.unsaved.push((id, name.clone()));
        id
    }

    /// The numbers of an entry's owner and BAS, nearly always one.
    pub(super) fn ids_of(&mut self, entry: &Entry) -> (i64, Option<i64>) {
        let owner = self.id(&entry.owner);
        let bas = entry.bas.as_ref().map(|bas| if *bas == entry.owner { owner } else { self.id(bas) });
        (owner, bas)
    }

    /// Saves the names that [`Names::id`] has made up.
    pub(super) async fn save(&mut self, conn: &mut SqliteConnection) -> Result<(), Fault> {
        let unsaved = std::mem::take(&mut self.unsaved);
        rows::insert(conn, "INSERT INTO name (id, text)", 2, &unsaved, |put, (id, name)| {
            put.value(*id);
            put.value(name.as_str());
        })
        .await
    }

    fn add(&mut self, id: i64, name: Name) -> Result<(), Fault> {
        let place = usize::try_from(id).ok().filter(|id| (1..=MOST).contains(id)).map(|id| id - 1);
        let Some(place) = place else {
            return Err(Fault::Damaged(format!("it has a name {id}")));
        };
        if self.by_id.len() <= place {
            self.by_id.resize(place + 1, None);
        }
        if let Some(slot) = self.by_id.get_mut(place) {
            *slot = Some(name.clone());
        }
        self.ids.insert(name, id);
        Ok(())
    }
}
