//! Addresses as text, written and read: most of the time that a large file takes goes into
//! these, so that IPv4, which most rows are of, has code of its own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net};

use super::lines::push;
use crate::address::{Family, Range};

/// The longest prefix: IPv6, 39 digits and colons, a slash and three digits.
const LONGEST: usize = 43;

/// A text in the making, short enough to stay where it is.
struct Short {
    octets: [u8; LONGEST],
    length: usize,
}

impl Short {
    const fn new() -> Self {
        Self { octets: [0; LONGEST], length: 0 }
    }

    #[inline]
    fn push(&mut self, octet: u8) {
        if let Some(place) = self.octets.get_mut(self.length) {
            *place = octet;
            self.length += 1;
        }
    }

    #[inline]
    fn number(&mut self, number: u8) {
        if number >= 100 {
            self.push(b'0' + number / 100);
        }
        if number >= 10 {
            self.push(b'0' + number / 10 % 10);
        }
        self.push(b'0' + number % 10);
    }

    fn v4(&mut self, address: Ipv4Addr) {
        let [a, b, c, d] = address.octets();
        self.number(a);
        for octet in [b, c, d] {
            self.push(b'.');
            self.number(octet);
        }
    }

    /// As RFC 5952 has it. Not for addresses that end in an IPv4 address.
    fn v6(&mut self, address: Ipv6Addr) {
        let words = address.segments();
        let (begin, length) = zeros(&words);
        for (place, word) in words.into_iter().enumerate() {
            if (begin..begin + length).contains(&place) {
                if place == begin {
                    self.push(b':');
                    self.push(b':');
                }
                continue;
            }
            if place > 0 && place != begin + length {
                self.push(b':');
            }
            self.word(word);
        }
    }

    fn word(&mut self, word: u16) {
        let digits = (16 - word.leading_zeros()).div_ceil(4).max(1);
        for digit in (0..digits).rev() {
            let digit = (word >> (4 * digit) & 0xf) as u8;
            self.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        }
    }

    fn text(&self) -> &str {
        // Nothing but digits, letters, dots, colons and slashes was pushed.
        self.octets.get(..self.length).and_then(|octets| std::str::from_utf8(octets).ok()).unwrap_or_default()
    }
}

/// Where the longest stretch of zero words begins, and how many it has; none shorter than two.
pub(super) fn zeros(words: &[u16; 8]) -> (usize, usize) {
    let (mut best, mut own) = ((8, 0), (0, 0));
    for (place, word) in words.iter().enumerate() {
        own = match (*word, own.1) {
            (0, 0) => (place, 1),
            (0, length) => (own.0, length + 1),
            _ => (0, 0),
        };
        if own.1 > best.1.max(1) {
            best = own;
        }
    }
    best
}

/// Appends an address.
pub(super) fn push_address(out: &mut String, address: IpAddr) {
    let mut text = Short::new();
    match address {
        IpAddr::V4(address) => text.v4(address),
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => {
            return push(out, format_args!("{address}"));
        }
        IpAddr::V6(address) => text.v6(address),
    }
    out.push_str(text.text());
}

/// Appends a prefix.
pub(super) fn push_prefix(out: &mut String, prefix: IpNet) {
    let mut text = Short::new();
    match prefix {
        IpNet::V4(net) => text.v4(net.network()),
        IpNet::V6(net) if net.network().to_ipv4_mapped().is_some() => {
            return push(out, format_args!("{net}"));
        }
        IpNet::V6(net) => text.v6(net.network()),
    }
    text.push(b'/');
    text.number(prefix.prefix_len());
    out.push_str(text.text());
}

/// Appends `first-last`.
pub(super) fn push_range(out: &mut String, range: Range) {
    push_address(out, range.first());
    out.push('-');
    push_address(out, range.last());
}

/// Appends a number in decimal digits.
pub(super) fn push_number(out: &mut String, number: u8) {
    let mut text = Short::new();
    text.number(number);
    out.push_str(text.text());
}

/// Reads a prefix that is written as we write it: no other text for it will do.
pub(super) fn prefix(text: &str) -> Option<Range> {
    if let Some(range) = v4_prefix(text.as_bytes()) {
        return Some(range);
    }
    let net: IpNet = text.parse().ok().filter(|net| matches!(net, IpNet::V6(_)))?;
    let mut own = String::with_capacity(LONGEST);
    push_prefix(&mut own, net);
    (net.addr() == net.network() && own == text).then(|| net.into())
}

/// Reads `first-last` as we write it.
pub(super) fn range(text: &str) -> Option<Range> {
    let (first, last) = text.split_once('-')?;
    if let (Some(first), Some(last)) = (v4_address(first.as_bytes()), v4_address(last.as_bytes())) {
        return Range::from_bits(Family::V4, first.into(), last.into());
    }
    let range = Range::new(first.parse().ok()?, last.parse().ok()?).ok()?;
    (range.family() == Family::V6 && range.to_string() == text).then_some(range)
}

