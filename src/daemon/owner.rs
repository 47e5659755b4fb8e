//! The one task that owns the store: it starts polls when they are due, takes in what they
//! find in batches, has the result published, and answers requests in between.

mod polls;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use sd_notify::NotifyState;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use self::polls::ring;
use super::apart::Apart;
use super::loads::Loads;
use super::notices::Notices;
use super::publisher::Consumers;
use super::schedule::Schedule;
use super::waiting::Waiting;
use super::{Reload, Site, tell};
use crate::cycle::shapes::polled_shape;
use crate::cycle::{
    Answer, Arrived, Arriving, Cycle, CycleError, Fleet, Operation, PollRequest, Problem, ReloadRequest,
    Reply, Who, chosen, poll_shape, published_shape,
};
use crate::http::Request;
use crate::load::Collected;
use crate::poll::{Running, State};
use crate::snmp::Transport;
use crate::table::{Approved, Name};
use crate::trap::Pacing;

/// How often what is remembered is written, and what the clock alone changes is looked at.
const TICK: Duration = Duration::from_secs(30);
/// How often old history is dropped, in ticks.
const PRUNE_EVERY: u32 = 120;
/// How soon a BAS that booted a short while ago is polled again.
const SETTLE_AGAIN: Duration = Duration::from_secs(60);
/// How long a stop waits for a publication to end.
const LAST_PUBLICATION: Duration = Duration::from_secs(5);

/// The owner of the store.
pub(super) struct Owner {
    cycle: Cycle,
    site: Site,
    transport: Transport,
    /// Where localised keys are kept.
    keys: PathBuf,
    fleet: Fleet,
    reload: Reload,
    schedule: Schedule,
    started: Instant,
    polls: Running<Arriving>,
    /// What has arrived and is not taken in yet, and until when it may wait.
    batch: Vec<Arrived>,
    batch_ends: Option<Instant>,
    consumers: Consumers,
    loads: Loads,
    apart: Apart,
    waiting: Vec<Waiting>,
    /// What was done, and is answered once it is published: with the number of what is to be.
    acted: Vec<(u64, Reply, oneshot::Sender<Reply>)>,
    /// BASes to be polled again soon.
    soon: BTreeMap<Name, Instant>,
    /// Who has notified us, where that is listened for, and when a poll comes of it.
    notices: Option<Notices>,
    pacing: Pacing,
    ticks: u32,
}

