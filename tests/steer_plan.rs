//! The plan against published and independently computed values.

#![allow(clippy::unwrap_used, clippy::panic, clippy::needless_range_loop)] // helpers of tests, as tests themselves

use poolsync::steer::plan::{
    FileError, Link, Model, Node, PlanError, PlanReport, Problem, ProblemFile, RESERVE, StructureReport,
    Weighing, own_first,
};
use proptest::prelude::*;
use serde_json::Value;

fn spill() -> Value {
    serde_json::from_str(include_str!("data/steer/spill.json")).unwrap()
}

fn structure() -> Value {
    serde_json::from_str(include_str!("data/steer/structure.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn file(data: &Value, model: Model) -> ProblemFile {
    let delay = matrix(&data["T"]).into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
    ProblemFile {
        model,
        surplus: numbers(&data["F"]),
        capacity: numbers(&data["C"]),
        delay,
        w1: data["w1"].as_f64(),
        w2: data["w2"].as_f64(),
        ..ProblemFile::default()
    }
}

fn by_link(problem: &Problem, matrix: &[Vec<f64>]) -> Vec<f64> {
    problem.links().iter().map(|link| matrix[link.source][link.node]).collect()
}

fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }
}

#[test]
fn the_published_problem_is_solved_better_than_published() {
    let data = spill();
    for (model, key) in [(Model::PerFlow, "per_flow"), (Model::Aggregate, "aggregate")] {
        let golden = &data[key];
        let problem = file(&data, model).problem().unwrap();
        let plan = problem.solve().unwrap();
        let expected = golden["objective"].as_f64().unwrap();
        assert!((plan.objective - expected).abs() <= 1e-6, "{key}: {} is not {expected}", plan.objective);
        for (found, expected) in problem.matrix(&plan.flows).iter().zip(matrix(&golden["f"])) {
            near(found, &expected, 0.002);
        }
        near(&problem.node_loads(&plan.flows), &numbers(&golden["col_sums"]), 0.002);

        let published = problem.cost(&by_link(&problem, &matrix(&data["paper_table2"])));
        let golden_published = golden["paper_table2_objective"].as_f64().unwrap();
        assert!((published - golden_published).abs() <= 1e-8, "{published}");
        assert!(plan.objective < published);
    }
}

#[test]
fn prices_are_those_of_the_optimality_conditions() {
    let data = spill();
    let plan = file(&data, Model::PerFlow).problem().unwrap().solve().unwrap();
    near(&plan.prices, &numbers(&data["per_flow"]["col_price"]), 1e-4);
    near(&plan.source_prices, &numbers(&data["per_flow"]["row_price"]), 1e-4);
}

/// A price promises what more room saves: a little more room has to save it. Without queues,
/// since their cost changes with the capacity, not with the bound alone.
#[test]
fn a_price_is_what_more_room_saves() {
    let only_delay = ProblemFile { w1: Some(0.0), w2: Some(0.5), ..file(&spill(), Model::Aggregate) };
    let plan = only_delay.problem().unwrap().solve().unwrap();
    let step = 0.05;
    for (node, price) in plan.prices.iter().enumerate() {
        let mut wider = only_delay.clone();
        wider.capacity[node] += step / 0.8;
        let saved = (plan.objective - wider.problem().unwrap().solve().unwrap().objective) * 150.0 / step;
        assert!((saved - price).abs() < 1e-3, "node {node}: {saved} is not {price}");
    }
    assert!(plan.prices.iter().any(|price| *price > 0.1));
}

#[test]
fn the_plans_of_other_aims_cost_what_they_are_known_to() {
    let data = spill();
    let aggregate = file(&data, Model::Aggregate).problem().unwrap();
    let golden = &data["aggregate"];
    let cost_of = |flows: &[f64]| aggregate.cost(flows);
    let check = |found: f64, key: &str| {
        let expected = golden[key].as_f64().unwrap();
        assert!((found - expected).abs() <= 1e-5, "{key}: {found} is not {expected}");
    };
    let per_flow = aggregate.with_model(Model::PerFlow).solve().unwrap();
    check(cost_of(&per_flow.flows), "per_flow_optimum_objective");

    let mut only_delay = file(&data, Model::Aggregate);
    (only_delay.w1, only_delay.w2) = (Some(0.0), Some(1.0));
    let lp = only_delay.problem().unwrap().solve().unwrap();
    check(cost_of(&lp.flows), "lp_delay_only_objective");

    let delays = &data["mean_internode_delay"];
    for (plan, key) in
        [(&per_flow, "per_flow_opt"), (&lp, "lp"), (&aggregate.solve().unwrap(), "aggregate_opt")]
    {
        let found = aggregate.mean_delay(&plan.flows);
        assert!((found - delays[key].as_f64().unwrap()).abs() < 2e-5, "{key}: {found}");
    }
}

