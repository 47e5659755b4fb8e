//! Notifications: traps and informs (RFC 3416, 4.2.6 and 4.2.7), read strictly, believed only
//! where the sender's own credentials are behind them, and answered as far as they are to be.
//!
//! A trap of SNMPv3 is signed under its sender's engine, an inform under ours: who sends one
//! learns our engine id and time from Reports (RFC 3414, 3.2 and 4).

mod authoritative;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../tests/fuzz/notice.rs"]
pub(super) mod fuzz;

use std::collections::HashMap;

use serde::Serialize;
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

use self::authoritative::Counts;
pub use self::authoritative::OwnEngine;
use super::encode::community_message;
use super::message::{Pdu, PduKind, VERSION_2C, VERSION_3, peek_version, read_community};
use super::target::{Credentials, User};
use super::transport::Transport;
use super::usm::{self, Clock, Incoming, Keys};
use super::{Oid, Value};

/// snmpTrapOID.0 (RFC 3418): which notification it is.
const SNMP_TRAP_OID: [u32; 11] = [1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0];
/// msgVersion of SNMPv1.
const VERSION_1: i64 = 0;
/// Clocks of senders kept at most: only authenticated messages make one.
const MAX_CLOCKS: usize = 65_536;

/// Why a datagram is no notification that is believed. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// It cannot be decrypted: another privacy password or protocol.
    DecryptionError,
    /// It breaks the rules of BER or SNMP, or does not say which notification it is.
    Malformed,
    /// It is neither a trap nor an inform.
    NotANotification,
    /// It is older than the time window allows, or from before the engine's last boot.
    NotInTimeWindow,
    /// It is signed under another engine than the sender's, or than ours.
    UnknownEngine,
    /// It came from an address of no BAS.
    UnknownSender,
    /// Its user is not the one that the BAS is polled by.
    UnknownUser,
    /// It is not signed, or not encrypted where polls are.
    UnsupportedLevel,
    /// It is of another SNMP version than the BAS is polled by.
    UnsupportedVersion,
    /// Its community is not the one that the BAS is polled by.
    WrongCommunity,
    /// Its digest is wrong: another authentication password or protocol.
    WrongDigest,
}

impl Refusal {
    /// The stable word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DecryptionError => "decryption-error",
            Self::Malformed => "malformed",
            Self::NotANotification => "not-a-notification",
            Self::NotInTimeWindow => "not-in-time-window",
            Self::UnknownEngine => "unknown-engine",
            Self::UnknownSender => "unknown-sender",
            Self::UnknownUser => "unknown-user",
            Self::UnsupportedLevel => "unsupported-level",
            Self::UnsupportedVersion => "unsupported-version",
            Self::WrongCommunity => "wrong-community",
            Self::WrongDigest => "wrong-digest",
        }
    }
}

/// What a datagram is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// A notification.
    Notice {
        /// Which one (snmpTrapOID).
        oid: Oid,
        /// Whether its sender waits for an acknowledgement.
        inform: bool,
        /// Which of the known credentials are behind it.
        by: Vec<usize>,
    },
    /// A question for our engine id, or for our time.
    Discovery,
    /// Nothing that is believed.
    Refused(Refusal),
}

/// Reads notifications.
#[derive(Debug)]
pub struct NoticeReader {
    transport: Transport,
    engine: OwnEngine,
    counts: Counts,
    /// What is known of the senders' engines, by their ids.
    clocks: HashMap<Vec<u8>, Clock>,
}

/// What a datagram is, and what is sent back.
type Judged = (Read, Option<Vec<u8>>);

impl NoticeReader {
    /// A reader that informs are addressed to as `engine`.
    pub fn new(transport: &Transport, engine: OwnEngine) -> Self {
        Self { transport: transport.clone(), engine, counts: Counts::default(), clocks: HashMap::new() }
    }

    /// Reads a datagram. `known` are the credentials of the BASes at its source address. What
    /// is given back beside is to be sent there.
    pub async fn read(&mut self, datagram: &[u8], known: &[Credentials]) -> (Read, Option<Vec<u8>>) {
        let judged = match peek_version(datagram) {
            _ if known.is_empty() => Err(Refusal::UnknownSender),
            Some(VERSION_2C) => read_v2c(datagram, known),
            Some(VERSION_3) => return self.read_v3(datagram, known).await,
            Some(VERSION_1) => Err(Refusal::UnsupportedVersion),
            _ => Err(Refusal::Malformed),
        };
        judged.unwrap_or_else(|refusal| (Read::Refused(refusal), None))
    }

    async fn read_v3(&mut self, datagram: &[u8], known: &[Credentials]) -> Judged {
        let Ok(message) = usm::read(datagram) else { return (Read::Refused(Refusal::Malformed), None) };
        if message.engine_id == self.engine.id() {
            return self.read_own(&message, known).await;
        }
        match self.read_foreign(&message, known).await {
            Ok(read) => (read, None),
            Err(refusal) => {
                // Whoever may be answered with a Report learns by it whom to address.
                let report = if message.reportable { self.report_engine(&message) } else { None };
                match message.authenticated {
                    false if report.is_some() => (Read::Discovery, report),
                    _ => (Read::Refused(refusal), report),
                }
            }
        }
    }

