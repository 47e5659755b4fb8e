//! The fleet of the benches: 10,000 BASes with 100 ranges each, always the same.
#![allow(dead_code)] // each bench takes what it needs

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use poolsync::address::{Family, Range};
use poolsync::table::{
    Claim, Class, Edge, Entry, Groups, Name, OwnerEdges, PoolName, Session, Snapshot, Table,
};

pub const BASES: usize = 10_000;
pub const RANGES: usize = 100;
pub const EDGES: usize = 300;

/// A generator that gives the same numbers everywhere (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// Disjoint ranges of a family in random order. IPv4: of 64 to 1,087 addresses, from 16.0.0.0
/// on; IPv6: a /64 to a /56, in forty /32s.
pub fn ranges(family: Family, count: usize, numbers: &mut Numbers) -> Vec<Range> {
    let mut ranges: Vec<Range> = (0..count as u128)
        .map(|slot| {
            let (first, last) = match family {
                Family::V4 => {
                    let first = 0x1000_0000 + slot * 1792 + u128::from(numbers.below(512));
                    (first, first + 63 + u128::from(numbers.below(1024)))
                }
                Family::V6 => {
                    let site = (0x2001_0db8 + slot % 40) << 96;
                    let first = site | ((slot / 40) << 72);
                    (first, first | ((1 << (64 + numbers.below(9))) - 1))
                }
            };
            Range::from_bits(family, first, last).unwrap()
        })
        .collect();
    for place in (1..ranges.len()).rev() {
        ranges.swap(place, numbers.below(place as u64 + 1) as usize);
    }
    ranges
}

pub fn bas(number: usize) -> Name {
    format!("bas-{number:05}").as_str().into()
}

/// What the fleet claims: one range in five is IPv6, one in a hundred lies in another one or
/// over its end.
pub fn claims() -> Vec<Claim> {
    let mut numbers = Numbers(7);
    let all = BASES * RANGES;
    let mut ranges =
        [ranges(Family::V4, all / 5 * 4, &mut numbers), ranges(Family::V6, all / 5, &mut numbers)].concat();
    for place in (0..all).step_by(100) {
        let other = ranges[numbers.below(all as u64) as usize];
        let (quarter, shift) = (other.span() / 4, if place.is_multiple_of(200) { 1 } else { 3 });
        let first = other.first_bits() + quarter * shift;
        ranges[place] = Range::from_bits(other.family(), first, first + quarter * 2).unwrap();
    }
    let (space, vrf) = (Name::from("internet"), Name::from(""));
    let mut made = Vec::with_capacity(all);
    for number in 0..BASES {
        let bas = bas(number);
        for pool in 0..RANGES {
            // Dealt like cards: a BAS has ranges of all sorts.
            let range = ranges[pool * BASES + number];
            made.push(Claim {
                space: space.clone(),
                range,
                whole: range,
                owner: bas.clone(),
                bas: Some(bas.clone()),
                pool: PoolName::new(format!("pool-{pool:03}").as_bytes()),
                vrf: vrf.clone(),
                priority: 0,
                class: Class::Fresh,
            });
        }
    }
    made
}

/// A generation of these ranges, dealt to the BASes; 300 edges, up to three in a group.
pub fn snapshot(ranges: &[Range]) -> Snapshot {
    let names: Vec<Name> = (0..BASES).map(bas).collect();
    let space = Name::from("internet");
    let entries = ranges.iter().enumerate().map(|(place, range)| Entry {
        space: space.clone(),
        range: *range,
        owner: names[place % BASES].clone(),
        bas: Some(names[place % BASES].clone()),
        pool: PoolName::new(b"pool"),
        vrf: space.clone(),
        class: Class::Fresh,
    });
    snapshot_of(Table::new(entries.collect()).unwrap())
}

pub fn snapshot_of(table: Table) -> Snapshot {
    let mut numbers = Numbers(11);
    let edge_name = |number: u64| Name::from(format!("edge-{number:03}").as_str());
    let edges: BTreeMap<Name, Edge> = (0..EDGES as u64)
        .map(|number| {
            let name = edge_name(number);
            (name.clone(), Edge { name, addresses: vec![], host: None, region: None })
        })
        .collect();
    let owners: Vec<OwnerEdges> = (0..BASES)
        .map(|number| {
            let near = numbers.below(EDGES as u64);
            let edges = (0..=near % 3).map(|i| edge_name((near + i * 7) % EDGES as u64)).collect();
            OwnerEdges { owner: bas(number), service: "default".into(), edges }
        })
        .collect();
    Snapshot {
        session: Session(1),
        generation: 1,
        committed: Timestamp::UNIX_EPOCH,
        filled: true,
        table: Arc::new(table),
        groups: Arc::new(Groups::make(&owners, "").unwrap()),
        edges: Arc::new(edges),
        default_edge: edge_name(0),
    }
}
