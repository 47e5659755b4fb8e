//! What only shows when parts of the configuration are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::bas::DEFAULT_SERVICE;
use super::context::Context;
use super::endpoint::Host;
use super::error::Problem;
use super::node::{Entry, Node, Value};
use super::source::Place;
use super::{Bas, Config, Export, Version};
use crate::table::Name;

/// A BAS and where it stands.
struct Placed<'c> {
    bas: &'c Bas,
    entry: &'c Entry,
}

impl Placed<'_> {
    /// Where a key's value stands; the BAS itself where it has none.
    fn place(&self, key: &str) -> Place {
        self.entry.node.get(key).map_or(self.entry.place, |node| node.place)
    }
}

/// Notes what does not fit together.
pub(super) fn check(cx: &mut Context, config: &Config, bas: &[Entry], exports: &[Entry]) {
    let placed =
        bas.iter().filter_map(|entry| Some(Placed { bas: config.bas.get(entry.key.as_str())?, entry }));
    let all: Vec<Placed<'_>> = placed.collect();
    if bas.is_empty() {
        let whole = Place::new(0, 0..0);
        cx.warn(
            Problem::new(whole, "no BAS is configured: nothing is polled")
                .help("expected tables [bas.NAME], or an [inventory]"),
        );
    }
    pairs(cx, &all, bas);
    same_agents(cx, config, &all);
    for placed in &all {
        sources(cx, config, placed);
        vrfs(cx, config, placed);
        port_in_literal(cx, placed);
    }
    notifications(cx, config);
    files(cx, exports);
    services(cx, config, exports);
    limits(cx, config, exports);
}

