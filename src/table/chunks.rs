//! Writes a table's entries in order, into chunks.

use std::sync::Arc;

use super::Entry;
use super::entries::Entries;

/// How many entries a chunk has where a whole table is made.
pub(super) const CHUNK: usize = 256;

/// Entries in order, those of full chunks put away.
#[derive(Default)]
pub(super) struct Chunks {
    done: Vec<Arc<Vec<Entry>>>,
    open: Vec<Entry>,
    /// Whole chunks of another table go between: what is written in one go stays together.
    patching: bool,
}

impl Chunks {
    /// To be made out of another table's chunks, with changes.
    pub(super) fn patching() -> Self {
        Self { patching: true, ..Self::default() }
    }

    /// Writes the next entry.
    pub(super) fn push(&mut self, entry: Entry) {
        if !self.patching {
            if self.open.len() == CHUNK {
                self.seal();
            }
            if self.open.capacity() == 0 {
                self.open.reserve_exact(CHUNK);
            }
        }
        self.open.push(entry);
    }

    /// The entry that was written last.
    pub(super) fn last(&self) -> Option<&Entry> {
        self.open.last().or_else(|| self.done.last()?.last())
    }

    /// The same, to be changed.
    pub(super) fn last_mut(&mut self) -> Option<&mut Entry> {
        if self.open.is_empty() {
            self.open = Arc::unwrap_or_clone(self.done.pop()?);
        }
        self.open.last_mut()
    }

    /// Writes the next entry, or lengthens the last one where that goes on and says the same.
    pub(super) fn join(&mut self, entry: Entry) {
        match self.last().and_then(|last| last.joined(&entry)) {
            Some(joined) => {
                if let Some(last) = self.last_mut() {
                    *last = joined;
                }
            }
            None => self.push(entry),
        }
    }

    /// Writes entries of another table, which does not have to be looked into: its chunks are
    /// shared, where they are whole. Only the first may go on where the last one ended.
    pub(super) fn extend(&mut self, entries: Entries<'_>) {
        let Some(first) = entries.first() else { return };
        let joined = self.last().and_then(|last| last.joined(first));
        let skipped = usize::from(joined.is_some());
        if let Some(joined) = joined
            && let Some(last) = self.last_mut()
        {
            *last = joined;
        }
        for (place, (chunk, piece)) in entries.pieces().enumerate() {
            let skipped = if place == 0 { skipped } else { 0 };
            let is_whole = piece.len() == chunk.len() && skipped == 0;
            // A chunk of a few entries takes the next one in, so that chunks do not get ever
            // smaller.
            if is_whole && (self.open.is_empty() || self.open.len() >= CHUNK / 4) {
                self.seal();
                self.done.push(Arc::clone(chunk));
            } else {
                self.open.extend(piece.iter().skip(skipped).cloned());
            }
        }
    }

    /// The chunks. None is empty.
    pub(super) fn finish(mut self) -> Vec<Arc<Vec<Entry>>> {
        self.seal();
        self.done.shrink_to_fit();
        self.done
    }

    fn seal(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        if open.len() > 2 * CHUNK {
            let parts = open.len().div_ceil(CHUNK);
            let size = open.len().div_ceil(parts);
            let mut rest = open.into_iter();
            while rest.len() > 0 {
                self.done.push(Arc::new(rest.by_ref().take(size).collect()));
            }
        } else if !open.is_empty() {
            open.shrink_to_fit();
            self.done.push(Arc::new(open));
        }
    }
}
