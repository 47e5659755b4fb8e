//! An update comes to what a whole build comes to.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::random::{any_claim, any_rules};
use super::{claim, fresh};
use crate::address::Range;
use crate::table::{
    BuildRules, Claim, Claimants, Class, Conflict, Entry, Ledger, Name, Table, Touched, build, diff,
};

/// Who claims what, told by a list.
#[derive(Clone, Debug, Default)]
struct Told {
    bases: BTreeMap<Name, Vec<Claim>>,
    lines: Vec<Claim>,
    /// Who was asked.
    asked: RefCell<Vec<Name>>,
}

impl Claimants for Told {
    fn all(&self) -> Vec<Claim> {
        self.asked.borrow_mut().push("all".into());
        self.bases.values().flatten().chain(&self.lines).cloned().collect()
    }

    fn of_bas(&self, bas: &Name) -> Vec<Claim> {
        self.asked.borrow_mut().push(bas.clone());
        self.bases.get(bas).cloned().unwrap_or_default()
    }

    fn of_lines(&self, space: &Name, range: Range) -> Vec<Claim> {
        let here = |line: &&Claim| line.space == *space && line.range.intersection(range).is_some();
        self.lines.iter().filter(here).cloned().collect()
    }
}

impl Told {
    fn of(claims: &[Claim]) -> Self {
        let mut told = Self::default();
        for claim in claims {
            match &claim.bas {
                Some(bas) => told.bases.entry(bas.clone()).or_default().push(claim.clone()),
                None => told.lines.push(claim.clone()),
            }
        }
        told
    }

    /// Lets a BAS, or the static lines, claim something else.
    fn change(&mut self, bas: Option<&Name>, claims: Vec<Claim>) -> Touched {
        let before = match bas {
            Some(bas) => std::mem::replace(self.bases.entry(bas.clone()).or_default(), claims.clone()),
            None => std::mem::replace(&mut self.lines, claims.clone()),
        };
        let gone = before.iter().filter(|claim| !claims.contains(claim));
        let come = claims.iter().filter(|claim| !before.contains(claim));
        let ranges = gone.chain(come).map(|claim| (claim.space.clone(), claim.range)).collect();
        Touched { bases: bas.into_iter().cloned().collect(), ranges }
    }

    fn whole(&self, previous: &Table, rules: &BuildRules) -> (Table, Vec<Conflict>) {
        let built = build(self.all(), previous, rules);
        (built.table, built.conflicts)
    }
}

fn result(ledger: &Ledger) -> (Table, Vec<Conflict>) {
    (ledger.table().clone(), ledger.conflicts().to_vec())
}

/// A hundred routers with ten pools each, side by side in a /16.
fn fleet() -> Vec<Claim> {
    let pool = |bas: u32, pool: u32| {
        let range = format!("198.18.{bas}.{}-198.18.{bas}.{}", pool * 20, pool * 20 + 9);
        fresh(&format!("b{bas:02}"), &format!("p{pool}"), &range)
    };
    (0..100).flat_map(|bas| (0..10).map(move |n| pool(bas, n))).collect()
}

#[test]
fn only_those_who_claim_what_a_change_reaches_are_asked() {
    let mut told = Told::of(&fleet());
    let rules = BuildRules::default();
    let first = Ledger::new(&told, &Table::default(), &rules);
    let previous = first.table().clone();
    let mut ledger = Ledger::new(&told, &previous, &rules);
    // One pool grows into a neighbour's.
    let name = Name::from("b07");
    let mut claims = told.of_bas(&name);
    claims[0] = fresh("b07", "p0", "198.18.7.0-198.18.8.4");
    let touched = told.change(Some(&name), claims);
    told.asked.borrow_mut().clear();
    ledger.update(&touched, &told, &previous);
    let mut asked = told.asked.borrow().clone();
    asked.sort();
    assert_eq!(asked, ["b07", "b08"].map(Name::from));
    assert_eq!(result(&ledger), told.whole(&previous, &rules));
    // What is left shares its entries with the table before.
    assert!(diff(&previous, ledger.table()).len() < 25);
    let shared = previous.entries().pieces().filter(|(chunk, _)| {
        ledger.table().entries().pieces().any(|(other, _)| std::sync::Arc::ptr_eq(chunk, other))
    });
    assert!(shared.count() >= 2, "nothing is shared");
}

