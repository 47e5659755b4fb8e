//! Octets as hexadecimal digits, two each.

/// The digits of octets, in lower case.
pub(super) fn to_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The octets of digits; none of anything else.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.chars().map(digit).collect::<Option<_>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pairs_of_digits_are_octets() {
        assert_eq!(from_hex("00fFa5"), Some(vec![0, 255, 0xa5]));
        assert_eq!(from_hex(""), Some(vec![]));
        for wrong in ["abc", "+f", "0x", "\u{ff11}0", " 00"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
        assert_eq!(to_hex(&[0, 255, 0xa5]), "00ffa5");
    }
}
