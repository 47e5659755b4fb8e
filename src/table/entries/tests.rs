use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::table::{Class, PoolName};

fn entry(space: &str, owner: &str, pool: &str, range: &str) -> Entry {
    Entry {
        space: space.into(),
        range: range.parse().unwrap(),
        owner: owner.into(),
        bas: None,
        pool: PoolName::new(pool.as_bytes()),
        vrf: "".into(),
        class: Class::Fresh,
    }
}

fn table() -> Table {
    Table::new(vec![
        entry("iptv", "B", "p", "10.0.0.0/24"),
        entry("internet", "A", "q", "10.0.1.0/24"),
        entry("internet", "A", "p", "10.0.0.0/24"),
        entry("internet", "B", "p", "2001:db8::/32"),
    ])
    .unwrap()
}

#[test]
fn a_table_is_sorted_and_refuses_overlaps() {
    let table = table();
    let of = |space, family| table.of(space, family).iter().map(|e| e.range.to_string()).collect::<Vec<_>>();
    assert_eq!(of("internet", Family::V4), ["10.0.0.0-10.0.0.255", "10.0.1.0-10.0.1.255"]);
    assert_eq!(of("internet", Family::V6).len(), 1);
    assert_eq!(of("iptv", Family::V4), ["10.0.0.0-10.0.0.255"]);
    assert!(of("iptv", Family::V6).is_empty() && of("other", Family::V4).is_empty());
    let overlap = vec![entry("s", "A", "p", "10.0.0.0/24"), entry("s", "B", "p", "10.0.0.255")];
    assert!(Table::new(overlap).is_err());
}

#[test]
fn what_an_owner_has_is_told_by_space() {
    let owned = table().by_owner(|_| true);
    let ranges = |owner: &str, space: &str| {
        owned[owner].get(space).map(|set| set.iter().map(|r| r.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(ranges("A", "internet").unwrap(), ["10.0.0.0-10.0.1.255"]);
    assert_eq!(ranges("A", "iptv"), None);
    assert_eq!(ranges("B", "iptv").unwrap(), ["10.0.0.0-10.0.0.255"]);
}

#[test]
fn a_patch_cuts_what_reaches_into_it_and_joins_its_ends() {
    let table = Table::new(vec![entry("s", "A", "p", "10.0.0.0/24"), entry("s", "B", "p", "10.0.2.0/24")]);
    let table = table.unwrap();
    let patched = |parts: &[(&str, &[(&str, &str)])]| {
        let patches = parts.iter().map(|(range, entries)| Patch {
            space: "s".into(),
            range: range.parse().unwrap(),
            entries: entries.iter().map(|(owner, range)| entry("s", owner, "p", range)).collect(),
        });
        let made = table.patched(patches.collect());
        made.entries().iter().map(|e| format!("{} {}", e.owner, e.range)).collect::<Vec<_>>()
    };
    assert_eq!(patched(&[]), ["A 10.0.0.0-10.0.0.255", "B 10.0.2.0-10.0.2.255"]);
    assert_eq!(
        patched(&[("10.0.0.64/26", &[]), ("10.0.0.192/28", &[("C", "10.0.0.192/29")])]),
        [
            "A 10.0.0.0-10.0.0.63",
            "A 10.0.0.128-10.0.0.191",
            "C 10.0.0.192-10.0.0.199",
            "A 10.0.0.208-10.0.0.255",
            "B 10.0.2.0-10.0.2.255"
        ]
    );
    assert_eq!(
        patched(&[("10.0.1.0/24", &[("A", "10.0.1.0/25"), ("B", "10.0.1.128/25")])]),
        ["A 10.0.0.0-10.0.1.127", "B 10.0.1.128-10.0.2.255"]
    );
    assert_eq!(patched(&[("10.0.0.64/26", &[("A", "10.0.0.64/26")])])[0], "A 10.0.0.0-10.0.0.255");
}

/// Up to 2,000 single addresses of one space, every other one.
fn long(count: u128) -> Table {
    let entries = (0..count).map(|i| Entry {
        range: Range::from_bits(Family::V4, 2 * i, 2 * i).unwrap(),
        ..entry("s", "A", "p", "::")
    });
    Table::new(entries.collect()).unwrap()
}

proptest! {
    #[test]
    fn parts_are_those_of_a_slice(count in 0u128..2000, from in 0u128..4100, to in 0u128..4100) {
        let table = long(count);
        let flat: Vec<Entry> = table.clone().into_entries();
        let first = |e: &Entry| e.range.first_bits();
        let (before, behind) = table.entries().split(|e| first(e) < from);
        let cut = flat.partition_point(|e| first(e) < from);
        prop_assert_eq!((before.len(), behind.len()), (cut, flat.len() - cut));
        prop_assert!(before.into_iter().eq(&flat[..cut]) && behind.into_iter().eq(&flat[cut..]));
        let (inner, outer) = behind.split(|e| first(e) < to);
        let second = cut + flat[cut..].partition_point(|e| first(e) < to);
        prop_assert!(inner.into_iter().eq(&flat[cut..second]) && outer.into_iter().eq(&flat[second..]));
        prop_assert_eq!((outer.first(), inner.last()), (flat.get(second), flat[cut..second].last()));
        prop_assert_eq!(inner.get(3), flat[cut..second].get(3));
    }

    #[test]
    fn a_patched_table_is_the_one_made_of_its_entries(
        count in 0u128..2000, at in vec((0u128..4100, 0u128..40, any::<bool>()), 0..6),
    ) {
        let table = long(count);
        let mut patches: Vec<Patch> = Vec::new();
        let mut flat = table.clone().into_entries();
        let mut sorted = at;
        sorted.sort();
        for (first, span, filled) in sorted {
            let range = Range::from_bits(Family::V4, first, first + span).unwrap();
            if patches.last().is_some_and(|last| last.range.last_bits() >= first) {
                continue;
            }
            let new = Entry { range, ..entry("s", "B", "p", "::") };
            let entries: Vec<Entry> = filled.then_some(new).into_iter().collect();
            flat.retain(|e| e.range.intersection(range).is_none());
            flat.extend(entries.clone());
            patches.push(Patch { space: "s".into(), range, entries });
        }
        let touching = patches.windows(2).any(|pair| pair[0].range.touches(pair[1].range));
        prop_assume!(!touching);
        let patched = table.patched(patches);
        prop_assert_eq!(&patched, &Table::new(flat).unwrap());
        prop_assert_eq!(patched.len(), patched.entries().len());
        let mut chunks = patched.entries().pieces();
        prop_assert!(chunks.all(|(chunk, _)| !chunk.is_empty() && chunk.len() <= 2 * super::super::chunks::CHUNK));
    }
}
