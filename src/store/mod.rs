//! The store: one SQLite database that keeps the table, its history, and what is remembered.
//!
//! A batch is one transaction; a crash at any instant leaves the old or the new generation.
//! Entries and groups carry validity intervals in generation numbers, so that the table of
//! any kept generation is one query and changes are derived, never kept twice. Each
//! generation's row says how many entries it has and what they add up to; a table that reads
//! otherwise is reported as damaged, not published.
//!
//! One process owns the store ([`Store`]): a lock on the side file `<db>.lock`. Anybody else
//! reads ([`Reader`]). Nothing here opens the database file outside SQLite.
//!
//! | file | what is in it |
//! |---|---|
//! | `open` | whose the file is, migrations, how SQLite is set up and closed |
//! | `commit` | one batch, one transaction |
//! | `read`, `reader` | what can be asked |
//! | `history` | what became of addresses, or of a BAS |
//! | `acts`, `usage` | pins, drains, and who said so; how much of the pools is in use |
//! | `groups`, `memory` | groups; what is remembered per BAS and by the guard |
//! | `entries`, `current` | the rows of `entry`; those of the table of now |
//! | `rows`, `block` | rows in bulk; many of them in one statement |
//! | `noted` | small changes of a large table, before they are entered into it |
//! | `owned`, `whose` | who owns what in it, and no more |
//! | `digest` | what a table adds up to |
//! | `names`, `time` | names and times as numbers |
//! | `transaction` | how the owner reads and writes |
//! | `keep`, `restore` | pruning and copies; putting one back |
//! | `lock`, `owner`, `error` | the owner's lock; whose the files are; what can go wrong |

mod acts;
mod block;
mod commit;
mod current;
mod digest;
mod entries;
mod error;
mod groups;
mod history;
mod keep;
mod lock;
mod memory;
mod names;
mod noted;
mod open;
mod owned;
mod owner;
mod read;
mod reader;
mod restore;
mod rows;
#[cfg(test)]
mod tests;
mod time;
mod transaction;
mod usage;
mod whose;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sqlx::migrate::Migrator;

pub use acts::{Acts, Remembered, Repin, Shown};
pub use commit::{Commit, Committed};
pub use error::StoreError;
pub use history::{Lifetime, Topic};
pub use keep::Pruned;
pub use open::Settings;
pub use owned::{Owned, Owner};
pub use read::{Generation, Loaded, Past};
pub use reader::Reader;
pub use restore::{Restored, restore};
pub use usage::Used;

use crate::table::{Change, Groups, Memory, Name, Run, Session, Usage};
use commit::Known;
use lock::Lock;
use names::Names;
use transaction::{FileId, Writer};

/// A batch of more entries or memories than this leaves many pages in SQLite's memory.
const MANY: usize = 1000;

/// The store, owned: the only one that may write.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    settings: Settings,
    session: Session,
    file: FileId,
    /// Not there while a transaction runs, nor after one that failed.
    writer: Option<Writer>,
    /// After the connection: the lock goes last.
    _lock: Lock,
}

impl Store {
    /// Opens the store at `path` and becomes its owner. A database that does not exist is
    /// made, one of an older poolsync is brought up to date, with a copy kept.
    ///
    /// # Errors
    /// `locked`, `busy`, `full`, `read-only`, `damaged`, `newer`, `altered`, `foreign`,
    /// `missing` (the directory), and what the system says.
    pub async fn open(path: &Path, settings: Settings) -> Result<Self, StoreError> {
        Self::open_with(path, settings, &open::MIGRATIONS).await
    }

    async fn open_with(path: &Path, settings: Settings, migrations: &Migrator) -> Result<Self, StoreError> {
        let path = open::resolved(path)?;
        let lock = Lock::take(&path)?;
        let opened = open::writer(&path, settings, migrations).await;
        owner::give(&path);
        let mut conn = opened?;
        let session = read::session(&mut conn).await.map_err(|fault| fault.at(&path))?;
        let names = Names::load(&mut conn).await.map_err(|fault| fault.at(&path))?;
        let writer = Some(Writer { conn, known: Known { names, ..Known::default() } });
        let file = FileId::of(&path)?;
        let mut store = Self { path, settings, session, file, writer, _lock: lock };
        // SQLite falls back to reading where it may not write, and says so only at the first
        // write. This asks.
        let w = store.begin().await?;
        store.end_read(w, Ok(())).await?;
        Ok(store)
    }

