//! A contest of many claims: sorted sets instead of comparing each with each.
//!
//! A claim that is found to contain another one of at most half its size is put to sleep
//! until that one ends, and is not looked at meanwhile.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::cluster::{Contest, Ground, Member, Rivals, Verdict, half};
use crate::table::Class;

pub(super) struct Deep<'a, 'b> {
    members: &'a [Member<'b>],
    layers: BTreeMap<Reverse<Class>, Layer>,
    /// Best class first, then by rank.
    holding: BTreeSet<(Reverse<Class>, usize)>,
    /// By claim: those that it lets sleep.
    sleepers: BTreeMap<usize, Vec<usize>>,
    /// By sleeping claim: the one that it waits for.
    sleeping: BTreeMap<usize, usize>,
}

/// The claims of one class: all by size, and those awake in the orders that the rules ask
/// for. Highest priority first in each.
#[derive(Default)]
struct Layer {
    by_size: BTreeSet<(u128, usize)>,
    owners: BTreeMap<u32, u32>,
    by_rank: BTreeSet<(Reverse<i32>, usize)>,
    by_owner: BTreeSet<ByOwner>,
    by_bas: BTreeSet<(Reverse<i32>, u32, usize)>,
}

/// Priority, owner, BAS, rank.
type ByOwner = (Reverse<i32>, u32, u32, usize);

impl Layer {
    fn wake(&mut self, place: usize, member: &Member<'_>) {
        let priority = Reverse(member.claim.priority);
        self.by_rank.insert((priority, place));
        self.by_owner.insert((priority, member.owner, member.bas, place));
        self.by_bas.insert((priority, member.bas, place));
    }

    fn lull(&mut self, place: usize, member: &Member<'_>) {
        let priority = Reverse(member.claim.priority);
        self.by_rank.remove(&(priority, place));
        self.by_owner.remove(&(priority, member.owner, member.bas, place));
        self.by_bas.remove(&(priority, member.bas, place));
    }
}

impl<'a, 'b> Deep<'a, 'b> {
    pub(super) fn new(members: &'a [Member<'b>]) -> Self {
        Self {
            members,
            layers: BTreeMap::new(),
            holding: BTreeSet::new(),
            sleepers: BTreeMap::new(),
            sleeping: BTreeMap::new(),
        }
    }

    /// The first claim, in the order of `next`, that does not drop out. Those found to drop
    /// out are put to sleep.
    fn first_awake(
        &mut self,
        class: Reverse<Class>,
        next: impl Fn(&Layer) -> Option<usize>,
    ) -> Option<(usize, &'a Member<'b>)> {
        loop {
            let layer = self.layers.get_mut(&class)?;
            let place = next(layer)?;
            let member = self.members.get(place)?;
            let Some(cause) = dropped_by(self.members, layer, member) else { return Some((place, member)) };
            layer.lull(place, member);
            self.sleepers.entry(cause).or_default().push(place);
            self.sleeping.insert(place, cause);
        }
    }

    fn winner(&mut self, class: Reverse<Class>, ground: Ground) -> Option<(usize, &'a Member<'b>)> {
        let any = self.first_awake(class, |layer| layer.by_rank.first().map(|(_, place)| *place))?;
        let priority = Reverse(any.1.claim.priority);
        let had = ground.owner.zip(ground.bas).and_then(|(owner, bas)| {
            let (from, to) = ((priority, owner, bas, 0), (priority, owner, bas, usize::MAX));
            self.first_awake(class, |layer| layer.by_owner.range(from..=to).next().map(|key| key.3))
        });
        let owned = had.or_else(|| {
            let owner = ground.owner?;
            let (from, to) = ((priority, owner, 0, 0), (priority, owner, u32::MAX, usize::MAX));
            self.first_of_owner(class, from, to)
        });
        let listed = owned.or_else(|| {
            let (from, to) = ((priority, ground.bas?, 0), (priority, ground.bas?, usize::MAX));
            self.first_awake(class, |layer| layer.by_bas.range(from..=to).next().map(|key| key.2))
        });
        Some(listed.unwrap_or(any))
    }

    /// The owner's claim of the lowest rank: one per BAS is looked at.
    fn first_of_owner(
        &mut self,
        class: Reverse<Class>,
        mut from: ByOwner,
        to: ByOwner,
    ) -> Option<(usize, &'a Member<'b>)> {
        let mut best: Option<(usize, &'a Member<'b>)> = None;
        while let Some(found) =
            self.first_awake(class, |layer| layer.by_owner.range(from..=to).next().map(|key| key.3))
        {
            best = Some(best.filter(|best| best.0 < found.0).unwrap_or(found));
            from = (from.0, from.1, found.1.bas.saturating_add(1), 0);
        }
        best
    }

    /// The strongest claim of another owner that remains.
    fn other_owner(&mut self, class: Reverse<Class>, owner: u32) -> Option<&'a Member<'b>> {
        let mut from = Bound::Unbounded;
        loop {
            let (_, found) = self.first_awake(class, |layer| {
                layer.by_owner.range((from, Bound::Unbounded)).next().map(|key| key.3)
            })?;
            if found.owner != owner {
                return Some(found);
            }
            from = Bound::Excluded((Reverse(found.claim.priority), owner, u32::MAX, usize::MAX));
        }
    }

    /// Whether another claim than the winner remains.
    fn others_remain(&mut self, class: Reverse<Class>, winner: usize) -> bool {
        let next =
            |layer: &Layer| layer.by_rank.iter().map(|(_, place)| *place).find(|place| *place != winner);
        self.first_awake(class, next).is_some()
    }
}

