//! A person's word on what is held.

use jiff::Timestamp;

use super::acts::act;
use super::operation::ApproveRequest;
use super::shaped::held_shape;
use super::shapes::{HeldShape, Problem};
use super::{Cycle, Who};
use crate::table::{Act, ActKind, ApproveError, Approved, Hold, Selection};

impl Cycle {
    /// Lets held changes through and commits what comes of it; gives what was approved.
    pub(super) async fn approve(
        &mut self,
        request: &ApproveRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<Vec<HeldShape>, Problem> {
        let (approved, shown) = self.select(request)?;
        let done = decided(ActKind::Approve, request, &shown, who, now);
        self.absorb_as(Vec::new(), &approved, false, &done, now).await?;
        log(&done, "approved");
        Ok(shown)
    }

    /// Notes that held changes are not to be let through: they stay held, and polls do not
    /// confirm them any more. Gives what was rejected.
    pub(super) async fn reject(
        &mut self,
        request: &ApproveRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<Vec<HeldShape>, Problem> {
        let (approved, shown) = self.select(request)?;
        let mut next = self.same();
        next.guard.reject(&Selection::Ids(approved.ids().to_vec())).map_err(refusal)?;
        let done = decided(ActKind::Reject, request, &shown, who, now);
        self.commit(next, &done, now).await?;
        log(&done, "rejected");
        Ok(self.state.held().into_iter().filter(|hold| approved.ids().contains(&hold.id)).collect())
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
        for selection in
            by_incident.into_iter().chain(request.bas.as_deref().map(|bas| Selection::Bas(bas.into())))
        {
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

/// What was decided, an act for each change.
fn decided(
    kind: ActKind,
    request: &ApproveRequest,
    shown: &[HeldShape],
    who: &Who,
    now: Timestamp,
) -> Vec<Act> {
    let by = who.signed(request.by.as_deref());
    let of_hold = |hold: &HeldShape| {
        let detail = format!("held change {}: {} of {}, {} units", hold.id, hold.kind, hold.bas, hold.units);
        act(kind, by.clone(), request.reason.as_deref(), detail, now)
    };
    shown.iter().map(of_hold).collect()
}

fn log(done: &[Act], word: &str) {
    for act in done {
        tracing::warn!(by = %act.by, reason = %act.reason, what = act.detail, "{word}");
    }
}
