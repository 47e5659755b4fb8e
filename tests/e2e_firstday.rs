//! The first day, on the real binary: three routers (`snmpd`), an old table with planted
//! holes, wrong owners and dead rows, and a log of 100,000 viewers. Every figure below is
//! worked out by hand from the lists; every printed one must be the same.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::junose::Router;
use support::scratch::{Scratch, nobody};
use support::site::{Site, configuration};
use support::{have, poolsync};

const PROGRAMS: &[&str] = &["snmpd", "python3"];

/// Pools by name, first and last address.
type Pools = &'static [(&'static str, &'static str, &'static str)];

/// What the routers list: 32,768 + 16,384 + 240 + 16,384 = 65,776 addresses.
const POOLS: [(&str, Pools, &str); 3] = [
    ("bas-a", &[("res-a", "198.18.0.0", "198.18.127.255")], "east"),
    (
        "bas-b",
        &[("res-b", "198.18.128.0", "198.18.191.255"), ("biz-b", "198.18.200.10", "198.18.200.249")],
        "west",
    ),
    ("bas-c", &[("res-c", "198.19.0.0", "198.19.63.255")], "west"),
];

/// The old table: addresses, BAS, edge.
const OLD: [(&str, &str, &str); 8] = [
    ("198.18.0.0/18", "bas-a", "east"),  // right: 16,384
    ("198.18.64.0/19", "bas-b", "west"), // wrong, it is bas-a's: 8,192
    // a hole of bas-a: 198.18.96.0/20, 4,096
    ("198.18.112.0/20", "bas-a", "east"), // right: 4,096
    ("198.18.128.0/18", "bas-b", "west"), // right: 16,384
    // a hole of bas-b: 198.18.200.10-198.18.200.249, 240
    ("198.19.0.0/19", "bas-c", "west"), // right: 8,192
    // a hole of bas-c: 198.19.32.0/20, 4,096
    ("198.19.48.0/20", "bas-x", "gone"), // wrong, it is bas-c's: 4,096
    ("203.0.113.0/24", "bas-a", "east"), // dead: 256
    ("192.0.2.0/25", "bas-c", "west"),   // dead: 128
];

/// Viewers: where they are and how many; covered by the table, by the old one, and whether
/// both say the same. 100,000 in all.
const VIEWERS: [(&str, &str, usize); 11] = [
    ("198.18.0.0", "198.18.63.255", 40_000),    // both, agreed
    ("198.18.64.0", "198.18.95.255", 9_000),    // both, differing
    ("198.18.96.0", "198.18.111.255", 6_000),   // a hole
    ("198.18.128.0", "198.18.191.255", 20_000), // both, agreed
    ("198.18.200.10", "198.18.200.249", 1_200), // a hole
    ("198.19.0.0", "198.19.31.255", 10_000),    // both, agreed
    ("198.19.32.0", "198.19.47.255", 7_600),    // a hole
    ("198.19.48.0", "198.19.63.255", 2_000),    // both, differing
    ("203.0.113.0", "203.0.113.255", 800),      // the old table alone
    ("192.0.2.128", "192.0.2.255", 1_400),      // neither
    ("198.51.100.0", "198.51.100.255", 2_000),  // neither
];

/// Three routers and a site that polls them.
struct Fleet {
    site: Site,
    routers: Vec<Router>,
}

impl Fleet {
    fn start() -> Self {
        let scratch = Scratch::new();
        let routers: Vec<Router> =
            POOLS.iter().map(|(name, pools, _)| Router::start(&scratch, name, pools)).collect();
        let bas: Vec<_> =
            POOLS.iter().zip(&routers).map(|((name, _, edge), r)| (*name, r.address(), *edge)).collect();
        let configuration = configuration(&bas);
        Self { site: Site::new(scratch, &configuration), routers }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        self.site.scratch.write(name, content).to_str().unwrap().to_owned()
    }

    #[track_caller]
    fn diff(&self, old: &str) -> Value {
        self.site.run(&["diff", "--against", old, "--json"]).expect(4).json()
    }
}

