//! Reading BER, strictly: definite lengths only, every bound checked, no panic on any bytes.
//!
//! What cannot be read has an offset, counted from the start of the datagram (or of the
//! decrypted PDU), so that a person finds the octet in a capture.

use thiserror::Error;

use super::oid::Arcs;
use super::{MAX_ARCS, Oid};

/// INTEGER.
pub(super) const INTEGER: u8 = snmp2::asn1::TYPE_INTEGER;
/// OCTET STRING.
pub(super) const OCTET_STRING: u8 = snmp2::asn1::TYPE_OCTETSTRING;
/// NULL.
pub(super) const NULL: u8 = snmp2::asn1::TYPE_NULL;
/// OBJECT IDENTIFIER.
pub(super) const OBJECT_ID: u8 = snmp2::asn1::TYPE_OBJECTIDENTIFIER;
/// SEQUENCE, constructed.
pub(super) const SEQUENCE: u8 = snmp2::asn1::TYPE_SEQUENCE;

/// More octets of length than any message needs, leading zeros included.
const MAX_LENGTH_OCTETS: usize = 8;

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("octet {at}: {problem}")]
pub(super) struct Malformed {
    /// Where, from 0.
    pub(super) at: usize,
    /// What is wrong there.
    pub(super) problem: String,
}

impl Malformed {
    pub(super) fn new(at: usize, problem: impl Into<String>) -> Self {
        Self { at, problem: problem.into() }
    }
}

/// A tag and its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tlv<'a> {
    pub(super) tag: u8,
    pub(super) contents: &'a [u8],
    /// Where the contents begin.
    pub(super) at: usize,
}

impl<'a> Tlv<'a> {
    /// A reader of the contents.
    pub(super) fn reader(self) -> Reader<'a> {
        Reader { bytes: self.contents, at: self.at }
    }
}

/// Reads one element after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the next element begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Passes so many octets, which somebody has looked at otherwise.
    pub(super) fn skip(&mut self, octets: usize) {
        self.bytes = self.bytes.get(octets..).unwrap_or_default();
        self.at += octets;
    }

    /// The next element, whatever its tag.
    pub(super) fn any(&mut self, what: &str) -> Result<Tlv<'a>, Malformed> {
        let (start, tag, length) = self.head(what)?;
        let Some((contents, rest)) = self.bytes.split_at_checked(length) else {
            return Err(Malformed::new(
                start,
                format!("{what} is said to be {length} octets long, {} are left", self.bytes.len()),
            ));
        };
        let at = self.at;
        self.bytes = rest;
        self.at += length;
        Ok(Tlv { tag, contents, at })
    }

    /// The next element, which must have this tag.
    pub(super) fn expect(&mut self, tag: u8, what: &str) -> Result<Tlv<'a>, Malformed> {
        let start = self.at;
        let found = self.any(what)?;
        if found.tag == tag { Ok(found) } else { Err(wrong_tag(start, what, tag, found.tag)) }
    }

    /// The contents of the next element, or as much of them as there is: for a first look at
    /// a datagram that may have been cut.
    pub(super) fn enter_cut(&mut self, tag: u8, what: &str) -> Result<Reader<'a>, Malformed> {
        let (start, found, length) = self.head(what)?;
        if found != tag {
            return Err(wrong_tag(start, what, tag, found));
        }
        let contents = self.bytes.get(..length).unwrap_or(self.bytes);
        Ok(Reader { bytes: contents, at: self.at })
    }

    /// An INTEGER that fits `T`.
    pub(super) fn integer<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, Malformed> {
        let start = self.at;
        let found = self.expect(INTEGER, what)?;
        signed(found.contents)
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| Malformed::new(start, format!("{what} is out of range")))
    }

    /// An OCTET STRING.
    pub(super) fn octets(&mut self, what: &str) -> Result<&'a [u8], Malformed> {
        self.expect(OCTET_STRING, what).map(|found| found.contents)
    }

    /// Nothing may be left.
    pub(super) fn finish(self, what: &str) -> Result<(), Malformed> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        Err(Malformed::new(self.at, format!("{} octets too many in {what}", self.bytes.len())))
    }

    /// Tag and length: where the element begins, its tag, the octets of its contents.
    fn head(&mut self, what: &str) -> Result<(usize, u8, usize), Malformed> {
        let start = self.at;
        let short = || Malformed::new(start, format!("{what} is missing or cut"));
        let tag = self.octet().ok_or_else(short)?;
        if tag & 0x1f == 0x1f {
            return Err(Malformed::new(start, format!("{what} has a tag of several octets")));
        }
        let first = self.octet().ok_or_else(short)?;
        if first < 0x80 {
            return Ok((start, tag, usize::from(first)));
        }
        let count = usize::from(first & 0x7f);
        if count == 0 {
            return Err(Malformed::new(start, format!("{what} has an indefinite length")));
        }
        let mut length: usize = 0;
        for _ in 0..count {
            let octet = self.octet().ok_or_else(short)?;
            length = match length.checked_mul(0x100) {
                Some(high) if count <= MAX_LENGTH_OCTETS => high | usize::from(octet),
                _ => return Err(Malformed::new(start, format!("{what} has a length beyond all bounds"))),
            };
        }
        Ok((start, tag, length))
    }

    fn octet(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        self.at += 1;
        Some(first)
    }
}

