//! Collect, without a daemon: many polls, so many at a time.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::operation::PollRequest;
use super::shapes::{PollShape, PolledShape, Problem, PublishedShape};
use super::{Absorbed, Arrived, Cycle, Fleet, Job, State};
use crate::poll::Running;
use crate::table::{Memory, Name};

impl Cycle {
    /// The polls that a request asks for.
    ///
    /// # Errors
    /// A BAS that is not configured.
    pub fn jobs(
        &self,
        fleet: &Fleet,
        request: &PollRequest,
        scheduled: bool,
        now: Timestamp,
    ) -> Result<Vec<Job>, Problem> {
        self.state().jobs(fleet, &request.bas, scheduled, now)
    }
}

impl State {
    /// Polls of these BASes; of all where none is named.
    ///
    /// # Errors
    /// A BAS that is not configured; a configuration without its secrets.
    pub fn jobs(
        &self,
        fleet: &Fleet,
        bas: &[String],
        scheduled: bool,
        now: Timestamp,
    ) -> Result<Vec<Job>, Problem> {
        let names = chosen(self, bas)?;
        let nothing = Memory::default();
        let jobs = names.iter().map(|name| {
            let memory = self.memories.get(name).unwrap_or(&nothing);
            fleet.job(&self.config, self.config.bas.get(name)?, memory, scheduled, now)
        });
        jobs.collect::<Option<Vec<Job>>>().ok_or_else(|| {
            Problem::new(
                500,
                "no-credentials",
                "cannot poll",
                "the configuration was loaded without its secrets",
            )
        })
    }
}

/// The BASes that names stand for; all where there are none.
///
/// # Errors
/// A BAS that is not configured.
pub fn chosen(state: &State, names: &[String]) -> Result<Vec<Name>, Problem> {
    let fleet = &state.config.bas;
    if names.is_empty() {
        return Ok(fleet.keys().cloned().collect());
    }
    let unknown: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !fleet.contains_key(*name)).collect();
    if !unknown.is_empty() {
        let detail = format!("not configured: {}", unknown.join(", "));
        return Err(Problem::new(404, "unknown-bas", "there is no such BAS", &detail));
    }
    let mut chosen: Vec<Name> = names.iter().map(|name| Name::from(name.as_str())).collect();
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
}

/// How many times as many polls as there are slots in a fleet may run: routers that do not
/// answer hold no slot.
pub const POLLS_PER_SLOT: usize = 8;

/// Polls, with `concurrency` slots in the fleet. `done` is told of each that ended.
pub async fn collect(
    fleet: &Fleet,
    jobs: Vec<Job>,
    concurrency: usize,
    mut done: impl FnMut(&Arrived),
) -> Vec<Arrived> {
    let most = concurrency.max(1).saturating_mul(POLLS_PER_SLOT).min(Semaphore::MAX_PERMITS);
    let slots = Arc::new(Semaphore::new(most));
    let mut running = Running::on(fleet.runtime());
    for job in jobs {
        let (fleet, slots) = (fleet.clone(), Arc::clone(&slots));
        let silent = job.silent;
        let poll = async move {
            let _slot = slots.acquire().await;
            fleet.arrive(job).await
        };
        if silent { running.spawn_behind(poll) } else { running.spawn(poll) }
    }
    let mut arrived = Vec::new();
    while let Some(result) = running.next().await {
        match result {
            Ok(one) => {
                let one = one.arrived();
                done(&one);
                arrived.push(one);
            }
            Err(e) => tracing::error!(error = %e, "a poll was broken off"),
        }
    }
    arrived.sort_by(|a, b| a.polled.name.cmp(&b.polled.name));
    arrived
}

/// What a poll came to, for JSON.
pub fn poll_shape(
    state: &State,
    absorbed: &Absorbed,
    bas: Vec<PolledShape>,
    published: Vec<PublishedShape>,
) -> PollShape {
    PollShape {
        generation: state.snapshot.generation,
        filled: state.snapshot.filled,
        progress: state.progress(),
        changed: absorbed.changed,
        bas,
        held: state.held(),
        published,
        pinned: state.pin.as_ref().map(|(pin, _)| pin.generation),
    }
}
