//! Who asks by SNMPv3.

use poolsync::snmp::{AuthProtocol, PrivacyProtocol, Secret, User};

/// The user that sweeps ask as.
pub(crate) fn user() -> User {
    User {
        name: "poolsync".into(),
        auth: Some((AuthProtocol::Sha256, Secret::new("auth-password"))),
        privacy: Some((PrivacyProtocol::Aes128, Secret::new("privacy-password"))),
        key_extension: Default::default(),
        engine_id: None,
    }
}
