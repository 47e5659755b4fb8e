//! Choices by load that need a random number or a bound.

use std::num::NonZeroUsize;

use crate::steer::{Candidate, Random, Ranking, Ties};

/// The less loaded of two different candidates drawn by chance, of all or of the `d` nearest;
/// of equally loaded ones the first. It hardly suffers from old loads, or from selectors that
/// know nothing of each other.
pub fn two_choices(candidates: &[Candidate], d: Option<NonZeroUsize>, random: &mut Random) -> Option<usize> {
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    let of = |place: usize| candidates.get(place);
    if let Some(d) = d {
        let distance = |place: &usize| of(*place).map_or(f64::INFINITY, |candidate| candidate.distance);
        places.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
        places.truncate(d.get());
        places.sort_unstable();
    }
    let first = random.below(places.len());
    let second = random.below(places.len().saturating_sub(1));
    let second = if second >= first { second + 1 } else { second };
    let mut drawn = [places.get(first), places.get(second)];
    drawn.sort();
    let load = |place: &usize| of(*place).map_or(f64::INFINITY, |candidate| candidate.load);
    drawn.into_iter().flatten().copied().min_by(|a, b| load(a).total_cmp(&load(b)))
}

/// The nearest candidate that is loaded to at most `bound`, the request itself counted in; the
/// least loaded, where none is.
pub fn bounded(candidates: &[Candidate], bound: f64) -> Option<usize> {
    let within = candidates.iter().enumerate().filter(|(_, candidate)| candidate.load <= bound);
    let nearest = within.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance).then(a.0.cmp(&b.0)));
    nearest.map(|(place, _)| place).or_else(|| Ranking::Greedy.choose(candidates, Ties::Place))
}
