//! Lines to counts.

use memchr::memchr;
use serde::Serialize;

use super::address::{WINDOW, Written, in_field, v4_window};
use super::clock;
use super::count::{BATCH, Counter};
use super::ends::{Ends, STRIP};
use super::line::v4_line;
use super::shape::{Reading, TimePlace, fields, in_brackets, shown};
use super::stamp::{Stamp, are_seconds};
use super::times::Times;

/// How many unreadable lines are shown.
const EXAMPLES: usize = 5;

/// A line without an address that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Its number, from 1.
    pub line: u64,
    /// Its beginning.
    pub text: String,
}

/// Lines by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) all: u64,
    pub(super) empty: u64,
    pub(super) comments: u64,
    pub(super) unreadable: u64,
    pub(super) examples: Vec<Unreadable>,
}

/// Reads lines and counts them.
pub(super) struct Scan<'a> {
    reading: Reading,
    pub(super) counter: Counter<'a>,
    pub(super) times: Option<Times>,
    pub(super) lines: Lines,
    /// The last time in brackets, its seconds left out, and what it is.
    minute: Option<([u8; 23], Option<i64>)>,
    /// What the last line had behind its address.
    stamp: Option<Stamp>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(reading: Reading, counter: Counter<'a>) -> Self {
        let timed = match &reading {
            Reading::Plain => false,
            Reading::Fields { time, .. } => *time != TimePlace::None,
            Reading::Json { timed, .. } => *timed,
        };
        let times = timed.then(Times::new);
        Self { reading, counter, times, lines: Lines::default(), minute: None, stamp: None }
    }

    /// Takes a piece of whole lines.
    pub(super) fn piece(&mut self, piece: &[u8]) {
        match &self.reading {
            Reading::Plain => self.plain(piece),
            Reading::Fields { number: 0, separator: None, time } => self.leading(piece, *time),
            _ => {
                let mut rest = piece;
                while !rest.is_empty() {
                    let (line, behind) = cut(rest);
                    self.line(line);
                    rest = behind;
                }
            }
        }
    }

    /// Books what was gathered.
    pub(super) fn finish(&mut self) {
        match &mut self.times {
            Some(times) => times.book(&mut self.counter),
            None => self.counter.flush(),
        }
    }

    /// An address a line. Where lines end is found out first, strip by strip, so that none has
    /// to wait for the one before it.
    fn plain(&mut self, piece: &[u8]) {
        let mut ends = Ends::new();
        let mut batch = [0u32; BATCH];
        let (mut from, mut count, mut good) = (0, 0, 0);
        let open = (!piece.ends_with(b"\n")).then_some(piece.len());
        for (at, strip) in piece.chunks(STRIP).enumerate() {
            for end in ends.of(strip) {
                let end = at * STRIP + *end as usize;
                let window = piece.get(from..).and_then(|rest| rest.first_chunk());
                let (address, wrong) = window.map_or((0, 1), |window| v4_line(window, end - from));
                if let Some(place) = batch.get_mut(count) {
                    *place = address;
                }
                if wrong == 0 {
                    (count, good) = (count + 1, good + 1);
                } else {
                    self.lines.all += std::mem::take(&mut good);
                    self.line(piece.get(from..end).unwrap_or_default());
                }
                if count == BATCH {
                    self.counter.batch(&batch);
                    count = 0;
                }
                from = end + 1;
            }
        }
        self.lines.all += good;
        self.counter.batch(batch.get(..count).unwrap_or_default());
        // The last line of the file may lack its end.
        if let Some(end) = open {
            self.line(piece.get(from..end).unwrap_or_default());
        }
    }

    /// Lines that begin with an address.
    fn leading(&mut self, piece: &[u8], time: TimePlace) {
        let mut rest = piece;
        while !rest.is_empty() {
            let quick = rest.first_chunk::<WINDOW>().and_then(|window| {
                let (address, length) = v4_window(window)?;
                matches!(window.get(length), Some(b' ' | b'\t')).then_some((address, length))
            });
            let Some((address, length)) = quick else {
                let (line, behind) = cut(rest);
                self.line(line);
                rest = behind;
                continue;
            };
            self.lines.all += 1;
            let behind = rest.get(length..).unwrap_or_default();
            rest = match self.stamped(behind) {
                Some(stamp) => cut(behind.get(stamp..).unwrap_or_default()).1,
                None => {
                    let (line, next) = cut(rest);
                    self.at(line, length, time);
                    self.stamp = self.stamp_of(line.get(length..).unwrap_or_default(), time);
                    next
                }
            };
            self.counter.v4(address);
        }
    }

    /// Takes the time of a line that has that of the one before, to the minute; gives how far
    /// that is. A line that has not gives nothing.
    #[inline(always)]
    fn stamped(&mut self, behind: &[u8]) -> Option<usize> {
        let stamp = self.stamp.as_ref()?;
        if !stamp.fits(behind.first_chunk()?) {
            return None;
        }
        if let Some(times) = &mut self.times {
            times.at(stamp.second, &mut self.counter);
        }
        Some(stamp.length)
    }

    /// What a line has behind its address, for the next line to be held against.
    fn stamp_of(&mut self, behind: &[u8], time: TimePlace) -> Option<Stamp> {
        if time != TimePlace::Brackets {
            return None;
        }
        let second = self.minute(behind);
        Stamp::of(behind, second)
    }

    /// The time of a line of fields, looked for from a place on.
    #[inline]
    fn at(&mut self, line: &[u8], from: usize, time: TimePlace) {
        let second = match time {
            TimePlace::None => return,
            TimePlace::Brackets => self.minute(line.get(from..).unwrap_or_default()),
            TimePlace::Field(at) => fields(line, self.separator()).nth(at).and_then(clock::seconds),
        };
        if let Some(times) = &mut self.times {
            times.at(second, &mut self.counter);
        }
    }

    /// The time in brackets, exact to the minute: most lines have that of the line before.
    #[inline]
    fn minute(&mut self, line: &[u8]) -> Option<i64> {
        let text = in_brackets(line)?;
        let (head, zone) = (text.first_chunk::<17>()?, text.last_chunk::<6>()?);
        let within = text.get(17) == Some(&b':') && text.get(18..).is_some_and(are_seconds);
        if let Some((key, second)) = self.minute.as_ref().filter(|_| within)
            && key.first_chunk::<17>() == Some(head)
            && key.last_chunk::<6>() == Some(zone)
        {
            return *second;
        }
        let mut key = [0; 23];
        key.iter_mut().zip(head.iter().chain(zone)).for_each(|(to, from)| *to = *from);
        let second = clock::seconds(text);
        if within {
            self.minute = Some((key, second));
        }
        second
    }

    const fn separator(&self) -> Option<u8> {
        match &self.reading {
            Reading::Fields { separator, .. } => *separator,
            _ => None,
        }
    }

    /// Any line, the thorough way.
    #[inline(never)]
    fn line(&mut self, line: &[u8]) {
        self.lines.all += 1;
        let said = line.trim_ascii();
        if said.is_empty() {
            self.lines.empty += 1;
            return;
        }
        if said.first() == Some(&b'#') {
            self.lines.comments += 1;
            return;
        }
        let (address, second) = match &self.reading {
            Reading::Plain => (in_field(said), None),
            Reading::Fields { number, separator, time } => {
                let line = if separator.is_some() { line.trim_ascii_end() } else { said };
                let address = fields(line, *separator).nth(*number).and_then(in_field);
                let second = match time {
                    TimePlace::None => None,
                    TimePlace::Brackets => in_brackets(line).and_then(clock::seconds),
                    TimePlace::Field(at) => fields(line, *separator).nth(*at).and_then(clock::seconds),
                };
                (address, second)
            }
            Reading::Json { keys, .. } => match keys.values(said) {
                Some([address, time]) => (address.and_then(in_field), time.and_then(clock::seconds)),
                None => (None, None),
            },
        };
        let Some(address) = address else {
            self.unreadable(line);
            return;
        };
        if let Some(times) = &mut self.times {
            times.at(second, &mut self.counter);
        }
        match address {
            Written::V4(address) => self.counter.v4(address),
            Written::V6(address) => self.counter.v6(address),
        }
    }

    fn unreadable(&mut self, line: &[u8]) {
        self.lines.unreadable += 1;
        if self.lines.examples.len() < EXAMPLES {
            self.lines.examples.push(Unreadable { line: self.lines.all, text: shown(line) });
        }
    }
}

