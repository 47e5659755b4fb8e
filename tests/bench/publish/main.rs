//! How fast tables are written and published, at a million prefixes; every ratio is of one
//! run, and of processor time. Only the publications and the way to Knot are told by the clock. From the top of the repository:
//!
//!     cargo run --release --manifest-path tests/bench/publish/Cargo.toml --target-dir target -- [PREFIXES] [--ours] [PART...]
//!
//! Parts are `mmdb`, `texts`, `files` and `knot`; all of them where none is named. `--ours` leaves
//! the other writers of MMDBs out.
//!
//! The files go below `target/tmp`, so that fsync is that of a disk. With Knot installed it
//! also measures the way of one BAS's change from what a poll found to what Knot answers.

mod knot;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;

use ipnet::IpNet;
use jiff::Timestamp;
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};
use poolsync::address::Range;
use poolsync::format::{Scope, Stamp, View, by_name, formats};
use poolsync::publish::{Export, State, publish};
use poolsync::table::{
    Class, Edge, Entry, Group, GroupEdge, Groups, Name, PoolName, Session, Snapshot, Table, Token,
};

const BASES: usize = 10_000;
const EDGES: usize = 300;

type Error = Box<dyn std::error::Error>;

/// Numbers that are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Disjoint prefixes: nine in ten IPv4 of /22 to /26, the others IPv6 of /40 to /48, each
/// somewhere in a slot of its own.
fn disjoint(count: usize, random: &mut Random) -> Vec<IpNet> {
    let mut nets = Vec::with_capacity(count);
    for at in 0..count as u64 * 9 / 10 {
        let length = 22 + random.below(5) as u32;
        let place = random.below(1 << (length - 20)) << (32 - length);
        let bits = (0x0100_0000 + at * 4096 + place) as u32;
        nets.push(IpNet::new(Ipv4Addr::from(bits).into(), length as u8).unwrap_or_default());
    }
    for at in 0..(count - nets.len()) as u128 {
        let length = 40 + random.below(9) as u32;
        let place = u128::from(random.below(1 << (length - 36))) << (128 - length);
        let bits = (0x2400_u128 << 112) + (at << 92) + place;
        nets.push(IpNet::new(Ipv6Addr::from(bits).into(), length as u8).unwrap_or_default());
    }
    nets
}

fn edge_name(number: usize) -> String {
    format!("edge-{number:03}")
}

/// A generation of these prefixes, each of some BAS.
fn snapshot(rows: &[(IpNet, usize)], generation: u64) -> Snapshot {
    let names: Vec<Name> = (0..BASES).map(|bas| Name::from(format!("bas-{bas:05}"))).collect();
    let (space, vrf, pool) = (Name::from("internet"), Name::default(), PoolName::new(b"pool"));
    let entry = |(net, bas): &(IpNet, usize)| Entry {
        space: space.clone(),
        range: Range::from(*net),
        owner: names[*bas].clone(),
        bas: Some(names[*bas].clone()),
        pool: pool.clone(),
        vrf: vrf.clone(),
        class: Class::Fresh,
    };
    let mut edges = BTreeMap::new();
    let mut groups = Groups::default();
    for number in 0..=EDGES {
        let name = if number == EDGES { "centre".to_owned() } else { edge_name(number) };
        let address = |family: u16| -> IpAddr {
            match family {
                4 => Ipv4Addr::new(198, 18, (number / 250) as u8, (number % 250) as u8).into(),
                _ => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 1, number as u16).into(),
            }
        };
        let edge = Edge {
            name: name.as_str().into(),
            addresses: vec![address(4), address(6)],
            host: None,
            region: None,
        };
        edges.insert(edge.name.clone(), edge);
        let token = Token::new(&name).expect("these are tokens");
        let list = vec![GroupEdge { name: name.as_str().into(), weight: 1 }];
        groups.groups.insert(token.clone(), Group { token, service: "default".into(), edges: list });
    }
    for (bas, name) in names.iter().enumerate() {
        let token = Token::new(&edge_name(bas % EDGES)).expect("these are tokens");
        groups.of_owner.insert((name.clone(), "default".into()), token);
    }
    Snapshot {
        session: Session(1),
        generation,
        committed: Timestamp::now(),
        filled: true,
        table: Arc::new(Table::new(rows.iter().map(entry).collect()).expect("they are disjoint")),
        groups: Arc::new(groups),
        edges: Arc::new(edges),
        default_edge: "centre".into(),
    }
}

