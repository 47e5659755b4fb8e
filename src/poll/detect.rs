//! Which descriptor a router answers to.

use std::sync::Arc;

use super::Stop;
use super::request::{Choice, Request};
use super::system::System;
use crate::mib::{Descriptor, Fault, Library};
use crate::snmp::{Columns, Oid, Outcome, Session};
use crate::table::Detection;

/// The descriptor of a poll, and how it was found.
pub(super) struct Chosen {
    pub(super) descriptor: Arc<Descriptor>,
    /// What is to be remembered; none where the configuration names the descriptor.
    pub(super) detection: Option<Detection>,
}

impl Chosen {
    /// Whether the router is known to be one of the descriptor's, however it was chosen.
    pub(super) fn knows(&self, system: &System, request: &Request) -> bool {
        let name = self.descriptor.name();
        let stored = self.detection.as_ref().or(request.remembered.detection.as_ref());
        let by_itself = system.object_id.as_ref().is_some_and(|object_id| {
            self.descriptor.is_for(object_id, system.descr.as_deref().unwrap_or_default())
        });
        by_itself || stored.is_some_and(|detection| detection.descriptor == *name)
    }
}

/// The descriptor that the configuration names, else the remembered one, as long as the
/// router says the same of itself, else the one that knows it.
pub(super) async fn choose(
    session: &mut Session,
    request: &Request,
    system: &System,
) -> Result<Chosen, Stop> {
    let library = match &request.choice {
        Choice::Named(descriptor) => {
            return Ok(Chosen { descriptor: Arc::clone(descriptor), detection: None });
        }
        Choice::Auto(library) => library,
    };
    if let Some(chosen) = remembered(request, library, system) {
        return Ok(chosen);
    }
    let descr = system.descr.clone().unwrap_or_default();
    let Some(object_id) = &system.object_id else {
        let detail =
            "the router does not tell its sysObjectID: name its descriptor in the configuration (mib)";
        return Err(Stop::new(Fault::NoDescriptor, detail));
    };
    let mut candidates = library.candidates(object_id, &descr);
    let descriptor = match candidates.pop() {
        None => {
            let detail = format!("no descriptor knows sysObjectID {object_id} (sysDescr: {descr})");
            return Err(Stop::new(Fault::NoDescriptor, detail));
        }
        Some(only) if candidates.is_empty() => only,
        Some(last) => {
            candidates.push(last);
            probe(session, request, candidates).await?
        }
    };
    let detection = Detection {
        descriptor: descriptor.name().clone(),
        sys_object_id: object_id.to_string(),
        sys_descr: descr,
    };
    Ok(Chosen { descriptor, detection: Some(detection) })
}

/// What the router hides now (a view, a context) does not speak against what it said then.
fn remembered(request: &Request, library: &Library, system: &System) -> Option<Chosen> {
    let detection = request.remembered.detection.as_ref()?;
    let descriptor = library.get(&detection.descriptor)?;
    let known = detection.sys_object_id.parse::<Oid>().ok();
    let same_id = system.object_id.is_none() || system.object_id == known;
    let same_descr = system.descr.as_ref().is_none_or(|descr| *descr == detection.sys_descr);
    (same_id && same_descr)
        .then(|| Chosen { descriptor: Arc::clone(descriptor), detection: Some(detection.clone()) })
}

/// Asks the router for the tables of each candidate. Silence is no answer: it decides nothing.
async fn probe(
    session: &mut Session,
    request: &Request,
    candidates: Vec<Arc<Descriptor>>,
) -> Result<Arc<Descriptor>, Stop> {
    let mut answered = Vec::new();
    let names: Vec<String> = candidates.iter().map(|candidate| candidate.name().to_string()).collect();
    for candidate in candidates {
        if answers(session, request, &candidate).await? {
            answered.push(candidate);
        }
    }
    match answered.pop() {
        Some(only) if answered.is_empty() => Ok(only),
        last => {
            let many = if last.is_some() { "several of" } else { "none of" };
            let detail = format!(
                "the router answers to the tables of {many} {}: name its descriptor in the configuration (mib)",
                names.join(", ")
            );
            Err(Stop::new(Fault::AmbiguousDescriptor, detail))
        }
    }
}

async fn answers(session: &mut Session, request: &Request, candidate: &Descriptor) -> Result<bool, Stop> {
    for table in candidate.probes() {
        let Columns { entry, columns } = table.columns();
        // One column tells; the whole table is read later.
        let first = Columns { entry, columns: columns.into_iter().take(1).collect() };
        let read = session.table(&request.context, &first, None).await;
        match read.outcome {
            Outcome::Complete if !read.rows.is_empty() => return Ok(true),
            Outcome::Complete | Outcome::Unsupported => {}
            Outcome::Failed(reason) => {
                let detail = format!("asking for {} of {}: {}", table.name(), candidate.name(), read.detail);
                return Err(Stop::new(Fault::Snmp(reason), detail));
            }
        }
    }
    Ok(false)
}
