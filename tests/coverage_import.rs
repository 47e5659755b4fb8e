//! Old tables as people and servers keep them, read; and the static file made of them, read
//! by the configuration.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

use std::io::{Read as _, Write as _};
use std::path::Path;

use poolsync::config::{Config, StaticLine, Target as Line};
use poolsync::coverage::{
    Column, Known, Legacy, LegacyError, LegacyFormat, ReadOptions, RemarkKind, Rule, Target,
};
use poolsync::format::{Scope, View, by_name};
use poolsync::table::Name;

#[path = "data/formats/fixture.rs"]
mod fixture;

fn read(file: impl AsRef<[u8]>) -> Legacy {
    Legacy::read(file.as_ref(), &ReadOptions::default()).unwrap()
}

fn refused(file: impl AsRef<[u8]>) -> String {
    Legacy::read(file.as_ref(), &ReadOptions::default()).unwrap_err().to_string()
}

/// Rows as `first-last kind name`.
fn rows(table: &Legacy) -> Vec<String> {
    let kind = |target: &Target| match target {
        Target::Bas(_) => "bas",
        Target::Edges(_) => "edges",
        Target::Named(_) => "named",
    };
    table
        .rows
        .iter()
        .map(|row| format!("{} {} {}", row.range, kind(&row.target), row.target.label()))
        .collect()
}

fn remarks(table: &Legacy) -> Vec<(u64, RemarkKind)> {
    table.remarks.iter().map(|remark| (remark.line, remark.kind)).collect()
}

#[test]
fn cells_in_any_order_and_dress() {
    let two = ["10.0.0.0-10.0.0.255 bas gz-1", "10.0.1.5-10.0.1.9 bas hz-1"];
    for text in [
        "range,bas\n10.0.0.0/24,gz-1\n10.0.1.5-10.0.1.9,hz-1\n",
        "\u{feff}BRAS;First IP;Last IP;Remark\r\ngz-1;10.0.0.0;10.0.0.255;a\r\nhz-1;10.0.1.5;10.0.1.9;\"b;c\"\r\n",
        "sep=|\nbng|subnet\ngz-1|10.0.0.0/24\nhz-1|10.0.1.5 – 10.0.1.9\n",
        "# kept by hand\n\nbas\tstart\tend\rgz-1\t10.0.0.0\t10.0.0.255\rhz-1\t10.0.1.5\t10.0.1.9\r",
        "Network,Mask,BAS\n10.0.0.0,255.255.255.0,gz-1\n10.0.1.5-10.0.1.9,,hz-1\n",
        "Table of pools\nnetwork,prefix_len,bas\n10.0.0.0,24,gz-1\n10.0.1.5-10.0.1.9,,hz-1\n",
        "设备,起始地址,终止地址\ngz-1,10.0.0.0,10.0.0.255\nhz-1,10.0.1.5,10.0.1.9\n",
    ] {
        let table = read(text);
        assert_eq!(rows(&table), two, "{text}");
        let title = if text.starts_with("Table") { vec![(1, RemarkKind::NotARange)] } else { vec![] };
        assert_eq!(remarks(&table), title, "{text}");
    }
}

#[test]
fn without_a_header_one_name_is_clear_and_two_are_not() {
    let named = ["10.0.0.0-10.0.0.255 named a", "10.0.1.5-10.0.1.9 named b"];
    for text in [
        "10.0.0.0/24,a\n10.0.1.5-10.0.1.9,b\n",
        "a;10.0.0.0;10.0.0.255\nb;10.0.1.5;10.0.1.9\n",
        "10.0.0.0,255.255.255.0,a\n10.0.1.5-10.0.1.9,,b\n",
        "10.0.0.0/24 a   # the first\n10.0.1.5 - 10.0.1.9 b\n",
    ] {
        assert_eq!(rows(&read(text)), named, "{text}");
    }
    let two = "10.0.0.0/24,gz-1,e1\n10.0.1.0/24,hz-1,e2\n";
    assert!(refused(two).contains("which of the 2 columns says whose the addresses are"), "{}", refused(two));
    assert!(refused("10.0.0.0,24,gz-1\n").contains("may be a prefix length or a number of addresses"));
    let said = ReadOptions {
        columns: Some(vec![Column::Range, Column::Other, Column::Edges]),
        ..ReadOptions::default()
    };
    let table = Legacy::read(two.as_bytes(), &said).unwrap();
    assert_eq!(rows(&table), ["10.0.0.0-10.0.0.255 edges e1", "10.0.1.0-10.0.1.255 edges e2"]);
    let mut known = Known::default();
    known.bas.extend(["gz-1", "hz-1"].map(|name| (name.into(), name.into())));
    let table = Legacy::read(two.as_bytes(), &ReadOptions { known, ..ReadOptions::default() }).unwrap();
    assert_eq!(rows(&table), ["10.0.0.0-10.0.0.255 bas gz-1", "10.0.1.0-10.0.1.255 bas hz-1"]);
}

