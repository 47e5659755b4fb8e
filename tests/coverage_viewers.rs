//! A log of 100,000 viewers, drawn by a fixed seed from the pools and from outside: every
//! figure is known by construction. And logs that are damaged.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/coverage/fleet.rs"]
mod fleet;

use std::io::{Read, Write as _};
use std::net::IpAddr;

use poolsync::address::{Family, Range};
use poolsync::coverage::{
    CoverageError, CoverageReport, Known, Legacy, LogShape, NameRequests, Packing, Progress, Question,
    ReadOptions, Resolvers, Served, ShapeError, measure,
};
use poolsync::table::{Class, Entry, Name, PoolName, Table};
use proptest::collection::vec;
use proptest::prelude::*;

/// Where the viewers are, how many there are, and what both tables say of them:
/// (covered by the table, in a row of the old one).
const VIEWERS: [(&str, usize, bool, bool); 13] = [
    ("10.1.0.0/17", 40_000, true, true),      // bas-1, the old table is right
    ("10.1.128.0/20", 2_000, true, true),     // bas-1, the old table says bas-2
    ("10.2.0.0/17", 20_000, true, true),      // bas-2, right
    ("10.2.128.0/18", 15_000, true, false),   // bas-2b, a hole
    ("10.3.0.0/18", 3_000, true, true),       // bas-3, the old table says bas-9
    ("10.3.64.0/18", 5_000, true, true),      // bas-3, right
    ("10.9.0.0/24", 500, true, true),         // a line that fills; the old table says bas-1
    ("10.8.0.0/22", 1_000, false, true),      // nobody's
    ("198.51.100.0/24", 4_000, false, false), // outside
    ("203.0.113.0/24", 2_000, false, false),  // outside
    ("2001:db8:1::/48", 4_000, true, true),   // bas-1, right
    ("2001:db8:2::/48", 2_000, true, false),  // bas-2, a hole
    ("2001:db8:9::/48", 1_500, false, false), // outside
];

/// A generator of numbers that is the same everywhere (Knuth's MMIX constants).
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }
}

/// The viewers in an order that mixes them: address, covered, old.
fn viewers() -> Vec<(IpAddr, bool, bool)> {
    let mut seed = Seeded(2026);
    let mut all = Vec::new();
    for (range, count, covered, old) in VIEWERS {
        let range: Range = range.parse().unwrap();
        for _ in 0..count {
            let within = u128::from(seed.next()) % (range.span() + 1).min(1 << 40);
            all.push((range.family().address(range.first_bits() + within), covered, old));
        }
    }
    for at in (1..all.len()).rev() {
        all.swap(at, seed.next() as usize % (at + 1));
    }
    assert_eq!(all.len(), 100_000);
    all
}

struct Ask {
    served: Served,
    known: Known,
    old: Option<Legacy>,
    resolvers: Option<Resolvers>,
    shape: LogShape,
}

impl Ask {
    fn fleet() -> Self {
        Self {
            served: fleet::served(),
            known: fleet::known(),
            old: None,
            resolvers: None,
            shape: LogShape::Auto,
        }
    }

    fn against(file: &[u8]) -> Self {
        let known = fleet::known();
        let options = ReadOptions { known: known.clone(), ..ReadOptions::default() };
        Self { old: Some(Legacy::read(file, &options).unwrap()), ..Self::fleet() }
    }

    fn measure(&self, log: impl Read) -> Result<CoverageReport, CoverageError> {
        let question = Question {
            served: &self.served,
            old: self.old.as_ref(),
            known: &self.known,
            resolvers: self.resolvers.as_ref(),
            shape: self.shape.clone(),
            top: 10,
            name: Some("access.log"),
        };
        measure(log, &question, |_| ())
    }
}

fn plain() -> Vec<u8> {
    viewers().iter().map(|(address, ..)| format!("{address}\n")).collect::<String>().into_bytes()
}

/// Ten thousand lines a minute.
fn common() -> Vec<u8> {
    let line = |(at, (address, ..)): (usize, &(IpAddr, bool, bool))| {
        let (minute, second) = (at / 10_000, at % 60);
        format!(
            "{address} - - [10/Oct/2025:13:{minute:02}:{second:02} +0200] \"GET /v/{at} HTTP/1.1\" 200 7 \"-\" \"a b\"\n"
        )
    };
    viewers().iter().enumerate().map(line).collect::<String>().into_bytes()
}