/// The peak of what this process had in memory, in MB, since it was forgotten last.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The processor time that this process has used so far, in seconds.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(f64::NAN, |time| time.num_nanoseconds() as f64);
    now / 1e9
}

/// The same of the commands that it has waited for (proc(5): ticks of 10 ms).
fn cpu_of_commands() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    [13, 14].map(ticks).iter().sum::<f64>() / 100.0
}

/// Processor time, so that other work on the machine does not count; of several cores together.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = cpu();
    let done = work();
    (done, cpu() - begun)
}

/// The best of five.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    (0..5).map(|_| timed(&mut work).1).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let count = words.iter().find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let parts = ["mmdb", "texts", "files", "knot"];
    let all = !words.iter().any(|word| parts.contains(&word.as_str()));
    let wanted = |part: &str| all || words.iter().any(|word| word == part);
    let mut random = Random(1);
    let nets = disjoint(count, &mut random);
    let mut rows: Vec<(IpNet, usize)> =
        nets.into_iter().map(|net| (net, random.below(BASES as u64) as usize)).collect();
    let snapshot = snapshot(&rows, 1);
    // No order that a writer could make use of.
    for at in (1..rows.len()).rev() {
        rows.swap(at, random.below(at as u64 + 1) as usize);
    }
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in("target/tmp")?;
    let view = View::new(&snapshot, &Scope { space: Some("internet".into()), service: "default".into() })?;
    let stamp = Stamp::from(&snapshot);
    println!("{count} prefixes of {BASES} BASes and {EDGES} edges");
    if wanted("mmdb") {
        mmdb(&rows, &view, &stamp, folder.path())?;
    }
    if wanted("texts") {
        texts(&view, &stamp)?;
    }
    drop(view);
    if wanted("files") {
        files(&snapshot, folder.path())?;
    }
    if wanted("knot") {
        knot::measure(&rows, &snapshot, folder.path())?;
    }
    Ok(())
}

fn mmdb(rows: &[(IpNet, usize)], view: &View<'_>, stamp: &Stamp, folder: &Path) -> Result<(), Error> {
    let format = by_name("mmdb")?;
    let file = format.render(view, stamp)?.bytes();
    println!("\nMMDB, {:.1} MB", file.len() as f64 / 1e6);
    let keys: Vec<(u128, u8, u32)> = rows
        .iter()
        .map(|(net, bas)| {
            let range = Range::from(*net);
            (range.first_bits(), net.prefix_len(), *bas as u32)
        })
        .collect();
    let mut sorted = Vec::new();
    let base = best(|| {
        sorted = keys.clone();
        sorted.sort_unstable();
        std::fs::write(folder.join("written"), &file)
    });
    println!("  sort the prefixes and write the bytes      {base:6.3} s   1.0");
    drop((sorted, keys));
    let before = peak();
    forget_peak();
    let start = peak();
    let ours = best(|| format.render(view, stamp).map(|rendered| rendered.rows));
    println!(
        "  poolsync                                   {ours:6.3} s {:5.1}   peak {:.0} MB, {:.0} MB above the table (before {before:.0})",
        ours / base,
        peak(),
        peak() - start
    );
    let read = best(|| format.read(&file).map(|read| read.rows().len()));
    println!("  poolsync, read back                        {read:6.3} s {:5.1}", read / base);
    if std::env::args().any(|word| word == "--ours") {
        return Ok(());
    }
    let record =
        |bas: usize| BTreeMap::from([("edge", edge_name(bas % EDGES)), ("bas", format!("bas-{bas:05}"))]);
    forget_peak();
    let start = peak();
    let (bytes, took) = timed(|| -> Result<Vec<u8>, Error> {
        let mut writer = mmdb_writer::Writer::new("Bench-City");
        for (net, bas) in rows {
            writer.insert(*net, &record(*bas))?;
        }
        Ok(writer.to_bytes()?)
    });
    println!(
        "  mmdb-writer 0.1                            {took:6.3} s {:5.1}   {:.0} MB above, {}",
        took / base,
        peak() - start,
        proved(&bytes?, rows)
    );
    forget_peak();
    let start = peak();
    let (bytes, took) = timed(|| -> Result<Vec<u8>, Error> {
        use maxminddb_writer::paths::IpAddrWithMask;
        let mut database = maxminddb_writer::Database::default();
        database.metadata.ip_version = maxminddb_writer::metadata::IpVersion::V6;
        database.metadata.binary_format_major_version = 2;
        database.metadata.build_epoch = 1;
        let mut known = BTreeMap::new();
        for (net, bas) in rows {
            let data = match known.get(bas) {
                Some(data) => *data,
                None => {
                    let data = database.insert_value(record(*bas))?;
                    known.insert(*bas, data);
                    data
                }
            };
            // IPv4 lives below ::/96.
            let (addr, mask) = match net {
                IpNet::V4(net) => (Ipv6Addr::from(u128::from(net.addr().to_bits())), 96 + net.prefix_len()),
                IpNet::V6(net) => (net.addr(), net.prefix_len()),
            };
            database.insert_node(IpAddrWithMask::new(addr.into(), mask), data);
        }
        Ok(database.write_to(Vec::new())?)
    });
    println!(
        "  maxminddb-writer 0.1                       {took:6.3} s {:5.1}   {:.0} MB above, {}",
        took / base,
        peak() - start,
        proved(&bytes?, rows)
    );
    println!("  (ours, for comparison: {})", proved(&file, rows));
    nested("any order", |_| ());
    nested("the widest first", |order| order.sort_by_key(|(net, _)| net.prefix_len()));
    Ok(())
}

