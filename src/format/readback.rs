//! What our own strict readers find in a file, and whether it is what was meant.

use std::collections::HashMap;
use std::net::IpAddr;

use thiserror::Error;

use super::carried::carried;
use super::view::{View, join};
use crate::address::Range;
use crate::table::{Name, Token};

/// Why a file is not one of ours, or not whole.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct ReadError {
    /// Where: `line 3`, `byte 1234`, `metadata`.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

impl ReadError {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }
}

/// One stretch of addresses as a file answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRow {
    /// The space, in formats that name it.
    pub space: Option<Name>,
    /// The addresses.
    pub range: Range,
    /// The group's token.
    pub token: Token,
}

/// What a file says: rows sorted by space, family and first address, disjoint; and what it
/// answers to every other address. Formats that leave the default to the consumer's own
/// configuration have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBack {
    rows: Vec<ReadRow>,
    default: Option<Token>,
}

/// Where a file differs from the table that it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// Addresses are answered otherwise than the table says.
    #[error("{range} should be answered with {expected}, the file says {found}")]
    Answer {
        /// The first stretch that differs.
        range: Range,
        /// The token that the table gives, or `the default`.
        expected: String,
        /// The token that the file gives, or `the default`.
        found: String,
    },
    /// The file has another default.
    #[error("the default should be {expected}, the file says {found}")]
    Default {
        /// The default group's token.
        expected: Token,
        /// The file's.
        found: Token,
    },
}

impl ReadBack {
    /// The rows.
    pub fn rows(&self) -> &[ReadRow] {
        &self.rows
    }

    /// What addresses in no row are answered with.
    pub const fn default(&self) -> Option<&Token> {
        self.default.as_ref()
    }

    /// Every token in the file.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.rows.iter().map(|row| &row.token).chain(&self.default)
    }

    /// How the file answers an address. `space` counts only in formats that name it.
    pub fn lookup(&self, space: &str, address: IpAddr) -> Option<&Token> {
        let wanted = Range::single(address);
        let key = (wanted.family(), wanted.first_bits());
        let behind = self.rows.partition_point(|row| {
            let own = row.space.as_deref().unwrap_or(space);
            (own, row.range.family(), row.range.first_bits()) <= (space, key.0, key.1)
        });
        let row = behind
            .checked_sub(1)
            .and_then(|at| self.rows.get(at))
            .filter(|row| row.space.as_deref().is_none_or(|own| own == space) && row.range.contains(address));
        row.map(|row| &row.token).or(self.default.as_ref())
    }

    /// Whether the file answers every address of the families' whole space as the view does.
    /// `excluded` is what the format cannot speak of ([`super::Format::excluded`]).
    ///
    /// # Errors
    /// The first difference.
    pub fn verify(&self, view: &View<'_>, excluded: &'static [Range]) -> Result<(), Mismatch> {
        if let Some(found) = self.default.as_ref().filter(|d| **d != view.default_group().token) {
            let expected = view.default_group().token.clone();
            return Err(Mismatch::Default { expected, found: found.clone() });
        }
        let spaced = self.rows.first().is_some_and(|row| row.space.is_some());
        let wanted = view.answers().flat_map(|a| {
            let space = if spaced { Some(a.space) } else { None };
            carried(a.range, excluded).map(move |range| (space, range, a.token))
        });
        let found = self.rows.iter().map(|row| (row.space.as_ref(), row.range, &row.token));
        let default = self.default.as_ref();
        compare(normal(wanted, default), normal(found, default))
    }
}

type Stretch<'a> = (Option<&'a Name>, Range, &'a Token);

/// Stretches with touching ones of one answer joined, and those that say no more than the
/// default left out: two tables answer alike exactly when these are equal.
fn normal<'a>(
    stretches: impl Iterator<Item = Stretch<'a>>,
    default: Option<&Token>,
) -> impl Iterator<Item = Stretch<'a>> {
    let mut stretches = stretches.filter(move |(_, _, token)| Some(*token) != default).peekable();
    std::iter::from_fn(move || {
        let (space, mut range, token) = stretches.next()?;
        while let Some(joined) = stretches
            .peek()
            .filter(|next| (next.0, next.2) == (space, token))
            .and_then(|next| join(range, next.1))
        {
            range = joined;
            stretches.next();
        }
        Some((space, range, token))
    })
}

