//! The static file that configuration reads, made from an old table.

use std::fmt::Write;

use serde::Serialize;

use super::remark::{Remark, RemarkKind};
use super::{Legacy, LegacyRow};
use crate::address::{Range, never_published, prefixes};
use crate::coverage::{Known, Rule, Target};
use crate::table::Name;

/// A static file: columns `range` and `bas` or `edges`, as far as lines have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaticFile {
    /// The file's text.
    #[serde(skip)]
    pub csv: String,
    /// How many lines it has, without the first.
    pub rows: u64,
    /// Whether overlapping rows were cut into pieces, because the old table's way of
    /// choosing among them is not that of static lines.
    pub flattened: bool,
    /// What of the table is not in it, besides what was not read in the first place.
    pub remarks: Vec<Remark>,
    /// Whether the names were taken as they stand, for want of a configuration.
    pub unchecked: bool,
}

impl Legacy {
    /// The table as a static file, in which static lines have the same effect as the rows.
    /// With the names of a configuration, rows of unknown ones are left out and named;
    /// without, words are taken for edges.
    pub fn static_file(&self, known: Option<&Known>) -> StaticFile {
        let mut remarks = Vec::new();
        let mut rows: Vec<LegacyRow> = Vec::with_capacity(self.rows.len());
        let flattened = !self.nests();
        if flattened {
            for space in self.spaces() {
                let flat = self.flat_of(space.as_ref());
                rows.extend(flat.into_iter().map(|(range, row)| LegacyRow { range, ..row.clone() }));
            }
        } else {
            rows.clone_from(&self.rows);
        }
        rows.retain_mut(|row| match usable(row, known) {
            Ok(target) => {
                row.target = target;
                true
            }
            Err((kind, detail)) => {
                let text = format!("{} {}", written(row.range), row.target.label());
                remarks.push(Remark { line: row.line, kind, detail, text });
                false
            }
        });
        StaticFile {
            csv: write(&rows),
            rows: rows.len() as u64,
            flattened,
            remarks,
            unchecked: known.is_none(),
        }
    }

    /// Whether the rows can stand as they are: each that lies in another is at most half its
    /// size, which is when static lines let the smaller one through.
    fn nests(&self) -> bool {
        let mut order: Vec<&LegacyRow> = self.rows.iter().collect();
        let key = |row: &LegacyRow| {
            let (first, span) = (row.range.first_bits(), u128::MAX - row.range.span());
            (row.space.clone(), row.range.family(), first, span)
        };
        order.sort_by_cached_key(|row| key(row));
        let mut around: Vec<&LegacyRow> = Vec::new();
        for row in order {
            while around.last().is_some_and(|outer| {
                outer.space != row.space || outer.range.intersection(row.range).is_none()
            }) {
                around.pop();
            }
            if let Some(outer) = around.last() {
                // Sizes are spans plus one.
                let half =
                    outer.range.span().checked_sub(row.range.span()).is_some_and(|d| d > row.range.span());
                if !half || !outer.range.covers(row.range) || self.rule == Rule::First {
                    return false;
                }
            }
            around.push(row);
        }
        true
    }

    fn spaces(&self) -> Vec<Option<Name>> {
        let mut spaces: Vec<Option<Name>> = self.rows.iter().map(|row| row.space.clone()).collect();
        spaces.sort();
        spaces.dedup();
        spaces
    }

    fn flat_of(&self, space: Option<&Name>) -> Vec<(Range, &LegacyRow)> {
        let rows: Vec<&LegacyRow> = self.rows.iter().filter(|row| row.space.as_ref() == space).collect();
        let ranges: Vec<Range> = rows.iter().map(|row| row.range).collect();
        let pieces = crate::coverage::flat::flatten(&ranges, self.rule);
        pieces.into_iter().filter_map(|piece| Some((piece.range, *rows.get(piece.row)?))).collect()
    }
}

fn usable(row: &LegacyRow, known: Option<&Known>) -> Result<Target, (RemarkKind, String)> {
    if let Some(never) = never_published(row.range) {
        return Err((RemarkKind::NeverPublished, format!("addresses of {never} are never published")));
    }
    match known {
        Some(known) => known.resolve(&row.target).ok_or_else(|| {
            let detail = format!("the configuration knows no `{}`", row.target.label().escape_debug());
            (RemarkKind::UnknownName, detail)
        }),
        None => Ok(match &row.target {
            Target::Named(name) => Target::Edges(vec![name.clone()]),
            target => target.clone(),
        }),
    }
}

fn write(rows: &[LegacyRow]) -> String {
    let bas = rows.iter().any(|row| matches!(row.target, Target::Bas(_)));
    let edges = rows.is_empty() || rows.iter().any(|row| !matches!(row.target, Target::Bas(_)));
    let space = rows.iter().any(|row| row.space.is_some());
    let columns = [(true, "range"), (bas, "bas"), (edges, "edges"), (space, "space")];
    let header: Vec<&str> = columns.iter().filter(|(there, _)| *there).map(|(_, name)| *name).collect();
    let mut csv = header.join(",");
    csv.push('\n');
    for row in rows {
        csv.push_str(&written(row.range));
        let (of_bas, of_edges) = match &row.target {
            Target::Bas(name) => (name.as_str(), Name::default()),
            target => ("", target.label()),
        };
        let space_cell = row.space.as_deref().unwrap_or_default();
        for (_, cell) in
            [(bas, of_bas), (edges, of_edges.as_str()), (space, space_cell)].iter().filter(|c| c.0)
        {
            csv.push(',');
            push_cell(&mut csv, cell);
        }
        csv.push('\n');
    }
    csv
}

/// A range as a person would write it.
fn written(range: Range) -> String {
    let mut list = prefixes(range);
    match (list.next(), list.next()) {
        (Some(only), None) => only.to_string(),
        _ => range.to_string(),
    }
}

fn push_cell(csv: &mut String, cell: &str) {
    if cell.contains(['"', ',', '\n', '\r']) || cell.trim() != cell {
        let _ = write!(csv, "\"{}\"", cell.replace('"', "\"\""));
    } else {
        csv.push_str(cell);
    }
}
