//! The configured BASes and what is remembered of them.

use std::collections::BTreeMap;

use super::{Memory, Miss, Name};
use crate::address::RangeSet;

/// What the rules of the table have to know of one configured BAS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Who owns what it lists: its `pair`, else itself.
    pub owner: Name,
    /// Its priority; higher wins.
    pub priority: i32,
}

/// All configured BASes with their memories. A BAS without a memory was never tried; a memory
/// without a configured BAS claims nothing.
#[derive(Clone, Copy, Debug)]
pub struct Fleet<'a> {
    /// The configured BASes by name.
    pub members: &'a BTreeMap<Name, Membership>,
    /// What is remembered, by BAS.
    pub memories: &'a BTreeMap<Name, Memory>,
}

impl<'a> Fleet<'a> {
    /// The configured BASes that are remembered.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a Name, &'a Membership, &'a Memory)> {
        let memories = self.memories;
        self.members.iter().filter_map(move |(name, member)| Some((name, member, memories.get(name)?)))
    }

    /// The BASes of each owner.
    pub(super) fn by_owner(self) -> BTreeMap<&'a Name, Vec<&'a Name>> {
        let mut owners: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
        self.members.iter().for_each(|(name, member)| owners.entry(&member.owner).or_default().push(name));
        owners
    }

    /// The addresses of `within` that at least `polls` complete scheduled polls in a row did
    /// not list, of each of the BASes. None where there is no BAS.
    pub(super) fn missed(self, bases: &[&Name], space: &Name, within: &RangeSet, polls: u32) -> RangeSet {
        let mut missed = if bases.is_empty() { RangeSet::new() } else { within.clone() };
        for bas in bases {
            let misses = self.memories.get(*bas).map_or(&[][..], |memory| &memory.misses);
            let enough = |miss: &&Miss| miss.space == *space && miss.polls >= polls;
            let ranges: RangeSet = misses.iter().filter(enough).map(|miss| miss.range).collect::<RangeSet>();
            missed = missed.intersect(&ranges);
        }
        missed
    }
}

/// How much of the fleet was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Progress {
    /// Configured BASes.
    pub configured: usize,
    /// Those that were tried at least once.
    pub tried: usize,
    /// Those that were read completely at least once.
    pub read: usize,
}

impl Progress {
    /// How much of `fleet` was read.
    pub fn of(fleet: Fleet<'_>) -> Self {
        let tried = fleet.iter().filter(|(_, _, memory)| memory.tried).count();
        let read = fleet.iter().filter(|(_, _, memory)| memory.last_complete.is_some()).count();
        Self { configured: fleet.members.len(), tried, read }
    }

    /// Whether the table may be published for the first time: every BAS was tried, and at
    /// least `share` were read. An empty fleet has nothing to publish.
    pub fn is_enough(self, share: Share) -> bool {
        self.configured > 0 && self.tried == self.configured && !share.exceeds(self.read, self.configured)
    }
}

/// A share, in parts per million: counts are compared with it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(u64);

impl Share {
    /// A share of parts per million; more than a million is more than the whole.
    pub const fn from_ppm(ppm: u64) -> Self {
        Self(ppm)
    }

    /// A share in percent.
    pub const fn percent(percent: u32) -> Self {
        Self(percent as u64 * 10_000)
    }

    /// Parts per million.
    pub const fn ppm(self) -> u64 {
        self.0
    }

    /// Whether `part` is more than this share of `whole`.
    pub(super) fn is_passed(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 1_000_000 > u128::from(self.0) * u128::from(whole)
    }

    /// Whether this share of `whole` is more than `part`.
    fn exceeds(self, part: usize, whole: usize) -> bool {
        (part as u128) * 1_000_000 < u128::from(self.0) * (whole as u128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Range;

    fn progress(members: &[(&str, bool, bool)], percent: u32) -> (Progress, bool) {
        let names = members
            .iter()
            .map(|(name, ..)| (Name::from(*name), Membership { owner: (*name).into(), priority: 0 }));
        let memories = members.iter().map(|(name, tried, read)| {
            let last_complete = read.then_some(jiff::Timestamp::UNIX_EPOCH);
            (Name::from(*name), Memory { tried: *tried, last_complete, ..Memory::default() })
        });
        let (names, memories) = (names.collect(), memories.collect());
        let progress = Progress::of(Fleet { members: &names, memories: &memories });
        (progress, progress.is_enough(Share::percent(percent)))
    }

    #[test]
    fn a_fleet_is_read_enough_once_all_were_tried_and_the_share_was_read() {
        let one_missing = [("a", true, true), ("b", true, true), ("c", true, true), ("d", true, false)];
        assert_eq!(progress(&one_missing, 75), (Progress { configured: 4, tried: 4, read: 3 }, true));
        assert!(!progress(&one_missing, 76).1);
        let one_untried = [("a", true, true), ("b", false, false)];
        assert!(!progress(&one_untried, 10).1, "not all were tried");
        assert!(!progress(&[], 0).1, "there is nothing to publish");
    }

    #[test]
    fn shares_are_exact() {
        assert!(!Share::percent(10).is_passed(40, 400));
        assert!(Share::percent(10).is_passed(41, 400));
        assert!(Share::percent(200).is_passed(3, 1));
        assert!(!Share::percent(50).is_passed(u64::MAX / 2, u64::MAX));
    }

    #[test]
    fn an_address_is_missed_when_every_bas_of_the_owner_misses_it() {
        let miss = |range: &str, polls| Miss { space: "s".into(), range: range.parse().unwrap(), polls };
        let memory = |misses: Vec<Miss>| Memory { misses, ..Memory::default() };
        let memories = [
            ("a".into(), memory(vec![miss("10.0.0.0/25", 12), miss("10.0.0.128/25", 3)])),
            ("b".into(), memory(vec![miss("10.0.0.64-10.0.0.255", 20)])),
        ]
        .into();
        let members = BTreeMap::new();
        let fleet = Fleet { members: &members, memories: &memories };
        let (a, b, nobody) = (Name::from("a"), Name::from("b"), Name::from("c"));
        let within = RangeSet::from("10.0.0.0/24".parse::<Range>().unwrap());
        let missed = |bases: &[&Name]| fleet.missed(bases, &"s".into(), &within, 12);
        let set = |range: &str| RangeSet::from(range.parse::<Range>().unwrap());
        assert_eq!(missed(&[&a]), set("10.0.0.0/25"));
        assert_eq!(missed(&[&a, &b]), set("10.0.0.64/26"));
        assert!(missed(&[&a, &nobody]).is_empty());
        assert!(missed(&[]).is_empty());
    }
}
