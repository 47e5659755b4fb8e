//! Numbers in JSON, by JSON Pointer (RFC 6901).

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use thiserror::Error;

/// A JSON Pointer: empty, or `/` and names or places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(String);

/// A text that is no pointer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no JSON pointer: it begins with `/`, and `~` is followed by 0 or 1")]
pub struct PointerError(pub String);

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonError {
    /// The text is no JSON.
    #[error("the answer is no JSON: {0}")]
    Text(String),
    /// Nothing is there.
    #[error("the answer has nothing at {0}")]
    Missing(String),
    /// What is there is no number.
    #[error("what the answer has at {0} is no number")]
    NoNumber(String),
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        let mut parts = text.split('~');
        let first = parts.next().unwrap_or_default();
        let escaped = parts.all(|part| part.starts_with(['0', '1']));
        let legal = (text.is_empty() || first.starts_with('/')) && escaped;
        if legal { Ok(Self(text.to_owned())) } else { Err(PointerError(text.to_owned())) }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number at a place of a JSON text. A text that is a number counts as one.
///
/// # Errors
/// Where the text is no JSON, or there is no number.
pub fn number_at(text: &[u8], pointer: &Pointer) -> Result<f64, JsonError> {
    let value: Value = serde_json::from_slice(text).map_err(|error| JsonError::Text(error.to_string()))?;
    let found = value.pointer(&pointer.0).ok_or_else(|| JsonError::Missing(pointer.0.clone()))?;
    let number = match found {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    };
    number.ok_or_else(|| JsonError::NoNumber(pointer.0.clone()))
}
