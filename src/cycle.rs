//! The sentence: collect, build, steer, compare, judge, commit, publish. The only module
//! that joins polls, store and publication.
//!
//! [`Cycle`] owns the store and everything that is known ([`State`]). [`Cycle::absorb`] takes
//! in what polls brought and says it from `build` to `commit`; [`Cycle::publish`] is its end,
//! [`Fleet::poll`] its beginning.

mod collect;
mod exports;
mod fleet;
mod operation;
mod perform;
mod recording;
mod remember;
mod settings;
pub mod shapes;
mod state;
mod walked;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

pub use collect::{chosen, collect, poll_shape};
pub use exports::{ExportError, exports_of, log_published, publish_all, published_shape};
pub use fleet::{Fleet, Job, community_polling};
pub use operation::{Answer, ApproveRequest, ExportRequest, LookupRequest, Operation, PollRequest, Reply};
pub use recording::Recorded;
pub use shapes::Problem;
pub use state::{State, export};

use crate::address::RangeSet;
use crate::config::Config;
use crate::poll::Polled;
use crate::publish::{Export, Published};
use crate::steer;
use crate::store::{Commit, Store, StoreError};
use crate::table::{
    Approved, Case, Change, Groups, GuardMemory, Judged, Memory, Name, Progress, Runs, Snapshot, Table,
    build, claims, diff, judge,
};
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
    /// Whether there is a new generation, or the table may be published for the first time.
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
    /// BASes whose listing changed: written with the next batch.
    listings: BTreeSet<Name>,
    /// BASes of which something smaller changed: written every now and then.
    dirty: BTreeSet<Name>,
}

impl Cycle {
    /// Opens the store of a configuration and takes up what it holds.
    ///
    /// # Errors
    /// Where the store cannot be opened or read.
    pub async fn open(
        config: Arc<Config>,
        exports: Arc<Vec<Export>>,
        now: Timestamp,
    ) -> Result<Self, CycleError> {
        let mut store = Store::open(&config.store.path, Default::default()).await?;
        let loaded = store.load().await?;
        let settings = Settings::of(&config);
        let runs = Runs::load(&store.runs_since(window_start(&config, now)).await?);
        let state = State::of(config, exports, loaded);
        Ok(Self { state, settings, store, runs, listings: BTreeSet::new(), dirty: BTreeSet::new() })
    }

    /// All that is known.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What is remembered of a BAS.
    pub fn memory(&self, bas: &Name) -> Memory {
        self.state.memories.get(bas).cloned().unwrap_or_default()
    }

    /// Puts another configuration in force.
    pub fn reconfigure(&mut self, config: Arc<Config>, exports: Arc<Vec<Export>>) {
        self.settings = Settings::of(&config);
        self.state.snapshot = Arc::new(Snapshot {
            edges: Arc::new(config.edges.clone()),
            default_edge: config.default_edge.clone(),
            ..(*self.state.snapshot).clone()
        });
        (self.state.config, self.state.exports) = (config, exports);
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
        let settling = self.remember(arrived);
        let candidate = self.build(now);
        let judged = self.judge(candidate, approved, publish_unfilled, now);
        let groups = self.steer(&judged.table)?;
        let changes = diff(&self.state.snapshot.table, &judged.table);
        let news = self.commit(judged, groups, &changes, now).await?;
        Ok(Absorbed { changed: counted(&changes), news, settling })
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
        let (memories, dirty) = (self.state.memories.clone(), (self.listings.clone(), self.dirty.clone()));
        let settling = self.remember(arrived);
        let candidate = self.build(now);
        let judged = self.judge(candidate, &Approved::default(), false, now);
        let changes = diff(&self.state.snapshot.table, &judged.table);
        let mut state = self.state.clone();
        state.guard = judged.guard;
        (self.state.memories, (self.listings, self.dirty)) = (memories, dirty);
        Ok((Absorbed { changed: counted(&changes), news: false, settling }, state))
    }

    /// Ingests what polls found into what is remembered per BAS.
    fn remember(&mut self, arrived: Vec<Arrived>) -> Vec<Name> {
        let published = self.published();
        let mut settling = Vec::new();
        for Arrived { polled, scheduled, at } in arrived {
            let name = polled.name.clone();
            let Some(member) = self.settings.members.get(&name) else { continue };
            let nothing = BTreeMap::new();
            let own = published.get(&member.owner).unwrap_or(&nothing);
            let memory = self.state.memories.entry(name.clone()).or_default();
            let ingested = remember::ingest(memory, polled, scheduled, at, own, &self.settings.ingest(&name));
            if ingested.settling {
                settling.push(name.clone());
            }
            if ingested.changed {
                self.listings.insert(name)
            } else {
                self.dirty.insert(name)
            };
        }
        settling
    }

