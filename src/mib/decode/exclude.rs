//! Includes minus excludes: rows whose addresses are taken out of the others of their group.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::super::descriptor::{Exclude, Own};
use super::super::field::Field;
use super::super::rejected::{Reject, RejectReason};
use super::row::Outcome;
use super::rows::Row;
use crate::address::Range;

/// Takes the excluded ranges out of the rest, and gives the rows that are so used up. Where
/// an excluded row was not read, the rows that it may have narrowed were not read either:
/// taken whole they would claim too much.
pub(super) fn apply<'r, 'a>(
    rule: &Exclude,
    bad_index: bool,
    found: &mut Vec<(&'r Row<'a>, Outcome)>,
) -> Vec<&'r Row<'a>> {
    let mut taken = Vec::new();
    let mut excluded: BTreeMap<Vec<Field>, Vec<Range>> = BTreeMap::new();
    let mut unknown: BTreeSet<Vec<Field>> = BTreeSet::new();
    for (row, outcome) in found.iter_mut() {
        if let Some(reject) = neither(rule, row)
            && let Ok(found) = outcome
        {
            *outcome = Err((Some(found.pool.clone()), reject));
            unknown.insert(group(rule, row));
        }
    }
    found.retain(|(row, outcome)| {
        if part(row, rule.field) != Some(&Field::Integer(rule.equals)) {
            return true;
        }
        match outcome {
            Ok(found) => {
                excluded.entry(group(rule, row)).or_default().extend(found.ranges.iter());
                taken.push(*row);
                false
            }
            Err((_, reject)) => {
                if !reject.reason.is_void() {
                    unknown.insert(group(rule, row));
                }
                true
            }
        }
    });
    for (row, outcome) in found {
        let group = group(rule, row);
        let Ok(found) = outcome else { continue };
        if bad_index || unknown.contains(&group) {
            let detail = "what is excluded from it was not read";
            *outcome = Err((Some(found.pool.clone()), Reject::new(RejectReason::MissingRow, detail)));
        } else if let Some(excluded) = excluded.get(&group) {
            narrow(outcome, excluded);
        }
    }
    taken
}

/// Why a row is not read that neither takes out nor is taken out of: it may be either.
fn neither(rule: &Exclude, row: &Row<'_>) -> Option<Reject> {
    let (others, Some(Field::Integer(kind))) = (rule.others?, part(row, rule.field)) else { return None };
    let known = [rule.equals, others];
    (!known.contains(kind)).then(|| {
        let detail = format!("it is of kind {kind}; {} takes out, {others} is taken out of", rule.equals);
        Reject::new(RejectReason::BadCell, detail)
    })
}

fn narrow(outcome: &mut Outcome, excluded: &[Range]) {
    let Ok(found) = outcome else { return };
    let left: SmallVec<[Range; 1]> =
        found.ranges.iter().flat_map(|range| without(*range, excluded)).collect();
    if left.is_empty() {
        let reject = Reject::new(RejectReason::Excluded, "all of it is excluded by other rows");
        *outcome = Err((Some(found.pool.clone()), reject));
    } else if left != found.ranges {
        // The router's counts are of the whole row.
        found.size = None;
        found.used = None;
        found.ranges = left;
    }
}

fn part<'r>(row: &'r Row<'_>, field: Own) -> Option<&'r Field> {
    match field {
        Own::Part(part) => row.parts.get(part),
        Own::Column(_) => None,
    }
}

fn group(rule: &Exclude, row: &Row<'_>) -> Vec<Field> {
    rule.within.iter().filter_map(|field| part(row, *field).cloned()).collect()
}

/// What is left of a range.
fn without(range: Range, excluded: &[Range]) -> Vec<Range> {
    let mut cuts: Vec<Range> = excluded.iter().filter_map(|cut| cut.intersection(range)).collect();
    cuts.sort_unstable();
    let mut left = Vec::new();
    let mut next = Some(range.first_bits());
    for cut in cuts {
        let Some(first) = next else { break };
        if let Some(before) = cut.first_bits().checked_sub(1) {
            left.extend(Range::from_bits(range.family(), first, before));
        }
        next = cut.last_bits().checked_add(1).map(|behind| behind.max(first));
    }
    left.extend(next.and_then(|first| Range::from_bits(range.family(), first, range.last_bits())));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(range: &str, excluded: &[&str]) -> Vec<String> {
        let excluded: Vec<Range> = excluded.iter().map(|text| text.parse().unwrap()).collect();
        without(range.parse().unwrap(), &excluded).iter().map(Range::to_string).collect()
    }

    #[test]
    fn what_is_left() {
        assert_eq!(left("10.0.0.0-10.0.0.9", &[]), ["10.0.0.0-10.0.0.9"]);
        assert_eq!(
            left("10.0.0.0-10.0.0.9", &["10.0.0.3-10.0.0.4", "10.0.0.6"]),
            ["10.0.0.0-10.0.0.2", "10.0.0.5-10.0.0.5", "10.0.0.7-10.0.0.9"]
        );
        // Excludes may overlap, nest, touch, and stand over the ends.
        assert_eq!(
            left(
                "10.0.0.0-10.0.0.9",
                &["10.0.0.2-10.0.0.7", "10.0.0.3", "10.0.0.7-10.0.0.8", "9.0.0.0-10.0.0.0"]
            ),
            ["10.0.0.1-10.0.0.1", "10.0.0.9-10.0.0.9"]
        );
        assert!(left("10.0.0.0-10.0.0.9", &["10.0.0.0/8"]).is_empty());
        assert_eq!(left("10.0.0.0-10.0.0.9", &["10.0.0.8-10.0.0.20"]), ["10.0.0.0-10.0.0.7"]);
    }

    #[test]
    fn the_ends_of_the_space_need_no_special_case() {
        assert_eq!(left("::/0", &["::"])[0], "::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        let top = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assert_eq!(left("::/0", &[top]), ["::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"]);
        assert!(left("::/0", &["::/0"]).is_empty());
    }
}