/// A claim that makes `member` drop out. The smallest are tried first: mostly the first one
/// tells.
fn dropped_by(members: &[Member<'_>], layer: &Layer, member: &Member<'_>) -> Option<usize> {
    let limit = half(member.claim.whole)?;
    let smaller = layer.by_size.range(..=(limit, usize::MAX));
    smaller
        .map(|(_, place)| *place)
        .find(|place| members.get(*place).is_some_and(|other| other.drops(member)))
}

impl Contest for Deep<'_, '_> {
    fn enter(&mut self, place: usize) {
        let Some(member) = self.members.get(place) else { return };
        let class = Reverse(member.claim.class);
        let layer = self.layers.entry(class).or_default();
        layer.by_size.insert((member.claim.whole.span(), place));
        *layer.owners.entry(member.owner).or_default() += 1;
        layer.wake(place, member);
        self.holding.insert((class, place));
    }

    fn leave(&mut self, place: usize) {
        let Some(member) = self.members.get(place) else { return };
        let class = Reverse(member.claim.class);
        self.holding.remove(&(class, place));
        self.sleeping.remove(&place);
        let Some(layer) = self.layers.get_mut(&class) else { return };
        layer.by_size.remove(&(member.claim.whole.span(), place));
        super::cluster::less(&mut layer.owners, member.owner);
        layer.lull(place, member);
        for sleeper in self.sleepers.remove(&place).unwrap_or_default() {
            if self.sleeping.get(&sleeper) == Some(&place) {
                self.sleeping.remove(&sleeper);
                self.members.get(sleeper).into_iter().for_each(|member| layer.wake(sleeper, member));
            }
        }
    }

    fn verdict(&mut self, ground: Ground) -> Option<Verdict> {
        let class = self.holding.first()?.0;
        let (winner, by) = self.winner(class, ground)?;
        let layer = self.layers.get(&class)?;
        let (owners, before) = (layer.owners.len(), layer.by_size.len());
        let other_owner = if owners > 1 { self.other_owner(class, by.owner) } else { None };
        let rivals = Rivals {
            winner,
            by,
            other_owner,
            others_remain: before > 1 && self.others_remain(class, winner),
            other_owner_before: owners > 1,
            others_before: before > 1,
        };
        Some(rivals.verdict(ground))
    }

    fn holding(&self) -> impl ExactSizeIterator<Item = usize> {
        self.holding.iter().map(|(_, place)| *place)
    }
}
