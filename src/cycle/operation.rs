//! What a person may ask of the process that owns the store, by the control socket or by a
//! command that took the lock itself. Both run the same code.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shapes::Problem;

/// A request to poll.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollRequest {
    /// The BASes; all where none is named.
    #[serde(default)]
    pub bas: Vec<String>,
    /// Judge, but commit and publish nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Publish although not enough of the fleet has been read.
    #[serde(default)]
    pub publish: bool,
    /// Poll also what is backing off.
    #[serde(default)]
    pub force: bool,
    /// Forget first by which descriptors the BASes are read, and which of their tables ever had
    /// rows. They have to be named.
    #[serde(default)]
    pub forget: bool,
    /// Why that is forgotten.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to let held changes through, or to reject them. What it names must all fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApproveRequest {
    /// The holds' numbers; all where none is named and something else is.
    #[serde(default)]
    pub ids: Vec<u64>,
    /// Only what belongs to this incident.
    #[serde(default)]
    pub incident: Option<u64>,
    /// Only owners that match; `*` and `?` as in a shell.
    #[serde(default)]
    pub bas: Option<String>,
    /// Only if it still is what had this digest.
    #[serde(default)]
    pub digest: Option<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to drain an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainRequest {
    /// The edge.
    pub edge: String,
    /// Why.
    pub reason: String,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to take a drained edge up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndrainRequest {
    /// The edge.
    pub edge: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to keep what is published as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreezeRequest {
    /// For how many seconds; 24 hours where nothing is said, and at most.
    #[serde(default)]
    pub for_s: Option<u64>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to publish an earlier generation's ranges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackRequest {
    /// The generation.
    pub generation: u64,
    /// For how many seconds; 24 hours where nothing is said, and at most.
    #[serde(default)]
    pub for_s: Option<u64>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to publish what polls and the guard have come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseRequest {
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who says so, besides the user who asks.
    #[serde(default)]
    pub by: Option<String>,
}

/// A request to read the configuration anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReloadRequest {
    /// Let through what it does, if that still has this digest.
    #[serde(default)]
    pub accept: Option<String>,
}

/// A request to look addresses up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookupRequest {
    /// The addresses.
    pub ips: Vec<IpAddr>,
    /// The space.
    #[serde(default = "internet")]
    pub space: String,
    /// The service whose edges answer.
    #[serde(default = "default_service")]
    pub service: String,
    /// As it was published at this time; now where none is named.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// As it was published at this generation; the newest where none is named.
    #[serde(default)]
    pub generation: Option<u64>,
}

/// A request to say why an address is answered as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The address.
    pub ip: IpAddr,
    /// The space.
    #[serde(default = "internet")]
    pub space: String,
    /// The service whose edges answer.
    #[serde(default = "default_service")]
    pub service: String,
}

/// A request for what was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryRequest {
    /// An address, a prefix, a range, a BAS or an owner; the generations where none is named.
    #[serde(default)]
    pub of: Option<String>,
    /// How many generations, the newest first.
    #[serde(default = "hundred")]
    pub limit: u32,
}

/// A request for the difference of two generations, as they were published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffRequest {
    /// The one; that before the other where none is named.
    #[serde(default)]
    pub from: Option<u64>,
    /// The other; the newest where none is named.
    #[serde(default)]
    pub to: Option<u64>,
}

/// A request for the table in a format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportRequest {
    /// The format's name.
    pub format: String,
    /// Only this space; all where none is named and the format can hold them.
    #[serde(default)]
    pub space: Option<String>,
    /// The service whose edges answer.
    #[serde(default = "default_service")]
    pub service: String,
    /// The table as it was at this generation; the published one where none is named.
    #[serde(default)]
    pub generation: Option<u64>,
    /// The lines of format `template`; plain ones where there are none.
    #[serde(default)]
    pub template: Option<TemplateRequest>,
}

/// A template, and what it may name of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateRequest {
    /// Its TOML.
    pub text: String,
    /// The domain name that is answered for.
    #[serde(default)]
    pub name: Option<String>,
    /// How long an answer may be kept, in seconds.
    #[serde(default)]
    pub ttl: Option<u32>,
    /// The name server of the zone.
    #[serde(default)]
    pub nameserver: Option<String>,
}

fn internet() -> String {
    "internet".to_owned()
}

const fn hundred() -> u32 {
    100
}

fn default_service() -> String {
    "default".to_owned()
}

/// Anything that may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Let held changes through.
    Approve(ApproveRequest),
    /// List what overlaps.
    Conflicts,
    /// Compare two generations.
    Diff(DiffRequest),
    /// Take an edge out of every group.
    Drain(DrainRequest),
    /// List the edges.
    Edges,
    /// Say why an address is answered as it is.
    Explain(ExplainRequest),
    /// Render the table.
    Export(ExportRequest),
    /// Keep what is published as it is.
    Freeze(FreezeRequest),
    /// List what is held.
    Held,
    /// Tell what was.
    History(HistoryRequest),
    /// Look addresses up.
    Lookup(LookupRequest),
    /// Plan each region by the last reading of the loads; changes nothing.
    Plan,
    /// Poll now.
    Poll(PollRequest),
    /// Keep held changes held.
    Reject(ApproveRequest),
    /// Publish what polls and the guard have come to.
    Release(ReleaseRequest),
    /// Read the configuration anew.
    Reload(ReloadRequest),
    /// Publish an earlier generation's ranges.
    Rollback(RollbackRequest),
    /// Show the state.
    Status,
    /// Take a drained edge up again.
    Undrain(UndrainRequest),
}

impl Operation {
    /// Whether it may take long and needs nothing of what is remembered per BAS: whoever owns
    /// the store has it answered by somebody else (see [`State::answer_apart`](super::State::answer_apart)).
    pub const fn is_long(&self) -> bool {
        match self {
            Self::Diff(_) | Self::Export(_) | Self::History(_) => true,
            Self::Lookup(request) => request.at.is_some() || request.generation.is_some(),
            _ => false,
        }
    }
}

/// What comes back: JSON in one of the shapes, or a rendered export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// One of the shapes.
    Json(serde_json::Value),
    /// A file's octets.
    File(Vec<u8>),
}

/// An answer, or why there is none.
pub type Reply = Result<Answer, Problem>;