#[test]
fn where_all_claim_one_range_the_whole_is_built() {
    let claims: Vec<Claim> = (0..600).map(|i| fresh(&format!("bas-{i:03}"), "p", "192.168.1.0/24")).collect();
    let mut told = Told::of(&claims);
    let (rules, none) = (BuildRules::default(), Table::default());
    let mut ledger = Ledger::new(&told, &none, &rules);
    let touched = told.change(Some(&"bas-007".into()), vec![fresh("bas-007", "p", "192.168.1.0/25")]);
    ledger.update(&touched, &told, &none);
    assert_eq!(result(&ledger), told.whole(&none, &rules));
}

#[test]
fn what_was_before_counts_below_crowds() {
    let told = Told::of(&[fresh("A", "p", "203.0.113.0/24"), fresh("B", "p", "203.0.113.0/24")]);
    let rules = BuildRules::default();
    let mut ledger = Ledger::new(&told, &Table::default(), &rules);
    let held: Vec<Entry> =
        build(vec![fresh("B", "p", "203.0.113.0/24")], &Table::default(), &rules).table.into_entries();
    let previous = Table::new(held).unwrap();
    ledger.update(&Touched::default(), &told, &previous);
    assert_eq!(result(&ledger), told.whole(&previous, &rules));
    assert_eq!(ledger.table().entries()[0].owner, "B".into());
}

#[test]
fn a_table_that_was_there_already_is_not_kept_twice() {
    let told = Told::of(&fleet());
    let first = Ledger::new(&told, &Table::default(), &BuildRules::default());
    let same = Table::new(first.table().clone().into_entries()).unwrap();
    let again = Ledger::new(&told, &same, &BuildRules::default());
    let chunk =
        |table: &Table| table.entries().pieces().map(|(c, _)| std::sync::Arc::clone(c)).next().unwrap();
    assert!(std::sync::Arc::ptr_eq(&chunk(again.table()), &chunk(&same)));
}

#[test]
fn classes_that_were_joined_come_apart_again() {
    let kept = claim("A", "p", "203.0.113.128/25", Class::Kept);
    let mut told = Told::of(&[fresh("A", "p", "203.0.113.0/25"), kept.clone()]);
    let (rules, none) = (BuildRules::default(), Table::default());
    let mut ledger = Ledger::new(&told, &none, &rules);
    let touched = told.change(Some(&"A".into()), vec![kept]);
    ledger.update(&touched, &told, &none);
    assert_eq!(result(&ledger), told.whole(&none, &rules));
    assert_eq!(ledger.table().entries()[0].class, Class::Kept);
}

fn any_step() -> impl Strategy<Value = (Option<u8>, Vec<Claim>, bool)> {
    (proptest::option::weighted(0.9, 0u8..7), vec(any_claim(), 0..8), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Step by step, each on top of what came out of the one before, or of what a guard left
    /// of it.
    #[test]
    fn updates_equal_whole_builds(
        claims in vec(any_claim(), 0..40), steps in vec(any_step(), 1..8), rules in any_rules(),
        covers in (0u32..9, 0u32..3),
    ) {
        let cover = [("internet".into(), covers.0), ("iptv".into(), covers.1)].into();
        let rules = BuildRules { cover, ..rules };
        let mut told = Told::of(&claims);
        let mut previous = Table::default();
        let mut ledger = Ledger::new(&told, &previous, &rules);
        prop_assert_eq!(result(&ledger), told.whole(&previous, &rules));
        for (bas, claims, taken_up) in steps {
            let bas = bas.map(|bas| Name::from(format!("b{bas}")));
            let claims: Vec<Claim> = claims.into_iter().map(|claim| Claim { bas: bas.clone(), ..claim }).collect();
            if taken_up {
                previous = ledger.table().clone();
            } else {
                let kept = previous.entries().iter().filter(|e| e.range.first_bits().is_multiple_of(2));
                previous = Table::new(kept.cloned().collect()).unwrap();
            }
            let touched = told.change(bas.as_ref(), claims);
            ledger.update(&touched, &told, &previous);
            prop_assert_eq!(result(&ledger), told.whole(&previous, &rules));
        }
    }
}
