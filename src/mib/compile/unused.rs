//! What is read for nothing is refused: it is a slip, and it costs every router requests.

use toml::Spanned;

use super::super::cell::ColumnForm;
use super::super::descriptor::{Contexts, On, Otherwise, Own, Ref, Table};
use super::super::error::Problem;
use super::super::file::TableSection;

pub(super) fn refuse(
    tables: &[Table],
    contexts: Option<&Contexts>,
    sections: &Spanned<Vec<TableSection>>,
) -> Result<(), Problem> {
    if tables.iter().all(|table| table.ranges.is_none()) {
        return Err(Problem::new(sections.span(), "no table has [table.ranges]: nothing would come of it"));
    }
    let used = used_fields(tables, contexts);
    for (at, section) in sections.get_ref().iter().enumerate() {
        unused_joins(tables, at, section)?;
        let table = &tables[at];
        let lists_contexts = contexts.is_some_and(|contexts| contexts.table == at);
        let joined = tables.iter().any(|other| other.joins.iter().any(|join| join.table == at));
        if table.ranges.is_none() && !lists_contexts && !joined {
            return Err(Problem::new(section.name.span(), format!("nothing uses table `{}`", table.name)));
        }
        for (number, column) in table.columns.iter().enumerate() {
            let twin = table.twins.iter().any(|twin| twin.1 == number);
            let needed = twin || column.form == ColumnForm::RowStatus || table.columns.len() == 1;
            if needed || used.contains(&(at, Own::Column(number))) {
                continue;
            }
            let place = section.columns.get_ref().keys().find(|name| **name.get_ref() == *column.name);
            let span = place.map_or_else(|| section.columns.span(), Spanned::span);
            return Err(Problem::new(span, format!("nothing uses column `{}`", column.name)));
        }
    }
    Ok(())
}

/// Every field that something uses, with its table.
fn used_fields(tables: &[Table], contexts: Option<&Contexts>) -> Vec<(usize, Own)> {
    let mut used = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        for field in table.ranges.iter().flat_map(|ranges| ranges.used_fields()) {
            used.push(match field {
                Ref::Own(field) => (at, field),
                Ref::Joined { join, field } => (table.joins[join].table, field),
            });
        }
        for fallback in table.ranges.iter().flat_map(|ranges| &ranges.fallbacks) {
            for (here, there) in &fallback.same {
                used.extend([(at, *here), (fallback.better, *there)]);
            }
        }
        for join in &table.joins {
            match &join.on {
                On::WholeIndex | On::Single => {}
                On::Index(fields) => used.extend(fields.iter().map(|field| (at, *field))),
                On::Column { own, column } => used.extend([(at, *own), (join.table, Own::Column(*column))]),
            }
        }
        for column in &table.columns {
            used.extend(column.form.address_type().map(|kind| (at, kind)));
            if let Some(Otherwise::Field(field)) = column.otherwise {
                used.push((at, field));
            }
        }
    }
    if let Some(contexts) = contexts {
        let columns = [Some(contexts.vrf), Some(contexts.name), contexts.engine_id];
        used.extend(columns.into_iter().flatten().map(|column| (contexts.table, Own::Column(column))));
    }
    used
}

fn unused_joins(tables: &[Table], at: usize, section: &TableSection) -> Result<(), Problem> {
    let table = &tables[at];
    let fields = table.ranges.as_ref().map(|ranges| ranges.used_fields()).unwrap_or_default();
    for (number, join) in table.joins.iter().enumerate() {
        let read = fields.iter().any(|field| matches!(field, Ref::Joined { join, .. } if *join == number));
        if !read {
            let name = &tables[join.table].name;
            let place = section.joins.keys().find(|word| **word.get_ref() == **name);
            let span = place.map_or_else(|| section.name.span(), Spanned::span);
            return Err(Problem::new(span, format!("nothing uses the join to `{name}`")));
        }
    }
    Ok(())
}
