//! Blocks that no host of a network is in.

use super::Range;

/// "This network", loopback, link-local, multicast and reserved addresses (RFC 6890); `::` and
/// `::1` are one each.
const NEVER: [&str; 9] = [
    "0.0.0.0/8",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "::1/128",
    "fe80::/10",
    "ff00::/8",
];

/// The block that a range lies in and that is never published; none for any other range, also
/// for one that only reaches into such a block.
pub fn never_published(range: Range) -> Option<&'static str> {
    NEVER.into_iter().find(|never| never.parse::<Range>().is_ok_and(|never| never.covers(range)))
}

#[cfg(test)]
mod tests {
    use super::never_published;

    #[test]
    fn blocks_are_found_by_all_that_lies_in_them() {
        for (range, never) in [
            ("0.0.0.0", Some("0.0.0.0/8")),
            ("127.255.255.255", Some("127.0.0.0/8")),
            ("169.254.9.0/24", Some("169.254.0.0/16")),
            ("239.255.255.255", Some("224.0.0.0/4")),
            ("255.255.255.255", Some("240.0.0.0/4")),
            ("::", Some("::/128")),
            ("::1", Some("::1/128")),
            ("febf::/16", Some("fe80::/10")),
            ("ff02::1", Some("ff00::/8")),
            ("0.255.255.255-1.0.0.0", None),
            ("1.0.0.0", None),
            ("126.255.255.255", None),
            ("128.0.0.0", None),
            ("169.255.0.0", None),
            ("223.255.255.255", None),
            ("::2", None),
            ("fec0::", None),
            ("fe7f:ffff::", None),
            ("10.0.0.0/8", None),
        ] {
            assert_eq!(never_published(range.parse().unwrap()), never, "{range}");
        }
    }
}
