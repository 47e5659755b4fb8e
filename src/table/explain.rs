//! What decides about one address.

use std::net::IpAddr;

use jiff::Timestamp;

use super::{
    BuildRules, Claim, ClaimSettings, Claimants, Claimed, Conflict, Entry, Fleet, FleetClaims, Name, Refusal,
    Stale, StaticLines, Table, build,
};
use crate::address::Range;

/// What decides about one address, before the guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The claims that hold there: best class first, then by BAS and pool.
    pub claims: Vec<Claim>,
    /// What they come to.
    pub built: Option<Entry>,
    /// The rule that decided, where there was something to decide.
    pub conflict: Option<Conflict>,
    /// What is claimed there and enters no table.
    pub refused: Vec<Refusal>,
    /// The stale tables of the BASes that claim it.
    pub stale: Vec<Stale>,
}

/// What decides about an address of a space. `previous` is the table as polls and the guard
/// have it. Only those who list the address are asked what they claim.
pub fn decide(
    fleet: Fleet<'_>,
    (lines, settings, rules): (&StaticLines, &ClaimSettings, &BuildRules),
    previous: &Table,
    (space, address): (&str, IpAddr),
    now: Timestamp,
) -> Decision {
    let asked = FleetClaims::new(fleet, lines, settings, now);
    let mut claimed = Claimed::default();
    for (bas, _, memory) in fleet.iter() {
        if memory.listed.iter().any(|row| row.range.contains(address)) {
            asked.claim(bas, &mut claimed);
        }
    }
    claimed.claims.extend(asked.of_lines(&Name::from(space), Range::single(address)));
    let here = |claim: &Claim| claim.space.as_str() == space && claim.range.contains(address);
    let mut holding: Vec<Claim> = claimed.claims.into_iter().filter(here).collect();
    holding.sort_by(|a, b| {
        (b.class, &a.bas, &a.owner, &a.pool, a.range).cmp(&(a.class, &b.bas, &b.owner, &b.pool, b.range))
    });
    // What a claim comes to depends on those that hold at the same address alone.
    let built = build(holding.clone(), previous, rules);
    let refused = claimed.refused.into_iter().chain(built.refused);
    let refused = refused.filter(|r| r.space.as_str() == space && r.range.contains(address)).collect();
    let claims_it = |stale: &Stale| holding.iter().any(|claim| claim.bas.as_ref() == Some(&stale.bas));
    let stale = claimed.stale.into_iter().filter(claims_it).collect();
    let conflict =
        built.conflicts.into_iter().find(|c| c.space.as_str() == space && c.range.contains(address));
    Decision { built: built.table.lookup(space, address).cloned(), conflict, refused, stale, claims: holding }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::table::{
        Class, Listed, Membership, Memory, PoolName, Row, Rule, Seen, Standing, StaticLine, StaticMode,
        TableMemory,
    };

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn memory(pools: &[(&str, &str)]) -> Memory {
        let listed = pools.iter().map(|(pool, range)| Listed {
            table: "pools".into(),
            row: Row { context: "".into(), index: [1].into() },
            space: Some("internet".into()),
            vrf: "".into(),
            pool: PoolName::new(pool.as_bytes()),
            range: range.parse().unwrap(),
            size: None,
            used: None,
            standing: Standing::Listed,
        });
        let listed: Vec<Listed> = listed.collect();
        let seen = listed.iter().map(|l| Seen { space: "internet".into(), range: l.range, since: second(0) });
        let table = Box::new(TableMemory { last_complete: Some(second(0)), ..TableMemory::default() });
        let tables = BTreeMap::from([(Name::from("pools"), table)]);
        Memory { seen: seen.collect(), listed: listed.into(), tables, tried: true, ..Memory::default() }
    }

    fn decided(routers: &[(&str, &[(&str, &str)])], lines: &[StaticLine], ip: &str) -> Decision {
        let members = routers
            .iter()
            .map(|(name, _)| (Name::from(*name), Membership { owner: (*name).into(), priority: 0 }))
            .collect();
        let memories = routers.iter().map(|(name, pools)| (Name::from(*name), memory(pools))).collect();
        let fleet = Fleet { members: &members, memories: &memories };
        let (settings, rules) = (ClaimSettings::default(), BuildRules::default());
        let place = ("internet", ip.parse().unwrap());
        let lines = StaticLines::new(lines.to_vec());
        decide(fleet, (&lines, &settings, &rules), &Table::default(), place, second(60))
    }

    fn owner(decision: &Decision) -> Option<&str> {
        decision.built.as_ref().map(|entry| entry.owner.as_str())
    }

    #[test]
    fn a_pool_within_a_larger_one_decides_by_nesting() {
        let routers: &[(&str, &[(&str, &str)])] =
            &[("a", &[("wide", "198.18.0.0/16")]), ("b", &[("small", "198.18.4.0/24")])];
        let found = decided(routers, &[], "198.18.4.9");
        assert_eq!(owner(&found), Some("b"));
        assert_eq!(found.conflict.map(|conflict| conflict.rule), Some(Rule::Nested));
        assert_eq!(found.claims.len(), 2);
        let found = decided(routers, &[], "198.18.5.9");
        assert_eq!((owner(&found), found.conflict.is_none(), found.claims.len()), (Some("a"), true, 1));
    }

    #[test]
    fn an_override_goes_before_a_router_and_nothing_claims_elsewhere() {
        let line = StaticLine {
            space: "internet".into(),
            range: "198.18.4.0/24".parse().unwrap(),
            owner: "edges:lab".into(),
            bas: None,
            mode: StaticMode::Override,
        };
        let routers: &[(&str, &[(&str, &str)])] = &[("a", &[("p", "198.18.0.0/16")])];
        let found = decided(routers, &[line], "198.18.4.9");
        assert_eq!(owner(&found), Some("edges:lab"));
        assert_eq!(found.claims.iter().map(|c| c.class).collect::<Vec<_>>(), [Class::Override, Class::Fresh]);
        assert_eq!(found.conflict.map(|conflict| conflict.rule), Some(Rule::Class));
        assert_eq!(decided(routers, &[], "203.0.113.1"), Decision::default());
    }

    #[test]
    fn what_is_refused_is_told() {
        let routers: &[(&str, &[(&str, &str)])] = &[("a", &[("p", "127.0.0.0/16"), ("q", "0.0.0.0/1")])];
        let found = decided(routers, &[], "127.0.0.1");
        assert_eq!(owner(&found), None);
        let reasons: Vec<String> = found.refused.iter().map(|r| format!("{:?}", r.reason)).collect();
        assert_eq!(reasons, ["TooLarge", "NeverPublished"]);
    }
}
