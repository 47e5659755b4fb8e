//! Whether a file says what a view says.
//!
//! A reader that proves ([`Format::proves`]) takes less than [`Format::read`] does: the file has
//! to say what the view says stretch by stretch, with the very words in which we write it, and
//! the first octet that does not fit ends it. What it does not take is read and compared at
//! leisure ([`slowly`]), which also tells what is wrong.

use std::ptr;

use thiserror::Error;

use super::carried::carried;
use super::rest::Addresses;
use super::{Answer, Format, Mismatch, ReadError, View};
use crate::address::Range;

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

/// Takes what a file says, stretch by stretch, as long as it is what is wanted: for a file that
/// may tell a stretch in pieces of its own choice.
pub(super) struct Prover<'v, I> {
    wanted: I,
    /// The stretch that the file is in, less what it has said of it already, and what answers it.
    open: Option<(Addresses, &'v str)>,
}

impl<'v> Prover<'v, ()> {
    /// Wants these answers, less what the format cannot speak of.
    pub(super) fn new(
        answers: impl Iterator<Item = Answer<'v>>,
        excluded: &'static [Range],
    ) -> Prover<'v, impl Iterator<Item = (Addresses, &'v str)>> {
        let open = move |answer: Answer<'v>| {
            let token = answer.token.as_str();
            carried(answer.range, excluded).map(move |range| (Addresses::from(range), token))
        };
        let mut wanted = answers.flat_map(open);
        let open = wanted.next();
        Prover { wanted, open }
    }
}

impl<'v, I: Iterator<Item = (Addresses, &'v str)>> Prover<'v, I> {
    /// Takes the next addresses, where they are answered so.
    #[inline]
    pub(super) fn takes(&mut self, next: Addresses, token: &str) -> bool {
        let Some((left, wanted)) = &mut self.open else { return false };
        match left.take(next) {
            Some(done) if ptr::eq(*wanted, token) || *wanted == token => {
                if done {
                    self.open = self.wanted.next();
                }
                true
            }
            _ => false,
        }
    }

    /// Whether all that is wanted was said.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_none()
    }
}
