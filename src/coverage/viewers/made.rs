//! Counts to a report.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::cells::{Cell, Cells};
use super::chunk::Chunks;
use super::count::Sums;
use super::misses::Misses;
use super::report::{
    AgainstRequests, CoverageReport, FamilyRequests, LogFigures, MissFigures, NameRequests, Part,
    PrefixMisses, ResolverFigures, StepFigures, TimeFigures,
};
use super::scan::{Lines, Scan};
use super::shape::LogShape;
use super::times::Times;
use super::{CoverageError, Question};
use crate::address::Family;
use crate::table::Name;

/// What a report is made with besides the counts.
pub(super) struct Made<'m, 'q, 'r> {
    pub(super) question: &'m Question<'q>,
    pub(super) shape: &'m LogShape,
    pub(super) chunks: &'m Chunks<'r>,
    pub(super) notes: Vec<String>,
}

impl Made<'_, '_, '_> {
    pub(super) fn report(self, scan: Scan<'_>, cells: &Cells<'_>) -> Result<CoverageReport, CoverageError> {
        let Scan { counter, times, lines, .. } = scan;
        let found = counter.sums.all;
        if found == 0 {
            return Err(self.nothing(&lines));
        }
        let both: Vec<(Cell, u64)> = cells
            .all
            .iter()
            .zip(counter.v4.iter().zip(&counter.v6))
            .map(|(cell, (a, b))| (*cell, a + b))
            .collect();
        let requests = counter.sums.viewers();
        let missing = counter.sums.missed;
        let answers = self.question.served.answers();
        let name = |cell: &Cell| cell.answer.and_then(|number| answers.get(number as usize));
        let counts = Counts { both: &both, requests };
        Ok(CoverageReport {
            space: self.question.served.space().clone(),
            requests,
            covered: Part::of(requests - missing, requests),
            missed: Part::of(missing, requests),
            families: [(Family::V4, &counter.v4), (Family::V6, &counter.v6)]
                .into_iter()
                .filter_map(|(family, counts)| of_family(family, &cells.all, counts))
                .collect(),
            forms: counter.forms,
            resolvers: self.resolvers(&both, found),
            by_bas: counts.by_name(|cell| name(cell).map(|answer| answer.by_bas().clone())),
            by_edge: counts.by_name(|cell| name(cell).and_then(|answer| answer.by_edge().cloned())),
            misses: misses(counter.misses, requests, self.question.top),
            times: times.map(|times| over_time(&times, self.question.old.is_some())),
            against: self.question.old.is_some().then(|| counts.against(cells, self.question)),
            log: self.log(lines, found),
        })
    }

    fn nothing(&self, lines: &Lines) -> CoverageError {
        if lines.all == 0 {
            return match self.chunks.ended() {
                Some(Err(e)) => e.clone().into(),
                _ if self.chunks.too_long > 0 => CoverageError::NoLines(self.chunks.octets),
                _ => CoverageError::Empty,
            };
        }
        let first = lines.examples.first().map(|example| example.text.clone()).unwrap_or_default();
        CoverageError::NoAddress { lines: lines.all, shape: self.shape.to_string(), first }
    }

    fn log(self, lines: Lines, requests: u64) -> LogFigures {
        let mut notes = self.notes;
        if self.chunks.open_end {
            notes.push("the last line has no end: it was taken as it stands".to_owned());
        }
        let ended = match self.chunks.ended() {
            Some(Err(e)) => Some(e),
            _ => None,
        };
        LogFigures {
            name: self.question.name.map(str::to_owned),
            packing: self.chunks.input().packing(),
            shape: self.shape.to_string(),
            octets: self.chunks.octets,
            lines: lines.all + self.chunks.too_long,
            requests,
            empty: lines.empty,
            comments: lines.comments,
            unreadable: lines.unreadable,
            unreadable_examples: lines.examples,
            too_long: self.chunks.too_long,
            state: ended.map_or("complete", |e| e.kind()),
            detail: ended.map(ToString::to_string),
            notes,
        }
    }

    fn resolvers(&self, both: &[(Cell, u64)], found: u64) -> Option<ResolverFigures> {
        let names = self.question.resolvers?.names();
        let of = |cell: &Cell| cell.resolver.and_then(|number| names.get(number as usize)).cloned();
        let count = |fits: &dyn Fn(&Cell) -> bool| -> u64 {
            both.iter()
                .filter(|(cell, _)| cell.resolver.is_some() && fits(cell))
                .map(|(_, count)| count)
                .sum()
        };
        let all = count(&|_| true);
        Some(ResolverFigures {
            all: Part::of(all, found),
            covered: Part::of(count(&|cell| cell.answer.is_some()), all),
            by_name: named(both.iter().filter_map(|(cell, count)| Some((of(cell)?, *count))), all),
        })
    }
}