/// The viewers' addresses, by a fixed seed, in no order.
fn viewers() -> Vec<Ipv4Addr> {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut all = Vec::new();
    for (first, last, count) in VIEWERS {
        let bits = |text: &str| u32::from(text.parse::<Ipv4Addr>().unwrap());
        let span = u64::from(bits(last) - bits(first)) + 1;
        all.extend((0..count).map(|_| Ipv4Addr::from(bits(first) + (next() % span) as u32)));
    }
    for at in (1..all.len()).rev() {
        all.swap(at, (next() % (at as u64 + 1)) as usize);
    }
    assert_eq!(all.len(), 100_000);
    all
}

fn plain() -> String {
    viewers().iter().fold(String::new(), |mut text, viewer| {
        writeln!(text, "{viewer}").unwrap();
        text
    })
}

/// The common log format; ten minutes, 10,000 lines in each.
fn common() -> String {
    (0usize..).zip(viewers()).fold(String::new(), |mut text, (at, viewer)| {
        let (minute, second) = (at / 10_000, at % 60);
        writeln!(
            text,
            "{viewer} - - [10/Oct/2025:13:{minute:02}:{second:02} +0200] \"GET /{at}.ts HTTP/1.1\" 200 {at}"
        )
        .unwrap();
        text
    })
}

