//! Templates: what they write, that it is read back, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use std::net::IpAddr;

use fixture::{edge, group, groups, snapshot};
use poolsync::address::{Family, Range};
use poolsync::format::groups::Context;
use poolsync::format::{Format, RenderError, Scope, Stamp, Template, TemplateError, View};
use poolsync::table::{PoolName, Snapshot};
use proptest::collection::vec;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Template, TemplateError> {
    let context =
        Context { name: Some("cdn.example.com".parse().unwrap()), ttl: Some(30), ..Context::default() };
    Template::parse(text, &context)
}

fn internet(snapshot: &Snapshot) -> View<'_> {
    View::new(snapshot, &Scope { space: Some("internet".into()), service: "default".into() }).unwrap()
}

/// The file, which was read back as the table.
fn written(template: &str, snapshot: &Snapshot) -> String {
    let template = parse(template).unwrap();
    let view = internet(snapshot);
    let file = template.render(&view, &Stamp::from(snapshot)).unwrap().bytes();
    let read = template.read(&file).unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&file)));
    read.verify(&view, template.excluded()).unwrap();
    String::from_utf8(file).unwrap()
}

/// Two touching ranges of one group, from two BASes, and one of IPv6.
fn table(pool: PoolName) -> Snapshot {
    let entries = vec![
        fixture::entry("internet", "10.0.0.0/25", "a", Some("bas a"), pool, "red"),
        fixture::entry("internet", "10.0.0.128-10.0.0.130", "b", Some("b"), PoolName::new(b"p"), ""),
        fixture::entry("internet", "2001:db8::/32", "b", Some("b"), PoolName::new(b"p"), ""),
    ];
    let list = [group("gz-01", &[("gz-01", 1)])];
    let edges =
        [edge("gz-01", &["2001:db8::1"], None, None), edge("centre", &["198.51.100.1"], Some("c.net"), None)];
    snapshot(entries, groups(&list, &[("a", "gz-01"), ("b", "gz-01")]), &edges, "centre")
}

#[test]
fn rows_are_prefixes_or_stretches_joined_unless_names_keep_them_apart() {
    let table = table(PoolName::new(b"p"));
    assert_eq!(
        written("row = \"{first} {last} {family} {group}\"", &table),
        "10.0.0.0 10.0.0.130 4 gz-01\n2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 6 gz-01\n"
    );
    assert_eq!(
        written("row = \"{network} {length} {first}-{last} {group}\"", &table),
        "10.0.0.0 25 10.0.0.0-10.0.0.127 gz-01\n10.0.0.128 31 10.0.0.128-10.0.0.129 gz-01\n\
         10.0.0.130 32 10.0.0.130-10.0.0.130 gz-01\n\
         2001:db8:: 32 2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff gz-01\n"
    );
    assert_eq!(
        written("row = \"{first}-{last} {group} {bas} {vrf} {target}\"", &table),
        "10.0.0.0-10.0.0.127 gz-01 bas_a red [2001:db8::1]\n10.0.0.128-10.0.0.130 gz-01 b - [2001:db8::1]\n\
         2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff gz-01 b - [2001:db8::1]\n"
    );
}

#[test]
fn sections_stand_in_their_order_and_braces_are_doubled() {
    let text = r##"
comment = "//"
head = "{{ {name} {ttl} {default}"
group = "{group} -> {target}"
address = "  {type}={address}"
middle = "rows"
default = "default {address}"
row = "{group}:{prefix}"
tail = "}}"
"##;
    let wanted = "\
// default centre
{ cdn.example.com 30 centre
centre -> c.net
  A=198.51.100.1
gz-01 -> [2001:db8::1]
  AAAA=2001:db8::1
rows
default 198.51.100.1
gz-01:10.0.0.0/25
gz-01:10.0.0.128/31
gz-01:10.0.0.130/32
gz-01:2001:db8::/32
}
// end 4
";
    let file = written(text, &table(PoolName::new(b"p")));
    let (first, rest) = file.split_once('\n').unwrap();
    assert_eq!(
        first,
        "// poolsync template, session 00000000000000aa, generation 42, committed 2026-01-02T03:04:05Z"
    );
    assert_eq!(rest, wanted);
}

