use std::net::IpAddr;

use ipnet::IpNet;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::tree::{Link, Nodes, Tree};
use super::*;
use crate::address::Family;
use crate::table::{GroupEdge, Session};

fn group(token: &str) -> Group {
    let edges = vec![GroupEdge { name: token.into(), weight: 1 }];
    Group { token: Token::new(token).unwrap(), service: "default".into(), edges }
}

fn tree(prefixes: &[(IpNet, u32)]) -> Nodes {
    let mut tree = Tree::default();
    for (prefix, value) in prefixes {
        tree.insert(*prefix, *value);
    }
    tree.build(0).unwrap()
}

fn nets(list: &[(&str, u32)]) -> Vec<(IpNet, u32)> {
    list.iter().map(|(net, value)| (net.parse().unwrap(), *value)).collect()
}

/// The leaf that an address leads to, and how many bits it took.
fn follow(nodes: &Nodes, address: IpAddr) -> (u32, u8) {
    let bits = match address {
        IpAddr::V4(a) => u128::from(a.to_bits()),
        IpAddr::V6(a) => a.to_bits(),
    };
    let list: Vec<[Link; 2]> = nodes.iter().collect();
    let mut number = 0;
    for depth in 0..128 {
        match list[number][usize::from(bits >> (127 - depth) & 1 == 1)] {
            Link::Node(next) => number = next as usize,
            Link::Leaf(value) => return (value, depth + 1),
        }
    }
    panic!("{address} leads to no leaf");
}

/// A file of prefixes and the groups that answer for them; the first is the default.
fn file(prefixes: &[(&str, u32)], groups: &[Group], size: u16) -> Vec<u8> {
    let mut records = Records::new(&groups[0], false);
    let mut tree = Tree::default();
    for (prefix, at) in prefixes {
        tree.insert(prefix.parse().unwrap(), records.offset(None, &groups[*at as usize]));
    }
    let nodes = &tree.build(DEFAULT_RECORD).unwrap();
    let stamp =
        Stamp { session: Session(1), generation: 2, committed: "2026-01-02T03:04:05Z".parse().unwrap() };
    [body(nodes, &records, size), metadata(nodes.len(), size, &stamp)].concat()
}

/// A net with no host bits, from a small part of the space, so that nets are often nested.
fn net() -> impl Strategy<Value = IpNet> {
    let v4 = (any::<u16>(), 8..=32u8).prop_map(|(low, len)| {
        let address = std::net::Ipv4Addr::from_bits(0x0a00_0000 | u32::from(low) << 4);
        IpNet::new(address.into(), len).unwrap().trunc()
    });
    let v6 = (any::<u16>(), 24..=128u8).prop_map(|(low, len)| {
        let address = std::net::Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(low) << 80 | 7);
        IpNet::new(address.into(), len).unwrap().trunc()
    });
    prop_oneof![v4, v6]
}

proptest! {
    /// Nested prefixes in any order: the longest counts, as a slow scan finds it.
    #[test]
    fn the_longest_prefix_counts_in_any_order(
        mut prefixes in vec((net(), 1..5u32), 0..40).prop_shuffle(),
        probes in vec((any::<prop::sample::Index>(), any::<bool>(), select(vec![0u128, 1])), 60),
    ) {
        prefixes.sort_by_key(|(net, _)| *net);
        prefixes.dedup_by_key(|(net, _)| *net);
        let ordered = tree(&prefixes);
        prefixes.reverse();
        let nodes = tree(&prefixes);
        prop_assert!(ordered.iter().eq(nodes.iter()));
        for (at, first, beyond) in probes {
            let range = if prefixes.is_empty() {
                Range::all(Family::V4)
            } else {
                Range::from(at.get(&prefixes).0)
            };
            let bits = if first { range.first_bits().saturating_sub(beyond) } else { range.last_bits() };
            let address = range.family().address(bits);
            let holding = prefixes.iter().filter(|(net, _)| net.contains(&address));
            let wanted = holding.max_by_key(|(net, _)| net.prefix_len()).map_or(0, |(_, value)| *value);
            prop_assert_eq!(follow(&nodes, address).0, wanted, "{}", address);
        }
    }
}

