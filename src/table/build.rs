//! From claims to a table: which claim owns which address.
//!
//! Per address only the highest class stays; then a claim drops out if it contains another
//! remaining claim of at most half its size; then the highest priority wins, then the
//! owner of the previous table and within it the BAS, then BAS name, pool octets, range.
//! Private addresses that two owners claim after class and nesting are nobody's. The order
//! of the claims never matters.
//!
//! The claims are ordered once and swept. Where one claim stands alone, as nearly all do, it
//! becomes an entry as it is; only clusters of overlapping claims are looked at closer.

mod blocks;
mod cluster;
mod conflict;
mod cover;
mod deep;
mod ledger;
mod ordered;
mod shallow;
mod writer;

use std::collections::BTreeMap;

use self::ordered::Ordered;
use self::writer::Writer;
use super::{Claim, Name, PoolName, Table};
use crate::address::Range;

pub use conflict::{Conflict, ConflictClaim, Rule};
pub use ledger::{Claimants, Ledger, Touched};

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
    /// By space: how many addresses an IPv4 pool may gain by being rounded up to the prefix
    /// around it. 0, and a space that is missing: it stays exact.
    pub cover: BTreeMap<Name, u32>,
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
    let mut refused = Vec::new();
    let writer = write(claims, previous, rules, &mut refused);
    refused.sort();
    let exact = Table::from_chunks(writer.entries);
    let table = cover::covered(&exact, &writer.conflicts, rules);
    Built { table, conflicts: writer.conflicts, refused }
}

/// Overlapping claims: a range, the whole of which some claim or other reaches over.
#[derive(Clone, Debug)]
struct Crowd {
    space: Name,
    range: Range,
    /// The BASes whose claims they are, besides static lines.
    bases: Vec<Name>,
}

fn write(claims: Vec<Claim>, previous: &Table, rules: &BuildRules, refused: &mut Vec<Refusal>) -> Writer {
    let mut writer = Writer::default();
    for mut claims in by_space(claims) {
        cut_blocks(&mut claims, rules, refused);
        sweep(claims, previous, &mut writer);
    }
    writer
}

/// The claims of each space, in the order of the spaces' names.
fn by_space(claims: Vec<Claim>) -> Vec<Vec<Claim>> {
    if claims.iter().zip(claims.iter().skip(1)).all(|(a, b)| a.space == b.space) {
        return vec![claims];
    }
    let mut spaces: BTreeMap<Name, Vec<Claim>> = BTreeMap::new();
    for claim in claims {
        match spaces.get_mut(&claim.space) {
            Some(list) => list.push(claim),
            None => drop(spaces.insert(claim.space.clone(), vec![claim])),
        }
    }
    spaces.into_values().collect()
}

/// Takes out what is never published, or not in this space.
fn cut_blocks(claims: &mut Vec<Claim>, rules: &BuildRules, refused: &mut Vec<Refusal>) {
    let policy = claims.first().and_then(|claim| rules.private.get(&claim.space));
    let skip = policy == Some(&PrivateSpace::Skip);
    let mut parts = Vec::new();
    claims.retain(|claim| {
        let plain = blocks::is_plain(claim.range, skip);
        if !plain {
            let left = blocks::publishable(claim, skip, refused);
            parts.extend(left.iter().map(|range| Claim { range: *range, ..claim.clone() }));
        }
        plain
    });
    claims.append(&mut parts);
}

/// Sweeps the claims of one space in order. What is sorted is small: a claim that nobody
/// contests becomes an entry and is not cloned, for a million of them are built.
fn sweep(claims: Vec<Claim>, previous: &Table, writer: &mut Writer) {
    let mut claims = Ordered::new(claims);
    let mut cluster = Vec::new();
    while let Some(first) = claims.next() {
        let Some(second) = claims.next_within(first.range) else {
            writer.take(first);
            continue;
        };
        let mut reached = reach(first.range, second.range);
        cluster.extend([first, second]);
        while let Some(next) = claims.next_within(reached) {
            reached = reach(reached, next.range);
            cluster.push(next);
        }
        if let Some(claim) = cluster.first() {
            let before = previous.overlapping(&claim.space, reached);
            cluster::decide(&cluster, reached, before, writer);
        }
        cluster.clear();
    }
}

/// The range from where the first begins to where either ends.
fn reach(reached: Range, next: Range) -> Range {
    let last = reached.last_bits().max(next.last_bits());
    Range::from_bits(reached.family(), reached.first_bits(), last).unwrap_or(reached)
}

#[cfg(test)]
mod tests;