fn of_family(family: Family, cells: &[Cell], counts: &[u64]) -> Option<FamilyRequests> {
    let viewers = || cells.iter().zip(counts).filter(|(cell, _)| cell.resolver.is_none());
    let requests: u64 = viewers().map(|(_, count)| count).sum();
    let missed: u64 = viewers().filter(|(cell, _)| cell.answer.is_none()).map(|(_, count)| count).sum();
    let (covered, missed) = (Part::of(requests - missed, requests), Part::of(missed, requests));
    (requests > 0).then_some(FamilyRequests { family, requests, covered, missed })
}

/// Requests by cell, and all that are no resolver's.
struct Counts<'c> {
    both: &'c [(Cell, u64)],
    requests: u64,
}

impl Counts<'_> {
    fn by_name(&self, name: impl Fn(&Cell) -> Option<Name>) -> Vec<NameRequests> {
        let viewers = self.both.iter().filter(|(cell, _)| cell.resolver.is_none());
        named(viewers.filter_map(|(cell, count)| Some((name(cell)?, *count))), self.requests)
    }

    fn against(&self, cells: &Cells<'_>, question: &Question<'_>) -> AgainstRequests {
        let part = |fits: &dyn Fn(&Cell) -> bool| {
            let fitting = self.both.iter().filter(|(cell, _)| cell.resolver.is_none() && fits(cell));
            Part::of(fitting.map(|(_, count)| count).sum(), self.requests)
        };
        let both = |cell: &Cell| cell.target.zip(cell.answer);
        let means = |(target, answer)| cells.targets.means(target, answer, question.served.answers());
        AgainstRequests {
            old_covered: part(&|cell| cell.target.is_some()),
            old_missed: part(&|cell| cell.target.is_none()),
            agreed: part(&|cell| both(cell).is_some_and(means)),
            differing: part(&|cell| both(cell).is_some_and(|pair| !means(pair))),
            only_table: part(&|cell| cell.answer.is_some() && cell.target.is_none()),
            only_old: part(&|cell| cell.answer.is_none() && cell.target.is_some()),
            neither: part(&|cell| cell.answer.is_none() && cell.target.is_none()),
            by_old: self.by_name(|cell| cell.target.and_then(|number| cells.targets.label(number))),
        }
    }
}

/// Counts by name, the busiest first; names without requests are left out.
fn named(counts: impl Iterator<Item = (Name, u64)>, whole: u64) -> Vec<NameRequests> {
    let mut names: BTreeMap<Name, u64> = BTreeMap::new();
    counts.filter(|(_, count)| *count > 0).for_each(|(name, count)| *names.entry(name).or_default() += count);
    let part = |(name, count)| NameRequests { name, part: Part::of(count, whole) };
    let mut all: Vec<NameRequests> = names.into_iter().map(part).collect();
    all.sort_by_key(|named| std::cmp::Reverse(named.part.requests));
    all
}

fn misses(misses: Misses, requests: u64, top: usize) -> MissFigures {
    let most = misses.most(top);
    let prefix = |p: &super::misses::Prefix| PrefixMisses {
        prefix: format!("{}/{}", p.family.address(p.first), p.length),
        part: Part::of(p.requests, requests),
        rest: p.rest,
    };
    MissFigures {
        prefixes: most.prefixes.iter().map(prefix).collect(),
        more_prefixes: most.more_prefixes,
        more_requests: most.more_requests,
        capped: most.capped,
    }
}

fn over_time(times: &Times, old: bool) -> TimeFigures {
    let step = |(start, sums): (i64, &Sums)| {
        let requests = sums.viewers();
        Some(StepFigures {
            start: Timestamp::from_second(start).ok()?,
            requests,
            missed: Part::of(sums.missed, requests),
            old_missed: old.then(|| Part::of(sums.old_missed, requests)),
        })
    };
    TimeFigures {
        step_s: times.width(),
        steps: times.steps().filter_map(step).collect(),
        untimed: times.untimed().viewers(),
    }
}
