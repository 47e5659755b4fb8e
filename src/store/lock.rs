//! The lock by which one process owns the store: on a side file, so that the database file
//! itself is only ever opened by SQLite (closing another descriptor of it would drop
//! SQLite's own locks).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::StoreError;

/// Ownership of a store; given back when dropped, and by the system when the process dies.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing alone would not do while a child of this process, forked at this moment and not
    /// yet the program that it is to be, still has the descriptor.
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::debug!(%error, "lock file not unlocked");
        }
    }
}

impl Lock {
    /// Takes the store at `db` for this process, and says so in the lock file.
    pub(super) fn take(db: &Path) -> Result<Self, StoreError> {
        let path = lock_path(db);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| StoreError::io(&path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { path: db.to_owned(), pid: holder(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(StoreError::io(&path, source)),
        }
        // Who holds it is a hint for people: a full disk must not keep the store closed.
        if let Err(error) = sign(&mut file) {
            tracing::debug!(path = %path.display(), %error, "lock file not signed");
        }
        Ok(Self { file })
    }
}

/// `<db>.lock`.
pub(super) fn lock_path(db: &Path) -> PathBuf {
    super::beside(db, ".lock")
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{}", std::process::id())
}
