//! An old table with planted faults: each comes out exactly, whatever format it is in.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/coverage/fleet.rs"]
mod fleet;

use poolsync::address::{Family, Range, RangeSet};
use poolsync::coverage::{
    Addresses, AgainstReport, FindingKind, Known, Legacy, NameFigures, ReadOptions, Served,
};
use poolsync::table::{Class, Entry, Name, PoolName, Table};
use proptest::collection::vec;
use proptest::prelude::*;

fn report(file: &[u8]) -> AgainstReport {
    let known = fleet::known();
    let options = ReadOptions { known: known.clone(), ..ReadOptions::default() };
    let old = Legacy::read(file, &options).unwrap();
    AgainstReport::new(&fleet::served(), &old, &known)
}

/// The findings as `kind range addresses`.
fn found(report: &AgainstReport) -> Vec<String> {
    let kind = |kind| match kind {
        FindingKind::Hole => "hole",
        FindingKind::WrongOwner => "wrong",
        FindingKind::Dead => "dead",
    };
    report.findings.iter().map(|f| format!("{} {} {}", kind(f.kind), f.range, f.addresses.0)).collect()
}

#[test]
fn planted_faults_come_out_in_every_format() {
    let hole6 = format!("hole 2001:db8:2::-2001:db8:2:ffff:ffff:ffff:ffff:ffff {}", 1u128 << 80);
    let dead6 = format!("dead 2001:db8:f::-2001:db8:f:0:ffff:ffff:ffff:ffff {}", 1u128 << 64);
    let wanted = [
        "hole 10.2.128.0-10.2.191.255 16384",
        "hole 10.2.193.0-10.2.255.255 16128",
        hole6.as_str(),
        "wrong 10.3.0.0-10.3.63.255 16384",
        "wrong 10.1.128.0-10.1.143.255 4096",
        "dead 10.8.0.0-10.8.3.255 1024",
        "dead 10.9.0.0-10.9.0.255 256",
        dead6.as_str(),
    ];
    let formats = fleet::formats();
    assert!(formats.len() >= 14);
    for (name, file) in formats {
        let report = report(&file);
        assert_eq!(found(&report), wanted, "{name}");
        let [v4, v6] = report.families.as_slice() else { panic!("{name}: {:?}", report.families) };
        let count = |n: u128| Addresses(n);
        assert_eq!((v4.served, v4.old, v4.filled), (count(163_840), count(132_608), count(256)), "{name}");
        assert_eq!(v4.agreed.addresses, count(110_848), "{name}");
        assert_eq!(v4.holes.addresses, count(32_512), "{name}");
        assert_eq!(v4.wrong.addresses, count(20_480), "{name}");
        assert_eq!(v4.dead.addresses, count(1_280), "{name}");
        assert_eq!(v4.holes.share, Some(32_512.0 / 163_840.0), "{name}");
        assert_eq!(v4.dead.share, Some(1_280.0 / 132_608.0), "{name}");
        assert_eq!((v6.served, v6.agreed.addresses), (count(2 << 80), count(1 << 80)), "{name}");
        assert_eq!(v6.dead.addresses, count(1 << 64), "{name}");
        assert!(!report.is_clean());
    }
}

fn figures(all: &[NameFigures]) -> Vec<(String, u8, u128, u128, u128, u128)> {
    all.iter()
        .map(|f| {
            let part = [f.agreed, f.holes, f.wrong].map(|figure| figure.addresses.0);
            (f.name.to_string(), f.family.number(), f.served.0, part[0], part[1], part[2])
        })
        .collect()
}

#[test]
fn figures_go_by_bas_and_by_edge_and_by_old_name() {
    let (_, file) = fleet::formats().remove(0);
    let report = report(&file);
    let (net, none) = (1u128 << 80, 0);
    let row = |name: &str, family, served, agreed, holes, wrong| {
        (name.to_owned(), family, served, agreed, holes, wrong)
    };
    assert_eq!(
        figures(&report.by_bas),
        [
            row("bas-2b", 4, 32_768, 256, 32_512, 0),
            row("bas-3", 4, 32_768, 16_384, 0, 16_384),
            row("bas-1", 4, 65_536, 61_440, 0, 4_096),
            row("bas-2", 4, 32_768, 32_768, 0, 0),
            row("bas-2", 6, net, none, net, none),
            row("bas-1", 6, net, net, none, none),
        ]
    );
    assert_eq!(
        figures(&report.by_edge)[..3],
        [
            row("e2", 4, 65_536, 33_024, 32_512, 0),
            row("e3", 4, 32_768, 16_384, 0, 16_384),
            row("e1", 4, 65_536, 61_440, 0, 4_096),
        ]
    );
    let old: Vec<_> = report
        .by_old
        .iter()
        .map(|f| {
            (f.name.as_str(), f.family.number(), f.known, f.old.0, f.wrong.addresses.0, f.dead.addresses.0)
        })
        .collect();
    assert_eq!(
        old,
        [
            ("bas-9", 4, false, 16_384, 16_384, 0),
            ("bas-2", 4, true, 37_120, 4_096, 0),
            ("bas-1", 4, true, 62_720, 0, 1_280),
            ("bas-3", 4, true, 16_384, 0, 0),
            ("bas-3", 6, true, 1 << 64, 0, 1 << 64),
            ("bas-1", 6, true, net, 0, 0),
        ]
    );
}

