//! The store keeps which entries are shed, with each generation, and what steering remembers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod store_support;

use std::sync::Arc;

use poolsync::store::{Acts, Commit, Committed, Reader, Settings, Store};
use poolsync::table::{Entry, Groups, GuardMemory, Name, Part, Table, Token};
use store_support::*;

fn entries() -> Vec<Entry> {
    (0..64).map(|n| entry(&format!("10.0.{n}.0/24"), "bas-1")).collect()
}

/// The owner's group is `e1`; so much of its entries goes to `e2`.
fn shed(share: f64) -> Groups {
    let mut all = groups(&[("bas-1", &["e1"]), ("bas-2", &["e2"])]);
    let to = (Name::from("e2"), share, Token::new("e2").unwrap());
    if share > 0.0 {
        let part = Part::new(&entries(), [to]);
        all.shed.insert(("bas-1".into(), "default".into()), Arc::new(part));
    }
    all
}

async fn commit_steered(
    store: &mut Store,
    second: i64,
    groups: Option<&Groups>,
    steering: Option<&str>,
) -> Committed {
    let guard = GuardMemory::default();
    let commit = Commit {
        at: at(second),
        changes: &[],
        groups,
        memories: &[],
        guard: &guard,
        filled: true,
        steering,
        acts: Acts::default(),
    };
    store.commit(commit).await.unwrap()
}

fn gone(groups: &Groups) -> usize {
    let service = Name::from("default");
    let token = |entry: &Entry| groups.answer(entry, &service).unwrap().token.to_string();
    entries().iter().filter(|entry| token(entry) == "e2").count()
}

#[tokio::test]
async fn what_is_shed_belongs_to_its_generation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    let first = table(entries());
    commit_all(&mut store, 1, &difference(&Table::default(), &first), Some(&shed(0.0)), &[]).await.unwrap();
    for (second, share) in [(2, 0.25), (3, 0.5), (4, 0.0)] {
        assert!(commit_steered(&mut store, second, Some(&shed(share)), None).await.made);
    }
    // The same again is no generation.
    assert!(!commit_steered(&mut store, 5, Some(&shed(0.0)), None).await.made);
    for (generation, share) in [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.0)] {
        let past = store.table_at(generation).await.unwrap();
        assert_eq!(past.groups, shed(share), "generation {generation}");
    }
    let counts = [gone(&shed(0.0)), gone(&shed(0.25)), gone(&shed(0.5))];
    assert!(counts[0] == 0 && (6..=16).contains(&counts[1]) && (18..=32).contains(&counts[2]), "{counts:?}");
    let loaded = store.load().await.unwrap();
    assert_eq!((loaded.groups.clone(), loaded.generation), (shed(0.0), 4));
    store.prune(at(100), 2).await.unwrap();
    assert_eq!(store.table_at(3).await.unwrap().groups, shed(0.5));
    assert_eq!(store.table_at(2).await.unwrap_err().kind(), "no-generation");
    store.close().await.unwrap();
    let mut reader = Reader::open(&path, Settings::default()).await.unwrap();
    assert_eq!(reader.load().await.unwrap().groups, shed(0.0));
}

#[tokio::test]
async fn what_steering_remembers_comes_back_and_makes_no_generation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = open(&path).await;
    assert_eq!(store.load().await.unwrap().steering, None);
    assert!(!commit_steered(&mut store, 1, None, Some("{\"a\": 1}")).await.made);
    commit_steered(&mut store, 2, None, Some("{\"a\": 2}")).await;
    // A batch that says nothing of it leaves it.
    commit_steered(&mut store, 3, None, None).await;
    store.close().await.unwrap();
    let loaded = open(&path).await.load().await.unwrap();
    assert_eq!((loaded.steering.as_deref(), loaded.generation), (Some("{\"a\": 2}"), 0));
}
