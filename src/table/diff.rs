//! What differs between two tables: a linear merge of two sorted lists.

use std::cmp::Ordering;
use std::iter::Peekable;

use thiserror::Error;

use super::{Entry, Name, Table};
use crate::address::Range;

/// One difference between two tables. `Altered` keeps its space and range and changes in
/// anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The entry is new.
    Added(Entry),
    /// The entry's owner, pool, VRF, BAS or origin changed; its range did not.
    Altered {
        /// As it was.
        before: Entry,
        /// As it is.
        after: Entry,
    },
    /// The entry is gone.
    Removed(Entry),
}

impl Change {
    /// The entry as it was; none where it is new.
    pub const fn before(&self) -> Option<&Entry> {
        match self {
            Self::Added(_) => None,
            Self::Altered { before, .. } | Self::Removed(before) => Some(before),
        }
    }

    /// The entry as it is; none where it is gone.
    pub const fn after(&self) -> Option<&Entry> {
        match self {
            Self::Added(after) | Self::Altered { after, .. } => Some(after),
            Self::Removed(_) => None,
        }
    }

    /// The space of both.
    pub const fn space(&self) -> &Name {
        &self.entry().space
    }

    /// The addresses of both.
    pub const fn range(&self) -> Range {
        self.entry().range
    }

    const fn entry(&self) -> &Entry {
        match self {
            Self::Added(entry) | Self::Removed(entry) | Self::Altered { after: entry, .. } => entry,
        }
    }
}

/// What turns `before` into `after`, sorted by space and range. Entries that both share are not
/// looked at. That a BAS went stale, which shows only in a polled entry's class, is no change.
pub fn diff(before: &Table, after: &Table) -> Vec<Change> {
    let (mut old, mut new) = (before.entries().iter(), after.entries().iter());
    let mut changes = Vec::new();
    loop {
        old.skip_shared(&mut new);
        old.skip_same(&mut new);
        match order(old.peek().map(place), new.peek().map(place)) {
            None => return changes,
            Some(Ordering::Less) => changes.extend(old.next().cloned().map(Change::Removed)),
            Some(Ordering::Greater) => changes.extend(new.next().cloned().map(Change::Added)),
            Some(Ordering::Equal) => changes.extend(altered(old.next(), new.next())),
        }
    }
}

fn altered(before: Option<&Entry>, after: Option<&Entry>) -> Option<Change> {
    let (before, after) = before.zip(after)?;
    (!before.says_same(after)).then(|| Change::Altered { before: before.clone(), after: after.clone() })
}

fn place(entry: &Entry) -> (&Name, Range) {
    (&entry.space, entry.range)
}

/// Which of two comes first; an end comes last; nothing at both ends.
fn order<T: Ord>(left: Option<T>, right: Option<T>) -> Option<Ordering> {
    match (left, right) {
        (None, None) => None,
        (Some(_), None) => Some(Ordering::Less),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some(left), Some(right)) => Some(left.cmp(&right)),
    }
}

/// Why changes do not fit a table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// An entry that is removed or altered is not there, or says something else.
    #[error("no such entry to change: {range} in {space}")]
    Missing {
        /// The space.
        space: Name,
        /// The addresses.
        range: Range,
    },
    /// An entry is added over another one.
    #[error("{range} in {space} is there already, or a part of it")]
    Overlap {
        /// The space.
        space: Name,
        /// The addresses.
        range: Range,
    },
}

/// The table that `changes`, sorted as [`diff`] gives them, make of `table`.
///
/// # Errors
/// Where they are not changes of this table.
pub fn apply(table: &Table, changes: &[Change]) -> Result<Table, ApplyError> {
    let (mut old, mut changes) = (table.entries().iter().peekable(), changes.iter().peekable());
    let mut entries = Vec::with_capacity(table.entries().len());
    loop {
        let next = changes.peek().map(|change| (change.space(), change.range()));
        match order(old.peek().map(|e| place(e)), next) {
            None => break,
            Some(Ordering::Less) => entries.extend(old.next().cloned()),
            Some(Ordering::Equal | Ordering::Greater) => {
                if let Some(change) = changes.next() {
                    entries.extend(step(change, &mut old)?);
                }
            }
        }
    }
    Table::new(entries)
        .map_err(|overlap| ApplyError::Overlap { space: overlap.1.space, range: overlap.1.range })
}

