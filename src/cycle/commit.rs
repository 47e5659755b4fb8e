//! Steer, compare and commit: from a judged table to what is published.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::settings::Settings;
use super::shapes::ChangedShape;
use super::steering::Steering;
use super::{Cycle, CycleError, State, of_names, window_start};
use crate::steer::shed::ShedMemory;
use crate::steer::{self, Configured, RegionReport};
use crate::store::{Acts, Commit, Repin, Shown};
use crate::table::{Act, Drain, Drains, Groups, GuardMemory, Name, Pin, Snapshot, Table, Token, diff};

/// What is to be in force next.
#[derive(Clone, Debug)]
pub(super) struct Next {
    /// The table as polls and the guard have it.
    pub(super) table: Arc<Table>,
    pub(super) guard: GuardMemory,
    pub(super) filled: bool,
    pub(super) steered: Steered,
    /// What is published instead, and why.
    pub(super) pin: Option<(Pin, Arc<Table>)>,
}

/// The groups, with drained edges taken out.
#[derive(Clone, Debug, Default)]
pub(super) struct Steered {
    pub(super) groups: Groups,
    pub(super) drains: Drains,
    /// The groups that the default edge answers for because all of theirs are drained.
    pub(super) stand_ins: Vec<Token>,
    /// What regions that shed remember.
    pub(super) shed: BTreeMap<Name, ShedMemory>,
    /// What was decided, for people.
    pub(super) regions: Vec<RegionReport>,
}

/// What a commit came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub(super) changed: ChangedShape,
    /// Whether there is something new to publish.
    pub(super) news: bool,
}

impl Cycle {
    /// What is in force, to be changed in part.
    pub(super) fn same(&self) -> Next {
        Next {
            table: Arc::clone(&self.state.table),
            guard: self.state.guard.clone(),
            filled: self.state.snapshot.filled,
            steered: Steered {
                groups: (*self.state.snapshot.groups).clone(),
                drains: self.state.drains.clone(),
                stand_ins: Vec::new(),
                shed: self.state.steering.shed.clone(),
                regions: Vec::new(),
            },
            pin: self.state.pin.clone(),
        }
    }

    /// The groups of a table and of what is pinned above it.
    pub(super) fn steer(&self, table: &Table, pinned: Option<&Table>) -> Result<Steered, CycleError> {
        self.steer_without(&self.state.drains.edges, table, pinned)
    }

    /// The same with these edges drained.
    pub(super) fn steer_without(
        &self,
        drained: &BTreeMap<Name, Drain>,
        table: &Table,
        pinned: Option<&Table>,
    ) -> Result<Steered, CycleError> {
        steered(&self.state, &self.settings, drained, table, pinned, false)
    }

    /// Writes what is to be in force, and only then takes it up.
    pub(super) async fn commit(
        &mut self,
        next: Next,
        done: &[Act],
        now: Timestamp,
    ) -> Result<Done, CycleError> {
        let before = Arc::clone(&self.state.snapshot);
        let changes = diff(&self.state.table, &next.table);
        let published = next.pin.as_ref().map_or(&next.table, |(_, ranges)| ranges);
        let (pin, shown) = self.repinned(&next, published);
        let groups = (*before.groups != next.steered.groups).then_some(&next.steered.groups);
        let drains = (self.state.drains != next.steered.drains).then_some(&next.steered.drains);
        let remembers = self.state.steering.shed != next.steered.shed;
        let steering = remembers.then(|| Steering::stored(&next.steered.shed)).transpose()?;
        let memories = of_names(&self.state.memories, &self.listings);
        let idle = changes.is_empty()
            && groups.is_none()
            && drains.is_none()
            && pin.is_none()
            && done.is_empty()
            && memories.is_empty()
            && steering.is_none()
            && next.guard == self.state.guard
            && next.filled == before.filled;
        if idle {
            return Ok(Done::default());
        }
        let commit = Commit {
            at: now,
            changes: &changes,
            groups,
            memories: &memories,
            guard: &next.guard,
            filled: next.filled,
            steering: steering.as_deref(),
            acts: Acts { pin, drains, done, shown },
        };
        let committed = self.store.commit(commit).await?;
        self.dirty.retain(|name| !self.listings.contains(name));
        self.listings.clear();
        self.runs.commit(&changes, now);
        self.runs.prune(window_start(&self.state.config, now));
        let snapshot = Snapshot {
            session: before.session,
            generation: committed.generation,
            committed: if committed.made { now } else { before.committed },
            filled: next.filled,
            table: Arc::clone(published),
            groups: Arc::clone(&before.groups),
            edges: Arc::new(self.state.config.edges.clone()),
            default_edge: self.state.config.default_edge.clone(),
        };
        let news = committed.made || next.filled != before.filled;
        self.take_up(next, snapshot);
        Ok(Done { changed: ChangedShape::of(&changes), news })
    }

    fn take_up(&mut self, next: Next, mut snapshot: Snapshot) {
        if *snapshot.groups != next.steered.groups {
            snapshot.groups = Arc::new(next.steered.groups);
        }
        if snapshot.filled && self.state.shown.is_none() {
            self.state.shown = Some(snapshot.generation);
        }
        self.state.snapshot = Arc::new(snapshot);
        self.state.table = next.table;
        self.state.guard = next.guard;
        self.state.drains = next.steered.drains;
        self.state.steering.shed = next.steered.shed;
        self.state.pin = next.pin;
    }

    /// What becomes of the pin, and by how much that changes what is published.
    fn repinned<'a>(&self, next: &'a Next, published: &Table) -> (Option<Repin<'a>>, Option<Shown>) {
        let (old, new) = (self.state.pin.as_ref().map(|p| &p.0), next.pin.as_ref().map(|p| &p.0));
        if old == new {
            return (None, None);
        }
        let differs = ChangedShape::of(&diff(&self.state.snapshot.table, published));
        let shown = Shown {
            added: differs.added as u64,
            removed: differs.removed as u64,
            altered: differs.altered as u64,
        };
        let pin = new.map_or(Repin::Release, Repin::Set);
        (Some(pin), (shown != Shown::default()).then_some(shown))
    }
}

/// The groups of a table and of what is pinned above it, with these edges drained. Weights by
/// load stay as they are, unless they may move.
pub(super) fn steered(
    state: &State,
    settings: &Settings,
    drained: &BTreeMap<Name, Drain>,
    table: &Table,
    pinned: Option<&Table>,
    moving: bool,
) -> Result<Steered, CycleError> {
    let configured = Configured {
        owners: &settings.owners,
        edges: &state.config.edges,
        default_edge: &state.config.default_edge,
    };
    let before = steer::undrained(&state.snapshot.groups, &state.drains.whole);
    let names: BTreeSet<Name> = drained.keys().cloned().collect();
    let known = settings.steer.known(&state.steering.loads, &names, moving);
    // What is pinned is what is published.
    let tables: Vec<&Table> = pinned.into_iter().chain([table]).collect();
    let regions = &settings.steer.regions;
    let found = steer::steer(configured, &before, &tables, regions, known, &state.steering.shed)?;
    let kept = steer::drained(found.groups, |edge| names.contains(edge), configured.default_edge);
    Ok(Steered {
        groups: kept.groups,
        drains: Drains { edges: drained.clone(), whole: kept.whole },
        stand_ins: kept.stand_ins,
        shed: found.shed,
        regions: found.regions,
    })
}
