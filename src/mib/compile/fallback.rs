//! Lesser tables, tied to the better ones.

use toml::Spanned;

use super::super::descriptor::{Fallback, Own, Table};
use super::super::error::Problem;
use super::super::field::Kind;
use super::super::file::{TableSection, Word};
use super::{own, table_named};

/// Ties each lesser table to the better ones.
pub(super) fn tie(tables: &mut [Table], sections: &[TableSection]) -> Result<(), Problem> {
    for (at, section) in sections.iter().enumerate() {
        let Some(ranges) = &section.ranges else { continue };
        let fallbacks = ranges.get_ref().fallback_for.iter();
        let fallbacks = fallbacks.map(|(better, same)| fallback(tables, at, better, same));
        let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?;
        if let Some(ranges) = tables.get_mut(at).and_then(|table| table.ranges.as_mut()) {
            ranges.fallbacks = fallbacks;
        }
    }
    refuse_circles(tables, sections)
}

fn fallback(
    tables: &[Table],
    at: usize,
    better: &Word,
    same: &Spanned<Vec<Word>>,
) -> Result<Fallback, Problem> {
    let there = table_named(tables, better)?;
    let (here, other) = (&tables[at], &tables[there]);
    if other.ranges.is_none() {
        let message = format!("`{}` gives no ranges: there is nothing to fall back from", other.name);
        return Err(Problem::new(better.span(), message));
    }
    if same.get_ref().is_empty() {
        let message = "name the fields, alike in both tables, by which the better one is seen to lack a row";
        return Err(Problem::new(same.span(), message));
    }
    let fields = same.get_ref().iter().map(|word| shared(here, other, word)).collect::<Result<_, _>>()?;
    Ok(Fallback { better: there, same: fields })
}

/// A field that both tables have under one name.
fn shared(here: &Table, there: &Table, word: &Word) -> Result<(Own, Own), Problem> {
    let (ours, theirs) = (own(here, word)?, own(there, word)?);
    let (kind, other) = (here.kind(ours), there.kind(theirs));
    if kind == other && matches!(kind, Kind::Integer | Kind::Text | Kind::Address) {
        return Ok((ours, theirs));
    }
    let name = word.get_ref();
    let message = format!(
        "`{name}` is {kind} in `{}` and {other} in `{}`: they cannot be compared",
        here.name, there.name
    );
    Err(Problem::new(word.span(), message))
}

/// No table stands behind itself, however far.
fn refuse_circles(tables: &[Table], sections: &[TableSection]) -> Result<(), Problem> {
    for (at, section) in sections.iter().enumerate() {
        let mut ahead = better(tables, at);
        let mut seen = Vec::new();
        while let Some(next) = ahead.pop() {
            if next == at {
                let span = section.ranges.as_ref().map_or_else(|| section.name.span(), Spanned::span);
                return Err(Problem::new(
                    span,
                    format!("`{}` would be a fallback for itself", tables[at].name),
                ));
            }
            if !seen.contains(&next) {
                seen.push(next);
                ahead.extend(better(tables, next));
            }
        }
    }
    Ok(())
}

fn better(tables: &[Table], at: usize) -> Vec<usize> {
    let ranges = tables.get(at).and_then(|table| table.ranges.as_ref());
    ranges.iter().flat_map(|ranges| &ranges.fallbacks).map(|fallback| fallback.better).collect()
}
