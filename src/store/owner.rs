//! Whose the files of the store are.
//!
//! An administrator runs `poolsync poll` as root where the service, which is a user of its own,
//! does not run. What that makes in the service's folder becomes the service's, or it could
//! never write to its store again.

use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::Path;

use super::beside;
use super::lock::lock_path;

/// The superuser's number.
const ROOT: u32 = 0;

/// Gives the database at `db` and what lies beside it to whom their folder belongs, where they
/// are root's and the folder is not.
pub(super) fn give(db: &Path) {
    for path in [db.to_owned(), beside(db, "-wal"), beside(db, "-shm"), lock_path(db)] {
        match give_one(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), %error, "stays root's: the service cannot write to it");
            }
            _ => {}
        }
    }
}

/// A link is given away itself, not what it leads to.
fn give_one(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let (own, folder) = (path.symlink_metadata()?, folder.metadata()?);
    // Under a second name it may be anything of root's.
    let only_here = own.nlink() == 1;
    if own.uid() == ROOT && folder.uid() != ROOT && only_here {
        lchown(path, Some(folder.uid()), Some(folder.gid()))?;
    }
    Ok(())
}
