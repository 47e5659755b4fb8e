//! The configuration: TOML and CSV files, read into a [`Config`] in which nothing can be
//! wrong any more.
//!
//! [`Config::load`] reads the file, what `[inventory]` and `static-file` name, and the
//! secrets. Files become trees of values that know their place (`node`, `rows`); each part
//! of the configuration reads its table key by key (`section`, `value`) and notes every
//! fault with its place; names are checked against what is there (`value::reference`), and
//! what only shows in comparison is checked last (`cross`). A faulty configuration is
//! refused as a whole, with all that is wrong with it ([`ConfigError`]): file, line, column,
//! the line with carets, what was expected. Secrets are in no message, no `Debug`, and not
//! in [`Config::to_toml`].
//!
//! Which descriptors there are depends on a folder that the configuration itself names:
//! whoever has read it calls [`Loaded::check_descriptors`].

mod bas;
mod context;
mod cross;
mod cross_steer;
mod distance;
mod duration;
mod edge;
mod endpoint;
mod environment;
mod error;
mod export;
mod feed;
mod formats;
mod guard;
mod inventory;
mod load;
mod mask;
mod node;
mod notifications;
mod place;
mod poll;
mod print;
mod profile;
mod quantity;
mod region;
mod rows;
mod secret;
mod section;
mod service;
mod source;
mod statics;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod words;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use bas::{Bas, DEFAULT_SERVICE, Descriptor, PoolFilter};
pub use edge::EdgeTraits;
pub use endpoint::{Endpoint, Host};
pub use environment::Environment;
pub use error::{ConfigError, Report};
pub use export::{Canary, Export, GroupsFile, Query};
pub use feed::{Feed, FeedSource, LoadCycle};
pub use formats::{Format, GroupsFormat, TemplateSource};
pub use guard::{Guard, Stale};
pub use load::{Loaded, Loader};
pub use notifications::Notifications;
pub use place::{INTERNET, Private, Space};
pub use poll::{Overrides, Poll};
pub use profile::{Profile, Version};
pub use quantity::Share;
pub use region::Steer;
pub use secret::{Origin, Secret};
pub use service::{Control, Http, Log, LogFormat, LogLevel, Mib, Store};
pub use statics::{Mode, StaticLine, Target};
pub use text::{ContextCommunity, Encoding};

pub use crate::mib::Glob;
use crate::snmp;
use crate::steer::Distances;
use crate::table::{Edge, Name};

/// The keys of the file itself.
const ROOT: &[&str] = &[
    "default-edge",
    "static-file",
    "distance-file",
    "store",
    "poll",
    "guard",
    "stale",
    "snmp",
    "space",
    "edge",
    "load",
    "steer",
    "bas",
    "static",
    "export",
    "inventory",
    "notifications",
    "http",
    "control",
    "mib",
    "log",
];

/// Every table and its keys.
const KEYS: &[(&str, &[&str])] = &[
    ("the file itself", ROOT),
    ("[store]", Store::KEYS),
    ("[poll]", Poll::KEYS),
    ("[guard]", Guard::KEYS),
    ("[stale]", Stale::KEYS),
    ("[bas.NAME]", Bas::KEYS),
    ("[snmp.NAME]", Profile::KEYS),
    ("[space.NAME]", Space::KEYS),
    ("[edge.NAME]", edge::KEYS),
    ("[edge.NAME.load]", Feed::KEYS),
    ("[load]", LoadCycle::KEYS),
    ("[steer.REGION]", Steer::KEYS),
    ("[[static]]", StaticLine::KEYS),
    ("[export.NAME]", Export::KEYS),
    ("[inventory]", inventory::KEYS),
    ("[http]", Http::KEYS),
    ("[notifications]", Notifications::KEYS),
    ("[control]", Control::KEYS),
    ("[mib]", Mib::KEYS),
    ("[log]", Log::KEYS),
    ("`max-range`", guard::MAX_RANGE),
    ("`pools`", PoolFilter::KEYS),
    ("`auth` and `privacy`", Profile::PROTOCOL_KEYS),
    ("a secret", secret::KEYS),
    ("`groups`", Export::GROUPS_KEYS),
    ("`template`", TemplateSource::KEYS),
    ("`canary`", Export::CANARY_KEYS),
    ("a field of a load", Feed::FIELD_KEYS),
    ("`receiving`", Steer::RECEIVING_KEYS),
];

/// A configuration, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The edge for addresses in no entry.
    pub default_edge: Name,
    /// The database.
    pub store: Store,
    /// How routers are polled.
    pub poll: Poll,
    /// Which changes wait.
    pub guard: Guard,
    /// When a BAS is stale.
    pub stale: Stale,
    /// How routers are spoken to, by profile.
    pub snmp: BTreeMap<Name, Profile>,
    /// The address spaces; `internet` is always there.
    pub spaces: BTreeMap<Name, Space>,
    /// The edges.
    pub edges: BTreeMap<Name, Edge>,
    /// What steering has to know of each edge.
    pub traits: BTreeMap<Name, EdgeTraits>,
    /// How often the edges' loads are read.
    pub load: LoadCycle,
    /// How regions are steered.
    pub steer: BTreeMap<Name, Steer>,
    /// The file of distances.
    pub distance_file: Option<PathBuf>,
    /// What it says.
    pub matrix: Distances,
    /// The routers, from wherever they were listed.
    pub bas: BTreeMap<Name, Bas>,
    /// The static lines, those of the static file last.
    pub statics: Vec<StaticLine>,
    /// What is published.
    pub exports: BTreeMap<Name, Export>,
    /// Traps and informs that make their BAS due.
    pub notifications: Notifications,
    /// The API.
    pub http: Http,
    /// The control socket.
    pub control: Control,
    /// Descriptors besides the built-in ones.
    pub mib: Mib,
    /// The log.
    pub log: Log,
}

