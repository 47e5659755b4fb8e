//! What of a Prometheus text is a field: `name{label="value"}`, `sum(...)` or `max(...)` of
//! all that match, and `rate(...)` of any of these.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::prometheus::{PrometheusError, Selector, matching};

/// What becomes of several metrics that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// There has to be one.
    Only,
    /// They are added up.
    Sum,
    /// The largest of them.
    Max,
}

/// A field of a Prometheus text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Whether it is a counter, and its growth by second is wanted.
    pub rate: bool,
    /// What becomes of several that match.
    pub gather: Gather,
    /// What has to match.
    pub selector: Selector,
    text: String,
}

/// A text that is no expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(r#"`{0}` is no metric: expected name{{label="value"}}, sum(...), max(...) or rate(...)"#)]
pub struct ExpressionError(pub String);

impl FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let wrong = || ExpressionError(text.to_owned());
        let (rate, inner) = match call("rate", text.trim()) {
            Some(inner) => (true, inner),
            None => (false, text.trim()),
        };
        let (gather, inner) = match (call("sum", inner), call("max", inner)) {
            (Some(inner), _) => (Gather::Sum, inner),
            (_, Some(inner)) => (Gather::Max, inner),
            _ => (Gather::Only, inner),
        };
        let selector = inner.parse().map_err(|()| wrong())?;
        Ok(Self { rate, gather, selector, text: text.trim().to_owned() })
    }
}

fn call<'t>(name: &str, text: &'t str) -> Option<&'t str> {
    let inner = text.strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    Some(inner.trim())
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expression {
    /// Its value in a text; of a rate, the count.
    ///
    /// # Errors
    /// Where the text is wrong, or nothing matches, or too much.
    pub fn value(&self, text: &[u8]) -> Result<f64, PrometheusError> {
        let values = matching(text, &self.selector)?;
        match (self.gather, values.as_slice()) {
            (_, []) => Err(PrometheusError::Missing(self.text.clone())),
            (_, [only]) => Ok(*only),
            (Gather::Sum, all) => Ok(all.iter().sum()),
            // A value that is no number must not be passed over.
            (Gather::Max, all) if all.iter().any(|value| value.is_nan()) => Ok(f64::NAN),
            (Gather::Max, all) => Ok(all.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            (Gather::Only, all) => {
                Err(PrometheusError::Several { selector: self.text.clone(), count: all.len() })
            }
        }
    }
}
