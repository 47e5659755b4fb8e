//! Holds: what they show, and how they last from batch to batch.

use std::collections::BTreeMap;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::delta::Delta;
use super::{GuardMemory, HeldChange, Hold, HoldKind, HoldReason};
use crate::address::{Family, Range, RangeSet};
use crate::table::Name;

/// A hold before it is known whether it is an old one.
pub(super) struct Draft {
    pub(super) kind: HoldKind,
    pub(super) reason: HoldReason,
    pub(super) owner: Name,
    pub(super) space: Name,
    pub(super) family: Family,
    /// Whether it belongs to an incident of this batch.
    pub(super) incident: bool,
    pub(super) changes: Vec<HeldChange>,
}

impl Hold {
    /// The held addresses.
    pub fn addresses(&self) -> RangeSet {
        self.changes.iter().map(|change| change.range).collect()
    }

    /// How much is held: IPv4 addresses or IPv6 /64s.
    pub fn units(&self) -> u64 {
        self.addresses().units()
    }

    /// What a person sees of it, in 12 hex digits: as long as it is the same, an approval
    /// means what was seen.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        part(match self.kind {
            HoldKind::Addition => "addition",
            HoldKind::Move => "move",
            HoldKind::Removal => "removal",
        });
        part(&self.owner);
        part(&self.space);
        for change in &self.changes {
            part(&change.range.to_string());
            [&change.from, &change.to]
                .into_iter()
                .for_each(|owner| part(owner.as_deref().unwrap_or_default()));
        }
        hash.finalize().iter().take(6).map(|octet| format!("{octet:02x}")).collect()
    }
}

/// The changes of a kind and owner, as far as their addresses are held; neighbours that would
/// become the same are one.
pub(super) fn changes(deltas: &[Delta], held: &RangeSet) -> Vec<HeldChange> {
    let mut changes: Vec<HeldChange> = Vec::new();
    for (delta, range) in deltas.iter().flat_map(|d| held.within(d.range).map(move |range| (d, range))) {
        let joined = changes
            .last_mut()
            .filter(|last| last.range.touches(range) && last.from == delta.from && last.to == delta.to);
        let both = joined.and_then(|last| {
            let range = Range::from_bits(range.family(), last.range.first_bits(), range.last_bits())?;
            Some((last, range))
        });
        match both {
            Some((last, range)) => last.range = range,
            None => changes.push(HeldChange { range, from: delta.from.clone(), to: delta.to.clone() }),
        }
    }
    changes
}

/// The held addresses of all holds, by space.
pub(super) fn addresses(holds: &[Hold]) -> BTreeMap<Name, RangeSet> {
    let mut ranges: BTreeMap<Name, Vec<Range>> = BTreeMap::new();
    for hold in holds {
        ranges.entry(hold.space.clone()).or_default().extend(hold.changes.iter().map(|change| change.range));
    }
    ranges.into_iter().map(|(space, ranges)| (space, ranges.into_iter().collect())).collect()
}

type Key = (HoldKind, Name, Name, Family);

/// Puts new holds in the place of the old ones. A number stands for exactly what was shown
/// under it: a hold that is no longer the same gets another, and keeps its time. Gives the
/// numbers that are new and those that are gone.
pub(super) fn renew(memory: &mut GuardMemory, drafts: Vec<Draft>, now: Timestamp) -> (Vec<u64>, Vec<u64>) {
    let key = |hold: Hold| ((hold.kind, hold.owner.clone(), hold.space.clone(), hold.family), hold);
    let mut old: BTreeMap<Key, Hold> = memory.holds.drain(..).map(key).collect();
    let mut incidents: BTreeMap<(Name, Family), u64> = BTreeMap::new();
    let (mut opened, mut closed) = (Vec::new(), Vec::new());
    for draft in drafts {
        let Draft { kind, reason, owner, space, family, incident, changes } = draft;
        let before = old.remove(&(kind, owner.clone(), space.clone(), family));
        let mut number = before.as_ref().and_then(|hold| hold.incident);
        if incident && number.is_none() {
            number = Some(*incidents.entry((space.clone(), family)).or_insert_with(|| {
                memory.last_incident += 1;
                memory.last_incident
            }));
        }
        let (since, rejected) = before.as_ref().map_or((now, false), |hold| (hold.since, hold.rejected));
        let id = match before {
            Some(hold) if hold.changes == changes => hold.id,
            other => {
                closed.extend(other.map(|hold| hold.id));
                memory.last_id += 1;
                opened.push(memory.last_id);
                memory.last_id
            }
        };
        memory.holds.push(Hold {
            id,
            kind,
            reason,
            owner,
            space,
            family,
            since,
            incident: number.filter(|_| reason == HoldReason::Incident),
            rejected,
            changes,
        });
    }
    memory.holds.sort_by_key(|hold| hold.id);
    closed.extend(old.into_values().map(|hold| hold.id));
    closed.sort_unstable();
    (opened, closed)
}
