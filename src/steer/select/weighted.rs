//! Weighted round robin, by chance and smoothly.

/// The place of the first member up to and with which the weights add up to more than `drawn`,
/// a number below their sum; none where it is not below it.
pub fn weighted_random(weights: &[u32], drawn: u32) -> Option<usize> {
    let mut sum = 0_u64;
    weights.iter().position(|weight| {
        sum += u64::from(*weight);
        sum > u64::from(drawn)
    })
}

/// Smooth weighted round robin: in each cycle of the weights' sum every member is chosen
/// exactly as often as its weight says, as evenly spread as can be.
#[derive(Clone, Debug)]
pub struct SmoothWeighted {
    weights: Vec<i64>,
    current: Vec<i64>,
}

impl SmoothWeighted {
    /// A selector of weights.
    pub fn new(weights: &[u32]) -> Self {
        Self { weights: weights.iter().map(|w| i64::from(*w)).collect(), current: vec![0; weights.len()] }
    }

    /// The next member's place; none where there is no weight.
    pub fn choose(&mut self) -> Option<usize> {
        let sum: i64 = self.weights.iter().sum();
        if sum == 0 {
            return None;
        }
        for (current, weight) in self.current.iter_mut().zip(&self.weights) {
            *current += weight;
        }
        // The first of equal ones.
        let largest = self.current.iter().copied().max()?;
        let place = self.current.iter().position(|current| *current == largest)?;
        if let Some(current) = self.current.get_mut(place) {
            *current -= sum;
        }
        Some(place)
    }
}