/// What the crates make of prefixes within prefixes, put in in an order. A table has none, and
/// ours takes tables only: that its tree is right with them is a test of its own.
fn nested(name: &str, sort: impl Fn(&mut Vec<(IpNet, usize)>)) {
    let (mut random, mut wrong) = (Random(7), [0, 0]);
    for _ in 0..200 {
        let mut nets: BTreeMap<IpNet, usize> = BTreeMap::new();
        for value in 0..20 {
            let net =
                IpNet::new(Ipv4Addr::new(10, random.below(4) as u8, 0, 0).into(), 8 + random.below(17) as u8);
            nets.insert(net.unwrap_or_default().trunc(), value);
        }
        let mut order: Vec<(IpNet, usize)> = nets.iter().map(|(net, value)| (*net, *value)).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
        sort(&mut order);
        let mut one = mmdb_writer::Writer::new("Bench-City");
        let mut other = maxminddb_writer::Database::default();
        other.metadata.ip_version = maxminddb_writer::metadata::IpVersion::V6;
        (other.metadata.binary_format_major_version, other.metadata.build_epoch) = (2, 1);
        let mut failed = [false, false];
        for (net, value) in &order {
            let record = BTreeMap::from([("edge", edge_name(*value))]);
            failed[0] |= one.insert(*net, &record).is_err();
            let IpAddr::V4(first) = net.network() else { continue };
            let place = Ipv6Addr::from(u128::from(first.to_bits())).into();
            let place = maxminddb_writer::paths::IpAddrWithMask::new(place, 96 + net.prefix_len());
            match other.insert_value(record) {
                Ok(data) => other.insert_node(place, data),
                Err(_) => failed[1] = true,
            }
        }
        let files = [one.to_bytes().ok(), other.write_to(Vec::new()).ok()];
        for (number, file) in files.into_iter().enumerate() {
            let right = file.is_some_and(|file| !failed[number] && is_longest_match(&file, &nets));
            wrong[number] += u32::from(!right);
        }
    }
    println!(
        "  200 times 20 nested prefixes, {name}: mmdb-writer {} times wrong, maxminddb-writer {} times",
        wrong[0], wrong[1]
    );
}

/// Whether both ends of each prefix are answered with the longest prefix that holds them.
fn is_longest_match(file: &[u8], nets: &BTreeMap<IpNet, usize>) -> bool {
    let Ok(reader) = maxminddb::Reader::from_source(file) else { return false };
    nets.keys().flat_map(|net| [net.network(), net.broadcast()]).all(|ip| {
        let longest =
            nets.iter().filter(|(net, _)| net.contains(&ip)).max_by_key(|(net, _)| net.prefix_len());
        let found = reader
            .lookup(ip)
            .and_then(|found| found.decode_path::<String>(&[maxminddb::PathElement::Key("edge")]));
        found.is_ok_and(|edge| edge == longest.map(|(_, value)| edge_name(*value)))
    })
}

