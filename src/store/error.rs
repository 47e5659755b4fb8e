//! What can go wrong with the store, and what a person can do about it.

use std::io;
use std::path::{Path, PathBuf};

use sqlx::migrate::MigrateError;
use thiserror::Error;

/// Why the store could not do what was asked. [`StoreError::kind`] is stable; the texts are
/// for people.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process owns the store.
    #[error(
        "{} belongs to {}: ask it through its control socket, or stop it first",
        path.display(), holder(*pid)
    )]
    Locked {
        /// The database.
        path: PathBuf,
        /// The owner, where its lock file told.
        pid: Option<u32>,
    },
    /// A process that is not poolsync held SQLite's write lock for too long.
    #[error("{}: another program keeps writing to it; nothing was changed", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// No space left on the file system. Nothing was changed; the next try may work.
    #[error("{}: no space left; nothing was changed, free some space under it", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The database, its lock file or its directory cannot be written.
    #[error("{}: cannot be written by this user: {detail}", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// What the system or SQLite said.
        detail: String,
    },
    /// What is in the file contradicts itself.
    #[error("{}: the database is damaged ({detail}): put a backup in its place", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What contradicts what.
        detail: String,
    },
    /// A newer poolsync has been at it.
    #[error(
        "{}: was written by a newer poolsync (its schema is {found}, this program knows {known}): \
         use that one, or the copy kept before the upgrade", path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The newest migration in the database.
        found: i64,
        /// The newest migration that this program has.
        known: i64,
    },
    /// It awaits a migration, which a reader does not make.
    #[error("{}: was written by an older poolsync: start `poolsync run` or `poolsync poll` once", path.display())]
    Older {
        /// The database.
        path: PathBuf,
    },
    /// A migration was applied that this program knows under the same number, but otherwise.
    #[error("{}: migration {version} was made by a build that is not of this program's line", path.display())]
    Altered {
        /// The database.
        path: PathBuf,
        /// The number of the migration.
        version: i64,
    },
    /// The file is something else.
    #[error("{}: is not a poolsync database ({detail}); it was left alone", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// By what it was told.
        detail: String,
    },
    /// There is no such file, or no directory to make it in.
    #[error("{}: does not exist: {detail}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is missing.
        detail: String,
    },
    /// A change that does not start from what the store has. Nothing was changed.
    #[error("the change does not fit what the store has: {detail}")]
    OutOfStep {
        /// What does not fit.
        detail: String,
    },
    /// A generation that does not exist, or is no longer kept.
    #[error("generation {wanted} is not kept: there are {oldest} to {newest}")]
    NoGeneration {
        /// The number asked for.
        wanted: u64,
        /// The oldest that can be told.
        oldest: u64,
        /// The newest.
        newest: u64,
    },
    /// The system refused something else.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite refused something else.
    #[error("{}: {source}", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// What SQLite or its driver said.
        source: Box<sqlx::Error>,
    },
}

impl StoreError {
    /// The stable code of the failure.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "locked",
            Self::Busy { .. } => "busy",
            Self::Full { .. } => "full",
            Self::ReadOnly { .. } => "read-only",
            Self::Damaged { .. } => "damaged",
            Self::Newer { .. } => "newer",
            Self::Older { .. } => "older",
            Self::Altered { .. } => "altered",
            Self::Foreign { .. } => "foreign",
            Self::Missing { .. } => "missing",
            Self::OutOfStep { .. } => "out-of-step",
            Self::NoGeneration { .. } => "no-generation",
            Self::Io { .. } => "io",
            Self::Sql { .. } => "sql",
        }
    }

    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { path, detail: source.to_string() }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            io::ErrorKind::NotFound => Self::Missing { path, detail: source.to_string() },
            _ => Self::Io { path, source },
        }
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// A failure that does not know yet which file it was about.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(sqlx::Error),
    Damaged(String),
    OutOfStep(String),
    NoGeneration { wanted: u64, oldest: u64, newest: u64 },
    Newer { found: i64, known: i64 },
    Older,
    Altered(i64),
    Foreign(String),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<MigrateError> for Fault {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => Self::Sql(error),
            other => Self::Sql(sqlx::Error::Migrate(Box::new(other))),
        }
    }
}

impl Fault {
    /// SQLite's extended result code, where SQLite said so.
    pub(super) fn code(&self) -> Option<u32> {
        let Self::Sql(sqlx::Error::Database(error)) = self else { return None };
        error.code()?.parse().ok()
    }

    /// The failure, with the file that it is about.
    pub(super) fn at(self, path: &Path) -> StoreError {
        let code = self.code();
        let path = path.to_owned();
        match self {
            Self::Damaged(detail) => StoreError::Damaged { path, detail },
            Self::OutOfStep(detail) => StoreError::OutOfStep { detail },
            Self::NoGeneration { wanted, oldest, newest } => {
                StoreError::NoGeneration { wanted, oldest, newest }
            }
            Self::Newer { found, known } => StoreError::Newer { path, found, known },
            Self::Older => StoreError::Older { path },
            Self::Altered(version) => StoreError::Altered { path, version },
            Self::Foreign(detail) => StoreError::Foreign { path, detail },
            Self::Sql(error) => sql(path, code, error),
        }
    }
}

// Result codes of SQLite (sqlite.org/rescode.html): the low octet is the primary code.
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
pub(super) const READONLY: u32 = 8;
pub(super) const IOERR: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
pub(super) const CANTOPEN: u32 = 14;
pub(super) const NOTADB: u32 = 26;
/// SQLITE_IOERR_SHMSIZE: the index of the WAL could not grow, which takes space only.
const IOERR_SHMSIZE: u32 = IOERR | (19 << 8);
/// SQLITE_IOERR_SHORT_READ: a page that the header counts is not there.
const IOERR_SHORT_READ: u32 = IOERR | (2 << 8);

fn sql(path: PathBuf, code: Option<u32>, error: sqlx::Error) -> StoreError {
    let detail = error.to_string();
    match (code, code.map(|code| code & 0xff)) {
        (Some(IOERR_SHMSIZE), _) | (_, Some(FULL)) => StoreError::Full { path },
        (Some(IOERR_SHORT_READ), _) | (_, Some(CORRUPT | NOTADB)) => StoreError::Damaged { path, detail },
        (_, Some(BUSY | LOCKED)) => StoreError::Busy { path },
        (_, Some(READONLY)) => StoreError::ReadOnly { path, detail },
        (_, Some(CANTOPEN)) if !path.exists() => StoreError::Missing { path, detail },
        (_, Some(CANTOPEN)) => StoreError::ReadOnly { path, detail },
        _ if matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => {
            StoreError::Damaged { path, detail }
        }
        _ => StoreError::Sql { path, source: Box::new(error) },
    }
}
