//! A store that is only read: by a command while no daemon answers, also by a user who may
//! not write to its directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};

use super::commit::Known;
use super::error::Fault;
use super::names::Names;
use super::open::{self, Settings};
use super::owned::{self, Owned};
use super::read::{self, Generation, Loaded, Past};
use super::transaction::FileId;
use super::{Lifetime, Remembered, StoreError, Topic, Used, acts, beside, history, keep, usage};
use crate::table::{Change, Groups, Name, Run};

/// A store opened for reading. Makes no file, takes no lock that a writer waits for.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    conn: SqliteConnection,
    /// Where the log was not there to be read: as what the file has to be found afterwards.
    still: Option<Still>,
}

impl Reader {
    /// Opens the store at `path`.
    ///
    /// # Errors
    /// `missing`, `foreign`, `newer`, `older`, `altered`, `damaged`, and what the system says.
    pub async fn open(path: &Path, settings: Settings) -> Result<Self, StoreError> {
        let path = open::resolved(path)?;
        if fs::metadata(&path).map_err(|source| StoreError::io(&path, source))?.len() == 0 {
            return Err(StoreError::Missing { path, detail: "the file is empty".to_owned() });
        }
        // Taken before the file is opened, so that nothing between is missed.
        let still = Still::of(&path);
        let (conn, without_log) =
            open::reader(&path, settings, still.is_some()).await.map_err(|fault| fault.at(&path))?;
        Ok(Self { path, conn, still: still.filter(|_| without_log) })
    }

    /// All that the store has of now.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn load(&mut self) -> Result<Loaded, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let mut known = Known { names: Names::load(&mut tx).await?, ..Known::default() };
            let loaded = read::load(&mut tx, &mut known).await?;
            tx.rollback().await?;
            Ok(loaded)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// The same without what BASes list, and since when: a large part, for those who only ask
    /// what is published.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn load_table(&mut self) -> Result<Loaded, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let loaded = read::load_table(&mut tx, &names).await?;
            tx.rollback().await?;
            Ok(loaded)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// Who owns the addresses of one space, and no more of the table than that; nothing where
    /// a pin shows other ranges than those of now.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn load_owned(&mut self, space: &str) -> Result<Option<Owned>, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let owned = owned::load(&mut tx, &names, space).await?;
            tx.rollback().await?;
            Ok(owned)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// The table and groups of a generation.
    ///
    /// # Errors
    /// `no-generation` where it does not exist or is no longer kept.
    pub async fn table_at(&mut self, generation: u64) -> Result<Past, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let past = read::table_at(&mut tx, &names, generation).await?;
            tx.rollback().await?;
            Ok(past)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// The groups of a generation.
    ///
    /// # Errors
    /// `no-generation` where it does not exist or is no longer kept.
    pub async fn groups_at(&mut self, generation: u64) -> Result<Groups, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let groups = read::groups_at(&mut tx, &names, generation).await?;
            tx.rollback().await?;
            Ok(groups)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// What turns the table of one generation into that of another, whichever is the later.
    ///
    /// # Errors
    /// `no-generation` where one of them does not exist or is no longer kept.
    pub async fn changes_between(&mut self, from: u64, to: u64) -> Result<Vec<Change>, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let changes = read::changes_between(&mut tx, &names, from, to).await?;
            tx.rollback().await?;
            Ok(changes)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// The newest generations, newest first.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn generations(&mut self, limit: u32) -> Result<Vec<Generation>, StoreError> {
        let answer = read::generations(&mut self.conn, limit).await;
        self.checked(answer)
    }

    /// The generation that was the newest at a time.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn generation_at(&mut self, at: Timestamp) -> Result<u64, StoreError> {
        let answer = read::generation_at(&mut self.conn, at).await.map(i64::cast_unsigned);
        self.checked(answer)
    }

    /// What operators did since a generation was the newest, oldest first.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn acts_since(&mut self, generation: u64) -> Result<Vec<Remembered>, StoreError> {
        let answer = acts::since(&mut self.conn, generation).await;
        self.checked(answer)
    }

    /// The entries of a topic that are kept, by space and range, the oldest first.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn history(&mut self, topic: &Topic) -> Result<Vec<Lifetime>, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let history = history::of(&mut tx, &names, topic).await?;
            tx.rollback().await?;
            Ok(history)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// How much of a BAS's pools was in use.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn used(&mut self, bas: &Name) -> Result<Used, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let used = usage::of(&mut tx, &names, bas).await?;
            tx.rollback().await?;
            Ok(used)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// The runs that ended since a time, and those that began as one of them ended: for how long
    /// ranges were published as an owner's, as far as they no longer are. Fill lines make no run.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub async fn runs_ended_since(&mut self, since: Timestamp) -> Result<Vec<Run>, StoreError> {
        let answer = async {
            let mut tx = self.conn.begin().await?;
            let names = Names::load(&mut tx).await?;
            let runs = read::runs_ended_since(&mut tx, &names, since).await?;
            tx.rollback().await?;
            Ok(runs)
        };
        let answer = answer.await;
        self.checked(answer)
    }

    /// Copies the database to a file, whole and on the disk or not at all, beside whoever owns
    /// it. What stands there is replaced, if it is an older copy.
    ///
    /// # Errors
    /// `foreign` where the target is the database itself or something else than a copy of
    /// one; as for [`Reader::open`].
    pub async fn backup(&mut self, target: &Path) -> Result<(), StoreError> {
        let target = open::resolved(target)?;
        let own = ["", "-wal", "-shm", ".lock"].map(|suffix| beside(&self.path, suffix));
        let refuse =
            |detail: &str| Err(StoreError::Foreign { path: target.clone(), detail: detail.to_owned() });
        if own.contains(&target) || FileId::of(&target).ok() == Some(FileId::of(&self.path)?) {
            return refuse("it belongs to the database that is copied");
        }
        match fs::metadata(&target) {
            Ok(there) if there.len() > 0 => {
                // Only what is a copy is replaced: a slip must not cost another file.
                let older = open::source(&target, Settings::default()).await;
                if let Err(StoreError::Foreign { detail, .. }) = &older {
                    return refuse(detail);
                }
                if let Ok(older) = older {
                    // It was only looked at.
                    let _ = older.close().await;
                }
            }
            _ => {}
        }
        keep::copy(&mut self.conn, &self.path, &target).await?;
        self.checked(Ok(()))
    }

    fn checked<T>(&self, answer: Result<T, Fault>) -> Result<T, StoreError> {
        // Asked even before the answer's own failure: half of a change reads as damage.
        if self.still.is_some() && self.still != Still::of(&self.path) {
            return Err(StoreError::Busy { path: self.path.clone() });
        }
        answer.map_err(|fault| fault.at(&self.path))
    }
}

/// By what a file shows that nobody wrote to it.
#[derive(Debug, PartialEq, Eq)]
struct Still {
    length: u64,
    modified: SystemTime,
}

impl Still {
    /// Nothing where there is a log that would have to be read as well.
    fn of(db: &Path) -> Option<Self> {
        let log = fs::metadata(beside(db, "-wal")).map_or(0, |log| log.len());
        let db = fs::metadata(db).ok()?;
        (log == 0).then_some(Self { length: db.len(), modified: db.modified().ok()? })
    }
}
