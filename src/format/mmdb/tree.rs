//! The search tree: prefixes in, the smallest full binary tree out.
//!
//! Prefixes come in any order and may be nested; the longest that holds an address counts.
//! They are sorted once, and one walk over them in order does the rest, or several walks side
//! by side where there are many: what a prefix says is handed down to all below it that says
//! nothing itself, halves that turn out equal become one leaf, and only nodes that remain are
//! ever stored, eight octets each.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::thread;

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
    pub(super) fn build(self, default: u32) -> Result<Nodes, Duplicate> {
        self.build_by(default, MANY)
    }

    fn build_by(mut self, default: u32, many: usize) -> Result<Nodes, Duplicate> {
        self.prefixes.sort_unstable();
        let place = Place { bits: 0, length: 0, inherited: default };
        let mut part = parallel(&self.prefixes, place, many)?;
        if part.link & LEAF != 0 {
            // A file has at least one node.
            part.nodes.add(vec![[part.link, part.link]]);
        }
        Ok(part.nodes)
    }
}

/// From so many prefixes on, the halves of a node are built side by side.
const MANY: usize = 1 << 18;

/// A prefix, and the value that holds within where nothing else is said.
#[derive(Clone, Copy)]
struct Place {
    bits: u128,
    length: u8,
    inherited: u32,
}

impl Place {
    /// Whether a prefix is that of the place.
    #[inline]
    fn is(self, prefix: &Prefix) -> bool {
        prefix.length == self.length && prefix.bits == self.bits
    }

    /// Whether a prefix lies within it. None that is shorter ever comes here.
    #[inline]
    fn holds(self, prefix: &Prefix) -> bool {
        (prefix.bits ^ self.bits).checked_shr(128 - u32::from(self.length)).is_none_or(|above| above == 0)
    }

    fn halves(self, value: u32) -> [Self; 2] {
        let half = |bits| Self { bits, length: self.length + 1, inherited: value };
        [half(self.bits), half(self.bits | 1 << (127 - self.length))]
    }
}

/// What is below a prefix: a link to it, and the nodes, which are numbered from 0.
struct Part {
    link: u32,
    nodes: Nodes,
}

impl Part {
    /// Both halves of a node as one, with the node. No node is moved: those of the right half are
    /// told behind how many others they stand.
    fn join(mut self, right: Self) -> Self {
        let behind = self.nodes.len as u32;
        let link = moved(right.link, behind);
        self.nodes.len += right.nodes.len;
        let pieces = right.nodes.pieces.into_iter();
        self.nodes.pieces.extend(pieces.map(|piece| Piece { behind: piece.behind + behind, ..piece }));
        if self.link != link {
            self.nodes.add(vec![[self.link, link]]);
            self.link = self.nodes.len as u32 - 1;
        }
        self
    }
}

/// A link to a node as it is called where so many others stand before it.
#[inline]
const fn moved(link: u32, behind: u32) -> u32 {
    if link & LEAF != 0 { link } else { link + behind }
}

/// The tree below a place, from its prefixes, which are sorted.
fn parallel(prefixes: &[Prefix], place: Place, many: usize) -> Result<Part, Duplicate> {
    if prefixes.is_empty() || prefixes.len() < many || place.length == 128 {
        let mut builder = Builder { rest: prefixes, nodes: Vec::with_capacity(5 * prefixes.len()) };
        let link = builder.subtree(place)?;
        let mut nodes = Nodes::default();
        nodes.add(builder.nodes);
        return Ok(Part { link, nodes });
    }
    let own = prefixes.partition_point(|p| (p.bits, p.length) <= (place.bits, place.length));
    let (own, rest) = prefixes.split_at(own);
    let value = own.last().map_or(place.inherited, |own| own.value);
    if let Some(other) = own.iter().find(|p| p.value != value) {
        return Err(Duplicate(net(*other)));
    }
    let [first, second] = place.halves(value);
    let (left, right) = rest.split_at(rest.partition_point(|p| p.bits < second.bits));
    if left.len().min(right.len()) <= many / 4 {
        return Ok(parallel(left, first, many)?.join(parallel(right, second, many)?));
    }
    let (beside, own) = thread::scope(|scope| {
        let beside = scope.spawn(|| parallel(left, first, many));
        let own = parallel(right, second, many);
        (beside.join(), own)
    });
    // What a thread did not bring to an end is done here.
    Ok(beside.unwrap_or_else(|_| parallel(left, first, many))?.join(own?))
}

/// Marks a link that leads to a value.
const LEAF: u32 = 1 << 31;
/// What numbers of nodes and values must stay below.
pub(super) const LIMIT: usize = 1 << 31;

