//! The user-based security model (RFC 3414, RFC 3826, RFC 7860): our own, on RustCrypto, so
//! that nothing that is received changes anything before it is verified.

mod clock;
mod crypto;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../tests/fuzz/usm.rs"]
pub(super) mod fuzz;
mod keyfile;
mod keyring;
mod keys;
mod message;

pub(super) use clock::Clock;
pub(super) use keyfile::Malformed as MalformedKeys;
pub(super) use keyring::Keyring;
pub(super) use keys::Keys;
pub(super) use message::{
    Envelope, Incoming, OUR_MAX_SIZE, ScopedPdu, discovery, read, read_scoped, read_scoped_as,
    read_scoped_pdu, seal, seal_encoded,
};

#[cfg(test)]
mod tests;
