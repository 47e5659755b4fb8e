//! Why an address is answered as it is, and what would change that.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::archive::Archive;
use super::explain_words::{causes, remedies};
use super::operation::ExplainRequest;
use super::past::pool_shape;
use super::settings::Settings;
use super::shaped::{held_shape, some, word};
use super::shapes::{DrainShape, HeldShape, LookupShape, PinShape, PoolShape, Problem};
use super::state::{State, known_service, look, unknown_space};
use crate::address::Range;
use crate::store::Used;
use crate::table::{Claim, Decision, Entry, ListedRef, Memory, Name, Standing, decide};

/// Why an address is answered as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainShape {
    /// What answers it.
    #[serde(flatten)]
    pub answer: LookupShape,
    /// The claims that hold there, best class first.
    pub claims: Vec<ClaimShape>,
    /// The rule that decided between them; null where there was nothing to decide.
    pub rule: Option<String>,
    /// Whose it would be by the claims alone; null: nobody's.
    pub built: Option<String>,
    /// Whose it is in the table beneath a pin, or without one; null: nobody's.
    pub owner: Option<String>,
    /// What holds it as it is.
    pub held: Option<HeldShape>,
    /// What is pinned.
    pub pin: Option<PinShape>,
    /// The drained edges that are missing in the answer.
    pub drained: Vec<DrainShape>,
    /// What is said of it and enters no table, and why.
    pub refused: Vec<RefusedShape>,
    /// How much of its pool is in use.
    pub pool: Option<PoolShape>,
    /// All that in words, a sentence each.
    pub because: Vec<String>,
    /// What would change the answer.
    pub would_change: Vec<String>,
}

/// A claim on the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimShape {
    /// Whose claim it is.
    pub owner: String,
    /// The BAS that lists it; null for a static line that names edges.
    pub bas: Option<String>,
    /// The pool.
    pub pool: String,
    /// The VRF.
    pub vrf: String,
    /// The first address.
    pub first: String,
    /// The last address.
    pub last: String,
    /// fill, kept, fresh or override.
    pub class: String,
    /// The BAS's priority.
    pub priority: i32,
    /// listed, or unread where the last poll could not vouch for it; null for a static line.
    pub standing: Option<String>,
    /// The last complete read of its table.
    pub last_complete: Option<Timestamp>,
    /// Whether the address is its by the rules.
    pub wins: bool,
}

/// What is said of the address and enters no table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedShape {
    /// The BAS that lists it; null for a static line that names edges.
    pub bas: Option<String>,
    /// The pool.
    pub pool: String,
    /// too-large, never-published, private-skipped; other-space, where its VRF belongs to
    /// another space or to none.
    pub reason: String,
    /// The space that its VRF belongs to, where that is the reason.
    pub space: Option<String>,
    /// The VRF, where that is the reason.
    pub vrf: Option<String>,
}

impl State {
    /// Why an address is answered as it is.
    ///
    /// # Errors
    /// An unknown space or service; where the store fails.
    pub async fn explain(
        &self,
        archive: &mut impl Archive,
        request: &ExplainRequest,
        now: Timestamp,
    ) -> Result<ExplainShape, Problem> {
        let used = match self.table.lookup(&request.space, request.ip.to_canonical()) {
            Some(Entry { bas: Some(bas), .. }) => archive.used(bas).await?,
            _ => Used::default(),
        };
        self.explained(request, &used, now)
    }

    /// The same, with what is known of the pools' use.
    ///
    /// # Errors
    /// An unknown space or service.
    pub fn explained(
        &self,
        request: &ExplainRequest,
        used: &Used,
        now: Timestamp,
    ) -> Result<ExplainShape, Problem> {
        let space = request.space.as_str();
        if !self.config.spaces.contains_key(space) {
            return Err(unknown_space(space, &self.config));
        }
        known_service(&request.service, &self.config)?;
        let ip = request.ip.to_canonical();
        let settings = Settings::of(&self.config);
        let rules = (&settings.lines, &settings.claims, &settings.build);
        let decision = decide(self.fleet(&settings.members), rules, &self.table, (space, ip), now);
        let entry = self.table.lookup(space, ip);
        let mut shape = ExplainShape {
            answer: look(&self.snapshot, space, &Name::from(request.service.as_str()), ip)?,
            claims: decision.claims.iter().map(|claim| self.claim_shape(claim, &decision, ip)).collect(),
            rule: decision.conflict.as_ref().map(|conflict| word(&conflict.rule)),
            built: decision.built.as_ref().map(|built| built.owner.to_string()),
            owner: entry.map(|entry| entry.owner.to_string()),
            held: self.held_at(space, ip),
            pin: self.pin_shape(),
            drained: self.missing(space, ip, &request.service),
            refused: self.refused(&decision, space, ip),
            pool: entry.and_then(|entry| {
                let of_pool = used.pools.iter().find(|p| p.pool == entry.pool && p.vrf == entry.vrf);
                of_pool.map(pool_shape)
            }),
            because: Vec::new(),
            would_change: Vec::new(),
        };
        shape.because = causes(&shape, &decision, self, now);
        shape.would_change = remedies(&shape, &decision, now);
        Ok(shape)
    }

