//! What a log says about the table.

use jiff::Timestamp;
use serde::Serialize;

use super::form::Forms;
use super::scan::Unreadable;
use crate::address::Family;
use crate::coverage::figure;
use crate::coverage::input::Packing;
use crate::table::Name;

/// A number of requests and its share of a whole; none where that is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Part {
    /// How many.
    pub requests: u64,
    /// Their share.
    pub share: Option<f64>,
}

impl Part {
    pub(super) fn of(requests: u64, whole: u64) -> Self {
        Self { requests, share: (whole > 0).then(|| requests as f64 / whole as f64) }
    }
}

/// The log as it was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogFigures {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// How it is packed.
    pub packing: Packing,
    /// What its lines look like, in words.
    pub shape: String,
    /// Octets, unpacked.
    pub octets: u64,
    /// Lines.
    pub lines: u64,
    /// Lines with an address.
    pub requests: u64,
    /// Lines without anything.
    pub empty: u64,
    /// Lines that begin with `#`.
    pub comments: u64,
    /// Lines without an address where it should be.
    pub unreadable: u64,
    /// The first of these.
    pub unreadable_examples: Vec<Unreadable>,
    /// Lines that are longer than any line of a log.
    pub too_long: u64,
    /// Whether it was read to its end; `truncated`, `damaged` or `io` where not, and the
    /// figures are those of what came before.
    pub state: &'static str,
    /// Why it was not.
    pub detail: Option<String>,
    /// What else there is to say of it.
    pub notes: Vec<String>,
}

/// Requests of one family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyRequests {
    /// 4 or 6.
    #[serde(serialize_with = "figure::family")]
    pub family: Family,
    /// All of them, resolvers apart.
    pub requests: u64,
    /// Those that an entry covers.
    pub covered: Part,
    /// The others.
    pub missed: Part,
}

/// Requests by a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameRequests {
    /// The BAS, edge or resolver.
    pub name: Name,
    /// How many, and their share of all requests that are counted here.
    #[serde(flatten)]
    pub part: Part,
}

/// Requests of known resolvers, which are in no other figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResolverFigures {
    /// All of them, and their share of all requests in the log.
    #[serde(flatten)]
    pub all: Part,
    /// Those that an entry covers, and their share of the resolvers' requests.
    pub covered: Part,
    /// By resolver, the busiest first.
    pub by_name: Vec<NameRequests>,
}

/// Requests out of a prefix that no entry covers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrefixMisses {
    /// The prefix: /24 or /48, or wider where all of it is missed.
    pub prefix: String,
    /// How many, and their share of all requests.
    #[serde(flatten)]
    pub part: Part,
    /// Whether it is what was left of a /32 when there were too many /48s to count each.
    pub rest: bool,
}

/// Where the requests come from that no entry covers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MissFigures {
    /// The prefixes with the most, biggest first.
    pub prefixes: Vec<PrefixMisses>,
    /// How many prefixes there are more.
    pub more_prefixes: u64,
    /// The requests out of these.
    pub more_requests: u64,
    /// Whether there were too many prefixes of IPv6 to count each.
    pub capped: bool,
}

/// Requests in one step of time, resolvers apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepFigures {
    /// When it begins.
    pub start: Timestamp,
    /// Requests.
    pub requests: u64,
    /// Those that no entry covers.
    pub missed: Part,
    /// Those that the old table has in no row; none without an old table.
    pub old_missed: Option<Part>,
}

/// Requests over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeFigures {
    /// How long a step is, in seconds.
    pub step_s: i64,
    /// The steps that have requests, in order.
    pub steps: Vec<StepFigures>,
    /// Requests without a time that can be read.
    pub untimed: u64,
}

/// The old table beside the table. Shares are of all requests, resolvers apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgainstRequests {
    /// In a row of the old table.
    pub old_covered: Part,
    /// In none: they went to the default edge.
    pub old_missed: Part,
    /// In both tables, and both say the same.
    pub agreed: Part,
    /// In both tables, and they say different things.
    pub differing: Part,
    /// In the table alone.
    pub only_table: Part,
    /// In the old table alone.
    pub only_old: Part,
    /// In neither.
    pub neither: Part,
    /// By name of the old table, the busiest first.
    pub by_old: Vec<NameRequests>,
}

/// What a log says about the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageReport {
    /// The space.
    pub space: Name,
    /// The log.
    pub log: LogFigures,
    /// Requests, known resolvers apart.
    pub requests: u64,
    /// Those that an entry covers.
    pub covered: Part,
    /// The others: they go to the default edge.
    pub missed: Part,
    /// By family; one without requests is left out.
    pub families: Vec<FamilyRequests>,
    /// Requests whose address was in other clothes.
    pub forms: Forms,
    /// Known resolvers; none where no list was given.
    pub resolvers: Option<ResolverFigures>,
    /// By BAS, the busiest first.
    pub by_bas: Vec<NameRequests>,
    /// By nearest edge, the busiest first.
    pub by_edge: Vec<NameRequests>,
    /// Where the misses come from.
    pub misses: MissFigures,
    /// Over time; none where the log has no times.
    pub times: Option<TimeFigures>,
    /// The old table beside this one; none where none was given.
    pub against: Option<AgainstRequests>,
}

impl CoverageReport {
    /// Whether the log was read to its end.
    pub fn is_complete(&self) -> bool {
        self.log.state == "complete"
    }

    /// The report for people. Of each list the `top` first are shown.
    pub fn text(&self, top: usize) -> String {
        super::text::render(self, top)
    }

    /// A plot: the share of misses over time, or requests by edge where the log has no times.
    pub fn svg(&self) -> String {
        super::svg::render(self)
    }
}
