//! Weights as whole numbers, and as the shares that they stand for.

/// What the weights of a steered group add up to.
pub const WHOLE: u32 = 100;

/// The shares that weights stand for. Weights that are all nought stand for equal shares.
pub fn shares(weights: &[u32]) -> Vec<f64> {
    let amounts: Vec<f64> = weights.iter().map(|w| f64::from(*w)).collect();
    normal(&amounts)
}

/// Shares as whole numbers that add up to [`WHOLE`], by largest remainder; of equal
/// remainders the earlier one is rounded up.
///
/// What is not a positive number counts as nought; where nothing is positive, shares are equal.
pub fn apportion(amounts: &[f64]) -> Vec<u32> {
    let exact: Vec<f64> = normal(amounts).iter().map(|share| share * f64::from(WHOLE)).collect();
    // A sum of thirds must not lose a point to the last digit of a float.
    let floor = |value: f64| (value + 1e-9).floor();
    let mut weights: Vec<u32> = exact.iter().map(|value| floor(*value) as u32).collect();
    let mut order: Vec<usize> = (0..exact.len()).collect();
    let remainder = |place: usize| exact.get(place).map_or(0.0, |value| value - floor(*value));
    order.sort_by(|a, b| remainder(*b).total_cmp(&remainder(*a)).then(a.cmp(b)));
    let missing = WHOLE.saturating_sub(weights.iter().sum());
    for place in order.into_iter().take(missing as usize) {
        if let Some(weight) = weights.get_mut(place) {
            *weight += 1;
        }
    }
    weights
}

/// The share of the traffic that changes its edge between two divisions of it.
pub fn moved(from: &[f64], to: &[f64]) -> f64 {
    from.iter().zip(to).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

/// A division on the way between two others.
pub(super) fn between(from: &[f64], to: &[f64], fraction: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(a, b)| a + (b - a) * fraction).collect()
}

/// All on one place.
pub(super) fn all_on(place: usize, length: usize) -> Vec<u32> {
    (0..length).map(|at| if at == place { WHOLE } else { 0 }).collect()
}

fn normal(amounts: &[f64]) -> Vec<f64> {
    let positive = |amount: &f64| if amount.is_finite() && *amount > 0.0 { *amount } else { 0.0 };
    let sum: f64 = amounts.iter().map(positive).sum();
    if sum > 0.0 && sum.is_finite() {
        return amounts.iter().map(|amount| positive(amount) / sum).collect();
    }
    vec![1.0 / amounts.len().max(1) as f64; amounts.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_remainders_are_rounded_up() {
        assert_eq!(apportion(&[1.0, 1.0, 1.0]), [34, 33, 33]);
        assert_eq!(apportion(&[1.0, 2.0, 7.0]), [10, 20, 70]);
        // 12.5, 37.5 and 50: both halves are equal, the earlier one is rounded up.
        assert_eq!(apportion(&[1.0, 3.0, 4.0]), [13, 37, 50]);
        assert_eq!(apportion(&[0.0, 0.0]), [50, 50]);
        assert_eq!(apportion(&[f64::NAN, 2.0, -1.0]), [0, 100, 0]);
        assert_eq!(apportion(&[]), [0_u32; 0]);
    }

    #[test]
    fn moving_is_counted_once() {
        assert!((moved(&[0.5, 0.5], &[0.2, 0.8]) - 0.3).abs() < 1e-12);
        assert_eq!(moved(&[1.0, 0.0], &[1.0, 0.0]), 0.0);
    }

    proptest! {
        #[test]
        fn weights_add_up_and_are_less_than_a_point_off(
            amounts in prop::collection::vec(0.0..1e6_f64, 1..40)
        ) {
            let weights = apportion(&amounts);
            prop_assert_eq!(weights.iter().sum::<u32>(), WHOLE);
            for (weight, share) in weights.iter().zip(normal(&amounts)) {
                prop_assert!((f64::from(*weight) - share * 100.0).abs() < 1.0 + 1e-6);
            }
        }

        #[test]
        fn weights_stand_for_themselves(weights in prop::collection::vec(0..100_u32, 1..20)) {
            let sum: u32 = weights.iter().sum();
            prop_assume!(sum > 0);
            let again = apportion(&shares(&weights));
            for (weight, again) in weights.iter().zip(again) {
                prop_assert!((f64::from(*weight) / f64::from(sum) - f64::from(again) / 100.0).abs() < 0.0101);
            }
        }
    }
}
