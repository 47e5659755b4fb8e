//! The table: entries in chunks that tables share.
//!
//! A batch changes a few entries of a million. The table that it makes keeps the chunks in
//! which nothing changed, so that it costs what changed, and so that two tables are compared
//! without looking into what they share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;
use std::ops::Index;
use std::sync::Arc;

use super::chunks::Chunks;
use super::{Entry, Name, Published};
use crate::address::{Family, Range};

/// All entries of all spaces: sorted by space, family and first address; disjoint. Cheap to
/// clone.
#[derive(Clone, Default)]
pub struct Table {
    /// None is empty.
    chunks: Vec<Arc<Vec<Entry>>>,
    len: usize,
}

/// Entries of a table that follow each other.
#[derive(Clone, Copy, Default)]
pub struct Entries<'a> {
    chunks: &'a [Arc<Vec<Entry>>],
    /// The first one's place in the first chunk.
    start: usize,
    /// The place in the last chunk behind the last one.
    end: usize,
}

/// Goes through entries in order.
#[derive(Clone)]
pub struct Iter<'a> {
    rest: Entries<'a>,
}

/// What is to be in a stretch of a space instead of what is.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) space: Name,
    pub(super) range: Range,
    /// Sorted, disjoint, within `range`.
    pub(super) entries: Vec<Entry>,
}

impl Table {
    /// A table of entries in any order.
    ///
    /// # Errors
    /// The two entries that overlap, where some do.
    pub fn new(mut entries: Vec<Entry>) -> Result<Self, Box<(Entry, Entry)>> {
        entries.sort_by(|a, b| (&a.space, a.range).cmp(&(&b.space, b.range)));
        for pair in entries.windows(2) {
            if pair[0].space == pair[1].space && pair[0].range.intersection(pair[1].range).is_some() {
                return Err(Box::new((pair[0].clone(), pair[1].clone())));
            }
        }
        Ok(Self::from_sorted(entries))
    }

    /// A table of entries that are known to be sorted and disjoint.
    pub(super) fn from_sorted(entries: Vec<Entry>) -> Self {
        let mut chunks = Chunks::default();
        entries.into_iter().for_each(|entry| chunks.push(entry));
        Self::from_chunks(chunks)
    }

    /// The same.
    pub(super) fn from_chunks(chunks: Chunks) -> Self {
        let chunks = chunks.finish();
        let table = Self { len: chunks.iter().map(|chunk| chunk.len()).sum(), chunks };
        debug_assert!(table.entries().iter().zip(table.entries().iter().skip(1)).all(|(a, b)| {
            (&a.space, a.range) < (&b.space, b.range)
                && (a.space != b.space || a.range.intersection(b.range).is_none())
        }));
        table
    }

