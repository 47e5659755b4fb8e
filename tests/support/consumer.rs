//! A table for one consumer, with nested prefixes behind it, and what is right for every
//! address by a slow scan over those; and the export of the consumer's own example folder.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use ipnet::IpNet;
use poolsync::address::{Family, Range};
use poolsync::config::{Environment, Loader};
use poolsync::cycle::exports_of;
use poolsync::publish::{Export, Manifest, Published, State, publish};
use poolsync::table::{Entry, PoolName, Snapshot};

use super::repository;
use super::scratch::Scratch;

#[path = "../data/formats/fixture.rs"]
pub mod fixture;

/// The name that is asked for.
pub const NAME: &str = "cdn.example.com";
/// The token of the group of two edges.
pub const BOTH: &str = "g-0123456789";

/// Each edge's number: the last part of its addresses.
pub const EDGES: [(&str, u16); 3] = [("centre", 1), ("gz-01", 10), ("gz-02", 20)];

/// An edge's addresses.
pub fn addresses(edge: &str) -> [IpAddr; 2] {
    let number = EDGES.iter().find(|(name, _)| *name == edge).unwrap().1;
    [format!("198.51.100.{number}").parse().unwrap(), format!("2001:db8:ffff::{number}").parse().unwrap()]
}

/// Numbers that are the same in every run (splitmix64).
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u128) -> u128 {
        (u128::from(self.next()) << 64 | u128::from(self.next())) % limit
    }
}

/// Nested prefixes, each with the group that answers within it and outside its children.
#[derive(Clone)]
pub struct World {
    rows: BTreeMap<IpNet, &'static str>,
    random: Random,
    within: [IpNet; 2],
}

impl World {
    /// Prefixes within these, for groups of this list.
    pub fn new(within: [&str; 2], groups: &[&'static str], count: usize) -> Self {
        let within = within.map(|net| net.parse::<IpNet>().unwrap());
        let mut world = Self { rows: BTreeMap::new(), random: Random(7), within };
        for number in 0..count {
            // Two in three are IPv4.
            let net = world.prefix(usize::from(number % 3 == 2));
            let group = groups[(number / 3) % groups.len()];
            world.rows.insert(net, group);
        }
        world
    }

    fn prefix(&mut self, family: usize) -> IpNet {
        let within = self.within[family];
        let length = (within.prefix_len() + 4 + self.random.below(16) as u8).min(within.max_prefix_len());
        let range = Range::from(within);
        let bits = range.first_bits() + self.random.below(range.span() + 1);
        IpNet::new(range.family().address(bits), length).unwrap().trunc()
    }

    /// Some prefixes go, some change their group, some come.
    pub fn change(&mut self, groups: &[&'static str]) {
        let nets: Vec<IpNet> = self.rows.keys().copied().collect();
        for (at, net) in nets.into_iter().enumerate() {
            match at % 11 {
                0 => drop(self.rows.remove(&net)),
                3 => drop(self.rows.insert(net, groups[at % groups.len()])),
                _ => {}
            }
        }
        for number in 0..12 {
            let net = self.prefix(number % 2);
            self.rows.insert(net, groups[number % groups.len()]);
        }
    }

    /// Puts a prefix in.
    pub fn put(&mut self, net: &str, group: &'static str) {
        self.rows.insert(net.parse().unwrap(), group);
    }

    /// The prefixes, and the group of each.
    pub fn prefixes(&self) -> impl Iterator<Item = (IpNet, &'static str)> {
        self.rows.iter().map(|(net, group)| (*net, *group))
    }

    /// The group that answers an address: that of the longest prefix.
    pub fn group(&self, address: IpAddr) -> &'static str {
        let holding = self.rows.iter().filter(|(net, _)| net.contains(&address));
        holding.max_by_key(|(net, _)| net.prefix_len()).map_or("centre", |(_, group)| *group)
    }

    /// The edges that may answer an address.
    pub fn edges(&self, address: IpAddr) -> &'static [&'static str] {
        match self.group(address) {
            "gz-01" => &["gz-01"],
            "gz-02" => &["gz-02"],
            BOTH => &["gz-01", "gz-02"],
            _ => &["centre"],
        }
    }