/// Takes the entry that a change speaks of and gives what it becomes.
fn step<'a>(
    change: &Change,
    old: &mut Peekable<impl Iterator<Item = &'a Entry>>,
) -> Result<Option<Entry>, ApplyError> {
    if let Some(before) = change.before() {
        let missing = || ApplyError::Missing { space: before.space.clone(), range: before.range };
        old.next_if(|entry| place(entry) == place(before) && entry.says_same(before)).ok_or_else(missing)?;
    }
    Ok(change.after().cloned())
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_map;
    use proptest::prelude::*;

    use super::*;
    use crate::address::Family;
    use crate::table::{Class, PoolName};

    fn entry(owner: &str, range: &str) -> Entry {
        Entry {
            space: "internet".into(),
            range: range.parse().unwrap(),
            owner: owner.into(),
            bas: Some(owner.into()),
            pool: PoolName::new(b"p"),
            vrf: "".into(),
            class: Class::Fresh,
        }
    }

    fn table(entries: &[Entry]) -> Table {
        Table::new(entries.to_vec()).unwrap()
    }

    #[test]
    fn a_difference_is_added_altered_or_removed() {
        let (a, b) = (entry("A", "192.0.2.0/25"), entry("B", "192.0.2.0/25"));
        let (c, d) = (entry("C", "192.0.2.128/25"), entry("D", "2001:db8::/64"));
        let changes = diff(&table(&[a.clone(), c.clone()]), &table(&[b.clone(), d.clone()]));
        assert_eq!(changes, [Change::Altered { before: a, after: b }, Change::Removed(c), Change::Added(d)]);
    }

    #[test]
    fn another_range_of_one_owner_is_removed_and_added() {
        let (wide, narrow) = (entry("A", "192.0.2.0/24"), entry("A", "192.0.2.0/25"));
        let changes = diff(&table(std::slice::from_ref(&wide)), &table(std::slice::from_ref(&narrow)));
        assert_eq!(changes, [Change::Added(narrow), Change::Removed(wide)]);
    }

    #[test]
    fn going_stale_is_no_change_but_becoming_static_is() {
        let of = |class| table(&[Entry { class, ..entry("A", "192.0.2.0/24") }]);
        assert!(diff(&of(Class::Fresh), &of(Class::Kept)).is_empty());
        assert_eq!(diff(&of(Class::Fresh), &of(Class::Fill)).len(), 1);
        assert_eq!(diff(&of(Class::Override), &of(Class::Fill)).len(), 1);
    }

    #[test]
    fn changes_of_another_table_are_refused() {
        let (a, b) = (entry("A", "192.0.2.0/24"), entry("B", "192.0.2.0/24"));
        let (space, range) = (a.space.clone(), a.range);
        let missing = ApplyError::Missing { space: space.clone(), range };
        assert_eq!(apply(&Table::default(), &[Change::Removed(a.clone())]), Err(missing.clone()));
        assert_eq!(apply(&table(std::slice::from_ref(&b)), &[Change::Removed(a.clone())]), Err(missing));
        let half = entry("B", "192.0.2.128/25");
        let overlap = ApplyError::Overlap { space, range: half.range };
        assert_eq!(apply(&table(&[a]), &[Change::Added(half)]), Err(overlap));
    }

    fn tables() -> impl Strategy<Value = Table> {
        let key = (any::<bool>(), any::<bool>(), 0u128..20);
        btree_map(key, (0u128..4, 0u8..3, 0u8..2), 0..20).prop_map(|made| {
            let mut entries: Vec<Entry> = Vec::new();
            for ((iptv, v6, slot), (span, owner, pool)) in made {
                let family = if v6 { Family::V6 } else { Family::V4 };
                entries.push(Entry {
                    space: if iptv { "iptv" } else { "internet" }.into(),
                    range: Range::from_bits(family, slot * 4, slot * 4 + span).unwrap(),
                    pool: PoolName::new(&[pool]),
                    ..entry(&format!("b{owner}"), "0.0.0.0")
                });
            }
            table(&entries)
        })
    }

    proptest! {
        #[test]
        fn applying_the_difference_gives_the_new_table(a in tables(), b in tables(), c in tables()) {
            let (first, second, direct) = (diff(&a, &b), diff(&b, &c), diff(&a, &c));
            prop_assert_eq!(&apply(&a, &first).unwrap(), &b);
            let composed = apply(&apply(&a, &first).unwrap(), &second).unwrap();
            prop_assert_eq!(&composed, &apply(&a, &direct).unwrap());
            prop_assert!(diff(&a, &a).is_empty());
            let backward: Vec<_> = diff(&b, &a);
            prop_assert_eq!(backward.len(), first.len());
        }
    }
}
