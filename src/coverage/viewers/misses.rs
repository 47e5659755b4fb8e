//! Where the addresses are that no entry covers: counters per /24 and /48, in bounded memory.

use std::collections::{BTreeMap, HashMap};

use crate::address::Family;

/// How many /48s of IPv6 have counters of their own.
const CAP_48: usize = 1 << 17;

/// How many /32s of IPv6 have counters for what lies in other /48s.
const CAP_32: usize = 1 << 16;

/// Counters of misses. IPv4 never takes more than 64 MiB, IPv6 not more than 16.
#[derive(Debug)]
pub(super) struct Misses {
    /// By the upper 16 bits, the counters of the 256 /24s below.
    v4: Vec<Option<Box<[u32; 256]>>>,
    /// How often a counter of IPv4 went over its top.
    over: HashMap<u32, u64>,
    by_48: HashMap<u64, u64>,
    by_32: HashMap<u32, u64>,
    uncounted: u64,
}

impl Default for Misses {
    fn default() -> Self {
        Self {
            v4: (0..1 << 16).map(|_| None).collect(),
            over: HashMap::new(),
            by_48: HashMap::new(),
            by_32: HashMap::new(),
            uncounted: 0,
        }
    }
}

impl Misses {
    /// Counts an IPv4 address.
    #[inline(always)]
    pub(super) fn v4(&mut self, address: u32) {
        let Some(page) = self.v4.get_mut((address >> 16) as usize) else { return };
        let page = page.get_or_insert_with(|| Box::new([0; 256]));
        if let Some(counter) = page.get_mut((address >> 8 & 0xff) as usize) {
            *counter = counter.wrapping_add(1);
            if *counter == 0 {
                *self.over.entry(address >> 8).or_default() += 1;
            }
        }
    }

    /// Counts an IPv6 address.
    pub(super) fn v6(&mut self, address: u128) {
        let (by_48, by_32) = ((address >> 80) as u64, (address >> 96) as u32);
        let full = self.by_48.len() >= CAP_48;
        match self.by_48.get_mut(&by_48) {
            Some(counter) => *counter += 1,
            None if !full => drop(self.by_48.insert(by_48, 1)),
            None => {
                let full = self.by_32.len() >= CAP_32;
                match self.by_32.get_mut(&by_32) {
                    Some(counter) => *counter += 1,
                    None if !full => drop(self.by_32.insert(by_32, 1)),
                    None => self.uncounted += 1,
                }
            }
        }
    }

    /// What was counted, joined and biggest first.
    pub(super) fn prefixes(self) -> Prefixes {
        let capped = !self.by_32.is_empty();
        let mut v4 = BTreeMap::new();
        for (upper, page) in self.v4.iter().enumerate() {
            for (lower, count) in page.iter().flat_map(|page| page.iter().enumerate()) {
                let net = (upper as u32) << 8 | lower as u32;
                let count = u64::from(*count) + self.over.get(&net).map_or(0, |over| over << 32);
                if count > 0 {
                    v4.insert(u128::from(net) << 8, count);
                }
            }
        }
        let v6 = self.by_48.iter().map(|(net, count)| (u128::from(*net) << 80, *count)).collect();
        let mut all = joined(Family::V4, v4);
        all.extend(joined(Family::V6, v6));
        let rest = |(net, count): (u32, u64)| Prefix {
            family: Family::V6,
            first: u128::from(net) << 96,
            length: 32,
            requests: count,
            rest: true,
        };
        all.extend(self.by_32.into_iter().map(rest));
        all.sort_by_key(|p| (std::cmp::Reverse(p.requests), p.family, p.first, p.length));
        Prefixes { all, capped, uncounted: self.uncounted }
    }
}

/// A prefix and the requests out of it that no entry covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) family: Family,
    pub(super) first: u128,
    pub(super) length: u8,
    pub(super) requests: u64,
    /// Whether it is what was left of a /32 when there were too many /48s.
    pub(super) rest: bool,
}

