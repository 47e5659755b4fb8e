//! Groups: what an entry is answered with.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Entry, Name};

mod make;
mod part;

pub use make::{GroupError, OwnerEdges, static_owner};
pub use part::Part;

/// A group's name in the files that consumers read: `[A-Za-z0-9_-]{1,63}`, so that it can
/// break no line and no directive of any of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Token(Arc<str>);

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.as_str().to_owned()
    }
}

impl TryFrom<String> for Token {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(&text).ok_or_else(|| format!("`{}` is no token of a group", text.escape_debug()))
    }
}

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

impl Group {
    /// The edges that it answers with, in order: those with a weight, or all where none has one.
    pub fn answering(&self) -> impl Iterator<Item = &GroupEdge> {
        let none = self.edges.iter().all(|edge| edge.weight == 0);
        self.edges.iter().filter(move |edge| none || edge.weight > 0)
    }

    /// Whether the edges that it answers with have different weights.
    pub fn is_weighted(&self) -> bool {
        let mut weights = self.answering().map(|edge| edge.weight);
        let first = weights.next();
        weights.any(|weight| Some(weight) != first)
    }
}

/// All groups, and which of them answers for which owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The groups by token.
    pub groups: BTreeMap<Token, Group>,
    /// The group of an owner, by (owner, service).
    pub of_owner: BTreeMap<(Name, Name), Token>,
    /// The entries of an owner that are answered with another group, by (owner, service).
    pub shed: BTreeMap<(Name, Name), Arc<Part>>,
}

impl Groups {
    /// The group that answers for an owner and a service; where the owner has none for this
    /// service, its `default` one.
    pub fn of(&self, owner: &Name, service: &Name) -> Option<&Group> {
        self.groups.get(self.of_owner.get(&self.key(owner, service))?)
    }

    /// The part of an owner's entries that is answered with another group.
    pub fn part(&self, owner: &Name, service: &Name) -> Option<&Part> {
        if self.shed.is_empty() {
            return None;
        }
        self.shed.get(&self.key(owner, service)).map(AsRef::as_ref)
    }

    /// The group that answers for an entry and a service: the one that it is shed to, else
    /// its owner's.
    pub fn answer(&self, entry: &Entry, service: &Name) -> Option<&Group> {
        let part = self.part(&entry.owner, service);
        let shed = part.and_then(|part| part.of(entry)).and_then(|(_, token)| self.groups.get(token));
        shed.or_else(|| self.of(&entry.owner, service))
    }

    /// What an owner is answered by for a service: its own list for it, or its default one.
    fn key(&self, owner: &Name, service: &Name) -> (Name, Name) {
        let key = (owner.clone(), service.clone());
        match self.of_owner.contains_key(&key) {
            true => key,
            false => (key.0, Name::from("default")),
        }
    }
}
