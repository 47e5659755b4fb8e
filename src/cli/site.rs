//! What commands begin with: the configuration, the descriptors, the exports; and whoever
//! owns the store.

use std::path::Path;
use std::sync::Arc;

use super::output::complain;
use super::stop::Stop;
use crate::config::{Config, Loaded};
use crate::cycle::exports_of;
use crate::mib::Library;
use crate::publish::Export;

/// A configuration that has been checked against what this program can do.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) config: Arc<Config>,
    pub(crate) library: Arc<Library>,
    pub(crate) exports: Arc<Vec<Export>>,
}

/// Whether secrets are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    Needed,
    NotNeeded,
}

impl Site {
    /// Loads a configuration, says its warnings, and checks it whole.
    pub(crate) fn load(path: &Path, secrets: Secrets) -> Result<Self, Stop> {
        Ok(Self::load_with_warnings(path, secrets)?.0)
    }

    /// The same, with the warnings that were said.
    pub(crate) fn load_with_warnings(path: &Path, secrets: Secrets) -> Result<(Self, Vec<String>), Stop> {
        let loaded = match secrets {
            Secrets::Needed => Config::load(path)?,
            Secrets::NotNeeded => Config::load_without_secrets(path)?,
        };
        let site = Self::of(&loaded)?;
        if secrets == Secrets::Needed {
            loaded.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
        }
        Ok((site, loaded.warnings.iter().map(ToString::to_string).collect()))
    }

    /// Checks a loaded configuration against descriptors and formats.
    pub(crate) fn of(loaded: &Loaded) -> Result<Self, Stop> {
        let mut library = Library::built_in();
        if let Some(folder) = &loaded.config.mib.folder {
            library = library.with_folder(folder)?;
        }
        let known: Vec<&str> = library.iter().map(|d| d.name().as_str()).collect();
        loaded.check_descriptors(&known)?;
        let exports = Arc::new(exports_of(&loaded.config)?);
        Ok(Self { config: Arc::new(loaded.config.clone()), library: Arc::new(library), exports })
    }
}
