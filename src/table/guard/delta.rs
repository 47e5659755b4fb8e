//! Changes of owner between the published and the built table, sorted by kind.

use std::collections::BTreeMap;

use crate::address::{Range, RangeSet};
use crate::table::{Class, Entries, Entry, Name};

/// One stretch of addresses whose owner would change.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    pub(super) range: Range,
    pub(super) from: Option<Name>,
    pub(super) to: Option<Name>,
    /// Whether a router stands behind the new owner.
    pub(super) polled: bool,
}

/// The changes of one space and family, as the guard's rules divide them.
#[derive(Default)]
pub(super) struct Deltas {
    /// To nobody or to a fill line, by the owner that loses.
    pub(super) removals: BTreeMap<Name, Vec<Delta>>,
    /// To another owner, by the owner that loses.
    pub(super) moves: BTreeMap<Name, Vec<Delta>>,
    /// From nobody, by the owner that gains.
    pub(super) additions: BTreeMap<Name, Vec<Delta>>,
}

/// The addresses of some changes.
pub(super) fn addresses(deltas: &[Delta]) -> RangeSet {
    deltas.iter().map(|delta| delta.range).collect()
}

/// What a person let through: by former and new owner.
pub(super) type Passing = BTreeMap<(Option<Name>, Option<Name>), RangeSet>;

impl Deltas {
    /// Compares two lists of entries of one space and family. A fill line gives way unjudged,
    /// and what a person let `pass` is not judged either.
    pub(super) fn between(published: Entries<'_>, built: Entries<'_>, passing: &Passing) -> Self {
        let mut deltas = Self::default();
        overlay(published, built, |range, before, after| {
            let (from, to) = (before.map(|e| &e.owner), after.map(|e| &e.owner));
            if from == to || before.is_some_and(|e| e.class == Class::Fill) {
                return;
            }
            let key = (from.cloned(), to.cloned());
            let polled = after.is_some_and(|entry| entry.class.is_polled());
            let filled = after.is_none_or(|entry| entry.class == Class::Fill);
            let of_kind = match (&key.0, &key.1) {
                (Some(owner), _) if filled => deltas.removals.entry(owner.clone()),
                (Some(owner), _) => deltas.moves.entry(owner.clone()),
                (None, Some(owner)) => deltas.additions.entry(owner.clone()),
                (None, None) => return,
            };
            let left = passing.get(&key).map_or_else(|| range.into(), |passed| passed.gaps(range));
            let (from, to) = key;
            let judged =
                left.into_iter().map(|range| Delta { range, from: from.clone(), to: to.clone(), polled });
            of_kind.or_default().extend(judged);
        });
        for kind in [&mut deltas.removals, &mut deltas.moves, &mut deltas.additions] {
            kind.retain(|_, list| !list.is_empty());
        }
        deltas
    }

    pub(super) fn is_empty(&self) -> bool {
        self.removals.is_empty() && self.moves.is_empty() && self.additions.is_empty()
    }
}

/// Lays two sorted lists of entries of one space and family over each other, and tells of each
/// stretch what lies there in either. Entries that both share are passed over: they cannot
/// differ.
pub(super) fn overlay<'a>(
    left: Entries<'a>,
    right: Entries<'a>,
    mut tell: impl FnMut(Range, Option<&'a Entry>, Option<&'a Entry>),
) {
    let (mut left, mut right) = (left.iter(), right.iter());
    let mut from = 0u128;
    loop {
        left.skip_shared(&mut right);
        let (a, b) = (left.peek(), right.peek());
        let begin = |entry: Option<&Entry>| entry.map(|entry| entry.range.first_bits().max(from));
        let (a_begin, b_begin) = (begin(a), begin(b));
        let Some(first) = a_begin.into_iter().chain(b_begin).min() else { return };
        let a_here = a.filter(|_| a_begin == Some(first));
        let b_here = b.filter(|_| b_begin == Some(first));
        let ends = [a_here, b_here].into_iter().flatten().map(|entry| entry.range.last_bits());
        let begins =
            [a_begin, b_begin].into_iter().flatten().filter(|other| *other > first).map(|other| other - 1);
        let Some(last) = ends.chain(begins).min() else { return };
        if let Some(range) = a_here.or(b_here).and_then(|e| Range::from_bits(e.range.family(), first, last)) {
            tell(range, a_here, b_here);
        }
        left.next_if(|entry| entry.range.last_bits() <= last);
        right.next_if(|entry| entry.range.last_bits() <= last);
        let Some(next) = last.checked_add(1) else { return };
        from = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{PoolName, Table};

    fn entry(owner: &str, range: &str, class: Class) -> Entry {
        Entry {
            space: "internet".into(),
            range: range.parse().unwrap(),
            owner: owner.into(),
            bas: None,
            pool: PoolName::new(b""),
            vrf: "".into(),
            class,
        }
    }

    fn between(published: &[Entry], built: &[Entry], passing: &Passing) -> Deltas {
        let (published, built) =
            (Table::new(published.to_vec()).unwrap(), Table::new(built.to_vec()).unwrap());
        Deltas::between(published.entries(), built.entries(), passing)
    }

    fn told(kind: &BTreeMap<Name, Vec<Delta>>) -> Vec<String> {
        let name = |name: &Option<Name>| name.as_ref().map_or("-".to_owned(), |name| name.to_string());
        let lists = kind.values().flatten();
        lists.map(|d| format!("{} {}>{}", d.range, name(&d.from), name(&d.to))).collect()
    }

    #[test]
    fn changes_are_told_by_kind() {
        let published =
            [entry("A", "10.0.0.0-10.0.0.99", Class::Fresh), entry("F", "10.0.1.0-10.0.1.9", Class::Fill)];
        let built = [
            entry("A", "10.0.0.10-10.0.0.19", Class::Fresh),
            entry("B", "10.0.0.20-10.0.0.39", Class::Fresh),
            entry("F", "10.0.0.40-10.0.0.49", Class::Fill),
            entry("A", "10.0.0.50-10.0.0.99", Class::Kept),
            entry("B", "10.0.0.100-10.0.1.4", Class::Fresh),
        ];
        let deltas = between(&published, &built, &Passing::new());
        assert_eq!(told(&deltas.removals), ["10.0.0.0-10.0.0.9 A>-", "10.0.0.40-10.0.0.49 A>F"]);
        assert_eq!(told(&deltas.moves), ["10.0.0.20-10.0.0.39 A>B"]);
        assert_eq!(told(&deltas.additions), ["10.0.0.100-10.0.0.255 ->B"], "a fill line gives way unjudged");
    }

    #[test]
    fn what_may_pass_is_no_change_to_judge() {
        let published = [entry("A", "10.0.0.0/24", Class::Fresh)];
        let built = [entry("B", "10.0.0.0/24", Class::Fresh)];
        let half = RangeSet::from("10.0.0.0/25".parse::<Range>().unwrap());
        let passing = [((Some("A".into()), Some("B".into())), half.clone())].into();
        assert_eq!(told(&between(&published, &built, &passing).moves), ["10.0.0.128-10.0.0.255 A>B"]);
        let other = [((Some("A".into()), None), half)].into();
        assert_eq!(told(&between(&published, &built, &other).moves), ["10.0.0.0-10.0.0.255 A>B"]);
    }

    #[test]
    fn the_top_of_the_space_ends_the_comparison() {
        let top = [entry("A", "ffff::/16", Class::Fresh)];
        let deltas = between(&top, &[], &Passing::new());
        assert_eq!(told(&deltas.removals).len(), 1);
        assert!(between(&top, &top, &Passing::new()).is_empty());
    }
}
