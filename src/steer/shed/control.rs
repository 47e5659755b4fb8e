//! The share as a state that moves in steps.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Rules;
use crate::steer::loads::{DEAD_AFTER, Loads};
use crate::table::Name;

/// One list of edges: its first one sheds, the others may receive.
#[derive(Clone, Copy, Debug)]
pub struct ShedSource<'a> {
    /// What it is remembered by.
    pub key: &'a Name,
    /// The edges, the shedding one first.
    pub edges: &'a [Name],
    /// Its traffic, in the unit of loads and capacities.
    pub demand: f64,
}

/// What is remembered from cycle to cycle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShedMemory {
    /// The smoothed delay of each edge, in ms.
    smoothed: BTreeMap<Name, f64>,
    /// What share of each source goes to which edge.
    shares: BTreeMap<Name, BTreeMap<Name, f64>>,
    /// What was given to each edge in the last cycles, the newest first.
    given: Vec<BTreeMap<Name, f64>>,
}

impl ShedMemory {
    /// What share of a source goes to which edge.
    pub fn shares(&self, key: &Name) -> impl Iterator<Item = (&Name, f64)> {
        self.shares.get(key).into_iter().flatten().map(|(edge, share)| (edge, *share))
    }

    /// The smoothed delay of an edge, in ms.
    pub fn smoothed_ms(&self, edge: &Name) -> Option<f64> {
        self.smoothed.get(edge).copied()
    }
}

/// A share that one source wants to give to one edge besides what it gives already.
struct Wish<'a> {
    key: &'a Name,
    edge: &'a Name,
    share: f64,
    demand: f64,
}

