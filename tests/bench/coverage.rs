//! Whole processes on one core: `coverage` beside `grepcidr -c` and `awk`, `diff --against`
//! beside `sort`. Run it with `cargo bench --bench coverage`; it needs grepcidr, awk, sort,
//! taskset and 2 GB under the temporary folder.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use poolsync::store::{Acts, Commit, Store};
use poolsync::table::{Change, Class, Entry, Group, GroupEdge, Groups, GuardMemory, Name, PoolName, Token};

const PROGRAM: &str = env!("CARGO_BIN_EXE_poolsync");
const ROUNDS: usize = 5;
const EDGES: u32 = 50;

/// A generator that gives the same files everywhere (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// The best of some rounds, in seconds of the processor.
fn best(folder: &Path, command: &str) -> f64 {
    let script = format!("TIMEFORMAT='%U %S'; time taskset -c 1 {command}");
    let once = || {
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder)
            .env("POOLSYNC", PROGRAM)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let line = told.lines().last().unwrap_or_else(|| panic!("{command} tells nothing"));
        line.split(' ').map(|seconds| seconds.parse::<f64>().unwrap()).sum::<f64>()
    };
    (0..ROUNDS).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// The most memory that a command has at a time, in MB.
fn peak(folder: &Path, command: &str) -> u64 {
    let script = format!(
        "import resource, subprocess\nsubprocess.run({command:?}, shell=True, stdout=subprocess.DEVNULL)\n\
         print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    );
    let output = Command::new("python3")
        .args(["-c", &script])
        .current_dir(folder)
        .env("POOLSYNC", PROGRAM)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// A store in which BASes serve these prefixes (first address, length, number of the BAS), and
/// a configuration that reads it: `NAME.db` and `NAME.toml`.
fn site(folder: &Path, name: &str, rows: &[(u32, u32, u32)]) {
    let mut groups = Groups::default();
    let mut text = format!("default-edge = \"e0\"\n[store]\npath = \"{name}.db\"\n");
    for at in 0..EDGES {
        writeln!(text, "[edge.e{at}]\naddresses = [\"198.51.100.{at}\"]").unwrap();
        let (token, service) = (Token::new(&format!("e{at}")).unwrap(), Name::from("default"));
        groups.of_owner.insert((format!("b{at}").into(), service.clone()), token.clone());
        let edges = vec![GroupEdge { name: format!("e{at}").into(), weight: 1 }];
        groups.groups.insert(token.clone(), Group { token, service, edges });
    }
    std::fs::write(folder.join(format!("{name}.toml")), &text).unwrap();
    let names: Vec<Name> = (0..EDGES).map(|at| format!("b{at}").into()).collect();
    let entry = |(first, length, bas): &(u32, u32, u32)| Entry {
        space: "internet".into(),
        range: format!("{}/{length}", Ipv4Addr::from(*first)).parse().unwrap(),
        owner: names[*bas as usize].clone(),
        bas: Some(names[*bas as usize].clone()),
        pool: PoolName::new(b"pool"),
        vrf: Name::default(),
        class: Class::Fresh,
    };
    let changes: Vec<Change> = rows.iter().map(|row| Change::Added(entry(row))).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut store = Store::open(&folder.join(format!("{name}.db")), Default::default()).await.unwrap();
        let commit = Commit {
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            changes: &changes,
            groups: Some(&groups),
            memories: &[],
            guard: &GuardMemory::default(),
            filled: true,
            steering: None,
            acts: Acts::default(),
        };
        store.commit(commit).await.unwrap();
        store.close().await.unwrap();
    });
}

/// Prefixes in order, one in each block of 2,048 addresses (a /21): 100,000 take twelve /8s.
fn prefixes(count: u32, numbers: &mut Numbers) -> Vec<(u32, u32, u32)> {
    let block = |at: u32| (20 << 24) + at * 2048;
    (0..count).map(|at| (block(at), 21 + numbers.below(8) as u32, at % EDGES)).collect()
}

fn ratio(what: &str, ours: f64, theirs: f64, unit: &str) {
    println!("{what}: {ours:.2} s, beside {theirs:.2} s of {unit}: {:.1} to 1", theirs / ours);
}

