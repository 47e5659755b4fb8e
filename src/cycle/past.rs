//! What was: history, differences, past answers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::archive::Archive;
use super::operation::{Answer, DiffRequest, HistoryRequest, LookupRequest, Operation, Reply};
use super::perform::json;
use super::shaped::{some, word};
use super::shapes::{
    ActShape, ChangeShape, ChangedShape, DiffShape, GenerationShape, GroupChangeShape, HistoryShape,
    HourShape, LifetimeShape, OwnedShape, OwnerChangeShape, PoolShape, Problem, ShedChangeShape,
};
use super::state::{State, export};
use crate::address::Range;
use crate::store::{Lifetime, Past, Remembered, Topic, Used};
use crate::table::{Change, Entry, Group, Groups, Name, Token};

impl State {
    /// Answers what needs the store, but changes nothing in it; nothing where an operation
    /// does.
    pub async fn answer_from(
        &self,
        archive: &mut impl Archive,
        operation: &Operation,
        now: Timestamp,
    ) -> Option<Reply> {
        Some(match operation {
            Operation::Diff(request) => self.diff(archive, request).await.and_then(|shape| json(&shape)),
            Operation::Explain(request) => {
                self.explain(archive, request, now).await.and_then(|shape| json(&shape))
            }
            Operation::Export(request) => {
                let generation = request.generation.unwrap_or(self.snapshot.generation);
                let past = archive.table_at(generation).await.map_err(Problem::from);
                past.and_then(|past| export(&self.past(past), request, &self.config)).map(Answer::File)
            }
            Operation::History(request) => match &request.of {
                Some(of) => self.became(archive, of).await.and_then(|shape| json(&shape)),
                None => generations(archive, request).await.and_then(|shape| json(&shape)),
            },
            Operation::Lookup(request) => {
                let past = self.asked(archive, request, now).await;
                past.and_then(|past| self.look_up(&self.past(past), request)).and_then(|found| json(&found))
            }
            _ => return None,
        })
    }

    /// What was published at the generation, or the time, that a request names.
    async fn asked(
        &self,
        archive: &mut impl Archive,
        request: &LookupRequest,
        now: Timestamp,
    ) -> Result<Past, Problem> {
        let Some(at) = request.at else {
            let generation = request.generation.unwrap_or(self.snapshot.generation);
            return Ok(archive.table_at(generation).await?);
        };
        if request.generation.is_some() {
            let detail = "a time and a generation were given; one of them is enough";
            return Err(Problem::new(400, "bad-request", "not looked up", detail));
        }
        if at > now {
            return Err(Problem::new(400, "future", "not looked up", &format!("{at} is still to come")));
        }
        let newest = archive.generation_at(at).await?;
        let past = archive.table_at(newest).await?;
        let shown = self.shown.is_some_and(|first| past.generation >= first);
        match past.committed {
            Some(committed) if committed <= at && shown => Ok(past),
            Some(committed) if shown => {
                let detail = format!("history is kept since {committed}, of generation {}", past.generation);
                Err(Problem::new(404, "no-generation", "nothing is known of that time", &detail))
            }
            _ => {
                Err(Problem::new(404, "no-generation", "nothing was published at that time", &at.to_string()))
            }
        }
    }

    async fn diff(&self, archive: &mut impl Archive, request: &DiffRequest) -> Result<DiffShape, Problem> {
        let newest = self.snapshot.generation;
        let to = request.to.unwrap_or(newest);
        let from = request.from.unwrap_or(to.saturating_sub(1));
        let changes = archive.changes_between(from, to).await?;
        let (before, after) = (archive.groups_at(from).await?, archive.groups_at(to).await?);
        let ChangedShape { added, removed, altered } = ChangedShape::of(&changes);
        let changes = changes.iter().map(change_shape).collect();
        let (groups, owners) = (group_changes(&before, &after), owner_changes(&before, &after));
        let shed = shed_changes(&before, &after);
        Ok(DiffShape { from, to, added, removed, altered, changes, groups, owners, shed })
    }

    async fn became(&self, archive: &mut impl Archive, of: &str) -> Result<HistoryShape, Problem> {
        let (topic, used) = match of.parse::<Range>() {
            Ok(range) => (Topic::Range(range), Used::default()),
            Err(_) => {
                let name = Name::from(of);
                let used = archive.used(&name).await?;
                (Topic::Name(name), used)
            }
        };
        let entries = archive.history(&topic).await?;
        if let Topic::Name(name) = &topic
            && entries.is_empty()
            && !self.config.bas.values().any(|bas| bas.name == *name || bas.owner() == name)
        {
            let detail = format!("`{of}` is no address, no prefix, and no BAS that is or was in the table");
            return Err(Problem::new(404, "unknown-bas", "nothing is known of that", &detail));
        }
        Ok(HistoryShape {
            of: of.to_owned(),
            entries: entries.iter().map(lifetime_shape).collect(),
            hours: used.hours.iter().filter_map(hour_shape).collect(),
            pools: used.pools.iter().map(pool_shape).collect(),
        })
    }
}