/// All prefixes with misses.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// Biggest first.
    pub(super) all: Vec<Prefix>,
    /// Whether there were too many /48s.
    pub(super) capped: bool,
    /// Misses in none of the prefixes.
    pub(super) uncounted: u64,
}

/// The widest that prefixes become by joining: /16 and /32.
const fn widest(family: Family) -> u8 {
    match family {
        Family::V4 => 16,
        Family::V6 => 32,
    }
}

/// Two halves of a prefix that both have misses are one.
fn joined(family: Family, counters: BTreeMap<u128, u64>) -> Vec<Prefix> {
    let finest = if family == Family::V4 { 24 } else { 48 };
    let mut done: Vec<Prefix> = Vec::with_capacity(counters.len());
    for (first, requests) in counters {
        let mut prefix = Prefix { family, first, length: finest, requests, rest: false };
        while let Some(half) =
            done.last().filter(|half| prefix.length > widest(family) && are_halves(half, &prefix))
        {
            let requests = half.requests + prefix.requests;
            prefix = Prefix { first: half.first, length: prefix.length - 1, requests, ..prefix };
            done.pop();
        }
        done.push(prefix);
    }
    done
}

fn are_halves(left: &Prefix, right: &Prefix) -> bool {
    let size = 1u128 << (left.family.width() - left.length);
    left.length == right.length && left.first & size == 0 && left.first | size == right.first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(misses: Misses) -> Vec<(String, u64)> {
        let text = |p: &Prefix| (format!("{}/{}", p.family.address(p.first), p.length), p.requests);
        misses.prefixes().all.iter().map(text).collect()
    }

    fn v4(text: &str) -> u32 {
        text.parse::<std::net::Ipv4Addr>().unwrap().to_bits()
    }

    #[test]
    fn halves_that_both_miss_are_joined() {
        let mut misses = Misses::default();
        for (address, times) in
            [("10.0.0.1", 3), ("10.0.1.255", 4), ("10.0.2.0", 1), ("10.0.4.0", 9), ("255.255.255.255", 2)]
        {
            (0..times).for_each(|_| misses.v4(v4(address)));
        }
        let wanted = [("10.0.4.0/24", 9), ("10.0.0.0/23", 7), ("255.255.255.0/24", 2), ("10.0.2.0/24", 1)];
        assert_eq!(told(misses), wanted.map(|(p, n)| (p.to_owned(), n)));
    }

    #[test]
    fn whole_blocks_become_one_and_not_more() {
        let mut misses = Misses::default();
        (0..512u32).for_each(|n| misses.v4(v4("10.0.0.0") | n << 8));
        (0..3u128).for_each(|n| misses.v6((0x2001_0db8 << 96) | n << 80));
        let wanted =
            [("10.0.0.0/16", 256), ("10.1.0.0/16", 256), ("2001:db8::/47", 2), ("2001:db8:2::/48", 1)];
        assert_eq!(told(misses), wanted.map(|(p, n)| (p.to_owned(), n)));
    }

    #[test]
    fn too_many_prefixes_are_counted_in_wider_ones_and_said() {
        let mut misses = Misses::default();
        // Every other /48, so that none are joined.
        (0..CAP_48 as u128 + 10).for_each(|n| misses.v6((0x2001_0db8 << 96) + (n << 81)));
        let prefixes = misses.prefixes();
        assert!(prefixes.capped);
        assert_eq!(prefixes.all.iter().map(|p| p.requests).sum::<u64>(), CAP_48 as u64 + 10);
        let rest: Vec<_> = prefixes.all.iter().filter(|p| p.rest).map(|p| (p.length, p.requests)).collect();
        assert_eq!(rest, [(32, 10)]);
    }

    #[test]
    fn a_counter_that_overflows_is_not_wrong() {
        let mut misses = Misses::default();
        misses.v4(7);
        misses.v4[0].as_mut().unwrap()[0] = u32::MAX;
        misses.v4(7);
        misses.v4(7);
        assert_eq!(told(misses), [("0.0.0.0/24".to_owned(), (1 << 32) + 1)]);
    }
}