#[test]
fn text_and_csv_tell_the_same() {
    let (_, file) = fleet::formats().remove(0);
    let report = report(&file);
    let text = report.text(2);
    // Columns align; how wide they are does not matter here.
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "The old table (csv, 10 rows) against the table of internet",
        "holes 32,512 19.8 % served",
        "dead 1,280 1.0 % the old table",
        "10.2.128.0/18 16,384 10.0 % bas-2b e2 - -",
        "10.3.0.0/18 16,384 10.0 % bas-3 e3 bas-9 5",
        "10.8.0.0/22 1,024 0.8 % bas-1 7",
        "and 1 more",
    ] {
        assert!(text.lines().any(|l| plain(l) == line), "no `{line}` in\n{text}");
    }
    let csv = report.csv();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("kind,family,first,last,prefixes,addresses,share,bas,edge,old,line"));
    assert_eq!(
        lines.next(),
        Some("hole,4,10.2.128.0,10.2.191.255,10.2.128.0/18,16384,0.100000000,bas-2b,e2,,0")
    );
    assert_eq!(csv.lines().count(), 1 + report.findings.len());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["families"][0]["holes"]["addresses"], "32512");
    assert_eq!(json["findings"][3]["kind"], "wrong-owner");
    assert_eq!(json["findings"][3]["old"], "bas-9");
    assert_eq!(json["by_bas"][0]["family"], 4);
}

#[test]
fn a_table_is_clean_against_its_own_export() {
    let snapshot = fleet::snapshot();
    let scope = poolsync::format::Scope { space: Some("internet".into()), service: "default".into() };
    let view = poolsync::format::View::new(&snapshot, &scope).unwrap();
    for format in poolsync::format::formats() {
        let stamp = poolsync::format::Stamp::from(&snapshot);
        let file = format.render(&view, &stamp).unwrap().bytes();
        let report = report(&file);
        // The line that fills is in the export, and no BAS serves it.
        let v4 = report.families.iter().find(|f| f.family == Family::V4).unwrap();
        assert_eq!(v4.agreed.addresses, v4.served, "{}", format.name());
        assert!(
            report.findings.iter().all(|f| f.kind == FindingKind::Dead || f.range.family() == Family::V6)
        );
    }
}

fn table(parts: &[(bool, u8, u8)], names: [&str; 3]) -> Vec<(Range, Name)> {
    let range = |(v6, first, span): &(bool, u8, u8)| {
        let family = if *v6 { Family::V6 } else { Family::V4 };
        let first = 0x0100_0000 + u128::from(*first);
        Range::from_bits(family, first, first + u128::from(*span)).unwrap()
    };
    let disjoint: RangeSet = parts.iter().map(range).collect();
    disjoint.iter().enumerate().map(|(at, range)| (*range, Name::from(names[at % 3]))).collect()
}

proptest! {
    /// Figures and findings equal a walk over every address.
    #[test]
    fn equals_asking_for_each_address(
        ours in vec((any::<bool>(), any::<u8>(), 0u8..40), 0..12),
        old in vec((any::<bool>(), any::<u8>(), 0u8..40), 1..12),
    ) {
        let (ours, old) = (table(&ours, ["a", "b", "c"]), table(&old, ["b", "a", "x"]));
        let entry = |(range, bas): &(Range, Name)| Entry {
            space: "internet".into(),
            range: *range,
            owner: bas.clone(),
            bas: Some(bas.clone()),
            pool: PoolName::new(b""),
            vrf: "".into(),
            class: Class::Fresh,
        };
        let served = Served::of_table(&Table::new(ours.iter().map(entry).collect()).unwrap(), &"internet".into());
        let csv: String = old.iter().map(|(range, name)| format!("{range},{name}\n")).collect();
        let legacy = Legacy::read(csv.as_bytes(), &ReadOptions::default()).unwrap();
        let report = AgainstReport::new(&served, &legacy, &Known::default());
        for family in Family::ALL {
            let (mut holes, mut wrong, mut dead, mut agreed) = (0, 0, 0, 0);
            for bits in 0x00ff_ff00u128..0x0100_0200 {
                let address = family.address(bits);
                let who = |list: &[(Range, Name)]| {
                    list.iter().find(|(range, _)| range.contains(address)).map(|(_, name)| name.clone())
                };
                let kind = match (who(&ours), who(&old)) {
                    (None, None) => None,
                    (Some(_), None) => { holes += 1; Some(FindingKind::Hole) }
                    (None, Some(_)) => { dead += 1; Some(FindingKind::Dead) }
                    (Some(a), Some(b)) if a == b => { agreed += 1; None }
                    _ => { wrong += 1; Some(FindingKind::WrongOwner) }
                };
                let finding = report.findings.iter().filter(|f| f.range.contains(address));
                prop_assert_eq!(finding.map(|f| f.kind).collect::<Vec<_>>(), kind.into_iter().collect::<Vec<_>>());
            }
            let found = report.families.iter().find(|f| f.family == family);
            let found = found.map(|f| {
                [f.holes, f.wrong, f.dead, f.agreed].map(|figure| figure.addresses.0)
            });
            prop_assert_eq!(found.unwrap_or_default(), [holes, wrong, dead, agreed]);
        }
    }
}
