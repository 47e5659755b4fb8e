//! Single steps on single files. Each of them leaves the target whole, whenever the process
//! or the machine dies.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::{Export, Failure, FailureReason, Target, group};
use crate::format::Rendered;

/// May everybody read a file of this mode?
const READ_BY_OTHERS: u32 = 0o004;

/// The superuser's number.
const ROOT: u32 = 0;

/// From so many octets on, a thread more is worth its while.
const SIDE_BY_SIDE: usize = 1 << 18;

/// Who may read a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rights {
    /// The mode, as in `chmod`.
    mode: u32,
    /// The number of its group; none: that of the file before.
    group: Option<u32>,
}

impl Rights {
    /// Read by all.
    pub(super) const PUBLIC: Self = Self { mode: 0o644, group: None };

    /// Those of an export's files.
    pub(super) fn of(export: &Export) -> Result<Self, Failure> {
        let group = export.group.as_deref().map(group::number).transpose();
        let group = group.map_err(|e| Failure::new(FailureReason::Write, format!("group: {e}")))?;
        Ok(Self { mode: export.mode, group })
    }
}

/// Writes `.NAME.new` anew and makes it durable. What an earlier run left there goes first:
/// it is created, never opened, so that nothing planted under the name is written to.
pub(super) fn write_new(target: &Target, pieces: &[&[u8]], rights: Rights) -> Result<(), Failure> {
    write_new_unsynced(target, pieces, rights).and_then(|file| sync(target, &file))
}

/// The same, but for [`sync`], which is to follow before the file gets its name.
pub(super) fn write_new_unsynced(target: &Target, pieces: &[&[u8]], rights: Rights) -> Result<File, Failure> {
    let path = target.new_file();
    remove(&path).and_then(|()| write(target, &path, pieces, rights)).map_err(|e| not_written(&path, &e))
}

/// Makes a new file durable.
pub(super) fn sync(target: &Target, file: &File) -> Result<(), Failure> {
    file.sync_all().map_err(|e| not_written(&target.new_file(), &e))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    // A part of a file serves nobody, and may be what fills the disk.
    let _ = remove(path);
    Failure::new(FailureReason::Write, format!("{}: {error}", path.display()))
}

fn write(target: &Target, path: &Path, pieces: &[&[u8]], rights: Rights) -> io::Result<File> {
    let Rights { mode, group } = rights;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    // The mode given at creation is subject to the umask.
    file.set_permissions(Permissions::from_mode(mode))?;
    match metadata(target.path())? {
        Some(old) => {
            keep_owner(&old, &file, mode)?;
            date_behind(&old, &file)?;
        }
        None => give_to_folder(target.directory(), &file)?,
    }
    if let Some(group) = group {
        give_to(&file, group)?;
    }
    Ok(file)
}

/// Gives the new file the owner and group of the one it replaces. Where that is not allowed
/// it only matters if the consumer reads by owner or group.
fn keep_owner(old: &Metadata, new: &File, mode: u32) -> io::Result<()> {
    let made = new.metadata()?;
    if (made.uid(), made.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    match fchown(new, Some(old.uid()), Some(old.gid())) {
        Err(e) if mode & READ_BY_OTHERS == 0 => Err(io::Error::new(
            e.kind(),
            format!("cannot keep the owner {}:{} of the file before: {e}", old.uid(), old.gid()),
        )),
        _ => Ok(()),
    }
}

/// What root makes in somebody else's folder becomes that one's: the service, which is a user
/// of its own, is to go on with what a command of the administrator's has begun.
fn give_to_folder(folder: &Path, new: &File) -> io::Result<()> {
    let (made, folder) = (new.metadata()?, fs::metadata(folder)?);
    if made.uid() == ROOT && folder.uid() != ROOT {
        fchown(new, Some(folder.uid()), Some(folder.gid()))?;
    }
    Ok(())
}

/// Makes a folder, where only that one is missing, for whom the folder around it belongs to.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let around = folder.parent().unwrap_or(Path::new("/"));
    give_to_folder(around, &File::open(folder)?)
}