fn compare<'a>(
    mut wanted: impl Iterator<Item = Stretch<'a>>,
    mut found: impl Iterator<Item = Stretch<'a>>,
) -> Result<(), Mismatch> {
    loop {
        let (w, f) = (wanted.next(), found.next());
        if w == f {
            match w {
                Some(_) => continue,
                None => return Ok(()),
            }
        }
        return Err(difference(w, f));
    }
}

/// Two stretches that differ, as the first addresses that are answered otherwise.
fn difference(wanted: Option<Stretch<'_>>, found: Option<Stretch<'_>>) -> Mismatch {
    let key = |s: &Stretch<'_>| (s.0.cloned(), s.1.family(), s.1.first_bits());
    let text = |s: Option<&Stretch<'_>>| s.map_or("the default".to_owned(), |s| s.2.to_string());
    let (wanted, found) = match (wanted, found) {
        (Some(w), Some(f)) if key(&w) < key(&f) => (Some(w), None),
        (Some(w), Some(f)) if key(&w) > key(&f) => (None, Some(f)),
        (Some(w), Some(f)) if w.2 == f.2 => return uneven(&w, &f),
        both => both,
    };
    let range = wanted.or(found).map_or(Range::all(crate::address::Family::V4), |s| s.1);
    Mismatch::Answer { range, expected: text(wanted.as_ref()), found: text(found.as_ref()) }
}

/// Two stretches of one answer and first address that end apart: the tail of the longer.
fn uneven(wanted: &Stretch<'_>, found: &Stretch<'_>) -> Mismatch {
    let (short, long) = if wanted.1.span() < found.1.span() { (wanted, found) } else { (found, wanted) };
    let tail = Range::from_bits(long.1.family(), short.1.last_bits() + 1, long.1.last_bits());
    let (token, none) = (long.2.to_string(), "something else".to_owned());
    let (expected, found) = if short.1 == wanted.1 { (none, token) } else { (token, none) };
    Mismatch::Answer { range: tail.unwrap_or(long.1), expected, found }
}

/// Collects rows as a reader meets them: refuses what is out of order or overlaps, joins
/// touching rows of one answer, keeps one copy of each name.
#[derive(Default)]
pub(super) struct Collector {
    rows: Vec<ReadRow>,
    tokens: HashMap<Box<str>, Token>,
    spaces: HashMap<Box<str>, Name>,
}

impl Collector {
    /// The token of a text.
    pub(super) fn token(&mut self, text: &str) -> Result<Token, String> {
        if let Some(token) = self.tokens.get(text) {
            return Ok(token.clone());
        }
        let token = Token::new(text).ok_or_else(|| format!("`{}` is no token", text.escape_debug()))?;
        self.tokens.insert(text.into(), token.clone());
        Ok(token)
    }

    /// Takes the next row.
    pub(super) fn push(&mut self, space: Option<&str>, range: Range, token: &str) -> Result<(), String> {
        let token = self.token(token)?;
        self.push_token(space, range, token)
    }

    /// The same, with a token that [`Collector::token`] gave.
    pub(super) fn push_token(
        &mut self,
        space: Option<&str>,
        range: Range,
        token: Token,
    ) -> Result<(), String> {
        let space = space.map(|space| match self.spaces.get(space) {
            Some(name) => name.clone(),
            None => {
                let name = Name::from(space);
                self.spaces.insert(space.into(), name.clone());
                name
            }
        });
        if let Some(last) = self.rows.last_mut().filter(|last| last.space == space) {
            if last.range.family() == range.family() && last.range.last_bits() >= range.first_bits()
                || last.range.family() > range.family()
            {
                return Err(format!("{range} is not behind {}", last.range));
            }
            if let Some(joined) = join(last.range, range).filter(|_| last.token == token) {
                last.range = joined;
                return Ok(());
            }
        } else if self.rows.last().is_some_and(|last| last.space > space) {
            return Err("its space is not behind the one before".to_owned());
        }
        self.rows.push(ReadRow { space, range, token });
        Ok(())
    }

    /// Takes rows that stand in an order of their own.
    pub(super) fn push_all(&mut self, mut rows: Vec<(Range, Token)>) -> Result<(), String> {
        rows.sort_unstable();
        rows.into_iter().try_for_each(|(range, token)| self.push_token(None, range, token))
    }

    /// What was collected.
    pub(super) fn finish(self, default: Option<Token>) -> ReadBack {
        ReadBack { rows: self.rows, default }
    }
}
