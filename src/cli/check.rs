//! `check`: what a configuration leads to.

use std::path::Path;

use serde::Serialize;

use super::args::CheckArgs;
use super::exit::Exit;
use super::output::{Report, print, write_out};
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::{counted, grouped};

/// What a sound configuration holds.
#[derive(Debug, Serialize)]
struct Checked {
    config: String,
    bas: usize,
    edges: usize,
    spaces: usize,
    statics: usize,
    exports: usize,
    descriptors: usize,
    interval_s: u64,
    /// BASes polled a second, on the average.
    polls_per_second: f64,
    warnings: Vec<String>,
}

impl Report for Checked {
    fn text(&self) -> String {
        format!(
            "{}: sound\n{}, {}, {}, {}, {}; {} descriptors known\n{} polls an hour\n",
            self.config,
            counted(self.bas, "BAS", "BASes"),
            counted(self.edges, "edge", "edges"),
            counted(self.spaces, "space", "spaces"),
            counted(self.statics, "static line", "static lines"),
            counted(self.exports, "export", "exports"),
            self.descriptors,
            grouped(&format!("{:.0}", self.polls_per_second * 3600.0)),
        )
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.bas == 0 {
            remarks.push("warning: no BAS is configured: the table stays empty".to_owned());
        }
        if (1..10).contains(&self.bas) {
            remarks.push(
                "note: with fewer than about ten BASes almost every loss is over `remove` and waits for a person"
                    .to_owned(),
            );
        }
        if self.exports == 0 {
            remarks.push("note: no export is configured: nothing is published to consumers".to_owned());
        }
        remarks
    }
}

/// Runs `check`.
pub(crate) fn run(args: &CheckArgs, path: &Path, json: bool) -> Result<Exit, Stop> {
    let (site, warnings) = Site::load_with_warnings(path, Secrets::Needed)?;
    if args.print {
        write_out(site.config.to_toml().as_bytes(), false);
        return Ok(Exit::Ok);
    }
    let config = &site.config;
    let rate = |bas: &crate::config::Bas| 1.0 / bas.interval.unwrap_or(config.poll.interval).as_secs_f64();
    Ok(print(
        &Checked {
            config: path.display().to_string(),
            bas: config.bas.len(),
            edges: config.edges.len(),
            spaces: config.spaces.len(),
            statics: config.statics.len(),
            exports: config.exports.len(),
            descriptors: site.library.iter().len(),
            interval_s: config.poll.interval.as_secs(),
            polls_per_second: config.bas.values().map(rate).sum(),
            warnings,
        },
        json,
    ))
}
