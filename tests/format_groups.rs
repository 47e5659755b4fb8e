//! Groups files: what each consumer is told of a group, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use fixture::{edge, group, groups, snapshot, token};
use poolsync::format::groups::{
    BadDomain, Context, Domain, GroupsError, Rows, groups_by_name, groups_formats,
};
use poolsync::format::{Scope, Stamp, View};
use poolsync::table::{Edge, Group, PoolName, Snapshot};
use proptest::prelude::*;

/// One row for each of the groups, each with an owner of its token's name.
fn snapshot_of(list: &[Group], edges: &[Edge], default_edge: &str) -> Snapshot {
    let owners: Vec<(&str, &str)> = list.iter().map(|g| (g.token.as_str(), g.token.as_str())).collect();
    let entry = |at: usize, owner: &str| {
        let range = format!("10.{at}.0.0/16");
        fixture::entry("internet", &range, owner, Some(owner), PoolName::new(b"p"), "")
    };
    let entries = owners.iter().enumerate().map(|(at, (owner, _))| entry(at, owner)).collect();
    snapshot(entries, groups(list, &owners), edges, default_edge)
}

fn rows(format: &str, snapshot: &Snapshot, context: &Context) -> Result<Rows, GroupsError> {
    let scope = Scope { space: None, service: "default".into() };
    let format = groups_by_name(format).unwrap();
    let rows = format.rows(&View::new(snapshot, &scope).unwrap(), context)?;
    let file = format.render(&rows, &Stamp::from(snapshot)).bytes();
    assert_eq!(format.read(&file).unwrap(), rows, "{}", String::from_utf8_lossy(&file));
    Ok(rows)
}

fn named() -> Context {
    Context {
        name: Some("cdn.example.com".parse().unwrap()),
        nameservers: vec!["ns1.example.net".parse().unwrap()],
        table: Some("/srv/table".into()),
        ttl: None,
    }
}

