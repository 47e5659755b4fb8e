//! Hand-kept tables, as people and servers keep them: read into rows, and every line that
//! cannot be read is named.
//!
//! [`Legacy::read`] takes a file as it comes (packed, with a byte-order mark, in UTF-16) and
//! tells its format by its content, unless it is told. A file that looks like a table always
//! gives one; what of it was not taken, or not taken as written, is in
//! [`Legacy::remarks`]. Which of several rows answers an address is as in the server that
//! reads the format ([`Rule`]).

mod acl;
mod cells;
mod collect;
mod columns;
mod csv;
mod czf;
mod detect;
mod geo;
mod json;
mod nets;
mod quick;
mod remark;
mod statics;
mod text;
mod words;

use std::fmt;
use std::io::Read;

use either::Either;
use serde::Serialize;
use thiserror::Error;

pub use columns::Column;
pub use remark::{Remark, RemarkKind};
pub use statics::StaticFile;

use self::collect::Collector;
use super::flat::{self, Piece};
use super::input::{Input, InputError};
use super::{Known, Rule, Target};
use crate::address::Range;
use crate::format;
use crate::table::Name;

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LegacyFormat {
    /// A table of cells: with `,`, `;`, `|`, tabs or blanks between them, with a header or
    /// without. HAProxy maps and plain lists are of this kind.
    Csv,
    /// nginx's `geo`: a whole block or the rows of one (ngx_http_geo_module).
    NginxGeo,
    /// gdnsd's nets: `net => datacenter` (gdnsd-plugin-geoip).
    GdnsdNets,
    /// A coverage zone file of Apache Traffic Control, deep or not.
    Czf,
    /// BIND's `acl` statements, in the order of the views that match them.
    BindAcl,
    /// An export of poolsync as JSON.
    Json,
    /// An export of poolsync as NDJSON.
    Ndjson,
    /// An export of poolsync as MMDB.
    Mmdb,
}

impl LegacyFormat {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Csv,
        Self::NginxGeo,
        Self::GdnsdNets,
        Self::Czf,
        Self::BindAcl,
        Self::Json,
        Self::Ndjson,
        Self::Mmdb,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::NginxGeo => "nginx-geo",
            Self::GdnsdNets => "gdnsd-nets",
            Self::Czf => "czf",
            Self::BindAcl => "bind-acl",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Mmdb => "mmdb",
        }
    }

    /// The format of a name; the names of exports that look alike are taken, too.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "haproxy-map" | "list" => Some(Self::Csv),
            "nginx-geo-ranges" => Some(Self::NginxGeo),
            "czf-deep" => Some(Self::Czf),
            _ => Self::ALL.into_iter().find(|format| format.name() == name),
        }
    }
}

impl fmt::Display for LegacyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One row of an old table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyRow {
    /// The addresses.
    pub range: Range,
    /// The space, where the table names it.
    pub space: Option<Name>,
    /// Whose they are.
    pub target: Target,
    /// The line of the file, from 1; 0 in formats without lines.
    pub line: u64,
}

/// How a table is read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; told by the content where this is none.
    pub format: Option<LegacyFormat>,
    /// What the columns of a table of cells hold, left to right; found out by the header or
    /// the cells where this is none.
    pub columns: Option<Vec<Column>>,
    /// The names of the configuration, which help to tell columns apart.
    pub known: Known,
}

/// A table as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// Its format.
    pub format: LegacyFormat,
    /// The rows in the order of the file. No two have the same space and range, except where
    /// the order decides.
    pub rows: Vec<LegacyRow>,
    /// Which row answers where several could.
    pub rule: Rule,
    /// What addresses in no row are given to, where the file says so.
    pub default: Option<Target>,
    /// What was not taken, or not as written.
    pub remarks: Vec<Remark>,
    /// How many remarks there would be more.
    pub more_remarks: u64,
}

