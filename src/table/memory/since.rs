//! Since when addresses are listed, kept small: a fleet has as many of these stretches as it
//! has ranges, and most of a BAS's have one time.

use std::collections::HashMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Seen;
use super::packed::{Apart, PackedRange};
use crate::address::Family;
use crate::table::Name;

/// Stretches of addresses, each with the time since when it is listed, in order.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Seen>", into = "Vec<Seen>")]
pub struct SeenList {
    /// Each with the place of its kind.
    rows: Vec<(PackedRange, u32)>,
    kinds: Vec<Kind>,
    apart: Apart,
}

/// What stretches have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    space: Name,
    family: Family,
    since: Timestamp,
}

impl SeenList {
    /// How many stretches there are.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The stretches in order.
    pub fn iter(&self) -> impl Iterator<Item = Seen> + '_ {
        self.rows.iter().filter_map(|(range, kind)| {
            let kind = self.kinds.get(*kind as usize)?;
            let range = self.apart.unpack(kind.family, *range)?;
            Some(Seen { space: kind.space.clone(), range, since: kind.since })
        })
    }
}

impl FromIterator<Seen> for SeenList {
    fn from_iter<I: IntoIterator<Item = Seen>>(seen: I) -> Self {
        let mut list = Self::default();
        let mut places: HashMap<Kind, u32> = HashMap::new();
        for Seen { space, range, since } in seen {
            let kind = Kind { space, family: range.family(), since };
            // Neighbours are mostly of one kind.
            let last = list.rows.last().map(|(_, place)| *place);
            let place = match last.filter(|place| list.kinds.get(*place as usize) == Some(&kind)) {
                Some(place) => place,
                None => *places.entry(kind).or_insert_with_key(|kind| {
                    list.kinds.push(kind.clone());
                    (list.kinds.len() - 1) as u32
                }),
            };
            list.rows.push((list.apart.pack(range), place));
        }
        list.rows.shrink_to_fit();
        list.kinds.shrink_to_fit();
        list.apart.shrink();
        list
    }
}

impl From<Vec<Seen>> for SeenList {
    fn from(seen: Vec<Seen>) -> Self {
        seen.into_iter().collect()
    }
}

impl From<SeenList> for Vec<Seen> {
    fn from(list: SeenList) -> Self {
        list.iter().collect()
    }
}

impl fmt::Debug for SeenList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::address::Range;

    fn seen() -> impl Strategy<Value = Seen> {
        let spaces = proptest::sample::select(&["internet", "iptv"][..]);
        let v4 = (any::<u32>(), any::<u32>()).prop_map(|(a, b)| (Family::V4, a.into(), b.into()));
        let v6 = (any::<u128>(), any::<u128>()).prop_map(|(a, b)| (Family::V6, a, b));
        let small = (0u128..9, 0u128..9).prop_map(|(a, b)| (Family::V6, a, b));
        let ranges = prop_oneof![v4, v6, small].prop_map(|(family, a, b): (Family, u128, u128)| {
            Range::from_bits(family, a.min(b), a.max(b)).unwrap()
        });
        (spaces, ranges, -2i64..3).prop_map(|(space, range, second)| Seen {
            space: space.into(),
            range,
            since: Timestamp::from_second(second).unwrap(),
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_as_it_was(seen in proptest::collection::vec(seen(), 0..20)) {
            let list = SeenList::from(seen.clone());
            prop_assert_eq!((list.len(), list.is_empty()), (seen.len(), seen.is_empty()));
            prop_assert_eq!(&Vec::from(list.clone()), &seen);
            let json = serde_json::to_string(&list).unwrap();
            prop_assert_eq!(&json, &serde_json::to_string(&seen).unwrap());
            prop_assert_eq!(serde_json::from_str::<SeenList>(&json).unwrap(), list);
        }
    }

    #[test]
    fn a_stretch_of_ipv4_takes_three_words() {
        assert_eq!(size_of::<(PackedRange, u32)>(), 12);
    }
}