fn wrong_tag(at: usize, what: &str, wanted: u8, found: u8) -> Malformed {
    Malformed::new(at, format!("{what} has tag {found:#04x} where {wanted:#04x} belongs"))
}

/// Two's complement of 1 to 8 octets; not the shortest form is taken too.
pub(super) fn signed(octets: &[u8]) -> Option<i64> {
    let (&first, _) = octets.split_first()?;
    if octets.len() > 8 {
        return None;
    }
    let start: i64 = if first & 0x80 == 0 { 0 } else { -1 };
    Some(octets.iter().fold(start, |value, &octet| (value << 8) | i64::from(octet)))
}

/// An unsigned number of at most `width` octets. Agents that leave out the leading zero of a
/// number with its top bit set are understood where the number has its full width; a shorter
/// one would be a guess between two values.
pub(super) fn unsigned(octets: &[u8], width: usize) -> Option<u64> {
    let (&first, rest) = octets.split_first()?;
    if first & 0x80 != 0 && octets.len() != width {
        return None;
    }
    let digits = if first == 0 { rest } else { octets };
    if digits.len() > width {
        return None;
    }
    Some(digits.iter().fold(0, |value, &octet| (value << 8) | u64::from(octet)))
}

/// The arcs of an encoded OID; none where they are cut, too large or too many.
pub(super) fn oid(octets: &[u8]) -> Option<Oid> {
    let mut arcs = Arcs::new();
    let mut arc: u32 = 0;
    let mut open = false;
    for &octet in octets {
        if arc >> 25 != 0 {
            return None;
        }
        arc = (arc << 7) | u32::from(octet & 0x7f);
        open = octet & 0x80 != 0;
        if !open {
            push_arc(&mut arcs, arc);
            arc = 0;
        }
    }
    if open || arcs.is_empty() || arcs.len() > MAX_ARCS { None } else { Some(Oid::of(arcs)) }
}

/// The arcs of a part of an OID that was read before, and does not begin it.
pub(super) fn arcs(octets: &[u8], arcs: &mut Vec<u32>) {
    let mut arc: u32 = 0;
    for &octet in octets {
        arc = (arc << 7) | u32::from(octet & 0x7f);
        if octet & 0x80 == 0 {
            arcs.push(arc);
            arc = 0;
        }
    }
}

