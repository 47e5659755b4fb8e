//! Row faults: one bad cell harms one row, and never makes a wrong range.

use super::*;
use crate::table::TableOutcome;

/// A table with everything in columns.
const PLAIN: &str = r#"
name = "plain"
vendor = "test"
[[table]]
name = "pools"
entry = "1.3.6.1.4.1.99999.1.1"
index = [{ name = "pool", type = "integer" }]
[table.columns]
status = { number = 1, type = "row-status" }
name = { number = 2, type = "text" }
start = { number = 3, type = "ip-address" }
end = { number = 4, type = "ip-address" }
vrf = { number = 5, type = "text", optional = true }
size = { number = 6, type = "count" }
kind = { number = 7, type = "bits", optional = true }
[table.ranges]
start = "start"
end = "end"
pool = "name"
vrf = "vrf"
size = "size"
skip-pools = ["_DAP*"]
"#;

fn plain() -> Descriptor {
    parsed(&PLAIN.replace("kind = { number = 7, type = \"bits\", optional = true }\n", ""))
}

/// Rows of `PLAIN` with a name, from start to end.
fn rows(rows: &[(u32, &str, &str)]) -> String {
    let row = |(index, start, end): &(u32, &str, &str)| {
        let mut out = format!("1.3.6.1.4.1.99999.1.1.2.{index}|4|p{index}\n");
        for (column, cell) in [(3, start), (4, end)] {
            if !cell.is_empty() {
                let (kind, cell) = cell.split_once(':').unwrap_or(("64", cell));
                out += &format!("1.3.6.1.4.1.99999.1.1.{column}.{index}|{kind}|{cell}\n");
            }
        }
        out
    };
    rows.iter().map(row).collect()
}

fn decoded(walk: &str) -> DecodedTable {
    let descriptor = plain();
    decoded_table(&descriptor, &read(&descriptor, walk), "pools")
}

#[test]
fn sparse_columns_are_joined_by_index() {
    let table = decoded(&rows(&[
        (1, "192.0.2.0", "192.0.2.255"),
        (2, "198.51.100.0", ""),
        (3, "203.0.113.0", "203.0.113.255"),
    ]));
    assert_eq!(ranges(&table), ["p1||192.0.2.0-192.0.2.255", "p3||203.0.113.0-203.0.113.255"]);
    assert_eq!(rejected(&table), [("2", RejectReason::MissingCell)]);
    assert_eq!(unread(&table), [[2]]);
    assert_eq!(table.table.unread[0].pool.as_ref().unwrap().text(), "p2");
    assert!(table.rejected[0].detail.contains("column 4 (end) of pools"), "{}", table.rejected[0].detail);
    assert_eq!((table.rows, table.table.bad_index), (3, false));
    assert_eq!(table.table.outcome, TableOutcome::Complete);
}

#[test]
fn an_address_of_a_wrong_length_harms_its_row_alone() {
    let good = ("192.0.2.0", "192.0.2.9");
    let mut walk: Vec<(u32, &str, &str)> = (1..=6).map(|index| (index, good.0, good.1)).collect();
    walk[2].1 = "64x:";
    walk[4].2 = "64x:c0000200c00002ff";
    let table = decoded(&rows(&walk));
    assert_eq!(table.table.listed.len(), 4);
    assert_eq!(rejected(&table), [("3", RejectReason::BadCell), ("5", RejectReason::BadCell)]);
    assert_eq!(unread(&table), [[3], [5]]);
}

#[test]
fn an_address_with_another_tag_is_not_guessed_at() {
    let table = decoded(&rows(&[(1, "4:192.0.2.0", "192.0.2.9"), (2, "2:-1073741312", "192.0.2.9")]));
    assert_eq!(ranges(&table), Vec::<String>::new());
    assert_eq!(unread(&table), [[1], [2]]);
}

#[test]
fn void_rows_are_read_and_claim_nothing() {
    let mut walk = rows(&[
        (1, "0.0.0.0", "0.0.0.0"),
        (2, "192.0.2.9", "192.0.2.0"),
        (3, "192.0.2.0", "192.0.2.9"),
        (4, "192.0.2.0", "192.0.2.9"),
        (5, "255.255.255.255", "255.255.255.255"),
        (6, "192.0.2.0", "192.0.2.9"),
    ]);
    // notInService(2), active(1), and a pool that is none.
    walk += "1.3.6.1.4.1.99999.1.1.1.3|2|2\n1.3.6.1.4.1.99999.1.1.1.4|2|1\n";
    let walk = walk.replace("|4|p6", "|4|_DAPV6");
    let table = decoded(&walk);
    assert_eq!(ranges(&table), ["p4||192.0.2.0-192.0.2.9"]);
    assert_eq!(
        rejected(&table),
        [
            ("1", RejectReason::NoAddress),
            ("2", RejectReason::Reversed),
            ("3", RejectReason::NotActive),
            ("5", RejectReason::NoAddress),
            ("6", RejectReason::Filtered),
        ]
    );
    assert_eq!(unread(&table), Vec::<Vec<u32>>::new());
}

