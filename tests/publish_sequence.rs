//! What follows the rename: stamp, canary, the way back; and what comes before it all: the
//! pace, the part of the table, the files' group.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fixture::{edge, group, groups, snapshot};
use jiff::Timestamp;
use poolsync::format::by_name;
use poolsync::format::groups::{Context, groups_by_name};
use poolsync::mib::Glob;
use poolsync::publish::{
    Argv, Canary, Export, Failure, FailureReason, GroupsFile, Manifest, Published, Publisher, Query, Report,
    State, publish,
};
use poolsync::table::{Name, PoolName, Snapshot, Table};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::mpsc;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_796_000_000 + seconds).unwrap()
}

/// A generation of these rows: range and the edge whose BAS (of the same name) it is.
fn generation(number: u64, rows: &[(&str, &str)]) -> Snapshot {
    let names = ["gz-01", "gz-02"];
    let list = names.map(|name| group(name, &[(name, 1)]));
    let owners = names.map(|name| (name, name));
    let edges = [
        edge("centre", &["198.51.100.1", "2001:db8::1"], Some("centre.example.net"), None),
        edge("gz-01", &["198.51.100.10", "2001:db8::10"], Some("gz-01.example.net"), None),
        edge("gz-02", &["198.51.100.20", "2001:db8::20"], Some("gz-02.example.net"), None),
    ];
    let entry = |(range, owner): &(&str, &str)| {
        fixture::entry("internet", range, owner, Some(owner), PoolName::new(b"p"), "")
    };
    let entries = rows.iter().map(entry).collect();
    Snapshot { generation: number, ..snapshot(entries, groups(&list, &owners), &edges, "centre") }
}

fn first() -> Snapshot {
    generation(1, &[("10.0.0.0/24", "gz-01"), ("2001:db8:a::/48", "gz-01")])
}

fn second() -> Snapshot {
    generation(2, &[("10.0.0.0/25", "gz-02"), ("2001:db8:a::/48", "gz-02")])
}

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn manifest(&self) -> Manifest {
        serde_json::from_str(&self.text("edge.map.manifest.json")).unwrap()
    }

    fn export(&self) -> Export {
        Export {
            context: Context { name: Some("cdn.example.com".parse().unwrap()), ..Context::default() },
            ..Export::new("dns", by_name("haproxy-map").unwrap(), self.path("edge.map"))
        }
    }
}

fn shell(script: &str) -> Option<Argv> {
    Some(Argv::new(["sh", "-c", script].map(str::to_owned).to_vec()).unwrap())
}

