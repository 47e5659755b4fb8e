//! What a BAS listed, kept small: a fleet lists millions of ranges, and they stay in memory.
//!
//! A row is 32 octets and its index. What most rows of a BAS have in common (table, context,
//! space, VRF, family) is kept once, IPv6 ranges and counts of more than 31 bits stand apart.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::packed::{Apart, PackedRange};
use super::{Listed, Row, Standing};
use crate::address::{Family, Range};
use crate::table::{Name, PoolName};

/// Ranges as a router listed them, in its order. Cheap to clone.
#[derive(Clone, Default)]
pub struct Listing(Arc<Packed>);

/// One range of a [`Listing`]; the fields are those of [`Listed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedRef<'a> {
    /// The table of the descriptor that it was read from.
    pub table: &'a Name,
    /// The SNMP context of the row.
    pub context: &'a Name,
    /// The row's index within the context.
    pub index: &'a [u32],
    /// The space that its VRF belongs to; none where the VRF belongs to no space.
    pub space: Option<&'a Name>,
    /// The VRF as the router names it.
    pub vrf: &'a Name,
    /// The pool's name.
    pub pool: &'a PoolName,
    /// The addresses.
    pub range: Range,
    /// The router's own count of addresses in it.
    pub size: Option<u64>,
    /// The router's own count of addresses in use.
    pub used: Option<u64>,
    /// Whether the last complete poll listed it.
    pub standing: Standing,
}

#[derive(Default)]
struct Packed {
    rows: Vec<PackedRow>,
    kinds: Vec<Kind>,
    /// The rows' indexes, one behind the other.
    arcs: Vec<u32>,
    apart: Apart,
    /// Counts that do not fit into a row.
    counts: Vec<u64>,
}

struct PackedRow {
    pool: PoolName,
    range: PackedRange,
    /// Where its index ends; that of the next row begins there.
    arcs: u32,
    size: Count,
    used: Count,
    /// The place of what it has in common with others.
    kind: u32,
}

/// A count or none; where the highest bit is set, the place of one that is apart.
#[derive(Clone, Copy)]
struct Count(u32);

/// What rows have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Kind {
    table: Name,
    context: Name,
    space: Option<Name>,
    vrf: Name,
    family: Family,
    unread: bool,
}

impl Count {
    const NONE: Self = Self(u32::MAX);
    const APART: u32 = 1 << 31;

    fn pack(count: Option<u64>, apart: &mut Vec<u64>) -> Self {
        match count {
            None => Self::NONE,
            Some(count) => match u32::try_from(count) {
                Ok(small) if small < Self::APART => Self(small),
                _ => {
                    apart.push(count);
                    Self(Self::APART | (apart.len() - 1) as u32)
                }
            },
        }
    }

    fn unpack(self, apart: &[u64]) -> Option<u64> {
        match self.0 {
            u32::MAX => None,
            small if small < Self::APART => Some(small.into()),
            place => apart.get((place ^ Self::APART) as usize).copied(),
        }
    }
}

impl Packed {
    fn push(&mut self, listed: Listed, kind: u32) {
        let Listed { row, pool, range, size, used, .. } = listed;
        self.arcs.extend(&*row.index);
        let range = self.apart.pack(range);
        let size = Count::pack(size, &mut self.counts);
        let used = Count::pack(used, &mut self.counts);
        self.rows.push(PackedRow { pool, range, arcs: self.arcs.len() as u32, size, used, kind });
    }

    /// One by its place; none where there is no such row.
    fn get(&self, place: usize) -> Option<ListedRef<'_>> {
        let row = self.rows.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.rows.get(before));
        let start = before.map_or(0, |row| row.arcs as usize);
        let kind = self.kinds.get(row.kind as usize)?;
        Some(ListedRef {
            table: &kind.table,
            context: &kind.context,
            index: self.arcs.get(start..row.arcs as usize)?,
            space: kind.space.as_ref(),
            vrf: &kind.vrf,
            pool: &row.pool,
            range: self.apart.unpack(kind.family, row.range)?,
            size: row.size.unpack(&self.counts),
            used: row.used.unpack(&self.counts),
            standing: if kind.unread { Standing::Unread } else { Standing::Listed },
        })
    }

    fn shrink(&mut self) {
        self.rows.shrink_to_fit();
        self.kinds.shrink_to_fit();
        self.arcs.shrink_to_fit();
        self.apart.shrink();
        self.counts.shrink_to_fit();
    }
}

impl Listing {
    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.0.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.rows.is_empty()
    }

    /// The ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = ListedRef<'_>> + Clone {
        (0..self.len()).filter_map(|place| self.0.get(place))
    }

    /// The ranges in order, each by itself.
    pub fn to_vec(&self) -> Vec<Listed> {
        self.iter().map(ListedRef::to_listed).collect()
    }
}

