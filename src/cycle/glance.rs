//! A look at the fleet that commits nothing, and the table as `coverage` holds others
//! against it.

use std::sync::Arc;

use jiff::Timestamp;

use super::commit::steered;
use super::settings::Settings;
use super::shapes::Problem;
use super::state::{State, inconsistent, known_service, unknown_space};
use super::{Arrived, CycleError, remember};
use crate::config::Config;
use crate::coverage::{Answer, Known, Served};
use crate::format::{Scope, View, groups_of};
use crate::publish::Export;
use crate::store::{Loaded, Owned};
use crate::table::{Drains, Groups, GuardMemory, Session, Snapshot, Table, build, claims};

/// The names of a configuration, for what an old table names.
pub fn known_names(config: &Config) -> Known {
    Known {
        bas: config.bas.values().map(|bas| (bas.name.clone(), bas.owner().clone())).collect(),
        edges: config.edges.keys().cloned().collect(),
        ..Known::default()
    }
}

/// The same with the groups that answer now.
fn known_with(config: &Config, groups: &Groups) -> Known {
    let groups = groups.groups.iter().map(|(token, group)| {
        let edges = group.edges.iter().map(|edge| edge.name.clone()).collect();
        (token.as_str().into(), edges)
    });
    Known { groups: groups.collect(), ..known_names(config) }
}

/// A space of the table by who owns it, with who answers, and the names that an old table may
/// name; nothing where an owner's entries have not all one answer, so that the owner does not
/// tell it.
///
/// # Errors
/// An unknown space or service.
pub fn served(
    config: &Config,
    owned: Owned,
    space: &str,
    service: &str,
) -> Result<Option<(Served, Known)>, Problem> {
    known_ground(config, space, service)?;
    if !owned.groups.shed.is_empty() {
        return Ok(None);
    }
    let snapshot = Snapshot {
        session: owned.session,
        generation: owned.generation,
        committed: owned.committed.unwrap_or(Timestamp::UNIX_EPOCH),
        filled: owned.filled,
        table: Arc::default(),
        groups: Arc::new(owned.groups),
        edges: Arc::new(config.edges.clone()),
        default_edge: config.default_edge.clone(),
    };
    let names = owned.owners.iter().map(|owner| &owner.name);
    let groups = groups_of(&snapshot, names, &service.into()).map_err(inconsistent)?;
    let answers = owned.owners.iter().zip(groups);
    let answers = answers
        .map(|(owner, group)| Answer::new(owner.name.clone(), owner.bas.clone(), Some(group), owner.fill));
    let answers = answers.collect();
    let known = known_with(config, &snapshot.groups);
    Ok(Some((Served::of_ranges(&space.into(), owned.ranges, answers), known)))
}

fn known_ground(config: &Config, space: &str, service: &str) -> Result<(), Problem> {
    if !config.spaces.contains_key(space) {
        return Err(unknown_space(space, config));
    }
    known_service(service, config)
}

impl State {
    /// What is known where there is no store.
    pub fn without_store(config: Arc<Config>, exports: Arc<Vec<Export>>) -> Self {
        let nothing = Loaded {
            session: Session(0),
            generation: 0,
            committed: None,
            filled: false,
            shown: None,
            table: Table::default(),
            pinned: None,
            drains: Drains::default(),
            groups: Groups::default(),
            memories: Default::default(),
            pools: Default::default(),
            guard: GuardMemory::default(),
            steering: None,
        };
        Self::of(config, exports, nothing)
    }

    /// The table that these polls come to, beside what is remembered: the guard is not asked,
    /// a pin is not heeded, and nothing is written.
    ///
    /// # Errors
    /// Where the configured lists of edges make no groups.
    pub fn glanced(mut self, arrived: Vec<Arrived>, now: Timestamp) -> Result<Self, CycleError> {
        let settings = Settings::of(&self.config);
        let owned = self.table.by_owner(|_| true);
        for Arrived { polled, scheduled, at } in arrived {
            let Some(member) = settings.members.get(&polled.name) else { continue };
            let own = owned.get(&member.owner).cloned().unwrap_or_default();
            let rules = settings.ingest(&polled.name);
            let memory = self.memories.entry(polled.name.clone()).or_default();
            remember::ingest(memory, polled, scheduled, at, &own, &rules);
        }
        let claimed = claims(self.fleet(&settings.members), settings.lines.lines(), &settings.claims, now);
        let table = Arc::new(build(claimed.claims, &self.table, &settings.build).table);
        let steered = steered(&self, &settings, &self.drains.edges, &table, None, false)?;
        self.snapshot = Arc::new(Snapshot {
            table: Arc::clone(&table),
            groups: Arc::new(steered.groups),
            ..(*self.snapshot).clone()
        });
        self.table = table;
        Ok(self)
    }

    /// The names that an old table may name.
    pub fn known(&self) -> Known {
        known_with(&self.config, &self.snapshot.groups)
    }

    /// A space of the table, published or not yet, with who answers.
    ///
    /// # Errors
    /// An unknown space or service.
    pub fn served(&self, space: &str, service: &str) -> Result<Served, Problem> {
        known_ground(&self.config, space, service)?;
        let scope = Scope { space: Some(space.into()), service: service.into() };
        let view = View::new(&self.snapshot, &scope).map_err(inconsistent)?;
        Ok(Served::of_view(&view, &space.into()))
    }
}
