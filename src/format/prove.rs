//! Whether a file says what a view says: both gone through in order, side by side, once.
//!
//! A reader that proves takes less than [`Format::read`] does: the file has to say what the
//! view says stretch by stretch, in the order and with the very words in which we write it, and
//! the first octet that does not fit ends it. What it does not take is read and compared at
//! leisure ([`slowly`]), which also tells what is wrong.

use thiserror::Error;

use super::carried::carried;
use super::{Answer, Format, Mismatch, ReadError, View};
use crate::address::{Family, Range};
use crate::table::Token;

/// Why a file is not taken for what a view says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unproven {
    /// It is none of ours.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It says something else.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
}

/// Reads all of a file, then compares.
pub(super) fn slowly(format: &(impl Format + ?Sized), file: &[u8], view: &View<'_>) -> Result<(), Unproven> {
    Ok(format.read(file)?.verify(view, format.excluded())?)
}

/// Takes what a file says, stretch by stretch, as long as it is what is wanted.
pub(super) struct Prover<'v, I> {
    wanted: I,
    /// The stretch that the file is in, less what it has said of it already.
    open: Option<Open<'v>>,
}

#[derive(Clone, Copy)]
struct Open<'v> {
    family: Family,
    first: u128,
    last: u128,
    token: &'v str,
}

impl<'v> Prover<'v, ()> {
    /// Wants these answers, less what the format cannot speak of.
    pub(super) fn new(
        answers: impl Iterator<Item = Answer<'v>>,
        excluded: &'static [Range],
    ) -> Prover<'v, impl Iterator<Item = (Range, &'v Token)>> {
        let mut wanted = answers
            .flat_map(move |answer| carried(answer.range, excluded).map(move |range| (range, answer.token)));
        let open = wanted.next().map(Open::from);
        Prover { wanted, open }
    }
}

impl<'v> From<(Range, &'v Token)> for Open<'v> {
    fn from((range, token): (Range, &'v Token)) -> Self {
        let (family, first, last) = (range.family(), range.first_bits(), range.last_bits());
        Self { family, first, last, token: token.as_str() }
    }
}

impl<'v, I: Iterator<Item = (Range, &'v Token)>> Prover<'v, I> {
    /// The token of the stretch that comes next; nothing where none does.
    #[inline]
    pub(super) fn token(&self) -> Option<&'v str> {
        self.open.map(|open| open.token)
    }

    /// Takes the next addresses, where they are answered so.
    #[inline]
    pub(super) fn takes(&mut self, family: Family, first: u128, last: u128, token: &str) -> bool {
        let Some(open) = &mut self.open else { return false };
        let fits = open.first == first && first <= last && last <= open.last;
        if !fits || open.family != family || open.token != token {
            return false;
        }
        if last == open.last {
            self.open = self.wanted.next().map(Open::from);
        } else {
            open.first = last + 1;
        }
        true
    }

    /// Whether all that is wanted was said.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_none()
    }
}
