//! What a person asked, done.

use jiff::Timestamp;
use serde::Serialize;

use super::operation::{Answer, ApproveRequest, Operation, Reply};
use super::shapes::{HeldShape, Problem};
use super::state::{State, export, held_shape};
use super::{Cycle, CycleError};
use crate::table::{ApproveError, Approved, Hold, Selection};

impl State {
    /// Answers what only reads; nothing where an operation does more than that, or asks for
    /// a past generation.
    pub fn answer(&self, operation: &Operation, running: bool, now: Timestamp) -> Option<Reply> {
        Some(match operation {
            Operation::Export(request) if request.generation.is_none() => {
                self.export(request).map(Answer::File)
            }
            Operation::Held => json(&self.held()),
            Operation::Lookup(request) => self.lookup(request).and_then(|found| json(&found)),
            Operation::Status => json(&self.status(running, now)),
            Operation::Approve(_) | Operation::Export(_) | Operation::Poll(_) | Operation::Reload => {
                return None;
            }
        })
    }
}

impl Cycle {
    /// Does what was asked. Polls are not: whoever runs them brings what they found to
    /// [`Cycle::absorb`].
    pub async fn perform(&mut self, operation: Operation, now: Timestamp) -> Reply {
        if let Some(reply) = self.state.answer(&operation, true, now) {
            return reply;
        }
        match operation {
            Operation::Approve(request) => self.approve(&request, now).await.and_then(|holds| json(&holds)),
            Operation::Export(request) => {
                let generation = request.generation.unwrap_or(self.state.snapshot.generation);
                let past = self.past(generation).await.map_err(Problem::from)?;
                export(&past, &request, &self.state.config).map(Answer::File)
            }
            _ => Err(Problem::new(501, "no-daemon", "not done", "only a running daemon does this")),
        }
    }

    /// Lets held changes through and commits what comes of it; gives what was approved.
    async fn approve(&mut self, request: &ApproveRequest, now: Timestamp) -> Result<Vec<HeldShape>, Problem> {
        let (approved, shown) = self.select(request)?;
        self.absorb(Vec::new(), &approved, false, now).await?;
        for hold in &shown {
            let reason = request.reason.as_deref().unwrap_or_default();
            tracing::warn!(id = hold.id, owner = %hold.bas, kind = %hold.kind, units = hold.units, reason, "approved");
        }
        Ok(shown)
    }

    /// The holds that a request means: those that fit all that it names.
    fn select(&self, request: &ApproveRequest) -> Result<(Approved, Vec<HeldShape>), Problem> {
        let guard = &self.state.guard;
        let mut meant: Vec<u64> = guard.holds.iter().map(|hold| hold.id).collect();
        if !request.ids.is_empty() {
            for id in &request.ids {
                self.known(*id)?;
                let shown = Selection::Id { id: *id, digest: request.digest.clone() };
                guard.approve(&shown).map_err(refusal)?;
            }
            meant.retain(|id| request.ids.contains(id));
        }
        let by_incident = request.incident.map(Selection::Incident);
        for selection in by_incident.into_iter().chain(request.bas.clone().map(Selection::Bas)) {
            let fits = guard.approve(&selection).map_err(refusal)?;
            meant.retain(|id| fits.ids().contains(id));
        }
        let approved = guard.approve(&Selection::Ids(meant.clone())).map_err(refusal)?;
        let shown = guard.holds.iter().filter(|hold| meant.contains(&hold.id)).map(held_shape).collect();
        Ok((approved, shown))
    }

    /// A number that was given once and is held no longer stood for something else.
    fn known(&self, id: u64) -> Result<&Hold, Problem> {
        let guard = &self.state.guard;
        match guard.holds.iter().find(|hold| hold.id == id) {
            Some(hold) => Ok(hold),
            None if id > 0 && id <= guard.last_id => Err(Problem::new(
                409,
                "changed",
                "not approved",
                &format!("what {id} stood for has changed or is held no longer; see `poolsync held list`"),
            )),
            None => {
                let detail = format!("there is no held change {id}; see `poolsync held list`");
                Err(Problem::new(404, "not-held", "not approved", &detail))
            }
        }
    }
}

fn refusal(error: ApproveError) -> Problem {
    match error {
        ApproveError::Changed { .. } => Problem::new(409, "changed", "not approved", &error.to_string()),
        ApproveError::NotHeld => Problem::new(404, "not-held", "not approved", &error.to_string()),
    }
}

impl From<CycleError> for Problem {
    fn from(error: CycleError) -> Self {
        match &error {
            CycleError::Store(store) if store.kind() == "no-generation" => {
                Self::new(404, "no-generation", "there is no such generation", &error.to_string())
            }
            CycleError::Store(store) => Self::new(500, store.kind(), "the store failed", &error.to_string()),
            CycleError::Groups(_) => Self::new(500, "groups", "no groups", &error.to_string()),
        }
    }
}

/// One of the shapes.
pub(super) fn json(shape: &impl Serialize) -> Reply {
    serde_json::to_value(shape)
        .map(Answer::Json)
        .map_err(|e| Problem::new(500, "encode", "the answer cannot be written", &e.to_string()))
}
