//! The least of BER that agents and the floor need: no care is taken, all who speak here are
//! our own.

use std::net::SocketAddrV4;

/// The table that agents serve: that of pools as old JUNOSe routers have it, from column 2.
pub(crate) const ENTRY: [u32; 14] = [1, 3, 6, 1, 4, 1, 4874, 2, 2, 21, 1, 1, 1, 1];
/// The system group.
pub(crate) const SYSTEM: [u32; 7] = [1, 3, 6, 1, 2, 1, 1];
/// Who an agent says that it is.
pub(crate) const OBJECT_ID: [u32; 12] = [1, 3, 6, 1, 4, 1, 4874, 1, 1, 1, 1, 1];

/// Where an agent stands: each has an address of its own, all have the same port. A free port
/// of one address is free at the others.
pub(crate) fn place(agent: usize, port: u16) -> SocketAddrV4 {
    let [.., high, low] = (agent as u32 + 1).to_be_bytes();
    SocketAddrV4::new([127, 1, high, low].into(), port)
}

pub(crate) fn head(out: &mut Vec<u8>, tag: u8, length: usize) {
    out.push(tag);
    match length {
        0..=0x7f => out.push(length as u8),
        0x80..=0xff => out.extend([0x81, length as u8]),
        _ => out.extend([0x82, (length >> 8) as u8, length as u8]),
    }
}

pub(crate) fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(contents.len() + 4);
    head(&mut out, tag, contents.len());
    out.extend(contents);
    out
}

/// How many octets an element of these contents takes.
pub(crate) fn whole(length: usize) -> usize {
    length
        + if length < 0x80 {
            2
        } else if length < 0x100 {
            3
        } else {
            4
        }
}

pub(crate) fn oid(arcs: &[u32]) -> Vec<u8> {
    let mut out = vec![(arcs[0] * 40 + arcs[1]) as u8];
    for arc in &arcs[2..] {
        let groups = (32 - arc.leading_zeros()).div_ceil(7).max(1);
        for group in (0..groups).rev() {
            out.push(((arc >> (7 * group)) & 0x7f) as u8 | if group > 0 { 0x80 } else { 0 });
        }
    }
    out
}

pub(crate) fn arcs(octets: &[u8], out: &mut Vec<u32>) {
    out.clear();
    out.extend([u32::from(octets[0]) / 40, u32::from(octets[0]) % 40]);
    let mut arc = 0;
    for octet in &octets[1..] {
        arc = (arc << 7) | u32::from(octet & 0x7f);
        if octet & 0x80 == 0 {
            out.push(arc);
            arc = 0;
        }
    }
}

pub(crate) fn integer(value: i64) -> Vec<u8> {
    let octets = value.to_be_bytes();
    let skip = octets.windows(2).take_while(|two| two[0] == 0 && two[1] < 0x80).count();
    octets[skip..].to_vec()
}

/// Tag and contents of the next element; the rest stays.
pub(crate) fn next<'a>(from: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&[tag, first], mut rest) = from.split_first_chunk::<2>()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let (octets, behind) = rest.split_at_checked(usize::from(first & 0x7f))?;
        length = octets.iter().fold(0, |length, octet| (length << 8) | usize::from(*octet));
        rest = behind;
    }
    let (contents, behind) = rest.split_at_checked(length)?;
    *from = behind;
    Some((tag, contents))
}

pub(crate) fn number(octets: &[u8]) -> i64 {
    let start = if octets.first().is_some_and(|first| first & 0x80 != 0) { -1 } else { 0 };
    octets.iter().fold(start, |value, octet| (value << 8) | i64::from(*octet))
}
