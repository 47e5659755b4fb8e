//! Publishing: a generation into the files of one consumer, so that the consumer only ever
//! sees whole and proven files.
//!
//! For one [`Export`]: render, write to `.NAME.new` beside the target, read back with our
//! own strict reader and compare with the table, let the consumer's own checker look at the
//! new file, keep what is there as `.NAME.prev`, rename (the groups file before the table),
//! reload, drop the groups that nobody uses any more, and last write `NAME.manifest.json`.
//! A file whose body would be the same stays untouched.
//!
//! The manifest is what makes a publication done. Whatever happens before it is written, a
//! crash included, leaves whole old or whole new files, and the next publication does the
//! work again, reload included: a consumer that was not told of a file is never taken for
//! one that was.
//!
//! What can go wrong is data ([`Failure`]); nothing here logs, and one export's failure is
//! nothing to another. Two publications of one export must not overlap: the caller sees to
//! that.

mod command;
mod export;
mod file;
mod manifest;
mod outcome;
mod stage;
mod target;

use std::sync::Arc;

use jiff::Timestamp;

pub use command::{Argv, ArgvError};
pub use export::{DEFAULT_SPACE, Export, GroupsFile};
pub use manifest::{FileRecord, Manifest};
pub use outcome::{Failure, FailureReason, Published, State};
pub use target::Target;

use crate::table::Snapshot;
use stage::{Prepared, Stage};

/// Puts a file in its place whole, as publishing does, and nothing more: for a file that no
/// consumer is told of.
///
/// # Errors
/// Where the path is no file's, or it could not be written.
pub fn write_file(path: &std::path::Path, octets: &[u8]) -> Result<(), Failure> {
    let target = Target::resolve(path)?;
    file::write_new(&target, &[octets], 0o644)?;
    file::install(&target)
}

/// Brings the export's files to the snapshot's generation. `now` is written into the
/// manifest and nowhere else.
///
/// The files are those of the snapshot when this says [`State::Published`] or
/// [`State::Unchanged`]; else they are what they were before, except where
/// [`FailureReason::Reload`] says that there was nothing before, or
/// [`FailureReason::Manifest`] that only the manifest is missing.
pub async fn publish(export: &Export, snapshot: &Snapshot, now: Timestamp) -> Published {
    let state = attempt(export, snapshot, now).await;
    Published { export: export.name.clone(), generation: snapshot.generation, state: state.into() }
}

async fn attempt(export: &Export, snapshot: &Snapshot, now: Timestamp) -> Result<State, Failure> {
    let (owned, snapshot) = (export.clone(), snapshot.clone());
    let stage = match blocking(move || stage::prepare(&owned, &snapshot, now)).await? {
        Prepared::Unchanged(manifest) => return Ok(State::Unchanged(*manifest)),
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
    if let Err(failure) = reload(export, &stage).await {
        return Err(fall_back(export, stage, failure).await);
    }
    blocking(move || stage.finish().map(State::Published)).await
}

/// The consumer's own checker, on the new file.
async fn check(export: &Export, stage: &Stage) -> Result<(), Failure> {
    let Some(argv) = &export.check else { return Ok(()) };
    command::run(argv, &stage.placeholders(), stage.directory(), export.check_timeout)
        .await
        .map_err(|e| e.failure(FailureReason::Check, FailureReason::CheckTimeout))
}

async fn reload(export: &Export, stage: &Stage) -> Result<(), Failure> {
    let Some(argv) = &export.reload else { return Ok(()) };
    command::run(argv, &stage.installed_placeholders(), stage.directory(), export.reload_timeout)
        .await
        .map_err(|e| e.failure(FailureReason::Reload, FailureReason::ReloadTimeout))
}

/// After a failed reload: the files before come back, and the consumer is told so, for it
/// may have taken up one of the new ones.
async fn fall_back(export: &Export, stage: Arc<Stage>, failure: Failure) -> Failure {
    let restored = Arc::clone(&stage);
    match blocking(move || restored.put_back()).await {
        Err(second) => failure.and(&format!("putting the files before back failed too: {}", second.detail)),
        Ok(false) => failure.and("there were no files before, the new ones stay"),
        Ok(true) => match reload(export, &stage).await {
            Ok(()) => failure.and("the files before are back, and reloaded"),
            Err(second) => {
                failure.and(&format!("the files before are back, not reloaded: {}", second.detail))
            }
        },
    }
}

/// Runs file work off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|e| Err(Failure::new(FailureReason::Interrupted, e.to_string())))
}
