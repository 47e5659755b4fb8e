//! What a changed configuration would do, and letting exactly that through.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::acts::act;
use super::commit::steered;
use super::past::{change_shape, group_changes, owner_changes};
use super::settings::Settings;
use super::shaped::held_shape;
use super::shapes::{
    ChangeShape, ChangedShape, GroupChangeShape, HeldShape, OwnerChangeShape, Problem, ReloadShape,
    TwinsShape,
};
use super::state::State;
use super::{Cycle, CycleError, Who, window_start};
use crate::config::Config;
use crate::publish::Export;
use crate::table::{
    ActKind, Approved, Case, Hold, Judged, Progress, Runs, Selection, Table, build, claims, diff, judge,
};

/// What a configuration would do to a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlookShape {
    /// The generation that it was compared with.
    pub generation: u64,
    /// Stands for exactly what is shown: `reload --accept DIGEST` lets it through.
    pub digest: String,
    /// What would change, once all of it is let through.
    #[serde(flatten)]
    pub changed: ChangedShape,
    /// The same, entry by entry.
    pub changes: Vec<ChangeShape>,
    /// The groups whose edges would change.
    pub groups: Vec<GroupChangeShape>,
    /// The owners that another group would answer for.
    pub owners: Vec<OwnerChangeShape>,
    /// What the guard would hold of it.
    pub held: Vec<HeldShape>,
    /// BASes that look like one router under two names: a `pair` makes them one owner.
    #[serde(default)]
    pub twins: Vec<TwinsShape>,
}

impl OutlookShape {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.groups.is_empty() && self.owners.is_empty()
    }
}

/// What a configuration would do, and the approval that lets it.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// For people and programs.
    pub shape: OutlookShape,
    /// Lets through what the guard would hold, and nothing else.
    pub approved: Approved,
}

/// What the configuration of a state would do to its table. Polls are no part of it: what
/// they brought is in the table, or held already.
///
/// # Errors
/// Where the configured lists of edges make no groups.
pub fn outlook(state: &State, runs: &Runs, now: Timestamp) -> Result<Outlook, CycleError> {
    let settings = Settings::of(&state.config);
    let candidate = candidate(state, &settings, now);
    let (approved, holds) = new_holds(state, runs, &settings, candidate.clone(), now);
    let table = judged(state, runs, &settings, candidate, &approved, now).table;
    let steered = steered(state, &settings, &state.drains.edges, &table, state.pinned(), false)?;
    let changes = diff(&state.table, &table);
    let mut shape = OutlookShape {
        generation: state.snapshot.generation,
        digest: String::new(),
        changed: ChangedShape::of(&changes),
        changes: changes.iter().map(change_shape).collect(),
        groups: group_changes(&state.snapshot.groups, &steered.groups),
        owners: owner_changes(&state.snapshot.groups, &steered.groups),
        held: holds.iter().map(held_shape).collect(),
        twins: state.twins(),
    };
    shape.digest = digest(&shape);
    Ok(Outlook { shape, approved })
}

fn candidate(state: &State, settings: &Settings, now: Timestamp) -> Table {
    let claimed = claims(state.fleet(&settings.members), settings.lines.lines(), &settings.claims, now);
    build(claimed.claims, &state.table, &settings.build).table
}

/// The holds that the configuration would open, and the approval of them.
fn new_holds(
    state: &State,
    runs: &Runs,
    settings: &Settings,
    candidate: Table,
    now: Timestamp,
) -> (Approved, Vec<Hold>) {
    let filled = Progress::of(state.fleet(&settings.members)).is_enough(settings.first_publish);
    if !state.snapshot.filled && !filled {
        return Default::default();
    }
    let Judged { memory, opened, .. } = judged(state, runs, settings, candidate, &Approved::default(), now);
    let approved = memory.approve(&Selection::Ids(opened.clone())).unwrap_or_default();
    (approved, memory.holds.into_iter().filter(|hold| opened.contains(&hold.id)).collect())
}

fn judged(
    state: &State,
    runs: &Runs,
    settings: &Settings,
    candidate: Table,
    approved: &Approved,
    now: Timestamp,
) -> Judged {
    if !state.snapshot.filled {
        let (opened, closed) = Default::default();
        return Judged { table: candidate, memory: state.guard.clone(), opened, closed };
    }
    judge(Case {
        published: &state.table,
        built: candidate,
        runs,
        memory: state.guard.clone(),
        fleet: state.fleet(&settings.members),
        approved,
        settings: &settings.guard,
        now,
    })
}

/// Of all that would change; not of the holds' numbers and times.
fn digest(shape: &OutlookShape) -> String {
    let told = (&shape.changes, &shape.groups, &shape.owners);
    let octets = serde_json::to_vec(&told).unwrap_or_default();
    Sha256::digest(octets).iter().take(6).map(|octet| format!("{octet:02x}")).collect()
}

impl Cycle {
    /// What another configuration would do.
    ///
    /// # Errors
    /// As [`outlook`].
    pub fn outlook(
        &self,
        config: &Arc<Config>,
        exports: &Arc<Vec<Export>>,
        now: Timestamp,
    ) -> Result<Outlook, CycleError> {
        let mut state = self.state.clone();
        state.reconfigure(Arc::clone(config), Arc::clone(exports));
        outlook(&state, &self.runs, now)
    }

    /// Puts another configuration in force and brings the table to it. With a digest of what
    /// it does, exactly that is let through; where it would do something else, nothing
    /// changes.
    ///
    /// # Errors
    /// 409 `changed` where the digest is another one; where the store or the groups fail.
    pub async fn reload(
        &mut self,
        (config, exports): (&Arc<Config>, &Arc<Vec<Export>>),
        accept: Option<&str>,
        who: &Who,
        now: Timestamp,
    ) -> Result<ReloadShape, Problem> {
        let (mut approved, mut done) = (Approved::default(), Vec::new());
        if let Some(digest) = accept {
            let outlook = self.outlook(config, exports, now)?;
            let found = &outlook.shape.digest;
            if digest != found {
                let detail = format!("what the configuration does is {found} now, not {digest}; look again");
                return Err(Problem::new(409, "changed", "the configuration is not taken", &detail));
            }
            let detail = format!("what a configuration does: {digest}");
            done.push(act(ActKind::Accept, who.signed(None), None, detail, now));
            approved = outlook.approved;
        }
        let last = self.state.guard.last_id;
        self.reconfigure(Arc::clone(config), Arc::clone(exports));
        let absorbed = self.absorb_as(Vec::new(), &approved, false, &done, now).await?;
        done.iter().for_each(|act| tracing::warn!(by = %act.by, what = act.detail, "accepted"));
        Ok(ReloadShape {
            bas: config.bas.len(),
            generation: self.state.snapshot.generation,
            changed: absorbed.changed,
            held: self.state.guard.holds.iter().filter(|hold| hold.id > last).count(),
            published: Vec::new(),
        })
    }
}

/// The runs of a store that is only read, as the guard of a configuration takes them.
pub fn runs_window(config: &Config, now: Timestamp) -> Timestamp {
    window_start(config, now)
}
