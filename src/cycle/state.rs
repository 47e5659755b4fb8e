//! What is known at one moment, and what may be read from it: the same for the process that
//! owns the store and for a command that only reads it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::exports::{export_shape, published_shape};
use super::operation::{Answer, ExportRequest, LookupRequest, TemplateRequest};
use super::settings::Settings;
use super::shaped::{addresses, conflict_shape, entry_shape, held_shape, some, word};
use super::shapes::{
    BasShape, ChangedShape, ConflictShape, DrainShape, HeldShape, LookupShape, PinShape, Problem,
    ProgressShape, StatusShape, TableShape, TwinsShape,
};
use super::status_shapes::notifications_shape;
use super::steering::Steering;
use crate::config::{self, Config, DEFAULT_SERVICE};
use crate::format::groups::{BadDomain, Context};
use crate::format::{Scope, Stamp, Template, View, ViewError, by_name, default_group};
use crate::publish::{Export, Published, Standing};
use crate::store::{Loaded, Past};
use crate::table::{
    Conflict, Drain, Drains, Fleet, GuardMemory, Hold, Membership, Memory, Name, Pin, PinKind, Snapshot,
    Table, Twins, build, claims, diff, twins,
};
use crate::trap::Tally;

/// What is known at one moment.
#[derive(Clone, Debug)]
pub struct State {
    /// The configuration in force.
    pub config: Arc<Config>,
    /// Its exports.
    pub exports: Arc<Vec<Export>>,
    /// What is published.
    pub snapshot: Arc<Snapshot>,
    /// The table as polls and the guard have it. It is what is published, unless something is
    /// pinned.
    pub table: Arc<Table>,
    /// What is pinned: the ranges that are published instead.
    pub pin: Option<(Pin, Arc<Table>)>,
    /// The drained edges.
    pub drains: Drains,
    /// The first generation that was published.
    pub shown: Option<u64>,
    /// What is remembered per BAS.
    pub memories: BTreeMap<Name, Memory>,
    /// What is held.
    pub guard: GuardMemory,
    /// What overlaps.
    pub conflicts: Arc<Vec<Conflict>>,
    /// What became of the last publication, by export.
    pub published: BTreeMap<Name, Published>,
    /// What is remembered of those before.
    pub standings: BTreeMap<Name, Standing>,
    /// What was counted of notifications, where they are listened for.
    pub notifications: Option<Arc<Tally>>,
    /// What is known of the edges' loads.
    pub steering: Steering,
}

impl State {
    /// What a store holds, under a configuration.
    pub fn of(config: Arc<Config>, exports: Arc<Vec<Export>>, loaded: Loaded) -> Self {
        let table = Arc::new(loaded.table);
        let pin = loaded.pinned.map(|(pin, ranges)| (pin, Arc::new(ranges)));
        let snapshot = Snapshot {
            session: loaded.session,
            generation: loaded.generation,
            committed: loaded.committed.unwrap_or(Timestamp::UNIX_EPOCH),
            filled: loaded.filled,
            table: Arc::clone(pin.as_ref().map_or(&table, |(_, ranges)| ranges)),
            groups: Arc::new(loaded.groups),
            edges: Arc::new(config.edges.clone()),
            default_edge: config.default_edge.clone(),
        };
        Self {
            config,
            exports,
            snapshot: Arc::new(snapshot),
            table,
            pin,
            drains: loaded.drains,
            shown: loaded.shown,
            memories: loaded.memories,
            guard: loaded.guard,
            conflicts: Arc::default(),
            published: BTreeMap::new(),
            standings: BTreeMap::new(),
            notifications: None,
            steering: Steering::of(loaded.steering.as_deref()),
        }
    }

