//! Which entries are shed: those whose hash is below a border.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Token;
use crate::address::{Family, Range};
use crate::table::{Entry, Name};

/// An entry's place in the order in which entries are shed: 64 bits of SHA-256 over its
/// owner, space and first address. Its last address is left out, so that a pool that grows
/// stays where it is.
fn hash(entry: &Entry) -> u64 {
    digest(entry, "")
}

/// The border for a share: entries whose hash is below it are shed.
fn below(share: f64) -> u64 {
    // 2^64 is exact; what is at it or over it saturates.
    (share.clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u64
}

fn digest(entry: &Entry, salt: &str) -> u64 {
    let mut hash = Sha256::new();
    for part in [salt, entry.owner.as_str(), entry.space.as_str()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.update([if entry.range.family() == Family::V4 { 4 } else { 6 }]);
    hash.update(entry.range.first_bits().to_be_bytes());
    hash.finalize().iter().take(8).fold(0, |bits, octet| (bits << 8) | u64::from(*octet))
}

/// Where the shed entries of a list of edges go: the same set of entries, whoever asks and
/// whenever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    below: u64,
    receivers: Vec<Receiver>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Receiver {
    edge: Name,
    /// In millionths: a share that is written down and read back is the same.
    millionths: u32,
    token: Token,
}

impl Receiver {
    fn share(&self) -> f64 {
        f64::from(self.millionths) / MILLION
    }
}

const MILLION: f64 = 1e6;

/// How much each receiver was given, by family.
type Given = Vec<[f64; 2]>;

impl Part {
    /// The part of the `entries` that goes to the receivers, each with its share of all of
    /// them. Weights are of addresses, in each family by itself. No receiver gets more than
    /// its share: the border is lowered to where that holds.
    pub fn new<'e>(
        entries: impl IntoIterator<Item = &'e Entry>,
        receivers: impl IntoIterator<Item = (Name, f64, Token)>,
    ) -> Self {
        let receivers: Vec<Receiver> = receivers
            .into_iter()
            // Never more than the share, but for the last digit of a float.
            .map(|(edge, share, token)| (edge, (share.clamp(0.0, 1.0) * MILLION + 1e-3) as u32, token))
            .filter(|(_, millionths, _)| *millionths > 0)
            .map(|(edge, millionths, token)| Receiver { edge, millionths, token })
            .collect();
        let total: f64 = receivers.iter().map(Receiver::share).sum();
        let mut part = Self { below: below(total), receivers };
        if part.receivers.is_empty() {
            return part;
        }
        let mut order: Vec<(u64, &Entry)> = entries.into_iter().map(|entry| (hash(entry), entry)).collect();
        order.sort_by_key(|(hash, entry)| (*hash, entry.range));
        let mut all = [0.0; 2];
        for (_, entry) in &order {
            add(&mut all, entry.range);
        }
        part.below = part.border(&order, all);
        part
    }

    /// The edges that entries are shed to, with the share and the group of each.
    pub fn receivers(&self) -> impl Iterator<Item = (&Name, f64, &Token)> {
        self.receivers.iter().map(|receiver| (&receiver.edge, receiver.share(), &receiver.token))
    }

    /// The edge that an entry is shed to, and its group; none where it stays.
    pub fn of(&self, entry: &Entry) -> Option<(&Name, &Token)> {
        if self.receivers.is_empty() || hash(entry) >= self.below {
            return None;
        }
        self.receiver(entry).map(|receiver| (&receiver.edge, &receiver.token))
    }

    /// Weighted rendezvous: a change of one share moves only what goes to or from its edge.
    fn receiver(&self, entry: &Entry) -> Option<&Receiver> {
        if let [only] = self.receivers.as_slice() {
            return Some(only);
        }
        let score = |receiver: &Receiver| {
            let uniform = (digest(entry, &receiver.edge) as f64 + 1.0) / 18_446_744_073_709_551_617.0;
            -uniform.ln() / receiver.share()
        };
        let scored = self.receivers.iter().map(|receiver| (score(receiver), receiver));
        scored.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.edge.cmp(&b.1.edge))).map(|best| best.1)
    }

    /// The hash of the first entry that would give its receiver too much.
    fn border(&self, order: &[(u64, &Entry)], all: [f64; 2]) -> u64 {
        let mut given: Given = vec![[0.0; 2]; self.receivers.len()];
        for (hash, entry) in order.iter().take_while(|(hash, _)| *hash < self.below) {
            let Some(receiver) = self.receiver(entry) else { break };
            let place = self.receivers.iter().position(|other| other == receiver).unwrap_or_default();
            let Some(given) = given.get_mut(place) else { break };
            add(given, entry.range);
            let over = |(given, all): (&f64, &f64)| *given > receiver.share() * all * (1.0 + 1e-9);
            if given.iter().zip(&all).any(over) {
                return *hash;
            }
        }
        self.below
    }
}

