//! Building a table of a million ranges, comparing, updating, and looking addresses up, each
//! beside what it is to be measured by. Run it with `cargo bench --bench table`; the ratios
//! stand at the end.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, unreachable_pub)]

mod fleet;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use fleet::Numbers;
use poolsync::address::{Family, Range};
use poolsync::format::{Scope, Stamp, View, by_name};
use poolsync::table::{
    BuildRules, Claim, Claimants, Ledger, Lookup, Name, Snapshot, Table, Touched, build, diff,
};

fn main() {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("criterion");
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5))
        .output_directory(&home)
        .configure_from_args();
    build_and_compare(&mut criterion);
    for (name, family) in [("ipv4", Family::V4), ("ipv6", Family::V6)] {
        look_up(&mut criterion, name, family);
    }
    criterion.final_summary();
    ratios(&home);
}

/// A fleet that claims what it is told to.
struct Told {
    bases: BTreeMap<Name, Vec<Claim>>,
}

impl Claimants for Told {
    fn all(&self) -> Vec<Claim> {
        self.bases.values().flatten().cloned().collect()
    }

    fn of_bas(&self, bas: &Name) -> Vec<Claim> {
        self.bases.get(bas).cloned().unwrap_or_default()
    }

    fn of_lines(&self, _: &Name, _: Range) -> Vec<Claim> {
        Vec::new()
    }
}

fn build_and_compare(criterion: &mut Criterion) {
    let claims = fleet::claims();
    let ranges: Vec<Range> = claims.iter().map(|claim| claim.range).collect();
    let rules = BuildRules::default();
    let first = build(claims.clone(), &Table::default(), &rules).table;

    let mut group = criterion.benchmark_group("build");
    group.bench_function("sort of the claims", |b| {
        let sort = |mut claims: Vec<Claim>| {
            claims.sort_unstable_by(|a, b| (&a.space, a.range).cmp(&(&b.space, b.range)));
            claims
        };
        b.iter_batched(|| claims.clone(), sort, BatchSize::PerIteration);
    });
    group.bench_function("sort of the bare ranges", |b| {
        let sort = |mut ranges: Vec<Range>| {
            ranges.sort_unstable();
            ranges
        };
        b.iter_batched(|| ranges.clone(), sort, BatchSize::PerIteration);
    });
    group.bench_function("build", |b| {
        b.iter_batched(|| claims.clone(), |claims| build(claims, &first, &rules), BatchSize::PerIteration);
    });

    // One range in a hundred goes to another BAS.
    let mut numbers = Numbers(3);
    let mut changed = claims.clone();
    for place in (50..changed.len()).step_by(100) {
        let other = fleet::bas(numbers.below(fleet::BASES as u64) as usize);
        (changed[place].owner, changed[place].bas) = (other.clone(), Some(other));
    }
    let second = build(changed, &first, &rules).table;
    assert!(diff(&first, &second).len() > 9_000);
    group.bench_function("diff", |b| b.iter_with_large_drop(|| diff(&first, &second)));
    drop(second);

    let mut bases: BTreeMap<Name, Vec<Claim>> = BTreeMap::new();
    for claim in claims {
        bases.entry(claim.owner.clone()).or_default().push(claim);
    }
    let mut told = Told { bases };
    let ledger = Ledger::new(&told, &first, &rules);
    let name = fleet::bas(4711);
    for (id, moved) in [("update of one range", 1), ("update of 100 ranges", fleet::RANGES)] {
        let before = told.of_bas(&name);
        let mut touched = Touched { bases: [name.clone()].into(), ranges: Vec::new() };
        for claim in told.bases.get_mut(&name).unwrap().iter_mut().take(moved) {
            let last = claim.range.last_bits() - claim.range.span() / 3;
            let range = Range::from_bits(claim.range.family(), claim.range.first_bits(), last).unwrap();
            touched.ranges.extend([claim.range, range].map(|range| (claim.space.clone(), range)));
            (claim.range, claim.whole) = (range, range);
        }
        group.bench_function(id, |b| {
            let update = |mut ledger: Ledger| {
                ledger.update(&touched, &told, &first);
                ledger
            };
            b.iter_batched(|| ledger.clone(), update, BatchSize::PerIteration);
        });
        let mut updated = ledger.clone();
        updated.update(&touched, &told, &first);
        assert_eq!(*updated.table(), build(told.all(), &first, &rules).table);
        told.bases.insert(name.clone(), before);
    }
    group.finish();
}

/// What is looked at of a record.
#[derive(serde::Deserialize)]
struct Record<'a> {
    edge: &'a str,
}

const PROBES: usize = 1 << 16;

