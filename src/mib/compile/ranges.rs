//! Range recipes.

use toml::Spanned;

use super::super::descriptor::{Exclude, On, Own, Ranges, Recipe, Ref, Table};
use super::super::error::Problem;
use super::super::field::Kind;
use super::super::file::{ExcludeSection, RangesSection, TableSection, Word};
use super::super::text::Glob;
use super::{list, own, own_named, table_named, unknown_field};

/// How a table's rows become ranges; fallbacks are tied later, when all are known.
pub(super) fn ranges(
    tables: &[Table],
    at: usize,
    section: &Spanned<RangesSection>,
) -> Result<Ranges, Problem> {
    let raw = section.get_ref();
    let scope = Scope { tables, at };
    let integer = |word: &Word| scope.field(word, &[Kind::Integer]);
    let only = raw.only.iter().map(|(word, values)| only(scope, word, values));
    let ranges = Ranges {
        recipe: recipe(scope, section)?,
        pool: scope.field(&raw.pool, &[Kind::Text])?,
        vrf: raw.vrf.as_ref().map(|word| scope.field(word, &[Kind::Text])).transpose()?,
        size: raw.size.as_ref().map(integer).transpose()?,
        used: raw.used.as_ref().map(integer).transpose()?,
        only: only.collect::<Result<_, _>>()?,
        skip_pools: raw.skip_pools.iter().map(Glob::new).collect(),
        exclude: raw.exclude.as_ref().map(|raw| exclude(scope, raw)).transpose()?,
        fallback_for: None,
    };
    refuse_optional(scope, &ranges, section)?;
    Ok(ranges)
}

/// What names can be looked up from.
#[derive(Clone, Copy)]
struct Scope<'a> {
    tables: &'a [Table],
    at: usize,
}

impl Scope<'_> {
    /// A field of this table (`name`) or of a joined one (`table.name`) that holds one of
    /// some kinds.
    fn field(self, word: &Word, kinds: &[Kind]) -> Result<Ref, Problem> {
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

    fn kind(self, field: Ref) -> Kind {
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

fn recipe(scope: Scope<'_>, section: &Spanned<RangesSection>) -> Result<Recipe, Problem> {
    let raw = section.get_ref();
    let address = |word| scope.field(word, &[Kind::Address]);
    let number = |word| scope.field(word, &[Kind::Integer]);
    match (&raw.start, &raw.end, &raw.network, &raw.mask, &raw.prefix, &raw.length) {
        (Some(start), Some(end), None, None, None, None) => {
            Ok(Recipe::StartEnd(address(start)?, address(end)?))
        }
        (None, None, Some(network), Some(mask), None, None) => {
            Ok(Recipe::NetworkMask(address(network)?, address(mask)?))
        }
        (None, None, None, None, Some(prefix), Some(length)) => {
            Ok(Recipe::PrefixLength(address(prefix)?, number(length)?))
        }
        _ => Err(Problem::new(
            section.span(),
            "a range is made of `start` and `end`, or `network` and `mask`, or `prefix` and `length`: exactly one pair",
        )),
    }
}

fn only(scope: Scope<'_>, word: &Word, values: &[i64]) -> Result<(Ref, Vec<i128>), Problem> {
    let field = scope.field(word, &[Kind::Integer, Kind::AddressType, Kind::Bits])?;
    if values.is_empty() {
        return Err(Problem::new(word.span(), "without a value no row would count"));
    }
    Ok((field, values.iter().map(|value| i128::from(*value)).collect()))
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
    let within = raw.within.iter().map(part).collect::<Result<_, _>>()?;
    Ok(Exclude { field, equals: raw.equals.into(), within })
}

/// What a row cannot do without is not optional; a missing VRF is the empty one.
fn refuse_optional(
    scope: Scope<'_>,
    ranges: &Ranges,
    section: &Spanned<RangesSection>,
) -> Result<(), Problem> {
    let vrf = ranges.vrf;
    for field in ranges.needed().into_iter().filter(|field| Some(*field) != vrf) {
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

/// Ties each fallback to the better table.
pub(super) fn fallbacks(tables: &mut [Table], sections: &[TableSection]) -> Result<(), Problem> {
    for (at, section) in sections.iter().enumerate() {
        let word = section.ranges.as_ref().and_then(|ranges| ranges.get_ref().fallback_for.as_ref());
        let Some(word) = word else { continue };
        let better = table_named(tables, word)?;
        check_fallback(tables, at, better, word, sections)?;
        if let Some(ranges) = tables.get_mut(at).and_then(|table| table.ranges.as_mut()) {
            ranges.fallback_for = Some(better);
        }
    }
    Ok(())
}

fn check_fallback(
    tables: &[Table],
    at: usize,
    better: usize,
    word: &Word,
    sections: &[TableSection],
) -> Result<(), Problem> {
    let refuse = |message: String| Err(Problem::new(word.span(), message));
    let (here, there) = (&tables[at], &tables[better]);
    let Some(ranges) = sections[better].ranges.as_ref() else {
        return refuse(format!("`{}` gives no ranges: there is nothing to fall back from", there.name));
    };
    if better == at || ranges.get_ref().fallback_for.is_some() {
        return refuse("a fallback stands behind a table that is none itself".to_owned());
    }
    // Which pools the better table has must be known even where its cells are unreadable.
    let by_index = there.joins.iter().filter(|join| join.table == at).any(|join| match &join.on {
        On::WholeIndex => true,
        On::Index(fields) => fields.iter().all(|field| matches!(field, Own::Part(_))),
        On::Column { .. } => false,
    });
    if by_index {
        return Ok(());
    }
    refuse(format!(
        "`{}` must be joined to `{}` by parts of its index, which tells what it lacks",
        there.name, here.name
    ))
}
