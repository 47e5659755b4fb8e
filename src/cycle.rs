//! The sentence: collect, build, steer, compare, judge, commit, publish. The only module
//! that joins polls, store and publication.
//!
//! [`Cycle`] owns the store and everything that is known ([`State`]). [`Cycle::absorb`] takes
//! in what polls brought and says it from `build` to `commit`; [`Cycle::publish`] is its end,
//! [`Fleet::poll`] its beginning.

mod act_shapes;
mod acts;
mod archive;
mod arriving;
mod clones;
mod collect;
mod commit;
mod conflict_words;
mod connect;
mod drains;
mod explain;
mod explain_words;
mod exports;
mod feeds;
mod fleet;
mod forget;
mod glance;
mod held;
mod operation;
mod outlook;
mod past;
mod past_shapes;
mod perform;
mod pins;
mod recording;
mod remember;
mod settings;
mod shaped;
pub mod shapes;
mod state;
mod status_shapes;
mod steer_shapes;
mod steering;
mod walked;
mod who;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

pub use archive::Archive;
pub use arriving::Arriving;
pub use collect::{POLLS_PER_SLOT, chosen, collect, poll_shape};
pub use connect::{Cause, ConnectShape};
pub use exports::{ExportError, exports_of, limit_warnings, published_shape};
pub use feeds::{AGAIN, Feeds};
pub use fleet::{Fleet, Job, community_polling};
pub use glance::{known_names, served};
pub use operation::{
    Answer, ApproveRequest, DiffRequest, DrainRequest, ExplainRequest, ExportRequest, FreezeRequest,
    HistoryRequest, LookupRequest, Operation, PollRequest, ReleaseRequest, ReloadRequest, Reply,
    RollbackRequest, TemplateRequest, UndrainRequest,
};
pub use outlook::{Outlook, outlook, runs_window};
pub use pins::PIN_LASTS;
pub use recording::Recorded;
pub use shapes::Problem;
pub use state::{State, export};
pub use who::Who;

use crate::config::Config;
use crate::poll::Polled;
use crate::publish::{Clock, Export, Published, Report, publish_once};
use crate::store::{Store, StoreError};
use crate::table::{
    Act, Approved, Case, FleetClaims, FleetTable, GuardMemory, Judged, Memory, Name, PoolNames, Progress,
    Runs, Table, Usage, diff, judge,
};
use crate::trap::Tally;
use commit::Next;
use settings::Settings;
use shapes::ChangedShape;

/// Why a cycle could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configured lists of edges make no groups.
    #[error(transparent)]
    Groups(#[from] crate::table::GroupError),
    /// What steering remembers cannot be written down.
    #[error("what steering remembers cannot be written: {0}")]
    Steering(String),
}

/// One poll, with what it counts as.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// What it found.
    pub polled: Polled,
    /// Whether the schedule made it.
    pub scheduled: bool,
    /// When it ended.
    pub at: Timestamp,
}

/// What one batch came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Absorbed {
    /// What changed in the table.
    pub changed: ChangedShape,
    /// Whether there is something new to publish: a generation, or the table for the first
    /// time.
    pub news: bool,
    /// BASes that booted a short while ago: to be polled again soon.
    pub settling: Vec<Name>,
}

/// The owner of the store, and all that is known.
#[derive(Debug)]
pub struct Cycle {
    state: State,
    settings: Settings,
    store: Store,
    runs: Runs,
    /// The pools' names that are in the table and listed.
    pools: PoolNames,
    fleet_table: FleetTable,
    /// BASes whose listing changed: written with the next batch.
    listings: BTreeSet<Name>,
    /// BASes of which something smaller changed: written every now and then.
    dirty: BTreeSet<Name>,
    /// What was counted since it was last written.
    usages: BTreeMap<Name, Usage>,
}

impl Cycle {
    /// Opens the store of a configuration and takes up what it holds. A pin that expired
    /// while nobody was there is released.
    ///
    /// # Errors
    /// Where the store cannot be opened, read or written.
    pub async fn open(
        config: Arc<Config>,
        exports: Arc<Vec<Export>>,
        now: Timestamp,
    ) -> Result<Self, CycleError> {
        let mut store = Store::open(&config.store.path, Default::default()).await?;
        let mut loaded = store.load().await?;
        let pools = std::mem::take(&mut loaded.pools);
        let settings = Settings::of(&config);
        let runs = Runs::load(&store.runs_ended_since(window_start(&config, now)).await?);
        let state = State::of(config, exports, loaded);
        let (fleet_table, listings, dirty, usages) = Default::default();
        let mut cycle = Self { state, settings, store, runs, pools, fleet_table, listings, dirty, usages };
        cycle.expire(now).await?;
        Ok(cycle)
    }

    /// All that is known.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where the store is.
    pub fn store_path(&self) -> &Path {
        self.store.path()
    }

