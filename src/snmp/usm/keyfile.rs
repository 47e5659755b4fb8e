//! Localised keys as a file: lines of hexadecimal digits, and a digest over them at the end,
//! so that a damaged file is no file.

use std::fmt::Write as _;

use super::crypto::{hash, privacy_key_length};
use super::keys::Keys;
use crate::snmp::hex::{from_hex, to_hex};
use crate::snmp::{AuthProtocol, PrivacyProtocol};

/// What a set of keys is found by.
pub(super) type Id = [u8; 32];

/// The first line.
const HEAD: &str = "poolsync-keys 1";
/// What stands for no privacy.
const NONE: &str = "-";

const AUTHS: [(&str, AuthProtocol); 6] = [
    ("md5", AuthProtocol::Md5),
    ("sha1", AuthProtocol::Sha1),
    ("sha224", AuthProtocol::Sha224),
    ("sha256", AuthProtocol::Sha256),
    ("sha384", AuthProtocol::Sha384),
    ("sha512", AuthProtocol::Sha512),
];

const PRIVACIES: [(&str, PrivacyProtocol); 4] = [
    ("des", PrivacyProtocol::Des),
    ("aes128", PrivacyProtocol::Aes128),
    ("aes192", PrivacyProtocol::Aes192),
    ("aes256", PrivacyProtocol::Aes256),
];

/// What a keyring saves.
pub(super) struct Saved {
    pub(super) salt: [u8; 32],
    pub(super) keys: Vec<(Id, Keys)>,
}

/// What is wrong with a file of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::snmp) enum Malformed {
    /// It does not begin as one.
    #[error("it is no file of keys of this version")]
    Head,
    /// Its end is missing, or it was changed.
    #[error("it is cut or damaged")]
    Digest,
    /// A line is none of keys.
    #[error("line {0} holds no keys")]
    Line(usize),
}

/// The word of a protocol.
pub(super) fn auth_word(protocol: AuthProtocol) -> &'static str {
    word(&AUTHS, protocol)
}

/// The word of a protocol.
pub(super) fn privacy_word(protocol: PrivacyProtocol) -> &'static str {
    word(&PRIVACIES, protocol)
}

fn word<T: PartialEq>(words: &[(&'static str, T)], of: T) -> &'static str {
    words.iter().find(|(_, protocol)| *protocol == of).map_or("", |(word, _)| word)
}

fn of_word<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, protocol)| *protocol)
}

/// The file of these keys.
pub(super) fn render(saved: &Saved) -> String {
    let mut text = format!("{HEAD}\n{}\n", to_hex(&saved.salt));
    for (id, Keys { auth: (auth, auth_key), privacy }) in &saved.keys {
        let (auth, auth_key) = (auth_word(*auth), to_hex(auth_key));
        let (privacy, privacy_key) = match privacy {
            Some((privacy, key)) => (privacy_word(*privacy), to_hex(key)),
            None => (NONE, NONE.to_owned()),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} {auth} {auth_key} {privacy} {privacy_key}", to_hex(id));
    }
    let digest = digest(&text);
    text + &digest + "\n"
}

/// Reads a file of keys.
pub(super) fn parse(text: &str) -> Result<Saved, Malformed> {
    let rest = text.strip_prefix(HEAD).and_then(|rest| rest.strip_prefix('\n')).ok_or(Malformed::Head)?;
    let whole = text.strip_suffix('\n').ok_or(Malformed::Digest)?;
    let end = whole.rfind('\n').map_or(0, |at| at + 1);
    let (before, claimed) = whole.split_at_checked(end).ok_or(Malformed::Digest)?;
    if digest(before) != claimed {
        return Err(Malformed::Digest);
    }
    let body = before.get(text.len() - rest.len()..).ok_or(Malformed::Digest)?;
    // The salt stands on the second line.
    let mut lines = body.lines().zip(2..);
    let salt = lines.next().and_then(|(line, _)| id(line)).ok_or(Malformed::Line(2))?;
    let keys = lines.map(|(line, number)| keys(line).ok_or(Malformed::Line(number)));
    Ok(Saved { salt, keys: keys.collect::<Result<_, _>>()? })
}

fn digest(text: &str) -> String {
    to_hex(&hash(AuthProtocol::Sha256, &[text.as_bytes()]))
}

fn id(text: &str) -> Option<Id> {
    from_hex(text)?.try_into().ok()
}

fn keys(line: &str) -> Option<(Id, Keys)> {
    let mut words = line.split(' ');
    let mut next = || words.next();
    let id = id(next()?)?;
    let auth = of_word(&AUTHS, next()?)?;
    let auth_key = from_hex(next()?).filter(|key| key.len() == hash(auth, &[]).len())?;
    let privacy = match (next()?, next()?) {
        (NONE, NONE) => None,
        (word, key) => {
            let privacy = of_word(&PRIVACIES, word)?;
            Some((privacy, from_hex(key).filter(|key| key.len() == privacy_key_length(privacy))?))
        }
    };
    next().is_none().then_some((id, Keys { auth: (auth, auth_key), privacy }))
}
