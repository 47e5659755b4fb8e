//! Small types that are written as strings: patterns, engine ids, encodings, templates.

use std::fmt;

use super::value::FromText;
use crate::snmp;

/// A pattern for names: `*` stands for any text, `?` for one character, everything else for
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern. Every text is one.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name fits, as a whole. Takes at most the product of both lengths in steps.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut p, mut n) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(c) if *c == '?' || Some(c) == name.get(n) => (p, n) = (p + 1, n + 1),
                _ => match &mut star {
                    Some((at, taken)) => {
                        *taken += 1;
                        (p, n) = (*at + 1, *taken);
                    }
                    None => return false,
                },
            }
        }
        pattern.iter().skip(p).all(|c| *c == '*')
    }
}

impl FromText for Glob {
    const EXPECTED: &'static str = "a pattern for names, as \"iptv-*\" (* any text, ? one character)";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err("fits nothing".to_owned()) } else { Ok(Self::new(text)) }
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

/// The encoding of pool names, by one of its labels of the WHATWG Encoding Standard.
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
            Some(encoding) => Ok(Self(encoding)),
            None => Err("is not an encoding".to_owned()),
        }
    }
}

/// How the community of an SNMPv2c context is made: `"{community}@{context}"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCommunity(String);

impl ContextCommunity {
    /// The community for a context: the template with both filled in.
    pub fn fill(&self, community: &snmp::Secret, context: &[u8]) -> snmp::Secret {
        let mut octets = Vec::new();
        let mut rest = self.0.as_str();
        while let Some(c) = rest.chars().next() {
            if let Some(behind) = rest.strip_prefix("{community}") {
                octets.extend_from_slice(community.expose());
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix("{context}") {
                octets.extend_from_slice(context);
                rest = behind;
            } else {
                let (this, behind) = rest.split_at(c.len_utf8());
                octets.extend_from_slice(this.as_bytes());
                rest = behind;
            }
        }
        snmp::Secret::new(octets)
    }

    /// The template as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromText for ContextCommunity {
    const EXPECTED: &'static str =
        "a template that holds {community} and {context}, as \"{community}@{context}\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let whole = text.contains("{community}") && text.contains("{context}");
        if whole { Ok(Self(text.to_owned())) } else { Err("lacks {community} or {context}".to_owned()) }
    }
}

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
    fn patterns_fit_whole_names() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("iptv-*", "iptv-1", true),
            ("iptv-*", "my-iptv-1", false),
            ("*a*b", "xaxxab", true),
            ("?", "é", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("[a]", "a", false),
            ("", "", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), fits, "{pattern} {name}");
        }
    }

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
        assert!(Encoding::from_text("iso-2022-kr").is_err(), "decodes nothing");
    }

    #[test]
    fn a_context_community_is_filled_once() {
        let template = ContextCommunity::from_text("{community}@{context}").unwrap();
        let community = snmp::Secret::new("pub{context}");
        assert_eq!(template.fill(&community, b"vr\xff1").expose(), b"pub{context}@vr\xff1");
        assert!(ContextCommunity::from_text("{community}").is_err());
        assert!(ContextCommunity::from_text("x@{context}").is_err());
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
