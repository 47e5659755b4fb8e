//! One cluster of overlapping claims: cut where anything that matters changes, and decided
//! once per stretch between two cuts.

use std::collections::{BTreeMap, BTreeSet};

use super::deep::Deep;
use super::shallow::Shallow;
use super::writer::{Overlap, Writer};
use super::{Conflict, Rule, blocks};
use crate::address::{Family, Range};
use crate::table::{Claim, Class, Entries, Entry, Name, PoolName};

/// Up to this many claims are compared with each other; more go through sorted sets, which
/// cost more to keep but do not become quadratic.
const SHALLOW: usize = 24;

/// A claim in the cluster. Its place in the list of members is its rank by BAS name, pool
/// octets and range, the last of the rules; names are compared by number from here on.
pub(super) struct Member<'a> {
    pub(super) claim: &'a Claim,
    pub(super) owner: u32,
    pub(super) bas: u32,
    pool: u32,
}

impl Member<'_> {
    /// Whether this claim makes another one of its class drop out: it lies within it and is at
    /// most half its size.
    pub(super) fn drops(&self, other: &Self) -> bool {
        let (mine, its) = (self.claim.whole, other.claim.whole);
        half(its).is_some_and(|limit| mine.span() <= limit) && its.covers(mine)
    }
}

/// The largest span (addresses less one) that is at most half of a range.
pub(super) fn half(range: Range) -> Option<u128> {
    range.span().checked_sub(1).map(|less| less / 2)
}

/// What stretches of one cluster differ in, besides the claims.
#[derive(Clone, Copy, Default)]
pub(super) struct Ground {
    /// Who had the addresses before, by the cluster's numbers.
    pub(super) owner: Option<u32>,
    pub(super) bas: Option<u32>,
    /// Whether they are private.
    pub(super) private: bool,
    /// Whether claims of more than one owner hold, of whatever class.
    pub(super) owners_differ: bool,
}

/// Who gets the addresses, and by which rule.
pub(super) struct Verdict {
    pub(super) winner: Option<usize>,
    pub(super) rule: Rule,
}

/// What a contest found out about the winner and its rivals of the same class.
pub(super) struct Rivals<'a, 'b> {
    pub(super) winner: usize,
    pub(super) by: &'a Member<'b>,
    /// The strongest remaining claim of another owner.
    pub(super) other_owner: Option<&'a Member<'b>>,
    /// Whether any other claim remains.
    pub(super) others_remain: bool,
    /// Whether there was a claim of another owner, before nesting.
    pub(super) other_owner_before: bool,
    /// Whether there was any other claim, before nesting.
    pub(super) others_before: bool,
}

impl Rivals<'_, '_> {
    /// The last rules: private space, priority, previous owner, name. Where no other owner's
    /// claim is left, an earlier rule has decided.
    pub(super) fn verdict(&self, ground: Ground) -> Verdict {
        let (nested, remain) = if ground.owners_differ {
            (self.other_owner_before, false)
        } else {
            (self.others_before, self.others_remain)
        };
        let rule = match self.other_owner {
            Some(_) if ground.private && self.by.claim.class != Class::Override => {
                return Verdict { winner: None, rule: Rule::Private };
            }
            Some(other) if other.claim.priority < self.by.claim.priority => Rule::Priority,
            Some(_) if ground.owner == Some(self.by.owner) => Rule::Previous,
            Some(_) => Rule::Name,
            None if remain => Rule::Name,
            None if nested => Rule::Nested,
            None => Rule::Class,
        };
        Verdict { winner: Some(self.winner), rule }
    }
}

/// The claims that hold at one point of the sweep.
pub(super) trait Contest {
    fn enter(&mut self, member: usize);
    fn leave(&mut self, member: usize);
    /// Nothing where no claim holds.
    fn verdict(&mut self, ground: Ground) -> Option<Verdict>;
    /// The claims that hold: best class first, then by rank.
    fn holding(&self) -> impl ExactSizeIterator<Item = usize>;
}

