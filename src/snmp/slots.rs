//! Slots: how many routers are talked with at a time. One that is silent has none, so that
//! dead routers, however many, keep no living one waiting. Nor are they asked before living
//! ones, once they are known to be silent: to make and send a question takes time, too.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

/// The longest that a router which was silent lets living ones go first. In a fleet that
/// always talks with somebody, one that came back must be found by its next poll all the same;
/// what is waited here is short beside the pauses that a silent router takes anyway.
const COURTESY: Duration = Duration::from_secs(1);

/// The slots of a fleet.
#[derive(Debug)]
pub(super) struct Slots {
    free: Arc<Semaphore>,
    /// Whether a router answered when last asked: none that was not asked is in it.
    answered: Mutex<HashMap<SocketAddr, bool>>,
    /// How many living routers have a slot, or wait for one.
    living: watch::Sender<usize>,
    /// The longest that one which was silent lets them go first.
    courtesy: Duration,
}

impl Slots {
    /// So many.
    pub(super) fn new(count: usize) -> Self {
        let count = count.clamp(1, Semaphore::MAX_PERMITS);
        let free = Arc::new(Semaphore::new(count));
        Self { free, answered: Mutex::default(), living: watch::Sender::new(0), courtesy: COURTESY }
    }

    /// None: nobody knows.
    fn has_answered(&self, peer: SocketAddr) -> Option<bool> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).get(&peer).copied()
    }

    fn note(&self, peer: SocketAddr, answered: bool) {
        // A panic elsewhere cannot leave the map half changed.
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, answered);
    }

    /// Before a poll: a router that was silent when last asked lets the living go first, though
    /// not for ever.
    pub(super) async fn turn(&self, peer: SocketAddr) {
        if self.has_answered(peer) == Some(false) && *self.living.borrow() > 0 {
            // Neither the time's end nor that of the count, which does not come, is a fault.
            let _ = timeout(self.courtesy, self.living.subscribe().wait_for(|living| *living == 0)).await;
        }
    }
}

/// A living router that has a slot or waits for one: counted until it is dropped.
#[derive(Debug)]
struct Living(Arc<Slots>);

impl Living {
    fn new(slots: &Arc<Slots>) -> Self {
        slots.living.send_if_modified(|living| {
            *living += 1;
            false
        });
        Self(Arc::clone(slots))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        // Whoever waits does so for the last of them.
        self.0.living.send_if_modified(|living| {
            *living -= 1;
            *living == 0
        });
    }
}

/// One router's claim to a slot, for the time of a poll.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Option<Arc<Slots>>,
    held: Option<(OwnedSemaphorePermit, Living)>,
}

impl Slot {
    /// A claim; where there are no slots, nobody waits.
    pub(super) fn new(slots: Option<Arc<Slots>>) -> Self {
        Self { slots, held: None }
    }

