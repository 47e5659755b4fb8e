//! Finding the entry of an address: sorted arrays per space and family.
//!
//! Only the last addresses are searched, so that a search touches as little memory as may
//! be; IPv4 starts from a table of its upper 16 bits.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::{Entry, Name, Table};
use crate::address::{Family, Range};

/// A table made ready to be looked up in.
#[derive(Clone, Debug)]
pub struct Lookup {
    table: Arc<Table>,
    spaces: BTreeMap<Name, Space>,
}

/// One space of a [`Lookup`]: where many addresses are looked up, it is found once.
#[derive(Clone, Copy, Debug)]
pub struct SpaceLookup<'a> {
    table: &'a Table,
    space: &'a Space,
}

#[derive(Clone, Debug, Default)]
struct Space {
    v4: V4,
    v6: V6,
}

#[derive(Clone, Debug, Default)]
struct V4 {
    /// Where in the table the family's entries begin.
    offset: usize,
    first: Vec<u32>,
    last: Vec<u32>,
    /// By the upper 16 bits of an address: the first entry that does not end before them.
    upper: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct V6 {
    offset: usize,
    first: Vec<u128>,
    last: Vec<u128>,
}

impl Lookup {
    /// Prepares a table.
    pub fn new(table: Arc<Table>) -> Self {
        let mut spaces: BTreeMap<Name, Space> = BTreeMap::new();
        let mut offset = 0;
        let same = |a: &Entry, b: &Entry| a.space == b.space && a.range.family() == b.range.family();
        for group in table.entries().chunk_by(same) {
            if let Some(entry) = group.first() {
                let space = spaces.entry(entry.space.clone()).or_default();
                match entry.range.family() {
                    Family::V4 => space.v4 = V4::new(offset, group),
                    Family::V6 => space.v6 = V6::new(offset, group),
                }
            }
            offset += group.len();
        }
        Self { table, spaces }
    }

    /// The table that is looked up in.
    pub const fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// One space; none where it has no entry.
    pub fn space(&self, name: &str) -> Option<SpaceLookup<'_>> {
        self.spaces.get(name).map(|space| SpaceLookup { table: &self.table, space })
    }

    /// The entry of an address.
    pub fn get(&self, space: &str, address: IpAddr) -> Option<&Entry> {
        self.space(space)?.get(address)
    }
}

impl<'a> SpaceLookup<'a> {
    /// The entry of an address. An IPv4-mapped IPv6 address is the IPv4 address.
    pub fn get(&self, address: IpAddr) -> Option<&'a Entry> {
        let place = match address.to_canonical() {
            IpAddr::V4(address) => self.space.v4.find(address.to_bits()),
            IpAddr::V6(address) => self.space.v6.find(address.to_bits()),
        };
        self.table.entries().get(place?)
    }

    /// The entries of many addresses, in their order.
    pub fn batch(
        &self,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> impl Iterator<Item = Option<&'a Entry>> {
        addresses.into_iter().map(|address| self.get(address))
    }
}

impl V4 {
    fn new(offset: usize, entries: &[Entry]) -> Self {
        let numbers = |of: fn(Range) -> u128| entries.iter().map(|e| of(e.range) as u32).collect::<Vec<_>>();
        let (first, last) = (numbers(Range::first_bits), numbers(Range::last_bits));
        let mut upper = Vec::with_capacity((1 << 16) + 1);
        let mut place = 0;
        for bits in 0..=u32::from(u16::MAX) {
            while last.get(place).is_some_and(|last| last >> 16 < bits) {
                place += 1;
            }
            upper.push(place as u32);
        }
        upper.push(last.len() as u32);
        Self { offset, first, last, upper }
    }

    fn find(&self, address: u32) -> Option<usize> {
        let bits = (address >> 16) as usize;
        let from = *self.upper.get(bits)? as usize;
        // The first entry that ends behind these upper bits may hold the address, too.
        let to = (*self.upper.get(bits + 1)? as usize + 1).min(self.last.len());
        let place = from + self.last.get(from..to)?.partition_point(|last| *last < address);
        (*self.first.get(place)? <= address).then_some(self.offset + place)
    }
}

impl V6 {
    fn new(offset: usize, entries: &[Entry]) -> Self {
        let numbers = |of: fn(Range) -> u128| entries.iter().map(|e| of(e.range)).collect();
        Self { offset, first: numbers(Range::first_bits), last: numbers(Range::last_bits) }
    }

