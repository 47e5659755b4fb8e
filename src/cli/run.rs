//! `run` and `reload`.

use std::path::Path;
use std::sync::Arc;

use super::exit::Exit;
use super::output::complain;
use super::owner::daemon;
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::config::{self, LogLevel};
use crate::cycle::Operation;
use crate::daemon::{self, DaemonError};
use crate::logging::{self, LogFormat};

impl From<&Site> for daemon::Site {
    fn from(site: &Site) -> Self {
        Self {
            config: Arc::clone(&site.config),
            library: Arc::clone(&site.library),
            exports: Arc::clone(&site.exports),
        }
    }
}

/// Runs the service.
pub(crate) async fn run(path: &Path) -> Result<Exit, Stop> {
    let site = Site::load(path, Secrets::Needed)?;
    let format = match site.config.log.format {
        config::LogFormat::Json => LogFormat::Json,
        config::LogFormat::Text => LogFormat::Text,
    };
    logging::init(level(site.config.log.level), format);
    let again = path.to_owned();
    let reload = move || match Site::load(&again, Secrets::Needed) {
        Ok(site) => Ok(daemon::Site::from(&site)),
        Err(stop) => Err(stop.message),
    };
    match daemon::run((&site).into(), Box::new(reload)).await {
        Ok(()) => Ok(Exit::Ok),
        Err(DaemonError::Cycle(e)) => Err(e.into()),
        Err(e) => Err(Stop::failed(e.to_string())),
    }
}

fn level(level: LogLevel) -> &'static str {
    level.as_str()
}

/// Has the running service read its configuration anew.
pub(crate) async fn reload(path: &Path) -> Result<Exit, Stop> {
    let site = Site::load(path, Secrets::NotNeeded)?;
    match daemon_answer(&site).await? {
        true => {
            complain("the configuration was read anew");
            Ok(Exit::Ok)
        }
        false => Err(Stop::failed(format!(
            "no daemon runs at {}; it reads its configuration when it starts",
            site.config.control.socket.display()
        ))),
    }
}

async fn daemon_answer(site: &Site) -> Result<bool, Stop> {
    Ok(daemon(site, &Operation::Reload).await?.is_some())
}