/// With gaps filled, every address has one row; the two families from end to end.
#[test]
fn gaps_are_filled_from_end_to_end() {
    let file = rows(&written(
        "comment = \"#\"\ngaps = true\nrow = \"{first}-{last} {group}\"",
        &table(PoolName::new(b"p")),
    ));
    let top = "ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    assert_eq!(
        file,
        format!(
            "0.0.0.0-9.255.255.255 centre\n10.0.0.0-10.0.0.130 gz-01\n10.0.0.131-255.255.255.255 centre\n\
             ::-2001:db7:{} centre\n2001:db8::-2001:db8:{} gz-01\n2001:db9::-ffff:{top} centre\n",
            &top[..29],
            &top[..29]
        )
    );
    let nothing =
        snapshot(vec![], groups(&[], &[]), &[edge("centre", &["198.51.100.1"], None, None)], "centre");
    assert_eq!(
        rows(&written("comment = \"#\"\ngaps = true\nrow = \"{prefix} {group}\"", &nothing)),
        "0.0.0.0/0 centre\n::/0 centre\n"
    );
    let entries = vec![
        fixture::entry("internet", "0.0.0.0/0", "a", None, PoolName::new(b""), ""),
        fixture::entry("internet", "::/1", "a", None, PoolName::new(b""), ""),
    ];
    let all = Snapshot {
        table: poolsync::table::Table::new(entries).unwrap().into(),
        ..table(PoolName::new(b"p"))
    };
    let file = rows(&written("comment = \"#\"\ngaps = true\nrow = \"{prefix} {group}\"", &all));
    assert_eq!(file, "0.0.0.0/0 gz-01\n::/1 gz-01\n8000::/1 centre\n");
}

/// The lines that are no comments.
fn rows(file: &str) -> String {
    file.split_inclusive('\n').filter(|line| !line.starts_with('#')).collect()
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn what_is_no_template_is_refused_with_its_place() {
    for (text, problem) in [
        ("", "missing field `row`"),
        ("row = 3", "invalid type"),
        ("row = \"{prefix} {group}\"\nrows = 1", "unknown field `rows`"),
        ("row = \"{prefix} {group}\"\nescape = \"shell\"", "unknown variant `shell`"),
        ("row = \"{prefix}\"", "section `row`: needs `{group}`"),
        ("row = \"{first} {group}\"", "section `row`: needs `{prefix}`, or"),
        (
            "row = \"{prefix} {group} {address}\"",
            "section `row`: no field `address` here; there are: name, ttl",
        ),
        ("row = \"{prefix} {group\"", "section `row`: a single brace"),
        ("row = \"{prefix} } {group}\"", "section `row`: a single brace"),
        ("row = \"{prefix}{group}\"", "section `row`: nobody can tell where `{prefix}` ends"),
        ("row = \"{prefix} {group}-x\"", "section `row`: nobody can tell where `{group}` ends"),
        ("row = \"{prefix} {bas}x {group}\"", "section `row`: nobody can tell where `{bas}` ends"),
        ("row = \"{prefix} {group}\"\nhead = \"{group}\"", "section `head`: no field `group` here"),
        (
            "row = \"{prefix} {group}\"\nhead = \"{nameserver}\"",
            "section `head`: `{nameserver}` needs what the export",
        ),
        ("row = \"{prefix} {group}\"\ngaps = true", "section `comment`: must be there with `gaps`"),
        ("row = \"{prefix} {group}\"\ncomment = \" \"", "section `comment`: is what begins"),
    ] {
        let error = refused(text);
        assert!(error.contains(problem), "{text:?}: {error}");
    }
    // A name in quotes ends with its quote.
    parse("escape = \"json\"\nrow = \"{prefix} {bas}x {group}\"").unwrap();
    let unknown = Template::shipped("bind", &Context::default()).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "no template `bind`; there are: dnsdist, f5-topology, pdns-yaml, plain, unbound"
    );
    let needs = Template::shipped("unbound", &Context::default()).unwrap_err();
    assert!(matches!(needs, TemplateError::Section { section: "group", .. }), "{needs}");
}

