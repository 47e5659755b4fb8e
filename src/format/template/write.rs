//! A view by a template.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;

use super::NAME;
use super::layout::Layout;
use super::pattern::{Field, Pattern};
use crate::address::{Family, Range, prefixes};
use crate::format::groups::{GroupsError, addresses, answering, host, target};
use crate::format::lines::{head, push};
use crate::format::text::push_prefix;
use crate::format::{RenderError, Rendered, Stamp, View, one_space};
use crate::table::{Entry, Group, Token};

/// The view as a file.
pub(super) fn render(layout: &Layout, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
    one_space(NAME, view)?;
    let encoding = |e: GroupsError| RenderError::Encoding(e.to_string());
    let targets = targets(layout, view).map_err(encoding)?;
    let default = &view.default_group().token;
    let mut writer = Writer { layout, default, targets, body: String::new(), rows: 0 };
    if let Some(comment) = &layout.comment {
        push(&mut writer.body, format_args!("{comment} default {default}\n"));
    }
    writer.once(layout.head.as_ref());
    for group in view.groups() {
        writer.group(&group.token);
        writer.addresses(layout.address.as_ref(), view, group).map_err(encoding)?;
    }
    writer.once(layout.middle.as_ref());
    writer.addresses(layout.default.as_ref(), view, view.default_group()).map_err(encoding)?;
    rows(layout, view).into_iter().for_each(|row| writer.row(row));
    writer.once(layout.tail.as_ref());
    Ok(writer.finish(stamp))
}

/// A row to be: its addresses, what answers, and the entry where rows stay apart.
type Row<'v> = (Range, &'v Token, Option<&'v Entry>);

fn rows<'v>(layout: &Layout, view: &'v View<'_>) -> Vec<Row<'v>> {
    let rows: Vec<Row<'v>> = if layout.row.has_names() {
        view.rows().iter().map(|row| (row.entry.range, &row.group.token, Some(row.entry))).collect()
    } else {
        view.answers().map(|answer| (answer.range, answer.token, None)).collect()
    };
    if layout.gaps { with_gaps(&rows, &view.default_group().token) } else { rows }
}

/// The rows, and one with the default for each stretch of addresses in none.
fn with_gaps<'v>(rows: &[Row<'v>], default: &'v Token) -> Vec<Row<'v>> {
    let mut all = Vec::with_capacity(2 * rows.len() + 2);
    for family in Family::ALL {
        let mut next = Some(0);
        let gap = |next: Option<u128>, last: Option<u128>| {
            Some((Range::from_bits(family, next?, last?)?, default, None))
        };
        for row in rows.iter().filter(|row| row.0.family() == family) {
            all.extend(gap(next, row.0.first_bits().checked_sub(1)));
            all.push(*row);
            next = row.0.last_bits().checked_add(1);
        }
        all.extend(gap(next, Some(family.max())));
    }
    all
}

/// Each group's target, where the template names it.
fn targets<'v>(layout: &Layout, view: &'v View<'_>) -> Result<BTreeMap<&'v Token, String>, GroupsError> {
    let sections =
        [layout.group.as_ref(), layout.address.as_ref(), layout.default.as_ref(), Some(&layout.row)];
    if !sections.into_iter().flatten().any(|section| section.has(Field::Target)) {
        return Ok(BTreeMap::new());
    }
    view.groups().map(|group| Ok((&group.token, target(view, group)?))).collect()
}

struct Writer<'w> {
    layout: &'w Layout,
    default: &'w Token,
    targets: BTreeMap<&'w Token, String>,
    body: String,
    rows: u64,
}

