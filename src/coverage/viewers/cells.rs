//! The table, the old table and the resolvers laid over each other: every address lies in
//! one cell, which says all that is counted of it.

use std::collections::HashMap;

use super::index::{Index4, Index6};
use super::resolvers::Resolvers;
use crate::address::{Family, Range};
use crate::coverage::legacy::Legacy;
use crate::coverage::overlay::overlay;
use crate::coverage::targets::Targets;
use crate::coverage::{Known, Served};

/// What is known of the addresses of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    /// The number of the table's answer.
    pub(super) answer: Option<u32>,
    /// The number of the old table's target.
    pub(super) target: Option<u32>,
    /// The number of the resolver.
    pub(super) resolver: Option<u32>,
}

/// A viewer whom no entry of the table covers.
pub(super) const MISSED: u8 = 1;
/// A viewer whom no row of the old table covers.
pub(super) const OLD_MISSED: u8 = 2;
/// A known resolver, and no viewer.
pub(super) const RESOLVER: u8 = 4;

impl Cell {
    /// What a request is to be counted as.
    pub(super) fn kind(&self) -> u8 {
        let flag = |there: bool, flag: u8| if there { flag } else { 0 };
        match self.resolver {
            Some(_) => RESOLVER,
            None => flag(self.answer.is_none(), MISSED) | flag(self.target.is_none(), OLD_MISSED),
        }
    }
}

/// All cells, and where they are.
pub(super) struct Cells<'a> {
    pub(super) v4: Index4,
    pub(super) v6: Index6,
    pub(super) all: Vec<Cell>,
    pub(super) targets: Targets<'a>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(
        served: &Served,
        old: Option<&'a Legacy>,
        known: &'a Known,
        resolvers: Option<&Resolvers>,
    ) -> Self {
        let mut targets = Targets::new(known);
        let apart = resolvers.map(Resolvers::ranges).unwrap_or_default();
        if old.is_none() && apart.is_empty() {
            return Self::of_table(served, targets);
        }
        let flat = old.into_iter().flat_map(|old| old.flat(served.space()));
        let flat: Vec<(Range, u32)> = flat.map(|(range, row)| (range, targets.number(&row.target))).collect();
        let mut two: Vec<(Range, Cell)> = Vec::with_capacity(served.rows().len() + flat.len());
        overlay(served.rows().iter().copied(), flat.into_iter(), |range, answer, target| {
            two.push((range, Cell { answer, target, resolver: None }));
        });
        let mut numbers = Numbers::default();
        overlay(two.into_iter(), apart.iter().copied(), |range, cell, resolver| {
            numbers.push(range, Cell { resolver, ..cell.unwrap_or_default() });
        });
        Self::laid(&numbers.stretches, 0, numbers.all, targets)
    }

    /// Those of the table alone: a cell for each answer, behind that of the addresses in none.
    fn of_table(served: &Served, targets: Targets<'a>) -> Self {
        let answers = (0..).zip(served.answers()).map(|(answer, _)| Some(answer));
        let cells = std::iter::once(None).chain(answers);
        let all = cells.map(|answer| Cell { answer, ..Cell::default() }).collect();
        Self::laid(served.rows(), 1, all, targets)
    }

    /// `stretches` by family and first address, each with a number that is by `less` below that
    /// of its cell.
    fn laid(stretches: &[(Range, u32)], less: u32, all: Vec<Cell>, targets: Targets<'a>) -> Self {
        let six = stretches.partition_point(|(range, _)| range.family() == Family::V4);
        let (four, six) = stretches.split_at_checked(six).unwrap_or_default();
        let numbered = |(range, number): &(Range, u32)| (*range, number + less);
        let (v4, v6) = (four.iter().map(numbered), six.iter().map(numbered));
        Self { v4: Index4::new(v4, 0), v6: Index6::new(v6, 0), all, targets }
    }
}

/// Equal cells have one number; that of the addresses in nothing is 0.
struct Numbers {
    of: HashMap<Cell, u32>,
    all: Vec<Cell>,
    stretches: Vec<(Range, u32)>,
}

impl Default for Numbers {
    fn default() -> Self {
        let gap = Cell::default();
        Self { of: [(gap, 0)].into(), all: vec![gap], stretches: Vec::new() }
    }
}

impl Numbers {
    fn push(&mut self, range: Range, cell: Cell) {
        let number = *self.of.entry(cell).or_insert_with(|| {
            self.all.push(cell);
            self.all.len() as u32 - 1
        });
        self.stretches.push((range, number));
    }
}
