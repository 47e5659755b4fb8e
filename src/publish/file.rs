//! Single steps on single files. Each of them leaves the target whole, whenever the process
//! or the machine dies.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::{Export, Failure, FailureReason, Target, group};
use crate::format::Rendered;

/// May everybody read a file of this mode?
const READ_BY_OTHERS: u32 = 0o004;

/// The superuser's number.
const ROOT: u32 = 0;

/// So many octets are read at once: as many as the processor's own memory holds.
const PIECE: usize = 1 << 18;

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

/// SHA-256 of a file in the making, in hex.
pub(super) fn sha256(rendered: &Rendered) -> String {
    hex(rendered.pieces().iter().fold(Sha256::new(), |digest, piece| digest.chain_update(piece)))
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|octet| format!("{octet:02x}")).collect()
}

/// SHA-256 of a file in place, in hex.
pub(super) fn sha256_of(path: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    piece_by_piece(&mut File::open(path)?, |piece| {
        digest.update(piece);
        true
    })?;
    Ok(hex(digest))
}

/// Whether these octets are what a file has from there on. The first that are not end it.
pub(super) fn holds(path: &Path, from: u64, octets: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut rest = octets;
    piece_by_piece(&mut file.take(octets.len() as u64), |piece| {
        let behind = rest.strip_prefix(piece);
        rest = behind.unwrap_or(rest);
        behind.is_some()
    })?;
    Ok(rest.is_empty())
}

/// Reads what may be large, until `go_on` says no.
fn piece_by_piece(from: &mut impl Read, mut go_on: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 || !go_on(buffer.get(..count).unwrap_or_default()) {
            return Ok(());
        }
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn sync_directory(target: &Target) -> io::Result<()> {
    File::open(target.directory())?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_same_only_where_every_octet_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let body: Vec<u8> = (0..2 * PIECE + 7).map(|at| (at % 251) as u8).collect();
        let holds = |head: &[u8], body: &[u8], wanted: &[u8]| {
            fs::write(&path, [head, body, b"tail"].concat()).unwrap();
            holds(&path, head.len() as u64, wanted).unwrap()
        };
        assert!(holds(b"head", &body, &body) && holds(b"", &body, &body) && holds(b"head", b"", b""));
        for at in [0, PIECE - 1, PIECE, body.len() - 1] {
            let mut other = body.clone();
            other[at] ^= 1;
            assert!(!holds(b"head", &other, &body), "at {at}");
        }
        // It ends too early, or begins later.
        assert!(!holds(b"head", &body[..body.len() - 5], &body));
        assert!(!holds(b"head", &body[1..], &body));
        assert!(super::holds(&folder.path().join("none"), 0, b"").is_err());
    }

    #[test]
    fn a_file_in_the_making_has_the_checksum_of_the_file_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (head, body, tail) = (b"head\n".to_vec(), vec![b'x'; PIECE + 1], b"tail".to_vec());
        let rendered = Rendered { head, body, tail, rows: 0 };
        fs::write(&path, rendered.bytes()).unwrap();
        assert_eq!(sha256(&rendered), sha256_of(&path).unwrap());
        // What `sha256sum` says of `abc`.
        let abc = Rendered { head: b"a".to_vec(), body: b"b".to_vec(), tail: b"c".to_vec(), rows: 0 };
        assert_eq!(sha256(&abc), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
