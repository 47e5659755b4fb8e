//! Talking SNMPv3 to one target: discovery, questions, and what comes back.

#[cfg(any(test, feature = "fuzz"))]
#[path = "../../tests/fuzz/v3.rs"]
pub(super) mod fuzz;
mod judge;

use std::net::SocketAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;

use self::judge::{Judge, judge_discovery};
use super::Context;
use super::binds::Binds;
use super::dialect::{Look, Question};
use super::exchange::{Line, Unanswered};
use super::hex::{from_hex, to_hex};
use super::message::{Pdu, PduKind};
use super::report::decryption;
use super::target::User;
use super::transport::Transport;
use super::usm::{self, Clock, Envelope, Keys};
use super::walk::{Failure, Reason};
use crate::table::Engine;

/// Transmissions of the questions that tell a deaf agent from a dead one.
const LIFE_TRIES: u32 = 3;

/// What is known of the engine behind a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    id: Vec<u8>,
    clock: Clock,
    /// Whether anything was heard of it in this run.
    heard: bool,
    /// Whether an encrypted answer was ever read: then our privacy key is right.
    decrypted: bool,
}

impl Known {
    /// An engine that has just introduced itself.
    fn introduced(id: Vec<u8>, clock: Clock) -> Self {
        Self { id, clock, heard: true, decrypted: false }
    }

    /// One that is remembered or configured.
    fn unheard(id: Vec<u8>, clock: Clock) -> Self {
        Self { id, clock, heard: false, decrypted: false }
    }
}

/// A user's side of the conversation with one target.
#[derive(Debug)]
pub(super) struct Conversation {
    transport: Transport,
    peer: SocketAddr,
    user: User,
    known: Option<Known>,
    /// The user's keys at the engine of this id.
    keys: Option<(Vec<u8>, Arc<Keys>)>,
}

