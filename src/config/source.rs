//! The files that were read, and places in them.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// A stretch of one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Which file, in the order of reading.
    pub(super) source: usize,
    /// The first octet.
    pub(super) start: usize,
    /// Behind the last octet.
    pub(super) end: usize,
}

impl Place {
    /// A stretch of a file.
    pub(super) const fn new(source: usize, span: Range<usize>) -> Self {
        Self { source, start: span.start, end: span.end }
    }
}

/// A file and its text. `Debug` shows the path alone: the text may hold secrets.
pub(super) struct Source {
    /// As it was named.
    pub(super) path: PathBuf,
    /// What it says.
    pub(super) text: String,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Source").field(&self.path).finish()
    }
}

impl Source {
    /// The line (from 1), the column in characters (from 1) and the span of the line that an
    /// octet stands in, its end excluded.
    pub(super) fn locate(&self, offset: usize) -> (usize, usize, Range<usize>) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let (before, behind) = self.text.split_at(offset);
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let end = behind.find('\n').map_or(self.text.len(), |i| offset + i);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.get(start..).map_or(0, |part| part.chars().count()) + 1;
        (line, column, start..end)
    }
}

/// All files, in the order of reading.
#[derive(Debug, Default)]
pub(super) struct Sources(Vec<Source>);

impl Sources {
    /// Takes a file in, and gives its number.
    pub(super) fn add(&mut self, path: &Path, text: String) -> usize {
        self.0.push(Source { path: path.to_owned(), text });
        self.0.len() - 1
    }

    /// The file of a number.
    pub(super) fn get(&self, number: usize) -> Option<&Source> {
        self.0.get(number)
    }

    /// The paths of all files.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|source| source.path.clone()).collect()
    }

    /// `file:line:column` of a place.
    pub(super) fn label(&self, place: Place) -> String {
        let Some(source) = self.get(place.source) else { return String::new() };
        let (line, column, _) = source.locate(place.start);
        format!("{}:{line}:{column}", source.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = Source { path: "x".into(), text: "a = 1\nβé = 2\n".to_owned() };
        assert_eq!(source.locate(0), (1, 1, 0..5));
        assert_eq!(source.locate(5), (1, 6, 0..5), "the end of line 1");
        assert_eq!(source.locate(10), (2, 3, 6..14), "two letters of two octets each before it");
        assert_eq!(source.locate(7), (2, 1, 6..14), "inside a letter: its beginning");
        assert_eq!(source.locate(999), (3, 1, 15..15), "behind the end: the end");
    }
}