/// The records that Knot would answer for a group.
fn knot(list: &[Group], edges: &[Edge], default_edge: &str, of: &str) -> Vec<String> {
    let rows = rows("knot", &snapshot_of(list, edges, default_edge), &named()).unwrap();
    rows.rows[&token(of)].lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

fn host(format: &str, snapshot: &Snapshot, of: &str) -> String {
    rows(format, snapshot, &named()).unwrap().rows[&token(of)].clone()
}

#[test]
fn knot_rows_answer_for_every_family_that_any_row_has() {
    let centre = edge("centre", &["198.51.100.1", "2001:db8::1"], None, None);
    let a4 = edge("a", &["198.51.100.2"], None, None);
    let a4_named = edge("a", &["198.51.100.2"], Some("a.example.net"), None);
    let a6 = edge("a", &["2001:db8::2"], None, None);
    let group = [group("a", &[("a", 1)])];
    let answer = |a: &Edge, centre: &Edge| knot(&group, &[a.clone(), centre.clone()], "centre", "a");
    // The default's address stands in for the family that is missing; a host is better.
    assert_eq!(answer(&a4, &centre), ["A: [198.51.100.2]", "AAAA: [2001:db8::1]"]);
    assert_eq!(answer(&a6, &centre), ["A: [198.51.100.1]", "AAAA: [2001:db8::2]"]);
    assert_eq!(answer(&a4_named, &centre), ["CNAME: a.example.net."]);
    // Where no row has IPv6, there is nothing to stand in for.
    let centre4 = edge("centre", &["198.51.100.1"], None, None);
    assert_eq!(answer(&a4_named, &centre4), ["A: [198.51.100.2]"]);
    // Where the default has none either, the type is left out.
    let both = [edge("a", &["198.51.100.2", "2001:db8::2"], None, None), centre4];
    assert_eq!(knot(&group, &both, "centre", "centre"), ["A: [198.51.100.1]"]);
}

#[test]
fn knot_lists_the_addresses_of_all_edges_or_of_the_first_each_once() {
    let edges = [
        edge("a", &["198.51.100.9", "198.51.100.2"], None, None),
        edge("b", &["198.51.100.2", "198.51.100.3"], None, None),
        edge("off", &["198.51.100.4"], None, None),
    ];
    let list = [group("g-0000000001", &[("a", 2), ("off", 0), ("b", 2)])];
    assert_eq!(knot(&list, &edges, "a", "g-0000000001"), ["A: [198.51.100.9, 198.51.100.2, 198.51.100.3]"]);
    // It knows no weights: where they differ, the first edge answers alone.
    let list = [group("g-0000000001", &[("b", 2), ("off", 0), ("a", 1)])];
    assert_eq!(knot(&list, &edges, "a", "g-0000000001"), ["A: [198.51.100.2, 198.51.100.3]"]);
    // Without any weight all edges count.
    let list = [group("g-0000000001", &[("off", 0), ("b", 0)])];
    assert_eq!(knot(&list, &edges, "a", "g-0000000001"), ["A: [198.51.100.4, 198.51.100.2, 198.51.100.3]"]);
}

#[test]
fn a_group_with_nothing_to_answer_is_refused() {
    let edges = [edge("a", &[], None, None), edge("centre", &["198.51.100.1"], None, None)];
    let snapshot = snapshot_of(&[group("a", &[("a", 1)])], &edges, "centre");
    for format in ["knot", "pdns", "gdnsd", "nginx-map", "haproxy"] {
        let error = rows(format, &snapshot, &named()).unwrap_err();
        assert_eq!(error, GroupsError::NoAnswer { token: token("a") }, "{format}");
    }
}

#[test]
fn knot_needs_the_name_to_answer_for() {
    let error = rows("knot", &fixture::fixed(), &Context::default()).unwrap_err();
    assert_eq!(error, GroupsError::NeedsName { format: "knot" });
}

/// A host is written into directives: what is no domain name never gets there.
#[test]
fn a_host_that_is_no_domain_name_is_refused() {
    for bad in ["a.example.net; return 301", "a b", "", ".", "a..b", "198.51.100.1", "a\n- geo", "$host"] {
        let edges = [edge("a", &[], Some(bad), None), edge("centre", &["198.51.100.1"], Some("c.net"), None)];
        let snapshot = snapshot_of(&[group("a", &[("a", 1)])], &edges, "centre");
        for format in ["knot", "pdns", "gdnsd", "nginx-map", "haproxy"] {
            let wanted = GroupsError::BadHost { edge: "a".into(), source: BadDomain(bad.to_owned()) };
            assert_eq!(rows(format, &snapshot, &named()).unwrap_err(), wanted, "{format} {bad:?}");
        }
    }
}

#[test]
fn nginx_maps_to_the_nearest_edge_by_host_or_address() {
    let edges = [
        edge("a", &["198.51.100.2"], Some("A.example.net."), None),
        edge("b", &["2001:db8::2", "198.51.100.3"], None, None),
        edge("none", &[], None, None),
        edge("centre", &["198.51.100.1"], None, None),
    ];
    let list = [
        group("a", &[("a", 1)]),
        group("b", &[("b", 1)]),
        group("g-0000000001", &[("none", 1), ("b", 1), ("a", 1)]),
        group("g-0000000002", &[("b", 0), ("a", 1)]),
    ];
    let snapshot = snapshot_of(&list, &edges, "centre");
    for (token, row) in [
        ("a", "a a.example.net;\n"),
        ("b", "b [2001:db8::2];\n"),
        ("g-0000000001", "g-0000000001 [2001:db8::2];\n"),
        ("g-0000000002", "g-0000000002 a.example.net;\n"),
        ("centre", "centre 198.51.100.1;\n"),
    ] {
        assert_eq!(host("nginx-map", &snapshot, token), row);
    }
    assert_eq!(rows("nginx-map", &snapshot, &named()).unwrap().lead, "default 198.51.100.1;\n");
}

/// Four legal tokens are words of nginx's map; they must stand as keys.
#[test]
fn nginx_words_are_escaped() {
    let names = ["default", "hostnames", "include", "volatile", "Default"];
    let edges = names.map(|name| edge(name, &["198.51.100.2"], None, None));
    for name in names {
        let snapshot = snapshot_of(&[], &edges, name);
        let escape = if name == "Default" { "" } else { "\\" };
        assert_eq!(host("nginx-map", &snapshot, name), format!("{escape}{name} 198.51.100.2;\n"));
    }
}

#[test]
fn tokens_that_differ_in_case_only_are_refused_where_the_consumer_does_not_see_it() {
    let edges = ["a", "A"].map(|name| edge(name, &["198.51.100.2"], None, None));
    let snapshot = snapshot_of(&[group("a", &[("a", 1)]), group("A", &[("A", 1)])], &edges, "a");
    let error = rows("nginx-map", &snapshot, &named()).unwrap_err();
    let (first, second) = (token("A"), token("a"));
    assert_eq!(error, GroupsError::CaseClash { format: "nginx-map", first, second });
    assert!(rows("knot", &snapshot, &named()).is_ok());
}

#[test]
fn retired_rows_stay_beside_the_new_ones() {
    let edges = ["a", "b", "A"].map(|name| edge(name, &["198.51.100.2"], Some("h.net"), None));
    let moved = edge("a", &["198.51.100.9"], None, None);
    for format in groups_formats() {
        let of = |list: &[&str], edges: &[Edge]| {
            let list: Vec<Group> = list.iter().map(|name| group(name, &[(name, 1)])).collect();
            rows(format.name(), &snapshot_of(&list, edges, "a"), &named()).unwrap()
        };
        let (before, after) = (of(&["a", "b"], &edges), of(&["a"], std::slice::from_ref(&moved)));
        let both = format.with_retired(&after, before.clone());
        assert_eq!(both.rows.keys().cloned().collect::<Vec<_>>(), [token("a"), token("b")]);
        assert_eq!(both.rows[&token("a")], after.rows[&token("a")], "the new row counts");
        assert_eq!(both.rows[&token("b")], before.rows[&token("b")]);
        let file = format.render(&both, &Stamp::from(&fixture::fixed())).bytes();
        assert_eq!(format.read(&file).unwrap(), both);
        // A retired token that nginx would take for a new one goes at once.
        let capital = of(&[], &edges);
        let clash = Rows { rows: [(token("A"), String::new())].into(), ..Rows::default() };
        let kept = format.with_retired(&capital, clash).rows.contains_key(&token("A"));
        assert_eq!(kept, !matches!(format.name(), "nginx-map" | "pdns"), "{}", format.name());
    }
}

#[test]
fn altered_files_are_refused() {
    let snapshot = fixture::fixed();
    let scope = Scope { space: None, service: "default".into() };
    let view = View::new(&snapshot, &scope).unwrap();
    let refused = |name: &str, from: &str, to: &str| {
        let format = groups_by_name(name).unwrap();
        let file = format.render(&format.rows(&view, &named()).unwrap(), &Stamp::from(&snapshot)).bytes();
        let text = String::from_utf8(file).unwrap();
        assert!(text.contains(from), "{name}: {from}");
        let altered = text.replacen(from, to, 1);
        assert!(format.read(altered.as_bytes()).is_err(), "{name} with {to:?} for {from:?}");
    };
    refused("knot", "# poolsync knot", "# poolsync");
    refused("knot", "cdn.example.com:", "cdn example com:");
    refused("knot", "  - geo: \"gz-01\"", "  - geo: \"gz 01\"");
    refused("knot", "  - geo: \"gz-01\"", "  - geo: gz-01");
    refused("knot", "  - geo: \"gz-01\"", "  - geo: \"centre\"");
    refused("knot", "    A: [198", "    A: [198.51.100.256, 198");
    refused("knot", "    A: [198", "    TXT: [198");
    refused("knot", "    A: [198", "   A: [198");
    refused("knot", "    CNAME: centre.cdn.example.net.", "    CNAME: centre.cdn.example.net");
    refused("knot", "# end 4", "# end 5");
    refused("nginx-map", "default centre.cdn.example.net;\n", "");
    refused("nginx-map", "default centre", "default $centre");
    refused("nginx-map", "gz-01 198.51.100.10;", "gz-01 198.51.100.10");
    refused("nginx-map", "gz-01 198.51.100.10;", "gz-01 198.51.100.10; x y;");
    refused("nginx-map", "gz-01 198.51.100.10;", "\\gz-01 198.51.100.10;");
    refused("nginx-map", "gz-01 198.51.100.10;", "include 198.51.100.10;");
    refused("nginx-map", "gz-01 198.51.100.10;\n", "");
    refused("haproxy", "# default centre", "# default center");
    refused("haproxy", "# default centre", "# default");
    refused("haproxy", "gz-01 198.51.100.10", "gz-01 198.51.100.10 x");
    refused("haproxy", "gz-01 198.51.100.10", "gz:01 198.51.100.10");
    refused("haproxy", "gz-01 198.51.100.10", "gz-01 198.51.100.999");
    refused("haproxy", "gz-01 198.51.100.10\n", "");
    refused("pdns", "# default centre", "# default center");
    refused("pdns", "domains:\n", "");
    refused("pdns", "- domain: \"cdn.example.com\"", "- domain: \"example.com\"");
    refused("pdns", "  ttl: 30\n", "  ttl: x\n");
    refused("pdns", "    - ns: \"ns1.example.net\"\n", "");
    refused("pdns", "    - ns: \"ns1.example.net\"\n", "    - mx: \"ns1.example.net\"\n");
    refused("pdns", "\"%ci.cdn.example.com\"", "\"%cc.cdn.example.com\"");
    refused("pdns", "    \"gz-01.cdn.example.com\":\n", "    \"gz-01.example.com\":\n");
    refused("pdns", "    \"gz-01.cdn.example.com\":\n", "    \"gz 01.cdn.example.com\":\n");
    refused("pdns", "    - a: \"198.51.100.10\"", "    - a: 198.51.100.10");
    refused("pdns", "    - a: \"198.51.100.10\"", "    - a: \"2001:db8::1\"");
    refused("pdns", "    - a: \"198.51.100.10\"", "    - txt: \"198.51.100.10\"");
    refused("pdns", ", weight: 3}", ", weight: 3");
    refused("pdns", ", weight: 3}", ", weight: -3}");
    refused("pdns", "    - cname: \"sh-01.cdn.example.net\"", "    - cname: \"sh 01.cdn.example.net\"");
    refused("pdns", "# end 4", "# end 3");
    refused("gdnsd", "# nets \"/srv/table\"", "# nets \"/srv/other\"");
    refused("gdnsd", "# default centre", "# default gz-01");
    refused("gdnsd", "# default centre", "# default center");
    refused("gdnsd", "datacenters => [ centre, g-0a1b2c3d4e, gz-01", "datacenters => [ centre, gz-01");
    refused("gdnsd", "service_types => up", "service_types => down");
    refused("gdnsd", "  } } }\n", "  } }\n");
    refused("gdnsd", "  } } }\n}\n", "");
    refused("gdnsd", "    gz-01 => ", "    gz 01 => ");
    refused("gdnsd", "    gz-01 => ", "  } } }\n    gz-01 => ");
    refused("gdnsd", "plugin => multifo", "plugin => metafo");
    refused("gdnsd", "addrs_v6 => { 1 => 2001:db8:1::10 }", "addrs_v6 => { 1 => 198.51.100.7 }");
    refused("gdnsd", "{ 1 => 198.51.100.10 }", "{ 2 => 198.51.100.10 }");
    refused("gdnsd", "[ 198.51.100.11, 3 ]", "[ 198.51.100.11, x ]");
    refused("gdnsd", "[ 198.51.100.11, 3 ]", "[ 198.51.100.11 ]");
    refused("gdnsd", "sh-01.cdn.example.net.,", "sh-01.cdn.example.net,");
    refused("gdnsd", "# end 4", "# end 3");
    refused("json", "\"default_group\":\"centre\"", "\"default_group\":\"center\"");
    refused("json", "\"token\":\"gz-01\"", "\"token\":\"gz 01\"");
    refused("json", "\"token\":\"gz-01\"", "\"token\":\"centre\"");
    refused("json", "\"weight\":3", "\"weight\":-3");
    refused("json", "\"session\":\"0", "\"session\":\"");
}

proptest! {
    /// Cut anywhere, a file is refused; only the last line end is no loss to JSON.
    #[test]
    fn a_file_cut_short_is_refused(cut in any::<prop::sample::Index>()) {
        let snapshot = fixture::fixed();
        let scope = Scope { space: None, service: "default".into() };
        let view = View::new(&snapshot, &scope).unwrap();
        for format in groups_formats() {
            let file = format.render(&format.rows(&view, &named()).unwrap(), &Stamp::from(&snapshot)).bytes();
            let length = cut.index(file.len() - usize::from(format.name() == "json"));
            prop_assert!(format.read(&file[..length]).is_err(), "{} of {} octets", format.name(), length);
        }
    }

    /// A domain name holds nothing that could end a line, a value or a directive.
    #[test]
    fn a_domain_is_safe_to_write(text in ".{0,70}") {
        if let Ok(domain) = text.parse::<Domain>() {
            let safe = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
            prop_assert!(domain.as_str().bytes().all(safe));
            prop_assert_eq!(domain.as_str().parse::<Domain>(), Ok(domain.clone()));
        }
    }
}

#[test]
fn domains_have_limits() {
    let label = "a".repeat(63);
    let long = [label.as_str(); 3].join(".");
    assert!(format!("{long}.{}", "a".repeat(61)).parse::<Domain>().is_ok()); // 253 octets
    assert!(format!("{long}.{}", "a".repeat(62)).parse::<Domain>().is_err());
    assert!("a".repeat(64).parse::<Domain>().is_err());
    assert_eq!("CDN.Example.COM.".parse::<Domain>().unwrap().as_str(), "cdn.example.com");
}

#[test]
fn an_unknown_groups_format_lists_those_that_exist() {
    let error = groups_by_name("bind").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no groups format `bind`; there are: json, knot, pdns, gdnsd, nginx-map, haproxy"
    );
}

