//! Publishing in the background: a task for each export, so that none waits for another.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{Export, Published, Standing, publish};
use crate::table::Snapshot;

/// What the time is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What became of one attempt.
#[derive(Clone, Debug)]
pub struct Report {
    /// The attempt.
    pub published: Published,
    /// How the export stands now.
    pub standing: Standing,
}

/// Publishes what it is offered to every export. Of generations that come while an export is
/// busy, deferred or left alone after a failure, only the newest is published; publications
/// of one export never overlap.
#[derive(Debug)]
pub struct Publisher {
    offer: watch::Sender<Option<Arc<Snapshot>>>,
    tasks: JoinSet<()>,
}

impl Publisher {
    /// Starts a task for each export. Every attempt is reported; a report that nobody takes
    /// in time holds its export up, and no other.
    pub fn start(
        exports: impl IntoIterator<Item = Export>,
        clock: &Clock,
        reports: &mpsc::Sender<Report>,
    ) -> Self {
        let (offer, offered) = watch::channel(None);
        let mut tasks = JoinSet::new();
        for export in exports {
            tasks.spawn(run(export, offered.clone(), Arc::clone(clock), reports.clone()));
        }
        Self { offer, tasks }
    }

    /// Has a generation published.
    pub fn offer(&self, snapshot: Arc<Snapshot>) {
        // Without any export nobody listens.
        self.offer.send_replace(Some(snapshot));
    }

    /// Ends all tasks: a publication under way is brought to its end first, but what waits
    /// is not begun.
    pub async fn stop(self) {
        drop(self.offer);
        self.tasks.join_all().await;
    }
}

async fn run(
    export: Export,
    mut offered: watch::Receiver<Option<Arc<Snapshot>>>,
    clock: Clock,
    reports: mpsc::Sender<Report>,
) {
    let mut standing = Standing::default();
    while offered.changed().await.is_ok() {
        // Until the newest is out, or there is a newer one to begin with.
        loop {
            let Some(snapshot) = offered.borrow_and_update().clone() else { break };
            let published = publish(&export, &snapshot, clock()).await;
            standing.note(&published, clock());
            let again = standing.retry_at.is_some();
            let report = Report { published, standing: standing.clone() };
            if reports.send(report).await.is_err() || !again {
                break;
            }
            if !wait(&offered, standing.wait(clock())).await {
                return;
            }
        }
    }
}

/// Waits, whatever is offered meanwhile. Says whether somebody may still offer something.
async fn wait(offered: &watch::Receiver<Option<Arc<Snapshot>>>, pause: Duration) -> bool {
    let mut closed = offered.clone();
    tokio::select! {
        () = sleep(pause) => true,
        () = async { while closed.changed().await.is_ok() {} } => false,
    }
}
