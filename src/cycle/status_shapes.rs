//! The JSON of `status`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shapes::{DrainShape, PinShape, ProgressShape, SteeringShape, TableShape};
use crate::trap::Tally;

/// One BAS in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BasShape {
    /// Its name.
    pub name: String,
    /// complete, failed, unsupported, or unknown before its first poll.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
    /// Its last complete poll.
    pub last_complete: Option<Timestamp>,
    /// Its last poll.
    pub last_attempt: Option<Timestamp>,
    /// Seconds since the last complete poll.
    pub age_s: Option<u64>,
    /// Whether it is stale.
    pub stale: bool,
    /// How many of its addresses (IPv6: /64s) are held.
    pub held: u64,
    /// How many ranges it lists.
    pub ranges: usize,
    /// How many addresses they have, in decimal digits.
    pub addresses: String,
    /// The descriptor it is read by.
    pub descriptor: Option<String>,
    /// Table by table.
    pub tables: Vec<TableShape>,
}

/// Two BASes that look like one router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinsShape {
    /// Their names.
    pub bas: [String; 2],
    /// What they have in common besides all their ranges: engine-id or sys-name.
    pub same: String,
}

/// One export in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportShape {
    /// Its name.
    pub name: String,
    /// published, deferred, failed, unconfirmed, or missing.
    pub state: String,
    /// Why it failed, or is not confirmed; a closed list.
    pub reason: Option<String>,
    /// The same in words.
    #[serde(default)]
    pub detail: Option<String>,
    /// Since when it is so.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Failures since the last success.
    #[serde(default)]
    pub failures: u32,
    /// When it is tried again: after a failure, or where a change came too soon.
    #[serde(default)]
    pub retry_at: Option<Timestamp>,
    /// The newest generation that its file is true for.
    pub generation: Option<u64>,
    /// When that was written.
    pub published: Option<Timestamp>,
    /// When its file last changed.
    #[serde(default)]
    pub changed: Option<Timestamp>,
    /// When the consumer was last seen to answer as the file says; none where it is not
    /// asked.
    #[serde(default)]
    pub confirmed: Option<Timestamp>,
    /// Seconds since then.
    #[serde(default)]
    pub confirmed_age_s: Option<u64>,
    /// Where a change came too soon: when it will be published.
    #[serde(default)]
    pub deferred_until: Option<Timestamp>,
    /// What a change on a router costs until viewers are answered anew, at most, in seconds:
    /// the sum of `effect`.
    #[serde(default)]
    pub effect_s: u64,
    /// Its parts.
    #[serde(default)]
    pub effect: EffectShape,
}

/// What a change on a router costs until viewers are answered anew, at most, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectShape {
    /// Until it is read and committed: the longest interval of a BAS, and the batch.
    pub poll_s: u64,
    /// The least time from one change of the files to the next.
    pub pace_s: u64,
    /// How long the last publication took, consumer included; 0 where there was none.
    pub publish_s: u64,
    /// How long resolvers keep an answer.
    pub ttl_s: u64,
}

impl EffectShape {
    /// All of it.
    pub const fn total(self) -> u64 {
        self.poll_s.saturating_add(self.pace_s).saturating_add(self.publish_s).saturating_add(self.ttl_s)
    }
}

/// What was counted of notifications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationsShape {
    /// Where they are listened for.
    pub listen: Vec<String>,
    /// Our own engine id, which senders of informs may have to be told.
    pub engine_id: String,
    /// How often our engine was started.
    pub boots: u32,
    /// Datagrams received.
    pub received: u64,
    /// Traps that were believed.
    pub traps: u64,
    /// Informs that were believed, and acknowledged.
    pub informs: u64,
    /// Questions for our engine id or time.
    pub discoveries: u64,
    /// Traps and informs that `oids` leaves out.
    pub filtered: u64,
    /// Datagrams refused, by cause; the causes are a closed list.
    pub refused: BTreeMap<String, u64>,
    /// The last one that was.
    pub last_refused: Option<LastRefusedShape>,
    /// Polls that notifications caused.
    pub polls: u64,
}

/// A datagram that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRefusedShape {
    /// Where it came from.
    pub from: String,
    /// Why.
    pub cause: String,
    /// When.
    pub at: Timestamp,
}

/// What was counted of notifications, for JSON.
pub(super) fn notifications_shape(tally: &Tally) -> NotificationsShape {
    let refused = tally.refused_by_cause().into_iter();
    NotificationsShape {
        listen: tally.listen.iter().map(ToString::to_string).collect(),
        engine_id: tally.engine_id.clone(),
        boots: tally.boots,
        received: tally.received(),
        traps: tally.traps(),
        informs: tally.informs(),
        discoveries: tally.discoveries(),
        filtered: tally.filtered(),
        refused: refused.map(|(cause, count)| (cause.as_str().to_owned(), count)).collect(),
        last_refused: tally.last_refused().map(|last| LastRefusedShape {
            from: last.from.to_string(),
            cause: last.cause.as_str().to_owned(),
            at: last.at,
        }),
        polls: tally.polls(),
    }
}

/// What `status` shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusShape {
    /// The store's identity, 16 hex digits.
    pub session: String,
    /// The generation that is published.
    pub generation: u64,
    /// When it was committed.
    pub committed: Option<Timestamp>,
    /// Whether enough of the fleet has been read.
    pub filled: bool,
    /// How far the fleet has been read.
    pub progress: ProgressShape,
    /// Whether somebody keeps what is published as it is.
    pub frozen: bool,
    /// The generation whose ranges are published whatever polls find; null where none is
    /// pinned.
    pub pinned: Option<u64>,
    /// More of that.
    pub pin: Option<PinShape>,
    /// The drained edges.
    pub drained: Vec<DrainShape>,
    /// BASes that look like one router under two names: a `pair` makes them one owner.
    #[serde(default)]
    pub twins: Vec<TwinsShape>,
    /// Whether a daemon answered, or the store was read.
    pub running: bool,
    /// BAS by BAS.
    pub bas: Vec<BasShape>,
    /// How many changes are held.
    pub held: usize,
    /// How many overlaps there are.
    pub conflicts: usize,
    /// What was counted of notifications since the start; null where they are not listened for.
    #[serde(default)]
    pub notifications: Option<NotificationsShape>,
    /// Region by region, how its edges are steered; nothing where nothing is.
    #[serde(default)]
    pub steering: Vec<SteeringShape>,
    /// Export by export.
    pub exports: Vec<ExportShape>,
}
