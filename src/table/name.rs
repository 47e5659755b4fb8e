//! Names: shared text, and pool names whose identity is their raw octets.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use triomphe::ThinArc;

/// A name from the configuration or a router: of a BAS, an owner, a space, a VRF, an edge,
/// a service, a descriptor. A pointer wide, cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(ArcStr);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both are held in one place; then they are equal, and neither has to be read.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        ArcStr::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Into<ArcStr>> From<T> for Name {
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
/// sent; the text is for display only. A pointer wide, cheap to clone.
#[derive(Clone)]
pub struct PoolName(ThinArc<Split, u8>);

/// How the octets behind a pool's name are divided.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Split {
    /// How many the router sent; the text stands behind them, where it is another one.
    raw: u32,
    /// Whether the octets are UTF-8 and their own text.
    is_text: bool,
}

impl PoolName {
    /// A name whose octets are shown as UTF-8 where they are, with `\xNN` for each octet
    /// that is not.
    pub fn new(raw: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(raw) {
            return Self::decoded(raw, text);
        }
        let mut text = String::with_capacity(raw.len());
        for chunk in raw.utf8_chunks() {
            text.push_str(chunk.valid());
            for octet in chunk.invalid() {
                text.push_str(&format!("\\x{octet:02x}"));
            }
        }
        Self::decoded(raw, &text)
    }

    /// A name whose text was decoded by somebody who knows its encoding.
    pub fn decoded(raw: &[u8], text: &str) -> Self {
        // An OID's value has at most 65,535 octets (RFC 2578).
        let raw = raw.get(..u32::MAX as usize).unwrap_or(raw);
        let split = Split { raw: raw.len() as u32, is_text: raw == text.as_bytes() };
        if split.is_text {
            return Self(ThinArc::from_header_and_slice(split, raw));
        }
        Self(ThinArc::from_header_and_slice(split, &[raw, text.as_bytes()].concat()))
    }

    fn parts(&self) -> (&[u8], &[u8]) {
        let octets = &self.0.slice;
        octets.split_at_checked(self.0.header.header.raw as usize).unwrap_or((octets, &[]))
    }

    /// The octets as the router sent them.
    pub fn raw(&self) -> &[u8] {
        self.parts().0
    }

    /// The name for people.
    pub fn text(&self) -> &str {
        let (raw, text) = self.parts();
        // It was made of text.
        std::str::from_utf8(if self.0.header.header.is_text { raw } else { text }).unwrap_or_default()
    }

    /// Whether nobody else holds this very name.
    pub(crate) fn is_alone(&self) -> bool {
        ThinArc::strong_count(&self.0) == 1
    }

    /// Whether both are held in one place; then they are equal, and neither has to be read.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        self.0.as_ptr() == other.0.as_ptr()
    }

    /// Whether both are the same to the last letter of their text.
    pub(crate) fn is_exactly(&self, other: &Self) -> bool {
        self.0.header.header == other.0.header.header && self.0.slice == other.0.slice
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

impl fmt::Debug for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolName").field("raw", &self.raw()).field("text", &self.text()).finish()
    }
}

/// As it is written down: octets and text.
#[derive(Serialize, Deserialize)]
#[serde(rename = "PoolName")]
struct Written {
    raw: Vec<u8>,
    text: String,
}

impl Serialize for PoolName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { raw: self.raw().to_vec(), text: self.text().to_owned() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PoolName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { raw, text } = Written::deserialize(deserializer)?;
        Ok(Self::decoded(&raw, &text))
    }
}
