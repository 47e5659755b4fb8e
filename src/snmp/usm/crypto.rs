//! The algorithms: digests, HMAC, and the ciphers of privacy.

use aes::cipher::block_padding::NoPadding;
use aes::cipher::{AsyncStreamCipher, BlockDecryptMut, BlockEncryptMut, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use des::Des;
use hmac::{Hmac, Mac};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use crate::snmp::{AuthProtocol, PrivacyProtocol};

/// A password is repeated to this length before it is hashed (RFC 3414, A.2).
const EXPANDED: usize = 1 << 20;
/// The block of DES.
const DES_BLOCK: usize = 8;

/// Runs `$body` with `$digest` standing for the hash of a protocol.
macro_rules! with_digest {
    ($protocol:expr, $digest:ident => $body:expr) => {
        match $protocol {
            AuthProtocol::Md5 => with_digest!(@ Md5, $digest => $body),
            AuthProtocol::Sha1 => with_digest!(@ Sha1, $digest => $body),
            AuthProtocol::Sha224 => with_digest!(@ Sha224, $digest => $body),
            AuthProtocol::Sha256 => with_digest!(@ Sha256, $digest => $body),
            AuthProtocol::Sha384 => with_digest!(@ Sha384, $digest => $body),
            AuthProtocol::Sha512 => with_digest!(@ Sha512, $digest => $body),
        }
    };
    (@ $type:ty, $digest:ident => $body:expr) => {{
        type $digest = $type;
        $body
    }};
}

/// The octets of a digest that a message carries (RFC 3414, 6 and 7; RFC 7860, 4.1).
pub(super) fn digest_length(protocol: AuthProtocol) -> usize {
    match protocol {
        AuthProtocol::Md5 | AuthProtocol::Sha1 => 12,
        AuthProtocol::Sha224 => 16,
        AuthProtocol::Sha256 => 24,
        AuthProtocol::Sha384 => 32,
        AuthProtocol::Sha512 => 48,
    }
}

/// The hash of several parts as one.
pub(super) fn hash(protocol: AuthProtocol, parts: &[&[u8]]) -> Vec<u8> {
    with_digest!(protocol, D => {
        let mut hasher = D::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().to_vec()
    })
}

/// The key that a password gives, before it is localised: a megabyte is hashed, which takes
/// milliseconds. None of an empty password.
pub(super) fn password_key(protocol: AuthProtocol, password: &[u8]) -> Option<Vec<u8>> {
    if password.is_empty() {
        return None;
    }
    // A whole number of passwords, so that one block goes on where the last one ended.
    let block: Vec<u8> = password.iter().copied().cycle().take(password.len() * 64).collect();
    Some(with_digest!(protocol, D => {
        let mut hasher = D::new();
        let mut left = EXPANDED;
        while left > 0 {
            let part = block.get(..left).unwrap_or(&block);
            hasher.update(part);
            left -= part.len();
        }
        hasher.finalize().to_vec()
    }))
}

/// HMAC of several parts as one, cut to what a message carries.
pub(super) fn digest(protocol: AuthProtocol, key: &[u8], parts: &[&[u8]]) -> Option<Vec<u8>> {
    with_digest!(protocol, D => {
        let mut mac = Hmac::<D>::new_from_slice(key).ok()?;
        for part in parts {
            Mac::update(&mut mac, part);
        }
        let mut digest = mac.finalize().into_bytes().to_vec();
        digest.truncate(digest_length(protocol));
        Some(digest)
    })
}

/// The octets of key that a privacy protocol takes.
pub(super) fn privacy_key_length(protocol: PrivacyProtocol) -> usize {
    match protocol {
        PrivacyProtocol::Des | PrivacyProtocol::Aes128 => 16,
        PrivacyProtocol::Aes192 => 24,
        PrivacyProtocol::Aes256 => 32,
    }
}

/// Encrypts in place. DES adds up to 7 octets of padding (RFC 3414, 8.1.1.2).
pub(super) fn encrypt(protocol: PrivacyProtocol, key: &[u8], iv: Iv, data: &mut Vec<u8>) -> Option<()> {
    match protocol {
        PrivacyProtocol::Des => {
            data.resize(data.len().next_multiple_of(DES_BLOCK), 0);
            let (key, iv) = des_parts(key, iv)?;
            let length = data.len();
            cbc::Encryptor::<Des>::new_from_slices(key, &iv)
                .ok()?
                .encrypt_padded_mut::<NoPadding>(data, length)
                .ok()?;
        }
        PrivacyProtocol::Aes128 => {
            cfb_mode::Encryptor::<Aes128>::new_from_slices(key, &iv.aes()).ok()?.encrypt(data)
        }
        PrivacyProtocol::Aes192 => {
            cfb_mode::Encryptor::<Aes192>::new_from_slices(key, &iv.aes()).ok()?.encrypt(data)
        }
        PrivacyProtocol::Aes256 => {
            cfb_mode::Encryptor::<Aes256>::new_from_slices(key, &iv.aes()).ok()?.encrypt(data)
        }
    }
    Some(())
}

/// Decrypts in place; padding stays. None where the data is no number of whole blocks.
pub(super) fn decrypt(protocol: PrivacyProtocol, key: &[u8], iv: Iv, data: &mut [u8]) -> Option<()> {
    match protocol {
        PrivacyProtocol::Des => {
            let (key, iv) = des_parts(key, iv)?;
            cbc::Decryptor::<Des>::new_from_slices(key, &iv)
                .ok()?
                .decrypt_padded_mut::<NoPadding>(data)
                .ok()?;
        }
        PrivacyProtocol::Aes128 => {
            cfb_mode::Decryptor::<Aes128>::new_from_slices(key, &iv.aes()).ok()?.decrypt(data)
        }
        PrivacyProtocol::Aes192 => {
            cfb_mode::Decryptor::<Aes192>::new_from_slices(key, &iv.aes()).ok()?.decrypt(data)
        }
        PrivacyProtocol::Aes256 => {
            cfb_mode::Decryptor::<Aes256>::new_from_slices(key, &iv.aes()).ok()?.decrypt(data)
        }
    }
    Some(())
}

/// What an initialisation vector is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Iv {
    pub(super) boots: u32,
    pub(super) time: u32,
    /// msgPrivacyParameters.
    pub(super) salt: [u8; 8],
}

impl Iv {
    /// RFC 3826, 3.1.2.1.
    fn aes(self) -> [u8; 16] {
        let mut iv = [0; 16];
        let octets = self.boots.to_be_bytes().into_iter().chain(self.time.to_be_bytes()).chain(self.salt);
        iv.iter_mut().zip(octets).for_each(|(to, from)| *to = from);
        iv
    }
}

/// Key and initialisation vector of DES (RFC 3414, 8.1.1.1): half of the key whitens the salt.
fn des_parts(key: &[u8], iv: Iv) -> Option<(&[u8], [u8; 8])> {
    let (key, whitening) = key.split_at_checked(DES_BLOCK)?;
    let mut out = iv.salt;
    out.iter_mut().zip(whitening).for_each(|(octet, white)| *octet ^= white);
    (whitening.len() >= DES_BLOCK).then_some((key, out))
}
