//! The merge of the two tables into figures and findings.

use std::collections::{BTreeMap, HashMap};

use super::{AgainstReport, FamilyFigures, Figure, Finding, FindingKind, NameFigures, OldFigures, OldTable};
use crate::address::{Family, Range};
use crate::coverage::figure::Addresses;
use crate::coverage::legacy::{Legacy, LegacyRow};
use crate::coverage::overlay::overlay;
use crate::coverage::targets::Targets;
use crate::coverage::{Known, Served};
use crate::table::Name;

pub(super) fn report(served: &Served, old: &Legacy, known: &Known) -> AgainstReport {
    let flat = old.flat(served.space());
    let mut merge = Merge::new(served, Targets::new(known));
    let ours = served.rows().iter().copied();
    overlay(ours, flat, |range, answer, row| merge.stretch(range, answer, row));
    let old = OldTable {
        format: old.format,
        rows: old.rows.len() as u64,
        left_out: old.remarks.iter().filter(|r| r.kind.left_out()).count() as u64 + old.more_remarks,
        default: old.default.as_ref().map(|target| target.label()),
    };
    merge.finish(old)
}

/// Counts of one answer, name or family.
#[derive(Clone, Copy, Default)]
struct Tally {
    agreed: Addresses,
    holes: Addresses,
    wrong: Addresses,
    dead: Addresses,
    filled: Addresses,
}

impl Tally {
    fn served(&self) -> Addresses {
        [self.agreed, self.holes, self.wrong].into_iter().sum()
    }

    fn old(&self) -> Addresses {
        [self.agreed, self.wrong, self.dead].into_iter().sum()
    }

    fn add(&mut self, other: &Self) {
        self.agreed += other.agreed;
        self.holes += other.holes;
        self.wrong += other.wrong;
        self.dead += other.dead;
        self.filled += other.filled;
    }
}

/// Counts by family and by number of an answer or name.
#[derive(Default)]
struct Tallies {
    v4: Vec<Option<Tally>>,
    v6: Vec<Option<Tally>>,
}

impl Tallies {
    fn add(&mut self, family: Family, number: u32, tally: &Tally) {
        let all = match family {
            Family::V4 => &mut self.v4,
            Family::V6 => &mut self.v6,
        };
        if all.len() <= number as usize {
            all.resize(number as usize + 1, None);
        }
        if let Some(slot) = all.get_mut(number as usize) {
            slot.get_or_insert_default().add(tally);
        }
    }

    /// Those that were counted, by family and number.
    fn all(&self) -> impl Iterator<Item = (Family, u32, &Tally)> {
        let v4 = self.v4.iter().map(|tally| (Family::V4, tally)).zip(0..);
        let v6 = self.v6.iter().map(|tally| (Family::V6, tally)).zip(0..);
        v4.chain(v6).filter_map(|((family, tally), number)| Some((family, number, tally.as_ref()?)))
    }
}

fn figure(part: Addresses, whole: Addresses) -> Figure {
    Figure { addresses: part, share: part.share_of(whole) }
}

/// A finding before the totals are known.
#[derive(Clone, Copy)]
struct Found {
    kind: FindingKind,
    range: Range,
    answer: Option<u32>,
    target: Option<u32>,
    line: u64,
}

struct Merge<'a> {
    served: &'a Served,
    targets: Targets<'a>,
    by_answer: Tallies,
    by_target: Tallies,
    families: BTreeMap<Family, Tally>,
    found: Vec<Found>,
}

