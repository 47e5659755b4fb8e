//! What a datagram of SNMPv3 is to the one who waits for an answer.

use tokio::time::Instant;

use super::{Known, Said};
use crate::snmp::ber::Malformed;
use crate::snmp::binds::Binds;
use crate::snmp::exchange::Verdict;
use crate::snmp::message::{Pdu, PduKind};
use crate::snmp::report::Report;
use crate::snmp::target::User;
use crate::snmp::transport::Transport;
use crate::snmp::usm::{self, Clock, Incoming, Keys};
use crate::snmp::walk::{Failure, Reason};

/// What a datagram is to a probe for the engine's id.
pub(super) fn judge_discovery(bytes: &[u8], id: i32) -> Verdict<Known> {
    let message = match usm::read(bytes) {
        Ok(message) => message,
        Err(error) => return unreadable(&error),
    };
    let pdu = message.scoped(None).and_then(|octets| usm::read_scoped(&octets));
    match pdu {
        Err(error) => unreadable(&error),
        Ok(pdu) if message.msg_id != id || pdu.kind != PduKind::Report => {
            ignore(Reason::Malformed, "what came is no Report of the engine's id")
        }
        // RFC 3411, SnmpEngineID.
        Ok(_) if !(5..=32).contains(&message.engine_id.len()) => {
            let octets = message.engine_id.len();
            ignore(Reason::Malformed, &format!("an engine id of {octets} octets is none"))
        }
        Ok(_) => {
            let clock = Clock::guessed(message.boots, message.time, Instant::now());
            Verdict::Answer(Known::introduced(message.engine_id.to_vec(), clock))
        }
    }
}

/// Decides what a datagram is to a question.
pub(super) struct Judge<'a> {
    pub(super) user: &'a User,
    pub(super) known: &'a Known,
    pub(super) keys: Option<&'a Keys>,
    pub(super) id: i32,
    pub(super) transport: &'a Transport,
}

impl Judge<'_> {
    /// `now` follows authenticated messages, and nothing else.
    pub(super) fn judge(&self, bytes: &[u8], now: &mut Known) -> Verdict<Said> {
        let message = match usm::read(bytes) {
            Ok(message) if message.msg_id == self.id => message,
            Ok(_) => return ignore(Reason::Malformed, "an answer came with another msgID"),
            Err(error) => return unreadable(&error),
        };
        let verdict = match (message.authenticated, self.keys) {
            (true, Some(keys)) => self.judge_authenticated(&message, keys, now),
            (true, None) => ignore(Reason::Malformed, "an answer is signed though the question was not"),
            (false, _) => self.judge_plain(&message),
        };
        if matches!(verdict, Verdict::Answer(_)) {
            self.transport.count_trailing(message.trailing);
        }
        verdict
    }

    fn judge_authenticated(&self, message: &Incoming<'_>, keys: &Keys, now: &mut Known) -> Verdict<Said> {
        if message.engine_id != self.known.id || message.user != self.user.name.as_bytes() {
            return ignore(Reason::Malformed, "an answer came from another engine or to another user");
        }
        if !message.verify(keys) {
            return ignore(Reason::Timeout, "an answer with a wrong digest came, and no other");
        }
        let pdu = match message.scoped(Some(keys)).and_then(|octets| usm::read_scoped_as::<Binds>(&octets)) {
            Ok(pdu) => pdu,
            Err(error) => return malformed(&error),
        };
        let here = Instant::now();
        if pdu.kind == PduKind::Report {
            return match Report::of(&pdu) {
                // Our msgID in a signed message: nobody kept it from earlier, whatever its time.
                Report::NotInTimeWindow => {
                    now.clock = Clock::resynced(message.boots, message.time, here);
                    now.heard = true;
                    Verdict::Answer(Said::Resynced)
                }
                report => Verdict::Fail(report.failure(self.user, &pdu)),
            };
        }
        if keys.encrypts() && !message.encrypted {
            return ignore(Reason::UnsupportedLevel, "an answer that is not encrypted was refused");
        }
        if !now.clock.accept(message.boots, message.time, here) {
            return ignore(Reason::NotInTimeWindow, "an answer outside the time window was refused");
        }
        now.heard = true;
        now.decrypted |= message.encrypted;
        self.response(pdu)
    }

    /// Without a signature only Reports are heard, and answers to users without one.
    fn judge_plain(&self, message: &Incoming<'_>) -> Verdict<Said> {
        let signs = self.keys.is_some();
        let pdu = match message.scoped(None).and_then(|octets| usm::read_scoped_as::<Binds>(&octets)) {
            Ok(pdu) => pdu,
            Err(error) if signs => return unreadable(&error),
            Err(error) => return malformed(&error),
        };
        if pdu.kind == PduKind::Report {
            return self.plain_report(&pdu);
        }
        if signs {
            return ignore(Reason::UnsupportedLevel, "an answer that is not signed was refused");
        }
        if message.engine_id != self.known.id || message.user != self.user.name.as_bytes() {
            return ignore(Reason::Malformed, "an answer came from another engine or to another user");
        }
        self.response(pdu)
    }

    /// A Report that anybody may have written. It changes nothing that is known; where the
    /// agent has been heard to know us, the true answer may still come.
    fn plain_report(&self, pdu: &Pdu<Binds>) -> Verdict<Said> {
        let report = Report::of(pdu);
        let failure = report.failure(self.user, pdu);
        match report {
            Report::NotInTimeWindow => Verdict::Ignore(Failure::new(
                failure.reason,
                "the agent finds our message outside its time window, but does not sign that",
            )),
            Report::UnknownEngine => Verdict::Answer(Said::UnknownEngine(failure)),
            _ if self.known.clock.is_authentic() => Verdict::Doubt(failure),
            _ => Verdict::Fail(failure),
        }
    }

    /// Whether a datagram is a signed message of the engine, whatever it says.
    pub(super) fn judge_sign_of_life(&self, bytes: &[u8]) -> Verdict<()> {
        match (usm::read(bytes), self.keys) {
            (Ok(message), Some(keys))
                if message.msg_id == self.id
                    && message.authenticated
                    && message.engine_id == self.known.id
                    && message.verify(keys) =>
            {
                Verdict::Answer(())
            }
            _ => ignore(Reason::Timeout, "nothing signed came"),
        }
    }

    fn response(&self, pdu: Pdu<Binds>) -> Verdict<Said> {
        if pdu.kind != PduKind::Response || pdu.request_id != self.id {
            return ignore(Reason::Malformed, "what came is no Response to the request");
        }
        Verdict::Answer(Said::Response(pdu))
    }
}

/// Something that anybody may have sent.
fn ignore<T>(reason: Reason, detail: &str) -> Verdict<T> {
    Verdict::Ignore(Failure::new(reason, detail))
}

fn unreadable<T>(error: &Malformed) -> Verdict<T> {
    ignore(Reason::Malformed, &format!("what came cannot be read: {error}"))
}

/// Something that the agent itself sent.
fn malformed<T>(error: &Malformed) -> Verdict<T> {
    Verdict::Fail(Failure::new(Reason::Malformed, format!("the answer cannot be read: in its PDU, {error}")))
}
