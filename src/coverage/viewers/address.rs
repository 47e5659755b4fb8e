//! Addresses out of octets, without a copy and as strict as the standard library: no leading
//! zeros, nothing left over.

use wide::u8x16;

use crate::coverage::octets::v4;

/// An address as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// IPv4.
    V4(u32),
    /// IPv6.
    V6(u128),
}

/// How many octets are looked at for an IPv4 address: the longest and what ends it, and room
/// to read four octets wherever one of its numbers may begin.
pub(super) const WINDOW: usize = 20;

/// An IPv4 address at the beginning of a window and its length; something that is no digit
/// must follow it within sixteen octets. All octets are looked at together: in the addresses
/// of a log the places of the dots are what a processor cannot foresee.
#[inline(always)]
pub(super) fn v4_window(window: &[u8; WINDOW]) -> Option<(u32, usize)> {
    let Marks { digits, dots, zeros } = Marks::of(window.first_chunk()?);
    let stops = !digits & 0xffff;
    let mut rest = stops;
    let mut next = || {
        let end = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        end
    };
    let (a, b, c, d) = (next(), next(), next(), next());
    // The fourth stop ends the address; without one there is nothing below it to be wrong.
    let below = (1u32 << (d & 31)).wrapping_sub(1);
    let other_stops = stops & !dots;
    let empty = stops & (stops << 1 | 1 | stops >> 1);
    let four_digits = digits & digits >> 1 & digits >> 2 & digits >> 3;
    let leading_zeros = zeros & (dots << 1 | 1) & digits >> 1;
    let wrong = (other_stops | empty | four_digits | leading_zeros) & below;
    let [w, x, y, z] =
        [number(window, 0, a), number(window, a + 1, b), number(window, b + 1, c), number(window, c + 1, d)];
    let good = (wrong == 0) & (d < 16) & ((w | x | y | z) < 256);
    good.then_some((w << 24 | x << 16 | y << 8 | z, d as usize))
}

/// The number between two places, of at most three digits.
#[inline(always)]
fn number(window: &[u8; WINDOW], first: u32, end: u32) -> u32 {
    let Some(octets) = window.get(first as usize..).and_then(|rest| rest.first_chunk()) else { return 0 };
    // The last digit goes to the top; a number of fewer digits has zeros before it.
    let shift = 32u32.wrapping_sub(8 * end.wrapping_sub(first));
    let digits = (u32::from_le_bytes(*octets) ^ 0x3030_3030).wrapping_shl(shift);
    (digits >> 24) + (digits >> 16 & 0xff) * 10 + (digits >> 8 & 0xff) * 100
}

/// Of sixteen octets, the first in the lowest bit: which are digits, dots, the digit zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    digits: u32,
    dots: u32,
    zeros: u32,
}

impl Marks {
    #[inline(always)]
    fn of(octets: &[u8; 16]) -> Self {
        let octets = u8x16::new(*octets);
        let all = |octet: u8| u8x16::new([octet; 16]);
        let values = octets - all(b'0');
        Self {
            digits: values.min(all(9)).simd_eq(values).to_bitmask(),
            dots: octets.simd_eq(all(b'.')).to_bitmask(),
            zeros: octets.simd_eq(all(b'0')).to_bitmask(),
        }
    }
}

