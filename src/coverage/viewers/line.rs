//! IPv4 addresses that are a line each. Where the line ends is known beforehand, so that no
//! line has to wait for the one before it, and each number is one look into a small table.

use wide::u8x16;

use super::address::WINDOW;

/// The numbers of an address as text, by a hash that gives each a slot of its own: the digits,
/// the first in the lowest octet, and the value on top. What is no number finds a slot that
/// has another text.
static NUMBERS: [u32; 1 << SLOT_BITS] = numbers();
const SLOT_BITS: u32 = 10;
/// Found by trying: the compiler checks that no two numbers share a slot.
const HASH: u32 = 0x274f_6ebd;
/// The octets of a text.
const TEXT: u32 = 0x00ff_ffff;
const ZERO: u32 = b'0' as u32;

const fn numbers() -> [u32; 1 << SLOT_BITS] {
    let mut slots = [0; 1 << SLOT_BITS];
    let mut value = 0;
    while value < 256 {
        let (hundreds, tens, ones) = (value / 100, value / 10 % 10, value % 10);
        let text = match value {
            0..10 => ZERO + ones,
            10..100 => (ZERO + tens) | (ZERO + ones) << 8,
            _ => (ZERO + hundreds) | (ZERO + tens) << 8 | (ZERO + ones) << 16,
        };
        let slot = slot(text);
        assert!(slots[slot] == 0, "two numbers share a slot");
        slots[slot] = text | value << 24;
        value += 1;
    }
    // The empty text finds the first slot: there something else has to stand.
    if slots[0] == 0 {
        slots[0] = 1;
    }
    slots
}

#[inline(always)]
const fn slot(text: u32) -> usize {
    (text.wrapping_mul(HASH) >> (32 - SLOT_BITS)) as usize
}

/// The number of so many digits at a place of a window; `wrong` gets bits where it is none.
#[inline(always)]
fn number_of(window: &[u8; WINDOW], first: u32, length: u32, wrong: &mut u32) -> u32 {
    let Some(octets) = window.get(first as usize & 15..).and_then(|rest| rest.first_chunk()) else {
        return 0;
    };
    let text = u32::from_le_bytes(*octets) & !u32::MAX.wrapping_shl(length << 3);
    let found = NUMBERS.get(slot(text)).copied().unwrap_or(!text);
    *wrong |= (found ^ text) & TEXT;
    found >> 24
}

/// The IPv4 address that a line of this length consists of, or bits that say that it is none.
/// The length is known, so that no line has to wait for the one before it.
#[inline(always)]
pub(super) fn v4_line(window: &[u8; WINDOW], length: usize) -> (u32, u32) {
    let mut dots = window
        .first_chunk()
        .map_or(0, |octets| u8x16::new(*octets).simd_eq(u8x16::new([b'.'; 16])).to_bitmask());
    let mut next = || {
        let dot = dots.trailing_zeros();
        dots &= dots.wrapping_sub(1);
        dot
    };
    let (a, b, c) = (next(), next(), next());
    let end = length as u32;
    let lengths = [a, b.wrapping_sub(a + 1), c.wrapping_sub(b + 1), end.wrapping_sub(c + 1)];
    let [w, x, y, z] = lengths;
    // A number has at most three digits; none has no text, which is in no slot.
    let mut wrong = (w | x | y | z) & !3;
    let parts = [
        number_of(window, 0, w, &mut wrong),
        number_of(window, a + 1, x, &mut wrong),
        number_of(window, b + 1, y, &mut wrong),
        number_of(window, c + 1, z, &mut wrong),
    ];
    let [w, x, y, z] = parts;
    (w << 24 | x << 16 | y << 8 | z, wrong)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    fn std_v4(text: &str) -> Option<u32> {
        text.parse::<Ipv4Addr>().ok().map(Ipv4Addr::to_bits)
    }

    fn line(text: &str) -> Option<u32> {
        // What follows the line must not matter.
        let mut octets = *b"1.2.3.4.5.6.7.8.9.0.";
        let length = text.len().min(WINDOW);
        octets[..length].copy_from_slice(&text.as_bytes()[..length]);
        let (address, wrong) = v4_line(&octets, text.len());
        (wrong == 0).then_some(address)
    }

    #[test]
    fn every_number_has_a_slot_and_nothing_else_has() {
        let text_of = |value: u32| {
            let mut octets = [0; 4];
            let digits = value.to_string();
            octets[..digits.len()].copy_from_slice(digits.as_bytes());
            u32::from_le_bytes(octets)
        };
        for value in 0..256 {
            assert_eq!(NUMBERS[slot(text_of(value))], text_of(value) | value << 24);
        }
        // A text is found where it is that of its own slot: of the other slots none is.
        let found = (0..NUMBERS.len()).filter(|at| slot(NUMBERS[*at] & TEXT) == *at).count();
        assert_eq!(found, 256);
    }

    proptest! {
        #[test]
        fn lines_are_judged_as_the_standard_library_does(bits in any::<u32>(), near in "[0-9]{0,4}\\.[0-9.]{0,4}\\.[0-9/:]{1,3}[.]{0,1}[0-9]{0,3}") {
            let text = Ipv4Addr::from_bits(bits).to_string();
            prop_assert_eq!(line(&text), Some(bits));
            prop_assert_eq!(line(&near), std_v4(&near), "{}", near);
            for other in [format!("{text}\r"), format!(" {text}"), format!("{text}:80"), format!("{text}."), format!("0{text}")] {
                prop_assert_eq!(line(&other), None, "{}", other);
            }
        }
    }
}
