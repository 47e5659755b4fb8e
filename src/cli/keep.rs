//! `backup` and `restore`.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::args::FileArgs;
use super::exit::Exit;
use super::output::{Report, print};
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::grouped;
use crate::cycle::Who;
use crate::store::{Reader, restore as put_back};

/// What `backup` wrote.
#[derive(Debug, Serialize)]
struct BackedUp {
    file: PathBuf,
    octets: u64,
    session: String,
    generation: u64,
    entries: usize,
}

impl Report for BackedUp {
    fn text(&self) -> String {
        format!(
            "{}: generation {} of session {}, {} entries, {} octets\n",
            self.file.display(),
            self.generation,
            self.session,
            grouped(&self.entries.to_string()),
            grouped(&self.octets.to_string())
        )
    }
}

/// What `restore` did.
#[derive(Debug, Serialize)]
struct PutBack {
    store: PathBuf,
    file: PathBuf,
    session: String,
    generation: u64,
    aside: Option<PathBuf>,
}

impl Report for PutBack {
    fn text(&self) -> String {
        let mut text = format!(
            "{} holds generation {} of {}, under the new session {}\n",
            self.store.display(),
            self.generation,
            self.file.display(),
            self.session
        );
        if let Some(aside) = &self.aside {
            text.push_str(&format!("the database before is kept as {}\n", aside.display()));
        }
        text
    }

    fn remarks(&self) -> Vec<String> {
        vec!["note: consumers get it when `poolsync run` starts, or `poolsync poll` runs".to_owned()]
    }
}

/// Runs `backup`: beside the daemon, as the user who asks.
pub(crate) async fn backup(args: &FileArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let site = Site::load(config, Secrets::NotNeeded)?;
    let mut reader = Reader::open(&site.config.store.path, Default::default()).await?;
    reader.backup(&args.file).await?;
    // Read back: a copy that cannot be is none.
    let loaded = Reader::open(&args.file, Default::default()).await?.load().await?;
    let octets = std::fs::metadata(&args.file).map(|file| file.len());
    let octets = octets.map_err(|e| Stop::failed(format!("{}: {e}", args.file.display())))?;
    let report = BackedUp {
        file: args.file.clone(),
        octets,
        session: loaded.session.to_string(),
        generation: loaded.generation,
        entries: loaded.table.entries().len(),
    };
    Ok(print(&report, json))
}

/// Runs `restore`: only where nobody owns the store.
pub(crate) async fn restore(args: &FileArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let site = Site::load(config, Secrets::NotNeeded)?;
    let by = Who::of_process().signed(None);
    let path = &site.config.store.path;
    let done = put_back(path, &args.file, Default::default(), &by, Timestamp::now()).await?;
    let report = PutBack {
        store: done.path,
        file: args.file.clone(),
        session: done.session.to_string(),
        generation: done.generation,
        aside: done.aside,
    };
    Ok(print(&report, json))
}
