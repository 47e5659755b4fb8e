//! Reading single values: each function gives the value, or notes what is wrong with it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::context::Context;
use super::duration;
use super::error::Problem;
use super::node::{Node, Value};
use super::source::Place;
use super::words;
use crate::steer::Amount;
use crate::table::Name;

/// A type that is written as a string.
pub(super) trait FromText: Sized {
    /// What a message calls it, with its article and examples.
    const EXPECTED: &'static str;

    /// Reads it.
    ///
    /// # Errors
    /// Why it is none, as a predicate: "is not a duration".
    fn from_text(text: &str) -> Result<Self, String>;
}

/// A string.
pub(super) fn text<'n>(cx: &mut Context, node: &'n Node, expected: &str) -> Option<&'n str> {
    match &node.value {
        Value::Text(text) | Value::Cell(text) => Some(text),
        _ => wrong_kind(cx, node, expected),
    }
}

/// A string that is read as something.
pub(super) fn parsed<T: FromText>(cx: &mut Context, node: &Node) -> Option<T> {
    let text = text(cx, node, T::EXPECTED)?;
    match T::from_text(text) {
        Ok(value) => Some(value),
        Err(why) => {
            let message = match text {
                "" => "this is empty".to_owned(),
                _ => format!("`{}` {why}", text.escape_debug()),
            };
            let problem = Problem::new(node.place, message);
            cx.wrong(problem.help(format!("expected {}", T::EXPECTED)));
            None
        }
    }
}

/// An integer within limits.
pub(super) fn integer<T: TryFrom<i64>>(
    cx: &mut Context,
    node: &Node,
    limits: RangeInclusive<i64>,
) -> Option<T> {
    let (low, high) = (*limits.start(), *limits.end());
    let expected = match high {
        i64::MAX => format!("an integer of at least {low}"),
        _ => format!("an integer from {low} to {high}"),
    };
    let number = match &node.value {
        Value::Integer(number) => *number,
        Value::Cell(text) => text.parse().ok(),
        _ => return wrong_kind(cx, node, &expected),
    };
    let fitting = number.filter(|n| limits.contains(n)).and_then(|n| T::try_from(n).ok());
    if fitting.is_none() {
        cx.wrong(Problem::new(node.place, "this number does not fit").help(format!("expected {expected}")));
    }
    fitting
}

/// A number within limits, with or without a point.
pub(super) fn number(
    cx: &mut Context,
    node: &Node,
    limits: RangeInclusive<f64>,
    expected: &str,
) -> Option<f64> {
    let number = match &node.value {
        Value::Float(number) => Some(*number),
        Value::Integer(number) => number.map(|number| number as f64),
        Value::Cell(text) => text.parse().ok(),
        _ => return wrong_kind(cx, node, expected),
    };
    let fitting = number.filter(|number| number.is_finite() && limits.contains(number));
    if fitting.is_none() {
        cx.wrong(Problem::new(node.place, "this number does not fit").help(format!("expected {expected}")));
    }
    fitting
}

/// A number that is not negative.
pub(super) fn amount(cx: &mut Context, node: &Node) -> Option<Amount> {
    let number = number(cx, node, 0.0..=f64::MAX, "a number that is not negative")?;
    Amount::new(number)
}

/// True or false.
pub(super) fn boolean(cx: &mut Context, node: &Node) -> Option<bool> {
    match &node.value {
        Value::Boolean(truth) => Some(*truth),
        Value::Cell(text) if text == "true" => Some(true),
        Value::Cell(text) if text == "false" => Some(false),
        _ => wrong_kind(cx, node, "true or false"),
    }
}

/// A string that another module reads, which also says why it cannot.
pub(super) fn read_as<T: FromStr<Err: Display>>(cx: &mut Context, node: &Node, expected: &str) -> Option<T> {
    let text = text(cx, node, expected)?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            cx.wrong(Problem::new(node.place, error.to_string()).help(format!("expected {expected}")));
            None
        }
    }
}

/// One of a closed list of words.
pub(super) fn choice<T: Copy>(cx: &mut Context, node: &Node, choices: &[(&str, T)]) -> Option<T> {
    let names = choices.iter().map(|(name, _)| *name);
    let word = match &node.value {
        Value::Text(text) | Value::Cell(text) => text,
        _ => {
            let problem = Problem::new(node.place, format!("this is {}", node.kind()));
            cx.wrong(problem.help(format!("{}, as a string", words::expected(names))));
            return None;
        }
    };
    let found = choices.iter().find(|(name, _)| name == word).map(|(_, value)| *value);
    if found.is_none() {
        let message = format!("`{}` is not among the choices", word.escape_debug());
        cx.wrong(Problem::new(node.place, message).help(words::expected_near(word, names)));
    }
    found
}

