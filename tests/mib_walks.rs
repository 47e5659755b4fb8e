//! Walks of every built-in descriptor, served by replay agents and polled over UDP: each must
//! come out range for range as a person would read the file.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod support;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use poolsync::mib::{Library, RejectReason};
use poolsync::poll::{Choice, Filter, Polled, Remembered, Request, Spaces, State, poll};
use poolsync::snmp::{Context, Credentials, Limits, Recording, ReplayAgent, Secret, Target, Transport};
use poolsync::table::{Listed, TableOutcome};

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn walks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/walks")
}

fn recording(path: &Path) -> Recording {
    Recording::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Serves walks, the first as `public`, and polls them with `mib = "auto"`.
async fn polled(walks: &[(&str, Recording)], community_contexts: bool) -> Polled {
    let recordings = walks.iter().map(|(community, walk)| ((*community).to_owned(), walk.clone()));
    let agent = ReplayAgent::start(loopback(), recordings.collect()).await.unwrap();
    let target = Target {
        address: agent.address(),
        credentials: Credentials::V2c(Secret::new(*b"public")),
        limits: Limits { timeout: Duration::from_secs(5), ..Limits::default() },
        engine: None,
    };
    let spaces =
        Spaces::new(vec![("internet".into(), vec!["".into()]), ("iptv".into(), vec!["iptv".into()])]);
    let request = Request {
        name: "bas".into(),
        target,
        context: Context::default(),
        community_contexts,
        choice: Choice::Auto(Arc::new(Library::built_in())),
        remembered: Remembered::default(),
        encoding: None,
        filter: Filter::default(),
        spaces: Arc::new(spaces),
        now: Timestamp::from_second(1_800_000_000).unwrap(),
    };
    poll(&Transport::new().unwrap(), request).await
}

async fn polled_walk(file: &str) -> Polled {
    polled(&[("public", recording(&walks().join(file)))], false).await
}

/// A range as `pool|vrf|space|first-last|size|used`.
fn line(listed: &Listed) -> String {
    let or_none = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
    let space = listed.space.as_ref().map_or("-", |space| space.as_str());
    let (size, used) = (or_none(listed.size), or_none(listed.used));
    format!("{}|{}|{space}|{}|{size}|{used}", listed.pool, listed.vrf, listed.range)
}

fn lines(polled: &Polled) -> Vec<String> {
    polled.ranges().map(line).collect()
}

fn assert_complete(polled: &Polled, descriptor: &str) {
    assert_eq!(polled.state, State::Complete, "{} {:?}", polled.detail, polled.reason);
    assert_eq!(polled.descriptor.as_ref().unwrap().as_str(), descriptor);
    assert_eq!(polled.detection.as_ref().unwrap().descriptor.as_str(), descriptor);
    assert_eq!(polled.sys_name.as_deref(), Some("bas.example.net"));
    assert!(polled.cost.requests > 0 && polled.cost.bytes > 0);
}

#[tokio::test]
async fn junose_with_the_profile_table() {
    let polled = polled_walk("juniper-junose-erx.snmprec").await;
    assert_complete(&polled, "juniper-junose");
    assert_eq!(
        lines(&polled),
        [
            "pppoe-a||internet|10.0.0.3-10.0.0.250|248|201",
            "pppoe-a||internet|10.0.4.0-10.0.5.255|512|300",
            "biz-static||internet|198.51.100.16-198.51.100.31|16|4",
            "iptv||internet|100.64.0.10-100.64.3.250|1009|12",
        ]
    );
    assert_eq!(polled.rejected, []);
    // The other virtual router was not asked, and that is said.
    assert_eq!(polled.notes.len(), 1, "{:?}", polled.notes);
    assert!(polled.notes[0].contains("vr-corp") && polled.notes[0].contains("router2"));
}

#[tokio::test]
async fn junose_in_every_context() {
    let walks = [
        ("public", recording(&walks().join("juniper-junose-erx.snmprec"))),
        ("public@router2", recording(&walks().join("juniper-junose-erx@router2.snmprec"))),
    ];
    let polled = polled(&walks, true).await;
    assert_complete(&polled, "juniper-junose");
    assert_eq!(
        lines(&polled),
        [
            "pppoe-a||internet|10.0.0.3-10.0.0.250|248|201",
            "pppoe-a||internet|10.0.4.0-10.0.5.255|512|300",
            "biz-static||internet|198.51.100.16-198.51.100.31|16|4",
            "iptv||internet|100.64.0.10-100.64.3.250|1009|12",
            "corp-vpn|vr-corp|-|192.168.10.5-192.168.10.99|95|9",
            "corp-vpn|vr-corp|-|192.168.12.0-192.168.12.127|128|3",
        ]
    );
    let tables: Vec<&str> = polled.tables.iter().map(|result| result.table.name.as_str()).collect();
    assert_eq!(tables, ["profiles", "pools", "routers", "profiles@vr-corp", "pools@vr-corp"]);
    let corp = polled.ranges().last().unwrap();
    assert_eq!((corp.row.context.as_str(), &corp.row.index[..]), ("router2", &[1, 2][..]));
    assert_eq!(polled.notes, Vec::<String>::new());
}

#[tokio::test]
async fn junose_on_an_old_box_has_first_ranges_only() {
    let polled = polled_walk("juniper-junose-old.snmprec").await;
    assert_complete(&polled, "juniper-junose");
    assert_eq!(lines(&polled), ["pool1||internet|131.1.1.0-131.1.10.255|2560|-"]);
    assert_eq!(polled.ranges().next().unwrap().range.addresses(), "2560");
    let outcomes: Vec<&TableOutcome> = polled.tables.iter().map(|result| &result.table.outcome).collect();
    assert_eq!(outcomes, [&TableOutcome::Complete, &TableOutcome::Complete, &TableOutcome::Unsupported]);
}

#[tokio::test]
async fn huawei_sections_with_the_vrf_of_their_pool() {
    let polled = polled_walk("huawei-me60.snmprec").await;
    assert_complete(&polled, "huawei");
    assert_eq!(
        lines(&polled),
        [
            "pppoe-a||internet|10.0.0.3-10.0.0.250|248|190",
            "pppoe-a||internet|10.0.4.0-10.0.5.255|512|77",
            "iptv||internet|100.64.0.2-100.64.3.254|1021|40",
            "old-locked||internet|198.51.100.2-198.51.100.62|61|0",
            "corp|vpn-corp|-|192.168.10.5-192.168.10.99|95|11",
            "corp|vpn-corp|-|192.168.10.128-192.168.10.191|64|1",
        ]
    );
    // The relay pool has no section, and no addresses of its own.
    let rejected: Vec<_> =
        polled.rejected.iter().map(|r| (r.table.as_str(), r.index.as_str(), r.reason)).collect();
    assert_eq!(rejected, [("pools", "4", RejectReason::Filtered)]);
}

#[tokio::test]
async fn cisco_with_the_start_in_the_index() {
    let polled = polled_walk("cisco-iosxe-localpool.snmprec").await;
    assert_complete(&polled, "cisco-ios");
    assert_eq!(
        lines(&polled),
        [
            "PPP||internet|10.0.0.3-10.0.0.250|-|200",
            "PPP||internet|10.0.4.0-10.0.5.255|-|10",
            "one||internet|198.51.100.9-198.51.100.9|-|1",
            "v6pd||internet|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|-|9",
            "IPTV-CUST||internet|100.64.0.1-100.64.3.254|-|12",
            "corp-pool||internet|192.168.10.5-192.168.10.99|-|5",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn zte_with_everything_in_the_index() {
    let polled = polled_walk("zte-bras-uas.snmprec").await;
    assert_complete(&polled, "zte-uas");
    assert_eq!(
        lines(&polled),
        [
            "one||internet|198.51.100.9-198.51.100.9|-|1",
            "corp|vpn-corp|-|192.168.10.5-192.168.10.99|-|2",
            "iptv||internet|100.64.0.10-100.64.0.137|-|5",
            "pppoe-a||internet|10.0.0.3-10.0.0.250|-|200",
            "pppoe-a||internet|10.0.4.0-10.0.4.255|-|30",
            "pppoe-a||internet|10.0.5.0-10.0.5.255|-|7",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn flexbng_sections_with_the_vrf_of_their_group() {
    let polled = polled_walk("netelastic-flexbng.snmprec").await;
    assert_complete(&polled, "netelastic-flexbng");
    assert_eq!(
        lines(&polled),
        [
            "iptv|iptv|iptv|100.64.8.2-100.64.11.254|1021|37",
            "res-01||internet|198.51.100.6-198.51.100.126|121|60",
            "res-01||internet|203.0.113.6-203.0.113.254|249|201",
            "corp-01|vpn-corp|-|192.168.20.5-192.168.20.99|95|9",
            "corp-01|vpn-corp|-|192.168.21.7-192.168.21.7|1|1",
        ]
    );
    assert_eq!(polled.rejected, []);
}

/// Where recordings of real routers are, which are not ours to give away.
fn recorded(file: &str) -> PathBuf {
    let folder = std::env::var_os("POOLSYNC_RECORDINGS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/walks/recorded");
    folder.unwrap_or_else(beside).join(file)
}

#[tokio::test]
async fn the_recorded_flexbng_has_32_ranges_in_32_pools() {
    let path = recorded("netelastic-flexbng-ippool.snmprec");
    if !path.exists() {
        let reason = format!("{} is missing (POOLSYNC_RECORDINGS names its folder)", path.display());
        support::skip("the_recorded_flexbng_has_32_ranges_in_32_pools", &reason);
        return;
    }
    let polled = polled(&[("public", recording(&path))], false).await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    let mut pools: Vec<&str> = polled.ranges().map(|listed| listed.pool.text()).collect();
    assert_eq!(pools.len(), 32);
    pools.sort_unstable();
    pools.dedup();
    assert_eq!(pools.len(), 32);
    let first = line(polled.ranges().next().unwrap());
    assert_eq!(first, "aa-aab-dhcp-dyn-01||internet|198.18.116.6-198.18.119.254|1017|0");
    // The recording has no sysUpTime.
    assert_eq!(polled.notes.len(), 1, "{:?}", polled.notes);
}
