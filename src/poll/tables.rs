//! Reading the tables: in the default context, then in those that the router lists.

use super::{Decoded, request::Request};
use crate::mib::{
    self, ContextRead, Descriptor, Fault, FoundContext, FoundContexts, Read, ReadOutcome, TableRef,
};
use crate::snmp::{Context, Credentials, Outcome, Session};
use crate::table::Name;

/// Everything that was read of a router.
pub(super) struct Tables {
    reads: Vec<ContextRead>,
    found: FoundContexts,
    notes: Vec<String>,
    /// Whether other contexts than this one are wanted at all.
    only: bool,
}

/// Reads the tables of a descriptor.
pub(super) async fn read(session: &mut Session, request: &Request, descriptor: &Descriptor) -> Tables {
    let mut default = ContextRead { context: name_of(&request.context), ..ContextRead::default() };
    for table in descriptor.tables() {
        let read = read_table(session, request, &request.context, table.name().clone(), table).await;
        default.reads.push(Some(read));
    }
    let found = mib::contexts(descriptor, &default.reads, request.encoding);
    let mut tables =
        Tables { reads: Vec::new(), found, notes: Vec::new(), only: !request.context.name.is_empty() };
    if tables.only {
        tables.name_configured_context(request, &mut default);
        tables.reads.push(default);
        return tables;
    }
    tables.reads.push(default);
    for context in tables.found.contexts.clone() {
        if may_ask(request) {
            tables.reads.push(read_context(session, request, descriptor, &context).await);
        } else {
            tables.notes.push(format!(
                "{} was not read: SNMPv2c asks in context {} only with `context-community`, SNMPv3 always",
                context.vrf,
                name_of(&context.context)
            ));
        }
    }
    tables
}

async fn read_context(
    session: &mut Session,
    request: &Request,
    descriptor: &Descriptor,
    found: &FoundContext,
) -> ContextRead {
    let mut read =
        ContextRead { context: name_of(&found.context), vrf: Some(found.vrf.clone()), reads: Vec::new() };
    for table in descriptor.tables() {
        let name = table.name_in(&found.vrf);
        read.reads.push(match table.lists_contexts() {
            true => None,
            false => Some(read_table(session, request, &found.context, name, table).await),
        });
    }
    read
}

/// Reads one table. One that once had rows and is now not there is not believed.
async fn read_table(
    session: &mut Session,
    request: &Request,
    context: &Context,
    name: Name,
    table: TableRef<'_>,
) -> Read {
    let remembered = request.remembered.tables.get(&name);
    let repetitions = remembered.and_then(|table| table.repetitions);
    let mut read = session.table(context, &table.columns(), repetitions).await;
    let had_rows = remembered.is_some_and(|table| table.had_rows);
    let outcome = match read.outcome {
        Outcome::Unsupported if had_rows => {
            read.detail = "it once had rows, and now the router has nothing there".to_owned();
            ReadOutcome::Failed(Fault::Vanished)
        }
        other => other.into(),
    };
    if !context.name.is_empty() && !read.detail.is_empty() {
        read.detail = format!("in context {}: {}", name_of(context), read.detail);
    }
    Read { outcome, table: read }
}

fn may_ask(request: &Request) -> bool {
    match request.target.credentials {
        Credentials::V2c(_) => request.community_contexts,
        Credentials::V3(_) => true,
    }
}

/// A context's name for people.
fn name_of(context: &Context) -> Name {
    String::from_utf8_lossy(&context.name).into_owned().into()
}

impl Tables {
    /// A configured context is the only one that is read. Which VRF it is, the router's list
    /// tells; where that cannot be known, its pools are not believed.
    fn name_configured_context(&mut self, request: &Request, read: &mut ContextRead) {
        let listed = self.found.contexts.iter().find(|found| found.context.name == request.context.name);
        match listed {
            Some(found) => read.vrf = Some(found.vrf.clone()),
            None if self.found.certain => {}
            None => {
                for read in read.reads.iter_mut().flatten() {
                    if !matches!(read.outcome, ReadOutcome::Failed(_)) {
                        read.outcome = ReadOutcome::Failed(Fault::MissingContext);
                        read.table.detail =
                            "which VRF the configured context is could not be read".to_owned();
                    }
                }
            }
        }
    }

    /// The tables, decoded, and which contexts there are.
    pub(super) fn decode(self, descriptor: &Descriptor, request: &Request) -> Decoded {
        let mut tables = Vec::new();
        for read in &self.reads {
            let repetitions = read.reads.iter().flatten().map(|read| read.table.repetitions);
            tables.extend(mib::decode(descriptor, read, request.encoding).into_iter().zip(repetitions));
        }
        for rejected in &self.found.rejected {
            if let Some((table, _)) = tables.iter_mut().find(|(table, _)| table.table.name == rejected.table)
            {
                table.rejected.push(rejected.clone());
            }
        }
        let listed = match (self.only, self.found.certain) {
            (true, _) => Some(Vec::new()),
            (false, true) => Some(self.found.contexts.into_iter().map(|found| found.vrf).collect()),
            (false, false) => None,
        };
        Decoded { tables, listed, notes: self.notes }
    }
}
