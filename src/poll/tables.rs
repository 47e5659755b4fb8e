//! Reading the tables: in the default context, then in those that the router lists.

use std::time::Instant;

use super::opening::Opened;
use super::{Decoded, DecodedRead, Request, Spent};
use crate::mib::{
    self, ContextRead, Descriptor, Fault, FoundContext, FoundContexts, Known, Read, ReadOutcome, TableRef,
};
use crate::snmp::{Context, Credentials, Learnt, Session, TableRead};
use crate::table::Name;

/// Everything that was read of a router.
pub(super) struct Tables {
    /// Context by context, with what each table that was read cost.
    reads: Vec<(ContextRead, Vec<Spent>)>,
    found: FoundContexts,
    notes: Vec<String>,
    /// Whether other contexts than this one are wanted at all.
    only: bool,
    /// Whether the VRF of a configured context is known.
    named: bool,
}

/// Reads the tables of a descriptor. `ours`: whether the router is known to be one of its;
/// `opened`: the table that was read already.
pub(super) async fn read(
    session: &mut Session,
    request: &Request,
    descriptor: &Descriptor,
    ours: bool,
    mut opened: Option<Box<Opened>>,
) -> Tables {
    let had_rows = |name: &Name| request.remembered.tables.get(name).is_some_and(|table| table.had_rows);
    let known = Known { router: ours, had_rows: &had_rows };
    let mut default = ContextRead { context: name_of(&request.context), ..ContextRead::default() };
    let mut spent = Vec::new();
    for (at, table) in descriptor.tables().enumerate() {
        let (read, cost) = match opened.take_if(|opened| opened.at == at) {
            Some(opened) => (as_read(&request.context, opened.table), opened.spent),
            None => read_table(session, request, &request.context, table.name(), table).await,
        };
        default.reads.push(Some(read));
        spent.push(cost);
    }
    mib::judge_list(descriptor, &mut default, &known);
    let found = mib::contexts(descriptor, &default.reads, request.encoding);
    let only = !request.context.name.is_empty();
    let mut tables = Tables { reads: Vec::new(), found, notes: Vec::new(), only, named: true };
    if only {
        tables.name_configured_context(request, descriptor, &mut default);
    }
    mib::judge_empty(descriptor, &mut default, &known, request.settings());
    tables.reads.push((default, spent));
    if only {
        return tables;
    }
    for found in tables.found.contexts.clone() {
        if may_ask(request) {
            let (mut read, spent) = read_context(session, request, descriptor, &found).await;
            mib::judge_empty(descriptor, &mut read, &known, request.settings());
            tables.reads.push((read, spent));
        } else {
            tables.notes.push(format!(
                "{} was not read: SNMPv2c asks in context {} only with `context-community`, SNMPv3 always",
                found.vrf,
                name_of(&found.context)
            ));
        }
    }
    tables
}

fn may_ask(request: &Request) -> bool {
    match request.target.credentials {
        Credentials::V2c(_) => request.community_contexts,
        Credentials::V3(_) => true,
    }
}

/// Reads the tables again in a context that the router lists.
async fn read_context(
    session: &mut Session,
    request: &Request,
    descriptor: &Descriptor,
    found: &FoundContext,
) -> (ContextRead, Vec<Spent>) {
    let mut read =
        ContextRead { context: name_of(&found.context), vrf: Some(found.vrf.clone()), reads: Vec::new() };
    let mut spent = Vec::new();
    for table in descriptor.tables() {
        if table.lists_contexts() {
            read.reads.push(None);
            continue;
        }
        let name = table.name_in(&found.vrf);
        let (one, cost) = read_table(session, request, &found.context, &name, table).await;
        read.reads.push(Some(one));
        spent.push(cost);
    }
    (read, spent)
}