fn json() -> Vec<u8> {
    let line = |(at, (address, ..)): (usize, &(IpAddr, bool, bool))| {
        let minute = at / 10_000;
        format!(
            "{{\"ts\":\"2025-10-10T11:{minute:02}:00.5Z\",\"x\":{{\"ip\":\"192.0.2.9\"}},\"q\":\"\\\"ip\\\":\",\"ip\":\"{address}\"}}\n"
        )
    };
    viewers().iter().enumerate().map(line).collect::<String>().into_bytes()
}

fn cells() -> Vec<u8> {
    let line = |(address, ..): &(IpAddr, bool, bool)| match address {
        IpAddr::V4(address) => format!("\"a;b\";x;{address}:4711;z\r\n"),
        IpAddr::V6(address) => format!("\"a;b\";x;[{address}]:4711;z\r\n"),
    };
    viewers().iter().map(line).collect::<String>().into_bytes()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

fn named(all: &[NameRequests]) -> Vec<(&str, u64)> {
    all.iter().map(|named| (named.name.as_str(), named.part.requests)).collect()
}

fn check(report: &CoverageReport, what: &str) {
    assert_eq!(report.log.requests, 100_000, "{what}");
    assert_eq!(report.log.lines, 100_000, "{what}");
    assert_eq!((report.covered.requests, report.missed.requests), (91_500, 8_500), "{what}");
    assert_eq!(report.missed.share, Some(0.085), "{what}");
    let families: Vec<_> =
        report.families.iter().map(|f| (f.family.number(), f.requests, f.missed.requests)).collect();
    assert_eq!(families, [(4, 92_500, 7_000), (6, 7_500, 1_500)], "{what}");
    assert_eq!(
        named(&report.by_bas),
        [("bas-1", 46_000), ("bas-2", 22_000), ("bas-2b", 15_000), ("bas-3", 8_000), ("edges:e1", 500)],
        "{what}"
    );
    assert_eq!(named(&report.by_edge), [("e1", 46_500), ("e2", 37_000), ("e3", 8_000)], "{what}");
    let misses: Vec<_> =
        report.misses.prefixes.iter().map(|p| (p.prefix.as_str(), p.part.requests)).collect();
    assert_eq!(
        misses,
        [
            ("198.51.100.0/24", 4_000),
            ("203.0.113.0/24", 2_000),
            ("2001:db8:9::/48", 1_500),
            ("10.8.0.0/22", 1_000)
        ],
        "{what}"
    );
    assert!(report.is_complete() && report.log.unreadable == 0, "{what}");
}

#[test]
fn the_planted_figures_come_out_of_every_kind_of_log() {
    let shape = |number, separator| LogShape::Field { number, separator };
    for (name, log, told, timed) in [
        ("plain", plain(), LogShape::Auto, false),
        ("common", common(), LogShape::Auto, true),
        ("json", json(), LogShape::Auto, true),
        ("json by key", json(), LogShape::Json { key: "ip".into(), time: Some("ts".into()) }, true),
        ("cells", cells(), shape(3, Some(b';')), false),
    ] {
        let ask = Ask { shape: told, ..Ask::fleet() };
        for (packing, file) in
            [(Packing::Plain, log.clone()), (Packing::Gzip, gzip(&log)), (Packing::Zstd, zstd(&log))]
        {
            let report = ask.measure(file.as_slice()).unwrap();
            check(&report, name);
            assert_eq!(report.log.packing, packing);
            assert_eq!(report.log.octets, log.len() as u64);
            assert_eq!(report.times.is_some(), timed, "{name}");
        }
    }
}

#[test]
fn the_old_table_beside_it_in_every_format() {
    let log = plain();
    for (name, file) in fleet::formats() {
        let report = Ask::against(&file).measure(log.as_slice()).unwrap();
        check(&report, name);
        let against = report.against.as_ref().unwrap();
        assert_eq!((against.old_covered.requests, against.old_missed.requests), (75_500, 24_500), "{name}");
        assert_eq!(against.only_table.requests, 17_000, "{name}");
        assert_eq!(against.only_old.requests, 1_000, "{name}");
        assert_eq!(against.neither.requests, 7_500, "{name}");
        // The line that fills names an edge: a table of edges says the same, one of BASes does not.
        let by_bas = against.by_old.iter().any(|named| named.name.starts_with("bas"));
        let filled = if by_bas { 0 } else { 500 };
        assert_eq!(against.agreed.requests, 69_000 + filled, "{name}");
        assert_eq!(against.differing.requests, 5_500 - filled, "{name}");
        let text = report.text(3);
        assert!(
            text.contains("24.5 % went to the default edge by the old table, 8.5 % go there by this one"),
            "{text}"
        );
    }
}

#[test]
fn over_time() {
    let (_, file) = fleet::formats().remove(0);
    let report = Ask::against(&file).measure(common().as_slice()).unwrap();
    let times = report.times.unwrap();
    assert_eq!((times.step_s, times.untimed, times.steps.len()), (60, 0, 10));
    let all = viewers();
    for (at, step) in times.steps.iter().enumerate() {
        let minute = &all[at * 10_000..(at + 1) * 10_000];
        let missed = minute.iter().filter(|(_, covered, _)| !covered).count() as u64;
        let old = minute.iter().filter(|(.., old)| !old).count() as u64;
        assert_eq!(step.start.to_string(), format!("2025-10-10T11:{at:02}:00Z"));
        assert_eq!((step.requests, step.missed.requests), (10_000, missed));
        assert_eq!(step.old_missed.unwrap().requests, old);
    }
}

#[test]
fn a_long_span_widens_the_steps_and_loses_nothing() {
    let hours = 24 * 400;
    let mut log = String::from("10.1.0.1 - - [not a time at all, of that length] x\n");
    for hour in 0..hours {
        let time = jiff::Timestamp::from_second(1_700_000_000 + hour * 3600).unwrap();
        log.push_str(&time.strftime("10.1.0.1 - - [%d/%b/%Y:%H:%M:%S +0000] \"GET /\"\n").to_string());
    }
    let times = Ask::fleet().measure(log.as_bytes()).unwrap().times.unwrap();
    assert_eq!(times.step_s, 86_400);
    assert_eq!(times.untimed, 1);
    assert_eq!(times.steps.iter().map(|step| step.requests).sum::<u64>(), hours as u64);
    assert!((400..=401).contains(&times.steps.len()), "{}", times.steps.len());
}

#[test]
fn known_resolvers_are_counted_apart() {
    let list = "# name behind the addresses\n198.51.100.0/24,public\n10.2.128.0/18,own\n192.0.2.53,idle\n";
    let ask = Ask { resolvers: Some(Resolvers::read(list.as_bytes()).unwrap()), ..Ask::fleet() };
    let report = ask.measure(plain().as_slice()).unwrap();
    assert_eq!((report.requests, report.missed.requests), (81_000, 4_500));
    assert_eq!(named(&report.by_bas)[0], ("bas-1", 46_000));
    assert!(report.by_bas.iter().all(|named| named.name != Name::from("bas-2b")));
    let apart = report.resolvers.as_ref().unwrap();
    assert_eq!((apart.all.requests, apart.all.share), (19_000, Some(0.19)));
    assert_eq!(apart.covered.requests, 15_000);
    assert_eq!(named(&apart.by_name), [("own", 15_000), ("public", 4_000)]);
    assert!(report.misses.prefixes.iter().all(|p| p.prefix != "198.51.100.0/24"));
    assert!(report.text(5).contains("Known resolvers, not counted above: 19,000 requests, 19.0 % of all"));
}

#[test]
fn other_clothes_are_taken_off_or_said() {
    let log = "::ffff:10.1.0.1\n64:ff9b::10.2.0.1\n64:ff9b::cb00:7101\n2001:0:4136:e378:8000:63bf:3fff:fdd2\n2002:a01:1::1\n";
    let report = Ask::fleet().measure(log.as_bytes()).unwrap();
    let forms = report.forms;
    assert_eq!((forms.mapped, forms.nat64, forms.teredo, forms.six_to_four), (1, 2, 1, 1));
    assert_eq!(named(&report.by_bas), [("bas-1", 1), ("bas-2", 1)]);
    let misses: Vec<_> = report.misses.prefixes.iter().map(|p| p.prefix.as_str()).collect();
    assert_eq!(misses, ["203.0.113.0/24", "2001:0:4136::/48", "2002:a01:1::/48"]);
}

#[test]
fn lines_that_say_nothing_are_counted_and_shown() {
    let log = "# a log\n\n10.1.0.1\n  10.1.0.2  \r\nunknown\n10.1.0.999\n10.1.0.3, 192.0.2.1\n10.1.0.4:80\n\u{7}evil\n10.1.0.5";
    let report = Ask::fleet().measure(log.as_bytes()).unwrap();
    let log = &report.log;
    assert_eq!((log.lines, log.requests, log.empty, log.comments, log.unreadable), (10, 5, 1, 1, 3));
    let examples: Vec<_> = log.unreadable_examples.iter().map(|e| (e.line, e.text.as_str())).collect();
    assert_eq!(examples, [(5, "unknown"), (6, "10.1.0.999"), (9, "\\u{7}evil")]);
    assert_eq!(log.notes, ["the last line has no end: it was taken as it stands"]);
}

#[test]
fn damaged_logs_end_in_a_clear_word() {
    let ask = Ask::fleet();
    let word = |log: &[u8]| ask.measure(log).unwrap_err().to_string();
    let utf16: Vec<u8> = "10.1.0.1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe".to_vec(), utf16.clone()].concat();
    for log in [utf16, marked] {
        assert_eq!(word(&log), "it is in UTF-16; make it UTF-8 first, as with `iconv -f UTF-16 -t UTF-8`");
    }
    assert_eq!(word(b""), "it is empty");
    assert_eq!(word(b"\x7fELF\x02\x01\x01\0\0\0\0"), "it is no text: it holds zero octets");
    assert_eq!(
        word(b"PK\x03\x04"),
        "this is a zip file (a spreadsheet is one, too: save it as CSV): unpack it first"
    );
    assert_eq!(word(b"\x1f\x8b\x08"), "the gzip data ends too early: the file was cut short");
    assert_eq!(word(b"hello\n"), "no address is to be seen in the first lines; the first is `hello`");
    assert_eq!(ask.measure(&b"a 10.1.0.1 b\n"[..]), Err(CoverageError::Shape(ShapeError::Elsewhere(2))));
    let told = Ask { shape: LogShape::Field { number: 4, separator: None }, ..Ask::fleet() };
    assert_eq!(
        told.measure(&b"a 10.1.0.1 b\n"[..]).unwrap_err().to_string(),
        "none of its 1 lines has an address where it should be (field 4); the first is `a 10.1.0.1 b`"
    );
}

