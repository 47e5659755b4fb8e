//! What is known of names by where they lie in memory.
//!
//! A million rows name a few thousand BASes, owners and groups, and mostly by the very same
//! shared text. To know it again takes no look at the text; one that lies elsewhere is simply
//! not known yet, and the caller looks it up by what it says.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// So many places are remembered. Where every row has a text of its own, more would only cost
/// memory.
const MOST: usize = 1 << 16;

/// A text as a place. Two that are equal have the same octets, for both are borrowed as long
/// as they are compared.
#[derive(Clone, Copy)]
struct Place<'a>(&'a str);

impl Place<'_> {
    fn number(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

impl PartialEq for Place<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number() && self.0.len() == other.0.len()
    }
}

impl Eq for Place<'_> {}

impl Hash for Place<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.number());
    }
}

/// Spreads places, which nobody outside chooses.
#[derive(Clone, Copy, Default)]
struct Spread(u64);

impl Hasher for Spread {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        octets.iter().for_each(|octet| self.write_usize((*octet).into()));
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        let wide = u128::from(self.0.rotate_left(32) ^ number as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }
}

/// Values by one text or two.
pub(super) struct Known<'a, V> {
    by_place: HashMap<(Place<'a>, Place<'a>), V, BuildHasherDefault<Spread>>,
}

impl<'a, V: Copy> Known<'a, V> {
    pub(super) fn new() -> Self {
        Self { by_place: HashMap::default() }
    }

    /// What is known of the texts that lie here.
    #[inline]
    pub(super) fn get(&self, first: &'a str, second: &'a str) -> Option<V> {
        self.by_place.get(&(Place(first), Place(second))).copied()
    }

    /// Remembers it.
    pub(super) fn learn(&mut self, first: &'a str, second: &'a str, value: V) {
        if self.by_place.len() < MOST {
            self.by_place.insert((Place(first), Place(second)), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_place_is_known() {
        let (one, same) = (String::from("edge"), String::from("edge"));
        let mut known = Known::new();
        known.learn(&one, "", 1);
        assert_eq!(known.get(&one, ""), Some(1));
        assert_eq!(known.get(&same, ""), None, "it says the same, and lies elsewhere");
        assert_eq!(known.get(&one[..2], ""), None, "it begins there, and ends sooner");
    }

    #[test]
    fn no_more_are_remembered_than_serve() {
        let texts: Vec<String> = (0..MOST + 10).map(|number| number.to_string()).collect();
        let mut known = Known::new();
        texts.iter().for_each(|text| known.learn(text, "", 1));
        assert_eq!(texts.iter().filter(|text| known.get(text, "").is_some()).count(), MOST);
    }
}
