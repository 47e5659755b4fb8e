//! Values with their places: what a TOML document and a row of a CSV file have in common.
//!
//! Reading goes over this tree and not through serde: serde stops at the first error, and
//! loses the places of keys. A configuration with five faults should take one round.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Problem;
use super::source::{Place, Sources};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where; of a table with a header: its header.
    pub(super) place: Place,
    /// What.
    pub(super) value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A string.
    Text(String),
    /// A cell of a CSV file: a string, a number or a list, as the key wants it.
    Cell(String),
    /// An integer; none where it is too large for 64 bits.
    Integer(Option<i64>),
    /// A number with a point.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A date or a time.
    Date,
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The key.
    pub(super) key: String,
    /// Where the key stands.
    pub(super) place: Place,
    /// Its value.
    pub(super) node: Node,
}

impl Entry {
    /// The key as a string of its own, to be read like a value.
    pub(super) fn key_node(&self) -> Node {
        Node { place: self.place, value: Value::Text(self.key.clone()) }
    }
}

impl Node {
    /// The value's kind, as a message names it.
    pub(super) const fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) | Value::Cell(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number with a point",
            Value::Boolean(_) => "a boolean",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The entries of a table.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The places of all strings in it.
    pub(super) fn strings(&self) -> Vec<Place> {
        match &self.value {
            Value::Text(_) | Value::Cell(_) => vec![self.place],
            Value::List(items) => items.iter().flat_map(Self::strings).collect(),
            Value::Table(entries) => entries.iter().flat_map(|entry| entry.node.strings()).collect(),
            _ => Vec::new(),
        }
    }
}

/// Reads a file as TOML.
///
/// # Errors
/// Where it cannot be read, is not UTF-8, or is no TOML.
pub(super) fn document(sources: &mut Sources, path: &Path) -> Result<Node, Problem> {
    let (number, text) = open(sources, path)?;
    match DeTable::parse(&text) {
        Ok(table) => Ok(Node { place: Place::new(number, 0..0), value: entries(number, table.get_ref()) }),
        Err(error) => {
            let place = Place::new(number, error.span().unwrap_or(0..0));
            Err(Problem::syntax(place, format!("this is not TOML: {}", error.message())))
        }
    }
}

/// Reads a file as text and takes it in among the sources.
///
/// # Errors
/// Where it cannot be read, or is not UTF-8.
pub(super) fn open(sources: &mut Sources, path: &Path) -> Result<(usize, String), Problem> {
    let octets =
        std::fs::read(path).map_err(|e| Problem::file(path, format!("this file cannot be read: {e}")))?;
    match String::from_utf8(octets) {
        Ok(text) => Ok((sources.add(path, text.clone()), text)),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let number = sources.add(path, String::from_utf8_lossy(error.as_bytes()).into_owned());
            let place = Place::new(number, valid..valid + 1);
            Err(Problem::syntax(place, "this is not UTF-8").help("expected a file in UTF-8"))
        }
    }
}

fn entries(source: usize, table: &DeTable<'_>) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            place: Place::new(source, key.span()),
            node: node(source, value),
        })
        .collect();
    entries.sort_by_key(|entry| entry.place.start);
    Value::Table(entries)
}

fn node(source: usize, value: &Spanned<DeValue<'_>>) -> Node {
    let place = Place::new(source, value.span());
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()),
        // Only what overflows is none: TOML has `inf` and `nan` of its own.
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.iter().map(|item| node(source, item)).collect()),
        DeValue::Table(table) => entries(source, table),
    };
    Node { place, value }
}
