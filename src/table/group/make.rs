//! Groups out of the configured lists of edges.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::{Group, GroupEdge, Groups, Token};
use crate::table::Name;

/// The configured list of edges of one owner for one service, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerEdges {
    /// The owner: a pair, a BAS, or a static line's edges (see [`static_owner`]).
    pub owner: Name,
    /// The service; `default` where the configuration names none.
    pub service: Name,
    /// The edges. An owner without any gets no group: it is answered with the default edge.
    pub edges: Vec<Name>,
}

/// Why lists of edges make no groups.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// One owner has two different lists for one service, as the members of a pair may.
    #[error("{owner} has two different lists of edges for the service {service}")]
    Contradiction {
        /// The owner.
        owner: Name,
        /// The service.
        service: Name,
    },
}

/// The owner that a static line naming edges stands for: `edges:` and their names.
pub fn static_owner(edges: &[Name]) -> Name {
    let names: Vec<&str> = edges.iter().map(Name::as_str).collect();
    Name::from(format!("edges:{}", names.join(",")))
}

/// What a group is known by: service, steering scope, list.
type Key<'a> = (&'a Name, &'a str, &'a [Name]);

impl Groups {
    /// The groups of all owners. A token depends on its service, list and `scope` alone (the
    /// steering scope; empty for `fixed`), so that adding one group never renames another.
    ///
    /// # Errors
    /// Where one owner has two different lists for one service.
    pub fn make(owners: &[OwnerEdges], scope: &str) -> Result<Self, GroupError> {
        Self::scoped(&owners.iter().map(|owner| (owner, scope)).collect::<Vec<_>>())
    }

    /// As [`Groups::make`], with a scope for each list.
    ///
    /// # Errors
    /// Where one owner has two different lists, or scopes, for one service.
    pub fn scoped(owners: &[(&OwnerEdges, &str)]) -> Result<Self, GroupError> {
        let lists = lists(owners)?;
        let keys: BTreeSet<Key<'_>> =
            lists.iter().map(|((_, service), (scope, edges))| (*service, *scope, *edges)).collect();
        let tokens = tokens(&keys);
        let mut groups = Self::default();
        for ((owner, service), (scope, edges)) in lists {
            if let Some(token) = tokens.get(&(service, scope, edges)) {
                groups.of_owner.insert((owner.clone(), service.clone()), token.clone());
            }
        }
        for ((service, _, edges), token) in tokens {
            let is_default = &**service == "default";
            let group = Group { token: token.clone(), service: service.clone(), edges: weighed(edges) };
            // One edge alone has one token whatever the service: it answers for all of them.
            if is_default {
                groups.groups.insert(token, group);
            } else {
                groups.groups.entry(token).or_insert(group);
            }
        }
        Ok(groups)
    }
}

fn weighed(edges: &[Name]) -> Vec<GroupEdge> {
    edges.iter().map(|name| GroupEdge { name: name.clone(), weight: 1 }).collect()
}

type Lists<'a> = BTreeMap<(&'a Name, &'a Name), (&'a str, &'a [Name])>;

fn lists<'a>(owners: &[(&'a OwnerEdges, &'a str)]) -> Result<Lists<'a>, GroupError> {
    let mut lists = Lists::new();
    for (OwnerEdges { owner, service, edges }, scope) in owners.iter().filter(|(o, _)| !o.edges.is_empty()) {
        let list = (*scope, edges.as_slice());
        let known = lists.insert((owner, service), list);
        if known.is_some_and(|known| known != list) {
            return Err(GroupError::Contradiction { owner: owner.clone(), service: service.clone() });
        }
    }
    Ok(lists)
}

fn tokens<'a>(keys: &BTreeSet<Key<'a>>) -> BTreeMap<Key<'a>, Token> {
    let alone = |(_, _, edges): Key<'a>| match edges {
        [edge] => Token::new(edge),
        _ => None,
    };
    let mut tokens: BTreeMap<Key<'a>, Token> =
        keys.iter().filter_map(|key| Some((*key, alone(*key)?))).collect();
    let mut taken: BTreeSet<Token> = tokens.values().cloned().collect();
    for key in keys.iter().filter(|key| alone(**key).is_none()) {
        // Ten digits tell groups apart; where they do not, the later one gets more of them.
        let hash = digest(*key);
        let longer = (10..=hash.len()).filter_map(|digits| Token::new(&format!("g-{}", hash.get(..digits)?)));
        let free = longer.into_iter().find(|token| !taken.contains(token));
        if let Some(token) = free {
            taken.insert(token.clone());
            tokens.insert(*key, token);
        }
    }
    tokens
}

