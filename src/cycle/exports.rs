//! The configuration's exports as publishing takes them, and what became of them.

use std::time::Duration;

use jiff::Timestamp;

use super::shapes::{EffectShape, ExportShape, PublishedShape};
use crate::config::{self, Config, TemplateSource};
use crate::format::groups::{Context, groups_by_name};
use crate::format::{Stamp, Template, Unknown, by_name};
use crate::publish::{
    Argv, ArgvError, Canary, Export, FailureReason, GroupsFile, Manifest, Published, Query, Report, Standing,
    State, Target,
};
use crate::table::Name;

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
    Canary { query, timeout: from.timeout, every: from.every }
}

/// What consumers would not bear well of the table that is published, rows included: these
/// are known once the table is written as the consumer would get it.
pub fn limit_warnings(state: &super::State) -> Vec<String> {
    let stamp = Stamp::from(&*state.snapshot);
    let of = |export: &Export| {
        let limits = export.format.limits();
        let view = export.view(&state.snapshot).ok()?;
        let groups = view.groups().count() as u64;
        let rows = match limits.rows {
            Some(_) => export.format.render(&view, &stamp).ok()?.rows,
            None => 0,
        };
        let warnings = limits.warnings(export.format.name(), groups, rows).into_iter();
        Some(warnings.map(|warning| format!("[export.{}]: {warning}", export.name)).collect::<Vec<_>>())
    };
    state.exports.iter().filter_map(of).flatten().collect()
}

/// Says once what became of an export.
fn log_published(one: &Published, standing: &Standing) {
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
            failures = standing.failures, retry_at = standing.retry_at.map(tracing::field::display),
            "not published; the consumer keeps what it had"
        ),
    }
}

/// Says when a consumer begins to answer otherwise than its files say, and when it is right
/// again.
fn log_asked(export: &Name, before: Option<&Standing>, now: &Standing) {
    match (before.and_then(|before| before.doubt.as_ref()), &now.doubt) {
        (None, Some(doubt)) => {
            tracing::error!(%export, detail = %doubt.detail, "the consumer does not answer as its files say")
        }
        (Some(_), None) => tracing::info!(%export, "the consumer answers as its files say again"),
        _ => {}
    }
}

/// Notes what was reported of an export.
pub(super) fn note(state: &mut super::State, report: Report) {
    let Report { export, published, standing, .. } = report;
    match published {
        Some(published) => {
            log_published(&published, &standing);
            state.published.insert(export.clone(), published);
        }
        None => log_asked(&export, state.standings.get(&export), &standing),
    }
    state.standings.insert(export, standing);
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

/// How an export stands: its manifest on disk, the last attempt, and what is remembered of
/// the attempts before.
pub(super) fn export_shape(
    export: &Export,
    last: Option<&Published>,
    standing: Option<&Standing>,
    poll: Duration,
    now: Timestamp,
) -> ExportShape {
    let manifest = Target::resolve(&export.path).ok().and_then(|target| Manifest::read(&target));
    let nothing = Standing::default();
    let standing = standing.unwrap_or(&nothing);
    let failure = match last.map(|l| &l.state) {
        Some(State::Failed(failure)) => Some(failure),
        _ => None,
    };
    let until = match last.map(|l| &l.state) {
        Some(State::Deferred { until }) => Some(*until),
        _ => None,
    };
    let changed = manifest.as_ref().and_then(|m| m.changed);
    let doubt = standing.doubt.as_ref();
    let (state, since) = match (failure, doubt, until, &manifest) {
        (Some(_), ..) => ("failed", standing.failing_since),
        (_, Some(doubt), ..) => ("unconfirmed", Some(doubt.since)),
        (_, _, Some(_), Some(_)) => ("deferred", changed),
        (_, _, _, Some(_)) => ("published", changed),
        (_, _, _, None) => ("missing", None),
    };
    let reason = failure.map(|failure| word(failure.reason));
    let detail = failure.map(|failure| &failure.detail).or(doubt.map(|doubt| &doubt.detail));
    let confirmed = standing.confirmed.max(manifest.as_ref().and_then(|m| m.confirmed));
    let took = standing.took.or_else(|| {
        let took = manifest.as_ref()?.took_ms?;
        Some(Duration::from_millis(took))
    });
    let effect = effect(export, took, poll);
    ExportShape {
        name: export.name.to_string(),
        state: state.to_owned(),
        reason: reason.or_else(|| doubt.map(|_| word(FailureReason::Canary))),
        detail: detail.cloned(),
        since,
        failures: standing.failures,
        retry_at: standing.retry_at,
        generation: manifest.as_ref().map(|m| m.generation),
        changed,
        confirmed,
        confirmed_age_s: confirmed.map(|at| now.duration_since(at).as_secs().try_into().unwrap_or(0)),
        published: manifest.map(|m| m.written),
        deferred_until: until,
        effect_s: effect.total(),
        effect,
    }
}

/// What a change on a router costs until viewers are answered anew, at most.
fn effect(export: &Export, took: Option<Duration>, poll: Duration) -> EffectShape {
    // Who neither tells nor asks it, does not wait for it either.
    let waits = export.reload.is_some() || export.canary.is_some() || export.haproxy_socket.is_some();
    let settles = export.format.limits().settles.filter(|_| !waits).unwrap_or_default();
    EffectShape {
        poll_s: whole(poll),
        pace_s: whole(export.min_interval),
        publish_s: whole(took.unwrap_or_default().saturating_add(settles)),
        ttl_s: export.context.ttl.unwrap_or(0).into(),
    }
}

/// Seconds, a begun one counted as a whole.
fn whole(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
