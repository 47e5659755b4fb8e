//! Tables and changes for the tests of the store, worked out without it.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use poolsync::address::Range;
use poolsync::store::{Acts, Commit, Committed, Settings, Store, StoreError};
use poolsync::table::{
    Change, Class, Entry, Group, GroupEdge, Groups, GuardMemory, Memory, Name, PoolName, Table, Token,
};
use proptest::prelude::*;

/// A second of the tests' clock.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_900_000_000 + second).expect("within jiff's years")
}

pub(crate) fn range(text: &str) -> Range {
    text.parse().expect("a range of the tests")
}

/// An entry of the internet, listed by a BAS of the owner's name.
pub(crate) fn entry(addresses: &str, owner: &str) -> Entry {
    Entry {
        space: Name::from("internet"),
        range: range(addresses),
        owner: Name::from(owner),
        bas: Some(Name::from(owner)),
        pool: PoolName::new(b"pool-1"),
        vrf: Name::from("default"),
        class: Class::Fresh,
    }
}

pub(crate) fn table(entries: Vec<Entry>) -> Table {
    Table::new(entries).expect("disjoint entries")
}

/// What turns one table into another: by keys, without the crate's own merge.
pub(crate) fn difference(before: &Table, after: &Table) -> Vec<Change> {
    let keyed = |table: &Table| -> BTreeMap<(Name, Range), Entry> {
        table.entries().iter().map(|e| ((e.space.clone(), e.range), e.clone())).collect()
    };
    let (before, after) = (keyed(before), keyed(after));
    let mut changes = Vec::new();
    for (key, old) in &before {
        match after.get(key) {
            None => changes.push(Change::Removed(old.clone())),
            Some(new) if new != old => {
                changes.push(Change::Altered { before: old.clone(), after: new.clone() });
            }
            Some(_) => {}
        }
    }
    let added = after.iter().filter(|(key, _)| !before.contains_key(*key));
    changes.extend(added.map(|(_, new)| Change::Added(new.clone())));
    changes
}

/// The table after changes.
pub(crate) fn applied(before: &Table, changes: &[Change]) -> Table {
    let mut entries: Vec<Entry> = before.entries().to_vec();
    for change in changes {
        let (gone, come) = match change {
            Change::Added(new) => (None, Some(new)),
            Change::Removed(old) => (Some(old), None),
            Change::Altered { before, after } => (Some(before), Some(after)),
        };
        if let Some(gone) = gone {
            let place = entries.iter().position(|e| e == gone).expect("what goes is there");
            entries.remove(place);
        }
        entries.extend(come.cloned());
    }
    table(entries)
}

pub(crate) fn groups(of: &[(&str, &[&str])]) -> Groups {
    let mut groups = Groups::default();
    for (owner, edges) in of {
        let token = Token::new(&edges.join("-")).expect("a legal token");
        let edges = edges.iter().map(|edge| GroupEdge { name: Name::from(*edge), weight: 100 }).collect();
        let service = Name::from("default");
        groups.of_owner.insert((Name::from(*owner), service.clone()), token.clone());
        groups.groups.insert(token.clone(), Group { token, service, edges });
    }
    groups
}

pub(crate) async fn open(path: &Path) -> Store {
    Store::open(path, Settings::default()).await.expect("the store opens")
}

/// A store that notes small changes from the first entry on, so many rows at most.
pub(crate) async fn open_noting(path: &Path, most: usize) -> Store {
    let settings = Settings { noted_from: 0, noted_most: most, ..Settings::default() };
    Store::open(path, settings).await.expect("the store opens")
}

/// Commits what turns one table into another, and nothing else.
pub(crate) async fn commit(
    store: &mut Store,
    second: i64,
    before: &Table,
    after: &Table,
) -> Result<Committed, StoreError> {
    commit_all(store, second, &difference(before, after), None, &[]).await
}

pub(crate) async fn commit_all(
    store: &mut Store,
    second: i64,
    changes: &[Change],
    groups: Option<&Groups>,
    memories: &[(&Name, &Memory)],
) -> Result<Committed, StoreError> {
    let guard = GuardMemory::default();
    store
        .commit(Commit {
            at: at(second),
            changes,
            groups,
            memories,
            guard: &guard,
            filled: true,
            steering: None,
            acts: Acts::default(),
        })
        .await
}

/// A table over a few slots: what each slot holds, by owner.
pub(crate) fn any_table() -> impl Strategy<Value = Table> {
    let slot = prop_oneof![3 => Just(None), 5 => (0u8..3, 0u8..2, 1u8..5).prop_map(Some)];
    proptest::collection::vec(slot, 24).prop_map(|slots| {
        let entries = (0u32..).zip(slots).filter_map(|(n, slot)| {
            let (owner, pool, length) = slot?;
            let (base, last) = (n / 3 * 16, n / 3 * 16 + u32::from(length));
            let text = match n % 3 {
                0 => format!("10.0.0.{base}-10.0.0.{last}"),
                _ => format!("2001:db8::{base:x}-2001:db8::{last:x}"),
            };
            let mut entry = entry(&text, &format!("bas-{owner}"));
            entry.pool = PoolName::new(&[pool, 0xff]);
            if n % 3 == 2 {
                entry.space = Name::from("iptv");
            }
            Some(entry)
        });
        table(entries.collect())
    })
}
