//! Pools of any names and addresses, laid out as each vendor does, are read back; and
//! whatever stands in place of a cell or an index never makes a range that nobody has.

mod blocks;
mod cells;
mod indexes;
mod patterns;
mod ranges;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::snmp::Oid;

/// What a router would answer.
type Objects = BTreeMap<Oid, Value>;

/// A range with the octets of its pool's name and the text of its VRF.
type Said = (Vec<u8>, String, u128, u128);

/// A table of a descriptor, and how its vendor lays pools out in it.
struct Layout {
    descriptor: &'static str,
    table: &'static str,
    /// What the router would answer, and what that says.
    lay_out: fn(&[Pool]) -> (Objects, Vec<Said>),
}

const fn layout(
    descriptor: &'static str,
    table: &'static str,
    lay_out: fn(&[Pool]) -> (Objects, Vec<Said>),
) -> Layout {
    Layout { descriptor, table, lay_out }
}

/// Every table of ranges of every built-in descriptor; a test holds it to that.
const LAYOUTS: [Layout; 28] = [
    layout("cisco-ios", "pools", ranges::cisco_ios),
    layout("cisco-ios-xr", "prefixes", blocks::cisco_xr),
    layout("cisco-ios-xr", "ranges", ranges::cisco_xr),
    layout("ericsson-redback", "pools", ranges::redback),
    layout("ericsson-redback", "v6-pools", blocks::redback),
    layout("ericsson-ssr", "pools", ranges::ssr),
    layout("ericsson-ssr", "v6-pools", blocks::ssr),
    layout("h3c-comware", "networks", ranges::h3c),
    layout("h3c-comware", "v6-networks", ranges::h3c_v6),
    layout("huawei", "dynamic", ranges::huawei_dynamic),
    layout("huawei", "pools", ranges::huawei_bounds),
    layout("huawei", "relay", blocks::huawei_relay),
    layout("huawei", "sections", ranges::huawei),
    layout("huawei", "v6-pools", blocks::huawei_v6),
    layout("huawei", "v6-prefixes", blocks::huawei_prefixes),
    layout("juniper-junos", "pools", blocks::junos),
    layout("juniper-junose", "pools", ranges::junose_first),
    layout("juniper-junose", "profiles", ranges::junose),
    layout("juniper-junose", "shared", blocks::junose_shared),
    layout("netelastic-flexbng", "sections", ranges::flexbng),
    layout("netelastic-flexbng", "v6-ranges", ranges::flexbng_v6),
    layout("nokia-sros", "nat", ranges::nokia_nat),
    layout("nokia-sros", "ranges", ranges::nokia),
    layout("nokia-sros", "v6-subnets", blocks::nokia_v6),
    layout("standard-connected", "addresses", blocks::connected),
    layout("standard-connected", "v6-prefixes", blocks::connected_v6),
    layout("standard-inet-routes", "routes", blocks::inet_routes),
    layout("standard-ip-routes", "routes", blocks::ip_routes),
];
// ZTE says everything twice, and is added where that matters.
const ZTE: Layout = layout("zte-uas", "pools", ranges::zte);

fn all() -> impl Iterator<Item = &'static Layout> {
    LAYOUTS.iter().chain([&ZTE])
}

/// A pool of a router.
#[derive(Clone, Debug)]
struct Pool {
    name: Vec<u8>,
    vrf: Vec<u8>,
    /// Different ranges, and different blocks, each as first and last address.
    v4: Vec<(u128, u128)>,
    v6: Vec<(u128, u128)>,
    blocks4: Vec<Block>,
    blocks6: Vec<Block>,
    /// Where a vendor can say a thing in several ways, which is taken.
    way: u8,
}

/// A prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    first: u128,
    last: u128,
    length: u8,
}

/// A block of a family that holds an address and is longer than the last resorts want.
fn block(width: u8, length: u8, address: u128) -> Block {
    let host = (1u128 << (width - length)) - 1;
    Block { first: address & !host, last: address | host, length }
}

fn ranges_of(last: u128) -> impl Strategy<Value = Vec<(u128, u128)>> {
    let range = (1..last, 0..1000u128).prop_map(move |(first, more)| (first, (first + more).min(last)));
    prop::collection::btree_set(range, 1..4).prop_map(|ranges| ranges.into_iter().collect())
}

