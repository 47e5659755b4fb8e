//! Pools of any names and addresses, laid out as each vendor does, are read back; and
//! whatever stands in place of a cell or an index never makes a range that nobody has.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::snmp::Oid;

/// A pool of a router: name, VRF, ranges.
#[derive(Clone, Debug)]
struct Pool {
    name: Vec<u8>,
    vrf: Vec<u8>,
    ranges: Vec<(u32, u32)>,
}

/// Pools with different names, each with different, possible ranges.
fn pools() -> impl Strategy<Value = Vec<Pool>> {
    let octets = |length| prop::collection::vec(any::<u8>(), length);
    let range = (1..0xffff_ff00u32, 0..1000u32)
        .prop_map(|(first, more)| (first, first.saturating_add(more).min(0xffff_fffe)));
    let ranges = prop::collection::btree_map(1..0xffff_ff00u32, range, 1..4).prop_map(|ranges| {
        ranges.into_values().collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    });
    prop::collection::btree_map(octets(0..12), (octets(0..6), ranges), 1..6)
        .prop_map(|pools| pools.into_iter().map(|(name, (vrf, ranges))| Pool { name, vrf, ranges }).collect())
}

/// A vendor's layout: from pools to what its router would answer.
type Layout = fn(&[Pool]) -> Objects;
type Objects = BTreeMap<Oid, Value>;

fn put(objects: &mut Objects, column: &str, index: &[u32], value: Value) {
    objects.insert(column.parse::<Oid>().unwrap().child(index), value);
}

fn address(address: u32) -> Value {
    Value::IpAddress(address.to_be_bytes().to_vec())
}

fn arcs(octets: &[u8]) -> Vec<u32> {
    octets.iter().map(|octet| u32::from(*octet)).collect()
}

fn counted(octets: &[u8]) -> Vec<u32> {
    [vec![octets.len() as u32], arcs(octets)].concat()
}

fn junose(pools: &[Pool]) -> Objects {
    let mut objects = Objects::new();
    for (number, pool) in (1..).zip(pools) {
        put(&mut objects, "1.3.6.1.4.1.4874.2.2.21.1.1.1.1.3", &[number], Value::Octets(pool.name.clone()));
        for (profile, range) in (1..).zip(&pool.ranges) {
            put(&mut objects, "1.3.6.1.4.1.4874.2.2.21.1.1.3.1.3", &[number, profile], address(range.0));
            put(&mut objects, "1.3.6.1.4.1.4874.2.2.21.1.1.3.1.4", &[number, profile], address(range.1));
        }
    }
    objects
}

fn huawei(pools: &[Pool]) -> Objects {
    let mut objects = Objects::new();
    for (number, pool) in (0..).zip(pools) {
        put(&mut objects, "1.3.6.1.4.1.2011.6.8.1.1.1.2", &[number], Value::Octets(pool.name.clone()));
        put(&mut objects, "1.3.6.1.4.1.2011.6.8.1.1.1.11", &[number], Value::Octets(pool.vrf.clone()));
        for (section, range) in (0..).zip(&pool.ranges) {
            put(&mut objects, "1.3.6.1.4.1.2011.6.8.1.2.1.3", &[number, section], address(range.0));
            put(&mut objects, "1.3.6.1.4.1.2011.6.8.1.2.1.4", &[number, section], address(range.1));
        }
    }
    objects
}

fn cisco(pools: &[Pool]) -> Objects {
    let mut objects = Objects::new();
    for pool in pools {
        for range in &pool.ranges {
            let index = [counted(&pool.name), vec![1], counted(&range.0.to_be_bytes())].concat();
            let end = Value::Octets(range.1.to_be_bytes().to_vec());
            put(&mut objects, "1.3.6.1.4.1.9.9.326.1.1.2.1.4", &index, end);
        }
    }
    objects
}

