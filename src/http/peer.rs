//! Who is at the other end of a connection.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::http::request::Parts;
use axum::serve::IncomingStream;
use tokio::net::UnixListener;

use crate::cycle::Who;

/// The user at the other end of the control socket, as the kernel tells.
#[derive(Clone, Debug)]
pub struct Peer(Who);

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        match stream.io().peer_cred() {
            Ok(peer) => Self(Who::user(peer.uid())),
            Err(error) => {
                tracing::warn!(%error, "who asks is not known");
                Self(Who::nobody())
            }
        }
    }
}

/// Who asks, where the connection tells.
pub(super) struct Asking(pub(super) Who);

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>();
        Ok(Self(peer.map_or_else(Who::nobody, |ConnectInfo(Peer(who))| who.clone())))
    }
}
