//! Domain names, safe in every file that they are written to.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A domain name: labels of `[a-z0-9_-]`, 63 octets at most each, 253 together (RFC 1035);
/// lower case, without the final dot. An address is none: its last label has only digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(String);

/// Why a text is no domain name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{}` is not a domain name (cdn.example.com)", .0.escape_debug())]
pub struct BadDomain(pub String);

impl Domain {
    /// The name as text, without the final dot.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Domain {
    type Err = BadDomain;

    fn from_str(text: &str) -> Result<Self, BadDomain> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        let numeric = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        if name.len() > 253 || numeric || !name.split('.').all(label) {
            return Err(BadDomain(text.to_owned()));
        }
        Ok(Self(name.to_ascii_lowercase()))
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