fn zte(pools: &[Pool]) -> Objects {
    let mut objects = Objects::new();
    for pool in pools {
        for (id, range) in (1..).zip(&pool.ranges) {
            let ends = [arcs(&range.0.to_be_bytes()), arcs(&range.1.to_be_bytes())].concat();
            let index = [counted(&pool.name), counted(&pool.vrf), counted(b"vbui1"), vec![id], ends].concat();
            let cells = [
                (1, Value::Octets(pool.name.clone())),
                (2, Value::Octets(pool.vrf.clone())),
                (5, address(range.0)),
                (6, address(range.1)),
            ];
            for (column, value) in cells {
                put(&mut objects, &format!("1.3.6.1.4.1.3902.1006.1.1.2.1.1.{column}"), &index, value);
            }
        }
    }
    objects
}

fn flexbng(pools: &[Pool]) -> Objects {
    let mut objects = Objects::new();
    for pool in pools {
        let name = counted(&pool.name);
        put(&mut objects, "1.3.6.1.4.1.54268.1.1.2.1.1.2", &name, Value::Octets(pool.vrf.clone()));
        for range in &pool.ranges {
            let index = [name.clone(), arcs(&range.0.to_be_bytes()), arcs(&range.1.to_be_bytes())].concat();
            put(&mut objects, "1.3.6.1.4.1.54268.1.1.2.2.1.1", &index, address(range.0));
            put(&mut objects, "1.3.6.1.4.1.54268.1.1.2.2.1.2", &index, address(range.1));
        }
    }
    objects
}

/// Each layout with its descriptor, the table of its ranges, and whether the router says VRFs.
const LAYOUTS: [(&str, &str, bool, Layout); 5] = [
    ("juniper-junose", "profiles", false, junose),
    ("huawei", "sections", true, huawei),
    ("cisco-ios", "pools", false, cisco),
    ("zte-uas", "pools", true, zte),
    ("netelastic-flexbng", "sections", true, flexbng),
];

fn decoded(descriptor: &Descriptor, table: &str, objects: &Objects) -> DecodedTable {
    let recording = Recording::from_objects(objects.clone());
    let reads = descriptor.tables().map(|table| {
        let read = table_of(&recording, &table.columns());
        Some(Read { outcome: read.outcome.into(), table: read })
    });
    let read = ContextRead { reads: reads.collect(), ..ContextRead::default() };
    decoded_table(descriptor, &read, table)
}

/// A range with the octets of its pool's name and the text of its VRF.
type Said = (Vec<u8>, String, u128, u128);

fn said(table: &DecodedTable) -> Vec<Said> {
    let listed = table.table.listed.iter();
    let said =
        listed.map(|l| (l.pool.raw().to_vec(), l.vrf.to_string(), l.range.first_bits(), l.range.last_bits()));
    let mut said: Vec<Said> = said.collect();
    said.sort();
    said
}

fn truth(pools: &[Pool], vrfs: bool) -> Vec<Said> {
    let mut truth = Vec::new();
    for pool in pools {
        let vrf = if vrfs { crate::mib::text::text(&pool.vrf, None) } else { String::new() };
        truth.extend(pool.ranges.iter().map(|r| (pool.name.clone(), vrf.clone(), r.0.into(), r.1.into())));
    }
    truth.sort();
    truth
}

fn any_value() -> impl Strategy<Value = Value> {
    let octets = || prop::collection::vec(any::<u8>(), 0..20);
    prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        octets().prop_map(Value::Octets),
        octets().prop_map(Value::IpAddress),
        any::<u32>().prop_map(Value::Gauge32),
        any::<u64>().prop_map(Value::Counter64),
        octets().prop_map(|octets| Value::Undecodable { tag: 0x40, octets }),
        Just(Value::Null),
        Just(Value::NoSuchInstance),
    ]
}

/// Whether a value could be a cell of the same column.
fn same_form(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::IpAddress(a), Value::IpAddress(b)) => a.len() == b.len(),
        (Value::Octets(_), Value::Octets(_)) => true,
        _ => false,
    }
}

