//! Pools rounded up to the prefix around them.
//!
//! Routers list what they hand out: `.6` to `.254`, without the first addresses of the subnet,
//! the gateway, the last one. Exactly split that makes many prefixes; the one around it makes
//! one, and answers for the gateway too. It is taken where it adds few addresses, and none
//! that anybody else claims.

use super::{BuildRules, Conflict};
use crate::address::{Family, Range, RangeSet};
use crate::table::entries::Patch;
use crate::table::{Entry, Name, Table};

/// The table with its pools rounded up, where the rules say so.
pub(super) fn covered(exact: &Table, conflicts: &[Conflict], rules: &BuildRules) -> Table {
    let mut table = exact.clone();
    for (space, most) in limits(rules) {
        let all = [Range::all(Family::V4)].into_iter().collect();
        table = table.patched(patches(exact, conflicts, (space, most), &all));
    }
    table
}

/// The same for a table that was rounded up, of which the exact form has changed in some
/// stretches of a space.
pub(super) fn renewed(
    table: Table,
    exact: &Table,
    conflicts: &[Conflict],
    rules: &BuildRules,
    (space, changed): (&Name, &RangeSet),
) -> Table {
    let changed = changed.of_family(Family::V4);
    let Some((space, most)) = limits(rules).find(|(of, _)| *of == space).filter(|_| !changed.is_empty())
    else {
        return table;
    };
    // A pool reaches beyond its ends by `most`, and so did those that went. Of all that may
    // have reached or may reach into what changed, the whole is written anew.
    let reach: RangeSet = changed.iter().map(|range| wider(*range, most)).collect();
    let nobodys = nobodys(conflicts, space);
    let mut within: Vec<Range> = reach.iter().copied().collect();
    for range in &reach {
        for entry in exact.overlapping(space, wider(*range, most + 1)) {
            within.push(cover(entry, exact, &nobodys, most).unwrap_or(entry.range));
            within.extend(table.overlapping(space, entry.range).iter().map(|before| before.range));
        }
    }
    table.patched(patches(exact, conflicts, (space, most), &within.into_iter().collect()))
}

/// The spaces that are rounded up, with the most addresses that a pool may gain.
fn limits(rules: &BuildRules) -> impl Iterator<Item = (&Name, u128)> {
    rules.cover.iter().filter(|(_, most)| **most > 0).map(|(space, most)| (space, u128::from(*most)))
}

fn wider(range: Range, by: u128) -> Range {
    let (first, last) = (range.first_bits().saturating_sub(by), range.last_bits().saturating_add(by));
    Range::from_bits(range.family(), first, last.min(range.family().max())).unwrap_or(range)
}

/// The addresses that several owners claim and nobody gets.
fn nobodys(conflicts: &[Conflict], space: &Name) -> RangeSet {
    let nobodys = conflicts.iter().filter(|conflict| conflict.space == *space && conflict.owner.is_none());
    nobodys.map(|conflict| conflict.range).collect()
}

/// What is to stand in some stretches, out of which no rounded entry reaches.
fn patches(
    exact: &Table,
    conflicts: &[Conflict],
    (space, most): (&Name, u128),
    within: &RangeSet,
) -> Vec<Patch> {
    let nobodys = nobodys(conflicts, space);
    let patch = |range: &Range| {
        let rounded = |entry: &Entry| cover(entry, exact, &nobodys, most).unwrap_or(entry.range);
        let entries = exact.overlapping(space, *range).iter();
        let entries = entries.map(|entry| entry.with_range(rounded(entry))).collect();
        Patch { space: space.clone(), range: *range, entries }
    };
    within.iter().map(patch).collect()
}