#[test]
fn a_group_without_anything_to_answer_is_refused() {
    let mut bare = table(PoolName::new(b"p"));
    let mut edges = (*bare.edges).clone();
    edges.get_mut("gz-01").unwrap().addresses.clear();
    bare.edges = edges.into();
    for section in ["group = \"{group} {target}\"", "address = \"{type} {address}\""] {
        let template = parse(&format!("row = \"{{prefix}} {{group}}\"\n{section}")).unwrap();
        let error = template.render(&internet(&bare), &Stamp::from(&bare)).unwrap_err();
        assert!(matches!(&error, RenderError::Encoding(text) if text.contains("gz-01")), "{error}");
    }
}

#[test]
fn what_the_template_would_not_have_written_is_refused() {
    let text = "comment = \"#\"\ngroup = \"g {group}\"\nrow = \"{prefix} {first} {length} {group} {bas}\"\ntail = \"end\"";
    let file = written(text, &table(PoolName::new(b"p")));
    let template = parse(text).unwrap();
    for (from, to, place) in [
        ("# default centre", "# default", "line 2"),
        ("# default centre", "# default a b", "line 11"),
        ("g gz-01\n", "", "line 4"),
        ("g gz-01\n", "h gz-01\n", "line 4"),
        ("10.0.0.0/25 ", "10.0.0.1/25 ", "line 5"),
        ("/25 10.0.0.0 ", "/25 10.0.0.1 ", "line 5"),
        ("10.0.0.0 25 ", "10.0.0.0 26 ", "line 5"),
        (" gz-01 bas_a", " gz-01 bas a", "line 5"),
        ("10.0.0.128/31 10.0.0.128 ", "10.0.0.126/31 10.0.0.126 ", "line 6"),
        ("end\n", "", "line 9"),
        ("# end 4", "# end 3", "line 10"),
        ("# end 4\n", "# end 4\nmore\n", "line 11"),
    ] {
        assert!(file.contains(from), "{from}\n{file}");
        let error = template.read(file.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert_eq!(error.place, place, "{from:?} as {to:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a router calls its pool: one word or string of the target, and no more lines.
    #[test]
    fn hostile_names_stay_one_value(pool in vec(any::<u8>(), 0..40)) {
        let hostile = table(PoolName::new(&pool));
        for escape in ["word", "json", "lua", "csv"] {
            let text = format!("escape = \"{escape}\"\nrow = \"{{prefix}} {{pool}} {{group}};\"");
            let file = written(&text, &hostile);
            prop_assert_eq!(file.lines().count(), 4, "{}", file);
            prop_assert!(file.lines().all(|line| line.ends_with(" gz-01;")), "{}", file);
        }
    }

    /// A proof in one pass takes no file that reading and comparing does not take: not that of
    /// another table, none that was altered, lengthened or cut short.
    #[test]
    fn proving_is_as_strict_as_reading_and_comparing(
        rows in vec((any::<u8>(), any::<bool>(), any::<bool>(), any::<bool>()), 1..12),
        damages in vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 20),
    ) {
        // The same rows, but for those that are only in one of two tables.
        let table = |second: bool| {
            let mut entries = std::collections::BTreeMap::new();
            for (at, v6, other, kept) in &rows {
                let range = if *v6 { format!("2001:db8:{at:x}::/48") } else { format!("10.0.{at}.3-10.0.{at}.9") };
                let (owner, range) = (if *other { "a" } else { "b" }, range.parse::<Range>().unwrap());
                if *kept || !second {
                    entries.insert(range, fixture::entry("internet", &range.to_string(), owner, None, PoolName::new(b"p"), ""));
                }
            }
            let list = [group("gz-01", &[("gz-01", 1)]), group("centre", &[("centre", 1)])];
            let edges = [edge("gz-01", &["2001:db8::1"], None, None), edge("centre", &["198.51.100.1"], None, None)];
            let owners = [("a", "gz-01"), ("b", "centre")];
            snapshot(entries.into_values().collect(), groups(&list, &owners), &edges, "centre")
        };
        let (own, other) = (table(false), table(true));
        let sections = "head = \"{default}\"\ngroup = \"[{group}]\"\naddress = \" {address}\"\nmiddle = \"rows\"\ntail = \"end\"\n";
        let confusing = "tail = \"10.255.0.0/16 centre\"\n";
        for (row, more, once) in [
            ("{prefix} {group}", "comment = \"#\"\n", true),
            ("{group}: {prefix}, {group};", sections, true),
            ("{first}-{last} {group}", sections, true),
            ("{prefix} {first} {last} {group}", "comment = \"//\"\n", true),
            ("{prefix} {group}", confusing, false),
            ("{network}/{length} {group}", "comment = \"#\"\n", false),
            ("{prefix} {group} {bas}", "comment = \"#\"\n", false),
            ("{prefix} {group}", "comment = \"#\"\ngaps = true\n", false),
        ] {
            let template = parse(&format!("{more}row = \"{row}\"")).unwrap();
            let slowly = |file: &[u8], view: &View<'_>| {
                let read = template.read(file).map_err(|e| e.to_string())?;
                read.verify(view, template.excluded()).map_err(|e| e.to_string())
            };
            let (view, others) = (internet(&own), internet(&other));
            let file = template.render(&view, &Stamp::from(&own)).unwrap().bytes();
            prop_assert_eq!(template.proves(&file, &view).is_some(), once, "{} {}", row, more);
            for view in [&view, &others] {
                let proven = template.prove(&file, view).map_err(|e| e.to_string());
                prop_assert_eq!(proven, slowly(&file, view), "{} {}", row, more);
            }
            for (at, octet, kind) in &damages {
                let (mut damaged, at) = (file.clone(), at.index(file.len()));
                match kind {
                    0 => damaged[at] = *octet,
                    1 => damaged.insert(at, *octet),
                    2 => drop(damaged.remove(at)),
                    _ => damaged.truncate(at),
                }
                let proven = template.prove(&damaged, &view).map_err(|e| e.to_string());
                prop_assert_eq!(proven, slowly(&damaged, &view), "{} {}", row, more);
            }
        }
    }

    /// Rows, gaps and prefixes answer as the table does.
    #[test]
    fn every_kind_of_row_answers_as_a_slow_scan(
        cuts in vec((any::<u16>(), any::<u16>()), 0..20),
        v6 in any::<bool>(),
        probes in vec(any::<u16>(), 20),
    ) {
        let (family, shift) = if v6 { (Family::V6, 112) } else { (Family::V4, 16) };
        let mut next = 0;
        let mut entries = vec![];
        for (skip, length) in cuts {
            let first = next + u128::from(skip % 5000);
            let last = first + u128::from(length % 3000);
            if last > 0xffff {
                break;
            }
            let Some(range) = Range::from_bits(family, first << shift, ((last + 1) << shift) - 1) else { break };
            entries.push(fixture::entry("internet", &range.to_string(), "a", None, PoolName::new(b""), ""));
            next = last + 1;
        }
        let list = [group("gz-01", &[("centre", 1)])];
        let edges = [edge("centre", &["198.51.100.1"], None, None)];
        let snapshot = snapshot(entries, groups(&list, &[("a", "gz-01")]), &edges, "centre");
        for text in ["{prefix} {group}", "{first} {last} {group}", "{prefix} {bas} {group}"] {
            for gaps in [false, true] {
                let template = parse(&format!("comment = \"#\"\ngaps = {gaps}\nrow = \"{text}\"")).unwrap();
                let view = internet(&snapshot);
                let file = template.render(&view, &Stamp::from(&snapshot)).unwrap().bytes();
                let read = template.read(&file).unwrap();
                read.verify(&view, template.excluded()).unwrap();
                for probe in &probes {
                    let ip: IpAddr = family.address(u128::from(*probe) << shift);
                    let hit = snapshot.table.entries().iter().any(|entry| entry.range.contains(ip));
                    let token = if hit { "gz-01" } else { "centre" };
                    prop_assert_eq!(read.lookup("internet", ip).unwrap().as_str(), token, "{} at {}", text, ip);
                }
            }
        }
    }
}
