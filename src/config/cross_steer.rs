//! What of steering only shows when parts of the configuration are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::error::Problem;
use super::node::Entry;
use super::{Config, DEFAULT_SERVICE, EdgeTraits, Feed, words};
use crate::format::Carries;
use crate::steer::{Distances, Policy};
use crate::table::Name;

impl Config {
    /// The region of each owner: that of its BASes, else that of the first edge of its default
    /// list.
    pub fn regions(&self) -> BTreeMap<Name, Name> {
        let own = self.bas.values().filter_map(|bas| Some((bas.owner().clone(), bas.region.clone()?)));
        let own: BTreeMap<Name, Name> = own.collect();
        let of_first = |lists: &BTreeMap<Name, Vec<Name>>| {
            let first = lists.get(DEFAULT_SERVICE)?.first()?;
            self.edges.get(first)?.region.clone()
        };
        let lists = self.edges_by_owner();
        let region = |owner: &Name, lists| own.get(owner).cloned().or_else(|| of_first(lists));
        lists.iter().filter_map(|(owner, lists)| Some((owner.clone(), region(owner, lists)?))).collect()
    }

    /// How far the edges of each owner's lists are: as its BASes say, else as the file of
    /// distances says of them or of the owner, else by their places.
    pub fn distances(&self) -> Distances {
        let mut all = Distances::default();
        for bas in self.bas.values() {
            let edges: BTreeSet<&Name> = bas.edges.values().flatten().collect();
            for edge in edges {
                let places = || bas.place.zip(self.traits.get(edge)?.place);
                let distance = bas
                    .distance
                    .get(edge)
                    .copied()
                    .or_else(|| self.matrix.amount(&bas.name, edge))
                    .or_else(|| self.matrix.amount(bas.owner(), edge))
                    .or_else(|| places().and_then(|(from, to)| from.delay(to)));
                if let Some(distance) = distance.filter(|_| all.of(bas.owner(), edge).is_none()) {
                    all.set(bas.owner().clone(), edge.clone(), distance);
                }
            }
        }
        all
    }
}

/// Notes what does not fit together.
pub(super) fn check(cx: &mut Context, config: &Config, regions: &[Entry], exports: &[Entry]) {
    let of_owner = config.regions();
    for entry in regions {
        let Some(steer) = config.steer.get(entry.key.as_str()) else { continue };
        let place = entry.node.get("policy").map_or(entry.place, |node| node.place);
        let owners = of_owner.iter().filter(|(_, region)| region.as_str() == entry.key);
        let owners: BTreeSet<&Name> = owners.map(|(owner, _)| owner).collect();
        if owners.is_empty() {
            let known: BTreeSet<&str> = of_owner.values().map(Name::as_str).collect();
            let problem = Problem::new(entry.place, "no BAS is in this region: nothing is steered by it");
            cx.warn(problem.help(words::expected_near(&entry.key, known.iter().copied())));
            continue;
        }
        if let Some(problem) = missing(config, &steer.policy, &owners) {
            cx.warn(
                Problem::new(place, problem)
                    .help("an [edge.NAME.load] tells it; until then static weights are in force"),
            );
        }
    }
    if config.steer.values().any(|steer| weighs(&steer.policy)) {
        carriers(cx, config, exports);
    }
}

/// Whether a policy makes weights that differ within a group.
const fn weighs(policy: &Policy) -> bool {
    !matches!(policy, Policy::Fixed | Policy::Nearest | Policy::RoundRobin | Policy::Shed(_))
}

/// What a policy needs of edges and nobody tells.
fn missing(config: &Config, policy: &Policy, owners: &BTreeSet<&Name>) -> Option<String> {
    let tells: fn(&Feed) -> bool = match policy {
        Policy::Statistics | Policy::Greedy | Policy::LoadNear(_) | Policy::NearLoad(_) => Feed::tells_load,
        Policy::Plan(_) => Feed::tells_capacity,
        Policy::Shed(_) => |feed| feed.tells_delay() && feed.tells_load() && feed.tells_capacity(),
        _ => return None,
    };
    let what = match policy {
        Policy::Plan(_) => "capacity",
        Policy::Shed(_) => "delay, load and capacity",
        _ => "load",
    };
    let lists = config.edges_by_owner();
    let lists =
        lists.iter().filter(|(owner, _)| owners.contains(owner)).flat_map(|(_, lists)| lists.values());
    let edges: BTreeSet<&Name> = lists.filter(|list| list.len() > 1).flatten().collect();
    let feed = |edge: &Name| config.traits.get(edge).and_then(|traits: &EdgeTraits| traits.feed.as_ref());
    let silent = edges.into_iter().filter(|edge| !feed(edge).is_some_and(tells));
    let silent: Vec<&str> = silent.map(Name::as_str).collect();
    match silent.as_slice() {
        [] => None,
        names => {
            let policy = policy.name();
            Some(format!("`{policy}` needs the {what} of {}, which nothing tells", names.join(", ")))
        }
    }
}

/// Exports that the weights do not reach.
fn carriers(cx: &mut Context, config: &Config, exports: &[Entry]) {
    for entry in exports {
        let Some(export) = config.exports.get(entry.key.as_str()) else { continue };
        let place = |key| entry.node.get(key).map_or(entry.place, |node| node.place);
        let (format, carries, key) = match &export.groups {
            Some(groups) => (groups.format.as_str(), groups.format.0.carries(), "groups"),
            None => (export.format.as_str(), export.format.0.carries(), "format"),
        };
        let (message, help) = match carries {
            Carries::Weights => continue,
            Carries::First => (
                format!("{format} carries no weights: a steered group is answered with its first edge"),
                "gdnsd, pdns, haproxy and json groups carry weights",
            ),
            Carries::Order => (
                format!("{format} carries the order of edges and no weights"),
                "the consumer takes the first that is up",
            ),
            Carries::Tokens => (
                format!("{format} names groups alone: weights and order of their edges reach nobody"),
                "a `groups` file says what each is answered with",
            ),
        };
        cx.warn(Problem::new(place(key), message).help(help));
    }
}