    fn find(&self, address: u128) -> Option<usize> {
        let place = self.last.partition_point(|last| *last < address);
        (*self.first.get(place)? <= address).then_some(self.offset + place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::address::RangeSet;
    use crate::table::{Class, PoolName};

    fn table(space: &str, ranges: impl IntoIterator<Item = Range>) -> Table {
        let entries = ranges.into_iter().enumerate().map(|(i, range)| Entry {
            space: space.into(),
            range,
            owner: format!("b{i}").as_str().into(),
            bas: None,
            pool: PoolName::new(b""),
            vrf: "".into(),
            class: Class::Fresh,
        });
        Table::new(entries.collect()).unwrap()
    }

    fn owner(lookup: &Lookup, space: &str, address: &str) -> Option<String> {
        lookup.get(space, address.parse().unwrap()).map(|entry| entry.owner.to_string())
    }

    #[test]
    fn ends_belong_and_gaps_do_not() {
        let ranges = ["1.0.0.0-1.0.255.255", "1.2.0.0-1.5.0.9", "255.255.255.255", "::5", "ffff::/16"];
        let lookup = Lookup::new(Arc::new(table("internet", ranges.map(|r| r.parse().unwrap()))));
        for (address, wanted) in [
            ("0.255.255.255", None),
            ("1.0.0.0", Some("b0")),
            ("1.0.255.255", Some("b0")),
            ("1.1.0.0", None),
            ("1.2.0.0", Some("b1")),
            ("1.4.7.7", Some("b1")),
            ("1.5.0.9", Some("b1")),
            ("1.5.0.10", None),
            ("255.255.255.255", Some("b2")),
            ("::ffff:1.0.0.7", Some("b0")),
            ("::5", Some("b3")),
            ("::6", None),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("b4")),
        ] {
            assert_eq!(owner(&lookup, "internet", address).as_deref(), wanted, "{address}");
        }
        assert_eq!(owner(&lookup, "iptv", "1.0.0.0"), None);
        assert!(Lookup::new(Arc::default()).space("internet").is_none());
    }

    #[test]
    fn spaces_are_apart() {
        let mut entries = table("b", ["10.0.0.0/8".parse().unwrap()]).into_entries();
        entries
            .extend(table("a", ["10.0.0.0/9", "2001:db8::/32"].map(|r| r.parse().unwrap())).into_entries());
        let lookup = Lookup::new(Arc::new(Table::new(entries).unwrap()));
        assert_eq!(lookup.get("b", "10.200.0.0".parse().unwrap()).unwrap().space, "b".into());
        assert!(lookup.get("a", "10.200.0.0".parse().unwrap()).is_none());
        let found = lookup.space("a").unwrap();
        let batch: Vec<_> = found
            .batch(["10.0.0.1", "2001:db8::1", "2001:db9::"].map(|a| a.parse().unwrap()))
            .map(|e| e.map(|e| e.owner.to_string()))
            .collect();
        assert_eq!(batch, [Some("b0".to_owned()), Some("b1".to_owned()), None]);
    }

    proptest! {
        #[test]
        fn equals_the_slow_lookup(
            parts in vec((any::<bool>(), any::<u32>(), 0u32..200_000), 0..60),
            probes in vec((any::<bool>(), any::<u32>()), 30),
        ) {
            let spread = |v6: bool, n: u32| if v6 { u128::from(n) << 96 } else { n.into() };
            let of = |v6: bool| if v6 { Family::V6 } else { Family::V4 };
            let set: RangeSet = parts
                .iter()
                .filter_map(|(v6, n, span)| {
                    Range::from_bits(of(*v6), spread(*v6, *n), spread(*v6, n.saturating_add(*span)))
                })
                .collect();
            let table = table("internet", set);
            let lookup = Lookup::new(Arc::new(table.clone()));
            let ends = table.entries().iter().flat_map(|e| {
                let (family, first, last) = (e.range.family(), e.range.first_bits(), e.range.last_bits());
                [first.saturating_sub(1), first, last, last.saturating_add(1).min(family.max())]
                    .map(|bits| family.address(bits))
            });
            let probes = probes.iter().map(|(v6, n)| of(*v6).address(spread(*v6, *n)));
            for address in ends.chain(probes).filter(|a| a.to_canonical() == *a) {
                let slow = table.entries().iter().find(|e| e.range.contains(address));
                prop_assert_eq!(lookup.get("internet", address), slow);
                prop_assert_eq!(table.lookup("internet", address), slow);
            }
        }
    }
}
