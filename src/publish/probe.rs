//! Which addresses a consumer is asked about after it was told, and what is right.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::address::{Family, Range};
use crate::format::groups::{Allowed, allowed};
use crate::format::{Difference, ReadBack, View, differences_of};
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

/// What a consumer had.
pub(super) enum Before<'b> {
    /// Nothing that is known.
    Nothing,
    /// What it is to have, too.
    Same,
    /// What a file says.
    File(ReadBack),
    /// What was published before.
    View(View<'b>),
}

/// Addresses whose answer changed, such in both families, and one in each family that is in
/// no row. `excluded` is what the consumer cannot speak of.
pub(super) fn choose(view: &View<'_>, before: &Before<'_>, excluded: &'static [Range]) -> Vec<Probe> {
    let default = &view.default_group().token;
    let changed = match before {
        Before::Nothing => changes(view, (std::iter::empty(), None), excluded),
        Before::Same => Vec::new(),
        Before::File(file) => {
            let rows = file.rows().iter().map(|row| (row.range, &row.token));
            changes(view, (rows, file.default()), excluded)
        }
        Before::View(old) => changes(view, (old.told(excluded), Some(&old.default_group().token)), excluded),
    };
    asked(view, changed, default, excluded)
}

/// One address for each change of groups and family: that is enough.
fn changes<'t>(
    view: &'t View<'_>,
    before: (impl Iterator<Item = (Range, &'t Token)>, Option<&'t Token>),
    excluded: &'static [Range],
) -> Vec<Changed> {
    let default = &view.default_group().token;
    let mut changed: Vec<Changed> = Vec::new();
    let mut pairs = HashSet::new();
    for difference in differences_of(before, (view.told(excluded), Some(default))) {
        let Difference { range, before, after } = difference;
        let now = after.unwrap_or(default);
        if pairs.insert((range.family(), before, now)) {
            changed.push(Changed { range, before: before.cloned(), now: now.clone() });
        }
    }
    changed
}

fn asked(
    view: &View<'_>,
    mut changed: Vec<Changed>,
    default: &Token,
    excluded: &'static [Range],
) -> Vec<Probe> {
    // Where old and new answer have an address in common, the answer proves little.
    changed.sort_by_key(|one| !one.is_telling(view));
    let mut viewers: Vec<(IpAddr, Token)> = Vec::new();
    for family in Family::ALL {
        let own = changed.iter().filter(|one| one.range.family() == family);
        viewers.extend(own.take(CHANGED / 2).map(|one| (one.range.first(), one.now.clone())));
        if !viewers.iter().any(|(viewer, _)| Family::of(*viewer) == family) {
            let row = view.told(excluded).find(|(range, _)| range.family() == family);
            viewers.extend(row.map(|(range, token)| (range.first(), token.clone())));
        }
        let rows = view.told(excluded).map(|(range, _)| range);
        viewers.extend(missing(rows, family).map(|viewer| (viewer, default.clone())));
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
fn missing(rows: impl Iterator<Item = Range>, family: Family) -> Option<IpAddr> {
    let mut end: Option<Range> = None;
    for range in rows.filter(|range| range.family() == family) {
        if end.is_some_and(|end| !end.touches(range)) {
            break;
        }
        end = Some(range);
    }
    let next = end?.last_bits().checked_add(1)?;
    Range::from_bits(family, next, next).map(Range::first)
}
