//! What reading carries along: files, names, what was found wrong.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::error::Problem;
use super::source::{Place, Sources};

/// Names that other parts refer to, and where each was given.
pub(super) type Names = BTreeMap<String, Place>;

/// The state of one reading.
#[derive(Debug)]
pub(super) struct Context {
    /// The files.
    pub(super) sources: Sources,
    /// Where `{ env = }` and `{ credential = }` look.
    pub(super) environment: Environment,
    /// Whether secrets are looked up.
    pub(super) resolve: bool,
    /// The folder of the configuration file: relative paths start there.
    pub(super) folder: PathBuf,
    /// The names of `[snmp.NAME]`.
    pub(super) profiles: Names,
    /// The names of `[edge.NAME]`.
    pub(super) edges: Names,
    /// The names of `[space.NAME]`, and `internet`.
    pub(super) spaces: Names,
    /// The names of all BASes, from wherever.
    pub(super) bas: Names,
    /// What is wrong.
    pub(super) problems: Vec<Problem>,
    /// What deserves a word.
    pub(super) warnings: Vec<Problem>,
}

impl Context {
    /// A reading that has not begun.
    pub(super) fn new(folder: &Path, environment: Environment, resolve: bool) -> Self {
        Self {
            sources: Sources::default(),
            environment,
            resolve,
            folder: folder.to_owned(),
            profiles: Names::new(),
            edges: Names::new(),
            spaces: Names::new(),
            bas: Names::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Notes what is wrong.
    pub(super) fn wrong(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Notes what deserves a word.
    pub(super) fn warn(&mut self, problem: Problem) {
        self.warnings.push(problem);
    }

    /// A path as the configuration means it: relative ones start at its folder.
    pub(super) fn resolve_path(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}
