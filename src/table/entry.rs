//! Entries, and how long addresses were an owner's.

use jiff::Timestamp;
use serde::Serialize;

use super::{Class, Name, PoolName};
use crate::address::Range;

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A router listed it.
    Polled,
    /// A static line of the configuration says so.
    Static,
}

/// One disjoint range of the table and whom it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// The owner: a pair, a BAS, or a static line's edges.
    pub owner: Name,
    /// The BAS whose claim it is; none for a static line that names edges.
    pub bas: Option<Name>,
    /// The pool on that BAS.
    pub pool: PoolName,
    /// The VRF as the router names it.
    pub vrf: Name,
    /// The class of the claim that won.
    pub class: Class,
}

impl Entry {
    /// Whether a router or a static line stands behind it.
    pub const fn origin(&self) -> Origin {
        match self.class {
            Class::Fill | Class::Override => Origin::Static,
            Class::Kept | Class::Fresh => Origin::Polled,
        }
    }

    /// Whether both say the same of their addresses: owner, BAS, pool, VRF and kind of
    /// class. That a BAS went stale is no difference.
    pub fn says_same(&self, other: &Self) -> bool {
        self.owner == other.owner
            && self.bas == other.bas
            && self.pool == other.pool
            && self.vrf == other.vrf
            && self.class.is_kind_of(other.class)
    }

    /// Whether both say the same of the same addresses, as far as can be told without reading
    /// the names: false tells nothing.
    #[inline]
    pub(super) fn is_plainly(&self, other: &Self) -> bool {
        let bas = match (&self.bas, &other.bas) {
            (Some(bas), Some(other)) => bas.is_same_place(other),
            (bas, other) => bas.is_none() && other.is_none(),
        };
        self.range == other.range
            && self.pool.is_same_place(&other.pool)
            && self.owner.is_same_place(&other.owner)
            && self.vrf.is_same_place(&other.vrf)
            && self.space.is_same_place(&other.space)
            && bas
            && self.class.is_kind_of(other.class)
    }

    /// Both as one entry, where `next` goes on behind this one and says the same.
    pub(super) fn joined(&self, next: &Self) -> Option<Self> {
        let joins = self.space == next.space && self.range.touches(next.range) && self.says_same(next);
        let range = Range::from_bits(self.range.family(), self.range.first_bits(), next.range.last_bits());
        let range = range.filter(|_| joins)?;
        Some(Self { class: self.class.max(next.class), ..self.with_range(range) })
    }

    /// The part before a range.
    pub(super) fn before(&self, range: Range) -> Option<Self> {
        let last = range.first_bits().checked_sub(1)?;
        let part = Range::from_bits(range.family(), self.range.first_bits(), last)?;
        Some(self.with_range(part))
    }

    /// The part behind a range.
    pub(super) fn behind(&self, range: Range) -> Option<Self> {
        let first = range.last_bits().checked_add(1)?;
        let part = Range::from_bits(range.family(), first, self.range.last_bits())?;
        Some(self.with_range(part))
    }

    /// The same of other addresses.
    pub(super) fn with_range(&self, range: Range) -> Self {
        Self { range, ..self.clone() }
    }
}

/// For how long a range was published as an owner's: what the guard's reference is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The address space.
    pub space: Name,
    /// The addresses.
    pub range: Range,
    /// Whose it was. Fill lines are nobody's and make no run.
    pub owner: Name,
    /// Since when.
    pub from: Timestamp,
    /// Until when; none while it is.
    pub to: Option<Timestamp>,
}
