//! The agent's side of SNMPv3 (RFC 3414, 3.2; RFC 3412, 7.2; RFC 3413, 3.2): the checks in
//! their order, and a Report for each that fails.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;
use tokio::time::Instant;

use super::respond::{Answer, respond};
use crate::snmp::encode::Writer;
use crate::snmp::message::{Pdu, PduKind};
use crate::snmp::report::Report;
use crate::snmp::snmprec::Recording;
use crate::snmp::usm::{self, Clock, Envelope, Incoming, Keyring, Keys, ScopedPdu};
use crate::snmp::{Context, User, Value};
use crate::table::Name;

/// How far apart a message's time and ours may be, in seconds (RFC 3414, 2.2.3).
const WINDOW: u32 = 150;
/// Boots that stand for a clock that cannot be believed any more.
const MAX_BOOTS: u32 = 0x7fff_ffff;
/// What every agent's peers take at least (RFC 3412, msgMaxSize).
const LEAST_MAX_SIZE: usize = 484;
/// The octets of a full answer around its varbinds, all lengths in their long forms, without
/// engine ids, names and digest.
const AROUND: usize = 112;
const AUTHORIZATION_ERROR: i32 = 16;

/// The engine of an agent that speaks SNMPv3: its id and clock, its users with their keys,
/// and what it serves in which context.
#[derive(Clone, Debug)]
pub struct ReplayEngine {
    id: Vec<u8>,
    clock: (u32, u32),
    users: Vec<User>,
    accounts: Vec<Account>,
    contexts: Vec<(Context, Arc<Recording>)>,
    ring: Arc<Keyring>,
}

/// Why there can be no such engine. A closed list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayEngineError {
    /// The engine id is too short or too long.
    #[error("an engine id has 5 to 32 octets (RFC 3411), not {0}")]
    EngineId(usize),
    /// No keys can be made for a user.
    #[error("no keys can be made for user {0}: a password is empty")]
    EmptyPassword(Name),
}

/// A user, with its keys at each level that it may use.
#[derive(Clone, Debug)]
struct Account {
    name: Name,
    signing: Option<Arc<Keys>>,
    sealing: Option<Arc<Keys>>,
}

impl ReplayEngine {
    /// An engine with these users. Their keys are made here, so that serving never waits for
    /// them: some milliseconds for each password, off the runtime.
    ///
    /// # Errors
    /// An engine id that is none, or a password that is empty.
    pub async fn new(id: impl Into<Vec<u8>>, users: Vec<User>) -> Result<Self, ReplayEngineError> {
        Self::with(id.into(), users, Arc::default()).await
    }

    /// Another engine with the same users, which serves nothing yet. No password is hashed
    /// again: this takes microseconds, so that a fleet of agents is quickly made.
    ///
    /// # Errors
    /// As [`ReplayEngine::new`].
    pub async fn another(&self, id: impl Into<Vec<u8>>) -> Result<Self, ReplayEngineError> {
        Self::with(id.into(), self.users.clone(), Arc::clone(&self.ring)).await
    }

    async fn with(id: Vec<u8>, users: Vec<User>, ring: Arc<Keyring>) -> Result<Self, ReplayEngineError> {
        if !(5..=32).contains(&id.len()) {
            return Err(ReplayEngineError::EngineId(id.len()));
        }
        let mut accounts = Vec::with_capacity(users.len());
        for user in &users {
            let mut account = Account { name: user.name.clone(), signing: None, sealing: None };
            if user.auth.is_some() {
                let none = || ReplayEngineError::EmptyPassword(user.name.clone());
                let keys = ring.keys(user, &id).await.ok_or_else(none)?;
                account.signing = Some(Arc::new(keys.without_privacy()));
                account.sealing = keys.encrypts().then_some(keys);
            }
            accounts.push(account);
        }
        Ok(Self { id, clock: (1, 0), users, accounts, contexts: Vec::new(), ring })
    }