#[test]
fn every_line_that_is_not_taken_is_named() {
    let text = "range,bas,edges\n\
        10.0.0.0/24,gz-1,\n\
        10.0.1.1/24,gz-1,\n\
        10.0.2.0/24,,\n\
        ten,gz-1,\n\
        10.0.3.0/24,\"gz-1,\n\
        10.0.4.9-10.0.4.1,gz-1,\n\
        10.0.0.0/24,gz-1,\n\
        10.0.0.0-10.0.0.255,,e1\n\
        10.0.5.0/24,10.0.6.0,\n\
        10.0.7.300/32,gz-1,\n\
        10.0.8.0/24,,e1;e2\n\
        ::ffff:10.0.9.0/120,gz-1,\n\
        10.0.10.0/2";
    let table = read(text);
    assert_eq!(
        rows(&table),
        ["10.0.0.0-10.0.0.255 bas gz-1", "10.0.8.0-10.0.8.255 edges e1;e2", "10.0.9.0-10.0.9.255 bas gz-1"]
    );
    assert_eq!(
        remarks(&table),
        [
            (3, RemarkKind::NotARange),
            (4, RemarkKind::NoTarget),
            (5, RemarkKind::NotARange),
            (6, RemarkKind::Syntax),
            (7, RemarkKind::NotARange),
            (10, RemarkKind::NoTarget),
            (11, RemarkKind::NotARange),
            (14, RemarkKind::NotARange),
            (8, RemarkKind::Repeated),
            (9, RemarkKind::Contradiction),
        ]
    );
    assert_eq!(
        table.remarks[9].to_string(),
        "line 9: 10.0.0.0-10.0.0.255 is given to e1, but line 2 gives it to gz-1"
    );
    assert!(table.remarks[0].to_string().contains("the prefix is 10.0.1.0/24"), "{}", table.remarks[0]);
}

#[test]
fn other_encodings() {
    let utf16: Vec<u8> =
        "\u{feff}range\tbas\r\n10.0.0.0/24\tgz-1\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(rows(&read(utf16)), ["10.0.0.0-10.0.0.255 bas gz-1"]);
    let gbk = b"range,bas,city\n10.0.0.0/24,gz-1,\xb9\xe3\xd6\xdd\n10.0.1.0/24,\xb9\xe3\xd6\xdd,x\n";
    let table = read(gbk);
    assert_eq!(rows(&table), ["10.0.0.0-10.0.0.255 bas gz-1"]);
    assert_eq!(remarks(&table), [(3, RemarkKind::NotUtf8)]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"10.0.0.0/24,a\n").unwrap();
    assert_eq!(rows(&read(packed.finish().unwrap())), ["10.0.0.0-10.0.0.255 named a"]);
}

