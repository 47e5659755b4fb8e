//! Octets to text: byte-order marks, UTF-16, and what is no text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::LegacyError;

/// The longest line that a table may have.
pub(super) const LINE_LIMIT: usize = 1 << 20;

/// The text of a file. Octets that are not UTF-8 become U+FFFD: old tables may hold remarks
/// in any encoding beside addresses and names in ASCII.
pub(super) fn decode(file: &[u8]) -> Result<Cow<'_, str>, LegacyError> {
    if let Some((encoding, mark)) = Encoding::for_bom(file).filter(|(encoding, _)| *encoding != UTF_8) {
        return utf16(file.get(mark..).unwrap_or_default(), encoding);
    }
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    if let Some(encoding) = without_mark(file) {
        return utf16(file, encoding);
    }
    if memchr::memchr(0, file).is_some() {
        return Err(LegacyError::NotText("it holds zero octets"));
    }
    Ok(String::from_utf8_lossy(file))
}

/// Refuses a file without lines before a reader takes all of it for one.
pub(super) fn lines_are_lines(text: &str) -> Result<(), LegacyError> {
    let ends = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).chain([text.len()]);
    let mut from = 0;
    let long = ends.into_iter().position(|end| end - std::mem::replace(&mut from, end + 1) > LINE_LIMIT);
    // JSON has its own structure.
    match long.filter(|_| !text.trim_start().starts_with('{')) {
        Some(line) => Err(LegacyError::LongLine { line: line as u64 + 1, limit: LINE_LIMIT }),
        None => Ok(()),
    }
}

/// A line that goes on for so long ends the reading, whatever follows.
pub(super) const ENDLESS: usize = 16 << 20;

/// Whether a file may be JSON, which needs no lines, by its beginning and its line so far.
pub(super) fn is_json(file: &[u8], line: &[u8]) -> bool {
    file.trim_ascii_start().starts_with(b"{") && memchr::memchr(b'"', line).is_some()
}

fn utf16<'t>(octets: &'t [u8], encoding: &'static Encoding) -> Result<Cow<'t, str>, LegacyError> {
    match encoding.decode_without_bom_handling_and_without_replacement(octets) {
        Some(text) => Ok(text),
        None => Err(LegacyError::NotText("it begins as UTF-16 and does not stay it")),
    }
}

/// UTF-16 without a mark: in a table nearly every second octet is zero.
fn without_mark(file: &[u8]) -> Option<&'static Encoding> {
    let head = file.get(..file.len().min(512) & !1)?;
    let zeros = |at: usize| head.iter().skip(at).step_by(2).filter(|octet| **octet == 0).count();
    let many = |count: usize| count * 10 > head.len() / 2 * 8;
    match (zeros(0), zeros(1)) {
        (0, odd) if many(odd) => Some(UTF_16LE),
        (even, 0) if many(even) => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, mark: bool, little: bool) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        let order = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        mark.into_iter().chain(text.encode_utf16()).flat_map(order).collect()
    }

    #[test]
    fn marks_and_utf16_are_understood() {
        let text = "10.0.0.0/24\tgz-01\r\n";
        assert_eq!(decode(format!("\u{feff}{text}").as_bytes()).unwrap(), text);
        for (mark, little) in [(true, true), (true, false), (false, true), (false, false)] {
            assert_eq!(decode(&utf16(text, mark, little)).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert!(matches!(decode(b"10.0.0.0/24\0gz-01\n"), Err(LegacyError::NotText(_))));
        assert!(matches!(decode(b"\xff\xfe1\0\x00\xd8"), Err(LegacyError::NotText(_))));
        let long = "x".repeat(LINE_LIMIT + 1);
        let wrong = LegacyError::LongLine { line: 2, limit: LINE_LIMIT };
        assert_eq!(lines_are_lines(&format!("a\n{long}")), Err(wrong));
        assert_eq!(lines_are_lines(&format!("{{{long}")), Ok(()));
    }

    #[test]
    fn other_encodings_leave_their_mark() {
        assert_eq!(decode(b"10.0.0.0/24,\xb9\xe3,a\n").unwrap(), "10.0.0.0/24,\u{fffd}\u{fffd},a\n");
    }
}
