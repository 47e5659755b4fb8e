//! Informs of SNMPv3: our engine is the authoritative one, as an agent's is for requests
//! (RFC 3414, 3.2).

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    Judged, NoticeReader, Read, Refusal, acknowledgement, decrypted, sufficient, trap_oid, unreadable,
    user_of,
};
use crate::snmp::message::{Pdu, PduKind, Varbind};
use crate::snmp::target::Credentials;
use crate::snmp::usm::{self, Envelope, Incoming, Keys};
use crate::snmp::{Oid, Value};

/// How far a message's time may be from ours, in seconds (RFC 3414, 2.2.3).
const WINDOW: u32 = 150;
/// The largest value of boots and time.
const MAX: u32 = 0x7fff_ffff;
/// The request id of a Report on a message whose own cannot be read (RFC 3412, 7.1).
const NO_REQUEST: i32 = 0x7fff_ffff;
/// usmStats (RFC 3414, 5).
const USM_STATS: [u32; 9] = [1, 3, 6, 1, 6, 3, 15, 1, 1];

/// Our own engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnEngine {
    id: Vec<u8>,
    boots: u32,
    since: Instant,
}

impl OwnEngine {
    /// An engine that has just begun to run for the `boots`th time under this id. The number
    /// must be greater than at any earlier start, or old informs could be sent again.
    pub fn started(id: Vec<u8>, boots: u32) -> Self {
        Self { id, boots: boots.min(MAX), since: Instant::now() }
    }

    /// Its id.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// How often it was started.
    pub fn boots(&self) -> u32 {
        self.boots
    }

    /// snmpEngineTime: seconds since the start.
    fn time(&self) -> u32 {
        u32::try_from(self.since.elapsed().as_secs()).unwrap_or(MAX).min(MAX)
    }

    fn is_timely(&self, message: &Incoming<'_>) -> bool {
        self.boots < MAX && message.boots == self.boots && message.time.abs_diff(self.time()) <= WINDOW
    }
}

/// What a Report reports, with its arc in usmStats.
#[derive(Clone, Copy, Debug)]
enum Statistic {
    UnsupportedLevel = 1,
    NotInTimeWindow = 2,
    UnknownUser = 3,
    UnknownEngine = 4,
    WrongDigest = 5,
    DecryptionError = 6,
}

impl Statistic {
    /// What is reported of a refusal.
    fn of(refusal: Refusal) -> Option<Self> {
        Some(match refusal {
            Refusal::UnsupportedLevel => Self::UnsupportedLevel,
            Refusal::NotInTimeWindow => Self::NotInTimeWindow,
            Refusal::UnknownUser | Refusal::UnsupportedVersion => Self::UnknownUser,
            Refusal::WrongDigest => Self::WrongDigest,
            Refusal::DecryptionError => Self::DecryptionError,
            _ => return None,
        })
    }
}

/// How often each was reported: the value of a Report.
#[derive(Debug, Default)]
pub(super) struct Counts([u32; 7]);

impl Counts {
    fn next(&mut self, statistic: Statistic) -> u32 {
        self.0.get_mut(statistic as usize).map_or(0, |count| {
            *count = count.wrapping_add(1);
            *count
        })
    }
}

impl NoticeReader {
    /// A message to our engine.
    pub(super) async fn read_own(&mut self, message: &Incoming<'_>, known: &[Credentials]) -> Judged {
        match self.judge_own(message, known).await {
            Ok(judged) => judged,
            Err((refusal, keys)) => {
                let report = Statistic::of(refusal).filter(|_| message.reportable);
                let report = report.and_then(|statistic| self.report(message, statistic, keys.as_deref()));
                // After a start nobody can know our time: that is how it is learnt.
                match (refusal, &report) {
                    (Refusal::NotInTimeWindow, Some(_)) if message.boots == 0 => (Read::Discovery, report),
                    _ => (Read::Refused(refusal), report),
                }
            }
        }
    }

    /// Beside a refusal the keys that its Report is to be signed by: only a signed one sets a
    /// sender's clock.
    async fn judge_own(
        &self,
        message: &Incoming<'_>,
        known: &[Credentials],
    ) -> Result<Judged, (Refusal, Option<Arc<Keys>>)> {
        let plain = |refusal| (refusal, None);
        let (user, by) = user_of(message, known).map_err(plain)?;
        sufficient(message, user).map_err(plain)?;
        let keys = self.transport.keyring().keys(user, self.engine.id()).await;
        let keys = keys.filter(|keys| message.verify(keys)).ok_or(plain(Refusal::WrongDigest))?;
        if !self.engine.is_timely(message) {
            return Err((Refusal::NotInTimeWindow, Some(keys)));
        }
        let octets = decrypted(message, &keys).map_err(plain)?;
        let scoped = usm::read_scoped_pdu(&octets).map_err(|_| plain(unreadable(message)))?;
        if scoped.pdu.kind != PduKind::Inform {
            return Err(plain(Refusal::NotANotification));
        }
        let oid = trap_oid(&scoped.pdu).map_err(plain)?;
        let envelope = self.envelope(message, scoped.engine_id, scoped.context);
        let answer = usm::seal(
            &envelope,
            &acknowledgement(&scoped.pdu),
            Some(&level(message, &keys)),
            self.transport.salt(),
        );
        Ok((Read::Notice { oid, inform: true, by }, answer))
    }

    /// The Report that tells our engine id, boots and time, unsigned as it must be.
    pub(super) fn report_engine(&mut self, message: &Incoming<'_>) -> Option<Vec<u8>> {
        self.report(message, Statistic::UnknownEngine, None)
    }

    fn report(
        &mut self,
        message: &Incoming<'_>,
        statistic: Statistic,
        keys: Option<&Keys>,
    ) -> Option<Vec<u8>> {
        let count = self.counts.next(statistic);
        let octets = message.scoped(keys).ok();
        let asked = octets.as_deref().and_then(|octets| usm::read_scoped(octets).ok());
        let oid = Oid::new(USM_STATS).child(&[statistic as u32, 0]);
        let pdu = Pdu {
            kind: PduKind::Report,
            request_id: asked.map_or(NO_REQUEST, |pdu| pdu.request_id),
            error_status: 0,
            error_index: 0,
            varbinds: vec![Varbind { oid, value: Value::Counter32(count) }],
        };
        let keys = keys.map(Keys::without_privacy);
        usm::seal(&self.envelope(message, self.engine.id(), &[]), &pdu, keys.as_ref(), self.transport.salt())
    }

    fn envelope<'a>(
        &'a self,
        message: &Incoming<'a>,
        context_engine_id: &'a [u8],
        context_name: &'a [u8],
    ) -> Envelope<'a> {
        Envelope {
            msg_id: message.msg_id,
            max_size: usm::OUR_MAX_SIZE,
            engine_id: self.engine.id(),
            boots: self.engine.boots(),
            time: self.engine.time(),
            user: message.user,
            context_engine_id,
            context_name,
        }
    }
}

/// An answer is protected as its question was.
fn level(message: &Incoming<'_>, keys: &Keys) -> Keys {
    if message.encrypted { keys.clone() } else { keys.without_privacy() }
}