/// A pair has two BASes or more, all with the same edges, and a name that is no other BAS's.
fn pairs(cx: &mut Context, all: &[Placed<'_>], bas: &[Entry]) {
    let names: BTreeMap<&Name, &Placed<'_>> = all.iter().map(|placed| (&placed.bas.name, placed)).collect();
    let mut pairs: BTreeMap<&Name, Vec<&Placed<'_>>> = BTreeMap::new();
    for placed in all {
        if let Some(pair) = &placed.bas.pair {
            pairs.entry(pair).or_default().push(placed);
        }
    }
    for (pair, members) in pairs {
        let Some((first, others)) = members.split_first() else { continue };
        if others.is_empty() && bas.iter().filter(|entry| says(entry, "pair", pair)).count() == 1 {
            let problem = Problem::new(first.place("pair"), format!("`{pair}` is a pair of one"));
            cx.wrong(problem.help("expected another BAS with the same `pair`, or no `pair`"));
        }
        for other in others.iter().filter(|other| other.bas.edges != first.bas.edges) {
            let message = format!("the BASes of the pair `{pair}` have different edges");
            let problem = Problem::new(other.place("edges"), message);
            cx.wrong(
                problem
                    .help("expected the same: a pair is one owner")
                    .also("the first has its own at", first.place("edges")),
            );
        }
        if let Some(outsider) = names.get(pair).filter(|placed| placed.bas.pair.as_ref() != Some(pair)) {
            let message = format!("`{pair}` is also the name of a BAS outside the pair");
            let problem = Problem::new(first.place("pair"), message);
            cx.wrong(
                problem
                    .help("expected another name: both would be one owner")
                    .also("the BAS stands at", outsider.entry.place),
            );
        }
    }
}

/// Whether a BAS says something of a key, be the rest of it in order or not.
fn says(entry: &Entry, key: &str, wanted: &str) -> bool {
    matches!(entry.node.get(key).map(|node| &node.value), Some(Value::Text(text) | Value::Cell(text)) if text == wanted)
}

/// One agent under two names would list everything twice.
fn same_agents(cx: &mut Context, config: &Config, all: &[Placed<'_>]) {
    let mut seen: BTreeMap<_, Vec<&Placed<'_>>> = BTreeMap::new();
    for placed in all {
        let profile =
            |bas: &Bas| config.snmp.get(&bas.snmp).map(|profile| (&profile.version, &profile.context));
        let earlier = seen.entry(&placed.bas.address).or_default();
        let twin = earlier.iter().find(|other| profile(other.bas) == profile(placed.bas));
        if let Some(twin) = twin {
            let message = format!("`{}` has the same address", twin.bas.name);
            let problem = Problem::new(placed.place("address"), message);
            cx.wrong(
                problem
                    .help("expected another address, or an `snmp` with another context")
                    .also("it stands at", twin.place("address")),
            );
        }
        earlier.push(placed);
    }
}

/// A request cannot leave from an address of the other family.
fn sources(cx: &mut Context, config: &Config, placed: &Placed<'_>) {
    let Some(source) = config.polling(placed.bas).and_then(|polling| polling.source) else { return };
    let six = match &placed.bas.address.host {
        Host::Address(address) => address.is_ipv6(),
        Host::Scoped(..) => true,
        Host::Name(_) => return,
    };
    if six != source.is_ipv6() {
        let place =
            placed.entry.node.get("source").map_or_else(|| placed.place("address"), |node| node.place);
        let message = format!("{} cannot be asked from `source` {source}", placed.bas.address);
        cx.wrong(Problem::new(place, message).help("expected both of one family"));
    }
}

fn vrfs(cx: &mut Context, config: &Config, placed: &Placed<'_>) {
    for (i, vrf) in placed.bas.vrfs.iter().flatten().enumerate() {
        if config.space_of(vrf).is_none() {
            let item = match placed.entry.node.get("vrfs").map(|node| &node.value) {
                Some(Value::List(items)) => items.get(i).map(|item| item.place),
                _ => None,
            };
            let place = item.unwrap_or_else(|| placed.place("vrfs"));
            let warning =
                Problem::new(place, format!("the VRF `{vrf}` belongs to no space: its pools enter no table"));
            cx.warn(warning.help("a [space.NAME] takes it in by its `vrfs`"));
        }
    }
}

/// `2001:db8::1:161` is an address; somebody may have meant a port.
fn port_in_literal(cx: &mut Context, placed: &Placed<'_>) {
    let Some(Node { value: Value::Text(text) | Value::Cell(text), place }) = placed.entry.node.get("address")
    else {
        return;
    };
    if let Some(address) =
        text.strip_suffix(":161").filter(|address| address.contains(':') && !address.starts_with('['))
    {
        let warning = Problem::new(*place, format!("this is the address {text}, port 161"));
        cx.warn(warning.help(format!("a port behind an IPv6 address needs brackets: \"[{address}]:161\"")));
    }
}

/// A notification that anybody may have written is not believed.
fn notifications(cx: &mut Context, config: &Config) {
    if config.notifications.listen.is_empty() {
        return;
    }
    for (name, profile) in &config.snmp {
        let unsigned = matches!(profile.version, Version::V3 { auth: None, .. });
        let place = cx.profiles.get(name.as_str()).copied();
        if let Some(place) = place.filter(|_| unsigned && config.bas.values().any(|bas| bas.snmp == *name)) {
            let message = "notifications of BASes of this profile are refused: they are not signed";
            cx.warn(Problem::new(place, message).help("expected `auth`, here and on the routers"));
        }
    }
}

/// No two exports write one file.
fn files(cx: &mut Context, exports: &[Entry]) {
    let mut seen: BTreeMap<std::path::PathBuf, Place> = BTreeMap::new();
    for entry in exports {
        let groups = entry.node.get("groups").and_then(|groups| groups.get("path"));
        for node in [entry.node.get("path"), groups].into_iter().flatten() {
            let Value::Text(path) = &node.value else { continue };
            let path = cx.resolve_path(Path::new(path));
            if let Some(first) = seen.insert(path, node.place) {
                let problem = Problem::new(node.place, "this file is written already");
                cx.wrong(
                    problem
                        .help("expected a file for each table and for each groups")
                        .also("the first stands at", first),
                );
            }
        }
    }
}

/// An export of a service that nobody has, or of BASes that are not there, is likely a slip.
fn services(cx: &mut Context, config: &Config, exports: &[Entry]) {
    for entry in exports {
        let Some(export) = config.exports.get(entry.key.as_str()) else { continue };
        let place = |key| entry.node.get(key).map_or(entry.place, |node| node.place);
        let known = &*export.service == DEFAULT_SERVICE
            || config.bas.values().any(|bas| bas.edges.contains_key(&export.service));
        if !known {
            let message = format!(
                "no BAS has edges for the service `{}`: all answer with `{DEFAULT_SERVICE}`",
                export.service
            );
            cx.warn(Problem::new(place("service"), message));
        }
        let chosen = config.bas.keys().any(|name| export.only.iter().any(|glob| glob.matches(name)));
        if !export.only.is_empty() && !chosen {
            cx.warn(Problem::new(
                place("only"),
                "this fits no BAS: the export holds nothing but the default edge",
            ));
        }
    }
}

/// What a consumer will not bear: as far as it shows before there is a table.
fn limits(cx: &mut Context, config: &Config, exports: &[Entry]) {
    for entry in exports {
        let Some(export) = config.exports.get(entry.key.as_str()) else { continue };
        let place = |key| entry.node.get(key).map_or(entry.place, |node| node.place);
        let (name, limits) = (export.format.as_str(), export.format.0.limits());
        for warning in limits.warnings(name, groups(config, export), 0) {
            cx.warn(Problem::new(place("format"), warning.to_string()));
        }
        let Some(settles) = limits.settles else { continue };
        let needs =
            format!("expected \"{}s\" or more: so long the consumer of {name} takes", settles.as_secs());
        if export.reload.is_none() && export.min_interval < settles {
            let message = "at this pace the consumer may never take a change up";
            cx.warn(Problem::new(place("min-interval"), message).help(needs.clone()));
        }
        if export.reload.is_none() && export.canary.as_ref().is_some_and(|canary| canary.timeout < settles) {
            let message = "the consumer cannot answer anew in this time";
            cx.warn(Problem::new(place("canary"), message).help(needs));
        }
    }
}

/// How many groups an export has at least: one for each list of edges.
fn groups(config: &Config, export: &Export) -> u64 {
    let default = vec![config.default_edge.clone()];
    let edges = config
        .bas
        .values()
        .filter(|bas| export.takes(&bas.name))
        .filter_map(|bas| bas.edges.get(&export.service).or_else(|| bas.edges.get(DEFAULT_SERVICE)));
    edges.chain([&default]).collect::<BTreeSet<_>>().len() as u64
}
