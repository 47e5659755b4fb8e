//! The replay agent: serves a recorded walk over UDP, v2c.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use super::encode::{Writer, community_message_of};
use super::message::{Pdu, PduKind, Varbind, read_community};
use super::snmprec::Recording;
use super::{Oid, Value};

/// The largest payload of a UDP datagram over IPv4.
const MAX_DATAGRAM: usize = 65_507;
/// What fits an Ethernet frame behind IPv6 and UDP headers, with room for a tunnel.
const DEFAULT_OCTETS: usize = 1_400;
/// The length octets that a full list of varbinds adds to the head around it.
const LENGTH_OCTETS: usize = 12;

/// How long the agent rests after an error of its socket, so as not to spin.
const REST: Duration = Duration::from_millis(10);

const TOO_BIG: i32 = 1;
const NOT_WRITABLE: i32 = 17;

/// A running replay agent. It stops when dropped.
#[derive(Debug)]
pub struct ReplayAgent {
    address: SocketAddr,
    served: Arc<Served>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Served {
    recordings: Mutex<HashMap<Vec<u8>, Arc<Recording>>>,
    max_octets: AtomicUsize,
}

impl ReplayAgent {
    /// Serves recordings on `address` (port 0 takes a free one), each under its community.
    /// Other communities are not answered.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub async fn start(address: SocketAddr, recordings: Vec<(String, Recording)>) -> io::Result<Self> {
        let socket = UdpSocket::bind(address).await?;
        let address = socket.local_addr()?;
        let recordings = recordings
            .into_iter()
            .map(|(community, recording)| (community.into_bytes(), Arc::new(recording)));
        let served = Arc::new(Served {
            recordings: Mutex::new(recordings.collect()),
            max_octets: AtomicUsize::new(DEFAULT_OCTETS),
        });
        let task = tokio::spawn(serve(socket, Arc::clone(&served)));
        Ok(Self { address, served, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves another recording from the next request on.
    pub fn replace(&self, community: &str, recording: Recording) {
        let mut recordings = self.served.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        recordings.insert(community.as_bytes().to_vec(), Arc::new(recording));
    }

    /// Makes no answer larger than this many octets: 1,400 unless set, 65,507 at most.
    pub fn set_max_octets(&self, octets: usize) {
        self.served.max_octets.store(octets.min(MAX_DATAGRAM), Ordering::Relaxed);
    }
}

impl Drop for ReplayAgent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: UdpSocket, served: Arc<Served>) {
    let mut buffer = vec![0; 0xffff];
    loop {
        // An error is that of an earlier answer whose receiver is gone.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            tokio::time::sleep(REST).await;
            continue;
        };
        if let Some(answer) = served.answer(buffer.get(..length).unwrap_or_default()) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

impl Served {
    /// The answer to a datagram; none to what is no request or names no recording.
    fn answer(&self, datagram: &[u8]) -> Option<Vec<u8>> {
        let message = read_community(datagram).ok()?;
        let recording = {
            let recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(recordings.get(message.community)?)
        };
        let request = message.pdu;
        let mut head = Pdu {
            kind: PduKind::Response,
            request_id: request.request_id,
            error_status: 0,
            error_index: 0,
            varbinds: Vec::new(),
        };
        let max = self.max_octets.load(Ordering::Relaxed);
        let empty = community_message_of(message.community, &head, &[]).len() + LENGTH_OCTETS;
        let mut list = List { writer: Writer::new(), room: max.saturating_sub(empty) };
        head.error_status = match request.kind {
            PduKind::Get => list.all(request.varbinds.iter().map(|asked| get(&recording, &asked.oid))),
            PduKind::GetNext => list.all(request.varbinds.iter().map(|asked| next(&recording, &asked.oid))),
            PduKind::GetBulk => bulk(&recording, &request, &mut list),
            PduKind::Set => NOT_WRITABLE,
            _ => return None,
        };
        let list = if head.error_status == 0 { list.writer.into_bytes() } else { Vec::new() };
        Some(community_message_of(message.community, &head, &list))
    }
}

/// Varbinds as far as there is room.
struct List {
    writer: Writer,
    room: usize,
}

impl List {
    /// Adds a varbind; false where it does not fit.
    fn push(&mut self, oid: &Oid, value: &Value) -> bool {
        let mut one = Writer::new();
        one.varbind(oid, value);
        let one = one.into_bytes();
        let fits = self.writer.len() + one.len() <= self.room;
        if fits {
            self.writer.raw(&one);
        }
        fits
    }

    /// All or none, as GET and GETNEXT have it: gives the error status.
    fn all<'a>(&mut self, mut varbinds: impl Iterator<Item = (&'a Oid, &'a Value)>) -> i32 {
        if varbinds.all(|(oid, value)| self.push(oid, value)) { 0 } else { TOO_BIG }
    }
}

fn get<'a>(recording: &'a Recording, oid: &'a Oid) -> (&'a Oid, &'a Value) {
    match recording.objects().get(oid) {
        Some(value) => (oid, value),
        None if has_siblings(recording, oid) => (oid, &Value::NoSuchInstance),
        None => (oid, &Value::NoSuchObject),
    }
}

/// Whether the recording has another instance of what looks like the same object.
fn has_siblings(recording: &Recording, oid: &Oid) -> bool {
    let Some((_, object)) = oid.arcs().split_last() else { return false };
    let object = Oid::new(object);
    recording
        .objects()
        .range(object.clone()..)
        .next()
        .is_some_and(|(found, _)| found.suffix(&object).is_some())
}

fn next<'a>(recording: &'a Recording, oid: &'a Oid) -> (&'a Oid, &'a Value) {
    after(recording, oid).next().unwrap_or((oid, &Value::EndOfMibView))
}

fn after<'a>(recording: &'a Recording, oid: &Oid) -> impl Iterator<Item = (&'a Oid, &'a Value)> {
    recording.objects().range((Bound::Excluded(oid), Bound::Unbounded))
}

/// GETBULK (RFC 3416, section 4.2.3): as many varbinds as fit. Gives the error status.
fn bulk(recording: &Recording, request: &Pdu, list: &mut List) -> i32 {
    let count = |number: i32| usize::try_from(number).unwrap_or(0);
    let asked: &[Varbind] = &request.varbinds;
    let (once, repeated) = asked.split_at(count(request.error_status).min(asked.len()));
    for Varbind { oid, .. } in once {
        let (found, value) = next(recording, oid);
        if !list.push(found, value) {
            return TOO_BIG;
        }
    }
    let mut columns: Vec<_> =
        repeated.iter().map(|Varbind { oid, .. }| (oid, after(recording, oid))).collect();
    let before = list.writer.len();
    for _ in 0..count(request.error_index) {
        let mut all_ended = true;
        for (last, rest) in &mut columns {
            let (found, value) = rest.next().unwrap_or((*last, &Value::EndOfMibView));
            if !list.push(found, value) {
                // An empty list would look like an answer that says nothing.
                return if list.writer.len() == before && once.is_empty() { TOO_BIG } else { 0 };
            }
            all_ended &= *value == Value::EndOfMibView;
            *last = found;
        }
        if all_ended {
            break;
        }
    }
    0
}

#[cfg(test)]
mod tests;