    fn claim_shape(&self, claim: &Claim, decision: &Decision, ip: IpAddr) -> ClaimShape {
        let memory = claim.bas.as_ref().filter(|_| claim.class.is_polled());
        let memory = memory.and_then(|bas| self.memories.get(bas));
        let row = memory.and_then(|memory| row_of(memory, claim, ip));
        let table = row.and_then(|row| memory?.tables.get(row.table));
        let wins = decision.built.as_ref().is_some_and(|built| {
            (&built.owner, &built.bas, &built.pool, &built.vrf)
                == (&claim.owner, &claim.bas, &claim.pool, &claim.vrf)
        });
        ClaimShape {
            owner: claim.owner.to_string(),
            bas: claim.bas.as_ref().map(ToString::to_string),
            pool: claim.pool.text().to_owned(),
            vrf: claim.vrf.to_string(),
            first: claim.whole.first().to_string(),
            last: claim.whole.last().to_string(),
            class: word(&claim.class),
            priority: claim.priority,
            standing: row.map(|row| match row.standing {
                Standing::Listed => "listed".to_owned(),
                Standing::Unread => "unread".to_owned(),
            }),
            last_complete: table.and_then(|table| table.last_complete),
            wins,
        }
    }

    /// The hold that an address is in.
    fn held_at(&self, space: &str, ip: IpAddr) -> Option<HeldShape> {
        let here = |hold: &&crate::table::Hold| {
            hold.space.as_str() == space && hold.changes.iter().any(|change| change.range.contains(ip))
        };
        self.guard.holds.iter().find(here).map(held_shape)
    }

    /// The drained edges that the answer would have.
    fn missing(&self, space: &str, ip: IpAddr, service: &str) -> Vec<DrainShape> {
        let service = Name::from(service);
        let entry = self.snapshot.table.lookup(space, ip);
        let group = entry.and_then(|entry| self.snapshot.groups.answer(entry, &service));
        let whole = group.and_then(|group| self.drains.whole.get(&group.token));
        let drained = self.drained().into_iter();
        drained.filter(|d| whole.is_some_and(|w| w.iter().any(|e| e.name.as_str() == d.edge))).collect()
    }

    /// What is said of an address and enters no table of the space.
    fn refused(&self, decision: &Decision, space: &str, ip: IpAddr) -> Vec<RefusedShape> {
        let refused = decision.refused.iter().map(|refusal| RefusedShape {
            bas: refusal.bas.as_ref().map(ToString::to_string),
            pool: refusal.pool.text().to_owned(),
            reason: word(&refusal.reason),
            space: None,
            vrf: None,
        });
        let elsewhere = self.config.bas.keys().filter_map(|bas| Some((bas, self.memories.get(bas)?)));
        let elsewhere = elsewhere.flat_map(|(bas, memory)| {
            let other =
                |row: &ListedRef<'_>| row.space.map(Name::as_str) != Some(space) && row.range.contains(ip);
            memory.listed.iter().filter(other).map(move |row| RefusedShape {
                bas: Some(bas.to_string()),
                pool: row.pool.text().to_owned(),
                reason: "other-space".to_owned(),
                space: row.space.and_then(some),
                vrf: Some(row.vrf.to_string()),
            })
        });
        refused.chain(elsewhere).collect()
    }
}

/// The row behind a claim.
fn row_of<'a>(memory: &'a Memory, claim: &Claim, ip: IpAddr) -> Option<ListedRef<'a>> {
    let here = |range: Range| range.contains(ip);
    memory.listed.iter().find(|row| *row.pool == claim.pool && *row.vrf == claim.vrf && here(row.range))
}