    /// What is published, by owner and space.
    fn published(&self) -> BTreeMap<Name, BTreeMap<Name, RangeSet>> {
        let mut published: BTreeMap<Name, BTreeMap<Name, Vec<_>>> = BTreeMap::new();
        for entry in self.state.snapshot.table.entries() {
            let spaces = published.entry(entry.owner.clone()).or_default();
            spaces.entry(entry.space.clone()).or_default().push(entry.range);
        }
        let sets =
            |spaces: BTreeMap<Name, Vec<_>>| spaces.into_iter().map(|(s, r)| (s, r.into_iter().collect()));
        published.into_iter().map(|(owner, spaces)| (owner, sets(spaces).collect())).collect()
    }

    fn build(&mut self, now: Timestamp) -> Table {
        let claimed = claims(
            self.state.fleet(&self.settings.members),
            &self.settings.lines,
            &self.settings.claims,
            now,
        );
        let built = build(claimed.claims, &self.state.snapshot.table, &self.settings.build);
        self.state.conflicts = built.conflicts;
        built.table
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
            published: &self.state.snapshot.table,
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

    fn steer(&self, table: &Table) -> Result<Groups, CycleError> {
        let configured = steer::Configured {
            owners: &self.settings.owners,
            edges: &self.state.config.edges,
            default_edge: &self.state.config.default_edge,
        };
        Ok(steer::fixed(configured, &self.state.snapshot.groups, table)?)
    }

    /// Writes the batch, and only then takes it up.
    async fn commit(
        &mut self,
        judged: Judgement,
        groups: Groups,
        changes: &[Change],
        now: Timestamp,
    ) -> Result<bool, CycleError> {
        let before = Arc::clone(&self.state.snapshot);
        let new_groups = (*before.groups != groups).then_some(&groups);
        let memories = of_names(&self.state.memories, &self.listings);
        let idle = changes.is_empty()
            && new_groups.is_none()
            && memories.is_empty()
            && judged.guard == self.state.guard
            && judged.filled == before.filled;
        if idle {
            return Ok(false);
        }
        let commit = Commit {
            at: now,
            changes,
            groups: new_groups,
            memories: &memories,
            guard: &judged.guard,
            filled: judged.filled,
        };
        let committed = self.store.commit(commit).await?;
        self.dirty.retain(|name| !self.listings.contains(name));
        self.listings.clear();
        self.runs.commit(changes, now);
        self.runs.prune(window_start(&self.state.config, now));
        self.state.guard = judged.guard;
        self.state.snapshot = Arc::new(Snapshot {
            session: before.session,
            generation: committed.generation,
            committed: if committed.made { now } else { before.committed },
            filled: judged.filled,
            table: if changes.is_empty() { Arc::clone(&before.table) } else { Arc::new(judged.table) },
            groups: if new_groups.is_some() { Arc::new(groups) } else { Arc::clone(&before.groups) },
            edges: Arc::new(self.state.config.edges.clone()),
            default_edge: self.state.config.default_edge.clone(),
        });
        Ok(committed.made || judged.filled != before.filled)
    }

    /// Notes what became of a publication.
    pub fn note_published(&mut self, published: Vec<Published>) {
        log_published(&published);
        self.state.published.extend(published.into_iter().map(|one| (one.export.clone(), one)));
    }

    /// Brings every export to the published generation. Nothing happens before the table is
    /// filled.
    pub async fn publish(&mut self, now: Timestamp) -> Vec<Published> {
        if !self.state.snapshot.filled {
            return Vec::new();
        }
        let published = publish_all(&self.state.exports, &self.state.snapshot, now).await;
        self.note_published(published.clone());
        published
    }

    /// Writes what is remembered and not yet written.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn flush(&mut self) -> Result<(), CycleError> {
        self.store.flush(&of_names(&self.state.memories, &self.dirty)).await?;
        self.dirty.clear();
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

    /// The table as it was at a generation, to be exported.
    ///
    /// # Errors
    /// Where there was no such generation, or it is no longer kept.
    pub async fn past(&mut self, generation: u64) -> Result<Snapshot, CycleError> {
        let past = self.store.table_at(generation).await?;
        Ok(self.state.past(past))
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

/// When the guard's window began.
fn window_start(config: &Config, now: Timestamp) -> Timestamp {
    now.checked_sub(settings::signed(config.guard.window)).unwrap_or(Timestamp::MIN)
}

fn counted(changes: &[Change]) -> ChangedShape {
    let count = |wanted: fn(&Change) -> bool| changes.iter().filter(|change| wanted(change)).count();
    ChangedShape {
        added: count(|c| matches!(c, Change::Added(_))),
        removed: count(|c| matches!(c, Change::Removed(_))),
        altered: count(|c| matches!(c, Change::Altered { .. })),
    }
}
