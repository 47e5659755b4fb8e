//! The choices of the published gateway selection: each is a pure function of distance and
//! load. A candidate's place in the list is its identity, the last tie-break of all.

use std::cmp::Ordering;
use std::num::NonZeroUsize;

/// One edge that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// How far it is; in any unit, the same for all.
    pub distance: f64,
    /// How loaded it is: load by capacity where capacities differ.
    pub load: f64,
}

/// How a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// The nearest.
    Nearest,
    /// The least loaded.
    Greedy,
    /// The nearest of the `d` least loaded. With 1 it is greedy, with all of them nearest.
    LoadNear(NonZeroUsize),
    /// The least loaded of the `d` nearest. With 1 it is nearest, with all of them greedy.
    NearLoad(NonZeroUsize),
}

/// What decides between candidates that rank alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Their place in the list.
    #[default]
    Place,
    /// Between equally loaded ones the distance first.
    Distance,
}

impl Ranking {
    /// The place of the chosen candidate; none where there is no candidate.
    pub fn choose(self, candidates: &[Candidate], ties: Ties) -> Option<usize> {
        self.choose_with(candidates, ties, &mut Vec::new())
    }

    /// As [`Ranking::choose`], with room to sort in, for whoever chooses often.
    pub fn choose_with(
        self,
        candidates: &[Candidate],
        ties: Ties,
        scratch: &mut Vec<(usize, Candidate)>,
    ) -> Option<usize> {
        let near = |a: &(usize, Candidate), b: &(usize, Candidate)| by_distance(a, b);
        let free = |a: &(usize, Candidate), b: &(usize, Candidate)| by_load(ties, a, b);
        let all = candidates.iter().copied().enumerate();
        let first = match self {
            Self::Nearest => all.min_by(near),
            Self::Greedy => all.min_by(free),
            Self::LoadNear(d) => front(all, d, free, scratch).iter().copied().min_by(near),
            Self::NearLoad(d) => front(all, d, near, scratch).iter().copied().min_by(free),
        };
        first.map(|(place, _)| place)
    }
}

/// The first `d` in an order; all, where there are not as many.
fn front(
    all: impl Iterator<Item = (usize, Candidate)>,
    d: NonZeroUsize,
    order: impl Fn(&(usize, Candidate), &(usize, Candidate)) -> Ordering,
    scratch: &mut Vec<(usize, Candidate)>,
) -> &[(usize, Candidate)] {
    scratch.clear();
    scratch.extend(all);
    if d.get() < scratch.len() {
        scratch.select_nth_unstable_by(d.get() - 1, order);
        scratch.truncate(d.get());
    }
    scratch
}

fn by_distance(a: &(usize, Candidate), b: &(usize, Candidate)) -> Ordering {
    a.1.distance.total_cmp(&b.1.distance).then(a.0.cmp(&b.0))
}

fn by_load(ties: Ties, a: &(usize, Candidate), b: &(usize, Candidate)) -> Ordering {
    let distance = || match ties {
        Ties::Place => Ordering::Equal,
        Ties::Distance => a.1.distance.total_cmp(&b.1.distance),
    };
    a.1.load.total_cmp(&b.1.load).then_with(distance).then(a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn d(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let one = (0..6_u8, 0..6_u8)
            .prop_map(|(distance, load)| Candidate { distance: distance.into(), load: load.into() });
        prop::collection::vec(one, 1..12)
    }

    #[test]
    fn of_nothing_nothing_is_chosen() {
        assert_eq!(Ranking::Greedy.choose(&[], Ties::Place), None);
        assert_eq!(Ranking::LoadNear(d(3)).choose(&[], Ties::Place), None);
    }

    #[test]
    fn ties_go_to_the_place_or_to_the_distance() {
        let two = [Candidate { distance: 2.0, load: 1.0 }, Candidate { distance: 1.0, load: 1.0 }];
        assert_eq!(Ranking::NearLoad(d(2)).choose(&two, Ties::Place), Some(0));
        assert_eq!(Ranking::NearLoad(d(2)).choose(&two, Ties::Distance), Some(1));
    }

    proptest! {
        #[test]
        fn the_limits_are_the_plain_ones(all in candidates(), ties in prop_oneof![Just(Ties::Place), Just(Ties::Distance)]) {
            let choose = |ranking: Ranking| ranking.choose(&all, ties);
            let every = d(all.len());
            prop_assert_eq!(choose(Ranking::LoadNear(d(1))), choose(Ranking::Greedy));
            prop_assert_eq!(choose(Ranking::NearLoad(every)), choose(Ranking::Greedy));
            prop_assert_eq!(choose(Ranking::LoadNear(every)), choose(Ranking::Nearest));
            prop_assert_eq!(choose(Ranking::NearLoad(d(1))), choose(Ranking::Nearest));
            prop_assert_eq!(choose(Ranking::LoadNear(d(99))), choose(Ranking::Nearest));
        }

        #[test]
        fn a_choice_is_that_of_a_plain_sort(all in candidates(), of in 1..12_usize) {
            let mut ids: Vec<usize> = (0..all.len()).collect();
            ids.sort_by_key(|i| (all[*i].load as u8, *i));
            ids.truncate(of);
            ids.sort_by_key(|i| (all[*i].distance as u8, *i));
            prop_assert_eq!(Ranking::LoadNear(d(of)).choose(&all, Ties::Place), ids.first().copied());
        }
    }
}