fn coverage(folder: &Path) {
    let mut numbers = Numbers(1);
    let table = prefixes(100_000, &mut numbers);
    let plain = table.iter().fold(String::new(), |mut text, (first, length, _)| {
        writeln!(text, "{}/{length}", Ipv4Addr::from(*first)).unwrap();
        text
    });
    std::fs::write(folder.join("prefixes"), plain).unwrap();
    site(folder, "table", &table);
    let mut addresses = BufWriter::new(File::create(folder.join("addresses")).unwrap());
    let mut common = BufWriter::new(File::create(folder.join("common.log")).unwrap());
    for at in 0..10_000_000_u32 {
        let (first, length, _) = table[numbers.below(table.len() as u64) as usize];
        // Of twenty viewers one is somewhere in the block, and most often in no prefix.
        let span = if numbers.below(20) == 0 { 2048 } else { 1 << (32 - length) };
        let viewer = Ipv4Addr::from(first + numbers.below(span) as u32);
        writeln!(addresses, "{viewer}").unwrap();
        if at % 5 == 0 {
            let (minute, second) = (at / 166_667, at / 2778 % 60);
            writeln!(
                common,
                "{viewer} - - [10/Oct/2025:13:{minute:02}:{second:02} +0200] \"GET /live/{}/{at}.ts HTTP/1.1\" 200 1316000 \"-\" \"player/2.1\"",
                at % 40
            )
            .unwrap();
        }
    }
    drop((addresses.into_inner().unwrap(), common.into_inner().unwrap()));
    let ours = best(folder, "$POOLSYNC -c table.toml coverage addresses > ours.txt");
    let theirs = best(folder, "grepcidr -c -f prefixes addresses > theirs.txt");
    ratio("coverage of 10,000,000 addresses, 100,000 prefixes", ours, theirs, "grepcidr -c");
    let json = Command::new(PROGRAM)
        .args(["-c", "table.toml", "coverage", "addresses", "--json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let counted = std::fs::read_to_string(folder.join("theirs.txt")).unwrap();
    assert_eq!(json["covered"]["requests"].to_string(), counted.trim(), "the counts differ");
    let ours = best(folder, "$POOLSYNC -c table.toml coverage common.log > ours.txt");
    let theirs = best(folder, "awk '{print $1}' common.log > theirs.txt");
    ratio("coverage of a common log of 2,000,000 lines", ours, theirs, "awk '{print $1}'");
    let whole = peak(folder, "$POOLSYNC -c table.toml coverage addresses");
    let part = peak(folder, "head -n 100000 addresses | $POOLSYNC -c table.toml coverage -");
    println!("memory: {whole} MB for 10,000,000 lines, {part} MB for 100,000");
}

fn difference(folder: &Path) {
    let mut numbers = Numbers(2);
    let (mut ours, mut old, mut rows) = (String::new(), String::new(), Vec::new());
    for at in 0..1_000_000_u32 {
        // Blocks of 512 from 16.0.0.0 on; a twentieth of the old rows is wrong, missing or dead.
        let (first, length) = ((16 << 24) + at * 512, 24 + numbers.below(4) as u32);
        let net = Ipv4Addr::from(first);
        rows.push((first, length, at % EDGES));
        writeln!(ours, "{net}/{length},e{}", at % EDGES).unwrap();
        match numbers.below(60) {
            0 => writeln!(old, "{net}/{length},e{}", (at + 1) % EDGES).unwrap(),
            1 => writeln!(old, "{}/24,e1", Ipv4Addr::from(first + 256)).unwrap(),
            _ => writeln!(old, "{net}/{length},e{}", at % EDGES).unwrap(),
        }
    }
    std::fs::write(folder.join("million.csv"), ours).unwrap();
    std::fs::write(folder.join("old.csv"), old).unwrap();
    site(folder, "million", &rows);
    let ours = best(folder, "$POOLSYNC -c million.toml diff --against old.csv > ours.txt");
    let theirs = best(folder, "bash -c 'sort million.csv > a.txt; sort old.csv > b.txt'");
    println!(
        "diff --against, 1,000,000 rows on either side: {ours:.2} s, beside {theirs:.2} s of sort: {:.1} times",
        ours / theirs
    );
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    coverage(folder.path());
    difference(folder.path());
}
