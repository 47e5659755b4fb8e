//! IPv4 addresses out of octets, as strict as the standard library: no leading zeros, nothing
//! left over.

/// An IPv4 address at the beginning of a text, and its length.
pub(super) fn v4(text: &[u8]) -> Option<(u32, usize)> {
    let (mut address, mut at) = (0u32, 0);
    for part in 0..4 {
        if part > 0 {
            at += usize::from(*text.get(at)? == b'.');
            if text.get(at.checked_sub(1)?) != Some(&b'.') {
                return None;
            }
        }
        let rest = text.get(at..)?;
        let length = rest.iter().take(4).take_while(|octet| octet.is_ascii_digit()).count();
        let digits = rest.get(..length)?;
        if !(1..=3).contains(&length) || length > 1 && digits.first() == Some(&b'0') {
            return None;
        }
        let value = digits.iter().fold(0u32, |value, digit| value * 10 + u32::from(digit - b'0'));
        if value > 255 {
            return None;
        }
        address = address << 8 | value;
        at += length;
    }
    Some((address, at))
}
