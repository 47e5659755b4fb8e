//! Hysteresis: weights that do not churn generations.

use super::loads::DEAD_AFTER;
use super::weights::{apportion, between, moved, shares};

/// When weights move, and how far in one cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping {
    /// The least share of a group's traffic that is worth moving. Smaller changes are not made.
    pub min_move: f64,
    /// The largest share of a group's traffic that moves in one cycle.
    pub step: f64,
    /// The least fall of the cost, as a share of it, for which a new plan is taken.
    pub min_gain: f64,
}

impl Default for Damping {
    fn default() -> Self {
        Self { min_move: 0.05, step: 0.34, min_gain: 0.02 }
    }
}

impl Damping {
    /// The weights of this cycle, where `wanted` ones are known: those before, if too little
    /// would move; else as far towards the wanted ones as a step goes.
    pub fn toward(&self, previous: &[u32], wanted: &[u32]) -> Vec<u32> {
        let far = moved(&shares(previous), &shares(wanted));
        if far <= f64::EPSILON || far < self.min_move {
            return previous.to_vec();
        }
        self.step_to(previous, wanted, self.step)
    }

    /// The weights of a cycle in which a load is unknown, for the `missed`th time in a row:
    /// the static ones after three, and until then equal steps towards them. Such a step may
    /// be longer than `step`, since the way has to end.
    pub fn fall_back(&self, previous: &[u32], fixed: &[u32], missed: u32) -> Vec<u32> {
        let far = moved(&shares(previous), &shares(fixed));
        match missed {
            0 => previous.to_vec(),
            missed if missed >= DEAD_AFTER || far <= f64::EPSILON => fixed.to_vec(),
            missed => {
                let left = DEAD_AFTER + 1 - missed;
                self.step_to(previous, fixed, (far / f64::from(left)).max(self.step.min(1.0 / 3.0)))
            }
        }
    }

    /// At most `step` of the way, whatever the rounding.
    fn step_to(&self, previous: &[u32], wanted: &[u32], step: f64) -> Vec<u32> {
        let (from, to) = (shares(previous), shares(wanted));
        let far = moved(&from, &to);
        if far <= step + 1e-12 {
            return wanted.to_vec();
        }
        let mut length = step;
        while length > 0.0 {
            let weights = apportion(&between(&from, &to, length / far));
            if moved(&from, &shares(&weights)) <= step + 1e-12 {
                return weights;
            }
            length -= 0.002;
        }
        previous.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAMPING: Damping = Damping { min_move: 0.05, step: 0.2, min_gain: 0.0 };

    #[test]
    fn what_is_not_worth_it_does_not_move_and_a_step_is_a_step() {
        assert_eq!(DAMPING.toward(&[50, 50], &[54, 46]), [50, 50]);
        assert_eq!(DAMPING.toward(&[50, 50], &[55, 45]), [55, 45]);
        assert_eq!(DAMPING.toward(&[50, 50], &[100, 0]), [70, 30]);
        assert_eq!(DAMPING.toward(&[1, 1, 2], &[100, 0, 0]), [45, 18, 37]);
        // Weights that say the same in other numbers are no change.
        assert_eq!(DAMPING.toward(&[1, 1], &[50, 50]), [1, 1]);
    }

    #[test]
    fn the_static_weights_come_in_three_steps() {
        let fixed = [1, 1];
        let mut weights = vec![98, 2];
        let mut seen = Vec::new();
        for missed in 1..=3 {
            weights = DAMPING.fall_back(&weights, &fixed, missed);
            seen.push(weights.clone());
        }
        assert_eq!(seen, [vec![78, 22], vec![58, 42], vec![1, 1]]);
        assert_eq!(DAMPING.fall_back(&[98, 2], &fixed, 0), [98, 2]);
    }

    proptest! {
        #[test]
        fn no_step_is_too_long(
            pair in (2..6_usize).prop_flat_map(|n| {
                let weights = || prop::collection::vec(0..=100_u32, n);
                (weights(), weights())
            }),
            step in 0.01..1.0_f64,
        ) {
            let (from, to) = pair;
            let damping = Damping { min_move: 0.0, step, min_gain: 0.0 };
            let next = damping.toward(&from, &to);
            prop_assert!(moved(&shares(&from), &shares(&next)) <= step + 1e-9);
            let mut weights = from;
            for missed in 1..=3 {
                let next = damping.fall_back(&weights, &to, missed);
                prop_assert!(moved(&shares(&weights), &shares(&next)) <= 0.34 + 0.01);
                weights = next;
            }
            prop_assert_eq!(weights, to);
        }
    }
}