    /// Addresses to ask for: the ends of every prefix, their neighbours, some within each,
    /// and some around.
    pub fn viewers(&self, count: usize) -> Vec<IpAddr> {
        let mut random = Random(99);
        let mut viewers = Vec::new();
        for net in self.rows.keys() {
            let range = Range::from(*net);
            let (first, last, max) = (range.first_bits(), range.last_bits(), range.family().max());
            let ends = [first, last, first.saturating_sub(1), last.saturating_add(1).min(max)];
            viewers.extend(ends.map(|bits| range.family().address(bits)));
        }
        while viewers.len() < count {
            let family = usize::from(viewers.len() % 2 == 1 && self.within[1].prefix_len() < 128);
            let range = Range::from(self.within[family]);
            let bits = range.first_bits() + random.below(range.span() + 1);
            viewers.push(range.family().address(bits));
        }
        viewers
    }

    /// The table of prefixes that are not nested: a row each.
    pub fn flat_snapshot(&self, generation: u64) -> Snapshot {
        let row = |(net, group): (&IpNet, &&'static str)| {
            let range = Range::from(*net).to_string();
            fixture::entry("internet", &range, group, Some(group), PoolName::new(b"p"), "")
        };
        Self::of_entries(self.rows.iter().map(row).collect(), generation)
    }

    /// The table: disjoint rows cut at every end of a prefix.
    pub fn snapshot(&self, generation: u64) -> Snapshot {
        let mut cuts: Vec<(Family, u128)> = Vec::new();
        for net in self.rows.keys() {
            let range = Range::from(*net);
            cuts.push((range.family(), range.first_bits()));
            cuts.extend(range.last_bits().checked_add(1).map(|behind| (range.family(), behind)));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut entries = Vec::new();
        for pair in cuts.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let (family, first) = pair[0];
            let range = Range::from_bits(family, first, pair[1].1 - 1).unwrap();
            let group = self.group(range.first());
            if self.rows.keys().any(|net| net.contains(&range.first())) {
                let name = PoolName::new(b"p");
                entries.push(fixture::entry("internet", &range.to_string(), group, Some(group), name, ""));
            }
        }
        Self::of_entries(entries, generation)
    }

    fn of_entries(entries: Vec<Entry>, generation: u64) -> Snapshot {
        let groups = [
            fixture::group("gz-01", &[("gz-01", 1)]),
            fixture::group("gz-02", &[("gz-02", 1)]),
            fixture::group(BOTH, &[("gz-01", 3), ("gz-02", 1)]),
        ];
        let owners = ["gz-01", "gz-02", BOTH].map(|name| (name, name));
        let edges = EDGES.iter().map(|(name, _)| {
            let addresses = addresses(name).map(|address| address.to_string());
            let addresses = addresses.each_ref().map(String::as_str);
            fixture::edge(name, &addresses, Some(&format!("{name}.example.net")), None)
        });
        let edges: Vec<_> = edges.collect();
        Snapshot {
            generation,
            ..fixture::snapshot(entries, fixture::groups(&groups, &owners), &edges, "centre")
        }
    }
}

/// The export of `config/consumers/SERVER/FILE`, with some of its texts put right for a
/// test: each must be there.
pub fn export(scratch: &Scratch, file: &str, changes: &[(&str, &str)]) -> Export {
    let mut text = std::fs::read_to_string(repository("config/consumers").join(file)).unwrap();
    let folder = scratch.folder("export").display().to_string();
    text = text.replace("/var/lib/poolsync/export", &folder);
    for (old, new) in changes {
        assert!(text.contains(old), "{file} has no {old:?}");
        text = text.replace(old, new);
    }
    let mut base = "default-edge = \"centre\"\n".to_owned();
    for (name, _) in EDGES {
        base += &format!("[edge.{name}]\nhost = \"{name}.example.net\"\n");
    }
    let path = scratch.write("poolsync.toml", format!("{base}{text}"));
    let loader = Loader { environment: Environment { variables: BTreeMap::new() }, secrets: true };
    let loaded = loader.load(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    let mut exports = exports_of(&loaded.config).unwrap();
    assert_eq!(exports.len(), 1, "{file}");
    exports.remove(0)
}

/// An example's file with some of its texts put right for a test: each must be there.
pub fn example(file: &str, changes: &[(&str, &str)]) -> String {
    let path = repository("config/consumers").join(file);
    let mut text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    for (old, new) in changes {
        assert!(text.contains(old), "{file} has no {old:?}");
        text = text.replace(old, new);
    }
    text
}

/// A runtime for publications of tests that are otherwise of threads and processes.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
}

