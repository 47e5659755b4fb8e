//! Publish: the configuration's exports, all at once, none waiting for another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::shapes::{ExportShape, PublishedShape};
use crate::config::{self, Config, TemplateSource};
use crate::format::groups::{Context, groups_by_name};
use crate::format::{Template, Unknown, by_name};
use crate::publish::{
    Argv, ArgvError, Canary, Export, FailureReason, GroupsFile, Manifest, Published, Query, State, Target,
    publish,
};
use crate::table::{Name, Snapshot};

/// Why an export of the configuration cannot be.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A command is none.
    #[error("[export.{export}]: {source}")]
    Command {
        /// The export.
        export: Name,
        /// What is wrong.
        source: ArgvError,
    },
    /// The domain name is none.
    #[error("[export.{export}]: {source}")]
    Domain {
        /// The export.
        export: Name,
        /// What is wrong.
        source: crate::format::groups::BadDomain,
    },
    /// The template is none, or cannot be read.
    #[error("[export.{export}]: {problem}")]
    Template {
        /// The export.
        export: Name,
        /// What is wrong.
        problem: String,
    },
    /// The format is not there.
    #[error("[export.{export}]: {source}")]
    Format {
        /// The export.
        export: Name,
        /// What there is.
        source: Unknown,
    },
}

/// The exports of a configuration, as publishing takes them.
///
/// # Errors
/// The first that cannot be.
pub fn exports_of(config: &Config) -> Result<Vec<Export>, ExportError> {
    config.exports.iter().map(|(name, export)| export_of(name, export)).collect()
}

fn export_of(name: &Name, from: &config::Export) -> Result<Export, ExportError> {
    let format = |source| ExportError::Format { export: name.clone(), source };
    let command = |source| ExportError::Command { export: name.clone(), source };
    let mut export = Export::new(name.clone(), by_name(from.format.as_str()).map_err(format)?, &from.path);
    if let Some(groups) = &from.groups {
        let known = groups_by_name(groups.format.as_str()).map_err(format)?;
        export.groups = Some(GroupsFile { format: known, path: groups.path.clone() });
    }
    let domain = from.domain.as_ref().map(|domain| domain.parse()).transpose();
    export.context = Context {
        name: domain.map_err(|source| ExportError::Domain { export: name.clone(), source })?,
        ttl: u32::try_from(from.ttl.as_secs()).ok(),
        nameservers: from.nameservers.iter().filter_map(|name| name.parse().ok()).collect(),
        table: Some(from.path.clone()),
    };
    if let Some(source) = &from.template {
        let problem = |problem| ExportError::Template { export: name.clone(), problem };
        export.format = template(source, &export.context).map_err(problem)?.into();
    }
    export.space = Some(from.space.clone());
    export.only.clone_from(&from.only);
    export.min_interval = from.min_interval;
    export.service = from.service.clone();
    export.check = from.check.clone().map(Argv::checker).transpose().map_err(command)?;
    export.check_timeout = from.check_timeout;
    export.reload = from.reload.clone().map(Argv::new).transpose().map_err(command)?;
    export.reload_timeout = from.reload_timeout;
    export.haproxy_socket.clone_from(&from.haproxy_socket);
    export.canary = from.canary.as_ref().map(canary);
    export.mode = from.mode;
    export.group.clone_from(&from.group);
    Ok(export)
}

fn template(source: &TemplateSource, context: &Context) -> Result<Template, String> {
    match source {
        TemplateSource::Shipped(name) => Template::shipped(name, context).map_err(|e| e.to_string()),
        TemplateSource::File(path) => {
            let place = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
            let text = std::fs::read_to_string(path).map_err(|e| place(&e))?;
            Template::parse(&text, context).map_err(|e| place(&e))
        }
    }
}

fn canary(from: &config::Canary) -> Canary {
    let query = match &from.query {
        config::Query::Dns(server) => Query::Dns(*server),
        config::Query::Http(url) => Query::Http(url.clone()),
    };
    Canary { query, timeout: from.timeout }
}