#[test]
fn without_a_bound_the_published_objective_fills_nodes_to_the_brim() {
    let data = spill();
    let problem = ProblemFile { bound: Some(1.0), ..file(&data, Model::PerFlow) }.problem().unwrap();
    let plan = problem.solve().unwrap();
    near(&problem.node_loads(&plan.flows), &numbers(&data["uncapped_per_flow_col_sums"]), 0.01);
}

#[test]
fn too_much_traffic_is_told_by_how_much() {
    let data = spill();
    for model in [Model::PerFlow, Model::Aggregate] {
        let file = ProblemFile { surplus: numbers(&data["infeasible"]["F"]), ..file(&data, model) };
        // 180 to place, and 0.8 of 190 to place it on.
        let Err(PlanError::Infeasible { by, sources }) = file.problem().unwrap().solve() else {
            panic!("it fits")
        };
        assert!((by - 28.0).abs() < 1e-4, "{by}");
        assert!((sources.iter().sum::<f64>() - by).abs() < 1e-6);
        let report = PlanReport::of_file(&file).unwrap();
        assert_eq!((report.objective, report.flow), (None, None));
        assert!((report.infeasible_by - 28.0).abs() < 1e-4);
    }
}

#[test]
fn a_source_that_may_go_nowhere_is_the_one_that_does_not_fit() {
    let file = ProblemFile::parse(
        r#"{"surplus": [5, 7], "capacity": [100, 0], "delay": [[1, 1], [null, 1]], "nodes": ["a", "b"]}"#,
    )
    .unwrap();
    let report = PlanReport::of_file(&file).unwrap();
    assert!((report.infeasible_by - 7.0).abs() < 1e-5, "{report:?}");
    assert!(report.unplaced[0].abs() < 1e-5 && (report.unplaced[1] - 7.0).abs() < 1e-5);
    assert!(report.text().contains("source 2: 7.0000 has no place"), "{}", report.text());
}

#[test]
fn weights_of_a_hundred_cost_next_to_nothing_and_break_no_bound() {
    let data = spill();
    let problem = file(&data, Model::Aggregate).problem().unwrap();
    let rounded = problem.round(&problem.solve().unwrap());
    let weights: Vec<f64> = rounded.weights.iter().map(|w| f64::from(*w)).collect();
    assert_eq!(problem.matrix(&weights), matrix(&data["weights_100_aggregate"]));
    assert!((rounded.objective - 0.174_046_29).abs() < 1e-7, "{}", rounded.objective);
    assert!(rounded.overload < 1e-9);

    // Plain rounding of these flows takes a node 0.2 over its bound.
    let problem = problem.with_model(Model::PerFlow);
    let rounded = problem.round(&problem.solve().unwrap());
    assert!(rounded.overload < 1e-3, "{}", rounded.overload);
    assert!(rounded.objective < 0.1405, "{}", rounded.objective);
}

#[test]
fn own_first_costs_delay() {
    let data = &structure()["own_first"];
    let node = |capacity: f64| Node::of(capacity);
    let delay = matrix(&data["T"]);
    let links = (0..2).flat_map(|source| (0..2).map(move |node| (source, node)));
    let problem = Problem::new(
        Model::Aggregate,
        Weighing::default(),
        numbers(&data["load"]),
        numbers(&data["mu"]).into_iter().map(node).collect(),
        links.map(|(source, node)| Link { source, node, delay: delay[source][node] }).collect(),
    )
    .unwrap();
    let joint = problem.solve().unwrap();
    assert!((joint.objective - data["joint_objective"].as_f64().unwrap()).abs() < 1e-7);
    // By hand: x of the first source stays at home, and 90 - x are on the other node; the last
    // unit costs the same on both where 100 / (100 - x)^2 - 100 / (10 + x)^2 = 0.05 - 0.02.
    let dearer = |x: f64| 100.0 / (100.0 - x).powi(2) - 100.0 / (10.0 + x).powi(2) > 0.03;
    let (mut low, mut high) = (0.0, 80.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if dearer(middle) { high = middle } else { low = middle }
    }
    assert!((low - 56.424_560_57).abs() < 1e-8, "{low}");
    near(&joint.flows, &[low, 80.0 - low, 0.0, 10.0], 5e-4);
    // The flows that we were given, 56.4255, are 0.001 beside that and cost 8e-12 more: the
    // optimum is flat, and the solver that made them had come near enough for its tolerance.
    // It is they that are not exact; their objective is.
    let given = by_link(&problem, &matrix(&data["joint_f"]));
    let exact = problem.cost(&[low, 80.0 - low, 0.0, 10.0]);
    assert!((0.0..1e-10).contains(&(problem.cost(&given) - exact)));
    near(&given, &joint.flows, 2e-3);
    let own = own_first(&problem, &[Some(0), Some(1)]).unwrap();
    assert!((own.objective - data["own_first_objective"].as_f64().unwrap()).abs() < 1e-8);
    near(&own.flows, &[80.0, 0.0, 0.0, 10.0], 1e-9);
}