fn failure(published: Published) -> Failure {
    match published.state {
        State::Failed(failure) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

fn manifest(published: Published) -> Manifest {
    match published.state {
        State::Published(manifest) => manifest,
        other => panic!("not published: {other:?}"),
    }
}

// -- Consumers that read the map and answer, each in its own protocol -----------------------

/// How a consumer reads the map.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    /// As it is.
    Honest,
    /// Never again.
    Stuck,
    /// As empty.
    Broken,
    /// It gives no answer.
    Silent,
}

struct Consumer {
    map: PathBuf,
    held: Mutex<String>,
    mood: Mutex<Mood>,
    asked: Mutex<Vec<IpAddr>>,
}

impl Consumer {
    fn new(place: &Place) -> Arc<Self> {
        Arc::new(Self {
            map: place.path("edge.map"),
            held: Mutex::default(),
            mood: Mutex::new(Mood::Honest),
            asked: Mutex::default(),
        })
    }

    fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.iter().map(ToString::to_string).collect()
    }

    /// The group that answers; none where nobody does.
    fn token(&self, viewer: IpAddr) -> Option<String> {
        self.asked.lock().unwrap().push(viewer);
        let mood = *self.mood.lock().unwrap();
        let mut held = self.held.lock().unwrap();
        match mood {
            Mood::Honest => *held = fs::read_to_string(&self.map).unwrap(),
            Mood::Broken => held.clear(),
            Mood::Stuck => {}
            Mood::Silent => return None,
        }
        let row = held.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let (net, token) = line.split_once(' ').unwrap();
            net.parse::<ipnet::IpNet>().unwrap().contains(&viewer).then(|| token.to_owned())
        });
        Some(row.unwrap_or_else(|| "centre".to_owned()))
    }

    /// Answers by HTTP: with a redirect, or with the token where the path is `/token`.
    async fn http(self: &Arc<Self>) -> Query {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let consumer = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(stream.read_u8().await.unwrap());
                }
                let request = String::from_utf8(request).unwrap().to_ascii_lowercase();
                let viewer = request.split("x-forwarded-for: ").nth(1).unwrap().split("\r\n").next().unwrap();
                let Some(token) = consumer.token(viewer.parse().unwrap()) else { continue };
                let answer = if request.starts_with("get /token ") {
                    let body = format!("edge={token}\n");
                    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                } else {
                    format!(
                        "HTTP/1.1 302 Found\r\nlocation: http://{token}.example.net/\r\ncontent-length: 0\r\n\r\n"
                    )
                };
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Query::Http(format!("http://{address}/"))
    }

    /// Answers by DNS, by the client subnet, with the group's addresses.
    async fn dns(self: &Arc<Self>) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let consumer = Arc::clone(self);
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
                let question = &buffer[..length];
                // The name is 17 octets, then type and class; the option's address is last.
                let (kind, v4) = (question[12 + 18], question[length - 6] == 32);
                let viewer: IpAddr = if v4 && question[length - 7] == 1 {
                    <[u8; 4]>::try_from(&question[length - 4..]).unwrap().into()
                } else {
                    <[u8; 16]>::try_from(&question[length - 16..]).unwrap().into()
                };
                let Some(token) = consumer.token(viewer) else { continue };
                assert_eq!(kind, 1, "A is asked for where the group has it");
                let last = match token.as_str() {
                    "gz-01" => 10,
                    "gz-02" => 20,
                    _ => 1,
                };
                let mut answer = question[..12 + 21].to_vec();
                answer[2] = 0x84;
                answer[7] = 1;
                answer[11] = 0;
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 198, 51, 100, last]);
                socket.send_to(&answer, from).await.unwrap();
            }
        });
        address
    }
}

fn canary(query: Query) -> Option<Canary> {
    Some(Canary { timeout: Duration::from_secs(20), ..Canary::new(query) })
}

fn impatient(query: Query) -> Option<Canary> {
    Some(Canary { timeout: Duration::from_millis(300), ..Canary::new(query) })
}

#[tokio::test]
async fn the_consumer_is_asked_for_what_changed_in_both_families_and_for_what_is_missing() {
    let place = Place::new();
    let consumer = Consumer::new(&place);
    for query in [consumer.http().await, Query::Dns(consumer.dns().await)] {
        let export = Export { canary: canary(query), ..place.export() };
        manifest(publish(&export, &first(), at(0)).await);
        // A first table is all new; behind it is what is in no row.
        assert_eq!(consumer.asked(), ["10.0.0.0", "10.0.1.0", "2001:db8:a::", "2001:db8:b::"]);
        let found = manifest(publish(&export, &second(), at(100)).await);
        // 10.0.0.128/25 went back to the default.
        assert_eq!(
            consumer.asked(),
            ["10.0.0.0", "10.0.0.128", "10.0.0.128", "2001:db8:a::", "2001:db8:b::"]
        );
        let confirmed = found.confirmed.unwrap();
        assert!(at(100) <= confirmed && confirmed < at(160), "{confirmed}");
        assert_eq!(place.manifest(), found);
        // Nothing changed: nobody is asked.
        assert!(matches!(publish(&export, &second(), at(200)).await.state, State::Unchanged(_)));
        assert_eq!(consumer.asked(), [""; 0]);
        assert_eq!(place.manifest().confirmed, Some(confirmed));
        fs::remove_file(place.path("edge.map")).unwrap();
        fs::remove_file(place.path("edge.map.manifest.json")).unwrap();
    }
}

#[tokio::test]
async fn an_answer_may_come_late_but_not_too_late() {
    let place = Place::new();
    let consumer = Consumer::new(&place);
    let query = consumer.http().await;
    let export = Export { canary: canary(query), ..place.export() };
    consumer.set(Mood::Stuck);
    let later = Arc::clone(&consumer);
    let asking = tokio::spawn(async move { publish(&export, &first(), at(0)).await });
    // It has been asked in vain, then reads the file.
    while later.asked.lock().unwrap().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    later.set(Mood::Honest);
    manifest(asking.await.unwrap());
}