/// The first line, without its end, and what follows.
fn cut(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b'\n', text).unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), text.get(end + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::coverage::viewers::cells::Cells;
    use crate::coverage::{Answer, Known, Served};

    fn line() -> impl Strategy<Value = String> {
        let address = prop_oneof![
            4 => any::<u32>().prop_map(|bits| std::net::Ipv4Addr::from_bits(bits).to_string()),
            1 => any::<u128>().prop_map(|bits| std::net::Ipv6Addr::from_bits(bits).to_string()),
            1 => "[0-9.:]{0,16}",
            1 => Just("::ffff:10.0.0.1".to_owned()),
        ];
        let time = prop_oneof![
            6 => (0u8..62, 0u8..3).prop_map(|(s, m)| format!("[10/Oct/2025:13:5{m}:{s:02} +0200]")),
            1 => "\\[10/Oct/2025:13:55:[0-9x]{0,3} [+-]0[0-2]00\\]?",
            1 => Just("-".to_owned()),
            1 => "[\\[\\]a-z]{0,8}",
        ];
        let between = prop_oneof![6 => Just(" - - "), 1 => Just("\t- [x "), 1 => Just(""), 1 => Just(" - a-rather-long-name-of-a-user ")];
        let rest = prop_oneof![4 => Just(" \"GET /a HTTP/1.1\" 200 17 \"-\" \"player\""), 1 => Just(""), 1 => Just("\r")];
        let whole = (address, between, time, rest).prop_map(|(a, b, t, r)| format!("{a}{b}{t}{r}"));
        prop_oneof![12 => whole, 1 => Just(String::new()), 1 => Just("# a remark".to_owned())]
    }

    type Told = (Lines, Vec<u64>, Vec<u64>, Vec<(i64, u64)>, u64);

    fn told(mut scan: Scan<'_>) -> Told {
        scan.finish();
        let times = scan.times.as_ref().unwrap();
        let steps = times.steps().map(|(start, sums)| (start, sums.all)).collect();
        (scan.lines.clone(), scan.counter.v4.clone(), scan.counter.v6.clone(), steps, times.untimed().all)
    }

    proptest! {
        #[test]
        fn lines_that_begin_with_an_address_are_read_as_any_line(lines in vec(line(), 0..60), open in any::<bool>()) {
            let answer = Answer::new("b".into(), None, None, false);
            let half = vec![("0.0.0.0/1".parse().unwrap(), 0)];
            let (served, known) = (Served::of_ranges(&"s".into(), half, vec![answer]), Known::default());
            let cells = Cells::new(&served, None, &known, None);
            let reading = || Reading::Fields { number: 0, separator: None, time: TimePlace::Brackets };
            let mut text = lines.join("\n");
            if !open && !lines.is_empty() {
                text.push('\n');
            }
            let mut quick = Scan::new(reading(), Counter::new(&cells));
            quick.piece(text.as_bytes());
            let mut thorough = Scan::new(reading(), Counter::new(&cells));
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let (line, behind) = cut(rest);
                thorough.line(line);
                rest = behind;
            }
            prop_assert_eq!(told(quick), told(thorough));
        }
    }
}