/// How one router is polled: what it, its profile and `[poll]` say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polling {
    /// From one poll to the next.
    pub interval: Duration,
    /// How far a poll may go.
    pub limits: snmp::Limits,
    /// The most requests a second.
    pub pps: Option<u32>,
    /// The local address that requests are sent from.
    pub source: Option<IpAddr>,
    /// Addresses besides the one asked that answers are taken from.
    pub reply_from: Vec<IpAddr>,
    /// The encoding of pool names that are not UTF-8.
    pub encoding: Option<Encoding>,
    /// Who asks; none where the configuration was loaded without its secrets.
    pub credentials: Option<snmp::Credentials>,
    /// The context that the poll begins in.
    pub context: snmp::Context,
    /// How the community of another context is made.
    pub context_community: Option<ContextCommunity>,
}

impl Config {
    /// How a BAS of this configuration is polled; none where its profile is not in it.
    pub fn polling(&self, bas: &Bas) -> Option<Polling> {
        let profile = self.snmp.get(&bas.snmp)?;
        let base = self.polling_by(profile);
        let own = &bas.overrides;
        Some(Polling {
            interval: bas.interval.unwrap_or(base.interval),
            limits: own.over(base.limits),
            pps: own.pps.or(base.pps),
            source: own.source.or(base.source),
            reply_from: own.reply_from.clone().unwrap_or(base.reply_from),
            encoding: bas.encoding.or(base.encoding),
            ..base
        })
    }

    /// How a router that is not in the configuration is polled by a profile of it.
    pub fn polling_by(&self, profile: &Profile) -> Polling {
        let own = &profile.overrides;
        Polling {
            interval: self.poll.interval,
            limits: own.over(self.poll.limits),
            pps: own.pps.or(self.poll.pps),
            source: own.source.or(self.poll.source),
            reply_from: own.reply_from.clone().unwrap_or_default(),
            encoding: profile.encoding,
            credentials: profile.credentials(),
            context: profile.context.clone(),
            context_community: match &profile.version {
                Version::V2c { context_community, .. } => *context_community,
                Version::V3 { .. } => None,
            },
        }
    }

    /// The space that a VRF belongs to.
    pub fn space_of(&self, vrf: &str) -> Option<&Name> {
        self.spaces.iter().find(|(_, space)| space.vrfs.iter().any(|v| &**v == vrf)).map(|(name, _)| name)
    }

    /// Who owns a static line's addresses: its BAS's owner, or `edges:` and their names.
    pub fn owner_of(&self, line: &StaticLine) -> Name {
        match &line.target {
            Target::Bas(name) => self.bas.get(name).map_or(name, Bas::owner).clone(),
            Target::Edges(edges) => Target::owner_of_edges(edges),
        }
    }

    /// The edges of every owner by service: of pairs, of BASes, of static lines that name
    /// edges.
    pub fn edges_by_owner(&self) -> BTreeMap<Name, BTreeMap<Name, Vec<Name>>> {
        let routers = self.bas.values().map(|bas| (bas.owner().clone(), bas.edges.clone()));
        let lines = self.statics.iter().filter_map(|line| match &line.target {
            Target::Edges(edges) => {
                Some((self.owner_of(line), [(DEFAULT_SERVICE.into(), edges.clone())].into()))
            }
            Target::Bas(_) => None,
        });
        routers.chain(lines).collect()
    }

    /// The configuration in force as TOML: defaults and inventory included, secrets that
    /// stand in the file as stars. Reading it gives the same configuration, but for those.
    pub fn to_toml(&self) -> String {
        let mut out = print::Writer::default();
        out.string("default-edge", &self.default_edge);
        if let Some(file) = &self.distance_file {
            out.path("distance-file", file);
        }
        self.store.write(&mut out);
        self.poll.write(&mut out);
        self.guard.write(&mut out);
        self.stale.write(&mut out);
        self.snmp.iter().for_each(|(name, profile)| profile.write(name, &mut out));
        self.spaces.iter().for_each(|(name, space)| space.write(name, &mut out));
        self.edges.values().for_each(|edge| edge::write(edge, self.traits.get(&edge.name), &mut out));
        self.load.write(&mut out);
        self.steer.iter().for_each(|(region, steer)| steer.write(region, &mut out));
        self.bas.values().for_each(|bas| bas.write(&mut out));
        self.statics.iter().for_each(|line| line.write(&mut out));
        self.exports.iter().for_each(|(name, export)| export.write(name, &mut out));
        self.notifications.write(&mut out);
        self.http.write(&mut out);
        self.control.write(&mut out);
        self.mib.write(&mut out);
        self.log.write(&mut out);
        out.finish()
    }
}
