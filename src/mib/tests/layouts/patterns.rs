//! How each vendor writes an index, so that what a listed row says can be held against its
//! arcs: written here once more, from what was listed.

use std::net::IpAddr;

use super::*;
use crate::table::Listed;

/// An arc that must be this one, or may be any.
type Arc = Option<u32>;

fn any(count: usize) -> Vec<Arc> {
    vec![None; count]
}

fn these(arcs: &[u32]) -> Vec<Arc> {
    arcs.iter().copied().map(Some).collect()
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// What the arcs of a row that lists a range must be. Text of which the range tells nothing is
/// as long as the row itself says.
pub(super) fn pattern(layout: &Layout, row: &[u32], listed: &Listed) -> Vec<Arc> {
    let range = listed.range;
    let (first, last) = (octets(range.first()), octets(range.last()));
    let four = first.len() == 4;
    let kind = these(&[if four { 1 } else { 2 }]);
    let name = these(&counted(listed.pool.raw()));
    let counted = |octets: &[u8]| these(&counted(octets));
    let bare = |octets: &[u8]| these(&arcs(octets));
    let size = range.last_bits() - range.first_bits();
    let length = if four { 32 } else { 128 } - (128 - size.leading_zeros());
    let mask =
        if four { v4_octets(u128::from(u32::MAX) & !size).to_vec() } else { (!size).to_be_bytes().to_vec() };
    // The length of a text at a place of the row, and the text.
    let text_at = |at: usize| any(1 + row.get(at).map_or(0, |length| *length as usize));
    match (layout.descriptor, layout.table) {
        ("cisco-ios", _) => [name, kind, counted(&first)].concat(),
        ("cisco-ios-xr", "ranges") => [any(1), kind, counted(&first)].concat(),
        ("cisco-ios-xr", _) => [any(1), kind, counted(&first), counted(&mask)].concat(),
        ("ericsson-redback" | "ericsson-ssr", "pools") => [any(1), bare(&first)].concat(),
        ("ericsson-redback" | "ericsson-ssr", _) => [any(2), kind, counted(&first), any(1)].concat(),
        ("h3c-comware", _) => name,
        ("huawei", "dynamic") => any(3),
        ("huawei", "sections") | ("juniper-junose", "profiles") => any(2),
        ("huawei" | "juniper-junose" | "juniper-junos", _) => any(1),
        ("netelastic-flexbng", _) => [name, bare(&first), bare(&last)].concat(),
        ("nokia-sros", "nat") => [any(1), name, kind, counted(&first), counted(&last)].concat(),
        ("nokia-sros", "v6-subnets") => {
            [any(1), text_at(1), name, kind, counted(&first), these(&[length])].concat()
        }
        ("nokia-sros", _) => {
            // Another row may take a part of it out: its ends lie within those of the row.
            let end = [these(&[1, 4]), any(4)].concat();
            [any(1), text_at(1), name, kind, these(&[4]), any(5), these(&[1]), end.clone(), end].concat()
        }
        ("standard-connected", "addresses") => any(4),
        ("standard-connected", _) => [any(1), kind, counted(&first), these(&[length])].concat(),
        ("standard-inet-routes", _) => {
            let begun = [kind, counted(&first), these(&[length])].concat();
            let policy = text_at(begun.len());
            let hop = text_at(begun.len() + policy.len() + 1);
            [begun, policy, any(1), hop].concat()
        }
        ("standard-ip-routes", _) => [bare(&first), bare(&mask), any(5)].concat(),
        ("zte-uas", _) => {
            let router = text_at(name.len());
            let interface = text_at(name.len() + router.len());
            [name, router, interface, any(1), bare(&first), bare(&last)].concat()
        }
        other => panic!("no pattern for {other:?}"),
    }
}

/// Whether arcs are what a pattern says.
pub(super) fn fits(row: &[u32], pattern: &[Arc]) -> bool {
    row.len() == pattern.len()
        && row.iter().zip(pattern).all(|(arc, wanted)| wanted.is_none_or(|w| w == *arc))
}

/// The ends that a row's own arcs give a range, where the pattern cannot say them: the last
/// octets of the index, or all of it.
pub(super) fn within(layout: &Layout, row: &[u32], listed: &Listed) -> bool {
    let address = |arcs: &[u32]| -> Option<u128> {
        let octets: Option<Vec<u8>> = arcs.iter().map(|arc| u8::try_from(*arc).ok()).collect();
        Some(u32::from_be_bytes(octets?.try_into().ok()?).into())
    };
    let (first, last) = (listed.range.first_bits(), listed.range.last_bits());
    let ends = match (layout.descriptor, layout.table) {
        ("standard-connected", "addresses") => {
            return address(row).is_some_and(|own| first <= own && own <= last);
        }
        ("nokia-sros", "ranges") => {
            row.len().checked_sub(10).map(|at| (address(&row[at..at + 4]), address(&row[at + 6..])))
        }
        _ => return true,
    };
    matches!(ends, Some((Some(start), Some(end))) if start <= first && last <= end)
}
