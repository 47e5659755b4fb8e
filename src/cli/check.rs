//! `check`: what a configuration leads to.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::act_reports::{changed, twins_lines};
use super::args::CheckArgs;
use super::connect::{Connected, connect};
use super::exit::Exit;
use super::output::{Report, print, write_out};
use super::past_reports::changes_grid;
use super::reports::held_grid;
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::{bold, counted, grouped};
use crate::cycle::shapes::OutlookShape;
use crate::cycle::{State, limit_warnings, outlook, runs_window};
use crate::store::Reader;
use crate::table::Runs;

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
    /// Those of them that have not been said yet: what consumers will not bear well.
    #[serde(skip)]
    over: Vec<String>,
    /// What it would do to the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    against_store: Option<OutlookShape>,
    /// How the BASes answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    connect: Option<Connected>,
}

impl Report for Checked {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: sound\n{}, {}, {}, {}, {}; {} descriptors known\n{} polls an hour\n",
            self.config,
            counted(self.bas, "BAS", "BASes"),
            counted(self.edges, "edge", "edges"),
            counted(self.spaces, "space", "spaces"),
            counted(self.statics, "static line", "static lines"),
            counted(self.exports, "export", "exports"),
            self.descriptors,
            grouped(&format!("{:.0}", self.polls_per_second * 3600.0)),
        );
        if let Some(outlook) = &self.against_store {
            text.push_str(&outlook_text(outlook));
            text.push_str(&twins_lines(&outlook.twins));
        }
        if let Some(connected) = &self.connect {
            text.push_str(&connected.text());
        }
        text
    }

    fn exit(&self) -> Exit {
        match &self.against_store {
            Some(outlook) if !outlook.is_empty() => Exit::Held,
            _ => self.connect.as_ref().map_or(Exit::Ok, Connected::exit),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> =
            self.over.iter().map(|warning| format!("warning: {warning}")).collect();
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
pub(crate) async fn run(args: &CheckArgs, path: &Path, json: bool) -> Result<Exit, Stop> {
    let (site, warnings) = Site::load_with_warnings(path, Secrets::Needed)?;
    if args.print {
        write_out(site.config.to_toml().as_bytes(), false);
        return Ok(Exit::Ok);
    }
    let mut warnings = warnings;
    let mut over = Vec::new();
    let against_store = match args.against_store {
        true => {
            let (outlook, limits) = against_store(&site).await?;
            over = limits;
            Some(outlook)
        }
        false => None,
    };
    warnings.extend(over.iter().cloned());
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
            // Of no BAS the sum is -0.
            polls_per_second: config.bas.values().map(rate).sum::<f64>() + 0.0,
            warnings,
            over,
            connect: if args.connect { Some(connect(&site).await?) } else { None },
            against_store,
        },
        json,
    ))
}

/// What the configuration would do to the store, as it is committed; and what consumers would
/// not bear well of the table that is there.
async fn against_store(site: &Site) -> Result<(OutlookShape, Vec<String>), Stop> {
    let now = Timestamp::now();
    let mut reader = Reader::open(&site.config.store.path, Default::default()).await?;
    let state = State::of(Arc::clone(&site.config), Arc::clone(&site.exports), reader.load().await?);
    let runs = Runs::load(&reader.runs_ended_since(runs_window(&site.config, now)).await?);
    Ok((outlook(&state, &runs, now)?.shape, limit_warnings(&state)))
}

/// How many changes are listed; `--json` has all of them.
const SHOWN: usize = 20;

fn outlook_text(outlook: &OutlookShape) -> String {
    if outlook.is_empty() {
        return format!("it changes nothing of generation {}\n", outlook.generation);
    }
    let mut text = format!("against generation {}: {}\n", outlook.generation, changed(&outlook.changed));
    let shown = outlook.changes.get(..SHOWN).unwrap_or(&outlook.changes);
    text.push_str(&changes_grid(shown));
    if let more @ 1.. = outlook.changes.len() - shown.len() {
        let _ = writeln!(text, "and {}", counted(more, "other", "others"));
    }
    let answered = outlook.groups.len() + outlook.owners.len();
    if answered > 0 {
        let _ = writeln!(
            text,
            "{} otherwise answered",
            counted(answered, "group or owner is", "groups or owners are")
        );
    }
    if !outlook.held.is_empty() {
        let _ = writeln!(text, "\n{}", bold("Of that the guard would hold"));
        text.push_str(&held_grid(&outlook.held));
    }
    let _ = writeln!(text, "\n`poolsync reload --accept {}` lets exactly this through", outlook.digest);
    text
}
