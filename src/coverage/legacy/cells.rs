//! Lines cut into cells, as spreadsheets and people write them (RFC 4180 and looser).

use std::borrow::Cow;

use memchr::{memchr, memchr2, memrchr};

use crate::address::Range;

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// This octet.
    Octet(u8),
    /// Blanks and tabs, any number of them.
    Blanks,
}

/// One line that says something.
#[derive(Clone, Debug)]
pub(super) struct Record<'t> {
    /// Its number, from 1.
    pub(super) line: u64,
    /// The line itself.
    pub(super) raw: &'t str,
    /// Its cells, blanks around them and quotes taken off.
    pub(super) cells: Vec<Cow<'t, str>>,
}

/// A line that cannot be cut into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault<'t> {
    pub(super) line: u64,
    pub(super) raw: &'t str,
    pub(super) detail: &'static str,
}

/// Cuts a text into records. Empty lines and those that begin with `#` are passed over.
#[derive(Clone, Debug)]
pub(super) struct Records<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    separator: Separator,
}

/// The most lines that a cell in quotes may go over.
const CELL_LINES: u64 = 64;

impl<'t> Records<'t> {
    pub(super) const fn new(text: &'t str, separator: Separator) -> Self {
        Self { text, at: 0, line: 0, separator }
    }

    /// The next line, without its end.
    fn line(&mut self) -> Option<&'t str> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        self.at += end + if rest.as_bytes().get(end..end + 2) == Some(b"\r\n") { 2 } else { 1 };
        self.line += 1;
        rest.get(..end)
    }

    /// What stands between cells, where it is one octet.
    pub(super) const fn octet(&self) -> Option<u8> {
        match self.separator {
            Separator::Octet(octet) => Some(octet),
            Separator::Blanks => None,
        }
    }

    /// The next record behind lines that `takes` takes as they are; it gets their number.
    pub(super) fn next_behind(
        &mut self,
        mut takes: impl FnMut(u64, &'t str) -> bool,
    ) -> Option<Result<Record<'t>, Fault<'t>>> {
        loop {
            let (at, line) = (self.at, self.line);
            let raw = self.line()?;
            if !takes(self.line, raw) {
                (self.at, self.line) = (at, line);
                return self.next();
            }
        }
    }

    /// The next record.
    pub(super) fn next(&mut self) -> Option<Result<Record<'t>, Fault<'t>>> {
        loop {
            let start = self.at;
            let raw = self.line()?;
            if raw.trim().is_empty() || raw.trim_start().starts_with('#') {
                continue;
            }
            let line = self.line;
            let mut cells = Vec::with_capacity(4);
            return Some(match self.cut(start, raw, &mut cells) {
                Ok(()) => Ok(Record { line, raw, cells }),
                Err(detail) => Err(Fault { line, raw, detail }),
            });
        }
    }

    fn cut(&mut self, start: usize, raw: &'t str, cells: &mut Vec<Cow<'t, str>>) -> Result<(), &'static str> {
        match self.separator {
            Separator::Blanks => {
                let said = raw.split(" #").next().unwrap_or(raw);
                let mut words = said.split_ascii_whitespace().map(bare).peekable();
                while let Some(word) = words.next() {
                    // `10.0.0.1 - 10.0.0.9` is one range.
                    let last = words.next_if(|next| matches!(*next, "-" | "–")).and_then(|_| words.next());
                    cells.push(match last {
                        Some(last) => Cow::Owned(format!("{word}-{last}")),
                        None => Cow::Borrowed(word),
                    });
                }
                Ok(())
            }
            Separator::Octet(octet) if memchr(b'"', raw.as_bytes()).is_none() => {
                cells.extend(raw.split(char::from(octet)).map(|cell| Cow::Borrowed(cell.trim())));
                Ok(())
            }
            Separator::Octet(octet) => self.cut_quoted(start, octet, cells),
        }
    }

    /// Cuts a line that has quotes in it; a cell in quotes may go over lines.
    fn cut_quoted(
        &mut self,
        start: usize,
        octet: u8,
        cells: &mut Vec<Cow<'t, str>>,
    ) -> Result<(), &'static str> {
        let mut rest = self.text.get(start..).unwrap_or_default();
        loop {
            let blank = |c: char| c.is_whitespace() && !matches!(c, '\n' | '\r') && c != char::from(octet);
            rest = rest.trim_start_matches(blank);
            let length = match rest.strip_prefix('"') {
                Some(inner) => {
                    let (cell, length) = quoted(inner)?;
                    cells.push(cell);
                    length + 1
                }
                None => {
                    let stops = |c: char| matches!(c, '\n' | '\r') || c == char::from(octet);
                    let length = rest.find(stops).unwrap_or(rest.len());
                    cells.push(Cow::Borrowed(rest.get(..length).unwrap_or_default().trim()));
                    length
                }
            };
            rest = rest.get(length..).unwrap_or_default().trim_start_matches(blank);
            match rest.as_bytes().first() {
                Some(b) if *b == octet => rest = rest.get(1..).unwrap_or_default(),
                None | Some(b'\n' | b'\r') => return self.skip_to(self.text.len() - rest.len()),
                Some(_) => return Err("there is text behind a closing quote"),
            }
        }
    }

    /// Goes on behind the lines that a record took.
    fn skip_to(&mut self, end: usize) -> Result<(), &'static str> {
        let (at, line) = (self.at, self.line);
        while self.at < end {
            let taken = self.line().unwrap_or_default();
            let first = taken.split(['"', ',', ';', '\t', '|', ' ']).next().unwrap_or_default();
            if self.line - line > CELL_LINES || range(first).is_some() {
                (self.at, self.line) = (at, line);
                return Err("a quote is not closed in this line");
            }
        }
        Ok(())
    }
}

