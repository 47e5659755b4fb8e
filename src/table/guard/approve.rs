//! A person's word on what is held.

use std::collections::BTreeMap;

use thiserror::Error;

use super::delta::Passing;
use super::{GuardMemory, HeldChange};
use crate::address::{Family, Range};
use crate::table::{Glob, Name};

/// Which holds a person means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// One hold; with the digest that was shown of it, where it is known.
    Id {
        /// Its number.
        id: u64,
        /// What [`Hold::digest`](super::Hold::digest) gave when it was shown.
        digest: Option<String>,
    },
    /// Several holds, by number.
    Ids(Vec<u64>),
    /// All holds of one incident.
    Incident(u64),
    /// All holds whose owner matches a pattern: `*` for any text, `?` for any character.
    Bas(Glob),
    /// All holds.
    All,
}

/// Why an approval or rejection does nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApproveError {
    /// Nothing is held that was meant.
    #[error("nothing such is held")]
    NotHeld,
    /// The hold is no longer what was shown.
    #[error("held change {id} is no longer what was shown: it is {now} now, not {shown}")]
    Changed {
        /// Its number.
        id: u64,
        /// The digest as shown.
        shown: String,
        /// The digest as it is.
        now: String,
    },
}

/// Changes that a person let through, for one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approved {
    changes: Vec<(Name, HeldChange)>,
    ids: Vec<u64>,
}

impl Approved {
    /// Whether it lets nothing through.
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.ids.is_empty()
    }

    /// The numbers of the approved holds.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// The approved changes with their spaces.
    pub fn changes(&self) -> impl Iterator<Item = (&Name, &HeldChange)> {
        self.changes.iter().map(|(space, change)| (space, change))
    }

    pub(super) fn passing(&self, space: &Name, family: Family) -> Passing {
        let mut ranges: BTreeMap<_, Vec<Range>> = BTreeMap::new();
        let here = self.changes().filter(|(of, change)| *of == space && change.range.family() == family);
        for (_, change) in here {
            ranges.entry((change.from.clone(), change.to.clone())).or_default().push(change.range);
        }
        ranges.into_iter().map(|(owners, ranges)| (owners, ranges.into_iter().collect())).collect()
    }
}

impl GuardMemory {
    /// What a person lets through: to be given to the next [`judge`](super::judge), which lets
    /// exactly these changes pass.
    ///
    /// # Errors
    /// Where nothing such is held, or a hold has changed since it was shown.
    pub fn approve(&self, selection: &Selection) -> Result<Approved, ApproveError> {
        let meant: Vec<_> = self.holds.iter().filter(|hold| selection.means(hold)).collect();
        if meant.is_empty() && *selection != Selection::All {
            return Err(ApproveError::NotHeld);
        }
        meant.iter().try_for_each(|hold| selection.check(hold))?;
        let changes = meant
            .iter()
            .flat_map(|hold| hold.changes.iter().map(|change| (hold.space.clone(), change.clone())));
        Ok(Approved { changes: changes.collect(), ids: meant.iter().map(|hold| hold.id).collect() })
    }

    /// Notes that a person said no: the holds stay, and polls no longer confirm them. Gives
    /// their numbers.
    ///
    /// # Errors
    /// Where nothing such is held, or a hold has changed since it was shown.
    pub fn reject(&mut self, selection: &Selection) -> Result<Vec<u64>, ApproveError> {
        let meant = self.approve(selection)?.ids;
        for hold in self.holds.iter_mut().filter(|hold| meant.contains(&hold.id)) {
            hold.rejected = true;
        }
        Ok(meant)
    }
}

impl Selection {
    fn means(&self, hold: &super::Hold) -> bool {
        match self {
            Self::Id { id, .. } => hold.id == *id,
            Self::Ids(ids) => ids.contains(&hold.id),
            Self::Incident(incident) => hold.incident == Some(*incident),
            Self::Bas(pattern) => pattern.matches(&hold.owner),
            Self::All => true,
        }
    }

    fn check(&self, hold: &super::Hold) -> Result<(), ApproveError> {
        let Self::Id { id, digest: Some(shown) } = self else { return Ok(()) };
        let now = hold.digest();
        if *shown == now { Ok(()) } else { Err(ApproveError::Changed { id: *id, shown: shown.clone(), now }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Hold, HoldKind, HoldReason};

    fn hold(id: u64, owner: &str, incident: Option<u64>) -> Hold {
        let change = HeldChange { range: "10.0.0.0/24".parse().unwrap(), from: Some(owner.into()), to: None };
        Hold {
            id,
            kind: HoldKind::Removal,
            reason: HoldReason::RemoveBas,
            owner: owner.into(),
            space: "internet".into(),
            family: Family::V4,
            since: jiff::Timestamp::UNIX_EPOCH,
            incident,
            rejected: false,
            changes: vec![change],
        }
    }

    fn memory() -> GuardMemory {
        let holds = vec![hold(1, "gz-1", None), hold(2, "gz-2", Some(7)), hold(5, "bj-1", Some(7))];
        GuardMemory { holds, last_id: 5, ..GuardMemory::default() }
    }

    fn approved(selection: Selection) -> Result<Vec<u64>, ApproveError> {
        memory().approve(&selection).map(|approved| approved.ids().to_vec())
    }

    #[test]
    fn holds_are_meant_by_number_incident_or_owner() {
        assert_eq!(approved(Selection::Id { id: 2, digest: None }), Ok(vec![2]));
        assert_eq!(approved(Selection::Incident(7)), Ok(vec![2, 5]));
        assert_eq!(approved(Selection::Bas("gz-*".into())), Ok(vec![1, 2]));
        assert_eq!(approved(Selection::All), Ok(vec![1, 2, 5]));
        for nothing in
            [Selection::Id { id: 3, digest: None }, Selection::Incident(1), Selection::Bas("gz".into())]
        {
            assert_eq!(approved(nothing), Err(ApproveError::NotHeld));
        }
    }

    #[test]
    fn what_was_not_shown_is_not_approved() {
        let shown = memory().holds[0].digest();
        assert_eq!(approved(Selection::Id { id: 1, digest: Some(shown.clone()) }), Ok(vec![1]));
        let mut grown = memory();
        grown.holds[0].changes[0].range = "10.0.0.0/23".parse().unwrap();
        let error = grown.approve(&Selection::Id { id: 1, digest: Some(shown.clone()) }).unwrap_err();
        assert_eq!(error, ApproveError::Changed { id: 1, shown, now: grown.holds[0].digest() });
    }

    #[test]
    fn a_digest_tells_kind_owner_space_and_changes_apart_but_not_reason_or_time() {
        let base = hold(1, "a", None);
        let same = Hold { id: 9, reason: HoldReason::Incident, rejected: true, ..base.clone() };
        assert_eq!(base.digest(), same.digest());
        assert_eq!(base.digest().len(), 12);
        let mut others = vec![
            Hold { kind: HoldKind::Move, ..base.clone() },
            Hold { owner: "b".into(), ..base.clone() },
            Hold { space: "iptv".into(), ..base.clone() },
        ];
        let mut moved = base.clone();
        moved.changes[0].to = Some("b".into());
        others.push(moved);
        for other in others {
            assert_ne!(other.digest(), base.digest(), "{other:?}");
        }
    }

    #[test]
    fn a_rejected_hold_stays() {
        let mut memory = memory();
        assert_eq!(memory.reject(&Selection::Bas("bj-?".into())), Ok(vec![5]));
        assert_eq!(memory.holds.iter().map(|hold| hold.rejected).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(memory.reject(&Selection::Incident(1)), Err(ApproveError::NotHeld));
    }
}
