//! The data types of MaxMind DB files, as far as ours have them: written, and strictly read.

use std::str;

const STRING: u8 = 2;
const UINT16: u8 = 5;
const UINT32: u8 = 6;
const MAP: u8 = 7;
const UINT64: u8 = 9;
const ARRAY: u8 = 11;

/// Nothing that we write is nested deeper.
const MAX_DEPTH: u8 = 8;

/// Appends values one behind the other.
#[derive(Default)]
pub(super) struct Encoder {
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.out
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// A map's beginning; its pairs follow.
    pub(super) fn map(&mut self, pairs: usize) {
        self.control(MAP, pairs);
    }

    /// An array's beginning; its elements follow.
    pub(super) fn array(&mut self, elements: usize) {
        self.control(ARRAY, elements);
    }

    pub(super) fn string(&mut self, text: &str) {
        self.control(STRING, text.len());
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A key and its text.
    pub(super) fn pair(&mut self, key: &str, text: &str) {
        self.string(key);
        self.string(text);
    }

    pub(super) fn uint16(&mut self, number: u16) {
        self.uint(UINT16, number.into());
    }

    pub(super) fn uint32(&mut self, number: u32) {
        self.uint(UINT32, number.into());
    }

    pub(super) fn uint64(&mut self, number: u64) {
        self.uint(UINT64, number);
    }

    fn uint(&mut self, kind: u8, number: u64) {
        let octets = number.to_be_bytes();
        let zeros = number.leading_zeros() as usize / 8;
        self.control(kind, octets.len() - zeros);
        self.out.extend(octets.iter().skip(zeros));
    }

    /// The control octet, the extended type, the size: in this order.
    fn control(&mut self, kind: u8, size: usize) {
        let (five, rest) = match size {
            0..=28 => (size as u8, &[][..]),
            29..=284 => (29, &(size as u32 - 29).to_be_bytes()[3..]),
            285..=65820 => (30, &(size as u32 - 285).to_be_bytes()[2..]),
            _ => (31, &(size as u32 - 65821).to_be_bytes()[1..]),
        };
        if kind <= 7 {
            self.out.push(kind << 5 | five);
        } else {
            self.out.extend_from_slice(&[five, kind - 7]);
        }
        self.out.extend_from_slice(rest);
    }
}

/// A value as read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Number(u64),
    Map(Vec<(&'a str, Value<'a>)>),
    Array(Vec<Value<'a>>),
}

impl<'a> Value<'a> {
    /// The text, where it is one.
    pub(super) const fn text(&self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads values one behind the other. Pointers and types that we do not write are refused.
pub(super) struct Decoder<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Where the next value begins.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.at >= self.data.len()
    }

    /// The next value; nothing where there is none of ours.
    pub(super) fn value(&mut self) -> Option<Value<'a>> {
        self.nested(0)
    }

    fn nested(&mut self, depth: u8) -> Option<Value<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (kind, size) = self.control()?;
        match kind {
            STRING => str::from_utf8(self.take(size)?).ok().map(Value::Text),
            UINT16 | UINT32 | UINT64 => self.uint(kind, size).map(Value::Number),
            MAP => {
                let pair = |_| match self.nested(depth + 1)? {
                    Value::Text(key) => Some((key, self.nested(depth + 1)?)),
                    _ => None,
                };
                (0..size).map(pair).collect::<Option<_>>().map(Value::Map)
            }
            ARRAY => (0..size).map(|_| self.nested(depth + 1)).collect::<Option<_>>().map(Value::Array),
            _ => None,
        }
    }

    fn uint(&mut self, kind: u8, size: usize) -> Option<u64> {
        let widest = match kind {
            UINT16 => 2,
            UINT32 => 4,
            _ => 8,
        };
        let octets = self.take(size)?;
        let minimal = octets.first() != Some(&0);
        (size <= widest && minimal).then(|| octets.iter().fold(0, |n, o| n << 8 | u64::from(*o)))
    }

    fn control(&mut self) -> Option<(u8, usize)> {
        let first = self.octet()?;
        let kind = match first >> 5 {
            0 => self.octet()?.checked_add(7)?,
            kind => kind,
        };
        let size = match first & 0x1f {
            29 => 29 + self.number(1)?,
            30 => 285 + self.number(2)?,
            31 => 65821 + self.number(3)?,
            size => size.into(),
        };
        Some((kind, size))
    }

    fn number(&mut self, octets: usize) -> Option<usize> {
        Some(self.take(octets)?.iter().fold(0, |n, o| n << 8 | usize::from(*o)))
    }

    fn octet(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn take(&mut self, octets: usize) -> Option<&'a [u8]> {
        let taken = self.data.get(self.at..self.at.checked_add(octets)?)?;
        self.at += octets;
        Some(taken)
    }
}
