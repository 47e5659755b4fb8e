//! The file that localised keys are kept in from one run to the next.
//!
//! Such a key is as good as the password at the one engine that it is made for, so that the
//! file is its owner's alone, and one that others could read or write is not taken.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tokio::time::Instant;

use super::Transport;
use super::usm::MalformedKeys;

/// What the owner of the file may do, and nobody else.
const MODE: u32 = 0o600;
/// More than the keys of any fleet.
const MAX_OCTETS: u64 = 64 << 20;

/// Why keys were not read or written. It costs time at most: keys are made again.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct KeyFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: KeyFileProblem,
}

/// What is wrong with a file of keys. A closed list.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileProblem {
    /// The system's word.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Others than its owner have rights on it (its mode).
    #[error("others than its owner have rights on it (mode {0:o}): it is not taken")]
    Open(u32),
    /// It is no file that was written here, in words.
    #[error("{0}")]
    Malformed(String),
}

impl Transport {
    /// Takes over the localised keys of an earlier run, before anything is asked. Gives how
    /// many; 0 where there is no file. Blocks for the file.
    ///
    /// # Errors
    /// A file that cannot be read, that others may touch, or that is damaged.
    pub fn load_keys(&self, path: &Path) -> Result<usize, KeyFileError> {
        let text = match read(path) {
            Err(KeyFileProblem::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            text => text,
        };
        let loaded = text.and_then(|text| {
            self.keyring()
                .load(&text)
                .map_err(|error: MalformedKeys| KeyFileProblem::Malformed(error.to_string()))
        });
        loaded.map_err(|problem| KeyFileError { path: path.to_owned(), problem })
    }

    /// Keeps the localised keys for the next run, where there are others than the file has.
    /// Blocks for the file.
    ///
    /// # Errors
    /// What the system says.
    pub fn save_keys(&self, path: &Path) -> Result<(), KeyFileError> {
        let Some(text) = self.keyring().save(Instant::now()) else { return Ok(()) };
        write(path, &text).map_err(|error| {
            self.keyring().not_saved();
            KeyFileError { path: path.to_owned(), problem: error.into() }
        })
    }

    /// How often a user's keys had to be made for an engine since start.
    pub fn keys_made(&self) -> u64 {
        self.keyring().made()
    }
}

fn read(path: &Path) -> Result<String, KeyFileProblem> {
    let file = OpenOptions::new().read(true).open(path)?;
    let mode = file.metadata()?.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyFileProblem::Open(mode));
    }
    let mut text = String::new();
    file.take(MAX_OCTETS).read_to_string(&mut text)?;
    Ok(text)
}

/// Puts a whole file in its place, or none.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written =
        OpenOptions::new().write(true).create_new(true).mode(MODE).open(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            fs::rename(&new, path)
        });
    if written.is_err() {
        // Half a file serves nobody.
        let _ = fs::remove_file(&new);
    }
    written
}
