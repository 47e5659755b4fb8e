//! The configuration as the rules of the table take it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::SignedDuration;

use super::steering::SteerSettings;
use crate::config::{self, Config, Private};
use crate::table::{
    BuildRules, ClaimSettings, GuardSettings, IngestSettings, Membership, Name, OwnerEdges, PrivateSpace,
    Share, StaticLine, StaticLines, StaticMode,
};

/// All that the rules have to know of a configuration.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) members: BTreeMap<Name, Membership>,
    pub(super) lines: StaticLines,
    pub(super) claims: ClaimSettings,
    pub(super) build: BuildRules,
    pub(super) guard: GuardSettings,
    pub(super) owners: Vec<OwnerEdges>,
    pub(super) steer: SteerSettings,
    pub(super) first_publish: Share,
    ingest: BTreeMap<Name, IngestSettings>,
}

impl Settings {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            members: config
                .bas
                .values()
                .map(|bas| {
                    (bas.name.clone(), Membership { owner: bas.owner().clone(), priority: bas.priority })
                })
                .collect(),
            lines: StaticLines::new(config.statics.iter().map(|line| static_line(config, line)).collect()),
            claims: ClaimSettings {
                after: signed(config.stale.after),
                takeover: signed(config.guard.takeover),
                max_range: config.guard.max_range,
            },
            build: BuildRules {
                private: config
                    .spaces
                    .iter()
                    .map(|(name, space)| (name.clone(), private(space.private)))
                    .collect(),
                cover: config.spaces.iter().map(|(name, space)| (name.clone(), space.cover)).collect(),
            },
            guard: guard(&config.guard),
            owners: owners(config),
            steer: SteerSettings::of(config),
            first_publish: share(config.poll.first_publish),
            ingest: config.bas.values().map(|bas| (bas.name.clone(), ingest(config, bas))).collect(),
        }
    }

    /// How polls of a BAS are taken in.
    pub(super) fn ingest(&self, bas: &Name) -> IngestSettings {
        self.ingest.get(bas).copied().unwrap_or_default()
    }
}

fn ingest(config: &Config, bas: &config::Bas) -> IngestSettings {
    IngestSettings {
        interval: signed(bas.interval.unwrap_or(config.poll.interval)),
        settle: signed(config.guard.settle),
        after: signed(config.stale.after),
    }
}

fn guard(guard: &config::Guard) -> GuardSettings {
    GuardSettings {
        remove: share(guard.remove),
        remove_bas: share(guard.remove_bas),
        moves: share(guard.r#move),
        add: share(guard.add),
        add_bas: share(guard.add_bas),
        ignore_below: guard.ignore_below,
        window: signed(guard.window),
        confirm: guard.confirm,
    }
}

fn static_line(config: &Config, line: &config::StaticLine) -> StaticLine {
    StaticLine {
        space: line.space.clone(),
        range: line.range,
        owner: config.owner_of(line),
        bas: match &line.target {
            config::Target::Bas(name) => Some(name.clone()),
            config::Target::Edges(_) => None,
        },
        mode: match line.mode {
            config::Mode::Fill => StaticMode::Fill,
            config::Mode::Override => StaticMode::Override,
        },
    }
}

fn owners(config: &Config) -> Vec<OwnerEdges> {
    let mut owners = Vec::new();
    for (owner, by_service) in config.edges_by_owner() {
        for (service, edges) in by_service {
            owners.push(OwnerEdges { owner: owner.clone(), service, edges });
        }
    }
    owners
}

fn private(private: Private) -> PrivateSpace {
    match private {
        Private::Publish => PrivateSpace::Publish,
        Private::Skip => PrivateSpace::Skip,
    }
}

/// A share of the configuration as the table's exact one.
pub(super) fn share(share: config::Share) -> Share {
    Share::from_ppm(share.millionths().into())
}

/// A duration as it is added to times. Durations of a configuration are far below the limit.
pub(super) fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
