//! Each source's own node first, and only what is left over to the others.

use super::problem::{Plan, PlanError, Problem};

/// The plan in which the own node of each source takes all of it that it may, and the rest
/// is placed for the least cost. `own` names each source's node; one without is placed as
/// the rest. Sources that share a node fill it in proportion. The flows and the objective are
/// those of all traffic, so that it compares with [`Problem::solve`].
///
/// # Errors
/// As for [`Problem::solve`].
pub fn own_first(problem: &Problem, own: &[Option<usize>]) -> Result<Plan, PlanError> {
    let kept = kept(problem, own);
    let mut rest = problem.clone();
    for (link, kept) in problem.links.iter().zip(&kept) {
        if let Some(surplus) = rest.surplus.get_mut(link.source) {
            *surplus = (*surplus - kept).max(0.0);
        }
        if let Some(node) = rest.nodes.get_mut(link.node) {
            node.base += kept;
        }
    }
    let mut plan = rest.solve()?;
    for (flow, kept) in plan.flows.iter_mut().zip(kept) {
        *flow += kept;
    }
    plan.objective = problem.cost(&plan.flows);
    Ok(plan)
}

/// What stays at home, by link.
fn kept(problem: &Problem, own: &[Option<usize>]) -> Vec<f64> {
    let at_home =
        |link: &super::Link| own.get(link.source).copied().flatten().is_some_and(|node| node == link.node);
    let wanted = |link: &super::Link| {
        if at_home(link) { problem.surplus.get(link.source).copied().unwrap_or(0.0) } else { 0.0 }
    };
    let wanted: Vec<f64> = problem.links.iter().map(wanted).collect();
    let asked = problem.node_loads(&wanted);
    let share = |node: usize| {
        let room = problem.nodes.get(node).map_or(0.0, |node| problem.room(node));
        let asked = asked.get(node).copied().unwrap_or(0.0);
        if asked > room { room / asked } else { 1.0 }
    };
    problem.links.iter().zip(&wanted).map(|(link, wanted)| wanted * share(link.node)).collect()
}
