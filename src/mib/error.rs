//! What is wrong with a descriptor, and where.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// A descriptor that is refused: file, line, column, and the line itself with a caret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct DescriptorError {
    /// The file, as the person named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
    /// The line of the file.
    excerpt: String,
    /// How many characters of it are meant.
    width: usize,
}

/// A problem at a span of the text, before the file's name is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// Octets of the text.
    pub(super) span: Range<usize>,
    /// What is wrong there.
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl From<toml::de::Error> for Problem {
    fn from(error: toml::de::Error) -> Self {
        Self { span: error.span().unwrap_or(0..0), message: error.message().to_owned() }
    }
}

impl DescriptorError {
    pub(super) fn new(file: &str, text: &str, problem: Problem) -> Self {
        let start = floor(text, problem.span.start);
        let end = floor(text, problem.span.end.max(start));
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let excerpt = text.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
        let column = text.get(line_start..start).unwrap_or_default().chars().count();
        let meant = text.get(start..end).unwrap_or_default().lines().next().unwrap_or_default();
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: column + 1,
            message: problem.message,
            excerpt: excerpt.to_owned(),
            width: meant.chars().count().max(1),
        }
    }
}

/// The start of the character that holds an octet of the text.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.to_string();
        let gutter = " ".repeat(line.len());
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{line} | {}", self.excerpt)?;
        write!(f, "{gutter} | {}{}", " ".repeat(self.column - 1), "^".repeat(self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_characters_meant() {
        let text = "name = \"ä\"\nvendor = 7\n";
        let at = text.find('7').unwrap();
        let error = DescriptorError::new("x.toml", text, Problem::new(at..at + 1, "not a string"));
        assert_eq!((error.line, error.column), (2, 10));
        assert_eq!(error.to_string(), "x.toml:2:10: not a string\n  |\n2 | vendor = 7\n  |          ^");
    }

    #[test]
    fn columns_count_characters_and_spans_may_end_with_the_text() {
        let text = "n = \"ää\" x";
        let at = text.find('x').unwrap();
        let error = DescriptorError::new("x.toml", text, Problem::new(at..at + 9, "what"));
        assert_eq!((error.line, error.column, error.width), (1, 10, 1));
        let empty = DescriptorError::new("x.toml", "", Problem::new(5..9, "empty"));
        assert_eq!((empty.line, empty.column), (1, 1));
    }
}