    /// A trap: its sender's engine is the authoritative one.
    async fn read_foreign(&mut self, message: &Incoming<'_>, known: &[Credentials]) -> Result<Read, Refusal> {
        if !(5..=32).contains(&message.engine_id.len()) {
            return Err(Refusal::UnknownEngine);
        }
        let (user, by) = user_of(message, known)?;
        if user.engine_id.as_ref().is_some_and(|pinned| *pinned != message.engine_id) {
            return Err(Refusal::UnknownEngine);
        }
        sufficient(message, user)?;
        let keys = self.transport.keyring().keys(user, message.engine_id).await;
        let keys = keys.filter(|keys| message.verify(keys)).ok_or(Refusal::WrongDigest)?;
        self.is_timely(message)?;
        let octets = decrypted(message, &keys)?;
        let pdu = usm::read_scoped(&octets).map_err(|_| unreadable(message))?;
        match pdu.kind {
            PduKind::Trap => Ok(Read::Notice { oid: trap_oid(&pdu)?, inform: false, by }),
            PduKind::Inform => Err(Refusal::UnknownEngine),
            _ => Err(Refusal::NotANotification),
        }
    }

    /// Holds an authenticated message to what is known of its engine's time. Of an engine that
    /// was never heard nothing is known: a trap that was kept from earlier can make us poll,
    /// and nothing else.
    fn is_timely(&mut self, message: &Incoming<'_>) -> Result<(), Refusal> {
        if self.clocks.len() >= MAX_CLOCKS && !self.clocks.contains_key(message.engine_id) {
            self.clocks.clear();
        }
        let now = Instant::now();
        let clock = self.clocks.entry(message.engine_id.to_vec());
        let clock = clock.or_insert_with(|| Clock::guessed(message.boots, message.time, now));
        match clock.accept(message.boots, message.time, now) {
            true => Ok(()),
            false => Err(Refusal::NotInTimeWindow),
        }
    }
}

fn read_v2c(datagram: &[u8], known: &[Credentials]) -> Result<Judged, Refusal> {
    let message = read_community(datagram).map_err(|_| Refusal::Malformed)?;
    let communities = known.iter().enumerate().filter_map(|(at, credentials)| match credentials {
        Credentials::V2c(community) => Some((at, community)),
        Credentials::V3(_) => None,
    });
    let communities: Vec<_> = communities.collect();
    if communities.is_empty() {
        return Err(Refusal::UnsupportedVersion);
    }
    let fits = communities.into_iter().filter(|(_, secret)| secret.expose().ct_eq(message.community).into());
    let by: Vec<usize> = fits.map(|(at, _)| at).collect();
    if by.is_empty() {
        return Err(Refusal::WrongCommunity);
    }
    let inform = match message.pdu.kind {
        PduKind::Trap => false,
        PduKind::Inform => true,
        _ => return Err(Refusal::NotANotification),
    };
    let oid = trap_oid(&message.pdu)?;
    let answer = inform.then(|| community_message(message.community, &acknowledgement(&message.pdu)));
    Ok((Read::Notice { oid, inform, by }, answer))
}

/// Which notification it is. The first varbind is sysUpTime.0, the second snmpTrapOID.0; some
/// agents leave the first one out.
fn trap_oid(pdu: &Pdu) -> Result<Oid, Refusal> {
    let named = pdu.varbinds.iter().take(2).find(|varbind| varbind.oid.arcs() == SNMP_TRAP_OID);
    match named.map(|varbind| &varbind.value) {
        Some(Value::ObjectId(oid)) => Ok(oid.clone()),
        _ => Err(Refusal::Malformed),
    }
}

/// The Response to an inform: the same request id and varbinds, no error.
fn acknowledgement(inform: &Pdu) -> Pdu {
    Pdu { kind: PduKind::Response, error_status: 0, error_index: 0, ..inform.clone() }
}

/// The user of a message, and where its credentials stand.
fn user_of<'a>(message: &Incoming<'_>, known: &'a [Credentials]) -> Result<(&'a User, Vec<usize>), Refusal> {
    let users = || known.iter().filter_map(user);
    if users().next().is_none() {
        return Err(Refusal::UnsupportedVersion);
    }
    let named = users().find(|user| user.name.as_bytes() == message.user);
    let named = named.ok_or(Refusal::UnknownUser)?;
    let all = known.iter().enumerate().filter(|(_, credentials)| user(credentials) == Some(named));
    Ok((named, all.map(|(at, _)| at).collect()))
}

fn user(credentials: &Credentials) -> Option<&User> {
    match credentials {
        Credentials::V3(user) => Some(user),
        Credentials::V2c(_) => None,
    }
}

/// A message must be signed, and encrypted where its user encrypts.
fn sufficient(message: &Incoming<'_>, user: &User) -> Result<(), Refusal> {
    let signed = user.auth.is_some() && message.authenticated;
    if signed && (message.encrypted || user.privacy.is_none()) {
        Ok(())
    } else {
        Err(Refusal::UnsupportedLevel)
    }
}

fn decrypted(message: &Incoming<'_>, keys: &Keys) -> Result<Vec<u8>, Refusal> {
    message.scoped(Some(keys)).map_err(|_| unreadable(message))
}

/// What a signed PDU is that cannot be read: most ciphers decrypt anything to something.
fn unreadable(message: &Incoming<'_>) -> Refusal {
    if message.encrypted { Refusal::DecryptionError } else { Refusal::Malformed }
}

#[cfg(test)]
mod tests;
