//! The table that an old one, or a log, is held against: that of the store, or what the
//! routers list now.

use std::collections::BTreeMap;
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
use crate::config::Config;
use crate::coverage::{Known, Served};
use crate::cycle::{State, served};
use crate::store::{Reader, StoreError};
use crate::table::{Memory, Name};

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

/// What an old table or a log is held against.
pub(crate) struct Ground {
    /// The table that it is.
    pub(crate) basis: Basis,
    /// Its addresses and who answers for them.
    pub(crate) served: Served,
    /// The names that an old table may name.
    pub(crate) known: Known,
}

/// Finds the table. One that was never polled is polled for this, and left as it is.
pub(crate) async fn ground(args: &BasisArgs, site: &Site, config: &Path) -> Result<Ground, Stop> {
    let stored = match args.poll {
        true => None,
        false => stored(args, site).await?,
    };
    match stored {
        Some(ground) => Ok(ground),
        None => {
            let site = Site::load(config, Secrets::Needed)?;
            if !args.poll {
                complain("note: there is no table yet: the routers are asked, and nothing is committed");
            }
            let state = glanced(&site).await?;
            let basis = of(&state.config, &state.memories, None);
            if basis.bas > 0 && basis.bas == basis.unread.len() {
                return Err(Stop::failed(
                    "no BAS could be read, so there is no table; `poolsync check --connect` says why",
                ));
            }
            of_state(&state, args, basis)
        }
    }
}

fn of_state(state: &State, args: &BasisArgs, basis: Basis) -> Result<Ground, Stop> {
    let served = state.served(&args.space, &args.service)?;
    Ok(Ground { basis, served, known: state.known() })
}

/// `published`: the generation, and whether it is what consumers get.
fn of(config: &Config, memories: &BTreeMap<Name, Memory>, published: Option<(u64, bool)>) -> Basis {
    let unread = config
        .bas
        .keys()
        .filter(|name| memories.get(*name).is_none_or(|memory| memory.last_complete.is_none()));
    Basis {
        generation: published.map(|(generation, _)| generation),
        published: published.is_some_and(|(_, filled)| filled),
        bas: config.bas.len(),
        unread: unread.map(ToString::to_string).collect(),
    }
}

/// The store's table; nothing where there is none yet. Who owns what tells it as a rule, and
/// is read faster than the entries.
async fn stored(args: &BasisArgs, site: &Site) -> Result<Option<Ground>, Stop> {
    let mut reader = match Reader::open(&site.config.store.path, Default::default()).await {
        Ok(reader) => reader,
        Err(StoreError::Missing { .. }) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    if let Some(owned) = reader.load_owned(&args.space).await? {
        if owned.generation == 0 {
            return Ok(None);
        }
        let basis = of(&site.config, &owned.memories, Some((owned.generation, owned.filled)));
        if let Some((served, known)) = served(&site.config, owned, &args.space, &args.service)? {
            return Ok(Some(Ground { basis, served, known }));
        }
    }
    let loaded = reader.load_table().await?;
    let state = State::of(Arc::clone(&site.config), Arc::clone(&site.exports), loaded);
    if state.snapshot.generation == 0 {
        return Ok(None);
    }
    let published = Some((state.snapshot.generation, state.snapshot.filled));
    let basis = of(&state.config, &state.memories, published);
    of_state(&state, args, basis).map(Some)
}

/// What the routers list now, and nothing else: not even what the store remembers of them.
async fn glanced(site: &Site) -> Result<State, Stop> {
    let state = State::without_store(Arc::clone(&site.config), Arc::clone(&site.exports));
    let arrived = collected(site, |fleet, now| state.jobs(fleet, &[], false, now)).await?;
    Ok(state.glanced(arrived, Timestamp::now())?)
}