impl<'a> Merge<'a> {
    fn new(served: &'a Served, targets: Targets<'a>) -> Self {
        Self {
            served,
            targets,
            by_answer: Tallies::default(),
            by_target: Tallies::default(),
            families: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    fn stretch(&mut self, range: Range, answer: Option<u32>, row: Option<&'a LegacyRow>) {
        let all = self.served.answers();
        let polled = answer.filter(|number| all.get(*number as usize).is_some_and(|a| !a.fill));
        let mut tally = Tally::default();
        let count = Addresses::of(range);
        if answer.is_some() && polled.is_none() {
            tally.filled = count;
        }
        let target = row.map(|row| self.targets.number(&row.target));
        let kind = match (polled, target) {
            (None, None) => None,
            (Some(_), None) => {
                tally.holes = count;
                Some(FindingKind::Hole)
            }
            (None, Some(_)) => {
                tally.dead = count;
                Some(FindingKind::Dead)
            }
            (Some(number), Some(target)) if self.targets.agrees(target, number, all) => {
                tally.agreed = count;
                None
            }
            (Some(_), Some(_)) => {
                tally.wrong = count;
                Some(FindingKind::WrongOwner)
            }
        };
        self.count(range.family(), polled, target, &tally);
        if let Some(kind) = kind {
            let line = row.map_or(0, |row| row.line);
            self.note(Found { kind, range, answer: polled, target, line });
        }
    }

    fn count(&mut self, family: Family, answer: Option<u32>, target: Option<u32>, tally: &Tally) {
        self.families.entry(family).or_default().add(tally);
        if let Some(number) = answer {
            self.by_answer.add(family, number, tally);
        }
        if let Some(number) = target {
            self.by_target.add(family, number, tally);
        }
    }

    /// Notes a finding, or lengthens the last one where it goes on.
    fn note(&mut self, found: Found) {
        if let Some(last) = self.found.last_mut().filter(|last| {
            (last.kind, last.answer, last.target) == (found.kind, found.answer, found.target)
                && last.range.touches(found.range)
        }) && let Some(joined) =
            Range::from_bits(found.range.family(), last.range.first_bits(), found.range.last_bits())
        {
            last.range = joined;
            return;
        }
        self.found.push(found);
    }

    fn finish(self, old: OldTable) -> AgainstReport {
        let answer = |number: &u32| self.served.answers().get(*number as usize);
        AgainstReport {
            space: self.served.space().clone(),
            old,
            families: self.families.iter().map(|(family, tally)| of_family(*family, tally)).collect(),
            by_bas: self.by_name(|number| answer(number).map(|a| a.by_bas())),
            by_edge: self.by_name(|number| answer(number).and_then(|a| a.by_edge())),
            by_old: self.by_old(),
            findings: self.findings(),
        }
    }

    fn by_name<'n>(&'n self, name: impl Fn(&u32) -> Option<&'n Name>) -> Vec<NameFigures> {
        let mut names: BTreeMap<(Family, &Name), Tally> = BTreeMap::new();
        for (family, number, tally) in self.by_answer.all() {
            if let Some(name) = name(&number) {
                names.entry((family, name)).or_default().add(tally);
            }
        }
        let mut all: Vec<NameFigures> = names
            .into_iter()
            .map(|((family, name), tally)| NameFigures {
                name: name.clone(),
                family,
                served: tally.served(),
                agreed: figure(tally.agreed, tally.served()),
                holes: figure(tally.holes, tally.served()),
                wrong: figure(tally.wrong, tally.served()),
            })
            .collect();
        // Stable: names stay in order among equals.
        all.sort_by_key(|f| {
            let faults: Addresses = [f.holes.addresses, f.wrong.addresses].into_iter().sum();
            (f.family, std::cmp::Reverse(faults))
        });
        all
    }

    fn by_old(&self) -> Vec<OldFigures> {
        let mut all: Vec<OldFigures> = self
            .by_target
            .all()
            .filter_map(|(family, number, tally)| {
                Some(OldFigures {
                    name: self.targets.label(number)?,
                    family,
                    known: self.targets.is_known(number),
                    old: tally.old(),
                    agreed: figure(tally.agreed, tally.old()),
                    wrong: figure(tally.wrong, tally.old()),
                    dead: figure(tally.dead, tally.old()),
                })
            })
            .collect();
        all.sort_by_key(|f| {
            let faults: Addresses = [f.wrong.addresses, f.dead.addresses].into_iter().sum();
            (f.family, std::cmp::Reverse(faults), f.name.clone())
        });
        all
    }

    fn findings(&self) -> Vec<Finding> {
        let totals: HashMap<Family, (Addresses, Addresses)> =
            self.families.iter().map(|(family, tally)| (*family, (tally.served(), tally.old()))).collect();
        let mut all: Vec<Finding> = self
            .found
            .iter()
            .map(|found| {
                let addresses = Addresses::of(found.range);
                let (served, old) = totals.get(&found.range.family()).copied().unwrap_or_default();
                let whole = if found.kind == FindingKind::Dead { old } else { served };
                let answer = found.answer.and_then(|number| self.served.answers().get(number as usize));
                Finding {
                    kind: found.kind,
                    range: found.range,
                    addresses,
                    share: addresses.share_of(whole),
                    bas: answer.map(|answer| answer.by_bas().clone()),
                    edge: answer.and_then(|answer| answer.by_edge().cloned()),
                    old: found.target.and_then(|number| self.targets.label(number)),
                    line: found.line,
                }
            })
            .collect();
        all.sort_by_key(|f| (f.kind, f.range.family(), std::cmp::Reverse(f.addresses), f.range));
        all
    }
}

fn of_family(family: Family, tally: &Tally) -> FamilyFigures {
    FamilyFigures {
        family,
        served: tally.served(),
        filled: tally.filled,
        old: tally.old(),
        agreed: figure(tally.agreed, tally.served()),
        holes: figure(tally.holes, tally.served()),
        wrong: figure(tally.wrong, tally.served()),
        dead: figure(tally.dead, tally.old()),
    }
}