/// Capacities that lie twelve powers of ten apart, as where one edge tells bits and another
/// requests, must not lead the solver astray.
#[test]
fn a_node_with_room_for_everything_takes_what_is_cheapest_there() {
    // The last unit costs the same on the first two: half the slope of s / (C - s), and half of
    // the delay. The third one's delay alone is more than either.
    let slope = |load: f64| 0.5 * 1000.0 / (1000.0 - load).powi(2);
    let dearer = |x: f64| slope(200.0 + x) + 0.0005 > slope(500.0 - x) + 0.001;
    let (mut low, mut high) = (0.0, 400.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if dearer(middle) { high = middle } else { low = middle }
    }
    for capacity in [1e6, 1e7, 1e9, 1e12, 1e15] {
        let with = |delay: f64, load: f64| {
            let text = format!(
                r#"{{"surplus": [400], "capacity": [1000, 1000, {capacity}], "load": [200, 100, {load}],
                    "delay": [[0.001, 0.002, {delay}]]}}"#
            );
            ProblemFile::parse(&text).unwrap().problem().unwrap().solve().unwrap().flows
        };
        near(&with(0.009, 10_000.0), &[low, 400.0 - low, 0.0], 1.0);
        near(&with(0.0, 0.0), &[0.0, 0.0, 400.0], 1e-3);
        // Three quarters of it are in use: it is no dearer for that.
        near(&with(0.0001, 0.75 * capacity), &[0.0, 0.0, 400.0], 1e-3);
    }
    let all = r#"{"surplus": [5, 7], "capacity": [1e15, 1e12], "delay": [[2, 1], [1, 2]]}"#;
    let plan = ProblemFile::parse(all).unwrap().problem().unwrap().solve().unwrap();
    near(&plan.flows, &[0.0, 5.0, 7.0, 0.0], 1e-6);
    let per_flow = all.replacen('{', "{\"model\": \"per-flow\", ", 1);
    let plan = ProblemFile::parse(&per_flow).unwrap().problem().unwrap().solve().unwrap();
    near(&plan.flows, &[0.0, 5.0, 7.0, 0.0], 1e-6);
}

#[test]
fn what_an_own_node_may_not_take_goes_on() {
    let file = ProblemFile::parse(
        r#"{"surplus": [60, 40], "capacity": [100, 50], "delay": [[0, 1], [0, 1]], "own": [0, 0]}"#,
    )
    .unwrap();
    let problem = file.problem().unwrap();
    let plan = own_first(&problem, file.own.as_ref().unwrap()).unwrap();
    // 80 of 100 fit at home: 48 and 32; 12 and 8 go on.
    near(&plan.flows, &[48.0, 12.0, 32.0, 8.0], 1e-6);
}

#[test]
fn structures_to_rent_are_those_computed_elsewhere() {
    let data = &structure()["structure"];
    for case in data["cases"].as_array().unwrap() {
        let model = serde_json::from_value(case["model"].clone()).unwrap();
        let weights = numbers(&case["w"]);
        let file = ProblemFile {
            w1: Some(weights[0]),
            w2: Some(weights[1]),
            w3: Some(weights[2]),
            cost: Some(numbers(&data["Z"])),
            ..file(data, model)
        };
        let report = StructureReport::of_file(&file, RESERVE).unwrap();
        let expected = case["objective"].as_f64().unwrap();
        assert!((report.objective.unwrap() - expected).abs() < 1e-6, "{case}: {report:?}");
        let loads = numbers(&case["B"]);
        near(&report.load, &loads, 2e-2);
        near(&report.rent, &loads.iter().map(|load| 1.2 * load).collect::<Vec<_>>(), 2.4e-2);
    }
}