fn json_lines() -> String {
    viewers().iter().fold(String::new(), |mut text, viewer| {
        writeln!(text, "{{\"status\":200,\"remote_addr\":\"{viewer}\",\"path\":\"/x\"}}").unwrap();
        text
    })
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

/// The old table in each format that people and servers keep.
fn formats() -> Vec<(&'static str, Vec<u8>)> {
    let lines = |row: fn(&(&str, &str, &str)) -> String| OLD.iter().map(row).collect::<String>();
    let mut by_edge: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    OLD.iter().for_each(|(range, _, edge)| by_edge.entry(edge).or_default().push(range));
    let zones: Vec<String> = by_edge
        .iter()
        .map(|(edge, ranges)| format!("\"{edge}\":{{\"network\":{}}}", json!(ranges)))
        .collect();
    let lists: String = by_edge
        .iter()
        .map(|(edge, ranges)| format!("acl \"{edge}\" {{ {}; }};\n", ranges.join("; ")))
        .collect();
    let ends = |range: &str| {
        let (net, length) = range.split_once('/').unwrap();
        let first = u32::from(net.parse::<Ipv4Addr>().unwrap());
        let last = first + (1u32 << (32 - length.parse::<u32>().unwrap())) - 1;
        (Ipv4Addr::from(first), Ipv4Addr::from(last))
    };
    let sheet: String = std::iter::once("\u{feff}First IP\tLast IP\tBRAS\r\n".to_owned())
        .chain(OLD.iter().map(|(range, bas, _)| {
            let (first, last) = ends(range);
            format!("{first}\t{last}\t{bas}\r\n")
        }))
        .collect();
    vec![
        ("csv by BAS", lines(|(r, b, _)| format!("{r},{b}\n")).into_bytes()),
        (
            "csv by edge",
            format!("\u{feff}edges;prefix\r\n{}", lines(|(r, _, e)| format!("{e};{r}\r\n"))).into(),
        ),
        ("UTF-16", sheet.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("gzip", gzip(&lines(|(r, b, _)| format!("{r},{b}\n")))),
        ("haproxy map", lines(|(r, _, e)| format!("{r} {e}\n")).into_bytes()),
        (
            "nginx geo",
            format!("geo $edge {{\ndefault centre;\n{}}}\n", lines(|(r, _, e)| format!("{r} {e};\n"))).into(),
        ),
        ("gdnsd nets", lines(|(r, _, e)| format!("{r} => [ {e}, centre ]\n")).into_bytes()),
        ("czf", format!("{{\"revision\":\"1\",\"coverageZones\":{{{}}}}}", zones.join(",")).into()),
        ("bind acl", lists.into_bytes()),
    ]
}

/// What an earlier poolsync exported of the old table: `import` makes a static file of it,
/// and a site without routers publishes that.
fn exports(fleet: &Fleet) -> Vec<(&'static str, PathBuf)> {
    let text = OLD.iter().map(|(range, _, edge)| format!("{range},{edge}\n")).collect::<String>();
    let old = fleet.file("old-site.csv", format!("range,edges\n{text}"));
    let site = Site::new(
        Scratch::new(),
        &(configuration(&[])
            + "\n[edge.gone]\naddresses = [\"198.51.100.40\"]\nhost = \"gone.example.net\"\n"),
    );
    let file = site.scratch.join("legacy.csv");
    site.run(&["import", &old, "-o", file.to_str().unwrap()]).expect(0);
    let configured = std::fs::read_to_string(&site.config).unwrap();
    site.configure(&format!("static-file = \"legacy.csv\"\n{configured}"));
    site.run(&["poll", "--publish"]).expect(0);
    ["json", "ndjson", "csv", "mmdb", "nginx-geo", "gdnsd-nets", "haproxy-map", "czf", "bind-acl"]
        .map(|format| {
            let path = fleet.site.scratch.join(format!("exported-{format}"));
            site.run(&["export", "-f", format, "-o", path.to_str().unwrap()]).expect(0);
            (format, path)
        })
        .to_vec()
}

#[track_caller]
fn figures(diff: &Value, what: &str) {
    let family = &diff["families"][0];
    assert_eq!(diff["families"].as_array().unwrap().len(), 1, "{what}: {diff:#}");
    let count = |key: &str| family[key]["addresses"].clone();
    assert_eq!((&family["served"], &family["old"]), (&json!("65776"), &json!("57728")), "{what}");
    assert_eq!(
        ["agreed", "holes", "wrong", "dead"].map(count),
        [json!("45056"), json!("8432"), json!("12288"), json!("384")],
        "{what}"
    );
    assert_eq!(family["holes"]["share"], json!(8432.0 / 65776.0), "{what}");
    assert_eq!(family["dead"]["share"], json!(384.0 / 57728.0), "{what}");
    // Biggest first, each kind by itself.
    let found: Vec<[String; 3]> = diff["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| ["kind", "range", "addresses"].map(|key| f[key].as_str().unwrap().to_owned()))
        .collect();
    let wanted = [
        ["hole", "198.18.96.0-198.18.111.255", "4096"],
        ["hole", "198.19.32.0-198.19.47.255", "4096"],
        ["hole", "198.18.200.10-198.18.200.249", "240"],
        ["wrong-owner", "198.18.64.0-198.18.95.255", "8192"],
        ["wrong-owner", "198.19.48.0-198.19.63.255", "4096"],
        ["dead", "203.0.113.0-203.0.113.255", "256"],
        ["dead", "192.0.2.0-192.0.2.127", "128"],
    ];
    assert_eq!(found, wanted, "{what}");
    // By BAS and by edge: served, agreed, holes, wrong owners; the most faults first.
    let names = |list: &Value| -> Vec<(String, [String; 4])> {
        let number = |value: &Value| value.as_str().unwrap().to_owned();
        let row = |f: &Value| {
            let [agreed, holes, wrong] = ["agreed", "holes", "wrong"].map(|key| number(&f[key]["addresses"]));
            (f["name"].as_str().unwrap().to_owned(), [number(&f["served"]), agreed, holes, wrong])
        };
        list.as_array().unwrap().iter().map(row).collect()
    };
    let row = |name: &str, counts: [&str; 4]| (name.to_owned(), counts.map(str::to_owned));
    assert_eq!(
        names(&diff["by_bas"]),
        [
            row("bas-a", ["32768", "20480", "4096", "8192"]),
            row("bas-c", ["16384", "8192", "4096", "4096"]),
            row("bas-b", ["16624", "16384", "240", "0"]),
        ],
        "{what}"
    );
    assert_eq!(
        names(&diff["by_edge"]),
        [row("east", ["32768", "20480", "4096", "8192"]), row("west", ["33008", "24576", "4336", "4096"]),],
        "{what}"
    );
}

#[track_caller]
fn viewed(coverage: &Value, what: &str) {
    assert_eq!(coverage["requests"], 100_000, "{what}: {coverage:#}");
    let part = |part: &Value| (part["requests"].as_u64().unwrap(), part["share"].as_f64().unwrap());
    assert_eq!(part(&coverage["covered"]), (95_800, 0.958), "{what}");
    assert_eq!(part(&coverage["missed"]), (4_200, 0.042), "{what}");
    let names = |list: &Value| -> Vec<(String, u64)> {
        let row = |n: &Value| (n["name"].as_str().unwrap().to_owned(), n["requests"].as_u64().unwrap());
        list.as_array().unwrap().iter().map(row).collect()
    };
    let row = |name: &str, count| (name.to_owned(), count);
    assert_eq!(
        names(&coverage["by_bas"]),
        [row("bas-a", 55_000), row("bas-b", 21_200), row("bas-c", 19_600)],
        "{what}"
    );
    assert_eq!(names(&coverage["by_edge"]), [row("east", 55_000), row("west", 40_800)], "{what}");
    let misses: Vec<(String, u64)> = coverage["misses"]["prefixes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["prefix"].as_str().unwrap().to_owned(), p["requests"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        misses,
        [row("198.51.100.0/24", 2_000), row("192.0.2.0/24", 1_400), row("203.0.113.0/24", 800)],
        "{what}"
    );
}

#[track_caller]
fn beside(coverage: &Value, what: &str) {
    let against = &coverage["against"];
    let count = |key: &str| against[key]["requests"].as_u64().unwrap();
    assert_eq!(
        ["old_covered", "old_missed", "agreed", "differing", "only_table", "only_old", "neither"].map(count),
        [81_800, 18_200, 70_000, 11_000, 14_800, 800, 3_400],
        "{what}"
    );
}

#[test]
fn an_old_table_is_told_its_faults_in_every_format() {
    if !have("an_old_table_is_told_its_faults_in_every_format", PROGRAMS) {
        return;
    }
    let fleet = Fleet::start();
    let old = fleet.file("old.csv", &formats()[0].1);
    let log = fleet.file("plain.log", plain());
    // Before anything was ever polled: the routers are asked, and nothing is left behind.
    let early =
        fleet.site.run(&["diff", "--against", &old, "--json"]).expect(4).said(&["nothing is committed"]);
    figures(&early.json(), "without a store");
    assert_eq!(early.json()["table"]["generation"], Value::Null);
    let early = fleet.site.run(&["coverage", &log, "--against", &old, "--json"]).expect(0).json();
    viewed(&early, "without a store");
    beside(&early, "without a store");
    assert!(!fleet.site.scratch.join("poolsync.db").exists());
    assert!(!fleet.site.export("edges.conf").exists());
    // After a rehearsal the store is there and empty: the same.
    fleet.site.run(&["poll", "--dry-run"]).expect(3).said(&["nothing is published yet"]);
    figures(&fleet.diff(&old), "after a rehearsal");
    // Of the store, in every format; no format may be named.
    fleet.site.run(&["poll"]).expect(0);
    for (name, content) in formats() {
        let old = fleet.file("old-table", &content);
        let diff = fleet.diff(&old);
        figures(&diff, name);
        assert_eq!(diff["table"], json!({"generation": 1, "published": true, "bas": 3, "unread": []}));
        let coverage = fleet.site.run(&["coverage", &log, "--against", &old, "--json"]).expect(0).json();
        viewed(&coverage, name);
        beside(&coverage, name);
    }
    for (name, path) in exports(&fleet) {
        let path = path.to_str().unwrap();
        figures(&fleet.diff(path), name);
        let coverage = fleet.site.run(&["coverage", &log, "--against", path, "--json"]).expect(0).json();
        beside(&coverage, name);
    }
    // The routers move on, the store does not: `--poll` sees it, and commits nothing.
    fleet.routers[1].set(&[("res-b", "198.18.128.0", "198.18.191.255")]);
    figures(&fleet.diff(&old), "of the store");
    let now = fleet.site.run(&["diff", "--against", &old, "--json", "--poll"]).expect(4).json();
    assert_eq!(now["families"][0]["holes"]["addresses"], "8192");
    figures(&fleet.diff(&old), "after a look at the routers");
}

#[test]
fn people_and_spreadsheets_read_the_same_figures() {
    if !have("people_and_spreadsheets_read_the_same_figures", PROGRAMS) {
        return;
    }
    let fleet = Fleet::start();
    fleet.site.run(&["poll"]).expect(0);
    let old = fleet.file("old.csv", &formats()[1].1);
    // Columns align; how wide they are does not matter here.
    let squeezed = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let told = squeezed(&fleet.site.run(&["diff", "--against", &old]).expect(4).stdout);
    for line in [
        "served 65,776 100.0 %",
        "agreed 45,056 68.5 % served",
        "holes 8,432 12.8 % served",
        "wrong owner 12,288 18.7 % served",
        "dead 384 0.7 % the old table",
        "198.18.96.0/20 4,096 6.2 % bas-a east - -",
        "198.18.200.10-198.18.200.249 240 0.4 % bas-b west - -",
        "198.18.64.0/19 8,192 12.5 % bas-a east west 3",
        "203.0.113.0/24 256 0.4 % east 8",
        "bas-a IPv4 32,768 20,480 (62.5 %) 4,096 (12.5 %) 8,192 (25.0 %)",
        "held against: generation 1",
    ] {
        assert!(told.iter().any(|l| l == line), "no `{line}` in\n{}", told.join("\n"));
    }
    let csv = fleet.site.run(&["diff", "--against", &old, "--csv"]).expect(4).stdout;
    assert_eq!(
        csv.lines().take(2).collect::<Vec<_>>(),
        [
            "kind,family,first,last,prefixes,addresses,share,bas,edge,old,line",
            "hole,4,198.18.96.0,198.18.111.255,198.18.96.0/20,4096,0.062271953,bas-a,east,,0"
        ]
    );
    assert_eq!(csv.lines().count(), 8);
    // The log in each shape, packed or not, from a file and from standard input.
    let plot = fleet.site.scratch.join("plot.svg");
    for (name, log, args) in [
        ("common.log", common().into_bytes(), &[][..]),
        ("common.log.gz", gzip(&common()), &["--svg", plot.to_str().unwrap()]),
        ("log.json.zst", zstd(&json_lines()), &["--key", "remote_addr"]),
        ("log.json", json_lines().into_bytes(), &[]),
        (
            "third.csv",
            plain().lines().map(|ip| format!("x;y;{ip}\n")).collect::<String>().into_bytes(),
            &["--field", "3", "--separator", ";"],
        ),
    ] {
        let log = fleet.file(name, log);
        let all = [&["coverage", &log, "--against", &old, "--json"], args].concat();
        let coverage = fleet.site.run(&all).expect(0).json();
        viewed(&coverage, name);
        beside(&coverage, name);
        if name.starts_with("common") {
            let times = &coverage["times"];
            let steps = times["steps"].as_array().unwrap();
            assert_eq!((times["step_s"].as_i64(), steps.len()), (Some(60), 10), "{name}");
            assert_eq!(steps[3]["start"], "2025-10-10T11:03:00Z", "{name}");
            assert!(steps.iter().all(|step| step["requests"] == 10_000), "{name}");
        }
    }
    assert!(std::fs::read_to_string(&plot).unwrap().starts_with("<svg"));
    let told =
        fleet.site.run(&["coverage", &fleet.file("plain.log", plain()), "--against", &old]).expect(0).stdout;
    for line in [
        "100,000 requests: 95.8 % are covered by an entry of internet, 4.2 % go to the default edge",
        "18.2 % went to the default edge by the old table, 4.2 % go there by this one",
        "held against: generation 1",
    ] {
        assert!(told.lines().any(|l| l == line), "no `{line}` in\n{told}");
    }
    // Known resolvers apart: 198.51.100.0/24 has 2,000 of the viewers.
    let resolvers = fleet.file("resolvers.txt", "# public\n198.51.100.0/24,public\n");
    let log = fleet.file("plain.log", plain());
    let apart = fleet.site.run(&["coverage", &log, "--resolvers", &resolvers, "--json"]).expect(0).json();
    assert_eq!((&apart["requests"], &apart["missed"]["requests"]), (&json!(98_000), &json!(2_200)));
    assert_eq!(apart["resolvers"]["by_name"][0], json!({"name": "public", "requests": 2000, "share": 1.0}));
    let mut piped = poolsync::command(["-c", fleet.site.config.to_str().unwrap(), "coverage", "-", "--json"]);
    piped.stdin(std::fs::File::open(&log).unwrap());
    let output = piped.output().unwrap();
    viewed(&serde_json::from_slice(&output.stdout).unwrap(), "standard input");
}

#[test]
fn a_router_that_was_never_read_is_said_to_be_missing() {
    if !have("a_router_that_was_never_read_is_said_to_be_missing", PROGRAMS) {
        return;
    }
    let scratch = Scratch::new();
    let router = Router::start(&scratch, "bas-a", POOLS[0].1);
    let text = configuration(&[("bas-a", router.address(), "east"), ("bas-b", nobody(), "west")]);
    let site = Site::new(scratch, &text);
    let old = site.scratch.write("old.csv", &formats()[0].1);
    let old = old.to_str().unwrap();
    let unread = "never read to its end: bas-b";
    let now = site.run(&["diff", "--against", old, "--json"]).expect(4).said(&[unread]).json();
    assert_eq!(now["families"][0]["served"], "32768");
    assert_eq!(now["table"], json!({"generation": null, "published": false, "bas": 2, "unread": ["bas-b"]}));
    // Half of the fleet is not enough to publish; the figures are there all the same.
    site.run(&["poll"]).expect(3);
    let later = site.run(&["diff", "--against", old, "--json"]).expect(4).said(&[unread]).json();
    assert_eq!(later["families"], now["families"]);
    assert_eq!(later["table"], json!({"generation": 1, "published": false, "bas": 2, "unread": ["bas-b"]}));
    let right = site.scratch.write("right.csv", "198.18.0.0/17,bas-a\n");
    site.run(&["diff", "--against", right.to_str().unwrap()]).expect(3).said(&[unread]);
}

/// The static file is what the configuration reads, and the old table's lines that are not in
/// it are named by file and line.
#[test]
fn import_names_each_line_and_overwrites_nothing() {
    let site = Site::new(Scratch::new(), &configuration(&[("bas-a", nobody(), "east")]));
    let old = site.scratch.write(
        "old.csv",
        "range,bas,edges\n\
         198.18.0.0/24,bas-a,\n\
         198.18.1.0/33,bas-a,\n\
         198.18.2.0/24,bas-z,\n\
         198.18.3.0/24,,west;east\n\
         198.18.4.0/24,,\n\
         127.0.0.0/24,bas-a,\n\
         198.18.0.0/24,bas-a,\n\
         198.18.0.0-198.18.0.255,,west\n\
         198.18.5.0/2",
    );
    let name = old.to_str().unwrap();
    let out = site.scratch.join("static.csv");
    let out = out.to_str().unwrap();
    let lines = [3, 4, 6, 7, 9, 10].map(|line| format!("{name}:{line}: left out: "));
    let told = site.run(&["import", name, "-o", out]).expect(3).said(&lines.each_ref().map(String::as_str));
    assert_eq!(told.stdout, format!("{out}: 4 rows of csv, 2 static lines; 6 lines left out\n"));
    let written = std::fs::read_to_string(out).unwrap();
    assert_eq!(written, "range,bas,edges\n198.18.0.0/24,bas-a,\n198.18.3.0/24,,west;east\n");
    // Not without being told.
    site.scratch.write("static.csv", "mine\n");
    site.run(&["import", name, "-o", out]).expect(2).said(&["is there already", "--force"]);
    assert_eq!(std::fs::read_to_string(out).unwrap(), "mine\n");
    site.run(&["import", name, "-o", out, "--force"]).expect(3);
    assert_eq!(std::fs::read_to_string(out).unwrap(), written);
    assert_eq!(site.run(&["import", name]).expect(3).stdout, written);
    let json = site.run(&["import", name, "--json"]).expect(3).json();
    assert_eq!((&json["rows"], &json["lines"], &json["lost"]), (&json!(4), &json!(2), &json!(6)));
    assert_eq!(json["csv"], written);
    let kinds: Vec<_> = json["remarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["line"].as_u64().unwrap(), r["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            (3, "not-a-range"),
            (6, "no-target"),
            (10, "not-a-range"),
            (8, "repeated"),
            (9, "contradiction"),
            (4, "unknown-name"),
            (7, "never-published"),
        ]
    );
    // The configuration reads what was written.
    let text = std::fs::read_to_string(&site.config).unwrap();
    site.configure(&format!("static-file = \"static.csv\"\n{text}"));
    assert!(site.run(&["check"]).expect(0).stdout.contains("2 static lines"));
    // What cannot be asked.
    site.run(&["import", name, "-f", "xls"]).expect(2).said(&["is no format of old tables", "nginx-geo"]);
    site.run(&["import", "/nowhere/old.csv"]).expect(1).said(&["/nowhere/old.csv: cannot be read"]);
    let two = site.scratch.write("two.csv", "198.18.0.0/24,x,y\n");
    site.run(&["import", two.to_str().unwrap()]).expect(2).said(&["--columns"]);
    let named = ["import", two.to_str().unwrap(), "--columns", "range,-,name"];
    site.run(&named).expect(3).said(&["the configuration knows no `y`"]);
}

/// A poll that fails changes nothing of the answer, and the explanation says so.
#[test]
fn an_explanation_names_the_poll_that_failed() {
    if !have("an_explanation_names_the_poll_that_failed", PROGRAMS) {
        return;
    }
    let (site, mut router) = support::site::with_router(POOLS[0].1);
    site.run(&["poll"]).expect(0);
    let explain = || site.run(&["explain", "198.18.0.1"]).expect(0).stdout;
    assert!(!explain().contains("did not read it"), "{}", explain());
    router.program().kill();
    site.run(&["poll"]).expect(3);
    let told = explain();
    let failed = "did not read it to its end (timeout): what it listed before stays.";
    assert!(told.lines().any(|l| l.starts_with("The last poll of bas-a, ") && l.ends_with(failed)), "{told}");
    assert!(told.contains("of bas-a, pool \"res-a\": group east answers"), "{told}");
}

/// The README's story is what the demo's fleet gives: every command is run, and every line
/// that is shown is printed, in that order.
#[test]
fn the_story_in_the_readme_is_true() {
    let readme = std::fs::read_to_string(support::repository("README.md")).unwrap();
    let story = readme.split("\n## Your first day\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let scratch = Scratch::new();
    let run = |line: &str| {
        let mut command = poolsync::command(line.split_whitespace().skip(1));
        command.current_dir(scratch.path());
        poolsync::run_command(command)
    };
    run("poolsync demo --folder demo").expect(0);
    let blocks: Vec<&str> = story.split("```\n").skip(1).step_by(2).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let (first, shown) = block.split_once('\n').unwrap();
        let told = run(first.strip_prefix("$ ").unwrap()).stdout;
        let mut lines = told.lines();
        for line in shown.lines().filter(|line| *line != "...") {
            assert!(lines.any(|l| l == line), "`{first}` does not print `{line}` there:\n{told}");
        }
    }
}