    /// Before something is sent for the first time: a router that answered before waits for a
    /// slot, one that is not known to answer is asked without.
    pub(super) async fn ask(&mut self, peer: SocketAddr) {
        if self.slots.as_ref().is_some_and(|slots| slots.has_answered(peer) == Some(true)) {
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
            // Counted while it waits: a poll that is broken off counts no more.
            let living = Living::new(slots);
            // The semaphore is never closed.
            let permit = Arc::clone(&slots.free).acquire_owned().await.ok();
            self.held = permit.map(|permit| (permit, living));
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
    /// What takes longer goes on for ever.
    const FOR_EVER: Duration = Duration::from_secs(60);

    /// Whether it is done at once.
    fn at_once(future: impl Future<Output = ()>) -> bool {
        pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// One slot, and who answered when last asked.
    fn known(courtesy: Duration) -> Arc<Slots> {
        let slots = Slots { courtesy, ..Slots::new(1) };
        slots.note(QUIET, false);
        slots.note(LIVELY, true);
        Arc::new(slots)
    }

    fn claim(slots: &Arc<Slots>) -> Slot {
        Slot::new(Some(Arc::clone(slots)))
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
        assert!(at_once(one.ask(QUIET)) && at_once(one.answered(QUIET)));
        slots.note(LIVELY, true);
        assert!(!at_once(other.ask(LIVELY)), "who answered before waits for a slot");
        one.silent(QUIET);
        assert!(at_once(other.ask(LIVELY)));
        assert!(at_once(one.ask(QUIET)), "it is not known to answer any more");
    }

    #[tokio::test]
    async fn who_was_silent_is_asked_behind_the_living() {
        let slots = known(COURTESY);
        assert!(at_once(slots.turn(QUIET)), "nobody else is there");
        let (mut one, mut other) = (claim(&slots), claim(&slots));
        assert!(at_once(one.ask(LIVELY)));
        assert!(!at_once(slots.turn(QUIET)), "one is talked with");
        let mut waiting = Box::pin(other.ask(LIVELY));
        assert!(!at_once(&mut waiting));
        drop(one);
        assert!(!at_once(slots.turn(QUIET)), "one waits for the slot that is free");
        assert!(at_once(waiting));
        drop(other);
        assert!(at_once(slots.turn(QUIET)));
        assert_eq!(slots.free.available_permits(), 1);
    }

    #[tokio::test]
    async fn the_last_of_the_living_wakes_who_was_silent() {
        let slots = known(FOR_EVER * 60);
        let mut one = claim(&slots);
        assert!(at_once(one.ask(LIVELY)));
        let silent = Arc::clone(&slots);
        let asked = tokio::spawn(async move { silent.turn(QUIET).await });
        while slots.living.receiver_count() == 0 {
            assert!(!asked.is_finished(), "it waits for nobody");
            tokio::task::yield_now().await;
        }
        one.silent(LIVELY);
        timeout(FOR_EVER, asked).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn who_was_silent_is_asked_though_the_living_have_no_end() {
        let slots = known(Duration::from_millis(1));
        let mut living = claim(&slots);
        assert!(at_once(living.ask(LIVELY)));
        timeout(FOR_EVER, slots.turn(QUIET)).await.unwrap();
        assert_eq!(*slots.living.borrow(), 1);
    }

    #[tokio::test]
    async fn a_wait_for_a_slot_that_is_broken_off_keeps_nobody_waiting() {
        let slots = known(COURTESY);
        let (mut one, mut other) = (claim(&slots), claim(&slots));
        assert!(at_once(one.ask(LIVELY)));
        // Dropped as soon as it has to wait.
        assert!(!at_once(other.ask(LIVELY)));
        drop(one);
        assert!(at_once(slots.turn(QUIET)));
    }

    #[tokio::test]
    async fn who_was_never_asked_waits_for_nobody() {
        let slots = known(COURTESY);
        let (mut one, mut other) = (claim(&slots), claim(&slots));
        assert!(at_once(one.ask(LIVELY)));
        let mut waiting = Box::pin(other.ask(LIVELY));
        assert!(!at_once(&mut waiting));
        let new = SocketAddr::new(QUIET.ip(), 3);
        assert!(at_once(slots.turn(new)) && at_once(claim(&slots).ask(new)));
    }

    #[tokio::test]
    async fn who_was_silent_and_answers_is_one_of_the_living() {
        let slots = known(COURTESY);
        let (mut one, mut back) = (claim(&slots), claim(&slots));
        assert!(at_once(back.ask(QUIET)) && at_once(back.answered(QUIET)));
        drop(back);
        assert!(at_once(one.ask(LIVELY)));
        let mut back = claim(&slots);
        assert!(at_once(slots.turn(QUIET)), "it lets nobody go first any more");
        let mut waiting = Box::pin(back.ask(QUIET));
        assert!(!at_once(&mut waiting));
        drop(one);
        assert!(at_once(waiting));
        assert_eq!(slots.free.available_permits(), 0, "it has the slot");
    }

    #[test]
    fn without_slots_nobody_waits() {
        let mut slot = Slot::new(None);
        assert!(at_once(slot.ask(QUIET)) && at_once(slot.answered(QUIET)));
    }
}
