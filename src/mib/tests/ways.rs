//! Ways of making a range that go beyond one row of columns: several of them in a table,
//! cells that may be missing, groups, networks without a length, delegated prefixes.

use super::*;
use crate::table::TableOutcome;

fn table(descriptor: &str, table: &str, walk: &str) -> DecodedTable {
    let descriptor = built_in(descriptor);
    decoded_table(&descriptor, &read(&descriptor, walk), table)
}

fn reasons(table: &DecodedTable) -> Vec<RejectReason> {
    table.rejected.iter().map(|rejected| rejected.reason).collect()
}

/// Cells of H3C's pool `p`: type, network, mask, start, end, and the row status.
fn h3c(kind: u8, ends: (&str, &str), status: u8) -> String {
    let entry = "1.3.6.1.4.1.25506.2.101.2";
    format!(
        "{entry}.2.1.2.1.112|2|{status}\n{entry}.3.1.1.1.112|2|{kind}\n{entry}.3.1.2.1.112|64|10.0.0.0\n\
         {entry}.3.1.3.1.112|64|255.255.255.0\n{entry}.3.1.8.1.112|64|{}\n{entry}.3.1.9.1.112|64|{}\n",
        ends.0, ends.1
    )
}

#[test]
fn a_way_whose_addresses_are_not_set_gives_way_to_the_next() {
    let networks = |walk: &str| table("h3c-comware", "networks", walk);
    assert_eq!(ranges(&networks(&h3c(2, ("10.0.0.5", "10.0.0.9"), 1))), ["p||10.0.0.5-10.0.0.9"]);
    assert_eq!(ranges(&networks(&h3c(2, ("0.0.0.0", "0.0.0.0"), 1))), ["p||10.0.0.0-10.0.0.255"]);
    // Half a range is no whole network.
    let half = networks(&h3c(2, ("10.0.0.5", "0.0.0.0"), 1));
    assert_eq!((ranges(&half).len(), reasons(&half)), (0, vec![RejectReason::NoAddress]));
    // Nor is one whose end cannot be read.
    let broken =
        networks(&h3c(2, ("0.0.0.0", "0.0.0.0"), 1).replace(".9.1.112|64|0.0.0.0", ".9.1.112|64x|00"));
    assert_eq!((ranges(&broken).len(), reasons(&broken)), (0, vec![RejectReason::BadCell]));
    let host = networks(&h3c(1, ("0.0.0.0", "0.0.0.0"), 1));
    assert_eq!((ranges(&host).len(), reasons(&host)), (0, vec![RejectReason::Filtered]));
    let inactive = networks(&h3c(2, ("10.0.0.5", "10.0.0.9"), 2));
    assert_eq!((ranges(&inactive).len(), reasons(&inactive)), (0, vec![RejectReason::NotActive]));
    // Neither way: the network is not set either.
    let unset = networks(&h3c(2, ("0.0.0.0", "0.0.0.0"), 1).replace("|64|10.0.0.0", "|64|0.0.0.0"));
    assert_eq!((ranges(&unset).len(), reasons(&unset)), (0, vec![RejectReason::NoAddress]));
}

const REDBACK: &str = "1.3.6.1.4.1.2352.2.15.1.1.1";

/// A row of a Redback: the cells of columns 4, 12, 13, 14, as far as there are any.
fn redback(cells: &[(u32, &str)]) -> String {
    let row = cells.iter().map(|(column, cell)| format!("{REDBACK}.{column}.7.10.0.0.0|{cell}\n"));
    format!("{REDBACK}.3.7.10.0.0.0|4|if-7\n1.3.6.1.4.1.2352.2.15.1.2.1.0|4|local\n")
        + &row.collect::<String>()
}

