//! The beginning of a poll of a router that is known: what it says of itself and its largest
//! table, asked for at once. On a path of many milliseconds that is half of the poll.

use std::sync::Arc;
use std::time::Instant;

use super::Spent;
use super::request::{Choice, Request};
use super::system::System;
use super::tables::learnt;
use crate::mib::Descriptor;
use crate::snmp::{Session, TableRead};

/// What the first question gave.
pub(super) struct Opened {
    pub(super) system: System,
    /// The descriptor whose table was read. Which one counts is decided by what the router
    /// says of itself, afterwards.
    pub(super) descriptor: Arc<Descriptor>,
    /// Which of its tables.
    pub(super) at: usize,
    pub(super) table: TableRead,
    /// What both cost together.
    pub(super) spent: Spent,
}

/// Asks for the system group and the table that had the most rows. None where the router is
/// not known well enough, or does not answer that: then the poll begins step by step.
pub(super) async fn open(session: &mut Session, request: &Request) -> Option<Box<Opened>> {
    let descriptor = expected(request)?;
    let tables =
        descriptor.tables().enumerate().map(|(at, table)| (at, table, learnt(request, table.name())));
    let known = tables.filter(|(_, _, learnt)| learnt.rows > 0 && learnt.repetitions > Some(0));
    let (at, table, learnt) = known.max_by_key(|(_, _, learnt)| learnt.rows)?;
    let (begun, before) = (Instant::now(), session.cost().requests);
    let (context, max_rows) = (&request.context, table.max_rows());
    let (objects, columns, together) = (System::objects(), table.columns(), table.together());
    let opening = session.opening(context, objects, &columns, learnt, max_rows, &together);
    let opening = Box::pin(opening).await.ok()?;
    let system = System::of(opening.values);
    // What hides itself here may show itself to a GET.
    if system.up_time.is_none() || system.object_id.is_none() {
        return None;
    }
    let requests = session.cost().requests.saturating_sub(before);
    let spent = Spent { requests, duration: begun.elapsed() };
    let descriptor = Arc::clone(descriptor);
    Some(Box::new(Opened { system, at, table: opening.table, spent, descriptor }))
}

/// The descriptor that the router had last time, or is to have.
fn expected(request: &Request) -> Option<&Arc<Descriptor>> {
    match &request.choice {
        Choice::Named(descriptor) => Some(descriptor),
        Choice::Auto(library) => library.get(&request.remembered.detection.as_ref()?.descriptor),
    }
}
