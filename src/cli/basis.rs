//! The table that an old one, or a log, is held against: that of the store, or what the
//! routers list now.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::old_args::BasisArgs;
use super::output::complain;
use super::poll::collected;
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::{counted, grouped};
use crate::cycle::State;
use crate::store::{Reader, StoreError};

/// How many BASes are named that were never read.
const NAMED: usize = 5;

/// Which table it is.
#[derive(Debug, Serialize)]
pub(crate) struct Basis {
    /// The generation; null where it was read from the routers for this alone.
    pub(crate) generation: Option<u64>,
    /// Whether it is what consumers get.
    pub(crate) published: bool,
    /// How many BASes are configured.
    pub(crate) bas: usize,
    /// Those of them that were never read to their end: what they serve is not in the table.
    pub(crate) unread: Vec<String>,
}

impl Basis {
    /// Which table it is, for people.
    pub(crate) fn text(&self) -> String {
        match self.generation {
            None => format!(
                "the table as {} it now; nothing was committed or published",
                counted(self.bas - self.unread.len(), "BAS lists", "BASes list")
            ),
            Some(generation) if self.published => {
                format!("generation {}", grouped(&generation.to_string()))
            }
            Some(generation) => {
                format!("generation {}, which is not published yet", grouped(&generation.to_string()))
            }
        }
    }

    /// What has to be known of it.
    pub(crate) fn remarks(&self) -> Vec<String> {
        if self.unread.is_empty() {
            return Vec::new();
        }
        let mut named = self.unread.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if let Some(more @ 1..) = self.unread.len().checked_sub(NAMED) {
            named.push_str(&format!(" and {}", counted(more, "other", "others")));
        }
        vec![format!(
            "warning: never read to its end: {named}; what it serves is not in the table, and the figures lack it"
        )]
    }
}

/// Finds the table. One that was never polled is polled for this, and left as it is.
pub(crate) async fn basis(args: &BasisArgs, site: &Site, config: &Path) -> Result<(State, Basis), Stop> {
    let stored = stored(site).await?;
    let known = stored.as_ref().is_some_and(|state| state.snapshot.generation > 0);
    match stored.filter(|_| known && !args.poll) {
        Some(state) => {
            let generation = Some(state.snapshot.generation);
            let basis = of(&state, generation);
            Ok((state, basis))
        }
        None => {
            let site = Site::load(config, Secrets::Needed)?;
            if !known {
                complain("note: there is no table yet: the routers are asked, and nothing is committed");
            }
            let state = glanced(&site).await?;
            let basis = of(&state, None);
            if basis.bas > 0 && basis.bas == basis.unread.len() {
                return Err(Stop::failed(
                    "no BAS could be read, so there is no table; `poolsync check --connect` says why",
                ));
            }
            Ok((state, basis))
        }
    }
}

fn of(state: &State, generation: Option<u64>) -> Basis {
    let unread = state
        .config
        .bas
        .keys()
        .filter(|name| state.memories.get(*name).is_none_or(|memory| memory.last_complete.is_none()));
    Basis {
        generation,
        published: generation.is_some() && state.snapshot.filled,
        bas: state.config.bas.len(),
        unread: unread.map(ToString::to_string).collect(),
    }
}

async fn stored(site: &Site) -> Result<Option<State>, Stop> {
    let mut reader = match Reader::open(&site.config.store.path, Default::default()).await {
        Ok(reader) => reader,
        Err(StoreError::Missing { .. }) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let loaded = reader.load_table().await?;
    Ok(Some(State::of(Arc::clone(&site.config), Arc::clone(&site.exports), loaded)))
}

/// What the routers list now, and nothing else: not even what the store remembers of them.
async fn glanced(site: &Site) -> Result<State, Stop> {
    let state = State::without_store(Arc::clone(&site.config), Arc::clone(&site.exports));
    let arrived = collected(site, |fleet, now| state.jobs(fleet, &[], false, now)).await?;
    Ok(state.glanced(arrived, Timestamp::now())?)
}
