//! One generation, whole: what lookups and exports read.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Groups, Name, Table};

/// The identity of a store: random, drawn when the database is made or restored. Written as
/// 16 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session(pub u64);

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// An edge as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its name.
    pub name: Name,
    /// Where it answers.
    pub addresses: Vec<IpAddr>,
    /// Its host name, for consumers that answer or redirect by name.
    pub host: Option<Name>,
    /// Its region.
    pub region: Option<Name>,
}

/// One generation: the table, its groups, the edges they name.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The store's identity.
    pub session: Session,
    /// The generation's number; 0 before the first commit.
    pub generation: u64,
    /// When it was committed.
    pub committed: Timestamp,
    /// Whether enough of the fleet has been read for it to be published.
    pub filled: bool,
    /// The entries.
    pub table: Arc<Table>,
    /// The groups and who is answered with which.
    pub groups: Arc<Groups>,
    /// The edges by name.
    pub edges: Arc<BTreeMap<Name, Edge>>,
    /// The edge for addresses in no entry.
    pub default_edge: Name,
}
