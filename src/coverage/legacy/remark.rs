//! What is said of a line that was not taken, or not as written.

use std::fmt;

use serde::Serialize;

/// A line of an old table that was not taken, or not as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The line, from 1; 0 in formats without lines.
    pub line: u64,
    /// What is the matter.
    pub kind: RemarkKind,
    /// Why, in words.
    pub detail: String,
    /// The beginning of the line, or what of it is meant.
    pub text: String,
}

/// What is the matter with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// Left out: it has no addresses that can be read.
    NotARange,
    /// Left out: it does not say whose the addresses are.
    NoTarget,
    /// Left out: its syntax is broken.
    Syntax,
    /// Left out: a name in it is not text.
    NotUtf8,
    /// Left out: it says something that cannot be taken over, such as `include`.
    Unsupported,
    /// Left out: another line gives the same addresses to another.
    Contradiction,
    /// Left out: another line says the same.
    Repeated,
    /// Left out of the static file: these addresses are never published.
    NeverPublished,
    /// Left out of the static file: the configuration does not know the name.
    UnknownName,
    /// Left out of the static file: it is for every address, which is the default edge's part.
    Everything,
    /// Taken, but not as written: bits behind the prefix were set.
    HostBits,
}

impl RemarkKind {
    /// Whether the line was left out.
    pub const fn left_out(self) -> bool {
        !matches!(self, Self::HostBits)
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.detail)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        Ok(())
    }
}

/// A text as a remark quotes it: its beginning, without anything that a terminal obeys.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut quoted: String = text.trim().chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        quoted.push('…');
    }
    quoted
}
