//! Lesser tables: their rows count only for what the better ones are known to lack.

use std::collections::BTreeSet;

use super::super::descriptor::{Fallback, Ranges};
use super::super::field::Field;
use super::super::rejected::{Reject, RejectReason};
use super::rows::Row;
use super::{Decoder, ReadOutcome};

/// Whether a row counts.
#[derive(Clone)]
pub(super) enum Stands {
    /// It does.
    Counts,
    /// This better table has what it is about.
    Better(usize),
    /// A better table was not read: nothing is known.
    Unknown,
    /// It may or may not.
    Refused(Reject),
}

/// What a better table has.
struct Had {
    keys: BTreeSet<Vec<Field>>,
    /// Whether it has more that cannot be told.
    uncertain: bool,
}

impl Decoder<'_> {
    /// For each row of a table whether it counts; nothing where all do.
    pub(super) fn standing(&self, at: usize, ranges: &Ranges) -> Vec<Stands> {
        if ranges.fallbacks.is_empty() {
            return Vec::new();
        }
        let rows = &self.rows[at].rows;
        let mut standing = vec![Stands::Counts; rows.len()];
        for fallback in &ranges.fallbacks {
            let had = match self.outcome(fallback.better).map(|(outcome, _)| outcome) {
                Some(ReadOutcome::Complete | ReadOutcome::Unsupported) => self.had(fallback),
                Some(ReadOutcome::Failed(_)) | None => return vec![Stands::Unknown; rows.len()],
            };
            for (row, stands) in rows.iter().zip(&mut standing) {
                *stands = self.weigh(at, row, fallback, &had, stands.clone());
            }
        }
        standing
    }

    fn had(&self, fallback: &Fallback) -> Had {
        let there = &self.rows[fallback.better];
        let mut had = Had { keys: BTreeSet::new(), uncertain: !there.bad.is_empty() };
        for row in &there.rows {
            let key: Result<Vec<Field>, Reject> =
                fallback.same.iter().map(|(_, field)| there.field(row, *field)).collect();
            match key {
                Ok(key) => {
                    had.keys.insert(key);
                }
                Err(_) => had.uncertain = true,
            }
        }
        had
    }

    fn weigh(&self, at: usize, row: &Row<'_>, fallback: &Fallback, had: &Had, before: Stands) -> Stands {
        let here = &self.rows[at];
        let key: Result<Vec<Field>, Reject> =
            fallback.same.iter().map(|(field, _)| here.field(row, *field)).collect();
        match (key, before) {
            (Err(reject), Stands::Counts) => Stands::Refused(reject),
            (Ok(key), Stands::Counts | Stands::Refused(_)) if had.keys.contains(&key) => {
                Stands::Better(fallback.better)
            }
            (Ok(_), Stands::Counts) if had.uncertain => {
                let better = &self.rows[fallback.better].table.name;
                let detail =
                    format!("{better} has rows that cannot be told: whether it lacks this pool is not known");
                Stands::Refused(Reject::new(RejectReason::BadIndex, detail))
            }
            (_, before) => before,
        }
    }
}
