//! A file that keeps the rows of each group together, held against a view whose rows are in
//! the order of addresses: each group's part is read on where it was left.

use std::collections::HashMap;

use super::known::Known;
use super::rest::Rest;
use crate::table::Token;

/// The parts of a file, each as far as it was read. A group has as many as the format gives it.
pub(super) struct Parts<'f, 'v, const OWN: usize> {
    rests: Vec<[Rest<'f>; OWN]>,
    by_token: HashMap<&'f str, usize>,
    by_place: Known<'v, usize>,
}

impl<'f, 'v, const OWN: usize> Parts<'f, 'v, OWN> {
    pub(super) fn new() -> Self {
        Self { rests: Vec::new(), by_token: HashMap::new(), by_place: Known::new() }
    }

    /// Adds the parts of a group. Nothing where it has some.
    pub(super) fn add(&mut self, token: &'f str, parts: [&'f [u8]; OWN]) -> Option<()> {
        let before = self.by_token.insert(token, self.rests.len());
        self.rests.push(parts.map(Rest));
        before.is_none().then_some(())
    }

    /// The parts of a group.
    #[inline]
    pub(super) fn of(&mut self, token: &'v Token) -> Option<&mut [Rest<'f>; OWN]> {
        let text = token.as_str();
        let place = match self.by_place.get(text, "") {
            Some(place) => place,
            None => {
                let place = *self.by_token.get(text)?;
                self.by_place.learn(text, "", place);
                place
            }
        };
        self.rests.get_mut(place)
    }

    /// Whether all parts were read to their ends.
    pub(super) fn are_done(&self) -> bool {
        self.rests.iter().flatten().all(Rest::is_empty)
    }
}
