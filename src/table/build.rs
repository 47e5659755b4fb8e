//! From claims to a table: which claim owns which address.
//!
//! Per address only the highest class stays; then a claim drops out if it contains another
//! remaining claim of at most half its size; then the highest priority wins, then the
//! owner of the previous table and within it the BAS, then BAS name, pool octets, range.
//! Private addresses that two owners claim after class and nesting are nobody's. The order
//! of the claims never matters.
//!
//! The claims are sorted once and swept. Where one claim stands alone, as nearly all do, it
//! becomes an entry as it is; only clusters of overlapping claims are looked at closer.

mod blocks;
mod cluster;
mod conflict;
mod deep;
mod shallow;
mod writer;

use std::collections::BTreeMap;

use self::writer::Writer;
use super::{Claim, Entry, Name, PoolName, Table};
use crate::address::{Family, Range};

pub use conflict::{Conflict, ConflictClaim, Rule};

/// What a space does with private and shared addresses (10/8, 172.16/12, 192.168/16,
/// 100.64/10, fc00::/7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrivateSpace {
    /// They are published, where no two owners claim them.
    #[default]
    Publish,
    /// They are left out, unless a static line overrides.
    Skip,
}

/// What the build has to know of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildRules {
    /// By space; a space that is missing publishes.
    pub private: BTreeMap<Name, PrivateSpace>,
}

/// Why a range that is claimed enters no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalReason {
    /// It is larger than `max-range`.
    TooLarge,
    /// It lies in a block that is never published: this network, loopback, link-local,
    /// multicast, reserved.
    NeverPublished,
    /// It is private and its space leaves such addresses out.
    PrivateSkipped,
}

/// A claimed range that enters no table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The space.
    pub space: Name,
    /// The addresses that are left out.
    pub range: Range,
    /// The BAS that lists them; none for a static line that names edges.
    pub bas: Option<Name>,
    /// The pool on that BAS.
    pub pool: PoolName,
    /// Why.
    pub reason: RefusalReason,
}

/// What a build gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// The table, neighbours of one owner, BAS, pool, VRF and kind merged.
    pub table: Table,
    /// Every overlap of claims, by space, family and first address.
    pub conflicts: Vec<Conflict>,
    /// What was claimed and left out, sorted.
    pub refused: Vec<Refusal>,
}

/// Builds the table out of all claims. `previous` is the table as it is published or held,
/// so that an owner keeps what it has where nothing else decides.
pub fn build(claims: Vec<Claim>, previous: &Table, rules: &BuildRules) -> Built {
    let spaces = spaces_of(&claims);
    let mut refused = Vec::new();
    let mut keys = keys(&claims, &spaces, rules, &mut refused);
    keys.sort_unstable_by_key(|key| (key.group, key.first));
    refused.sort();
    let mut claims: Vec<Option<Claim>> = claims.into_iter().map(Some).collect();
    let mut writer = Writer::new(keys.len());
    for group in keys.chunk_by(|a, b| a.group == b.group) {
        sweep(group, &spaces, &mut claims, previous, &mut writer);
    }
    let (table, conflicts) = writer.finish();
    Built { table, conflicts, refused }
}

/// One part of one claim, in the order of the sweep.
struct Key {
    /// Rank of the space, and the family.
    group: (u32, Family),
    first: u128,
    last: u128,
    claim: usize,
    /// Whether the claim has other parts.
    cut: bool,
}

fn spaces_of(claims: &[Claim]) -> Vec<Name> {
    let mut spaces: Vec<Name> = Vec::new();
    for claim in claims {
        if spaces.last() != Some(&claim.space) && !spaces.contains(&claim.space) {
            spaces.push(claim.space.clone());
        }
    }
    spaces.sort();
    spaces
}

fn keys(claims: &[Claim], spaces: &[Name], rules: &BuildRules, refused: &mut Vec<Refusal>) -> Vec<Key> {
    let skips: Vec<bool> =
        spaces.iter().map(|space| rules.private.get(space) == Some(&PrivateSpace::Skip)).collect();
    let mut keys = Vec::with_capacity(claims.len());
    let mut rank = 0;
    for (index, claim) in claims.iter().enumerate() {
        if spaces.get(rank) != Some(&claim.space) {
            rank = spaces.partition_point(|space| *space < claim.space);
        }
        let skip = skips.get(rank).copied().unwrap_or_default();
        let group = (rank as u32, claim.range.family());
        let mut push = |range: Range, cut| {
            keys.push(Key { group, first: range.first_bits(), last: range.last_bits(), claim: index, cut });
        };
        if blocks::is_plain(claim.range, skip) {
            push(claim.range, false);
        } else {
            blocks::publishable(claim, skip, refused).iter().for_each(|range| push(*range, true));
        }
    }
    keys
}

/// Sweeps the claims of one space and family.
fn sweep(keys: &[Key], spaces: &[Name], claims: &mut [Option<Claim>], previous: &Table, writer: &mut Writer) {
    let Some((space, family)) =
        keys.first().and_then(|key| Some((spaces.get(key.group.0 as usize)?, key.group.1)))
    else {
        return;
    };
    let before = previous.of(space, family);
    let mut rest = keys;
    while let Some((first, _)) = rest.split_first() {
        let (cluster, behind) = rest.split_at(cluster_length(rest));
        rest = behind;
        match (cluster, claims.get_mut(first.claim)) {
            ([alone], Some(slot)) => alone_into(alone, family, slot, writer),
            _ => cluster::decide(cluster, claims, overlapping(before, cluster), writer),
        }
    }
}

/// How many keys overlap the first one, directly or through others.
fn cluster_length(keys: &[Key]) -> usize {
    let mut reached = None;
    keys.iter()
        .take_while(|key| {
            let joins = reached.is_none_or(|last| key.first <= last);
            reached = reached.max(Some(key.last));
            joins
        })
        .count()
}

/// A claim that nobody contests. It is moved, not cloned: a million of them are built.
fn alone_into(key: &Key, family: Family, slot: &mut Option<Claim>, writer: &mut Writer) {
    let Some(range) = Range::from_bits(family, key.first, key.last) else { return };
    if key.cut {
        slot.iter().for_each(|claim| writer.extend(claim, range));
    } else {
        slot.take().into_iter().for_each(|claim| writer.take(claim));
    }
}

/// The previous entries that a cluster overlaps.
fn overlapping<'a>(before: &'a [Entry], cluster: &[Key]) -> &'a [Entry] {
    let first = cluster.first().map_or(0, |key| key.first);
    let last = cluster.iter().map(|key| key.last).max().unwrap_or(first);
    let from = before.partition_point(|entry| entry.range.last_bits() < first);
    let to = before.partition_point(|entry| entry.range.first_bits() <= last);
    before.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests;
