//! The manifest beside a published table: what it is, and for which generation it is true.

use std::fs;
use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::{self, Rights};
use super::{Failure, FailureReason, Target};

/// `NAME.manifest.json`. It is written last: that it is there and fits the files means that
/// the consumer was told of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The store's identity, 16 hex digits.
    pub session: String,
    /// The newest generation that the files are true for.
    pub generation: u64,
    /// The table.
    #[serde(flatten)]
    pub table: FileRecord,
    /// The groups file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<FileRecord>,
    /// When the files were last changed.
    #[serde(default)]
    pub changed: Option<Timestamp>,
    /// When the consumer was last seen to answer as the files say; none where it was not
    /// asked.
    #[serde(default)]
    pub confirmed: Option<Timestamp>,
    /// How long the last publication took that changed the files, in milliseconds.
    #[serde(default)]
    pub took_ms: Option<u64>,
    /// When this was written.
    pub written: Timestamp,
}

/// One file of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its format.
    pub format: String,
    /// The generation that last changed its body, which its header names.
    pub body_generation: u64,
    /// SHA-256 of the whole file, in hex.
    pub sha256: String,
    /// How many octets stand before the body.
    pub head_octets: u64,
    /// How many octets the body has.
    pub body_octets: u64,
    /// How many rows it has.
    pub rows: u64,
}

impl Manifest {
    /// The manifest of a table; nothing where there is none that can be read, which is no
    /// error: the files are then published anew.
    pub fn read(table: &Target) -> Option<Self> {
        serde_json::from_slice(&fs::read(table.manifest()).ok()?).ok()
    }

    pub(super) fn write(&self, table: &Target, rights: Rights) -> Result<(), Failure> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|e| Failure::new(FailureReason::Manifest, e.to_string()))?;
        text.push(b'\n');
        let manifest = table.beside_manifest();
        file::write_new(&manifest, &[&text], rights)
            .and_then(|()| file::install(&manifest))
            .map_err(|e| Failure::new(FailureReason::Manifest, e.detail))
    }
}

impl FileRecord {
    /// Whether the target is the very file that this tells of.
    pub(super) fn fits(&self, target: &Target) -> io::Result<bool> {
        Ok(file::sha256_of(target.path())? == self.sha256)
    }

    /// Whether the target, which is the file that this tells of, has this very body.
    pub(super) fn has_body(&self, target: &Target, body: &[u8]) -> io::Result<bool> {
        let same_size = usize::try_from(self.body_octets).is_ok_and(|octets| octets == body.len());
        Ok(same_size && file::holds(target.path(), self.head_octets, body)?)
    }
}
