//! What was counted of notifications.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::snmp::Refusal;

/// What was counted since the start, and who it is that listens.
#[derive(Debug)]
pub struct Tally {
    /// Where notifications are listened for.
    pub listen: Vec<SocketAddr>,
    /// Our engine id, in hex, which senders of SNMPv3 informs may have to be told.
    pub engine_id: String,
    /// How often our engine was started.
    pub boots: u32,
    received: AtomicU64,
    traps: AtomicU64,
    informs: AtomicU64,
    discoveries: AtomicU64,
    filtered: AtomicU64,
    polls: AtomicU64,
    refused: Mutex<Refused>,
}

#[derive(Debug, Default)]
struct Refused {
    by_cause: BTreeMap<Refusal, u64>,
    last: Option<LastRefused>,
}

/// The last datagram that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRefused {
    /// Where it came from.
    pub from: IpAddr,
    /// Why it was refused.
    pub cause: Refusal,
    /// When.
    pub at: Timestamp,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(listen: Vec<SocketAddr>, engine_id: String, boots: u32) -> Self {
        Self {
            listen,
            engine_id,
            boots,
            received: AtomicU64::default(),
            traps: AtomicU64::default(),
            informs: AtomicU64::default(),
            discoveries: AtomicU64::default(),
            filtered: AtomicU64::default(),
            polls: AtomicU64::default(),
            refused: Mutex::default(),
        }
    }

    /// Counts a datagram, whatever it is.
    pub fn receive(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a notification that is believed.
    pub fn accept(&self, inform: bool) {
        let count = if inform { &self.informs } else { &self.traps };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a question for our engine.
    pub fn discover(&self) {
        self.discoveries.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a notification that `oids` leaves out.
    pub fn filter(&self) {
        self.filtered.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a poll that notifications caused.
    pub fn poll(&self) {
        self.polls.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a datagram that is refused; gives whether it is the first of its cause.
    pub fn refuse(&self, from: IpAddr, cause: Refusal, at: Timestamp) -> bool {
        let mut refused = self.refused();
        refused.last = Some(LastRefused { from, cause, at });
        let count = refused.by_cause.entry(cause).or_default();
        *count += 1;
        *count == 1
    }

    /// Datagrams received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Traps that were believed, whether they count by `oids` or not.
    pub fn traps(&self) -> u64 {
        self.traps.load(Ordering::Relaxed)
    }

    /// Informs that were believed, and acknowledged.
    pub fn informs(&self) -> u64 {
        self.informs.load(Ordering::Relaxed)
    }

    /// Questions for our engine id or time.
    pub fn discoveries(&self) -> u64 {
        self.discoveries.load(Ordering::Relaxed)
    }

    /// Notifications that `oids` leaves out.
    pub fn filtered(&self) -> u64 {
        self.filtered.load(Ordering::Relaxed)
    }

    /// Polls that notifications caused.
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Datagrams refused, by cause.
    pub fn refused_by_cause(&self) -> BTreeMap<Refusal, u64> {
        self.refused().by_cause.clone()
    }

    /// The last datagram that was refused.
    pub fn last_refused(&self) -> Option<LastRefused> {
        self.refused().last
    }

    fn refused(&self) -> MutexGuard<'_, Refused> {
        // A panic elsewhere cannot leave a count half made.
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
