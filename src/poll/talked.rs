//! A poll of which all that waits is done, and its pure half: ranges from what was heard.
//!
//! They are two, because the first has to run where the routers' answers are read, and the
//! second, a quarter of a poll, is done as well where the polls are taken in.

use std::sync::Arc;

use super::aside::aside;
use super::tables::Tables;
use super::{Polled, Request, Stop};
use crate::mib::Descriptor;

/// A poll that has heard all that it asked for, or has failed.
pub struct Talked {
    /// What is known of it so far: all but its tables.
    pub so_far: Polled,
    pub(super) told: Option<Box<Told>>,
}

/// What a router told.
pub(super) struct Told {
    pub(super) request: Box<Request>,
    pub(super) raw: Raw,
}

/// The tables as they were read, and by what.
pub(super) struct Raw {
    pub(super) descriptor: Arc<Descriptor>,
    pub(super) tables: Tables,
    /// Why none of it is believed, where the router restarted meanwhile.
    pub(super) still_up: Result<(), Stop>,
}

impl Talked {
    /// What the poll found.
    pub fn judged(self) -> Polled {
        let Self { so_far: mut polled, told } = self;
        let Some(told) = told else { return polled };
        let Told { request, raw: Raw { descriptor, tables, still_up } } = *told;
        aside(tables.rows(), || polled.fill(&request, &descriptor, tables.decode(&descriptor, &request)));
        if let Err(stop) = still_up {
            polled.stop(stop, &request);
        }
        polled
    }

    /// The same, with what it cost to ask in vain elsewhere before.
    pub fn after(mut self, vain: Option<&Self>) -> Self {
        if let Some(Self { so_far: vain, .. }) = vain {
            let cost = &mut self.so_far.cost;
            cost.requests += vain.cost.requests;
            cost.retries += vain.cost.retries;
            cost.bytes += vain.cost.bytes;
        }
        self
    }
}

impl From<Polled> for Talked {
    fn from(so_far: Polled) -> Self {
        Self { so_far, told: None }
    }
}
