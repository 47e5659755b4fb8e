//! A router's tables as recordings: what `walk --save` writes and `walk --raw` shows.

use std::net::SocketAddr;

use super::fleet::{Fleet, Job};
use crate::mib::{Descriptor, FoundContext, recorded_contexts};
use crate::poll::Polled;
use crate::snmp::{Columns, Context, Credentials, Oid, Outcome, Recording, Session, Value};

/// `system` (RFC 3418): who the router is.
const SYSTEM: [u32; 7] = [1, 3, 6, 1, 2, 1, 1];
/// `enterprises` (RFC 2578), and how many arcs of a sysObjectID name the vendor.
const ENTERPRISES: [u32; 6] = [1, 3, 6, 1, 4, 1];
/// `sysObjectID.0`.
const SYS_OBJECT_ID: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 2, 0];

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The objects of the context that the poll began in.
    pub recording: Recording,
    /// Those of each other context that the router lists, by its name.
    pub contexts: Vec<(Vec<u8>, Recording)>,
    /// In words, each subtree that could not be read to its end.
    pub unread: Vec<String>,
}

/// A recording in progress.
struct Recorder {
    session: Session,
    unread: Vec<String>,
}

impl Fleet {
    /// Records the router of a poll where that one reached it: who it is, and the tables of a
    /// descriptor, in each context; where no descriptor is known, all that the router's vendor
    /// has, as far as the poll's caps reach.
    pub async fn record(&self, job: &Job, polled: &Polled, descriptor: Option<&Descriptor>) -> Recorded {
        let request = &job.request;
        if polled.cost.bytes == 0 {
            let unread = vec![format!("{} told nothing that could be recorded", job.endpoint)];
            return Recorded { unread, ..Recorded::default() };
        }
        let mut recorder = Recorder { session: self.session(job, polled.address), unread: Vec::new() };
        let roots = |objects: &[(Oid, Value)]| match descriptor {
            Some(descriptor) => descriptor.tables().map(|table| table.columns().entry).collect(),
            None => vendor(objects).into_iter().collect::<Vec<_>>(),
        };
        let recording = recorder.context(&request.context, roots).await;
        let mut contexts = Vec::new();
        for found in self.contexts(job, descriptor, &recording) {
            contexts.push((found.context.name.clone(), recorder.context(&found.context, roots).await));
        }
        Recorded { recording, contexts, unread: recorder.unread }
    }

    fn session(&self, job: &Job, address: SocketAddr) -> Session {
        let mut target = job.request.target.clone();
        target.address = address;
        Session::new(self.transport(), target)
    }

    /// The contexts that the poll read its tables again in.
    fn contexts(
        &self,
        job: &Job,
        descriptor: Option<&Descriptor>,
        recording: &Recording,
    ) -> Vec<FoundContext> {
        let request = &job.request;
        let may_ask = match request.target.credentials {
            Credentials::V2c(_) => request.community_contexts,
            Credentials::V3(_) => true,
        };
        match descriptor {
            Some(descriptor) if may_ask && request.context.name.is_empty() => {
                recorded_contexts(descriptor, recording, request.encoding)
            }
            _ => Vec::new(),
        }
    }
}

impl Recorder {
    /// Who the router says it is in a context, and all that is under the roots.
    async fn context(&mut self, context: &Context, roots: impl Fn(&[(Oid, Value)]) -> Vec<Oid>) -> Recording {
        let mut objects = self.subtree(context, &Oid::new(SYSTEM)).await;
        for root in roots(&objects) {
            let found = self.subtree(context, &root).await;
            let behind = if found.is_empty() { self.behind(context, root).await } else { None };
            objects.extend(found);
            objects.extend(behind);
        }
        Recording::from_objects(objects)
    }

    async fn subtree(&mut self, context: &Context, root: &Oid) -> Vec<(Oid, Value)> {
        let (outcome, detail, objects) = self.session.subtree(context, root).await;
        if let Outcome::Failed(reason) = outcome {
            let named = String::from_utf8_lossy(&context.name);
            let within = if named.is_empty() { String::new() } else { format!(" in context {named}") };
            self.unread.push(format!("{root}{within}: {reason:?}: {detail}"));
        }
        objects
    }

    /// The object behind a table without rows: where it is one of the same MIB, the table is
    /// known to be empty, and not missing.
    async fn behind(&mut self, context: &Context, root: Oid) -> Option<(Oid, Value)> {
        let first = Columns { entry: root, columns: vec![1] };
        let behind = self.session.table(context, &first, None).await.behind?;
        let value = self.session.get(context, std::slice::from_ref(&behind)).await.ok()?.pop()?;
        Some((behind, value))
    }
}

/// The vendor's own tree, by the router's sysObjectID.
fn vendor(objects: &[(Oid, Value)]) -> Option<Oid> {
    let (_, value) = objects.iter().find(|(oid, _)| oid.arcs() == SYS_OBJECT_ID)?;
    let Value::ObjectId(id) = value else { return None };
    let arc = id.suffix(&Oid::new(ENTERPRISES))?.first()?;
    Some(Oid::new(ENTERPRISES).child(&[*arc]))
}
