//! Where the addresses are that no entry covers: counters per /24 and /48, in bounded memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::address::Family;

/// How many /48s of IPv6 have counters of their own.
const CAP_48: usize = 1 << 17;

/// How many /32s of IPv6 have counters for what lies in other /48s.
const CAP_32: usize = 1 << 16;

/// The counters of a /8 of IPv4, by the 16 bits behind the first eight. Of them only what is
/// touched takes memory, where the allocator has it fresh from the system.
type Counters = Box<[u16; 1 << 16]>;

/// Counters of misses. IPv4 takes 128 KiB for each /8 that has some, at most 32 MiB, IPv6 not
/// more than 16.
#[derive(Debug)]
pub(super) struct Misses {
    /// By the first 8 bits.
    v4: [Option<Counters>; 1 << 8],
    /// How often a counter of IPv4 went over its top.
    over: HashMap<u32, u64>,
    by_48: HashMap<u64, u64>,
    by_32: HashMap<u32, u64>,
    uncounted: u64,
}

impl Default for Misses {
    fn default() -> Self {
        Self {
            v4: [const { None }; 1 << 8],
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
        let [first, second, third, _] = address.to_be_bytes();
        let Some(counters) = self.v4.get_mut(usize::from(first)) else { return };
        let counters = counters.get_or_insert_with(fresh);
        if let Some(counter) = counters.get_mut(usize::from(u16::from_be_bytes([second, third]))) {
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

    /// The prefixes with the most misses, neighbours joined, biggest first.
    pub(super) fn most(self, top: usize) -> Most {
        let mut most = Most { capped: !self.by_32.is_empty(), ..Most::default() };
        let mut heap = Top { heap: BinaryHeap::new(), top };
        let counted =
            (0u32..).zip(&self.v4).filter_map(|(first, counters)| Some((first, counters.as_ref()?)));
        for (upper, counters) in
            counted.flat_map(|(first, counters)| (first << 8..).zip(counters.chunks(1 << 8)))
        {
            if self.over.is_empty() && counters.iter().all(|count| *count == 0) {
                continue;
            }
            let counters = (0u32..).zip(counters).filter_map(|(lower, count)| {
                let net = upper << 8 | lower;
                let over =
                    if self.over.is_empty() { 0 } else { self.over.get(&net).map_or(0, |over| over << 16) };
                let count = u64::from(*count) + over;
                (count > 0).then_some((u128::from(net) << 8, count))
            });
            joined(Family::V4, counters, |prefix| heap.take(prefix, &mut most));
        }
        let mut by_48: Vec<(u64, u64)> = self.by_48.into_iter().collect();
        by_48.sort_unstable();
        let counters = by_48.into_iter().map(|(net, count)| (u128::from(net) << 80, count));
        joined(Family::V6, counters, |prefix| heap.take(prefix, &mut most));
        for (net, requests) in self.by_32 {
            let first = u128::from(net) << 96;
            heap.take(Prefix { family: Family::V6, first, length: 32, requests, rest: true }, &mut most);
        }
        most.more_requests += self.uncounted;
        most.prefixes = heap.heap.into_sorted_vec().into_iter().map(|(_, prefix)| prefix).collect();
        most
    }
}

/// Counters that have counted nothing. Apart, as there are few.
#[cold]
fn fresh() -> Counters {
    let zeros = vec![0; 1 << 16].into_boxed_slice();
    // They are so many.
    zeros.try_into().unwrap_or_else(|_| Box::new([0; 1 << 16]))
}

/// A prefix and the requests out of it that no entry covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Prefix {
    pub(super) family: Family,
    pub(super) first: u128,
    pub(super) length: u8,
    pub(super) requests: u64,
    /// Whether it is what was left of a /32 when there were too many /48s.
    pub(super) rest: bool,
}

/// The prefixes with the most misses.
#[derive(Debug, Default)]
pub(super) struct Most {
    /// Biggest first.
    pub(super) prefixes: Vec<Prefix>,
    /// How many there are more.
    pub(super) more_prefixes: u64,
    /// The requests out of these.
    pub(super) more_requests: u64,
    /// Whether there were too many /48s to count each.
    pub(super) capped: bool,
}

/// The biggest prefixes so far, the smallest of them on top.
struct Top {
    heap: BinaryHeap<(Reverse<u64>, Prefix)>,
    top: usize,
}

impl Top {
    fn take(&mut self, prefix: Prefix, most: &mut Most) {
        let full = self.heap.len() >= self.top;
        if full && self.heap.peek().is_none_or(|(Reverse(least), _)| prefix.requests < *least) {
            most.more_prefixes += 1;
            most.more_requests += prefix.requests;
            return;
        }
        self.heap.push((Reverse(prefix.requests), prefix));
        if self.heap.len() > self.top
            && let Some((Reverse(requests), _)) = self.heap.pop()
        {
            most.more_prefixes += 1;
            most.more_requests += requests;
        }
    }
}

/// The widest that prefixes become by joining: /16 and /32.
const fn widest(family: Family) -> u8 {
    match family {
        Family::V4 => 16,
        Family::V6 => 32,
    }
}

/// Two halves of a prefix that both have misses are one.
fn joined(family: Family, counters: impl Iterator<Item = (u128, u64)>, each: impl FnMut(Prefix)) {
    let length = if family == Family::V4 { 24 } else { 48 };
    let mut open: Vec<Prefix> = Vec::new();
    for (first, requests) in counters {
        let mut prefix = Prefix { family, first, length, requests, rest: false };
        while let Some(half) = open.pop_if(|half| prefix.length > widest(family) && are_halves(half, &prefix))
        {
            let requests = half.requests + prefix.requests;
            prefix = Prefix { first: half.first, length: prefix.length - 1, requests, ..prefix };
        }
        open.push(prefix);
    }
    open.into_iter().for_each(each);
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
        misses.most(10).prefixes.iter().map(text).collect()
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
        let most = misses.most(1);
        assert!(most.capped);
        let shown: Vec<_> = most.prefixes.iter().map(|p| (p.rest, p.length, p.requests)).collect();
        assert_eq!(shown, [(true, 32, 10)]);
        assert_eq!((most.more_prefixes, most.more_requests), (CAP_48 as u64, CAP_48 as u64));
    }

    #[test]
    fn a_counter_that_overflows_is_not_wrong() {
        let mut misses = Misses::default();
        misses.v4(7);
        misses.v4[0].as_mut().unwrap()[0] = u16::MAX;
        misses.v4(7);
        misses.v4(7);
        assert_eq!(told(misses), [("0.0.0.0/24".to_owned(), (1 << 16) + 1)]);
    }
}
