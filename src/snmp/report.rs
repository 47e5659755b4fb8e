//! Reports: what an agent says that it could not do with a message (RFC 3414, 3.2; RFC 3412,
//! 7.2; RFC 3413, 3.2).

use super::Oid;
use super::message::{List, Pdu};
use super::target::{KeyExtension, PrivacyProtocol, User};
use super::walk::{Failure, Reason};

/// usmStats.
const USM_STATS: [u32; 9] = [1, 3, 6, 1, 6, 3, 15, 1, 1];
/// snmpMPDStats.
const MPD_STATS: [u32; 9] = [1, 3, 6, 1, 6, 3, 11, 2, 1];
/// snmpTargetObjects.
const TARGET_OBJECTS: [u32; 8] = [1, 3, 6, 1, 6, 3, 12, 1];

/// What a Report reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    UnsupportedLevel,
    NotInTimeWindow,
    UnknownUser,
    UnknownEngine,
    WrongDigest,
    DecryptionError,
    UnknownContext,
    UnknownHandler,
    Other,
}

impl Report {
    /// How many kinds there are.
    pub(super) const COUNT: usize = Self::Other as usize + 1;

    pub(super) fn of(pdu: &Pdu<impl List>) -> Self {
        let Some(name) = pdu.varbinds.first_name() else { return Self::Other };
        let arcs = name.arcs();
        let under = |root: &[u32]| arcs.strip_prefix(root).and_then(|rest| rest.first().copied());
        match (under(&USM_STATS), under(&MPD_STATS), under(&TARGET_OBJECTS)) {
            (Some(1), _, _) => Self::UnsupportedLevel,
            (Some(2), _, _) => Self::NotInTimeWindow,
            (Some(3), _, _) => Self::UnknownUser,
            (Some(4), _, _) => Self::UnknownEngine,
            (Some(5), _, _) => Self::WrongDigest,
            (Some(6), _, _) => Self::DecryptionError,
            (_, Some(3), _) => Self::UnknownHandler,
            (_, _, Some(4 | 5)) => Self::UnknownContext,
            _ => Self::Other,
        }
    }

    /// What an agent reports it by.
    pub(super) fn oid(self) -> Option<Oid> {
        let under = |root: &[u32], arc| Some(Oid::new(root).child(&[arc, 0]));
        match self {
            Self::UnsupportedLevel => under(&USM_STATS, 1),
            Self::NotInTimeWindow => under(&USM_STATS, 2),
            Self::UnknownUser => under(&USM_STATS, 3),
            Self::UnknownEngine => under(&USM_STATS, 4),
            Self::WrongDigest => under(&USM_STATS, 5),
            Self::DecryptionError => under(&USM_STATS, 6),
            Self::UnknownHandler => under(&MPD_STATS, 3),
            Self::UnknownContext => under(&TARGET_OBJECTS, 5),
            Self::Other => None,
        }
    }

    /// The failure that it means for the one who asked as `user`.
    pub(super) fn failure(self, user: &User, pdu: &Pdu<impl List>) -> Failure {
        let name = &user.name;
        let (reason, detail) = match self {
            Self::UnsupportedLevel => (
                Reason::UnsupportedLevel,
                format!("the agent does not offer user {name} this security level"),
            ),
            Self::NotInTimeWindow => {
                (Reason::NotInTimeWindow, "the agent finds our message outside its time window".to_owned())
            }
            Self::UnknownUser => (Reason::UnknownUser, format!("the agent does not know the user {name}")),
            Self::UnknownEngine => {
                (Reason::UnknownEngine, "the agent does not go by the engine id that we sent".to_owned())
            }
            Self::WrongDigest => (
                Reason::WrongDigest,
                format!(
                    "the agent finds the digest of user {name} wrong: authentication password or protocol"
                ),
            ),
            Self::DecryptionError => {
                (Reason::DecryptionError, decryption("cannot decrypt what was sent", user))
            }
            Self::UnknownContext => {
                (Reason::UnknownContext, "the agent does not know the context".to_owned())
            }
            Self::UnknownHandler => (
                Reason::UnknownContext,
                "the agent has nothing to answer for the context's engine id".to_owned(),
            ),
            Self::Other => {
                let oid = pdu.varbinds.first_name().map(|name| name.to_string()).unwrap_or_default();
                (Reason::ErrorStatus, format!("the agent answered with a Report of {oid}"))
            }
        };
        Failure::new(reason, detail)
    }
}

/// What the agent does, and what of the user's may be wrong.
pub(super) fn decryption(does: &str, user: &User) -> String {
    let mut detail = format!("the agent {does}: privacy password or protocol of user {}", user.name);
    if let Some((PrivacyProtocol::Aes192 | PrivacyProtocol::Aes256, _)) = user.privacy {
        let other = match user.key_extension {
            KeyExtension::Blumenthal => "reeder",
            KeyExtension::Reeder => "blumenthal",
        };
        detail += &format!(", or key-extension = \"{other}\" where the vendor stretches keys that way");
    }
    detail
}
