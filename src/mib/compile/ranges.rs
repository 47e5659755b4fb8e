//! How rows become ranges.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::descriptor::{
    Delegated, Exclude, Lengths, Only, Own, Pool, Ranges, Recipe, Ref, Table, Vrf,
};
use super::super::error::Problem;
use super::super::field::Kind;
use super::super::file::{ExcludeSection, LengthsSection, RangesSection, Word};
use super::{list, own, own_named, recipe, unknown_field};
use crate::table::Glob;

/// How a table's rows become ranges; better tables are tied later, when all are known.
pub(super) fn ranges(
    tables: &[Table],
    at: usize,
    section: &Spanned<RangesSection>,
) -> Result<Ranges, Problem> {
    let raw = section.get_ref();
    let scope = Scope { tables, at };
    let count =
        |word: &Option<Word>| word.as_ref().map(|word| scope.field(word, &[Kind::Integer])).transpose();
    let ranges = Ranges {
        kinds: recipe::kinds(scope, section)?,
        pool: pool(scope, section)?,
        vrf: vrf(scope, raw)?,
        size: count(&raw.size)?,
        used: count(&raw.used)?,
        delegated: delegated(scope, raw)?,
        only: scope.only(&raw.only)?,
        lengths: raw.lengths.as_ref().map(lengths).transpose()?.unwrap_or_default(),
        skip_pools: raw.skip_pools.iter().map(Glob::new).collect(),
        exclude: raw.exclude.as_ref().map(|raw| exclude(scope, raw)).transpose()?,
        fallbacks: Vec::new(),
    };
    refuse_lengths(&ranges, raw)?;
    refuse_optional(scope, &ranges, section)?;
    Ok(ranges)
}

fn pool(scope: Scope<'_>, section: &Spanned<RangesSection>) -> Result<Pool, Problem> {
    let raw = section.get_ref();
    match (&raw.pool, &raw.pool_name) {
        (Some(word), None) => scope.field(word, &[Kind::Text]).map(Pool::Field),
        (None, Some(name)) if !name.get_ref().is_empty() => Ok(Pool::Named(name.get_ref().as_str().into())),
        _ => Err(Problem::new(
            section.span(),
            "a range has a `pool` (the field with its name) or a `pool-name` (of all of them): exactly one",
        )),
    }
}

fn vrf(scope: Scope<'_>, raw: &RangesSection) -> Result<Option<Vrf>, Problem> {
    let (word, group) = match (&raw.vrf, &raw.group) {
        (None, None) => return Ok(None),
        (Some(word), None) => (word, false),
        (None, Some(word)) => (word, true),
        (Some(_), Some(word)) => {
            return Err(Problem::new(word.span(), "`vrf` gives the VRF already: a group cannot give it too"));
        }
    };
    Ok(Some(Vrf { field: scope.field(word, &[Kind::Text])?, group }))
}

fn delegated(scope: Scope<'_>, raw: &RangesSection) -> Result<Option<Delegated>, Problem> {
    let Some(word) = &raw.delegated_len else {
        return match raw.delegated_only.keys().next() {
            Some(only) => {
                Err(Problem::new(only.span(), "without `delegated-len` there is nothing to restrict"))
            }
            None => Ok(None),
        };
    };
    let length = scope.field(word, &[Kind::Integer])?;
    Ok(Some(Delegated { length, only: scope.only(&raw.delegated_only)? }))
}

fn lengths(section: &Spanned<LengthsSection>) -> Result<Lengths, Problem> {
    let raw = section.get_ref();
    let bounds = |bounds: &Option<Spanned<[u8; 2]>>, width: u8| {
        let Some(bounds) = bounds else { return Ok(None) };
        match *bounds.get_ref() {
            [from, to] if from <= to && to <= width => Ok(Some((from, to))),
            _ => {
                let message = format!("lengths are [from, to], from 0 to {width}");
                Err(Problem::new(bounds.span(), message))
            }
        }
    };
    let lengths = Lengths { v4: bounds(&raw.v4, 32)?, v6: bounds(&raw.v6, 128)? };
    if lengths.v4.is_none() && lengths.v6.is_none() {
        return Err(Problem::new(section.span(), "lengths are for `v4`, or `v6`, or both"));
    }
    Ok(lengths)
}

fn refuse_lengths(ranges: &Ranges, raw: &RangesSection) -> Result<(), Problem> {
    let blocks = ranges.kinds.iter().all(|kind| kind.recipe.is_block());
    match &raw.lengths {
        Some(lengths) if !blocks => {
            Err(Problem::new(lengths.span(), "only ranges that are one prefix each have a length"))
        }
        _ => Ok(()),
    }
}

/// What names can be looked up from.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    tables: &'a [Table],
    at: usize,
}

