//! `mib`: the descriptors.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::args::MibCommand;
use super::exit::Exit;
use super::output::{Report, print};
use super::recordings;
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::{Grid, counted};
use crate::mib::{Descriptor, Encoding, Library, Replay, Settings, Summary, replay};

/// One descriptor: in short for programs, in words for people.
#[derive(Debug, Serialize)]
struct DescriptorShape {
    #[serde(flatten)]
    summary: Summary,
    text: String,
}

/// Runs `mib`. The configuration matters only where there is one: it may add a folder.
pub(crate) fn run(command: &MibCommand, config: &Path, json: bool) -> Result<Exit, Stop> {
    match command {
        MibCommand::Check { file, walk, encoding } => {
            let descriptor = Descriptor::read(file).map_err(|e| Stop::failed(e.to_string()))?;
            match walk {
                Some(walk) => Ok(print(&replayed(&descriptor, walk, encoding.as_deref())?, json)),
                None => Ok(print(&Checked(shape(&descriptor)), json)),
            }
        }
        MibCommand::List => {
            let library = library(config)?;
            Ok(print(&Listed(library.iter().map(|d| shape(d)).collect()), json))
        }
        MibCommand::Show { name } => {
            let descriptor = descriptor(name, &library(config)?)?;
            Ok(print(&Shown(shape(&descriptor)), json))
        }
    }
}

fn library(config: &Path) -> Result<Library, Stop> {
    if config.exists() {
        let site = Site::load(config, Secrets::NotNeeded)?;
        return Ok((*site.library).clone());
    }
    Ok(Library::built_in())
}

/// A descriptor by its name; by its file, where the word has a dot or a slash.
pub(super) fn descriptor(mib: &str, library: &Library) -> Result<Arc<Descriptor>, Stop> {
    if let Some(known) = library.get(mib) {
        return Ok(Arc::clone(known));
    }
    if mib.contains(['/', '.']) {
        return Ok(Arc::new(Descriptor::read(Path::new(mib))?));
    }
    let known: Vec<&str> = library.iter().map(|d| d.name().as_str()).collect();
    Err(Stop::usage(format!("there is no descriptor `{mib}`; there are: {}", known.join(", "))))
}

fn shape(descriptor: &Descriptor) -> DescriptorShape {
    DescriptorShape { summary: descriptor.summary(), text: descriptor.describe() }
}

/// A recording, row by row as the descriptor understands it.
fn replayed(descriptor: &Descriptor, walk: &Path, encoding: Option<&str>) -> Result<Replay, Stop> {
    let recording = recordings::read(walk)?;
    let encoding = match encoding {
        None => None,
        Some(label) => Some(label.parse::<Encoding>().map_err(|e| Stop::usage(e.to_string()))?),
    };
    Ok(replay(descriptor, &recording, Settings { encoding, group_as_vrf: None }))
}

impl Report for Replay {
    fn text(&self) -> String {
        Self::text(self)
    }

    /// As that of `walk`.
    fn exit(&self) -> Exit {
        let any = |state: &str| self.tables.iter().any(|table| table.state == state);
        let read = self.tables.iter().any(|table| table.gives_ranges && table.state == "complete");
        match (any("failed"), read) {
            (false, true) => Exit::Ok,
            (true, _) if any("complete") => Exit::Incomplete,
            _ => Exit::Failed,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let rows = || self.tables.iter().flat_map(|table| &table.rows);
        let mut remarks = Vec::new();
        if !self.tables.iter().any(|table| table.gives_ranges && table.state != "unsupported") {
            remarks.push(format!("the recording has none of the tables of {}", self.descriptor));
        } else if rows().all(|row| row.ranges.is_empty()) {
            remarks.push("warning: no row of the recording gives a range".to_owned());
        }
        let unread = rows().filter(|row| row.reason.is_some_and(|reason| !reason.is_void())).count();
        if unread > 0 {
            let rows = counted(unread, "row was", "rows were");
            remarks.push(format!("warning: {rows} not read; what such a row listed before would be kept"));
        }
        remarks
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Listed(Vec<DescriptorShape>);

impl Report for Listed {
    fn text(&self) -> String {
        let mut grid = Grid::new(&["NAME", "VENDOR", "TABLES", "FROM"]);
        for one in &self.0 {
            let Summary { name, vendor, file, tables, .. } = &one.summary;
            let tables: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            grid.row([name.as_str(), vendor, &tables.join(" "), file.as_deref().unwrap_or("built in")]);
        }
        grid.finish()
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Shown(DescriptorShape);

impl Report for Shown {
    fn text(&self) -> String {
        self.0.text.clone()
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Checked(DescriptorShape);

impl Report for Checked {
    fn text(&self) -> String {
        format!("{}\n{}: a descriptor that can be used\n", self.0.text.trim_end(), self.0.summary.name)
    }
}