/// Reads one table; gives what it cost, too.
async fn read_table(
    session: &mut Session,
    request: &Request,
    context: &Context,
    name: &Name,
    table: TableRef<'_>,
) -> (Read, Spent) {
    let (begun, before) = (Instant::now(), session.cost().requests);
    let learnt = learnt(request, name);
    let (columns, together) = (table.columns(), table.together());
    let table = session.table_of_one_moment(context, &columns, learnt, table.max_rows(), &together).await;
    let requests = session.cost().requests.saturating_sub(before);
    (as_read(context, table), Spent { requests, duration: begun.elapsed() })
}

/// What is remembered of a table.
pub(super) fn learnt(request: &Request, name: &Name) -> Learnt {
    let known = request.remembered.tables.get(name);
    known.map_or_else(Learnt::default, |known| Learnt { repetitions: known.repetitions, rows: known.rows })
}

fn as_read(context: &Context, table: TableRead) -> Read {
    let mut read = Read { outcome: table.outcome.into(), table };
    // An agent may be silent in a context that it does not know.
    if !context.name.is_empty() && !read.table.detail.is_empty() {
        read.table.detail = format!("in context {}: {}", name_of(context), read.table.detail);
    }
    read
}

/// A context's name for people.
fn name_of(context: &Context) -> Name {
    String::from_utf8_lossy(&context.name).into_owned().into()
}

impl Tables {
    /// A configured context is the only one that is read. Which VRF it is, the router's list
    /// tells; where that cannot be known, its pools are not believed: as those of no VRF they
    /// would be published to everybody.
    fn name_configured_context(
        &mut self,
        request: &Request,
        descriptor: &Descriptor,
        read: &mut ContextRead,
    ) {
        let name = &request.context.name;
        if descriptor.default_context().is_none_or(|default| default.as_bytes() == name) {
            return;
        }
        let listed = self.found.contexts.iter().find(|found| found.context.name == *name);
        let had_vrf =
            || request.remembered.tables.iter().any(|(name, table)| table.had_rows && name.contains('@'));
        match listed {
            Some(found) => read.vrf = Some(found.vrf.clone()),
            None if self.found.certain && !had_vrf() => {}
            None => {
                self.named = false;
                read.reads.iter_mut().flatten().for_each(disbelieve_nameless);
            }
        }
    }

    /// How many rows were read.
    pub(super) fn rows(&self) -> u64 {
        let reads = self.reads.iter().flat_map(|(read, _)| &read.reads).flatten();
        reads.map(|read| read.table.rows.len() as u64).sum()
    }

    /// The tables, decoded, and which contexts there are.
    pub(super) fn decode(self, descriptor: &Descriptor, request: &Request) -> Decoded {
        let mut tables = Vec::new();
        for (read, spent) in &self.reads {
            let repetitions = read.reads.iter().flatten().map(|read| read.table.repetitions);
            let told = repetitions.zip(spent.iter().copied());
            let decoded = mib::decode(descriptor, read, request.settings()).into_iter().zip(told);
            tables.extend(decoded.map(|(table, (repetitions, spent))| DecodedRead {
                table,
                repetitions,
                spent,
            }));
        }
        let list = self.reads.first().and_then(|(read, _)| read.vrf.clone());
        for mut rejected in self.found.rejected {
            if let Some(vrf) = &list {
                rejected.table = format!("{}@{vrf}", rejected.table).into();
            }
            if let Some(read) = tables.iter_mut().find(|read| read.table.table.name == rejected.table) {
                read.table.rejected.push(rejected);
            }
        }
        let listed = match (self.only, self.found.certain) {
            (true, _) => self.named.then(Vec::new),
            (false, true) => Some(self.found.contexts.into_iter().map(|found| found.vrf).collect()),
            (false, false) => None,
        };
        Decoded { tables, listed, notes: self.notes }
    }
}

fn disbelieve_nameless(read: &mut Read) {
    if !matches!(read.outcome, ReadOutcome::Failed(_)) {
        read.outcome = ReadOutcome::Failed(Fault::MissingContext);
        read.table.detail = "which VRF the configured context is could not be read".to_owned();
    }
}