fn v4_prefix(text: &[u8]) -> Option<Range> {
    let slash = text.iter().rposition(|octet| *octet == b'/')?;
    let (address, length) = text.split_at(slash);
    let length = number(length.get(1..)?)?;
    let net = Ipv4Net::new(Ipv4Addr::from_bits(v4_address(address)?), length).ok()?;
    (net.addr() == net.network()).then(|| IpNet::V4(net).into())
}

fn v4_address(text: &[u8]) -> Option<u32> {
    let mut parts = text.split(|octet| *octet == b'.');
    let mut next = || number(parts.next()?);
    let octets = [next()?, next()?, next()?, next()?];
    parts.next().is_none().then(|| u32::from_be_bytes(octets))
}

/// A number up to 255 without zeros before it.
fn number(digits: &[u8]) -> Option<u8> {
    if digits.is_empty() || digits.len() > 3 || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    let mut number = 0_u16;
    for digit in digits {
        number = number * 10 + u16::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    number.try_into().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use ipnet::Ipv6Net;
    use proptest::prelude::*;

    use super::*;

    /// Words of which many are zero.
    pub(in crate::format) fn v6() -> impl Strategy<Value = Ipv6Addr> {
        let word = prop_oneof![3 => Just(0), 1 => Just(0xffff_u16), 3 => any::<u16>(), 1 => 0..0x100_u16];
        proptest::array::uniform8(word).prop_map(|words: [u16; 8]| Ipv6Addr::from(words))
    }

    proptest! {
        #[test]
        fn v6_is_written_and_read_as_the_standard_library_does(ip in v6(), other in v6(), length in 0..=128_u8) {
            let net = IpNet::V6(Ipv6Net::new(ip, length).unwrap().trunc());
            let mut text = String::new();
            push_prefix(&mut text, net);
            prop_assert_eq!(&text, &net.to_string());
            prop_assert_eq!(prefix(&text), Some(net.into()));
            let wanted = Range::new(ip.min(other).into(), ip.max(other).into()).unwrap();
            let mut text = String::new();
            push_range(&mut text, wanted);
            prop_assert_eq!(&text, &format!("{}-{}", ip.min(other), ip.max(other)));
            prop_assert_eq!(range(&text), Some(wanted));
        }

        #[test]
        fn prefixes_are_written_and_read_as_the_standard_library_does(bits in any::<u32>(), length in 0..=32_u8) {
            let net = IpNet::V4(Ipv4Net::new(Ipv4Addr::from_bits(bits), length).unwrap().trunc());
            let mut text = String::new();
            push_prefix(&mut text, net);
            prop_assert_eq!(&text, &net.to_string());
            prop_assert_eq!(prefix(&text), Some(net.into()));
        }

        #[test]
        fn ranges_are_written_and_read_as_the_standard_library_does(a in any::<u32>(), b in any::<u32>()) {
            let wanted = Range::from_bits(Family::V4, a.min(b).into(), a.max(b).into()).unwrap();
            let (first, last) = (Ipv4Addr::from_bits(a.min(b)), Ipv4Addr::from_bits(a.max(b)));
            let mut text = String::new();
            push_range(&mut text, wanted);
            prop_assert_eq!(&text, &format!("{first}-{last}"));
            prop_assert_eq!(range(&text), Some(wanted));
        }

        #[test]
        fn any_text_is_read_as_the_standard_library_does_or_refused(text in "[0-9./:-]{0,20}") {
            let strict = text.parse::<IpNet>().ok().filter(|net| net.to_string() == text && net.addr() == net.network());
            prop_assert_eq!(prefix(&text), strict.map(Range::from));
        }
    }

    #[test]
    fn only_one_text_of_a_prefix_is_read() {
        for good in ["0.0.0.0/0", "10.0.0.0/8", "255.255.255.255/32", "::/0", "2001:db8::/32", "::1/128"] {
            assert_eq!(prefix(good), Some(good.parse::<IpNet>().unwrap().into()), "{good}");
        }
        for bad in [
            "",
            "/",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.1/8",
            "10.0.0.0/08",
            "010.0.0.0/8",
            "10.0.0.0/33",
            "10.0.0/8",
            "10.0.0.0.0/8",
            "10.0.0.256/32",
            "10.0.0.0/8 ",
            "+1.0.0.0/8",
            "2001:DB8::/32",
            "2001:db8:0::/48",
            "2001:db8::1/32",
            "::/129",
        ] {
            assert_eq!(prefix(bad), None, "{bad}");
        }
        for bad in ["1.2.3.4", "1.2.3.4-", "1.2.3.4-1.2.3.3", "1.2.3.4-01.2.3.5", "::1-1.2.3.4", "::2-::01"] {
            assert_eq!(range(bad), None, "{bad}");
        }
        assert!(range("1.2.3.4-1.2.3.4").is_some() && range("::1-::2").is_some());
    }
}
