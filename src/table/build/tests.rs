//! The build against hand-worked values; against the slow, obviously right way (`random`); and
//! updates against whole builds (`updates`).

mod random;
mod slow;
mod updates;

use super::*;
use crate::address::Family;
use crate::table::Class;

fn claim(bas: &str, pool: &str, range: &str, class: Class) -> Claim {
    let range: Range = range.parse().unwrap();
    Claim {
        space: "internet".into(),
        range,
        whole: range,
        owner: bas.into(),
        bas: Some(bas.into()),
        pool: PoolName::new(pool.as_bytes()),
        vrf: "".into(),
        priority: 0,
        class,
    }
}

fn fresh(bas: &str, pool: &str, range: &str) -> Claim {
    claim(bas, pool, range, Class::Fresh)
}

fn built(claims: &[Claim]) -> Built {
    build(claims.to_vec(), &Table::default(), &BuildRules::default())
}

/// Each entry as `owner pool range`.
fn lines(table: &Table) -> Vec<String> {
    table.entries().iter().map(|e| format!("{} {} {}", e.owner, e.pool, e.range)).collect()
}

/// Each conflict as `owner rule range`.
fn conflicts(built: &Built) -> Vec<String> {
    let owner = |c: &Conflict| c.owner.as_ref().map_or("-".to_owned(), |o| o.to_string());
    built.conflicts.iter().map(|c| format!("{} {:?} {}", owner(c), c.rule, c.range)).collect()
}

#[test]
fn neighbours_merge_within_an_owner_and_pool_only() {
    let table = |claims: &[Claim]| lines(&built(claims).table);
    assert_eq!(
        table(&[fresh("A", "p", "203.0.113.0/25"), fresh("A", "p", "203.0.113.128/25")]),
        ["A p 203.0.113.0-203.0.113.255"]
    );
    assert_eq!(
        table(&[fresh("A", "p", "203.0.113.0/25"), fresh("B", "p", "203.0.113.128/25")]),
        ["A p 203.0.113.0-203.0.113.127", "B p 203.0.113.128-203.0.113.255"]
    );
    assert_eq!(
        table(&[fresh("A", "p", "203.0.113.0/25"), fresh("A", "q", "203.0.113.128/25")]).len(),
        2,
        "two pools"
    );
    let mut vrf = fresh("A", "p", "203.0.113.128/25");
    vrf.vrf = "iptv".into();
    assert_eq!(table(&[fresh("A", "p", "203.0.113.0/25"), vrf]).len(), 2, "two VRFs");
    let fill = claim("A", "p", "203.0.113.128/25", Class::Fill);
    assert_eq!(table(&[fresh("A", "p", "203.0.113.0/25"), fill]).len(), 2, "a router and a static line");
    let kept = claim("A", "p", "203.0.113.128/25", Class::Kept);
    assert_eq!(table(&[fresh("A", "p", "203.0.113.0/25"), kept]).len(), 1, "staleness is no difference");
}

#[test]
fn ranges_that_touch_are_merged_and_prefixes_follow_from_the_range() {
    let merged = built(&[fresh("A", "p", "192.0.2.64/26"), fresh("A", "p", "192.0.2.128/26")]);
    let prefixes: Vec<_> =
        crate::address::prefixes(merged.table.entries()[0].range).map(|net| net.to_string()).collect();
    assert_eq!(prefixes, ["192.0.2.64/26", "192.0.2.128/26"], "not siblings: unchanged");
    let merged = built(&[fresh("A", "p", "192.0.2.128/26"), fresh("A", "p", "192.0.2.192/26")]);
    assert_eq!(crate::address::prefixes(merged.table.entries()[0].range).count(), 1);
}

#[test]
fn a_pool_within_a_pool_owns_its_addresses() {
    let made = built(&[fresh("A", "p", "198.51.100.0/24"), fresh("B", "q", "198.51.100.64/26")]);
    assert_eq!(
        lines(&made.table),
        [
            "A p 198.51.100.0-198.51.100.63",
            "B q 198.51.100.64-198.51.100.127",
            "A p 198.51.100.128-198.51.100.255"
        ]
    );
    assert_eq!(conflicts(&made), ["B Nested 198.51.100.64-198.51.100.127"]);
    // 65 of 128 addresses are more than half: not nested, the name decides.
    let made = built(&[fresh("A", "p", "198.51.100.0/25"), fresh("B", "q", "198.51.100.0-198.51.100.64")]);
    assert_eq!(lines(&made.table), ["A p 198.51.100.0-198.51.100.127"]);
    assert_eq!(conflicts(&made), ["A Name 198.51.100.0-198.51.100.64"]);
}