/// SHA-256 over the key's parts in hex, cut to what a token may hold; each part goes with
/// its length, so that no two keys run together.
fn digest((service, scope, edges): Key<'_>) -> String {
    let mut hash = Sha256::new();
    for part in [service.as_str(), scope].into_iter().chain(edges.iter().map(Name::as_str)) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(30).map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(owner: &str, service: &str, edges: &[&str]) -> OwnerEdges {
        let edges = edges.iter().map(|edge| Name::from(*edge)).collect();
        OwnerEdges { owner: owner.into(), service: service.into(), edges }
    }

    fn token(groups: &Groups, owner: &str, service: &str) -> Option<String> {
        groups.of(&owner.into(), &service.into()).map(|group| group.token.to_string())
    }

    #[test]
    fn one_edge_is_its_own_group_and_several_get_ten_digits() {
        let owners = [owner("a", "default", &["gz-01"]), owner("b", "default", &["gz-01", "gz-02"])];
        let groups = Groups::make(&owners, "").unwrap();
        assert_eq!(token(&groups, "a", "default").as_deref(), Some("gz-01"));
        let hashed = token(&groups, "b", "default").unwrap();
        // printf '\0\0\0\0\0\0\0\7default\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5gz-01\0\0\0\0\0\0\0\5gz-02' | sha256sum
        assert_eq!(hashed, "g-709bb49425");
        let edges: Vec<_> =
            groups.groups[&Token::new(&hashed).unwrap()].edges.iter().map(|e| e.name.to_string()).collect();
        assert_eq!(edges, ["gz-01", "gz-02"]);
    }

    #[test]
    fn order_service_and_scope_make_a_group_but_other_groups_do_not() {
        let list = ["x", "y"];
        let one = Groups::make(&[owner("a", "default", &list)], "").unwrap();
        let more = [
            owner("a", "default", &list),
            owner("b", "default", &["y", "x"]),
            owner("c", "iptv", &list),
            owner("d", "default", &["x,y", "z"]),
        ];
        let many = Groups::make(&more, "").unwrap();
        assert_eq!(token(&many, "a", "default"), token(&one, "a", "default"));
        let distinct: BTreeSet<_> = [("a", "default"), ("b", "default"), ("c", "iptv"), ("d", "default")]
            .map(|(o, s)| token(&many, o, s))
            .into();
        assert_eq!(distinct.len(), 4);
        assert_ne!(token(&Groups::make(&more, "v4").unwrap(), "a", "default"), token(&one, "a", "default"));
    }

    #[test]
    fn scopes_part_groups_of_one_list() {
        let (a, b, c) = (
            owner("a", "default", &["x", "y"]),
            owner("b", "default", &["x", "y"]),
            owner("c", "default", &["x"]),
        );
        let groups = Groups::scoped(&[(&a, "north"), (&b, ""), (&c, "north")]).unwrap();
        assert_ne!(token(&groups, "a", "default"), token(&groups, "b", "default"));
        assert_eq!(
            token(&groups, "b", "default"),
            token(&Groups::make(std::slice::from_ref(&b), "").unwrap(), "b", "default")
        );
        assert_eq!(token(&groups, "c", "default").as_deref(), Some("x"));
        assert!(Groups::scoped(&[(&a, "north"), (&a, "south")]).is_err());
    }

    #[test]
    fn a_service_of_its_own_goes_before_the_default_one() {
        let owners = [owner("a", "default", &["x"]), owner("a", "iptv", &["y"]), owner("b", "iptv", &["x"])];
        let groups = Groups::make(&owners, "").unwrap();
        assert_eq!(token(&groups, "a", "iptv").as_deref(), Some("y"));
        assert_eq!(token(&groups, "a", "web").as_deref(), Some("x"));
        assert_eq!(token(&groups, "b", "web"), None);
        assert_eq!(groups.groups[&Token::new("x").unwrap()].service, "default".into());
        assert_eq!(token(&groups, "nobody", "default"), None);
    }

    #[test]
    fn an_edge_whose_name_is_no_token_is_hashed() {
        let groups = Groups::make(&[owner("a", "default", &["gz 01.example"])], "").unwrap();
        let token = token(&groups, "a", "default").unwrap();
        assert!(token.len() == 12 && token.starts_with("g-"), "{token}");
    }

    #[test]
    fn an_edge_named_like_a_hash_does_not_share_its_token() {
        let list = ["x", "y"];
        let plain = Groups::make(&[owner("a", "default", &list)], "").unwrap();
        let hashed = token(&plain, "a", "default").unwrap();
        let owners = [owner("a", "default", &list), owner("b", "default", &[&hashed])];
        let groups = Groups::make(&owners, "").unwrap();
        assert_eq!(token(&groups, "b", "default").as_deref(), Some(hashed.as_str()));
        let longer = token(&groups, "a", "default").unwrap();
        assert!(longer.len() == 13 && longer.starts_with(&hashed), "{longer}");
        assert_eq!(groups.groups.len(), 2);
    }

    #[test]
    fn an_owner_without_edges_has_no_group_and_two_lists_are_refused() {
        assert!(Groups::make(&[owner("a", "default", &[])], "").unwrap().groups.is_empty());
        let two = [owner("p", "default", &["x"]), owner("p", "default", &["y"])];
        let wrong = GroupError::Contradiction { owner: "p".into(), service: "default".into() };
        assert_eq!(Groups::make(&two, ""), Err(wrong));
        assert!(Groups::make(&[owner("p", "default", &["x"]), owner("p", "default", &["x"])], "").is_ok());
    }

    #[test]
    fn a_static_line_owns_by_its_edges() {
        assert_eq!(static_owner(&["a".into(), "b".into()]), "edges:a,b".into());
    }
}
