//! What answers an address: one index per space and family, from address to group.
//!
//! Neighbours that one group answers are one cell; nothing is allocated by a search, and an
//! entry takes far less than 64 octets.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::{Groups, Name, Table, Token};
use crate::address::{Family, Index4, Index6, Range};

/// The groups that answer the addresses of a table for one service.
#[derive(Clone, Debug)]
pub struct Lookup {
    tokens: Vec<Token>,
    spaces: BTreeMap<Name, (Index4, Index6)>,
}

/// One space of a [`Lookup`]: where many addresses are looked up, it is found once.
#[derive(Clone, Copy, Debug)]
pub struct SpaceLookup<'a> {
    tokens: &'a [Token],
    v4: &'a Index4,
    v6: &'a Index6,
}

/// The number of addresses in no entry: no token has it.
const NOBODY: u32 = u32::MAX;

impl Lookup {
    /// Prepares a table. The addresses of an owner that no group answers for are as those in
    /// no entry.
    pub fn new(table: &Table, groups: &Groups, service: &Name) -> Self {
        let mut tokens: Vec<Token> = Vec::new();
        let mut of_group: HashMap<&Token, u32> = HashMap::new();
        let mut of_owner: HashMap<&str, u32> = HashMap::new();
        let mut spaces: BTreeMap<&Name, Vec<(Range, u32)>> = BTreeMap::new();
        for entry in table.entries() {
            let group = *of_owner.entry(&entry.owner).or_insert_with(|| {
                let Some(group) = groups.of(&entry.owner, service) else { return NOBODY };
                *of_group.entry(&group.token).or_insert_with(|| {
                    tokens.push(group.token.clone());
                    tokens.len() as u32 - 1
                })
            });
            match spaces.get_mut(&entry.space) {
                Some(stretches) => stretches.push((entry.range, group)),
                None => drop(spaces.insert(&entry.space, vec![(entry.range, group)])),
            }
        }
        let indexed = |(name, stretches): (&Name, Vec<(Range, u32)>)| {
            let v6 = stretches.partition_point(|(range, _)| range.family() == Family::V4);
            let (v4, v6) = stretches.split_at_checked(v6).unwrap_or_default();
            (name.clone(), (Index4::new(v4, NOBODY), Index6::new(v6, NOBODY)))
        };
        Self { spaces: spaces.into_iter().map(indexed).collect(), tokens }
    }

    /// One space; none where it has no entry.
    pub fn space(&self, name: &str) -> Option<SpaceLookup<'_>> {
        self.spaces.get(name).map(|(v4, v6)| SpaceLookup { tokens: &self.tokens, v4, v6 })
    }

    /// The token of the group that answers an address; none where it is in no entry.
    pub fn token(&self, space: &str, address: IpAddr) -> Option<&str> {
        self.space(space)?.token(address)
    }

    /// How many octets the indexes take.
    pub fn size(&self) -> usize {
        self.spaces.values().map(|(v4, v6)| v4.size() + v6.size()).sum()
    }
}

impl<'a> SpaceLookup<'a> {
    /// The token of the group that answers an address; none where it is in no entry. An
    /// IPv4-mapped IPv6 address is the IPv4 address.
    #[inline]
    pub fn token(&self, address: IpAddr) -> Option<&'a str> {
        let group = match address.to_canonical() {
            IpAddr::V4(address) => self.v4.find(address.to_bits()),
            IpAddr::V6(address) => self.v6.find(address.to_bits()),
        };
        self.tokens.get(group as usize).map(Token::as_str)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::address::RangeSet;
    use crate::table::{Class, Entry, OwnerEdges, PoolName};

    /// A table whose owners, `b0` to `b4` in turn, are answered with the edges `e0` to `e4`;
    /// `b4` has no group.
    fn lookup(space: &str, ranges: impl IntoIterator<Item = Range>) -> (Table, Lookup) {
        let entries = ranges.into_iter().enumerate().map(|(i, range)| Entry {
            space: space.into(),
            range,
            owner: format!("b{}", i % 5).as_str().into(),
            bas: None,
            pool: PoolName::new(b""),
            vrf: "".into(),
            class: Class::Fresh,
        });
        let table = Table::new(entries.collect()).unwrap();
        let lookup = Lookup::new(&table, &groups(), &"default".into());
        (table, lookup)
    }

    fn groups() -> Groups {
        let owners: Vec<OwnerEdges> = (0..4)
            .map(|i| OwnerEdges {
                owner: format!("b{i}").as_str().into(),
                service: "default".into(),
                edges: vec![format!("e{i}").as_str().into()],
            })
            .collect();
        Groups::make(&owners, "").unwrap()
    }

    #[test]
    fn ends_belong_and_gaps_do_not() {
        let ranges = ["1.0.0.0-1.0.255.255", "1.2.0.0-1.5.0.9", "255.255.255.255", "::5", "ffff::/16"]
            .map(|r| r.parse().unwrap());
        let (_, lookup) = lookup("internet", ranges);
        for (address, wanted) in [
            ("0.255.255.255", None),
            ("1.0.0.0", Some("e0")),
            ("1.0.255.255", Some("e0")),
            ("1.1.0.0", None),
            ("1.2.0.0", Some("e1")),
            ("1.4.7.7", Some("e1")),
            ("1.5.0.9", Some("e1")),
            ("1.5.0.10", None),
            ("255.255.255.255", Some("e2")),
            ("::ffff:1.0.0.7", Some("e0")),
            ("::5", Some("e3")),
            ("::6", None),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
        ] {
            assert_eq!(lookup.token("internet", address.parse().unwrap()), wanted, "{address}");
        }
        assert_eq!(lookup.token("iptv", "1.0.0.0".parse().unwrap()), None);
        let nothing = Lookup::new(&Table::default(), &groups(), &"default".into());
        assert!(nothing.space("internet").is_none());
    }

    #[test]
    fn spaces_are_apart() {
        let (b, _) = lookup("b", ["10.0.0.0/8".parse().unwrap()]);
        let (a, _) = lookup("a", ["10.0.0.0/9", "2001:db8::/32"].map(|r| r.parse().unwrap()));
        let entries = a.into_entries().into_iter().chain(b.into_entries()).collect();
        let lookup = Lookup::new(&Table::new(entries).unwrap(), &groups(), &"default".into());
        let token = |space: &str, address: &str| lookup.token(space, address.parse().unwrap());
        assert_eq!(token("b", "10.200.0.0"), Some("e0"));
        assert_eq!(token("a", "10.200.0.0"), None);
        assert_eq!(token("a", "2001:db8::1"), Some("e1"));
        assert_eq!(token("b", "2001:db8::1"), None);
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
            let (table, lookup) = lookup("internet", set);
            let ends = table.entries().iter().flat_map(|e| {
                let (family, first, last) = (e.range.family(), e.range.first_bits(), e.range.last_bits());
                [first.saturating_sub(1), first, last, last.saturating_add(1).min(family.max())]
                    .map(|bits| family.address(bits))
            });
            let probes = probes.iter().map(|(v6, n)| of(*v6).address(spread(*v6, *n)));
            for address in ends.chain(probes).filter(|a| a.to_canonical() == *a) {
                let slow = table.entries().iter().find(|e| e.range.contains(address));
                let edge = slow.map(|entry| entry.owner.replace('b', "e")).filter(|edge| edge != "e4");
                prop_assert_eq!(lookup.token("internet", address), edge.as_deref());
                prop_assert_eq!(table.lookup("internet", address), slow);
            }
        }
    }
}