fn look_up(criterion: &mut Criterion, name: &str, family: Family) {
    let ranges = fleet::ranges(family, fleet::BASES * fleet::RANGES, &mut Numbers(5));
    let snapshot = fleet::snapshot(&ranges);
    let lookup = Lookup::new(&snapshot.table, &snapshot.groups, &"default".into());
    println!("{name}: {:.1} octets an entry", lookup.size() as f64 / snapshot.table.len() as f64);
    let reader = maxminddb::Reader::from_source(mmdb(&snapshot)).unwrap();
    let space = lookup.space("internet").unwrap();

    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(PROBES as u64));
    for (kind, probes) in [("random", random(&ranges)), ("clustered", clustered(&ranges))] {
        for probe in &probes {
            let record: Record<'_> = reader.lookup(*probe).unwrap().decode().unwrap().unwrap();
            assert_eq!(space.token(*probe), Some(record.edge));
        }
        group.bench_with_input(BenchmarkId::new("lookup", kind), &probes, |b, probes| {
            b.iter(|| {
                probes.iter().map(|probe| black_box(space.token(*probe)).map_or(0, str::len)).sum::<usize>()
            });
        });
        let edge = |record: Option<Record<'_>>| record.map_or(0, |record| record.edge.len());
        group.bench_with_input(BenchmarkId::new("maxminddb", kind), &probes, |b, probes| {
            let look = |probe: &IpAddr| edge(reader.lookup(*probe).unwrap().decode().unwrap());
            b.iter(|| probes.iter().map(|probe| black_box(look(probe))).sum::<usize>());
        });
        group.bench_with_input(BenchmarkId::new("maxminddb by path", kind), &probes, |b, probes| {
            let path = [maxminddb::PathElement::Key("edge")];
            let look = |probe: &IpAddr| {
                let edge: Option<&str> = reader.lookup(*probe).unwrap().decode_path(&path).unwrap();
                edge.map_or(0, str::len)
            };
            b.iter(|| probes.iter().map(|probe| black_box(look(probe))).sum::<usize>());
        });
    }
    group.finish();
}

fn mmdb(snapshot: &Snapshot) -> Vec<u8> {
    let scope = Scope { space: Some("internet".into()), service: "default".into() };
    let view = View::new(snapshot, &scope).unwrap();
    by_name("mmdb").unwrap().render(&view, &Stamp::from(snapshot)).unwrap().bytes()
}

fn within(range: Range, numbers: &mut Numbers) -> IpAddr {
    let span = u64::try_from(range.span()).unwrap_or(u64::MAX);
    range.family().address(range.first_bits() + u128::from(numbers.below(span.saturating_add(1))))
}

/// Viewers from everywhere: a random entry each.
fn random(ranges: &[Range]) -> Vec<IpAddr> {
    let mut numbers = Numbers(17);
    let any = |numbers: &mut Numbers| ranges[numbers.below(ranges.len() as u64) as usize];
    (0..PROBES).map(|_| within(any(&mut numbers), &mut numbers)).collect()
}

/// Viewers as they are: nearly all from a thousand neighbouring entries.
fn clustered(ranges: &[Range]) -> Vec<IpAddr> {
    let mut numbers = Numbers(19);
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let one = |numbers: &mut Numbers| {
        let all = if numbers.below(100) == 0 { sorted.len() } else { 1000 };
        let from = if all == 1000 { 400_000 } else { 0 };
        sorted[from + numbers.below(all as u64) as usize]
    };
    (0..PROBES).map(|_| within(one(&mut numbers), &mut numbers)).collect()
}

/// What was measured beside what it is to be measured by, and the goal.
fn ratios(home: &Path) {
    let rows = [
        ("build / sort of the claims", "build/build", "build/sort of the claims", 2.0),
        ("build / sort of the bare ranges", "build/build", "build/sort of the bare ranges", 2.0),
        ("diff / build", "build/diff", "build/build", 0.5),
        ("update of one range / build", "build/update of one range", "build/build", 0.05),
        ("update of 100 ranges / build", "build/update of 100 ranges", "build/build", 0.05),
        ("lookup / maxminddb, IPv4, random", "ipv4/lookup/random", "ipv4/maxminddb/random", 0.125),
        ("lookup / maxminddb, IPv4, clustered", "ipv4/lookup/clustered", "ipv4/maxminddb/clustered", 0.125),
        ("lookup / maxminddb, IPv6, random", "ipv6/lookup/random", "ipv6/maxminddb/random", 0.125),
        ("lookup / maxminddb, IPv6, clustered", "ipv6/lookup/clustered", "ipv6/maxminddb/clustered", 0.125),
    ];
    println!("\n{:<38}{:>12}{:>12}{:>9}{:>9}", "", "measured", "beside", "ratio", "goal");
    for (title, ours, theirs, goal) in rows {
        let each = |id: &str| if id.starts_with("ip") { PROBES as f64 } else { 1.0 };
        let Some((a, b)) = median(home, ours).zip(median(home, theirs)) else { continue };
        let (a, b) = (a / each(ours), b / each(theirs));
        println!("{title:<38}{:>12}{:>12}{:>9.4}{goal:>9}", time(a), time(b), a / b);
    }
}

/// The median of a benchmark, in nanoseconds; none where it was not run.
fn median(home: &Path, id: &str) -> Option<f64> {
    let text = std::fs::read_to_string(home.join(id).join("new/estimates.json")).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t >= 1e6 => format!("{:.1} ms", t / 1e6),
        t if t >= 1e3 => format!("{:.1} us", t / 1e3),
        t => format!("{t:.1} ns"),
    }
}
