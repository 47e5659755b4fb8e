//! Overlaps of claims, told.

use serde::Serialize;

use crate::address::Range;
use crate::table::{Claim, Class, Name, PoolName};

/// Which rule decided an overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The owner's claim has the highest class.
    Class,
    /// The owner's claim lies within the others and is at most half as large.
    Nested,
    /// Private addresses of two owners: nobody's.
    Private,
    /// The owner's BAS has the highest priority.
    Priority,
    /// The owner had the addresses before.
    Previous,
    /// Nothing else: BAS name, pool octets, range.
    Name,
}

/// One of the claims that overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConflictClaim {
    /// Whose claim it is.
    pub owner: Name,
    /// The BAS that lists it; none for a static line that names edges.
    pub bas: Option<Name>,
    /// The pool on that BAS.
    pub pool: PoolName,
    /// How good the claim is.
    pub class: Class,
}

impl From<&Claim> for ConflictClaim {
    fn from(claim: &Claim) -> Self {
        Self {
            owner: claim.owner.clone(),
            bas: claim.bas.clone(),
            pool: claim.pool.clone(),
            class: claim.class,
        }
    }
}

/// Addresses that two owners claim, or one BAS in two pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Whose they are now; none: nobody's.
    pub owner: Option<Name>,
    /// Which rule said so.
    pub rule: Rule,
    /// The claims, best class first, then by BAS and pool; not more than
    /// [`Conflict::SHOWN`].
    pub claims: Vec<ConflictClaim>,
    /// How many more claims there are.
    pub more: usize,
}

impl Conflict {
    /// How many claims of one conflict are listed: where ten thousand routers share a range,
    /// the rest is a number.
    pub const SHOWN: usize = 32;
}
