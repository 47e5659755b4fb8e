//! The control socket, and TCP for those who only read.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::http::{Handle, Peer, reading, router};

/// Owner and group may use the control socket.
const SOCKET_MODE: u32 = 0o660;

/// Why a socket cannot be listened on.
#[derive(Debug, Error)]
#[error("cannot listen on {at}: {source}")]
pub struct ListenError {
    /// The socket.
    pub at: String,
    /// The system's word.
    pub source: io::Error,
}

/// The sockets, bound.
#[derive(Debug)]
pub(super) struct Sockets {
    control: UnixListener,
    path: PathBuf,
    tcp: Vec<TcpListener>,
}

impl Sockets {
    /// Binds what the configuration names. The store's lock is held: a control socket that
    /// is still there belongs to a process that is not.
    pub(super) async fn open(config: &Config) -> Result<Self, ListenError> {
        let path = config.control.socket.clone();
        let control = bind(&path).map_err(|source| ListenError { at: path.display().to_string(), source })?;
        let mut tcp = Vec::new();
        for address in &config.http.listen {
            let failed = |source| ListenError { at: address.to_string(), source };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?;
            tracing::info!(address = %bound, "listening");
            tcp.push(listener);
        }
        Ok(Self { control, path, tcp })
    }

    /// Serves until stopped.
    pub(super) fn serve(self, handle: Handle, stop: CancellationToken) -> Serving {
        let mut tasks = JoinSet::new();
        let Self { control, path, tcp } = self;
        let stopped = stop.clone();
        let routes = router(handle.clone()).into_make_service_with_connect_info::<Peer>();
        tasks.spawn(async move {
            let server = axum::serve(control, routes).with_graceful_shutdown(stopped.cancelled_owned());
            if let Err(e) = server.await {
                tracing::error!(error = %e, "the control socket failed");
            }
        });
        for listener in tcp {
            let (routes, stopped) = (reading(handle.clone()), stop.clone());
            tasks.spawn(async move {
                let server = axum::serve(listener, routes).with_graceful_shutdown(stopped.cancelled_owned());
                if let Err(e) = server.await {
                    tracing::error!(error = %e, "HTTP failed");
                }
            });
        }
        Serving { tasks, path }
    }
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(SOCKET_MODE))?;
    Ok(listener)
}

/// The sockets, being served.
#[derive(Debug)]
pub(super) struct Serving {
    tasks: JoinSet<()>,
    path: PathBuf,
}

impl Serving {
    /// Lets what is being answered end, for so long, and removes the control socket.
    pub(super) async fn close(mut self, patience: Duration) {
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, ended).await.is_err() {
            tracing::debug!("connections were still open");
        }
        if let Err(e) = std::fs::remove_file(&self.path) {
            tracing::debug!(error = %e, "the control socket was not there any more");
        }
    }
}
