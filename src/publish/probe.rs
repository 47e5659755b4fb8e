//! Which addresses a consumer is asked about after it was told, and what is right.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::address::{Family, Range, RangeSet};
use crate::format::groups::{Allowed, allowed};
use crate::format::{Difference, ReadBack, View, differences};
use crate::table::Token;

/// How many changed addresses are asked about.
const CHANGED: usize = 4;
/// How many rows of each family are asked about between publications.
const SAMPLED: u64 = 2;

/// One question to a consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The viewer's address.
    pub(super) viewer: IpAddr,
    /// The group that must answer.
    pub(super) token: Token,
    /// What the group answers with.
    pub(super) allowed: Allowed,
}

/// Addresses whose answer changed, such in both families, and one in each family that is in
/// no row. `before` is the table that the consumer had, where it had one.
pub(super) fn choose(view: &View<'_>, before: Option<&ReadBack>, after: &ReadBack) -> Vec<Probe> {
    let default = &view.default_group().token;
    let empty = <ReadBack as Default>::default();
    let mut changed: Vec<Changed> = Vec::new();
    let mut pairs = BTreeSet::new();
    for difference in differences(before.unwrap_or(&empty), after) {
        let Difference { range, before, after } = difference;
        let now = after.unwrap_or(default);
        // One address for each change of groups and family is enough.
        if pairs.insert((range.family(), before.cloned(), now.clone())) {
            changed.push(Changed { range, before: before.cloned(), now: now.clone() });
        }
    }
    // Where old and new answer have an address in common, the answer proves little.
    changed.sort_by_key(|one| !one.is_telling(view));
    let mut viewers: Vec<(IpAddr, Token)> = Vec::new();
    for family in Family::ALL {
        let own = changed.iter().filter(|one| one.range.family() == family);
        viewers.extend(own.take(CHANGED / 2).map(|one| (one.range.first(), one.now.clone())));
        if !viewers.iter().any(|(viewer, _)| Family::of(*viewer) == family) {
            let row = after.rows().iter().find(|row| row.range.family() == family);
            viewers.extend(row.map(|row| (row.range.first(), row.token.clone())));
        }
        viewers.extend(missing(after, family).map(|viewer| (viewer, default.clone())));
    }
    let asked = viewers.into_iter().map(|(viewer, token)| {
        let allowed = allowed(view, &token);
        Probe { viewer, token, allowed }
    });
    asked.collect()
}

/// Some rows' ends in each family, and an address in no row, others in each round. `excluded`
/// is what the consumer cannot speak of.
pub(super) fn sample(view: &View<'_>, excluded: &[Range], round: u64) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut ask = |viewer: IpAddr, token: &Token| {
        if excluded.iter().all(|range| !range.contains(viewer)) {
            probes.push(Probe { viewer, token: token.clone(), allowed: allowed(view, token) });
        }
    };
    for family in Family::ALL {
        let rows: Vec<(Range, &Token)> = view
            .rows()
            .iter()
            .filter(|row| row.entry.range.family() == family)
            .map(|row| (row.entry.range, &row.group.token))
            .collect();
        for number in 0..SAMPLED {
            let at = place(round * SAMPLED + number, rows.len());
            if let Some((range, token)) = at.and_then(|at| rows.get(at)) {
                ask(if number % 2 == 0 { range.first() } else { range.last() }, token);
            }
        }
        let begin = place(round, rows.len()).unwrap_or(0);
        if let Some(viewer) = gap(rows.get(begin..).unwrap_or_default(), family) {
            ask(viewer, &view.default_group().token);
        }
    }
    probes
}

/// A place among so many, spread by the golden ratio; none where there are none.
fn place(number: u64, count: usize) -> Option<usize> {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let spread = u128::from(number.wrapping_mul(GOLDEN)) * count as u128;
    (count > 0).then_some((spread >> 64) as usize)
}

/// The first address behind rows that touch each other.
fn gap(rows: &[(Range, &Token)], family: Family) -> Option<IpAddr> {
    let behind = rows.iter().zip(rows.iter().skip(1).map(Some).chain([None]));
    let last = behind
        .map(|((range, _), next)| (*range, next))
        .find(|(range, next)| next.is_none_or(|(next, _)| !range.touches(*next)))?;
    let bits = last.0.last_bits().checked_add(1)?;
    Range::from_bits(family, bits, bits).map(Range::first)
}

struct Changed {
    range: Range,
    before: Option<Token>,
    now: Token,
}

impl Changed {
    fn is_telling(&self, view: &View<'_>) -> bool {
        let Some(before) = &self.before else { return true };
        let (old, new) = (allowed(view, before), allowed(view, &self.now));
        !old.addresses.iter().any(|address| new.addresses.contains(address))
            && !old.hosts.iter().any(|host| new.hosts.contains(host))
    }
}

/// An address of a family in no row: the first behind a row, where there are rows.
fn missing(after: &ReadBack, family: Family) -> Option<IpAddr> {
    let covered: RangeSet =
        after.rows().iter().map(|row| row.range).filter(|range| range.family() == family).collect();
    let behind = covered.iter().find_map(|range| {
        let next = range.last_bits().checked_add(1)?;
        Range::from_bits(family, next, next)
    });
    behind.map(Range::first)
}