#[test]
fn a_row_is_of_the_way_that_its_type_says() {
    let pools = |cells: &[(u32, &str)]| table("ericsson-redback", "pools", &redback(cells));
    let (mask, end) = ((4, "64|255.255.255.0"), (14, "64|10.0.3.9"));
    assert_eq!(ranges(&pools(&[mask, (12, "4|a"), (13, "2|0")])), ["a||10.0.0.0-10.0.0.255"]);
    assert_eq!(ranges(&pools(&[end, (12, "4|a"), (13, "2|1")])), ["a||10.0.0.0-10.0.3.9"]);
    // The type decides, not what is there.
    assert_eq!(ranges(&pools(&[mask, end, (12, "4|a"), (13, "2|1")])), ["a||10.0.0.0-10.0.3.9"]);
    for (cells, reason) in [
        (vec![mask, (12, "4|a"), (13, "2|1")], RejectReason::MissingCell),
        (vec![end, (12, "4|a"), (13, "2|0")], RejectReason::MissingCell),
        (vec![mask, end, (12, "4|a"), (13, "2|2")], RejectReason::Filtered),
        (vec![mask, end, (12, "4|a"), (13, "4|0")], RejectReason::BadCell),
        (vec![mask, (12, "2|7"), (13, "2|0")], RejectReason::BadCell),
    ] {
        let table = pools(&cells);
        assert_eq!((ranges(&table).len(), reasons(&table)), (0, vec![reason]), "{cells:?}");
    }
}

#[test]
fn a_missing_cell_stands_for_what_the_descriptor_says() {
    let mask = (4, "64|255.255.255.0");
    let table = |cells: &[(u32, &str)]| table("ericsson-redback", "pools", &redback(cells));
    assert_eq!(ranges(&table(&[mask])), ["if-7||10.0.0.0-10.0.0.255"]);
    assert_eq!(ranges(&table(&[mask, (12, "4|")])), ["||10.0.0.0-10.0.0.255"]);
}

#[test]
fn the_one_row_of_a_table_may_belong_to_all() {
    let walk = redback(&[(4, "64|255.255.255.0"), (12, "4|a"), (13, "2|0")]);
    let context = "1.3.6.1.4.1.2352.2.15.1.2.1.0|4|local\n";
    let named = table("ericsson-redback", "pools", &walk.replace("|local", "|corp"));
    assert_eq!(ranges(&named), ["a|corp|10.0.0.0-10.0.0.255"]);
    let none = table("ericsson-redback", "pools", &walk.replace(context, ""));
    assert_eq!(none.table.outcome, TableOutcome::Failed("missing-table".into()));
    assert_eq!(ranges(&none), Vec::<String>::new());
    let two = table("ericsson-redback", "pools", &(walk + "1.3.6.1.4.1.2352.2.15.1.2.1.1|4|x\n"));
    assert_eq!((ranges(&two).len(), reasons(&two)), (0, vec![RejectReason::AmbiguousJoin]));
}

const CISCO: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1.4.1.112.1.4.192.0.2.1|4x|c0000209\n";
const GROUP: &str = "1.3.6.1.4.1.9.9.326.1.1.2.1.7.1.112.1.4.192.0.2.1|4|corp\n";

#[test]
fn a_group_is_a_vrf_where_it_is_not_switched_off() {
    let grouped = built_in("cisco-ios");
    let ungrouped = parsed(&grouped.source().replace("group-as-vrf = true", "group-as-vrf = false"));
    let walk = CISCO.to_owned() + GROUP;
    let ranges_of = |descriptor: &Descriptor, walk: &str, group_as_vrf: Option<bool>| {
        let settings = Settings { group_as_vrf, ..Settings::default() };
        decoded_with(descriptor, &read(descriptor, walk), "pools", settings)
    };
    for (descriptor, switch, vrf) in [
        (&*grouped, None, "corp"),
        (&grouped, Some(true), "corp"),
        (&grouped, Some(false), ""),
        (&ungrouped, None, ""),
        (&ungrouped, Some(true), "corp"),
        (&ungrouped, Some(false), ""),
    ] {
        let table = ranges_of(descriptor, &walk, switch);
        assert_eq!(ranges(&table), [format!("p|{vrf}|192.0.2.1-192.0.2.9")], "{switch:?}");
    }
    // A group that cannot be read may be any VRF; where groups are none, it is not needed.
    let table = ranges_of(&grouped, CISCO, None);
    assert_eq!((ranges(&table).len(), reasons(&table)), (0, vec![RejectReason::MissingCell]));
    assert_eq!(ranges(&ranges_of(&grouped, CISCO, Some(false))), ["p||192.0.2.1-192.0.2.9"]);
}

fn junos(family: u8, network: &str, length: &str) -> String {
    let entry = "1.3.6.1.4.1.2636.3.51.1.1.4.1.1.1";
    format!(
        "{entry}.2.1|4|default\n{entry}.3.1|4|p\n{entry}.5.1|2|{family}\n{entry}.6.1|{network}\n{entry}.7.1|{length}\n"
    )
}