#[test]
fn a_child_before_its_parent_is_kept() {
    let child_first = tree(&nets(&[("198.51.100.64/26", 2), ("198.51.100.0/24", 1)]));
    let parent_first = tree(&nets(&[("198.51.100.0/24", 1), ("198.51.100.64/26", 2)]));
    assert!(child_first.iter().eq(parent_first.iter()));
    for (address, wanted) in
        [("198.51.100.70", (2, 122)), ("198.51.100.10", (1, 122)), ("198.51.100.200", (1, 121))]
    {
        assert_eq!(follow(&child_first, address.parse().unwrap()), wanted, "{address}");
    }
}

#[test]
fn equal_halves_become_one_leaf() {
    // Two halves of one value are as their parent, whatever lies below them.
    let split = tree(&nets(&[("10.0.0.0/9", 1), ("10.128.0.0/9", 1), ("10.3.0.0/16", 1)]));
    let whole = tree(&nets(&[("10.0.0.0/8", 1)]));
    assert!(split.iter().eq(whole.iter()));
    // A prefix that says what its surroundings say leaves no trace.
    assert_eq!(tree(&nets(&[("10.0.0.0/8", 0)])).len(), 1);
    // A miss is answered for as much as holds no row.
    assert_eq!(follow(&whole, "8.8.8.8".parse().unwrap()), (0, 103));
    assert_eq!(follow(&whole, "2001:db8::".parse().unwrap()), (0, 3));
}

#[test]
fn the_ends_of_both_spaces_are_reached() {
    let nodes = tree(&nets(&[
        ("0.0.0.0/32", 1),
        ("255.255.255.255/32", 2),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", 3),
    ]));
    for (address, value) in [
        ("0.0.0.0", 1),
        ("0.0.0.1", 0),
        ("255.255.255.255", 2),
        ("255.255.255.254", 0),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 3),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", 0),
    ] {
        assert_eq!(follow(&nodes, address.parse().unwrap()).0, value, "{address}");
    }
}

#[test]
fn one_prefix_with_two_values_is_refused() {
    for net in ["10.0.0.0/8", "2001:db8::/32", "10.1.1.1/32"] {
        let net: IpNet = net.parse().unwrap();
        let mut tree = Tree::default();
        tree.insert(net, 1);
        tree.insert(net, 1);
        assert!(tree.clone().build(0).is_ok());
        tree.insert(net, 2);
        assert_eq!(tree.build(0).unwrap_err(), Duplicate(net));
    }
}

