//! How the owner reads and writes: on one connection, in whole transactions.
//!
//! The connection is out of the store while a transaction runs. One that is dropped half-way
//! is not put back: SQLite rolls back as it closes, and the next transaction starts on a new
//! connection. After one that failed, what was known is read anew. So no state of this
//! process can come to differ from the database's.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::{Connection, SqliteConnection};

use super::commit::Known;
use super::error::Fault;
use super::names::Names;
use super::{Store, StoreError, beside, open, read};

/// For how long a busy database is asked without a pause.
const EAGER: Duration = Duration::from_millis(200);

/// The connection, and what is known to be in the database.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) conn: SqliteConnection,
    pub(super) known: Known,
}

impl Store {
    /// Begins a transaction that will write, waiting for another program's to end.
    ///
    /// SQLite's own wait sleeps longer and longer, and starves beside a program that begins
    /// anew as soon as it has committed. So the connection does not wait, and this tries: all
    /// the time at first, then every millisecond.
    pub(super) async fn begin(&mut self) -> Result<Writer, StoreError> {
        let mut writer = self.take().await?;
        let since = Instant::now();
        loop {
            // A deferred transaction that turns to writing would be refused at once, however
            // long it may wait.
            let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut writer.conn).await;
            match begun.map_err(|error| Fault::from(error).at(&self.path)) {
                Ok(_) => return Ok(writer),
                Err(StoreError::Busy { .. }) if since.elapsed() < self.settings.busy_timeout => {}
                Err(error) => {
                    if let StoreError::Busy { .. } = error {
                        self.writer = Some(writer);
                    }
                    return Err(error);
                }
            }
            if since.elapsed() > EAGER {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Commits what was written, or lets the connection go with what failed.
    pub(super) async fn end<T>(
        &mut self,
        mut writer: Writer,
        written: Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let ended = match written {
            Ok(value) => {
                let done = sqlx::query("COMMIT").execute(&mut writer.conn).await;
                done.map(|_| value).map_err(Fault::from)
            }
            Err(fault) => Err(fault),
        };
        match ended {
            Ok(value) => {
                self.writer = Some(writer);
                Ok(value)
            }
            Err(fault) => {
                self.writer = recovered(writer.conn).await;
                Err(fault.at(&self.path))
            }
        }
    }

    /// Begins a transaction that only reads.
    pub(super) async fn begin_read(&mut self) -> Result<Writer, StoreError> {
        let mut writer = self.take().await?;
        let begun = sqlx::query("BEGIN").execute(&mut writer.conn).await;
        begun.map_err(|error| Fault::from(error).at(&self.path))?;
        Ok(writer)
    }

    /// Ends a transaction that only read.
    pub(super) async fn end_read<T>(
        &mut self,
        mut writer: Writer,
        answer: Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let ended = sqlx::query("ROLLBACK").execute(&mut writer.conn).await;
        let value = answer.map_err(|fault| fault.at(&self.path))?;
        ended.map_err(|error| Fault::from(error).at(&self.path))?;
        self.writer = Some(writer);
        Ok(value)
    }

    /// The connection; a new one where the last transaction took it along.
    pub(super) async fn take(&mut self) -> Result<Writer, StoreError> {
        // A file that is removed or replaced stays ours, under no name: what is committed to
        // it would be lost without a word.
        if FileId::of(&self.path)? != self.file {
            let detail = "it was removed or replaced while in use; start anew".to_owned();
            return Err(StoreError::Missing { path: self.path.clone(), detail });
        }
        match self.writer.take() {
            Some(writer) => Ok(writer),
            None => self.reconnect().await,
        }
    }

    async fn reconnect(&self) -> Result<Writer, StoreError> {
        let mut conn = open::writer(&self.path, self.settings, &open::MIGRATIONS).await?;
        let at = |fault: Fault| fault.at(&self.path);
        if read::session(&mut conn).await.map_err(at)? != self.session {
            let detail = "it was replaced while in use; start anew".to_owned();
            return Err(StoreError::Missing { path: self.path.clone(), detail });
        }
        let names = Names::load(&mut conn).await.map_err(at)?;
        Ok(Writer { conn, known: Known { names, ..Known::default() } })
    }

    /// Cuts the write-ahead log back where it has grown: a reader that stayed long keeps
    /// SQLite from using it anew. Where that fails nothing is lost, and the next time tries
    /// again.
    pub(super) async fn bound_log(&mut self) {
        let log = fs::metadata(beside(&self.path, "-wal")).map_or(0, |log| log.len());
        let Some(mut writer) = self.writer.take_if(|_| log > self.settings.wal_limit) else { return };
        // A reader in the way is no error: the row says so.
        match sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut writer.conn).await {
            Ok(_) => self.writer = Some(writer),
            Err(error) => tracing::warn!(path = %self.path.display(), log, %error, "log not cut back"),
        }
    }

    /// Gives back the pages that SQLite holds, after much has been read or written: the system
    /// has them as well, and the next small batch needs few of them.
    pub(super) async fn give_pages_back(&mut self) {
        let Some(mut writer) = self.writer.take() else { return };
        match sqlx::query("PRAGMA shrink_memory").execute(&mut writer.conn).await {
            Ok(_) => self.writer = Some(writer),
            Err(error) => tracing::warn!(path = %self.path.display(), %error, "pages not given back"),
        }
    }
}

/// The connection after a transaction that failed, with what the database has and nothing
/// that it would have had; none where it does not answer. It is worth keeping: on a full disk
/// a new one cannot be made.
async fn recovered(mut conn: SqliteConnection) -> Option<Writer> {
    // Some failures roll back by themselves, and then this one fails. Whether a transaction
    // is still open shows at the next line.
    let _ = sqlx::query("ROLLBACK").execute(&mut conn).await;
    let begun = sqlx::query("BEGIN").execute(&mut conn).await;
    let names = match begun {
        Ok(_) => Names::load(&mut conn).await,
        Err(error) => Err(error.into()),
    };
    let ended = sqlx::query("ROLLBACK").execute(&mut conn).await;
    match (names, ended) {
        (Ok(names), Ok(_)) => Some(Writer { conn, known: Known { names, ..Known::default() } }),
        _ => {
            // What is told is the failure of the transaction.
            let _ = conn.close().await;
            None
        }
    }
}

/// Which file a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let found = fs::metadata(path).map_err(|source| StoreError::io(path, source))?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}
