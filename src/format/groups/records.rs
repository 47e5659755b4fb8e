//! What a DNS server answers for each group.
//!
//! Servers differ in what they say of a type that a group does not have: some say that
//! nobody has it (client subnet scope /0), and a resolver keeps that for all. So every group
//! answers for every family that any group has: one whose edges lack a family is a CNAME to
//! its first host; without a host, the default group's addresses stand in; and only where
//! that has none either the type is left out.

use std::net::IpAddr;

use super::{Domain, GroupsError, addresses, answering, host};
use crate::format::View;
use crate::table::{Edge, Group};

/// The largest weight that every server takes.
const MAX_WEIGHT: u32 = 1_000_000;

/// What is answered for one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Records {
    /// A CNAME.
    Host(Domain),
    /// Addresses.
    Addresses {
        /// A and AAAA, each nearest first, with its weight.
        families: [Vec<(IpAddr, u32)>; 2],
        /// Whether one is to be drawn by weight, and not all given.
        weighted: bool,
    },
}

/// The answers of all groups of a view.
pub(super) struct Answers<'v> {
    view: &'v View<'v>,
    /// The families that any group has.
    wanted: [bool; 2],
}

impl<'v> Answers<'v> {
    /// Those of a view.
    pub(super) fn new(view: &'v View<'v>) -> Self {
        let has = |group| families(view, group).map(|list| !list.is_empty());
        let wanted = view.groups().map(has).fold([false; 2], |all, one| [all[0] || one[0], all[1] || one[1]]);
        Self { view, wanted }
    }

    /// The answer of a group.
    ///
    /// # Errors
    /// Where its edges have neither addresses nor hosts, or a host is no domain name.
    pub(super) fn of(&self, group: &Group) -> Result<Records, GroupsError> {
        let mut own = families(self.view, group);
        let none = own.iter().all(Vec::is_empty);
        let lacks = own.iter().zip(self.wanted).any(|(list, wanted)| wanted && list.is_empty());
        let host = if none || lacks { first_host(&answering(self.view, group))? } else { None };
        if let Some(host) = host {
            return Ok(Records::Host(host));
        }
        if none {
            return Err(GroupsError::NoAnswer { token: group.token.clone() });
        }
        let weighted = own.iter().any(|list| list.windows(2).any(|pair| pair[0].1 != pair[1].1));
        let stand_in = families(self.view, self.view.default_group());
        for (own, other) in own.iter_mut().zip(stand_in) {
            if own.is_empty() {
                *own = other;
            }
        }
        Ok(Records::Addresses { families: own, weighted })
    }
}

/// The addresses of a group by family, with the weights of their edges.
fn families(view: &View<'_>, group: &Group) -> [Vec<(IpAddr, u32)>; 2] {
    let weights: Vec<(&Edge, u32)> = view.edges_of(group).collect();
    let largest = weights.iter().map(|(_, weight)| *weight).max().unwrap_or(0);
    let weight = |address: &IpAddr| {
        let own = weights.iter().filter(|(edge, _)| edge.addresses.contains(address));
        let sum = own.map(|(_, weight)| u64::from(*weight)).sum::<u64>();
        let scaled =
            if largest > MAX_WEIGHT { sum * u64::from(MAX_WEIGHT) / u64::from(largest) } else { sum };
        u32::try_from(scaled).unwrap_or(MAX_WEIGHT).clamp(1, MAX_WEIGHT)
    };
    let edges = answering(view, group);
    [IpAddr::is_ipv4 as fn(&IpAddr) -> bool, IpAddr::is_ipv6]
        .map(|is| addresses(&edges, is).into_iter().map(|address| (*address, weight(address))).collect())
}

fn first_host(edges: &[&Edge]) -> Result<Option<Domain>, GroupsError> {
    let named = edges.iter().find(|edge| edge.host.is_some());
    Ok(named.map(|edge| host(edge)).transpose()?.flatten())
}