/// Dates the new file in a later second than the one it replaces: consumers that look at the
/// time of a file (nginx's geoip2) look at its seconds, and would never see the second of two
/// within one.
fn date_behind(old: &Metadata, new: &File) -> io::Result<()> {
    if new.metadata()?.mtime() > old.mtime() {
        return Ok(());
    }
    let next = u64::try_from(old.mtime()).unwrap_or_default().saturating_add(1);
    // A time that the system cannot tell is no reason to publish nothing.
    UNIX_EPOCH.checked_add(Duration::from_secs(next)).map_or(Ok(()), |time| new.set_modified(time))
}

fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn give_to(file: &File, group: u32) -> io::Result<()> {
    if file.metadata()?.gid() == group {
        return Ok(());
    }
    let refuse = |e: io::Error| io::Error::new(e.kind(), format!("cannot give it to group {group}: {e}"));
    fchown(file, None, Some(group)).map_err(refuse)
}

/// Renames `.NAME.new` to `NAME` and makes that durable.
pub(super) fn install(target: &Target) -> Result<(), Failure> {
    let new = target.new_file();
    fs::rename(&new, target.path()).and_then(|()| sync_directory(target)).map_err(|e| {
        let hint = match e.kind() {
            ErrorKind::ResourceBusy | ErrorKind::CrossesDevices => {
                " (a file that is a mount point cannot be replaced: mount its folder instead)"
            }
            _ => "",
        };
        let detail = format!("{} to {}: {e}{hint}", new.display(), target.path().display());
        Failure::new(FailureReason::Install, detail)
    })
}

/// Keeps the file as `.NAME.prev`.
pub(super) fn keep_previous(target: &Target) -> Result<(), Failure> {
    let kept = if exists(target.path()) {
        link_over(target.path(), &target.beside_previous())
    } else {
        remove(&target.previous())
    };
    kept.map_err(|e| Failure::new(FailureReason::Install, format!("{}: {e}", target.previous().display())))
}

/// Puts `.NAME.prev` back as `NAME`. `.NAME.prev` stays.
pub(super) fn put_back(target: &Target) -> Result<(), Failure> {
    link_over(&target.previous(), target)
        .and_then(|()| sync_directory(target))
        .map_err(|e| Failure::new(FailureReason::Install, format!("{}: {e}", target.path().display())))
}

/// Makes `target` another name of `path`, or a copy where the file system has no links.
fn link_over(path: &Path, target: &Target) -> io::Result<()> {
    let new = target.new_file();
    remove(&new)?;
    if fs::hard_link(path, &new).is_err() {
        fs::copy(path, &new)?;
        File::open(&new)?.sync_all()?;
    }
    // Between two names of one file a rename does nothing, and leaves both.
    fs::rename(&new, target.path()).and_then(|()| remove(&new))
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// SHA-256 in hex.
pub(super) fn sha256(octets: &[u8]) -> String {
    hex(Sha256::new().chain_update(octets))
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|octet| format!("{octet:02x}")).collect()
}

/// SHA-256 of a file in place, in hex: read piece by piece, for it may be large.
pub(super) fn sha256_of(path: &Path) -> io::Result<String> {
    let (mut file, mut digest) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; SIDE_BY_SIDE];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(digest)),
            count => digest.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// SHA-256 of a whole file and of its body, in hex.
pub(super) fn digests(rendered: &Rendered) -> (String, String) {
    let Rendered { head, body, tail, .. } = rendered;
    if head.is_empty() {
        // Both begin alike.
        let begun = Sha256::new().chain_update(body);
        return (hex(begun.clone().chain_update(tail)), hex(begun));
    }
    let whole = || hex(Sha256::new().chain_update(head).chain_update(body).chain_update(tail));
    if body.len() < SIDE_BY_SIDE {
        return (whole(), sha256(body));
    }
    let (whole, own) = thread::scope(|scope| {
        let beside = scope.spawn(whole);
        let own = sha256(body);
        (beside.join().ok(), own)
    });
    // What a thread did not bring to an end is done here.
    (whole.unwrap_or_else(|| hex(Sha256::new().chain_update(rendered.bytes()))), own)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn sync_directory(target: &Target) -> io::Result<()> {
    File::open(target.directory())?.sync_all()
}
