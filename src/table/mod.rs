//! The table and its rules: claims, entries, groups; build, diff, guard; and what is
//! remembered per BAS. Plain data and pure functions: the clock is an input, nothing here
//! does I/O. Knows only `address`.

mod build;
mod claim;
mod diff;
mod entry;
mod group;
mod guard;
mod lookup;
mod memory;
mod name;
mod snapshot;

pub use build::{
    BuildRules, Built, Conflict, ConflictClaim, PrivateSpace, Refusal, RefusalReason, Rule, build,
};
pub use claim::{Claim, Class};
pub use diff::Change;
pub use entry::{Entry, Origin, Run, Table};
pub use group::{Group, GroupEdge, Groups, Token};
pub use guard::{Forgiven, GuardMemory, HeldChange, Hold, HoldKind, HoldReason};
pub use memory::{
    Detection, Engine, Listed, Memory, Miss, PolledTable, Row, Seen, Standing, TableMemory, TableOutcome,
    Unread,
};
pub use name::{Name, PoolName};
pub use snapshot::{Edge, Session, Snapshot};