#[test]
fn a_network_without_a_length_is_not_guessed_at() {
    let pools = |family, network: &str, length: &str| {
        table("juniper-junos", "pools", &junos(family, network, length))
    };
    for (family, network, length) in
        [(1, "4|10.0.0.0", "66|0"), (1, "4x|0a000000", "66|0"), (2, "4|2001:db8::", "66|0")]
    {
        let table = pools(family, network, length);
        assert_eq!(reasons(&table), [RejectReason::Unresolved], "{network}");
        // Not read: what it listed before is kept.
        assert_eq!(unread(&table), [[1]]);
        assert!(table.rejected[0].detail.contains("is not told"), "{}", table.rejected[0].detail);
    }
    for (family, network, length, reason) in [
        (1, "4|10.0.0.0/22", "66|23", RejectReason::Contradiction),
        (1, "4|10.0.0.1/22", "66|0", RejectReason::Contradiction),
        (2, "4|10.0.0.0/22", "66|0", RejectReason::BadCell),
        (1, "4|10.0.0.0/22", "66|33", RejectReason::Contradiction),
        (1, "4|10.0.0", "66|22", RejectReason::BadCell),
        (0, "4|", "66|0", RejectReason::NoAddress),
    ] {
        assert_eq!(reasons(&pools(family, network, length)), [reason], "{network} {length}");
    }
}

const V6: &str = "1.3.6.1.4.1.2011.6.8.1.16.1.2.1|4|one
1.3.6.1.4.1.2011.6.8.1.16.1.2.2|4|two
1.3.6.1.4.1.2011.6.8.1.16.1.3.1|2|2
1.3.6.1.4.1.2011.6.8.1.16.1.3.2|2|2
1.3.6.1.4.1.2011.6.8.1.16.1.4.1|4x|20010db81000
1.3.6.1.4.1.2011.6.8.1.16.1.4.2|4x|20010db82000
1.3.6.1.4.1.2011.6.8.1.16.1.5.1|2|40
1.3.6.1.4.1.2011.6.8.1.16.1.5.2|2|40
1.3.6.1.4.1.2011.6.8.1.16.1.6.1|2|56
1.3.6.1.4.1.2011.6.8.1.16.1.6.2|2|30
1.3.6.1.4.1.2011.6.8.1.16.1.10.1|4|
1.3.6.1.4.1.2011.6.8.1.16.1.10.2|4|
1.3.6.1.4.1.2011.6.8.1.17.1.2.1|4|pool
1.3.6.1.4.1.2011.6.8.1.17.1.3.1|2|2
1.3.6.1.4.1.2011.6.8.1.17.1.4.1|4|one
";
const ONE: &str = "2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff";
const TWO: &str = "2001:db8:2000::-2001:db8:20ff:ffff:ffff:ffff:ffff:ffff";

#[test]
fn a_prefix_counts_where_no_pool_names_it() {
    let pools = table("huawei", "v6-pools", V6);
    assert_eq!(ranges(&pools), [format!("pool||{ONE}")]);
    let prefixes = table("huawei", "v6-prefixes", V6);
    assert_eq!(ranges(&prefixes), [format!("two||{TWO}")]);
    assert_eq!(prefixes.passed, [Passed { index: "1".into(), why: "not needed: v6-pools has it".into() }]);
    // The length of the delegated prefixes, where it can be one.
    assert_eq!(pools.delegated.values().collect::<Vec<_>>(), [&56]);
    assert!(prefixes.delegated.is_empty(), "a /30 does not fit a /40");
}

#[test]
fn a_pool_whose_prefix_cannot_be_read_may_name_any() {
    let walk = V6.replace("17.1.4.1|4|one", "17.1.4.1|2|1");
    let pools = table("huawei", "v6-pools", &walk);
    assert_eq!((ranges(&pools).len(), reasons(&pools)), (0, vec![RejectReason::BadCell]));
    let prefixes = table("huawei", "v6-prefixes", &walk);
    assert_eq!(ranges(&prefixes), Vec::<String>::new());
    assert_eq!(reasons(&prefixes), [RejectReason::BadIndex, RejectReason::BadIndex]);
    assert!(prefixes.table.bad_index);
}

