//! Looking at JSON.

use serde_json::Value;

/// A value that is a text.
#[track_caller]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Fails the test where an object lacks one of these keys. It may have more.
#[track_caller]
pub fn has_keys(value: &Value, wanted: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    for key in wanted {
        assert!(object.contains_key(*key), "{key} is missing in {value}");
    }
}

/// The tables of a walk, without what they cost.
pub fn tables(walk: &Value) -> Vec<[Value; 4]> {
    let tables = walk["tables"].as_array().unwrap().iter();
    tables.map(|table| ["name", "state", "reason", "rows"].map(|key| table[key].clone())).collect()
}
