//! The groups of all owners, steered.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Policy;
use super::fixed::{Configured, lists};
use super::region::{Decided, ListReport, Region, RegionReport, ShedTo};
use super::shed::{ShedMemory, ShedSource, step};
use super::unit::{Known, Unit, units};
use super::weights::all_on;
use crate::table::{Entry, GroupEdge, GroupError, Groups, Name, OwnerEdges, Part, Table, Token};

/// What steering gives to a generation.
#[derive(Clone, Debug, Default)]
pub struct Steered {
    /// The groups, and which of them answers for which owner and entry.
    pub groups: Groups,
    /// What is remembered for the next cycle of regions that shed.
    pub shed: BTreeMap<Name, ShedMemory>,
    /// What was decided, for people.
    pub regions: Vec<RegionReport>,
}

/// The groups of all owners: of those in a region by its policy, of all others as
/// [`super::fixed`] has them. Owners that belong to several regions are steered by the first.
///
/// The first of the `tables` is what is published; the others are what is kept beneath it, whose
/// owners need groups as well.
///
/// # Errors
/// Where an owner has two different lists for one service.
pub fn steer(
    configured: Configured<'_>,
    previous: &Groups,
    tables: &[&Table],
    regions: &[Region],
    known: Known<'_>,
    shed: &BTreeMap<Name, ShedMemory>,
) -> Result<Steered, GroupError> {
    let lists = lists(configured, previous, tables);
    let mut scopes: BTreeMap<(&Name, &Name), String> = BTreeMap::new();
    let mut plans = Vec::new();
    for (at, region) in regions.iter().enumerate().filter(|(_, r)| !matches!(r.policy, Policy::Fixed)) {
        let before = regions.iter().take(at);
        let own = |list: &&OwnerEdges| {
            region.owners.contains(&list.owner) && !before.clone().any(|r| r.owners.contains(&list.owner))
        };
        let own: Vec<&OwnerEdges> = lists.iter().filter(own).collect();
        let units = units(&region.name, &region.policy, &own, known, previous);
        for unit in &units {
            scopes.extend(unit.lists.iter().map(|l| ((&l.owner, &l.service), unit.scope.clone())));
        }
        plans.push((region, units));
    }
    let mut shares = Shares::default();
    for (region, units) in &plans {
        shares.step(region, units, known, shed);
    }
    let scope = |owner, service| scopes.get(&(owner, service)).map_or("", String::as_str);
    let mut scoped: Vec<(&OwnerEdges, &str)> =
        lists.iter().map(|list| (list, scope(&list.owner, &list.service))).collect();
    scoped.extend(shares.targets.iter().map(|target| (&target.list, target.scope.as_str())));
    let mut steered = Steered { groups: Groups::scoped(&scoped)?, ..Steered::default() };
    for (region, units) in &plans {
        let decided = region.decide(units, known);
        let report = apply(region, units, decided, known, &shares, &mut steered.groups);
        steered.regions.push(report);
    }
    shares.apply(&plans, tables.first().copied(), &mut steered);
    Ok(steered)
}