async fn generations(
    archive: &mut impl Archive,
    request: &HistoryRequest,
) -> Result<Vec<GenerationShape>, Problem> {
    let generations = archive.generations(request.limit).await?;
    let oldest = generations.last().map_or(0, |generation| generation.number);
    let mut acts: BTreeMap<u64, Vec<ActShape>> = BTreeMap::new();
    for remembered in archive.acts_since(oldest).await? {
        acts.entry(remembered.generation).or_default().push(act_shape(&remembered));
    }
    let shape = |generation: crate::store::Generation| GenerationShape {
        generation: generation.number,
        committed: generation.committed,
        entries: generation.entries,
        added: generation.added,
        removed: generation.removed,
        altered: generation.altered,
        groups: generation.groups,
        acts: acts.remove(&generation.number).unwrap_or_default(),
    };
    Ok(generations.into_iter().map(shape).collect())
}

fn act_shape(Remembered { act, .. }: &Remembered) -> ActShape {
    ActShape {
        at: act.at,
        kind: word(&act.kind),
        by: act.by.to_string(),
        reason: some(&act.reason),
        detail: act.detail.clone(),
    }
}

fn lifetime_shape(lifetime: &Lifetime) -> LifetimeShape {
    let entry = &lifetime.entry;
    LifetimeShape {
        space: entry.space.to_string(),
        family: entry.range.family().number(),
        first: entry.range.first().to_string(),
        last: entry.range.last().to_string(),
        owned: owned_shape(entry),
        from_generation: lifetime.from,
        from: lifetime.began,
        to_generation: lifetime.to,
        to: lifetime.ended,
    }
}

fn owned_shape(entry: &Entry) -> OwnedShape {
    OwnedShape {
        owner: entry.owner.to_string(),
        bas: entry.bas.as_ref().map(ToString::to_string),
        pool: entry.pool.text().to_owned(),
        pool_hex: entry.pool.hex(),
        vrf: entry.vrf.to_string(),
        origin: word(&entry.origin()),
    }
}

fn hour_shape(hour: &crate::table::HourUse) -> Option<HourShape> {
    let begin = Timestamp::from_second(hour.hour.checked_mul(3600)?).ok()?;
    Some(HourShape { hour: begin, size: hour.size.to_string(), used: hour.used.to_string() })
}

/// How much of a pool is in use, for JSON.
pub(super) fn pool_shape(pool: &crate::table::PoolUse) -> PoolShape {
    PoolShape {
        vrf: pool.vrf.to_string(),
        pool: pool.pool.text().to_owned(),
        pool_hex: pool.pool.hex(),
        at: pool.at,
        size: pool.size.to_string(),
        used: pool.used.to_string(),
        peak: pool.peak.to_string(),
    }
}

/// A change of an entry, for JSON.
pub(super) fn change_shape(change: &Change) -> ChangeShape {
    let kind = match change {
        Change::Added(_) => "added",
        Change::Altered { .. } => "altered",
        Change::Removed(_) => "removed",
    };
    let range = change.range();
    ChangeShape {
        kind: kind.to_owned(),
        space: change.space().to_string(),
        family: range.family().number(),
        first: range.first().to_string(),
        last: range.last().to_string(),
        before: change.before().map(owned_shape),
        after: change.after().map(owned_shape),
    }
}

/// The groups that differ, by token.
pub(super) fn group_changes(before: &Groups, after: &Groups) -> Vec<GroupChangeShape> {
    let tokens: BTreeSet<&Token> = before.groups.keys().chain(after.groups.keys()).collect();
    let edges = |group: Option<&Group>| {
        group.map(|group| group.edges.iter().map(|edge| edge.name.to_string()).collect::<Vec<_>>())
    };
    let weights = |group: Option<&Group>| {
        group.into_iter().flat_map(|group| &group.edges).map(|edge| edge.weight).collect::<Vec<_>>()
    };
    let differs = |token: &Token| {
        let (before, after) = (before.groups.get(token), after.groups.get(token));
        (before != after).then(|| GroupChangeShape {
            token: token.to_string(),
            before: edges(before),
            after: edges(after),
            weights_before: weights(before),
            weights_after: weights(after),
        })
    };
    tokens.into_iter().filter_map(differs).collect()
}

/// The owners of whose entries another part is shed.
fn shed_changes(before: &Groups, after: &Groups) -> Vec<ShedChangeShape> {
    let keys: BTreeSet<&(Name, Name)> = before.shed.keys().chain(after.shed.keys()).collect();
    let shares = |groups: &Groups, key: &(Name, Name)| {
        let receivers = groups.shed.get(key).into_iter().flat_map(|part| part.receivers());
        receivers.map(|(edge, share, _)| (edge.to_string(), share)).collect::<BTreeMap<_, _>>()
    };
    let differing = keys.into_iter().filter(|key| before.shed.get(*key) != after.shed.get(*key));
    differing
        .map(|key| ShedChangeShape {
            owner: key.0.to_string(),
            service: key.1.to_string(),
            before: shares(before, key),
            after: shares(after, key),
        })
        .collect()
}

/// The owners that another group answers for.
pub(super) fn owner_changes(before: &Groups, after: &Groups) -> Vec<OwnerChangeShape> {
    let keys: BTreeSet<&(Name, Name)> = before.of_owner.keys().chain(after.of_owner.keys()).collect();
    let token = |groups: &Groups, key: &(Name, Name)| groups.of_owner.get(key).map(ToString::to_string);
    let differs = |key: &(Name, Name)| {
        let (before, after) = (token(before, key), token(after, key));
        let (owner, service) = (key.0.to_string(), key.1.to_string());
        (before != after).then_some(OwnerChangeShape { owner, service, before, after })
    };
    keys.into_iter().filter_map(differs).collect()
}
