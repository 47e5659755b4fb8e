//! Old tables, logs of viewers, and what edges say of their load.

use std::sync::LazyLock;

use crate::coverage::{Known, Legacy, LogShape, Question, ReadOptions, Resolvers, Served, measure};
use crate::load::{Expression, Pointer, Selector, Url, matching, number_at};
use crate::table::Table;

/// Old tables in any form, told by their content.
pub(super) fn table(data: &[u8]) {
    if let Ok(table) = Legacy::read(data, &ReadOptions::default()) {
        let _ = table.static_file(None);
    }
    let _ = Resolvers::read(data);
}

static SERVED: LazyLock<Served> = LazyLock::new(|| Served::of_table(&Table::default(), &"internet".into()));

/// Logs of viewers in any shape, packed or not.
pub(super) fn log(data: &[u8]) {
    let question = Question {
        served: &SERVED,
        old: None,
        known: &Known::default(),
        resolvers: None,
        shape: LogShape::default(),
        top: 10,
        name: None,
    };
    let _ = measure(data, &question, |_| {});
}

/// Prometheus text and JSON, with what is looked for in the first line.
pub(super) fn load(data: &[u8]) {
    let end = data.iter().position(|octet| *octet == b'\n').unwrap_or(data.len());
    let (first, rest) = data.split_at(end);
    let Ok(first) = std::str::from_utf8(first) else { return };
    if let Ok(selector) = first.parse::<Selector>()
        && let Ok(values) = matching(rest, &selector)
    {
        assert!(values.len() <= rest.len());
    }
    if let Ok(expression) = first.parse::<Expression>() {
        let _ = expression.value(rest);
    }
    if let Ok(pointer) = first.parse::<Pointer>()
        && let Ok(number) = number_at(rest, &pointer)
    {
        assert!(number.is_finite(), "a load of {number}");
    }
    let _ = first.parse::<Url>();
}