#[test]
fn a_row_whose_status_cannot_be_read_is_not_read() {
    let walk = rows(&[(1, "192.0.2.0", "192.0.2.9")]) + "1.3.6.1.4.1.99999.1.1.1.1|4|active\n";
    let table = decoded(&walk);
    assert_eq!(rejected(&table), [("1", RejectReason::BadCell)]);
    assert_eq!(unread(&table), [[1]]);
}

#[test]
fn counts_are_for_people_and_harm_nothing() {
    let walk = rows(&[(1, "192.0.2.0", "192.0.2.9"), (2, "192.0.2.10", "192.0.2.19")])
        + "1.3.6.1.4.1.99999.1.1.6.1|70|10\n1.3.6.1.4.1.99999.1.1.6.2|4|ten\n";
    let table = decoded(&walk);
    let sizes: Vec<Option<u64>> = table.table.listed.iter().map(|listed| listed.size).collect();
    assert_eq!(sizes, [Some(10), None]);
    assert_eq!(table.rejected, []);
}

#[test]
fn an_optional_vrf_may_be_missing_but_not_broken() {
    let walk = rows(&[
        (1, "192.0.2.0", "192.0.2.9"),
        (2, "192.0.2.10", "192.0.2.19"),
        (3, "192.0.2.20", "192.0.2.29"),
    ]) + "1.3.6.1.4.1.99999.1.1.5.2|4|corp\n1.3.6.1.4.1.99999.1.1.5.3|2|7\n";
    let table = decoded(&walk);
    assert_eq!(ranges(&table), ["p1||192.0.2.0-192.0.2.9", "p2|corp|192.0.2.10-192.0.2.19"]);
    assert_eq!(unread(&table), [[3]]);
}

#[test]
fn names_keep_their_octets_whatever_their_encoding() {
    let walk = rows(&[
        (1, "192.0.2.0", "192.0.2.9"),
        (2, "192.0.2.10", "192.0.2.19"),
        (3, "192.0.2.20", "192.0.2.29"),
    ])
    .replace("|4|p1", "|4x|bfedb4f8b5d8d6b7b3d8")
    .replace("|4|p2", "|4x|506f6f6c2d5afc72696368")
    .replace("|4|p3", "|4x|fffefd");
    let descriptor = plain();
    let read = read(&descriptor, &walk);
    let tables = decode(
        &descriptor,
        &read,
        Settings { encoding: Some("gbk".parse().unwrap()), ..Settings::default() },
    );
    let names: Vec<&str> = tables[0].table.listed.iter().map(|listed| listed.pool.text()).collect();
    assert_eq!(names[0], "宽带地址池");
    assert_eq!(names[2], r"\xff\xfe\xfd");
    let raw: Vec<&[u8]> = tables[0].table.listed.iter().map(|listed| listed.pool.raw()).collect();
    assert_eq!(raw[1], b"Pool-Z\xfcrich");
    assert_eq!(raw[2], [0xff, 0xfe, 0xfd]);
}

#[test]
fn an_index_that_cannot_be_decoded_holds_its_table_and_ends_nothing() {
    // A name that says five octets and has four stands between two good rows.
    let row = |index: &str, start: &str, end: &str| {
        format!(
            "1.3.6.1.4.1.54268.1.1.2.2.1.1.{index}|64|{start}\n1.3.6.1.4.1.54268.1.1.2.2.1.2.{index}|64|{end}\n"
        )
    };
    let walk = row("4.103.111.108.100.192.0.2.1.192.0.2.9", "192.0.2.1", "192.0.2.9")
        + &row("5.103.111.108.100.192.0.2.11.192.0.2.19", "192.0.2.11", "192.0.2.19")
        + &row("6.103.111.108.100.101.110.192.0.2.21.192.0.2.29", "192.0.2.21", "192.0.2.29")
        + "1.3.6.1.4.1.54268.1.1.2.1.1.2.4.103.111.108.100|4|\n"
        + "1.3.6.1.4.1.54268.1.1.2.1.1.2.6.103.111.108.100.101.110|4|\n";
    let descriptor = built_in("netelastic-flexbng");
    let table = decoded_table(&descriptor, &read(&descriptor, &walk), "sections");
    assert_eq!(ranges(&table), ["gold||192.0.2.1-192.0.2.9", "golden||192.0.2.21-192.0.2.29"]);
    assert_eq!(rejected(&table), [("5.103.111.108.100.192.0.2.11.192.0.2.19", RejectReason::BadIndex)]);
    assert!(table.table.bad_index);
}