/// The first number on the wire carries the first two arcs.
fn push_arc(arcs: &mut Arcs, arc: u32) {
    if arcs.is_empty() {
        let first = (arc / 40).min(2);
        arcs.push(first);
        arcs.push(arc - first * 40);
    } else {
        arcs.push(arc);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(bytes: &[u8]) -> Result<Tlv<'_>, Malformed> {
        Reader::new(bytes).any("it")
    }

    #[test]
    fn long_lengths_are_taken_even_for_small_values() {
        for bytes in
            [&[4, 2, 7, 8][..], &[4, 0x81, 2, 7, 8], &[4, 0x82, 0, 2, 7, 8], &[4, 0x84, 0, 0, 0, 2, 7, 8]]
        {
            assert_eq!(one(bytes).unwrap().contents, [7, 8]);
        }
    }

    #[test]
    fn what_is_no_definite_length_is_refused_with_its_place() {
        assert_eq!(one(&[4, 0x80, 7, 0, 0]).unwrap_err(), Malformed::new(0, "it has an indefinite length"));
        assert_eq!(one(&[4, 3, 7, 8]).unwrap_err().problem, "it is said to be 3 octets long, 2 are left");
        assert!(one(&[4, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9]).is_err());
        assert!(one(&[4, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(one(&[0x1f, 0x81, 1, 0]).is_err());
        for cut in [&[][..], &[4], &[4, 0x82], &[4, 0x82, 0]] {
            assert_eq!(one(cut).unwrap_err(), Malformed::new(0, "it is missing or cut"));
        }
    }

    #[test]
    fn the_second_element_is_placed_by_its_own_offset() {
        let mut reader = Reader::new(&[2, 1, 5, 4, 9, 1]);
        assert_eq!(reader.integer::<i32>("id").unwrap(), 5);
        assert_eq!(reader.octets("name").unwrap_err().at, 3);
    }

    #[test]
    fn integers_are_twos_complement() {
        assert_eq!(signed(&[0xcb, 0x00, 0x71, 0xfa]), Some(-889_163_270));
        assert_eq!(signed(&[0x00, 0xcb, 0x00, 0x71, 0xfa]), Some(3_405_804_026));
        assert_eq!(signed(&[0xff; 8]), Some(-1));
        assert_eq!(signed(&[]), None);
        assert_eq!(signed(&[0; 9]), None);
    }

    #[test]
    fn unsigned_numbers_need_no_leading_zero_at_full_width() {
        assert_eq!(unsigned(&[0xcb, 0x00, 0x71, 0xfa], 4), Some(3_405_804_026));
        assert_eq!(unsigned(&[0x00, 0xcb, 0x00, 0x71, 0xfa], 4), Some(3_405_804_026));
        assert_eq!(unsigned(&[0x01, 0xcb, 0x00, 0x71, 0xfa], 4), None);
        assert_eq!(unsigned(&[0xff], 4), None);
        assert_eq!(unsigned(&[0x00, 0xff], 4), Some(255));
        assert_eq!(unsigned(&[0xff; 8], 8), Some(u64::MAX));
        assert_eq!(unsigned(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 8), Some(u64::MAX));
        assert_eq!(unsigned(&[1, 0, 0, 0, 0, 0, 0, 0, 0], 8), None);
        assert_eq!(unsigned(&[], 4), None);
    }

    #[test]
    fn oids_have_32_bit_arcs() {
        assert_eq!(oid(&[0x2b, 6, 1, 4, 1, 0xa6, 0x0a]).unwrap().to_string(), "1.3.6.1.4.1.4874");
        assert_eq!(oid(&[0x2b, 0x8f, 0xff, 0xff, 0xff, 0x7f]).unwrap().arcs(), [1, 3, u32::MAX]);
        assert_eq!(oid(&[0x88, 0x37]).unwrap().arcs(), [2, 999]);
        assert_eq!(oid(&[0]).unwrap().arcs(), [0, 0]);
        for bad in [&[][..], &[0x2b, 0x90, 0x80, 0x80, 0x80, 0x00], &[0x2b, 0x86], &[1; 128]] {
            assert_eq!(oid(bad), None, "{bad:02x?}");
        }
        assert_eq!(oid(&[1; 127]).unwrap().arcs().len(), 128);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut reader = Reader::new(&bytes);
            while let Ok(found) = reader.any("it") {
                let _ = (signed(found.contents), unsigned(found.contents, 4), oid(found.contents));
                let _ = found.reader().integer::<i32>("number");
            }
        }
    }
}
