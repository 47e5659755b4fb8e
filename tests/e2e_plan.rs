//! `plan --problem`, `structure` and `simulate`, as the program runs them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use support::poolsync::{self, Outcome};
use support::scratch::Scratch;

fn run(args: &[&str]) -> Outcome {
    let mut command = poolsync::command(["-c", "/no/such/configuration"]);
    command.args(args);
    poolsync::run_command(command)
}

fn of_file(command: &str, text: &str, more: &[&str]) -> Outcome {
    let scratch = Scratch::new();
    let path = scratch.write("problem.json", text);
    let mut args = vec![command, "--problem", path.to_str().unwrap()];
    args.extend(more);
    run(&args)
}

fn published() -> Value {
    serde_json::from_str(include_str!("data/steer/spill.json")).unwrap()
}

fn problem(model: &str) -> Value {
    let data = published();
    json!({
        "model": model, "surplus": data["F"], "capacity": data["C"], "bound": 0.8, "delay": data["T"],
        "w1": data["w1"], "w2": data["w2"]
    })
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn a_published_problem_is_solved_by_either_model() {
    for (model, key) in [("per-flow", "per_flow"), ("aggregate", "aggregate")] {
        let golden = &published()[key];
        let found = of_file("plan", &problem(model).to_string(), &["--json"]).expect(0).json();
        let off = found["objective"].as_f64().unwrap() - golden["objective"].as_f64().unwrap();
        assert!(off.abs() < 1e-6, "{model}: off by {off}");
        let flow: Vec<Vec<f64>> = found["flow"].as_array().unwrap().iter().map(numbers).collect();
        assert_eq!((flow.len(), flow[0].len()), (5, 6));
        // Every source's traffic is placed, and no node is over its bound.
        for (row, surplus) in flow.iter().zip([30.0, 50.0, 10.0, 20.0, 40.0]) {
            assert!((row.iter().sum::<f64>() - surplus).abs() < 1e-6, "{row:?}");
        }
        for (node, most) in [24.0, 16.0, 16.0, 16.0, 48.0, 32.0].into_iter().enumerate() {
            assert!(flow.iter().map(|row| row[node]).sum::<f64>() <= most + 1e-5);
        }
        assert_eq!(found["infeasible_by"], 0.0);
        let prices = numbers(&found["prices"]);
        // Only the fourth node of the one is below its bound.
        assert_eq!(
            prices.iter().filter(|price| **price > 1e-4).count(),
            if model == "per-flow" { 5 } else { 3 }
        );
        let text = of_file("plan", &problem(model).to_string(), &[]).expect(0).stdout;
        assert!(text.contains("all that it may: allowing it one more unit is worth"), "{text}");
    }
}

#[test]
fn traffic_that_does_not_fit_is_told_by_how_much() {
    let mut too_much = problem("aggregate");
    too_much["surplus"] = published()["infeasible"]["F"].clone();
    // 180 where 152 may be carried.
    let found = of_file("plan", &too_much.to_string(), &["--json"]).expect(3).json();
    assert!((found["infeasible_by"].as_f64().unwrap() - 28.0).abs() < 1e-3, "{found}");
    assert!(found["objective"].is_null() && found["flow"].is_null());
    of_file("plan", &too_much.to_string(), &[]).expect(3).said(&[]);
}

#[test]
fn capacities_to_rent_are_proposed() {
    let all: Value = serde_json::from_str(include_str!("data/steer/structure.json")).unwrap();
    let data = &all["structure"];
    let mut text = String::new();
    for case in data["cases"].as_array().unwrap() {
        let weights = numbers(&case["w"]);
        let model = case["model"].as_str().unwrap().replace('_', "-");
        text = json!({
            "model": model, "surplus": data["F"], "capacity": data["C"], "bound": 0.8, "delay": data["T"],
            "w1": weights[0], "w2": weights[1], "w3": weights[2], "cost": data["Z"]
        })
        .to_string();
        let found = of_file("structure", &text, &["--json"]).expect(0).json();
        assert!((found["objective"].as_f64().unwrap() - case["objective"].as_f64().unwrap()).abs() < 1e-6);
        let (load, rent) = (numbers(&found["load"]), numbers(&found["rent"]));
        for (load, expected) in load.iter().zip(numbers(&case["B"])) {
            assert!((load - expected).abs() < 0.05, "{found}");
        }
        assert!(load.iter().zip(&rent).all(|(load, rent)| (rent - 1.2 * load).abs() < 1e-9), "{found}");
    }
    // The last of them: 48 on the first node.
    let half = of_file("structure", &text, &["--json", "--reserve", "1.5"]).expect(0).json();
    assert!((numbers(&half["rent"])[0] - 72.0).abs() < 0.1, "{half}");
    of_file("structure", &text, &["--reserve", "0.5"]).expect(2).said(&["--reserve"]);
    assert!(of_file("structure", &text, &[]).expect(0).stdout.contains("rent"));
}

#[test]
fn a_faulty_problem_is_told_with_file_line_and_key() {
    for (text, wanted) in [
        ("{\n\"surplus\": [1],\n\"capcity\": [1]}", &["problem.json", "capcity", "line 3"][..]),
        ("{\"surplus\": [1], \"capacity\": [1]}", &["problem.json", "delay"]),
        ("{\"surplus\": [1], \"capacity\": [1], \"delay\": [[1, 2]]}", &["`delay`", "has 2 values", "1"]),
        ("{\"surplus\": [-1], \"capacity\": [1], \"delay\": [[1]]}", &["surplus", "-1"]),
        ("{\"surplus\": [1], \"capacity\": [1], \"delay\": [[1]], \"bound\": 2}", &["bound", "2"]),
        ("{\"surplus\": [1], \"capacity\": [1], \"delay\": [[1]], \"cost\": [1]}", &["`cost`", "`w3`"]),
        ("surplus", &["problem.json", "line 1"]),
    ] {
        let outcome = of_file("plan", text, &[]).expect(2);
        outcome.said(wanted);
        of_file("structure", text, &[]).expect(2);
    }
    run(&["plan", "--problem", "/no/such/file"]).expect(2).said(&["/no/such/file"]);
    run(&["structure"]).expect(2).said(&["--problem"]);
    // Without a problem the configuration says what to plan.
    run(&["plan"]).expect(78);
}

/// Short runs of the published findings; the long ones are the library's tests.
#[test]
fn a_simulation_ranks_policies_and_draws_them() {
    let scratch = Scratch::new();
    let svg = scratch.join("out.svg");
    let args = [
        "simulate",
        "--json",
        "--policy",
        "uniform,nearest,greedy",
        "--interval",
        "10,300",
        "--calls",
        "8000",
        "--seed",
        "5",
        "--svg",
        svg.to_str().unwrap(),
    ];
    let found = run(&args).expect(0).json();
    assert_eq!(found["check"]["agrees"], true);
    let blocking = |policy: &str, interval: f64| {
        let mut rows = found["rows"].as_array().unwrap().iter();
        let row = rows.find(|row| row["policy"] == policy && row["interval_s"] == interval).unwrap();
        row["blocking"].as_f64().unwrap()
    };
    assert!(blocking("nearest", 10.0) > blocking("uniform", 10.0));
    assert!(blocking("uniform", 10.0) > blocking("greedy", 10.0));
    assert!(blocking("greedy", 300.0) > 10.0 * blocking("greedy", 10.0));
    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.matches("<polyline").count() == 6, "{drawing}");
    // The same seed, the same figures.
    assert_eq!(run(&args).expect(0).json(), found);

    let staggered =
        ["simulate", "--json", "--policy", "greedy", "--interval", "300", "--calls", "8000", "--staggered"];
    let herd = run(&staggered).expect(0).json()["rows"][0]["blocking"].as_f64().unwrap();
    let mut fading = staggered.to_vec();
    fading.extend(["--fading", "120"]);
    let cured = run(&fading).expect(0).json()["rows"][0]["blocking"].as_f64().unwrap();
    assert!(herd > 0.3 && cured < 0.05, "{herd} {cured}");

    let by_d = ["simulate", "--policy", "loadnear", "--d", "1,2", "--interval", "10", "--calls", "500"];
    let text = run(&by_d).expect(0).stdout;
    assert!(
        text.contains("loadnear:1") && text.contains("loadnear:2") && text.contains("Erlang B"),
        "{text}"
    );
}