/// Addresses of IPv4, /64s of IPv6.
fn add(weights: &mut [f64; 2], range: Range) {
    let [v4, v6] = weights;
    match range.family() {
        Family::V4 => *v4 += range.units() as f64,
        Family::V6 => *v6 += range.units() as f64,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::table::{Class, PoolName};

    fn entry(owner: &str, range: &str) -> Entry {
        Entry {
            space: "internet".into(),
            range: range.parse().unwrap(),
            owner: owner.into(),
            bas: Some(owner.into()),
            pool: PoolName::new(b"p"),
            vrf: "".into(),
            class: Class::Fresh,
        }
    }

    fn thousand() -> Vec<Entry> {
        (0..1000).map(|n| entry("gz-1", &format!("10.{}.{}.0/24", n / 256, n % 256))).collect()
    }

    fn part(entries: &[Entry], shares: &[(&str, f64)]) -> Part {
        let receivers =
            shares.iter().map(|(edge, share)| ((*edge).into(), *share, Token::new(edge).unwrap()));
        Part::new(entries, receivers)
    }

    fn shed(entries: &[Entry], part: &Part) -> BTreeSet<(Range, String)> {
        let of = |entry: &Entry| part.of(entry).map(|(edge, _)| (entry.range, edge.to_string()));
        entries.iter().filter_map(of).collect()
    }

    #[test]
    fn a_border_is_the_share_of_all_hashes() {
        assert_eq!((below(0.0), below(0.5), below(1.0)), (0, 1 << 63, u64::MAX));
        assert_eq!((below(-1.0), below(7.0), below(f64::NAN)), (0, u64::MAX, 0));
    }

    /// Sums of the shares' differences: 540 of 1000 have to move; picked anew, 1888 would.
    #[test]
    fn moving_a_share_moves_the_least() {
        let entries = thousand();
        let shares = [0.0, 0.05, 0.1, 0.12, 0.1, 0.2, 0.25, 0.2, 0.1, 0.0];
        let sets: Vec<_> =
            shares.iter().map(|share| shed(&entries, &part(&entries, &[("e2", *share)]))).collect();
        let moves: usize = sets.windows(2).map(|pair| pair[0].symmetric_difference(&pair[1]).count()).sum();
        assert!((480..=545).contains(&moves), "{moves}");
        let nested = sets.windows(2).all(|pair| pair[0].is_subset(&pair[1]) || pair[1].is_subset(&pair[0]));
        assert!(nested);
        let quarter = sets[6].len();
        assert!((210..=250).contains(&quarter), "{quarter}");
    }

    #[test]
    fn a_pool_that_grows_stays_where_it_is() {
        assert_eq!(hash(&entry("a", "10.0.0.0/24")), hash(&entry("a", "10.0.0.0/23")));
        assert_ne!(hash(&entry("a", "10.0.0.0/24")), hash(&entry("b", "10.0.0.0/24")));
    }

    #[test]
    fn one_entry_that_is_all_stays_unless_all_may_go() {
        let one = [entry("a", "10.0.0.0/8")];
        assert!(shed(&one, &part(&one, &[("e2", 0.4)])).is_empty());
        let families = [entry("a", "10.0.0.0/8"), entry("a", "2001:db8::/32")];
        assert!(shed(&families, &part(&families, &[("e2", 0.4)])).is_empty());
    }

    #[test]
    fn a_second_receiver_takes_from_nobody() {
        let entries = thousand();
        let one = shed(&entries, &part(&entries, &[("e2", 0.2)]));
        let two = shed(&entries, &part(&entries, &[("e2", 0.2), ("e3", 0.1)]));
        let of = |set: &BTreeSet<(Range, String)>, edge: &str| set.iter().filter(|(_, e)| e == edge).count();
        assert!((140..=200).contains(&of(&two, "e2")) && (60..=100).contains(&of(&two, "e3")));
        // Entries that both shed: about a third goes over to the second, none to anywhere else.
        let stayed = one.intersection(&two).count();
        assert!(stayed >= of(&one, "e2") / 2, "{stayed}");
    }

    proptest! {
        #[test]
        fn shares_are_nested_and_never_exceeded(
            sizes in prop::collection::vec(0..8_u32, 1..60),
            a in 0.0..0.6_f64,
            b in 0.0..0.6_f64,
        ) {
            let entries: Vec<Entry> = sizes
                .iter()
                .enumerate()
                .map(|(n, size)| entry("a", &format!("10.{n}.0.0/{}", 24 + size)))
                .collect();
            let (small, large) = (a.min(b), a.max(b));
            let sets = [small, large].map(|share| shed(&entries, &part(&entries, &[("e2", share)])));
            prop_assert!(sets[0].is_subset(&sets[1]));
            let weight = |ranges: &mut dyn Iterator<Item = Range>| {
                ranges.map(|r| (r.last_bits() - r.first_bits() + 1) as f64).sum::<f64>()
            };
            let all = weight(&mut entries.iter().map(|e| e.range));
            for (set, share) in sets.iter().zip([small, large]) {
                let gone = weight(&mut set.iter().map(|(range, _)| *range));
                prop_assert!(gone <= share * all * (1.0 + 1e-6));
            }
        }
    }
}