/// What came back, if it was for us.
#[derive(Debug)]
enum Said {
    Response(Pdu<Binds>),
    /// The clock is set; the question is to be asked again.
    Resynced,
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
                .or_else(|| Some(Known::unheard(pinned.clone(), Clock::guessed(0, 0, Instant::now())))),
            None => known,
        };
        Self { transport: transport.clone(), peer, user, known, keys: None }
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
        Some(Engine { id: to_hex(&known.id), boots, time, at: Timestamp::now() })
    }

    /// Asks, brings the clocks together once, finds a changed engine once.
    pub(super) async fn ask(
        &mut self,
        line: &mut Line,
        question: Question<'_>,
    ) -> Result<Pdu<Binds>, Unanswered> {
        let (mut resynced, mut rediscovered) = (false, false);
        loop {
            let known = match self.known.clone() {
                Some(known) => known,
                None => self.discover(line).await?,
            };
            let keys = self.keys(&known.id).await?;
            match self.ask_once(line, question, &known, keys.as_deref()).await? {
                Said::Response(pdu) => return Ok(pdu),
                Said::Resynced if !resynced => resynced = true,
                Said::Resynced => {
                    let detail =
                        "the agent finds our message outside its time window, even after its own time";
                    return Err(Failure::new(Reason::NotInTimeWindow, detail).into());
                }
                Said::UnknownEngine(_) if !rediscovered && self.user.engine_id.is_none() => {
                    rediscovered = true;
                    self.rediscover(line, known).await?;
                }
                Said::UnknownEngine(failure) => return Err(failure.into()),
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
    ) -> Result<Said, Unanswered> {
        let mut pending = line.expect();
        let id = pending.id;
        let datagram = self.seal(&question, (id, line.limits.msg_max_size), known, keys)?;
        let mut now = known.clone();
        let judge = Judge { user: &self.user, known, keys, id, transport: &self.transport };
        let tries = question.tries.saturating_sub(last_tries(known, keys)).max(1);
        let said = line.ask(&mut pending, &datagram, tries, |bytes| judge.judge(bytes, &mut now)).await;
        drop(pending);
        if now != *known {
            self.learn(now);
        }
        said
    }

    /// Looks into a silence. Many agents drop what they cannot decrypt without a word: one
    /// that answers a signed question for nothing at all, and the same question encrypted
    /// not, is such an agent. None where its keys are known to be right, or to be none.
    pub(super) async fn look_into(&mut self, line: &mut Line) -> Option<Look> {
        let known = self.known.clone().filter(|known| !known.decrypted)?;
        let keys = self.keys(&known.id).await.ok().flatten().filter(|keys| keys.encrypts())?;
        let tries = match (known.heard, line.limits.retries) {
            (true, _) => LIFE_TRIES,
            (false, 0) => return None,
            (false, _) => 1,
        };
        if !self.shows_life(line, &known, &keys.without_privacy(), tries).await {
            return Some(Look::Gone);
        }
        if self.shows_life(line, &known, &keys, LIFE_TRIES).await {
            return Some(Look::Well);
        }
        let detail = decryption("answers only what is not encrypted", &self.user);
        Some(Look::Deaf(Failure::new(Reason::DecryptionError, detail)))
    }

    /// Whether the engine answers, under these keys, a question for nothing.
    async fn shows_life(&self, line: &mut Line, known: &Known, keys: &Keys, tries: u32) -> bool {
        let context = Context::default();
        let question =
            Question { context: &context, kind: PduKind::Get, once: &[], oids: &[], repetitions: 0, tries };
        let mut pending = line.expect();
        let id = pending.id;
        let Ok(datagram) = self.seal(&question, (id, line.limits.msg_max_size), known, Some(keys)) else {
            return false;
        };
        let judge = Judge { user: &self.user, known, keys: Some(keys), id, transport: &self.transport };
        let life = line.ask(&mut pending, &datagram, tries, |bytes| judge.judge_sign_of_life(bytes));
        life.await.is_ok()
    }

    fn seal(
        &self,
        question: &Question<'_>,
        (id, max_size): (i32, u32),
        known: &Known,
        keys: Option<&Keys>,
    ) -> Result<Vec<u8>, Failure> {
        let (boots, time) = known.clock.now(Instant::now());
        let envelope = Envelope {
            msg_id: id,
            max_size,
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
    async fn discover(&mut self, line: &mut Line) -> Result<Known, Unanswered> {
        let mut pending = line.expect();
        let id = pending.id;
        let tries = line.limits.retries.saturating_add(1);
        let found = line
            .ask(&mut pending, &usm::discovery(id, line.limits.msg_max_size), tries, |bytes| {
                judge_discovery(bytes, id)
            })
            .await;
        let known = found?;
        self.learn(known.clone());
        Ok(known)
    }

    /// Discovers again; the same engine keeps its clock.
    async fn rediscover(&mut self, line: &mut Line, before: Known) -> Result<(), Unanswered> {
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

    async fn keys(&mut self, engine_id: &[u8]) -> Result<Option<Arc<Keys>>, Failure> {
        if self.user.auth.is_none() {
            return Ok(None);
        }
        if let Some((_, keys)) = self.keys.as_ref().filter(|(id, _)| id == engine_id) {
            return Ok(Some(Arc::clone(keys)));
        }
        let Some(keys) = self.transport.keyring().keys(&self.user, engine_id).await else {
            return Err(Failure::new(Reason::SendFailed, "no keys can be made of an empty password"));
        };
        self.keys = Some((engine_id.to_vec(), Arc::clone(&keys)));
        Ok(Some(keys))
    }
}

/// How many transmissions of a question are left for the look into its silence: one, where the
/// engine may as well be dead as deaf. So a dead one costs no more packets by SNMPv3 than
/// otherwise.
fn last_tries(known: &Known, keys: Option<&Keys>) -> u32 {
    u32::from(!known.heard && !known.decrypted && keys.is_some_and(Keys::encrypts))
}

/// What was remembered from an earlier run.
fn recall(engine: &Engine) -> Option<Known> {
    let id = from_hex(&engine.id).filter(|id| !id.is_empty())?;
    let age = Timestamp::now().duration_since(engine.at).unsigned_abs();
    Some(Known::unheard(id, Clock::remembered(engine.boots, engine.time, age, Instant::now())))
}

#[cfg(test)]
mod tests;
