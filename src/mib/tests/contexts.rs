//! The router's list of SNMP contexts.

use super::*;
use crate::snmp::Context;

fn found(walk: &str) -> FoundContexts {
    let descriptor = built_in("juniper-junose");
    contexts(&descriptor, &read(&descriptor, walk).reads, None)
}

fn router(index: u32, name: &str, status: &str, context: &str) -> String {
    let entry = "1.3.6.1.4.1.4874.2.2.32.1.2.1";
    format!("{entry}.2.{index}|4|{name}\n{entry}.3.{index}|{status}\n{entry}.5.{index}|4|{context}\n")
}

fn context(name: &str, engine_id: Option<&[u8]>, vrf: &str) -> FoundContext {
    let engine_id = engine_id.map(<[u8]>::to_vec);
    FoundContext { context: Context { name: name.as_bytes().to_vec(), engine_id }, vrf: vrf.into() }
}

#[test]
fn every_active_router_but_the_default_one_is_a_context() {
    let walk = router(1, "default", "2|1", "router1")
        + &router(2, "corp", "2|1", "router2")
        + &router(3, "gone", "2|6", "router3")
        + &router(4, "iptv", "2|1", "router4")
        + "1.3.6.1.4.1.4874.2.2.32.1.2.1.6.4|4x|8000130a0500000004\n";
    let found = found(&walk);
    let engine: &[u8] = &[0x80, 0, 0x13, 0x0a, 5, 0, 0, 0, 4];
    assert_eq!(found.contexts, [context("router2", None, "corp"), context("router4", Some(engine), "iptv")]);
    assert!(found.certain);
    let indexes: Vec<&str> = found.rejected.iter().map(|rejected| rejected.index.as_str()).collect();
    assert_eq!(indexes, ["3"]);
}

#[test]
fn a_row_that_cannot_be_read_leaves_the_list_uncertain() {
    let good = router(2, "corp", "2|1", "router2");
    for bad in [
        router(3, "x", "2|1", "router3").replace("|4|router3", "|2|3"),
        router(3, "x", "4|up", "router3"),
        // Without names they would be taken for the default context, or its VRF.
        router(3, "x", "2|1", ""),
        router(3, "", "2|1", "router3"),
        // Two of one name could not be told apart.
        router(3, "corp", "2|1", "router3"),
        "1.3.6.1.4.1.4874.2.2.32.1.2.1.2.3.1|4|x\n".to_owned(),
    ] {
        let found = found(&(good.clone() + &bad));
        assert_eq!(found.contexts, [context("router2", None, "corp")], "{bad}");
        assert!(!found.certain, "{bad}");
    }
}

#[test]
fn a_list_that_was_not_read_is_uncertain() {
    let descriptor = built_in("juniper-junose");
    let mut read = read(&descriptor, "");
    assert!(contexts(&descriptor, &read.reads, None).certain, "the router has no such table");
    set_outcome(&descriptor, &mut read, "routers", ReadOutcome::Failed(Fault::Vanished));
    assert!(!contexts(&descriptor, &read.reads, None).certain);
}

#[test]
fn pools_of_a_context_have_its_vrf_and_a_table_of_its_own() {
    let walk = include_str!("../../../tests/data/walks/juniper-junose-erx@router2.snmprec");
    let descriptor = built_in("juniper-junose");
    let mut read = read(&descriptor, walk);
    read.context = "router2".into();
    read.vrf = Some("vr-corp".into());
    let table = decoded_table(&descriptor, &read, "profiles@vr-corp");
    assert_eq!(
        ranges(&table),
        ["corp-vpn|vr-corp|192.168.10.5-192.168.10.99", "corp-vpn|vr-corp|192.168.12.0-192.168.12.127"]
    );
    assert_eq!(table.table.listed[0].table.as_str(), "profiles@vr-corp");
}
