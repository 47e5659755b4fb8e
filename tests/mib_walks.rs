//! Walks of every built-in descriptor, served by replay agents and polled over UDP: each must
//! come out range for range as a person would read the file.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod support;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use poolsync::mib::{self, Library, RejectReason, RowOutcome, Settings};
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
    polled_as(walks, |request| request.community_contexts = community_contexts).await
}

/// The same, with the request changed.
async fn polled_as(walks: &[(&str, Recording)], change: impl FnOnce(&mut Request)) -> Polled {
    let recordings = walks.iter().map(|(community, walk)| ((*community).to_owned(), walk.clone()));
    let agent = ReplayAgent::start(loopback(), recordings.collect()).await.unwrap();
    let target = Target {
        address: agent.address(),
        credentials: Credentials::V2c(Secret::new(*b"public")),
        limits: Limits { timeout: Duration::from_secs(5), ..Limits::default() },
        engine: None,
        reach: Default::default(),
    };
    let spaces =
        Spaces::new(vec![("internet".into(), vec!["".into()]), ("iptv".into(), vec!["iptv".into()])]);
    let mut request = Request {
        name: "bas".into(),
        target,
        context: Context::default(),
        community_contexts: false,
        choice: Choice::Auto(Arc::new(Library::built_in())),
        remembered: Remembered::default(),
        encoding: None,
        group_as_vrf: None,
        filter: Filter::default(),
        spaces: Arc::new(spaces),
        now: Timestamp::from_second(1_800_000_000).unwrap(),
    };
    change(&mut request);
    poll(&Transport::new().unwrap(), request).await
}

async fn polled_by_name(file: &str, descriptor: &str) -> Polled {
    let descriptor = Arc::clone(Library::built_in().get(descriptor).unwrap());
    let walks = [("public", recording(&walks().join(file)))];
    polled_as(&walks, |request| request.choice = Choice::Named(descriptor)).await
}

async fn polled_walk(file: &str) -> Polled {
    polled(&[("public", recording(&walks().join(file)))], false).await
}

/// A range as `pool|vrf|space|first-last|size|used`, and `|/length` of delegated prefixes.
fn line(listed: &Listed) -> String {
    let or_none = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
    let space = listed.space.as_ref().map_or("-", |space| space.as_str());
    let (size, used) = (or_none(listed.size), or_none(listed.used));
    format!("{}|{}|{space}|{}|{size}|{used}", listed.pool, listed.vrf, listed.range)
}

fn lines(polled: &Polled) -> Vec<String> {
    let delegated = |listed: &Listed| match polled.delegated_len(listed) {
        Some(length) => format!("|/{length}"),
        None => String::new(),
    };
    polled.ranges().map(|listed| line(listed) + &delegated(listed)).collect()
}

/// What was rejected, as `table index reason`.
fn rejected(polled: &Polled) -> Vec<String> {
    let rows = polled.rejected.iter();
    rows.map(|row| format!("{} {} {:?}", row.table, row.index, row.reason)).collect()
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
            "dhcp-share||internet|10.9.0.0-10.9.3.255|1021|55",
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
            "dhcp-share||internet|10.9.0.0-10.9.3.255|1021|55",
            "corp-vpn|vr-corp|-|192.168.10.5-192.168.10.99|95|9",
            "corp-vpn|vr-corp|-|192.168.12.0-192.168.12.127|128|3",
        ]
    );
    let tables: Vec<&str> = polled.tables.iter().map(|result| result.table.name.as_str()).collect();
    assert_eq!(
        tables,
        [
            "profiles",
            "pools",
            "shared",
            "dhcp",
            "routers",
            "profiles@vr-corp",
            "pools@vr-corp",
            "shared@vr-corp",
            "dhcp@vr-corp"
        ]
    );
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
    let outcomes: Vec<(&str, &TableOutcome)> =
        polled.tables.iter().map(|result| (result.table.name.as_str(), &result.table.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("profiles", &TableOutcome::Complete),
            ("pools", &TableOutcome::Complete),
            ("shared", &TableOutcome::Complete),
            ("dhcp", &TableOutcome::Unsupported),
            ("routers", &TableOutcome::Unsupported),
        ]
    );
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
            "pool-nd||internet|2001:db8:100::-2001:db8:100:ffff:ffff:ffff:ffff:ffff|-|-|/64",
            "pool-pd||internet|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|-|-|/56",
            "pool-corp|vpn-corp|-|fd00:10::-fd00:10:ff:ffff:ffff:ffff:ffff:ffff|-|-|/56",
        ]
    );
    // The relay pool has no section, and no addresses of its own.
    assert_eq!(rejected(&polled), ["pools 4 Filtered"]);
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
            "corp-pool|vrf-corp|-|192.168.10.5-192.168.10.99|-|5",
        ]
    );
    assert_eq!(polled.rejected, []);

    let walk = [("public", recording(&walks().join("cisco-iosxe-localpool.snmprec")))];
    let polled = polled_as(&walk, |request| request.group_as_vrf = Some(false)).await;
    assert_eq!(lines(&polled)[5], "corp-pool||internet|192.168.10.5-192.168.10.99|-|5");
}

