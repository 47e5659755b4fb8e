//! A log of viewers held against the table: how many of them an entry covers.
//!
//! The log is read once, in bounded memory and at the speed of memory: pieces of whole lines
//! in one buffer (`chunk`), addresses read out of octets (`address`), looked up in batches
//! (`count`) in an index in which the table, the old table and the resolvers are laid over
//! each other (`cells`, `index`). Misses are counted by prefix (`misses`), times in steps
//! that widen (`times`).

mod address;
mod cells;
mod chunk;
mod clock;
mod count;
mod ends;
mod form;
mod index;
mod json;
mod line;
mod made;
mod misses;
mod report;
mod resolvers;
mod scan;
mod shape;
mod stamp;
mod svg;
mod text;
mod times;

use std::io::Read;

use thiserror::Error;

pub use form::Forms;
pub use report::{
    AgainstRequests, CoverageReport, FamilyRequests, LogFigures, MissFigures, NameRequests, Part,
    PrefixMisses, ResolverFigures, StepFigures, TimeFigures,
};
pub use resolvers::Resolvers;
pub use scan::Unreadable;
pub use shape::{LogShape, ShapeError};

use self::cells::Cells;
use self::chunk::Chunks;
use self::count::Counter;
use self::scan::Scan;
use super::input::{Input, InputError, Packing};
use super::legacy::Legacy;
use super::{Known, Served};

/// What is asked of a log.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The table.
    pub served: &'a Served,
    /// An old table, to be held beside it.
    pub old: Option<&'a Legacy>,
    /// The names of the configuration, to understand the old table's.
    pub known: &'a Known,
    /// Resolvers that are to be counted apart.
    pub resolvers: Option<&'a Resolvers>,
    /// What the lines look like.
    pub shape: LogShape,
    /// How many prefixes with misses are listed.
    pub top: usize,
    /// The log's name, for the report.
    pub name: Option<&'a str>,
}

/// How far a log was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Octets of the file itself.
    pub octets: u64,
    /// Lines.
    pub lines: u64,
}

/// Why a log gives no figures.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoverageError {
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It is in UTF-16.
    #[error("it is in UTF-16; make it UTF-8 first, as with `iconv -f UTF-16 -t UTF-8`")]
    Utf16,
    /// It is no text.
    #[error("it is no text: it holds zero octets")]
    NotText,
    /// It has no lines.
    #[error("there is no line end in its first {0} octets: this is no log")]
    NoLines(u64),
    /// It is not clear where its addresses are.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// It has no address where one should be.
    #[error("none of its {lines} lines has an address where it should be ({shape}); the first is `{first}`")]
    NoAddress {
        /// How many lines were read.
        lines: u64,
        /// How they were read.
        shape: String,
        /// The first of them.
        first: String,
    },
}

/// How many octets without any line end make a file no log.
const ENDLESS: u64 = 16 << 20;

/// How often progress is told, in octets of text.
const TOLD: u64 = 8 << 20;

/// Reads a log and holds it against the table. `progress` is called every few megabytes.
///
/// A log that breaks off (cut short, damaged) gives the figures of what came before, and
/// says so in [`LogFigures::state`].
///
/// # Errors
/// Where there is no figure to give.
pub fn measure<'r>(
    log: impl Read + 'r,
    question: &Question<'_>,
    mut progress: impl FnMut(Progress),
) -> Result<CoverageReport, CoverageError> {
    let mut chunks = Chunks::new(Input::open(log)?);
    let notes = begin(&mut chunks, question.name)?;
    let (shape, reading) = shape::reading(&question.shape, chunks.head())?;
    let cells = Cells::new(question.served, question.old, question.known, question.resolvers);
    let mut scan = Scan::new(reading, Counter::new(&cells));
    let mut told = 0;
    while let Some(piece) = chunks.next() {
        scan.piece(piece);
        if chunks.octets >= told + TOLD {
            told = chunks.octets;
            progress(Progress { octets: chunks.input().raw(), lines: scan.lines.all });
        }
    }
    scan.finish();
    progress(Progress { octets: chunks.input().raw(), lines: scan.lines.all });
    let made = made::Made { question, shape: &shape, chunks: &chunks, notes };
    made.report(scan, &cells)
}

/// Looks at the beginning of a log before it is taken for one.
fn begin(chunks: &mut Chunks<'_>, name: Option<&str>) -> Result<Vec<String>, CoverageError> {
    let head = chunks.head();
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(CoverageError::Utf16);
    }
    if head.contains(&0) {
        let zeros = |from: usize| head.iter().skip(from).step_by(2).take(256).filter(|o| **o == 0).count();
        let many = head.len().min(512) / 2 * 8 / 10;
        let utf16 = zeros(0).max(zeros(1)) >= many.max(1) && zeros(0).min(zeros(1)) == 0;
        return Err(if utf16 { CoverageError::Utf16 } else { CoverageError::NotText });
    }
    if head.is_empty() {
        return Err(match chunks.ended() {
            Some(Err(e)) => e.clone().into(),
            _ => CoverageError::Empty,
        });
    }
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let endless = memchr::memchr(b'\n', head).is_none();
    chunks.drop_head(mark);
    let packing = chunks.input().packing();
    let mut notes = Vec::new();
    if packing == Packing::Plain
        && let Some(name) = name.filter(|name| name.ends_with(".gz") || name.ends_with(".zst"))
    {
        notes.push(format!("{name} is named as if it were packed, and is plain text"));
    }
    if endless && chunks.ended().is_none() {
        no_lines(chunks)?;
    }
    Ok(notes)
}

/// Goes on through what has no line end so far, and gives up where that is no log.
fn no_lines(chunks: &mut Chunks<'_>) -> Result<(), CoverageError> {
    chunks.pass_endless(ENDLESS);
    if chunks.octets >= ENDLESS || chunks.ended().is_some() {
        return Err(CoverageError::NoLines(chunks.octets));
    }
    Ok(())
}
