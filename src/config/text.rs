//! Small types that are written as strings: patterns, engine ids, encodings, modes.

use std::fmt;

use super::value::FromText;
use crate::mib::{self, Glob};

impl FromText for Glob {
    const EXPECTED: &'static str =
        "a pattern for names, as \"iptv-*\" (* stands for any text, ? for a character)";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err("fits no name".to_owned()) } else { Ok(Self::new(text)) }
    }
}

/// An SNMP engine id (RFC 3411: 5 to 32 octets, not all zero, not all 0xff), written in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EngineId(pub(super) Vec<u8>);

impl FromText for EngineId {
    const EXPECTED: &'static str = "an SNMP engine id: 5 to 32 octets in hex, as \"80001f8804\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || "is not an engine id".to_owned();
        let digits = text.strip_prefix("0x").unwrap_or(text);
        if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let octets: Option<Vec<u8>> = (0..digits.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok())
            .collect();
        let octets = octets.filter(|octets| (5..=32).contains(&octets.len())).ok_or_else(wrong)?;
        let same = |octet: u8| octets.iter().all(|other| *other == octet);
        if same(0) || same(0xff) {
            Err("is not an engine id that may be used".to_owned())
        } else {
            Ok(Self(octets))
        }
    }
}

/// Octets in hex.
pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The encoding of pool names, by one of its labels of the WHATWG Encoding Standard; always
/// one that [`mib::Encoding`] knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoding(pub &'static encoding_rs::Encoding);

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl FromText for Encoding {
    const EXPECTED: &'static str = "the name of an encoding, as \"utf-8\", \"gbk\", \"gb18030\", \"big5\", \"shift_jis\", \"euc-kr\", \"iso-8859-1\", \"windows-1251\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match encoding_rs::Encoding::for_label_no_replacement(text.as_bytes()) {
            Some(encoding) if text.parse::<mib::Encoding>().is_ok() => Ok(Self(encoding)),
            Some(_) => Err("is an encoding in which routers write no names".to_owned()),
            None => Err("is not an encoding".to_owned()),
        }
    }
}

/// How the community of an SNMPv2c context is made. A closed list: agents that take a
/// context this way take it in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextCommunity {
    /// `{community}@{context}`.
    At,
}

/// The forms as they are written.
pub(super) const CONTEXT_COMMUNITIES: [(&str, ContextCommunity); 1] =
    [("{community}@{context}", ContextCommunity::At)];

/// The mode of a file in octal, as `"0640"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode(pub(super) u32);

impl FromText for Mode {
    const EXPECTED: &'static str = "a file's mode in octal, as \"0644\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let octal = (3..=4).contains(&text.len()) && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| octal && *mode <= 0o777);
        mode.map(Self).ok_or_else(|| "is not a mode".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_ids_are_five_to_thirty_two_octets() {
        assert_eq!(EngineId::from_text("80001F8804"), Ok(EngineId(vec![0x80, 0, 0x1f, 0x88, 4])));
        assert_eq!(EngineId::from_text("0x80001f8804"), Ok(EngineId(vec![0x80, 0, 0x1f, 0x88, 4])));
        for text in [
            "",
            "80001f88",
            "80001f880",
            "zz001f8804",
            "0000000000",
            "ffffffffff",
            &"11".repeat(33),
            "+1001f8804",
        ] {
            assert!(EngineId::from_text(text).is_err(), "{text}");
        }
        assert_eq!(hex(&[0x80, 0, 0x1f]), "80001f");
    }

    #[test]
    fn encodings_go_by_their_labels() {
        assert_eq!(Encoding::from_text("GBK").unwrap().0, encoding_rs::GBK);
        assert_eq!(Encoding::from_text("latin1").unwrap().0, encoding_rs::WINDOWS_1252);
        assert!(Encoding::from_text("klingon").is_err());
        assert!(Encoding::from_text("utf-16le").is_err(), "no name would be read");
        assert!(Encoding::from_text("iso-2022-kr").is_err(), "decodes nothing");
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(Mode::from_text("0640"), Ok(Mode(0o640)));
        assert_eq!(Mode::from_text("644"), Ok(Mode(0o644)));
        for text in ["", "8", "0888", "+640", "1777", "06400"] {
            assert!(Mode::from_text(text).is_err(), "{text}");
        }
    }
}
