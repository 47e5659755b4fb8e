//! Reports of steering: plans, structures, simulations, and the lines of `status`.

use std::fmt::Write as _;

use super::exit::Exit;
use super::output::Report;
use super::text::{age, bold};
use crate::cycle::shapes::{PlannedShape, SteeringShape};
use crate::steer::plan::{PlanReport, StructureReport};
use crate::steer::simulate::SimulationReport;

/// Incomplete where some traffic has no place.
fn fits(infeasible_by: f64) -> Exit {
    if infeasible_by > 0.0 { Exit::Incomplete } else { Exit::Ok }
}

impl Report for PlanReport {
    fn text(&self) -> String {
        Self::text(self)
    }

    fn exit(&self) -> Exit {
        fits(self.infeasible_by)
    }
}

impl Report for StructureReport {
    fn text(&self) -> String {
        Self::text(self)
    }

    fn exit(&self) -> Exit {
        fits(self.infeasible_by)
    }
}

impl Report for SimulationReport {
    fn text(&self) -> String {
        Self::text(self)
    }

    fn exit(&self) -> Exit {
        if self.check.agrees { Exit::Ok } else { Exit::Failed }
    }

    fn remarks(&self) -> Vec<String> {
        match self.check.agrees {
            true => Vec::new(),
            false => vec![
                "uniform choice does not block as Erlang B says: the figures are not to be trusted"
                    .to_owned(),
            ],
        }
    }
}

impl Report for Vec<PlannedShape> {
    fn text(&self) -> String {
        let mut text = String::new();
        for plan in self {
            let _ =
                writeln!(text, "{}, steered by {}", bold(&format!("region {}", plan.region)), plan.policy);
            match (&plan.plan, &plan.failure) {
                (Some(plan), _) => text.push_str(&plan.text()),
                (None, Some(failure)) => {
                    let _ = writeln!(text, "no plan: {failure}");
                }
                (None, None) => {
                    text.push_str("nothing to plan: no list of several edges whose capacities are known\n")
                }
            }
            if !plan.unknown.is_empty() {
                let _ = writeln!(text, "capacity unknown: {}", plan.unknown.join(", "));
            }
            text.push('\n');
        }
        text
    }

    fn exit(&self) -> Exit {
        if self.iter().any(|plan| plan.failure.is_some()) {
            return Exit::Failed;
        }
        let over = self.iter().filter_map(|plan| plan.plan.as_ref()).map(|plan| plan.infeasible_by);
        match self.iter().any(|plan| plan.plan.is_none()) {
            true => Exit::Incomplete,
            false => fits(over.fold(0.0, f64::max)),
        }
    }
}

/// How each region is steered, and what the age of the loads allows.
pub(super) fn steering_lines(regions: &[SteeringShape]) -> String {
    let mut text = String::new();
    for region in regions {
        let _ = write!(text, "region {}: {}", region.region, region.policy);
        let states = region.lists.iter().map(|(state, count)| format!("{count} {state}"));
        let states: Vec<String> = states.collect();
        if !states.is_empty() {
            let _ = write!(text, ", lists: {}", states.join(", "));
        }
        if region.shed > 0.0 {
            let _ = write!(text, ", up to {:.1} % shed", region.shed * 100.0);
        }
        if region.pinned {
            text.push_str(", weights stay: something is pinned");
        }
        text.push('\n');
        if !region.unknown.is_empty() {
            let _ = writeln!(text, "  unknown: {}", region.unknown.join(", "));
        }
        if let Some(failure) = &region.failure {
            let _ = writeln!(text, "  no plan: {failure}");
        }
        let _ = writeln!(text, "  {}", staleness(region));
    }
    text
}

fn staleness(region: &SteeringShape) -> String {
    let seconds = |value: f64| age(value.round() as u64);
    let mut text = format!(
        "a load decides for up to {}: read every {}, published within {}, answers kept for {}",
        seconds(region.age_s),
        seconds(region.interval_s),
        seconds(region.publish_s),
        seconds(region.ttl_s)
    );
    if let (Some(session), Some(good_for)) = (region.session_s, &region.good_for) {
        let verdict = match good_for.as_str() {
            "fresh" => "fresh enough for every policy",
            "ageing" => "loads help, but a bound on an edge's load is not kept",
            _ => "no policy by load is better than equal weights",
        };
        let _ = write!(text, "; a session lasts {}: {verdict}", seconds(session));
    }
    text
}
