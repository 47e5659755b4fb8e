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
    /// What the batches since came to.
    pub(super) absorbed: Absorbed,
    /// Once everything has been read and taken in: the number of what is to be published.
    pub(super) offer: Option<u64>,
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

    /// Whether everything has been read, and is still to be taken in.
    pub(super) fn is_new(&self) -> bool {
        self.open.is_empty() && self.offer.is_none()
    }

    /// Notes what a batch came to.
    pub(super) fn add(&mut self, absorbed: &Absorbed) {
        self.absorbed.changed.added += absorbed.changed.added;
        self.absorbed.changed.removed += absorbed.changed.removed;
        self.absorbed.changed.altered += absorbed.changed.altered;
    }
}
