//! Publishing beside the owner of the store, each export by itself: a consumer that takes its
//! time delays neither polls, nor requests, nor other consumers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use crate::publish::{Clock, Export, Publisher, Report};
use crate::table::{Name, Snapshot};

/// How many reports may wait for the owner of the store.
const REPORTS: usize = 64;

/// The exports' tasks, and how far each has come.
#[derive(Debug)]
pub(super) struct Consumers {
    publisher: Publisher,
    reports: mpsc::Receiver<Report>,
    exports: Arc<Vec<Export>>,
    /// The newest offer.
    offered: u64,
    /// The newest that ended pauses after failures.
    called: u64,
    reached: BTreeMap<Name, Reached>,
}

/// How far an export has come.
#[derive(Clone, Copy, Debug)]
struct Reached {
    offer: u64,
    /// It is left alone for a while.
    paused: bool,
}

impl Consumers {
    /// A task for each export; they wait for something to publish.
    pub(super) fn new(exports: &Arc<Vec<Export>>) -> Self {
        let clock: Clock = Arc::new(Timestamp::now);
        let (sender, reports) = mpsc::channel(REPORTS);
        Self {
            publisher: Publisher::start(exports.iter().cloned(), &clock, &sender),
            reports,
            exports: Arc::clone(exports),
            offered: 0,
            called: 0,
            reached: BTreeMap::new(),
        }
    }

    /// Takes the exports of another configuration over; what is wanted next brings them to it.
    pub(super) fn set(&mut self, exports: &Arc<Vec<Export>>) {
        self.publisher.set(exports.iter().cloned());
        self.exports = Arc::clone(exports);
        self.reached.retain(|name, _| exports.iter().any(|export| export.name == *name));
    }

    /// Wants a snapshot published, instead of any that has not been begun. `at_once` also by
    /// those that are left alone after a failure.
    pub(super) fn want(&mut self, snapshot: &Arc<Snapshot>, at_once: bool) {
        if !snapshot.filled {
            return;
        }
        if at_once {
            self.offered = self.publisher.offer_at_once(Arc::clone(snapshot));
            self.called = self.offered;
        } else {
            self.offered = self.publisher.offer(Arc::clone(snapshot));
        }
    }

    /// The number of what is wanted now; what was wanted before has lower ones.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    /// Whether all exports have done what was wanted by that number, or are left alone after a
    /// failure that nobody asked to try again. What was wanted since is not waited for: a fleet
    /// that changes all the time always wants something.
    pub(super) fn have_done(&self, offer: u64) -> bool {
        let done = |reached: &Reached| {
            reached.offer >= offer || reached.paused && reached.offer >= self.called.min(offer)
        };
        offer == 0 || self.exports.iter().all(|export| self.reached.get(&export.name).is_some_and(done))
    }

    /// The next report. Cancelling it loses none.
    pub(super) async fn next(&mut self) -> Report {
        match self.reports.recv().await {
            Some(report) => {
                if report.published.is_some() && self.exports.iter().any(|e| e.name == report.export) {
                    let paused = report.standing.retry_at.is_some();
                    self.reached.insert(report.export.clone(), Reached { offer: report.offer, paused });
                }
                report
            }
            // The publisher itself can report as long as it is there.
            None => std::future::pending().await,
        }
    }

    /// Ends: what was begun is brought to its end, for so long; what waits is left to the
    /// next start. The last reports come back, and whether all ended in time.
    pub(super) async fn stop(self, patience: Duration) -> (Vec<Report>, bool) {
        let Self { publisher, mut reports, .. } = self;
        let end = tokio::time::Instant::now() + patience;
        let stopping = tokio::spawn(publisher.stop());
        let mut last = Vec::new();
        while let Ok(report) = timeout_at(end, reports.recv()).await {
            match report {
                Some(report) => last.push(report),
                None => return (last, true),
            }
        }
        stopping.abort();
        (last, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::by_name;

    #[tokio::test]
    async fn what_is_wanted_later_is_not_waited_for() {
        let export = |name: &str| Export::new(name, by_name("list").unwrap(), format!("/nowhere/{name}"));
        let exports = Arc::new(vec![export("one"), export("other")]);
        let mut consumers = Consumers::new(&exports);
        let reach = |consumers: &mut Consumers, name: &str, offer, paused| {
            consumers.reached.insert(name.into(), Reached { offer, paused });
        };
        assert!(consumers.have_done(0), "nothing was wanted");
        (consumers.offered, consumers.called) = (5, 2);
        reach(&mut consumers, "one", 4, false);
        assert!(!consumers.have_done(1), "the other has done nothing yet");
        reach(&mut consumers, "other", 3, false);
        assert!(consumers.have_done(3) && !consumers.have_done(4));
        // It failed after it was last called, and is left alone.
        reach(&mut consumers, "other", 3, true);
        assert!(consumers.have_done(4));
        consumers.called = 4;
        assert!(!consumers.have_done(4) && consumers.have_done(3));
    }
}
