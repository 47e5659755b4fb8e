//! The table and its rules: claims, entries, groups; build, diff, guard; and what is
//! remembered per BAS. Plain data and pure functions: the clock is an input, nothing here
//! does I/O. Knows only `address`.

mod act;
mod build;
mod claim;
mod diff;
mod entry;
mod explain;
mod fleet;
mod group;
mod guard;
mod lookup;
mod memory;
mod name;
mod overlaps;
mod snapshot;
mod usage;

pub use act::{Act, ActKind, Drain, Drains, Pin, PinKind};
pub use build::{
    BuildRules, Built, Conflict, ConflictClaim, PrivateSpace, Refusal, RefusalReason, Rule, build,
};
pub use claim::{Claim, ClaimSettings, Claimed, Class, MaxRange, Stale, StaticLine, StaticMode, claims};
pub use diff::{ApplyError, Change, apply, diff};
pub use entry::{Entry, Origin, Run, Table};
pub use explain::{Decision, decide};
pub use fleet::{Fleet, Membership, Progress, Share};
pub use group::{Group, GroupEdge, GroupError, Groups, OwnerEdges, Part, Token, static_owner};
pub use guard::{
    ApproveError, Approved, Case, Forgiven, GuardMemory, GuardSettings, HeldChange, Hold, HoldKind,
    HoldReason, Judged, Runs, Selection, judge,
};
pub use lookup::{Lookup, SpaceLookup};
pub use memory::{
    Detection, Engine, IngestSettings, Ingested, Listed, Memory, Miss, Poll, PolledTable, Published, Row,
    Seen, Standing, TableMemory, TableOutcome, Unread,
};
pub use name::{Name, PoolName};
pub use snapshot::{Edge, Session, Snapshot};
pub use usage::{HourUse, PoolUse, Usage};