/// The reload command says that all is well, and it is not: as PowerDNS does.
#[tokio::test]
async fn a_consumer_that_answers_wrongly_gets_the_files_before_back() {
    for (mood, word) in [
        (Mood::Stuck, "not to group gz-02; the files before are back, and reloaded"),
        (Mood::Broken, "for 10.0.0.0: "),
        (Mood::Silent, "; the files before are back"),
    ] {
        let place = Place::new();
        let consumer = Consumer::new(&place);
        let query = consumer.http().await;
        let export =
            Export { canary: canary(query.clone()), reload: shell("echo Ok >> reloads"), ..place.export() };
        manifest(publish(&export, &first(), at(0)).await);
        let (before, kept) = (place.text("edge.map"), place.manifest());
        consumer.set(mood);
        let hasty = Export { canary: impatient(query), ..export.clone() };
        let failure = failure(publish(&hasty, &second(), at(10)).await);
        assert_eq!(failure.reason, FailureReason::Canary, "{failure}");
        assert!(failure.detail.contains(word), "{failure}");
        assert_eq!((place.text("edge.map"), place.manifest()), (before, kept));
        assert_eq!(place.text("reloads").lines().count(), 3, "told of the new and of the old");
        // It comes to its senses, and the next attempt goes through.
        consumer.set(Mood::Honest);
        manifest(publish(&export, &second(), at(20)).await);
        assert_eq!(consumer.token("10.0.0.1".parse().unwrap()).unwrap(), "gz-02");
    }
}

#[tokio::test]
async fn a_canary_of_dns_tells_what_was_wrong() {
    let place = Place::new();
    let consumer = Consumer::new(&place);
    let server = consumer.dns().await;
    let export = Export { canary: canary(Query::Dns(server)), ..place.export() };
    manifest(publish(&export, &first(), at(0)).await);
    consumer.set(Mood::Stuck);
    let hasty = Export { canary: impatient(Query::Dns(server)), ..export.clone() };
    let told = failure(publish(&hasty, &second(), at(10)).await);
    let said = "for 10.0.0.0: it answers [198.51.100.10] with code 0, not as group gz-02; the files before";
    assert!(told.detail.starts_with(said), "{told}");
    consumer.set(Mood::Silent);
    let told = failure(publish(&hasty, &second(), at(10)).await);
    assert!(told.detail.contains("no answer within"), "{told}");
    // Nobody listens there, and nobody knows the name.
    let nameless = Export { context: Context::default(), ..hasty };
    let told = failure(publish(&nameless, &second(), at(10)).await);
    assert!(told.detail.contains("the export has no `name`"), "{told}");
}

#[tokio::test]
async fn a_group_named_in_the_answer_will_do() {
    let place = Place::new();
    let consumer = Consumer::new(&place);
    let Query::Http(url) = consumer.http().await else { unreachable!() };
    let export = Export { canary: canary(Query::Http(format!("{url}token"))), ..place.export() };
    manifest(publish(&export, &first(), at(0)).await);
    let Query::Http(dead) = Query::Http("http://127.0.0.1:1/".to_owned()) else { unreachable!() };
    let export = Export { canary: impatient(Query::Http(dead)), ..place.export() };
    let told = failure(publish(&export, &second(), at(10)).await);
    assert!(told.detail.contains("http://127.0.0.1:1/: "), "{told}");
}

// -- Stamp -----------------------------------------------------------------------------------

/// A path unit sees the stamp change when both files are in place, and at the way back.
#[tokio::test]
async fn the_stamp_changes_after_the_files_and_whenever_the_consumer_is_to_read_them() {
    let place = Place::new();
    let groups = GroupsFile { format: groups_by_name("haproxy").unwrap(), path: place.path("targets.map") };
    let script = "cat edge.map targets.map .edge.map.reload > seen; stat -c %i .edge.map.reload >> stamps";
    let export = Export { groups: Some(groups), reload: shell(script), ..place.export() };
    manifest(publish(&export, &first(), at(0)).await);
    let seen = place.text("seen");
    assert!(seen.contains("10.0.0.0/24 gz-01\n") && seen.contains("gz-01 gz-01.example.net\n"), "{seen}");
    assert!(seen.ends_with("session 00000000000000aa generation 1\n"), "{seen}");
    let inode = || fs::metadata(place.path(".edge.map.reload")).unwrap().ino();
    let before = inode();
    assert!(matches!(publish(&export, &first(), at(1)).await.state, State::Unchanged(_)));
    assert_eq!(inode(), before, "nothing to read anew");
    let bad = Export { reload: shell(&format!("{script}; exit 1")), ..export };
    failure(publish(&bad, &second(), at(2)).await);
    // First publication, second, and the way back: three stamps, none the same as the last.
    let stamps = place.text("stamps");
    let stamps: Vec<&str> = stamps.lines().collect();
    assert_eq!(stamps.len(), 3);
    assert!(stamps[0] != stamps[1] && stamps[1] != stamps[2], "{stamps:?}");
}

