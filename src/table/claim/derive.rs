//! What all BASes and static lines claim, and how good each claim is.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::stale::{Stale, Staleness};
use super::{Claim, Class};
use crate::address::{Family, Range, RangeSet};
use crate::table::overlaps::Overlaps;
use crate::table::{Claimants, Fleet, ListedRef, Membership, Memory, Name, PoolName, Refusal, RefusalReason};

/// The largest range that one row may claim, as prefix lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxRange {
    /// In IPv4.
    pub v4: u8,
    /// In IPv6.
    pub v6: u8,
}

impl Default for MaxRange {
    fn default() -> Self {
        Self { v4: 8, v6: 20 }
    }
}

impl MaxRange {
    fn allows(self, range: Range) -> bool {
        let length = match range.family() {
            Family::V4 => self.v4,
            Family::V6 => self.v6,
        };
        let host_bits = range.family().width().saturating_sub(length);
        1u128.checked_shl(host_bits.into()).is_none_or(|addresses| range.span() < addresses)
    }
}

/// What deriving claims has to know of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimSettings {
    /// After how long without a complete read a table may be stale.
    pub after: SignedDuration,
    /// After how long without one anybody may take its addresses.
    pub takeover: SignedDuration,
    /// The largest range that a row may claim.
    pub max_range: MaxRange,
}

impl Default for ClaimSettings {
    fn default() -> Self {
        Self {
            after: SignedDuration::from_mins(30),
            takeover: SignedDuration::from_hours(6),
            max_range: MaxRange::default(),
        }
    }
}

/// Whether a static line gives way to routers or goes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StaticMode {
    /// It gives way to every router.
    Fill,
    /// It goes before every router.
    Override,
}

/// One static line of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticLine {
    /// The space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Who owns them: the named BAS's owner, or the named edges
    /// (see [`static_owner`](crate::table::static_owner)).
    pub owner: Name,
    /// The BAS that it names; none where it names edges.
    pub bas: Option<Name>,
    /// Whether it gives way.
    pub mode: StaticMode,
}

/// All claims, and what is to be told about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// The claims, in no particular order.
    pub claims: Vec<Claim>,
    /// The rows that claim too much, and so nothing.
    pub refused: Vec<Refusal>,
    /// The stale tables.
    pub stale: Vec<Stale>,
}

/// Derives the claims of a fleet and of static lines. Touching ranges of one pool are one
/// claim; rows whose VRF is in no space claim nothing.
pub fn claims(fleet: Fleet<'_>, lines: &[StaticLine], settings: &ClaimSettings, now: Timestamp) -> Claimed {
    let staleness = Staleness::new(fleet, *settings, now);
    let mut claimed = Claimed::default();
    for (bas, member, memory) in fleet.iter() {
        let stale = staleness.of(bas, memory);
        let router = Router { bas, member, staleness: &staleness, stale: by_table(&stale) };
        router.claim(memory, settings.max_range, &mut claimed);
        claimed.stale.extend(stale);
    }
    claimed.claims.extend(lines.iter().map(static_claim));
    claimed
}

/// The static lines of a configuration, to be found by address.
#[derive(Clone, Debug, Default)]
pub struct StaticLines {
    lines: Vec<StaticLine>,
    by_space: BTreeMap<Name, Overlaps<usize>>,
}

impl StaticLines {
    /// Sorts lines.
    pub fn new(lines: Vec<StaticLine>) -> Self {
        let mut ranges: BTreeMap<Name, Vec<(Range, usize)>> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            ranges.entry(line.space.clone()).or_default().push((line.range, place));
        }
        let by_space = ranges.into_iter().map(|(space, ranges)| (space, Overlaps::new(ranges))).collect();
        Self { lines, by_space }
    }

    /// The lines, as they were given.
    pub fn lines(&self) -> &[StaticLine] {
        &self.lines
    }
}

/// A fleet and static lines, asked what they claim at one moment.
pub struct FleetClaims<'a> {
    fleet: Fleet<'a>,
    lines: &'a StaticLines,
    settings: &'a ClaimSettings,
    now: Timestamp,
    staleness: Staleness<'a>,
}

impl<'a> FleetClaims<'a> {
    /// What a fleet and static lines claim now.
    pub fn new(
        fleet: Fleet<'a>,
        lines: &'a StaticLines,
        settings: &'a ClaimSettings,
        now: Timestamp,
    ) -> Self {
        Self { fleet, lines, settings, now, staleness: Staleness::new(fleet, *settings, now) }
    }

    /// Adds what a BAS claims, and what is to be told about it.
    pub(crate) fn claim(&self, bas: &Name, claimed: &mut Claimed) {
        if let (Some(member), Some(memory)) = (self.fleet.members.get(bas), self.fleet.memories.get(bas)) {
            let stale = self.staleness.of(bas, memory);
            let router = Router { bas, member, staleness: &self.staleness, stale: by_table(&stale) };
            router.claim(memory, self.settings.max_range, claimed);
            claimed.stale.extend(stale);
        }
    }