/// Names in DNS have no case.
#[test]
fn pdns_does_not_tell_case_apart() {
    let edges = ["a", "A"].map(|name| edge(name, &["198.51.100.2"], None, None));
    let snapshot = snapshot_of(&[group("a", &[("a", 1)]), group("A", &[("A", 1)])], &edges, "a");
    let (first, second) = (token("A"), token("a"));
    let error = rows("pdns", &snapshot, &named()).unwrap_err();
    assert_eq!(error, GroupsError::CaseClash { format: "pdns", first, second });
}

#[test]
fn pdns_and_gdnsd_need_to_know_what_stands_around_them() {
    let snapshot = fixture::fixed();
    let error = |format: &str, context: Context| rows(format, &snapshot, &context).unwrap_err();
    assert_eq!(error("pdns", Context { name: None, ..named() }), GroupsError::NeedsName { format: "pdns" });
    let bare = Context { nameservers: vec![], ..named() };
    assert_eq!(error("pdns", bare), GroupsError::NeedsNameservers { format: "pdns" });
    for table in [None, Some("/srv/a\"b".into()), Some("/srv/a\nb".into())] {
        let context = Context { table, ..named() };
        assert_eq!(error("gdnsd", context), GroupsError::NeedsTable { format: "gdnsd" });
    }
    // 4 labels of 63 and what joins them are 255 octets: more than a name may have.
    let long = Context {
        name: Some([&"a".repeat(63); 3].map(String::as_str).join(".").parse().unwrap()),
        ..named()
    };
    let wide = "b".repeat(63);
    let edges = [edge(&wide, &["198.51.100.2"], None, None)];
    let error = rows("pdns", &snapshot_of(&[], &edges, &wide), &long).unwrap_err();
    assert!(matches!(error, GroupsError::BadName { .. }), "{error}");
}

