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
        let weighted = group.is_weighted();
        let stand_in = families(self.view, self.view.default_group());
        for (own, other) in own.iter_mut().zip(stand_in) {
            if own.is_empty() {
                *own = other;
            }
        }
        Ok(Records::Addresses { families: own, weighted })
    }
}

/// The addresses of a group by family. An edge's weight is shared out among its addresses, so
/// that one with two is not asked twice as often.
fn families(view: &View<'_>, group: &Group) -> [Vec<(IpAddr, u32)>; 2] {
    let edges = answering(view, group);
    let weights: Vec<(&Edge, u32)> = view.edges_of(group).collect();
    [IpAddr::is_ipv4 as fn(&IpAddr) -> bool, IpAddr::is_ipv6].map(|is| {
        let count = |edge: &Edge| edge.addresses.iter().filter(|address| is(address)).count().max(1) as u64;
        let common = weights.iter().fold(1, |common, (edge, _)| least_multiple(common, count(edge)));
        let part = |edge: &Edge, weight: u32| u64::from(weight) * (common / count(edge));
        let weight = |address: &IpAddr| {
            let own = weights.iter().filter(|(edge, _)| edge.addresses.contains(address));
            own.map(|(edge, weight)| part(edge, *weight)).sum::<u64>()
        };
        let list = addresses(&edges, is);
        let largest = list.iter().map(|address| weight(address)).max().unwrap_or(0);
        let scaled = |weight: u64| match largest > u64::from(MAX_WEIGHT) {
            true => u128::from(weight) * u128::from(MAX_WEIGHT) / u128::from(largest),
            false => weight.into(),
        };
        let whole = |weight: u64| u32::try_from(scaled(weight)).unwrap_or(MAX_WEIGHT).clamp(1, MAX_WEIGHT);
        list.into_iter().map(|address| (*address, whole(weight(address)))).collect()
    })
}

/// The least number that both divide; the larger of them where there is none of 32 bits.
fn least_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    match (a / x.max(1)).checked_mul(b) {
        Some(multiple) if multiple <= u64::from(u32::MAX) => multiple,
        _ => a.max(b),
    }
}

/// The addresses of the first edge that has any, for a server that knows no weights.
pub(super) fn of_first(view: &View<'_>, group: &Group, list: &[(IpAddr, u32)]) -> Vec<IpAddr> {
    let own = |edge: &&Edge| list.first().is_some_and(|(first, _)| edge.addresses.contains(first));
    let first = answering(view, group).into_iter().find(own);
    let of_first = |address: &IpAddr| first.is_none_or(|edge| edge.addresses.contains(address));
    list.iter().map(|(address, _)| *address).filter(of_first).collect()
}

fn first_host(edges: &[&Edge]) -> Result<Option<Domain>, GroupsError> {
    let named = edges.iter().find(|edge| edge.host.is_some());
    Ok(named.map(|edge| host(edge)).transpose()?.flatten())
}
