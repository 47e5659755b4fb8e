//! Rows and remarks as a reader meets them.

use std::collections::HashMap;

use super::remark::{Remark, RemarkKind, quoted};
use super::{Legacy, LegacyError, LegacyFormat, LegacyRow};
use crate::address::{Family, Range, unmapped};
use crate::coverage::{Rule, Target};
use crate::table::Name;

/// How many remarks are kept.
const KEPT: usize = 100_000;

/// `::ffff:0:0`, where IPv4-mapped addresses begin.
const MAPPED: u128 = 0xffff_0000_0000;

/// Collects what a reader finds.
#[derive(Default)]
pub(super) struct Collector {
    /// What addresses in no row are given to.
    pub(super) default: Option<Target>,
    rows: Vec<LegacyRow>,
    remarks: Vec<Remark>,
    more: u64,
    names: HashMap<Box<str>, Name>,
}

impl Collector {
    /// So many rows are to come, or fewer.
    pub(super) fn make_room(&mut self, rows: usize) {
        self.rows.reserve_exact(rows);
    }

    /// One copy of each name.
    pub(super) fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(text.into(), name.clone());
        name
    }

    /// A word that may be a BAS or an edge.
    pub(super) fn named(&mut self, text: &str) -> Target {
        Target::Named(self.name(text))
    }

    /// Takes a row. IPv4-mapped addresses are the IPv4 addresses that they stand for.
    pub(super) fn take(&mut self, row: LegacyRow) {
        match unmapped(row.range) {
            Ok(range) => self.rows.push(LegacyRow { range, ..row }),
            // `::/0` and the like: no address is looked up in its IPv4-mapped form.
            Err(_) if row.range.first_bits() < MAPPED && row.range.last_bits() >> 48 > 0 => {
                self.rows.push(row)
            }
            Err(e) => self.remark(row.line, RemarkKind::NotARange, &e.to_string(), ""),
        }
    }

    /// Notes what is the matter with a line.
    pub(super) fn remark(&mut self, line: u64, kind: RemarkKind, detail: &str, text: &str) {
        if self.remarks.len() < KEPT {
            self.remarks.push(Remark { line, kind, detail: detail.to_owned(), text: quoted(text) });
        } else {
            self.more += 1;
        }
    }

    /// The default that an export of ours has in its second line.
    pub(super) fn own_default(&mut self, text: &str) {
        let mut lines = text.lines();
        let ours = lines.next().is_some_and(|line| line.starts_with("# poolsync "));
        let default = lines.next().and_then(|line| line.strip_prefix("# default "));
        if let Some(token) = default.filter(|_| ours && self.default.is_none()) {
            self.default = Some(self.named(token));
        }
    }

    /// The table, rows of the same addresses reduced to the one that answers.
    pub(super) fn finish(mut self, format: LegacyFormat) -> Result<Legacy, LegacyError> {
        let rule = if format == LegacyFormat::BindAcl { Rule::First } else { Rule::Smallest };
        if rule == Rule::Smallest {
            self.reduce(format == LegacyFormat::NginxGeo);
        }
        self.take_default();
        match self.remarks.first() {
            Some(first) if self.rows.is_empty() && self.default.is_none() => {
                Err(LegacyError::Nothing { format, first: Box::new(first.clone()) })
            }
            _ => Ok(Legacy {
                format,
                rows: self.rows,
                rule,
                default: self.default,
                remarks: self.remarks,
                more_remarks: self.more,
            }),
        }
    }

    /// A row for all addresses is what the others are exceptions from.
    fn take_default(&mut self) {
        let all = |row: &LegacyRow| row.range == Range::all(row.range.family());
        if !self.rows.iter().any(all) {
            return;
        }
        let (whole, rows): (Vec<_>, Vec<_>) = std::mem::take(&mut self.rows).into_iter().partition(all);
        self.rows = rows;
        for family in Family::ALL {
            if let Some(row) = whole.iter().find(|row| row.range.family() == family) {
                self.default.get_or_insert_with(|| row.target.clone());
            }
        }
        for row in &whole {
            let (kind, detail) = if self.default.as_ref() == Some(&row.target) {
                (RemarkKind::Everything, "is for every address, and is taken for the default")
            } else {
                (RemarkKind::Contradiction, "is for every address, but the default is another")
            };
            self.remark(row.line, kind, detail, &format!("{} {}", row.range, row.target.label()));
        }
    }

    /// Leaves one of the rows that name the same addresses.
    fn reduce(&mut self, last_wins: bool) {
        // As people and servers keep them: in order, and each once.
        if self.rows.is_sorted_by(|a, b| (&a.space, a.range) < (&b.space, b.range)) {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let key = |at: &usize| self.rows.get(*at).map(|row| (&row.space, row.range));
        order.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut out = vec![];
        for same in order.chunk_by(|a, b| key(a) == key(b)).filter(|same| same.len() > 1) {
            let winner = if last_wins { same.last() } else { same.first() };
            out.extend(same.iter().filter(|at| Some(*at) != winner).map(|at| (*at, winner.copied())));
        }
        out.sort_unstable();
        for (at, winner) in &out {
            if let Some((row, other)) = self.rows.get(*at).zip(winner.and_then(|at| self.rows.get(at))) {
                let (line, kind, detail) = remark_of(row, other);
                self.remark(line, kind, &detail, "");
            }
        }
        let mut out = out.into_iter().map(|(at, _)| at).peekable();
        let mut at = 0;
        self.rows.retain(|_| {
            let leaves = out.next_if_eq(&at).is_some();
            at += 1;
            !leaves
        });
    }
}

fn remark_of(row: &LegacyRow, other: &LegacyRow) -> (u64, RemarkKind, String) {
    let place = match other.line {
        0 => "another row".to_owned(),
        line => format!("line {line}"),
    };
    if row.target == other.target {
        return (row.line, RemarkKind::Repeated, format!("{} stands in {place}, too", row.range));
    }
    let detail = format!(
        "{} is given to {}, but {place} gives it to {}",
        row.range,
        row.target.label(),
        other.target.label()
    );
    (row.line, RemarkKind::Contradiction, detail)
}
