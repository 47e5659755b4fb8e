//! What is known, as the shapes have it.

use super::conflict_words::{because, to_do};
use super::shapes::{ConflictClaimShape, ConflictShape, EntryShape, HeldRangeShape, HeldShape};
use crate::address::prefixes;
use crate::table::{Conflict, ConflictClaim, Entry, Hold, Listing, Name};

pub(super) fn some(word: &Name) -> Option<String> {
    (!word.is_empty()).then(|| word.to_string())
}

/// How many addresses the ranges have, in decimal digits: each range for itself.
pub(super) fn addresses(listed: &Listing) -> String {
    let sum = listed.iter().try_fold(0_u128, |sum, one| sum.checked_add(one.range.span())?.checked_add(1));
    sum.map_or_else(|| format!("{}+", u128::MAX), |n| n.to_string())
}

/// A hold, for JSON.
pub(super) fn held_shape(hold: &Hold) -> HeldShape {
    HeldShape {
        id: hold.id,
        digest: hold.digest(),
        bas: hold.owner.to_string(),
        space: hold.space.to_string(),
        family: hold.family.number(),
        kind: word(&hold.kind),
        reason: word(&hold.reason),
        units: hold.units(),
        since: hold.since,
        incident: hold.incident,
        rejected: hold.rejected,
        ranges: hold
            .changes
            .iter()
            .map(|change| HeldRangeShape {
                first: change.range.first().to_string(),
                last: change.range.last().to_string(),
                from: change.from.as_ref().map(ToString::to_string),
                to: change.to.as_ref().map(ToString::to_string),
            })
            .collect(),
    }
}

pub(super) fn conflict_shape(conflict: &Conflict) -> ConflictShape {
    let claim = |claim: &ConflictClaim| ConflictClaimShape {
        owner: claim.owner.to_string(),
        bas: claim.bas.as_ref().map(ToString::to_string),
        pool: claim.pool.text().to_owned(),
        pool_hex: claim.pool.hex(),
        class: word(&claim.class),
    };
    ConflictShape {
        space: conflict.space.to_string(),
        family: conflict.range.family().number(),
        first: conflict.range.first().to_string(),
        last: conflict.range.last().to_string(),
        owner: conflict.owner.as_ref().map(ToString::to_string),
        rule: word(&conflict.rule),
        claims: conflict.claims.iter().map(claim).collect(),
        more: conflict.more,
        because: because(conflict).to_owned(),
        to_do: to_do(conflict),
    }
}

/// The stable word of an enum that serialises to one.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(super) fn entry_shape(entry: &Entry, group: &str) -> EntryShape {
    EntryShape {
        space: entry.space.to_string(),
        family: entry.range.family().number(),
        first: entry.range.first().to_string(),
        last: entry.range.last().to_string(),
        prefixes: prefixes(entry.range).map(|p| p.to_string()).collect(),
        bas: entry.bas.as_ref().map(ToString::to_string),
        pool: entry.pool.text().to_owned(),
        pool_hex: entry.pool.hex(),
        vrf: entry.vrf.to_string(),
        group: group.to_owned(),
        origin: word(&entry.origin()),
    }
}