/// Decides a cluster, which reaches over a range, and writes what comes out.
pub(super) fn decide(claims: &[Claim], reached: Range, before: Entries<'_>, writer: &mut Writer) {
    let (members, names) = members(claims);
    writer.begin_cluster(claims, reached);
    if members.len() <= SHALLOW {
        sweep(&members, &names, before, Shallow::new(&members), writer);
    } else {
        sweep(&members, &names, before, Deep::new(&members), writer);
    }
}

#[derive(Default)]
struct Names<'a> {
    owners: BTreeMap<&'a Name, u32>,
    bases: BTreeMap<&'a Name, u32>,
}

impl Names<'_> {
    /// Who had the addresses before.
    fn ground(&self, had: Option<&Entry>) -> Ground {
        let bas = |entry: &Entry| self.bases.get(bas_of(entry.bas.as_ref(), &entry.owner)).copied();
        let owner = |entry: &Entry| self.owners.get(&entry.owner).copied();
        Ground { owner: had.and_then(owner), bas: had.and_then(bas), ..Ground::default() }
    }
}

/// The name that stands for the BAS in the order of the rules.
fn bas_of<'a>(bas: Option<&'a Name>, owner: &'a Name) -> &'a Name {
    bas.unwrap_or(owner)
}

fn members(claims: &[Claim]) -> (Vec<Member<'_>>, Names<'_>) {
    let mut named: Vec<&Claim> = claims.iter().collect();
    named.sort_unstable_by_key(|c| {
        let bas = bas_of(c.bas.as_ref(), &c.owner);
        (bas, &c.pool, c.whole, &c.vrf, &c.owner, c.class, c.priority, c.range)
    });
    let mut names = Names::default();
    let mut pools: BTreeMap<(&Name, &PoolName, &Name), u32> = BTreeMap::new();
    let members = named.into_iter().map(|claim| {
        let bas = bas_of(claim.bas.as_ref(), &claim.owner);
        let next = pools.len() as u32;
        let pool = *pools.entry((bas, &claim.pool, &claim.vrf)).or_insert(next);
        let next = names.owners.len() as u32;
        let owner = *names.owners.entry(&claim.owner).or_insert(next);
        let next = names.bases.len() as u32;
        let bas = *names.bases.entry(bas).or_insert(next);
        Member { claim, owner, bas, pool }
    });
    (members.collect(), names)
}

