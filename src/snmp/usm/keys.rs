//! A user's keys at one engine.

use subtle::ConstantTimeEq;

use super::crypto::{self, Iv};
use crate::snmp::{AuthProtocol, KeyExtension, PrivacyProtocol};

/// Keys localised to an engine.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::snmp) struct Keys {
    pub(super) auth: (AuthProtocol, Vec<u8>),
    pub(super) privacy: Option<(PrivacyProtocol, Vec<u8>)>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(..)")
    }
}

impl Keys {
    /// Whether messages are encrypted.
    pub(in crate::snmp) fn encrypts(&self) -> bool {
        self.privacy.is_some()
    }

    /// The same keys for messages that are only signed.
    pub(in crate::snmp) fn without_privacy(&self) -> Self {
        Self { auth: self.auth.clone(), privacy: None }
    }

    /// The octets of a message's digest.
    pub(in crate::snmp) fn digest_length(&self) -> usize {
        crypto::digest_length(self.auth.0)
    }

    /// The digest of a message given in parts.
    pub(super) fn digest(&self, parts: &[&[u8]]) -> Option<Vec<u8>> {
        crypto::digest(self.auth.0, &self.auth.1, parts)
    }

    /// Whether `claimed` is the digest of a message given in parts; takes as long for a
    /// wrong one as for the right one.
    pub(super) fn verify(&self, claimed: &[u8], parts: &[&[u8]]) -> bool {
        self.digest(parts).is_some_and(|digest| bool::from(digest.ct_eq(claimed)))
    }

    /// Encrypts; gives the ciphertext and msgPrivacyParameters. `salt` is never used twice.
    pub(super) fn encrypt(
        &self,
        boots: u32,
        time: u32,
        salt: u64,
        mut data: Vec<u8>,
    ) -> Option<(Vec<u8>, [u8; 8])> {
        let (protocol, key) = self.privacy.as_ref()?;
        let salt = match protocol {
            // The engine's boots, then a number of our own (RFC 3414, 8.1.1.1).
            PrivacyProtocol::Des => (u64::from(boots) << 32) | (salt & 0xffff_ffff),
            _ => salt,
        };
        let iv = Iv { boots, time, salt: salt.to_be_bytes() };
        crypto::encrypt(*protocol, key, iv, &mut data)?;
        Some((data, iv.salt))
    }

    /// Decrypts; padding stays behind the plaintext.
    pub(super) fn decrypt(&self, boots: u32, time: u32, salt: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let (protocol, key) = self.privacy.as_ref()?;
        let iv = Iv { boots, time, salt: salt.try_into().ok()? };
        let mut data = data.to_vec();
        crypto::decrypt(*protocol, key, iv, &mut data)?;
        Some(data)
    }
}

/// Localises a key to an engine (RFC 3414, 2.6).
pub(super) fn localise(protocol: AuthProtocol, key: &[u8], engine_id: &[u8]) -> Vec<u8> {
    crypto::hash(protocol, &[key, engine_id, key])
}