/// How many of the prefixes a database answers right, at both ends, by a reader that is not ours.
fn proved(file: &[u8], rows: &[(IpNet, usize)]) -> String {
    let reader = match maxminddb::Reader::from_source(file) {
        Ok(reader) => reader,
        Err(e) => return format!("not read: {e}"),
    };
    let right = |ip: IpAddr, bas: usize| {
        let found = reader
            .lookup(ip)
            .and_then(|found| found.decode_path::<String>(&[maxminddb::PathElement::Key("edge")]));
        found.is_ok_and(|edge| edge == Some(edge_name(bas % EDGES)))
    };
    let wrong = rows.iter().filter(|(net, bas)| !right(net.network(), *bas) || !right(net.broadcast(), *bas));
    format!("{} of {} wrong", wrong.count(), rows.len())
}

fn texts(view: &View<'_>, stamp: &Stamp) -> Result<(), Error> {
    println!("\nrendering, one core            size   seconds    MB/s   read back      proven");
    for format in formats().iter().filter(|format| format.name() != "mmdb") {
        if format.name() == "gdnsd-nets" && view.groups().count() > 254 {
            println!("  gdnsd-nets       holds 254 groups: not measured here");
            continue;
        }
        let mut size = 0;
        let took = best(|| {
            size = format.render(view, stamp).map_or(0, |r| r.pieces().iter().map(|p| p.len()).sum())
        });
        let bytes = format.render(view, stamp)?.bytes();
        let read = best(|| format.read(&bytes).map(|read| read.rows().len()).unwrap_or(0));
        let proof = best(|| format.prove(&bytes, view).is_ok());
        println!(
            "  {:18} {:8.1} MB   {took:7.3}  {:6.0}   {read:7.3} ({:.1}) {proof:7.3}",
            format.name(),
            size as f64 / 1e6,
            size as f64 / 1e6 / took,
            read / took
        );
    }
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Whole publications, fsync and read-back included, beside the rendering: of files that were not
/// there (or are of another store), and of files in the place of others, of which a little differs.
fn files(snapshot: &Snapshot, folder: &Path) -> Result<(), Error> {
    println!("\npublishing without a consumer: rendered, written, read back, proven, fsync");
    let runtime = runtime()?;
    for format in formats().iter().filter(|format| format.name() != "gdnsd-nets") {
        let name = format.name();
        let export = Export::new(name, *format, folder.join(name));
        let view = export.view(snapshot)?;
        let stamp = Stamp::from(snapshot);
        let rendering = best(|| format.render(&view, &stamp).map(|rendered| rendered.rows));
        drop(view);
        // What one BAS is answered with moves to and fro.
        let mut groups = Groups::clone(&snapshot.groups);
        let tokens = [1, 2].map(|edge| Token::new(&edge_name(edge)).expect("these are tokens"));
        let mut measure = |kind: &str, session: &dyn Fn(u64) -> u64| -> Result<(), Error> {
            let (mut took, mut clock) = (f64::INFINITY, f64::INFINITY);
            for round in 0..6 {
                groups
                    .of_owner
                    .insert(("bas-00001".into(), "default".into()), tokens[round as usize % 2].clone());
                let groups = Arc::new(groups.clone());
                let (session, generation) = (Session(session(round)), 10 + round);
                let next = Snapshot { session, generation, groups, ..snapshot.clone() };
                let begun = cpu();
                let published = runtime.block_on(publish(&export, &next, Timestamp::now()));
                if !matches!(published.state, State::Published(_)) {
                    return Err(format!("{name}: {:?}", published.state).into());
                }
                // The first of a kind is not yet of this kind.
                if round > 0 {
                    took = took.min(cpu() - begun);
                    clock = clock.min(published.took.as_secs_f64());
                }
            }
            let ratio = took / rendering;
            print!("; {kind} {took:6.3} s: {ratio:.1} ({clock:.3} s by the clock)");
            Ok(())
        };
        print!("  {name:18} rendering {rendering:6.3} s");
        measure("the first", &|round| 100 + round)?;
        measure("the next", &|_| 99)?;
        println!();
    }
    Ok(())
}
