//! Pins: what is published stays as it is, or as it was, while polls and the guard go on
//! beneath.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::acts::{act, changed};
use super::operation::{FreezeRequest, ReleaseRequest, RollbackRequest};
use super::shapes::{PinnedShape, Problem};
use super::{Cycle, CycleError, Next, Who};
use crate::table::{ActKind, Name, Pin, PinKind, Table};

/// For how long a pin holds at most: one that was forgotten must not keep a table old.
pub const PIN_LASTS: SignedDuration = SignedDuration::from_hours(24);

impl Cycle {
    /// Publishes the ranges of an earlier generation, until that is released.
    pub(super) async fn roll_back(
        &mut self,
        request: &RollbackRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<PinnedShape, Problem> {
        let asked = request.generation;
        self.is_shown()?;
        let past = self.store.table_at(asked).await.map_err(CycleError::from)?;
        if self.state.shown.is_none_or(|first| asked < first) {
            let first = self.state.shown.unwrap_or_default();
            let detail = format!("generation {asked} was never published; the first that was is {first}");
            return Err(Problem::new(409, "never-published", "not rolled back", &detail));
        }
        self.knows_groups(asked, &past.table)?;
        let kind = PinKind::Rollback;
        let pin = pin(kind, past.ranges_of, who.signed(request.by.as_deref()), &request.reason, now)
            .until(request.for_s, now)?;
        let detail = match past.ranges_of == asked {
            true => format!("generation {asked}"),
            false => format!("generation {asked}, which showed the ranges of {}", past.ranges_of),
        };
        self.set_pin(pin, Arc::new(past.table), ActKind::Rollback, detail, now).await
    }

    /// Keeps what is published as it is, until that is released.
    pub(super) async fn freeze(
        &mut self,
        request: &FreezeRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<PinnedShape, Problem> {
        self.is_shown()?;
        let pinned = self.state.pin.as_ref().map(|(pin, _)| pin.generation);
        let generation = pinned.unwrap_or(self.state.snapshot.generation);
        let pin = pin(PinKind::Freeze, generation, who.signed(request.by.as_deref()), &request.reason, now)
            .until(request.for_s, now)?;
        let table = Arc::clone(&self.state.snapshot.table);
        self.set_pin(pin, table, ActKind::Freeze, format!("generation {generation}"), now).await
    }

    async fn set_pin(
        &mut self,
        pin: Pin,
        ranges: Arc<Table>,
        kind: ActKind,
        detail: String,
        now: Timestamp,
    ) -> Result<PinnedShape, Problem> {
        let done = act(kind, pin.by.clone(), Some(&pin.reason), detail, now);
        let mut next = self.same();
        next.steered = self.steer(&next.table, Some(&ranges))?;
        next.pin = Some((pin, ranges));
        self.repin(next, &done, now).await
    }

    /// Publishes what polls and the guard have come to, unjudged.
    pub(super) async fn release(
        &mut self,
        request: &ReleaseRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<PinnedShape, Problem> {
        let by = who.signed(request.by.as_deref());
        Ok(self.end_pin(ActKind::Release, by, request.reason.as_deref(), now).await?)
    }

    /// Releases a pin whose time is over; says whether there was one.
    pub(super) async fn expire(&mut self, now: Timestamp) -> Result<bool, CycleError> {
        if self.state.pin.as_ref().is_none_or(|(pin, _)| now < pin.expires) {
            return Ok(false);
        }
        let by = Who::program().signed(None);
        self.end_pin(ActKind::Expire, by, None, now).await?;
        Ok(true)
    }

    async fn end_pin(
        &mut self,
        kind: ActKind,
        by: Name,
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<PinnedShape, CycleError> {
        let Some((pin, _)) = &self.state.pin else { return Ok(self.pinned_shape(Default::default())) };
        let done = act(kind, by, reason, format!("the pin on generation {}", pin.generation), now);
        let mut next = self.same();
        next.steered = self.steer(&next.table, None)?;
        next.pin = None;
        self.repin(next, &done, now).await
    }

    async fn repin<E: From<CycleError>>(
        &mut self,
        next: Next,
        done: &crate::table::Act,
        now: Timestamp,
    ) -> Result<PinnedShape, E> {
        let before = Arc::clone(&self.state.snapshot);
        self.commit(next, std::slice::from_ref(done), now).await?;
        tracing::warn!(
            kind = %super::shaped::word(&done.kind), by = %done.by, reason = %done.reason, on = done.detail,
            "what is published is pinned otherwise"
        );
        Ok(self.pinned_shape(changed(&before.table, &self.state.snapshot.table)))
    }

    fn pinned_shape(&self, changed: super::shapes::ChangedShape) -> PinnedShape {
        PinnedShape {
            generation: self.state.snapshot.generation,
            pin: self.state.pin_shape(),
            changed,
            published: Vec::new(),
        }
    }

    fn is_shown(&self) -> Result<(), Problem> {
        match self.state.snapshot.filled {
            true => Ok(()),
            false => Err(Problem::new(
                409,
                "not-published",
                "nothing is pinned",
                "nothing is published yet: not enough of the fleet has been read",
            )),
        }
    }

    /// Every owner of the ranges has to be answered with something today.
    fn knows_groups(&self, asked: u64, ranges: &Table) -> Result<(), Problem> {
        let groups = &self.state.snapshot.groups;
        let configured: BTreeSet<&Name> =
            self.settings.owners.iter().filter(|o| !o.edges.is_empty()).map(|o| &o.owner).collect();
        let service = Name::from(crate::config::DEFAULT_SERVICE);
        let owners = ranges.owners();
        let unknown: Vec<&str> = owners
            .into_iter()
            .filter(|owner| !configured.contains(owner) && groups.of(owner, &service).is_none())
            .map(Name::as_str)
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let detail = format!(
            "generation {asked} names owners that no group answers for any more: {}",
            unknown.join(", ")
        );
        Err(Problem::new(409, "unknown-groups", "not rolled back", &detail))
    }
}

fn pin(kind: PinKind, generation: u64, by: Name, reason: &Option<String>, now: Timestamp) -> Pin {
    let expires = now.checked_add(PIN_LASTS).unwrap_or(Timestamp::MAX);
    Pin { kind, generation, by, reason: reason.as_deref().unwrap_or_default().into(), since: now, expires }
}

impl Pin {
    /// The pin, with less time than the most.
    fn until(self, seconds: Option<u64>, now: Timestamp) -> Result<Self, Problem> {
        let Some(seconds) = seconds else { return Ok(self) };
        let lasts = i64::try_from(seconds).ok().map(SignedDuration::from_secs);
        match lasts.filter(|lasts| lasts.is_positive() && *lasts <= PIN_LASTS) {
            Some(lasts) => Ok(Self { expires: now.checked_add(lasts).unwrap_or(self.expires), ..self }),
            None => Err(Problem::new(400, "bad-request", "not pinned", "a pin holds for 1 s to 24 h")),
        }
    }
}