fn sweep(
    members: &[Member<'_>],
    names: &Names<'_>,
    before: Entries<'_>,
    mut contest: impl Contest,
    writer: &mut Writer,
) {
    let Some(family) = members.first().map(|member| member.claim.range.family()) else { return };
    let claims: Vec<&Claim> = members.iter().map(|member| member.claim).collect();
    let mut moves = Moves::new(members);
    let mut previous = before.iter().peekable();
    let mut tally = Tally::default();
    for range in stretches(family, members, before) {
        moves.leaving(range, |place| {
            contest.leave(place);
            members.get(place).into_iter().for_each(|member| tally.leave(member));
        });
        moves.entering(range, |place| {
            contest.enter(place);
            members.get(place).into_iter().for_each(|member| tally.enter(member));
        });
        while previous.next_if(|entry| entry.range.last_bits() < range.first_bits()).is_some() {}
        let had = previous.peek().filter(|entry| entry.range.covers(range));
        let ground = Ground {
            private: blocks::is_private(family, range.first_bits()),
            owners_differ: tally.owners.len() > 1,
            ..names.ground(had.copied())
        };
        let Some(verdict) = contest.verdict(ground) else { continue };
        verdict.winner.and_then(|w| claims.get(w)).into_iter().for_each(|claim| writer.extend(claim, range));
        if tally.is_conflict() {
            let holding = contest.holding();
            let more = holding.len().saturating_sub(Conflict::SHOWN);
            let shown = holding.take(Conflict::SHOWN).collect();
            let (winner, rule) = (verdict.winner, verdict.rule);
            writer.overlap(&claims, range, Overlap { winner, rule, shown, more });
        }
    }
}

/// The cluster's addresses, cut wherever a claim, a previous entry or a private block begins
/// or ends.
fn stretches(family: Family, members: &[Member<'_>], before: Entries<'_>) -> Vec<Range> {
    let first = members.iter().map(|member| member.claim.range.first_bits()).min().unwrap_or_default();
    let last = members.iter().map(|member| member.claim.range.last_bits()).max().unwrap_or_default();
    let mut cuts = vec![first];
    let mut cut = |begin: u128, end: u128| {
        cuts.extend(
            [Some(begin), end.checked_add(1)].into_iter().flatten().filter(|c| first < *c && *c <= last),
        );
    };
    let ranges =
        members.iter().map(|member| member.claim.range).chain(before.iter().map(|entry| entry.range));
    ranges.for_each(|range| cut(range.first_bits(), range.last_bits()));
    blocks::private(family).iter().for_each(|(begin, end)| cut(*begin, *end));
    cuts.sort_unstable();
    cuts.dedup();
    let ends = cuts.iter().skip(1).map(|next| next - 1).chain([last]);
    cuts.iter().zip(ends).filter_map(|(begin, end)| Range::from_bits(family, *begin, end)).collect()
}

/// Who enters and leaves as the sweep goes on.
struct Moves {
    /// Places and first addresses, the first to enter at the end.
    to_enter: Vec<(u128, usize)>,
    /// Places and last addresses, the first to leave at the end.
    to_leave: Vec<(u128, usize)>,
}

impl Moves {
    fn new(members: &[Member<'_>]) -> Self {
        let listed = |of: fn(&Member<'_>) -> u128| {
            let mut list: Vec<_> = members.iter().enumerate().map(|(place, m)| (of(m), place)).collect();
            list.sort_unstable_by(|a, b| b.cmp(a));
            list
        };
        Self {
            to_enter: listed(|m| m.claim.range.first_bits()),
            to_leave: listed(|m| m.claim.range.last_bits()),
        }
    }

    fn leaving(&mut self, at: Range, mut leave: impl FnMut(usize)) {
        while let Some((_, place)) = self.to_leave.pop_if(|(last, _)| *last < at.first_bits()) {
            leave(place);
        }
    }

    fn entering(&mut self, at: Range, mut enter: impl FnMut(usize)) {
        while let Some((_, place)) = self.to_enter.pop_if(|(first, _)| *first <= at.first_bits()) {
            enter(place);
        }
    }
}

/// Counts what holds, to tell a conflict (two owners, or two pools of one router) from a pair
/// or a static line that say the same.
#[derive(Default)]
struct Tally {
    owners: BTreeMap<u32, u32>,
    /// Claims of a pool of a router.
    pools: BTreeMap<(u32, u32), u32>,
    /// Routers with more than one pool here.
    doubled: BTreeSet<u32>,
}

impl Tally {
    fn enter(&mut self, member: &Member<'_>) {
        *self.owners.entry(member.owner).or_default() += 1;
        if member.claim.class.is_polled() {
            *self.pools.entry((member.bas, member.pool)).or_default() += 1;
            self.count_pools(member.bas);
        }
    }

    fn leave(&mut self, member: &Member<'_>) {
        less(&mut self.owners, member.owner);
        if member.claim.class.is_polled() {
            less(&mut self.pools, (member.bas, member.pool));
            self.count_pools(member.bas);
        }
    }

    fn count_pools(&mut self, bas: u32) {
        if self.pools.range((bas, 0)..=(bas, u32::MAX)).nth(1).is_some() {
            self.doubled.insert(bas);
        } else {
            self.doubled.remove(&bas);
        }
    }

    fn is_conflict(&self) -> bool {
        self.owners.len() > 1 || !self.doubled.is_empty()
    }
}

pub(super) fn less<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}
