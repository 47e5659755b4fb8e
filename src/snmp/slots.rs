//! Slots: how many routers are talked with at a time. One that is silent has none, so that
//! dead routers, however many, keep no living one waiting.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashSet;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The slots of a fleet.
#[derive(Debug)]
pub(super) struct Slots {
    free: Arc<Semaphore>,
    /// Who answered when last asked.
    alive: Mutex<HashSet<SocketAddr>>,
}

impl Slots {
    /// So many.
    pub(super) fn new(count: usize) -> Self {
        let count = count.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(count)), alive: Mutex::default() }
    }

    fn is_alive(&self, peer: SocketAddr) -> bool {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).contains(&peer)
    }

    fn note(&self, peer: SocketAddr, alive: bool) {
        // A panic elsewhere cannot leave the set half changed.
        let mut all = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        if alive {
            all.insert(peer)
        } else {
            all.remove(&peer)
        };
    }
}

/// One router's claim to a slot, for the time of a poll.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Option<Arc<Slots>>,
    held: Option<OwnedSemaphorePermit>,
}

impl Slot {
    /// A claim; where there are no slots, nobody waits.
    pub(super) fn new(slots: Option<Arc<Slots>>) -> Self {
        Self { slots, held: None }
    }

    /// Before something is sent for the first time: a router that answered before waits for a
    /// slot, one that is not known to answer is asked without.
    pub(super) async fn ask(&mut self, peer: SocketAddr) {
        if self.slots.as_ref().is_some_and(|slots| slots.is_alive(peer)) {
            self.take().await;
        }
    }

    /// It has answered: what follows needs a slot.
    pub(super) async fn answered(&mut self, peer: SocketAddr) {
        if self.held.is_none()
            && let Some(slots) = &self.slots
        {
            slots.note(peer, true);
            self.take().await;
        }
    }

    /// It has not answered for a whole pause: others may have the slot.
    pub(super) fn silent(&mut self, peer: SocketAddr) {
        self.held = None;
        if let Some(slots) = &self.slots {
            slots.note(peer, false);
        }
    }

    async fn take(&mut self) {
        if let (None, Some(slots)) = (&self.held, &self.slots) {
            // The semaphore is never closed.
            self.held = Arc::clone(&slots.free).acquire_owned().await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    const QUIET: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);
    const LIVELY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 2);

    /// Whether it is done at once.
    fn at_once(future: impl Future<Output = ()>) -> bool {
        pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn who_is_not_known_to_answer_is_asked_without_a_slot() {
        let slots = Arc::new(Slots::new(1));
        let (mut one, mut other) = (Slot::new(Some(Arc::clone(&slots))), Slot::new(Some(Arc::clone(&slots))));
        assert!(at_once(one.ask(QUIET)) && at_once(other.ask(LIVELY)));
        assert_eq!(slots.free.available_permits(), 1);
        assert!(at_once(other.answered(LIVELY)));
        assert_eq!(slots.free.available_permits(), 0);
        assert!(!at_once(one.answered(QUIET)), "the only slot is taken");
        drop(other);
        assert!(at_once(one.answered(QUIET)));
    }

    #[test]
    fn silence_gives_the_slot_to_others() {
        let slots = Arc::new(Slots::new(1));
        let (mut one, mut other) = (Slot::new(Some(Arc::clone(&slots))), Slot::new(Some(Arc::clone(&slots))));
        assert!(at_once(one.answered(QUIET)));
        slots.note(LIVELY, true);
        assert!(!at_once(other.ask(LIVELY)), "who answered before waits for a slot");
        one.silent(QUIET);
        assert!(at_once(other.ask(LIVELY)));
        assert!(at_once(one.ask(QUIET)), "it is not known to answer any more");
    }

    #[test]
    fn without_slots_nobody_waits() {
        let mut slot = Slot::new(None);
        assert!(at_once(slot.ask(QUIET)) && at_once(slot.answered(QUIET)));
    }
}
