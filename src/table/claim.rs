//! Claims: what one BAS or one static line says about one range.

use serde::{Deserialize, Serialize};

use super::{Name, PoolName};
use crate::address::Range;

mod derive;
mod stale;

pub use derive::{
    ClaimSettings, Claimed, FleetClaims, MaxRange, StaticLine, StaticLines, StaticMode, claims,
};
pub use stale::Stale;

/// How good a claim is, per address. The highest class wins; see the rules of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// 0: a static line that gives way to every router.
    Fill,
    /// 1: listed by a stale BAS that another BAS has begun to replace.
    Kept,
    /// 2: listed by the last complete poll, or not read since.
    Fresh,
    /// 3: a static line that goes before every router.
    Override,
}

impl Class {
    /// The number by which the rules and the store name the class.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Whether a router stands behind it.
    pub const fn is_polled(self) -> bool {
        matches!(self, Self::Kept | Self::Fresh)
    }

    /// Whether both are polled, both fill or both override: going stale changes no entry.
    pub const fn is_kind_of(self, other: Self) -> bool {
        self.is_polled() && other.is_polled() || self as u8 == other as u8
    }

    /// The class of a number, as the store keeps it.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Fill),
            1 => Some(Self::Kept),
            2 => Some(Self::Fresh),
            3 => Some(Self::Override),
            _ => None,
        }
    }
}

/// One range of one BAS (touching ranges of one pool merged first) or one static line,
/// as far as one class reaches in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The address space that the pool's VRF belongs to.
    pub space: Name,
    /// The part of the range that has this class.
    pub range: Range,
    /// The whole range, by which nesting is judged. Covers `range`.
    pub whole: Range,
    /// Who owns it: the BAS's pair, else the BAS; for a static line that names edges,
    /// `edges:` and their names.
    pub owner: Name,
    /// The BAS that lists it; none for a static line that names edges.
    pub bas: Option<Name>,
    /// The pool's name; a static line has the empty one.
    pub pool: PoolName,
    /// The VRF as the router names it.
    pub vrf: Name,
    /// The BAS's configured priority; higher wins.
    pub priority: i32,
    /// How good the claim is.
    pub class: Class,
}