struct Builder<'p> {
    /// The prefixes to come.
    rest: &'p [Prefix],
    nodes: Vec<[u32; 2]>,
}

impl Builder<'_> {
    /// The link to the tree below a place. All prefixes left are that one or behind it.
    fn subtree(&mut self, place: Place) -> Result<u32, Duplicate> {
        let mut value = place.inherited;
        let mut own: Option<Prefix> = None;
        while let Some((next, rest)) = self.rest.split_first().filter(|(next, _)| place.is(next)) {
            if own.is_some_and(|own| own.value != next.value) {
                return Err(Duplicate(net(*next)));
            }
            own = Some(*next);
            value = next.value;
            self.rest = rest;
        }
        let Some((first, rest)) = self.rest.split_first().filter(|(next, _)| place.holds(next)) else {
            return Ok(LEAF | value);
        };
        if !rest.first().is_some_and(|next| place.holds(next)) {
            self.rest = rest;
            return Ok(self.alone(*first, place.length, value));
        }
        let [left, right] = place.halves(value);
        let (left, right) = (self.subtree(left)?, self.subtree(right)?);
        Ok(self.node(left, right))
    }

    /// The link to the tree in which there is but one prefix: most nodes are on such a way.
    fn alone(&mut self, prefix: Prefix, length: u8, inherited: u32) -> u32 {
        let (mut link, other) = (LEAF | prefix.value, LEAF | inherited);
        if link == other {
            return other;
        }
        for at in (length..prefix.length).rev() {
            let is_right = prefix.bits >> (127 - at) & 1 == 1;
            self.nodes.push(if is_right { [other, link] } else { [link, other] });
            link = self.nodes.len() as u32 - 1;
        }
        link
    }

    fn node(&mut self, left: u32, right: u32) -> u32 {
        if left == right {
            return left;
        }
        self.nodes.push([left, right]);
        self.nodes.len() as u32 - 1
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
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// In the order in which they were finished, children before parents; the file has them the
    /// other way round, so that the root is number 0.
    pieces: Vec<Piece>,
    len: usize,
}

/// Nodes that were made by one walk. Their links are numbers among the nodes that the walk's
/// part has, before which stand so many others.
#[derive(Clone, Debug)]
struct Piece {
    nodes: Vec<[u32; 2]>,
    behind: u32,
}

impl Nodes {
    /// Some nodes, for tests of what depends on their number alone.
    #[cfg(test)]
    pub(super) fn of_length(length: usize) -> Self {
        let mut nodes = Self::default();
        nodes.add(vec![[LEAF; 2]; length]);
        nodes
    }

    /// Nodes behind all others, which they call by their numbers.
    fn add(&mut self, nodes: Vec<[u32; 2]>) {
        self.len += nodes.len();
        self.pieces.push(Piece { nodes, behind: 0 });
    }

    /// How many there are; at least one.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Each node's halves, from number 0 (the root) on.
    pub(super) fn iter(&self) -> impl Iterator<Item = [Link; 2]> + '_ {
        let last = self.len as u32 - 1;
        let link = move |raw: u32, behind: u32| {
            if raw & LEAF != 0 { Link::Leaf(raw & !LEAF) } else { Link::Node(last - raw - behind) }
        };
        self.pieces.iter().rev().flat_map(move |piece| {
            let halves =
                move |[left, right]: &[u32; 2]| [link(*left, piece.behind), link(*right, piece.behind)];
            piece.nodes.iter().rev().map(halves)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However many walks there are, the nodes are the same, and so is what is refused.
        #[test]
        fn walks_side_by_side_make_the_same_tree(
            prefixes in vec((any::<u8>(), 0..=8_u8, 0..4_u32, any::<bool>()), 0..60),
            many in 0..6_usize,
        ) {
            let mut tree = Tree::default();
            for (bits, length, value, v4) in prefixes {
                let net: IpNet = match v4 {
                    true => Ipv4Net::new(Ipv4Addr::new(bits, 0, 0, 0), length).unwrap().trunc().into(),
                    false => Ipv6Net::new(Ipv6Addr::new(u16::from(bits) << 8, 0, 0, 0, 0, 0, 0, 0), length).unwrap().trunc().into(),
                };
                tree.insert(net, value);
            }
            let one = tree.clone().build_by(9, usize::MAX).map(|nodes| nodes.iter().collect::<Vec<_>>());
            let several = tree.build_by(9, many).map(|nodes| nodes.iter().collect::<Vec<_>>());
            prop_assert_eq!(one.is_ok(), several.is_ok());
            if let (Ok(one), Ok(several)) = (one, several) {
                prop_assert_eq!(one, several);
            }
        }
    }
}