/// A localised key of the length that a privacy protocol takes. Where it has to be stretched
/// by [`KeyExtension::Reeder`], this takes milliseconds.
pub(super) fn privacy_key(
    auth: AuthProtocol,
    privacy: PrivacyProtocol,
    extension: KeyExtension,
    mut key: Vec<u8>,
    engine_id: &[u8],
) -> Option<Vec<u8>> {
    let length = crypto::privacy_key_length(privacy);
    while key.len() < length {
        let more = match extension {
            KeyExtension::Blumenthal => crypto::hash(auth, &[&key]),
            KeyExtension::Reeder => localise(auth, &crypto::password_key(auth, &key)?, engine_id),
        };
        key.extend(more);
    }
    key.truncate(length);
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    fn localised(protocol: AuthProtocol) -> Vec<u8> {
        localise(protocol, &crypto::password_key(protocol, b"maplesyrup").unwrap(), &ENGINE)
    }

    fn privacy(auth: AuthProtocol, privacy: PrivacyProtocol, extension: KeyExtension) -> String {
        hex(&privacy_key(auth, privacy, extension, localised(auth), &ENGINE).unwrap())
    }

    #[test]
    fn passwords_are_localised_as_in_rfc_3414_a_3() {
        let ku = |protocol| hex(&crypto::password_key(protocol, b"maplesyrup").unwrap());
        assert_eq!(ku(AuthProtocol::Md5), "9faf3283884e92834ebc9847d8edd963");
        assert_eq!(ku(AuthProtocol::Sha1), "9fb5cc0381497b3793528939ff788d5d79145211");
        assert_eq!(hex(&localised(AuthProtocol::Md5)), "526f5eed9fcce26f8964c2930787d82b");
        assert_eq!(hex(&localised(AuthProtocol::Sha1)), "6695febc9288e36282235fc7151f128497b38f3f");
        assert_eq!(
            hex(&localised(AuthProtocol::Sha224)),
            "0bd8827c6e29f8065e08e09237f177e410f69b90e1782be682075674"
        );
        assert_eq!(
            hex(&localised(AuthProtocol::Sha256)),
            "8982e0e549e866db361a6b625d84cccc11162d453ee8ce3a6445c2d6776f0f8b"
        );
    }

    #[test]
    fn short_keys_are_stretched_in_two_ways() {
        use AuthProtocol::{Sha1, Sha224, Sha256};
        use KeyExtension::{Blumenthal, Reeder};
        use PrivacyProtocol::{Aes128, Aes192, Aes256};
        let sha1 = "6695febc9288e36282235fc7151f128497b38f3f";
        let blumenthal = format!("{sha1}505e07eb9af25568fa1f5dbe");
        let reeder = format!("{sha1}9b8b6d78936ba6e7d19dfd9c");
        assert_eq!(privacy(Sha1, Aes256, Blumenthal), blumenthal);
        assert_eq!(privacy(Sha1, Aes256, Reeder), reeder);
        assert_eq!(privacy(Sha1, Aes192, Blumenthal), blumenthal[..48]);
        assert_eq!(privacy(Sha1, Aes192, Reeder), reeder[..48]);
        assert_eq!(privacy(Sha1, Aes128, Reeder), sha1[..32]);
        let sha224 = "0bd8827c6e29f8065e08e09237f177e410f69b90e1782be682075674";
        assert_eq!(privacy(Sha224, Aes256, Blumenthal), format!("{sha224}e82d9bf0"));
        assert_eq!(privacy(Sha224, Aes256, Reeder), format!("{sha224}22c34be4"));
        let sha256 = "8982e0e549e866db361a6b625d84cccc11162d453ee8ce3a6445c2d6776f0f8b";
        assert_eq!(privacy(Sha256, Aes256, Blumenthal), sha256);
        assert_eq!(privacy(Sha256, Aes256, Reeder), sha256);
    }

    #[test]
    fn the_salt_of_des_tells_boots_and_no_salt_comes_twice() {
        let keys = |protocol| Keys {
            auth: (AuthProtocol::Md5, vec![1; 16]),
            privacy: Some((protocol, vec![2; crypto::privacy_key_length(protocol)])),
        };
        let salt = |protocol, salt| keys(protocol).encrypt(7, 9, salt, vec![0; 24]).unwrap().1;
        assert_eq!(salt(PrivacyProtocol::Des, 0x0123_4567_89ab_cdef), [0, 0, 0, 7, 0x89, 0xab, 0xcd, 0xef]);
        assert_eq!(
            salt(PrivacyProtocol::Aes128, 0x0123_4567_89ab_cdef),
            [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]
        );
        assert_eq!(salt(PrivacyProtocol::Aes256, 1), [0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn an_empty_password_gives_no_key() {
        assert_eq!(crypto::password_key(AuthProtocol::Sha1, b""), None);
    }
}
