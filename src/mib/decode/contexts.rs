//! The contexts in which the other tables are to be read again.

use super::super::descriptor::{Contexts, Descriptor, Own};
use super::super::field::Field;
use super::super::rejected::{Reject, RejectReason, Rejected};
use super::super::text::{self, Encoding};
use super::rows::{Row, Rows};
use super::{Read, ReadOutcome};
use crate::snmp::Context;
use crate::table::Name;

/// One context that the router lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundContext {
    /// How to ask in it.
    pub context: Context,
    /// The VRF of the pools read there.
    pub vrf: Name,
}

/// What the router's list of contexts says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundContexts {
    /// The contexts besides the default one, in the router's order.
    pub contexts: Vec<FoundContext>,
    /// The rows that name no context.
    pub rejected: Vec<Rejected>,
    /// Whether that is all: the list was read to its end, and every row of it.
    pub certain: bool,
}

/// Reads the router's list of contexts from the tables read in the default one.
pub fn contexts(
    descriptor: &Descriptor,
    reads: &[Option<Read>],
    encoding: Option<Encoding>,
) -> FoundContexts {
    let Some(list) = &descriptor.contexts else {
        return FoundContexts { certain: true, ..FoundContexts::default() };
    };
    let read = reads.get(list.table).and_then(Option::as_ref);
    let rows = Rows::new(&descriptor.tables[list.table], read);
    let known = read.is_some_and(|read| !matches!(read.outcome, ReadOutcome::Failed(_)));
    let mut found = FoundContexts { certain: known && rows.bad.is_empty(), ..FoundContexts::default() };
    for row in &rows.rows {
        match context(&rows, row, list, encoding.or(descriptor.encoding)) {
            Ok(context) if context.context.name == list.default.as_bytes() => {}
            Ok(context) if found.contexts.iter().any(|other| other.vrf == context.vrf) => {
                let detail = format!("another context is named {} too", context.vrf);
                found.refuse(&rows, row, Reject::new(RejectReason::Contradiction, detail));
            }
            Ok(context) => found.contexts.push(context),
            Err(reject) => found.refuse(&rows, row, reject),
        }
    }
    found
}

impl FoundContexts {
    fn refuse(&mut self, rows: &Rows<'_>, row: &Row<'_>, reject: Reject) {
        self.certain &= reject.reason.is_void();
        self.rejected.push(Rejected::of(&rows.table.name, row.arcs, reject));
    }
}

fn context(
    rows: &Rows<'_>,
    row: &Row<'_>,
    list: &Contexts,
    encoding: Option<Encoding>,
) -> Result<FoundContext, Reject> {
    rows.check(row)?;
    let octets = |column: usize| match rows.field(row, Own::Column(column))? {
        Field::Octets(octets) => Ok(octets),
        other => Err(Reject::new(RejectReason::BadCell, format!("{other} is no text"))),
    };
    let (name, vrf) = (octets(list.name)?, octets(list.vrf)?);
    if name.is_empty() || vrf.is_empty() {
        let detail = "without a name the context or its VRF would be taken for the default one";
        return Err(Reject::new(RejectReason::BadCell, detail));
    }
    let engine_id = match list.engine_id.map(octets) {
        Some(Err(reject)) if reject.reason == RejectReason::MissingCell => None,
        Some(engine_id) => Some(engine_id?).filter(|id| !id.is_empty()),
        None => None,
    };
    Ok(FoundContext { context: Context { name, engine_id }, vrf: text::text(&vrf, encoding).into() })
}
