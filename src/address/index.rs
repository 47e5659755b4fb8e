//! Which stretch of a family's space an address lies in: an index that a search touches in
//! two or three places.
//!
//! The whole space is cut at sorted starts into *cells*; gaps are cells like others, so that
//! no end has to be compared. What the starts reach over is divided into slots of equal size,
//! about one for two cells; a slot tells which cells begin in it. Where addresses are
//! clustered and many cells begin in one slot, the slot is divided again.
//!
//! A cell of IPv4 takes 8 octets. One of IPv6 takes 16 where no stretch is cut within a /64,
//! as pools are, else 24.

use super::{Family, Range};

/// So many cells are searched one by one; a slot with more is divided, where that helps.
const FEW: usize = 8;
/// How often a slot is divided: beyond that, addresses are nested like no pools are, and a
/// binary search does.
const DEPTH: u32 = 6;
/// Marks a slot that is divided.
const DIVIDED: u32 = 1 << 31;

/// The cells of IPv4.
#[derive(Clone, Debug)]
pub struct Index4(Division<u32>);

/// The cells of IPv6.
#[derive(Clone, Debug)]
pub struct Index6(Width);

#[derive(Clone, Debug)]
enum Width {
    /// All starts are multiples of a /64.
    Upper(Division<u64>),
    Whole(Division<Whole>),
}

impl Index4 {
    /// Stretches of IPv4 in order, disjoint, each with a number; what is in none gets `gap`.
    pub fn new(stretches: &[(Range, u32)], gap: u32) -> Self {
        Self(Division::new(&all_filled(Family::V4, stretches, gap)))
    }

    /// The number of an address.
    #[inline]
    pub fn find(&self, address: u32) -> u32 {
        self.0.find(address)
    }

    /// How many octets it takes.
    pub fn size(&self) -> usize {
        self.0.size()
    }
}

impl Index6 {
    /// Stretches of IPv6 in order, disjoint, each with a number; what is in none gets `gap`.
    pub fn new(stretches: &[(Range, u32)], gap: u32) -> Self {
        let cells = all_filled(Family::V6, stretches, gap);
        let upper = cells.iter().all(|(start, _)| *start as u64 == 0);
        Self(if upper { Width::Upper(Division::new(&cells)) } else { Width::Whole(Division::new(&cells)) })
    }

    /// The number of an address.
    #[inline]
    pub fn find(&self, address: u128) -> u32 {
        match &self.0 {
            Width::Upper(cells) => cells.find((address >> 64) as u64),
            Width::Whole(cells) => cells.find(Whole::of(address)),
        }
    }

    /// How many octets it takes.
    pub fn size(&self) -> usize {
        match &self.0 {
            Width::Upper(cells) => cells.size(),
            Width::Whole(cells) => cells.size(),
        }
    }
}

/// A start as it is kept.
trait Start: Copy + Ord {
    /// Out of an address.
    fn of(address: u128) -> Self;
    /// How many slots of `1 << shift` lie before it, from `base` on, which is not behind it.
    fn slot(self, base: Self, shift: u32) -> usize;
    /// How far the kept number lies above the lowest bit of an address.
    const LOW: u32;
}

impl Start for u32 {
    const LOW: u32 = 0;

    fn of(address: u128) -> Self {
        address as Self
    }

    #[inline]
    fn slot(self, base: Self, shift: u32) -> usize {
        ((self - base) >> shift) as usize
    }
}

impl Start for u64 {
    const LOW: u32 = 64;

    fn of(address: u128) -> Self {
        (address >> 64) as Self
    }

    #[inline]
    fn slot(self, base: Self, shift: u32) -> usize {
        ((self - base) >> shift) as usize
    }
}

/// A whole IPv6 address in two halves: a `u128` would be aligned to more than it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Whole(u64, u64);