#[test]
fn what_is_no_table_ends_in_a_word() {
    for (file, word) in [
        (&b""[..], "it is empty"),
        (b"PK\x03\x04zip", "this is a zip file (a spreadsheet is one, too: save it as CSV): unpack it first"),
        (b"\x7fELF\0\0\0", "it is neither text nor an MMDB: it holds zero octets"),
        (
            b"hello\nworld\n",
            "none of its lines can be read as csv; the first: line 1: has no addresses: hello",
        ),
        (b"{\"coverageZones\":", "line 1 column 17: EOF while parsing a value"),
        (b"{}", "the document: it has neither `coverageZones` nor `deepCoverageZones`"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x33", "the gzip data ends too early: the file was cut short"),
        (b"range,remark\n10.0.0.0/24,x\n10.0.1.0/24\n", ""),
    ] {
        let read = Legacy::read(file, &ReadOptions::default());
        match read {
            Err(e) => assert_eq!(e.to_string(), word),
            Ok(table) => assert_eq!((word, rows(&table).len()), ("", 1)),
        }
    }
    let endless = std::io::repeat(b'1').take(300 << 20);
    let wrong = Legacy::read(endless, &ReadOptions::default()).unwrap_err();
    assert!(matches!(wrong, LegacyError::LongLine { line: 1, .. }), "{wrong}");
}

#[test]
fn nginx_geo() {
    let text = "geo $remote_addr $edge {\n\
        default centre; # the rest\n\
        proxy 192.0.2.1;\n\
        include more.conf;\n\
        10.0.0.0/24 e1;\n\
        10.0.1.7/24 \"e2\";\n\
        10.0.0.0/24 e3;\n\
        2001:db8::/32 e6;\n\
        10.0.2.0/24 e1\n\
        10.0.3.0/24 e1;\n\
        delete 10.0.0.0/25;\n\
        192.0.2.1 e9;\n\
        }\n\
        geo $other { 10.0.9.0/24 x; }\n\
        10.0.4.0/24 e1";
    let table = read(text);
    assert_eq!((table.format, table.rule), (LegacyFormat::NginxGeo, Rule::Smallest));
    assert_eq!(table.default, Some(Target::Named("centre".into())));
    assert_eq!(
        rows(&table),
        [
            "10.0.1.0-10.0.1.255 named e2",
            "10.0.0.0-10.0.0.255 named e3",
            "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff named e6",
            "192.0.2.1-192.0.2.1 named e9",
        ]
    );
    assert_eq!(
        remarks(&table),
        [
            (4, RemarkKind::Unsupported),
            (6, RemarkKind::HostBits),
            (9, RemarkKind::Syntax),
            (11, RemarkKind::Unsupported),
            (14, RemarkKind::Unsupported),
            (14, RemarkKind::Unsupported),
            (15, RemarkKind::Syntax),
            (5, RemarkKind::Contradiction),
        ]
    );
    let table = read("ranges;\n10.0.0.0-10.0.0.255 e1;\n10.0.0.7-10.0.0.9 e2;\n");
    assert_eq!(rows(&table), ["10.0.0.0-10.0.0.255 named e1", "10.0.0.7-10.0.0.9 named e2"]);
}

#[test]
fn gdnsd_nets() {
    let text = "10.0.0.0/24 => e1\n\
        10.0.1.0/24 => [ e2, e1 ], 10.0.2.0/24=>\"e1\"\n\
        10.0.3.0/24 =>\n\
        10.0.4.0/24 => [ e1\n\
        10.0.5.0/24 => e1\n\
        10.0.6/24 => e1\n\
        $include{more}\n\
        2001:db8::/32 => e6\n";
    let table = read(text);
    assert_eq!(table.format, LegacyFormat::GdnsdNets);
    assert_eq!(
        rows(&table),
        [
            "10.0.0.0-10.0.0.255 named e1",
            "10.0.1.0-10.0.1.255 edges e2;e1",
            "10.0.2.0-10.0.2.255 named e1",
            "10.0.5.0-10.0.5.255 named e1",
            "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff named e6",
        ]
    );
    let lines: Vec<u64> = table.remarks.iter().map(|remark| remark.line).collect();
    assert!([3, 4, 6, 7].iter().all(|line| lines.contains(line)), "{:?}", table.remarks);
}

#[test]
fn bind_lists_count_in_the_order_of_the_views() {
    let lists = "// old\nacl e1 { 10.0.0.0/8; };\n\
        acl \"e2\" {\n  !10.1.2.0/24;\n  10.1.0.0/16; /* nested */\n  key k;\n  10.2.0.1/16;\n};\n\
        acl all { any; };\n";
    let table = read(lists);
    assert_eq!((table.format, table.rule), (LegacyFormat::BindAcl, Rule::First));
    assert_eq!(
        rows(&table),
        [
            "10.0.0.0-10.255.255.255 named e1",
            "10.1.0.0-10.1.1.255 named e2",
            "10.1.3.0-10.1.255.255 named e2"
        ]
    );
    assert_eq!(table.default, Some(Target::Named("all".into())));
    assert_eq!(remarks(&table), [(6, RemarkKind::Unsupported), (7, RemarkKind::NotARange)]);
    let views = "view b { match-clients { e2; }; zone x { type master; }; };\n\
        view a { match-clients { e1; }; };\n";
    let table = read(format!("{lists}{views}"));
    assert_eq!(rows(&table)[2], "10.0.0.0-10.255.255.255 named e1");
    let file = table.static_file(None);
    assert!(file.flattened);
    assert_eq!(file.csv.lines().nth(1), Some("10.0.0.0/16,e1"));
    assert_eq!(file.rows, 5, "{}", file.csv);
}

#[test]
fn coverage_zones() {
    let text = r#"{"revision":"1","coverageZones":{
        "e1":{"network":["10.0.0.0/24","10.0.1.0/33"],"network6":["2001:db8::/32"],"coordinates":{"latitude":1}},
        "e2":{"network":["10.0.0.0/24",7]}, "e3": 5}}"#;
    let table = read(text);
    assert_eq!(table.format, LegacyFormat::Czf);
    assert_eq!(
        rows(&table),
        ["10.0.0.0-10.0.0.255 named e1", "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff named e1"]
    );
    let kinds: Vec<RemarkKind> = table.remarks.iter().map(|remark| remark.kind).collect();
    use RemarkKind::{Contradiction, NotARange, Syntax};
    assert_eq!(kinds, [NotARange, NotARange, Syntax, Contradiction]);
    let deep =
        r#"{"deepCoverageZones":{"room-7":{"network":["10.0.0.0/24"],"network6":[],"caches":["e1","e2"]}}}"#;
    assert_eq!(rows(&read(deep)), ["10.0.0.0-10.0.0.255 named room-7"]);
    let mut known = Known::default();
    known.edges.extend(["e1".into(), "e2".into()]);
    let table = Legacy::read(deep.as_bytes(), &ReadOptions { known, ..ReadOptions::default() }).unwrap();
    assert_eq!(rows(&table), ["10.0.0.0-10.0.0.255 edges e1;e2"]);
}