/// Publishes a snapshot to every export at once. The order of the results is that of the
/// exports.
pub async fn publish_all(exports: &[Export], snapshot: &Arc<Snapshot>, now: Timestamp) -> Vec<Published> {
    let mut running = JoinSet::new();
    for (place, export) in exports.iter().cloned().enumerate() {
        let snapshot = Arc::clone(snapshot);
        make_folder(&export);
        running.spawn(async move { (place, publish(&export, &snapshot, now).await) });
    }
    let mut done = BTreeMap::new();
    while let Some(result) = running.join_next().await {
        match result {
            Ok((place, published)) => {
                done.insert(place, published);
            }
            Err(e) => tracing::error!(error = %e, "an export was broken off"),
        }
    }
    done.into_values().collect()
}

/// Makes the folder of an export where only it is missing, as on a first start; anything
/// more is a mistake in the path, which publishing tells.
fn make_folder(export: &Export) {
    let files = [Some(&export.path), export.groups.as_ref().map(|groups| &groups.path)];
    for folder in files.into_iter().flatten().filter_map(|path| path.parent()) {
        match std::fs::create_dir(folder) {
            Ok(()) => tracing::info!(folder = %folder.display(), "made the export's folder"),
            Err(e) => {
                tracing::trace!(folder = %folder.display(), error = %e, "the folder is there, or cannot be made")
            }
        }
    }
}

/// Says once what became of each export.
pub fn log_published(published: &[Published]) {
    for one in published {
        for warning in &one.warnings {
            tracing::warn!(export = %one.export, "{warning}");
        }
        match &one.state {
            State::Published(_) => {
                tracing::info!(export = %one.export, generation = one.generation, "published")
            }
            State::Unchanged(_) => {
                tracing::debug!(export = %one.export, generation = one.generation, "unchanged")
            }
            State::Deferred { until } => {
                tracing::debug!(export = %one.export, generation = one.generation, %until, "deferred")
            }
            State::Failed(failure) => tracing::error!(
                export = %one.export, generation = one.generation, reason = word(failure.reason), detail = %failure.detail,
                "not published; the consumer keeps what it had"
            ),
        }
    }
}

/// What became of an export, for JSON.
pub fn published_shape(published: &Published) -> PublishedShape {
    let (state, failure) = match &published.state {
        State::Published(_) => ("published", None),
        State::Unchanged(_) => ("unchanged", None),
        State::Deferred { .. } => ("deferred", None),
        State::Failed(failure) => ("failed", Some(failure)),
    };
    PublishedShape {
        export: published.export.to_string(),
        state: state.to_owned(),
        reason: failure.map(|f| word(f.reason)),
        detail: failure.map(|f| f.detail.clone()),
    }
}

fn word(reason: FailureReason) -> String {
    serde_json::to_value(reason).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// How an export stands: its manifest on disk, and the last attempt where one failed.
pub(super) fn export_shape(export: &Export, last: Option<&Published>, interval: Duration) -> ExportShape {
    let manifest = Target::resolve(&export.path).ok().and_then(|target| Manifest::read(&target));
    let failure = match last.map(|l| &l.state) {
        Some(State::Failed(failure)) => Some(word(failure.reason)),
        _ => None,
    };
    let until = match last.map(|l| &l.state) {
        Some(State::Deferred { until }) => Some(*until),
        _ => None,
    };
    let state = match (&failure, &manifest) {
        (Some(_), _) => "failed",
        (None, Some(_)) if until.is_some() => "deferred",
        (None, Some(_)) => "published",
        (None, None) => "missing",
    };
    ExportShape {
        name: export.name.to_string(),
        state: state.to_owned(),
        reason: failure,
        generation: manifest.as_ref().map(|m| m.generation),
        changed: manifest.as_ref().and_then(|m| m.changed),
        confirmed: manifest.as_ref().and_then(|m| m.confirmed),
        published: manifest.map(|m| m.written),
        deferred_until: until,
        effect_s: effect(export, last, interval).as_secs(),
    }
}

/// What a change on a router costs until viewers are answered anew, at most.
fn effect(export: &Export, last: Option<&Published>, interval: Duration) -> Duration {
    let ttl = Duration::from_secs(export.context.ttl.unwrap_or(0).into());
    let took = last.map(|l| l.took).unwrap_or_default();
    [export.min_interval, took, ttl].into_iter().fold(interval, Duration::saturating_add)
}
