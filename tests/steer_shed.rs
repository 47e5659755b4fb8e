//! Shedding: the published curves, and the behaviour of the loop that they are put in.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

use std::collections::{BTreeMap, BTreeSet};

use poolsync::steer::shed::{Mode, Receiving, Rules, ShedMemory, ShedSource, step};
use poolsync::steer::{Amount, Loads, Sample};
use poolsync::table::Name;
use serde_json::Value;

fn curves() -> Value {
    let data: Value = serde_json::from_str(include_str!("data/steer/shed.json")).unwrap();
    data["curves"].clone()
}

fn cases<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    let cases = value[key].as_array().unwrap();
    assert!(!cases.is_empty());
    cases
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap()
}

fn rules(mode: Mode) -> Rules {
    Rules { mode, ..Rules::default() }
}

#[test]
fn the_senders_curve_has_the_printed_points() {
    let curves = curves();
    let rules = Rules::default();
    for case in cases(&curves, "cases") {
        let found = rules.urgency(number(case, "Ls"));
        assert!((found - number(case, "delta")).abs() < 1e-5, "{case}: {found}");
    }
    for (delay, share) in curves["paper_quoted"].as_object().unwrap() {
        let found = rules.urgency(delay.parse().unwrap());
        assert!((found - share.as_f64().unwrap()).abs() < 6e-5, "{delay}: {found}");
    }
}

#[test]
fn a_senders_share_is_the_urgent_part_of_the_cap() {
    for case in cases(&curves(), "n") {
        let rules = Rules { cap: number(case, "P"), ..rules(Mode::Sending) };
        let forwarded = rules.level(number(case, "Ls"), 0.0) * number(case, "Nt");
        assert!((forwarded - number(case, "n")).abs() < 1e-9, "{case}: {forwarded}");
    }
}

#[test]
fn a_border_of_readiness_belongs_to_the_lower_level() {
    let rules = rules(Mode::Fixed);
    for case in cases(&curves(), "readiness") {
        let ready = rules.readiness(number(case, "Lr"));
        assert_eq!(ready as u64, case["level"].as_u64().unwrap(), "{case}");
    }
    assert_eq!([0.0, 100.0, 110.0, 130.0, 140.0].map(|ms| rules.level(500.0, ms)), [0.4, 0.3, 0.2, 0.1, 0.0]);
}

#[test]
fn a_receiver_welcomes_as_printed_in_both_readings() {
    let curves = curves();
    for case in cases(&curves["receiving_reading_A"], "cases") {
        let found = rules(Mode::Receiving).welcome(number(case, "Lr"));
        assert!((found - number(case, "delta2")).abs() < 1e-12, "{case}: {found}");
    }
    for case in cases(&curves, "variable") {
        let rules = rules(Mode::Variable);
        // 230 ms is where the sender's part is 0.25.
        let found = rules.level(230.0, number(case, "Lr"));
        assert!((found - number(case, "A")).abs() < 1e-12, "{case}: {found}");
    }
    let receiving = Receiving { high: 0.625, low: 0.325, fixed: 0.175 };
    let literal = Rules { receiving, ..rules(Mode::Receiving) };
    assert_eq!([0.0, 70.0, 105.0].map(|ms| literal.welcome(ms)), [0.625, 0.325, 0.175]);
}

#[test]
fn nobody_sheds_below_the_threshold_or_to_one_above_it() {
    for mode in [Mode::Sending, Mode::Receiving, Mode::Fixed, Mode::Variable] {
        assert_eq!(rules(mode).level(140.0, 0.0), 0.0, "{mode:?}");
        assert_eq!(rules(mode).level(1600.0, 140.0), 0.0, "{mode:?}");
        assert!(rules(mode).level(1600.0, 139.0) > 0.0, "{mode:?}");
    }
}

fn sample(load: f64, capacity: f64, p95_ms: f64) -> Option<Sample> {
    let some = |value| Amount::new(value);
    Some(Sample { load: some(load), capacity: some(capacity), p95_ms: some(p95_ms), sessions: None })
}

/// Delay by load, through two printed points: 140 ms at 3157 calls an hour, 1600 at 3327.
fn delay(load: f64) -> f64 {
    if load >= 3326.9 { 1600.0 } else { 26_082.0 / (3343.3 - load) }
}

struct Run {
    /// How often the sender was over the threshold, in the second half.
    over: usize,
    /// How much the share changed in a cycle at most, and all of it in the second half.
    largest: f64,
    churn: f64,
    /// The highest load of the receiver.
    peak: f64,
    share: f64,
}