/// Killed after the rename, before the consumer was told, there is still a way back to the
/// table that it last took up.
#[tokio::test]
async fn files_that_nobody_took_up_are_not_what_one_goes_back_to() {
    let place = Place::new();
    let export = place.export();
    manifest(publish(&export, &first(), at(0)).await);
    let (good, kept) = (place.text("edge.map"), place.text("edge.map.manifest.json"));
    manifest(publish(&export, &second(), at(1)).await);
    // As a kill between rename and reload leaves it: new file, old manifest.
    fs::write(place.path("edge.map.manifest.json"), &kept).unwrap();
    assert_eq!(place.text(".edge.map.prev"), good);
    let bad = Export { reload: shell("exit 1"), ..export.clone() };
    let third = generation(3, &[("10.0.9.0/24", "gz-01")]);
    failure(publish(&bad, &third, at(2)).await);
    assert_eq!(place.text("edge.map"), good);
    assert!(matches!(publish(&export, &first(), at(3)).await.state, State::Unchanged(_)));
}

// -- Pace ------------------------------------------------------------------------------------

#[tokio::test]
async fn changes_that_come_too_soon_wait_and_the_newest_goes_out() {
    let place = Place::new();
    let export =
        Export { min_interval: Duration::from_secs(60), reload: shell("echo >> reloads"), ..place.export() };
    manifest(publish(&export, &first(), at(0)).await);
    let before = place.text("edge.map");
    for (number, seconds) in [(2, 1), (3, 30), (4, 59)] {
        let range = format!("10.{number}.0.0/24");
        let published = publish(&export, &generation(number, &[(&range, "gz-01")]), at(seconds)).await;
        assert_eq!(published.state, State::Deferred { until: at(60) });
        assert_eq!(serde_json::to_value(&published).unwrap()["state"], "deferred");
    }
    assert_eq!(place.text("edge.map"), before);
    let fifth = generation(5, &[("10.5.0.0/24", "gz-02")]);
    manifest(publish(&export, &fifth, at(60)).await);
    assert!(place.text("edge.map").contains("10.5.0.0/24 gz-02"));
    assert_eq!(place.text("reloads").lines().count(), 2);
    // What is the same generation, or gone, or in a clock's future, does not wait.
    assert!(matches!(publish(&export, &fifth, at(61)).await.state, State::Unchanged(_)));
    fs::remove_file(place.path("edge.map")).unwrap();
    manifest(publish(&export, &generation(6, &[("10.6.0.0/24", "gz-02")]), at(62)).await);
    manifest(publish(&export, &generation(7, &[("10.7.0.0/24", "gz-02")]), at(-900)).await);
    // A generation with the same body changes nothing about the pace.
    let eighth = generation(8, &[("10.7.0.0/24", "gz-02")]);
    assert!(matches!(publish(&export, &eighth, at(-800)).await.state, State::Unchanged(_)));
    assert_eq!(place.manifest().changed, Some(at(-900)));
}

// -- A part of the table, and the files' group -----------------------------------------------

