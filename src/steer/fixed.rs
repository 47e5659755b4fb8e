//! The policy `fixed`: the configured lists of edges, nearest first.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::{Edge, Groups, Name, OwnerEdges, Table};

/// The service that answers where an owner has no list for the one that is asked for.
pub(super) const DEFAULT_SERVICE: &str = "default";

/// What steering has to know of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Configured<'a> {
    /// The lists of edges of all configured owners.
    pub owners: &'a [OwnerEdges],
    /// The edges that there are.
    pub edges: &'a BTreeMap<Name, Edge>,
    /// The edge for addresses in no entry.
    pub default_edge: &'a Name,
}

/// The configured lists, and those of every other owner that a table names: one that left the
/// configuration while its addresses are held keeps its last edges, as far as they still exist,
/// else it gets the default edge.
pub(super) fn lists(configured: Configured<'_>, previous: &Groups, tables: &[&Table]) -> Vec<OwnerEdges> {
    let mut owners = configured.owners.to_vec();
    let known: BTreeSet<Name> =
        owners.iter().filter(|o| !o.edges.is_empty()).map(|o| o.owner.clone()).collect();
    let named: BTreeSet<&Name> = tables.iter().flat_map(|table| table.owners()).collect();
    for owner in named.into_iter().filter(|owner| !known.contains(*owner)) {
        owners.extend(last_lists(configured, previous, owner));
    }
    owners
}

fn last_lists(configured: Configured<'_>, previous: &Groups, owner: &Name) -> Vec<OwnerEdges> {
    let of_owner = previous.of_owner.iter().filter(|((o, _), _)| o == owner);
    let mut lists: Vec<OwnerEdges> = of_owner
        .filter_map(|((_, service), token)| {
            let group = previous.groups.get(token)?;
            let names = group.edges.iter().map(|edge| edge.name.clone());
            let edges: Vec<Name> = names.filter(|name| configured.edges.contains_key(name)).collect();
            (!edges.is_empty()).then(|| OwnerEdges { owner: owner.clone(), service: service.clone(), edges })
        })
        .collect();
    if lists.iter().all(|list| &*list.service != DEFAULT_SERVICE) {
        let edges = vec![configured.default_edge.clone()];
        lists.push(OwnerEdges { owner: owner.clone(), service: DEFAULT_SERVICE.into(), edges });
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Class, Entry, PoolName};

    fn fixed(configured: Configured<'_>, previous: &Groups, table: &Table) -> Groups {
        Groups::make(&lists(configured, previous, &[table]), "").unwrap()
    }

    fn edge(name: &str) -> (Name, Edge) {
        (name.into(), Edge { name: name.into(), addresses: Vec::new(), host: None, region: None })
    }

    fn list(owner: &str, edges: &[&str]) -> OwnerEdges {
        let edges = edges.iter().map(|e| Name::from(*e)).collect();
        OwnerEdges { owner: owner.into(), service: DEFAULT_SERVICE.into(), edges }
    }

    fn table(owner: &str) -> Table {
        Table::new(vec![Entry {
            space: "internet".into(),
            range: "198.18.0.0/24".parse().unwrap(),
            owner: owner.into(),
            bas: Some(owner.into()),
            pool: PoolName::new(b"p"),
            vrf: "".into(),
            class: Class::Fresh,
        }])
        .unwrap()
    }

    fn edges_of(groups: &Groups, owner: &str) -> Vec<String> {
        let group = groups.of(&owner.into(), &DEFAULT_SERVICE.into()).unwrap();
        group.edges.iter().map(|edge| edge.name.to_string()).collect()
    }

    #[test]
    fn an_owner_that_left_keeps_its_last_edges_as_far_as_they_exist() {
        let edges = BTreeMap::from([edge("e1"), edge("e2"), edge("centre")]);
        let centre = Name::from("centre");
        let both = [list("a", &["e1", "e2"]), list("b", &["e2"])];
        let configured = |owners| Configured { owners, edges: &edges, default_edge: &centre };
        let before = fixed(configured(&both), &Groups::default(), &table("a"));
        assert_eq!(edges_of(&before, "a"), ["e1", "e2"]);

        let only_b = [list("b", &["e2"])];
        let after = fixed(configured(&only_b), &before, &table("a"));
        assert_eq!(edges_of(&after, "a"), ["e1", "e2"]);
        assert_eq!(after.of_owner, before.of_owner, "the token stays");
        assert!(
            fixed(configured(&only_b), &before, &table("b")).of(&"a".into(), &"default".into()).is_none()
        );

        let fewer = BTreeMap::from([edge("e2"), edge("centre")]);
        let configured = Configured { owners: &only_b, edges: &fewer, default_edge: &centre };
        assert_eq!(edges_of(&fixed(configured, &before, &table("a")), "a"), ["e2"]);
        let none = BTreeMap::from([edge("centre")]);
        let configured = Configured { owners: &[], edges: &none, default_edge: &centre };
        assert_eq!(edges_of(&fixed(configured, &before, &table("a")), "a"), ["centre"]);
    }
}
