//! How names from routers and configurations are written where a template has them: as one
//! word or one quoted string of the target's language, whatever they hold.

use std::fmt::Write;

use serde::Deserialize;

/// A target's way to write a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Escape {
    /// Letters, digits, `.`, `_`, `-`; an underscore for every other character, `-` for an
    /// empty text.
    #[default]
    Word,
    /// A JSON string with its quotes: also one of YAML and JavaScript.
    Json,
    /// A Lua string with its quotes.
    Lua,
    /// A CSV cell with its quotes (RFC 4180); a space for every control character.
    Csv,
}

impl Escape {
    /// Appends the text.
    pub(super) fn write(self, out: &mut String, text: &str) {
        match self {
            Self::Word if text.is_empty() => out.push('-'),
            Self::Word => out.extend(text.chars().map(|c| if is_word(c) { c } else { '_' })),
            Self::Json => quoted(out, text.encode_utf16().map(u32::from), |out, unit| {
                let _infallible = write!(out, "\\u{unit:04x}");
            }),
            Self::Lua => quoted(out, text.bytes().map(u32::from), |out, octet| {
                let _infallible = write!(out, "\\{octet:03}");
            }),
            Self::Csv => {
                let clean = text.replace(char::is_control, " ").replace('"', "\"\"");
                out.extend(["\"", &clean, "\""]);
            }
        }
    }

    /// How many octets at the beginning are one text of this kind; none where there is none.
    pub(super) fn scan(self, text: &str) -> Option<usize> {
        if self == Self::Word {
            let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
            return (length > 0).then_some(length);
        }
        let mut rest = text.strip_prefix('"')?.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            match c {
                '"' if self == Self::Csv && rest.next_if(|(_, next)| *next == '"').is_some() => {}
                '"' => return Some(at + 2),
                '\\' if self != Self::Csv => drop(rest.next()?),
                c if c.is_control() => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether a text of this kind may go on with the character.
    pub(super) fn goes_on_with(self, c: char) -> bool {
        match self {
            Self::Word => is_word(c),
            Self::Csv => c == '"',
            Self::Json | Self::Lua => false,
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Plain ASCII as it is, everything else by `escape`.
fn quoted(out: &mut String, units: impl Iterator<Item = u32>, escape: impl Fn(&mut String, u32)) {
    out.push('"');
    for unit in units {
        match u8::try_from(unit).map(char::from) {
            Ok(c) if (' '..='~').contains(&c) && c != '"' && c != '\\' => out.push(c),
            _ => escape(out, unit),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Escape; 4] = [Escape::Word, Escape::Json, Escape::Lua, Escape::Csv];

    fn written(escape: Escape, text: &str) -> String {
        let mut out = String::new();
        escape.write(&mut out, text);
        out
    }

    #[test]
    fn each_target_gets_its_own_spelling() {
        let text = "a\"b\\c\nd\u{e9}\u{1f600}";
        assert_eq!(written(Escape::Word, text), "a_b_c_d__");
        assert_eq!(written(Escape::Word, ""), "-");
        assert_eq!(written(Escape::Json, text), r#""a\u0022b\u005cc\u000ad\u00e9\ud83d\ude00""#);
        assert_eq!(written(Escape::Lua, text), r#""a\034b\092c\010d\195\169\240\159\152\128""#);
        assert_eq!(written(Escape::Csv, text), "\"a\"\"b\\c d\u{e9}\u{1f600}\"");
    }

    proptest! {
        #[test]
        fn what_is_written_is_one_text_and_ends_where_it_ends(text in any::<String>(), behind in "[ ,;:)].{0,9}") {
            for escape in ALL {
                let out = written(escape, &text);
                prop_assert!(!out.contains(char::is_control), "{:?}", out);
                prop_assert_eq!(escape.scan(&format!("{out}{behind}")), Some(out.len()), "{:?}", escape);
            }
            let json = written(Escape::Json, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