    /// The entries, sorted by space, family and first address.
    pub fn into_entries(self) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(self.len);
        for chunk in self.chunks {
            entries.extend(Arc::unwrap_or_clone(chunk));
        }
        entries
    }

    /// The entries, sorted by space, family and first address.
    pub fn entries(&self) -> Entries<'_> {
        let end = self.chunks.last().map_or(0, |chunk| chunk.len());
        Entries { chunks: &self.chunks, start: 0, end }
    }

    /// How many entries it has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no entry.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries of one space and family.
    pub fn of(&self, space: &str, family: Family) -> Entries<'_> {
        let place = |entry: &Entry| (entry.space.as_str(), entry.range.family()).cmp(&(space, family));
        let (_, rest) = self.entries().split(|entry| place(entry).is_lt());
        rest.split(|entry| place(entry).is_le()).0
    }

    /// The entries of a space that overlap a range.
    pub(super) fn overlapping(&self, space: &str, range: Range) -> Entries<'_> {
        let ends = |entry: &Entry| (entry.range.family(), entry.range.last_bits());
        let begins = |entry: &Entry| (entry.range.family(), entry.range.first_bits());
        let (first, last) = ((range.family(), range.first_bits()), (range.family(), range.last_bits()));
        let (_, rest) = self.entries().split(|entry| (entry.space.as_str(), ends(entry)) < (space, first));
        rest.split(|entry| (entry.space.as_str(), begins(entry)) <= (space, last)).0
    }

    /// The spaces and families that have entries, in order, each with its entries.
    pub(super) fn grounds(&self) -> impl Iterator<Item = (&Name, Family, Entries<'_>)> {
        let mut rest = self.entries();
        std::iter::from_fn(move || {
            let first = rest.first()?;
            let same =
                |entry: &Entry| entry.space == first.space && entry.range.family() == first.range.family();
            let (here, behind) = rest.split(same);
            rest = behind;
            Some((&first.space, first.range.family(), here))
        })
    }

    /// What is published as each owner's, by owner and space: what
    /// [`Memory::ingest`](super::Memory::ingest) is told. One pass over the table. Only of the
    /// owners that are wanted.
    pub fn by_owner(&self, wanted: impl Fn(&Name) -> bool) -> BTreeMap<Name, Published> {
        let mut ranges: BTreeMap<(&Name, &Name), Vec<Range>> = BTreeMap::new();
        // Neighbours are mostly one owner's.
        let mut last: Option<(&Name, bool)> = None;
        for entry in self.entries() {
            let is_wanted = match last {
                Some((owner, is_wanted)) if *owner == entry.owner => is_wanted,
                _ => wanted(&entry.owner),
            };
            last = Some((&entry.owner, is_wanted));
            if is_wanted {
                ranges.entry((&entry.owner, &entry.space)).or_default().push(entry.range);
            }
        }
        let mut owners: BTreeMap<Name, Published> = BTreeMap::new();
        for ((owner, space), ranges) in ranges {
            owners.entry(owner.clone()).or_default().insert(space.clone(), ranges.into_iter().collect());
        }
        owners
    }

    /// The owners that have entries.
    pub fn owners(&self) -> BTreeSet<&Name> {
        let mut last = None;
        let changes = self.entries().into_iter().map(|entry| &entry.owner);
        changes.filter(|owner| last.replace(*owner) != Some(*owner)).collect()
    }

    /// The entry that an address of a space lies in.
    pub fn lookup(&self, space: &str, address: IpAddr) -> Option<&Entry> {
        self.overlapping(space, Range::single(address)).first()
    }

    /// The table with other entries in some stretches, which are sorted and disjoint. What
    /// reaches into a stretch from outside is cut; neighbours at its ends that say the same
    /// are joined. Costs what the patches cost, and a little per chunk.
    pub(super) fn patched(&self, patches: Vec<Patch>) -> Self {
        let mut chunks = Chunks::patching();
        let mut rest = self.entries();
        // What reaches out of the last stretch.
        let mut front: Option<Entry> = None;
        for Patch { space, range, entries } in patches {
            let begins = (&space, range.family(), range.first_bits());
            let ends = (&space, range.family(), range.last_bits());
            let (before, behind) = rest.split(|entry| last_place(entry) < begins);
            let (within, behind) = behind.split(|entry| first_place(entry) <= ends);
            let cut = front.take_if(|part| last_place(part) >= begins);
            front.take().into_iter().for_each(|part| chunks.join(part));
            chunks.extend(before);
            let first = cut.as_ref().or(within.first());
            first.and_then(|entry| entry.before(range)).into_iter().for_each(|part| chunks.join(part));
            front = within.last().or(cut.as_ref()).and_then(|entry| entry.behind(range));
            entries.into_iter().for_each(|entry| chunks.join(entry));
            rest = behind;
        }
        front.into_iter().for_each(|part| chunks.join(part));
        chunks.extend(rest);
        Self::from_chunks(chunks)
    }
}

/// Where an entry begins, in the order of the table.
fn first_place(entry: &Entry) -> (&Name, Family, u128) {
    (&entry.space, entry.range.family(), entry.range.first_bits())
}

/// Where an entry ends.
fn last_place(entry: &Entry) -> (&Name, Family, u128) {
    (&entry.space, entry.range.family(), entry.range.last_bits())
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self.entries().into_iter(), other.entries().into_iter());
        self.len == other.len
            && loop {
                left.skip_shared(&mut right);
                match (left.next(), right.next()) {
                    (None, None) => break true,
                    (a, b) if a == b => {}
                    _ => break false,
                }
            }
    }
}

impl Eq for Table {}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