/// An IPv6 address that is the whole text (RFC 4291, 2.2).
pub(super) fn v6(text: &[u8]) -> Option<u128> {
    let (mut groups, mut count, mut gap, mut at) = (0u128, 0u32, None, 0);
    if text.starts_with(b"::") {
        (gap, at) = (Some(0), 2);
    }
    while at < text.len() {
        let rest = text.get(at..)?;
        let (value, length) = group(rest)?;
        if rest.get(length) == Some(&b'.') {
            let (address, length) = v4(rest)?;
            (groups, count, at) = (groups << 32 | u128::from(address), count + 2, at + length);
            if at < text.len() {
                return None;
            }
            break;
        }
        (groups, count, at) = (groups << 16 | u128::from(value), count + 1, at + length);
        match text.get(at..)? {
            [] => break,
            [b':', b':', ..] if gap.is_none() => (gap, at) = (Some(count), at + 2),
            [b':', b':', ..] | [b':'] => return None,
            [b':', ..] => at += 1,
            _ => return None,
        }
        if count > 7 {
            return None;
        }
    }
    match gap {
        None => (count == 8).then_some(groups),
        Some(_) if count > 7 => None,
        Some(before) => {
            let behind = 16 * (count - before);
            let head = groups.checked_shr(behind).unwrap_or(0);
            let tail = groups & !u128::MAX.checked_shl(behind).unwrap_or(0);
            Some(head.checked_shl(16 * (8 - before)).unwrap_or(0) | tail)
        }
    }
}

/// Up to four hex digits and how many they are.
fn group(text: &[u8]) -> Option<(u32, usize)> {
    let mut value = 0;
    let mut length = 0;
    for octet in text.iter().take(5) {
        let digit = match octet {
            b'0'..=b'9' => octet - b'0',
            b'a'..=b'f' => octet - b'a' + 10,
            b'A'..=b'F' => octet - b'A' + 10,
            _ => break,
        };
        value = value << 4 | u32::from(digit);
        length += 1;
    }
    (1..=4).contains(&length).then_some((value, length))
}

/// The address in a field of a log: in quotes or brackets, with a port or a zone behind it,
/// or the first of a list.
pub(super) fn in_field(field: &[u8]) -> Option<Written> {
    let field = field.trim_ascii();
    let field = field.strip_prefix(b"\"").unwrap_or(field);
    let end = memchr::memchr3(b',', b';', b'"', field).unwrap_or(field.len());
    let field = field.get(..end)?.trim_ascii();
    if let Some((address, length)) = v4(field) {
        return match field.get(length..)? {
            [] => Some(Written::V4(address)),
            [b':', port @ ..] if is_port(port) => Some(Written::V4(address)),
            _ => None,
        };
    }
    let field = match field.strip_prefix(b"[") {
        Some(inner) => {
            let end = memchr::memchr(b']', inner)?;
            match inner.get(end + 1..)? {
                [] => inner.get(..end)?,
                [b':', port @ ..] if is_port(port) => inner.get(..end)?,
                _ => return None,
            }
        }
        None => field,
    };
    let end = memchr::memchr(b'%', field).unwrap_or(field.len());
    v6(field.get(..end)?).map(Written::V6)
}

