//! Keeps secrets out of the lines that error messages quote.
//!
//! A message quotes the line that it is about, and that line may hold a community or a
//! password, be it in a file that is no proper TOML. So what looks like the value of a key
//! that holds a secret is found in the text itself, not in what was parsed.

use std::ops::Range;

/// Keys whose values are secrets, or are likely meant as such.
pub(super) const KEYS: [&str; 7] =
    ["community", "secret", "auth", "authorization", "privacy", "password", "passphrase"];

/// The stretches of a text that must not be shown.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    KEYS.iter()
        .flat_map(|key| text.match_indices(key))
        .filter_map(|(at, key)| value_of(text, at, key))
        .collect()
}

/// The text of a line, with what lies in one of the stretches as stars. Control characters
/// do not reach the terminal.
pub(super) fn show(text: &str, line: Range<usize>, hidden: &[Range<usize>]) -> String {
    let start = line.start;
    let shown = text.get(line).unwrap_or_default().trim_end_matches('\r');
    let masked = |at: usize| hidden.iter().any(|range| range.contains(&(start + at)));
    shown
        .char_indices()
        .map(|(at, c)| {
            if masked(at) {
                '*'
            } else if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

/// All strings of a line: for lines of which nobody can say what they mean.
pub(super) fn strings(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = line.start;
    while let Some(open) = text.get(at..line.end).and_then(|rest| rest.find(['"', '\''])) {
        let end = string_end(text, at + open);
        found.push(at + open + 1..end);
        at = (end + 1).min(line.end);
    }
    found
}

/// The value that stands behind a key, where this is a key at all.
fn value_of(text: &str, at: usize, key: &str) -> Option<Range<usize>> {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.get(..at)?.ends_with(inner) {
        return None;
    }
    let behind = text.get(at + key.len()..)?;
    let equals = behind.trim_start_matches(['"', '\'']).trim_start_matches([' ', '\t']);
    let value = equals.strip_prefix('=')?.trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    match value.chars().next()? {
        '{' => None,
        '"' | '\'' => Some(start + 1..string_end(text, start)),
        '[' => Some(start..start + value.find('\n').unwrap_or(value.len())),
        _ => Some(start..start + value.find([',', '}', '#', '\n']).unwrap_or(value.len())),
    }
}

/// Where the string that opens at an octet ends; an unclosed one ends with its line.
fn string_end(text: &str, open: usize) -> usize {
    let rest = text.get(open..).unwrap_or_default();
    for triple in ["\"\"\"", "'''"] {
        if let Some(body) = rest.strip_prefix(triple) {
            return body.find(triple).map_or(text.len(), |i| open + 3 + i);
        }
    }
    let quote = rest.chars().next().unwrap_or('"');
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return open + i,
            '\\' if quote == '"' && !escaped => escaped = true,
            c if c == quote && !escaped => return open + i,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        show(text, 0..text.len(), &secrets(text))
    }

    #[test]
    fn values_of_secret_keys_are_hidden_in_every_form() {
        assert_eq!(masked(r#"community = "public" # x"#), r#"community = "******" # x"#);
        assert_eq!(masked(r#""community"='pub'"#), r#""community"='***'"#);
        assert_eq!(
            masked(r#"auth = { protocol = "md5", secret = "a\"b" }"#),
            r#"auth = { protocol = "md5", secret = "****" }"#
        );
        assert_eq!(masked("auth.secret = \"abc"), "auth.secret = \"***", "unclosed");
        assert_eq!(masked("authorization = \"Bearer x\""), "authorization = \"********\"");
        assert_eq!(masked("community = 12345, x"), "community = *****, x");
        assert_eq!(masked("auth = \"abc\""), "auth = \"***\"");
        assert_eq!(masked("community = [\"a\", \"b\"]"), "community = **********");
        assert_eq!(masked("secret = '''ab\ncd'''"), "secret = '*******'''", "over two lines");
    }

    #[test]
    fn control_characters_are_not_shown() {
        assert_eq!(masked("a\t\x1b[31m"), "a\t\u{fffd}[31m");
    }

    #[test]
    fn references_and_other_keys_are_shown() {
        for text in [
            r#"community = { env = "SNMP" }"#,
            r#"context-community = "{community}@x""#,
            r#"user = "secret""#,
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn all_strings_of_a_broken_line_can_be_hidden() {
        let text = "comunity = \"abc\" 'de' \"fg";
        assert_eq!(show(text, 0..text.len(), &strings(text, 0..text.len())), "comunity = \"***\" '**' \"**");
    }
}
