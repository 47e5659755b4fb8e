//! Any arcs in place of an index.

use std::fmt::Write as _;

use super::*;

/// Tables whose rows say twice what they are about, or a part of it.
fn twice(layout: &&Layout) -> bool {
    matches!(layout.descriptor, "zte-uas" | "netelastic-flexbng")
}

/// The index of a row that says a range, where it is all in there.
fn index_of(layout: &Layout, row: &[u32], listed: &crate::table::Listed) -> Option<Vec<u32>> {
    let octets = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(v4) => v4.octets().to_vec(),
        std::net::IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let (first, last) = (octets(listed.range.first()), octets(listed.range.last()));
    let kind = if first.len() == 4 { 1 } else { 2 };
    match (layout.descriptor, layout.table) {
        ("nokia-sros", "nat") => {
            let name = counted(listed.pool.raw());
            Some([vec![row[0]], name, vec![kind], counted(&first), counted(&last)].concat())
        }
        ("cisco-ios-xr", "prefixes") => {
            let width = if kind == 1 { 32 } else { 128 };
            let host = listed.range.last_bits() - listed.range.first_bits();
            let all = if width == 32 { u128::from(u32::MAX) } else { u128::MAX };
            let mask = all & !host;
            let mask = if width == 32 { v4_octets(mask).to_vec() } else { mask.to_be_bytes().to_vec() };
            Some([vec![row[0], kind], counted(&first), counted(&mask)].concat())
        }
        _ => None,
    }
}

fn broken(index: &[u32], place: usize, arc: u32, how: u8) -> Vec<u32> {
    let mut broken = index.to_vec();
    match how {
        0 => broken[place] = arc,
        1 => broken.truncate(place),
        _ => broken.insert(place, arc),
    }
    broken
}

/// The objects with one row of a table under another index, chosen among its rows.
fn with_broken_row(
    layout: &Layout,
    objects: Objects,
    at: prop::sample::Index,
    change: impl Fn(&[u32]) -> Vec<u32>,
) -> Option<(Objects, Vec<u32>)> {
    let descriptor = built_in(layout.descriptor);
    let table = descriptor.tables().find(|table| **table.name() == *layout.table).unwrap();
    let entry = table.columns().entry;
    let mut indexes: Vec<Vec<u32>> =
        objects.keys().filter_map(|oid| Some(oid.suffix(&entry)?[1..].to_vec())).collect();
    indexes.sort();
    indexes.dedup();
    if indexes.is_empty() {
        return None;
    }
    let index = at.get(&indexes).clone();
    let changed = change(&index);
    let objects = objects
        .into_iter()
        .map(|(oid, value)| match oid.suffix(&entry) {
            Some([column, rest @ ..]) if *rest == *index => {
                (entry.child(&[&[*column], changed.as_slice()].concat()), value)
            }
            _ => (oid, value),
        })
        .collect();
    Some((objects, index))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Where the row says twice what it is about, no other index passes for its own.
    #[test]
    fn a_broken_index_makes_no_wrong_range(
        pools in pools(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        arc in prop_oneof![0..300u32, any::<u32>()],
        how in 0..3u8,
    ) {
        for layout in all().filter(twice) {
            let (objects, truth) = (layout.lay_out)(&pools);
            let change = |index: &[u32]| broken(index, cut.index(index.len()), arc, how);
            let Some((objects, index)) = with_broken_row(layout, objects, at, change) else { continue };
            // Where a flexBNG row says its name once, another name is another row's.
            let address_arcs = if layout.table == "v6-ranges" { 32 } else { 8 };
            let named = layout.descriptor == "netelastic-flexbng" && cut.index(index.len()) < index.len() - address_arcs;
            for said in said(&decoded(layout, &objects)) {
                let range_is_true = truth.iter().any(|truth| (truth.2, truth.3) == (said.2, said.3));
                prop_assert!(if named { range_is_true } else { truth.contains(&said) }, "{} {:?}", layout.table, index);
            }
        }
    }

    /// Where everything is in the index alone, a row that is listed says what its arcs say,
    /// and nothing else would be written so.
    #[test]
    fn an_index_says_one_thing(
        pools in pools(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        arc in prop_oneof![0..300u32, any::<u32>()],
        how in 0..3u8,
    ) {
        for layout in all() {
            let (objects, _) = (layout.lay_out)(&pools);
            let change = |index: &[u32]| broken(index, cut.index(index.len()), arc, how);
            let Some((objects, _)) = with_broken_row(layout, objects, at, change) else { continue };
            for listed in &decoded(layout, &objects).table.listed {
                if let Some(index) = index_of(layout, &listed.row.index, listed) {
                    prop_assert_eq!(&listed.row.index[..], index);
                }
            }
        }
    }

    /// Any arcs at all in place of an index: each row is listed, rejected or passed over, and
    /// never two of these.
    #[test]
    fn rows_are_listed_or_rejected_and_never_both(indexes in prop::collection::btree_set(prop::collection::vec(0..40u32, 1..40), 1..8)) {
        for layout in all() {
            let descriptor = built_in(layout.descriptor);
            let columns = descriptor.tables().find(|table| **table.name() == *layout.table).unwrap().columns();
            let mut walk = String::new();
            for index in &indexes {
                let oid = columns.entry.child(&[columns.columns[0]]).child(index);
                let _ = writeln!(walk, "{oid}|64|192.0.2.1");
            }
            let recording = Recording::parse(&walk).unwrap();
            let table = decoded(layout, recording.objects());
            let mut listed: Vec<&[u32]> = table.table.listed.iter().map(|listed| &listed.row.index[..]).collect();
            listed.dedup();
            prop_assert_eq!(table.rejected.len() + listed.len() + table.passed.len(), indexes.len(), "{}", layout.table);
        }
    }
}