#[test]
fn an_index_and_its_readable_twin_must_agree() {
    let index = "3.103.97.115.0.1.118.1.192.0.2.1.192.0.2.9";
    let cells = |start: &str| {
        format!(
            "1.3.6.1.4.1.3902.1006.1.1.2.1.1.1.{index}|4|gas\n1.3.6.1.4.1.3902.1006.1.1.2.1.1.2.{index}|4|\n\
             1.3.6.1.4.1.3902.1006.1.1.2.1.1.5.{index}|64|{start}\n1.3.6.1.4.1.3902.1006.1.1.2.1.1.6.{index}|64|192.0.2.9\n"
        )
    };
    let descriptor = built_in("zte-uas");
    let table = decoded_table(&descriptor, &read(&descriptor, &cells("192.0.2.1")), "pools");
    assert_eq!(ranges(&table), ["gas||192.0.2.1-192.0.2.9"]);
    let table = decoded_table(&descriptor, &read(&descriptor, &cells("192.0.2.2")), "pools");
    assert_eq!(rejected(&table), [(index, RejectReason::Contradiction)]);
    assert_eq!(unread(&table).len(), 1);
}

const HUAWEI: &str = "1.3.6.1.4.1.2011.6.8.1.1.1.2.0|4|res
1.3.6.1.4.1.2011.6.8.1.1.1.11.0|4|iptv
1.3.6.1.4.1.2011.6.8.1.1.1.12.0|2|1
1.3.6.1.4.1.2011.6.8.1.2.1.3.0.0|64|192.0.2.1
1.3.6.1.4.1.2011.6.8.1.2.1.3.1.0|64|192.0.2.11
1.3.6.1.4.1.2011.6.8.1.2.1.4.0.0|64|192.0.2.9
1.3.6.1.4.1.2011.6.8.1.2.1.4.1.0|64|192.0.2.19
";

#[test]
fn a_row_without_the_row_it_is_joined_to_is_not_read() {
    let descriptor = built_in("huawei");
    let table = decoded_table(&descriptor, &read(&descriptor, HUAWEI), "sections");
    assert_eq!(ranges(&table), ["res|iptv|192.0.2.1-192.0.2.9"]);
    assert_eq!(rejected(&table), [("1.0", RejectReason::MissingRow)]);
    assert_eq!(unread(&table), [[1, 0]]);
}

#[test]
fn a_joined_cell_that_is_missing_or_broken_harms_the_rows_that_need_it() {
    let descriptor = built_in("huawei");
    let walk = HUAWEI.replace("1.3.6.1.4.1.2011.6.8.1.1.1.11.0|4|iptv\n", "");
    let table = decoded_table(&descriptor, &read(&descriptor, &walk), "sections");
    assert_eq!(rejected(&table)[0], ("0.0", RejectReason::MissingCell));
    let walk = HUAWEI.replace("|4|iptv", "|2|7");
    let table = decoded_table(&descriptor, &read(&descriptor, &walk), "sections");
    assert_eq!(rejected(&table)[0], ("0.0", RejectReason::BadCell));
    assert_eq!(table.table.unread[0].pool.as_ref().unwrap().text(), "res");
}

#[test]
fn a_section_of_a_pool_that_is_not_active_claims_nothing() {
    let descriptor = built_in("huawei");
    let walk = HUAWEI.to_owned() + "1.3.6.1.4.1.2011.6.8.1.1.1.10.0|2|2\n";
    let table = decoded_table(&descriptor, &read(&descriptor, &walk), "sections");
    assert_eq!(rejected(&table)[0], ("0.0", RejectReason::NotActive));
}

#[test]
fn a_table_is_worth_what_the_one_is_that_it_is_joined_to() {
    let descriptor = built_in("huawei");
    let mut read = read(&descriptor, HUAWEI);
    let fault = Fault::Snmp(crate::snmp::Reason::Timeout);
    set_outcome(&descriptor, &mut read, "pools", ReadOutcome::Failed(fault));
    let table = decoded_table(&descriptor, &read, "sections");
    assert_eq!(table.table.outcome, TableOutcome::Failed("timeout".into()));
    assert_eq!(table.fault, Some(fault));
    assert!(table.detail.contains("pools"), "{}", table.detail);

    set_outcome(&descriptor, &mut read, "pools", ReadOutcome::Unsupported);
    let table = decoded_table(&descriptor, &read, "sections");
    assert_eq!(table.table.outcome, TableOutcome::Failed("missing-table".into()));

    // Without rows there is nothing to join.
    let mut read = super::read(&descriptor, "");
    set_outcome(&descriptor, &mut read, "sections", ReadOutcome::Complete);
    assert_eq!(decoded_table(&descriptor, &read, "sections").table.outcome, TableOutcome::Complete);
}

