//! Talking SNMPv3 to one target: discovery, questions, and what comes back.

use std::net::SocketAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;

use super::dialect::Question;
use super::exchange::{Line, Verdict};
use super::message::{Pdu, PduKind};
use super::report::Report;
use super::target::User;
use super::transport::Transport;
use super::usm::{self, Clock, Envelope, Incoming, Keys};
use super::walk::{Failure, Reason};
use crate::table::Engine;

/// What is known of the engine behind a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    id: Vec<u8>,
    clock: Clock,
}

/// A user's side of the conversation with one target.
#[derive(Debug)]
pub(super) struct Conversation {
    transport: Transport,
    peer: SocketAddr,
    user: User,
    known: Option<Known>,
}

/// What came back, if it was for us.
#[derive(Debug)]
enum Said {
    Response(Pdu),
    /// The clock is set; the question is to be asked again.
    Resynced(Clock),
    /// The engine's id is another one by now.
    UnknownEngine(Failure),
}

impl Conversation {
    pub(super) fn new(
        transport: &Transport,
        peer: SocketAddr,
        user: User,
        remembered: Option<&Engine>,
    ) -> Self {
        let known = transport.engine(peer, &user.name).or_else(|| remembered.and_then(recall));
        let known = match &user.engine_id {
            Some(pinned) => known
                .filter(|known| known.id == *pinned)
                .or_else(|| Some(Known { id: pinned.clone(), clock: Clock::guessed(0, 0, Instant::now()) })),
            None => known,
        };
        Self { transport: transport.clone(), peer, user, known }
    }

    /// Whether the target's engine is known: then a silent target is one that does not like
    /// the question, rather than one that is not there.
    pub(super) fn is_acquainted(&self) -> bool {
        self.known.is_some()
    }

    /// The engine, where what is known of it is as sure as the user's level makes it.
    pub(super) fn engine(&self) -> Option<Engine> {
        let known = self.known.as_ref()?;
        if self.user.auth.is_some() && !known.clock.is_authentic() {
            return None;
        }
        let (boots, time) = known.clock.now(Instant::now());
        let id = known.id.iter().map(|octet| format!("{octet:02x}")).collect();
        Some(Engine { id, boots, time, at: Timestamp::now() })
    }

    /// Asks, brings the clocks together once, finds a changed engine once.
    pub(super) async fn ask(&mut self, line: &mut Line, question: Question<'_>) -> Result<Pdu, Failure> {
        let (mut resynced, mut rediscovered) = (false, false);
        loop {
            let known = match self.known.clone() {
                Some(known) => known,
                None => self.discover(line).await?,
            };
            let keys = self.keys(&known.id).await?;
            match self.ask_once(line, question, &known, keys.as_deref()).await? {
                Said::Response(pdu) => return Ok(pdu),
                Said::Resynced(clock) if !resynced => {
                    resynced = true;
                    self.learn(Known { clock, ..known });
                }
                Said::Resynced(_) => {
                    let detail =
                        "the agent finds our message outside its time window, even after its own time";
                    return Err(Failure::new(Reason::NotInTimeWindow, detail));
                }
                Said::UnknownEngine(_) if !rediscovered && self.user.engine_id.is_none() => {
                    rediscovered = true;
                    self.rediscover(line, known).await?;
                }
                Said::UnknownEngine(failure) => return Err(failure),
            }
        }
    }

    /// One question under one id. The clock follows what is authenticated.
    async fn ask_once(
        &mut self,
        line: &mut Line,
        question: Question<'_>,
        known: &Known,
        keys: Option<&Keys>,
    ) -> Result<Said, Failure> {
        let mut pending = line.transport.expect(line.peer);
        let id = pending.id;
        let datagram = self.seal(&question, id, known, keys)?;
        let mut clock = known.clock;
        let judge = Judge { user: &self.user, known, keys, id, transport: &self.transport };
        let said =
            line.ask(&mut pending, &datagram, question.tries, |bytes| judge.judge(bytes, &mut clock)).await;
        if clock != known.clock {
            self.learn(Known { id: known.id.clone(), clock });
        }
        said
    }

    fn seal(
        &self,
        question: &Question<'_>,
        id: i32,
        known: &Known,
        keys: Option<&Keys>,
    ) -> Result<Vec<u8>, Failure> {
        let (boots, time) = known.clock.now(Instant::now());
        let envelope = Envelope {
            msg_id: id,
            engine_id: &known.id,
            boots,
            time,
            user: self.user.name.as_bytes(),
            context_engine_id: question.context.engine_id.as_ref().unwrap_or(&known.id),
            context_name: &question.context.name,
        };
        usm::seal(&envelope, &question.pdu(id), keys, self.transport.salt())
            .ok_or_else(|| Failure::new(Reason::SendFailed, "the message cannot be signed or encrypted"))
    }

    /// Learns the engine's id, and a first guess at its time (RFC 3414, 4).
    async fn discover(&mut self, line: &mut Line) -> Result<Known, Failure> {
        let mut pending = line.transport.expect(line.peer);
        let id = pending.id;
        let tries = line.limits.retries.saturating_add(1);
        let found =
            line.ask(&mut pending, &usm::discovery(id), tries, |bytes| judge_discovery(bytes, id)).await;
        let known = found?;
        self.learn(known.clone());
        Ok(known)
    }

