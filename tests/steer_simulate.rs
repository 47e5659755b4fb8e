//! The simulation against Erlang's formula, and against the figures of another one.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

use poolsync::steer::simulate::{
    Chart, Counting, Method, Network, NetworkError, Scenario, Series, SimulationReport, erlang_b, simulate,
    svg,
};
use serde_json::Value;

fn methods(names: &str) -> Vec<Method> {
    names.split(' ').map(|name| name.parse().unwrap()).collect()
}

fn quick() -> Scenario {
    Scenario { calls: 20_000, ..Scenario::default() }
}

fn blocking(report: &SimulationReport, policy: &str) -> f64 {
    report.rows.iter().find(|row| row.policy == policy).unwrap().blocking
}

#[test]
fn the_rings_are_those_of_the_paper() {
    let data: Value = serde_json::from_str(include_str!("data/steer/selection.json")).unwrap();
    let topology = &data["topology"];
    let network = Network::rings();
    assert_eq!(network.distances.len() as u64, topology["nodes"].as_u64().unwrap());
    assert_eq!(network.links as u64, topology["edges"].as_u64().unwrap());
    let (all, nearest) = network.mean_hops();
    assert!((all - topology["mean_hops_all"].as_f64().unwrap()).abs() < 1e-6, "{all}");
    assert!((nearest - topology["mean_hops_nearest"].as_f64().unwrap()).abs() < 1e-6, "{nearest}");
    let erlang = &data["erlang_b"];
    let found = erlang_b(erlang["offered_per_gw"].as_f64().unwrap(), 28);
    assert!((found - erlang["expect"].as_f64().unwrap()).abs() < 1e-7, "{found}");
}

/// Each row is the mean of at least five seeds elsewhere, with the deviation from seed to seed;
/// here are three seeds of other chance, and shorter.
#[test]
fn figures_agree_with_those_of_another_simulation() {
    let data: Value = serde_json::from_str(include_str!("data/steer/simulation.json")).unwrap();
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 23);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let scenario = Scenario {
            staggered: row["staggered"].as_bool().unwrap(),
            counting: serde_json::from_value::<Counting>(row["counting"].clone()).unwrap(),
            fading_s: row["fading_s"].as_f64(),
            selectors: number("selectors") as usize,
            calls: 30_000,
            ..Scenario::default()
        };
        let method = row["policy"].as_str().unwrap().parse().unwrap();
        let report = simulate(&scenario, &[method], &[number("interval_s")], &[1, 2, 3]);
        assert!(report.check.agrees, "{:?}", report.check);
        let found = &report.rows[0];
        let off = (found.blocking - number("blocking")).abs();
        let allowed = 3.0 * number("blocking_sd") + 0.06 * number("blocking") + 0.0005;
        assert!(off <= allowed, "{row}: blocking {} is off by {off}, {allowed} allowed", found.blocking);
        let off = (found.hops - number("hops")).abs();
        let allowed = 3.0 * number("hops_sd") + 0.02 * number("hops");
        assert!(off <= allowed, "{row}: hops {} are off by {off}, {allowed} allowed", found.hops);
    }
}

#[test]
fn policies_rank_as_published() {
    let scenario = Scenario { interval_s: 10.0, ..quick() };
    let names = "nearest uniform round-robin nearload:3 loadnear:10 greedy";
    let report = simulate(&scenario, &methods(names), &[10.0], &[1, 2]);
    let all: Vec<f64> = names.split(' ').map(|name| blocking(&report, name)).collect();
    assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "{all:?}");
}

#[test]
fn staggered_reports_herd_and_fading_cures_it() {
    let at = |staggered, fading_s| {
        let scenario = Scenario { staggered, fading_s, ..quick() };
        blocking(&simulate(&scenario, &methods("greedy"), &[300.0], &[1]), "greedy")
    };
    let (herd, snapshot, fading) = (at(true, None), at(false, None), at(true, Some(120.0)));
    assert!(herd > 0.4, "{herd}");
    assert!(snapshot < 0.03 && fading < 0.03, "{snapshot} {fading}");
}

