//! The built table, with held addresses as they are published.

use std::collections::BTreeMap;

use crate::address::RangeSet;
use crate::table::{Entry, Name, Table};

/// What an address is published as: of `published` where it is held, else of `built`.
pub(super) fn keep(built: Table, published: &Table, held: &BTreeMap<Name, RangeSet>) -> Table {
    if held.values().all(RangeSet::is_empty) {
        return built;
    }
    let mut entries = Vec::with_capacity(built.entries().len());
    for entry in built.into_entries() {
        match held.get(&entry.space).filter(|held| held.overlaps(entry.range)) {
            None => entries.push(entry),
            Some(held) => entries.extend(held.gaps(entry.range).iter().map(|part| entry.with_range(*part))),
        }
    }
    for (space, range) in held.iter().flat_map(|(space, set)| set.iter().map(move |range| (space, *range))) {
        let of_family = published.of(space, range.family());
        let from = of_family.partition_point(|entry| entry.range.last_bits() < range.first_bits());
        let overlapping = of_family.iter().skip(from);
        let parts = overlapping.map_while(|entry| Some(entry.with_range(entry.range.intersection(range)?)));
        entries.extend(parts);
    }
    // Two sorted runs: the sort merges them in one pass.
    entries.sort_by(|a, b| (&a.space, a.range).cmp(&(&b.space, b.range)));
    Table::from_sorted(merged(entries))
}

/// Merges neighbours that say the same, as the build does.
fn merged(entries: Vec<Entry>) -> Vec<Entry> {
    let mut merged: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        match merged.last_mut().and_then(|last| Some((last.joined(&entry)?, last))) {
            Some((joined, last)) => *last = joined,
            None => merged.push(entry),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Range;
    use crate::table::{Class, PoolName, diff};

    fn table(entries: &[(&str, &str)]) -> Table {
        let entry = |(owner, range): &(&str, &str)| Entry {
            space: "internet".into(),
            range: range.parse().unwrap(),
            owner: (*owner).into(),
            bas: None,
            pool: PoolName::new(b""),
            vrf: "".into(),
            class: Class::Fresh,
        };
        Table::new(entries.iter().map(entry).collect()).unwrap()
    }

    fn kept(built: &[(&str, &str)], published: &[(&str, &str)], held: &[&str]) -> Vec<String> {
        let held = held.iter().map(|range| range.parse::<Range>().unwrap()).collect();
        let made = keep(table(built), &table(published), &[("internet".into(), held)].into());
        made.entries().iter().map(|e| format!("{} {}", e.owner, e.range)).collect()
    }

    #[test]
    fn held_addresses_stay_as_published_and_join_their_neighbours() {
        let published = [("A", "10.0.0.0/24")];
        assert_eq!(
            kept(&[("A", "10.0.0.0/25")], &published, &["10.0.0.128/25"]),
            ["A 10.0.0.0-10.0.0.255"],
            "as if nothing had happened"
        );
        assert_eq!(
            kept(&[("B", "10.0.0.0-10.0.1.255"), ("C", "::/64")], &published, &["10.0.0.64/26"]),
            [
                "B 10.0.0.0-10.0.0.63",
                "A 10.0.0.64-10.0.0.127",
                "B 10.0.0.128-10.0.1.255",
                "C ::-::ffff:ffff:ffff:ffff"
            ]
        );
        assert_eq!(
            kept(&[("B", "10.0.1.0/24")], &[], &["10.0.1.0/25"]),
            ["B 10.0.1.128-10.0.1.255"],
            "an addition that is held is not published"
        );
    }

    #[test]
    fn with_everything_held_nothing_changes() {
        let (built, published) =
            (table(&[("B", "10.0.0.0/23")]), table(&[("A", "10.0.0.0/24"), ("A", "::/64")]));
        let all = RangeSet::from_iter(["0.0.0.0/0", "::/0"].map(|range| range.parse().unwrap()));
        let made = keep(built, &published, &[("internet".into(), all)].into());
        assert!(diff(&published, &made).is_empty());
    }
}
