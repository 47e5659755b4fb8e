//! A first word with a router: whether it answers, what it is, whether it shows its tables.
//! One GET, and one GETNEXT a table until one shows a row.

use std::net::SocketAddr;

use super::request::Request;
use super::{Stop, detect, meet};
use crate::mib::{Descriptor, Fault};
use crate::snmp::{
    Columns, Context, Credentials, Learnt, Limits, Oid, Outcome, Reason, Session, Target, Transport, User,
};
use crate::table::Name;

/// What came of a first word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The BAS.
    pub name: Name,
    /// Where it was asked.
    pub address: SocketAddr,
    /// The descriptor that knows it.
    pub descriptor: Option<Name>,
    /// sysObjectID, dotted.
    pub sys_object_id: Option<String>,
    /// sysDescr.
    pub sys_descr: Option<String>,
    /// How it went.
    pub heard: Heard,
    /// In words, for people; empty where nothing is wrong.
    pub detail: String,
}

/// How a first word went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It answers, and a table of ranges has a row.
    Table,
    /// It answers, is known, and shows no row of any table of ranges.
    NoRow,
    /// It answers, and tells nothing of itself.
    NoSystem,
    /// It failed by this.
    Fault(Fault),
    /// It does not answer with this community, and an SNMP agent is there: it answered what
    /// SNMPv3 begins with.
    OtherCommunity,
}

impl Greeting {
    /// A first word that could not be said.
    pub fn unsaid(request: &Request, fault: Fault, detail: String) -> Self {
        Self {
            name: request.name.clone(),
            address: request.target.address,
            descriptor: None,
            sys_object_id: None,
            sys_descr: None,
            heard: Heard::Fault(fault),
            detail,
        }
    }
}

/// Says a first word to a router.
pub async fn greet(transport: &Transport, request: &Request) -> Greeting {
    let mut session = Session::new(transport, request.target.clone());
    let mut greeting = Greeting::unsaid(request, Fault::Snmp(Reason::Timeout), String::new());
    match said(&mut session, request, &mut greeting).await {
        Ok(heard) => greeting.heard = heard,
        Err(stop) => (greeting.heard, greeting.detail) = (Heard::Fault(stop.fault), stop.detail),
    }
    let silent = greeting.heard == Heard::Fault(Fault::Snmp(Reason::Timeout));
    if silent
        && matches!(request.target.credentials, Credentials::V2c(_))
        && lives(transport, &request.target).await
    {
        greeting.heard = Heard::OtherCommunity;
    }
    greeting
}

async fn said(session: &mut Session, request: &Request, greeting: &mut Greeting) -> Result<Heard, Stop> {
    let system = meet(session, request).await?;
    greeting.sys_descr.clone_from(&system.descr);
    greeting.sys_object_id = system.object_id.as_ref().map(ToString::to_string);
    if system == super::System::default() {
        return Ok(Heard::NoSystem);
    }
    let chosen = detect::choose(session, request, &system).await?;
    greeting.descriptor = Some(chosen.descriptor.name().clone());
    shows(session, &request.context, &chosen.descriptor).await
}

/// Whether a table of ranges has a row: the first object behind one of its columns tells.
async fn shows(session: &mut Session, context: &Context, descriptor: &Descriptor) -> Result<Heard, Stop> {
    for table in descriptor.probes() {
        let Columns { entry, columns } = table.columns();
        let first = Columns { entry, columns: columns.into_iter().take(1).collect() };
        // By GETNEXT, and given up at the first row.
        let by_rows = Learnt { repetitions: Some(0), ..Learnt::default() };
        let read = session.table_within(context, &first, by_rows, Some(0)).await;
        match read.outcome {
            _ if !read.rows.is_empty() => return Ok(Heard::Table),
            Outcome::Complete | Outcome::Unsupported => {}
            Outcome::Failed(reason) => {
                return Err(Stop::new(
                    Fault::Snmp(reason),
                    format!("table {}: {}", table.name(), read.detail),
                ));
            }
        }
    }
    Ok(Heard::NoRow)
}

/// Whether an SNMPv3 agent is there, whoever may ask it what: it answers a user that nobody
/// is with a Report (RFC 3414, 3.2 and 4).
async fn lives(transport: &Transport, target: &Target) -> bool {
    let nobody = User {
        name: Name::default(),
        auth: None,
        privacy: None,
        key_extension: Default::default(),
        engine_id: None,
    };
    let limits = Limits { retries: 0, ..target.limits };
    let target = Target { credentials: Credentials::V3(nobody), limits, engine: None, ..target.clone() };
    let mut session = Session::new(transport, target);
    match session.get(&Context::default(), &[Oid::new([1, 3, 6, 1, 2, 1, 1, 3, 0])]).await {
        Ok(_) => true,
        Err(failure) => {
            let silence = [Reason::Timeout, Reason::Unreachable, Reason::SendFailed, Reason::Deadline];
            session.cost().bytes > 0 && !silence.contains(&failure.reason)
        }
    }
}
