//! The build against hand-worked values, and against the slow, obviously right way: every
//! address by itself.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

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
    let rules = BuildRules { private: [("internet".into(), PrivateSpace::Skip)].into() };
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

// The slow way.

/// Where the random claims lie: 64 addresses across a border of private space, of a block
/// that is never published, and of private IPv6 space.
const GROUNDS: [(Family, u128); 3] =
    [(Family::V4, 0x0a00_0000 - 32), (Family::V4, 0x7f00_0000 - 32), (Family::V6, (0xfe00 << 112) - 32)];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    owner: Name,
    bas: Option<Name>,
    pool: PoolName,
    vrf: Name,
    static_line: Option<Class>,
}

type SlowTable = BTreeMap<(Name, Family, u128), Owned>;
/// By address: owner, rule, and who claims (owner, BAS, pool octets, class).
type SlowConflicts =
    BTreeMap<(Name, Family, u128), (Option<Name>, Rule, BTreeSet<(Name, Option<Name>, Vec<u8>, Class)>)>;

fn expand(table: &Table) -> SlowTable {
    let mut all = SlowTable::new();
    for e in table.entries() {
        for address in e.range.first_bits()..=e.range.last_bits() {
            let line = (e.class == Class::Fill || e.class == Class::Override).then_some(e.class);
            let owned = Owned {
                owner: e.owner.clone(),
                bas: e.bas.clone(),
                pool: e.pool.clone(),
                vrf: e.vrf.clone(),
                static_line: line,
            };
            assert!(all.insert((e.space.clone(), e.range.family(), address), owned).is_none());
        }
    }
    all
}

fn slow_private(family: Family, address: u128) -> bool {
    match family {
        Family::V4 => ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"]
            .iter()
            .any(|block| block.parse::<Range>().unwrap().contains(family.address(address))),
        Family::V6 => "fc00::/7".parse::<Range>().unwrap().contains(family.address(address)),
    }
}

fn slow_best<'a>(claims: &[&'a Claim]) -> Vec<&'a Claim> {
    let top = claims.iter().map(|c| c.class).max();
    claims.iter().copied().filter(|c| Some(c.class) == top).collect()
}

fn slow_left<'a>(best: &[&'a Claim]) -> Vec<&'a Claim> {
    let drops =
        |c: &Claim, d: &Claim| c.whole.covers(d.whole) && 2 * (d.whole.span() + 1) <= c.whole.span() + 1;
    best.iter().copied().filter(|c| !best.iter().any(|d| drops(c, d))).collect()
}

/// The first rule behind which no claim of another owner (or no other claim, where all are
/// of one owner) stands beside the winner.
fn slow_rule(claims: &[&Claim], winner: Option<&Claim>, before: Option<&Owned>) -> Rule {
    let Some(winner) = winner else { return Rule::Private };
    let several = claims.iter().any(|c| c.owner != winner.owner);
    let is_other = |c: &&Claim| if several { c.owner != winner.owner } else { !std::ptr::eq(*c, winner) };
    let best = slow_best(claims);
    let left: Vec<_> = slow_left(&best).into_iter().filter(is_other).collect();
    if !best.iter().any(is_other) {
        Rule::Class
    } else if left.is_empty() {
        Rule::Nested
    } else if several && left.iter().all(|c| c.priority < winner.priority) {
        Rule::Priority
    } else if several && before.is_some_and(|b| b.owner == winner.owner) {
        Rule::Previous
    } else {
        Rule::Name
    }
}

fn slow_decide<'a>(claims: &[&'a Claim], before: Option<&Owned>, private: bool) -> Option<&'a Claim> {
    let name = |bas: &Option<Name>, owner: &Name| bas.clone().unwrap_or(owner.clone());
    let top = claims.iter().map(|c| c.class).max()?;
    let left = slow_left(&slow_best(claims));
    let owners: BTreeSet<_> = left.iter().map(|c| &c.owner).collect();
    if private && top < Class::Override && owners.len() > 1 {
        return None;
    }
    let mut sorted = left;
    sorted.sort_by_key(|c| {
        (
            -i64::from(c.priority),
            before.is_none_or(|b| b.owner != c.owner),
            before.is_none_or(|b| name(&b.bas, &b.owner) != name(&c.bas, &c.owner)),
            name(&c.bas, &c.owner),
            c.pool.raw().to_vec(),
            c.whole.first_bits(),
            c.whole.last_bits(),
            c.vrf.clone(),
            c.owner.clone(),
        )
    });
    sorted.first().copied()
}