    /// What is remembered of a BAS.
    pub fn memory(&self, bas: &Name) -> Memory {
        self.state.memories.get(bas).cloned().unwrap_or_default()
    }

    /// Shows what is counted of notifications from now on.
    pub fn show_notifications(&mut self, tally: Arc<Tally>) {
        self.state.notifications = Some(tally);
    }

    /// Puts another configuration in force.
    pub fn reconfigure(&mut self, config: Arc<Config>, exports: Arc<Vec<Export>>) {
        self.settings = Settings::of(&config);
        self.fleet_table = FleetTable::default();
        self.state.reconfigure(config, exports);
    }

    /// Takes in polls, and a person's approvals; from `build` to `commit`. Without polls it
    /// brings the table to the configuration and the clock.
    ///
    /// # Errors
    /// Where the store fails: then nothing has changed, neither on disk nor in memory, but
    /// for what the polls brought.
    pub async fn absorb(
        &mut self,
        arrived: Vec<Arrived>,
        approved: &Approved,
        publish_unfilled: bool,
        now: Timestamp,
    ) -> Result<Absorbed, CycleError> {
        self.absorb_as(arrived, approved, publish_unfilled, &[], now).await
    }

    /// The same, with what is to be remembered as done.
    async fn absorb_as(
        &mut self,
        arrived: Vec<Arrived>,
        approved: &Approved,
        publish_unfilled: bool,
        done: &[Act],
        now: Timestamp,
    ) -> Result<Absorbed, CycleError> {
        let released = self.expire(now).await?;
        let settling = self.remember(arrived);
        if !publish_unfilled && approved.is_empty() && done.is_empty() && self.is_idle(now) {
            return Ok(Absorbed { news: released, settling, ..Absorbed::default() });
        }
        self.fleet_table.unsettle();
        let candidate = self.build(now);
        let judged = self.judge(candidate, approved, publish_unfilled, now);
        let steered = self.steer(&judged.table, self.state.pinned())?;
        let Judgement { table, guard, filled } = judged;
        let next = Next { table: Arc::new(table), guard, filled, steered, pin: self.state.pin.clone() };
        let done = self.commit(next, done, now).await?;
        self.fleet_table.settle();
        Ok(Absorbed { changed: done.changed, news: released || done.news, settling })
    }

    /// What the same batch would come to, without committing anything.
    ///
    /// # Errors
    /// As [`Cycle::absorb`], but for the store.
    pub fn rehearse(
        &mut self,
        arrived: Vec<Arrived>,
        now: Timestamp,
    ) -> Result<(Absorbed, State), CycleError> {
        let names: BTreeSet<Name> = arrived.iter().map(|one| one.polled.name.clone()).collect();
        let before = names.into_iter().map(|name| {
            let known = (self.state.memories.get(&name).cloned(), self.usages.get(&name).cloned());
            (name, known)
        });
        let before: Vec<_> = before.collect();
        let marks = (self.listings.clone(), self.dirty.clone(), self.fleet_table.clone());
        let conflicts = Arc::clone(&self.state.conflicts);
        let settling = self.remember(arrived);
        let candidate = self.build(now);
        let judged = self.judge(candidate, &Approved::default(), false, now);
        let changes = diff(&self.state.table, &judged.table);
        let mut state = self.state.clone();
        state.guard = judged.guard;
        for (name, (memory, usage)) in before {
            put_back(&mut self.state.memories, &name, memory);
            put_back(&mut self.usages, &name, usage);
        }
        (self.listings, self.dirty, self.fleet_table) = marks;
        self.state.conflicts = conflicts;
        Ok((Absorbed { changed: ChangedShape::of(&changes), news: false, settling }, state))
    }

    /// Ingests what polls found into what is remembered per BAS.
    fn remember(&mut self, arrived: Vec<Arrived>) -> Vec<Name> {
        let of_arrived = |one: &Arrived| Some(&self.settings.members.get(&one.polled.name)?.owner);
        let owners: HashSet<&Name> = arrived.iter().filter_map(of_arrived).collect();
        let owned = self.state.table.by_owner(|owner| owners.contains(owner));
        let mut settling = Vec::new();
        for Arrived { mut polled, scheduled, at } in arrived {
            let name = polled.name.clone();
            let Some(member) = self.settings.members.get(&name) else { continue };
            let nothing = BTreeMap::new();
            let own = owned.get(&member.owner).unwrap_or(&nothing);
            let memory = self.state.memories.entry(name.clone()).or_default();
            let complete = polled.state == crate::poll::State::Complete;
            for listed in polled.tables.iter_mut().flat_map(|result| &mut result.table.listed) {
                listed.pool = self.pools.shared(listed.pool.clone());
            }
            let ingested = remember::ingest(memory, polled, scheduled, at, own, &self.settings.ingest(&name));
            if complete {
                self.usages.entry(name.clone()).or_default().note(at, &memory.listed);
            }
            if ingested.settling {
                settling.push(name.clone());
            }
            if ingested.changed {
                self.fleet_table.touch(&name, ingested.touched);
                self.listings.insert(name)
            } else {
                self.dirty.insert(name)
            };
        }
        settling
    }