proptest! {
    #[test]
    fn pools_come_back_as_they_were(pools in pools()) {
        for (name, table, vrfs, layout) in LAYOUTS {
            let table = decoded(&built_in(name), table, &layout(&pools));
            prop_assert_eq!(said(&table), truth(&pools, vrfs), "{}", name);
            prop_assert_eq!(&table.rejected, &vec![], "{}", name);
        }
    }

    /// A cell of another form harms the rows that need it, and no other: what is still
    /// listed is true, and what is missing is unread.
    #[test]
    fn a_broken_cell_makes_no_wrong_range(pools in pools(), at in any::<prop::sample::Index>(), value in any_value()) {
        for (name, table, vrfs, layout) in LAYOUTS {
            let mut objects = layout(&pools);
            let rows = decoded(&built_in(name), table, &objects).rows;
            let oid = objects.keys().nth(at.index(objects.len())).unwrap().clone();
            let before = objects.insert(oid.clone(), value.clone()).unwrap();
            // Another address, or name, in place of one cannot be told but by a twin.
            let twins = matches!(name, "zte-uas" | "netelastic-flexbng");
            let vrf_of_group = oid.to_string().starts_with("1.3.6.1.4.1.54268.1.1.2.1.1.2.");
            if same_form(&before, &value) && (!twins || vrf_of_group) {
                continue;
            }
            let table = decoded(&built_in(name), table, &objects);
            let truth = truth(&pools, vrfs);
            prop_assert!(said(&table).iter().all(|said| truth.contains(said)), "{} {}", name, oid);
            prop_assert_eq!(table.table.listed.len() + table.table.unread.len(), usize::try_from(rows).unwrap());
            prop_assert_eq!(table.table.unread.len(), table.rejected.len());
        }
    }

    /// Where the row says twice what it is about, no other index passes for its own.
    #[test]
    fn a_broken_index_makes_no_wrong_range(
        pools in pools(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        arc in prop_oneof![0..300u32, any::<u32>()],
        how in 0..3,
    ) {
        for (name, table, vrfs, layout) in LAYOUTS.into_iter().filter(|l| matches!(l.0, "zte-uas" | "netelastic-flexbng")) {
            let objects = layout(&pools);
            let descriptor = built_in(name);
            let entry = descriptor.tables().find(|other| **other.name() == *table).unwrap().columns().entry;
            let mut indexes: Vec<Vec<u32>> = objects.keys().filter_map(|oid| Some(oid.suffix(&entry)?[1..].to_vec())).collect();
            indexes.dedup();
            let index = at.get(&indexes).clone();
            let mut broken = index.clone();
            let place = cut.index(index.len());
            match how {
                0 => broken[place] = arc,
                1 => broken.truncate(place),
                _ => broken.insert(place, arc),
            }
            // Where a flexBNG row says its name once, another name is another row's.
            let named = name == "netelastic-flexbng" && place < index.len() - 8;
            let objects: Objects = objects.into_iter().map(|(oid, value)| match oid.suffix(&entry) {
                Some([column, rest @ ..]) if *rest == *index => (entry.child(&[&[*column], broken.as_slice()].concat()), value),
                _ => (oid, value),
            }).collect();
            let table = decoded(&descriptor, table, &objects);
            let truth = truth(&pools, vrfs);
            for said in said(&table) {
                let range_is_true = truth.iter().any(|truth| (truth.2, truth.3) == (said.2, said.3));
                prop_assert!(if named { range_is_true } else { truth.contains(&said) }, "{} {:?}", name, broken);
            }
        }
    }

    /// Any arcs at all in place of an index: a row that is not read, or one that says what
    /// its arcs say.
    #[test]
    fn rows_are_listed_or_rejected_and_never_both(indexes in prop::collection::btree_set(prop::collection::vec(0..40u32, 1..16), 1..8)) {
        for (name, table, _, _) in LAYOUTS {
            let descriptor = built_in(name);
            let columns = descriptor.tables().find(|other| **other.name() == *table).unwrap().columns();
            let mut walk = String::new();
            for index in &indexes {
                let oid = columns.entry.child(&[columns.columns[0]]).child(index);
                let _ = writeln!(walk, "{oid}|64|192.0.2.1");
            }
            let recording = Recording::parse(&walk).unwrap();
            let table = decoded(&descriptor, table, recording.objects());
            prop_assert_eq!(table.rejected.len() + table.table.listed.len(), indexes.len(), "{}", name);
        }
    }
}
