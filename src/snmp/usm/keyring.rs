//! Keys that were made once: hashing a password takes milliseconds, localising the result to
//! another engine microseconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::crypto::password_key;
use super::keys::{Keys, localise, privacy_key};
use crate::snmp::target::User;
use crate::snmp::{AuthProtocol, KeyExtension, PrivacyProtocol};

/// Localised keys kept at most. Engine ids come from unauthenticated answers: their number
/// must have an end.
const MAX_KEPT: usize = 65_536;

/// The keys of all users at all engines so far.
#[derive(Default)]
pub(in crate::snmp) struct Keyring {
    passwords: Mutex<HashMap<PasswordId, PasswordKey>>,
    localised: Mutex<HashMap<KeysId, Arc<Keys>>>,
}

type PasswordId = (AuthProtocol, Vec<u8>);
/// Filled by the first who needs it, while the others wait.
type PasswordKey = Arc<OnceLock<Option<Vec<u8>>>>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct KeysId {
    auth: PasswordId,
    privacy: Option<(PrivacyProtocol, Vec<u8>)>,
    extension: KeyExtension,
    engine_id: Vec<u8>,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyring(..)")
    }
}

impl Keyring {
    /// The keys of an authenticating user at an engine. None where a password is empty, or
    /// the runtime is shutting down.
    pub(in crate::snmp) async fn keys(self: &Arc<Self>, user: &User, engine_id: &[u8]) -> Option<Arc<Keys>> {
        let (protocol, secret) = user.auth.as_ref()?;
        let id = KeysId {
            auth: (*protocol, secret.expose().to_vec()),
            privacy: user.privacy.as_ref().map(|(protocol, secret)| (*protocol, secret.expose().to_vec())),
            extension: user.key_extension,
            engine_id: engine_id.to_vec(),
        };
        if let Some(keys) = unpoisoned(&self.localised).get(&id) {
            return Some(Arc::clone(keys));
        }
        let ring = Arc::clone(self);
        tokio::task::spawn_blocking(move || ring.make(id)).await.ok().flatten()
    }

    fn make(&self, id: KeysId) -> Option<Arc<Keys>> {
        let auth = self.localised_key(&id.auth, &id.engine_id)?;
        let privacy = match &id.privacy {
            None => None,
            Some((protocol, password)) => {
                let key = self.localised_key(&(id.auth.0, password.clone()), &id.engine_id)?;
                let key = privacy_key(id.auth.0, *protocol, id.extension, key, &id.engine_id)?;
                Some((*protocol, key))
            }
        };
        let keys = Arc::new(Keys { auth: (id.auth.0, auth), privacy });
        let mut localised = unpoisoned(&self.localised);
        if localised.len() >= MAX_KEPT {
            localised.clear();
        }
        localised.insert(id, Arc::clone(&keys));
        Some(keys)
    }

    fn localised_key(&self, id: &PasswordId, engine_id: &[u8]) -> Option<Vec<u8>> {
        let cell = Arc::clone(unpoisoned(&self.passwords).entry(id.clone()).or_default());
        let key = cell.get_or_init(|| password_key(id.0, &id.1)).as_ref()?;
        Some(localise(id.0, key, engine_id))
    }
}

/// A panic elsewhere cannot leave a map half changed.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snmp::Secret;

    fn user(password: &str) -> User {
        User {
            name: "u".into(),
            auth: Some((AuthProtocol::Sha1, Secret::new(password))),
            privacy: Some((PrivacyProtocol::Aes256, Secret::new("maplesyrup"))),
            key_extension: KeyExtension::Reeder,
            engine_id: None,
        }
    }

    #[tokio::test]
    async fn keys_are_made_once_for_each_user_and_engine() {
        let ring = Arc::new(Keyring::default());
        let engine = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
        let keys = ring.keys(&user("maplesyrup"), &engine).await.unwrap();
        assert_eq!(keys.auth.1[..4], [0x66, 0x95, 0xfe, 0xbc]);
        assert_eq!(
            keys.privacy.as_ref().unwrap().1[20..],
            [0x9b, 0x8b, 0x6d, 0x78, 0x93, 0x6b, 0xa6, 0xe7, 0xd1, 0x9d, 0xfd, 0x9c]
        );
        let again = ring.keys(&user("maplesyrup"), &engine).await.unwrap();
        assert!(Arc::ptr_eq(&keys, &again));
        let elsewhere = ring.keys(&user("maplesyrup"), &[1; 5]).await.unwrap();
        assert_ne!(keys, elsewhere);
        assert_eq!(unpoisoned(&ring.passwords).len(), 1);
    }

    #[tokio::test]
    async fn an_empty_password_gives_no_keys() {
        assert_eq!(Arc::new(Keyring::default()).keys(&user(""), &[1; 5]).await, None);
    }
}