    /// Whether building, judging and committing would come to what there is already.
    fn is_idle(&self, now: Timestamp) -> bool {
        self.state.snapshot.filled
            && self.state.guard.holds.is_empty()
            && self.listings.is_empty()
            && self.fleet_table.is_current(&self.claimants(now))
    }

    fn claimants(&self, now: Timestamp) -> FleetClaims<'_> {
        let fleet = self.state.fleet(&self.settings.members);
        FleetClaims::new(fleet, &self.settings.lines, &self.settings.claims, now)
    }

    fn build(&mut self, now: Timestamp) -> Table {
        let mut fleet_table = std::mem::take(&mut self.fleet_table);
        let (table, conflicts) =
            fleet_table.bring(&self.claimants(now), &self.state.table, &self.settings.build);
        self.fleet_table = fleet_table;
        self.state.conflicts = conflicts;
        table
    }

    fn judge(
        &self,
        candidate: Table,
        approved: &Approved,
        publish_unfilled: bool,
        now: Timestamp,
    ) -> Judgement {
        let fleet = self.state.fleet(&self.settings.members);
        let filled = self.state.snapshot.filled
            || publish_unfilled
            || Progress::of(fleet).is_enough(self.settings.first_publish);
        if !self.state.snapshot.filled {
            // Nothing is judged before the table is published for the first time.
            return Judgement { table: candidate, guard: self.state.guard.clone(), filled };
        }
        let Judged { table, memory, .. } = judge(Case {
            published: &self.state.table,
            built: candidate,
            runs: &self.runs,
            memory: self.state.guard.clone(),
            fleet,
            approved,
            settings: &self.settings.guard,
            now,
        });
        Judgement { table, guard: memory, filled }
    }

    /// Notes what was reported of an export; nothing where it is none any more.
    pub fn note_published(&mut self, report: Report) {
        if self.state.exports.iter().any(|export| export.name == report.export) {
            exports::note(&mut self.state, report);
        }
    }

    /// Brings every export to the published generation. Nothing happens before the table is
    /// filled.
    pub async fn publish(&mut self, now: Timestamp) -> Vec<Published> {
        if !self.state.snapshot.filled {
            return Vec::new();
        }
        let clock: Clock = Arc::new(move || now);
        let reports = publish_once(&self.state.exports, &self.state.snapshot, &clock).await;
        let published = reports.iter().filter_map(|report| report.published.clone()).collect();
        reports.into_iter().for_each(|report| self.note_published(report));
        published
    }

    /// Writes what is remembered and counted, and not yet written.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn flush(&mut self) -> Result<(), CycleError> {
        // Of a BAS whose listing awaits the next batch the store may know nothing yet.
        let counted = self.usages.iter().filter(|(name, _)| !self.listings.contains(*name));
        let counted: Vec<_> = counted.collect();
        self.store.flush(&of_names(&self.state.memories, &self.dirty), &counted).await?;
        self.dirty.clear();
        self.usages.retain(|name, _| self.listings.contains(name));
        Ok(())
    }

    /// Drops what is older than the configuration keeps.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn prune(&mut self, now: Timestamp) -> Result<(), CycleError> {
        let keep = settings::signed(self.state.config.store.keep);
        let before = now.checked_sub(keep).unwrap_or(Timestamp::MIN);
        self.store.prune(before, self.state.config.store.keep_at_least.into()).await?;
        Ok(())
    }

    /// Closes the store so that others can read it.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn close(self) -> Result<(), CycleError> {
        Ok(self.store.close().await?)
    }
}

/// What a batch came to, before it is committed.
#[derive(Debug)]
struct Judgement {
    table: Table,
    guard: GuardMemory,
    filled: bool,
}

fn of_names<'a>(memories: &'a BTreeMap<Name, Memory>, names: &BTreeSet<Name>) -> Vec<(&'a Name, &'a Memory)> {
    names.iter().filter_map(|name| memories.get_key_value(name)).collect()
}

/// Puts back what was known by a name.
fn put_back<T>(known: &mut BTreeMap<Name, T>, name: &Name, before: Option<T>) {
    match before {
        Some(before) => drop(known.insert(name.clone(), before)),
        None => drop(known.remove(name)),
    }
}

/// When the guard's window began.
fn window_start(config: &Config, now: Timestamp) -> Timestamp {
    now.checked_sub(settings::signed(config.guard.window)).unwrap_or(Timestamp::MIN)
}