    /// Serves a recording in a context. One without an engine id is the engine's own.
    #[must_use]
    pub fn serving(mut self, context: Context, recording: impl Into<Arc<Recording>>) -> Self {
        self.contexts.push((context, recording.into()));
        self
    }

    /// Starts with these boots and this time in seconds; 1 and 0 unless set.
    #[must_use]
    pub fn at(mut self, boots: u32, time: u32) -> Self {
        self.clock = (boots, time);
        self
    }

    pub(super) fn run(self) -> Running {
        let (boots, time) = self.clock;
        Running {
            clock: Mutex::new(Clock::guessed(boots, time, Instant::now())),
            engine: self,
            salt: AtomicU64::new(rand::random()),
            reports: Default::default(),
        }
    }
}

/// An engine at work.
#[derive(Debug)]
pub(super) struct Running {
    engine: ReplayEngine,
    clock: Mutex<Clock>,
    salt: AtomicU64,
    /// How often each Report was sent.
    reports: [AtomicU32; Report::COUNT],
}

/// Whose message it is, and the keys that protect it.
struct Admitted<'a> {
    account: &'a Account,
    keys: Option<&'a Keys>,
}

/// A message that is reported on: what for, under which keys, and the id of its request
/// where that could be read.
struct Refused<'a> {
    report: Report,
    keys: Option<&'a Keys>,
    request_id: i32,
}

impl Refused<'_> {
    /// Refused before the message was believed.
    fn early(report: Report) -> Self {
        Self { report, keys: None, request_id: 0 }
    }
}