#[test]
fn what_was_cut_short_gives_what_came_before() {
    let log = plain();
    for file in [gzip(&log), zstd(&log)] {
        let report = Ask::fleet().measure(&file[..file.len() / 2]).unwrap();
        assert!(!report.is_complete());
        assert_eq!(report.log.state, "truncated");
        assert!((10_000..90_000).contains(&report.requests), "{}", report.requests);
        // The line that was cut is not taken for an address.
        let viewers = viewers();
        let lines = report.log.lines as usize;
        let missed = viewers[..lines].iter().filter(|(_, covered, _)| !covered).count() as u64;
        assert_eq!((report.requests, report.missed.requests), (lines as u64, missed));
        assert!(report.text(3).contains("ends too early"));
    }
    let mut file = gzip(&log);
    let end = file.len() - 6;
    file[end] ^= 1;
    assert_eq!(Ask::fleet().measure(file.as_slice()).unwrap().log.state, "damaged");
}

/// A stream that must not be read further than some octets.
struct Guarded<R>(R, u64);

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1 = self.1.checked_sub(count as u64).unwrap_or_else(|| panic!("read too far"));
        Ok(count)
    }
}

#[test]
fn three_hundred_megabytes_without_a_line_end() {
    let endless = Guarded(std::io::repeat(b'1').take(300 << 20), 20 << 20);
    let wrong = Ask::fleet().measure(endless).unwrap_err();
    assert!(matches!(wrong, CoverageError::NoLines(_)), "{wrong}");
    // Between lines of a log it is one line that is too long.
    let long = b"10.1.0.1\n".chain(std::io::repeat(b'1').take(300 << 20)).chain(&b"\n10.1.0.2\n"[..]);
    let report = Ask::fleet().measure(long).unwrap();
    assert_eq!((report.requests, report.log.too_long, report.log.lines), (2, 1, 3));
}

