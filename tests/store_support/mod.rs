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
