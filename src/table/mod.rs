//! The table and its rules: claims, entries, groups; build, diff, guard; and what is
//! remembered per BAS. Plain data and pure functions: the clock is an input, nothing here
//! does I/O. Knows only `address`.

mod act;
mod build;
mod chunks;
mod claim;
mod diff;
mod entries;
mod entry;
mod explain;
mod fleet;
mod fleet_table;
mod glob;
mod group;
mod guard;
mod lookup;
mod memory;
mod name;
mod overlaps;
mod pools;
mod snapshot;
mod twins;
mod usage;

pub use act::{Act, ActKind, Drain, Drains, Pin, PinKind};
pub use build::{
    BuildRules, Built, Claimants, Conflict, ConflictClaim, Ledger, PrivateSpace, Refusal, RefusalReason,
    Rule, Touched, build,
};
pub use claim::{
    Claim, ClaimSettings, Claimed, Class, FleetClaims, MaxRange, Stale, StaticLine, StaticLines, StaticMode,
    claims,
};
pub use diff::{ApplyError, Change, apply, diff};
pub use entries::{Entries, Table};
pub use entry::{Entry, Origin, Run};
pub use explain::{Decision, decide};
pub use fleet::{Fleet, Membership, Progress, Share};
pub use fleet_table::FleetTable;
pub use glob::Glob;
pub use group::{Group, GroupEdge, GroupError, Groups, OwnerEdges, Part, Token, static_owner};
pub use guard::{
    ApproveError, Approved, Case, Forgiven, GuardMemory, GuardSettings, HeldChange, Hold, HoldKind,
    HoldReason, Judged, Runs, Selection, judge,
};
pub use lookup::{Lookup, SpaceLookup};
pub use memory::{
    Detection, Engine, Index, IngestSettings, Ingested, Listed, ListedRef, Listing, Memory, Miss, Poll,
    PolledTable, Published, Row, Seen, SeenList, Standing, TableMemory, TableOutcome, Unread,
};
pub use name::{Name, PoolName};
pub use pools::PoolNames;
pub use snapshot::{Edge, Session, Snapshot};
pub use twins::{Twins, twins};
pub use usage::{HourUse, PoolUse, Usage};
