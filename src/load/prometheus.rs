//! The Prometheus text format, version 0.0.4, as far as finding values in it goes.

use std::str::FromStr;

use thiserror::Error;

/// Why a text or a selector cannot be read, or has not what is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PrometheusError {
    /// A line that is none of the format.
    #[error("line {line} is no line of the Prometheus text format")]
    Line {
        /// The line, from 1.
        line: usize,
    },
    /// Octets that are no UTF-8.
    #[error("the text is not UTF-8")]
    Encoding,
    /// Nothing matches.
    #[error("there is no metric {0}")]
    Missing(String),
    /// More than one matches where one is wanted.
    #[error("{count} metrics match {selector}: add labels, or sum( ) or max( )")]
    Several {
        /// The selector.
        selector: String,
        /// How many there are.
        count: usize,
    },
}

/// Names and values of labels.
type Labels = Vec<(String, String)>;

/// One sample line.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its labels, as they stand.
    pub labels: Vec<(String, String)>,
    /// Its value, which may be no number.
    pub value: f64,
}

/// A name, and labels that a metric must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The name.
    pub name: String,
    /// The labels.
    pub labels: Vec<(String, String)>,
}

impl Selector {
    /// Whether a metric has the name and all of the labels.
    pub fn matches(&self, metric: &Metric) -> bool {
        self.name == metric.name && self.labels.iter().all(|label| metric.labels.contains(label))
    }
}

impl FromStr for Selector {
    type Err = ();

    /// `name` or `name{label="value", ...}`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (name, labels, rest) = head(text.trim()).ok_or(())?;
        if rest.trim().is_empty() { Ok(Self { name, labels }) } else { Err(()) }
    }
}

/// The values of all metrics that match. The whole text is read: one wrong line makes all of
/// it doubtful.
///
/// # Errors
/// The first wrong line.
pub fn matching(text: &[u8], selector: &Selector) -> Result<Vec<f64>, PrometheusError> {
    let text = std::str::from_utf8(text).map_err(|_| PrometheusError::Encoding)?;
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let metric = metric(line).ok_or(PrometheusError::Line { line: number + 1 })?;
        if selector.matches(&metric) {
            values.push(metric.value);
        }
    }
    Ok(values)
}

fn metric(line: &str) -> Option<Metric> {
    let (name, labels, rest) = head(line)?;
    let mut words = rest.split_ascii_whitespace();
    let value = float(words.next()?)?;
    // A time in ms may follow.
    if let Some(time) = words.next() {
        time.parse::<i64>().ok()?;
    }
    words.next().is_none().then_some(Metric { name, labels, value })
}

/// Name, labels, and what follows.
fn head(text: &str) -> Option<(String, Labels, &str)> {
    let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match rest.trim_start().strip_prefix('{') {
        Some(inner) => {
            let (labels, rest) = labels(inner)?;
            Some((name.to_owned(), labels, rest))
        }
        None => Some((name.to_owned(), Vec::new(), rest)),
    }
}

fn labels(text: &str) -> Option<(Labels, &str)> {
    let mut labels = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, behind) = rest.split_once('=')?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(|c| is_name(c) && c != ':') {
            return None;
        }
        let (value, behind) = quoted(behind.trim_start())?;
        labels.push((name.to_owned(), value));
        rest = behind.trim_start();
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind.trim_start(),
            None if rest.starts_with('}') => {}
            None => return None,
        }
    }
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '"' => return Some((value, chars.as_str())),
            '\\' => value.push(match chars.next()? {
                'n' => '\n',
                other @ ('"' | '\\') => other,
                _ => return None,
            }),
            other => value.push(other),
        }
    }
}

const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

fn float(word: &str) -> Option<f64> {
    match word {
        "NaN" => Some(f64::NAN),
        "+Inf" | "Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        // Rust reads more words as numbers than the format has.
        word if word.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) => word.parse().ok(),
        _ => None,
    }
}