impl Running {
    pub(super) fn set_clock(&self, boots: u32, time: u32) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) =
            Clock::guessed(boots, time, Instant::now());
    }

    fn now(&self) -> (u32, u32) {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).now(Instant::now())
    }

    /// The answer to a datagram, or the Report on it; none to what is neither.
    pub(super) fn answer(&self, datagram: &[u8], max: usize) -> Option<Vec<u8>> {
        let message = usm::read(datagram).ok()?;
        let (boots, time) = self.now();
        let envelope = Envelope {
            msg_id: message.msg_id,
            max_size: usm::OUR_MAX_SIZE,
            engine_id: &self.engine.id,
            boots,
            time,
            user: message.user,
            context_engine_id: &self.engine.id,
            context_name: b"",
        };
        match self.admit(&message, (boots, time)) {
            Ok(admitted) => self.serve(&message, admitted, envelope, max),
            Err(refused) => self.report(&message, &envelope, refused),
        }
    }

    /// Whose message it is, and the keys of the level that it came with. Of the Reports only
    /// that on the time is signed, so that the asker can believe our clock.
    fn admit(&self, message: &Incoming<'_>, now: (u32, u32)) -> Result<Admitted<'_>, Refused<'_>> {
        let refuse = Refused::early;
        if message.engine_id != self.engine.id {
            return Err(refuse(Report::UnknownEngine));
        }
        let account = self.engine.accounts.iter().find(|account| account.name.as_bytes() == message.user);
        let account = account.ok_or(refuse(Report::UnknownUser))?;
        let keys = match (message.authenticated, message.encrypted) {
            (false, _) => return Ok(Admitted { account, keys: None }),
            (true, false) => account.signing.as_deref(),
            (true, true) => account.sealing.as_deref(),
        };
        let keys = keys.ok_or(refuse(Report::UnsupportedLevel))?;
        if !message.verify(keys) {
            return Err(refuse(Report::WrongDigest));
        }
        if !is_timely(message, now) {
            return Err(Refused { keys: account.signing.as_deref(), ..refuse(Report::NotInTimeWindow) });
        }
        Ok(Admitted { account, keys: Some(keys) })
    }

    /// The answer to a message that was admitted.
    fn serve(
        &self,
        message: &Incoming<'_>,
        Admitted { account, keys }: Admitted<'_>,
        envelope: Envelope<'_>,
        max: usize,
    ) -> Option<Vec<u8>> {
        let octets = match message.scoped(keys) {
            Ok(octets) => octets,
            Err(_) if message.encrypted => {
                return self.report(message, &envelope, Refused::early(Report::DecryptionError));
            }
            Err(_) => return None,
        };
        let scoped = match usm::read_scoped_pdu(&octets) {
            Ok(scoped) => scoped,
            // A wrong key makes nonsense of what it decrypts.
            Err(_) if message.encrypted => {
                return self.report(message, &envelope, Refused::early(Report::DecryptionError));
            }
            Err(_) => return None,
        };
        let recording = match self.recording(&scoped) {
            Ok(recording) => recording,
            Err(report) => {
                let request_id = scoped.pdu.request_id;
                return self.report(message, &envelope, Refused { report, keys, request_id });
            }
        };
        let envelope =
            Envelope { context_engine_id: scoped.engine_id, context_name: scoped.context, ..envelope };
        let answer = if account.may_ask(keys) {
            let max = max.min(usize::try_from(message.max_size).unwrap_or(max).max(LEAST_MAX_SIZE));
            respond(recording, &scoped.pdu, max.saturating_sub(around(&envelope, keys)))?
        } else {
            Answer::empty(&scoped.pdu, AUTHORIZATION_ERROR)
        };
        usm::seal_encoded(&envelope, &answer.head, &answer.list, keys, self.salt())
    }

    /// What is served in the context of a PDU.
    fn recording(&self, scoped: &ScopedPdu<'_>) -> Result<&Recording, Report> {
        let ours =
            |context: &Context| context.engine_id.as_ref().unwrap_or(&self.engine.id) == scoped.engine_id;
        let mut known = self.engine.contexts.iter().filter(|(context, _)| ours(context)).peekable();
        if known.peek().is_none() && scoped.engine_id != self.engine.id {
            return Err(Report::UnknownHandler);
        }
        known
            .find(|(context, _)| context.name == scoped.context)
            .map(|(_, recording)| &**recording)
            .ok_or(Report::UnknownContext)
    }

    /// A Report, where the asker wants to hear one.
    fn report(
        &self,
        message: &Incoming<'_>,
        envelope: &Envelope<'_>,
        refused: Refused<'_>,
    ) -> Option<Vec<u8>> {
        let oid = refused.report.oid().filter(|_| message.reportable)?;
        let count = self.reports.get(refused.report as usize)?.fetch_add(1, Ordering::Relaxed);
        let mut list = Writer::new();
        list.varbind(&oid, &Value::Counter32(count.wrapping_add(1)));
        let head = Pdu {
            kind: PduKind::Report,
            request_id: refused.request_id,
            error_status: 0,
            error_index: 0,
            varbinds: Vec::new(),
        };
        usm::seal_encoded(envelope, &head, &list.into_bytes(), refused.keys, self.salt())
    }

    fn salt(&self) -> u64 {
        self.salt.fetch_add(1, Ordering::Relaxed)
    }
}

impl Account {
    /// Whether the user may ask under these keys: at its own level, and at no lower one.
    fn may_ask(&self, keys: Option<&Keys>) -> bool {
        match keys {
            None => self.signing.is_none(),
            Some(keys) => keys.encrypts() || self.sealing.is_none(),
        }
    }
}

fn is_timely(message: &Incoming<'_>, (boots, time): (u32, u32)) -> bool {
    boots != MAX_BOOTS && message.boots == boots && message.time.abs_diff(time) <= WINDOW
}

/// The octets of an answer around its varbinds, at most.
fn around(envelope: &Envelope<'_>, keys: Option<&Keys>) -> usize {
    let names = [envelope.engine_id, envelope.user, envelope.context_engine_id, envelope.context_name];
    AROUND + names.iter().map(|name| name.len()).sum::<usize>() + keys.map_or(0, Keys::digest_length)
}
