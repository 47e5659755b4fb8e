//! What one consumer is given, and how.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::{Argv, TableFormat};
use crate::format::groups::{Context, GroupsFormat};
use crate::format::{Scope, Spaces, View, ViewError};
use crate::mib::Glob;
use crate::table::{Name, Snapshot};

/// The space of an export that names none, in formats that hold one space.
pub const DEFAULT_SPACE: &str = "internet";

/// One `[export.NAME]`.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its name.
    pub name: Name,
    /// The table's format.
    pub format: TableFormat,
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
    /// The BASes whose entries are in it; all where there are no patterns. Addresses of
    /// other entries are answered with the default group: so a network is moved over BAS by
    /// BAS.
    pub only: Vec<Glob>,
    /// The shortest time between two changes of the files. A change that comes earlier is
    /// [deferred](super::State::Deferred).
    pub min_interval: Duration,
    /// The consumer's own checker; `{file}` is the new table, `{groups}` the new groups
    /// file.
    pub check: Option<Argv>,
    /// How long the checker may take.
    pub check_timeout: Duration,
    /// What makes the consumer take the files up.
    pub reload: Option<Argv>,
    /// How long that may take.
    pub reload_timeout: Duration,
    /// HAProxy's socket, by which a running one is given the new maps before any reload.
    pub haproxy_socket: Option<PathBuf>,
    /// How the consumer is asked whether it answers anew.
    pub canary: Option<Canary>,
    /// The permissions of the files, as in `chmod`.
    pub mode: u32,
    /// The files' group, by name or number; that of the files before where none is given.
    pub group: Option<Name>,
}

/// The second, small file: what each group answers with.
#[derive(Clone, Debug)]
pub struct GroupsFile {
    /// Its format.
    pub format: &'static dyn GroupsFormat,
    /// Where it is.
    pub path: PathBuf,
}

/// Queries to the consumer after it was told of new files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    /// Whom to ask.
    pub query: Query,
    /// Until when every answer must be the new one.
    pub timeout: Duration,
    /// How often it is asked between publications whether it still answers so.
    pub every: Duration,
}

impl Canary {
    /// A canary with the usual patience.
    pub const fn new(query: Query) -> Self {
        Self { query, timeout: Duration::from_secs(5), every: Duration::from_secs(60) }
    }
}

/// A consumer as it can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A DNS server that looks at the client subnet (RFC 7871), for the export's name.
    Dns(SocketAddr),
    /// An HTTP server that looks at `X-Forwarded-For`: it redirects to the edge, or says the
    /// group's token. An `http://` URL.
    Http(String),
}

impl Export {
    /// An export with nothing but a format and a file: the defaults of the rest.
    pub fn new(name: impl Into<Name>, format: impl Into<TableFormat>, path: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            format: format.into(),
            path: path.into(),
            groups: None,
            context: Context::default(),
            space: None,
            service: Name::from("default"),
            only: Vec::new(),
            min_interval: Duration::ZERO,
            check: None,
            check_timeout: Duration::from_secs(60),
            reload: None,
            reload_timeout: Duration::from_secs(30),
            haproxy_socket: None,
            canary: None,
            mode: 0o644,
            group: None,
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

    /// The rows and groups of a generation that are in it.
    ///
    /// # Errors
    /// As [`View::new`].
    pub fn view<'s>(&self, snapshot: &'s Snapshot) -> Result<View<'s>, ViewError> {
        let view = View::new(snapshot, &self.scope())?.beside_groups(self.groups.is_some());
        if self.only.is_empty() {
            return Ok(view);
        }
        let fits = |bas: &Name| self.only.iter().any(|glob| glob.matches(bas));
        Ok(view.only(|entry| entry.bas.as_ref().is_some_and(fits)))
    }
}
