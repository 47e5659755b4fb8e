//! `diff --against`: what an old table gets wrong.

use std::path::Path;

use serde::Serialize;

use super::args::DiffArgs;
use super::basis::{Basis, Ground, ground};
use super::exit::Exit;
use super::old_table::{loses, name_of, reading};
use super::output::{Report, print, write_out};
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::coverage::AgainstReport;

#[derive(Debug, Serialize)]
struct Against {
    /// The old table's file.
    file: String,
    /// The table that it is held against.
    table: Basis,
    #[serde(flatten)]
    report: AgainstReport,
    /// How many lines of each list are shown to people.
    #[serde(skip)]
    top: usize,
    /// Whether something of the old table could not be read.
    #[serde(skip)]
    lossy: bool,
}

impl Report for Against {
    fn text(&self) -> String {
        format!("{}\n{}: {}\n", self.report.text(self.top), "held against", self.table.text())
    }

    fn exit(&self) -> Exit {
        match (self.report.is_clean(), self.lossy || !self.table.unread.is_empty()) {
            (false, _) => Exit::Held,
            (true, true) => Exit::Incomplete,
            (true, false) => Exit::Ok,
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.table.remarks()
    }
}

/// Runs `diff --against`.
pub(crate) async fn run(args: &DiffArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let site = Site::load(config, Secrets::NotNeeded)?;
    // Both tables may be large: they are read beside each other.
    let reading = reading(&args.old, &site);
    let (old, found) = tokio::join!(reading, ground(&args.basis, &site, config));
    let old = old?.ok_or_else(|| Stop::usage("`--against` names no file"))?;
    let Ground { basis: table, served, known } = found?;
    let report = Against {
        file: args.old.against.as_deref().map(name_of).unwrap_or_default(),
        table,
        report: AgainstReport::new(&served, &old, &known),
        top: args.top,
        lossy: old.more_remarks > 0 || old.remarks.iter().any(|remark| loses(remark.kind)),
    };
    if args.csv {
        write_out(report.report.csv().as_bytes(), false);
        report.remarks().iter().for_each(|remark| super::output::complain(remark));
        return Ok(report.exit());
    }
    Ok(print(&report, json))
}
