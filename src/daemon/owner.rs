//! The one task that owns the store: it starts polls when they are due, takes in what they
//! find in batches, has the result published, and answers requests in between.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use sd_notify::NotifyState;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::apart::Apart;
use super::publisher::Publisher;
use super::schedule::Schedule;
use super::waiting::Waiting;
use super::{Reload, Site, tell};
use crate::cycle::shapes::polled_shape;
use crate::cycle::{
    Answer, Arrived, Cycle, CycleError, Fleet, Operation, PollRequest, Problem, ReloadRequest, Reply, Who,
    chosen, poll_shape, published_shape,
};
use crate::http::Request;
use crate::poll::State;
use crate::snmp::Transport;
use crate::table::{Approved, Name};

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
    fleet: Fleet,
    reload: Reload,
    schedule: Schedule,
    started: Instant,
    polls: JoinSet<Arrived>,
    /// What has arrived and is not taken in yet, and until when it may wait.
    batch: Vec<Arrived>,
    batch_ends: Option<Instant>,
    publisher: Publisher,
    apart: Apart,
    waiting: Vec<Waiting>,
    /// What was done, and is answered once it is published.
    acted: Vec<(Reply, oneshot::Sender<Reply>)>,
    /// BASes to be polled again soon.
    soon: BTreeMap<Name, Instant>,
    ticks: u32,
}

impl Owner {
    pub(super) fn new(cycle: Cycle, site: Site, transport: Transport, reload: Reload) -> Self {
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport.clone());
        let mut owner = Self {
            cycle,
            site,
            transport,
            fleet,
            reload,
            schedule: Schedule::new(epoch),
            started: Instant::now(),
            polls: JoinSet::new(),
            batch: Vec::new(),
            batch_ends: None,
            publisher: Publisher::default(),
            apart: Apart::default(),
            waiting: Vec::new(),
            acted: Vec::new(),
            soon: BTreeMap::new(),
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
        self.publish();
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.start_polls();
            let next = self.next_poll();
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = self.polls.join_next(), if !self.polls.is_empty() => match ended {
                    Ok(arrived) => self.arrived(arrived),
                    Err(e) => tracing::error!(error = %e, "a poll was broken off"),
                },
                () = until(self.batch_ends) => self.take_in().await,
                () = until(next) => {}
                Some(request) = requests.recv() => self.asked(request).await,
                published = self.publisher.done() => {
                    self.cycle.note_published(published);
                    self.answer_waiting();
                    self.answer_acted();
                }
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

    /// When a poll may begin next; none while all slots are taken.
    fn next_poll(&self) -> Option<Instant> {
        let due = self.schedule.next().map(|due| self.started + due);
        let due = due.into_iter().chain(self.soon.values().min().copied()).min();
        due.filter(|_| self.polls.len() < self.slots())
    }

    fn slots(&self) -> usize {
        usize::try_from(self.site.config.poll.concurrency).unwrap_or(usize::MAX)
    }

    /// Starts what is due, as far as there are slots.
    fn start_polls(&mut self) {
        let ripe: Vec<Name> =
            self.soon.iter().filter(|(_, at)| **at <= Instant::now()).map(|(name, _)| name.clone()).collect();
        for name in ripe {
            self.soon.remove(&name);
            self.schedule.force(&name, self.now());
        }
        while self.polls.len() < self.slots() {
            let Some(due) = self.schedule.take(self.now()) else { break };
            let config = &self.site.config;
            let memory = self.cycle.memory(&due.bas);
            let job = config
                .bas
                .get(&due.bas)
                .and_then(|bas| self.fleet.job(config, bas, &memory, due.scheduled, Timestamp::now()));
            let Some(job) = job else {
                tracing::error!(bas = %due.bas, "cannot be polled: no credentials or no descriptor");
                self.schedule.done(&due.bas, true, self.started.elapsed());
                continue;
            };
            let fleet = self.fleet.clone();
            self.polls.spawn(async move {
                let polled = fleet.poll(job).await;
                Arrived { polled, scheduled: due.scheduled, at: Timestamp::now() }
            });
        }
    }

    fn arrived(&mut self, arrived: Arrived) {
        let polled = &arrived.polled;
        let failed = polled.state != State::Complete;
        self.schedule.done(&polled.name, failed, self.started.elapsed());
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
        let soonest = if self.waiting.iter().any(Waiting::is_complete) {
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
        let publish = self.waiting.iter().any(|w| w.publish && w.is_complete());
        match self.cycle.absorb(batch, &Approved::default(), publish, Timestamp::now()).await {
            Ok(absorbed) => {
                for name in &absorbed.settling {
                    self.soon.entry(name.clone()).or_insert_with(|| Instant::now() + SETTLE_AGAIN);
                }
                self.waiting.iter_mut().for_each(|waiting| waiting.add(&absorbed));
                if absorbed.news {
                    tracing::info!(generation = self.cycle.state().snapshot.generation, "committed");
                    self.publish();
                }
            }
            Err(e) => {
                tracing::error!(error = %e, "the batch is not committed; the table stays as it was");
                self.refuse_waiting(&e.into());
            }
        }
        self.answer_waiting();
    }

    fn publish(&mut self) {
        self.publisher.want(&self.site.exports, &self.cycle.state().snapshot);
    }

    /// Tells those whose BASes have all been read that nothing came of it.
    fn refuse_waiting(&mut self, problem: &Problem) {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (refused, waiting): (Vec<_>, Vec<_>) =
            waiting.partition(|one| one.is_complete() && one.dry.is_none());
        self.waiting = waiting;
        for one in refused {
            // Whoever asked may have left.
            let _ = one.reply.send(Err(problem.clone()));
        }
    }

    /// Answers those whose BASes have all been read, once what came of them is published.
    fn answer_waiting(&mut self) {
        if !self.publisher.is_idle() || self.batch_ends.is_some() {
            return;
        }
        let (ready, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(Waiting::is_complete);
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
            Operation::Poll(request) => return self.asked_to_poll(&request, reply),
            Operation::Reload(request) => {
                let done = self.read_configuration(&request, &who).await;
                // Another configuration may publish the same table otherwise.
                self.publish();
                self.acted.push((done, reply));
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
        self.publish();
        self.acted.push((answer, reply));
        self.answer_acted();
    }

    /// Answers those whose acts are published.
    fn answer_acted(&mut self) {
        if !self.publisher.is_idle() {
            return;
        }
        for (answer, reply) in std::mem::take(&mut self.acted) {
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
        self.site = site;
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

    /// Ends: what has arrived is committed, polls that run are left.
    async fn end(mut self) -> Result<(), CycleError> {
        self.polls.abort_all();
        self.take_in().await;
        while !self.publisher.is_idle() {
            match tokio::time::timeout(LAST_PUBLICATION, self.publisher.done()).await {
                Ok(published) => self.cycle.note_published(published),
                Err(_) => {
                    tracing::warn!("a publication did not end in time; the next start does it again");
                    break;
                }
            }
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