/// Publishes before the consumer runs: nobody is told, and nobody asked.
pub fn publish_cold(export: &Export, snapshot: &Snapshot) -> Manifest {
    let cold = Export {
        reload: None,
        canary: None,
        haproxy_socket: None,
        min_interval: Duration::ZERO,
        ..export.clone()
    };
    published(publish_now(&cold, snapshot))
}

/// Publishes as the example has it.
pub fn publish_now(export: &Export, snapshot: &Snapshot) -> Published {
    run(publish(export, snapshot, jiff::Timestamp::now()))
}

/// The manifest of a publication that changed the files.
#[track_caller]
pub fn published(published: Published) -> Manifest {
    match published.state {
        State::Published(manifest) => manifest,
        other => panic!("not published: {other:?}"),
    }
}

/// Compares answers with the world for every viewer; `ask` says what was answered.
pub fn compare(
    world: &World,
    viewers: &[IpAddr],
    mut ask: impl FnMut(IpAddr) -> Vec<String>,
    right: impl Fn(&[&str], IpAddr) -> Vec<String>,
) {
    let mut wrong = Vec::new();
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    for viewer in viewers {
        let edges = world.edges(*viewer);
        *asked.entry(world.group(*viewer)).or_default() += 1;
        let answers = ask(*viewer);
        let allowed = right(edges, *viewer);
        if answers.is_empty() || !answers.iter().all(|answer| allowed.contains(answer)) {
            wrong.push(format!("{viewer} is answered {answers:?}, right is {allowed:?}"));
        }
    }
    let some = &wrong[..wrong.len().min(10)];
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), viewers.len(), some.join("\n"));
    assert!(
        asked.len() >= 3 && asked.values().all(|count| *count >= 20),
        "each group was asked for: {asked:?}"
    );
}

/// The addresses of edges in the viewer's own family, as text.
pub fn dns_right(edges: &[&str], viewer: IpAddr) -> Vec<String> {
    edges.iter().map(|edge| addresses(edge)[usize::from(viewer.is_ipv6())].to_string()).collect()
}

/// Overwrites a file with one that is cut in the middle, by rename as a careless script
/// would at best.
pub fn cut_in_half(path: &Path) {
    let whole = std::fs::read(path).unwrap();
    let half = path.with_extension("half");
    std::fs::write(&half, &whole[..whole.len() / 2]).unwrap();
    std::fs::rename(&half, path).unwrap();
}

/// The addresses that a server on loopback answers to a question from a source; none where
/// three tries stay unanswered.
pub fn sourced(server: SocketAddr, source: IpAddr) -> Vec<String> {
    let server = match source {
        IpAddr::V4(_) => server,
        IpAddr::V6(_) => SocketAddr::from((Ipv6Addr::LOCALHOST, server.port())),
    };
    let kind: u16 = if source.is_ipv4() { 1 } else { 28 };
    let mut question = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in NAME.split('.') {
        question.push(label.len() as u8);
        question.extend(label.as_bytes());
    }
    question.push(0);
    question.extend(kind.to_be_bytes());
    question.extend([0, 1]);
    let mut buffer = [0; 2048];
    for _ in 0..2 {
        let Ok(socket) = UdpSocket::bind((source, 0)) else { panic!("cannot ask from {source}") };
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        if socket.send(&question).is_err() {
            continue;
        }
        if let Ok(length) = socket.recv(&mut buffer) {
            return super::dns::parse(&buffer[..length]).addresses.iter().map(ToString::to_string).collect();
        }
    }
    Vec::new()
}
