//! What a person asked, done.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use super::operation::{Answer, Operation, Reply};
use super::shapes::Problem;
use super::state::State;
use super::{Cycle, CycleError, Who};
use crate::store::{Reader, StoreError};

impl State {
    /// Answers what only reads; nothing where an operation does more than that, or asks for
    /// a past generation.
    pub fn answer(&self, operation: &Operation, running: bool, now: Timestamp) -> Option<Reply> {
        Some(match operation {
            Operation::Export(request) if request.generation.is_none() => {
                self.export(request).map(Answer::File)
            }
            Operation::Conflicts => json(&self.conflict_shapes()),
            Operation::Edges => json(&self.edges(now)),
            Operation::Held => json(&self.held()),
            Operation::Lookup(request) if request.at.is_none() && request.generation.is_none() => {
                self.lookup(request).and_then(|found| json(&found))
            }
            Operation::Plan => self.plans().and_then(|plans| json(&plans)),
            Operation::Status => json(&self.status(running, now)),
            _ => return None,
        })
    }
}

impl State {
    /// Answers what only reads, out of this state and of the store at `path`, beside whoever
    /// owns that.
    pub async fn answer_apart(&self, path: &Path, operation: &Operation, now: Timestamp) -> Reply {
        if let Some(reply) = self.answer(operation, true, now) {
            return reply;
        }
        let mut reader = Reader::open(path, Default::default()).await?;
        match self.answer_from(&mut reader, operation, now).await {
            Some(reply) => reply,
            None => Err(Problem::new(501, "no-daemon", "not done", "only the owner of the store does this")),
        }
    }
}

impl Cycle {
    /// Does what was asked. Polls are not: whoever runs them brings what they found to
    /// [`Cycle::absorb`].
    pub async fn perform(&mut self, operation: Operation, who: &Who, now: Timestamp) -> Reply {
        if let Some(reply) = self.state.answer(&operation, true, now) {
            return reply;
        }
        if let Some(reply) = self.state.answer_from(&mut self.store, &operation, now).await {
            return reply;
        }
        match operation {
            Operation::Approve(request) => json(&self.approve(&request, who, now).await?),
            Operation::Drain(request) => json(&self.drain(&request, who, now).await?),
            Operation::Freeze(request) => json(&self.freeze(&request, who, now).await?),
            Operation::Reject(request) => json(&self.reject(&request, who, now).await?),
            Operation::Release(request) => json(&self.release(&request, who, now).await?),
            Operation::Rollback(request) => json(&self.roll_back(&request, who, now).await?),
            Operation::Undrain(request) => json(&self.undrain(&request, who, now).await?),
            _ => Err(Problem::new(501, "no-daemon", "not done", "only a running daemon does this")),
        }
    }
}

impl From<CycleError> for Problem {
    fn from(error: CycleError) -> Self {
        match error {
            CycleError::Store(error) => error.into(),
            CycleError::Groups(_) => Self::new(500, "groups", "no groups", &error.to_string()),
            CycleError::Steering(_) => Self::new(500, "steering", "not steered", &error.to_string()),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            "no-generation" => {
                Self::new(404, "no-generation", "there is no such generation", &error.to_string())
            }
            kind => Self::new(500, kind, "the store failed", &error.to_string()),
        }
    }
}

/// One of the shapes.
pub(super) fn json(shape: &impl Serialize) -> Reply {
    serde_json::to_value(shape)
        .map(Answer::Json)
        .map_err(|e| Problem::new(500, "encode", "the answer cannot be written", &e.to_string()))
}