/// One address is drawn where weights differ; all are given where they do not.
#[test]
fn weights_are_written_only_where_they_differ() {
    let edges = [
        edge("a", &["198.51.100.2", "2001:db8::2"], None, None),
        edge("b", &["198.51.100.3", "2001:db8::3"], None, None),
    ];
    let answer = |format: &str, weights: [u32; 2]| {
        let list = [group("g-0000000001", &[("a", weights[0]), ("b", weights[1])])];
        host(format, &snapshot_of(&list, &edges, "a"), "g-0000000001")
    };
    assert_eq!(
        answer("pdns", [7, 7]),
        "    \"g-0000000001.cdn.example.com\":\n    - a: \"198.51.100.2\"\n    - a: \"198.51.100.3\"\n    \
         - aaaa: \"2001:db8::2\"\n    - aaaa: \"2001:db8::3\"\n"
    );
    assert!(answer("pdns", [7, 1]).contains(
        "    - a: {content: \"198.51.100.2\", weight: 7}\n    - a: {content: \"198.51.100.3\", weight: 1}\n"
    ));
    assert_eq!(
        answer("gdnsd", [7, 7]),
        "    g-0000000001 => { plugin => multifo, addrs_v4 => { 1 => 198.51.100.2, 2 => 198.51.100.3 }, \
         addrs_v6 => { 1 => 2001:db8::2, 2 => 2001:db8::3 } },\n"
    );
    assert_eq!(
        answer("gdnsd", [7, 1]),
        "    g-0000000001 => { plugin => weighted, addrs_v4 => { 1 => [ 198.51.100.2, 7 ], 2 => [ 198.51.100.3, 1 ] }, \
         addrs_v6 => { 1 => [ 2001:db8::2, 7 ], 2 => [ 2001:db8::3, 1 ] } },\n"
    );
    // HAProxy draws one of a hundred rows: 7 of 8 are 87.5, and the half goes to the first.
    let drawn = answer("haproxy", [7, 1]);
    assert!(drawn.starts_with("g-0000000001 198.51.100.2\ng-0000000001.0 198.51.100.2\n"), "{drawn}");
    let of = |address: &str| drawn.lines().skip(1).filter(|line| line.ends_with(address)).count();
    assert!(of(" 198.51.100.2").abs_diff(87) <= 1 && of(" 198.51.100.2") + of(" 198.51.100.3") == 100);
    assert_eq!(answer("haproxy", [7, 7]), "g-0000000001 198.51.100.2\n");
    // gdnsd takes weights up to 1048575: larger ones are scaled down, and none becomes 0.
    assert!(
        answer("gdnsd", [4_000_000_000, 1]).contains("[ 198.51.100.2, 1000000 ], 2 => [ 198.51.100.3, 1 ]")
    );
}