impl<'a> Entries<'a> {
    /// The same entries in order.
    pub const fn iter(&self) -> Iter<'a> {
        Iter { rest: *self }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pieces().map(|(_, piece)| piece.len()).sum()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The first one.
    pub fn first(&self) -> Option<&'a Entry> {
        self.chunks.first()?.get(self.start)
    }

    /// The last one.
    pub fn last(&self) -> Option<&'a Entry> {
        self.chunks.last()?.get(self.end.checked_sub(1)?)
    }

    /// One by its place.
    pub fn get(&self, mut place: usize) -> Option<&'a Entry> {
        for (_, piece) in self.pieces() {
            if let Some(entry) = piece.get(place) {
                return Some(entry);
            }
            place -= piece.len();
        }
        None
    }

    /// Copies of them.
    pub fn to_vec(&self) -> Vec<Entry> {
        self.iter().cloned().collect()
    }

    /// Those at the beginning of which something is true, and those behind them, of which it
    /// is not.
    pub fn split(&self, is_before: impl Fn(&Entry) -> bool) -> (Self, Self) {
        let Some(whole) = self.chunks.len().checked_sub(1) else { return (*self, *self) };
        let is_before = |entry: &Entry| is_before(entry);
        let chunk = self.chunks.get(..whole).unwrap_or_default();
        let chunk = chunk.partition_point(|chunk| chunk.last().is_some_and(is_before));
        let start = if chunk == 0 { self.start } else { 0 };
        let piece = self.piece(chunk);
        let cut = start + piece.partition_point(is_before);
        let before = match (cut == start, chunk.checked_sub(1)) {
            (false, _) => self.part(0..chunk + 1, self.start, cut),
            (true, None) => Self::default(),
            (true, Some(full)) => {
                self.part(0..chunk, self.start, self.chunks.get(full).map_or(0, |c| c.len()))
            }
        };
        let behind = match cut < start + piece.len() {
            true => self.part(chunk..self.chunks.len(), cut, self.end),
            // Only in the last chunk nothing may be left.
            false => Self::default(),
        };
        (before, behind)
    }

    fn part(&self, chunks: std::ops::Range<usize>, start: usize, end: usize) -> Self {
        Self { chunks: self.chunks.get(chunks).unwrap_or_default(), start, end }
    }

    /// The entries in one of the chunks.
    fn piece(&self, chunk: usize) -> &'a [Entry] {
        let entries = self.chunks.get(chunk).map_or(&[][..], |chunk| chunk.as_slice());
        let start = if chunk == 0 { self.start } else { 0 };
        let end = if chunk + 1 == self.chunks.len() { self.end } else { entries.len() };
        entries.get(start..end).unwrap_or_default()
    }

    /// The chunks, and what of each belongs to it.
    pub(super) fn pieces(self) -> impl Iterator<Item = (&'a Arc<Vec<Entry>>, &'a [Entry])> {
        self.chunks.iter().enumerate().map(move |(place, chunk)| (chunk, self.piece(place)))
    }
}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

impl Index<usize> for Entries<'_> {
    type Output = Entry;

    /// As for a slice.
    fn index(&self, mut place: usize) -> &Entry {
        let mut piece: &[Entry] = &[];
        for (_, next) in self.pieces() {
            place -= piece.len();
            piece = next;
            if place < piece.len() {
                break;
            }
        }
        &piece[place]
    }
}

impl<T: AsRef<[Entry]>> PartialEq<T> for Entries<'_> {
    fn eq(&self, other: &T) -> bool {
        self.iter().eq(other.as_ref())
    }
}

impl<'a> IntoIterator for Entries<'a> {
    type Item = &'a Entry;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Entries<'a> {
    type Item = &'a Entry;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> Iter<'a> {
    /// The next one, which stays.
    pub fn peek(&self) -> Option<&'a Entry> {
        self.rest.first()
    }

    /// The next one, where something is true of it.
    pub fn next_if(&mut self, is_wanted: impl FnOnce(&Entry) -> bool) -> Option<&'a Entry> {
        self.peek().filter(|entry| is_wanted(entry))?;
        self.next()
    }

    /// Goes past the chunks that both have next.
    pub(super) fn skip_shared(&mut self, other: &mut Self) {
        while self.is_at_chunk() && other.is_at_chunk() {
            match (self.rest.chunks.split_first(), other.rest.chunks.split_first()) {
                (Some((a, rest)), Some((b, others))) if Arc::ptr_eq(a, b) => {
                    (self.rest.chunks, other.rest.chunks) = (rest, others);
                }
                _ => return,
            }
        }
    }

    /// Goes past the entries that both have next and that are the same without a look at their
    /// names; not beyond the end of a chunk.
    pub(super) fn skip_same(&mut self, other: &mut Self) {
        let (here, there) = (self.rest.piece(0), other.rest.piece(0));
        let same = here.iter().zip(there).take_while(|(a, b)| a.is_plainly(b)).count();
        self.skip_within(same);
        other.skip_within(same);
    }

    /// Goes past so many entries of one chunk.
    fn skip_within(&mut self, count: usize) {
        let Some((chunk, behind)) = self.rest.chunks.split_first() else { return };
        self.rest.start += count;
        let end = if behind.is_empty() { self.rest.end } else { chunk.len() };
        if self.rest.start >= end {
            (self.rest.chunks, self.rest.start) = (behind, 0);
        }
    }

    /// Whether a chunk comes next of which nothing is left out.
    fn is_at_chunk(&self) -> bool {
        match self.rest.chunks {
            [] => false,
            [chunk] => self.rest.start == 0 && self.rest.end == chunk.len(),
            _ => self.rest.start == 0,
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Entry;

    #[inline]
    fn next(&mut self) -> Option<&'a Entry> {
        let entry = self.rest.first()?;
        self.skip_within(1);
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest.len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests;
