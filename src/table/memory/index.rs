//! The index of a row.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

/// The arcs of a row's index, behind the column's OID. A few, as most tables have, need no
/// memory of their own: a fleet has millions of rows.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(SmallVec<[u32; 4]>);

impl Deref for Index {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl From<&[u32]> for Index {
    fn from(arcs: &[u32]) -> Self {
        Self(SmallVec::from_slice(arcs))
    }
}

impl From<Vec<u32>> for Index {
    fn from(arcs: Vec<u32>) -> Self {
        Self(SmallVec::from_vec(arcs))
    }
}

impl<const N: usize> From<[u32; N]> for Index {
    fn from(arcs: [u32; N]) -> Self {
        Self(SmallVec::from_slice(&arcs))
    }
}

impl FromIterator<u32> for Index {
    fn from_iter<I: IntoIterator<Item = u32>>(arcs: I) -> Self {
        Self(arcs.into_iter().collect())
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Index {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_its_arcs_however_many_there_are() {
        for arcs in [vec![], vec![7], vec![1, 2, 3, 4], vec![16, 32, 1, 13, 184, 0, 0, 0, 9]] {
            let index = Index::from(arcs.clone());
            assert_eq!((&index[..], &index), (&arcs[..], &Index::from(&arcs[..])));
            let text = serde_json::to_string(&index).unwrap();
            assert_eq!(text, serde_json::to_string(&arcs).unwrap());
            assert_eq!(serde_json::from_str::<Index>(&text).unwrap(), index);
        }
        // As a table is: arc by arc, and the shorter one first.
        assert!(Index::from([2]) < Index::from([10]) && Index::from([2]) < Index::from([2, 0]));
    }
}
