//! Choices among edges against values worked out independently.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

use std::num::NonZeroUsize;

use poolsync::steer::{Candidate, Ranking, Ties};
use serde_json::Value;

fn data() -> Value {
    serde_json::from_str(include_str!("data/steer/selection.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn ranking(policy: &str, d: u64) -> Ranking {
    let d = || NonZeroUsize::new(usize::try_from(d).unwrap()).unwrap();
    match policy {
        "nearest" => Ranking::Nearest,
        "greedy" => Ranking::Greedy,
        "loadnear" => Ranking::LoadNear(d()),
        "nearload" => Ranking::NearLoad(d()),
        other => panic!("{other}"),
    }
}

#[test]
fn every_case_is_chosen_as_by_hand() {
    let data = data();
    let cases = data["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 96);
    for case in cases {
        let (distances, loads) = (numbers(&case["distance"]), numbers(&case["load"]));
        let candidates: Vec<Candidate> =
            distances.into_iter().zip(loads).map(|(distance, load)| Candidate { distance, load }).collect();
        let ranking = ranking(case["policy"].as_str().unwrap(), case["d"].as_u64().unwrap());
        let expected = usize::try_from(case["expect"].as_u64().unwrap()).unwrap();
        assert_eq!(ranking.choose(&candidates, Ties::Place), Some(expected), "{case}");
    }
}

#[test]
fn greedy_that_counts_its_own_choices_fills_up_evenly() {
    let trace = &data()["greedy_trace"];
    let mut loads = numbers(&trace["start"]);
    let picks: Vec<usize> = numbers(&trace["picks"]).into_iter().map(|pick| pick as usize).collect();
    let mut chosen = Vec::new();
    for _ in &picks {
        let candidates: Vec<Candidate> =
            loads.iter().map(|load| Candidate { distance: 0.0, load: *load }).collect();
        let place = Ranking::Greedy.choose(&candidates, Ties::Place).unwrap();
        loads[place] += 1.0;
        chosen.push(place);
    }
    assert_eq!(chosen, picks);
}