#[test]
fn a_text_that_is_named_as_if_packed_is_read_and_said() {
    let ask = Ask::fleet();
    let question = Question {
        served: &ask.served,
        old: None,
        known: &ask.known,
        resolvers: None,
        shape: LogShape::Auto,
        top: 10,
        name: Some("access.log.gz"),
    };
    let mut told = Vec::new();
    let report = measure(&b"\xef\xbb\xbf10.1.0.1\n"[..], &question, |p| told.push(p)).unwrap();
    assert_eq!(report.requests, 1);
    assert_eq!(report.log.notes, ["access.log.gz is named as if it were packed, and is plain text"]);
    assert_eq!(told, [Progress { octets: 12, lines: 1 }]);
}

#[test]
fn a_plot_is_xml_and_shows_the_lines() {
    let (_, file) = fleet::formats().remove(0);
    let plot = Ask::against(&file).measure(common().as_slice()).unwrap().svg();
    assert_eq!(plot.matches("<polyline").count(), 2);
    assert!(plot.contains("Requests that no entry covers: 8.5 % of 100,000"));
    let bars = Ask::fleet().measure(plain().as_slice()).unwrap().svg();
    assert_eq!(bars.matches("<rect").count(), 5);
    for svg in [plot, bars] {
        let (open, close) = (svg.matches("<text").count(), svg.matches("</text>").count());
        assert!(open == close && svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}

fn address() -> impl Strategy<Value = IpAddr> {
    let near = |family: Family, base: u128| (0u128..600).prop_map(move |n| family.address(base + n));
    prop_oneof![
        near(Family::V4, 0x0a00_0000),
        near(Family::V4, 0x0a00_ff00),
        near(Family::V6, 0x2001_0db8 << 96),
        any::<u32>().prop_map(|bits| Family::V4.address(bits.into())),
        any::<u128>().prop_map(|bits| Family::V6.address(bits)),
    ]
}

proptest! {
    // Each case has counters for the whole of IPv4.
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Counts equal a slow scan, whatever else is in the log and however it is cut.
    #[test]
    fn counts_equal_a_slow_scan(
        parts in vec((address(), 0u128..300), 0..12),
        lines in vec(prop_oneof![8 => address().prop_map(|a| a.to_string()), 1 => "[a-f0-9:.]{0,12}"], 1..200),
        ends in vec(any::<bool>(), 200),
    ) {
        let ranges: poolsync::address::RangeSet = parts
            .iter()
            .filter_map(|(first, span)| {
                let first = Range::single(*first);
                let last = first.last_bits().saturating_add(*span).min(first.family().max());
                Range::from_bits(first.family(), first.first_bits(), last)
            })
            .collect();
        let entry = |(at, range): (usize, Range)| {
            let bas = Name::from(format!("b{}", at % 3));
            Entry {
                space: "internet".into(),
                range,
                owner: bas.clone(),
                bas: Some(bas),
                pool: PoolName::new(b""),
                vrf: "".into(),
                class: Class::Fresh,
            }
        };
        let table = Table::new(ranges.into_iter().enumerate().map(entry).collect()).unwrap();
        let log: String =
            lines.iter().zip(&ends).map(|(line, end)| format!("{line}{}", if *end { "\n" } else { "\r\n" })).collect();
        let ask = Ask {
            served: Served::of_table(&table, &"internet".into()),
            shape: LogShape::Plain,
            ..Ask::fleet()
        };
        let parsed: Vec<IpAddr> = lines.iter().filter_map(|line| line.parse::<IpAddr>().ok()).collect();
        let empty = lines.iter().filter(|line| line.is_empty()).count() as u64;
        let nat64 = |address: &IpAddr| match address {
            IpAddr::V6(a) if a.to_bits() >> 32 == 0x0064_ff9b << 64 => Family::V4.address(a.to_bits() & 0xffff_ffff),
            other => other.to_canonical(),
        };
        match ask.measure(log.as_bytes()) {
            Err(e) => prop_assert!(parsed.is_empty(), "{}", e),
            Ok(report) => {
                prop_assert_eq!(report.requests, parsed.len() as u64);
                let covered: Vec<Option<&Entry>> =
                    parsed.iter().map(|address| table.lookup("internet", nat64(address))).collect();
                prop_assert_eq!(report.covered.requests, covered.iter().flatten().count() as u64);
                for named in &report.by_bas {
                    let slow = covered.iter().flatten().filter(|entry| entry.bas.as_ref() == Some(&named.name)).count();
                    prop_assert_eq!(named.part.requests, slow as u64);
                }
                let missed: u64 = report.misses.prefixes.iter().map(|p| p.part.requests).sum();
                prop_assert_eq!(missed + report.misses.more_requests, report.missed.requests);
                prop_assert_eq!(report.log.empty, empty);
                prop_assert_eq!(report.log.lines, lines.len() as u64);
                prop_assert_eq!(report.log.unreadable, lines.len() as u64 - empty - parsed.len() as u64);
            }
        }
    }
}