#[tokio::test]
async fn cisco_ios_xr_with_ranges_and_prefixes() {
    let polled = polled_walk("cisco-iosxr-addrpool.snmprec").await;
    assert_complete(&polled, "cisco-ios-xr");
    assert_eq!(
        lines(&polled),
        [
            "ipoe-v4|default|-|10.0.0.3-10.0.0.250|-|50",
            "ipoe-v4|default|-|10.0.4.0-10.0.5.255|-|10",
            "corp-v4|vrf-corp|-|192.168.10.5-192.168.10.99|-|1",
            "sub-v4|default|-|203.0.113.0-203.0.113.255|-|3",
            "pd-v6|default|-|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|-|9|/56",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn junos_networks_as_text_and_as_octets() {
    let polled = polled_walk("juniper-junos-mx.snmprec").await;
    assert_complete(&polled, "juniper-junos");
    assert_eq!(
        lines(&polled),
        [
            "pppoe-v4-a|default|-|10.0.0.0-10.0.3.255|1016|812",
            "pppoe-v4-b|default|-|10.0.8.0-10.0.9.255|506|3",
            "corp-v4|vrf-corp|-|192.168.10.0-192.168.10.255|248|17",
            "dhcp-raw|default|-|100.64.0.0-100.64.15.255|4094|100",
            "pd-v6|default|-|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|65536|2048",
        ]
    );
    assert_eq!(rejected(&polled), ["pools 1 Filtered", "pools 7 Filtered"]);
}

#[tokio::test]
async fn huawei_relay_pools_dynamic_subnets_and_short_prefixes() {
    let polled = polled_walk("huawei-control-plane.snmprec").await;
    assert_complete(&polled, "huawei");
    assert_eq!(
        lines(&polled),
        [
            "static||internet|198.51.100.1-198.51.100.60|60|4",
            "static||internet|198.51.100.129-198.51.100.188|60|3",
            "cu-res||internet|100.65.4.0-100.65.4.255|-|200",
            "cu-res||internet|100.65.9.0-100.65.9.255|-|0",
            "cu-res||internet|100.65.128.0-100.65.128.127|-|100",
            "cu-corp|vpn-corp|-|192.168.64.0-192.168.64.255|-|5",
            "bounds||internet|203.0.113.65-203.0.113.126|62|9",
            "relay-res||internet|100.66.0.0-100.66.3.255|1021|33",
            "relay-corp|vpn-corp|-|192.168.96.0-192.168.96.255|253|1",
            "pd-res||internet|2001:db8:2000::-2001:db8:2fff:ffff:ffff:ffff:ffff:ffff|-|-|/56",
            "nd-res||internet|2001:db8:200::-2001:db8:200:ffff:ffff:ffff:ffff:ffff|-|-|/64",
            "pd-corp|vpn-corp|-|fd00:20::-fd00:20:f:ffff:ffff:ffff:ffff:ffff|-|-|/56",
            "second||internet|2001:db8:3000::-2001:db8:3fff:ffff:ffff:ffff:ffff:ffff|-|-|/60",
        ]
    );
    assert_eq!(
        rejected(&polled),
        [
            "pools 4 Filtered",
            "relay 9 NoAddress",
            "relay 11 NotActive",
            "v6-pools 7 Filtered",
            "v6-pools 8 NoAddress",
        ]
    );
}

#[tokio::test]
async fn nokia_includes_without_excludes_and_ipv6_subnets() {
    let polled = polled_walk("nokia-7750-dhcpsvr.snmprec").await;
    assert_complete(&polled, "nokia-sros");
    assert_eq!(
        lines(&polled),
        [
            "iptv|Base|-|100.64.0.2-100.64.3.254|-|-",
            "pppoe-a|Base|-|10.0.0.3-10.0.0.99|-|-",
            "pppoe-a|Base|-|10.0.0.110-10.0.0.250|-|-",
            "pppoe-a|Base|-|10.0.4.0-10.0.5.255|-|-",
            "corp|vprn-corp|-|192.168.10.5-192.168.10.99|-|-",
            "pd-pool|Base|-|2001:db8:100::-2001:db8:100:ffff:ffff:ffff:ffff:ffff|-|-",
            "pd-pool|Base|-|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|-|-|/56",
        ]
    );
    // The four IPv4 subnets: their ranges say more.
    assert_eq!(polled.rejected.len(), 4);
    assert!(
        polled.rejected.iter().all(|row| *row.table == *"v6-subnets" && row.reason == RejectReason::Filtered)
    );
}

#[tokio::test]
async fn nokia_nat_pools() {
    let polled = polled_walk("nokia-7750-nat.snmprec").await;
    assert_complete(&polled, "nokia-sros");
    assert_eq!(
        lines(&polled),
        [
            "six|Base|-|2001:db8:64::-2001:db8:64::ff|-|-",
            "cgn-a|Base|-|203.0.113.0-203.0.113.63|-|-",
            "cgn-a|Base|-|203.0.113.128-203.0.113.159|-|-",
            "nat64|Base|-|198.51.100.200-198.51.100.200|-|-",
            "corp-out|vprn-corp|-|192.0.2.16-192.0.2.23|-|-",
        ]
    );
    let off = "nat 1.3.111.102.102.1.4.198.51.100.210.4.198.51.100.211 NotActive";
    assert_eq!(rejected(&polled), [off]);
}

#[tokio::test]
async fn redback_subnets_ranges_and_runs_of_prefixes() {
    let polled = polled_walk("ericsson-redback.snmprec").await;
    assert_complete(&polled, "ericsson-redback");
    assert_eq!(
        lines(&polled),
        [
            "pppoe-a||internet|10.0.0.0-10.0.0.255|254|100",
            "pppoe-b||internet|10.0.4.3-10.0.5.250|504|3",
            "iptv||internet|100.64.0.0-100.64.3.255|1022|5",
            "nd-v6||internet|2001:db8:100::-2001:db8:100:ffff:ffff:ffff:ffff:ffff|65536|2",
            "pd-v6||internet|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|65536|9|/56",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn redback_in_a_configured_context_has_its_vrf() {
    let walks = [("public@corp", recording(&walks().join("ericsson-redback@corp.snmprec")))];
    let polled = polled_as(&walks, |request| request.context.name = b"corp".to_vec()).await;
    assert_complete(&polled, "ericsson-redback");
    assert_eq!(
        lines(&polled),
        ["corp|corp|-|192.168.10.0-192.168.10.127|126|6", "corp|corp|-|192.168.20.9-192.168.20.9|1|0"]
    );
}

#[tokio::test]
async fn redback_of_old_has_subnets_by_interface() {
    let polled = polled_walk("ericsson-redback-old.snmprec").await;
    assert_complete(&polled, "ericsson-redback");
    assert_eq!(
        lines(&polled),
        ["sub-a||internet|10.61.0.0-10.61.0.255|254|6", "sub-b||internet|10.61.4.0-10.61.7.255|1022|99",]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn ericsson_ssr_is_laid_out_alike() {
    let polled = polled_walk("ericsson-ssr.snmprec").await;
    assert_complete(&polled, "ericsson-ssr");
    assert_eq!(
        lines(&polled),
        [
            "res-a||internet|10.60.0.0-10.60.1.255|510|300",
            "res-b||internet|10.60.8.11-10.60.9.244|490|17",
            "biz||internet|198.51.100.64-198.51.100.64|1|1",
            "nd||internet|2001:db8:400::-2001:db8:400:7fff:ffff:ffff:ffff:ffff|32768|12",
            "pd||internet|2001:db8:4000::-2001:db8:4000:ffff:ffff:ffff:ffff:ffff|4096|3|/60",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn h3c_ranges_or_whole_networks() {
    let polled = polled_walk("h3c-comware.snmprec").await;
    assert_complete(&polled, "h3c-comware");
    assert_eq!(
        lines(&polled),
        [
            "corp||internet|192.168.10.5-192.168.10.99|95|1",
            "iptv||internet|100.64.0.0-100.64.3.255|1022|3",
            "pppoe-a||internet|10.0.0.3-10.0.0.250|248|9",
            "1||internet|2001:db8:100::-2001:db8:100::ffff|-|-",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn flexbng_ipv6_ranges() {
    let polled = polled_walk("netelastic-flexbng-v6.snmprec").await;
    assert_complete(&polled, "netelastic-flexbng");
    assert_eq!(
        lines(&polled),
        [
            "v6-res||internet|2001:db8:500::10-2001:db8:500::ffff|-|-",
            "v6-res||internet|2001:db8:501::-2001:db8:501:0:ffff:ffff:ffff:ffff|-|-",
            "v6-corp|vpn-corp|-|fd00:5::1-fd00:5::1|-|-",
        ]
    );
    assert_eq!(polled.rejected, []);
}

#[tokio::test]
async fn aggregates_of_the_standard_route_tables() {
    let polled = polled_by_name("standard-fallback.snmprec", "standard-inet-routes").await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(
        lines(&polled),
        [
            "aggregate||internet|10.0.4.0-10.0.5.255|-|-",
            "aggregate||internet|2001:db8:1000::-2001:db8:10ff:ffff:ffff:ffff:ffff:ffff|-|-",
        ]
    );
    assert_eq!(rejected(&polled), ["routes 1.4.10.0.0.0.24.2.0.0.1.4.0.0.0.0 Filtered"]);

    let polled = polled_by_name("standard-fallback.snmprec", "standard-ip-routes").await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(lines(&polled), ["aggregate||internet|10.0.4.0-10.0.5.255|-|-"]);
    // The default route, a connected network and a host route.
    assert_eq!(polled.rejected.len(), 3);
    assert!(polled.rejected.iter().all(|row| row.reason == RejectReason::Filtered));
}

#[tokio::test]
async fn connected_networks_by_interface() {
    let polled = polled_by_name("standard-connected.snmprec", "standard-connected").await;
    assert_eq!(polled.state, State::Complete, "{}", polled.detail);
    assert_eq!(
        lines(&polled),
        [
            "vbui1||internet|10.0.0.0-10.0.0.255|-|-",
            "vbui2||internet|10.0.8.0-10.0.11.255|-|-",
            "vbui1||internet|203.0.113.128-203.0.113.159|-|-",
            "vbui1||internet|2001:db8:300::-2001:db8:300:0:ffff:ffff:ffff:ffff|-|-",
            "vbui2||internet|2001:db8:3000::-2001:db8:3000:ffff:ffff:ffff:ffff:ffff|-|-",
        ]
    );
    assert_eq!(
        rejected(&polled),
        [
            "addresses 10.9.9.9 MissingRow",
            "addresses 127.0.0.1 Filtered",
            "addresses 198.51.100.1 NoAddress",
            "addresses 203.0.113.1 Filtered",
            "v6-prefixes 1.2.16.32.1.13.184.0.9.0.0.0.0.0.0.0.0.0.0.126 Filtered",
            "v6-prefixes 3.1.4.10.0.0.0.24 Filtered",
            "v6-prefixes 9.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1.128 Filtered",
        ]
    );
}

#[tokio::test]
async fn standard_tables_are_never_chosen_by_auto() {
    let polled = polled_walk("standard-connected.snmprec").await;
    assert_eq!(polled.state, State::Unsupported);
    assert_eq!(polled.descriptor, None);
}

#[tokio::test]
async fn the_vrfs_seen_and_their_spaces() {
    let polled = polled_walk("huawei-me60.snmprec").await;
    let seen: Vec<String> = polled
        .vrfs()
        .iter()
        .map(|seen| {
            let space = seen.space.as_ref().map_or("-", |space| space.as_str());
            format!("{}|{space}|{}|{}|{}", seen.vrf, seen.pools, seen.ranges, seen.units)
        })
        .collect();
    // IPv4 addresses, and the /64s of a /48 and a /40; of the VPN, those of a /40.
    let internet = 248 + 512 + 1021 + 61 + (1u64 << 16) + (1u64 << 24);
    let corp = 95 + 64 + (1u64 << 24);
    assert_eq!(seen, [format!("|internet|5|6|{internet}"), format!("vpn-corp|-|2|3|{corp}")]);
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

/// Every walk, but those of other contexts than the default one.
fn all_walks() -> Vec<PathBuf> {
    let files = std::fs::read_dir(walks()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "snmprec")).collect();
    files.retain(|path| !path.file_stem().unwrap().to_string_lossy().contains('@'));
    files.sort();
    files
}

#[tokio::test]
async fn a_replayed_recording_says_what_the_router_would() {
    let mut read = 0;
    for path in all_walks() {
        let recording = recording(&path);
        let polled = polled(&[("public", recording.clone())], false).await;
        let Some(name) = &polled.descriptor else { continue };
        let library = Library::built_in();
        let replay = mib::replay(library.get(name).unwrap(), &recording, Settings::default());
        assert!(replay.known, "{}", path.display());
        let rows = || replay.tables.iter().flat_map(|table| &table.rows);
        let ranges: Vec<String> = rows()
            .flat_map(|row| &row.ranges)
            .map(|range| format!("{}|{}|{}-{}", range.pool, range.vrf, range.first, range.last))
            .collect();
        let listed: Vec<String> =
            polled.ranges().map(|l| format!("{}|{}|{}", l.pool, l.vrf, l.range)).collect();
        assert_eq!(ranges, listed, "{}", path.display());
        let rejected = rows().filter(|row| row.outcome == RowOutcome::Rejected).count();
        assert_eq!(rejected, polled.rejected.len(), "{}", path.display());
        let states: Vec<&str> = replay.tables.iter().map(|table| table.state).collect();
        assert!(!states.contains(&"failed"), "{}", path.display());
        read += 1;
    }
    // All but the two that only the standard tables can read.
    assert_eq!(read, all_walks().len() - 2);
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