/// Why a file gives no table at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LegacyError {
    /// The file itself cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It is larger than any table.
    #[error("it is larger than {0} MiB: this is no table")]
    TooLarge(u64),
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It is not text.
    #[error("it is neither text nor an MMDB: {0}")]
    NotText(&'static str),
    /// It is text without lines.
    #[error("line {line} is longer than {limit} octets: this is no table")]
    LongLine {
        /// The line.
        line: u64,
        /// How long a line may be.
        limit: usize,
    },
    /// What its columns hold is not clear.
    #[error("line {line}: {detail}; say it with the names of the columns, as `first,last,-,bas`")]
    Columns {
        /// The line.
        line: u64,
        /// What is not clear.
        detail: String,
    },
    /// Its syntax is broken where no line can be left out.
    #[error("{place}: {problem}")]
    Broken {
        /// Where.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// No line of it could be read.
    #[error("none of its lines can be read as {format}; the first: {first}")]
    Nothing {
        /// The format that it was read as.
        format: LegacyFormat,
        /// The first remark.
        first: Box<Remark>,
    },
}

impl Legacy {
    /// The largest file that is read, unpacked, in MiB.
    pub const LIMIT_MIB: u64 = 512;

    /// Reads a table.
    ///
    /// # Errors
    /// Where it gives no table at all; a line that cannot be read is a remark.
    pub fn read<'r>(reader: impl Read + 'r, options: &ReadOptions) -> Result<Self, LegacyError> {
        let file = whole(Input::open(reader)?)?;
        if file.is_empty() {
            return Err(LegacyError::Empty);
        }
        if matches!(options.format, Some(LegacyFormat::Mmdb)) || detect::is_mmdb(&file) {
            return mmdb(&file);
        }
        let text = text::decode(&file)?;
        text::lines_are_lines(&text)?;
        let format = options.format.unwrap_or_else(|| detect::format(&text));
        let mut collector = Collector::default();
        match format {
            LegacyFormat::Csv => csv::read(&text, options, &mut collector)?,
            LegacyFormat::NginxGeo => geo::read(&text, &mut collector),
            LegacyFormat::GdnsdNets => nets::read(&text, &mut collector),
            LegacyFormat::BindAcl => acl::read(&text, &mut collector),
            LegacyFormat::Czf => czf::read(&text, &options.known, &mut collector)?,
            LegacyFormat::Json => json::document(&text, &mut collector)?,
            LegacyFormat::Ndjson => json::lines(&text, &mut collector),
            LegacyFormat::Mmdb => return mmdb(&file),
        }
        collector.own_default(&text);
        collector.finish(format)
    }

    /// The rows of one space as the server that reads the format understands them: disjoint
    /// and in order. Rows that name no space belong to any.
    pub(super) fn flat<'a>(&'a self, space: &str) -> impl Iterator<Item = (Range, &'a LegacyRow)> {
        let rows =
            move || self.rows.iter().filter(move |row| row.space.as_deref().is_none_or(|own| own == space));
        // As people keep them: they are left where they are.
        if rows().is_sorted_by(|a, b| flat::lies_before(a.range, b.range)) {
            return Either::Left(rows().map(|row| (row.range, row)));
        }
        let (rows, ranges): (Vec<_>, Vec<_>) = rows().map(|row| (row, row.range)).unzip();
        let piece = move |piece: Piece| Some((piece.range, *rows.get(piece.row)?));
        Either::Right(flat::flatten(&ranges, self.rule).into_iter().filter_map(piece))
    }
}

fn whole(mut input: Input<'_>) -> Result<Vec<u8>, LegacyError> {
    const STEP: usize = 1 << 16;
    let mut file = Vec::new();
    // Where the line begins that is being read.
    let mut begun = 0;
    loop {
        let filled = file.len();
        if filled as u64 > Legacy::LIMIT_MIB << 20 {
            return Err(LegacyError::TooLarge(Legacy::LIMIT_MIB));
        }
        file.resize(filled + STEP, 0);
        let count = input.read(file.get_mut(filled..).unwrap_or_default())?;
        file.truncate(filled + count);
        let fresh = file.get(filled..).unwrap_or_default();
        if let Some(end) = memchr::memrchr2(b'\n', b'\r', fresh) {
            begun = filled + end + 1;
        }
        let line = file.get(begun..).unwrap_or_default();
        if line.len() > text::ENDLESS && !text::is_json(&file, line) {
            let before = file.get(..begun).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
            return Err(LegacyError::LongLine { line, limit: text::LINE_LIMIT });
        }
        if count == 0 {
            return Ok(file);
        }
    }
}

fn mmdb(file: &[u8]) -> Result<Legacy, LegacyError> {
    let broken = |place: String, problem: String| LegacyError::Broken { place, problem };
    let format = format::by_name("mmdb").map_err(|e| broken("the format".to_owned(), e.to_string()))?;
    let read = format.read(file).map_err(|e| broken(e.place, e.problem))?;
    let mut collector = Collector::default();
    for row in read.rows() {
        let target = collector.named(row.token.as_str());
        collector.take(LegacyRow { range: row.range, space: row.space.clone(), target, line: 0 });
    }
    collector.default = read.default().map(|token| collector.named(token.as_str()));
    collector.finish(LegacyFormat::Mmdb)
}
