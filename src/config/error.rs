//! Configuration errors: where, which line, what is wrong, what was expected.

use std::fmt;
use std::path::{Path, PathBuf};

use super::mask;
use super::source::{Place, Sources};

/// How many problems a message shows in full.
const SHOWN: usize = 20;

/// How many problems are kept: a fault of a profile may be one of ten thousand BASes.
const KEPT: usize = 100;

/// Where a problem is.
#[derive(Clone, Debug)]
pub(super) enum At {
    /// A stretch of a file.
    Place(Place),
    /// A file as a whole.
    File(PathBuf),
}

/// One thing that is wrong, or that deserves a warning.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    at: At,
    message: String,
    help: Option<String>,
    also: Option<Box<(String, Place)>>,
    hide: Vec<Place>,
    syntax: bool,
}

impl Problem {
    /// Something wrong at a place.
    pub(super) fn new(place: Place, message: impl Into<String>) -> Self {
        Self::at(At::Place(place), message.into())
    }

    /// Something wrong with a whole file.
    pub(super) fn file(path: &Path, message: impl Into<String>) -> Self {
        Self::at(At::File(path.to_owned()), message.into())
    }

    /// The same of a file that another one names here: that is the place then.
    pub(super) fn named_at(self, place: Place) -> Self {
        match self.at {
            At::File(path) => {
                let message = format!("{}: {}", path.display(), self.message);
                Self { at: At::Place(place), message, ..self }
            }
            At::Place(_) => self,
        }
    }

    /// A place where the file is no proper TOML or CSV.
    pub(super) fn syntax(place: Place, message: impl Into<String>) -> Self {
        Self { syntax: true, ..Self::new(place, message) }
    }

    fn at(at: At, message: String) -> Self {
        Self { at, message, help: None, also: None, hide: Vec::new(), syntax: false }
    }

    /// With what was expected, or what to do.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With another place that has to do with it: `note FILE:LINE:COLUMN`.
    pub(super) fn also(mut self, note: impl Into<String>, place: Place) -> Self {
        self.also = Some(Box::new((note.into(), place)));
        self
    }

    /// With stretches of the quoted line that may hold secrets.
    pub(super) fn hide(mut self, places: Vec<Place>) -> Self {
        self.hide = places;
        self
    }

    fn order(&self) -> (usize, usize) {
        match self.at {
            At::Place(place) => (place.source, place.start),
            At::File(_) => (usize::MAX, 0),
        }
    }

    fn report(&self, sources: &Sources) -> Report {
        let mut help: Vec<String> = self.help.iter().cloned().collect();
        help.extend(self.also.iter().map(|also| format!("{} {}", also.0, sources.label(also.1))));
        let message = self.message.clone();
        let whole = |path| Report {
            path,
            line: 0,
            column: 0,
            message: message.clone(),
            help: help.clone(),
            excerpt: String::new(),
        };
        match &self.at {
            At::File(path) => whole(path.clone()),
            At::Place(place) => match sources.get(place.source) {
                None => whole(PathBuf::new()),
                Some(source) => {
                    let (line, column, _) = source.locate(place.start);
                    let excerpt = self.excerpt(sources, *place);
                    Report { line, column, excerpt, ..whole(source.path.clone()) }
                }
            },
        }
    }

    /// The line and carets under the place, as TOML's own errors print them.
    fn excerpt(&self, sources: &Sources, place: Place) -> String {
        let Some(source) = sources.get(place.source) else { return String::new() };
        let (number, _, line) = source.locate(place.start);
        let mut hidden = mask::secrets(&source.text);
        hidden.extend(self.hide.iter().filter(|p| p.source == place.source).map(|p| p.start..p.end));
        if self.syntax && in_profile(&source.text, line.start) {
            hidden.extend(mask::strings(&source.text, line.clone()));
        }
        let shown = mask::show(&source.text, line.clone(), &hidden);
        let before = source.text.get(line.start..place.start.min(line.end)).unwrap_or_default();
        let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let marked = source.text.get(place.start..place.end.min(line.end)).unwrap_or_default();
        let carets = "^".repeat(marked.trim_end().chars().count().max(1));
        let gutter = " ".repeat(number.to_string().len());
        format!("{gutter} |\n{number} | {shown}\n{gutter} | {pad}{carets}\n")
    }
}

/// Whether the table that a line belongs to is one that holds secrets.
fn in_profile(text: &str, line: usize) -> bool {
    let above = text.get(..line).unwrap_or_default();
    let header = above.lines().rev().map(str::trim_start).find(|l| l.starts_with('['));
    header.is_some_and(|l| l.trim_start_matches(['[', ' ']).starts_with("snmp"))
}

/// One problem or warning, ready to be shown. Its `Display` is the whole message: place,
/// sentence, the line with carets, what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// The column in characters, from 1; 0 where the whole file is meant.
    pub column: usize,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What was expected, what to do, what else has to do with it.
    pub help: Vec<String>,
    excerpt: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.line {
            0 => writeln!(f, "{path}: {}", self.message)?,
            line => writeln!(f, "{path}:{line}:{}: {}", self.column, self.message)?,
        }
        f.write_str(&self.excerpt)?;
        self.help.iter().try_for_each(|help| writeln!(f, "{help}"))
    }
}

/// What is wrong with a configuration: every problem found, in the order of the files.
/// `Display` prints them all, each with file, line, column, the line, carets and what was
/// expected. Secrets are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The problems, the first hundred of them; never empty.
    pub reports: Vec<Report>,
    /// How many problems there are besides.
    pub more: usize,
}

impl ConfigError {
    /// The error of these problems.
    pub(super) fn of(sources: &Sources, problems: Vec<Problem>) -> Self {
        let more = problems.len().saturating_sub(KEPT);
        Self { reports: reports(sources, problems), more }
    }

    /// An error where there are problems.
    ///
    /// # Errors
    /// All of them.
    pub(super) fn unless_none(sources: &Sources, problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self::of(sources, problems)) }
    }
}

/// The first hundred problems in the order of the files, ready to be shown.
pub(super) fn reports(sources: &Sources, mut problems: Vec<Problem>) -> Vec<Report> {
    problems.sort_by_key(Problem::order);
    problems.iter().take(KEPT).map(|problem| problem.report(sources)).collect()
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, report) in self.reports.iter().take(SHOWN).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{report}")?;
        }
        match self.reports.len().saturating_sub(SHOWN) + self.more {
            0 => Ok(()),
            more => write!(f, "\nand {more} more\n"),
        }
    }
}

impl std::error::Error for ConfigError {}
