//! Claims out of what is remembered, and their classes.

use super::*;
use crate::table::{Listed, Row, Seen, Standing, TableMemory};

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(minutes * 60).unwrap()
}

fn listed(table: &str, pool: &str, range: &str) -> Listed {
    Listed {
        table: table.into(),
        row: Row::default(),
        space: Some("internet".into()),
        vrf: "".into(),
        pool: PoolName::new(pool.as_bytes()),
        range: range.parse().unwrap(),
        size: None,
        used: None,
        standing: Standing::Listed,
    }
}

fn table(last_complete: i64, failed: u32) -> Box<TableMemory> {
    Box::new(TableMemory { last_complete: Some(at(last_complete)), failed, ..TableMemory::default() })
}

/// A memory of tables (name, last complete read, failures) and rows; all seen since 0.
fn memory(tables: &[(&str, i64, u32)], rows: &[Listed]) -> Memory {
    let seen = rows.iter().map(|row| row.range).collect::<RangeSet>();
    let seen = seen.iter().map(|range| Seen { space: "internet".into(), range: *range, since: at(0) });
    Memory {
        tables: tables.iter().map(|(name, last, failed)| ((*name).into(), table(*last, *failed))).collect(),
        seen: seen.collect(),
        listed: rows.to_vec().into(),
        ..Memory::default()
    }
}

fn since(mut memory: Memory, minutes: i64) -> Memory {
    memory.seen = memory.seen.iter().map(|seen| Seen { since: at(minutes), ..seen }).collect();
    memory
}

fn claimed(memories: &[(&str, Memory)], now: i64) -> Claimed {
    let members = memories
        .iter()
        .map(|(name, _)| ((*name).into(), Membership { owner: (*name).into(), priority: 0 }))
        .collect();
    let memories = memories.iter().map(|(name, memory)| ((*name).into(), memory.clone())).collect();
    let fleet = Fleet { members: &members, memories: &memories };
    claims(fleet, &[], &ClaimSettings::default(), at(now))
}

fn told(claimed: &Claimed) -> Vec<String> {
    let claim = |c: &Claim| format!("{} {} {} of {} {:?}", c.owner, c.pool, c.range, c.whole, c.class);
    claimed.claims.iter().map(claim).collect()
}

#[test]
fn touching_ranges_of_one_pool_are_one_claim() {
    let rows = [
        listed("t", "p", "10.0.0.128/25"),
        listed("t", "p", "10.0.0.0/25"),
        listed("t", "q", "10.0.1.0/24"),
        listed("t", "p", "10.0.3.0/24"),
        Listed { vrf: "iptv".into(), ..listed("t", "p", "10.0.4.0/24") },
        Listed { space: None, ..listed("t", "p", "10.0.5.0/24") },
    ];
    assert_eq!(
        told(&claimed(&[("A", memory(&[("t", 0, 0)], &rows))], 0)),
        [
            "A p 10.0.0.0-10.0.0.255 of 10.0.0.0-10.0.0.255 Fresh",
            "A p 10.0.3.0-10.0.3.255 of 10.0.3.0-10.0.3.255 Fresh",
            "A q 10.0.1.0-10.0.1.255 of 10.0.1.0-10.0.1.255 Fresh",
            "A p 10.0.4.0-10.0.4.255 of 10.0.4.0-10.0.4.255 Fresh",
        ]
    );
}

#[test]
fn a_row_that_claims_too_much_claims_nothing() {
    let rows = [
        listed("t", "a", "10.0.0.0/8"),
        listed("t", "b", "10.0.0.0-11.0.0.0"),
        listed("t", "c", "0.0.0.0/0"),
        listed("t", "d", "2001::/20"),
        listed("t", "e", "2001::/19"),
        listed("t", "f", "::/0"),
    ];
    let claimed = claimed(&[("A", memory(&[("t", 0, 0)], &rows))], 0);
    let pools: Vec<_> = claimed.claims.iter().map(|c| c.pool.text()).collect();
    assert_eq!(pools, ["a", "d"]);
    let refused: Vec<_> = claimed.refused.iter().map(|r| (r.pool.text(), r.reason)).collect();
    let large = RefusalReason::TooLarge;
    assert_eq!(refused, [("b", large), ("c", large), ("e", large), ("f", large)]);
}

#[test]
fn a_stale_table_is_only_kept_where_another_owner_began_to_list_later() {
    let a = memory(&[("t", 10, 3)], &[listed("t", "p", "10.0.0.0/24")]);
    let b = memory(&[("t", 50, 0)], &[listed("t", "q", "10.0.0.0/26")]);
    let mine = |b: Memory, now: i64| {
        let told = told(&claimed(&[("A", a.clone()), ("B", b)], now));
        told.into_iter().filter(|line| line.starts_with('A')).collect::<Vec<_>>()
    };
    let whole = ["A p 10.0.0.0-10.0.0.255 of 10.0.0.0-10.0.0.255 Fresh"];
    assert_eq!(mine(since(b.clone(), 10), 60), whole, "B listed it before");
    assert_eq!(mine(since(b.clone(), 11), 39), whole, "A is not stale before 10 + 30");
    assert_eq!(
        mine(since(b.clone(), 11), 40),
        [
            "A p 10.0.0.64-10.0.0.255 of 10.0.0.0-10.0.0.255 Fresh",
            "A p 10.0.0.0-10.0.0.63 of 10.0.0.0-10.0.0.255 Kept"
        ]
    );
    let mut stale = since(b.clone(), 11);
    stale.tables.insert("t".into(), table(12, 3));
    assert_eq!(mine(stale, 60), whole, "B is stale itself");
    assert_eq!(
        mine(since(b, 0), 10 + 6 * 60),
        ["A p 10.0.0.0-10.0.0.255 of 10.0.0.0-10.0.0.255 Kept"],
        "takeover"
    );
}