    /// The BASes of which a table is stale: what they claim may change by the clock alone, and
    /// by what others list.
    pub fn stale(&self) -> impl Iterator<Item = &'a Name> {
        let stale = |memory: &Memory| {
            memory.tables.values().any(|table| table.is_stale(self.now, self.settings.after))
        };
        self.fleet.iter().filter(move |(_, _, memory)| stale(memory)).map(|(bas, ..)| bas)
    }
}

impl Claimants for FleetClaims<'_> {
    fn all(&self) -> Vec<Claim> {
        claims(self.fleet, &self.lines.lines, self.settings, self.now).claims
    }

    fn of_bas(&self, bas: &Name) -> Vec<Claim> {
        let mut claimed = Claimed::default();
        self.claim(bas, &mut claimed);
        claimed.claims
    }

    fn of_lines(&self, space: &Name, range: Range) -> Vec<Claim> {
        let found = self.lines.by_space.get(space).into_iter().flat_map(|lines| lines.of(range));
        found.filter_map(|(_, place)| self.lines.lines.get(*place)).map(static_claim).collect()
    }
}

fn by_table(stale: &[Stale]) -> BTreeMap<Name, Stale> {
    stale.iter().map(|stale| (stale.table.clone(), stale.clone())).collect()
}

fn static_claim(line: &StaticLine) -> Claim {
    Claim {
        space: line.space.clone(),
        range: line.range,
        whole: line.range,
        owner: line.owner.clone(),
        bas: line.bas.clone(),
        pool: PoolName::new(b""),
        vrf: Name::default(),
        priority: 0,
        class: match line.mode {
            StaticMode::Fill => Class::Fill,
            StaticMode::Override => Class::Override,
        },
    }
}

/// One BAS while its rows become claims.
struct Router<'a> {
    bas: &'a Name,
    member: &'a Membership,
    staleness: &'a Staleness<'a>,
    stale: BTreeMap<Name, Stale>,
}

/// A row in a space.
type Row<'a> = (&'a Name, ListedRef<'a>);

impl Router<'_> {
    fn claim(&self, memory: &Memory, max: MaxRange, claimed: &mut Claimed) {
        let in_space = memory.listed.iter().filter_map(|row| Some((row.space?, row)));
        let (mut rows, refused): (Vec<Row<'_>>, Vec<Row<'_>>) =
            in_space.partition(|(_, row)| max.allows(row.range));
        claimed.refused.extend(refused.into_iter().map(|(space, row)| Refusal {
            space: space.clone(),
            range: row.range,
            bas: Some(self.bas.clone()),
            pool: row.pool.clone(),
            reason: RefusalReason::TooLarge,
        }));
        rows.sort_unstable_by(|(s, a), (t, b)| (s, a.vrf, a.pool, a.range).cmp(&(t, b.vrf, b.pool, b.range)));
        let same = |(s, a): &Row<'_>, (t, b): &Row<'_>| s == t && a.vrf == b.vrf && a.pool == b.pool;
        rows.chunk_by(same).for_each(|pool| self.claim_pool(pool, &mut claimed.claims));
    }

    /// The claims of one pool: one per range, or more where a part of it is only kept.
    fn claim_pool(&self, rows: &[Row<'_>], claims: &mut Vec<Claim>) {
        let whole: RangeSet = rows.iter().map(|(_, row)| row.range).collect();
        let fresh = if self.stale.is_empty() { whole.clone() } else { self.fresh(rows) };
        let kept = whole.subtract(&fresh);
        let Some((space, row)) = rows.first() else { return };
        for range in &whole {
            let parts = fresh.within(*range).map(|part| (part, Class::Fresh));
            let parts = parts.chain(kept.within(*range).map(|part| (part, Class::Kept)));
            claims.extend(parts.map(|(part, class)| Claim {
                space: (*space).clone(),
                range: part,
                whole: *range,
                owner: self.member.owner.clone(),
                bas: Some(self.bas.clone()),
                pool: row.pool.clone(),
                vrf: row.vrf.clone(),
                priority: self.member.priority,
                class,
            }));
        }
    }

    /// What of a pool nobody took: its addresses in tables that are not stale, and in stale
    /// ones those that are not only kept.
    fn fresh(&self, rows: &[Row<'_>]) -> RangeSet {
        let of_row = |(space, row): &Row<'_>| match self.stale.get(row.table) {
            None => RangeSet::from(row.range),
            Some(stale) => {
                let kept = self.staleness.kept(stale, &self.member.owner, space, row.range);
                RangeSet::from(row.range).subtract(&kept)
            }
        };
        rows.iter().flat_map(of_row).collect()
    }
}

#[cfg(test)]
mod tests;
