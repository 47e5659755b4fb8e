//! What a recording answers to a PDU (RFC 3416, section 4.2).

use std::ops::Bound;

use crate::snmp::encode::Writer;
use crate::snmp::message::{Pdu, PduKind, Varbind};
use crate::snmp::snmprec::Recording;
use crate::snmp::{Oid, Value};

const TOO_BIG: i32 = 1;
const NOT_WRITABLE: i32 = 17;

/// An answering PDU.
pub(super) struct Answer {
    /// The PDU without its varbinds.
    pub(super) head: Pdu,
    /// The varbinds, encoded.
    pub(super) list: Vec<u8>,
}

impl Answer {
    /// The head of an answer, with nothing in it.
    pub(super) fn empty(request: &Pdu, error_status: i32) -> Self {
        let head = Pdu {
            kind: PduKind::Response,
            request_id: request.request_id,
            error_status,
            error_index: 0,
            varbinds: Vec::new(),
        };
        Self { head, list: Vec::new() }
    }
}

/// The answer to a request, with varbinds of at most `room` octets; none to what is no
/// request.
pub(super) fn respond(recording: &Recording, request: &Pdu, room: usize) -> Option<Answer> {
    let mut list = List { writer: Writer::new(), room };
    let status = match request.kind {
        PduKind::Get => list.all(request.varbinds.iter().map(|asked| get(recording, &asked.oid))),
        PduKind::GetNext => list.all(request.varbinds.iter().map(|asked| next(recording, &asked.oid))),
        PduKind::GetBulk => bulk(recording, request, &mut list),
        PduKind::Set => NOT_WRITABLE,
        _ => return None,
    };
    let answer = Answer::empty(request, status);
    Some(if status == 0 { Answer { list: list.writer.into_bytes(), ..answer } } else { answer })
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