fn is_port(text: &[u8]) -> bool {
    (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    fn window(text: &str) -> Option<(u32, usize)> {
        let mut octets = [b'x'; WINDOW];
        let length = text.len().min(WINDOW);
        octets[..length].copy_from_slice(&text.as_bytes()[..length]);
        v4_window(&octets)
    }

    fn std_v4(text: &str) -> Option<u32> {
        text.parse::<Ipv4Addr>().ok().map(Ipv4Addr::to_bits)
    }

    #[test]
    fn ipv4_is_read_as_the_standard_library_reads_it() {
        for text in [
            "0.0.0.0",
            "255.255.255.255",
            "1.22.133.4",
            "192.0.2.1",
            "256.1.1.1",
            "1.2.3",
            "1.2.3.",
            "1..2.3",
            "01.2.3.4",
            "1.2.3.04",
            "1.2.3.999",
            ".1.2.3",
            "1.2.3.4.5",
            "1234.1.1.1",
            "1.2.3.1234",
            "",
            "a.b.c.d",
            "1.2.3.0",
            "00.0.0.0",
            "1/2.3.4",
            "1.2:3.4",
        ] {
            // `1.2.3.4.5` begins with an address; what follows is the caller's business.
            let begins = if text == "1.2.3.4.5" {
                Some((0x0102_0304, 7))
            } else {
                std_v4(text).map(|a| (a, text.len()))
            };
            assert_eq!(v4(text.as_bytes()), begins, "{text}");
            assert_eq!(window(text), begins, "{text}");
        }
        assert_eq!(v4_window(b"255.255.255.255\n1.2."), Some((u32::MAX, 15)));
        assert_eq!(v4_window(b"255.255.255.2551\n1.2"), None);
    }

    #[test]
    fn fields_wear_quotes_brackets_ports_and_zones() {
        let v4 = Some(Written::V4(0xc000_0201));
        for text in [
            "192.0.2.1",
            "\"192.0.2.1\"",
            "192.0.2.1:4711",
            " 192.0.2.1, 10.0.0.1",
            "192.0.2.1;x",
            "\"192.0.2.1, 10.0.0.1\"",
        ] {
            assert_eq!(in_field(text.as_bytes()), v4, "{text}");
        }
        let v6 = Some(Written::V6("2001:db8::1".parse::<Ipv6Addr>().unwrap().to_bits()));
        for text in
            ["2001:db8::1", "[2001:db8::1]:443", "[2001:db8::1]", "2001:DB8::1%eth0", "\"2001:db8::1\""]
        {
            assert_eq!(in_field(text.as_bytes()), v6, "{text}");
        }
        for text in [
            "",
            "-",
            "unknown",
            "192.0.2.1x",
            "192.0.2.1:",
            "192.0.2.1:123456",
            "[2001:db8::1",
            "[2001:db8::1]x",
            "host.example",
        ] {
            assert_eq!(in_field(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn marks_are_where_they_should_be(octets in any::<[u8; 16]>(), near in "[./0-9:]{16}") {
            let near: [u8; 16] = near.as_bytes().try_into().unwrap();
            for octets in [octets, near] {
                let bits = |fits: fn(u8) -> bool| {
                    (0..16).filter(|at| fits(octets[*at])).fold(0, |bits, at| bits | 1 << at)
                };
                let slow = Marks {
                    digits: bits(|octet| octet.is_ascii_digit()),
                    dots: bits(|octet| octet == b'.'),
                    zeros: bits(|octet| octet == b'0'),
                };
                prop_assert_eq!(Marks::of(&octets), slow);
            }
        }

        #[test]
        fn every_ipv4_address_is_read(bits in any::<u32>()) {
            let text = Ipv4Addr::from_bits(bits).to_string();
            prop_assert_eq!(v4(text.as_bytes()), Some((bits, text.len())));
            prop_assert_eq!(window(&text), Some((bits, text.len())));
        }

        #[test]
        fn what_is_nearly_ipv4_is_judged_alike(text in "[0-9]{0,4}\\.[0-9.]{0,4}\\.[0-9/:]{1,3}[.]{0,1}[0-9]{0,3}") {
            let full = |found: Option<(u32, usize)>| found.filter(|(_, length)| *length == text.len()).map(|(a, _)| a);
            prop_assert_eq!(full(v4(text.as_bytes())), std_v4(&text));
            if text.len() < 16 {
                prop_assert_eq!(full(window(&text)), std_v4(&text));
            }
        }

        #[test]
        fn every_ipv6_address_is_read(bits in any::<u128>(), keep in any::<u16>()) {
            // Whole groups of zeros make the short forms.
            let mask = (0..8).filter(|g| keep >> g & 1 == 1).fold(0u128, |mask, g| mask | 0xffff << (16 * g));
            for bits in [bits, bits & mask] {
                let text = Ipv6Addr::from_bits(bits).to_string();
                prop_assert_eq!(v6(text.as_bytes()), Some(bits), "{}", text);
            }
        }

        #[test]
        fn what_is_nearly_ipv6_is_judged_alike(text in "[0-9a-f:.]{0,12}(::)?[0-9a-f:]{0,20}(1\\.2\\.3\\.4)?") {
            prop_assert_eq!(v6(text.as_bytes()), text.parse::<Ipv6Addr>().ok().map(Ipv6Addr::to_bits));
        }
    }
}
