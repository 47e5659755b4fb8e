//! Publishing beside the owner of the store: a consumer that takes its time delays neither
//! polls nor requests. One publication at a time; what changes meanwhile comes with the next.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::task::JoinHandle;

use crate::cycle::publish_all;
use crate::publish::{Export, Published};
use crate::table::Snapshot;

/// Publications, one after the other.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    running: Option<JoinHandle<Vec<Published>>>,
    wanted: Option<(Arc<Vec<Export>>, Arc<Snapshot>)>,
}

impl Publisher {
    /// Wants a snapshot published, instead of any that has not been begun.
    pub(super) fn want(&mut self, exports: &Arc<Vec<Export>>, snapshot: &Arc<Snapshot>) {
        if snapshot.filled {
            self.wanted = Some((Arc::clone(exports), Arc::clone(snapshot)));
            self.begin();
        }
    }

    /// Whether nothing is being published, nor wanted to be.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none() && self.wanted.is_none()
    }

    /// Waits for the publication that runs, for ever where none does; then the next begins.
    pub(super) async fn done(&mut self) -> Vec<Published> {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let ended = running.await;
        self.running = None;
        self.begin();
        ended.unwrap_or_else(|e| {
            tracing::error!(error = %e, "a publication was broken off");
            Vec::new()
        })
    }

    fn begin(&mut self) {
        if self.running.is_some() {
            return;
        }
        if let Some((exports, snapshot)) = self.wanted.take() {
            let publication = async move { publish_all(&exports, &snapshot, Timestamp::now()).await };
            self.running = Some(tokio::spawn(publication));
        }
    }
}