impl Whole {
    #[inline]
    fn bits(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

impl Start for Whole {
    const LOW: u32 = 0;

    #[inline]
    fn of(address: u128) -> Self {
        Self((address >> 64) as u64, address as u64)
    }

    #[inline]
    fn slot(self, base: Self, shift: u32) -> usize {
        usize::try_from((self.bits() - base.bits()) >> shift).unwrap_or(usize::MAX)
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell<K> {
    start: K,
    number: u32,
}

/// A part of the space, divided into slots of equal size.
#[derive(Clone, Copy, Debug)]
struct Node<K> {
    /// Where the first slot begins.
    base: K,
    shift: u32,
    /// The first slot's place, and how many there are; behind the last one stands the node's
    /// last cell.
    slots: u32,
    count: u32,
    /// The cell that lies before `base`.
    before: u32,
}

/// Cells, found by slots.
#[derive(Clone, Debug)]
struct Division<K> {
    /// The whole comes first.
    nodes: Vec<Node<K>>,
    /// By slot: the cell that its first address lies in, or the node that divides it.
    slots: Vec<u32>,
    cells: Vec<Cell<K>>,
}

impl<K: Start> Division<K> {
    fn new(filled: &[(u128, u32)]) -> Self {
        let cells = filled.iter().map(|(start, number)| Cell { start: K::of(*start), number: *number });
        let mut division = Self { nodes: Vec::new(), slots: Vec::new(), cells: cells.collect() };
        if filled.len() > 1 {
            division.divide(filled, (0, filled.len() - 1), 0);
        }
        division.slots.shrink_to_fit();
        division
    }

    /// Makes a node of the cells behind `before` up to `last`; its place.
    fn divide(&mut self, filled: &[(u128, u32)], (before, last): (usize, usize), depth: u32) -> u32 {
        let start = |cell: usize| filled.get(cell).map_or(u128::MAX, |(start, _)| *start) >> K::LOW;
        let (base, reach) = (start(before + 1), start(last) - start(before + 1));
        let wanted = ((last - before) / 2).next_power_of_two();
        let shift = (u128::BITS - reach.leading_zeros()).saturating_sub(wanted.ilog2());
        let count = (reach >> shift) as usize + 1;
        let (node, first) = (self.nodes.len(), self.slots.len());
        self.nodes.push(Node {
            base: K::of(base << K::LOW),
            shift,
            slots: first as u32,
            count: count as u32,
            before: before as u32,
        });
        self.slots.resize(first + count + 1, last as u32);
        let mut here = before;
        for slot in 0..count {
            let begin = base + ((slot as u128) << shift);
            while here < last && start(here + 1) <= begin {
                here += 1;
            }
            let end = begin.checked_add(1 << shift);
            let within = (here..last).take_while(|cell| end.is_none_or(|end| start(cell + 1) <= end)).count();
            let divides = within > FEW && depth < DEPTH && count > 1;
            let told = if divides {
                DIVIDED | self.divide(filled, (here, here + within), depth + 1)
            } else {
                here as u32
            };
            if let Some(place) = self.slots.get_mut(first + slot) {
                *place = told;
            }
        }
        node as u32
    }

    #[inline]
    fn find(&self, address: K) -> u32 {
        let mut node = self.nodes.first();
        while let Some(Node { base, shift, slots, count, before }) = node {
            if address < *base {
                return self.number(*before as usize);
            }
            let slot = *slots as usize + address.slot(*base, *shift).min(*count as usize - 1);
            let Some([from, to]) = self.slots.get(slot..slot + 2) else { break };
            if from & DIVIDED == 0 {
                let (from, to) = (*from as usize, self.begins(*to));
                return self.number(from + self.starting(from + 1, to + 1, address));
            }
            node = self.nodes.get((from ^ DIVIDED) as usize);
        }
        self.number(0)
    }

    /// How many of some cells start at or before an address.
    #[inline]
    fn starting(&self, from: usize, to: usize, address: K) -> usize {
        let cells = self.cells.get(from..to).unwrap_or_default();
        if cells.len() <= FEW {
            cells.iter().map(|cell| usize::from(cell.start <= address)).sum()
        } else {
            cells.partition_point(|cell| cell.start <= address)
        }
    }

    /// The cell that a slot's first address lies in.
    #[inline]
    fn begins(&self, slot: u32) -> usize {
        if slot & DIVIDED == 0 {
            return slot as usize;
        }
        self.nodes.get((slot ^ DIVIDED) as usize).map_or(0, |node| node.before as usize)
    }

    #[inline]
    fn number(&self, cell: usize) -> u32 {
        self.cells.get(cell).map_or(0, |cell| cell.number)
    }

    fn size(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<K>>()
            + self.slots.capacity() * size_of::<u32>()
            + self.cells.capacity() * size_of::<Cell<K>>()
    }
}

/// Disjoint stretches of a family in order, each with a number, as what fills its whole space:
/// where each begins and its number, those of equal number joined, and `gap` for what is in
/// none. The first begins at 0.
pub fn filled(
    family: Family,
    stretches: impl Iterator<Item = (Range, u32)>,
    gap: u32,
) -> impl Iterator<Item = (u128, u32)> {
    // Where what is not told yet begins; none behind the end of the space.
    let mut next = Some(0);
    let mut last = None;
    let told = stretches.map(Some).chain([None]).flat_map(move |stretch| {
        let before = next.filter(|start| stretch.is_none_or(|(range, _)| *start < range.first_bits()));
        if let Some((range, _)) = stretch {
            next = range.last_bits().checked_add(1).filter(|next| *next <= family.max());
        }
        let gap = before.map(|start| (start, gap));
        gap.into_iter().chain(stretch.map(|(range, number)| (range.first_bits(), number)))
    });
    told.filter(move |(_, number)| last.replace(*number) != Some(*number))
}

/// The same, all at once.
fn all_filled(family: Family, stretches: &[(Range, u32)], gap: u32) -> Vec<(u128, u32)> {
    let mut all = Vec::with_capacity(stretches.len() * 2 + 1);
    all.extend(filled(family, stretches.iter().copied(), gap));
    all
}

#[cfg(test)]
mod tests;
