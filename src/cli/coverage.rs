//! `coverage`: a log of viewers held against the table.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::basis::{Basis, Ground, ground};
use super::exit::Exit;
use super::old_args::CoverageArgs;
use super::old_table::{loses, name_of, open, reading};
use super::output::{Report, complain, print};
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::coverage::{CoverageError, CoverageReport, LogShape, Question, Resolvers, ShapeError, measure};

#[derive(Debug, Serialize)]
struct Coverage {
    /// The table that the log is held against.
    table: Basis,
    #[serde(flatten)]
    report: CoverageReport,
    #[serde(skip)]
    top: usize,
    /// Whether something of the old table, or of the list of resolvers, could not be read.
    #[serde(skip)]
    lossy: bool,
}

impl Report for Coverage {
    fn text(&self) -> String {
        format!("{}\nheld against: {}\n", self.report.text(self.top), self.table.text())
    }

    fn exit(&self) -> Exit {
        match self.report.is_complete() && !self.lossy && self.table.unread.is_empty() {
            true => Exit::Ok,
            false => Exit::Incomplete,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.table.remarks();
        if let Some(detail) = self.report.log.detail.as_ref().filter(|_| !self.report.is_complete()) {
            remarks.push(format!(
                "warning: {}: {detail}; the figures are those of what came before",
                self.report.log.name.as_deref().unwrap_or("the log")
            ));
        }
        remarks
    }
}

/// Runs `coverage`.
pub(crate) async fn run(args: &CoverageArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let shape = shape(args)?;
    let log = open(&args.file)?;
    let site = Site::load(config, Secrets::NotNeeded)?;
    let (old, found) = tokio::join!(reading(&args.old, &site), ground(&args.basis, &site, config));
    let (old, Ground { basis: table, served, known }) = (old?, found?);
    let resolvers = args.resolvers.as_deref().map(resolvers).transpose()?;
    let unread_old = old
        .as_ref()
        .is_some_and(|old| old.more_remarks > 0 || old.remarks.iter().any(|remark| loses(remark.kind)));
    let lossy = unread_old || resolvers.as_ref().is_some_and(|list| !list.remarks.is_empty());
    let name = name_of(&args.file);
    let question = Question {
        served: &served,
        old: old.as_ref(),
        known: &known,
        resolvers: resolvers.as_ref(),
        shape,
        top: args.top,
        name: Some(&name),
    };
    let bar = progress(&args.file);
    let measured = measure(log, &question, |progress| {
        bar.set_position(progress.octets);
        bar.set_message(super::text::grouped(&progress.lines.to_string()));
    });
    bar.finish_and_clear();
    let report = measured.map_err(|error| explained(&name, &error))?;
    if let Some(path) = &args.svg {
        std::fs::write(path, report.svg())
            .map_err(|e| Stop::failed(format!("{}: cannot be written: {e}", path.display())))?;
        complain(&format!("wrote the plot {}", path.display()));
    }
    Ok(print(&Coverage { table, report, top: args.top, lossy }, json))
}

/// What the arguments say of the lines.
fn shape(args: &CoverageArgs) -> Result<LogShape, Stop> {
    if let Some(key) = &args.key {
        return Ok(LogShape::Json { key: key.clone(), time: args.time_key.clone() });
    }
    let Some(number) = args.field else { return Ok(LogShape::Auto) };
    let separator = match args.separator.as_deref().map(str::as_bytes) {
        None => None,
        Some(br"\t") => Some(b'\t'),
        Some([octet]) if octet.is_ascii() && *octet != b'\n' => Some(*octet),
        Some(_) => return Err(Stop::usage("`--separator` takes one character of ASCII, or \\t")),
    };
    Ok(LogShape::Field { number, separator })
}

fn resolvers(path: &Path) -> Result<Resolvers, Stop> {
    let name = name_of(path);
    let list = Resolvers::read(open(path)?).map_err(|e| Stop::failed(format!("{name}: {e}")))?;
    for remark in &list.remarks {
        complain(&format!("{name}: {remark}"));
    }
    Ok(list)
}

/// Why a log gives no figures, with what to type.
fn explained(name: &str, error: &CoverageError) -> Stop {
    let usage = |how: &str| Stop::usage(format!("{name}: {error} ({how})"));
    match error {
        CoverageError::Shape(ShapeError::Elsewhere(number)) => usage(&format!("`--field {number}`")),
        CoverageError::Shape(ShapeError::NoKey(_)) => usage("`--key KEY`"),
        CoverageError::Shape(ShapeError::Nothing(_)) => usage("`--field N`, `--key KEY`"),
        _ => Stop::failed(format!("{name}: {error}")),
    }
}

/// A bar on a terminal, nothing elsewhere.
fn progress(path: &Path) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
    let (bar, template) = match length {
        Some(length) => {
            (ProgressBar::new(length), "{bar:30} {bytes}/{total_bytes}, {msg} lines, {elapsed}, {eta} to go")
        }
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {msg} lines, {elapsed}"),
    };
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
