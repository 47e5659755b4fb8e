//! Walking a table: to its end, or not at all.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Context, Oid, Transport, Value};
use crate::snmp::target::Target;
use crate::table::Engine;

/// Which columns of which table to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The table's entry (`...Table.1`).
    pub entry: Oid,
    /// The columns' last arcs, ascending.
    pub columns: Vec<u32>,
}

/// Why a read failed. A closed list: these words stand in status, metrics and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The agent answered with authorizationError(16) or noAccess(6).
    AuthorizationError,
    /// The poll's deadline passed.
    Deadline,
    /// The agent could not decrypt: wrong privacy password, protocol or key extension.
    DecryptionError,
    /// The agent answered with another error status.
    ErrorStatus,
    /// A reply broke the rules of BER or SNMP.
    Malformed,
    /// Our clock and the agent's could not be brought together.
    NotInTimeWindow,
    /// OIDs did not grow.
    OidOrder,
    /// Answers came from another address than the one asked.
    OtherAddress,
    /// The local socket could not send.
    SendFailed,
    /// A cap on rows, bytes or requests was reached.
    TooLarge,
    /// No answer.
    Timeout,
    /// The agent does not know the user.
    UnknownUser,
    /// The host answered that nothing listens there.
    Unreachable,
    /// The agent does not offer the user this security level.
    UnsupportedLevel,
    /// The agent found our digest wrong: wrong authentication password or protocol.
    WrongDigest,
}

/// What became of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Read to its end, proven by an OID behind it or endOfMibView.
    Complete,
    /// Not read to its end.
    Failed(Reason),
    /// The agent has nothing under the entry, and said so properly.
    Unsupported,
}

/// One table as read: rows by index, cells in the order of the columns asked for.
#[derive(Clone, Debug)]
pub struct TableRead {
    /// What became of it.
    pub outcome: Outcome,
    /// In words, for people: OIDs, offsets, what was expected. Empty unless failed.
    pub detail: String,
    /// The rows read so far.
    pub rows: BTreeMap<Vec<u32>, Vec<Option<Value>>>,
    /// The repetitions found to work.
    pub repetitions: u32,
}

/// What a request that is no walk failed by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// The stable reason.
    pub reason: Reason,
    /// In words.
    pub detail: String,
}

/// What a poll cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Requests sent, retransmissions not counted.
    pub requests: u32,
    /// Retransmissions.
    pub retries: u32,
    /// Octets received.
    pub bytes: u64,
}

/// One poll of one BAS: one request in flight, one deadline, one set of caps.
#[derive(Debug)]
pub struct Session {
    _transport: Transport,
    _target: Target,
}

impl Session {
    /// A session with a target. Sends nothing yet; the deadline begins to run.
    pub fn new(transport: &Transport, target: Target) -> Self {
        Self { _transport: transport.clone(), _target: target }
    }

    /// GET: a value for each OID, in order; exceptions are values.
    ///
    /// # Errors
    /// Where no proper answer came.
    pub async fn get(&mut self, _context: &Context, _oids: &[Oid]) -> Result<Vec<Value>, Failure> {
        Err(Failure { reason: Reason::Timeout, detail: String::new() })
    }

    /// Walks a table in a context. `repetitions` is what was found to work last time.
    pub async fn table(
        &mut self,
        _context: &Context,
        _columns: &Columns,
        _repetitions: Option<u32>,
    ) -> TableRead {
        TableRead {
            outcome: Outcome::Unsupported,
            detail: String::new(),
            rows: BTreeMap::new(),
            repetitions: 0,
        }
    }

    /// Walks everything under a root in a context, for recording: each object, in order.
    pub async fn subtree(&mut self, _context: &Context, _root: &Oid) -> (Outcome, String, Vec<(Oid, Value)>) {
        (Outcome::Unsupported, String::new(), Vec::new())
    }

    /// What the session has cost so far.
    pub fn cost(&self) -> Cost {
        Cost::default()
    }

    /// The SNMPv3 engine as last heard, to be remembered.
    pub fn engine(&self) -> Option<Engine> {
        None
    }
}
