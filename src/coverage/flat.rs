//! Rows that overlap as the server that reads them understands them: each address with the
//! one row that answers it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::address::{Family, Range};

/// Which of several rows answers an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The smallest one, as longest match does for prefixes; of equal ones the first.
    Smallest,
    /// The first one of the file.
    First,
}

/// Addresses and the row that answers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The addresses.
    pub(super) range: Range,
    /// The row's number.
    pub(super) row: usize,
}

/// Whether all of a range comes before another in a table: then nothing is to be cut.
pub(super) fn lies_before(a: Range, b: Range) -> bool {
    a.family() < b.family() || a.family() == b.family() && a.last_bits() < b.first_bits()
}

/// The rows as disjoint pieces in order. Neighbouring pieces of one row are one.
pub(super) fn flatten(rows: &[Range], rule: Rule) -> Vec<Piece> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if !rows.is_sorted() {
        order.sort_by_key(|row| rows.get(*row));
    }
    let mut pieces = Vec::with_capacity(rows.len());
    for family in Family::ALL {
        let of_family = |row: &&usize| rows.get(**row).is_some_and(|range| range.family() == family);
        let order: Vec<usize> = order.iter().filter(of_family).copied().collect();
        Sweep { rows, rule, family, pieces: &mut pieces }.run(&order);
    }
    pieces
}

struct Sweep<'a> {
    rows: &'a [Range],
    rule: Rule,
    family: Family,
    pieces: &'a mut Vec<Piece>,
}

impl Sweep<'_> {
    fn run(&mut self, order: &[usize]) {
        let mut open: BinaryHeap<Reverse<(u128, usize)>> = BinaryHeap::new();
        let mut waiting =
            order.iter().copied().filter_map(|row| Some((row, *self.rows.get(row)?))).peekable();
        let mut at = 0;
        loop {
            if let Some((_, next)) = waiting.peek().filter(|_| open.is_empty()) {
                at = next.first_bits();
            }
            while let Some((row, range)) = waiting.next_if(|(_, range)| range.first_bits() <= at) {
                let rank = match self.rule {
                    Rule::Smallest => range.span(),
                    Rule::First => 0,
                };
                open.push(Reverse((rank, row)));
            }
            let Some((row, range)) = self.best(&mut open, at) else {
                if waiting.peek().is_none() {
                    return;
                }
                continue;
            };
            let next = waiting.peek().map_or(u128::MAX, |(_, next)| next.first_bits().saturating_sub(1));
            let last = range.last_bits().min(next);
            self.emit(at, last, row);
            match last.checked_add(1) {
                Some(behind) => at = behind,
                None => return,
            }
        }
    }

    /// The row that answers an address, those that ended before it taken away.
    fn best(&self, open: &mut BinaryHeap<Reverse<(u128, usize)>>, at: u128) -> Option<(usize, Range)> {
        loop {
            let Reverse((_, row)) = open.peek()?;
            match self.rows.get(*row) {
                Some(range) if range.last_bits() >= at => return Some((*row, *range)),
                _ => open.pop(),
            };
        }
    }

    fn emit(&mut self, first: u128, last: u128, row: usize) {
        let Some(range) = Range::from_bits(self.family, first, last) else { return };
        if let Some(before) = self.pieces.last_mut().filter(|p| p.row == row && p.range.touches(range))
            && let Some(joined) = Range::from_bits(self.family, before.range.first_bits(), last)
        {
            before.range = joined;
            return;
        }
        self.pieces.push(Piece { range, row });
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn flat(rows: &[&str], rule: Rule) -> Vec<(String, usize)> {
        let rows: Vec<Range> = rows.iter().map(|row| row.parse().unwrap()).collect();
        flatten(&rows, rule).iter().map(|piece| (piece.range.to_string(), piece.row)).collect()
    }

    #[test]
    fn a_nested_row_cuts_the_one_around_it() {
        let rows = ["10.0.0.0/24", "::/0", "10.0.0.64/26", "255.255.255.0/24"];
        let wanted = [
            ("10.0.0.0-10.0.0.63", 0),
            ("10.0.0.64-10.0.0.127", 2),
            ("10.0.0.128-10.0.0.255", 0),
            ("255.255.255.0-255.255.255.255", 3),
            ("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1),
        ];
        assert_eq!(flat(&rows, Rule::Smallest), wanted.map(|(range, row)| (range.to_owned(), row)));
    }

    #[test]
    fn by_the_order_of_the_file_the_outer_row_may_hide_the_inner() {
        assert_eq!(
            flat(&["10.0.0.0/24", "10.0.0.64/26"], Rule::First),
            [("10.0.0.0-10.0.0.255".to_owned(), 0)]
        );
        assert_eq!(
            flat(&["10.0.0.64/26", "10.0.0.0/25"], Rule::First),
            [("10.0.0.0-10.0.0.63".to_owned(), 1), ("10.0.0.64-10.0.0.127".to_owned(), 0)]
        );
    }

    proptest! {
        #[test]
        fn equals_the_slow_way(parts in vec((0u128..64, 0u128..24), 0..12), first in any::<bool>()) {
            let rows: Vec<Range> = parts
                .iter()
                .filter_map(|(at, span)| Range::from_bits(Family::V4, *at, (at + span).min(70)))
                .collect();
            let rule = if first { Rule::First } else { Rule::Smallest };
            let pieces = flatten(&rows, rule);
            if rows.is_sorted_by(|a, b| lies_before(*a, *b)) {
                let whole: Vec<(Range, usize)> = rows.iter().copied().zip(0..).collect();
                prop_assert_eq!(pieces.iter().map(|p| (p.range, p.row)).collect::<Vec<_>>(), whole);
            }
            for pair in pieces.windows(2) {
                prop_assert!(pair[0].range.last_bits() < pair[1].range.first_bits());
                prop_assert!(pair[0].row != pair[1].row || !pair[0].range.touches(pair[1].range));
            }
            for address in 0..80 {
                let here = Family::V4.address(address);
                let found = pieces.iter().find(|piece| piece.range.contains(here)).map(|piece| piece.row);
                let holding = (0..rows.len()).filter(|row| rows[*row].contains(here));
                let slow = match rule {
                    Rule::First => holding.min(),
                    Rule::Smallest => holding.min_by_key(|row| (rows[*row].span(), *row)),
                };
                prop_assert_eq!(found, slow, "{}", here);
            }
        }
    }
}