/// A list, each item read in turn. A cell holds a list with `;` or blanks between the items.
pub(super) fn list<T>(
    cx: &mut Context,
    node: &Node,
    expected: &str,
    mut item: impl FnMut(&mut Context, &Node) -> Option<T>,
) -> Option<Vec<T>> {
    let cells;
    let items = match &node.value {
        Value::List(items) => items,
        Value::Cell(text) => {
            cells = split(text, node.place);
            &cells
        }
        _ => return wrong_kind(cx, node, expected),
    };
    let read: Vec<Option<T>> = items.iter().map(|node| item(cx, node)).collect();
    read.into_iter().collect()
}

/// A list of at least one item.
pub(super) fn some<T>(
    cx: &mut Context,
    node: &Node,
    expected: &str,
    item: impl FnMut(&mut Context, &Node) -> Option<T>,
) -> Option<Vec<T>> {
    let items = list(cx, node, expected, item)?;
    if items.is_empty() {
        cx.wrong(Problem::new(node.place, "this list is empty").help(format!("expected {expected}")));
        return None;
    }
    Some(items)
}

/// A name that the configuration gives or uses.
pub(super) fn name(cx: &mut Context, node: &Node) -> Option<Name> {
    parsed(cx, node)
}

impl FromText for Name {
    const EXPECTED: &'static str =
        "a name: a string that is not empty, without control characters or blanks at its ends";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.chars().any(char::is_control) || text.trim() != text {
            return Err("is no name".to_owned());
        }
        Ok(text.into())
    }
}

/// A name that must be among those given elsewhere.
pub(super) fn reference(
    cx: &mut Context,
    node: &Node,
    what: &str,
    of: fn(&Context) -> &super::context::Names,
) -> Option<Name> {
    let name = name(cx, node)?;
    let known = of(cx);
    if known.contains_key(name.as_str()) {
        return Some(name);
    }
    let problem = Problem::new(node.place, format!("there is no [{what}.{}]", name.escape_debug()));
    let problem = match known.len() {
        0 => problem.help(format!("expected the name of an [{what}.NAME]; there is none")),
        _ => problem.help(words::expected_near(&name, known.keys().map(String::as_str))),
    };
    cx.wrong(problem);
    None
}

/// A path of a file; relative ones start at the configuration's folder.
pub(super) fn path(cx: &mut Context, node: &Node) -> Option<PathBuf> {
    let text = text(cx, node, "a path")?;
    if text.is_empty() || text.contains('\0') {
        cx.wrong(Problem::new(node.place, "this is no path").help("expected a path"));
        return None;
    }
    Some(cx.resolve_path(text.as_ref()))
}

/// A path that has a file's name at its end.
pub(super) fn file(cx: &mut Context, node: &Node) -> Option<PathBuf> {
    let path = path(cx, node)?;
    let named = path.file_name().is_some() && !path.as_os_str().to_string_lossy().ends_with('/');
    if !named {
        cx.wrong(Problem::new(node.place, "this path names no file").help("expected the path of a file"));
    }
    named.then_some(path)
}

/// A duration of at least `least`.
pub(super) fn duration(cx: &mut Context, node: &Node, least: Duration) -> Option<Duration> {
    let parsed: duration::Text = parsed(cx, node)?;
    if parsed.0 < least {
        let message = format!("this is shorter than {}", duration::show(least));
        cx.wrong(Problem::new(node.place, message).help(format!("expected {}", duration::Text::EXPECTED)));
        return None;
    }
    Some(parsed.0)
}

/// A command as a list of arguments, without a shell.
pub(super) fn command(cx: &mut Context, node: &Node) -> Option<Vec<String>> {
    const EXPECTED: &str = "a program and its arguments as a list, as [\"knotc\", \"reload\"]";
    let arguments = some(cx, node, EXPECTED, |cx, node| {
        let argument = text(cx, node, "an argument as a string")?;
        if argument.contains('\0') {
            cx.wrong(Problem::new(node.place, "an argument cannot hold a NUL"));
            return None;
        }
        Some(argument.to_owned())
    })?;
    if arguments.first().is_some_and(String::is_empty) {
        cx.wrong(
            Problem::new(node.place, "the program's name is empty").help(format!("expected {EXPECTED}")),
        );
        return None;
    }
    Some(arguments)
}

/// Notes that a value is of the wrong kind.
pub(super) fn wrong_kind<T>(cx: &mut Context, node: &Node, expected: &str) -> Option<T> {
    cx.wrong(
        Problem::new(node.place, format!("this is {}", node.kind())).help(format!("expected {expected}")),
    );
    None
}

/// The items of a cell.
fn split(text: &str, place: Place) -> Vec<Node> {
    let mut items = Vec::new();
    let mut at = 0;
    for part in text.split([';', ' ']) {
        if !part.is_empty() {
            let start = place.start + at;
            let place = Place::new(place.source, start..start + part.len());
            items.push(Node { place, value: Value::Cell(part.to_owned()) });
        }
        at += part.len() + 1;
    }
    items
}
