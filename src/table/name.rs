//! Names: shared text, and pool names whose identity is their raw octets.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A name from the configuration or a router: of a BAS, an owner, a space, a VRF, an edge,
/// a service, a descriptor. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(Arc<str>);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Name {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A pool's name. Its identity (equality, order, hash) is the raw octets that the router
/// sent; the text is for display only.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct PoolName(Kept);

/// Most names are UTF-8, and need to be kept once.
#[derive(Clone, Debug)]
enum Kept {
    /// The octets are the text.
    Same(Arc<str>),
    /// They are not: octets and text.
    Other(Arc<[u8]>, Arc<str>),
}

/// A pool's name as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(rename = "PoolName")]
struct Stored {
    raw: Arc<[u8]>,
    text: Arc<str>,
}

impl From<Stored> for PoolName {
    fn from(stored: Stored) -> Self {
        match stored.raw.as_ref() == stored.text.as_bytes() {
            true => Self(Kept::Same(stored.text)),
            false => Self(Kept::Other(stored.raw, stored.text)),
        }
    }
}

impl From<PoolName> for Stored {
    fn from(name: PoolName) -> Self {
        Self { raw: name.raw().into(), text: name.text().into() }
    }
}

impl PoolName {
    /// A name whose octets are shown as UTF-8 where they are, with `\xNN` for each octet
    /// that is not.
    pub fn new(raw: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(raw) {
            return Self(Kept::Same(text.into()));
        }
        let mut text = String::with_capacity(raw.len());
        for chunk in raw.utf8_chunks() {
            text.push_str(chunk.valid());
            for octet in chunk.invalid() {
                text.push_str(&format!("\\x{octet:02x}"));
            }
        }
        Self(Kept::Other(raw.into(), text.into()))
    }

    /// A name whose text was decoded by somebody who knows its encoding.
    pub fn decoded(raw: &[u8], text: &str) -> Self {
        Self(Kept::Other(raw.into(), text.into()))
    }

    /// The octets as the router sent them.
    pub fn raw(&self) -> &[u8] {
        match &self.0 {
            Kept::Same(text) => text.as_bytes(),
            Kept::Other(raw, _) => raw,
        }
    }

    /// The name for people.
    pub fn text(&self) -> &str {
        match &self.0 {
            Kept::Same(text) | Kept::Other(_, text) => text,
        }
    }

    /// The octets in hex, where they are not UTF-8 and the text alone would not tell.
    pub fn hex(&self) -> Option<String> {
        match std::str::from_utf8(self.raw()) {
            Ok(_) => None,
            Err(_) => Some(self.raw().iter().map(|octet| format!("{octet:02x}")).collect()),
        }
    }
}

impl PartialEq for PoolName {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl Eq for PoolName {}

impl PartialOrd for PoolName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PoolName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.raw().cmp(other.raw())
    }
}

impl Hash for PoolName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw().hash(state);
    }
}

impl fmt::Display for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}
