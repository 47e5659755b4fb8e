//! People who asked for a poll and wait for what comes of it.

use std::collections::BTreeSet;

use tokio::sync::oneshot;

use crate::cycle::shapes::PolledShape;
use crate::cycle::{Absorbed, Arrived, Reply};
use crate::table::Name;

/// One who waits.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The BASes that have not been read yet.
    pub(super) open: BTreeSet<Name>,
    /// What the others came to.
    pub(super) bas: Vec<PolledShape>,
    /// What is only to be rehearsed.
    pub(super) dry: Option<Vec<Arrived>>,
    /// Publish although the table is not filled.
    pub(super) publish: bool,
    /// Whether the batch with the last of them was taken in: then it is only published still,
    /// whatever other BASes bring meanwhile.
    pub(super) taken_in: bool,
    /// What the batches since came to.
    pub(super) absorbed: Absorbed,
    /// Where the reply goes.
    pub(super) reply: oneshot::Sender<Reply>,
}

impl Waiting {
    /// Notes a poll that was waited for.
    pub(super) fn note(&mut self, name: &Name, shape: &PolledShape) {
        if self.open.remove(name) {
            self.bas.push(shape.clone());
        }
    }

    /// Whether everything has been read.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether everything has been read, and waits for a batch to be taken in.
    pub(super) fn awaits_batch(&self) -> bool {
        self.is_complete() && !self.taken_in
    }

    /// Notes what a batch came to.
    pub(super) fn add(&mut self, absorbed: &Absorbed) {
        self.absorbed.changed.added += absorbed.changed.added;
        self.absorbed.changed.removed += absorbed.changed.removed;
        self.absorbed.changed.altered += absorbed.changed.altered;
    }
}