#[tokio::test]
async fn only_entries_of_the_chosen_bas_are_in_the_file() {
    let place = Place::new();
    let groups = GroupsFile { format: groups_by_name("haproxy").unwrap(), path: place.path("targets.map") };
    let mut mixed = generation(1, &[("10.0.0.0/24", "gz-01"), ("10.1.0.0/24", "gz-02")]);
    let mut entries = Table::clone(&mixed.table).into_entries();
    // A static line with edges has no BAS.
    let mut line = entries[0].clone();
    (line.range, line.bas) = ("10.2.0.0/24".parse().unwrap(), None);
    entries.push(line);
    mixed.table = Table::new(entries).unwrap().into();
    let export = Export { groups: Some(groups), ..place.export() };
    let rows = |name: &str| {
        let text = place.text(name);
        text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    let only = |pattern: &str| Export { only: vec![Glob::new(pattern)], ..export.clone() };
    manifest(publish(&only("*-01"), &mixed, at(0)).await);
    assert_eq!(rows("edge.map"), ["10.0.0.0/24 gz-01"]);
    assert_eq!(rows("targets.map"), ["centre centre.example.net", "gz-01 gz-01.example.net"]);
    manifest(publish(&only("sh-*"), &mixed, at(1)).await);
    assert_eq!(rows("edge.map"), [""; 0]);
    manifest(publish(&export, &mixed, at(2)).await);
    assert_eq!(rows("edge.map"), ["10.0.0.0/24 gz-01", "10.1.0.0/24 gz-02", "10.2.0.0/24 gz-01"]);
}

#[tokio::test]
async fn files_get_the_group_that_the_export_names() {
    let place = Place::new();
    let export = Export { mode: 0o640, group: Some(Name::from("no-such-group")), ..place.export() };
    let told = failure(publish(&export, &first(), at(0)).await);
    assert_eq!(told.reason, FailureReason::Write);
    assert!(told.detail.contains("no group `no-such-group`"), "{told}");
    assert!(!place.path("edge.map").exists());
    let own = fs::metadata(place.folder.path()).unwrap().gid();
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let wanted = if root { 4321 } else { own };
    let export = Export { group: Some(wanted.to_string().into()), ..export };
    manifest(publish(&export, &first(), at(0)).await);
    manifest(publish(&export, &second(), at(1)).await);
    for name in ["edge.map", ".edge.map.prev", "edge.map.manifest.json", ".edge.map.reload"] {
        let found = fs::metadata(place.path(name)).unwrap();
        assert_eq!((found.gid(), found.permissions().mode() & 0o777), (wanted, 0o640), "{name}");
    }
}

// -- The background --------------------------------------------------------------------------

/// A clock that tests turn.
#[derive(Clone)]
struct Turned(Arc<Mutex<Timestamp>>);

impl Turned {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(at(0))))
    }

    fn set(&self, seconds: i64) {
        *self.0.lock().unwrap() = at(seconds);
    }

    fn clock(&self) -> poolsync::publish::Clock {
        let own = Arc::clone(&self.0);
        Arc::new(move || *own.lock().unwrap())
    }
}

async fn report(reports: &mut mpsc::Receiver<Report>) -> Report {
    tokio::time::timeout(Duration::from_secs(60), reports.recv()).await.unwrap().unwrap()
}

/// A consumer that hangs or fails is nothing to another.
#[tokio::test]
async fn a_failing_consumer_never_delays_another() {
    let place = Place::new();
    let export = |name: &str, reload: &str| Export {
        name: name.into(),
        path: place.path(name),
        reload: shell(reload),
        reload_timeout: Duration::from_secs(30),
        ..place.export()
    };
    // The first waits for a file that only the last publication of the second makes.
    let hanging = export("hanging", "while [ ! -e release ]; do sleep 0.01; done");
    let failing = export("failing", "exit 1");
    let sound = export("sound", "grep -q gz-02 sound && touch release; true");
    let (sender, mut reports) = mpsc::channel(100);
    let mut publisher = Publisher::start([hanging, failing, sound], &Turned::new().clock(), &sender);
    let begun = Instant::now();
    publisher.offer(Arc::new(first()));
    let mut seen: BTreeMap<String, Vec<State>> = BTreeMap::new();
    while seen.len() < 2 {
        let report = report(&mut reports).await;
        seen.entry(report.export.to_string()).or_default().push(report.published.unwrap().state);
    }
    assert_eq!(seen.keys().collect::<Vec<_>>(), ["failing", "sound"]);
    publisher.offer(Arc::new(second()));
    while seen.get("hanging").is_none_or(|states| states.len() < 2) {
        let report = report(&mut reports).await;
        seen.entry(report.export.to_string()).or_default().push(report.published.unwrap().state);
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "nobody waited for a timeout");
    assert!(seen["sound"].iter().all(|state| matches!(state, State::Published(_))), "{seen:?}");
    assert_eq!(seen["failing"].len(), 1, "it is left alone for a while");
    assert!(place.text("hanging").contains("gz-02"));
    publisher.stop().await;
}

