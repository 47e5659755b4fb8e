//! A shuffled list in which each member stands as often as its weight says.

use crate::steer::Random;

/// Hands out a shuffled list, and shuffles it again when it is at its end.
#[derive(Clone, Debug)]
pub struct Ratio {
    list: Vec<usize>,
    next: usize,
    /// What was published gives nothing on the call that finds the list at its end.
    faulty: bool,
    random: Random,
}

/// The only sum of weights for which the published selector fills its list.
pub const PUBLISHED_SUM: u32 = 10;

impl Ratio {
    /// The selector as it was meant: its list is as short as the weights allow, and never
    /// gives nothing.
    pub fn new(weights: &[u32], random: Random) -> Self {
        let divisor = weights.iter().fold(0, |a, b| gcd(a, *b)).max(1);
        Self::of(&weights.iter().map(|weight| weight / divisor).collect::<Vec<_>>(), false, random)
    }

    /// The selector as it was published: its list is empty unless the weights add up to 10,
    /// and every 11th call gives nothing.
    pub fn as_published(weights: &[u32], random: Random) -> Self {
        let sum = weights.iter().fold(0_u32, |sum, weight| sum.saturating_add(*weight));
        Self::of(if sum == PUBLISHED_SUM { weights } else { &[] }, true, random)
    }

    fn of(weights: &[u32], faulty: bool, mut random: Random) -> Self {
        let times = |(place, weight): (usize, &u32)| std::iter::repeat_n(place, *weight as usize);
        let mut list: Vec<usize> = weights.iter().enumerate().flat_map(times).collect();
        random.shuffle(&mut list);
        Self { list, next: 0, faulty, random }
    }

    /// The next member's place.
    pub fn choose(&mut self) -> Option<usize> {
        if self.next >= self.list.len() {
            self.random.shuffle(&mut self.list);
            self.next = 0;
            if self.faulty {
                return None;
            }
        }
        let place = self.list.get(self.next).copied();
        self.next += 1;
        place
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
