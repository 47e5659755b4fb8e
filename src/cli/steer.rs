//! Plans and simulations: `plan`, `structure`, `simulate`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use super::exit::Exit;
use super::output::print;
use super::owner::{read, shape};
use super::steer_args::{PlanArgs, SimulateArgs, StructureArgs};
use super::stop::Stop;
use crate::cycle::Operation;
use crate::cycle::shapes::PlannedShape;
use crate::steer::plan::{PlanReport, ProblemFile, StructureReport};
use crate::steer::simulate::{Method, Network, Scenario, SimulationReport, simulate as run_simulation, svg};
use indicatif::{ProgressBar, ProgressStyle};

/// Runs `plan`.
pub(crate) async fn plan(args: &PlanArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    if let Some(path) = &args.problem {
        let report = PlanReport::of_file(&problem(path)?).map_err(|error| of_file(path, &error))?;
        return Ok(print(&report, json));
    }
    let mut plans = shape::<Vec<PlannedShape>>(read(config, Operation::Plan).await?)?;
    let known: Vec<&str> = plans.iter().map(|plan| plan.region.as_str()).collect();
    if let Some(unknown) = args.regions.iter().find(|region| !known.contains(&region.as_str())) {
        let known = known.join(", ");
        return Err(Stop::usage(format!("there is no [steer.{unknown}]; there are: {known}")));
    }
    plans.retain(|plan| args.regions.is_empty() || args.regions.contains(&plan.region));
    Ok(print(&plans, json))
}

/// Runs `structure`.
pub(crate) fn structure(args: &StructureArgs, json: bool) -> Result<Exit, Stop> {
    if !(args.reserve.is_finite() && args.reserve >= 1.0) {
        return Err(Stop::usage("--reserve is a factor of at least 1"));
    }
    let file = problem(&args.problem)?;
    let report =
        StructureReport::of_file(&file, args.reserve).map_err(|error| of_file(&args.problem, &error))?;
    Ok(print(&report, json))
}

fn problem(path: &Path) -> Result<ProblemFile, Stop> {
    ProblemFile::parse(&text(path)?).map_err(|error| of_file(path, &error))
}

fn text(path: &Path) -> Result<String, Stop> {
    std::fs::read_to_string(path).map_err(|error| of_file(path, &error))
}

fn of_file(path: &Path, error: &dyn std::fmt::Display) -> Stop {
    Stop::usage(format!("{}: {error}", path.display()))
}

/// Runs `simulate`.
pub(crate) async fn simulate(args: &SimulateArgs, json: bool) -> Result<Exit, Stop> {
    let methods = methods(args)?;
    let scenario = scenario(args)?;
    let seeds: Vec<u64> = (0..args.seeds).map(|n| args.seed.wrapping_add(n)).collect();
    let intervals = args.interval.clone();
    let bar = spinner(methods.len() * intervals.len() * seeds.len());
    let running =
        tokio::task::spawn_blocking(move || run_simulation(&scenario, &methods, &intervals, &seeds));
    let report = running.await.map_err(|e| Stop::failed(format!("the simulation broke off: {e}")))?;
    bar.finish_and_clear();
    if let Some(path) = &args.svg {
        draw(&report, path)?;
    }
    Ok(print(&report, json))
}

fn draw(report: &SimulationReport, path: &Path) -> Result<(), Stop> {
    let charts = report.charts();
    if charts.is_empty() {
        return Err(Stop::usage("there is nothing to draw: give several of --interval, or of --d"));
    }
    std::fs::write(path, svg(&charts)).map_err(|error| Stop::failed(format!("{}: {error}", path.display())))
}

fn methods(args: &SimulateArgs) -> Result<Vec<Method>, Stop> {
    let mut methods = Vec::new();
    for name in &args.policies {
        let takes_d = matches!(name.as_str(), "loadnear" | "nearload" | "p2c");
        let names: Vec<String> = match takes_d && !args.d.is_empty() {
            true => args.d.iter().map(|d| format!("{name}:{d}")).collect(),
            false => vec![name.clone()],
        };
        for name in names {
            methods.push(name.parse().map_err(|error| Stop::usage(format!("--policy: {error}")))?);
        }
    }
    Ok(methods)
}

fn scenario(args: &SimulateArgs) -> Result<Scenario, Stop> {
    let network = match &args.network {
        Some(path) => Network::parse(&text(path)?).map_err(|error| of_file(path, &error))?,
        None => Network::rings(),
    };
    let positive = |name: &str, value: f64| match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(Stop::usage(format!("{name} must be greater than 0"))),
    };
    if args.interval.iter().any(|interval| !(interval.is_finite() && *interval >= 0.0)) {
        return Err(Stop::usage("--interval is a number of seconds, not negative"));
    }
    Ok(Scenario {
        network,
        hold_s: positive("--hold", args.hold)?,
        headroom: positive("--headroom", args.headroom)?,
        staggered: args.staggered,
        counting: args.counting.into(),
        fading_s: args.fading.map(|fading| positive("--fading", fading)).transpose()?,
        selectors: args.selectors.into(),
        ties: args.ties.into(),
        calls: args.calls,
        ..Scenario::default()
    })
}

/// Something that moves on a terminal, nothing elsewhere.
fn spinner(runs: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message(format!("simulating {runs} times"));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
