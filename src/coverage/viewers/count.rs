//! The counters. IPv4 addresses are gathered and looked up together: searches that do not
//! wait for each other are faster by far than one after the other.

use super::cells::{Cells, MISSED, OLD_MISSED, RESOLVER};
use super::form::{Form, Forms, unmapped};
use super::misses::Misses;

/// How many addresses are looked up together.
pub(super) const BATCH: usize = 1024;

/// Requests by what is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// All of them.
    pub(super) all: u64,
    /// Those of viewers whom no entry of the table covers.
    pub(super) missed: u64,
    /// Those of viewers whom no row of the old table covers.
    pub(super) old_missed: u64,
    /// Those of known resolvers.
    pub(super) resolvers: u64,
}

impl Sums {
    /// Those of viewers.
    pub(super) const fn viewers(&self) -> u64 {
        self.all - self.resolvers
    }

    /// What came to this since earlier sums.
    pub(super) const fn since(&self, earlier: &Self) -> Self {
        Self {
            all: self.all - earlier.all,
            missed: self.missed - earlier.missed,
            old_missed: self.old_missed - earlier.old_missed,
            resolvers: self.resolvers - earlier.resolvers,
        }
    }

    /// Adds others.
    pub(super) const fn add(&mut self, more: &Self) {
        self.all += more.all;
        self.missed += more.missed;
        self.old_missed += more.old_missed;
        self.resolvers += more.resolvers;
    }
}

/// What requests were of viewers missed, of viewers missed by the old table, and of resolvers:
/// three sums side by side in one number, as many as a batch may come to.
#[derive(Clone, Copy, Debug, Default)]
struct Tally(u64);

/// How wide each of the sums is: wider than a batch.
const WIDTH: u32 = 16;
const _: () = assert!(BATCH < 1 << WIDTH);

impl Tally {
    /// One request of a kind.
    fn of(kind: u8) -> Self {
        let one = |flag: u8, place: u32| u64::from(kind & flag != 0) << (place * WIDTH);
        Self(one(MISSED, 0) | one(OLD_MISSED, 1) | one(RESOLVER, 2))
    }

    const fn part(self, place: u32) -> u64 {
        self.0 >> (place * WIDTH) & ((1 << WIDTH) - 1)
    }

    /// How many are missed.
    #[inline(always)]
    const fn missed(self) -> usize {
        self.part(0) as usize
    }

    #[inline(always)]
    const fn add(&mut self, more: Self) {
        self.0 += more.0;
    }

    const fn sums(self, all: u64) -> Sums {
        Sums { all, missed: self.part(0), old_missed: self.part(1), resolvers: self.part(2) }
    }
}

/// What is counted.
pub(super) struct Counter<'a> {
    cells: &'a Cells<'a>,
    /// What a request of each cell counts as.
    kind: Vec<Tally>,
    /// Requests by cell, IPv4.
    pub(super) v4: Vec<u64>,
    /// Requests by cell, IPv6.
    pub(super) v6: Vec<u64>,
    /// All requests. [`Counter::flush`] brings it up to date.
    pub(super) sums: Sums,
    /// What no entry covers, resolvers apart.
    pub(super) misses: Misses,
    /// Addresses in other clothes.
    pub(super) forms: Forms,
    batch: Box<[u32; BATCH]>,
    waiting: usize,
    /// The cells of a batch, and those of its addresses that are missed.
    found: Box<[u32; BATCH]>,
    missed: Box<[u32; BATCH]>,
}

impl<'a> Counter<'a> {
    pub(super) fn new(cells: &'a Cells<'a>) -> Self {
        Self {
            cells,
            kind: cells.all.iter().map(|cell| Tally::of(cell.kind())).collect(),
            v4: vec![0; cells.all.len()],
            v6: vec![0; cells.all.len()],
            sums: Sums::default(),
            misses: Misses::default(),
            forms: Forms::default(),
            batch: Box::new([0; BATCH]),
            waiting: 0,
            found: Box::new([0; BATCH]),
            missed: Box::new([0; BATCH]),
        }
    }

    /// Counts an IPv4 address.
    #[inline(always)]
    pub(super) fn v4(&mut self, address: u32) {
        if let Some(place) = self.batch.get_mut(self.waiting) {
            *place = address;
            self.waiting += 1;
        }
        if self.waiting == BATCH {
            self.flush();
        }
    }

    /// Counts an IPv6 address: as the IPv4 address that it stands for, where it does.
    pub(super) fn v6(&mut self, address: u128) {
        match self.forms.note(unmapped(address)) {
            Form::Mapped(address) | Form::Nat64(address) => self.v4(address),
            _ => self.count_v6(address),
        }
    }

    /// Counts what was gathered.
    pub(super) fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting > 0 {
            let batch = *self.batch;
            self.batch(batch.get(..waiting).unwrap_or_default());
        }
    }

    /// Counts IPv4 addresses, not more than [`BATCH`] of them.
    #[inline(never)]
    pub(super) fn batch(&mut self, addresses: &[u32]) {
        let mut tally = Tally::default();
        self.cells.v4.find(addresses, self.found.as_mut_slice());
        // As many as there are of one, there are of the other: they are asked for together.
        let counters = self.v4.as_mut_slice();
        let kinds = self.kind.get(..counters.len()).unwrap_or_default();
        for (cell, address) in self.found.iter().zip(addresses) {
            // Written always, kept where it is a miss: nothing to foresee.
            if let Some(place) = self.missed.get_mut(tally.missed() % BATCH) {
                *place = *address;
            }
            let cell = *cell as usize;
            if let (Some(counter), Some(kind)) = (counters.get_mut(cell), kinds.get(cell)) {
                *counter += 1;
                tally.add(*kind);
            }
        }
        self.sums.add(&tally.sums(addresses.len() as u64));
        for address in self.missed.iter().take(tally.missed()) {
            self.misses.v4(*address);
        }
    }

    fn count_v6(&mut self, address: u128) {
        let cell = self.cells.v6.find(address) as usize;
        if let Some(counter) = self.v6.get_mut(cell) {
            *counter += 1;
        }
        let tally = self.kind.get(cell).copied().unwrap_or_default();
        self.sums.add(&tally.sums(1));
        if tally.missed() > 0 {
            self.misses.v6(address);
        }
    }
}
