//! The user-based security model (RFC 3414, RFC 3826, RFC 7860): our own, on RustCrypto, so
//! that nothing that is received changes anything before it is verified.

mod clock;
mod crypto;
mod keyring;
mod keys;
mod message;

pub(super) use clock::Clock;
pub(super) use keyring::Keyring;
pub(super) use keys::Keys;
pub(super) use message::{Envelope, Incoming, discovery, read, read_scoped, read_scoped_pdu, seal};

#[cfg(test)]
mod tests;
