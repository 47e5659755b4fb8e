//! What a table adds up to, to tell whether it was read as it was written.

use twox_hash::XxHash3_64;

use crate::address::Range;
use crate::table::{Class, Entry};

/// What entries add up to: a wrapping sum of hashes, so that a table can be checked against
/// its generation in whatever order it is read, and a change is a few additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Digest {
    /// Of no entries.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn from_stored(stored: i64) -> Self {
        Self(stored.cast_unsigned())
    }

    pub(super) const fn stored(self) -> i64 {
        self.0.cast_signed()
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.0 = self.0.wrapping_add(hash(entry));
    }

    pub(super) fn subtract(&mut self, entry: &Entry) {
        self.0 = self.0.wrapping_sub(hash(entry));
    }
}

/// The same of less: of the entries' addresses and who owns them. XXH3, for it is added up for
/// whoever only asks that, and is to take no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnedDigest(u64);

/// The hash of what entries say of their owner: of the hashes of the space, the owner and the
/// BAS, each in 8 octets, and two flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said(u64);

impl Said {
    /// Of a space, an owner, its BAS, and whether a line that fills is all that stands behind
    /// it. Never to change, as all of this: it is in every database.
    pub(super) fn new(space: &str, owner: &str, bas: Option<&str>, fill: bool) -> Self {
        let mut octets = [0; 26];
        for (part, text) in octets.chunks_exact_mut(8).zip([space, owner, bas.unwrap_or_default()]) {
            part.copy_from_slice(&XxHash3_64::oneshot(text.as_bytes()).to_be_bytes());
        }
        (octets[24], octets[25]) = (fill.into(), bas.is_some().into());
        Self(XxHash3_64::oneshot(&octets))
    }

    fn of(entry: &Entry) -> Self {
        Self::new(&entry.space, &entry.owner, entry.bas.as_deref(), entry.class == Class::Fill)
    }
}

impl OwnedDigest {
    /// Of no entries.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn from_stored(stored: i64) -> Self {
        Self(stored.cast_unsigned())
    }

    pub(super) const fn stored(self) -> i64 {
        self.0.cast_signed()
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.add_said(entry.range, Said::of(entry));
    }

    /// Adds the addresses of an entry, and what it says.
    #[inline]
    pub(super) fn add_said(&mut self, range: Range, said: Said) {
        self.0 = self.0.wrapping_add(owned(range, said));
    }

    pub(super) fn subtract(&mut self, entry: &Entry) {
        self.0 = self.0.wrapping_sub(owned(entry.range, Said::of(entry)));
    }
}

/// Of what is said, the first and the last address in 16 octets each, and 4 or 6.
fn owned(range: Range, said: Said) -> u64 {
    let mut octets = [0; 41];
    octets[..8].copy_from_slice(&said.0.to_be_bytes());
    octets[8..24].copy_from_slice(&range.first_bits().to_be_bytes());
    octets[24..40].copy_from_slice(&range.last_bits().to_be_bytes());
    octets[40] = range.family().number();
    XxHash3_64::oneshot(&octets)
}

/// Whether an entry's origin is a line of the configuration: of a class no more is kept.
pub(super) const fn is_static(class: Class) -> bool {
    matches!(class, Class::Fill | Class::Override)
}

/// FNV-1a over what `entries::close_entries` compares. Never to change: it is in every database.
fn hash(entry: &Entry) -> u64 {
    let bas = entry.bas.as_deref();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    let flags = [is_static(entry.class), bas.is_some()].map(u8::from);
    hash.eat(&[entry.range.family().number(), flags[0], flags[1]]);
    hash.eat_number(entry.range.first_bits(), 16);
    hash.eat_number(entry.range.last_bits(), 16);
    for text in [&*entry.space, &*entry.owner, bas.unwrap_or_default(), &*entry.vrf] {
        hash.eat_number(text.len() as u128, 8);
        hash.eat(text.as_bytes());
    }
    hash.eat(entry.pool.raw());
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
    use crate::table::{Name, PoolName};

    fn entry(space: &str, owner: &str, bas: Option<&str>, range: &str, class: Class) -> Entry {
        Entry {
            space: space.into(),
            range: range.parse().unwrap(),
            owner: owner.into(),
            bas: bas.map(Name::from),
            pool: PoolName::new(b"p"),
            vrf: "".into(),
            class,
        }
    }

    #[test]
    fn what_owners_add_up_to_never_changes() {
        // By another implementation of XXH3, out of what the functions' comments say.
        let mut digest = OwnedDigest::NONE;
        digest.add(&entry("internet", "pair-1", Some("bas-1"), "192.0.2.0/25", Class::Fresh));
        assert_eq!(digest.0, 0xdc58_01aa_f0df_6435);
        let line = entry("iptv", "edges:e1", None, "2001:db8::/112", Class::Fill);
        digest.add(&line);
        assert_eq!(digest.0, 0xc78b_d911_cb7c_0144);
        digest.subtract(&line);
        assert_eq!(digest.0, 0xdc58_01aa_f0df_6435);
    }

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
