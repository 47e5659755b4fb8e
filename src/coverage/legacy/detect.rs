//! Telling the format of a table by its content.

use super::LegacyFormat;
use super::words::{Kind, Words};
use crate::address::Range;

/// The mark in front of an MMDB's metadata, near its end.
const MMDB: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// How much of a text is looked at.
const LOOKED_AT: usize = 64 * 1024;

pub(super) fn is_mmdb(file: &[u8]) -> bool {
    let tail = file.get(file.len().saturating_sub(128 * 1024)..).unwrap_or_default();
    memchr::memmem::find(tail, MMDB).is_some()
}

/// The format of a text; a table of cells where it is nothing else.
pub(super) fn format(text: &str) -> LegacyFormat {
    let end = (0..=LOOKED_AT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let head = text.get(..end).unwrap_or_default();
    if head.trim_start().starts_with('{') {
        return json(head);
    }
    let mut words = Words::new(head);
    let (mut earlier, mut line) = (None, 0);
    for _ in 0..200 {
        let Some(word) = words.next() else { break };
        match (&word.kind, &earlier) {
            (Kind::Arrow, _) => return LegacyFormat::GdnsdNets,
            (Kind::Open, Some(("acl" | "view", _))) => return LegacyFormat::BindAcl,
            (Kind::Open, Some(("geo", _))) => return LegacyFormat::NginxGeo,
            (Kind::End, Some((first, 2))) if line == word.line && opens_a_geo_row(first) => {
                return LegacyFormat::NginxGeo;
            }
            (Kind::End | Kind::Open | Kind::Close, _) => earlier = None,
            (Kind::Text(text), None) => (earlier, line) = (Some((*text, 1)), word.line),
            (_, Some((first, count))) => earlier = Some((first, count + 1)),
            (_, None) => (),
        }
    }
    LegacyFormat::Csv
}

fn opens_a_geo_row(word: &str) -> bool {
    matches!(word, "default" | "delete" | "include" | "proxy") || word.parse::<Range>().is_ok()
}

fn json(head: &str) -> LegacyFormat {
    let zones = head.contains("overageZones\"");
    let entries = head.contains("\"entries\"") || head.contains("\"session\"");
    if zones {
        LegacyFormat::Czf
    } else if entries {
        LegacyFormat::Json
    } else if head.lines().next().is_some_and(|line| line.contains("\"first\"") && line.contains("\"last\""))
    {
        LegacyFormat::Ndjson
    } else {
        LegacyFormat::Czf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_content() {
        for (text, wanted) in [
            ("10.0.0.0/24,gz-01\n", LegacyFormat::Csv),
            ("range;bas\n10.0.0.0/24;gz-1;\n", LegacyFormat::Csv),
            ("10.0.0.0/24;gz-1;\n10.0.1.0/24;gz-1;\n", LegacyFormat::Csv),
            ("10.0.0.0/24; gz-1;\n10.0.1.0/24; gz-1;\n", LegacyFormat::Csv),
            ("a;10.0.0.0;10.0.0.255\nb;10.0.1.5;10.0.1.9\n", LegacyFormat::Csv),
            ("# a map\n10.0.0.0/24 gz-01\n", LegacyFormat::Csv),
            ("# a table\n10.0.0.0/24 gz-01;\n", LegacyFormat::NginxGeo),
            ("10.0.0.0-10.0.0.255 gz-01;\n", LegacyFormat::NginxGeo),
            ("geo $edge {\n default centre;\n", LegacyFormat::NginxGeo),
            ("default centre;\n10.0.0.0/24 gz-01;", LegacyFormat::NginxGeo),
            ("10.0.0.0/24 => gz-01\n", LegacyFormat::GdnsdNets),
            ("10.0.0.0/24 => [ gz-01, gz-02 ]\n", LegacyFormat::GdnsdNets),
            ("// lists\nacl \"gz-01\" {\n 10.0.0.0/24;\n};\n", LegacyFormat::BindAcl),
            ("{\"coverageZones\":{}}", LegacyFormat::Czf),
            ("{\"deepCoverageZones\":{}}", LegacyFormat::Czf),
            ("{\"session\":\"00\",\"entries\":[]}", LegacyFormat::Json),
            ("{\"space\":\"internet\",\"first\":\"10.0.0.0\",\"last\":\"10.0.0.1\"}\n", LegacyFormat::Ndjson),
            ("", LegacyFormat::Csv),
        ] {
            assert_eq!(format(text), wanted, "{text}");
        }
    }
}
