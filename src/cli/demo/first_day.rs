//! What an operator comes with on the first day: a table kept by hand, and a log. Both are of
//! the demo's fleet, and wrong in the ways that such tables are.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// The table: with a pool that moved, some that it lacks, and one that was given back.
pub(super) const OLD_TABLE: &str = "\
# kept by hand; ask Wang before you change anything
prefix;BAS
198.18.0.0/22;bng-north-1
198.18.8.0/23;bng-north-1
198.18.16.0/22;bng-south-1
198.18.64.0/21;bng-east-1
198.18.80.0/22;bng-east-1
198.18.128.0/22;bng-south-1
198.18.136.0/23;bng-south-1
198.18.144.0/22;bng-south-1
198.18.192.0/22;bng-west-1
198.18.208.0/24;bng-west-1
198.18.240.0/22;bng-west-1
198.19.0.0/22;bng-centre-1
198.19.8.0/23;bng-east-1
2001:db8:1000::/40;bng-south-1
";

/// Where the log's viewers are, and how many requests they make: 20,000 in all.
const VIEWERS: &[(&str, &str, u32)] = &[
    ("198.18.0.3", "198.18.3.250", 2400),
    ("198.18.8.0", "198.18.9.255", 1500),
    ("198.18.16.10", "198.18.19.250", 1600), // the table says bng-south-1
    ("198.18.30.16", "198.18.30.31", 30),    // the table lacks it
    ("198.18.64.2", "198.18.71.254", 3400),
    ("198.18.80.0", "198.18.83.255", 1800),
    ("198.18.96.2", "198.18.99.254", 2160), // lacks it
    ("198.18.128.3", "198.18.131.250", 1600),
    ("198.18.136.0", "198.18.137.255", 900),
    ("198.18.144.1", "198.18.147.254", 1200),
    ("198.18.192.3", "198.18.195.255", 1100),
    ("198.18.208.0", "198.18.208.255", 300),
    ("198.18.209.0", "198.18.209.200", 240), // lacks it
    ("198.18.224.0", "198.18.224.255", 490), // lacks it
    ("198.19.0.6", "198.19.3.254", 800),
    ("198.19.8.6", "198.19.9.254", 360),  // the table says bng-east-1
    ("198.19.16.2", "198.19.16.30", 40),  // lacks it
    ("203.0.113.0", "203.0.113.255", 80), // nobody's
];

/// A day of an edge's log, in the common log format; the same every time.
pub(super) fn log() -> String {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: u64| {
        // xorshift64 (Marsaglia): good enough to deal cards.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below.max(1)
    };
    let mut viewers: Vec<Ipv4Addr> = Vec::new();
    for (first, last, count) in VIEWERS {
        let (Ok(first), Ok(last)) = (first.parse::<Ipv4Addr>(), last.parse::<Ipv4Addr>()) else { continue };
        let span = u64::from(last.to_bits() - first.to_bits()) + 1;
        viewers.extend((0..*count).map(|_| Ipv4Addr::from_bits(first.to_bits() + next(span) as u32)));
    }
    for at in (1..viewers.len()).rev() {
        let other = next(at as u64 + 1) as usize;
        viewers.swap(at, other);
    }
    let (mut text, count) = (String::new(), viewers.len());
    for (at, viewer) in viewers.iter().enumerate() {
        let second = at * 86_400 / count;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let channel = next(40);
        let _ = writeln!(
            text,
            "{viewer} - - [10/Oct/2025:{hour:02}:{minute:02}:{second:02} +0000] \"GET /live/{channel}/{at}.ts HTTP/1.1\" 200 1316000"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_as_many_requests_as_it_says() {
        assert_eq!(VIEWERS.iter().map(|(.., count)| count).sum::<u32>(), 20_000);
        let log = log();
        assert_eq!(log.lines().count(), 20_000);
        assert_eq!(log.lines().filter(|line| line.starts_with("203.0.113.")).count(), 80);
        assert!(log.lines().last().is_some_and(|line| line.contains("[10/Oct/2025:23:59:")));
    }
}