impl Writer<'_> {
    fn once(&mut self, section: Option<&Pattern>) {
        if let Some(section) = section {
            section.fill(&mut self.body, |_| &self.default);
        }
    }

    fn group(&mut self, token: &Token) {
        let Some(section) = &self.layout.group else { return };
        let value = |field| -> &dyn Display { common(field, token, self.default, &self.targets) };
        section.fill(&mut self.body, value);
    }

    /// The lines of a group's addresses; of one without any, that of its first host.
    fn addresses(
        &mut self,
        section: Option<&Pattern>,
        view: &View<'_>,
        group: &Group,
    ) -> Result<(), GroupsError> {
        let Some(section) = section else { return Ok(()) };
        let edges = answering(view, group);
        let mut list: Vec<(&str, String)> = Vec::new();
        for (kind, is) in [("A", IpAddr::is_ipv4 as fn(&IpAddr) -> bool), ("AAAA", IpAddr::is_ipv6)] {
            // Lines know no weights: where these differ, the first edge of the family answers alone.
            let first = edges.iter().position(|edge| edge.addresses.iter().any(is));
            let own = match first.filter(|_| group.is_weighted()) {
                Some(first) => edges.get(first..=first).unwrap_or_default(),
                None => edges.as_slice(),
            };
            list.extend(addresses(own, is).into_iter().map(|address| (kind, address.to_string())));
        }
        if list.is_empty() {
            let named = edges.iter().find(|edge| edge.host.is_some()).map(|edge| host(edge)).transpose()?;
            let name = named.flatten().ok_or_else(|| GroupsError::NoAnswer { token: group.token.clone() })?;
            list.push(("CNAME", format!("{name}.")));
        }
        for (kind, address) in &list {
            let value = |field| -> &dyn Display {
                match field {
                    Field::Type => kind,
                    Field::Address => address,
                    other => common(other, &group.token, self.default, &self.targets),
                }
            };
            section.fill(&mut self.body, value);
        }
        Ok(())
    }

    fn row(&mut self, row: Row<'_>) {
        if !self.layout.by_prefix() {
            return self.line(row, row.0);
        }
        prefixes(row.0).for_each(|prefix| self.line(row, prefix.into()));
    }

    /// A row of these addresses, which are one prefix where the template has prefixes.
    fn line(&mut self, (_, token, entry): Row<'_>, range: Range) {
        let (first, last, family) = (range.first(), range.last(), range.family());
        let length = u32::from(family.width()) - range.span().count_ones();
        let mut prefix = String::with_capacity(18);
        prefixes(range).take(1).for_each(|net| push_prefix(&mut prefix, net));
        let number = family.number();
        let bas = entry.and_then(|entry| entry.bas.as_deref()).unwrap_or_default();
        let pool = entry.map(|entry| entry.pool.text()).unwrap_or_default();
        let vrf = entry.map(|entry| &*entry.vrf).unwrap_or_default();
        let value = |field| -> &dyn Display {
            match field {
                Field::Prefix => &prefix,
                Field::First | Field::Network => &first,
                Field::Last => &last,
                Field::Length => &length,
                Field::Family => &number,
                Field::Bas => &bas,
                Field::Pool => &pool,
                Field::Vrf => &vrf,
                other => common(other, token, self.default, &self.targets),
            }
        };
        self.layout.row.fill(&mut self.body, value);
        self.rows += 1;
    }

    fn finish(mut self, stamp: &Stamp) -> Rendered {
        let mut first = String::new();
        if let Some(comment) = &self.layout.comment {
            push(&mut self.body, format_args!("{comment} end {}\n", self.rows));
            push(&mut first, format_args!("{comment}{}", head(NAME, stamp).trim_start_matches('#')));
        }
        Rendered { head: first.into_bytes(), body: self.body.into_bytes(), tail: vec![], rows: self.rows }
    }
}

/// What a field of a group says.
fn common<'v>(
    field: Field,
    token: &'v Token,
    default: &'v Token,
    targets: &'v BTreeMap<&Token, String>,
) -> &'v dyn Display {
    match (field, targets.get(token)) {
        (Field::Default, _) => default,
        (Field::Target, Some(target)) => target,
        _ => token,
    }
}
