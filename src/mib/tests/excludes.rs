//! Includes minus excludes, on the shape of the Nokia DHCP server's range table.

use super::*;

const NOKIA: &str = r#"
name = "nokia"
vendor = "test"
[[table]]
name = "ranges"
entry = "1.3.6.1.4.1.6527.3.1.2.47.1.10.1"
index = [
  { name = "router", type = "integer" },
  { name = "server", type = "octets" },
  { name = "pool", type = "octets" },
  { name = "subnet-type", type = "inet-address-type" },
  { name = "subnet", type = "inet-address", address-type = "subnet-type" },
  { name = "length", type = "integer" },
  { name = "kind", type = "integer" },
  { name = "start-type", type = "inet-address-type" },
  { name = "start", type = "inet-address", address-type = "start-type" },
  { name = "end-type", type = "inet-address-type" },
  { name = "end", type = "inet-address", address-type = "end-type" },
]
[table.columns]
status = { number = 6, type = "row-status" }
[table.joins]
routers = { by = ["router"] }
[table.ranges]
start = "start"
end = "end"
pool = "pool"
vrf = "routers.name"
exclude = { field = "kind", equals = 0, others = 1, within = ["router", "server", "pool", "subnet", "length"] }
[[table]]
name = "routers"
entry = "1.3.6.1.4.1.6527.3.1.2.3.1.1"
index = [{ name = "router", type = "integer" }]
[table.columns]
name = { number = 4, type = "text" }
"#;

fn decoded(walk: &str) -> DecodedTable {
    let descriptor = parsed(NOKIA);
    decoded_table(&descriptor, &read(&descriptor, walk), "ranges")
}

#[test]
fn what_is_excluded_is_taken_out() {
    let walk = include_str!("../../../tests/data/walks/nokia-7750-dhcpsvr.snmprec");
    let table = decoded(walk);
    assert_eq!(
        ranges(&table),
        [
            "iptv|Base|100.64.0.2-100.64.3.254",
            "pppoe-a|Base|10.0.0.3-10.0.0.99",
            "pppoe-a|Base|10.0.0.110-10.0.0.250",
            "pppoe-a|Base|10.0.4.0-10.0.5.255",
            "corp|vprn-corp|192.168.10.5-192.168.10.99",
        ]
    );
    assert_eq!(table.rejected, []);
}

/// A row of pool `p` in 192.0.2.0/24.
fn row(kind: u32, first: u8, last: u8, status: &str) -> String {
    format!(
        "1.3.6.1.4.1.6527.3.1.2.47.1.10.1.6.1.1.115.1.112.1.4.192.0.2.0.24.{kind}.1.4.192.0.2.{first}.1.4.192.0.2.{last}|{status}\n"
    )
}

const ROUTER: &str = "1.3.6.1.4.1.6527.3.1.2.3.1.1.4.1|4|Base\n";

#[test]
fn an_exclude_that_was_not_read_leaves_its_group_unread() {
    let table = decoded(&(row(1, 10, 99, "2|1") + &row(0, 20, 29, "4|broken") + ROUTER));
    assert_eq!(ranges(&table), Vec::<String>::new());
    assert_eq!(unread(&table).len(), 2);
    assert!(!table.table.bad_index);
}

#[test]
fn an_exclude_that_is_void_takes_nothing_out() {
    let table = decoded(&(row(1, 10, 99, "2|1") + &row(0, 20, 29, "2|2") + &row(0, 39, 30, "2|1") + ROUTER));
    assert_eq!(ranges(&table), ["p|Base|192.0.2.10-192.0.2.99"]);
}

#[test]
fn an_unreadable_index_may_be_an_exclude_of_anything() {
    let broken = "1.3.6.1.4.1.6527.3.1.2.47.1.10.1.6.1.1.115|2|1\n";
    let table = decoded(&(row(1, 10, 99, "2|1") + broken + ROUTER));
    assert_eq!(ranges(&table), Vec::<String>::new());
    assert!(table.table.bad_index);
}

#[test]
fn a_range_that_is_wholly_excluded_claims_nothing() {
    let table = decoded(&(row(1, 10, 19, "2|1") + &row(0, 10, 29, "2|1") + ROUTER));
    assert_eq!(ranges(&table), Vec::<String>::new());
    assert_eq!(table.rejected[0].reason, RejectReason::Excluded);
    assert!(unread(&table).is_empty());
}

#[test]
fn a_row_of_a_third_kind_may_be_either() {
    let walk = include_str!("../../../tests/data/walks/nokia-7750-dhcpsvr.snmprec");
    let whole = decoded(walk);
    // The one exclude, of pppoe-a, becomes something that the MIB does not know.
    let exclude = ".24.0.1.4.10.0.0.100.1.4.10.0.0.109";
    assert!(walk.contains(exclude));
    let table = decoded(&walk.replace(exclude, &exclude.replace(".24.0.", ".24.7.")));
    let left: Vec<String> = ranges(&whole).into_iter().filter(|range| !range.contains("10.0.0.")).collect();
    assert_eq!(ranges(&table), left, "what it may have narrowed is not read");
    let reasons: Vec<RejectReason> = table.rejected.iter().map(|row| row.reason).collect();
    assert!(
        reasons.contains(&RejectReason::BadCell) && reasons.contains(&RejectReason::MissingRow),
        "{reasons:?}"
    );
}