#[test]
fn a_pool_names_no_prefix_one_that_is_not_there_or_two() {
    let pools = |walk: &str| table("huawei", "v6-pools", walk);
    let none = pools(&V6.replace("17.1.4.1|4|one", "17.1.4.1|4|"));
    assert_eq!((unread(&none).len(), reasons(&none)), (0, vec![RejectReason::NoAddress]));
    let missing = pools(&V6.replace("17.1.4.1|4|one", "17.1.4.1|4|three"));
    assert_eq!((unread(&missing).len(), reasons(&missing)), (1, vec![RejectReason::MissingRow]));
    let twice = pools(&V6.replace("16.1.2.2|4|two", "16.1.2.2|4|one"));
    assert_eq!((unread(&twice).len(), reasons(&twice)), (1, vec![RejectReason::AmbiguousJoin]));
}

#[test]
fn a_table_stands_behind_several_better_ones() {
    let pool = |number: u32| {
        format!(
            "1.3.6.1.4.1.2011.6.8.1.1.1.2.{number}|4|p{number}\n1.3.6.1.4.1.2011.6.8.1.1.1.11.{number}|4|\n\
             1.3.6.1.4.1.2011.6.8.1.1.1.12.{number}|2|1\n1.3.6.1.4.1.2011.6.8.1.1.1.27.{number}|64|192.0.2.1\n\
             1.3.6.1.4.1.2011.6.8.1.1.1.28.{number}|64|192.0.2.9\n"
        )
    };
    let section =
        "1.3.6.1.4.1.2011.6.8.1.2.1.3.0.0|64|192.0.2.11\n1.3.6.1.4.1.2011.6.8.1.2.1.4.0.0|64|192.0.2.19\n";
    let dynamic = "1.3.6.1.4.1.2011.6.8.1.28.1.3.1.0.0|64|192.0.2.21\n1.3.6.1.4.1.2011.6.8.1.28.1.4.1.0.0|64|192.0.2.29\n\
                   1.3.6.1.4.1.2011.6.8.1.28.1.3.0.0.0|64|192.0.2.31\n1.3.6.1.4.1.2011.6.8.1.28.1.4.0.0.0|64|192.0.2.39\n";
    let walk = pool(0) + &pool(1) + &pool(2) + section + dynamic;
    assert_eq!(ranges(&table("huawei", "sections", &walk)), ["p0||192.0.2.11-192.0.2.19"]);
    assert_eq!(ranges(&table("huawei", "dynamic", &walk)), ["p1||192.0.2.21-192.0.2.29"]);
    assert_eq!(ranges(&table("huawei", "pools", &walk)), ["p2||192.0.2.1-192.0.2.9"]);
    // An index of the one that cannot be told leaves the rest uncertain, not what is known.
    let broken = walk + "1.3.6.1.4.1.2011.6.8.1.28.1.3.2.0|64|192.0.2.41\n";
    let pools = table("huawei", "pools", &broken);
    assert_eq!((ranges(&pools).len(), reasons(&pools)), (0, vec![RejectReason::BadIndex]));
    assert_eq!(pools.passed.len(), 2);
}

#[test]
fn what_lies_behind_a_better_table_that_failed_is_not_known_however_far() {
    let descriptor = built_in("huawei");
    let walk = include_str!("../../../tests/data/walks/huawei-control-plane.snmprec");
    let mut read = read(&descriptor, walk);
    set_outcome(&descriptor, &mut read, "sections", ReadOutcome::Failed(Fault::Restarted));
    for table in ["sections", "dynamic", "pools"] {
        let table = decoded_table(&descriptor, &read, table);
        assert_eq!(table.table.outcome, TableOutcome::Failed("restarted".into()));
    }
    let relay = decoded_table(&descriptor, &read, "relay");
    assert_eq!(relay.table.outcome, TableOutcome::Complete);
}

#[test]
fn delegated_prefixes_are_those_of_ipv6() {
    let walk = include_str!("../../../tests/data/walks/cisco-iosxr-addrpool.snmprec");
    let prefixes = table("cisco-ios-xr", "prefixes", walk);
    // The IPv4 prefix has an assigned length of 32.
    assert_eq!(prefixes.table.listed.len(), 2);
    assert_eq!(prefixes.delegated.values().collect::<Vec<_>>(), [&56]);
}
