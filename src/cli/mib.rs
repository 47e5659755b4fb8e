//! `mib`: the descriptors.

use std::path::Path;

use serde::Serialize;

use super::args::MibCommand;
use super::exit::Exit;
use super::output::{Report, print};
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::Grid;
use crate::mib::{Descriptor, Library, LibraryError, Origin};

/// One descriptor.
#[derive(Debug, Serialize)]
struct DescriptorShape {
    name: String,
    vendor: String,
    origin: String,
    tables: Vec<String>,
    text: String,
}

/// Runs `mib`. The configuration matters only where there is one: it may add a folder.
pub(crate) fn run(command: &MibCommand, config: &Path, json: bool) -> Result<Exit, Stop> {
    match command {
        MibCommand::Check { file } => match Descriptor::read(file) {
            Ok(descriptor) => Ok(print(&Checked(shape(&descriptor)), json)),
            Err(error @ LibraryError::Descriptor(_)) => Err(Stop::failed(error.to_string())),
            Err(error) => Err(Stop::failed(error.to_string())),
        },
        MibCommand::List => {
            let library = library(config)?;
            Ok(print(&Listed(library.iter().map(|d| shape(d)).collect()), json))
        }
        MibCommand::Show { name } => {
            let library = library(config)?;
            let known = || library.iter().map(|d| d.name().to_string()).collect::<Vec<_>>().join(", ");
            let descriptor = library.get(name).ok_or_else(|| {
                Stop::usage(format!("there is no descriptor `{name}`; there are: {}", known()))
            })?;
            Ok(print(&Shown(shape(descriptor)), json))
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

fn shape(descriptor: &Descriptor) -> DescriptorShape {
    DescriptorShape {
        name: descriptor.name().to_string(),
        vendor: descriptor.vendor().to_owned(),
        origin: match descriptor.origin() {
            Origin::BuiltIn => "built in".to_owned(),
            Origin::File(path) => path.display().to_string(),
        },
        tables: descriptor.tables().map(|t| t.name().to_string()).collect(),
        text: descriptor.describe(),
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Listed(Vec<DescriptorShape>);

impl Report for Listed {
    fn text(&self) -> String {
        let mut grid = Grid::new(&["NAME", "VENDOR", "TABLES", "FROM"]);
        for one in &self.0 {
            grid.row([&one.name, &one.vendor, &one.tables.join(" "), &one.origin]);
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
        format!("{}\n{}: a descriptor that can be used\n", self.0.text.trim_end(), self.0.name)
    }
}
