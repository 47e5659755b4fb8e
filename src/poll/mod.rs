//! One poll of one BAS: what it is, its tables, its ranges. State in, state out: the result
//! is data, whatever happens on the way.
//!
//! sysUpTime is read first and last: if it went back, the router restarted and nothing that
//! was read is believed. Only a table that was read to its end can remove anything.

mod detect;
mod greet;
mod polled;
mod remembered;
mod request;
mod seen;
mod system;
mod tables;

use std::time::Instant;

pub use greet::{Greeting, Heard, greet};
pub use polled::{Polled, State, TableResult};
pub use remembered::{Remembered, RememberedTable};
pub use request::{Choice, Filter, Request, Spaces};
pub use seen::SeenVrf;

use crate::mib::{DecodedTable, Fault};
use crate::snmp::{Context, Failure, Session, Transport};
use crate::table::Name;
use system::System;

/// Polls one BAS.
pub async fn poll(transport: &Transport, request: Request) -> Polled {
    let begun = Instant::now();
    let mut session = Session::new(transport, request.target.clone());
    let mut polled = Polled::new(&request);
    if let Err(stop) = run(&mut session, &request, &mut polled).await {
        polled.stop(stop, &request);
    }
    polled.cost = session.cost();
    polled.engine = session.engine();
    polled.duration = begun.elapsed();
    polled
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

async fn run(session: &mut Session, request: &Request, polled: &mut Polled) -> Result<(), Stop> {
    let begun = Instant::now();
    let system = meet(session, request).await?;
    polled.meet(&system, request);
    let chosen = detect::choose(session, request, &system).await?;
    polled.choose(&chosen);
    let ours = chosen.knows(&system, request);
    let tables = tables::read(session, request, &chosen.descriptor, ours).await;
    let still_up = system.still_up(session, &request.context, begun.elapsed()).await;
    polled.fill(request, &chosen.descriptor, tables.decode(&chosen.descriptor, request));
    still_up
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
        return Ok(system.or_default(session).await);
    }
    Ok(system)
}

/// What was read, decoded.
struct Decoded {
    /// Each table with the repetitions that were found to work.
    tables: Vec<(DecodedTable, u32)>,
    /// The VRFs of the contexts that are to be read; none where that is not certain.
    listed: Option<Vec<Name>>,
    /// What a person should know.
    notes: Vec<String>,
}
