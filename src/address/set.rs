//! A set of addresses, as sorted, disjoint, non-touching ranges.

use std::net::IpAddr;

use super::{Family, Range};

/// A set of addresses of both families. It never enumerates addresses: cost depends on
/// the number of ranges only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: Vec<Range>,
}

impl RangeSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self { ranges: Vec::new() }
    }

    /// The ranges: sorted by family and first address, disjoint, none touching the next.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The ranges, as [`RangeSet::ranges`] gives them.
    pub fn iter(&self) -> std::slice::Iter<'_, Range> {
        self.ranges.iter()
    }

    /// Whether no address is in it.
    pub const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds the addresses of a range. Linear in the ranges behind it: to add many, collect
    /// or [`extend`](Extend::extend).
    pub fn insert(&mut self, range: Range) {
        let joins = |other: &Range| other.touches(range) || other.intersection(range).is_some();
        let mut from = self.ranges.partition_point(|r| *r < range);
        if from.checked_sub(1).and_then(|i| self.ranges.get(i)).is_some_and(joins) {
            from -= 1;
        }
        let (mut merged, mut to) = (range, from);
        while let Some(joined) = self.ranges.get(to).and_then(|next| join(merged, *next)) {
            merged = joined;
            to += 1;
        }
        self.ranges.splice(from..to, [merged]);
    }

    /// The addresses that are in one or the other.
    pub fn union(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.iter().copied().peekable(), other.iter().copied().peekable());
        let mut set = Self { ranges: Vec::with_capacity(self.ranges.len() + other.ranges.len()) };
        loop {
            let from_left = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => a <= b,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return set,
            };
            let next = if from_left { left.next() } else { right.next() };
            next.into_iter().for_each(|range| set.push(range));
        }
    }

    /// The addresses that are in both.
    pub fn intersect(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.iter().peekable(), other.iter().peekable());
        let mut ranges = Vec::new();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            ranges.extend(a.intersection(**b));
            if (a.family(), a.last_bits()) <= (b.family(), b.last_bits()) {
                left.next();
            } else {
                right.next();
            }
        }
        Self { ranges }
    }

    /// The addresses of this set that are not in `other`.
    pub fn subtract(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let mut cuts = other.iter().peekable();
        for range in &self.ranges {
            let mut rest = Some(*range);
            while let (Some(left), Some(cut)) = (rest, cuts.peek()) {
                if (cut.family(), cut.last_bits()) < (left.family(), left.first_bits()) {
                    cuts.next();
                    continue;
                }
                if left.intersection(**cut).is_none() {
                    break;
                }
                ranges.extend(before(left, **cut));
                rest = behind(left, **cut);
                if rest.is_some() {
                    cuts.next();
                }
            }
            ranges.extend(rest);
        }
        Self { ranges }
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.covers(Range::single(address))
    }

    /// Whether all of a range is in it.
    pub fn covers(&self, range: Range) -> bool {
        self.first_reaching(range).is_some_and(|found| found.covers(range))
    }

    /// Whether any address of a range is in it.
    pub fn overlaps(&self, range: Range) -> bool {
        self.first_reaching(range).is_some_and(|found| found.intersection(range).is_some())
    }

    /// What a range and the set have in common, in order.
    pub fn within(&self, range: Range) -> impl Iterator<Item = Range> + '_ {
        let from = self.behind_first(range);
        self.ranges.iter().skip(from).map_while(move |other| other.intersection(range))
    }

    /// The addresses of a range that are not in the set.
    pub fn gaps(&self, range: Range) -> Self {
        Self::from(range).subtract(&self.within(range).collect())
    }

    /// What the guard counts: addresses in IPv4, distinct /64s touched in IPv6; saturating.
    pub fn units(&self) -> u64 {
        units(self.iter().copied())
    }

    /// The part of one family.
    pub fn of_family(&self, family: Family) -> Self {
        let from = self.ranges.partition_point(|r| r.family() < family);
        let to = self.ranges.partition_point(|r| r.family() <= family);
        Self { ranges: self.ranges.get(from..to).unwrap_or_default().to_vec() }
    }

    /// Appends a range whose first address does not lie before that of the last one.
    fn push(&mut self, range: Range) {
        match self.ranges.last_mut().and_then(|last| Some((join(*last, range)?, last))) {
            Some((joined, last)) => *last = joined,
            None => self.ranges.push(range),
        }
    }

    /// The first range that does not end before `range` begins.
    fn first_reaching(&self, range: Range) -> Option<&Range> {
        self.ranges.get(self.behind_first(range))
    }

    fn behind_first(&self, range: Range) -> usize {
        self.ranges.partition_point(|r| (r.family(), r.last_bits()) < (range.family(), range.first_bits()))
    }
}

/// The units of sorted, disjoint ranges: see [`RangeSet::units`].
pub(crate) fn units(ranges: impl Iterator<Item = Range>) -> u64 {
    let mut total = 0u64;
    let mut counted = None;
    for range in ranges {
        let mut units = range.units();
        if range.family() == Family::V6 {
            let shared = counted == Some(range.first_bits() >> 64);
            units = units.saturating_sub(u64::from(shared));
            counted = Some(range.last_bits() >> 64);
        }
        total = total.saturating_add(units);
    }
    total
}

/// Both as one range, where they overlap or one touches the other.
fn join(a: Range, b: Range) -> Option<Range> {
    let joins = a.intersection(b).is_some() || a.touches(b) || b.touches(a);
    let (first, last) = (a.first_bits().min(b.first_bits()), a.last_bits().max(b.last_bits()));
    joins.then(|| Range::from_bits(a.family(), first, last)).flatten()
}

/// The part of `range` before `cut` begins.
fn before(range: Range, cut: Range) -> Option<Range> {
    Range::from_bits(range.family(), range.first_bits(), cut.first_bits().checked_sub(1)?)
}

/// The part of `range` behind the end of `cut`.
fn behind(range: Range, cut: Range) -> Option<Range> {
    Range::from_bits(range.family(), cut.last_bits().checked_add(1)?, range.last_bits())
}

impl FromIterator<Range> for RangeSet {
    /// Sorts and sweeps once.
    fn from_iter<I: IntoIterator<Item = Range>>(ranges: I) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_unstable();
        let mut set = Self::new();
        ranges.into_iter().for_each(|range| set.push(range));
        set
    }
}

impl Extend<Range> for RangeSet {
    fn extend<I: IntoIterator<Item = Range>>(&mut self, ranges: I) {
        let more: Self = ranges.into_iter().collect();
        if !more.is_empty() {
            *self = self.union(&more);
        }
    }
}

impl From<Range> for RangeSet {
    fn from(range: Range) -> Self {
        Self { ranges: vec![range] }
    }
}

impl IntoIterator for RangeSet {
    type Item = Range;
    type IntoIter = std::vec::IntoIter<Range>;

    fn into_iter(self) -> Self::IntoIter {
        self.ranges.into_iter()
    }
}

impl<'a> IntoIterator for &'a RangeSet {
    type Item = &'a Range;
    type IntoIter = std::slice::Iter<'a, Range>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests;
