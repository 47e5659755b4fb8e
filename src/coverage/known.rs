//! The names that a configuration knows, to tell what a word in an old table stands for.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::table::{Name, Snapshot};

/// What an old table gives its addresses to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A BAS.
    Bas(Name),
    /// Edges, nearest first.
    Edges(Vec<Name>),
    /// A word that may be either.
    Named(Name),
}

impl Target {
    /// The target as one word: names of edges with `;` between them.
    pub fn label(&self) -> Name {
        match self {
            Self::Bas(name) | Self::Named(name) => name.clone(),
            Self::Edges(names) => match names.as_slice() {
                [name] => name.clone(),
                names => names.iter().map(Name::as_str).collect::<Vec<_>>().join(";").into(),
            },
        }
    }
}

/// The names of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The BASes, each with its owner (its pair, else itself).
    pub bas: BTreeMap<Name, Name>,
    /// The edges.
    pub edges: BTreeSet<Name>,
    /// The groups' edges by token.
    pub groups: BTreeMap<Name, Vec<Name>>,
}

impl Known {
    /// The names in a snapshot: its edges, groups, and the BASes that own something in it.
    pub fn of_snapshot(snapshot: &Snapshot) -> Self {
        let mut known = Self { edges: snapshot.edges.keys().cloned().collect(), ..Self::default() };
        for entry in snapshot.table.entries() {
            if let Some(bas) = &entry.bas
                && !known.bas.contains_key(bas)
            {
                known.bas.insert(bas.clone(), entry.owner.clone());
            }
        }
        for (token, group) in &snapshot.groups.groups {
            let edges = group.edges.iter().map(|edge| edge.name.clone()).collect();
            known.groups.insert(token.as_str().into(), edges);
        }
        known
    }

    /// The owner that a BAS belongs to.
    pub fn owner(&self, bas: &Name) -> Option<&Name> {
        self.bas.get(bas)
    }

    /// The target with its words understood: an edge goes before a group, a group before a
    /// BAS, for most old tables answer with what viewers are sent to. None where a name is
    /// not known.
    pub fn resolve(&self, target: &Target) -> Option<Target> {
        let edges = |names: &[Name]| names.iter().all(|name| self.edges.contains(name));
        match target {
            Target::Bas(name) if self.bas.contains_key(name) => Some(target.clone()),
            Target::Edges(names) if edges(names) => Some(target.clone()),
            Target::Edges(names) => match names.as_slice() {
                [name] => self.groups.get(name).cloned().map(Target::Edges),
                _ => None,
            },
            Target::Named(name) if self.edges.contains(name) => Some(Target::Edges(vec![name.clone()])),
            Target::Named(name) => match self.groups.get(name) {
                Some(edges) => Some(Target::Edges(edges.clone())),
                None => self.bas.contains_key(name).then(|| Target::Bas(name.clone())),
            },
            Target::Bas(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_edges_first() {
        let mut known = Known::default();
        known.bas.insert("b1".into(), "pair".into());
        known.bas.insert("both".into(), "both".into());
        known.edges.extend(["e1".into(), "both".into()]);
        known.groups.insert("g-1".into(), vec!["e1".into(), "both".into()]);
        let named = |name: &str| known.resolve(&Target::Named(name.into()));
        assert_eq!(named("b1"), Some(Target::Bas("b1".into())));
        assert_eq!(named("both"), Some(Target::Edges(vec!["both".into()])));
        assert_eq!(named("g-1"), Some(Target::Edges(vec!["e1".into(), "both".into()])));
        assert_eq!(named("nobody"), None);
        assert_eq!(known.resolve(&Target::Bas("e1".into())), None);
        assert_eq!(known.resolve(&Target::Edges(vec!["e1".into(), "x".into()])), None);
        assert_eq!(Target::Edges(vec!["a".into(), "b".into()]).label(), Name::from("a;b"));
    }
}
