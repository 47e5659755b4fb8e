//! The service: a schedule, the one task that owns the store, the control socket, and a
//! clean stop.

mod apart;
mod identity;
mod listen;
mod loads;
mod notices;
mod owner;
mod publisher;
mod schedule;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::cycle::{Cycle, CycleError, Operation, ReloadRequest};
use crate::http::Handle;
use crate::mib::Library;
use crate::publish::Export;
use crate::snmp::Transport;

pub use listen::ListenError;
pub use schedule::{Due, Schedule};

/// A configuration with all that it stands for.
#[derive(Clone, Debug)]
pub struct Site {
    /// The configuration.
    pub config: Arc<Config>,
    /// The descriptors.
    pub library: Arc<Library>,
    /// The exports.
    pub exports: Arc<Vec<Export>>,
}

/// How a configuration is read anew; the error is for people.
pub type Reload = Box<dyn Fn() -> Result<Site, String> + Send>;

/// Why the service ended otherwise than by a signal.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The store or the groups failed at start.
    #[error(transparent)]
    Cycle(#[from] CycleError),
    /// A socket cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The system refused something else.
    #[error("{what}: {source}")]
    System {
        /// What was asked.
        what: &'static str,
        /// The system's word.
        source: std::io::Error,
    },
}

/// How deep requests may queue before whoever asks has to wait.
const QUEUE: usize = 64;

/// Runs the service until SIGTERM or SIGINT. SIGHUP reads the configuration anew.
///
/// # Errors
/// Where it cannot start.
pub async fn run(site: Site, reload: Reload) -> Result<(), DaemonError> {
    let system = |what| move |source| DaemonError::System { what, source };
    let mut terminate = signal(SignalKind::terminate()).map_err(system("cannot wait for SIGTERM"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(system("cannot wait for SIGINT"))?;
    let mut hangup = signal(SignalKind::hangup()).map_err(system("cannot wait for SIGHUP"))?;
    let transport = Transport::apart().map_err(system("no UDP socket can be opened"))?;
    let cycle = Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), Timestamp::now()).await?;
    // The store's lock is held: the file is nobody else's.
    let keys = site.config.control.keys();
    match transport.load_keys(&keys) {
        Ok(count) => tracing::debug!(count, "keys of an earlier run"),
        Err(error) => tracing::warn!(%error, "keys of an earlier run are made anew"),
    }
    let (handle, requests) = Handle::new(QUEUE);
    let stop = CancellationToken::new();
    let sockets = listen::Sockets::open(&site.config).await?;
    let (notices, listener) = notices::open(&site.config, &transport).await?.unzip();
    let serving = sockets.serve(handle.clone(), stop.clone());
    let owner = owner::Owner::new(cycle, site, transport, reload, notices);
    let listening = listener.map(|listener| tokio::spawn(listener.run(stop.clone())));
    let mut owning = tokio::spawn(owner.run(requests, stop.clone()));
    tell(&[NotifyState::Ready]);
    tracing::info!("ready");
    let ended = loop {
        tokio::select! {
            _ = terminate.recv() => break None,
            _ = interrupt.recv() => break None,
            ended = &mut owning => break Some(ended),
            _ = hangup.recv() => {
                let handle = handle.clone();
                // What came of it is logged where it is done.
                tokio::spawn(async move { handle.ask(Operation::Reload(ReloadRequest::default())).await });
            }
        }
    };
    tell(&[NotifyState::Stopping]);
    tracing::info!("stopping");
    stop.cancel();
    let ended = match ended {
        Some(ended) => ended,
        None => owning.await,
    };
    serving.close(Duration::from_secs(2)).await;
    if let Some(listening) = listening {
        // It was told to stop, and holds nothing.
        listening.abort();
    }
    match ended {
        Ok(result) => Ok(result?),
        Err(e) => Err(DaemonError::System {
            what: "the owner of the store broke off",
            source: std::io::Error::other(e),
        }),
    }
}

/// Tells the service manager, where there is one.
fn tell(state: &[NotifyState<'_>]) {
    if let Err(e) = sd_notify::notify(state) {
        tracing::debug!(error = %e, "the service manager was not told");
    }
}
