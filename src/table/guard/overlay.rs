//! The built table, with held addresses as they are published.

use std::collections::BTreeMap;

use crate::address::RangeSet;
use crate::table::entries::Patch;
use crate::table::{Name, Table};

/// What an address is published as: of `published` where it is held, else of `built`.
pub(super) fn keep(built: Table, published: &Table, held: &BTreeMap<Name, RangeSet>) -> Table {
    let held = held.iter().flat_map(|(space, set)| set.iter().map(move |range| (space, *range)));
    let patches: Vec<Patch> = held
        .map(|(space, range)| {
            let overlapping = published.overlapping(space, range).into_iter();
            let parts = overlapping.filter_map(|e| Some(e.with_range(e.range.intersection(range)?)));
            Patch { space: space.clone(), range, entries: parts.collect() }
        })
        .collect();
    if patches.is_empty() { built } else { built.patched(patches) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Range;
    use crate::table::{Class, Entry, PoolName, diff};

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
