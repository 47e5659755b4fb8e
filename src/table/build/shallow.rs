//! A contest of few claims: each is compared with each.

use std::cmp::Reverse;

use super::cluster::{Contest, Ground, Member, Rivals, Verdict};

pub(super) struct Shallow<'a, 'b> {
    members: &'a [Member<'b>],
    /// Best class first, then by rank.
    holding: Vec<usize>,
}

impl<'a, 'b> Shallow<'a, 'b> {
    pub(super) fn new(members: &'a [Member<'b>]) -> Self {
        Self { members, holding: Vec::new() }
    }

    /// The claims of the highest class.
    fn best(&self) -> Vec<(usize, &'a Member<'b>)> {
        let holding = self.holding.iter().filter_map(|place| Some((*place, self.members.get(*place)?)));
        let class = holding.clone().next().map(|(_, member)| member.claim.class);
        holding.take_while(|(_, member)| Some(member.claim.class) == class).collect()
    }
}

impl Contest for Shallow<'_, '_> {
    fn enter(&mut self, member: usize) {
        self.holding.push(member);
        let members = self.members;
        self.holding
            .sort_unstable_by_key(|place| (members.get(*place).map(|m| Reverse(m.claim.class)), *place));
    }

    fn leave(&mut self, member: usize) {
        self.holding.retain(|place| *place != member);
    }

    fn verdict(&mut self, ground: Ground) -> Option<Verdict> {
        let best = self.best();
        let dropped = |member: &Member<'_>| best.iter().any(|(_, other)| other.drops(member));
        let left: Vec<_> = best.iter().copied().filter(|(_, member)| !dropped(member)).collect();
        let (winner, by) = left.iter().copied().min_by_key(|(place, m)| {
            let had = (ground.owner == Some(m.owner), ground.bas == Some(m.bas));
            (Reverse(m.claim.priority), Reverse(had), *place)
        })?;
        let other = |(_, m): &&(usize, &Member<'_>)| m.owner != by.owner;
        let other_owner = left.iter().filter(other).max_by_key(|(_, m)| m.claim.priority);
        let rivals = Rivals {
            winner,
            by,
            other_owner: other_owner.map(|(_, member)| *member),
            others_remain: left.len() > 1,
            other_owner_before: best.iter().any(|(_, m)| m.owner != by.owner),
            others_before: best.len() > 1,
        };
        Some(rivals.verdict(ground))
    }

    fn holding(&self) -> impl ExactSizeIterator<Item = usize> {
        self.holding.iter().copied()
    }
}