/// The shares of the next cycle. `drained` edges receive nothing, at once.
///
/// An edge whose delay is unknown neither sheds more nor receives more; what it shed, or
/// received, is back in three cycles. An edge whose load or capacity is unknown receives no
/// more than it does.
pub fn step(
    rules: &Rules,
    loads: &Loads,
    drained: &BTreeSet<Name>,
    sources: &[ShedSource<'_>],
    memory: &ShedMemory,
) -> ShedMemory {
    let mut next = ShedMemory {
        smoothed: smoothed(rules, loads, memory),
        shares: BTreeMap::new(),
        given: memory.given.clone(),
    };
    let mut wishes = Vec::new();
    for source in sources {
        let mut shares = memory.shares.get(source.key).cloned().unwrap_or_default();
        shares.retain(|edge, _| source.edges.iter().skip(1).any(|other| other == edge));
        shares.retain(|edge, _| !drained.contains(edge));
        shrink(rules, loads, &next, source, &mut shares);
        wishes.extend(wish(rules, loads, drained, &next, source, &shares));
        shares.retain(|_, share| *share > 1e-9);
        next.shares.insert(source.key.clone(), shares);
    }
    grant(rules, loads, &wishes, &mut next);
    next.shares.retain(|_, shares| !shares.is_empty());
    next
}

fn smoothed(rules: &Rules, loads: &Loads, memory: &ShedMemory) -> BTreeMap<Name, f64> {
    let mut smoothed = BTreeMap::new();
    for edge in loads.edges().keys() {
        let before = memory.smoothed_ms(edge);
        let value = match (loads.of(edge).p95_ms(), before) {
            (Some(now), Some(before)) => Some(before + rules.smoothing * (now - before)),
            (now, before) => now.or(before),
        };
        smoothed.extend(value.map(|value| (edge.clone(), value)));
    }
    smoothed
}

/// The delay that counts: smoothed, and known in this cycle.
fn delay(loads: &Loads, memory: &ShedMemory, edge: &Name) -> Option<f64> {
    loads.of(edge).p95_ms().and_then(|_| memory.smoothed_ms(edge))
}

fn shrink(
    rules: &Rules,
    loads: &Loads,
    memory: &ShedMemory,
    source: &ShedSource<'_>,
    shares: &mut BTreeMap<Name, f64>,
) {
    let Some(sender) = source.edges.first() else { return };
    let mut left = match delay(loads, memory, sender) {
        Some(ms) if ms < rules.leave_ms() => rules.decay,
        _ => 0.0,
    };
    for (edge, share) in shares.iter_mut() {
        *share *= remains(loads, sender).min(remains(loads, edge));
        // What a receiver cannot bear goes back as fast as it came.
        let back = match delay(loads, memory, edge) {
            Some(ms) if ms >= rules.threshold_ms || room(rules, loads, edge).is_some_and(|r| r < 0.0) => {
                (rules.gain * rules.urgency(ms) * rules.cap + rules.least).max(rules.decay)
            }
            _ => 0.0,
        };
        let taken = (back + left).min(*share);
        left = (left - (taken - back).max(0.0)).max(0.0);
        *share -= taken;
    }
}

/// Which part of a share is left of an edge that has missed cycles: all of it goes in equal
/// steps.
fn remains(loads: &Loads, edge: &Name) -> f64 {
    let load = loads.of(edge);
    match load.missed {
        _ if load.sample.is_some_and(|sample| sample.p95_ms.is_none()) => 0.0,
        0 => 1.0,
        missed if missed >= DEAD_AFTER => 0.0,
        missed => f64::from(DEAD_AFTER - missed) / f64::from(DEAD_AFTER + 1 - missed),
    }
}

/// What an edge may be given more, without what is on its way; none where that is unknown.
fn room(rules: &Rules, loads: &Loads, edge: &Name) -> Option<f64> {
    let load = loads.of(edge);
    Some(rules.bound * load.capacity()? - load.load()?)
}

fn wish<'a>(
    rules: &Rules,
    loads: &Loads,
    drained: &BTreeSet<Name>,
    memory: &ShedMemory,
    source: &ShedSource<'a>,
    shares: &BTreeMap<Name, f64>,
) -> Option<Wish<'a>> {
    let sender_ms = delay(loads, memory, source.edges.first()?)?;
    let ready = |edge: &&Name| {
        !drained.contains(*edge) && unclaimed(rules, loads, memory, edge).is_some_and(|room| room > 0.0)
    };
    let receivers = source.edges.iter().skip(1).filter(ready);
    let delays = receivers.filter_map(|edge| Some((delay(loads, memory, edge)?, edge)));
    let (receiver_ms, edge) = delays.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(b.1)))?;
    let level = rules.level(sender_ms, receiver_ms);
    let free = rules.cap - shares.values().sum::<f64>();
    let share = (rules.gain * level + rules.least).min(free);
    (level > 0.0 && share > 0.0).then_some(Wish { key: source.key, edge, share, demand: source.demand })
}

/// The room of an edge less what was given to it and does not show in its load yet.
fn unclaimed(rules: &Rules, loads: &Loads, memory: &ShedMemory, edge: &Name) -> Option<f64> {
    let coming: f64 = memory.given.iter().take(rules.lag).filter_map(|given| given.get(edge)).sum();
    room(rules, loads, edge).map(|room| room - coming)
}

/// Gives what was wished for; where an edge has room for less, the same part to each.
fn grant(rules: &Rules, loads: &Loads, wishes: &[Wish<'_>], memory: &mut ShedMemory) {
    let mut asked: BTreeMap<&Name, f64> = BTreeMap::new();
    for wish in wishes {
        *asked.entry(wish.edge).or_default() += wish.share * wish.demand;
    }
    let part = |edge: &Name| {
        let room = unclaimed(rules, loads, memory, edge).unwrap_or(0.0).max(0.0);
        let asked = asked.get(edge).copied().unwrap_or(0.0);
        if asked > room { room / asked } else { 1.0 }
    };
    let parts: BTreeMap<&Name, f64> = asked.keys().map(|edge| (*edge, part(edge))).collect();
    let mut given = BTreeMap::new();
    for wish in wishes {
        let share = wish.share * parts.get(wish.edge).copied().unwrap_or(0.0);
        *given.entry(wish.edge.clone()).or_default() += share * wish.demand;
        let shares = memory.shares.entry(wish.key.clone()).or_default();
        *shares.entry(wish.edge.clone()).or_default() += share;
    }
    memory.given.insert(0, given);
    memory.given.truncate(rules.lag);
}
