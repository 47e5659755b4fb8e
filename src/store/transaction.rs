//! How the owner reads and writes: on one connection, in whole transactions.
//!
//! The connection is out of the store while a transaction runs. One that fails or is dropped
//! half-way is not put back: SQLite rolls back as it closes, and the next transaction starts
//! on a new connection, from what is on the disk. So no state of this process can come to
//! differ from the database's.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sqlx::{Connection, SqliteConnection};

use super::commit::Known;
use super::error::Fault;
use super::names::Names;
use super::{Store, StoreError, beside, open, read};

/// The connection, and what is known to be in the database.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) conn: SqliteConnection,
    pub(super) known: Known,
}

impl Store {
    /// Begins a transaction that will write.
    pub(super) async fn begin(&mut self) -> Result<Writer, StoreError> {
        let mut retries = self.settings.busy_retries;
        loop {
            let mut writer = self.take().await?;
            // A deferred transaction that turns to writing is refused at once, whatever the
            // busy timeout.
            let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut writer.conn).await;
            match begun.map_err(|error| Fault::from(error).at(&self.path)) {
                Ok(_) => return Ok(writer),
                Err(StoreError::Busy { .. }) if retries > 0 => {
                    retries -= 1;
                    tracing::warn!(path = %self.path.display(), retries, "another program holds the database");
                    self.writer = Some(writer);
                }
                Err(error) => return Err(error),
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
                // The failure to close is the failure that is told already.
                let _ = writer.conn.close().await;
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
    /// SQLite from using it anew.
    pub(super) async fn bound_log(&mut self) -> Result<(), StoreError> {
        let log = fs::metadata(beside(&self.path, "-wal")).map_or(0, |log| log.len());
        if log <= self.settings.wal_limit {
            return Ok(());
        }
        let mut writer = self.take().await?;
        // Where a reader is in the way the row says busy, and the next flush tries again.
        let cut = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut writer.conn).await;
        cut.map_err(|error| Fault::from(error).at(&self.path))?;
        self.writer = Some(writer);
        Ok(())
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