    /// All but what is remembered per BAS: cheap, whatever the fleet.
    pub fn without_memories(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
            exports: Arc::clone(&self.exports),
            snapshot: Arc::clone(&self.snapshot),
            table: Arc::clone(&self.table),
            pin: self.pin.clone(),
            drains: self.drains.clone(),
            shown: self.shown,
            memories: BTreeMap::new(),
            guard: self.guard.clone(),
            conflicts: Arc::clone(&self.conflicts),
            published: self.published.clone(),
            standings: self.standings.clone(),
            notifications: self.notifications.clone(),
            steering: self.steering.clone(),
        }
    }

    /// Puts another configuration in force.
    pub(super) fn reconfigure(&mut self, config: Arc<Config>, exports: Arc<Vec<Export>>) {
        self.snapshot = Arc::new(Snapshot {
            edges: Arc::new(config.edges.clone()),
            default_edge: config.default_edge.clone(),
            ..(*self.snapshot).clone()
        });
        (self.config, self.exports) = (config, exports);
        let stays = |name: &Name| self.exports.iter().any(|export| export.name == *name);
        self.published.retain(|name, _| stays(name));
        self.standings.retain(|name, _| stays(name));
    }

    /// The ranges that are pinned.
    pub(super) fn pinned(&self) -> Option<&Table> {
        self.pin.as_ref().map(|(_, ranges)| &**ranges)
    }

    /// What is pinned, for JSON.
    pub(super) fn pin_shape(&self) -> Option<PinShape> {
        let (pin, ranges) = self.pin.as_ref()?;
        Some(PinShape {
            kind: word(&pin.kind),
            generation: pin.generation,
            by: pin.by.to_string(),
            reason: some(&pin.reason),
            since: pin.since,
            expires: pin.expires,
            waiting: ChangedShape::of(&diff(ranges, &self.table)),
        })
    }

    pub(super) fn drained(&self) -> Vec<DrainShape> {
        let shape = |(edge, drain): (&Name, &Drain)| DrainShape {
            edge: edge.to_string(),
            by: drain.by.to_string(),
            reason: drain.reason.to_string(),
            since: drain.since,
            default: *edge == self.config.default_edge,
        };
        self.drains.edges.iter().map(shape).collect()
    }

    /// An answer, with what became of the exports beside it.
    pub fn with_published(&self, answer: Answer) -> Answer {
        let Answer::Json(serde_json::Value::Object(mut fields)) = answer else { return answer };
        let published: Vec<_> = self.published.values().map(published_shape).collect();
        if let Ok(published) = serde_json::to_value(published) {
            fields.insert("published".to_owned(), published);
        }
        Answer::Json(serde_json::Value::Object(fields))
    }

    /// Finds what overlaps, where no build has done so yet.
    pub fn find_conflicts(&mut self, now: Timestamp) {
        let settings = Settings::of(&self.config);
        let (lines, rules) = (settings.lines.lines(), &settings.build);
        let claimed = claims(self.fleet(&settings.members), lines, &settings.claims, now);
        self.conflicts = Arc::new(build(claimed.claims, &self.table, rules).conflicts);
    }

    pub(super) fn fleet<'a>(&'a self, members: &'a BTreeMap<Name, Membership>) -> Fleet<'a> {
        Fleet { members, memories: &self.memories }
    }

    /// A past generation as it would be exported now: with today's edges.
    pub fn past(&self, past: Past) -> Snapshot {
        Snapshot {
            generation: past.generation,
            committed: past.committed.unwrap_or(Timestamp::UNIX_EPOCH),
            table: Arc::new(past.table),
            groups: Arc::new(past.groups),
            ..(*self.snapshot).clone()
        }
    }

    /// How far the fleet has been read.
    pub fn progress(&self) -> ProgressShape {
        let known = || self.config.bas.keys().filter_map(|name| self.memories.get(name));
        ProgressShape {
            bas: self.config.bas.len(),
            tried: known().filter(|m| m.tried).count(),
            complete: known().filter(|m| m.last_complete.is_some()).count(),
        }
    }

    /// What is held, by number.
    pub fn held(&self) -> Vec<HeldShape> {
        self.guard.holds.iter().map(held_shape).collect()
    }

    /// What answers addresses.
    ///
    /// # Errors
    /// An unknown space.
    pub fn lookup(&self, request: &LookupRequest) -> Result<Vec<LookupShape>, Problem> {
        self.look_up(&self.snapshot, request)
    }

    /// The same of another generation.
    pub(super) fn look_up(
        &self,
        snapshot: &Snapshot,
        request: &LookupRequest,
    ) -> Result<Vec<LookupShape>, Problem> {
        if !self.config.spaces.contains_key(request.space.as_str()) {
            return Err(unknown_space(&request.space, &self.config));
        }
        known_service(&request.service, &self.config)?;
        if !self.snapshot.filled {
            return Err(not_filled());
        }
        let service = Name::from(request.service.as_str());
        request.ips.iter().map(|ip| look(snapshot, &request.space, &service, *ip)).collect()
    }

    /// What overlaps, for JSON.
    pub(super) fn conflict_shapes(&self) -> Vec<ConflictShape> {
        self.conflicts.iter().map(conflict_shape).collect()
    }

    /// The published table in a format.
    ///
    /// # Errors
    /// An unknown format or space; a format that holds one space, where there are several;
    /// a store that has not been filled.
    pub fn export(&self, request: &ExportRequest) -> Result<Vec<u8>, Problem> {
        export(&self.snapshot, request, &self.config)
    }

    /// The state, BAS by BAS and export by export.
    pub fn status(&self, running: bool, now: Timestamp) -> StatusShape {
        StatusShape {
            session: self.snapshot.session.to_string(),
            generation: self.snapshot.generation,
            committed: (self.snapshot.generation > 0).then_some(self.snapshot.committed),
            filled: self.snapshot.filled,
            progress: self.progress(),
            frozen: self.pin.as_ref().is_some_and(|(pin, _)| pin.kind == PinKind::Freeze),
            pinned: self.pin.as_ref().map(|(pin, _)| pin.generation),
            pin: self.pin_shape(),
            drained: self.drained(),
            twins: self.twins(),
            running,
            bas: self.config.bas.keys().map(|name| self.bas_shape(name, now)).collect(),
            held: self.guard.holds.len(),
            conflicts: self.conflicts.len(),
            notifications: self.notifications.as_deref().map(notifications_shape),
            steering: self.steering_shapes(),
            exports: {
                let poll = self.slowest_poll();
                let shape = |e: &Export| {
                    export_shape(e, self.published.get(&e.name), self.standings.get(&e.name), poll, now)
                };
                self.exports.iter().map(shape).collect()
            },
        }
    }

    /// How long a change on a router may wait until it is read and committed.
    fn slowest_poll(&self) -> Duration {
        let own = self.config.bas.values().map(|bas| bas.interval.unwrap_or(self.config.poll.interval));
        own.max().unwrap_or(self.config.poll.interval).saturating_add(self.config.poll.batch)
    }

    /// BASes that look like one router under two names.
    pub(super) fn twins(&self) -> Vec<TwinsShape> {
        let member = |bas: &config::Bas| Membership { owner: bas.owner().clone(), priority: bas.priority };
        let members = self.config.bas.iter().map(|(name, bas)| (name.clone(), member(bas))).collect();
        let shape = |twins: Twins| TwinsShape {
            bas: twins.bas.map(|bas| bas.to_string()),
            same: if twins.one_engine { "engine-id" } else { "sys-name" }.to_owned(),
        };
        twins(self.fleet(&members)).into_iter().map(shape).collect()
    }

    fn bas_shape(&self, name: &Name, now: Timestamp) -> BasShape {
        let unknown = Memory::default();
        let memory = self.memories.get(name).unwrap_or(&unknown);
        let owner = self.config.bas.get(name).map_or(name, |bas| bas.owner());
        let held = self.guard.holds.iter().filter(|hold| hold.owner == *owner).map(Hold::units).sum();
        let age = memory.last_complete.map(|at| now.duration_since(at).as_secs().try_into().unwrap_or(0));
        BasShape {
            name: name.to_string(),
            state: if memory.tried { memory.state.to_string() } else { "unknown".to_owned() },
            reason: some(&memory.reason),
            last_complete: memory.last_complete,
            last_attempt: memory.last_attempt,
            age_s: age,
            stale: memory.tables.values().any(|table| table.stale_since.is_some()),
            held,
            ranges: memory.listed.len(),
            addresses: addresses(&memory.listed),
            descriptor: memory.detection.as_ref().map(|d| d.descriptor.to_string()),
            tables: memory
                .tables
                .iter()
                .map(|(name, table)| TableShape {
                    name: name.to_string(),
                    state: table.state.to_string(),
                    repetitions: table.repetitions,
                    reason: some(&table.reason),
                    detail: None,
                    rows: table.rows,
                    requests: None,
                    duration_ms: None,
                })
                .collect(),
        }
    }
}

