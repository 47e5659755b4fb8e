//! One poll of one BAS: what it is, its tables, its ranges. State in, state out: the result
//! is data, whatever happens on the way.
//!
//! sysUpTime is read first and last, with the system group and with the last piece of the last
//! table: if it went back, the router restarted and nothing that was read is believed. Only a
//! table that was read to its end can remove anything.

mod aside;
mod detect;
mod greet;
mod opening;
mod polled;
mod remembered;
mod request;
mod running;
mod seen;
mod system;
mod tables;
mod talked;

use std::time::{Duration, Instant};

pub use greet::{Greeting, Heard, greet};
pub use polled::{Polled, State, TableResult};
pub use remembered::{Remembered, RememberedTable};
pub use request::{Choice, Filter, Request, Spaces};
pub use running::Running;
pub use seen::SeenVrf;
pub use talked::Talked;

use crate::mib::{DecodedTable, Fault};
use crate::snmp::{Context, Failure, Session, Transport};
use crate::table::Name;
use system::System;
use talked::{Raw, Told};

/// Polls one BAS.
pub fn poll(transport: &Transport, request: impl Into<Box<Request>>) -> impl Future<Output = Polled> + Send {
    let talked = talk(transport, request);
    async move { talked.await.judged() }
}

/// Talks with one BAS: all of a poll that waits. What comes of it, [`Talked::judged`] tells.
pub fn talk(transport: &Transport, request: impl Into<Box<Request>>) -> impl Future<Output = Talked> + Send {
    // Before anything is waited for, so that no poll keeps room for both.
    talk_now(transport, request.into())
}

async fn talk_now(transport: &Transport, request: Box<Request>) -> Talked {
    let begun = Instant::now();
    let mut session = Session::new(transport, request.target.clone());
    let mut polled = Polled::new(&request);
    let told = match read(&mut session, &request, &mut polled).await {
        Ok(told) => Some(told),
        Err(stop) => {
            polled.stop(stop, &request);
            None
        }
    };
    polled.cost = session.cost();
    polled.engine = session.engine();
    polled.duration = begun.elapsed().saturating_sub(session.queued());
    Talked { so_far: polled, told: told.map(|raw| Box::new(Told { request, raw })) }
}

/// Why a poll ended before its tables could be judged one by one.
struct Stop {
    fault: Fault,
    detail: String,
}

impl Stop {
    fn new(fault: Fault, detail: impl Into<String>) -> Self {
        Self { fault, detail: detail.into() }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::new(Fault::Snmp(failure.reason), failure.detail)
    }
}

async fn read(session: &mut Session, request: &Request, polled: &mut Polled) -> Result<Raw, Stop> {
    let begun = Instant::now();
    System::keep_time(session, &request.context);
    let opened = opening::open(session, request).await;
    let system = match &opened {
        Some(opened) => opened.system.clone(),
        None => meet(session, request).await?,
    };
    if system.up_time.is_none() {
        session.leave_along();
    }
    polled.meet(&system, request);
    // A router that is silent never comes here, and is not to keep room for it: most of a poll
    // that waits is what lies ahead of it.
    let chosen = Box::pin(detect::choose(session, request, &system)).await?;
    polled.choose(&chosen);
    let ours = chosen.knows(&system, request);
    let opened = opened.filter(|opened| opened.descriptor.name() == chosen.descriptor.name());
    let tables = Box::pin(tables::read(session, request, &chosen.descriptor, ours, opened)).await;
    let still_up = system.still_up(session, &request.context, begun.elapsed()).await;
    Ok(Raw { descriptor: chosen.descriptor, tables, still_up })
}

/// What the router says of itself.
async fn meet(session: &mut Session, request: &Request) -> Result<System, Stop> {
    let context = &request.context;
    let system = System::read(session, context).await.map_err(|failure| {
        let mut stop = Stop::from(failure);
        if !context.name.is_empty() {
            let name = String::from_utf8_lossy(&context.name);
            stop.detail.push_str(&format!(
                " in context {name}: some agents are silent in a context that they do not know"
            ));
        }
        stop
    })?;
    let unknown = matches!(request.choice, Choice::Auto(_)) && request.remembered.detection.is_none();
    if system.object_id.is_none() && unknown && *context != Context::default() {
        // Most routers tell it at once, and are not to keep room for this.
        return Ok(Box::pin(system.or_default(session)).await);
    }
    Ok(system)
}

/// What one table cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests sent, retransmissions not counted.
    pub requests: u32,
    /// How long it took.
    pub duration: Duration,
}

/// One table, decoded.
struct DecodedRead {
    table: DecodedTable,
    /// The repetitions that were found to work.
    repetitions: u32,
    spent: Spent,
}

/// What was read, decoded.
struct Decoded {
    tables: Vec<DecodedRead>,
    /// The VRFs of the contexts that are to be read; none where that is not certain.
    listed: Option<Vec<Name>>,
    /// What a person should know.
    notes: Vec<String>,
}