/// The smallest prefix around a router's range, where it is allowed.
fn cover(entry: &Entry, exact: &Table, nobodys: &RangeSet, most: u128) -> Option<Range> {
    let (first, last) = (entry.range.first_bits(), entry.range.last_bits());
    let host = u128::MAX.checked_shr((first ^ last).leading_zeros()).unwrap_or_default();
    let cover = Range::from_bits(entry.range.family(), first & !host, last | host)?;
    let allowed = entry.class.is_polled()
        && cover != entry.range
        && cover.span() - entry.range.span() <= most
        && !nobodys.overlaps(cover)
        && exact.overlapping(&entry.space, cover).iter().nth(1).is_none();
    allowed.then_some(cover)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::table::{Claim, Class, PoolName, build};

    fn claim(bas: &str, range: Range) -> Claim {
        Claim {
            space: "internet".into(),
            range,
            whole: range,
            owner: bas.into(),
            bas: Some(bas.into()),
            pool: PoolName::new(b"p"),
            vrf: "".into(),
            priority: 0,
            class: Class::Fresh,
        }
    }

    fn built(claims: Vec<Claim>, most: u32) -> Vec<String> {
        let rules = BuildRules { cover: [("internet".into(), most)].into(), ..BuildRules::default() };
        let made = build(claims, &Table::default(), &rules);
        made.table.entries().iter().map(|e| format!("{} {}", e.owner, e.range)).collect()
    }

    fn listed(of: &[(&str, &str)], most: u32) -> Vec<String> {
        built(of.iter().map(|(bas, range)| claim(bas, range.parse().unwrap())).collect(), most)
    }

    #[test]
    fn a_pool_without_its_first_and_last_addresses_becomes_the_prefix_around_it() {
        // 6 before and 1 behind.
        let pool = [("A", "198.18.116.6-198.18.119.254")];
        assert_eq!(listed(&pool, 0), ["A 198.18.116.6-198.18.119.254"]);
        assert_eq!(listed(&pool, 6), ["A 198.18.116.6-198.18.119.254"]);
        assert_eq!(listed(&pool, 7), ["A 198.18.116.0-198.18.119.255"]);
        // The prefix around a range that crosses a border is as large as the two sides.
        assert_eq!(listed(&[("A", "198.18.0.250-198.18.1.5")], 64), ["A 198.18.0.250-198.18.1.5"]);
        assert_eq!(listed(&[("A", "2001:db8::6-2001:db8::fe")], 64), ["A 2001:db8::6-2001:db8::fe"]);
    }

    #[test]
    fn nothing_is_taken_that_somebody_else_claims() {
        let pool = ("A", "198.18.0.6-198.18.0.254");
        let beside = [pool, ("B", "198.18.0.0-198.18.0.1")];
        assert_eq!(listed(&beside, 16)[1], "A 198.18.0.6-198.18.0.254");
        // Nor what two claim and nobody gets.
        let private = [("A", "10.0.0.6-10.0.0.254"), ("B", "10.0.0.0-10.0.0.1"), ("C", "10.0.0.0-10.0.0.1")];
        assert_eq!(listed(&private, 16), ["A 10.0.0.6-10.0.0.254"]);
        let mut line = claim("S", "198.18.0.255".parse().unwrap());
        line.class = Class::Fill;
        let with_line = built(vec![claim(pool.0, pool.1.parse().unwrap()), line], 16);
        assert_eq!(with_line[0], "A 198.18.0.6-198.18.0.254");
    }

    #[test]
    fn a_static_line_means_what_it_says() {
        let mut line = claim("S", "198.18.0.6-198.18.0.254".parse().unwrap());
        line.class = Class::Override;
        assert_eq!(built(vec![line], 16), ["S 198.18.0.6-198.18.0.254"]);
    }

    proptest! {
        /// Address by address: what was claimed stays as it was, and what was gained lies in
        /// the prefix around one range, is little, and was nobody's.
        #[test]
        fn only_what_is_free_is_gained(
            parts in vec((0u128..4, 0u128..256, 0u128..40), 0..20), most in 0u32..20,
        ) {
            let base = 0xc612_0000;
            let claims = |most: u32| {
                let claims = parts.iter().map(|(bas, first, span)| {
                    let last = (first + span).min(255);
                    claim(&format!("b{bas}"), Range::from_bits(Family::V4, base + first, base + last).unwrap())
                });
                let rules = BuildRules { cover: [("internet".into(), most)].into(), ..BuildRules::default() };
                build(claims.collect(), &Table::default(), &rules).table
            };
            let (exact, rounded) = (claims(0), claims(most));
            let owner = |table: &Table, at: u128| {
                table.lookup("internet", Family::V4.address(at)).map(|entry| entry.owner.clone())
            };
            for at in base - 64..base + 320 {
                let (was, is) = (owner(&exact, at), owner(&rounded, at));
                prop_assert!(was.is_none() || was == is, "{at:x}");
            }
            let free = |at: u128| owner(&exact, at).is_none();
            for entry in exact.entries() {
                let (first, last) = (entry.range.first_bits(), entry.range.last_bits());
                let bits = (0..32).find(|bits| first >> bits == last >> bits).unwrap();
                let (low, high) = (first >> bits << bits, (first >> bits << bits) + (1 << bits) - 1);
                let gained = (first - low) + (high - last);
                let allowed = gained <= most.into() && (low..first).chain(last + 1..=high).all(free);
                for at in (low..first).chain(last + 1..=high).filter(|_| allowed) {
                    prop_assert_eq!(owner(&rounded, at), Some(entry.owner.clone()));
                }
            }
            let count = |table: &Table| -> u128 { table.entries().iter().map(|e| e.range.span() + 1).sum() };
            prop_assert!(count(&rounded) - count(&exact) <= u128::from(most) * exact.len() as u128);
        }
    }
}
