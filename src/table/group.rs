//! Groups: what an entry is answered with.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::Name;

mod make;

pub use make::{GroupError, OwnerEdges, static_owner};

/// A group's name in the files that consumers read: `[A-Za-z0-9_-]{1,63}`, so that it can
/// break no line and no directive of any of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Token(Arc<str>);

impl Token {
    /// The token, where the text is one.
    pub fn new(text: &str) -> Option<Self> {
        let legal = (1..=63).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        legal.then(|| Self(text.into()))
    }

    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// An edge within a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupEdge {
    /// The edge's name (`[edge.NAME]`).
    pub name: Name,
    /// Its share relative to the group's other edges.
    pub weight: u32,
}

/// What an entry is answered with: edges in order, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name in exports.
    pub token: Token,
    /// The service that it answers for (`default` unless the configuration names others).
    pub service: Name,
    /// The edges, nearest first; never empty.
    pub edges: Vec<GroupEdge>,
}

/// All groups, and which of them answers for which owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The groups by token.
    pub groups: BTreeMap<Token, Group>,
    /// The group of an owner, by (owner, service).
    pub of_owner: BTreeMap<(Name, Name), Token>,
}

impl Groups {
    /// The group that answers for an owner and a service; where the owner has none for this
    /// service, its `default` one.
    pub fn of(&self, owner: &Name, service: &Name) -> Option<&Group> {
        let token = self
            .of_owner
            .get(&(owner.clone(), service.clone()))
            .or_else(|| self.of_owner.get(&(owner.clone(), Name::from("default"))))?;
        self.groups.get(token)
    }
}
