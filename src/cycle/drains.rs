//! Drains: edges that are taken out of every group.

use jiff::Timestamp;

use super::acts::act;
use super::operation::{DrainRequest, UndrainRequest};
use super::shapes::{EdgeShape, Problem};
use super::{Cycle, State, Who};
use crate::table::{ActKind, Drain, Name};

impl State {
    /// The edges, configured or drained, by name.
    pub fn edges(&self, now: Timestamp) -> Vec<EdgeShape> {
        let drained = self.drains.edges.keys().filter(|name| !self.config.edges.contains_key(*name));
        let mut names: Vec<&Name> = self.config.edges.keys().chain(drained).collect();
        names.sort();
        names.into_iter().map(|name| self.edge(name, now)).collect()
    }

    fn edge(&self, name: &Name, now: Timestamp) -> EdgeShape {
        let drain = self.drains.edges.get(name);
        let groups = self.snapshot.groups.groups.iter();
        let groups = groups.filter(|(_, group)| group.edges.iter().any(|edge| edge.name == *name));
        let left = self.drains.whole.values();
        EdgeShape {
            name: name.to_string(),
            state: if drain.is_some() { "drained" } else { "up" }.to_owned(),
            default: self.config.default_edge == *name,
            configured: self.config.edges.contains_key(name),
            region: self
                .config
                .edges
                .get(name)
                .and_then(|edge| edge.region.as_ref())
                .map(ToString::to_string),
            groups: groups.count(),
            drained_from: left.filter(|whole| whole.iter().any(|edge| edge.name == *name)).count(),
            by: drain.map(|drain| drain.by.to_string()),
            reason: drain.map(|drain| drain.reason.to_string()),
            since: drain.map(|drain| drain.since),
            load: self.steering.edges.iter().find(|edge| edge.name == *name).cloned(),
            load_age_s: self.load_age(now),
            weights: self.weights_of(name),
            published: Vec::new(),
        }
    }
}

impl Cycle {
    /// Takes an edge out of every group.
    pub(super) async fn drain(
        &mut self,
        request: &DrainRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<EdgeShape, Problem> {
        let name = Name::from(request.edge.as_str());
        let config = &self.state.config;
        if !config.edges.contains_key(&name) {
            return Err(self.unknown_edge(&name));
        }
        if request.reason.trim().is_empty() {
            return Err(Problem::new(400, "no-reason", "not drained", "say why, for those who find it so"));
        }
        if self.state.drains.edges.contains_key(&name) {
            return Ok(self.state.edge(&name, now));
        }
        let mut edges = self.state.drains.edges.clone();
        let by = who.signed(request.by.as_deref());
        let drain = Drain { by: by.clone(), reason: request.reason.as_str().into(), since: now };
        edges.insert(name.clone(), drain);
        let mut next = self.same();
        next.steered = self.steer_without(&edges, &next.table, self.state.pinned())?;
        if edges.contains_key(&config.default_edge) && !next.steered.stand_ins.is_empty() {
            let tokens: Vec<&str> = next.steered.stand_ins.iter().map(|token| token.as_str()).collect();
            let detail = format!(
                "the default edge {} would be drained too, and nothing would be left to answer for the groups {}",
                config.default_edge,
                tokens.join(", ")
            );
            return Err(Problem::new(409, "no-edge-left", "not drained", &detail));
        }
        let done = act(ActKind::Drain, by, Some(&request.reason), format!("edge {name}"), now);
        self.commit(next, std::slice::from_ref(&done), now).await?;
        tracing::warn!(edge = %name, by = %done.by, reason = %done.reason, "drained");
        Ok(self.state.edge(&name, now))
    }

    /// Takes an edge up again, where it is configured.
    pub(super) async fn undrain(
        &mut self,
        request: &UndrainRequest,
        who: &Who,
        now: Timestamp,
    ) -> Result<EdgeShape, Problem> {
        let name = Name::from(request.edge.as_str());
        let mut edges = self.state.drains.edges.clone();
        if edges.remove(&name).is_none() {
            return match self.state.config.edges.contains_key(&name) {
                true => Ok(self.state.edge(&name, now)),
                false => Err(self.unknown_edge(&name)),
            };
        }
        let mut next = self.same();
        next.steered = self.steer_without(&edges, &next.table, self.state.pinned())?;
        let by = who.signed(request.by.as_deref());
        let done = act(ActKind::Undrain, by, request.reason.as_deref(), format!("edge {name}"), now);
        self.commit(next, std::slice::from_ref(&done), now).await?;
        tracing::warn!(edge = %name, by = %done.by, reason = %done.reason, "not drained any more");
        Ok(self.state.edge(&name, now))
    }

    fn unknown_edge(&self, name: &Name) -> Problem {
        let known: Vec<&str> = self.state.config.edges.keys().map(Name::as_str).collect();
        let detail = format!("`{name}`; there are: {}", known.join(", "));
        Problem::new(404, "unknown-edge", "there is no such edge", &detail)
    }
}