#[test]
fn joins_by_name_and_by_the_whole_index() {
    let source = r#"
name = "joins"
vendor = "test"
[[table]]
name = "pools"
entry = "1.3.6.1.4.1.99999.1.1"
index = [{ name = "pool", type = "integer" }]
[table.columns]
name = { number = 1, type = "text" }
prefix-name = { number = 2, type = "text" }
[table.joins]
prefixes = { by = ["prefix-name"], to = "name" }
places = { whole-index = true }
[table.ranges]
prefix = "prefixes.prefix"
length = "prefixes.length"
pool = "name"
vrf = "places.vrf"
[[table]]
name = "prefixes"
entry = "1.3.6.1.4.1.99999.2.1"
index = [{ name = "id", type = "integer" }]
[table.columns]
name = { number = 1, type = "text" }
prefix = { number = 2, type = "octets16" }
length = { number = 3, type = "integer" }
[[table]]
name = "places"
entry = "1.3.6.1.4.1.99999.3.1"
index = [{ name = "pool", type = "integer" }]
[table.columns]
vrf = { number = 1, type = "text" }
"#;
    let walk = "1.3.6.1.4.1.99999.1.1.1.1|4|a
1.3.6.1.4.1.99999.1.1.1.2|4|b
1.3.6.1.4.1.99999.1.1.2.1|4|one
1.3.6.1.4.1.99999.1.1.2.2|4|twice
1.3.6.1.4.1.99999.2.1.1.7|4|one
1.3.6.1.4.1.99999.2.1.1.8|4|twice
1.3.6.1.4.1.99999.2.1.1.9|4|twice
1.3.6.1.4.1.99999.2.1.2.7|4x|20010db8100000000000000000000000
1.3.6.1.4.1.99999.2.1.3.7|2|40
1.3.6.1.4.1.99999.3.1.1.1|4|corp
1.3.6.1.4.1.99999.3.1.1.2|4|corp
";
    let descriptor = parsed(source);
    let table = decoded_table(&descriptor, &read(&descriptor, walk), "pools");
    assert_eq!(ranges(&table), ["a|corp|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff"]);
    assert_eq!(rejected(&table), [("2", RejectReason::AmbiguousJoin)]);
    assert_eq!(unread(&table), [[2]]);
}

#[test]
fn rows_may_count_by_a_number_or_a_bit() {
    let source = PLAIN.replace("optional = true }\n[table.ranges]", "optional = false }\n[table.ranges]")
        + "only = { kind = [0] }\n";
    let descriptor = parsed(&source);
    let walk = rows(&[
        (1, "192.0.2.0", "192.0.2.9"),
        (2, "192.0.2.10", "192.0.2.19"),
        (3, "192.0.2.20", "192.0.2.29"),
    ]) + "1.3.6.1.4.1.99999.1.1.7.1|4x|c0\n1.3.6.1.4.1.99999.1.1.7.2|4x|40\n";
    let table = decoded_table(&descriptor, &read(&descriptor, &walk), "pools");
    assert_eq!(ranges(&table), ["p1||192.0.2.0-192.0.2.9"]);
    assert_eq!(rejected(&table), [("2", RejectReason::Filtered), ("3", RejectReason::MissingCell)]);
}

#[test]
fn zoned_and_mapped_addresses_of_an_index_are_not_read() {
    let pool = "1.3.6.1.4.1.9.9.326.1.1.2.1.4.1.112";
    let walk = format!(
        "{pool}.1.4.192.0.2.1|4x|c0000209\n{pool}.2.16.0.0.0.0.0.0.0.0.0.0.255.255.192.0.2.1|4x|00000000000000000000ffffc0000209\n\
         {pool}.3.8.192.0.2.1.0.0.0.1|4x|c000020900000001\n{pool}.0.0|4|\n"
    );
    let descriptor = built_in("cisco-ios");
    let settings = Settings { group_as_vrf: Some(false), ..Settings::default() };
    let table = decoded_with(&descriptor, &read(&descriptor, &walk), "pools", settings);
    assert_eq!(ranges(&table), ["p||192.0.2.1-192.0.2.9"]);
    let reasons: Vec<RejectReason> = table.rejected.iter().map(|rejected| rejected.reason).collect();
    assert_eq!(reasons, [RejectReason::NoAddress, RejectReason::BadCell, RejectReason::BadCell]);
    assert!(!table.table.bad_index);
}
