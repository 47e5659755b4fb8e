//! A recording through a descriptor, row by row.

use super::*;
use crate::table::Name;

fn replayed(descriptor: &str, walk: &str) -> Replay {
    let recording = Recording::parse(walk).unwrap();
    replay(&built_in(descriptor), &recording, Settings::default())
}

fn table<'a>(replay: &'a Replay, name: &str) -> &'a ReplayedTable {
    replay.tables.iter().find(|table| *table.name == *name).unwrap()
}

/// Rows as `index outcome`.
fn outcomes(table: &ReplayedTable) -> Vec<String> {
    table.rows.iter().map(|row| format!("{} {:?}", row.index, row.outcome)).collect()
}

const HUAWEI: &str = "1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.2011.2.89.5
1.3.6.1.4.1.2011.6.8.1.1.1.2.0|4|res
1.3.6.1.4.1.2011.6.8.1.1.1.2.1|4|old
1.3.6.1.4.1.2011.6.8.1.1.1.11.0|4|iptv
1.3.6.1.4.1.2011.6.8.1.1.1.12.0|2|1
1.3.6.1.4.1.2011.6.8.1.1.1.12.1|2|2
1.3.6.1.4.1.2011.6.8.1.1.1.27.0|64|192.0.2.1
1.3.6.1.4.1.2011.6.8.1.1.1.28.0|64|192.0.2.9
1.3.6.1.4.1.2011.6.8.1.2.1.3.0.0|64|192.0.2.1
1.3.6.1.4.1.2011.6.8.1.2.1.3.0.1|64|192.0.2.11
1.3.6.1.4.1.2011.6.8.1.2.1.4.0.0|64|192.0.2.9
1.3.6.1.4.1.2011.6.8.1.2.1.4.0.1|64x|c000
1.3.6.1.4.1.2011.6.8.1.2.1.8.0.1|2|7
1.3.6.1.4.1.2011.5.1|2|7
";

#[test]
fn each_row_is_shown_with_what_came_of_it() {
    let replay = replayed("huawei", HUAWEI);
    assert!(replay.known);
    // An object elsewhere, and a column that nobody asked for.
    assert_eq!(replay.unused_objects, 2);
    let sections = table(&replay, "sections");
    assert_eq!((sections.state, sections.gives_ranges), ("complete", true));
    assert_eq!(outcomes(sections), ["0.0 Listed", "0.1 Rejected"]);
    assert_eq!(sections.rows[1].reason, Some(RejectReason::BadCell));
    let pools = table(&replay, "pools");
    assert_eq!(outcomes(pools), ["0 Passed", "1 Rejected"]);
    assert_eq!(pools.rows[0].detail, "not needed: sections has it");
    let text = replay.text();
    for line in [
        "huawei knows this router by its sysObjectID and sysDescr.",
        "Table sections (1.3.6.1.4.1.2011.6.8.1.2.1): complete, 2 rows: 1 listed, 1 rejected, 0 passed over",
        "  0.0: pool=0, section=0, low=192.0.2.1, high=192.0.2.9, length=missing, used=missing, status=missing",
        "    -> pool res in VRF iptv: 192.0.2.1 - 192.0.2.9",
        "    -> rejected: not read, because a value is not what it must be: column 4 (high) of sections: 2 octets where an address has 4",
        "    -> not needed: sections has it",
        "    -> rejected: no range of addresses by the descriptor: type is 2; rows with 1, 3, 4 are ranges",
        "2 objects of the recording are not used.",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}

#[test]
fn a_row_whose_index_cannot_be_decoded_is_shown_too() {
    let walk = "1.3.6.1.4.1.54268.1.1.2.2.1.1.5.103.111.108.100.192.0.2.1.192.0.2.9|64|192.0.2.1\n";
    let replay = replayed("netelastic-flexbng", walk);
    assert!(!replay.known);
    let row = &table(&replay, "sections").rows[0];
    assert_eq!((row.outcome, row.reason), (RowOutcome::Rejected, Some(RejectReason::BadIndex)));
    assert!(row.fields.is_empty());
    let sections = table(&replay, "sections");
    assert_eq!((sections.state, sections.reason.as_ref().unwrap().as_str()), ("failed", "missing-table"));
    assert!(replay.text().contains("failed (missing-table), 1 rows"), "{}", replay.text());
}

#[test]
fn tables_without_rows_are_empty_or_not_there() {
    let known = replayed("zte-uas", "1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.3902.3.100.27\n");
    assert_eq!(table(&known, "pools").state, "complete");
    let stranger = replayed("zte-uas", "1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.99999\n");
    assert_eq!(table(&stranger, "pools").state, "unsupported");
    let near = replayed("zte-uas", "1.3.6.1.4.1.3902.1006.1.1.2.2.1.1.1|2|7\n");
    assert_eq!(table(&near, "pools").state, "complete");
}

#[test]
fn rows_that_serve_others_and_contexts_are_told() {
    let walk = include_str!("../../../tests/data/walks/juniper-junose-erx.snmprec");
    let replay = replayed("juniper-junose", walk);
    assert_eq!(replay.contexts, [Name::from("vr-corp")]);
    assert!(table(&replay, "routers").rows.iter().all(|row| row.outcome == RowOutcome::Serves));
    assert!(replay.text().contains("needs a recording of its own"));
}

#[test]
fn a_replay_is_data() {
    let data = serde_json::to_value(replayed("huawei", HUAWEI)).unwrap();
    let sections =
        data["tables"].as_array().unwrap().iter().find(|table| table["name"] == "sections").unwrap();
    assert_eq!(sections["rows"][0]["outcome"], "listed");
    assert_eq!(sections["rows"][0]["ranges"][0]["first"], "192.0.2.1");
    assert_eq!(sections["rows"][0]["fields"][0], serde_json::json!({ "name": "pool", "says": "0" }));
    assert_eq!(sections["rows"][1]["reason"], "bad-cell");
    assert_eq!(sections["rows"][1]["ranges"], serde_json::json!([]));
}

#[test]
fn a_rejected_row_is_a_sentence() {
    let rejected = |reason| Rejected {
        table: "pools".into(),
        index: "7".into(),
        reason,
        detail: "0.0.0.0 stands for none".into(),
    };
    assert_eq!(
        rejected(RejectReason::NoAddress).sentence(),
        "row 7 of pools: nothing configured: 0.0.0.0 stands for none"
    );
    assert!(rejected(RejectReason::BadCell).sentence().ends_with(" (what it listed before is kept)"));
}
