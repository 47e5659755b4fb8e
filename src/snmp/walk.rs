//! Walking a table: to its end, or not at all.

mod along;
mod cursor;
mod fault;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../tests/fuzz/walk.rs"]
pub(super) mod fuzz;
mod moment;
mod opening;
mod rows;
mod silence;
mod stride;

use std::time::Duration;

use serde::Serialize;

use self::along::Along;
use self::cursor::{Asked, Walk};
use self::fault::Fault;
use self::moment::Together;
pub use self::opening::Opening;
pub use self::rows::{Cells, Rows};
use self::silence::Silence;
use self::stride::{Good, Stride};
use super::binds::Binds;
use super::dialect::{Dialect, Look, Question};
use super::exchange::Line;
use super::message::{Pdu, PduKind, Varbind};
use super::target::{Credentials, Target};
use super::v3::Conversation;
use super::{Context, Oid, Transport, Value};
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
    /// The agent does not know the context.
    UnknownContext,
    /// The agent is another engine than the one expected.
    UnknownEngine,
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

/// What earlier walks of a table have taught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// The repetitions that were found to work; 0 is a walk by GETNEXT.
    pub repetitions: Option<u32>,
    /// How many rows it had.
    pub rows: u64,
}

/// One table as read: rows by index, cells in the order of the columns asked for.
#[derive(Clone, Debug)]
pub struct TableRead {
    /// What became of it.
    pub outcome: Outcome,
    /// In words, for people: OIDs, offsets, what was expected. Empty unless failed.
    pub detail: String,
    /// The rows read so far.
    pub rows: Rows,
    /// The repetitions found to work.
    pub repetitions: u32,
    /// The first object that the agent has behind the table, where it has any.
    pub behind: Option<Oid>,
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

impl Failure {
    pub(super) fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
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
    line: Line,
    dialect: Dialect,
    silence: Silence,
    along: Along,
    /// Rows of all tables so far.
    rows: u64,
}

impl Session {
    /// A session with a target. Sends nothing yet; the deadline begins to run.
    pub fn new(transport: &Transport, target: Target) -> Self {
        let line = Line::new(transport, target.address, target.limits, target.reach);
        let dialect = match target.credentials {
            Credentials::V2c(community) => Dialect::V2c(community),
            Credentials::V3(user) => {
                let engine = target.engine.as_ref();
                Dialect::V3(Box::new(Conversation::new(transport, line.peer, user, engine)))
            }
        };
        Self { line, dialect, silence: Silence::default(), along: Along::default(), rows: 0 }
    }

    /// GET: a value for each OID, in order; exceptions are values. Under v2c a context is
    /// asked for by the community `NAME@CONTEXT`.
    ///
    /// # Errors
    /// Where no proper answer came.
    pub async fn get(&mut self, context: &Context, oids: &[Oid]) -> Result<Vec<Value>, Failure> {
        if let Some(failure) = self.silence.in_context(context) {
            return Err(failure);
        }
        let mut values = Vec::with_capacity(oids.len());
        let mut stride = Stride::new(oids.len(), Some(0), 0);
        while let Some(rest) = oids.get(values.len()..).filter(|rest| !rest.is_empty()) {
            let asked = rest.get(..stride.width()).unwrap_or(rest);
            match self.get_some(context, asked).await {
                Ok(more) => values.extend(more),
                Err(fault) => {
                    if asked.len() == 1 || !stride.smaller(fault.trouble) {
                        return Err(self.last_word(fault).await);
                    }
                }
            }
        }
        Ok(values)
    }

    /// Walks a table in a context. `repetitions` is what was found to work last time; 0 is
    /// a walk by GETNEXT. Under v2c a context is asked for by the community `NAME@CONTEXT`.
    ///
    /// A table without rows cannot be told from one that is not there: both are
    /// [`Outcome::Unsupported`]. Who knows that it had rows decides.
    pub async fn table(
        &mut self,
        context: &Context,
        columns: &Columns,
        repetitions: Option<u32>,
    ) -> TableRead {
        self.table_within(context, columns, Learnt { repetitions, rows: 0 }, None).await
    }

    /// The same, for a table that is too large to be read where it has more rows than this.
    pub async fn table_within(
        &mut self,
        context: &Context,
        columns: &Columns,
        learnt: Learnt,
        max_rows: Option<u32>,
    ) -> TableRead {
        self.read(context, columns, learnt, max_rows, &mut []).await
    }

    /// Reads a table, and notes what of it came apart that belongs together.
    async fn read(
        &mut self,
        context: &Context,
        columns: &Columns,
        learnt: Learnt,
        max_rows: Option<u32>,
        together: &mut [Together],
    ) -> TableRead {
        let mut stride = self.stride(columns, learnt);
        let mut walk = Walk::table(columns);
        walk.together = together.to_vec();
        let (outcome, detail) = self.run(context, &mut walk, &mut stride, max_rows).await;
        together.iter_mut().zip(walk.together).for_each(|(before, after)| *before = after);
        let (rows, behind) = (walk.rows, walk.behind);
        TableRead { outcome, detail, rows, repetitions: stride.learnt(), behind }
    }

    fn stride(&self, columns: &Columns, learnt: Learnt) -> Stride {
        let most = self.line.limits.max_repetitions;
        Stride::new(columns.columns.len(), learnt.repetitions, most).at_once(learnt.rows)
    }