/// Two hundred changes in a row are few publications, and the last has them all.
#[tokio::test]
async fn a_storm_of_changes_is_few_reloads() {
    let place = Place::new();
    let export = Export {
        min_interval: Duration::from_millis(700),
        reload: shell("echo >> reloads; sleep 0.1"),
        ..place.export()
    };
    let clock: poolsync::publish::Clock = Arc::new(Timestamp::now);
    let (sender, mut reports) = mpsc::channel(1000);
    let mut publisher = Publisher::start([export], &clock, &sender);
    let rows: Vec<String> = (0..200).map(|n| format!("10.0.{n}.0/24")).collect();
    for number in 1..=200 {
        let rows: Vec<(&str, &str)> = rows.iter().take(number).map(|r| (r.as_str(), "gz-01")).collect();
        publisher.offer(Arc::new(generation(number as u64, &rows)));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    loop {
        let report = report(&mut reports).await;
        if matches!(&report.published.unwrap().state, State::Published(m) if m.generation == 200) {
            break;
        }
    }
    let (reloads, lines) = (place.text("reloads").lines().count(), place.text("edge.map"));
    assert!((2..=8).contains(&reloads), "{reloads} reloads");
    // 200 touching /24s of one group: 10.0.0.0/17, .128.0/18 and .192.0/21.
    assert!(lines.contains("10.0.0.0/17 gz-01\n10.0.128.0/18 gz-01\n10.0.192.0/21 gz-01\n"), "{lines}");
    publisher.stop().await;
}

#[tokio::test]
async fn a_failure_is_tried_again_with_what_is_newest_then() {
    let place = Place::new();
    let export = Export { reload: shell("test -e healed"), ..place.export() };
    let turned = Turned::new();
    let (sender, mut reports) = mpsc::channel(100);
    let mut publisher = Publisher::start([export], &turned.clock(), &sender);
    publisher.offer(Arc::new(first()));
    let one = report(&mut reports).await;
    assert_eq!((one.standing.failures, one.standing.retry_at), (1, Some(at(5))));
    assert!(!one.standing.is_due(at(4)) && one.standing.is_due(at(5)));
    publisher.stop().await;
    // Near the end of its pause, so that the test does not wait for it.
    let (sender, mut reports) = mpsc::channel(100);
    let export = Export { reload: shell("test -e healed"), ..place.export() };
    let ticking: poolsync::publish::Clock = {
        let (begun, turned) = (Instant::now(), turned.clone());
        // A clock that runs a thousand times as fast.
        Arc::new(move || {
            turned.set(i64::try_from(begun.elapsed().as_millis()).unwrap());
            *turned.0.lock().unwrap()
        })
    };
    let mut publisher = Publisher::start([export], &ticking, &sender);
    publisher.offer(Arc::new(first()));
    let one = report(&mut reports).await;
    assert_eq!(one.standing.failures, 1);
    publisher.offer(Arc::new(second()));
    fs::write(place.path("healed"), "").unwrap();
    let two = report(&mut reports).await;
    assert!(
        matches!(&two.published.as_ref().unwrap().state, State::Published(m) if m.generation == 2),
        "{two:?}"
    );
    assert_eq!((two.standing.failures, two.standing.retry_at), (0, None));
    assert!(two.standing.succeeded.is_some() && two.standing.took.is_some());
    publisher.stop().await;
}

/// Stopped, it ends what it has begun and begins nothing more.
#[tokio::test]
async fn a_stop_ends_what_was_begun() {
    let place = Place::new();
    let export = Export { reload: shell("touch begun; sleep 0.3; touch ended"), ..place.export() };
    let clock: poolsync::publish::Clock = Arc::new(Timestamp::now);
    let (sender, mut reports) = mpsc::channel(100);
    let mut publisher = Publisher::start([export], &clock, &sender);
    publisher.offer(Arc::new(first()));
    while !place.path("begun").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    publisher.stop().await;
    assert!(place.path("ended").exists());
    assert!(matches!(report(&mut reports).await.published.unwrap().state, State::Published(_)));
    drop(sender);
    assert!(reports.recv().await.is_none());
}