#[test]
fn nesting_is_judged_by_whole_ranges_and_within_one_class() {
    let mut part = claim("A", "p", "198.51.100.64/26", Class::Fresh);
    part.whole = "198.51.100.0/24".parse().unwrap();
    let made = built(&[part, fresh("B", "q", "198.51.100.64/26")]);
    assert_eq!(lines(&made.table), ["B q 198.51.100.64-198.51.100.127"]);
    let made = built(&[fresh("A", "p", "198.51.100.0/24"), claim("B", "q", "198.51.100.64/26", Class::Kept)]);
    assert_eq!(lines(&made.table), ["A p 198.51.100.0-198.51.100.255"]);
    assert_eq!(conflicts(&made), ["A Class 198.51.100.64-198.51.100.127"]);
}

#[test]
fn two_routers_with_one_range_go_by_priority_then_name_then_stay() {
    let (a, b) = (fresh("A", "p", "203.0.113.0/24"), fresh("B", "p", "203.0.113.0/24"));
    let by_name = built(&[b.clone(), a.clone()]);
    assert_eq!(lines(&by_name.table), ["A p 203.0.113.0-203.0.113.255"]);
    assert_eq!(conflicts(&by_name), ["A Name 203.0.113.0-203.0.113.255"]);
    assert_eq!(by_name, built(&[a.clone(), b.clone()]));

    let preferred = Claim { priority: 5, ..b.clone() };
    let by_priority = build(vec![a.clone(), preferred], &by_name.table, &BuildRules::default());
    assert_eq!(conflicts(&by_priority), ["B Priority 203.0.113.0-203.0.113.255"]);

    let only_b = built(std::slice::from_ref(&b));
    let stays = build(vec![a.clone(), b], &only_b.table, &BuildRules::default());
    assert_eq!(lines(&stays.table), ["B p 203.0.113.0-203.0.113.255"]);
    assert_eq!(conflicts(&stays), ["B Previous 203.0.113.0-203.0.113.255"]);
    let moved = build(vec![a], &stays.table, &BuildRules::default());
    assert_eq!(lines(&moved.table), ["A p 203.0.113.0-203.0.113.255"]);
    assert!(moved.conflicts.is_empty());
}

#[test]
fn a_pair_is_one_owner_and_the_router_that_had_the_range_keeps_it() {
    let pair = |bas: &str| Claim { owner: "P".into(), ..fresh(bas, "p", "203.0.113.0/24") };
    let first = built(&[pair("A"), pair("B")]);
    assert!(first.conflicts.is_empty(), "a pair that lists the same is no conflict");
    assert_eq!(first.table.entries()[0].bas, Some("A".into()));
    let before = built(&[pair("B")]).table;
    let both = build(vec![pair("A"), pair("B")], &before, &BuildRules::default());
    assert_eq!(both.table, before);
}

#[test]
fn static_lines_override_and_fill() {
    let edges = |mode| Claim { owner: "edges:x".into(), bas: None, ..claim("", "", "203.0.113.0/26", mode) };
    let router = fresh("A", "p", "203.0.113.0/25");
    let over = built(&[router.clone(), edges(Class::Override)]);
    assert_eq!(lines(&over.table), ["edges:x  203.0.113.0-203.0.113.63", "A p 203.0.113.64-203.0.113.127"]);
    let fill = built(&[router, edges(Class::Fill)]);
    assert_eq!(lines(&fill.table), ["A p 203.0.113.0-203.0.113.127"]);
    assert_eq!(conflicts(&fill), ["A Class 203.0.113.0-203.0.113.63"]);
}

#[test]
fn private_space_of_two_owners_is_nobodys() {
    let made = built(&[fresh("A", "p", "10.1.0.0/16"), fresh("B", "p", "10.1.0.0/16")]);
    assert!(made.table.entries().is_empty());
    assert_eq!(conflicts(&made), ["- Private 10.1.0.0-10.1.255.255"]);
    let stale = built(&[fresh("A", "p", "10.1.0.0/16"), claim("B", "p", "10.1.0.0/16", Class::Kept)]);
    assert_eq!(lines(&stale.table), ["A p 10.1.0.0-10.1.255.255"], "only after class");
    let nested = built(&[fresh("A", "p", "10.1.0.0/16"), fresh("B", "p", "10.1.0.0/24")]);
    assert_eq!(lines(&nested.table)[0], "B p 10.1.0.0-10.1.0.255", "only after nesting");
    let pair = |bas: &str| Claim { owner: "P".into(), ..fresh(bas, "p", "10.1.0.0/16") };
    assert_eq!(built(&[pair("A"), pair("B")]).table.entries().len(), 1, "a pair is one owner");
    // The border of the block is a border of the rule: 9.255.0.0/16 goes by name.
    let over = built(&[fresh("A", "p", "9.255.0.0-10.0.255.255"), fresh("B", "p", "9.255.0.0-10.0.255.255")]);
    assert_eq!(lines(&over.table), ["A p 9.255.0.0-9.255.255.255"]);
}