    /// Walks everything under a root in a context, for recording: each object, in order.
    pub async fn subtree(&mut self, context: &Context, root: &Oid) -> (Outcome, String, Vec<(Oid, Value)>) {
        let mut stride = Stride::new(1, None, self.line.limits.max_repetitions);
        let mut walk = Walk::subtree(root);
        let (outcome, detail) = self.run(context, &mut walk, &mut stride, None).await;
        let objects =
            walk.rows.iter().filter_map(|(index, cells)| Some((root.child(index), cells.get(0)?.to_value())));
        (outcome, detail, objects.collect())
    }

    /// What the session has cost so far.
    pub fn cost(&self) -> Cost {
        self.line.cost
    }

    /// How long the session waited for its turn, which is no time of the router's.
    pub fn queued(&self) -> Duration {
        self.line.queued
    }

    /// The SNMPv3 engine as last heard, to be remembered.
    pub fn engine(&self) -> Option<Engine> {
        self.dialect.engine()
    }

    /// Walks until every column has ended, or until no smaller question is left to ask.
    async fn run(
        &mut self,
        context: &Context,
        walk: &mut Walk,
        stride: &mut Stride,
        max_rows: Option<u32>,
    ) -> (Outcome, String) {
        let ended = match self.silence.in_context(context) {
            Some(failure) => Err(failure),
            None => self.run_on(context, walk, stride, max_rows).await,
        };
        match ended {
            Ok(()) if walk.found_nothing() => (Outcome::Unsupported, String::new()),
            Ok(()) => (Outcome::Complete, String::new()),
            Err(failure) => (Outcome::Failed(failure.reason), failure.detail),
        }
    }

    async fn run_on(
        &mut self,
        context: &Context,
        walk: &mut Walk,
        stride: &mut Stride,
        max_rows: Option<u32>,
    ) -> Result<(), Failure> {
        let before = self.rows;
        let max_rows = max_rows.map_or(u64::MAX, u64::from);
        while let Some(asked) = walk.next(stride.width()) {
            let step = self.step(context, walk, &asked, stride).await;
            self.rows = before + u64::try_from(walk.rows.len()).unwrap_or(u64::MAX);
            match step {
                Ok(good) => {
                    stride.met(walk.rows.len() as u64);
                    stride.good(good);
                }
                Err(_) if self.along.give_up() => {}
                Err(fault) if stride.smaller(fault.trouble) => {}
                Err(fault) => return Err(self.conclude(context, fault).await),
            }
            if let Some(failure) = self.too_many_rows(before, max_rows) {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Whether there are more rows than there may be, of this table or of all.
    fn too_many_rows(&self, before: u64, max_rows: u64) -> Option<Failure> {
        let all = u64::from(self.line.limits.max_rows);
        if self.rows - before > max_rows {
            return Some(self.line.too_large("rows of this table", max_rows));
        }
        (self.rows > all).then(|| self.line.too_large("rows", all))
    }

    /// One question of a walk, and what its answer adds.
    async fn step(
        &mut self,
        context: &Context,
        walk: &mut Walk,
        asked: &Asked,
        stride: &Stride,
    ) -> Result<Good, Fault> {
        let repetitions = stride.repetitions();
        let bulk = repetitions > 0;
        let kind = if bulk { PduKind::GetBulk } else { PduKind::GetNext };
        let along = self.along.ask(context, bulk);
        let tries = self.along.tries(stride.tries(self.tries()));
        let once = along.as_slice();
        let question = Question { context, kind, once, oids: &asked.oids, repetitions, tries };
        let before = self.line.cost.bytes;
        let binds = self.ask(question).await?.varbinds;
        let quick = self.line.was_quick();
        let fault = |failure| Fault::of(failure, &question);
        let cells = binds.behind(self.along.hear(&binds).map_err(fault)?);
        let good = Good {
            whole: cells.len() as u64 >= asked.oids.len() as u64 * u64::from(repetitions),
            octets: self.line.cost.bytes - before,
            quick,
        };
        walk.take(asked, cells, bulk).map_err(fault)?;
        self.along.fits();
        Ok(good)
    }

    async fn get_some(&mut self, context: &Context, oids: &[Oid]) -> Result<Vec<Value>, Fault> {
        let tries = self.tries();
        let question = Question { context, kind: PduKind::Get, once: &[], oids, repetitions: 0, tries };
        let pdu = self.ask(question).await?;
        let varbinds: Vec<Varbind> = pdu.varbinds.iter().map(|bind| bind.decoded()).collect();
        if !varbinds.iter().map(|varbind| &varbind.oid).eq(oids) {
            let failure = Failure::new(Reason::Malformed, "the answer names other objects than the GET");
            return Err(Fault::of(failure, &question));
        }
        Ok(varbinds.into_iter().map(|varbind| varbind.value).collect())
    }

    /// Asks, and gives a Response without an error.
    async fn ask(&mut self, question: Question<'_>) -> Result<Pdu<Binds>, Fault> {
        self.along.forget();
        match self.dialect.ask(&mut self.line, question).await {
            Ok(pdu) if pdu.error_status == 0 => {
                self.silence.broken(question.context);
                Ok(pdu)
            }
            Ok(pdu) => Err(Fault::refused(pdu.error_status, pdu.error_index, &question)),
            Err(unanswered) => Err(Fault::unanswered(unanswered, &question, self.dialect.is_acquainted())),
        }
    }

    /// What is said of a fault that ends a GET: of a silence, what it comes from.
    async fn last_word(&mut self, fault: Fault) -> Failure {
        if fault.silent
            && let Some(Look::Deaf(failure)) = self.dialect.look_into(&mut self.line).await
        {
            return failure;
        }
        fault.failure
    }

    fn tries(&self) -> u32 {
        self.line.limits.retries.saturating_add(1)
    }
}
