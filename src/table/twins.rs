//! Two configured names of one router: it is polled twice, and stands in conflict with itself.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fleet, Memory, Name, PoolName};
use crate::address::Range;

/// Two BASes that look like one router.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Twins {
    /// Their names, in order.
    pub bas: [Name; 2],
    /// Whether they have one SNMP engine; else it is their sysName by which they were found.
    pub one_engine: bool,
}

/// The BASes that have one engine id or one sysName, and list the very same ranges, but are
/// not said to be a pair. Routers that only share private ranges have names of their own, and
/// names that were copied have ranges of their own.
pub fn twins(fleet: Fleet<'_>) -> Vec<Twins> {
    let mut of_engine: BTreeMap<&str, Vec<&Name>> = BTreeMap::new();
    let mut of_name: BTreeMap<&str, Vec<&Name>> = BTreeMap::new();
    for (bas, _, memory) in fleet.iter().filter(|(_, _, memory)| !memory.listed.is_empty()) {
        if let Some(engine) = &memory.engine {
            of_engine.entry(&engine.id).or_default().push(bas);
        }
        if !memory.sys_name.is_empty() {
            of_name.entry(&memory.sys_name).or_default().push(bas);
        }
    }
    let mut found = BTreeMap::new();
    for (groups, one_engine) in [(of_name, false), (of_engine, true)] {
        for bases in groups.into_values().filter(|bases| bases.len() > 1) {
            for pair in same(fleet, &bases) {
                found.insert(pair, one_engine);
            }
        }
    }
    found.into_iter().map(|(bas, one_engine)| Twins { bas, one_engine }).collect()
}

/// Those of some BASes that list the same, each with the first of them.
fn same(fleet: Fleet<'_>, bases: &[&Name]) -> Vec<[Name; 2]> {
    let mut first: BTreeMap<BTreeSet<_>, &Name> = BTreeMap::new();
    let mut pairs = Vec::new();
    for bas in bases {
        let Some(memory) = fleet.memories.get(*bas) else { continue };
        match first.get(&ranges(memory)) {
            Some(other) if owner(fleet, other) != owner(fleet, bas) => {
                pairs.push([(*other).clone(), (*bas).clone()]);
            }
            Some(_) => {}
            None => drop(first.insert(ranges(memory), bas)),
        }
    }
    pairs
}

fn owner<'a>(fleet: Fleet<'a>, bas: &Name) -> Option<&'a Name> {
    fleet.members.get(bas).map(|member| &member.owner)
}

fn ranges(memory: &Memory) -> BTreeSet<(Option<&Name>, &Name, &PoolName, Range)> {
    memory.listed.iter().map(|row| (row.space, row.vrf, row.pool, row.range)).collect()
}

#[cfg(test)]
mod tests {

    use jiff::Timestamp;

    use super::*;
    use crate::table::{Engine, Listed, Membership, Row, Standing};

    fn memory(sys_name: &str, engine: Option<&str>, ranges: &[&str]) -> Memory {
        let listed = ranges.iter().map(|range| Listed {
            table: "pools".into(),
            row: Row { context: "".into(), index: [1].into() },
            space: Some("internet".into()),
            vrf: "".into(),
            pool: PoolName::new(b"p"),
            range: range.parse().unwrap(),
            size: None,
            used: None,
            standing: Standing::Listed,
        });
        let engine =
            engine.map(|id| Engine { id: id.to_owned(), boots: 1, time: 1, at: Timestamp::UNIX_EPOCH });
        Memory { sys_name: sys_name.into(), engine, listed: listed.collect(), ..Memory::default() }
    }

    /// Each found as `a+b`, with `!` where it is by the engine.
    fn found(bases: &[(&str, Option<&str>, Memory)]) -> Vec<String> {
        let member = |(name, pair, _): &(&str, Option<&str>, Memory)| {
            (Name::from(*name), Membership { owner: pair.unwrap_or(name).into(), priority: 0 })
        };
        let members = bases.iter().map(member).collect();
        let memories = bases.iter().map(|(name, _, memory)| (Name::from(*name), memory.clone())).collect();
        let twins = twins(Fleet { members: &members, memories: &memories });
        let told = |t: &Twins| format!("{}+{}{}", t.bas[0], t.bas[1], if t.one_engine { "!" } else { "" });
        twins.iter().map(told).collect()
    }

    #[test]
    fn one_router_under_two_names_is_found_by_name_or_engine() {
        let box_ = || memory("bng-7", None, &["198.18.0.0/24", "198.18.1.0/24"]);
        assert_eq!(found(&[("a", None, box_()), ("b", None, box_())]), ["a+b"]);
        let box_ = |name: &str| memory(name, Some("80001f8804"), &["198.18.0.0/24"]);
        assert_eq!(
            found(&[("a", None, box_("x")), ("b", None, box_("y")), ("c", None, box_(""))]),
            ["a+b!", "a+c!"]
        );
        assert_eq!(found(&[("a", None, box_("x")), ("b", None, box_("x"))]), ["a+b!"]);
    }

    #[test]
    fn others_are_not_taken_for_one() {
        let one = |name: &str, range: &str| memory(name, None, &[range]);
        let cases: [&[(&str, Option<&str>, Memory)]; 4] = [
            // A pair is told already.
            &[("a", Some("p"), one("x", "198.18.0.0/24")), ("b", Some("p"), one("x", "198.18.0.0/24"))],
            // Two routers with one private range.
            &[("a", None, one("x", "192.168.1.0/24")), ("b", None, one("y", "192.168.1.0/24"))],
            // A name that was copied, or never set.
            &[("a", None, one("x", "198.18.0.0/24")), ("b", None, one("x", "198.18.1.0/24"))],
            &[("a", None, one("", "192.168.1.0/24")), ("b", None, one("", "192.168.1.0/24"))],
        ];
        for case in cases {
            assert!(found(case).is_empty(), "{case:?}");
        }
        assert!(
            found(&[("a", None, memory("x", None, &[])), ("b", None, memory("x", None, &[]))]).is_empty()
        );
    }
}
