//! What one consumer is given, and how.

use std::path::PathBuf;
use std::time::Duration;

use super::Argv;
use crate::format::groups::{Context, GroupsFormat};
use crate::format::{Format, Scope, Spaces};
use crate::table::Name;

/// The space of an export that names none, in formats that hold one space.
pub const DEFAULT_SPACE: &str = "internet";

/// One `[export.NAME]`.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its name.
    pub name: Name,
    /// The table's format.
    pub format: &'static dyn Format,
    /// The table's file. A symbolic link is followed, and what it points to replaced in its
    /// own directory.
    pub path: PathBuf,
    /// The groups file, where the consumer needs one.
    pub groups: Option<GroupsFile>,
    /// What the groups file needs to know besides: domain name and time to live.
    pub context: Context,
    /// The space; none: all, or [`DEFAULT_SPACE`] where the format holds one.
    pub space: Option<Name>,
    /// The service whose groups answer.
    pub service: Name,
    /// The consumer's own checker; `{file}` is the new table, `{groups}` the new groups
    /// file.
    pub check: Option<Argv>,
    /// How long the checker may take.
    pub check_timeout: Duration,
    /// What makes the consumer take the files up.
    pub reload: Option<Argv>,
    /// How long that may take.
    pub reload_timeout: Duration,
    /// The permissions of the files, as in `chmod`.
    pub mode: u32,
}

/// The second, small file: what each group answers with.
#[derive(Clone, Debug)]
pub struct GroupsFile {
    /// Its format.
    pub format: &'static dyn GroupsFormat,
    /// Where it is.
    pub path: PathBuf,
}

impl Export {
    /// An export with nothing but a format and a file: the defaults of the rest.
    pub fn new(name: impl Into<Name>, format: &'static dyn Format, path: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            format,
            path: path.into(),
            groups: None,
            context: Context::default(),
            space: None,
            service: Name::from("default"),
            check: None,
            check_timeout: Duration::from_secs(60),
            reload: None,
            reload_timeout: Duration::from_secs(30),
            mode: 0o644,
        }
    }

    /// What it shows of a generation.
    pub fn scope(&self) -> Scope {
        let space = match self.format.spaces() {
            Spaces::Named => self.space.clone(),
            Spaces::One => Some(self.space.clone().unwrap_or_else(|| DEFAULT_SPACE.into())),
        };
        Scope { space, service: self.service.clone() }
    }
}
