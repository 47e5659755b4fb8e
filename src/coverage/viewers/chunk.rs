//! A stream cut into pieces of whole lines, in one buffer.

use memchr::{memchr, memrchr};

use crate::coverage::input::{Input, InputError};

/// The buffer's size: small enough to stay near the processor, and the longest line.
const SIZE: usize = 64 * 1024;

/// Gives out a file's lines, many at a time.
pub(super) struct Chunks<'r> {
    input: Input<'r>,
    buffer: Vec<u8>,
    /// Where what was not given out yet begins and ends.
    from: usize,
    filled: usize,
    ended: Option<Result<(), InputError>>,
    /// Whether the rest of a line that is too long is being passed over.
    skipping: bool,
    /// Lines that were longer than the buffer, and are passed over.
    pub(super) too_long: u64,
    /// Octets, unpacked.
    pub(super) octets: u64,
    /// Whether the last line has no end.
    pub(super) open_end: bool,
}

impl<'r> Chunks<'r> {
    pub(super) fn new(input: Input<'r>) -> Self {
        Self {
            input,
            buffer: vec![0; SIZE],
            from: 0,
            filled: 0,
            ended: None,
            skipping: false,
            too_long: 0,
            octets: 0,
            open_end: false,
        }
    }

    /// The file.
    pub(super) const fn input(&self) -> &Input<'r> {
        &self.input
    }

    /// How the file ended; none before its end.
    pub(super) const fn ended(&self) -> Option<&Result<(), InputError>> {
        self.ended.as_ref()
    }

    /// The beginning of the file, before anything was given out: as much as there is, up to
    /// the buffer's size.
    pub(super) fn head(&mut self) -> &[u8] {
        while self.ended.is_none() && self.filled < SIZE {
            self.read();
        }
        self.buffer.get(self.from..self.filled).unwrap_or_default()
    }

    /// Drops octets at the beginning of what is to be given out.
    pub(super) fn drop_head(&mut self, count: usize) {
        self.from = (self.from + count).min(self.filled);
    }

    /// Gives up the first line, which fills the buffer already, up to its end or so many
    /// octets of the file.
    pub(super) fn pass_endless(&mut self, most: u64) {
        while self.ended.is_none() && self.octets < most {
            if self.whole_lines().is_some() || (self.too_long > 0 && !self.skipping) {
                return;
            }
            self.make_room();
            self.read();
        }
    }

    /// The next whole lines; the last piece may lack its line end. None at the end, however
    /// it came.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        loop {
            if let Some(end) = self.whole_lines() {
                let from = std::mem::replace(&mut self.from, end);
                return self.buffer.get(from..end);
            }
            if self.ended.is_some() {
                return self.last();
            }
            self.make_room();
            self.read();
        }
    }

    /// What is left when the file has ended.
    fn last(&mut self) -> Option<&[u8]> {
        let (from, end) = (self.from, self.filled);
        self.from = end;
        // Where the file broke off, so did this line.
        if from == end || self.skipping || matches!(self.ended, Some(Err(_))) {
            return None;
        }
        self.open_end = true;
        self.buffer.get(from..end)
    }

    /// Where the last whole line ends.
    fn whole_lines(&mut self) -> Option<usize> {
        if self.skipping {
            let rest = self.buffer.get(self.from..self.filled).unwrap_or_default();
            match memchr(b'\n', rest) {
                Some(end) => (self.from, self.skipping) = (self.from + end + 1, false),
                None => self.from = self.filled,
            }
        }
        let rest = self.buffer.get(self.from..self.filled).unwrap_or_default();
        memrchr(b'\n', rest).map(|end| self.from + end + 1)
    }

    /// Moves the begun line to the front; one that fills the buffer is given up.
    fn make_room(&mut self) {
        if self.from == 0 && self.filled == SIZE {
            self.too_long += 1;
            self.skipping = true;
            self.from = self.filled;
        }
        self.buffer.copy_within(self.from..self.filled, 0);
        (self.from, self.filled) = (0, self.filled - self.from);
    }

    fn read(&mut self) {
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        match self.input.read(room) {
            Ok(0) => self.ended = Some(Ok(())),
            Ok(count) => {
                self.filled += count;
                self.octets += count as u64;
            }
            Err(e) => self.ended = Some(Err(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// A reader that gives out a few octets at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn pieces(text: &[u8], step: usize) -> (Vec<Vec<u8>>, u64, bool) {
        let mut chunks = Chunks::new(Input::open(Drops(text, step)).unwrap());
        let mut all = Vec::new();
        while let Some(piece) = chunks.next() {
            assert!(!piece.is_empty());
            all.push(piece.to_vec());
        }
        assert_eq!(chunks.ended(), Some(&Ok(())));
        assert_eq!(chunks.octets, text.len() as u64);
        (all, chunks.too_long, chunks.open_end)
    }

    #[test]
    fn pieces_are_whole_lines_and_all_there_is() {
        let text: Vec<u8> = (0..100_000).flat_map(|n: u32| format!("{n}\n").into_bytes()).collect();
        for step in [7, 4096, usize::MAX] {
            let (all, too_long, open) = pieces(&text, step);
            assert!(all.iter().all(|piece| piece.ends_with(b"\n")));
            assert_eq!((all.concat() == text, too_long, open), (true, 0, false));
        }
        assert_eq!(pieces(b"a\nb", 1), (vec![b"a\n".to_vec(), b"b".to_vec()], 0, true));
        assert_eq!(pieces(b"", 1).0, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_alone() {
        for long in [SIZE, SIZE + 1, 3 * SIZE] {
            let text = [b"a\n".to_vec(), vec![b'x'; long], b"\nb\n".to_vec()].concat();
            for step in [1000, usize::MAX] {
                let (all, too_long, open) = pieces(&text, step);
                assert_eq!((all.concat(), too_long, open), (b"a\nb\n".to_vec(), 1, false), "{long} {step}");
            }
        }
        let (all, too_long, _) = pieces(&vec![b'x'; 5 * SIZE], usize::MAX);
        assert_eq!((all.len(), too_long), (0, 1));
        // As long as may be.
        let text = [vec![b'x'; SIZE - 1], b"\n".to_vec()].concat();
        assert_eq!(pieces(&text, usize::MAX).1, 0);
    }
}
