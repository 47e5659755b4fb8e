//! The search tree: prefixes in, the smallest full binary tree out.
//!
//! Prefixes come in any order and may be nested; the longest that holds an address counts.
//! They are sorted once, and one walk over them in order does the rest: what a prefix says
//! is handed down to all below it that says nothing itself, halves that turn out equal
//! become one leaf, and only nodes that remain are ever stored, eight octets each.

use std::iter::Peekable;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::vec;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use thiserror::Error;

/// One prefix stands for two different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} stands for two records")]
pub struct Duplicate(pub IpNet);

/// Prefixes and the number of what each stands for, to become a search tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    prefixes: Vec<Prefix>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Prefix {
    bits: u128,
    length: u8,
    value: u32,
}

impl Tree {
    /// Adds a prefix. IPv4 goes below `::/96`. Values are below [`LIMIT`].
    pub(super) fn insert(&mut self, prefix: IpNet, value: u32) {
        let (bits, length) = match prefix {
            IpNet::V4(net) => (net.network().to_bits().into(), 96 + net.prefix_len()),
            IpNet::V6(net) => (net.network().to_bits(), net.prefix_len()),
        };
        self.prefixes.push(Prefix { bits, length, value });
    }

    /// How many prefixes were added.
    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// The tree in which every address leads to the value of the longest prefix that holds
    /// it, or to `default`.
    ///
    /// # Errors
    /// Where one prefix was given two values.
    pub(super) fn build(mut self, default: u32) -> Result<Nodes, Duplicate> {
        self.prefixes.sort_unstable();
        let mut builder = Builder { rest: self.prefixes.into_iter().peekable(), nodes: vec![] };
        let root = builder.subtree(0, 0, default)?;
        if root & LEAF != 0 {
            // A file has at least one node.
            builder.nodes.push([root, root]);
        }
        Ok(Nodes { nodes: builder.nodes })
    }
}

/// Marks a link that leads to a value.
const LEAF: u32 = 1 << 31;
/// What numbers of nodes and values must stay below.
pub(super) const LIMIT: usize = 1 << 31;

struct Builder {
    rest: Peekable<vec::IntoIter<Prefix>>,
    nodes: Vec<[u32; 2]>,
}

impl Builder {
    /// The link to the tree below a prefix. All prefixes left are that one or behind it.
    fn subtree(&mut self, bits: u128, length: u8, inherited: u32) -> Result<u32, Duplicate> {
        let mut value = inherited;
        let mut own: Option<Prefix> = None;
        while let Some(next) = self.rest.next_if(|p| p.bits == bits && p.length == length) {
            if own.is_some_and(|own| own.value != next.value) {
                return Err(Duplicate(net(next)));
            }
            own = Some(next);
            value = next.value;
        }
        let below = self.rest.peek().is_some_and(|p| length == 0 || (p.bits ^ bits) >> (128 - length) == 0);
        if !below || length == 128 {
            return Ok(LEAF | value);
        }
        let left = self.subtree(bits, length + 1, value)?;
        let right = self.subtree(bits | 1 << (127 - length), length + 1, value)?;
        if left == right {
            return Ok(left);
        }
        self.nodes.push([left, right]);
        Ok(self.nodes.len() as u32 - 1)
    }
}

fn net(prefix: Prefix) -> IpNet {
    let (v4, v6) = (Ipv4Addr::from_bits(prefix.bits as u32), Ipv6Addr::from_bits(prefix.bits));
    match prefix.length.checked_sub(96) {
        Some(length) if prefix.bits >> 32 == 0 => Ipv4Net::new_assert(v4, length).into(),
        _ => Ipv6Net::new_assert(v6, prefix.length).into(),
    }
}

/// Where one half of a node leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// To another node, by its number in the file.
    Node(u32),
    /// To a value.
    Leaf(u32),
}

/// The nodes of a search tree.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    /// Children before parents, as they were finished; the file has them the other way
    /// round, so that the root is number 0.
    nodes: Vec<[u32; 2]>,
}

impl Nodes {
    /// Some nodes, for tests of what depends on their number alone.
    #[cfg(test)]
    pub(super) fn of_length(length: usize) -> Self {
        Self { nodes: vec![[LEAF; 2]; length] }
    }

    /// How many there are; at least one.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Each node's halves, from number 0 (the root) on.
    pub(super) fn iter(&self) -> impl Iterator<Item = [Link; 2]> {
        let last = self.nodes.len() as u32 - 1;
        let link = move |raw: u32| {
            if raw & LEAF != 0 { Link::Leaf(raw & !LEAF) } else { Link::Node(last - raw) }
        };
        self.nodes.iter().rev().map(move |node| node.map(link))
    }
}
