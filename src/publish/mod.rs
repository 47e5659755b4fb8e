//! Publishing: a generation into the files of one consumer, so that the consumer only ever
//! sees whole and proven files.
//!
//! For one [`Export`]: render, write to `.NAME.new` beside the target, read back with our
//! own strict reader and compare with the table, let the consumer's own checker look at the
//! new file, keep what is there as `.NAME.prev`, rename (the groups file before the table),
//! stamp `.NAME.reload`, tell the consumer (HAProxy's socket, the reload command), ask it for
//! addresses whose answer changed, drop the groups that nobody uses any more, and last write
//! `NAME.manifest.json`. Where telling or asking fails, the files before are put back, and
//! the consumer is told so. A file whose body would be the same stays untouched.
//!
//! The manifest is what makes a publication done. Whatever happens before it is written, a
//! crash included, leaves whole old or whole new files, and the next publication does the
//! work again, reload included: a consumer that was not told of a file is never taken for
//! one that was.
//!
//! What can go wrong is data ([`Failure`]); nothing here logs, and one export's failure is
//! nothing to another. Two publications of one export must not overlap: the caller sees to
//! that, or lets a [`Publisher`] do it, which also tries again after failures, and asks
//! consumers between publications ([`Standing`]).

mod canary;
mod command;
mod dns;
mod export;
mod file;
mod format;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../tests/fuzz/publish.rs"]
pub(crate) mod fuzz;
mod group;
mod haproxy;
mod manifest;
mod outcome;
mod prepare;
mod probe;
mod publisher;
mod stage;
mod standing;
mod target;

use std::sync::Arc;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

pub use command::{Argv, ArgvError};
pub use export::{Canary, DEFAULT_SPACE, Export, GroupsFile, Query};
pub use format::TableFormat;
pub use manifest::{FileRecord, Manifest};
pub use outcome::{Failure, FailureReason, Published, State};
pub use publisher::{Clock, Publisher, Report, publish_once};
pub use standing::{Doubt, Standing};
pub use target::Target;

use crate::format::Warning;
use crate::table::Snapshot;
use prepare::Prepared;
use stage::Stage;

/// Puts a file in its place whole, as publishing does, and nothing more: for a file that no
/// consumer is told of.
///
/// # Errors
/// Where the path is no file's, or it could not be written.
pub fn write_file(path: &std::path::Path, octets: &[u8]) -> Result<(), Failure> {
    let target = Target::resolve(path)?;
    file::write_new(&target, &[octets], file::Rights::PUBLIC)?;
    file::install(&target)
}

/// Brings the export's files to the snapshot's generation. `now` is written into the
/// manifest and nowhere else.
///
/// The files are those of the snapshot when this says [`State::Published`] or
/// [`State::Unchanged`]; else they are what they were before, except where
/// [`FailureReason::Reload`] and its like say that there was nothing before, or
/// [`FailureReason::Manifest`] that only the manifest is missing.
pub async fn publish(export: &Export, snapshot: &Snapshot, now: Timestamp) -> Published {
    publish_after(None, export, snapshot, now).await
}

/// What was published last, and by which export.
#[derive(Clone, Debug)]
struct Last {
    export: Arc<Export>,
    snapshot: Arc<Snapshot>,
}

