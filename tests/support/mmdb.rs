//! An MMDB file that nothing of poolsync wrote.

/// An MMDB by hand, after the format's specification: IPv6 tree of 24-bit records in which
/// one IPv4 prefix (under ::/96) leads to `{"edge": EDGE}`.
pub fn of_one_prefix(prefix: &[u8], edge: &str) -> Vec<u8> {
    let bits: Vec<bool> =
        [&[0; 12], prefix].concat().iter().flat_map(|o| (0..8).rev().map(move |i| o >> i & 1 == 1)).collect();
    let nodes = bits.len() as u32;
    let mut out = Vec::new();
    for (at, bit) in (1..).zip(&bits) {
        // Behind the last bit stands the first datum: node count, 16 zero octets, offset 0.
        let onward = if at == nodes { nodes + 16 } else { at };
        let records = if *bit { [nodes, onward] } else { [onward, nodes] };
        out.extend(records.iter().flat_map(|record| record.to_be_bytes()[1..].to_vec()));
    }
    let text = |text: &str| [&[0x40 | text.len() as u8], text.as_bytes()].concat();
    let map = |entries: &[(&str, Vec<u8>)]| {
        let mut out = vec![0xe0 | entries.len() as u8];
        entries.iter().for_each(|(key, value)| out.extend([text(key), value.clone()].concat()));
        out
    };
    out.extend([0; 16]);
    out.extend(map(&[("edge", text(edge))]));
    out.extend(b"\xab\xcd\xefMaxMind.com");
    out.extend(map(&[
        ("node_count", [&[0xc4][..], &nodes.to_be_bytes()].concat()),
        ("record_size", vec![0xa1, 24]),
        ("ip_version", vec![0xa1, 6]),
        ("database_type", text("Test-City")),
        ("languages", vec![0x00, 0x04]),
        ("binary_format_major_version", vec![0xa1, 2]),
        ("binary_format_minor_version", vec![0xa0]),
        ("build_epoch", vec![0x01, 0x02, 1]),
        ("description", vec![0xe0]),
    ]));
    out
}
