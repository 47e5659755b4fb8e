//! Which polls begin, and when: by the schedule, by a person's word, after a boot, and because
//! of notifications.

use jiff::Timestamp;
use tokio::time::Instant;

use super::Owner;
use crate::cycle::POLLS_PER_SLOT;
use crate::daemon::notices::Notices;
use crate::table::Name;

impl Owner {
    /// Takes in whose notifications came.
    pub(super) fn notified(&mut self) {
        let now = self.now();
        let Some(notices) = &self.notices else { return };
        for name in notices.inbox.take() {
            if let Some(bas) = self.site.config.bas.get(&name) {
                let interval = bas.interval.unwrap_or(self.site.config.poll.interval);
                self.pacing.notified(&name, interval, now);
            }
        }
    }

    /// When a poll may begin next; none while as many run as may.
    pub(super) fn next_poll(&self) -> Option<Instant> {
        let notified = self.pacing.next(|name| !self.schedule.is_running(name));
        let due = self.schedule.next().into_iter().chain(notified).min().map(|due| self.started + due);
        let due = due.into_iter().chain(self.soon.values().min().copied()).min();
        due.filter(|_| self.polls.len() < self.most_polls())
    }

    /// The fleet has as many slots as are configured; routers that do not answer have none.
    fn most_polls(&self) -> usize {
        let slots = usize::try_from(self.site.config.poll.concurrency).unwrap_or(usize::MAX);
        slots.saturating_mul(POLLS_PER_SLOT)
    }

    /// Starts what is due, as far as there is room.
    pub(super) fn start_polls(&mut self) {
        let ripe: Vec<Name> =
            self.soon.iter().filter(|(_, at)| **at <= Instant::now()).map(|(name, _)| name.clone()).collect();
        for name in ripe {
            self.soon.remove(&name);
            self.schedule.force(&name, self.now());
        }
        let notified = self.pacing.ripe(self.now(), |name| !self.schedule.is_running(name));
        notified.iter().for_each(|name| self.schedule.force(name, self.now()));
        while self.polls.len() < self.most_polls() {
            let Some(due) = self.schedule.take(self.now()) else { break };
            if self.pacing.began(&due.bas, due.scheduled, self.now())
                && let Some(notices) = &self.notices
            {
                tracing::info!(bas = %due.bas, "polled because of a notification");
                notices.tally.poll();
            }
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
            let (fleet, behind) = (self.fleet.clone(), job.silent && job.scheduled);
            let poll = async move { fleet.arrive(job).await };
            // Whom a person asks for, they wait for.
            if behind { self.polls.spawn_behind(poll) } else { self.polls.spawn(poll) }
        }
    }
}

/// Waits for notifications, for ever where they are not listened for.
pub(super) async fn ring(notices: Option<&Notices>) {
    match notices {
        Some(notices) => notices.inbox.ring().await,
        None => std::future::pending().await,
    }
}
