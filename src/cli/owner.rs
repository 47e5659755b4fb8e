//! Asking whoever owns the store: the daemon where one runs, else the store itself.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::output::complain;
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::cycle::{Answer, Cycle, CycleError, Feeds, Operation, Reply, State, Who};
use crate::http::ControlClient;
use crate::snmp::Transport;
use crate::store::Reader;

impl From<CycleError> for Stop {
    fn from(error: CycleError) -> Self {
        Self::failed(error.to_string())
    }
}

/// Asks the daemon, where one runs.
pub(crate) async fn daemon(site: &Site, operation: &Operation) -> Result<Option<Answer>, Stop> {
    match ControlClient::connect(&site.config.control.socket).await? {
        Some(client) => Ok(Some(client.ask(operation.clone()).await?)),
        None => Ok(None),
    }
}

/// Asks what only reads: the daemon, or the store opened for reading.
pub(crate) async fn read(config: &Path, operation: Operation) -> Result<Answer, Stop> {
    let site = Site::load(config, Secrets::NotNeeded)?;
    if let Some(answer) = daemon(&site, &operation).await? {
        return Ok(answer);
    }
    let mut reader = Reader::open(&site.config.store.path, Default::default()).await?;
    let mut state = State::of(Arc::clone(&site.config), Arc::clone(&site.exports), reader.load().await?);
    match operation {
        Operation::Plan => take_loads(&mut state, config).await?,
        // The edges are worth seeing without their loads.
        Operation::Edges => take_loads(&mut state, config).await.unwrap_or_else(|stop| {
            complain(&format!("no load could be read: {}", stop.message));
        }),
        _ => {}
    }
    let now = Timestamp::now();
    if matches!(operation, Operation::Status | Operation::Conflicts) {
        state.find_conflicts(now);
    }
    if let Some(reply) = state.answer(&operation, false, now) {
        return Ok(reply?);
    }
    match state.answer_from(&mut reader, &operation, now).await {
        Some(reply) => Ok(reply?),
        None => Err(Stop::failed("this needs the daemon")),
    }
}

/// Without a daemon nobody knows the loads: they are read now.
async fn take_loads(state: &mut State, config: &Path) -> Result<(), Stop> {
    if state.config.traits.values().all(|edge| edge.feed.is_none()) {
        return Ok(());
    }
    let site = Site::load(config, Secrets::Needed)?;
    let transport =
        Transport::new().map_err(|e| Stop::failed(format!("no UDP socket can be opened: {e}")))?;
    let read = Feeds::of(&site.config).read_once(&transport).await;
    state.take_loads(&read, Timestamp::now());
    Ok(())
}

/// Asks what changes something: the daemon, or the store under its lock.
pub(crate) async fn change(config: &Path, operation: Operation) -> Result<Answer, Stop> {
    let site = Site::load(config, Secrets::NotNeeded)?;
    if let Some(answer) = daemon(&site, &operation).await? {
        return Ok(answer);
    }
    let mut cycle =
        Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), Timestamp::now()).await?;
    let generation = cycle.state().snapshot.generation;
    let mut reply: Reply = cycle.perform(operation, &Who::of_process(), Timestamp::now()).await;
    if cycle.state().snapshot.generation != generation {
        cycle.publish(Timestamp::now()).await;
        reply = reply.map(|answer| cycle.state().with_published(answer));
    }
    cycle.close().await?;
    Ok(reply?)
}

/// A JSON answer as the shape it is.
pub(crate) fn shape<T: DeserializeOwned>(answer: Answer) -> Result<T, Stop> {
    match answer {
        Answer::Json(value) => serde_json::from_value(value)
            .map_err(|e| Stop::failed(format!("the answer is not understood: {e}"))),
        Answer::File(_) => Err(Stop::failed("the answer is not understood: a file came")),
    }
}
