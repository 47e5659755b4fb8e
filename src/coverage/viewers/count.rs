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

    #[inline(always)]
    fn count(&mut self, kind: u8) {
        self.missed += u64::from(kind & MISSED);
        self.old_missed += u64::from(kind & OLD_MISSED) / u64::from(OLD_MISSED);
        self.resolvers += u64::from(kind & RESOLVER) / u64::from(RESOLVER);
    }
}

/// What is counted.
pub(super) struct Counter<'a> {
    cells: &'a Cells<'a>,
    /// The kind of each cell.
    kind: Vec<u8>,
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
}

impl<'a> Counter<'a> {
    pub(super) fn new(cells: &'a Cells<'a>) -> Self {
        Self {
            cells,
            kind: cells.all.iter().map(super::cells::Cell::kind).collect(),
            v4: vec![0; cells.all.len()],
            v6: vec![0; cells.all.len()],
            sums: Sums::default(),
            misses: Misses::default(),
            forms: Forms::default(),
            batch: Box::new([0; BATCH]),
            waiting: 0,
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
        let mut missed = [0u32; BATCH];
        let mut cells = [0u32; BATCH];
        let mut sums = Sums { all: addresses.len() as u64, ..Sums::default() };
        self.cells.v4.find(addresses, &mut cells);
        for (cell, address) in cells.iter().zip(addresses) {
            let cell = *cell as usize;
            if let Some(counter) = self.v4.get_mut(cell) {
                *counter += 1;
            }
            // Written always, kept where it is a miss: nothing to foresee.
            if let Some(place) = missed.get_mut(sums.missed as usize) {
                *place = *address;
            }
            sums.count(self.kind.get(cell).copied().unwrap_or(0));
        }
        let misses = sums.missed as usize;
        self.sums.add(&sums);
        for address in missed.iter().take(misses) {
            self.misses.v4(*address);
        }
    }

    fn count_v6(&mut self, address: u128) {
        let cell = self.cells.v6.find(address) as usize;
        if let Some(counter) = self.v6.get_mut(cell) {
            *counter += 1;
        }
        let kind = self.kind.get(cell).copied().unwrap_or(0);
        self.sums.all += 1;
        self.sums.count(kind);
        if kind & MISSED != 0 {
            self.misses.v6(address);
        }
    }
}
