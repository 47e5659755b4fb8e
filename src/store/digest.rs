//! What a table adds up to, to tell whether it was read as it was written.

use crate::address::Range;
use crate::table::{Class, Entry};

/// What entries add up to: a wrapping sum of hashes, so that a table can be checked against
/// its generation in whatever order it is read, and a change is a few additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) const fn from_stored(stored: i64) -> Self {
        Self(stored.cast_unsigned())
    }

    pub(super) const fn stored(self) -> i64 {
        self.0.cast_signed()
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.0 = self.0.wrapping_add(hash(entry));
    }

    /// Adds an entry by its parts: space, owner, BAS and VRF, and the octets of the pool.
    pub(super) fn add_parts(
        &mut self,
        range: Range,
        class: Class,
        [space, owner, vrf]: [&str; 3],
        bas: Option<&str>,
        pool: &[u8],
    ) {
        let texts = [space, owner, bas.unwrap_or_default(), vrf];
        self.0 = self.0.wrapping_add(hash_of(range, is_static(class), bas.is_some(), texts, pool));
    }

    pub(super) fn subtract(&mut self, entry: &Entry) {
        self.0 = self.0.wrapping_sub(hash(entry));
    }
}

/// Whether an entry's origin is a line of the configuration: of a class no more is kept.
pub(super) const fn is_static(class: Class) -> bool {
    matches!(class, Class::Fill | Class::Override)
}

/// FNV-1a over what `rows::close_entries` compares. Never to change: it is in every database.
fn hash(entry: &Entry) -> u64 {
    let bas = entry.bas.as_deref();
    hash_of(
        entry.range,
        is_static(entry.class),
        bas.is_some(),
        [&*entry.space, &*entry.owner, bas.unwrap_or_default(), &*entry.vrf],
        entry.pool.raw(),
    )
}

/// The same of parts: space, owner, BAS and VRF, and the octets of the pool.
fn hash_of(range: Range, is_static: bool, has_bas: bool, texts: [&str; 4], pool: &[u8]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.eat(&[range.family().number(), u8::from(is_static), u8::from(has_bas)]);
    hash.eat_number(range.first_bits(), 16);
    hash.eat_number(range.last_bits(), 16);
    for text in texts {
        hash.eat_number(text.len() as u128, 8);
        hash.eat(text.as_bytes());
    }
    hash.eat(pool);
    hash.0
}

struct Fnv(u64);

impl Fnv {
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// What so many zeros do to a hash: each only multiplies it.
    const ZEROS: [u64; 17] = {
        let mut powers = [1u64; 17];
        let mut zeros = 1;
        while zeros < 17 {
            powers[zeros] = powers[zeros - 1].wrapping_mul(Self::PRIME);
            zeros += 1;
        }
        powers
    };

    #[inline(always)]
    fn eat(&mut self, octets: &[u8]) {
        for octet in octets {
            self.0 = (self.0 ^ u64::from(*octet)).wrapping_mul(Self::PRIME);
        }
    }

    /// The last octets of a number, the highest first: most begin with zeros.
    #[inline(always)]
    fn eat_number(&mut self, number: u128, width: usize) {
        let zeros = (number.leading_zeros() / 8) as usize;
        let octets = number.to_be_bytes();
        self.0 =
            self.0.wrapping_mul(Self::ZEROS.get((zeros + width).saturating_sub(16)).copied().unwrap_or(1));
        self.eat(octets.get(zeros.max(16 - width)..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::address::Family;
    use crate::table::PoolName;

    /// Octet by octet, as it was written first.
    fn slow(entry: &Entry) -> u64 {
        let mut text = vec![entry.range.family().number(), u8::from(is_static(entry.class))];
        text.push(u8::from(entry.bas.is_some()));
        text.extend(entry.range.first_bits().to_be_bytes());
        text.extend(entry.range.last_bits().to_be_bytes());
        let bas = entry.bas.as_deref().unwrap_or_default();
        for part in [&*entry.space, &*entry.owner, bas, &*entry.vrf] {
            text.extend((part.len() as u64).to_be_bytes());
            text.extend(part.as_bytes());
        }
        text.extend(entry.pool.raw());
        text.iter().fold(0xcbf2_9ce4_8422_2325, |state: u64, octet| {
            (state ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    proptest! {
        #[test]
        fn zeros_that_are_skipped_count(
            bits in any::<u128>(),
            shift in 0u32..128,
            names in [".{0,3}", "[a-z]{0,300}", ".{0,3}", ".{0,3}"],
            v6 in any::<bool>(),
            class in 0u8..4,
            pool in proptest::collection::vec(any::<u8>(), 0..5),
        ) {
            let family = if v6 { Family::V6 } else { Family::V4 };
            let last = (bits >> shift).min(family.max());
            let range = Range::from_bits(family, last / 2, last).unwrap();
            let [space, owner, bas, vrf] = names;
            let entry = Entry {
                space: space.as_str().into(),
                range,
                owner: owner.as_str().into(),
                bas: (class % 2 == 0).then(|| bas.as_str().into()),
                pool: PoolName::new(&pool),
                vrf: vrf.as_str().into(),
                class: Class::from_number(class).unwrap(),
            };
            let mut digest = Digest::default();
            digest.add(&entry);
            prop_assert_eq!(digest, Digest(slow(&entry)));
        }
    }
}
