//! Reading the loads of edges beside the owner of the store: all at once, every interval, the
//! first time at start.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::config::Config;
use crate::cycle::{AGAIN, Feeds};
use crate::load::{Collected, LoadError};
use crate::snmp::Transport;
use crate::table::Name;

/// The readings, one after the other.
#[derive(Debug)]
pub(super) struct Loads {
    transport: Transport,
    feeds: Feeds,
    /// Those of a configuration that was read while a reading ran.
    anew: Option<Feeds>,
    running: Option<JoinHandle<(Feeds, Collected)>>,
    next: Instant,
    interval: Duration,
    /// Why each edge is unknown: said once.
    unknown: BTreeMap<Name, &'static str>,
}

impl Loads {
    pub(super) fn new(config: &Config, transport: Transport) -> Self {
        Self {
            transport,
            feeds: Feeds::of(config),
            anew: None,
            running: None,
            next: Instant::now(),
            interval: config.load.interval,
            unknown: BTreeMap::new(),
        }
    }

    /// Another configuration; what is remembered of the same sources stays.
    pub(super) fn reconfigure(&mut self, config: &Config) {
        self.interval = config.load.interval;
        self.next = self.next.min(Instant::now() + self.interval);
        let anew = Feeds::of(config);
        match &self.running {
            Some(_) => self.anew = Some(anew),
            None => self.feeds = anew.remembering(std::mem::take(&mut self.feeds)),
        }
    }

    /// Waits for the next reading, for ever where no edge has a source. Whoever stops waiting
    /// loses nothing.
    pub(super) async fn read(&mut self) -> Collected {
        loop {
            if self.running.is_none() {
                match self.feeds.is_empty() {
                    true => std::future::pending().await,
                    false => sleep_until(self.next).await,
                }
                let (mut feeds, transport) = (self.feeds.clone(), self.transport.clone());
                self.next = Instant::now() + self.interval;
                self.running = Some(tokio::spawn(async move {
                    let read = feeds.read(&transport, Timestamp::now()).await;
                    (feeds, read)
                }));
            }
            let Some(running) = &mut self.running else { continue };
            let ended = running.await;
            self.running = None;
            let (mut feeds, read) = match ended {
                Ok(done) => done,
                Err(error) => {
                    tracing::error!(%error, "a reading of the loads was broken off");
                    continue;
                }
            };
            let again = feeds.again(&read);
            self.feeds = match self.anew.take() {
                Some(anew) => anew.remembering(feeds),
                None => feeds,
            };
            if again {
                self.next = Instant::now() + AGAIN.min(self.interval);
                continue;
            }
            self.tell(&read);
            return read;
        }
    }

    /// Says which edges became unknown, and which are known again.
    fn tell(&mut self, read: &Collected) {
        for (edge, sample) in &read.edges {
            match sample {
                Ok(_) => {
                    if self.unknown.remove(edge).is_some() {
                        tracing::info!(%edge, "its load is known again");
                    }
                }
                Err(error) => self.told(edge, error),
            }
        }
    }

    fn told(&mut self, edge: &Name, error: &LoadError) {
        if self.unknown.insert(edge.clone(), error.kind()) != Some(error.kind()) {
            tracing::warn!(%edge, reason = error.kind(), detail = %error, "its load is unknown");
        }
    }
}
