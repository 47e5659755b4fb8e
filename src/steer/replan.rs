//! The plan of a region, and whether it is worth taking.

use std::collections::BTreeMap;

use super::plan::{Link, Node, Plan, PlanError, PlanReport, Problem, own_first};
use super::policy::PlanRules;
use super::unit::{Known, Unit};
use crate::table::Name;

/// What was planned for a region's lists.
#[derive(Debug)]
pub(super) struct Replan {
    /// The weights of each unit, by place; none where it had nothing to be planned on.
    pub(super) weights: Vec<Option<Vec<u32>>>,
    /// Whether it is worth taking.
    pub(super) adopt: bool,
    /// For people.
    pub(super) report: PlanReport,
}

/// Where the links of a unit lead: its places in the list, in the order of its links.
#[derive(Clone)]
struct Built {
    problem: Problem,
    places: Vec<Vec<usize>>,
    sources: Vec<usize>,
    nodes: Vec<String>,
}

/// Plans `units` beside what the edges carry else. None where there is nothing to plan.
///
/// # Errors
/// Where the solver fails, its word.
pub(super) fn replan(
    rules: &PlanRules,
    units: &[&Unit<'_>],
    known: Known<'_>,
    beside: &BTreeMap<&Name, f64>,
    min_gain: f64,
) -> Result<Option<Replan>, String> {
    let Some(built) = build(rules, units, known, beside)? else { return Ok(None) };
    let names = built.sources.iter().filter_map(|at| units.get(*at)).map(|unit| unit.name()).collect();
    let blank = PlanReport::named(&built.problem, names, built.nodes.clone());
    let plan = match solve(rules, &built, units) {
        Ok(plan) => plan,
        Err(PlanError::Infeasible { by, sources }) => {
            return Ok(Some(overfull(rules, &built, units, blank, by, sources)));
        }
        Err(error) => return Err(error.to_string()),
    };
    let rounded = built.problem.round(&plan);
    let present = present(&built, units);
    let report = blank.with(&built.problem, &plan, &rounded).beside(&built.problem, &present);
    let broken = built.problem.overload(&built.problem.flows_of(&present)) > 1e-6 * built.problem.total();
    let first = built.sources.iter().filter_map(|at| units.get(*at)).any(|unit| unit.previous.is_none());
    let gains = report.gain.is_none_or(|gain| gain > 0.0 && gain >= min_gain);
    let weights = by_place(&built, &rounded.weights, units);
    Ok(Some(Replan { weights, adopt: first || broken || gains, report }))
}

/// Traffic that does not fit: what fits is planned, and what does not goes the same ways. That
/// spreads the overload over all edges within reach, instead of leaving it where it arose.
fn overfull(
    rules: &PlanRules,
    built: &Built,
    units: &[&Unit<'_>],
    blank: PlanReport,
    by: f64,
    unplaced: Vec<f64>,
) -> Replan {
    let fits = built.problem.without(&unplaced).map(|problem| Built { problem, ..built.clone() });
    let weights = fits.and_then(|fits| Some(fits.problem.round(&solve(rules, &fits, units).ok()?).weights));
    let weights = weights.map(|weights| by_place(built, &weights, units));
    Replan {
        adopt: weights.is_some(),
        weights: weights.unwrap_or_else(|| vec![None; units.len()]),
        report: blank.infeasible(by, unplaced),
    }
}

fn solve(rules: &PlanRules, built: &Built, units: &[&Unit<'_>]) -> Result<Plan, PlanError> {
    if !rules.own_first {
        return built.problem.solve();
    }
    let node = |at: &usize| {
        let first = units.get(*at)?.edges.first()?;
        built.nodes.iter().position(|name| *name == **first)
    };
    own_first(&built.problem, &built.sources.iter().map(node).collect::<Vec<_>>())
}

fn build(
    rules: &PlanRules,
    units: &[&Unit<'_>],
    known: Known<'_>,
    beside: &BTreeMap<&Name, f64>,
) -> Result<Option<Built>, String> {
    let all: BTreeMap<&Name, usize> = {
        let mut names: Vec<&Name> = units.iter().flat_map(|unit| unit.edges).collect();
        names.sort();
        names.dedup();
        names.into_iter().enumerate().map(|(at, name)| (name, at)).collect()
    };
    let node = |name: &&Name| Node {
        capacity: known.loads.of(name).capacity().unwrap_or(0.0),
        base: beside.get(*name).copied().unwrap_or(0.0),
        cost: known.costs.get(*name).map_or(0.0, |cost| cost.get()),
    };
    let nodes: Vec<Node> = all.keys().map(node).collect();
    let (mut links, mut places, mut sources, mut surplus) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.demand > 0.0) {
        let mut candidates = candidates(rules, unit, known);
        let node_of = |place: &usize| unit.edges.get(*place).and_then(|edge| all.get(edge)).copied();
        candidates.sort_by_key(node_of);
        if candidates.is_empty() {
            continue;
        }
        for place in &candidates {
            let delay = unit.distances.get(*place).copied().flatten().unwrap_or(0.0) * rules.delay_unit;
            links.extend(node_of(place).map(|node| Link { source: sources.len(), node, delay }));
        }
        places.push(candidates);
        surplus.push(unit.demand);
        sources.push(at);
    }
    if sources.is_empty() {
        return Ok(None);
    }
    let problem =
        Problem::new(rules.model, rules.weighing, surplus, nodes, links).map_err(|e| e.to_string())?;
    let nodes = all.keys().map(|name| name.to_string()).collect();
    Ok(Some(Built { problem, places, sources, nodes }))
}

/// The nearest edges that are in service and can carry something, and those that carry some
/// of it now. An edge without a known distance is none where others have one.
fn candidates(rules: &PlanRules, unit: &Unit<'_>, known: Known<'_>) -> Vec<usize> {
    let any = unit.distances.iter().any(Option::is_some);
    let usable = |(place, edge): &(usize, &Name)| {
        (!any || unit.distance(*place).is_finite())
            && known.loads.of(edge).capacity().is_some_and(|capacity| capacity > 0.0)
    };
    let mut places: Vec<usize> = unit.open_places().filter(usable).map(|(place, _)| place).collect();
    places.sort_by(|a, b| unit.distance(*a).total_cmp(&unit.distance(*b)).then(a.cmp(b)));
    let present = unit.present();
    let carries = |place: &usize| present.get(*place).is_some_and(|share| *share > 0.0);
    let mut nearest = 0;
    places.retain(|place| {
        nearest += 1;
        nearest <= rules.candidates.get() || carries(place)
    });
    places
}

/// The weights in force, by link.
fn present(built: &Built, units: &[&Unit<'_>]) -> Vec<u32> {
    let mut weights = Vec::new();
    for (at, places) in built.sources.iter().zip(&built.places) {
        let Some(unit) = units.get(*at) else { continue };
        let now = unit.previous.as_ref().unwrap_or(&unit.fixed);
        weights.extend(places.iter().map(|place| now.get(*place).copied().unwrap_or(0)));
    }
    weights
}

/// Weights by link as each unit's, by place.
fn by_place(built: &Built, links: &[u32], units: &[&Unit<'_>]) -> Vec<Option<Vec<u32>>> {
    let mut all = vec![None; units.len()];
    let mut links = links.iter();
    for (at, places) in built.sources.iter().zip(&built.places) {
        let mut weights = vec![0; units.get(*at).map_or(0, |unit| unit.edges.len())];
        for (place, point) in places.iter().zip(links.by_ref()) {
            if let Some(weight) = weights.get_mut(*place) {
                *weight = *point;
            }
        }
        if let Some(unit) = all.get_mut(*at) {
            *unit = Some(weights);
        }
    }
    all
}
