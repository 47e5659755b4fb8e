//! The JSON of steering: weights of edges, regions, plans.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shapes::Problem;
use super::state::State;
use crate::steer::plan::PlanReport;
use crate::steer::{ListState, RegionReport, Staleness};
use crate::table::Name;

/// An edge's weight in one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeWeightShape {
    /// The group.
    pub group: String,
    /// The service that the group answers for.
    pub service: String,
    /// The weight.
    pub weight: u32,
    /// What the weights of the group add up to.
    pub of: u32,
}

/// How a region is steered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteeringShape {
    /// The region.
    pub region: String,
    /// Its policy.
    pub policy: String,
    /// How many of its lists are in which state: followed, kept, waiting, falling-back, static,
    /// infeasible, failed. Nothing before the loads have been read.
    pub lists: BTreeMap<String, usize>,
    /// The edges of which something is unknown that the policy needs.
    pub unknown: Vec<String>,
    /// Why there is no plan.
    pub failure: Option<String>,
    /// The largest share of a list's entries that is answered with another edge.
    pub shed: f64,
    /// Whether weights stay because something is pinned.
    pub pinned: bool,
    /// When the loads were read last.
    pub read: Option<Timestamp>,
    /// How old a load may be when it decides, in seconds: from one reading to the next, until it
    /// is published, and as long as an answer is kept.
    pub age_s: f64,
    /// The parts of that.
    pub interval_s: f64,
    /// To publish: the pace of the slowest export and its last publication.
    pub publish_s: f64,
    /// The longest time to live of an answer.
    pub ttl_s: f64,
    /// How long a session lasts, where the configuration says it.
    pub session_s: Option<f64>,
    /// fresh, ageing or stale, by that.
    pub good_for: Option<String>,
}

/// What a plan would make of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedShape {
    /// The region.
    pub region: String,
    /// The policy that steers it.
    pub policy: String,
    /// The edges whose capacity is unknown; lists with one of them are not planned.
    pub unknown: Vec<String>,
    /// Why there is no plan.
    pub failure: Option<String>,
    /// The plan beside what is in force; null where there is nothing to plan.
    pub plan: Option<PlanReport>,
}

impl State {
    /// How many seconds ago the loads were read.
    pub(super) fn load_age(&self, now: Timestamp) -> Option<u64> {
        self.steering.read.map(|read| now.duration_since(read).as_secs().try_into().unwrap_or(0))
    }

    /// The weights of an edge in the groups of several edges.
    pub(super) fn weights_of(&self, edge: &Name) -> Vec<EdgeWeightShape> {
        let groups = self.snapshot.groups.groups.values().filter(|group| group.edges.len() > 1);
        let weight = |group: &crate::table::Group| {
            let own = group.edges.iter().find(|own| own.name == *edge)?;
            Some(EdgeWeightShape {
                group: group.token.to_string(),
                service: group.service.to_string(),
                weight: own.weight,
                of: group.edges.iter().map(|edge| edge.weight).sum(),
            })
        };
        groups.filter_map(weight).collect()
    }

    /// How each region is steered.
    pub(super) fn steering_shapes(&self) -> Vec<SteeringShape> {
        let seconds = |time: Duration| time.as_secs_f64();
        let took = |name: &Name| self.published.get(name).map(|one| one.took).unwrap_or_default();
        let publish = self.exports.iter().map(|export| seconds(export.min_interval + took(&export.name)));
        let ttl = self.exports.iter().map(|export| f64::from(export.context.ttl.unwrap_or(0)));
        let (publish_s, ttl_s) = (publish.fold(0.0, f64::max), ttl.fold(0.0, f64::max));
        let interval_s = seconds(self.config.load.interval);
        let shape = |(name, steer): (&Name, &crate::config::Steer)| {
            let report = self.steering.regions.iter().find(|report| report.region == *name);
            let session_s = steer.session.map(seconds);
            let staleness = |session_s| Staleness { interval_s, publish_s, ttl_s, session_s };
            SteeringShape {
                region: name.to_string(),
                policy: steer.policy.name().to_owned(),
                lists: report.map(states).unwrap_or_default(),
                unknown: report.map(unknown).unwrap_or_default(),
                failure: report.and_then(|report| report.failure.clone()),
                shed: report.map(shed).unwrap_or_default(),
                pinned: self.pin.is_some(),
                read: self.steering.read,
                age_s: staleness(0.0).age_s(),
                interval_s,
                publish_s,
                ttl_s,
                session_s,
                good_for: session_s.map(|session| super::shaped::word(&staleness(session).good_for())),
            }
        };
        self.config.steer.iter().map(shape).collect()
    }

    /// What a plan would make of each region.
    ///
    /// # Errors
    /// Where no region is configured, or the lists of edges make no groups.
    pub(super) fn plans(&self) -> Result<Vec<PlannedShape>, Problem> {
        if self.config.steer.is_empty() {
            let detail =
                "the configuration has no [steer.REGION]; `plan --problem FILE` solves one given by hand";
            return Err(Problem::new(404, "no-region", "nothing to plan", detail));
        }
        let shape = |report: RegionReport| PlannedShape {
            policy: self.config.steer.get(&report.region).map_or("", |steer| steer.policy.name()).to_owned(),
            region: report.region.to_string(),
            unknown: unknown(&report),
            failure: report.failure,
            plan: report.plan,
        };
        Ok(self.planned()?.into_iter().map(shape).collect())
    }
}

fn states(report: &RegionReport) -> BTreeMap<String, usize> {
    let mut states = BTreeMap::new();
    for state in report.lists.iter().map(|list| list.state) {
        *states.entry(ListState::word(state).to_owned()).or_default() += 1;
    }
    states
}

fn unknown(report: &RegionReport) -> Vec<String> {
    let edges: BTreeSet<&Name> = report.lists.iter().flat_map(|list| &list.unknown).collect();
    edges.into_iter().map(ToString::to_string).collect()
}

fn shed(report: &RegionReport) -> f64 {
    let of_list = report.lists.iter().map(|list| list.shed.iter().map(|shed| shed.share).sum());
    of_list.fold(0.0, f64::max)
}
