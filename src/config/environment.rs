//! What secrets may be taken from besides files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The environment that a configuration is read in. An input, so that a test needs no
/// change of the process's own.
#[derive(Clone, Default)]
pub struct Environment {
    /// The variables, for `{ env = NAME }`.
    pub variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The variable by which systemd names the folder of a unit's credentials.
    const CREDENTIALS: &'static str = "CREDENTIALS_DIRECTORY";

    /// The environment of this process.
    pub fn of_process() -> Self {
        Self { variables: std::env::vars_os().collect() }
    }

    /// A variable's value.
    pub(super) fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(std::ffi::OsStr::new(name))
    }

    /// The folder of the credentials that systemd passes (systemd.exec(5), LoadCredential=).
    pub(super) fn credentials(&self) -> Option<PathBuf> {
        self.variable(Self::CREDENTIALS).filter(|folder| !folder.is_empty()).map(PathBuf::from)
    }
}

/// The names alone: values may be secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
