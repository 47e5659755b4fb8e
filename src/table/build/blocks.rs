//! Address blocks with rules of their own.

use super::{Refusal, RefusalReason};
use crate::address::{Family, Range, RangeSet};
use crate::table::{Claim, Class};

const fn v4(a: u128, length: u32) -> (u128, u128) {
    (a << 24, (a << 24) | ((1 << (32 - length)) - 1))
}

const fn v6(top: u128, length: u32) -> (u128, u128) {
    (top << 112, (top << 112) | ((1 << (128 - length)) - 1))
}

/// 0/8, 127/8, 169.254/16, 224/4 (multicast), 240/4 (RFC 6890).
const NEVER_V4: [(u128, u128); 5] =
    [v4(0, 8), v4(127, 8), (0xa9fe_0000, 0xa9fe_ffff), v4(224, 4), v4(240, 4)];

/// ::, ::1, ::ffff:0:0/96 (which is IPv4), fe80::/10, ff00::/8 (RFC 6890).
const NEVER_V6: [(u128, u128); 4] =
    [(0, 1), (0xffff_0000_0000, 0xffff_ffff_ffff), v6(0xfe80, 10), v6(0xff00, 8)];

/// 10/8, 100.64/10, 172.16/12, 192.168/16 (RFC 1918, RFC 6598).
const PRIVATE_V4: [(u128, u128); 4] =
    [v4(10, 8), (0x6440_0000, 0x647f_ffff), (0xac10_0000, 0xac1f_ffff), (0xc0a8_0000, 0xc0a8_ffff)];

/// fc00::/7 (RFC 4193).
const PRIVATE_V6: [(u128, u128); 1] = [v6(0xfc00, 7)];

const fn never(family: Family) -> &'static [(u128, u128)] {
    match family {
        Family::V4 => &NEVER_V4,
        Family::V6 => &NEVER_V6,
    }
}

/// The private and shared blocks of a family, first and last address each, in order.
pub(super) const fn private(family: Family) -> &'static [(u128, u128)] {
    match family {
        Family::V4 => &PRIVATE_V4,
        Family::V6 => &PRIVATE_V6,
    }
}

/// Whether an address is private or shared.
pub(super) fn is_private(family: Family, address: u128) -> bool {
    private(family).iter().any(|(first, last)| *first <= address && address <= *last)
}

fn overlaps(blocks: &[(u128, u128)], range: Range) -> bool {
    blocks.iter().any(|(first, last)| *first <= range.last_bits() && range.first_bits() <= *last)
}

/// Whether a range lies in no block that could cut it.
pub(super) fn is_plain(range: Range, skip_private: bool) -> bool {
    let family = range.family();
    !(overlaps(never(family), range) || skip_private && overlaps(private(family), range))
}

/// What may be published of a claim; the rest is noted.
pub(super) fn publishable(claim: &Claim, skip_private: bool, refused: &mut Vec<Refusal>) -> RangeSet {
    let family = claim.range.family();
    let mut left = RangeSet::from(claim.range);
    let mut cut = |left: &mut RangeSet, blocks: &[(u128, u128)], reason| {
        let blocks = blocks.iter().filter_map(|(first, last)| Range::from_bits(family, *first, *last));
        let out = left.intersect(&blocks.collect());
        *left = left.subtract(&out);
        refused.extend(out.iter().map(|range| Refusal {
            space: claim.space.clone(),
            range: *range,
            bas: claim.bas.clone(),
            pool: claim.pool.clone(),
            reason,
        }));
    };
    cut(&mut left, never(family), RefusalReason::NeverPublished);
    if skip_private && claim.class != Class::Override {
        cut(&mut left, private(family), RefusalReason::PrivateSkipped);
    }
    left
}
