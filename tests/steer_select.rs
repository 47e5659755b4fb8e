//! Selectors that see each request, against published picks and bounds.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

use poolsync::steer::select::{Ratio, SmoothWeighted, bounded, two_choices, weighted_random};
use poolsync::steer::{Candidate, Random, Ranking, Ties};
use proptest::prelude::*;
use serde_json::Value;

fn data() -> Value {
    serde_json::from_str(include_str!("data/steer/selectors.json")).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| u32::try_from(v.as_u64().unwrap()).unwrap()).collect()
}

#[test]
fn a_drawn_number_falls_to_the_member_as_published() {
    let data = data();
    let order = texts(&data["java_hashmap_order"]["21,22,23"]);
    let weights: Vec<u32> =
        order.iter().map(|id| u32::try_from(data["weights"][id].as_u64().unwrap()).unwrap()).collect();
    for pick in data["picks"].as_array().unwrap() {
        let drawn = u32::try_from(pick["rand"].as_u64().unwrap()).unwrap();
        let place = weighted_random(&weights, drawn).unwrap();
        assert_eq!(order[place], pick["member"].as_str().unwrap(), "{drawn}");
    }
    assert_eq!(weighted_random(&weights, 10), None);
}

#[test]
fn the_least_traffic_is_taken_in_the_published_order() {
    let data = data();
    let order = texts(&data["java_hashmap_order"]["31,32,33"]);
    for case in data["statistics"].as_array().unwrap() {
        let candidates: Vec<Candidate> = order
            .iter()
            .map(|id| Candidate { distance: 0.0, load: case["rx"][id].as_f64().unwrap() })
            .collect();
        let place = Ranking::Greedy.choose(&candidates, Ties::Place).unwrap();
        assert_eq!(order[place], case["expect"].as_str().unwrap(), "{case}");
    }
}

#[test]
fn smooth_round_robin_gives_the_known_cycles() {
    let members = [["a", "b", "c"], ["1", "2", "3"]];
    for (case, members) in data()["swrr"].as_array().unwrap().iter().zip(members) {
        let mut selector = SmoothWeighted::new(&numbers(&case["weights"]));
        for turn in 0..2 {
            let cycle = texts(&case["cycle"]);
            let found: Vec<&str> = cycle.iter().map(|_| members[selector.choose().unwrap()]).collect();
            assert_eq!(found, cycle, "turn {turn}");
        }
    }
    assert_eq!(SmoothWeighted::new(&[0, 0]).choose(), None);
}

/// How far a member's count is off its share of the requests so far, at the worst.
fn lag(weights: &[u32], requests: usize, mut choose: impl FnMut() -> Option<usize>) -> f64 {
    let sum: u32 = weights.iter().sum();
    let mut counts = vec![0.0; weights.len()];
    let mut worst: f64 = 0.0;
    for n in 1..=requests {
        counts[choose().unwrap()] += 1.0;
        for (count, weight) in counts.iter().zip(weights) {
            worst = worst.max(f64::abs(count - n as f64 * f64::from(*weight) / f64::from(sum)));
        }
    }
    worst
}

#[test]
fn smooth_round_robin_lags_least() {
    let golden = &data()["max_lag"];
    let weights = numbers(&golden["weights"]);
    let mut smooth = SmoothWeighted::new(&weights);
    let found = lag(&weights, 1000, || smooth.choose());
    assert!((found - golden["swrr"].as_f64().unwrap()).abs() < 1e-9, "{found}");
    // Chance lags by tens, a shuffled list of 100 by several, one of ten by less.
    let mut random = Random::new(1, 0);
    let chance = lag(&weights, 1000, || weighted_random(&weights, random.below(100) as u32));
    let mut ratio = Ratio::new(&weights, Random::new(1, 0));
    let shuffled = lag(&weights, 1000, || ratio.choose());
    assert!(found < shuffled && shuffled < 2.11 && chance > 5.0, "{found} {shuffled} {chance}");
}

#[test]
fn a_ratio_is_exact_over_whole_cycles() {
    let golden = &data()["exp7"];
    let expected = numbers(&golden["ratio_aligned"]);
    let mut ratio = Ratio::new(&[1, 2, 7], Random::new(5, 0));
    for _ in 0..20 {
        let mut counts = vec![0; 3];
        for _ in 0..100 {
            counts[ratio.choose().unwrap()] += 1;
        }
        assert_eq!(counts, expected);
    }
    // A window that begins anywhere is off by at most one cycle's part.
    for _ in 0..7 {
        ratio.choose();
    }
    let mut counts = vec![0; 3];
    for _ in 0..100 {
        counts[ratio.choose().unwrap()] += 1;
    }
    for (count, range) in counts.iter().zip(golden["ratio_unaligned_range"].as_array().unwrap()) {
        let range = numbers(range);
        assert!((range[0]..=range[1]).contains(count), "{counts:?}");
    }
}