/// 120 cycles of a sender and a receiver, whose loads show a change after `lag` cycles.
fn run(rules: &Rules, offered: f64, receiver: f64, lag: usize) -> Run {
    let edges: [Name; 2] = ["a".into(), "b".into()];
    let key = Name::from("a,b");
    let (mut memory, mut loads) = (ShedMemory::default(), Loads::default());
    let mut shares = vec![0.0_f64];
    let mut run = Run { over: 0, largest: 0.0, churn: 0.0, peak: 0.0, share: 0.0 };
    for cycle in 0..120 {
        let seen = shares[shares.len().saturating_sub(lag + 1)];
        let (at_a, at_b) = (offered * (1.0 - seen), receiver + offered * seen);
        loads = loads.next(&BTreeMap::from([
            (edges[0].clone(), sample(at_a, 3343.0, delay(at_a))),
            (edges[1].clone(), sample(at_b, 3343.0, delay(at_b))),
        ]));
        let source = ShedSource { key: &key, edges: &edges, demand: offered };
        memory = step(rules, &loads, &BTreeSet::new(), &[source], &memory);
        let share = memory.shares(&key).map(|(_, share)| share).sum();
        let change = f64::abs(share - shares[shares.len() - 1]);
        run.largest = run.largest.max(change);
        run.peak = run.peak.max(at_b);
        if cycle >= 60 {
            run.churn += change / 60.0;
            run.over += usize::from(delay(at_a) > 140.0);
        }
        shares.push(share);
        run.share = share;
    }
    run
}

#[test]
fn every_mode_settles_instead_of_flapping() {
    for mode in [Mode::Sending, Mode::Receiving, Mode::Fixed, Mode::Variable] {
        let run = run(&rules(mode), 3300.0, 1500.0, 0);
        assert!(run.over <= 3, "{mode:?}: over the threshold in {} of 60", run.over);
        assert!(run.churn <= 0.003, "{mode:?}: {} in a cycle", run.churn);
        assert!(run.largest <= 0.26, "{mode:?}: {}", run.largest);
        assert!(run.share > 0.03 && run.share <= 0.4, "{mode:?}: {}", run.share);
    }
}

#[test]
fn a_receiver_is_never_brought_over_its_bound() {
    for mode in [Mode::Sending, Mode::Receiving, Mode::Fixed, Mode::Variable] {
        for lag in 0..=2 {
            // 0.8 of 3343 is 2674.4: there is room for 74.4, and much more would be shed.
            let run = run(&rules(mode), 3320.0, 2600.0, lag);
            assert!(run.peak <= 2674.4 + 1e-6, "{mode:?}: {}", run.peak);
            assert!(run.share > 0.0, "{mode:?} sheds nothing");
        }
    }
}

fn shares(memory: &ShedMemory, key: &Name) -> Vec<(String, f64)> {
    memory.shares(key).map(|(edge, share)| (edge.to_string(), share)).collect()
}

#[test]
fn the_least_delayed_of_the_ready_ones_receives() {
    let edges: [Name; 4] = ["a", "b", "c", "d"].map(Name::from);
    let key = Name::from("k");
    let at = |b: Option<Sample>, c: Option<Sample>, d: Option<Sample>| {
        let samples = [sample(90.0, 100.0, 500.0), b, c, d];
        Loads::default().next(&edges.iter().cloned().zip(samples).collect())
    };
    let chosen = |loads: &Loads, drained: &[&str]| {
        let drained = drained.iter().map(|edge| Name::from(*edge)).collect();
        let source = ShedSource { key: &key, edges: &edges, demand: 90.0 };
        let memory = step(&rules(Mode::Fixed), loads, &drained, &[source], &ShedMemory::default());
        let rounded =
            shares(&memory, &key).into_iter().map(|(edge, share)| (edge, (share * 1e3).round() as u32));
        rounded.collect::<Vec<_>>()
    };
    let free = |ms: f64| sample(10.0, 100.0, ms);
    // 50 ms is readiness 4: 0.25 * 0.4 + 0.005.
    assert_eq!(chosen(&at(free(60.0), free(50.0), free(139.0)), &[]), [("c".to_owned(), 105)]);
    assert_eq!(chosen(&at(free(60.0), free(50.0), free(139.0)), &["c"]), [("b".to_owned(), 105)]);
    // Full, unknown, over the threshold: nobody is left.
    assert!(chosen(&at(sample(80.0, 100.0, 50.0), None, free(140.0)), &[]).is_empty());
    // Without a capacity nobody knows what it can take.
    let blind = Some(Sample { capacity: None, ..sample(1.0, 1.0, 50.0).unwrap() });
    assert!(chosen(&at(blind, None, None), &[]).is_empty());
    // Room for 4.5 of 90: a twentieth.
    assert_eq!(chosen(&at(sample(75.5, 100.0, 50.0), None, None), &[]), [("b".to_owned(), 50)]);
}