/// Pools with different names; blocks are different among all of them, and none begins at
/// the address that stands for none.
fn pools() -> impl Strategy<Value = Vec<Pool>> {
    let octets = |length| prop::collection::vec(any::<u8>(), length);
    let blocks4 = prop::collection::vec((9u8..=29, 0x0100_0000..0xe000_0000u128), 1..3);
    let blocks6 = prop::collection::vec((20u8..=64, 1u128 << 125..1 << 126), 1..3);
    let pool =
        (octets(0..6), ranges_of(0xffff_fffe), ranges_of(u128::MAX >> 1), blocks4, blocks6, any::<u8>());
    prop::collection::btree_map(octets(1..12), pool, 1..6).prop_map(|pools| {
        let mut seen = std::collections::BTreeSet::new();
        let mut fresh = |width: u8, blocks: Vec<(u8, u128)>| -> Vec<Block> {
            let blocks = blocks.into_iter().map(|(length, address)| block(width, length, address));
            blocks.filter(|block| block.first != 0 && seen.insert(block.first)).collect()
        };
        let mut made = Vec::new();
        for (name, (vrf, v4, mut v6, blocks4, blocks6, way)) in pools {
            // IPv4 written as IPv6 is refused.
            v6.retain(|range| range.1 >> 32 != 0xffff && range.0 >> 32 != 0xffff);
            let (blocks4, blocks6) = (fresh(32, blocks4), fresh(128, blocks6));
            made.push(Pool { name, vrf, v4, v6, blocks4, blocks6, way });
        }
        made
    })
}

/// What a layout puts down.
#[derive(Default)]
struct Paper {
    objects: Objects,
    said: Vec<Said>,
}

impl Paper {
    fn cell(&mut self, entry: &str, column: u32, index: &[u32], value: Value) {
        self.objects.insert(entry.parse::<Oid>().unwrap().child(&[column]).child(index), value);
    }

    fn say(&mut self, name: &[u8], vrf: &[u8], first: u128, last: u128) {
        self.said.push((name.to_vec(), crate::mib::text::text(vrf, None), first, last));
    }

    fn done(mut self) -> (Objects, Vec<Said>) {
        self.said.sort();
        (self.objects, self.said)
    }
}

fn text(octets: &[u8]) -> Value {
    Value::Octets(octets.to_vec())
}

fn v4_octets(address: u128) -> [u8; 4] {
    u32::try_from(address).unwrap().to_be_bytes()
}

fn ip(address: u128) -> Value {
    Value::IpAddress(v4_octets(address).to_vec())
}

fn arcs(octets: &[u8]) -> Vec<u32> {
    octets.iter().map(|octet| u32::from(*octet)).collect()
}

fn counted(octets: &[u8]) -> Vec<u32> {
    [vec![octets.len() as u32], arcs(octets)].concat()
}

/// A mask of a length, as an address.
fn mask(width: u8, length: u8) -> u128 {
    let all = if width == 32 { u128::from(u32::MAX) } else { u128::MAX };
    all & !((1u128 << (width - length)) - 1)
}

fn decoded(layout: &Layout, objects: &Objects) -> DecodedTable {
    let descriptor = built_in(layout.descriptor);
    let recording = Recording::from_objects(objects.clone());
    let reads = descriptor.tables().map(|table| {
        let read = read_table(&recording, &table.columns());
        Some(Read { outcome: read.outcome.into(), table: read })
    });
    let read = ContextRead { reads: reads.collect(), ..ContextRead::default() };
    decoded_table(&descriptor, &read, layout.table)
}

fn said(table: &DecodedTable) -> Vec<Said> {
    let listed = table.table.listed.iter();
    let said =
        listed.map(|l| (l.pool.raw().to_vec(), l.vrf.to_string(), l.range.first_bits(), l.range.last_bits()));
    let mut said: Vec<Said> = said.collect();
    said.sort();
    said
}

#[test]
fn every_table_of_ranges_has_a_layout() {
    let mut tables: Vec<(String, String)> = Library::built_in()
        .iter()
        .flat_map(|descriptor| {
            let ranges = descriptor.tables().filter(|table| table.has_ranges());
            ranges.map(|table| (descriptor.name().to_string(), table.name().to_string())).collect::<Vec<_>>()
        })
        .collect();
    tables.sort();
    let mut laid_out: Vec<(String, String)> =
        all().map(|layout| (layout.descriptor.to_owned(), layout.table.to_owned())).collect();
    laid_out.sort();
    assert_eq!(laid_out, tables);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pools_come_back_as_they_were(pools in pools()) {
        for layout in all() {
            let (objects, truth) = (layout.lay_out)(&pools);
            let table = decoded(layout, &objects);
            prop_assert_eq!(said(&table), truth, "{} {}", layout.descriptor, layout.table);
            prop_assert_eq!(&table.rejected, &vec![], "{} {}", layout.descriptor, layout.table);
            prop_assert!(!table.table.bad_index);
        }
    }
}
