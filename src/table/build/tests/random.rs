//! Random claims against the slow way.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::slow::{GROUNDS, expand, expand_conflicts, slow};
use crate::address::Range;
use crate::table::{BuildRules, Built, Claim, Class, PoolName, PrivateSpace, Table, build};

pub(super) fn any_claim() -> impl Strategy<Value = Claim> {
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
    for pair in made.table.clone().into_entries().windows(2) {
        let mergeable = pair[0].space == pair[1].space
            && pair[0].range.touches(pair[1].range)
            && pair[0].says_same(&pair[1]);
        prop_assert!(!mergeable, "{pair:?}");
    }
    Ok(made)
}

pub(super) fn any_rules() -> impl Strategy<Value = BuildRules> {
    any::<bool>().prop_map(|skip| {
        let iptv = if skip { PrivateSpace::Skip } else { PrivateSpace::Publish };
        BuildRules { private: [("iptv".into(), iptv)].into(), ..BuildRules::default() }
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