#[test]
fn a_row_for_every_address_is_the_default() {
    let table = read("0.0.0.0/0 centre\n::/0 other\n10.0.0.0/8 e1\n");
    assert_eq!(table.default, Some(Target::Named("centre".into())));
    assert_eq!(rows(&table), ["10.0.0.0-10.255.255.255 named e1"]);
    assert_eq!(remarks(&table), [(1, RemarkKind::Everything), (2, RemarkKind::Contradiction)]);
}

const SITE: &str = r#"
default-edge = "centre"
static-file = "legacy.csv"
[edge.centre]
addresses = ["198.51.100.1"]
[edge.e1]
addresses = ["198.51.100.2"]
[edge.e2]
addresses = ["198.51.100.3"]
[snmp.x]
version = "2c"
community = "c"
[bas."gz, 1"]
address = "192.0.2.1"
snmp = "x"
edges = ["e1"]
[bas.hz-1]
address = "192.0.2.2"
snmp = "x"
edges = ["e2"]
"#;

fn known() -> Known {
    let mut known = Known::default();
    known.bas.extend(["gz, 1", "hz-1"].map(|name| (name.into(), name.into())));
    known.edges.extend(["centre", "e1", "e2"].map(Name::from));
    known
}

fn configured(folder: &Path, csv: &str) -> Vec<StaticLine> {
    std::fs::write(folder.join("legacy.csv"), csv).unwrap();
    std::fs::write(folder.join("site.toml"), SITE).unwrap();
    match Config::load(&folder.join("site.toml")) {
        Ok(loaded) => loaded.config.statics,
        Err(e) => panic!("{e}\n{csv}"),
    }
}