/// A cell in quotes, from behind the opening one: its text and its length, closing quote
/// included. Two quotes within it stand for one.
fn quoted(inner: &str) -> Result<(Cow<'_, str>, usize), &'static str> {
    let mut end = 0;
    loop {
        let rest = inner.as_bytes().get(end..).unwrap_or_default();
        end += memchr(b'"', rest).ok_or("a quote is never closed")?;
        if inner.as_bytes().get(end + 1) != Some(&b'"') {
            break;
        }
        end += 2;
    }
    let text = inner.get(..end).unwrap_or_default().trim();
    let text =
        if text.contains("\"\"") { Cow::Owned(text.replace("\"\"", "\"")) } else { Cow::Borrowed(text) };
    Ok((text, end + 1))
}

fn bare(cell: &str) -> &str {
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

/// The separator by which most lines have a range among several cells.
pub(super) fn separator(text: &str) -> Separator {
    const LINES: usize = 100;
    if let Some(told) = told(text) {
        return told;
    }
    let count = |separator| {
        let mut records = Records::new(text, separator);
        std::iter::from_fn(|| records.next())
            .take(LINES)
            .filter_map(Result::ok)
            .filter(|record| record.cells.len() > 1 && record.cells.iter().any(|cell| range(cell).is_some()))
            .count()
    };
    // In the first line that has it.
    let place = |octet: u8| match memchr(octet, text.as_bytes()) {
        Some(at) => {
            at - memrchr(b'\n', text.as_bytes().get(..at).unwrap_or_default()).map_or(0, |end| end + 1)
        }
        None => usize::MAX,
    };
    let octets = b"\t;,|".iter().map(|octet| (count(Separator::Octet(*octet)), place(*octet), *octet));
    let best = octets.min_by_key(|(lines, place, _)| (std::cmp::Reverse(*lines), *place));
    match best {
        Some((lines, _, octet)) if lines > 0 && lines >= count(Separator::Blanks) => Separator::Octet(octet),
        _ if count(Separator::Blanks) > 0 => Separator::Blanks,
        _ => Separator::Octet(b','),
    }
}

/// `sep=;` in the first line, as spreadsheets understand it.
pub(super) fn told(text: &str) -> Option<Separator> {
    let line = text.split(['\n', '\r']).next()?.trim_matches('"');
    match line.get(..4).filter(|key| key.eq_ignore_ascii_case("sep=")).and(line.as_bytes().get(4..)) {
        Some([octet]) if octet.is_ascii() => Some(Separator::Octet(*octet)),
        _ => None,
    }
}

/// The addresses of a cell: none where it is not even meant to be some; else the range, or
/// why it is none. A network and its mask are taken as a prefix, a dash of any length as one.
pub(super) fn range(cell: &str) -> Option<Result<Range, String>> {
    let begins = cell.as_bytes().first().is_some_and(|b| b.is_ascii_hexdigit() || *b == b':');
    if !begins || !cell.contains(['.', ':']) || !cell.contains(|c: char| c.is_ascii_digit() || c == ':') {
        return None;
    }
    let dashed = memchr(b'~', cell.as_bytes()).is_some() || !cell.is_ascii();
    let text = if dashed && cell.contains(['–', '—', '~', '−']) {
        Cow::Owned(cell.replace(['–', '—', '~', '−'], "-"))
    } else {
        Cow::Borrowed(cell)
    };
    if let Some((network, mask)) = text.split_once('/').filter(|(_, mask)| mask.contains('.')) {
        return Some(masked(network.trim(), mask.trim()));
    }
    match text.parse::<Range>() {
        Ok(range) => Some(Ok(range)),
        Err(e) if looks_like_addresses(&text) => Some(Err(e.to_string())),
        Err(_) => None,
    }
}

/// Digits and separators only: whoever wrote it meant addresses.
fn looks_like_addresses(text: &str) -> bool {
    let v4 =
        text.bytes().all(|b| b.is_ascii_digit() || b". -/".contains(&b)) && text.matches('.').count() >= 2;
    let v6 = text.bytes().all(|b| b.is_ascii_hexdigit() || b":. -/".contains(&b))
        && text.matches(':').count() >= 2;
    v4 || v6
}

/// A network and its mask.
pub(super) fn masked(network: &str, mask: &str) -> Result<Range, String> {
    let bits = match mask.parse::<std::net::Ipv4Addr>() {
        Ok(mask) => mask.to_bits(),
        Err(_) => return Err(format!("`{mask}` is no mask")),
    };
    if bits.leading_ones() + bits.trailing_zeros() != 32 {
        return Err(format!("`{mask}` is no mask"));
    }
    format!("{network}/{}", bits.leading_ones())
        .parse()
        .map_err(|e: crate::address::ParseRangeError| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = Vec<Result<(u64, Vec<String>), (u64, &'static str)>>;

    fn cut(text: &str, separator: Separator) -> Told {
        let mut records = Records::new(text, separator);
        std::iter::from_fn(|| records.next())
            .map(|record| match record {
                Ok(r) => Ok((r.line, r.cells.iter().map(ToString::to_string).collect())),
                Err(f) => Err((f.line, f.detail)),
            })
            .collect()
    }

    fn cells(line: u64, cells: &[&str]) -> Result<(u64, Vec<String>), (u64, &'static str)> {
        Ok((line, cells.iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn lines_end_as_any_system_ends_them() {
        let wanted = [cells(1, &["a", "b"]), cells(4, &["c", "", ""])];
        for end in ["\n", "\r\n", "\r"] {
            let text = ["a , b", "", "# x", "c,,"].join(end);
            assert_eq!(cut(&text, Separator::Octet(b',')), wanted);
        }
    }

    #[test]
    fn quotes_hold_separators_quotes_and_lines() {
        let text = "\"a;b\" ; \"c\"\"d\";\"e\nf\"\ng;h\n";
        assert_eq!(
            cut(text, Separator::Octet(b';')),
            [cells(1, &["a;b", "c\"d", "e\nf"]), cells(3, &["g", "h"])]
        );
    }

    #[test]
    fn a_faulty_quote_costs_its_line_alone() {
        let text = "10.0.0.0/24,\"a\n10.0.1.0/24,b\"\n10.0.2.0/24,c\n\"x\"y,z\nw,\"";
        assert_eq!(
            cut(text, Separator::Octet(b',')),
            [
                Err((1, "a quote is not closed in this line")),
                cells(2, &["10.0.1.0/24", "b\""]),
                cells(3, &["10.0.2.0/24", "c"]),
                Err((4, "there is text behind a closing quote")),
                Err((5, "a quote is never closed")),
            ]
        );
    }

    #[test]
    fn separators_are_found_by_what_they_yield() {
        for (text, wanted) in [
            ("10.0.0.0/24,a;b\n", Separator::Octet(b',')),
            ("10.0.0.0/24;a,b\n", Separator::Octet(b';')),
            ("10.0.0.0/24\ta,b\n", Separator::Octet(b'\t')),
            ("10.0.0.1 - 10.0.0.9,a b\n", Separator::Octet(b',')),
            ("| 10.0.0.0/24 | a |\n", Separator::Octet(b'|')),
            ("10.0.0.0/24 a;b\n10.0.1.0/24 a\n", Separator::Blanks),
            ("10.0.0.0/24   a\n", Separator::Blanks),
            ("sep=|\n10.0.0.0/24,a|b", Separator::Octet(b'|')),
            ("nothing\n", Separator::Octet(b',')),
        ] {
            assert_eq!(separator(text), wanted, "{text}");
        }
    }

    #[test]
    fn ranges_are_read_as_people_write_them() {
        let read = |text: &str| range(text).map(|r| r.map(|r| r.to_string()).map_err(|_| ()));
        let pool = Some(Ok("10.0.0.0-10.0.0.255".to_owned()));
        for text in ["10.0.0.0/24", "10.0.0.0 – 10.0.0.255", "10.0.0.0~10.0.0.255", "10.0.0.0/255.255.255.0"]
        {
            assert_eq!(read(text), pool, "{text}");
        }
        for wrong in ["10.0.0.300", "10.0.0.1/24", "10.0.0.0/255.0.255.0", "10.0.0.9-10.0.0.1", "10.0.0.0/33"]
        {
            assert_eq!(read(wrong), Some(Err(())), "{wrong}");
        }
        for other in ["", "gz-01", "a.b.example", "bas", "e1.example:80", "1.5", "-", "12"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[a\", \n\r#é1.]{0,60}") {
            let lines = text.len() as u64 + 1;
            for record in cut(&text, Separator::Octet(b',')) {
                let line = match record { Ok((line, _)) | Err((line, _)) => line };
                proptest::prop_assert!(line <= lines);
            }
        }
    }
}