impl Owner {
    pub(super) fn new(
        mut cycle: Cycle,
        site: Site,
        transport: Transport,
        reload: Reload,
        mut notices: Option<Notices>,
    ) -> Self {
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport.clone());
        let consumers = Consumers::new(&site.exports);
        if let Some(notices) = &mut notices {
            cycle.show_notifications(Arc::clone(&notices.tally));
            notices.configure(&site.config, &fleet);
        }
        let loads = Loads::new(&site.config, transport.clone());
        let polls = Running::on(transport.runtime());
        let mut owner = Self {
            cycle,
            keys: site.config.control.keys(),
            site,
            transport,
            fleet,
            reload,
            schedule: Schedule::new(epoch),
            started: Instant::now(),
            polls,
            batch: Vec::new(),
            batch_ends: None,
            consumers,
            loads,
            apart: Apart::default(),
            waiting: Vec::new(),
            acted: Vec::new(),
            soon: BTreeMap::new(),
            notices,
            pacing: Pacing::default(),
            ticks: 0,
        };
        owner.set_schedule();
        owner
    }

    /// Works until stopped.
    pub(super) async fn run(
        mut self,
        mut requests: mpsc::Receiver<Request>,
        stop: CancellationToken,
    ) -> Result<(), CycleError> {
        // A store that was filled is published at once, as old as it is.
        self.publish(false);
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.start_polls();
            let next = self.next_poll();
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = self.polls.next(), if !self.polls.is_empty() => match ended {
                    Ok(arriving) => self.arrived(arriving.arrived()),
                    Err(e) => tracing::error!(error = %e, "a poll was broken off"),
                },
                () = until(self.batch_ends) => self.take_in().await,
                () = until(next) => {}
                () = ring(self.notices.as_ref()) => self.notified(),
                Some(request) = requests.recv() => self.asked(request).await,
                report = self.consumers.next() => {
                    self.cycle.note_published(report);
                    self.answer_waiting();
                    self.answer_acted();
                }
                read = self.loads.read() => self.steer(&read).await,
                _ = tick.tick() => self.tick().await,
            }
        }
        self.end().await
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn set_schedule(&mut self) {
        let config = &self.site.config;
        let interval = |bas: &crate::config::Bas| bas.interval.unwrap_or(config.poll.interval);
        let fleet = config.bas.values().map(|bas| (bas.name.clone(), interval(bas))).collect();
        let memories = &self.cycle.state().memories;
        let now = self.started.elapsed();
        self.schedule.set(&fleet, now, |name| memories.get(name).is_some_and(|m| m.last_complete.is_some()));
    }

    fn arrived(&mut self, arrived: Arrived) {
        let polled = &arrived.polled;
        let failed = polled.state != State::Complete;
        if let Some(notices) = self.notices.as_ref().filter(|_| polled.cost.bytes > 0) {
            notices.found(&self.site.config, &polled.name, polled.address.ip());
        }
        let skipped = self.schedule.done(&polled.name, failed, self.started.elapsed());
        if skipped > 0 {
            let seconds = polled.duration.as_secs();
            tracing::warn!(
                bas = %polled.name,
                skipped,
                seconds,
                "the poll took longer than its interval: `poolsync walk` shows which table takes long; \
                 give the BAS a longer `interval`"
            );
        }
        if failed {
            let before = self.cycle.state().memories.get(&polled.name);
            let reason = polled.reason.map(|r| r.to_string()).unwrap_or_default();
            if before.is_none_or(|memory| *memory.reason != *reason) {
                tracing::warn!(bas = %polled.name, reason, detail = %polled.detail, "not read completely");
            }
        } else {
            tracing::debug!(bas = %polled.name, requests = polled.cost.requests, "read");
        }
        let shape = polled_shape(polled);
        let dry = self.waiting.iter_mut().find(|w| w.dry.is_some() && w.open.contains(&arrived.polled.name));
        let rehearsed = dry.is_some();
        if let Some(waiting) = dry {
            waiting.dry.get_or_insert_default().push(arrived.clone());
        }
        self.waiting.iter_mut().for_each(|waiting| waiting.note(&arrived.polled.name, &shape));
        if !rehearsed {
            self.batch.push(arrived);
        }
        let soonest = if self.waiting.iter().any(Waiting::is_new) {
            Instant::now()
        } else {
            Instant::now() + self.site.config.poll.batch
        };
        self.batch_ends = Some(self.batch_ends.map_or(soonest, |ends| ends.min(soonest)));
    }

    /// Takes the batch in, commits it, and has it published.
    async fn take_in(&mut self) {
        self.batch_ends = None;
        let batch = std::mem::take(&mut self.batch);
        let publish = self.waiting.iter().any(|w| w.publish && w.is_new());
        // Whoever asked for a poll sees what comes of it, also where a consumer failed before.
        let asked = self.waiting.iter().any(|w| w.dry.is_none() && w.is_new());
        match self.cycle.absorb(batch, &Approved::default(), publish, Timestamp::now()).await {
            Ok(absorbed) => {
                for name in &absorbed.settling {
                    self.soon.entry(name.clone()).or_insert_with(|| Instant::now() + SETTLE_AGAIN);
                }
                let open = self.waiting.iter_mut().filter(|waiting| waiting.offer.is_none());
                open.for_each(|waiting| waiting.add(&absorbed));
                if absorbed.news {
                    tracing::info!(generation = self.cycle.state().snapshot.generation, "committed");
                }
                if absorbed.news || asked {
                    self.publish(asked);
                }
            }
            Err(e) => {
                tracing::error!(error = %e, "the batch is not committed; the table stays as it was");
                self.refuse_waiting(&e.into());
            }
        }
        let offered = self.consumers.offered();
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.is_new()) {
            // A rehearsal has nothing published.
            waiting.offer = Some(if waiting.dry.is_some() { 0 } else { offered });
        }
        self.answer_waiting();
    }

    /// Moves weights by a reading of the loads, and has them published.
    async fn steer(&mut self, read: &Collected) {
        match self.cycle.take_loads(read, Timestamp::now()).await {
            Ok(true) => {
                tracing::info!(generation = self.cycle.state().snapshot.generation, "steered");
                self.publish(false);
            }
            Ok(false) => {}
            Err(e) => tracing::error!(error = %e, "not steered; the weights stay as they were"),
        }
    }

    fn publish(&mut self, at_once: bool) {
        self.consumers.want(&self.cycle.state().snapshot, at_once);
    }

    /// Tells those whose BASes have all been read that nothing came of it.
    fn refuse_waiting(&mut self, problem: &Problem) {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (refused, waiting): (Vec<_>, Vec<_>) = waiting.partition(|one| one.is_new() && one.dry.is_none());
        self.waiting = waiting;
        for one in refused {
            // Whoever asked may have left.
            let _ = one.reply.send(Err(problem.clone()));
        }
    }

    /// Answers those whose BASes have all been read, once what came of them is published.
    fn answer_waiting(&mut self) {
        let published = |one: &Waiting| one.offer.is_some_and(|offer| self.consumers.have_done(offer));
        let (ready, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(published);
        self.waiting = waiting;
        for mut one in ready {
            one.bas.sort_by(|a, b| a.name.cmp(&b.name));
            let state = self.cycle.state();
            let shape = match one.dry.take() {
                Some(arrived) => self
                    .cycle
                    .rehearse(arrived, Timestamp::now())
                    .map(|(absorbed, state)| poll_shape(&state, &absorbed, one.bas, Vec::new())),
                None => {
                    let published = state.published.values().map(published_shape).collect();
                    Ok(poll_shape(state, &one.absorbed, one.bas, published))
                }
            };
            // Whoever asked may have left.
            let _ = one.reply.send(shape.map_err(Problem::from).and_then(|shape| json(&shape)));
        }
    }

    async fn asked(&mut self, Request { operation, who, reply }: Request) {
        match operation {
            Operation::Poll(request) => {
                if let Err(problem) = self.cycle.forget(&request, &who, Timestamp::now()).await {
                    // Whoever asked may have left.
                    let _ = reply.send(Err(problem));
                    return;
                }
                return self.asked_to_poll(&request, reply);
            }
            Operation::Reload(request) => {
                let done = self.read_configuration(&request, &who).await;
                // Another configuration may publish the same table otherwise.
                self.publish(true);
                self.acted.push((self.consumers.offered(), done, reply));
                self.answer_acted();
                return;
            }
            _ if operation.is_long() => {
                let (state, path) = (self.cycle.state().without_memories(), self.cycle.store_path());
                return self.apart.answer(state, path.to_owned(), operation, reply);
            }
            _ => {}
        }
        let generation = self.cycle.state().snapshot.generation;
        let answer = self.cycle.perform(operation, &who, Timestamp::now()).await;
        if self.cycle.state().snapshot.generation == generation {
            // Whoever asked may have left.
            let _ = reply.send(answer);
            return;
        }
        self.publish(true);
        self.acted.push((self.consumers.offered(), answer, reply));
        self.answer_acted();
    }

    /// Answers those whose acts are published.
    fn answer_acted(&mut self) {
        let (done, acted): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.acted).into_iter().partition(|one| self.consumers.have_done(one.0));
        self.acted = acted;
        for (_, answer, reply) in done {
            let _ = reply.send(answer.map(|answer| self.cycle.state().with_published(answer)));
        }
    }

    fn asked_to_poll(&mut self, request: &PollRequest, reply: oneshot::Sender<Reply>) {
        let names = match chosen(self.cycle.state(), &request.bas) {
            Ok(names) => names,
            Err(problem) => {
                let _ = reply.send(Err(problem));
                return;
            }
        };
        let now = self.now();
        names.iter().for_each(|name| self.schedule.force(name, now));
        let nothing = names.is_empty();
        self.waiting.push(Waiting {
            open: names.into_iter().collect(),
            bas: Vec::new(),
            dry: request.dry_run.then(Vec::new),
            publish: request.publish,
            absorbed: Default::default(),
            offer: None,
            reply,
        });
        if nothing {
            self.batch_ends = Some(Instant::now());
        }
    }

    /// Reads the configuration anew. A broken one changes nothing.
    async fn read_configuration(&mut self, request: &ReloadRequest, who: &Who) -> Reply {
        let site = match (self.reload)() {
            Ok(site) => site,
            Err(error) => {
                tracing::error!(%error, "the configuration is broken; the one before stays in force");
                return Err(Problem::new(422, "configuration", "the configuration is broken", &error));
            }
        };
        let both = (&site.config, &site.exports);
        let accept = request.accept.as_deref();
        let reloaded = self.cycle.reload(both, accept, who, Timestamp::now()).await;
        if !Arc::ptr_eq(&self.cycle.state().config, &site.config) {
            return reloaded.and_then(|shape| json(&shape));
        }
        self.fleet = Fleet::new(&site.config, Arc::clone(&site.library), self.transport.clone())
            .remembering(&self.fleet);
        self.consumers.set(&site.exports);
        self.site = site;
        if let Some(notices) = &mut self.notices {
            notices.configure(&self.site.config, &self.fleet);
        }
        self.pacing.retain(|name| self.site.config.bas.contains_key(name));
        self.loads.reconfigure(&self.site.config);
        self.set_schedule();
        tracing::info!(bas = self.site.config.bas.len(), "the configuration was read anew");
        reloaded.and_then(|shape| json(&shape))
    }

    /// What the clock alone brings: staleness, takeovers, what is to be written or dropped.
    async fn tick(&mut self) {
        tell(&[NotifyState::Watchdog]);
        self.take_in().await;
        if let Err(e) = self.cycle.flush().await {
            tracing::error!(error = %e, "what is remembered is not written");
        }
        self.keep_keys().await;
        // With the first tick already: a service that starts anew every hour drops history too.
        let prunes = self.ticks.is_multiple_of(PRUNE_EVERY);
        self.ticks = self.ticks.wrapping_add(1);
        if prunes && let Err(e) = self.cycle.prune(Timestamp::now()).await {
            tracing::error!(error = %e, "old history is not dropped");
        }
        let state = self.cycle.state();
        let status = format!("generation {}, {} held", state.snapshot.generation, state.guard.holds.len());
        tell(&[NotifyState::Status(&status)]);
    }

    /// Keeps localised keys for the next start. Without them it takes longer, and no more.
    fn keep_keys(&self) -> impl Future<Output = ()> + use<> {
        let (transport, keys) = (self.transport.clone(), self.keys.clone());
        async move {
            match tokio::task::spawn_blocking(move || transport.save_keys(&keys)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "keys are not kept for the next start"),
                Err(error) => tracing::error!(%error, "keys are not kept for the next start"),
            }
        }
    }

    /// Ends: what has arrived is committed, polls that run are left.
    async fn end(mut self) -> Result<(), CycleError> {
        self.polls = Running::on(self.transport.runtime());
        self.take_in().await;
        self.keep_keys().await;
        let (reports, ended) = self.consumers.stop(LAST_PUBLICATION).await;
        reports.into_iter().for_each(|report| self.cycle.note_published(report));
        if !ended {
            tracing::warn!("a publication did not end in time; the next start does it again");
        }
        self.cycle.flush().await?;
        self.cycle.close().await
    }
}

/// Waits until a time, for ever where there is none.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn json(shape: &impl serde::Serialize) -> Reply {
    serde_json::to_value(shape)
        .map(Answer::Json)
        .map_err(|e| Problem::new(500, "encode", "the answer cannot be written", &e.to_string()))
}

#[cfg(test)]
mod tests;