#[test]
fn configuration_reads_the_static_file() {
    let text = "range;who\n\
        10.0.0.0/24;gz, 1\n\
        10.0.0.3-10.0.0.9;hz-1\n\
        2001:db8::/32;e1\n\
        10.9.0.0/16;nobody\n\
        127.0.0.0/24;e1\n\
        203.0.113.0/24;\"e1|e2\"\n";
    let options = ReadOptions { known: known(), ..ReadOptions::default() };
    let table = Legacy::read(text.as_bytes(), &options).unwrap();
    let file = table.static_file(Some(&known()));
    assert_eq!(
        file.csv,
        "range,bas,edges\n\
        10.0.0.0/24,\"gz, 1\",\n\
        10.0.0.3-10.0.0.9,hz-1,\n\
        2001:db8::/32,,e1\n\
        203.0.113.0/24,,e1;e2\n"
    );
    let left: Vec<_> = file.remarks.iter().map(|remark| (remark.line, remark.kind)).collect();
    assert_eq!(left, [(5, RemarkKind::UnknownName), (6, RemarkKind::NeverPublished)]);
    assert!(!file.unchecked && !file.flattened);
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<_> =
        configured(folder.path(), &file.csv).into_iter().map(|l| (l.range.to_string(), l.target)).collect();
    assert_eq!(
        lines,
        [
            ("10.0.0.0-10.0.0.255".to_owned(), Line::Bas("gz, 1".into())),
            ("10.0.0.3-10.0.0.9".to_owned(), Line::Bas("hz-1".into())),
            ("2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff".to_owned(), Line::Edges(vec!["e1".into()])),
            ("203.0.113.0-203.0.113.255".to_owned(), Line::Edges(vec!["e1".into(), "e2".into()])),
        ]
    );
}

#[test]
fn what_static_lines_would_choose_otherwise_is_cut() {
    // 10.0.0.0-10.0.0.5 lies in 10.0.0.0-10.0.0.9 and is more than half of it: static lines
    // would let neither drop out.
    let table = read("10.0.0.0-10.0.0.9,e1\n10.0.0.0-10.0.0.5,e2\n10.1.0.0/24,e1\n10.1.0.0/25,e2\n");
    let file = table.static_file(None);
    assert!(file.flattened && file.unchecked);
    assert_eq!(
        file.csv,
        "range,edges\n10.0.0.0-10.0.0.5,e2\n10.0.0.6-10.0.0.9,e1\n10.1.0.0/25,e2\n10.1.0.128/25,e1\n"
    );
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(configured(folder.path(), &file.csv).len(), 4);
}

#[test]
fn what_our_own_formats_write_gives_the_table_back() {
    let snapshot = fixture::fixed();
    let known = Known::of_snapshot(&snapshot);
    // The other formats are the operator's own lines, or have no table to give back.
    let mut read = 0;
    for format in poolsync::format::formats() {
        let name = format.name();
        if LegacyFormat::of_name(name).is_none() {
            continue;
        }
        read += 1;
        let one = format.spaces() == poolsync::format::Spaces::One;
        let space = one.then(|| Name::from("internet"));
        let view = View::new(&snapshot, &Scope { space, service: "default".into() }).unwrap();
        let stamp = poolsync::format::Stamp::from(&snapshot);
        let file = by_name(name).unwrap().render(&view, &stamp).unwrap().bytes();
        let table = Legacy::read(file.as_slice(), &ReadOptions::default()).unwrap();
        assert_eq!(table.remarks, [], "{name}");
        assert_eq!(LegacyFormat::of_name(name), Some(table.format), "{name}");
        // Address by address at the ends of every row: who answers.
        let excluded: poolsync::address::RangeSet = format.excluded().iter().copied().collect();
        for row in view.rows() {
            let ends = [row.entry.range.first(), row.entry.range.last()];
            for address in ends.into_iter().filter(|address| !excluded.contains(*address)) {
                let found = table
                    .rows
                    .iter()
                    .filter(|r| r.space.as_ref().is_none_or(|space| *space == row.entry.space))
                    .find(|r| r.range.contains(address));
                let Some(found) = found else { panic!("{name} lost {address}") };
                let target = known.resolve(&found.target).unwrap_or_else(|| panic!("{name}: {found:?}"));
                let group: Vec<Name> = row.group.edges.iter().map(|edge| edge.name.clone()).collect();
                let bas = row.entry.bas.clone();
                let fits =
                    target == Target::Edges(group) || bas.is_some_and(|bas| target == Target::Bas(bas));
                assert!(fits, "{name}: {address} is given to {target:?}");
            }
        }
        let covered = |ranges: Vec<poolsync::address::Range>| {
            ranges.into_iter().collect::<poolsync::address::RangeSet>()
        };
        let ours = covered(view.rows().iter().map(|row| row.entry.range).collect()).subtract(&excluded);
        assert_eq!(covered(table.rows.iter().map(|row| row.range).collect()), ours, "{name}");
    }
    assert!(read >= 6, "only {read} formats were read");
}
