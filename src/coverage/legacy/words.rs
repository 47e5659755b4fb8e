//! Words of configuration files: what nginx, gdnsd and BIND have in common. Comments begin
//! with `#`, `//` or `/*`; words may stand in quotes.

/// A word and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    /// What it is.
    pub(super) kind: Kind<'t>,
    /// Its line, from 1.
    pub(super) line: u64,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// A text, quotes taken off.
    Text(&'t str),
    /// `;`
    End,
    /// `,`
    Comma,
    /// `{`
    Open,
    /// `}`
    Close,
    /// `[`
    ListOpen,
    /// `]`
    ListClose,
    /// `=>`
    Arrow,
    /// `!`
    Not,
    /// A quote that is not closed in its line.
    Unclosed(&'t str),
}

/// The words of a text.
#[derive(Clone, Debug)]
pub(super) struct Words<'t> {
    rest: &'t str,
    line: u64,
}

impl<'t> Words<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// Passes blanks and comments over.
    fn skip(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.pass(blank);
            let comment = match self.rest.as_bytes() {
                [b'#', ..] | [b'/', b'/', ..] => self.rest.find(['\n', '\r']),
                [b'/', b'*', ..] => self.rest.find("*/").map(|end| end + 2),
                _ => return,
            };
            self.pass(comment.unwrap_or(self.rest.len()));
        }
    }

    /// Goes on by some octets, and counts the lines in them.
    fn pass(&mut self, count: usize) -> &'t str {
        let (passed, rest) = self.rest.split_at_checked(count).unwrap_or((self.rest, ""));
        self.line += lines_in(passed);
        self.rest = rest;
        passed
    }

    fn quoted(&mut self, quote: char) -> Kind<'t> {
        let inner = self.rest.get(1..).unwrap_or_default();
        let within = inner.split(['\n', '\r']).next().unwrap_or_default();
        match within.find(quote) {
            Some(end) => {
                self.pass(end + 2);
                Kind::Text(inner.get(..end).unwrap_or_default())
            }
            None => {
                self.pass(within.len() + 1);
                Kind::Unclosed(within)
            }
        }
    }

    fn sign(&mut self, count: usize, kind: Kind<'t>) -> Kind<'t> {
        self.pass(count);
        kind
    }
}

/// How many lines end in a text: at CR LF, LF or CR.
fn lines_in(text: &str) -> u64 {
    let ends = |(at, octet): (usize, &u8)| match octet {
        b'\n' => true,
        b'\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    text.as_bytes().iter().enumerate().filter(|end| ends(*end)).count() as u64
}

impl<'t> Iterator for Words<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        self.skip();
        let line = self.line;
        let kind = match self.rest.as_bytes() {
            [] => return None,
            [b'=', b'>', ..] => self.sign(2, Kind::Arrow),
            [b';', ..] => self.sign(1, Kind::End),
            [b',', ..] => self.sign(1, Kind::Comma),
            [b'{', ..] => self.sign(1, Kind::Open),
            [b'}', ..] => self.sign(1, Kind::Close),
            [b'[', ..] => self.sign(1, Kind::ListOpen),
            [b']', ..] => self.sign(1, Kind::ListClose),
            [b'!', ..] => self.sign(1, Kind::Not),
            [b'"', ..] => self.quoted('"'),
            [b'\'', ..] => self.quoted('\''),
            _ => {
                let stops = |c: char| c.is_whitespace() || ";,{}[]\"'".contains(c);
                let end = self.rest.find(stops).unwrap_or(self.rest.len());
                // `a=>b` has no blanks around its arrow.
                let end = self.rest.get(..end).and_then(|word| word.find("=>")).unwrap_or(end);
                Kind::Text(self.pass(end.max(1)))
            }
        };
        Some(Word { kind, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_lines() {
        let text = "a \"b c\"; # x\r\n/* y\n */ d=>[e,!f] // z\rg 'h\n}";
        let found: Vec<_> = Words::new(text).map(|word| (word.line, word.kind)).collect();
        assert_eq!(
            found,
            [
                (1, Kind::Text("a")),
                (1, Kind::Text("b c")),
                (1, Kind::End),
                (3, Kind::Text("d")),
                (3, Kind::Arrow),
                (3, Kind::ListOpen),
                (3, Kind::Text("e")),
                (3, Kind::Comma),
                (3, Kind::Not),
                (3, Kind::Text("f")),
                (3, Kind::ListClose),
                (4, Kind::Text("g")),
                (4, Kind::Unclosed("h")),
                (5, Kind::Close),
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[a\"'{}!=>#/*,; \r\né]{0,40}") {
            let mut words = Words::new(&text);
            proptest::prop_assert!(words.by_ref().take(100).count() <= 40);
            proptest::prop_assert!(words.rest.is_empty());
        }
    }
}
