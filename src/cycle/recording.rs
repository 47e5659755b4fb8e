//! A router's tables as a recording: what `walk --save` writes and `walk --raw` shows.

use super::fleet::{Fleet, Job, resolve};
use crate::mib::Descriptor;
use crate::snmp::{Oid, Outcome, Recording, Session, Value};

/// `system` (RFC 3418): who the router is.
const SYSTEM: [u32; 7] = [1, 3, 6, 1, 2, 1, 1];
/// `enterprises` (RFC 2578), and how many arcs of a sysObjectID name the vendor.
const ENTERPRISES: [u32; 6] = [1, 3, 6, 1, 4, 1];
/// `sysObjectID.0`.
const SYS_OBJECT_ID: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 2, 0];

/// What was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The objects.
    pub recording: Recording,
    /// In words, each subtree that could not be read to its end.
    pub unread: Vec<String>,
}

impl Fleet {
    /// Records who the router is, and the tables of a descriptor; where none is known, all
    /// that the router's vendor has, as far as the poll's caps reach.
    pub async fn record(&self, job: &Job, descriptor: Option<&Descriptor>) -> Recorded {
        let mut request = job.request.clone();
        let mut unread = Vec::new();
        match resolve(&job.endpoint).await.map(|addresses| addresses.first().copied()) {
            Ok(Some(address)) => request.target.address = address,
            Ok(None) => unread.push(format!("{} has no address", job.endpoint)),
            Err(detail) => unread.push(detail),
        }
        if !unread.is_empty() {
            return Recorded { recording: Recording::default(), unread };
        }
        let mut session = Session::new(self.transport(), request.target.clone());
        let mut objects = subtree(&mut session, &request.context, &Oid::new(SYSTEM), &mut unread).await;
        let roots = match descriptor {
            Some(descriptor) => descriptor.tables().map(|table| table.columns().entry).collect(),
            None => vendor(&objects).into_iter().collect::<Vec<_>>(),
        };
        for root in roots {
            objects.extend(subtree(&mut session, &request.context, &root, &mut unread).await);
        }
        Recorded { recording: Recording::from_objects(objects), unread }
    }
}

async fn subtree(
    session: &mut Session,
    context: &crate::snmp::Context,
    root: &Oid,
    unread: &mut Vec<String>,
) -> Vec<(Oid, Value)> {
    let (outcome, detail, objects) = session.subtree(context, root).await;
    if let Outcome::Failed(reason) = outcome {
        unread.push(format!("{root}: {reason:?}: {detail}"));
    }
    objects
}

/// The vendor's own tree, by the router's sysObjectID.
fn vendor(objects: &[(Oid, Value)]) -> Option<Oid> {
    let (_, value) = objects.iter().find(|(oid, _)| oid.arcs() == SYS_OBJECT_ID)?;
    let Value::ObjectId(id) = value else { return None };
    let arc = id.suffix(&Oid::new(ENTERPRISES))?.first()?;
    Some(Oid::new(ENTERPRISES).child(&[*arc]))
}