#[test]
fn the_limits_are_the_same_run() {
    let names = "greedy loadnear:1 nearload:20 nearest loadnear:20 nearload:1";
    let report = simulate(&Scenario { calls: 5_000, ..quick() }, &methods(names), &[60.0], &[4]);
    let all: Vec<(f64, f64)> = report.rows.iter().map(|row| (row.blocking, row.hops)).collect();
    assert!(
        all[..3].iter().all(|row| *row == all[0]) && all[3..].iter().all(|row| *row == all[3]),
        "{all:?}"
    );
}

#[test]
fn a_seed_decides_everything() {
    let methods = methods("uniform p2c weighted-random ratio table:loadnear:4");
    let run = |seed| simulate(&Scenario { calls: 3_000, ..quick() }, &methods, &[60.0], &[seed]);
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).rows, run(8).rows);
}

#[test]
fn the_published_ratio_loses_every_eleventh_request() {
    let network = Network::parse(
        r#"{"links": [["a", "b"], ["b", "c"]], "gateways": ["a", "b", "c"],
            "arrivals": {"a": 0.01}, "weight": {"b": 2, "c": 7}}"#,
    )
    .unwrap();
    let scenario = Scenario { network, headroom: 100.0, calls: 11_000, warm_up: 0.0, ..Scenario::default() };
    let report = simulate(&scenario, &methods("ratio-as-published ratio smooth-weighted"), &[10.0], &[1]);
    assert!((blocking(&report, "ratio-as-published") - 1.0 / 11.0).abs() < 1e-12);
    assert_eq!(blocking(&report, "ratio"), 0.0);
    // a is at home: 0 hops, b 1, c 2; by weight 1.6.
    let smooth = report.rows.iter().find(|row| row.policy == "smooth-weighted").unwrap();
    assert!((smooth.hops - 1.6).abs() < 1e-9, "{}", smooth.hops);
    // 20 equal gateways: the list of the published one stays empty.
    let report =
        simulate(&Scenario { calls: 100, ..quick() }, &methods("ratio-as-published ratio"), &[10.0], &[1]);
    assert_eq!((blocking(&report, "ratio-as-published"), blocking(&report, "ratio")), (1.0, 0.0));
}

#[test]
fn tables_fare_as_their_policies_within_what_chance_allows() {
    let names =
        "table:nearest table:round-robin table:loadnear:10 table:plan table:shed:variable nearest uniform";
    let report = simulate(&Scenario { calls: 8_000, ..quick() }, &methods(names), &[120.0], &[1]);
    let row = |policy: &str| report.rows.iter().find(|row| row.policy == policy).unwrap().clone();
    assert_eq!(row("table:nearest").blocking, row("nearest").blocking);
    // Equal weights drawn by chance are the uniform choice.
    assert!((row("table:round-robin").blocking - row("uniform").blocking).abs() < 0.02);
    assert!((row("table:round-robin").hops - row("uniform").hops).abs() < 0.1);
    for policy in ["table:loadnear:10", "table:plan", "table:shed:variable"] {
        assert!(row(policy).blocking < 0.75 * row("nearest").blocking, "{policy}: {:?}", row(policy));
        assert!(row(policy).hops < 0.8 * row("uniform").hops, "{policy}: {:?}", row(policy));
    }
}

