//! Keys that were made once: hashing a password takes milliseconds, localising the result to
//! another engine microseconds, unless it has to be stretched for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::crypto::{hash, password_key};
use super::keyfile::{self, Id, Malformed, Saved};
use super::keys::{Keys, localise, privacy_key};
use crate::snmp::target::User;
use crate::snmp::{AuthProtocol, KeyExtension};

/// Localised keys kept at most. Engine ids come from unauthenticated answers: their number
/// must have an end.
const MAX_KEPT: usize = 65_536;
/// How long keys are kept while nobody uses them. Those of a password that was changed, or of
/// a router that is gone, do not stay.
const UNUSED: Duration = Duration::from_secs(86_400);

/// The keys of all users at all engines so far.
pub(in crate::snmp) struct Keyring {
    passwords: Mutex<HashMap<PasswordId, PasswordKey>>,
    kept: Mutex<Kept>,
    made: AtomicU64,
}

type PasswordId = (AuthProtocol, Vec<u8>);
/// Filled by the first who needs it, while the others wait.
type PasswordKey = Arc<OnceLock<Option<Vec<u8>>>>;

/// Localised keys, each under a digest of all that it was made of: another password,
/// protocol or engine is another id.
struct Kept {
    /// Makes the ids unlike those of any other keyring.
    salt: [u8; 32],
    keys: HashMap<Id, One>,
    /// Since when uses are noted.
    since: Instant,
    /// Whether there are others than at the last save.
    changed: bool,
}

struct One {
    keys: Arc<Keys>,
    used: bool,
}

impl Default for Keyring {
    fn default() -> Self {
        let kept = Kept { salt: rand::random(), keys: HashMap::new(), since: Instant::now(), changed: false };
        Self { passwords: Mutex::default(), kept: Mutex::new(kept), made: AtomicU64::new(0) }
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyring(..)")
    }
}

impl Keyring {
    /// The keys of an authenticating user at an engine. Where they are not there yet, they
    /// are made off the runtime. None where a password is empty, or the runtime is shutting
    /// down.
    pub(in crate::snmp) async fn keys(self: &Arc<Self>, user: &User, engine_id: &[u8]) -> Option<Arc<Keys>> {
        user.auth.as_ref()?;
        if let Some(keys) = self.kept().find(user, engine_id) {
            return Some(keys);
        }
        let (ring, user, engine_id) = (Arc::clone(self), user.clone(), engine_id.to_vec());
        tokio::task::spawn_blocking(move || ring.make(&user, &engine_id)).await.ok().flatten()
    }

    /// How often keys had to be made.
    pub(in crate::snmp) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Drops what nobody used for a day, and gives what a file of keys is to hold. None where
    /// that is what was saved last.
    pub(in crate::snmp) fn save(&self, now: Instant) -> Option<String> {
        let mut kept = self.kept();
        if now.saturating_duration_since(kept.since) >= UNUSED {
            kept.drop_unused(now);
            unpoisoned(&self.passwords).clear();
        }
        if !std::mem::take(&mut kept.changed) {
            return None;
        }
        let mut keys: Vec<_> = kept.keys.iter().map(|(id, one)| (*id, (*one.keys).clone())).collect();
        keys.sort_unstable_by_key(|(id, _)| *id);
        Some(keyfile::render(&Saved { salt: kept.salt, keys }))
    }

    /// That what was last given to be saved was not.
    pub(in crate::snmp) fn not_saved(&self) {
        self.kept().changed = true;
    }

    /// Takes over what an earlier run saved, before any keys are made. Gives how many.
    pub(in crate::snmp) fn load(&self, text: &str) -> Result<usize, Malformed> {
        let Saved { salt, keys } = keyfile::parse(text)?;
        let mut kept = self.kept();
        if !kept.keys.is_empty() {
            return Ok(0);
        }
        kept.salt = salt;
        kept.since = Instant::now();
        let held = keys.into_iter().take(MAX_KEPT);
        kept.keys = held.map(|(id, keys)| (id, One { keys: Arc::new(keys), used: false })).collect();
        Ok(kept.keys.len())
    }

    fn make(&self, user: &User, engine_id: &[u8]) -> Option<Arc<Keys>> {
        let (protocol, password) = user.auth.as_ref()?;
        self.made.fetch_add(1, Ordering::Relaxed);
        let auth = self.localised_key(&(*protocol, password.expose().to_vec()), engine_id)?;
        let privacy = match &user.privacy {
            None => None,
            Some((privacy, password)) => {
                let key = self.localised_key(&(*protocol, password.expose().to_vec()), engine_id)?;
                Some((*privacy, privacy_key(*protocol, *privacy, user.key_extension, key, engine_id)?))
            }
        };
        let keys = Arc::new(Keys { auth: (*protocol, auth), privacy });
        self.kept().add(user, engine_id, Arc::clone(&keys));
        Some(keys)
    }

    fn localised_key(&self, id: &PasswordId, engine_id: &[u8]) -> Option<Vec<u8>> {
        let cell = Arc::clone(unpoisoned(&self.passwords).entry(id.clone()).or_default());
        let key = cell.get_or_init(|| password_key(id.0, &id.1)).as_ref()?;
        Some(localise(id.0, key, engine_id))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        unpoisoned(&self.kept)
    }
}

impl Kept {
    fn find(&mut self, user: &User, engine_id: &[u8]) -> Option<Arc<Keys>> {
        let one = self.keys.get_mut(&id(&self.salt, user, engine_id))?;
        one.used = true;
        Some(Arc::clone(&one.keys))
    }

    fn add(&mut self, user: &User, engine_id: &[u8], keys: Arc<Keys>) {
        if self.keys.len() >= MAX_KEPT {
            self.keys.clear();
        }
        self.keys.insert(id(&self.salt, user, engine_id), One { keys, used: true });
        self.changed = true;
    }

    fn drop_unused(&mut self, now: Instant) {
        let before = self.keys.len();
        self.keys.retain(|_, one| std::mem::take(&mut one.used));
        self.changed |= self.keys.len() != before;
        self.since = now;
    }
}

/// The digest of all that keys are made of.
fn id(salt: &[u8], user: &User, engine_id: &[u8]) -> Id {
    let extension = match user.key_extension {
        KeyExtension::Blumenthal => b'b',
        KeyExtension::Reeder => b'r',
    };
    let mut all = salt.to_vec();
    // Each with its length before it, so that no two lists run together to the same octets.
    let mut push = |octets: &[u8]| {
        all.extend(u64::try_from(octets.len()).unwrap_or(u64::MAX).to_be_bytes());
        all.extend_from_slice(octets);
    };
    push(engine_id);
    push(&[extension]);
    if let Some((protocol, secret)) = &user.auth {
        push(keyfile::auth_word(*protocol).as_bytes());
        push(secret.expose());
    }
    if let Some((protocol, secret)) = &user.privacy {
        push(keyfile::privacy_word(*protocol).as_bytes());
        push(secret.expose());
    }
    let mut id = [0; 32];
    id.iter_mut().zip(hash(AuthProtocol::Sha256, &[&all])).for_each(|(to, from)| *to = from);
    id
}

/// A panic elsewhere cannot leave a map half changed.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