/// Writes a region's weights into its groups.
fn apply(
    region: &Region,
    units: &[Unit<'_>],
    decided: Decided,
    known: Known<'_>,
    shares: &Shares,
    groups: &mut Groups,
) -> RegionReport {
    let mut reports = Vec::new();
    for (unit, (weights, state)) in units.iter().zip(decided.units) {
        let edges = region.ordered(unit, &weights);
        let key = |list: &&OwnerEdges| (list.owner.clone(), list.service.clone());
        let token = unit.lists.first().and_then(|list| groups.of_owner.get(&key(list))).cloned();
        if let Some(group) = token.as_ref().and_then(|token| groups.groups.get_mut(token)) {
            group.edges.clone_from(&edges);
        }
        reports.push(ListReport {
            owners: unit.lists.iter().map(|list| list.owner.clone()).collect(),
            service: unit.service.clone(),
            group: token,
            state,
            unknown: region.unknown(unit, known),
            edges,
            shed: shares.of(unit),
        });
    }
    RegionReport {
        region: region.name.clone(),
        policy: region.policy.name(),
        lists: reports,
        plan: decided.plan,
        failure: decided.failure,
    }
}

/// A group that entries are shed to: the receiver before all others.
struct Target {
    /// What its unit is remembered by.
    key: Name,
    receiver: Name,
    share: f64,
    scope: String,
    /// Under an owner of its own, since groups are made of owners' lists.
    list: OwnerEdges,
}

#[derive(Default)]
struct Shares {
    memory: BTreeMap<Name, ShedMemory>,
    targets: Vec<Target>,
}

impl Shares {
    fn step(
        &mut self,
        region: &Region,
        units: &[Unit<'_>],
        known: Known<'_>,
        shed: &BTreeMap<Name, ShedMemory>,
    ) {
        let Policy::Shed(rules) = &region.policy else { return };
        let keys: Vec<(Name, Vec<Name>)> = units.iter().map(|unit| (key(unit), in_service(unit))).collect();
        let source = |((key, edges), unit)| {
            let unit: &Unit<'_> = unit;
            ShedSource { key, edges, demand: unit.demand }
        };
        let sources: Vec<ShedSource<'_>> =
            keys.iter().map(|(key, edges)| (key, edges.as_slice())).zip(units).map(source).collect();
        let before = shed.get(&region.name).cloned().unwrap_or_default();
        let memory = match known.moving {
            true => step(rules, known.loads, known.drained, &sources, &before),
            false => before,
        };
        for ((key, open), unit) in keys.iter().zip(units) {
            for (receiver, share) in memory.shares(key).filter(|(receiver, _)| open.contains(receiver)) {
                self.targets.push(target(key, unit, receiver, share));
            }
        }
        self.memory.insert(region.name.clone(), memory);
    }

    fn of(&self, unit: &Unit<'_>) -> Vec<ShedTo> {
        let key = key(unit);
        let own = self.targets.iter().filter(|target| target.key == key);
        own.map(|target| ShedTo { edge: target.receiver.clone(), share: target.share }).collect()
    }

    /// Sets the weights of the receivers' groups, and divides the entries.
    fn apply(self, plans: &[(&Region, Vec<Unit<'_>>)], table: Option<&Table>, steered: &mut Steered) {
        let mut parts: BTreeMap<Name, Vec<(Name, f64, Token)>> = BTreeMap::new();
        for target in self.targets {
            let owner = (target.list.owner, target.list.service);
            let Some(token) = steered.groups.of_owner.remove(&owner) else { continue };
            if let Some(group) = steered.groups.groups.get_mut(&token) {
                let weights = all_on(0, target.list.edges.len());
                let edges = target.list.edges.into_iter().zip(weights);
                group.edges = edges.map(|(name, weight)| GroupEdge { name, weight }).collect();
            }
            parts.entry(target.key).or_default().push((target.receiver, target.share, token));
        }
        let mut entries: BTreeMap<&Name, Vec<&Entry>> = BTreeMap::new();
        if !parts.is_empty() {
            for entry in table.into_iter().flat_map(Table::entries) {
                entries.entry(&entry.owner).or_default().push(entry);
            }
        }
        let shedding = plans.iter().filter(|(region, _)| matches!(region.policy, Policy::Shed(_)));
        for unit in shedding.flat_map(|(_, units)| units) {
            let Some(receivers) = parts.get(&key(unit)) else { continue };
            let own = unit.lists.iter().filter_map(|list| entries.get(&list.owner)).flatten().copied();
            let part = Arc::new(Part::new(own, receivers.iter().cloned()));
            for list in &unit.lists {
                let key = (list.owner.clone(), list.service.clone());
                steered.groups.shed.insert(key, Arc::clone(&part));
            }
        }
        steered.shed = self.memory;
    }
}

/// What a unit is remembered by. A newline is in no name.
fn key(unit: &Unit<'_>) -> Name {
    let edges: Vec<&str> = unit.edges.iter().map(Name::as_str).collect();
    Name::from(format!("{}\n{}\n{}", unit.scope, unit.service, edges.join("\n")))
}

fn in_service(unit: &Unit<'_>) -> Vec<Name> {
    unit.open_places().map(|(_, edge)| edge.clone()).collect()
}

fn target(key: &Name, unit: &Unit<'_>, receiver: &Name, share: f64) -> Target {
    let others = unit.edges.iter().filter(|edge| *edge != receiver);
    let edges = std::iter::once(receiver).chain(others).cloned().collect();
    Target {
        key: key.clone(),
        receiver: receiver.clone(),
        share,
        scope: unit.scope.clone(),
        list: OwnerEdges {
            owner: Name::from(format!("{key}\n{receiver}")),
            service: unit.service.clone(),
            edges,
        },
    }
}