    /// Discovers again; the same engine keeps its clock.
    async fn rediscover(&mut self, line: &mut Line, before: Known) -> Result<(), Failure> {
        let found = self.discover(line).await?;
        if found.id == before.id {
            self.learn(before);
        }
        Ok(())
    }

    fn learn(&mut self, known: Known) {
        self.transport.remember_engine(self.peer, &self.user.name, &known);
        self.known = Some(known);
    }

    async fn keys(&self, engine_id: &[u8]) -> Result<Option<Arc<Keys>>, Failure> {
        if self.user.auth.is_none() {
            return Ok(None);
        }
        match self.transport.keyring().keys(&self.user, engine_id).await {
            Some(keys) => Ok(Some(keys)),
            None => Err(Failure::new(Reason::SendFailed, "no keys can be made of an empty password")),
        }
    }
}

/// What was remembered from an earlier run.
fn recall(engine: &Engine) -> Option<Known> {
    let digits: Option<Vec<u8>> =
        engine.id.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| !digits.is_empty() && digits.len() % 2 == 0)?;
    let id =
        digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |octet, digit| octet << 4 | digit)).collect();
    let age = Timestamp::now().duration_since(engine.at).unsigned_abs();
    Some(Known { id, clock: Clock::remembered(engine.boots, engine.time, age, Instant::now()) })
}

fn judge_discovery(bytes: &[u8], id: i32) -> Verdict<Known> {
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
            Verdict::Answer(Known { id: message.engine_id.to_vec(), clock })
        }
    }
}

/// Decides what a datagram is to a question.
struct Judge<'a> {
    user: &'a User,
    known: &'a Known,
    keys: Option<&'a Keys>,
    id: i32,
    transport: &'a Transport,
}

impl Judge<'_> {
    /// `clock` follows authenticated messages, and nothing else.
    fn judge(&self, bytes: &[u8], clock: &mut Clock) -> Verdict<Said> {
        let message = match usm::read(bytes) {
            Ok(message) if message.msg_id == self.id => message,
            Ok(_) => return ignore(Reason::Malformed, "an answer came with another msgID"),
            Err(error) => return unreadable(&error),
        };
        let verdict = match (message.authenticated, self.keys) {
            (true, Some(keys)) => self.judge_authenticated(&message, keys, clock),
            (true, None) => ignore(Reason::Malformed, "an answer is signed though the question was not"),
            (false, _) => self.judge_plain(&message),
        };
        if matches!(verdict, Verdict::Answer(_)) {
            self.transport.count_trailing(message.trailing);
        }
        verdict
    }

    fn judge_authenticated(&self, message: &Incoming<'_>, keys: &Keys, clock: &mut Clock) -> Verdict<Said> {
        if message.engine_id != self.known.id || message.user != self.user.name.as_bytes() {
            return ignore(Reason::Malformed, "an answer came from another engine or to another user");
        }
        if !message.verify(keys) {
            return ignore(Reason::Timeout, "an answer with a wrong digest came, and no other");
        }
        let pdu = match message.scoped(Some(keys)).and_then(|octets| usm::read_scoped(&octets)) {
            Ok(pdu) => pdu,
            Err(error) => return malformed(&error),
        };
        let now = Instant::now();
        if pdu.kind == PduKind::Report {
            return match Report::of(&pdu) {
                // Our msgID in a signed message: nobody kept it from earlier, whatever its time.
                Report::NotInTimeWindow => {
                    *clock = Clock::resynced(message.boots, message.time, now);
                    Verdict::Answer(Said::Resynced(*clock))
                }
                report => Verdict::Fail(report.failure(self.user, &pdu)),
            };
        }
        if keys.encrypts() && !message.encrypted {
            return ignore(Reason::UnsupportedLevel, "an answer that is not encrypted was refused");
        }
        if !clock.accept(message.boots, message.time, now) {
            return ignore(Reason::NotInTimeWindow, "an answer outside the time window was refused");
        }
        self.response(pdu)
    }

    /// Without a signature only Reports are heard, and answers to users without one.
    fn judge_plain(&self, message: &Incoming<'_>) -> Verdict<Said> {
        let signs = self.keys.is_some();
        let pdu = match message.scoped(None).and_then(|octets| usm::read_scoped(&octets)) {
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
    fn plain_report(&self, pdu: &Pdu) -> Verdict<Said> {
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

    fn response(&self, pdu: Pdu) -> Verdict<Said> {
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

fn unreadable<T>(error: &super::ber::Malformed) -> Verdict<T> {
    ignore(Reason::Malformed, &format!("what came cannot be read: {error}"))
}

/// Something that the agent itself sent.
fn malformed<T>(error: &super::ber::Malformed) -> Verdict<T> {
    Verdict::Fail(Failure::new(Reason::Malformed, format!("the answer cannot be read: in its PDU, {error}")))
}
