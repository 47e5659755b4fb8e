//! The slow, obviously right way: every address by itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::address::{Family, Range};
use crate::table::{BuildRules, Claim, Class, Conflict, Name, PoolName, PrivateSpace, Rule, Table};

/// Where the random claims lie: 64 addresses across a border of private space, of a block
/// that is never published, and of private IPv6 space.
pub(super) const GROUNDS: [(Family, u128); 3] =
    [(Family::V4, 0x0a00_0000 - 32), (Family::V4, 0x7f00_0000 - 32), (Family::V6, (0xfe00 << 112) - 32)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) owner: Name,
    pub(super) bas: Option<Name>,
    pub(super) pool: PoolName,
    pub(super) vrf: Name,
    pub(super) static_line: Option<Class>,
}

pub(super) type SlowTable = BTreeMap<(Name, Family, u128), Owned>;
/// By address: owner, rule, and who claims (owner, BAS, pool octets, class).
pub(super) type SlowConflicts =
    BTreeMap<(Name, Family, u128), (Option<Name>, Rule, BTreeSet<(Name, Option<Name>, Vec<u8>, Class)>)>;

pub(super) fn expand(table: &Table) -> SlowTable {
    let mut all = SlowTable::new();
    for e in table.entries() {
        for address in e.range.first_bits()..=e.range.last_bits() {
            let line = (e.class == Class::Fill || e.class == Class::Override).then_some(e.class);
            let owned = Owned {
                owner: e.owner.clone(),
                bas: e.bas.clone(),
                pool: e.pool.clone(),
                vrf: e.vrf.clone(),
                static_line: line,
            };
            assert!(all.insert((e.space.clone(), e.range.family(), address), owned).is_none());
        }
    }
    all
}

pub(super) fn slow_private(family: Family, address: u128) -> bool {
    match family {
        Family::V4 => ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"]
            .iter()
            .any(|block| block.parse::<Range>().unwrap().contains(family.address(address))),
        Family::V6 => "fc00::/7".parse::<Range>().unwrap().contains(family.address(address)),
    }
}

pub(super) fn slow_best<'a>(claims: &[&'a Claim]) -> Vec<&'a Claim> {
    let top = claims.iter().map(|c| c.class).max();
    claims.iter().copied().filter(|c| Some(c.class) == top).collect()
}

pub(super) fn slow_left<'a>(best: &[&'a Claim]) -> Vec<&'a Claim> {
    let drops =
        |c: &Claim, d: &Claim| c.whole.covers(d.whole) && 2 * (d.whole.span() + 1) <= c.whole.span() + 1;
    best.iter().copied().filter(|c| !best.iter().any(|d| drops(c, d))).collect()
}

/// The first rule behind which no claim of another owner (or no other claim, where all are
/// of one owner) stands beside the winner.
pub(super) fn slow_rule(claims: &[&Claim], winner: Option<&Claim>, before: Option<&Owned>) -> Rule {
    let Some(winner) = winner else { return Rule::Private };
    let several = claims.iter().any(|c| c.owner != winner.owner);
    let is_other = |c: &&Claim| if several { c.owner != winner.owner } else { !std::ptr::eq(*c, winner) };
    let best = slow_best(claims);
    let left: Vec<_> = slow_left(&best).into_iter().filter(is_other).collect();
    if !best.iter().any(is_other) {
        Rule::Class
    } else if left.is_empty() {
        Rule::Nested
    } else if several && left.iter().all(|c| c.priority < winner.priority) {
        Rule::Priority
    } else if several && before.is_some_and(|b| b.owner == winner.owner) {
        Rule::Previous
    } else {
        Rule::Name
    }
}

pub(super) fn slow_decide<'a>(
    claims: &[&'a Claim],
    before: Option<&Owned>,
    private: bool,
) -> Option<&'a Claim> {
    let name = |bas: &Option<Name>, owner: &Name| bas.clone().unwrap_or(owner.clone());
    let top = claims.iter().map(|c| c.class).max()?;
    let left = slow_left(&slow_best(claims));
    let owners: BTreeSet<_> = left.iter().map(|c| &c.owner).collect();
    if private && top < Class::Override && owners.len() > 1 {
        return None;
    }
    let mut sorted = left;
    sorted.sort_by_key(|c| {
        (
            -i64::from(c.priority),
            before.is_none_or(|b| b.owner != c.owner),
            before.is_none_or(|b| name(&b.bas, &b.owner) != name(&c.bas, &c.owner)),
            name(&c.bas, &c.owner),
            c.pool.raw().to_vec(),
            c.whole.first_bits(),
            c.whole.last_bits(),
            c.vrf.clone(),
            c.owner.clone(),
        )
    });
    sorted.first().copied()
}

pub(super) fn slow(claims: &[Claim], previous: &Table, rules: &BuildRules) -> (SlowTable, SlowConflicts) {
    let before = expand(previous);
    let (mut table, mut conflicts) = (SlowTable::new(), SlowConflicts::new());
    for space in ["internet", "iptv"].map(Name::from) {
        for (family, base) in GROUNDS {
            for address in base..base + 64 {
                let never = family == Family::V4 && address >> 24 == 0x7f;
                let private = slow_private(family, address);
                let skip = private && rules.private.get(&space) == Some(&PrivateSpace::Skip);
                let here: Vec<&Claim> = claims
                    .iter()
                    .filter(|c| c.space == space && c.range.contains(family.address(address)))
                    .filter(|c| !(never || skip && c.class != Class::Override))
                    .collect();
                let key = (space.clone(), family, address);
                let winner = slow_decide(&here, before.get(&key), private);
                if let Some(c) = winner {
                    let line = matches!(c.class, Class::Fill | Class::Override).then_some(c.class);
                    let owned = Owned {
                        owner: c.owner.clone(),
                        bas: c.bas.clone(),
                        pool: c.pool.clone(),
                        vrf: c.vrf.clone(),
                        static_line: line,
                    };
                    table.insert(key.clone(), owned);
                }
                let owners: BTreeSet<_> = here.iter().map(|c| &c.owner).collect();
                let two_pools = here.iter().any(|c| {
                    here.iter().any(|d| {
                        c.class.is_polled()
                            && d.class.is_polled()
                            && c.bas == d.bas
                            && (&c.pool, &c.vrf) != (&d.pool, &d.vrf)
                    })
                });
                if owners.len() > 1 || two_pools {
                    let told = here
                        .iter()
                        .map(|c| (c.owner.clone(), c.bas.clone(), c.pool.raw().to_vec(), c.class))
                        .collect();
                    let rule = slow_rule(&here, winner, before.get(&key));
                    conflicts.insert(key, (winner.map(|c| c.owner.clone()), rule, told));
                }
            }
        }
    }
    (table, conflicts)
}

pub(super) fn expand_conflicts(conflicts: &[Conflict]) -> SlowConflicts {
    let mut all = SlowConflicts::new();
    for c in conflicts {
        for address in c.range.first_bits()..=c.range.last_bits() {
            let told = c
                .claims
                .iter()
                .map(|c| (c.owner.clone(), c.bas.clone(), c.pool.raw().to_vec(), c.class))
                .collect();
            let key = (c.space.clone(), c.range.family(), address);
            assert!(all.insert(key, (c.owner.clone(), c.rule, told)).is_none());
        }
    }
    all
}
