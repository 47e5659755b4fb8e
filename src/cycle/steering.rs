//! Steering by load: what a configuration says of it, what is known, and one reading of the
//! loads taken up.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::commit::steered;
use super::settings::Settings;
use super::{Cycle, CycleError, State};
use crate::config::{Config, Steer};
use crate::load::{Collected, EdgeLoadReport};
use crate::steer::shed::ShedMemory;
use crate::steer::{
    self, Amount, Configured, Distances, Known, Loads, PlanRules, Policy, Region, RegionReport,
};
use crate::table::{Name, Table};

/// What steering has to know of a configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct SteerSettings {
    pub(super) regions: Vec<Region>,
    distances: Distances,
    demands: BTreeMap<(Name, Name), Amount>,
    weights: BTreeMap<Name, u32>,
    costs: BTreeMap<Name, Amount>,
}

impl SteerSettings {
    pub(super) fn of(config: &Config) -> Self {
        if config.steer.is_empty() {
            return Self::default();
        }
        let regions = config.regions();
        let region = |(name, steer): (&Name, &Steer)| Region {
            name: name.clone(),
            policy: steer.policy,
            damping: steer.damping,
            owners: regions.iter().filter(|(_, of)| *of == name).map(|(owner, _)| owner.clone()).collect(),
        };
        let traits = || config.traits.iter();
        Self {
            regions: config.steer.iter().map(region).collect(),
            distances: config.distances(),
            demands: demands(config),
            weights: traits().map(|(name, traits)| (name.clone(), traits.weight)).collect(),
            costs: traits().map(|(name, traits)| (name.clone(), traits.cost)).collect(),
        }
    }

    pub(super) fn known<'a>(
        &'a self,
        loads: &'a Loads,
        drained: &'a BTreeSet<Name>,
        moving: bool,
    ) -> Known<'a> {
        Known {
            loads,
            distances: &self.distances,
            demands: &self.demands,
            weights: &self.weights,
            costs: &self.costs,
            drained,
            moving,
        }
    }
}

/// The traffic of owners by service: of all their BASes, in equal parts of their services.
fn demands(config: &Config) -> BTreeMap<(Name, Name), Amount> {
    let mut demands: BTreeMap<(Name, Name), f64> = BTreeMap::new();
    for bas in config.bas.values() {
        let Some(demand) = bas.demand else { continue };
        for service in bas.edges.keys() {
            let part = demand.get() / bas.edges.len() as f64;
            *demands.entry((bas.owner().clone(), service.clone())).or_default() += part;
        }
    }
    demands.into_iter().filter_map(|(key, demand)| Some((key, Amount::new(demand)?))).collect()
}

/// What is known of the loads, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Steering {
    /// The last reading; nothing since the start.
    pub(super) loads: Loads,
    /// The same, edge by edge.
    pub(super) edges: Vec<EdgeLoadReport>,
    /// When it was.
    pub(super) read: Option<Timestamp>,
    /// What regions that shed remember.
    pub(super) shed: BTreeMap<Name, ShedMemory>,
    /// What was decided by it.
    pub(super) regions: Vec<RegionReport>,
}

impl Steering {
    /// What a store remembers. A text that is not understood is of another poolsync: then
    /// nothing is shed until the loads have been read.
    pub(super) fn of(stored: Option<&str>) -> Self {
        let shed = stored.and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        Self { shed, ..Self::default() }
    }

    /// What is to be stored.
    pub(super) fn stored(shed: &BTreeMap<Name, ShedMemory>) -> Result<String, CycleError> {
        serde_json::to_string(shed).map_err(|error| CycleError::Steering(error.to_string()))
    }

    /// Takes a reading of all edges up, at once.
    pub fn take(&mut self, read: &Collected, now: Timestamp) {
        self.loads = self.loads.next(&read.samples());
        self.edges = EdgeLoadReport::all(&self.loads, read);
        self.read = Some(now);
    }
}

impl State {
    /// Takes a reading of the loads up, to be looked at.
    pub fn take_loads(&mut self, read: &Collected, now: Timestamp) {
        self.steering.take(read, now);
    }

    /// What each region's lists would be by its policy and the last reading, and by a plan:
    /// with the policy's own rules where that is one, else with the usual ones.
    ///
    /// # Errors
    /// Where the configured lists of edges make no groups.
    pub(super) fn planned(&self) -> Result<Vec<RegionReport>, CycleError> {
        let settings = Settings::of(&self.config);
        let drained: BTreeSet<Name> = self.drains.edges.keys().cloned().collect();
        let known = settings.steer.known(&self.steering.loads, &drained, true);
        let planned = |region: &Region| Region {
            policy: match region.policy {
                plan @ Policy::Plan(_) => plan,
                _ => Policy::Plan(PlanRules::default()),
            },
            ..region.clone()
        };
        let regions: Vec<Region> = settings.steer.regions.iter().map(planned).collect();
        let configured = Configured {
            owners: &settings.owners,
            edges: &self.config.edges,
            default_edge: &self.config.default_edge,
        };
        let before = steer::undrained(&self.snapshot.groups, &self.drains.whole);
        let tables: [&Table; 1] = [&self.table];
        Ok(steer::steer(configured, &before, &tables, &regions, known, &BTreeMap::new())?.regions)
    }
}

impl Cycle {
    /// Takes a reading of all edges up, and moves weights by it: one step. While something is
    /// pinned they stay.
    ///
    /// # Errors
    /// Where the store fails: then no weight has moved.
    pub async fn take_loads(&mut self, read: &Collected, now: Timestamp) -> Result<bool, CycleError> {
        self.state.take_loads(read, now);
        if self.state.pin.is_some() {
            return Ok(false);
        }
        let mut next = self.same();
        let drained = &self.state.drains.edges;
        next.steered = steered(&self.state, &self.settings, drained, &next.table, None, true)?;
        let regions = std::mem::take(&mut next.steered.regions);
        let done = self.commit(next, &[], now).await?;
        self.state.steering.regions = regions;
        Ok(done.news)
    }
}