impl ListedRef<'_> {
    /// The range by itself.
    pub fn to_listed(self) -> Listed {
        Listed {
            table: self.table.clone(),
            row: Row { context: self.context.clone(), index: self.index.into() },
            space: self.space.cloned(),
            vrf: self.vrf.clone(),
            pool: self.pool.clone(),
            range: self.range,
            size: self.size,
            used: self.used,
            standing: self.standing,
        }
    }
}

impl FromIterator<Listed> for Listing {
    fn from_iter<I: IntoIterator<Item = Listed>>(listed: I) -> Self {
        let mut packed = Packed::default();
        let mut places: HashMap<Kind, u32> = HashMap::new();
        for one in listed {
            let kind = Kind {
                table: one.table.clone(),
                context: one.row.context.clone(),
                space: one.space.clone(),
                vrf: one.vrf.clone(),
                family: one.range.family(),
                unread: one.standing == Standing::Unread,
            };
            // Neighbours are mostly of one kind.
            let last = packed.rows.last().map(|row| row.kind);
            let place = match last.filter(|place| packed.kinds.get(*place as usize) == Some(&kind)) {
                Some(place) => place,
                None => *places.entry(kind).or_insert_with_key(|kind| {
                    packed.kinds.push(kind.clone());
                    (packed.kinds.len() - 1) as u32
                }),
            };
            packed.push(one, place);
        }
        packed.shrink();
        Self(Arc::new(packed))
    }
}

impl From<Vec<Listed>> for Listing {
    fn from(listed: Vec<Listed>) -> Self {
        listed.into_iter().collect()
    }
}

impl PartialEq for Listing {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.iter().eq(other.iter())
    }
}

impl Eq for Listing {}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts() -> impl Strategy<Value = Option<u64>> {
        let edges = vec![0, 1, (1 << 31) - 1, 1 << 31, u64::from(u32::MAX) - 1, u32::MAX.into(), u64::MAX];
        prop_oneof![Just(None), any::<u64>().prop_map(Some), proptest::sample::select(edges).prop_map(Some)]
    }

    fn ranges() -> impl Strategy<Value = Range> {
        let v4 = (any::<u32>(), any::<u32>());
        let v4 =
            v4.prop_map(|(a, b)| Range::from_bits(Family::V4, a.min(b).into(), a.max(b).into()).unwrap());
        let v6 = (any::<u128>(), any::<u128>());
        let v6 = v6.prop_map(|(a, b)| Range::from_bits(Family::V6, a.min(b), a.max(b)).unwrap());
        let few = proptest::sample::select(&["::", "::-::5", "0.0.0.0", "255.255.255.255", "::ffff:1"][..]);
        prop_oneof![v4, v6, few.prop_map(|text| text.parse().unwrap())]
    }

    fn listed() -> impl Strategy<Value = Listed> {
        let names = proptest::sample::select(&["", "a", "b"][..]);
        let row = (names.clone(), proptest::collection::vec(any::<u32>(), 0..4));
        let place = (names.clone(), row, proptest::option::of(names.clone()), names.clone());
        let pool = (proptest::collection::vec(any::<u8>(), 0..4), proptest::option::of("[a-z]{0,3}"));
        let rest = (pool, ranges(), counts(), counts(), any::<bool>());
        (place, rest).prop_map(
            |((table, (context, index), space, vrf), ((raw, text), range, size, used, unread))| Listed {
                table: table.into(),
                row: Row { context: context.into(), index: index.into() },
                space: space.map(Name::from),
                vrf: vrf.into(),
                pool: text.map_or_else(|| PoolName::new(&raw), |text| PoolName::decoded(&raw, &text)),
                range,
                size,
                used,
                standing: if unread { Standing::Unread } else { Standing::Listed },
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_as_it_was(rows in proptest::collection::vec(listed(), 0..20)) {
            let listing = Listing::from(rows.clone());
            prop_assert_eq!(listing.len(), rows.len());
            let texts = |rows: &[Listed]| rows.iter().map(|row| row.pool.text().to_owned()).collect::<Vec<_>>();
            let out = listing.to_vec();
            prop_assert_eq!(texts(&out), texts(&rows));
            prop_assert_eq!(&out, &rows);
            prop_assert_eq!(&Listing::from(out), &listing);
        }

        #[test]
        fn two_listings_are_the_same_where_their_rows_are(
            a in proptest::collection::vec(listed(), 0..3), b in proptest::collection::vec(listed(), 0..3),
        ) {
            prop_assert_eq!(Listing::from(a.clone()) == Listing::from(b.clone()), a == b);
        }
    }

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<PackedRow>(), 32);
    }
}
