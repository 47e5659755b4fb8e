//! The table as this module holds others against it: one space, each row with who answers.

use std::collections::HashMap;

use crate::address::Range;
use crate::format::View;
use crate::table::{Class, Entry, Group, Name, Table};

/// Who answers for addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The owner.
    pub owner: Name,
    /// The BAS; none for a static line that names edges.
    pub bas: Option<Name>,
    /// The group's token, where groups are known.
    pub token: Option<Name>,
    /// The group's edges, nearest first, where groups are known.
    pub edges: Vec<Name>,
    /// Whether a static line that fills is all that stands behind it.
    pub fill: bool,
}

impl Answer {
    /// An answer by what it depends on.
    pub fn new(owner: Name, bas: Option<Name>, group: Option<&Group>, fill: bool) -> Self {
        let edges = group.map(|g| g.edges.iter().map(|edge| edge.name.clone()).collect());
        let token = group.map(|group| group.token.as_str().into());
        Self { owner, bas, token, edges: edges.unwrap_or_default(), fill }
    }

    /// The nearest edge.
    pub fn edge(&self) -> Option<&Name> {
        self.edges.first()
    }

    /// The BAS, else the owner: what a figure by BAS goes by.
    pub fn by_bas(&self) -> &Name {
        self.bas.as_ref().unwrap_or(&self.owner)
    }

    /// The nearest edge, else the group's token: what a figure by edge goes by.
    pub fn by_edge(&self) -> Option<&Name> {
        self.edge().or(self.token.as_ref())
    }
}

/// One space of the table, in order, neighbours with one answer joined.
#[derive(Clone, Debug, Default)]
pub struct Served {
    space: Name,
    rows: Vec<(Range, u32)>,
    answers: Vec<Answer>,
}

impl Served {
    /// A table whose groups are not known.
    pub fn of_table(table: &Table, space: &Name) -> Self {
        let rows = table.entries().iter().filter(|entry| entry.space == *space).map(|entry| (entry, None));
        Self::collect(space, rows)
    }

    /// A table with its groups.
    pub fn of_view(view: &View<'_>, space: &Name) -> Self {
        let rows = view.rows().iter().filter(|row| row.entry.space == *space);
        Self::collect(space, rows.map(|row| (row.entry, Some(row.group))))
    }

    /// Ranges by family and first address, disjoint, each with the number of its answer.
    pub fn of_ranges(space: &Name, mut ranges: Vec<(Range, u32)>, answers: Vec<Answer>) -> Self {
        ranges.dedup_by(|(next, answer), (before, same)| match joined(*before, *next) {
            Some(both) if answer == same => {
                *before = both;
                true
            }
            _ => false,
        });
        Self { space: space.clone(), rows: ranges, answers }
    }

    /// The space.
    pub const fn space(&self) -> &Name {
        &self.space
    }

    /// The rows, by family and first address, each with the number of its answer.
    pub fn rows(&self) -> &[(Range, u32)] {
        &self.rows
    }

    /// The answers.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    fn collect<'a>(space: &Name, rows: impl Iterator<Item = (&'a Entry, Option<&'a Group>)>) -> Self {
        let mut served = Self { space: space.clone(), ..Self::default() };
        // An answer depends on these alone; hashing it whole for each of a million rows would not do.
        type Key<'a> = (&'a str, Option<&'a str>, bool, Option<&'a str>);
        let mut numbers: HashMap<Key<'a>, u32> = HashMap::new();
        for (entry, group) in rows {
            let fill = entry.class == Class::Fill;
            let key = (entry.owner.as_str(), entry.bas.as_deref(), fill, group.map(|g| g.token.as_str()));
            let number = *numbers.entry(key).or_insert_with(|| {
                served.answers.push(answer(entry, group, fill));
                served.answers.len() as u32 - 1
            });
            served.push(entry.range, number);
        }
        served
    }

    fn push(&mut self, range: Range, answer: u32) {
        if let Some((before, same)) = self.rows.last_mut()
            && *same == answer
            && let Some(both) = joined(*before, range)
        {
            *before = both;
            return;
        }
        self.rows.push((range, answer));
    }
}

/// Two ranges as one, where they touch.
fn joined(before: Range, next: Range) -> Option<Range> {
    if !before.touches(next) {
        return None;
    }
    Range::from_bits(next.family(), before.first_bits(), next.last_bits())
}

fn answer(entry: &Entry, group: Option<&Group>, fill: bool) -> Answer {
    Answer::new(entry.owner.clone(), entry.bas.clone(), group, fill)
}