/// The same by somebody who remembers what was published last: the consumer is then asked about
/// what has changed since, without the file in place being read for it.
async fn publish_after(
    last: Option<Last>,
    export: &Export,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Published {
    let begun = Instant::now();
    let state = State::from(attempt(last, export, snapshot, now).await);
    let warnings = warnings(export, snapshot, &state);
    let (name, generation) = (export.name.clone(), snapshot.generation);
    Published { export: name, generation, state, warnings, took: begun.elapsed() }
}

async fn attempt(
    last: Option<Last>,
    export: &Export,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<State, Failure> {
    let begun = Instant::now();
    let (owned, snapshot) = (export.clone(), snapshot.clone());
    let prepared = blocking(move || prepare::prepare(&owned, &snapshot, last.as_ref(), now));
    let stage = match prepared.await? {
        Prepared::Unchanged(manifest) => return Ok(State::Unchanged(*manifest)),
        Prepared::Deferred(until) => return Ok(State::Deferred { until }),
        Prepared::Staged(stage) => Arc::new(*stage),
    };
    if let Err(failure) = check(export, &stage).await {
        let discarded = Arc::clone(&stage);
        blocking(move || {
            discarded.discard();
            Ok(())
        })
        .await?;
        return Err(failure);
    }
    let installed = Arc::clone(&stage);
    blocking(move || installed.install()).await?;
    let told = match tell(export, &stage).await {
        Ok(()) => ask(export, &stage).await,
        Err(failure) => Err(failure),
    };
    match told {
        Ok(asked) => {
            let took = begun.elapsed();
            let later = SignedDuration::try_from(took).unwrap_or_default();
            let confirmed = asked.then(|| now.checked_add(later).unwrap_or(now));
            blocking(move || stage.finish(confirmed, took).map(State::Published)).await
        }
        Err(failure) => Err(fall_back(export, stage, failure).await),
    }
}

/// The consumer's own checker, on the new file.
async fn check(export: &Export, stage: &Stage) -> Result<(), Failure> {
    let Some(argv) = &export.check else { return Ok(()) };
    command::run(argv, &stage.placeholders(), stage.directory(), export.check_timeout)
        .await
        .map_err(|e| e.failure(FailureReason::Check, FailureReason::CheckTimeout))
}

/// Tells the consumer of the files in place.
async fn tell(export: &Export, stage: &Stage) -> Result<(), Failure> {
    if let Some(socket) = &export.haproxy_socket {
        haproxy::push(socket, &stage.maps(), stage.probes(), export.reload_timeout).await?;
    }
    reload(export, stage).await
}

async fn reload(export: &Export, stage: &Stage) -> Result<(), Failure> {
    let Some(argv) = &export.reload else { return Ok(()) };
    command::run(argv, &stage.installed_placeholders(), stage.directory(), export.reload_timeout)
        .await
        .map_err(|e| e.failure(FailureReason::Reload, FailureReason::ReloadTimeout))
}

/// Asks the consumer. Says whether there was somebody to ask.
async fn ask(export: &Export, stage: &Stage) -> Result<bool, Failure> {
    let Some(canary) = &export.canary else { return Ok(false) };
    canary::confirm(canary, export.context.name.as_ref(), stage.probes()).await?;
    Ok(true)
}

/// Asks the consumer, between publications, whether it answers as a snapshot that is in
/// place says: for some addresses, others in each round.
async fn confirm(export: &Arc<Export>, snapshot: &Arc<Snapshot>, round: u64) -> Result<(), Failure> {
    let Some(canary) = &export.canary else { return Ok(()) };
    let (of, shown) = (Arc::clone(export), Arc::clone(snapshot));
    let probes = blocking(move || {
        let view = of.view(&shown).map_err(|e| Failure::new(FailureReason::Inconsistent, e.to_string()))?;
        Ok(probe::sample(&view, of.format.excluded(), round))
    });
    canary::confirm(canary, export.context.name.as_ref(), &probes.await?).await
}

/// After a failure the files before come back, and the consumer is told so, for it may have
/// taken up one of the new ones.
async fn fall_back(export: &Export, stage: Arc<Stage>, failure: Failure) -> Failure {
    let restored = Arc::clone(&stage);
    match blocking(move || restored.put_back()).await {
        Err(second) => failure.and(&format!("putting the files before back failed too: {}", second.detail)),
        Ok(false) => failure.and("there were no files before, the new ones stay"),
        Ok(true) => match tell_back(export, &stage).await {
            Ok(()) => failure.and("the files before are back, and reloaded"),
            Err(second) => {
                failure.and(&format!("the files before are back, not reloaded: {}", second.detail))
            }
        },
    }
}

/// Tells the consumer that the files before are back; what it is to answer now is not known
/// well enough to ask.
async fn tell_back(export: &Export, stage: &Stage) -> Result<(), Failure> {
    if let Some(socket) = &export.haproxy_socket {
        haproxy::push(socket, &stage.maps(), &[], export.reload_timeout).await?;
    }
    reload(export, stage).await
}

fn warnings(export: &Export, snapshot: &Snapshot, state: &State) -> Vec<Warning> {
    let (State::Published(manifest) | State::Unchanged(manifest)) = state else { return Vec::new() };
    let limits = export.format.limits();
    let groups = match limits.groups {
        Some(_) => export.view(snapshot).map_or(0, |view| view.groups().count() as u64),
        None => 0,
    };
    limits.warnings(export.format.name(), groups, manifest.table.rows)
}

/// Runs file work off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|e| Err(Failure::new(FailureReason::Interrupted, e.to_string())))
}