fn slow(claims: &[Claim], previous: &Table, rules: &BuildRules) -> (SlowTable, SlowConflicts) {
    let before = expand(previous);
    let (mut table, mut conflicts) = (SlowTable::new(), SlowConflicts::new());
    for space in ["internet", "iptv"].map(Name::from) {
        for (family, base) in GROUNDS {
            for address in base..base + 64 {
                let never = family == Family::V4 && address >> 24 == 0x7f;
                let private = slow_private(family, address);
                let skip = private && rules.private.get(&space) == Some(&PrivateSpace::Skip);
                let here: Vec<&Claim> = claims
                    .iter()
                    .filter(|c| c.space == space && c.range.contains(family.address(address)))
                    .filter(|c| !(never || skip && c.class != Class::Override))
                    .collect();
                let key = (space.clone(), family, address);
                let winner = slow_decide(&here, before.get(&key), private);
                if let Some(c) = winner {
                    let line = matches!(c.class, Class::Fill | Class::Override).then_some(c.class);
                    let owned = Owned {
                        owner: c.owner.clone(),
                        bas: c.bas.clone(),
                        pool: c.pool.clone(),
                        vrf: c.vrf.clone(),
                        static_line: line,
                    };
                    table.insert(key.clone(), owned);
                }
                let owners: BTreeSet<_> = here.iter().map(|c| &c.owner).collect();
                let two_pools = here.iter().any(|c| {
                    here.iter().any(|d| {
                        c.class.is_polled()
                            && d.class.is_polled()
                            && c.bas == d.bas
                            && (&c.pool, &c.vrf) != (&d.pool, &d.vrf)
                    })
                });
                if owners.len() > 1 || two_pools {
                    let told = here
                        .iter()
                        .map(|c| (c.owner.clone(), c.bas.clone(), c.pool.raw().to_vec(), c.class))
                        .collect();
                    let rule = slow_rule(&here, winner, before.get(&key));
                    conflicts.insert(key, (winner.map(|c| c.owner.clone()), rule, told));
                }
            }
        }
    }
    (table, conflicts)
}

fn expand_conflicts(conflicts: &[Conflict]) -> SlowConflicts {
    let mut all = SlowConflicts::new();
    for c in conflicts {
        for address in c.range.first_bits()..=c.range.last_bits() {
            let told = c
                .claims
                .iter()
                .map(|c| (c.owner.clone(), c.bas.clone(), c.pool.raw().to_vec(), c.class))
                .collect();
            let key = (c.space.clone(), c.range.family(), address);
            assert!(all.insert(key, (c.owner.clone(), c.rule, told)).is_none());
        }
    }
    all
}

fn any_claim() -> impl Strategy<Value = Claim> {
    let place = (any::<bool>(), 0usize..3, 0u128..64, 0u128..40, 0u128..30, 0u128..30);
    let who = (0u8..8, 0u8..3, 0u8..4, 0usize..4, any::<bool>(), -1i32..2);
    (place, who).prop_map(|((iptv, ground, first, span, before, behind), who)| {
        let (bas, pool, vrf, class, wide, priority) = who;
        let (family, base) = GROUNDS[ground];
        let (first, last) = (base + first, base + (first + span).min(63));
        let range = Range::from_bits(family, first, last).unwrap();
        let (w_first, w_last) = ((first - before).max(base), (last + behind).min(base + 63));
        let whole = Range::from_bits(family, w_first, w_last).unwrap();
        let edges = bas == 7;
        let owner = if edges {
            "edges:x".to_owned()
        } else if bas < 2 {
            "pair".to_owned()
        } else {
            format!("b{bas}")
        };
        Claim {
            space: if iptv { "iptv" } else { "internet" }.into(),
            range,
            whole: if wide { whole } else { range },
            owner: owner.into(),
            bas: (!edges).then(|| format!("b{bas}").into()),
            pool: PoolName::new(&[b'p' + pool]),
            vrf: if vrf == 0 { "v" } else { "" }.into(),
            // A BAS has one priority.
            priority: if bas % 2 == 0 { 0 } else { priority },
            class: [Class::Fill, Class::Kept, Class::Fresh, Class::Override][class],
        }
    })
}

fn check(claims: &[Claim], previous: &Table, rules: &BuildRules) -> Result<Built, TestCaseError> {
    let made = build(claims.to_vec(), previous, rules);
    let (table, overlaps) = slow(claims, previous, rules);
    prop_assert_eq!(expand(&made.table), table);
    if made.conflicts.iter().all(|c| c.more == 0) {
        prop_assert_eq!(expand_conflicts(&made.conflicts), overlaps);
    }
    for pair in made.table.entries().windows(2) {
        let mergeable = pair[0].space == pair[1].space
            && pair[0].range.touches(pair[1].range)
            && pair[0].says_same(&pair[1]);
        prop_assert!(!mergeable, "{pair:?}");
    }
    Ok(made)
}

fn any_rules() -> impl Strategy<Value = BuildRules> {
    any::<bool>().prop_map(|skip| {
        let iptv = if skip { PrivateSpace::Skip } else { PrivateSpace::Publish };
        BuildRules { private: [("iptv".into(), iptv)].into() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn equals_the_slow_reference(
        before in vec(any_claim(), 0..20), claims in vec(any_claim(), 0..40), rules in any_rules(),
    ) {
        let previous = check(&before, &Table::default(), &rules)?.table;
        let made = check(&claims, &previous, &rules)?;
        let mut shuffled = claims.clone();
        shuffled.reverse();
        let middle = shuffled.len() / 2;
        shuffled.rotate_left(middle);
        prop_assert_eq!(&build(shuffled, &previous, &rules), &made, "order matters");
        let again = build(claims, &made.table, &rules);
        prop_assert_eq!(expand(&again.table), expand(&made.table), "not idempotent");
    }

    /// Enough claims on one spot for the sorted sets.
    #[test]
    fn many_on_one_spot_equal_the_slow_reference(
        before in vec(any_claim(), 0..20), claims in vec(any_claim(), 150..250), rules in any_rules(),
    ) {
        let previous = build(before, &Table::default(), &rules).table;
        check(&claims, &previous, &rules)?;
    }
}
