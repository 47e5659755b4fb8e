//! The counters. IPv4 addresses are gathered and looked up together: searches that do not
//! wait for each other are faster by far than one after the other.

use super::cells::{COVERED, Cells, KINDS, RESOLVER};
use super::form::{Form, Forms, unmapped};
use super::misses::Misses;

/// How many addresses are looked up together.
const BATCH: usize = 1024;

/// Requests by kind of cell; see [`super::cells::Cell::kind`].
pub(super) type Kinds = [u64; KINDS];

/// What is counted.
pub(super) struct Counter<'a> {
    cells: &'a Cells<'a>,
    /// The kind of each cell.
    kind: Vec<u8>,
    /// Requests by cell, IPv4.
    pub(super) v4: Vec<u64>,
    /// Requests by cell, IPv6.
    pub(super) v6: Vec<u64>,
    /// Requests by kind. [`Counter::flush`] brings it up to date.
    pub(super) kinds: Kinds,
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
            kinds: [0; KINDS],
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
    #[inline(never)]
    pub(super) fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut missed = [0u32; BATCH];
        let mut misses = 0;
        for address in self.batch.iter().take(waiting) {
            let cell = self.cells.v4.find(*address) as usize;
            if let Some(counter) = self.v4.get_mut(cell) {
                *counter += 1;
            }
            let kind = self.kind.get(cell).copied().unwrap_or(0);
            if let Some(counter) = self.kinds.get_mut(usize::from(kind)) {
                *counter += 1;
            }
            // Written always, kept where it is a miss: nothing to foresee.
            if let Some(place) = missed.get_mut(misses) {
                *place = *address;
            }
            misses += usize::from(kind & (COVERED | RESOLVER) == 0);
        }
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
        if let Some(counter) = self.kinds.get_mut(usize::from(kind)) {
            *counter += 1;
        }
        if kind & (COVERED | RESOLVER) == 0 {
            self.misses.v6(address);
        }
    }
}