#[test]
fn two_senders_share_the_room_of_one_receiver() {
    let (one, two): ([Name; 2], [Name; 2]) = (["a".into(), "r".into()], ["b".into(), "r".into()]);
    let (first, second) = (Name::from("1"), Name::from("2"));
    let loads = Loads::default().next(&BTreeMap::from([
        ("a".into(), sample(90.0, 100.0, 500.0)),
        ("b".into(), sample(30.0, 100.0, 500.0)),
        ("r".into(), sample(78.0, 100.0, 10.0)),
    ]));
    let sources = [
        ShedSource { key: &first, edges: &one, demand: 90.0 },
        ShedSource { key: &second, edges: &two, demand: 30.0 },
    ];
    let memory = step(&rules(Mode::Fixed), &loads, &BTreeSet::new(), &sources, &ShedMemory::default());
    let given = shares(&memory, &first)[0].1 * 90.0 + shares(&memory, &second)[0].1 * 30.0;
    assert!((given - 2.0).abs() < 1e-9, "{given}");
    assert!((shares(&memory, &first)[0].1 - shares(&memory, &second)[0].1).abs() < 1e-12);
    // What was given is on its way: a second cycle that does not see it gives nothing.
    let again = step(&rules(Mode::Fixed), &loads, &BTreeSet::new(), &sources, &memory);
    assert_eq!(shares(&again, &first), shares(&memory, &first));
}

#[test]
fn an_edge_that_falls_silent_has_its_entries_back_in_three_cycles() {
    let edges: [Name; 2] = ["a".into(), "b".into()];
    let key = Name::from("k");
    for silent in 0..2 {
        let mut loads = Loads::default();
        let mut memory = ShedMemory::default();
        let mut go = |alive: bool, memory: &ShedMemory| {
            let both = [sample(95.0, 100.0, 1600.0), sample(5.0, 100.0, 1.0)];
            let samples = edges.iter().cloned().zip(both).enumerate();
            let samples = samples.map(|(n, (name, s))| (name, s.filter(|_| alive || n != silent)));
            loads = loads.next(&samples.collect());
            let source = ShedSource { key: &key, edges: &edges, demand: 95.0 };
            step(&rules(Mode::Sending), &loads, &BTreeSet::new(), &[source], memory)
        };
        for _ in 0..3 {
            memory = go(true, &memory);
        }
        let full = shares(&memory, &key)[0].1;
        // 0.25 * 0.4 + 0.005, three times.
        assert!((full - 0.315).abs() < 1e-9, "{full}");
        let mut left = Vec::new();
        for _ in 0..3 {
            memory = go(false, &memory);
            left.push(shares(&memory, &key).first().map_or(0.0, |(_, share)| share / full));
        }
        assert!((left[0] - 2.0 / 3.0).abs() < 1e-9 && (left[1] - 1.0 / 3.0).abs() < 1e-9, "{left:?}");
        assert_eq!(left[2], 0.0);
    }
}

#[test]
fn a_share_shrinks_slowly_once_the_sender_is_well_again() {
    let edges: [Name; 2] = ["a".into(), "b".into()];
    let key = Name::from("k");
    let mut loads = Loads::default();
    let mut memory = ShedMemory::default();
    let mut go = |sender_ms: f64, receiver_ms: f64, memory: &ShedMemory| {
        let both = [sample(50.0, 100.0, sender_ms), sample(5.0, 100.0, receiver_ms)];
        loads = loads.next(&edges.iter().cloned().zip(both).collect());
        let source = ShedSource { key: &key, edges: &edges, demand: 50.0 };
        let quick = Rules { smoothing: 1.0, ..rules(Mode::Sending) };
        step(&quick, &loads, &BTreeSet::new(), &[source], memory)
    };
    let share = |memory: &ShedMemory| shares(memory, &key).first().map_or(0.0, |(_, share)| *share);
    memory = go(1600.0, 1.0, &memory);
    assert!((share(&memory) - 0.105).abs() < 1e-9);
    // Between the two thresholds it stays.
    memory = go(120.0, 1.0, &memory);
    assert!((share(&memory) - 0.105).abs() < 1e-9);
    memory = go(99.0, 1.0, &memory);
    assert!((share(&memory) - 0.095).abs() < 1e-9);
    // A receiver that is itself in trouble gives back fast: 0.25 * 1 * 0.4 + 0.005.
    memory = go(120.0, 1600.0, &memory);
    assert_eq!(share(&memory), 0.0);
}