/// What answers an address in a generation.
pub(super) fn look(
    snapshot: &Snapshot,
    space: &str,
    service: &Name,
    ip: IpAddr,
) -> Result<LookupShape, Problem> {
    // Viewers' addresses come IPv4-mapped from dual-stack sockets (RFC 4291, 2.5.5.2).
    let entry = snapshot.table.lookup(space, ip.to_canonical());
    let group = match entry {
        Some(entry) => Cow::Borrowed(snapshot.groups.answer(entry, service).ok_or_else(|| {
            inconsistent(ViewError::NoGroup { owner: entry.owner.clone(), service: service.clone() })
        })?),
        None => default_group(snapshot, service),
    };
    Ok(LookupShape {
        ip: ip.to_string(),
        space: space.to_owned(),
        covered: entry.is_some(),
        entry: entry.map(|entry| entry_shape(entry, group.token.as_str())),
        group: group.token.to_string(),
        edges: group.answering().map(|edge| edge.name.to_string()).collect(),
        weights: group.answering().map(|edge| edge.weight).collect(),
        generation: snapshot.generation,
    })
}

/// A generation's table in a format.
///
/// # Errors
/// As [`State::export`].
pub fn export(snapshot: &Snapshot, request: &ExportRequest, config: &Config) -> Result<Vec<u8>, Problem> {
    let own = request.template.as_ref().map(template).transpose()?;
    let format = match &own {
        Some(template) => template,
        None => by_name(&request.format)
            .map_err(|e| Problem::new(404, "unknown-format", "there is no such format", &e.to_string()))?,
    };
    if let Some(space) = &request.space
        && !config.spaces.contains_key(space.as_str())
    {
        return Err(unknown_space(space, config));
    }
    known_service(&request.service, config)?;
    if !snapshot.filled {
        return Err(not_filled());
    }
    let scope =
        Scope { space: request.space.as_deref().map(Name::from), service: request.service.as_str().into() };
    let view = View::new(snapshot, &scope).map_err(inconsistent)?;
    let rendered = format.render(&view, &Stamp::from(snapshot)).map_err(|e| {
        Problem::new(422, "render", "the table cannot be written in this format", &e.to_string())
    })?;
    Ok(rendered.bytes())
}