#[test]
fn the_published_ratio_gives_nothing_on_every_eleventh_call() {
    let mut ratio = Ratio::as_published(&[1, 2, 7], Random::new(1, 0));
    let nothing: Vec<usize> = (1..=1000).filter(|_| ratio.choose().is_none()).collect();
    assert_eq!(nothing.len(), 90);
    assert!(nothing.iter().all(|call| call % 11 == 0));
    let mut other = Ratio::as_published(&[1, 2, 8], Random::new(1, 0));
    assert!((0..30).all(|_| other.choose().is_none()));
}

#[test]
fn chance_spreads_as_a_binomial() {
    // 100 requests by 1:2:7: means 10, 20, 70; deviations 3, 4, 4.58.
    let golden = &data()["exp7"];
    let mut random = Random::new(9, 0);
    let runs = 4000;
    let (mut sums, mut squares, mut first_before_second) = ([0.0; 3], [0.0; 3], 0);
    for _ in 0..runs {
        let mut counts = [0.0; 3];
        for _ in 0..100 {
            counts[weighted_random(&[1, 2, 7], random.below(10) as u32).unwrap()] += 1.0;
        }
        first_before_second += usize::from(counts[0] > counts[1]);
        for place in 0..3 {
            sums[place] += counts[place] / f64::from(runs);
            squares[place] += counts[place] * counts[place] / f64::from(runs);
        }
    }
    for place in 0..3 {
        let deviation = (squares[place] - sums[place] * sums[place]).sqrt();
        assert!((sums[place] - golden["mean"][place].as_f64().unwrap()).abs() < 0.3);
        assert!((deviation - golden["wrr_sd"][place].as_f64().unwrap()).abs() < 0.2, "{deviation}");
    }
    let share = first_before_second as f64 / f64::from(runs);
    assert!((share - golden["p_first_gt_second_one_run"].as_f64().unwrap()).abs() < 0.01, "{share}");
}

#[test]
fn the_nearest_within_the_bound_is_taken_and_else_the_least_loaded() {
    let candidate = |distance, load| Candidate { distance, load };
    let all = [candidate(1.0, 0.96), candidate(2.0, 0.94), candidate(3.0, 0.1)];
    assert_eq!(bounded(&all, 0.95), Some(1));
    assert_eq!(bounded(&all, 0.97), Some(0));
    assert_eq!(bounded(&all, 0.05), Some(2));
    assert_eq!(bounded(&[], 0.5), None);
}

proptest! {
    #[test]
    fn two_choices_take_the_better_of_two_that_are_near(
        loads in prop::collection::vec(0..5_u8, 0..8), d in 1..9_usize, seed: u64
    ) {
        let candidates: Vec<Candidate> = loads.iter().enumerate()
            .map(|(place, load)| Candidate { distance: place as f64, load: f64::from(*load) }).collect();
        let chosen = two_choices(&candidates, std::num::NonZeroUsize::new(d), &mut Random::new(seed, 0));
        prop_assert_eq!(chosen.is_none(), candidates.is_empty());
        if let Some(chosen) = chosen {
            prop_assert!(chosen < d.min(loads.len()));
            // Never the only one that is worse than all others.
            let worse = |place: usize| loads[place] < loads[chosen];
            let near = d.min(loads.len());
            prop_assert!(near < 2 || (0..near).filter(|place| *place != chosen).any(|place| !worse(place)));
        }
    }

    #[test]
    fn smooth_round_robin_is_exact_and_never_a_request_off(weights in prop::collection::vec(0..20_u32, 1..6)) {
        let sum: u32 = weights.iter().sum();
        prop_assume!(sum > 0);
        let mut selector = SmoothWeighted::new(&weights);
        let mut counts = vec![0_u32; weights.len()];
        for n in 1..=sum {
            counts[selector.choose().unwrap()] += 1;
            for (count, weight) in counts.iter().zip(&weights) {
                let due = f64::from(n) * f64::from(*weight) / f64::from(sum);
                prop_assert!((f64::from(*count) - due).abs() < weights.len() as f64);
            }
        }
        prop_assert_eq!(counts, weights);
    }
}