/// An edge of two addresses is not asked twice as often as its weight says.
#[test]
fn a_weight_is_shared_out_among_the_addresses_of_its_edge() {
    let edges = [
        edge("a", &["198.51.100.2", "198.51.100.4", "2001:db8::2"], None, None),
        edge("b", &["198.51.100.3", "2001:db8::3"], None, None),
    ];
    let list = [group("g-0000000001", &[("a", 60), ("b", 40)])];
    let row = host("gdnsd", &snapshot_of(&list, &edges, "a"), "g-0000000001");
    assert!(
        row.contains(
            "addrs_v4 => { 1 => [ 198.51.100.2, 60 ], 2 => [ 198.51.100.4, 60 ], 3 => [ 198.51.100.3, 80 ] }, \
             addrs_v6 => { 1 => [ 2001:db8::2, 60 ], 2 => [ 2001:db8::3, 40 ] }"
        ),
        "{row}"
    );
}

#[test]
fn haproxy_shares_cut_short_are_refused() {
    let edges = [edge("a", &["198.51.100.2"], None, None), edge("b", &["198.51.100.3"], None, None)];
    let list = [group("g-0000000001", &[("a", 60), ("b", 40)])];
    let snapshot = snapshot_of(&list, &edges, "a");
    let haproxy = groups_by_name("haproxy").unwrap();
    let made = rows("haproxy", &snapshot, &named()).unwrap();
    let file = String::from_utf8(haproxy.render(&made, &Stamp::from(&snapshot)).bytes()).unwrap();
    assert_eq!(haproxy.read(file.as_bytes()).unwrap(), made);
    for (whole, cut) in [
        ("g-0000000001.57 198.51.100.2\n", ""),
        ("g-0000000001.57 ", "g-0000000001.58 "),
        ("g-0000000001.57 ", "a.57 "),
        ("g-0000000001.99 198.51.100.3\n", ""),
    ] {
        assert!(file.contains(whole), "{whole}");
        assert!(haproxy.read(file.replacen(whole, cut, 1).as_bytes()).is_err(), "{whole:?} {cut:?}");
    }
}

#[test]
fn gdnsd_keeps_no_retired_group_that_does_not_fit() {
    let gdnsd = groups_by_name("gdnsd").unwrap();
    let of = |names: std::ops::Range<u32>| {
        let names: Vec<String> = names.map(|n| format!("e{n}")).collect();
        let edges: Vec<Edge> = names.iter().map(|n| edge(n, &["198.51.100.2"], None, None)).collect();
        let list: Vec<Group> = names.iter().map(|n| group(n, &[(n, 1)])).collect();
        rows("gdnsd", &snapshot_of(&list, &edges, &names[0]), &named())
    };
    let (before, after) = (of(0..200).unwrap(), of(100..254).unwrap());
    assert_eq!(gdnsd.with_retired(&after, before.clone()).rows.len(), 254);
    let after = of(100..255).unwrap();
    assert_eq!(gdnsd.with_retired(&after, before), after);
    assert_eq!(of(0..255).unwrap_err(), GroupsError::TooMany { format: "gdnsd", most: 254, found: 255 });
}