/// The template of a request.
fn template(from: &TemplateRequest) -> Result<Template, Problem> {
    let wrong = |detail: String| Problem::new(422, "template", "this is no template", &detail);
    let domain = |name: &String| name.parse().map_err(|e: BadDomain| wrong(e.to_string()));
    let context = Context {
        name: from.name.as_ref().map(domain).transpose()?,
        ttl: from.ttl,
        nameservers: from.nameserver.iter().map(domain).collect::<Result<_, _>>()?,
        table: None,
    };
    Template::parse(&from.text, &context).map_err(|e| wrong(e.to_string()))
}

pub(super) fn inconsistent(error: ViewError) -> Problem {
    Problem::new(500, "inconsistent", "table and groups do not fit together", &error.to_string())
}

fn not_filled() -> Problem {
    let detail = "not enough of the fleet has been read; `poolsync status` shows how far it is";
    Problem::new(503, "not-filled", "nothing is published yet", detail)
}

/// A service is known where some BAS has edges of its own for it.
pub(super) fn known_service(service: &str, config: &Config) -> Result<(), Problem> {
    let of_bas = config.bas.values().flat_map(|bas| bas.edges.keys());
    let mut known: Vec<&str> = of_bas.map(Name::as_str).chain([DEFAULT_SERVICE]).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&service) {
        return Ok(());
    }
    let detail = format!("`{service}`; there are: {}", known.join(", "));
    Err(Problem::new(404, "unknown-service", "there is no such service", &detail))
}

pub(super) fn unknown_space(space: &str, config: &Config) -> Problem {
    let known: Vec<&str> = config.spaces.keys().map(Name::as_str).collect();
    let detail = format!("`{space}`; there are: {}", known.join(", "));
    Problem::new(404, "unknown-space", "there is no such space", &detail)
}
