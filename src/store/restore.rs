//! Putting a database back from a copy of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sqlx::{Connection as _, SqliteConnection};

use super::commit::{Committed, Known};
use super::error::Fault;
use super::lock::Lock;
use super::names::Names;
use super::transaction::FileId;
use super::{Acts, Settings, StoreError, acts, beside, keep, open, owner, read};
use crate::table::{Act, ActKind, Name, Session};

/// What was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Where the database is.
    pub path: PathBuf,
    /// Its new identity.
    pub session: Session,
    /// Its newest generation.
    pub generation: u64,
    /// Where the database before is kept; none where there was none.
    pub aside: Option<PathBuf>,
}

/// Puts a copy in the place of the database at `path`, under the owner's lock. The copy is
/// read, brought up to date and checked before anything is touched; the database before is
/// kept beside it. The new one has a new identity, so that nobody takes its generations for
/// those that consumers have seen.
///
/// # Errors
/// `locked` where somebody owns the store; `missing`, `foreign`, `newer`, `altered` and
/// `damaged` of the copy; `full`, `read-only`, and what the system says. Then the database is
/// as it was.
pub async fn restore(
    path: &Path,
    from: &Path,
    settings: Settings,
    by: &Name,
    now: Timestamp,
) -> Result<Restored, StoreError> {
    let path = open::resolved(path)?;
    let from = open::resolved(from)?;
    let _lock = Lock::take(&path)?;
    if Some(FileId::of(&from)?) == FileId::of(&path).ok() {
        return Err(StoreError::Foreign { path: from, detail: "it is the database itself".to_owned() });
    }
    let staged = beside(&path, ".restoring");
    sweep(&staged);
    let restored = put_back(&path, &from, &staged, settings, by, now).await;
    sweep(&staged);
    owner::give(&path);
    restored
}

/// Removes what was staged, and what was made beside it. Best effort: what fails is told where
/// the files are needed.
fn sweep(staged: &Path) {
    let (Some(folder), Some(name)) = (staged.parent(), staged.file_name()) else { return };
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = |file: &fs::DirEntry| file.file_name().as_encoded_bytes().starts_with(name.as_encoded_bytes());
    for file in files.filter(ours) {
        let _ = fs::remove_file(file.path());
    }
}

async fn put_back(
    path: &Path,
    from: &Path,
    staged: &Path,
    settings: Settings,
    by: &Name,
    now: Timestamp,
) -> Result<Restored, StoreError> {
    let mut source = open::source(from, settings).await?;
    let copied = keep::copy(&mut source, from, staged).await;
    let closed = source.close().await.map_err(|error| Fault::from(error).at(from));
    copied.and(closed)?;
    let mut conn = open::writer(staged, settings, &open::MIGRATIONS).await?;
    let session = Session(rand::random());
    let generation = prepare(&mut conn, session, &format!("from {}", from.display()), by, now).await;
    // Closing the last connection leaves no log behind.
    let closed = conn.close().await.map_err(Fault::from);
    let generation = generation.and_then(|generation| closed.map(|()| generation));
    let generation = generation.map_err(|fault| fault.at(from))?;
    let aside = exchange(path, staged, settings).await?;
    // A log that is there, if empty: for those who may only read the directory.
    let conn = open::writer(path, settings, &open::MIGRATIONS).await?;
    open::close(conn, path, settings).await.map_err(|fault| fault.at(path))?;
    Ok(Restored { path: path.to_owned(), session, generation, aside })
}

/// Checks the copy whole, and draws its new identity; gives its newest generation.
async fn prepare(
    conn: &mut SqliteConnection,
    session: Session,
    detail: &str,
    by: &Name,
    now: Timestamp,
) -> Result<u64, Fault> {
    let sound: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut *conn).await?;
    if sound != "ok" {
        return Err(Fault::Damaged(sound));
    }
    let mut known = Known { names: Names::load(conn).await?, ..Known::default() };
    let loaded = read::load(conn, &mut known).await?;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await?;
    keep::set_session(conn, session).await?;
    let (reason, detail) = (Name::default(), detail.to_owned());
    let act = Act { at: now, kind: ActKind::Restore, by: by.clone(), reason, detail };
    let done = Acts { done: &[act], ..Acts::default() };
    let committed = Committed { generation: loaded.generation, made: false };
    acts::write(conn, &mut known.names, &done, committed).await?;
    sqlx::query("COMMIT").execute(&mut *conn).await?;
    Ok(loaded.generation)
}

/// Puts the staged database in place; whoever reads the path finds the old one or the new one,
/// whole, at any instant.
async fn exchange(path: &Path, staged: &Path, settings: Settings) -> Result<Option<PathBuf>, StoreError> {
    let broken = |source| StoreError::io(path, source);
    own_like(path, staged).map_err(broken)?;
    File::open(staged).and_then(|file| file.sync_all()).map_err(broken)?;
    let aside = match path.exists() {
        true => Some(keep_aside(path, settings).await?),
        false => None,
    };
    fs::rename(staged, path).map_err(broken)?;
    if let Some(folder) = path.parent() {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(broken)?;
    }
    Ok(aside)
}

/// Keeps the old database under another name as well. Its log is brought into it first; where
/// that fails, because the database is damaged, the log is kept beside it.
async fn keep_aside(path: &Path, settings: Settings) -> Result<PathBuf, StoreError> {
    let names = (0u32..).map(|n| match n {
        0 => beside(path, ".before-restore"),
        n => beside(path, &format!(".before-restore-{n}")),
    });
    let free = |name: &PathBuf| !name.exists();
    let aside = names.take(10_000).find(free).unwrap_or_else(|| beside(path, ".before-restore"));
    let broken = |source| StoreError::io(&aside, source);
    let whole = match open::drain_log(path, settings).await {
        Err(busy @ StoreError::Busy { .. }) => return Err(busy),
        drained => drained.is_ok(),
    };
    fs::hard_link(path, &aside).map_err(broken)?;
    for suffix in ["-wal", "-shm"] {
        let moved = match whole {
            true => fs::remove_file(beside(path, suffix)),
            false => fs::rename(beside(path, suffix), beside(&aside, suffix)),
        };
        match moved {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(broken(error)),
            _ => {}
        }
    }
    Ok(aside)
}

/// Gives a file to whom the old one belongs, or the folder: what an administrator restores is
/// the service's.
fn own_like(path: &Path, staged: &Path) -> io::Result<()> {
    let like = match fs::metadata(path) {
        Ok(old) => {
            fs::set_permissions(staged, old.permissions())?;
            old
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::metadata(path.parent().unwrap_or(Path::new(".")))?
        }
        Err(error) => return Err(error),
    };
    let now = fs::metadata(staged)?;
    if (now.uid(), now.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    chown(staged, Some(like.uid()), Some(like.gid()))
}
