//! Why a command ends before its report: an exit code and a message.

use super::exit::Exit;
use crate::config::ConfigError;
use crate::cycle::{ExportError, Problem};
use crate::http::ClientError;
use crate::mib::LibraryError;
use crate::store::StoreError;

/// The end of a command that could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Stop {
    /// An end with exit code 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into() }
    }

    /// An end with exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into() }
    }

    /// An end with exit code 78.
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self { exit: Exit::Config, message: message.into() }
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::config(error.to_string())
    }
}

impl From<LibraryError> for Stop {
    fn from(error: LibraryError) -> Self {
        Self::config(error.to_string())
    }
}

impl From<ExportError> for Stop {
    fn from(error: ExportError) -> Self {
        Self::config(error.to_string())
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<ClientError> for Stop {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(problem) => problem.into(),
            other => Self::failed(other.to_string()),
        }
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        let exit = match problem.status {
            400 | 404 | 422 => Exit::Usage,
            409 if problem.code == "changed" => Exit::Held,
            503 if problem.code == "not-filled" => Exit::Incomplete,
            _ => Exit::Failed,
        };
        Self { exit, message: format!("{}: {}", problem.title, problem.detail) }
    }
}
