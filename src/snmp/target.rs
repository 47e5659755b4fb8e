//! Whom to ask, and how far to go.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::usm;
use crate::table::{Engine, Name};

/// A secret: never shown, never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A secret of these octets.
    pub fn new(octets: impl Into<Vec<u8>>) -> Self {
        Self(octets.into())
    }

    /// The octets, for the one who sends them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// An authentication protocol of USM (RFC 3414, RFC 7860).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AuthProtocol {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// A privacy protocol of USM (RFC 3414, RFC 3826; AES-192/256 by draft only).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PrivacyProtocol {
    Des,
    Aes128,
    Aes192,
    Aes256,
}

/// How a localised key that is too short for AES-192/256 is stretched. No RFC says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyExtension {
    /// As net-snmp does (draft-blumenthal-aes-usm).
    #[default]
    Blumenthal,
    /// As Cisco IOS and others do (draft-reeder-snmpv3-usm-3desede).
    Reeder,
}

/// A user of SNMPv3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// msgUserName.
    pub name: Name,
    /// Protocol and password; none: noAuthNoPriv.
    pub auth: Option<(AuthProtocol, Secret)>,
    /// Protocol and password; only beside `auth`.
    pub privacy: Option<(PrivacyProtocol, Secret)>,
    /// How short keys are stretched.
    pub key_extension: KeyExtension,
    /// The authoritative engine id, where it is pinned.
    pub engine_id: Option<Vec<u8>>,
}

/// How a BAS is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// SNMPv2c with a community.
    V2c(Secret),
    /// SNMPv3 with USM.
    V3(User),
}

/// An SNMP context. The default one has an empty name and no engine id of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context {
    /// contextName.
    pub name: Vec<u8>,
    /// contextEngineID; the authoritative engine's where none is given.
    pub engine_id: Option<Vec<u8>>,
}

/// How far a poll of one BAS may go. Everything is counted over the whole poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One request until its first retransmission; grows with each.
    pub timeout: Duration,
    /// Retransmissions of one request.
    pub retries: u32,
    /// Everything included.
    pub deadline: Duration,
    /// Requests, retransmissions not counted.
    pub max_requests: u32,
    /// Rows of all tables.
    pub max_rows: u32,
    /// Octets received.
    pub max_bytes: u64,
    /// Repetitions of a GETBULK at first contact; where this is less than the default, always.
    pub max_repetitions: u32,
    /// msgMaxSize of SNMPv3 (RFC 3412, 6.3): the largest answer, in octets, that the agent may
    /// send. SNMPv2c has no field for it.
    pub msg_max_size: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            retries: 3,
            deadline: Duration::from_secs(60),
            max_requests: 20_000,
            max_rows: 200_000,
            max_bytes: 64_000_000,
            max_repetitions: 20,
            msg_max_size: usm::OUR_MAX_SIZE,
        }
    }
}

/// How packets come to a BAS and back, where that is out of the ordinary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The local address to send from; the system's choice where it is none.
    pub source: Option<IpAddr>,
    /// Addresses besides the one asked that answers are taken from, whatever their port.
    pub reply_from: Vec<IpAddr>,
    /// The most packets a second, retransmissions included; no limit where it is none.
    pub pps: Option<u32>,
}

impl Reach {
    /// The least time from one packet to the next.
    pub(super) fn gap(&self) -> Duration {
        self.pps.map_or(Duration::ZERO, |pps| Duration::from_secs(1) / pps.max(1))
    }
}

/// One BAS to be polled.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where its agent listens.
    pub address: SocketAddr,
    /// How it is spoken to.
    pub credentials: Credentials,
    /// How far the poll may go.
    pub limits: Limits,
    /// The SNMPv3 engine last heard there, which saves the discovery.
    pub engine: Option<Engine>,
    /// How packets come to it and back.
    pub reach: Reach,
}
