//! Object identifiers, compared arc by arc.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};
use smallvec::SmallVec;
use thiserror::Error;

/// The most arcs that an OID may have (RFC 2578, section 3.5).
pub const MAX_ARCS: usize = 128;

/// An object identifier. Order is by arc, as an agent's table is (RFC 1905, 4.2.2), never
/// by text or by encoded bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(Arcs);

/// The arcs of an OID. Those of most cells need no memory of their own.
pub(super) type Arcs = SmallVec<[u32; 20]>;

impl Oid {
    /// An OID of these arcs. The caller vouches for their number; what comes from outside
    /// is checked where it is read.
    pub fn new(arcs: impl Into<Vec<u32>>) -> Self {
        Self(Arcs::from_vec(arcs.into()))
    }

    /// An OID of arcs that were read.
    pub(super) fn of(arcs: Arcs) -> Self {
        Self(arcs)
    }

    /// The arcs.
    pub fn arcs(&self) -> &[u32] {
        &self.0
    }

    /// This OID with more arcs behind it.
    #[must_use]
    pub fn child(&self, arcs: &[u32]) -> Self {
        let mut all = Arcs::with_capacity(self.0.len() + arcs.len());
        all.extend_from_slice(&self.0);
        all.extend_from_slice(arcs);
        Self(all)
    }

    /// What stands behind `root`, where this OID lies under it.
    pub fn suffix(&self, root: &Self) -> Option<&[u32]> {
        self.0.strip_prefix(root.0.as_slice())
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, arc) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{arc}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is no OID.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not an OID (numbers with dots between them, as 1.3.6.1.2.1)")]
pub struct ParseOidError(String);

impl FromStr for Oid {
    type Err = ParseOidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('.').unwrap_or(text);
        let arcs: Option<Arcs> = digits.split('.').map(parse_arc).collect();
        match arcs {
            Some(arcs) if arcs.len() <= MAX_ARCS => Ok(Self(arcs)),
            _ => Err(ParseOidError(text.to_owned())),
        }
    }
}

/// One arc; `u32::from_str` alone would take a plus sign.
fn parse_arc(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