impl Scope<'_> {
    /// Rows count only by these fields; those of the table itself are looked at first.
    pub(super) fn only(self, raw: &BTreeMap<Word, Vec<i64>>) -> Result<Vec<Only>, Problem> {
        let mut only = Vec::with_capacity(raw.len());
        for (word, values) in raw {
            let field = self.field(word, &[Kind::Integer, Kind::AddressType, Kind::Bits])?;
            if values.is_empty() {
                return Err(Problem::new(word.span(), "without a value no row would count"));
            }
            only.push(Only { field, values: values.iter().map(|value| i128::from(*value)).collect() });
        }
        only.sort_by_key(|only| matches!(only.field, Ref::Joined { .. }));
        Ok(only)
    }

    /// A field of this table (`name`) or of a joined one (`table.name`) that holds one of
    /// some kinds.
    pub(super) fn field(self, word: &Word, kinds: &[Kind]) -> Result<Ref, Problem> {
        let field = self.find(word)?;
        let kind = self.kind(field);
        if kinds.contains(&kind) {
            return Ok(field);
        }
        let wanted: Vec<String> = kinds.iter().map(Kind::to_string).collect();
        let message = format!("`{}` is {kind}, expected {}", word.get_ref(), wanted.join(" or "));
        Err(Problem::new(word.span(), message))
    }

    fn find(self, word: &Word) -> Result<Ref, Problem> {
        let here = &self.tables[self.at];
        let Some((table, name)) = word.get_ref().split_once('.') else {
            return own(here, word).map(Ref::Own);
        };
        let join = here.joins.iter().position(|join| *self.tables[join.table].name == *table);
        let Some(join) = join else {
            let joined = list(here.joins.iter().map(|join| &*self.tables[join.table].name));
            let joined = if joined.is_empty() { "none".to_owned() } else { joined };
            let message = format!("`{table}` is not joined to `{}` (joined: {joined})", here.name);
            return Err(Problem::new(word.span(), message));
        };
        let there = &self.tables[here.joins[join].table];
        let field = own_named(there, name).ok_or_else(|| unknown_field(there, word, name))?;
        Ok(Ref::Joined { join, field })
    }

    pub(super) fn kind(self, field: Ref) -> Kind {
        let (table, field) = self.resolve(field);
        table.kind(field)
    }

    fn resolve(&self, field: Ref) -> (&Table, Own) {
        let here = &self.tables[self.at];
        match field {
            Ref::Own(field) => (here, field),
            Ref::Joined { join, field } => (&self.tables[here.joins[join].table], field),
        }
    }
}

fn exclude(scope: Scope<'_>, raw: &ExcludeSection) -> Result<Exclude, Problem> {
    let here = &scope.tables[scope.at];
    // Only an index part is there whatever becomes of the cells.
    let part = |word: &Word| match own(here, word)? {
        part @ Own::Part(_) => Ok(part),
        Own::Column(_) => Err(Problem::new(word.span(), "what is excluded is told by index parts alone")),
    };
    let field = part(&raw.field)?;
    if here.kind(field) != Kind::Integer {
        return Err(Problem::new(raw.field.span(), format!("`{}` is no number", raw.field.get_ref())));
    }
    if let Some(others) = raw.others.as_ref().filter(|others| *others.get_ref() == raw.equals) {
        return Err(Problem::new(others.span(), "the same rows cannot take out and be taken out of"));
    }
    let within = raw.within.iter().map(part).collect::<Result<_, _>>()?;
    let others = raw.others.as_ref().map(|others| i128::from(*others.get_ref()));
    Ok(Exclude { field, equals: raw.equals.into(), others, within })
}

/// What a row cannot do without is not optional; a missing VRF is the empty one, and the
/// length of a network may stand with it.
fn refuse_optional(
    scope: Scope<'_>,
    ranges: &Ranges,
    section: &Spanned<RangesSection>,
) -> Result<(), Problem> {
    let vrf = ranges.vrf.map(|vrf| vrf.field);
    let lengths: Vec<Ref> = ranges.kinds.iter().filter_map(|kind| spare_length(scope, kind.recipe)).collect();
    for field in ranges.needed(true) {
        if Some(field) == vrf || lengths.contains(&field) {
            continue;
        }
        if let (table, Own::Column(column)) = scope.resolve(field)
            && table.columns[column].optional
        {
            let message = format!(
                "`{}` of `{}` is optional, but no range can be made without it",
                table.columns[column].name, table.name
            );
            return Err(Problem::new(section.span(), message));
        }
    }
    Ok(())
}

fn spare_length(scope: Scope<'_>, recipe: Recipe) -> Option<Ref> {
    match recipe {
        Recipe::PrefixLength(prefix, length) if scope.kind(prefix) == Kind::Network => length,
        _ => None,
    }
}
