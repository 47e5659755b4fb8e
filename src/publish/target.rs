//! Where a file goes, and the names beside it.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Failure, FailureReason};

/// More links than this in a row are a loop.
const MAX_LINKS: usize = 40;

/// A file to be replaced, after symbolic links at its name were followed: a rename replaces
/// what the link points to, in that file's own directory, and the link stays. All names
/// beside it are in that directory too, so that a rename never crosses a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    path: PathBuf,
    directory: PathBuf,
    name: OsString,
}

impl Target {
    /// The target of a path. The file need not be there; its directory must.
    ///
    /// # Errors
    /// Where the path leads to something that is no regular file, or to no directory.
    pub fn resolve(path: &Path) -> Result<Self, Failure> {
        let refuse = |path: &Path, problem: &str| {
            Failure::new(FailureReason::Path, format!("{}: {problem}", path.display()))
        };
        // A command that is told of it runs in another folder.
        let mut path = std::path::absolute(path).map_err(|e| refuse(path, &e.to_string()))?;
        for _ in 0..MAX_LINKS {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => {
                    let link = fs::read_link(&path).map_err(|e| refuse(&path, &e.to_string()))?;
                    path = directory_of(&path).join(link);
                }
                Ok(found) if found.is_file() => return Self::new(path),
                Ok(_) => return Err(refuse(&path, "is not a regular file")),
                Err(e) if e.kind() == ErrorKind::NotFound => return Self::new(path),
                Err(e) => return Err(refuse(&path, &e.to_string())),
            }
        }
        Err(refuse(&path, "too many symbolic links in a row"))
    }

    fn new(path: PathBuf) -> Result<Self, Failure> {
        let refuse =
            |problem: &str| Failure::new(FailureReason::Path, format!("{}: {problem}", path.display()));
        let directory = directory_of(&path);
        match fs::metadata(&directory) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(refuse("its folder is no folder")),
            Err(e) => return Err(refuse(&format!("its folder: {e}"))),
        }
        let name = path.file_name().ok_or_else(|| refuse("has no file name"))?.to_owned();
        Ok(Self { path, directory, name })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// `.NAME.new`: the file in the making. A leading dot keeps it out of `include *.conf`.
    pub fn new_file(&self) -> PathBuf {
        self.hidden(".new")
    }

    /// `.NAME.prev`: the file before.
    pub fn previous(&self) -> PathBuf {
        self.hidden(".prev")
    }

    /// `NAME.manifest.json`.
    pub fn manifest(&self) -> PathBuf {
        let mut name = self.name.clone();
        name.push(".manifest.json");
        self.directory.join(name)
    }

    /// `.NAME.reload`: made anew whenever the consumer is to read its files again.
    pub fn stamp(&self) -> PathBuf {
        self.hidden(".reload")
    }

    /// The stamp as a target of its own.
    pub(super) fn beside_stamp(&self) -> Self {
        self.beside(self.stamp())
    }

    /// The manifest as a target of its own.
    pub(super) fn beside_manifest(&self) -> Self {
        self.beside(self.manifest())
    }

    /// `.NAME.prev` as a target of its own.
    pub(super) fn beside_previous(&self) -> Self {
        self.beside(self.previous())
    }

    fn beside(&self, path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or(&self.name).to_owned();
        Self { path, directory: self.directory.clone(), name }
    }

    fn hidden(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(&self.name);
        name.push(ending);
        self.directory.join(name)
    }
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
