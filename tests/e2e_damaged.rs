//! Old tables and logs that are damaged, on the real binary: each ends in a clear word, and
//! what has no end takes no more memory than what has one.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::io::Write as _;
use std::process::{Command, Stdio};

use support::poolsync::{self, Outcome};
use support::scratch::Scratch;
use support::site::{Site, configuration};

/// Address space for one command, in KiB: far less than the endless inputs have.
const SPACE: u32 = 400_000;

/// A site whose table is one static line; no router is needed.
fn site() -> Site {
    let line = "\n[[static]]\nrange = \"198.18.0.0/16\"\nedges = [\"east\"]\n";
    Site::new(Scratch::new(), &(configuration(&[]) + line))
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// 100,000 lines of an address each, in no order: packed, it takes several blocks.
fn log() -> Vec<u8> {
    let mixed = (0..100_000u32).map(|n| n.wrapping_mul(2_654_435_761) >> 16);
    mixed.flat_map(|n| format!("198.18.{}.{}\n", n >> 8, n & 0xff).into_bytes()).collect()
}

#[test]
fn damaged_logs_end_in_a_clear_word() {
    let site = site();
    let run = |name: &str, content: &[u8]| {
        let path = site.scratch.write(name, content);
        site.run(&["coverage", path.to_str().unwrap(), "--json"])
    };
    let (packed, frames) = (gzip(&log()), zstd(&log()));
    for (name, content, code, word) in [
        ("empty.log", &b""[..], 1, "it is empty"),
        (
            "words.log",
            b"hello\nworld\n",
            2,
            "no address is to be seen in the first lines; the first is `hello`",
        ),
        ("second.log", b"a 198.18.0.1\nb 198.18.0.2\n", 2, "`--field 2`"),
        ("odd.json", b"{\"a\":1}\n", 2, "`--key KEY`"),
        ("utf16.log", &utf16("\u{feff}198.18.0.1\n"), 1, "it is in UTF-16"),
        ("utf16-bare.log", &utf16("198.18.0.1\n198.18.0.2\n"), 1, "iconv -f UTF-16"),
        ("book.xlsx", b"PK\x03\x04\x14\0", 1, "save it as CSV"),
        ("a.log.xz", b"\xfd7zXZ\0\0", 1, "this is an xz file: unpack it first"),
        ("elf", b"\x7fELF\x02\x01\x01\0\0\0\0", 1, "it is no text"),
        ("begun.gz", &packed[..8], 1, "the gzip data ends too early: the file was cut short"),
    ] {
        run(name, content).expect(code).said(&[name, word]);
    }
    // What came before the damage counts, and the exit code says that it is not all.
    for (name, content, state) in [
        ("half.gz", &packed[..packed.len() / 2], "truncated"),
        ("half.zst", &frames[..frames.len() / 2], "truncated"),
    ] {
        let half = run(name, content).expect(3).said(&[name, "ends too early", "what came before"]);
        assert_eq!(half.json()["log"]["state"], state);
        let requests = half.json()["requests"].as_u64().unwrap();
        assert!((1..100_000).contains(&requests), "{requests}");
        assert_eq!(half.json()["covered"]["requests"], requests);
    }
    let plain = run("plain.log.gz", &log()).expect(0);
    assert_eq!(plain.json()["requests"], 100_000);
    assert!(
        plain.json()["log"]["notes"][0]
            .as_str()
            .unwrap()
            .ends_with("is named as if it were packed, and is plain text")
    );
    let half = run("half.log", b"198.18.0.1\n198.18.0.2\n198.1").expect(0).json();
    assert_eq!((&half["requests"], &half["log"]["unreadable"]), (&2.into(), &1.into()));
    assert_eq!(half["log"]["unreadable_examples"][0]["text"], "198.1");
    site.run(&["coverage", "/nowhere/a.log"]).expect(1).said(&["/nowhere/a.log: cannot be read"]);
    site.run(&["coverage", "/tmp"]).expect(1).said(&["/tmp: is a folder"]);
}

#[test]
fn damaged_tables_end_in_a_clear_word() {
    let site = site();
    let table = b"198.18.0.0/24,east\n198.18.1.0/24,west\n".repeat(2000);
    let (packed, frames) = (gzip(&table), zstd(&table));
    let mut flipped = packed.clone();
    let place = flipped.len() - 6;
    flipped[place] ^= 1;
    for (name, content, code, word) in [
        ("empty.csv", &b""[..], 1, "it is empty"),
        ("words.csv", b"hello\nworld\n", 1, "none of its lines can be read as csv"),
        ("half.gz", &packed[..packed.len() / 2], 1, "the gzip data ends too early: the file was cut short"),
        ("half.zst", &frames[..frames.len() / 2], 1, "the zstd data ends too early"),
        ("flipped.gz", &flipped, 1, "the gzip data is damaged"),
        ("odd-utf16.csv", b"\xff\xfe1\0\0\xd8", 1, "it begins as UTF-16 and does not stay it"),
        ("zeros.csv", b"198.18.0.0/24\0east\n", 1, "it is neither text nor an MMDB"),
        ("half.json", b"{\"coverageZones\":{\"east\":{\"network\":[\"198.18", 1, "EOF"),
        ("book.xlsx", b"PK\x03\x04\x14\0", 1, "save it as CSV"),
        ("two.csv", b"198.18.0.0/24,a,b\n", 2, "--columns"),
    ] {
        let path = site.scratch.write(name, content);
        let path = path.to_str().unwrap();
        site.run(&["import", path]).expect(code).said(&[name, word]);
        site.run(&["diff", "--against", path]).expect(code).said(&[name, word]);
        let log = site.scratch.write("some.log", b"198.18.0.1\n");
        site.run(&["coverage", log.to_str().unwrap(), "--against", path]).expect(code).said(&[name, word]);
    }
    // A text that is called .gz, UTF-16, and half a line at the end: what is there is taken.
    let half = "198.18.0.0/24,east\n198.18.1.0/24,wes";
    for (name, content, code) in [
        ("text.gz", b"198.18.0.0/24,east\n".to_vec(), 0),
        ("sheet.txt", utf16("\u{feff}range\tedges\r\n198.18.0.0/24\teast\r\n"), 0),
        ("bare.txt", utf16("range\tedges\r\n198.18.0.0/24\teast\r\n"), 0),
        ("half.csv", half.as_bytes().to_vec(), 3),
    ] {
        let path = site.scratch.write(name, content);
        let made = site.run(&["import", path.to_str().unwrap()]).expect(code);
        assert_eq!(made.stdout, "range,edges\n198.18.0.0/24,east\n", "{name}");
        if code == 3 {
            made.said(&["half.csv:2: left out: the configuration knows no `wes`"]);
        }
    }
}

/// Runs a command with so little address space that it cannot hold what it is fed.
fn fed(site: &Site, args: &[&str], feed: &str) -> Outcome {
    let script = format!("{feed} | (ulimit -v {SPACE}; exec \"$0\" \"$@\")");
    let mut command = Command::new("bash");
    command.args(["-c", &script, poolsync::PROGRAM, "-c", site.config.to_str().unwrap()]).args(args);
    // One arena, and no room kept for threads: what is measured is what the input takes.
    command.env("MALLOC_ARENA_MAX", "1").env("TOKIO_WORKER_THREADS", "1").env("NO_COLOR", "1");
    command.env(support::site::COMMUNITY_ENV, "public").stdin(Stdio::null());
    poolsync::run_command(command)
}

#[test]
fn three_hundred_megabytes_take_no_more_memory_than_a_line() {
    let site = site();
    let endless = "head -c 300000000 /dev/zero | tr '\\0' 1";
    fed(&site, &["coverage", "-"], endless).expect(1).said(&["there is no line end in its first"]);
    fed(&site, &["import", "-"], endless).expect(1).said(&["line 1 is longer than 1048576 octets"]);
    let begun = format!("(echo 198.18.0.0/24,east; {endless})");
    fed(&site, &["import", "-"], &begun).expect(1).said(&["line 2 is longer than 1048576 octets"]);
    // Between lines of a log it is one line that is too long.
    let between = format!("(echo 198.18.0.1; {endless}; echo; echo 198.18.0.2)");
    let log = fed(&site, &["coverage", "-", "--json"], &between).expect(0).json();
    assert_eq!(
        (&log["requests"], &log["log"]["too_long"], &log["log"]["lines"]),
        (&2.into(), &1.into(), &3.into())
    );
    // And a little file that unpacks to much more.
    let bomb = format!("({endless}) | gzip -1");
    fed(&site, &["import", "-"], &bomb).expect(1).said(&["line 1 is longer"]);
    fed(&site, &["coverage", "-"], &bomb).expect(1).said(&["there is no line end"]);
    // The limit is one: what needs the memory does not get it.
    let table = "yes 198.18.0.0/24,east | head -c 500000000";
    assert_ne!(fed(&site, &["import", "-"], table).code, Some(0));
}
