//! `run` and `reload`.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::args::ReloadArgs;
use super::exit::Exit;
use super::output::print;
use super::owner::{daemon, shape};
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::config::{self, LogLevel};
use crate::cycle::shapes::ReloadShape;
use crate::cycle::{Cycle, Operation, ReloadRequest, Who, published_shape};
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

/// Takes the configuration up anew: the service where it runs, else this process.
pub(crate) async fn reload(args: &ReloadArgs, path: &Path, json: bool) -> Result<Exit, Stop> {
    let site = Site::load(path, Secrets::NotNeeded)?;
    let request = ReloadRequest { accept: args.accept.clone() };
    if let Some(answer) = daemon(&site, &Operation::Reload(request)).await? {
        return Ok(print(&shape::<ReloadShape>(answer)?, json));
    }
    let now = Timestamp::now();
    let mut cycle = Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), now).await?;
    let both = (&site.config, &site.exports);
    let reloaded = cycle.reload(both, args.accept.as_deref(), &Who::of_process(), now).await;
    let published = match &reloaded {
        Ok(_) => cycle.publish(Timestamp::now()).await,
        Err(_) => Vec::new(),
    };
    cycle.close().await?;
    let mut shape = reloaded?;
    shape.published = published.iter().map(published_shape).collect();
    Ok(print(&shape, json))
}
