//! Whole processes on one core: `coverage` beside `grepcidr -c` and `awk`, `diff --against`
//! beside `sort`. Run it with `cargo bench --bench coverage`; it needs grepcidr, mawk, gawk,
//! sort, taskset, python3 and 2 GB under the temporary folder.

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

/// Seconds of the processor, and by the clock.
#[derive(Clone, Copy)]
struct Took {
    processor: f64,
    clock: f64,
}

/// The best of some rounds of commands, each on one core; the commands take turns, so that
/// other work on the machine slows them alike.
fn best<const N: usize>(folder: &Path, commands: [&str; N]) -> [Took; N] {
    let once = |command: &str| {
        let script = format!("TIMEFORMAT='%U %S %R'; time taskset -c 1 {command}");
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder)
            .env("POOLSYNC", PROGRAM)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let line = told.lines().last().unwrap_or_else(|| panic!("{command} tells nothing"));
        let seconds: Vec<f64> = line.split(' ').map(|seconds| seconds.parse().unwrap()).collect();
        Took { processor: seconds[0] + seconds[1], clock: seconds[2] }
    };
    let mut best = [Took { processor: f64::INFINITY, clock: f64::INFINITY }; N];
    for _ in 0..ROUNDS {
        for (best, command) in best.iter_mut().zip(commands) {
            let took = once(command);
            best.processor = best.processor.min(took.processor);
            best.clock = best.clock.min(took.clock);
        }
    }
    best
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

/// One line: our seconds beside another's, and how the one stands to the other.
fn beside(what: &str, ours: Took, unit: &str, theirs: Took, told: impl Fn(f64) -> String) {
    println!(
        "{what}: {:.2} s, beside {:.2} s of {unit}: {} (by the clock {:.2} s and {:.2} s)",
        ours.processor,
        theirs.processor,
        told(theirs.processor / ours.processor),
        ours.clock,
        theirs.clock
    );
}

/// How many times as fast we are, and are to be.
fn faster(goal: f64) -> impl Fn(f64) -> String {
    move |ratio| format!("{ratio:.1} to 1, goal {goal:.0} to 1")
}

/// How many times as long we take, and may.
fn slower(goal: f64) -> impl Fn(f64) -> String {
    move |ratio| format!("{:.1} times as long, goal {goal:.0} times", 1.0 / ratio)
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
        if at % 2 == 0 {
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
    std::fs::write(folder.join("one"), "20.0.0.1\n").unwrap();
    let [ours, start, theirs] = best(
        folder,
        [
            "$POOLSYNC -c table.toml coverage addresses > ours.txt",
            "$POOLSYNC -c table.toml coverage one > one.txt",
            "grepcidr -c -f prefixes addresses > theirs.txt",
        ],
    );
    let what = "coverage of 10,000,000 addresses, 100,000 prefixes";
    beside(what, ours, "grepcidr -c", theirs, faster(8.0));
    println!("of it opening the store and laying 100,000 entries out: {:.2} s", start.processor);
    let json = Command::new(PROGRAM)
        .args(["-c", "table.toml", "coverage", "addresses", "--json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let counted = std::fs::read_to_string(folder.join("theirs.txt")).unwrap();
    assert_eq!(json["covered"]["requests"].to_string(), counted.trim(), "the counts differ");
    let [ours, mawk, gawk] = best(
        folder,
        [
            "$POOLSYNC -c table.toml coverage common.log > ours.txt",
            "mawk '{print $1}' common.log > theirs.txt",
            "gawk '{print $1}' common.log > theirs.txt",
        ],
    );
    let what = "coverage of a common log of 5,000,000 lines, 100,000 prefixes";
    beside(what, ours, "mawk '{print $1}' (Debian's awk)", mawk, faster(3.0));
    beside(what, ours, "gawk '{print $1}'", gawk, faster(3.0));
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
    let [ours, start, theirs] = best(
        folder,
        [
            "$POOLSYNC -c million.toml diff --against old.csv > ours.txt",
            "$POOLSYNC -c million.toml coverage one > one.txt",
            "bash -c 'sort million.csv > a.txt; sort old.csv > b.txt'",
        ],
    );
    let what = "diff --against, 1,000,000 rows on either side";
    beside(what, ours, "sort of both files", theirs, slower(2.0));
    println!("coverage of one line beside 1,000,000 entries: {:.2} s", start.processor);
    let [import] = best(folder, ["$POOLSYNC import old.csv --output static.csv --force 2> told.txt"]);
    println!("import of 1,000,000 rows: {:.2} s", import.processor);
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    // With a folder as its argument the files stay there, for a profiler to use.
    let kept = std::env::args().skip(1).find(|word| word.starts_with('/'));
    let folder = kept.as_deref().map_or(folder.path(), Path::new);
    coverage(folder);
    difference(folder);
}
