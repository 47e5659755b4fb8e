//! HTTP/1: the control socket's routes. What may be asked is `cycle`'s; this module only
//! carries it.

mod client;
mod peer;
mod routes;

pub use client::{ClientError, ControlClient};
pub use peer::Peer;
pub use routes::{Handle, Request, reading, router};