    /// The store's identity.
    pub const fn session(&self) -> Session {
        self.session
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All that a start needs.
    ///
    /// # Errors
    /// `damaged` where what is there contradicts itself, and what the system says.
    pub async fn load(&mut self) -> Result<Loaded, StoreError> {
        let mut w = self.begin_read().await?;
        let loaded = read::load(&mut w.conn, &mut w.known).await;
        let loaded = self.end_read(w, loaded).await?;
        self.give_pages_back().await;
        Ok(loaded)
    }

    /// Commits a batch: all of it or nothing. A generation is made only where an entry or a
    /// group changed; the rest is saved without one.
    ///
    /// # Errors
    /// `out-of-step` where the changes do not start from what the store has, `busy`, `full`,
    /// and what the system says. The store is as it was, and can be used on.
    pub async fn commit(&mut self, commit: Commit<'_>) -> Result<Committed, StoreError> {
        let mut w = self.begin().await?;
        let written = commit::write(&mut w.conn, &mut w.known, &commit, self.settings).await;
        let written = self.end(w, written).await?;
        if commit.changes.len() + commit.memories.len() > MANY {
            self.give_pages_back().await;
        }
        Ok(written)
    }

    /// Saves what is remembered of BASes and what was counted, without a generation. What is
    /// counted has to be of BASes that are remembered.
    ///
    /// # Errors
    /// `busy`, `full`, and what the system says; then nothing was saved.
    pub async fn flush(
        &mut self,
        memories: &[(&Name, &Memory)],
        usages: &[(&Name, &Usage)],
    ) -> Result<(), StoreError> {
        let mut w = self.begin().await?;
        let written = commit::write_remembered(&mut w.conn, &mut w.known, memories, usages).await;
        self.end(w, written).await?;
        self.bound_log().await;
        if memories.len() > MANY {
            self.give_pages_back().await;
        }
        Ok(())
    }

    /// Forgets what is remembered of a BAS. Its entries stay until a batch removes them.
    ///
    /// # Errors
    /// `busy`, `full`, and what the system says.
    pub async fn forget(&mut self, bas: &Name) -> Result<(), StoreError> {
        let mut w = self.begin().await?;
        w.known.memories.remove(bas);
        let written = keep::forget(&mut w.conn, bas).await;
        self.end(w, written).await
    }

    /// Drops the history before a time; of the newest generations so many stay in any case,
    /// and what a pin refers to.
    ///
    /// # Errors
    /// `busy`, `full`, and what the system says.
    pub async fn prune(&mut self, before: Timestamp, at_least: u64) -> Result<Pruned, StoreError> {
        let mut w = self.begin().await?;
        let pruned = keep::prune(&mut w.conn, &mut w.known, before, at_least).await;
        let pruned = self.end(w, pruned).await?;
        self.bound_log().await;
        Ok(pruned)
    }

    /// Draws a new identity: for a database that was put back from a copy.
    ///
    /// # Errors
    /// `busy`, `full`, and what the system says.
    pub async fn draw_session(&mut self) -> Result<Session, StoreError> {
        let session = Session(rand::random());
        let mut w = self.begin().await?;
        let drawn = keep::set_session(&mut w.conn, session).await;
        self.end(w, drawn).await?;
        self.session = session;
        Ok(session)
    }

    /// What was published at a generation: its groups, and its ranges or those of the one that
    /// was pinned.
    ///
    /// # Errors
    /// `no-generation` where it does not exist or is no longer kept.
    pub async fn table_at(&mut self, generation: u64) -> Result<Past, StoreError> {
        let mut w = self.begin_read().await?;
        let past = read::table_at(&mut w.conn, &w.known.names, generation).await;
        let past = self.end_read(w, past).await?;
        self.give_pages_back().await;
        Ok(past)
    }

    /// The groups of a generation.
    ///
    /// # Errors
    /// `no-generation` where it does not exist or is no longer kept.
    pub async fn groups_at(&mut self, generation: u64) -> Result<Groups, StoreError> {
        let mut w = self.begin_read().await?;
        let groups = read::groups_at(&mut w.conn, &w.known.names, generation).await;
        self.end_read(w, groups).await
    }

    /// What turns the ranges that were published at one generation into those of another,
    /// whichever is the later; sorted by space and range.
    ///
    /// # Errors
    /// `no-generation` where one of them does not exist or is no longer kept.
    pub async fn changes_between(&mut self, from: u64, to: u64) -> Result<Vec<Change>, StoreError> {
        let mut w = self.begin_read().await?;
        let changes = read::changes_between(&mut w.conn, &w.known.names, from, to).await;
        self.end_read(w, changes).await
    }

    /// The newest generations, newest first.
    ///
    /// # Errors
    /// What the system says.
    pub async fn generations(&mut self, limit: u32) -> Result<Vec<Generation>, StoreError> {
        let mut w = self.begin_read().await?;
        let generations = read::generations(&mut w.conn, limit).await;
        self.end_read(w, generations).await
    }

    /// The generation that was the newest at a time.
    ///
    /// # Errors
    /// What the system says.
    pub async fn generation_at(&mut self, at: Timestamp) -> Result<u64, StoreError> {
        let mut w = self.begin_read().await?;
        let found = read::generation_at(&mut w.conn, at).await;
        Ok(self.end_read(w, found).await?.cast_unsigned())
    }

    /// What operators did since a generation was the newest, oldest first.
    ///
    /// # Errors
    /// What the system says.
    pub async fn acts_since(&mut self, generation: u64) -> Result<Vec<Remembered>, StoreError> {
        let mut w = self.begin_read().await?;
        let acts = acts::since(&mut w.conn, generation).await;
        self.end_read(w, acts).await
    }

    /// The entries of a topic that are kept, by space and range, the oldest first.
    ///
    /// # Errors
    /// What the system says.
    pub async fn history(&mut self, topic: &Topic) -> Result<Vec<Lifetime>, StoreError> {
        let mut w = self.begin_read().await?;
        let history = history::of(&mut w.conn, &w.known.names, topic).await;
        self.end_read(w, history).await
    }

    /// How much of a BAS's pools was in use.
    ///
    /// # Errors
    /// What the system says.
    pub async fn used(&mut self, bas: &Name) -> Result<Used, StoreError> {
        let mut w = self.begin_read().await?;
        let used = usage::of(&mut w.conn, &w.known.names, bas).await;
        self.end_read(w, used).await
    }

    /// The runs that ended since a time, and those that began as one of them ended: for how long
    /// ranges were published as an owner's, as far as they no longer are. Fill lines make no run.
    ///
    /// # Errors
    /// What the system says.
    pub async fn runs_ended_since(&mut self, since: Timestamp) -> Result<Vec<Run>, StoreError> {
        let mut w = self.begin_read().await?;
        let runs = read::runs_ended_since(&mut w.conn, &w.known.names, since).await;
        let runs = self.end_read(w, runs).await?;
        self.give_pages_back().await;
        Ok(runs)
    }

    /// Copies the database to a file, whole and on the disk or not at all.
    ///
    /// # Errors
    /// `full`, and what the system says; then there is no such file.
    pub async fn backup(&mut self, target: &Path) -> Result<(), StoreError> {
        let mut w = self.take().await?;
        keep::copy(&mut w.conn, &self.path, target).await?;
        self.writer = Some(w);
        Ok(())
    }

    /// Closes the store in order: everything in the database file, an empty log kept beside
    /// it for those who may only read. A store that is dropped instead is as safe.
    ///
    /// # Errors
    /// What the system says; what was committed stays committed.
    pub async fn close(mut self) -> Result<(), StoreError> {
        match self.writer.take() {
            Some(writer) => {
                let closed = open::close(writer.conn, &self.path, self.settings).await;
                closed.map_err(|fault| fault.at(&self.path))
            }
            None => Ok(()),
        }
    }
}

/// `path` with something appended to its name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
