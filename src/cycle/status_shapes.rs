//! The JSON of `status`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shapes::{DrainShape, PinShape, ProgressShape, TableShape};
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

/// One export in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportShape {
    /// Its name.
    pub name: String,
    /// published, deferred, failed, or missing.
    pub state: String,
    /// Why it failed; a closed list.
    pub reason: Option<String>,
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
    /// Where a change came too soon: when it will be published.
    #[serde(default)]
    pub deferred_until: Option<Timestamp>,
    /// What a change on a router costs until viewers are answered anew, at most, in seconds:
    /// the poll's interval, the pace of the export, the last publication and the time to
    /// live of the answers.
    #[serde(default)]
    pub effect_s: u64,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Export by export.
    pub exports: Vec<ExportShape>,
}
