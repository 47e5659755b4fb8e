//! Addresses at the beginning of a text, as we write them, for readers that go through a file
//! once. What is written otherwise is refused, and left to those that read at leisure.

use std::net::Ipv6Addr;

use super::text::zeros;

/// An IPv4 prefix at the beginning of a text, as we write it, and what is behind it.
#[inline]
pub(super) fn v4_prefix(text: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (first, rest) = v4(text)?;
    let (length, rest) = number(rest.strip_prefix(b"/")?)?;
    let host = u32::MAX.checked_shr(length.into()).unwrap_or(0);
    (length <= 32 && first & host == 0).then_some((first, first | host, rest))
}

/// An IPv6 prefix at the beginning of a text, as we write it, and what is behind it.
pub(super) fn v6_prefix(text: &[u8]) -> Option<(u128, u128, &[u8])> {
    let (first, rest) = v6(text)?;
    let (length, rest) = number(rest.strip_prefix(b"/")?)?;
    let host = u128::MAX.checked_shr(length.into()).unwrap_or(0);
    (length <= 128 && first & host == 0).then_some((first, first | host, rest))
}

/// An IPv6 address at the beginning of a text, as RFC 5952 has it, and what is behind it. None
/// that ends in an IPv4 address.
pub(super) fn v6(text: &[u8]) -> Option<(u128, &[u8])> {
    let (mut words, mut count, mut gap, mut rest) = ([0_u16; 8], 0, None, text);
    loop {
        if let Some(behind) = rest.strip_prefix(b"::").filter(|_| gap.is_none()) {
            (gap, rest) = (Some(count), behind);
        } else if count > 0 {
            match rest.strip_prefix(b":") {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        let Some((word, behind)) = word(rest) else {
            // Only zeros that were left out may stand last.
            if gap == Some(count) {
                break;
            }
            return None;
        };
        *words.get_mut(count)? = word;
        (count, rest) = (count + 1, behind);
    }
    let begin = gap.unwrap_or(8);
    if gap.is_some() {
        words.get_mut(begin..)?.rotate_right(8 - count);
    }
    let address = Ipv6Addr::from(words);
    let left_out = if gap.is_some() { (begin, 8 - count) } else { (8, 0) };
    let is_whole = gap.is_some() != (count == 8);
    (is_whole && zeros(&words) == left_out && address.to_ipv4_mapped().is_none())
        .then_some((address.to_bits(), rest))
}

/// Up to four hex digits without zeros before them.
#[inline]
fn word(text: &[u8]) -> Option<(u16, &[u8])> {
    let (mut word, mut count) = (0_u16, 0);
    for octet in text.iter().take(4) {
        let digit = match octet {
            b'0'..=b'9' => octet - b'0',
            b'a'..=b'f' => octet - b'a' + 10,
            _ => break,
        };
        word = word << 4 | u16::from(digit);
        count += 1;
    }
    let zero_first = count > 1 && text.first() == Some(&b'0');
    (count > 0 && !zero_first).then_some((word, text.get(count..)?))
}

/// An IPv4 address at the beginning of a text, as we write it, and what is behind it.
#[inline]
pub(super) fn v4(text: &[u8]) -> Option<(u32, &[u8])> {
    let (a, rest) = number(text)?;
    let (b, rest) = number(rest.strip_prefix(b".")?)?;
    let (c, rest) = number(rest.strip_prefix(b".")?)?;
    let (d, rest) = number(rest.strip_prefix(b".")?)?;
    Some((u32::from_be_bytes([a, b, c, d]), rest))
}

/// A number up to 255 without zeros before it. A digit more would be one of it, and is left to
/// whoever reads on, who will not like it.
#[inline]
fn number(text: &[u8]) -> Option<(u8, &[u8])> {
    let digit = |octet: &u8| octet.checked_sub(b'0').filter(|digit| *digit < 10);
    let (first, rest) = text.split_first()?;
    let first = digit(first)?;
    let Some((second, behind)) = rest.split_first().and_then(|(octet, behind)| Some((digit(octet)?, behind)))
    else {
        return Some((first, rest));
    };
    if first == 0 {
        return None;
    }
    let two = first * 10 + second;
    match behind.split_first().and_then(|(octet, behind)| Some((digit(octet)?, behind))) {
        None => Some((two, behind)),
        Some((third, behind)) => Some((two.checked_mul(10)?.checked_add(third)?, behind)),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use ipnet::{IpNet, Ipv4Net, Ipv6Net};
    use proptest::prelude::*;

    use super::*;
    use crate::address::{Family, Range};
    use crate::format::rest::{Addresses, Rest};
    use crate::format::text::tests::v6;
    use crate::format::text::{prefix, range};

    proptest! {
        #[test]
        fn what_leads_a_text_is_read_as_the_whole_of_it(text in "[0-9]{1,3}([./-][0-9]{1,3}){0,8}") {
            let whole = |found: Option<(u32, u32, &[u8])>| match found {
                Some((first, last, b"")) => Range::from_bits(Family::V4, first.into(), last.into()),
                _ => None,
            };
            prop_assert_eq!(whole(v4_prefix(text.as_bytes())), prefix(&text));
            let ends = Rest(text.as_bytes()).ends("-").filter(|_| text.matches('-').count() == 1);
            let range = range(&text);
            prop_assert!(range.is_none() || ends == range.map(Addresses::from), "{}", text);
        }

        #[test]
        fn a_leading_v6_prefix_is_read_as_the_whole_of_it(
            ip in v6(),
            length in 0..=128_u8,
            at in any::<prop::sample::Index>(),
            other in "[0-9a-fA-F:/.]{0,2}",
            lost in 0..2_usize,
        ) {
            let net = IpNet::V6(Ipv6Net::new(ip, length).unwrap().trunc());
            let good = net.to_string();
            // One with a little of it replaced is, in most cases, none of ours.
            let at = at.index(good.len());
            let mut bad = good.clone();
            bad.replace_range(at..(at + lost).min(good.len()), &other);
            for text in [good, bad] {
                let strict = prefix(&text).filter(|range| range.family() == Family::V6 && !text.contains('.'));
                let found = match v6_prefix(text.as_bytes()) {
                    Some((first, last, b"")) => Range::from_bits(Family::V6, first, last),
                    _ => None,
                };
                prop_assert_eq!(found, strict, "{}", text);
                let tail = format!("{text} x");
                let found = v6_prefix(tail.as_bytes()).filter(|found| found.2 == b" x");
                prop_assert_eq!(found.map(|found| (found.0, found.1)), strict.map(|range| (range.first_bits(), range.last_bits())));
            }
        }

        #[test]
        fn what_is_behind_is_left(bits in any::<u32>(), length in 0..=32_u8, last in any::<u32>()) {
            let net = Ipv4Net::new(Ipv4Addr::from_bits(bits), length).unwrap().trunc();
            let text = format!("{net} x");
            let found = (net.network().to_bits(), net.broadcast().to_bits(), &b" x"[..]);
            prop_assert_eq!(v4_prefix(text.as_bytes()), Some(found));
            let text = format!("{}-{};", Ipv4Addr::from_bits(bits), Ipv4Addr::from_bits(last));
            let mut rest = Rest(text.as_bytes());
            let found = Addresses { family: Family::V4, first: bits.into(), last: last.into() };
            prop_assert_eq!((rest.ends("-"), rest.0), (Some(found), &b";"[..]));
        }
    }
}
