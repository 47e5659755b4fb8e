//! A lesser table counts only for what the better one is known to lack.

use super::*;
use crate::snmp::Reason;
use crate::table::TableOutcome;

/// Two pools; the first has a profile, and a first range that is not to be used.
const WALK: &str = "1.3.6.1.4.1.4874.2.2.21.1.1.1.1.3.1|4|new
1.3.6.1.4.1.4874.2.2.21.1.1.1.1.3.2|4|old
1.3.6.1.4.1.4874.2.2.21.1.1.1.1.4.1|64|192.0.2.1
1.3.6.1.4.1.4874.2.2.21.1.1.1.1.4.2|64|192.0.2.101
1.3.6.1.4.1.4874.2.2.21.1.1.1.1.5.1|64|192.0.2.9
1.3.6.1.4.1.4874.2.2.21.1.1.1.1.5.2|64|192.0.2.109
1.3.6.1.4.1.4874.2.2.21.1.1.3.1.3.1.1|64|192.0.2.1
1.3.6.1.4.1.4874.2.2.21.1.1.3.1.3.1.2|64|192.0.2.21
1.3.6.1.4.1.4874.2.2.21.1.1.3.1.4.1.1|64|192.0.2.9
1.3.6.1.4.1.4874.2.2.21.1.1.3.1.4.1.2|64|192.0.2.29
";

fn pools(walk: &str, better: Option<ReadOutcome>) -> DecodedTable {
    let descriptor = built_in("juniper-junose");
    let mut read = read(&descriptor, walk);
    if let Some(outcome) = better {
        set_outcome(&descriptor, &mut read, "profiles", outcome);
    }
    decoded_table(&descriptor, &read, "pools")
}

#[test]
fn a_pool_that_the_better_table_lacks_has_its_first_range() {
    let table = pools(WALK, None);
    assert_eq!(ranges(&table), ["old||192.0.2.101-192.0.2.109"]);
    assert_eq!((table.rejected.len(), table.rows), (0, 2));
    let descriptor = built_in("juniper-junose");
    let profiles = decoded_table(&descriptor, &read(&descriptor, WALK), "profiles");
    assert_eq!(ranges(&profiles), ["new||192.0.2.1-192.0.2.9", "new||192.0.2.21-192.0.2.29"]);
}

#[test]
fn a_pool_whose_rows_cannot_be_read_is_not_lacking() {
    let walk = WALK.replace("|64|192.0.2.29", "|64x|").replace("3.1.4.1.1|64|192.0.2.9", "3.1.4.1.1|64x|c0");
    assert_eq!(ranges(&pools(&walk, None)), ["old||192.0.2.101-192.0.2.109"]);
    // Nor is one whose rows are void.
    let walk = WALK.replace("3.1.4.1.1|64|192.0.2.9", "3.1.4.1.1|64|0.0.0.0");
    assert_eq!(ranges(&pools(&walk, None)), ["old||192.0.2.101-192.0.2.109"]);
}

#[test]
fn a_router_without_the_better_table_has_first_ranges() {
    let walk: String =
        WALK.lines().filter(|line| !line.contains(".1.1.3.1.")).map(|l| format!("{l}\n")).collect();
    let table = pools(&walk, None);
    assert_eq!(ranges(&table), ["new||192.0.2.1-192.0.2.9", "old||192.0.2.101-192.0.2.109"]);
    assert_eq!(table.table.outcome, TableOutcome::Complete);
}

#[test]
fn nothing_is_known_of_a_fallback_where_the_better_table_failed() {
    for fault in [Fault::Snmp(Reason::Timeout), Fault::Vanished] {
        let table = pools(WALK, Some(ReadOutcome::Failed(fault)));
        assert_eq!(ranges(&table), Vec::<String>::new());
        assert_eq!(table.table.outcome, TableOutcome::Failed(fault.as_str().into()));
        assert_eq!(table.fault, Some(fault));
    }
}

#[test]
fn an_unreadable_index_of_the_better_table_may_be_any_pool() {
    let walk = WALK.to_owned() + "1.3.6.1.4.1.4874.2.2.21.1.1.3.1.3.2|64|192.0.2.101\n";
    let table = pools(&walk, None);
    assert_eq!(ranges(&table), Vec::<String>::new());
    assert_eq!(unread(&table), [[2]]);
    assert_eq!(rejected(&table), [("2", RejectReason::BadIndex)]);
    assert!(table.table.bad_index);
}

#[test]
fn huawei_bounds_count_where_there_is_no_section() {
    let pool = |index: u32, kind: u32| {
        format!(
            "1.3.6.1.4.1.2011.6.8.1.1.1.2.{index}|4|p{index}\n1.3.6.1.4.1.2011.6.8.1.1.1.11.{index}|4|\n\
             1.3.6.1.4.1.2011.6.8.1.1.1.12.{index}|2|{kind}\n1.3.6.1.4.1.2011.6.8.1.1.1.27.{index}|64|192.0.2.{}\n\
             1.3.6.1.4.1.2011.6.8.1.1.1.28.{index}|64|192.0.2.{}\n",
            index * 10 + 1,
            index * 10 + 9
        )
    };
    let walk = pool(0, 1)
        + &pool(1, 1)
        + &pool(2, 2)
        + "1.3.6.1.4.1.2011.6.8.1.2.1.3.0.0|64|192.0.2.1\n1.3.6.1.4.1.2011.6.8.1.2.1.4.0.0|64|192.0.2.3\n";
    let descriptor = built_in("huawei");
    let read = read(&descriptor, &walk);
    assert_eq!(ranges(&decoded_table(&descriptor, &read, "sections")), ["p0||192.0.2.1-192.0.2.3"]);
    let pools = decoded_table(&descriptor, &read, "pools");
    assert_eq!(ranges(&pools), ["p1||192.0.2.11-192.0.2.19"]);
    assert_eq!(rejected(&pools), [("2", RejectReason::Filtered)]);
}