#[test]
fn the_other_half_of_a_pair_takes_nothing_over() {
    let members: BTreeMap<Name, Membership> =
        ["A", "B"].map(|name| (name.into(), Membership { owner: "P".into(), priority: 0 })).into();
    let a = memory(&[("t", 10, 3)], &[listed("t", "p", "10.0.0.0/24")]);
    let b = since(memory(&[("t", 50, 0)], &[listed("t", "p", "10.0.0.0/24")]), 40);
    let memories = [("A".into(), a), ("B".into(), b)].into();
    let fleet = Fleet { members: &members, memories: &memories };
    let claimed = claims(fleet, &[], &ClaimSettings::default(), at(60));
    assert!(claimed.claims.iter().all(|claim| claim.class == Class::Fresh));
}

#[test]
fn one_bad_table_does_not_age_the_others() {
    let rows = [listed("four", "p", "10.0.0.0/24"), listed("six", "p", "2001:db8::/48")];
    let a = memory(&[("four", 400, 0), ("six", 10, 9)], &rows);
    let claimed = claimed(&[("A", a)], 400);
    let classes: Vec<_> = claimed.claims.iter().map(|c| (c.range.family(), c.class)).collect();
    assert_eq!(classes, [(Family::V4, Class::Fresh), (Family::V6, Class::Kept)]);
    let stale: Vec<_> = claimed.stale.iter().map(|s| (&*s.table, s.taken_over, s.poller_isolated)).collect();
    assert_eq!(stale, [("six", true, false)]);
}

#[test]
fn many_that_fell_silent_together_are_not_taken_over() {
    let dead = |last: i64| memory(&[("t", last, 99)], &[listed("t", "p", "10.0.0.0/24")]);
    let live = || memory(&[("t", 999, 0)], &[]);
    let fleet = |silent: &[i64], live_ones: usize| -> Vec<(String, Memory)> {
        let silent = silent.iter().enumerate().map(|(i, last)| (format!("s{i}"), dead(*last)));
        silent.chain((0..live_ones).map(|i| (format!("x{i}"), live()))).collect()
    };
    let isolated = |silent: &[i64], live_ones: usize| -> Vec<bool> {
        let fleet = fleet(silent, live_ones);
        let fleet: Vec<_> = fleet.iter().map(|(name, memory)| (name.as_str(), memory.clone())).collect();
        claimed(&fleet, 1000).stale.iter().map(|stale| stale.poller_isolated).collect()
    };
    assert_eq!(isolated(&[10, 20, 40], 11), [true; 3], "3 of 14 is more than a fifth; 30 minutes apart");
    assert_eq!(isolated(&[10, 20, 40], 12), [false; 3], "3 of 15 is a fifth");
    assert_eq!(isolated(&[10, 20], 1), [false; 2], "two are too few");
    assert_eq!(isolated(&[10, 20, 41], 3), [false, true, false], "the ends are 31 minutes apart");
}

#[test]
fn behind_a_dead_uplink_the_first_to_fail_is_not_taken_for_dead() {
    let after_start = |failed| memory(&[("t", 10, failed)], &[listed("t", "p", "10.0.0.0/24")]);
    let fleet = [("A", after_start(3)), ("B", after_start(2)), ("C", after_start(1)), ("D", after_start(0))];
    let claimed = claimed(&fleet, 5000);
    assert_eq!(claimed.stale.len(), 1);
    assert!(claimed.stale[0].poller_isolated);
    assert!(claimed.claims.iter().all(|claim| claim.class == Class::Fresh));
}

#[test]
fn static_lines_claim_their_class() {
    let line = |mode| StaticLine {
        space: "internet".into(),
        range: "192.0.2.0/24".parse().unwrap(),
        owner: "edges:x".into(),
        bas: None,
        mode,
    };
    let (members, memories) = (BTreeMap::new(), BTreeMap::new());
    let fleet = Fleet { members: &members, memories: &memories };
    let lines = [line(StaticMode::Fill), line(StaticMode::Override)];
    let claimed = claims(fleet, &lines, &ClaimSettings::default(), at(0));
    assert_eq!(claimed.claims.iter().map(|c| c.class).collect::<Vec<_>>(), [Class::Fill, Class::Override]);
}

#[test]
fn a_memory_without_a_configured_bas_claims_nothing() {
    let members = BTreeMap::new();
    let memories = [("A".into(), memory(&[("t", 0, 0)], &[listed("t", "p", "10.0.0.0/24")]))].into();
    let fleet = Fleet { members: &members, memories: &memories };
    assert!(claims(fleet, &[], &ClaimSettings::default(), at(0)).claims.is_empty());
}