/// Its list holds ten names, and the call that finds it at its end gives none: 1 in 11.
#[test]
fn the_published_ratio_is_shown_with_its_fault() {
    let scratch = Scratch::new();
    let network = |weights: &str| {
        format!(
            r#"{{"name": "one", "links": [["a", "b"], ["b", "c"]], "gateways": ["a", "b", "c"],
                "arrivals": {{"a": 0.05}}, "capacity": {{"a": 99, "b": 99, "c": 99}}, "weight": {weights}}}"#
        )
    };
    let simulated = |name: &str, weights: &str| {
        let path = scratch.write(name, network(weights));
        let path = path.to_str().unwrap();
        let args = ["simulate", "--json", "--network", path, "--policy", "ratio-as-published,ratio"];
        let mut args = args.to_vec();
        args.extend(["--interval", "10", "--calls", "11000"]);
        run(&args).expect(0).json()
    };
    let ten = simulated("ten.json", r#"{"a": 1, "b": 2, "c": 7}"#);
    let blocking = |found: &Value, row: usize| found["rows"][row]["blocking"].as_f64().unwrap();
    assert!((blocking(&ten, 0) - 1.0 / 11.0).abs() < 1e-3, "{ten}");
    assert_eq!(blocking(&ten, 1), 0.0);
    assert!(ten["notes"][0].as_str().unwrap().contains("11th"), "{ten}");
    let eleven = simulated("eleven.json", r#"{"a": 1, "b": 3, "c": 7}"#);
    assert_eq!((blocking(&eleven, 0), blocking(&eleven, 1)), (1.0, 0.0));
    assert!(eleven["notes"][0].as_str().unwrap().contains("add up to 11"), "{eleven}");
    let others = ["simulate", "--json", "--policy", "ratio", "--interval", "10", "--calls", "100"];
    assert_eq!(run(&others).expect(0).json()["notes"], json!([]));
}

#[test]
fn a_network_of_ones_own_is_simulated_and_a_faulty_one_refused() {
    let scratch = Scratch::new();
    let network = scratch.write(
        "net.json",
        r#"{"name": "two", "links": [["a", "b"]], "gateways": ["a", "b"], "arrivals": {"a": 0.05},
            "capacity": {"a": 4, "b": 4}}"#,
    );
    let path = network.to_str().unwrap();
    let args = ["simulate", "--network", path, "--policy", "nearest", "--interval", "5", "--calls", "2000"];
    let text = run(&args).expect(0).stdout;
    assert!(text.contains("two: 2 nodes, 2 gateways"), "{text}");
    let faulty = scratch.write("bad.json", r#"{"links": [["a", "b"]], "gateways": ["x"]}"#);
    run(&["simulate", "--network", faulty.to_str().unwrap()]).expect(2).said(&["bad.json", "gateways", "x"]);
    run(&["simulate", "--policy", "gredy"]).expect(2).said(&["gredy", "greedy"]);
    run(&["simulate", "--interval", "-1"]).expect(2);
    run(&["simulate", "--hold", "0"]).expect(2).said(&["--hold"]);
    run(&["simulate", "--policy", "loadnear", "--calls", "10"]).expect(2).said(&["loadnear"]);
    let nothing =
        ["simulate", "--policy", "nearest", "--interval", "5", "--calls", "10", "--svg", "/tmp/none.svg"];
    run(&nothing).expect(2).said(&["nothing to draw"]);
}