#[test]
fn a_file_that_is_no_problem_is_told_why() {
    let error = |json: &str| match ProblemFile::parse(json) {
        Ok(file) => file.problem().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let with = |extra: &str| format!(r#"{{"surplus": [1], "capacity": [2, 3], "delay": [[1, 1]]{extra}}}"#);
    assert!(error(&with(r#", "colour": 1"#)).contains("colour"));
    assert!(error(&with(r#", "cost": [1]"#)).contains("`cost` has 1 values, and must have 2"));
    assert!(error(&with(r#", "cost": [1, 1]"#)).contains("go together"));
    assert!(error(&with(r#", "bound": 1.5"#)).contains("the bound is 1.5"));
    assert!(error(&with(r#", "w1": -1"#)).contains("w1 is -1"));
    assert!(error(&with(r#", "own": [2]"#)).contains("node 2"));
    assert!(error(r#"{"surplus": [1], "capacity": [2], "delay": [[1, 1]]}"#).contains("`delay` has 2"));
    assert!(error("{").contains("shape"));
    assert!(matches!(ProblemFile::parse("[]"), Err(FileError::Json(_))));
    assert!(ProblemFile::parse(&with("")).unwrap().problem().is_ok());
}

#[test]
fn a_report_says_what_room_is_worth() {
    let data = spill();
    let file = ProblemFile {
        own: Some(vec![Some(0), Some(1), Some(2), Some(3), Some(4)]),
        ..file(&data, Model::Aggregate)
    };
    let report = PlanReport::of_file(&file).unwrap();
    let text = report.text();
    assert!(text.contains("planned  0.174029"), "{text}");
    assert!(text.contains("node 4 carries 15.1155: more room there is worth nothing"), "{text}");
    assert!(text.contains("node 5 carries 48.0000, all that it may"), "{text}");
    assert!(report.own_first_objective.unwrap() > report.objective.unwrap());
    let json = serde_json::to_value(&report).unwrap();
    for key in ["objective", "flow", "prices", "infeasible_by"] {
        assert!(!json[key].is_null(), "{key}");
    }
}

/// One source of 50 on two nodes of 100, the second farther; 80 % may be used, and others have 60
/// on the first: 20 are left there.
#[test]
fn a_report_says_where_the_present_is_over_the_bound() {
    let nodes = vec![Node { base: 60.0, ..Node::of(100.0) }, Node::of(100.0)];
    let links = vec![Link { source: 0, node: 0, delay: 0.1 }, Link { source: 0, node: 1, delay: 0.5 }];
    let weighing = Weighing { queue: 0.5, delay: 0.5, cost: 0.0, bound: 0.8 };
    let problem = Problem::new(Model::Aggregate, weighing, vec![50.0], nodes, links).unwrap();
    let names = (vec!["bas-a".to_owned()], vec!["e1".to_owned(), "e2".to_owned()]);
    let planned = || PlanReport::solve(&problem, names.0.clone(), names.1.clone()).unwrap();
    let over = planned().beside(&problem, &[80, 20]);
    near(&over.present_overload.clone().unwrap(), &[20.0, 0.0], 1e-9);
    assert!(over.text().contains("present gives e1 20.0000 more than it may carry\n"), "{}", over.text());
    let within = planned().beside(&problem, &[30, 70]);
    near(&within.present_overload.clone().unwrap(), &[0.0, 0.0], 0.0);
    assert!(!within.text().contains("present gives"), "{}", within.text());
    // What is in force is the plan: nothing is gained, and nought has no sign.
    let same = PlanReport { gain: Some(-1e-9), ..within };
    assert!(same.text().contains("gain     0.0 %\n"), "{}", same.text());
}

#[test]
fn nothing_to_place_is_no_problem() {
    let file = ProblemFile::parse(r#"{"surplus": [0], "capacity": [1], "delay": [[1]]}"#).unwrap();
    assert_eq!(file.problem().unwrap().solve().unwrap().objective, 0.0);
    let file = ProblemFile::parse(r#"{"surplus": [0, 2], "capacity": [9], "delay": [[1], [1]]}"#).unwrap();
    assert_eq!(PlanReport::of_file(&file).unwrap().weights, Some(vec![vec![0], vec![100]]));
}

/// The published objective by another way: block ascent on the dual, with
/// `f = C - sqrt(w1 C / (nu_i - mu_j - w2 T))` from the optimality conditions.
fn dual_ascent(problem: &Problem, caps: &[f64], sweeps: usize) -> f64 {
    let (n, m) = (problem.surplus().len(), problem.nodes().len());
    let (mut nu, mut mu) = (vec![0.0_f64; n], vec![0.0_f64; m]);
    let flow = |nu: f64, mu: f64, capacity: f64, delay: f64| {
        let slope = nu - mu - 0.5 * delay;
        if slope <= 0.5 / capacity { 0.0 } else { capacity - (0.5 * capacity / slope).sqrt() }
    };
    let of = |source: usize, node: usize| {
        problem.links().iter().find(|l| l.source == source && l.node == node).map(|l| l.delay)
    };
    let bisect = |wanted: f64, up: bool, sum: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (0.0, 1e4);
        for _ in 0..80 {
            let middle = (low + high) / 2.0;
            if (sum(middle) < wanted) == up { low = middle } else { high = middle }
        }
        low
    };
    for _ in 0..sweeps {
        for i in 0..n {
            let sum = |price: f64| {
                (0..m).filter_map(|j| Some(flow(price, mu[j], problem.nodes()[j].capacity, of(i, j)?))).sum()
            };
            nu[i] = bisect(problem.surplus()[i], true, &sum);
        }
        for j in 0..m {
            let sum = |price: f64| -> f64 {
                (0..n).filter_map(|i| Some(flow(nu[i], price, problem.nodes()[j].capacity, of(i, j)?))).sum()
            };
            mu[j] = if sum(0.0) <= caps[j] { 0.0 } else { bisect(caps[j], false, &sum) };
        }
    }
    let flows: Vec<f64> = problem
        .links()
        .iter()
        .map(|l| flow(nu[l.source], mu[l.node], problem.nodes()[l.node].capacity, l.delay))
        .collect();
    problem.cost(&flows)
}

#[test]
fn another_method_finds_the_same_optimum() {
    let data = spill();
    let problem = file(&data, Model::PerFlow).problem().unwrap();
    let other = dual_ascent(&problem, &numbers(&data["u"]), 600);
    let plan = problem.solve().unwrap();
    assert!((other - plan.objective).abs() < 1e-5, "{other} {}", plan.objective);
}

fn problems() -> impl Strategy<Value = Problem> {
    (1..5_usize, 2..5_usize).prop_flat_map(|(n, m)| {
        let surplus = prop::collection::vec(0.0..10.0_f64, n);
        let capacity = prop::collection::vec(5.0..80.0_f64, m);
        let delay = prop::collection::vec(prop::option::weighted(0.9, 0.0..2.0_f64), n * m);
        let model = prop_oneof![Just(Model::Aggregate), Just(Model::PerFlow)];
        (surplus, capacity, delay, model).prop_map(move |(surplus, capacity, delay, model)| {
            let link = |(place, delay): (usize, Option<f64>)| {
                delay.map(|delay| Link { source: place / m, node: place % m, delay })
            };
            let links = delay.into_iter().enumerate().filter_map(link).collect();
            let nodes = capacity.into_iter().map(Node::of).collect();
            Problem::new(model, Weighing::default(), surplus, nodes, links).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A plan places everything within the bounds, and no small move of traffic betters it.
    #[test]
    fn a_plan_is_feasible_and_locally_best(problem in problems()) {
        let plan = match problem.solve() {
            Ok(plan) => plan,
            Err(PlanError::Infeasible { by, .. }) => {
                prop_assert!(by > 0.0);
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert!(problem.overload(&plan.flows) < 1e-4, "{}", problem.overload(&plan.flows));
        for (row, surplus) in problem.matrix(&plan.flows).iter().zip(problem.surplus()) {
            prop_assert!((row.iter().sum::<f64>() - surplus).abs() < 1e-6);
        }
        let best = problem.cost(&plan.flows);
        for from in 0..plan.flows.len() {
            for to in 0..plan.flows.len() {
                let (a, b) = (problem.links()[from], problem.links()[to]);
                let step = plan.flows[from].min(0.01);
                if a.source != b.source || from == to || step <= 0.0 {
                    continue;
                }
                let mut other = plan.flows.clone();
                other[from] -= step;
                other[to] += step;
                if problem.overload(&other) <= 0.0 {
                    // The solver's tolerance is of its whole problem: a tiny surplus is placed less exactly.
                    prop_assert!(problem.cost(&other) >= best - 1e-4, "{} < {best}", problem.cost(&other));
                }
            }
        }
    }

    #[test]
    fn weights_add_up_and_stay_near_the_bounds(problem in problems()) {
        let Ok(plan) = problem.solve() else { return Ok(()) };
        let rounded = problem.round(&plan);
        let weights: Vec<f64> = rounded.weights.iter().map(|w| f64::from(*w)).collect();
        for (row, surplus) in problem.matrix(&weights).iter().zip(problem.surplus()) {
            if *surplus > 0.0 {
                prop_assert_eq!(row.iter().sum::<f64>(), 100.0);
            }
        }
        // A point is at most a tenth of a unit, and a node has few sources.
        prop_assert!(rounded.overload <= 0.5, "{}", rounded.overload);
    }
}
