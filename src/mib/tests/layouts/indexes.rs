//! Any arcs in place of an index.

use std::fmt::Write as _;

use super::*;

/// Tables whose rows say twice what they are about, or a part of it.
fn twice(layout: &&Layout) -> bool {
    matches!(layout.descriptor, "zte-uas" | "netelastic-flexbng")
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

    /// A row that is listed says what its arcs say, and has all of them and no more: nothing
    /// else would be written so. Else its row is rejected.
    #[test]
    fn an_index_says_one_thing(
        pools in pools(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        arc in prop_oneof![0..300u32, any::<u32>()],
        how in 0..4u8,
    ) {
        for layout in all() {
            let (objects, _) = (layout.lay_out)(&pools);
            // Also as it is: the pattern must fit what was not broken.
            let change = |index: &[u32]| match how {
                3 => index.to_vec(),
                how => broken(index, cut.index(index.len()), arc, how),
            };
            let Some((objects, _)) = with_broken_row(layout, objects, at, change) else { continue };
            for listed in &decoded(layout, &objects).table.listed {
                let row = &listed.row.index;
                let pattern = patterns::pattern(layout, row, listed);
                prop_assert!(patterns::fits(row, &pattern), "{} {}: {row:?} lists {}", layout.descriptor, layout.table, listed.range);
                prop_assert!(patterns::within(layout, row, listed), "{} {}: {row:?} lists {}", layout.descriptor, layout.table, listed.range);
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
