//! Drains: an edge that is taken out of every group, whatever policy made the groups.

use std::collections::BTreeMap;

use crate::table::{GroupEdge, Groups, Name, Token};

/// Groups without the drained edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// The groups. Tokens are as before, and none is empty.
    pub groups: Groups,
    /// The whole list of each group that lacks an edge.
    pub whole: BTreeMap<Token, Vec<GroupEdge>>,
    /// The groups that would have no edge left: the default edge answers for them.
    pub stand_ins: Vec<Token>,
}

/// Takes edges out of groups. A group that would be left without any is answered with the
/// default edge, be that one drained or not: an empty answer serves nobody.
pub fn drained(mut groups: Groups, is_drained: impl Fn(&Name) -> bool, default_edge: &Name) -> Drained {
    let (mut whole, mut stand_ins) = (BTreeMap::new(), Vec::new());
    for (token, group) in &mut groups.groups {
        if !group.edges.iter().any(|edge| is_drained(&edge.name)) {
            continue;
        }
        let left: Vec<GroupEdge> =
            group.edges.iter().filter(|edge| !is_drained(&edge.name)).cloned().collect();
        whole.insert(token.clone(), std::mem::replace(&mut group.edges, left));
        // All that is left was a reserve: the first one steps in.
        if group.edges.iter().all(|edge| edge.weight == 0)
            && let Some(first) = group.edges.first_mut()
        {
            first.weight = 1;
        }
        if group.edges.is_empty() {
            group.edges.push(GroupEdge { name: default_edge.clone(), weight: 1 });
            stand_ins.push(token.clone());
        }
    }
    Drained { groups, whole, stand_ins }
}

/// The groups as they would be if nothing were drained: what the next ones are made from.
pub fn undrained(groups: &Groups, whole: &BTreeMap<Token, Vec<GroupEdge>>) -> Groups {
    let mut groups = groups.clone();
    for (token, edges) in whole {
        if let Some(group) = groups.groups.get_mut(token) {
            group.edges.clone_from(edges);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::OwnerEdges;

    fn made(lists: &[(&str, &[&str])]) -> Groups {
        let owners: Vec<OwnerEdges> = lists
            .iter()
            .map(|(owner, edges)| OwnerEdges {
                owner: (*owner).into(),
                service: "default".into(),
                edges: edges.iter().map(|edge| (*edge).into()).collect(),
            })
            .collect();
        Groups::make(&owners, "").unwrap()
    }

    fn answered(groups: &Groups, owner: &str) -> (String, Vec<String>) {
        let group = groups.of(&owner.into(), &"default".into()).unwrap();
        (group.token.to_string(), group.edges.iter().map(|edge| edge.name.to_string()).collect())
    }

    #[test]
    fn a_drained_edge_leaves_every_group_and_no_token_changes() {
        let groups = made(&[("a", &["e1", "e2"]), ("b", &["e1"]), ("c", &["e2"])]);
        let (token, _) = answered(&groups, "a");
        let found = drained(groups.clone(), |edge| edge.as_str() == "e1", &"centre".into());
        assert_eq!(answered(&found.groups, "a"), (token, vec!["e2".into()]));
        assert_eq!(answered(&found.groups, "b"), ("e1".into(), vec!["centre".into()]));
        assert_eq!(answered(&found.groups, "c"), ("e2".into(), vec!["e2".into()]));
        assert_eq!(found.stand_ins.iter().map(Token::as_str).collect::<Vec<_>>(), ["e1"]);
        assert_eq!(found.whole.len(), 2);
        assert_eq!(undrained(&found.groups, &found.whole), groups, "nothing is lost by it");
    }

    #[test]
    fn a_reserve_steps_in_where_nothing_else_is_left() {
        let mut groups = made(&[("a", &["e1", "e2", "e3"])]);
        for group in groups.groups.values_mut() {
            for (edge, weight) in group.edges.iter_mut().zip([100, 0, 0]) {
                edge.weight = weight;
            }
        }
        let found = drained(groups.clone(), |edge| edge.as_str() == "e1", &"centre".into());
        let weights: Vec<u32> =
            found.groups.groups.values().flat_map(|g| &g.edges).map(|e| e.weight).collect();
        assert_eq!(weights, [1, 0]);
        assert_eq!(undrained(&found.groups, &found.whole), groups);
    }

    #[test]
    fn the_default_edge_leaves_longer_groups_and_answers_alone_where_it_must() {
        let groups = made(&[("a", &["e1", "centre"]), ("b", &["centre"])]);
        let found = drained(groups.clone(), |edge| edge.as_str() == "centre", &"centre".into());
        assert_eq!(answered(&found.groups, "a").1, ["e1"]);
        assert_eq!(answered(&found.groups, "b").1, ["centre"]);
        assert_eq!(found.stand_ins.len(), 1);
        let nothing = drained(groups.clone(), |_| false, &"centre".into());
        assert_eq!((nothing.groups, nothing.whole.len(), nothing.stand_ins.len()), (groups, 0, 0));
    }
}
