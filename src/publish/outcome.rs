//! What became of one publication.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::Manifest;
use crate::format::Warning;
use crate::table::Name;

/// What became of one export at one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The export's name.
    pub export: Name,
    /// The generation that was to be published.
    pub generation: u64,
    /// What became of it.
    pub state: State,
    /// What the consumer will not bear well.
    pub warnings: Vec<Warning>,
    /// How long it took.
    pub took: Duration,
}

/// What became of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The files are new, and the consumer has been told.
    Published(Manifest),
    /// The files would have the same bodies: they stay untouched, and nobody is told.
    Unchanged(Manifest),
    /// The files changed less than `min-interval` ago: they stay as they are until then.
    Deferred {
        /// When they may change again.
        until: Timestamp,
    },
    /// The consumer keeps what it had.
    Failed(Failure),
}

impl From<Result<State, Failure>> for State {
    fn from(result: Result<State, Failure>) -> Self {
        result.unwrap_or_else(State::Failed)
    }
}

/// Why a publication failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable reason.
    pub reason: FailureReason,
    /// What happened, for people: paths, the system's words, a command's last output.
    pub detail: String,
}

/// The stable reason of a failure; in JSON in kebab-case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureReason {
    /// The store has not seen enough of the fleet to be published at all.
    NotFilled,
    /// Table, groups and edges do not fit together.
    Inconsistent,
    /// The format cannot say what the table says.
    Render,
    /// The target is not a file, or its folder is not there.
    Path,
    /// A new file could not be written: space, permissions, ownership.
    Write,
    /// A new file does not read back as what was meant.
    ReadBack,
    /// A token of the table has no row in the groups file.
    GroupsIncomplete,
    /// The consumer's checker refused the new file, or could not be run.
    Check,
    /// The consumer's checker took too long.
    CheckTimeout,
    /// A new file could not be put in place.
    Install,
    /// The reload failed, or could not be run. The files before are back, where there were
    /// any.
    Reload,
    /// The reload took too long. As for `reload`.
    ReloadTimeout,
    /// HAProxy did not take the maps by its socket. As for `reload`.
    Haproxy,
    /// The consumer did not answer anew in time, or answered wrongly. As for `reload`.
    Canary,
    /// The files are in place and reloaded, but what follows (unused groups, manifest) could
    /// not be written. The next publication does it all again.
    Manifest,
    /// The work was broken off by a fault of the program.
    Interrupted,
}

impl Failure {
    pub(super) fn new(reason: FailureReason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }

    /// The failure with one more sentence.
    pub(super) fn and(mut self, sentence: &str) -> Self {
        self.detail.push_str("; ");
        self.detail.push_str(sentence);
        self
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

/// `{export, state, reason, detail, generation, body_generation, rows}`; what does not apply
/// is null.
impl Serialize for Published {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'a> {
            export: &'a Name,
            state: &'static str,
            reason: Option<FailureReason>,
            detail: Option<&'a str>,
            generation: u64,
            body_generation: Option<u64>,
            rows: Option<u64>,
        }
        let (state, failure, manifest) = match &self.state {
            State::Published(manifest) => ("published", None, Some(manifest)),
            State::Unchanged(manifest) => ("unchanged", None, Some(manifest)),
            State::Deferred { .. } => ("deferred", None, None),
            State::Failed(failure) => ("failed", Some(failure), None),
        };
        Flat {
            export: &self.export,
            state,
            reason: failure.map(|f| f.reason),
            detail: failure.map(|f| f.detail.as_str()),
            generation: self.generation,
            body_generation: manifest.map(|m| m.table.body_generation),
            rows: manifest.map(|m| m.table.rows),
        }
        .serialize(serializer)
    }
}