#[test]
fn a_network_of_ones_own_is_read_or_refused() {
    let with = |extra: &str| format!(r#"{{"links": [["a", "b"], ["c", "d"], ["b", "c"]], {extra}}}"#);
    let network = Network::parse(&with(
        r#""name": "mine", "gateways": ["a", "d"], "capacity": {"a": 5, "d": 9}, "arrivals": {"b": 0.5}"#,
    ))
    .unwrap();
    assert_eq!(network.distances, [[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.0]]);
    assert_eq!((network.capacities, network.arrivals), (Some(vec![5, 9]), Some(vec![0.0, 0.5, 0.0, 0.0])));
    let error = |text: &str| Network::parse(text).unwrap_err();
    assert!(matches!(error("{"), NetworkError::Json(_)));
    assert!(matches!(error(&with(r#""gateways": ["x"]"#)), NetworkError::Unknown { key: "gateways", .. }));
    assert!(matches!(error(&with(r#""gateways": []"#)), NetworkError::Gateways));
    assert!(matches!(error(&with(r#""gateways": ["a", "a"]"#)), NetworkError::Gateways));
    assert!(matches!(error(&with(r#""gateways": ["a"], "arrivals": {"a": -1}"#)), NetworkError::Arrivals));
    assert!(matches!(
        error(&with(r#""gateways": ["a"], "arrivals": {"x": 1}"#)),
        NetworkError::Unknown { .. }
    ));
    assert!(matches!(error(&with(r#""gateways": ["a"], "arrivals": {}"#)), NetworkError::Arrivals));
    assert!(matches!(
        error(&with(r#""gateways": ["a", "b"], "capacity": {"a": 1}"#)),
        NetworkError::Capacity(_)
    ));
    assert!(matches!(error(&with(r#""gateways": ["a"], "weight": {"b": 1}"#)), NetworkError::Unknown { .. }));
    assert!(matches!(error(&with(r#""gateways": ["a"], "weight": {"a": 0}"#)), NetworkError::Weights));
    let apart = r#"{"links": [["a", "b"], ["c", "d"]], "gateways": ["a"]}"#;
    assert!(matches!(error(apart), NetworkError::Apart { .. }));
}

#[test]
fn methods_are_named_as_they_are_read() {
    let names = "uniform round-robin nearest greedy loadnear:10 nearload:3 statistics smooth-weighted \
                 weighted-random ratio ratio-as-published p2c p2c:5 bounded:0.95 table:nearest \
                 table:round-robin table:weighted table:statistics table:greedy table:loadnear:2 \
                 table:nearload:2 table:plan table:shed:sending table:shed:variable";
    for name in names.split_whitespace() {
        assert_eq!(name.parse::<Method>().unwrap().to_string(), name);
    }
    for wrong in
        ["", "loadnear", "loadnear:0", "loadnear:x", "bounded:2", "greedy:3", "table:fixed", "table:shed:x"]
    {
        let error = wrong.parse::<Method>().unwrap_err();
        assert!(error.to_string().contains("smooth-weighted"), "{error}");
    }
}

#[test]
fn a_report_warns_of_reports_that_are_too_old() {
    let run = |interval| {
        simulate(&Scenario { calls: 2_000, ..quick() }, &methods("greedy"), &[interval], &[1]).text()
    };
    assert!(run(300.0).contains("longer than a request is served"), "{}", run(300.0));
    assert!(!run(60.0).contains("longer than"));
    assert!(run(60.0).contains("they agree"), "{}", run(60.0));
}

#[test]
fn charts_are_well_formed_and_hold_every_point() {
    let scenario = Scenario { calls: 1_000, ..quick() };
    let report = simulate(&scenario, &methods("nearest loadnear:2 loadnear:5"), &[10.0, 60.0, 300.0], &[1]);
    let charts = report.charts();
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    let four = [
        "Blocking by report interval",
        "Path length by report interval",
        "Blocking by d",
        "Path length by d",
    ];
    assert_eq!(titles, four);
    let drawing = svg(&charts);
    // Three lines of three points, twice; three lines of two points, twice.
    assert_eq!(drawing.matches("<polyline").count(), 12);
    assert_eq!(drawing.matches("<circle").count(), 30);
    assert_eq!(drawing.matches("<g ").count(), drawing.matches("</g>").count());
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n") && !drawing.contains("NaN"));

    let series = |points| Series { name: "a < b & c".into(), points };
    let chart = |points| Chart {
        title: String::new(),
        x: String::new(),
        y: String::new(),
        log: true,
        series: vec![series(points)],
    };
    for points in
        [vec![], vec![(0.0, 1.0)], vec![(5.0, 2.0), (5.0, 2.0)], vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)]]
    {
        let drawing = svg(&[chart(points)]);
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
        assert!(drawing.contains("a &lt; b &amp; c"));
    }
    assert!(svg(&[]).contains("</svg>"));
}