#[test]
fn a_space_can_leave_private_addresses_out() {
    let private = [("internet".into(), PrivateSpace::Skip)].into();
    let rules = BuildRules { private, ..BuildRules::default() };
    let line = claim("S", "", "192.168.0.0/24", Class::Override);
    let made = build(vec![fresh("A", "p", "9.255.255.0-10.0.0.255"), line], &Table::default(), &rules);
    assert_eq!(lines(&made.table), ["A p 9.255.255.0-9.255.255.255", "S  192.168.0.0-192.168.0.255"]);
    let refused: Vec<_> = made.refused.iter().map(|r| (r.range.to_string(), r.reason)).collect();
    assert_eq!(refused, [("10.0.0.0-10.0.0.255".to_owned(), RefusalReason::PrivateSkipped)]);
}

#[test]
fn some_blocks_are_never_published() {
    for never in [
        "0.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:192.0.2.0/120",
        "fe80::/10",
        "febf::1",
        "ff00::/8",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ] {
        let made = built(&[fresh("A", "p", never), claim("S", "", never, Class::Override)]);
        assert!(made.table.entries().is_empty(), "{never}");
        assert_eq!(made.refused.len(), 2, "{never}");
    }
    for other in
        ["1.0.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "223.255.255.255", "::2", "fec0::"]
    {
        assert_eq!(built(&[fresh("A", "p", other)]).table.entries().len(), 1, "{other}");
    }
    let across = built(&[fresh("A", "p", "126.0.0.0-128.0.0.0"), fresh("B", "p", "127.0.0.0/9")]);
    assert_eq!(lines(&across.table), ["A p 126.0.0.0-126.255.255.255", "A p 128.0.0.0-128.0.0.0"]);
}

#[test]
fn one_router_with_two_pools_over_each_other_is_a_conflict() {
    let made = built(&[fresh("A", "p", "203.0.113.0/24"), fresh("A", "q", "203.0.113.0/24")]);
    assert_eq!(conflicts(&made), ["A Name 203.0.113.0-203.0.113.255"]);
    let names: Vec<_> = made.conflicts[0].claims.iter().map(|c| c.pool.text().to_owned()).collect();
    assert_eq!(names, ["p", "q"]);
    let line = built(&[fresh("A", "p", "203.0.113.0/24"), claim("A", "", "203.0.113.0/24", Class::Fill)]);
    assert!(line.conflicts.is_empty(), "a static line that says what the router says");
}

#[test]
fn ten_thousand_routers_on_one_range_are_one_conflict() {
    let claims: Vec<_> = (0..10_000).map(|i| fresh(&format!("bas-{i:05}"), "p", "192.168.1.0/24")).collect();
    let made = built(&claims);
    assert!(made.table.entries().is_empty());
    assert_eq!(made.conflicts.len(), 1);
    assert_eq!(made.conflicts[0].claims.len(), Conflict::SHOWN);
    assert_eq!(made.conflicts[0].more, 10_000 - Conflict::SHOWN);
}

#[test]
fn many_staggered_or_nested_ranges_do_not_become_quadratic() {
    let range = |first: u128, last: u128| Range::from_bits(Family::V4, first, last).unwrap();
    let (here, there) = (0x2000_0000u128, 0x3000_0000u128);
    let staggered = (0..20_000u128).map(|i| (format!("s{i:05}"), range(here + i, here + i + 20_000)));
    let nested = (0..20_000u128).map(|i| (format!("n{i:05}"), range(there + i * 4, there + i * 4 + 1)));
    let around = [("around".to_owned(), range(there, there + (1 << 20)))];
    let claims: Vec<_> = staggered
        .chain(nested)
        .chain(around)
        .map(|(pool, range)| Claim { range, whole: range, ..fresh("A", &pool, "1.2.3.4") })
        .collect();
    let made = built(&claims);
    let pool = |address: u128| {
        made.table.lookup("internet", Family::V4.address(address)).map(|e| e.pool.text().to_owned())
    };
    assert_eq!(pool(here + 20_000).as_deref(), Some("s00000"));
    assert_eq!(pool(here + 20_001).as_deref(), Some("s00001"));
    assert_eq!(pool(here + 39_999).as_deref(), Some("s19999"));
    assert_eq!(pool(there + 1).as_deref(), Some("n00000"));
    assert_eq!(pool(there + 2).as_deref(), Some("around"));
}
