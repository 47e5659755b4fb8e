//! Lines that repeat what the line before had between its address and its time's end: in a
//! log most do, to the minute, and then nothing of it is looked for again.

use wide::u8x16;

/// How much of a line is compared behind its address.
pub(super) const REACH: usize = 48;

/// How long a time in brackets is, up to the closing one.
const TIME: usize = 26;

/// Where the seconds of such a time are.
const SECONDS: usize = 18;

/// What a line had behind its address, up to the end of its time.
#[derive(Debug)]
pub(super) struct Stamp {
    text: [u8; REACH],
    /// Which octets have to be the same, the first in the lowest bit: all up to the time's end
    /// but the seconds.
    same: u64,
    /// Where the seconds are.
    seconds: usize,
    /// How many octets it takes.
    pub(super) length: usize,
    /// What the time is, exact to the minute.
    pub(super) second: Option<i64>,
}

impl Stamp {
    /// The stamp of a line, from what stands behind its address; none where the time in
    /// brackets is further away or has another form than `10/Oct/2025:13:55:36 +0200`.
    pub(super) fn of(behind: &[u8], second: Option<i64>) -> Option<Self> {
        let text = behind.first_chunk::<REACH>()?;
        let open = memchr::memchr(b'[', text)? + 1;
        let seconds = open + SECONDS;
        let length = open + TIME;
        let of_time = text.get(open..length)?;
        let is_form = of_time.get(SECONDS - 1) == Some(&b':') && !of_time.contains(&b'\n');
        let same = ((1 << length) - 1) & !(0b11 << seconds);
        (is_form && digits(text, seconds) && memchr::memchr(b'\n', text.get(..open)?).is_none())
            .then_some(Self { text: *text, same, seconds, length, second })
    }

    /// Whether a line has the same behind its address, to the minute.
    #[inline(always)]
    pub(super) fn fits(&self, behind: &[u8; REACH]) -> bool {
        let (ours, _) = self.text.as_chunks::<16>();
        let (theirs, _) = behind.as_chunks::<16>();
        let mut equal = 0u64;
        for (at, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let bits = u8x16::new(*ours).simd_eq(u8x16::new(*theirs)).to_bitmask();
            equal |= u64::from(bits) << (16 * at);
        }
        equal & self.same == self.same && digits(behind, self.seconds)
    }
}

/// Whether two digits at a place are seconds within their minute: the 60th is in the next.
#[inline(always)]
fn digits(text: &[u8; REACH], at: usize) -> bool {
    text.get(at..).is_some_and(are_seconds)
}

/// Whether a text begins with seconds within their minute.
#[inline(always)]
pub(super) fn are_seconds(text: &[u8]) -> bool {
    matches!(text, [b'0'..=b'5', b'0'..=b'9', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8; 60] = b" - - [10/Oct/2025:13:55:36 +0200] \"GET /a HTTP/1.1\" 200 17 -";

    fn fits(text: &[u8]) -> bool {
        Stamp::of(LINE, Some(7)).unwrap().fits(text.first_chunk().unwrap())
    }

    #[test]
    fn only_seconds_and_what_follows_may_differ() {
        let stamp = Stamp::of(LINE, Some(7)).unwrap();
        assert_eq!((stamp.length, stamp.second), (32, Some(7)));
        assert!(fits(LINE));
        for at in 0..REACH {
            let mut other = *LINE;
            other[at] = if other[at] == b'5' { b'6' } else { b'5' };
            let second = at == 24 || at == 25;
            assert_eq!(fits(&other), second || at >= 32, "{at}");
            other[at] = b'\n';
            assert_eq!(fits(&other), at >= 32, "{at}");
        }
    }

    #[test]
    fn other_forms_have_none() {
        for line in [
            &b" - - [10/Oct/2025:13:55:36"[..],
            b" - - 10/Oct/2025:13:55:36 +0200 \"GET /a HTTP/1.1\" 200 17",
            b" - - [10/Oct/2025:13:55:60 +0200] \"GET /a HTTP/1.1\" 200 17",
            b" - - [10/Oct/2025:13:55:3x +0200] \"GET /a HTTP/1.1\" 200 17",
            b" - - [10/Oct/2025:13:55.36 +0200] \"GET /a HTTP/1.1\" 200 17",
            b" - a rather long name of a user [10/Oct/2025:13:55:36 +0200] \"GET",
            b" -\n1.2.3.4 - - [10/Oct/2025:13:55:36 +0200] \"GET /a HTTP/1.1",
            b" - - [10/Oct/2025:13:55:36\n1.2.3.4 - - [10/Oct/2025:13:55:36 ",
        ] {
            assert!(Stamp::of(line, None).is_none());
        }
    }
}