/// Files large enough for wide records are too large for a test: here small ones are
/// written with wide records, and read by a reader that nobody here wrote.
#[test]
fn every_record_size_is_read_by_others() {
    let prefixes = [("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("2001:db8::/32", 2)];
    let groups = ["centre", "gz-01", "gz-02"].map(group);
    for size in [24, 28, 32] {
        let file = file(&prefixes, &groups, size);
        let theirs = maxminddb::Reader::from_source(file.as_slice()).unwrap();
        assert_eq!(theirs.metadata().record_size, size);
        let ours = reader::read(&file).unwrap();
        for (address, token) in [
            ("10.0.0.0", "gz-01"),
            ("10.1.255.255", "gz-02"),
            ("10.2.0.0", "gz-01"),
            ("11.0.0.0", "centre"),
            ("2001:db8::1", "gz-02"),
            ("2001:db9::", "centre"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            let record: Value = theirs.lookup(address).unwrap().decode().unwrap().unwrap();
            assert_eq!(record["edge"], token, "{address} in records of {size}");
            assert_eq!(ours.lookup("", address).unwrap().as_str(), token, "{address} of {size}");
        }
    }
}

/// Pointers need more than 24 bits as soon as nodes, separator and data together do.
#[test]
fn the_record_size_follows_the_largest_pointer() {
    let centre = group("centre");
    let records = Records::new(&centre, false);
    let data = records.data.len();
    let size = |nodes: usize| record_size(&Nodes::of_length(nodes), &records);
    assert_eq!(size(1), Ok(24));
    assert_eq!(size((1 << 24) - 16 - data - 1), Ok(24));
    assert_eq!(size((1 << 24) - 16 - data), Ok(28));
}

/// An independent reader of the data types takes every length form.
#[test]
fn long_strings_and_lists_are_read_by_others() {
    for length in [0, 1, 28, 29, 284, 285, 65_820, 65_821, 70_000] {
        let mut long = group("centre");
        long.edges[0].name = "x".repeat(length).as_str().into();
        let many = GroupEdge { name: "y".into(), weight: 1 };
        long.edges.extend(std::iter::repeat_n(many, length.min(300)));
        let file = file(&[], &[long.clone()], 24);
        let theirs = maxminddb::Reader::from_source(file.as_slice()).unwrap();
        let address = IpAddr::from([192, 0, 2, 1]);
        let record: Value = theirs.lookup(address).unwrap().decode().unwrap().unwrap();
        let names: Vec<&str> = long.edges.iter().map(|e| &*e.name).collect();
        assert_eq!(record["edges"], Value::from(names));
        assert_eq!(reader::read(&file).unwrap().default().unwrap().as_str(), "centre");
    }
}

/// Every octet of a file means something to the strict reader: whichever is changed, the
/// file is refused or says something else, and nothing panics.
#[test]
fn no_octet_changes_unnoticed() {
    let prefixes = [("10.0.0.0/8", 1), ("2001:db8::/32", 2)];
    let groups = ["centre", "gz-01", "gz-02"].map(group);
    for size in [24, 28, 32] {
        let whole = file(&prefixes, &groups, size);
        let said = reader::read(&whole).unwrap();
        for at in 0..whole.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut altered = whole.clone();
                altered[at] ^= flip;
                let passed = reader::read(&altered).is_ok_and(|read| read == said);
                // The names of edges, the time and the generation are free text to it.
                let free = is_free(&whole, at);
                assert!(!passed || free, "octet {at} of {} at record size {size}", whole.len());
            }
        }
    }
}

/// Whether an octet belongs to what the reader takes as it comes: edge names, description,
/// build epoch.
fn is_free(file: &[u8], at: usize) -> bool {
    let find = |word: &[u8]| file.windows(word.len()).position(|w| w == word).unwrap();
    let after = |word: &[u8], length: usize| {
        let end = find(word) + word.len();
        (end..end + length).contains(&at)
    };
    let names: [&[u8]; 3] = [b"edges\x01\x04Fcentre", b"edges\x01\x04Egz-01", b"edges\x01\x04Egz-02"];
    let name = names.iter().any(|word| {
        let start = find(word) + 8;
        (start..start + word.len() - 8).contains(&at)
    });
    name || after(b"build_epoch", 6) || after(b"description", 60)
}

#[test]
fn ipv6_rows_leave_the_ipv4_part_alone() {
    let left = |range: &str| -> Vec<String> {
        carried(range.parse().unwrap(), Mmdb.excluded()).map(|range| range.to_string()).collect()
    };
    assert_eq!(left("::-::1:2:3"), ["::1:0:0-::1:2:3"]);
    assert_eq!(left("::1"), [""; 0]);
    assert_eq!(left("::ffff:ffff"), [""; 0]);
    assert_eq!(left("0.0.0.0/0"), ["0.0.0.0-255.255.255.255"]);
}

#[test]
fn the_build_epoch_is_never_zero() {
    let stamp = |time: &str| Stamp { session: Session(1), generation: 2, committed: time.parse().unwrap() };
    assert_eq!(build_epoch(&stamp("1970-01-01T00:00:00Z")), 1);
    assert_eq!(build_epoch(&stamp("1960-01-01T00:00:00Z")), 1);
    assert_eq!(build_epoch(&stamp("2026-01-02T03:04:05.9Z")), 1_767_323_045);
}

#[test]
fn weights_stand_in_the_record_unless_a_groups_file_has_them() {
    let edge = |name: &str, weight| GroupEdge { name: name.into(), weight };
    let mut one = group("g-0123456789");
    one.edges = vec![edge("b", 70), edge("a", 30), edge("c", 0)];
    let value = |group: &Group, beside| {
        let mut data = Encoder::default();
        encode(&mut data, Some("bas-1"), group, beside);
        let octets = data.bytes().to_vec();
        let mut decoder = data::Decoder::new(&octets);
        format!("{:?}", decoder.value())
    };
    let whole = value(&one, false);
    assert!(whole.contains(r#"("edges", Array([Text("b"), Text("a")]))"#), "{whole}");
    assert!(whole.contains(r#"("weights", Array([Number(70), Number(30)]))"#), "{whole}");
    let beside = value(&one, true);
    assert!(beside.contains(r#"("edges", Array([Text("a"), Text("b"), Text("c")]))"#), "{beside}");
    assert!(!beside.contains("weights"), "{beside}");
    let mut other = one.clone();
    other.edges = vec![edge("c", 50), edge("a", 50), edge("b", 0)];
    assert_eq!(value(&other, true), beside, "weights that move leave the table as it is");
    assert!(!value(&other, false).contains("weights"), "equal ones say nothing");
}
