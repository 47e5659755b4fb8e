//! One export, published: what lies in its folder after each thing that can happen.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fixture::{edge, group, groups, snapshot};
use jiff::Timestamp;
use poolsync::format::groups::{Context, GroupsError, GroupsFormat, Rows, groups_by_name};
use poolsync::format::{
    Format, ReadBack, ReadError, RenderError, Rendered, Scope, Spaces, Stamp, View, by_name,
};
use poolsync::publish::{
    Argv, ArgvError, Export, Failure, FailureReason, GroupsFile, Manifest, Published, State, TableFormat,
    Target, publish,
};
use poolsync::table::{PoolName, Session, Snapshot};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

fn now() -> Timestamp {
    "2026-01-02T05:00:00Z".parse().unwrap()
}

/// A generation in which one range belongs to one edge.
fn generation(number: u64, range: &str, owner: &str) -> Snapshot {
    let names = ["gz-01", "gz-02"];
    let list = names.map(|name| group(name, &[(name, 1)]));
    let owners = names.map(|name| (name, name));
    let edges = [
        edge("centre", &["198.51.100.1"], None, None),
        edge("gz-01", &["198.51.100.10"], None, None),
        edge("gz-02", &["198.51.100.20"], None, None),
    ];
    let entries = vec![fixture::entry("internet", range, owner, Some(owner), PoolName::new(b"p"), "")];
    Snapshot { generation: number, ..snapshot(entries, groups(&list, &owners), &edges, "centre") }
}

fn first() -> Snapshot {
    generation(1, "10.0.0.0/24", "gz-01")
}

fn second() -> Snapshot {
    generation(2, "10.0.0.0/23", "gz-02")
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

    fn manifest(&self) -> Value {
        serde_json::from_str(&self.text("edge.map.manifest.json")).unwrap()
    }

    /// What lies in the folder.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn export(&self) -> Export {
        Export {
            groups: Some(GroupsFile {
                format: groups_by_name("nginx-map").unwrap(),
                path: self.path("groups.conf"),
            }),
            ..Export::new("dns", by_name("haproxy-map").unwrap(), self.path("edge.map"))
        }
    }
}

fn shell(script: &str) -> Option<Argv> {
    Some(Argv::new(["sh", "-c", script].map(str::to_owned).to_vec()).unwrap())
}

fn checker(script: &str) -> Option<Argv> {
    let argv = ["sh", "-c", script, "{file}", "{groups}"];
    Some(Argv::checker(argv.map(str::to_owned).to_vec()).unwrap())
}

fn rendered(export: &Export, snapshot: &Snapshot) -> String {
    let view = View::new(snapshot, &export.scope()).unwrap();
    String::from_utf8(export.format.render(&view, &Stamp::from(snapshot)).unwrap().bytes()).unwrap()
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

fn is_unchanged(published: &Published) -> bool {
    matches!(published.state, State::Unchanged(_))
}

/// Inode and time of change: what tells whether a file was touched.
fn identity(path: &Path) -> (u64, i64, i64) {
    let found = fs::metadata(path).unwrap();
    (found.ino(), found.mtime(), found.mtime_nsec())
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|o| format!("{o:02x}")).collect()
}

#[tokio::test]
async fn the_first_publication_writes_table_groups_and_manifest() {
    let place = Place::new();
    let export = place.export();
    let published = publish(&export, &first(), now()).await;
    assert_eq!(
        serde_json::to_value(&published).unwrap(),
        json!({"export": "dns", "state": "published", "reason": null, "detail": null,
            "generation": 1, "body_generation": 1, "rows": 1})
    );
    assert_eq!(place.names(), [".edge.map.reload", "edge.map", "edge.map.manifest.json", "groups.conf"]);
    let body = "# default centre\n10.0.0.0/24 gz-01\n# end 1\n";
    let head = "session 00000000000000aa, generation 1, committed 2026-01-02T03:04:05Z\n";
    assert_eq!(place.text("edge.map"), format!("# poolsync haproxy-map, {head}{body}"));
    let groups_body = "default 198.51.100.1;\ncentre 198.51.100.1;\ngz-01 198.51.100.10;\n# end 2\n";
    assert_eq!(place.text("groups.conf"), format!("# poolsync nginx-map, {head}{groups_body}"));
    let mut manifest = place.manifest();
    let took = manifest.as_object_mut().unwrap().remove("took_ms");
    assert!(took.is_some_and(|took| took.is_u64()));
    assert_eq!(
        manifest,
        json!({"session": "00000000000000aa", "generation": 1, "format": "haproxy-map",
            "body_generation": 1, "rows": 1, "written": "2026-01-02T05:00:00Z",
            "changed": "2026-01-02T05:00:00Z", "confirmed": null,
            "sha256": sha256(&place.text("edge.map")), "head_octets": 95, "body_octets": 43,
            "groups": {"format": "nginx-map", "body_generation": 1, "rows": 2,
                "sha256": sha256(&place.text("groups.conf")), "head_octets": 93, "body_octets": 72}})
    );
    for name in place.names() {
        let mode = fs::metadata(place.path(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{name}");
    }
}

#[tokio::test]
async fn an_unchanged_body_leaves_the_files_untouched() {
    let place = Place::new();
    let export = Export { reload: shell("echo >> reloads"), ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    let files = ["edge.map", "groups.conf", "edge.map.manifest.json"].map(|n| place.path(n));
    let before = files.each_ref().map(|f| identity(f));
    // The same generation: nothing at all is written.
    let again = publish(&export, &first(), "2026-01-02T06:00:00Z".parse().unwrap()).await;
    assert!(is_unchanged(&again));
    assert_eq!(files.each_ref().map(|f| identity(f)), before);
    // A later one with the same rows (another pool's name, which the format does not tell).
    let mut later = generation(5, "10.0.0.0/24", "gz-01");
    later.committed = "2026-01-02T07:00:00Z".parse().unwrap();
    let published = publish(&export, &later, "2026-01-02T08:00:00Z".parse().unwrap()).await;
    assert!(is_unchanged(&published));
    assert_eq!(identity(&files[0]), before[0]);
    assert_eq!(identity(&files[1]), before[1]);
    let found = place.manifest();
    assert_eq!((&found["generation"], &found["body_generation"]), (&json!(5), &json!(1)));
    assert_eq!(found["written"], "2026-01-02T08:00:00Z");
    assert_eq!(serde_json::to_value(&published).unwrap()["body_generation"], 1);
    assert!(place.text("edge.map").contains("generation 1,"));
    assert_eq!(place.text("reloads").lines().count(), 1);
}

#[tokio::test]
async fn a_change_keeps_the_pair_before_and_reloads_once() {
    let place = Place::new();
    let export = Export { reload: shell("cat groups.conf > seen; echo >> reloads"), ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    let (table, groups) = (place.text("edge.map"), place.text("groups.conf"));
    let inode = identity(&place.path("edge.map")).0;
    manifest(publish(&export, &second(), now()).await);
    assert_eq!(place.text("edge.map"), rendered(&export, &second()));
    assert_eq!((place.text(".edge.map.prev"), place.text(".groups.conf.prev")), (table, groups));
    assert_ne!(identity(&place.path("edge.map")).0, inode, "a reader may have the old file mapped");
    assert_eq!(place.text("reloads").lines().count(), 2);
    // While the consumer reloads, it may still look for groups of the table before.
    let rows = |text: &str| {
        let names = text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split(' ').next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(&place.text("seen")), ["default", "centre", "gz-01", "gz-02"]);
    assert_eq!(rows(&place.text("groups.conf")), ["default", "centre", "gz-02"]);
    let names = place.names();
    let left = [
        ".edge.map.prev",
        ".edge.map.reload",
        ".groups.conf.prev",
        "edge.map",
        "edge.map.manifest.json",
        "groups.conf",
        "reloads",
        "seen",
    ];
    assert_eq!(names, left);
    assert!(is_unchanged(&publish(&export, &second(), now()).await));
}

/// nginx, for one, looks at the second in which a file was changed, and at nothing else.
#[tokio::test]
async fn a_file_is_dated_in_a_later_second_than_the_one_it_replaces() {
    let place = Place::new();
    let export = place.export();
    let dated = |name: &str| fs::metadata(place.path(name)).unwrap().mtime();
    manifest(publish(&export, &first(), now()).await);
    let ahead = std::time::UNIX_EPOCH + Duration::from_millis(4_102_444_800_250);
    fs::File::open(place.path("edge.map")).unwrap().set_modified(ahead).unwrap();
    manifest(publish(&export, &second(), now()).await);
    assert_eq!(dated("edge.map"), 4_102_444_801);
    // Otherwise the clock's time is as good as any.
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(place.path("edge.map")).unwrap().set_modified(long_ago).unwrap();
    manifest(publish(&export, &first(), now()).await);
    assert!(dated("edge.map") > 1_700_000_000, "{}", dated("edge.map"));
}

/// An edge gets another address: the table says the same, the groups do not.
#[tokio::test]
async fn groups_alone_may_change() {
    let place = Place::new();
    let export = Export { check: checker("cp \"$0\" table; cp \"$1\" new"), ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    let before = identity(&place.path("edge.map"));
    let mut moved = first();
    moved.generation = 2;
    let mut edges = (*moved.edges).clone();
    edges.get_mut("gz-01").unwrap().addresses = vec!["198.51.100.11".parse().unwrap()];
    moved.edges = edges.into();
    let found = manifest(publish(&export, &moved, now()).await);
    assert_eq!(identity(&place.path("edge.map")), before);
    assert!(place.text("groups.conf").contains("gz-01 198.51.100.11;"));
    assert!(place.text(".groups.conf.prev").contains("gz-01 198.51.100.10;"));
    assert_eq!(place.text(".edge.map.prev"), place.text("edge.map"));
    assert_eq!((found.table.body_generation, found.groups.unwrap().body_generation), (1, 2));
    // The checker was shown the table in place and the new groups.
    assert_eq!(place.text("table"), place.text("edge.map"));
    assert_eq!(place.text("new"), place.text("groups.conf"));
}

#[tokio::test]
async fn the_checker_sees_the_new_files_in_their_folder() {
    let place = Place::new();
    let script = "pwd > where; echo \"$0\" > file; cp \"$0\" table; cp \"$1\" groups; ls -A > listing";
    let export = Export { check: checker(script), ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    let folder = fs::canonicalize(place.folder.path()).unwrap();
    assert_eq!(Path::new(place.text("where").trim()), folder);
    assert_eq!(Path::new(place.text("file").trim()), place.path(".edge.map.new"));
    assert_eq!(place.text("table"), place.text("edge.map"));
    assert_eq!(place.text("groups"), place.text("groups.conf"));
    assert!(!place.text("listing").lines().any(|name| name == "edge.map"), "checked after the rename");
}

/// After a refusal the folder is as before.
async fn refused(export: Export, place: &Place) -> Failure {
    let good = Export { check: None, reload: None, ..export.clone() };
    manifest(publish(&good, &first(), now()).await);
    let (names, files) = (place.names(), ["edge.map", "groups.conf", "edge.map.manifest.json"]);
    let before = files.map(|n| (identity(&place.path(n)), place.text(n)));
    let failure = failure(publish(&export, &second(), now()).await);
    assert_eq!(place.names(), names);
    assert_eq!(files.map(|n| (identity(&place.path(n)), place.text(n))), before);
    // The next attempt, with a checker that is content, goes through.
    manifest(publish(&good, &second(), now()).await);
    failure
}

#[tokio::test]
async fn a_refusing_checker_keeps_the_old_files() {
    let place = Place::new();
    let export =
        Export { check: checker("echo said; echo 'line 3 \x1b[31mbad' >&2; exit 7"), ..place.export() };
    let failure = refused(export, &place).await;
    assert_eq!(failure.reason, FailureReason::Check);
    assert!(failure.detail.starts_with("`sh` ended with exit status: 7: "), "{failure}");
    assert!(failure.detail.contains("said") && failure.detail.contains("line 3  [31mbad"), "{failure}");
}

#[tokio::test]
async fn a_checker_that_cannot_be_run_keeps_the_old_files() {
    let place = Place::new();
    let argv = Argv::checker(vec!["/nonexistent/check".into(), "{file}".into()]).unwrap();
    let failure = refused(Export { check: Some(argv), ..place.export() }, &place).await;
    assert_eq!(failure.reason, FailureReason::Check);
    assert!(failure.detail.contains("/nonexistent/check"), "{failure}");
}

#[tokio::test]
async fn a_hanging_checker_is_killed_in_time() {
    let place = Place::new();
    let export = Export {
        check: checker("echo $$ > pid; echo waiting; exec sleep 60"),
        check_timeout: Duration::from_millis(300),
        ..place.export()
    };
    let good = Export { check: None, ..export.clone() };
    manifest(publish(&good, &first(), now()).await);
    let begun = Instant::now();
    let failure = failure(publish(&export, &second(), now()).await);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(failure.reason, FailureReason::CheckTimeout);
    assert!(failure.detail.contains("300ms") && failure.detail.ends_with(": waiting"), "{failure}");
    let pid = place.text("pid");
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "it still runs");
}

#[tokio::test]
async fn a_talkative_checker_is_cut_to_its_end() {
    let place = Place::new();
    let script = "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1";
    let failure = refused(Export { check: checker(script), ..place.export() }, &place).await;
    assert!(failure.detail.len() < 6000, "{} octets", failure.detail.len());
    assert!(failure.detail.ends_with("the end"), "{failure}");
}

/// A child that the command leaves behind holds its output open; that delays nothing.
#[tokio::test]
async fn a_command_that_leaves_a_child_behind_has_ended() {
    let place = Place::new();
    let export = Export { reload: shell("sleep 30 & echo $! > pid"), ..place.export() };
    let begun = Instant::now();
    manifest(publish(&export, &first(), now()).await);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let pid = place.text("pid").trim().to_owned();
    std::process::Command::new("kill").arg(pid).status().unwrap();
}

#[tokio::test]
async fn a_failed_reload_brings_the_pair_before_back() {
    let place = Place::new();
    let good = place.export();
    manifest(publish(&good, &first(), now()).await);
    let files = ["edge.map", "groups.conf", "edge.map.manifest.json"];
    let before = files.map(|n| place.text(n));
    // It notes what it sees, and fails for the second table only.
    let script = "grep -o 'gz-0.*' edge.map >> seen; echo no; ! grep -q gz-02 edge.map";
    let export = Export { reload: shell(script), ..place.export() };
    let failure = failure(publish(&export, &second(), now()).await);
    assert_eq!(failure.reason, FailureReason::Reload);
    assert!(failure.detail.contains("exit status: 1: no"), "{failure}");
    assert!(failure.detail.ends_with("the files before are back, and reloaded"), "{failure}");
    assert_eq!(files.map(|n| place.text(n)), before);
    assert_eq!(place.text("seen").lines().collect::<Vec<_>>(), ["gz-02", "gz-01"]);
    assert!(!place.names().iter().any(|name| name.ends_with(".new")), "{:?}", place.names());
    // What is there is still known, and the new table is tried again.
    assert!(is_unchanged(&publish(&good, &first(), now()).await));
    manifest(publish(&good, &second(), now()).await);
    assert_eq!(place.text("edge.map"), rendered(&good, &second()));
}

#[tokio::test]
async fn a_reload_that_fails_twice_says_so() {
    let place = Place::new();
    manifest(publish(&place.export(), &first(), now()).await);
    let export = Export { reload: shell("exit 3"), ..place.export() };
    let failure = failure(publish(&export, &second(), now()).await);
    assert!(failure.detail.contains("not reloaded: `sh` ended with exit status: 3"), "{failure}");
}

#[tokio::test]
async fn a_hanging_reload_is_a_failed_one() {
    let place = Place::new();
    manifest(publish(&place.export(), &first(), now()).await);
    let before = place.text("edge.map");
    let reload_timeout = Duration::from_millis(200);
    let export = Export { reload: shell("exec sleep 60"), reload_timeout, ..place.export() };
    assert_eq!(failure(publish(&export, &second(), now()).await).reason, FailureReason::ReloadTimeout);
    assert_eq!(place.text("edge.map"), before);
}

/// Nothing was there before: the proven files stay, but are not taken for published.
#[tokio::test]
async fn a_first_reload_that_fails_is_tried_again() {
    let place = Place::new();
    let export = Export { reload: shell("echo >> reloads; exit 1"), ..place.export() };
    let failure = failure(publish(&export, &first(), now()).await);
    assert_eq!(failure.reason, FailureReason::Reload);
    assert!(failure.detail.ends_with("there were no files before, the new ones stay"), "{failure}");
    assert_eq!(place.names(), [".edge.map.reload", "edge.map", "groups.conf", "reloads"]);
    let export = Export { reload: shell("echo >> reloads"), ..export };
    manifest(publish(&export, &first(), now()).await);
    assert_eq!(place.text("reloads").lines().count(), 2);
}

#[tokio::test]
async fn what_is_not_filled_is_not_published() {
    let place = Place::new();
    let snapshot = Snapshot { filled: false, ..first() };
    let failure = failure(publish(&place.export(), &snapshot, now()).await);
    assert_eq!(failure.reason, FailureReason::NotFilled);
    assert!(place.names().is_empty());
}

#[tokio::test]
async fn what_does_not_fit_together_is_not_published() {
    let place = Place::new();
    let stranger = generation(1, "10.0.0.0/24", "stranger");
    let failure = failure(publish(&place.export(), &stranger, now()).await);
    assert_eq!(failure.reason, FailureReason::Inconsistent);
    assert!(place.names().is_empty());
}

#[tokio::test]
async fn groups_that_cannot_be_rendered_stop_the_table() {
    let place = Place::new();
    let knot = GroupsFile { format: groups_by_name("knot").unwrap(), path: place.path("geo.conf") };
    let export = Export { groups: Some(knot), ..place.export() };
    let failed = failure(publish(&export, &first(), now()).await);
    assert_eq!(failed.reason, FailureReason::Render);
    assert!(place.names().is_empty(), "{:?}", place.names());
    let context =
        Context { name: Some("cdn.example.com".parse().unwrap()), ttl: Some(30), ..Context::default() };
    manifest(publish(&Export { context, ..export }, &first(), now()).await);
}

/// Formats that do not do what they promise.
#[derive(Debug)]
enum Liar {
    /// Writes another table than it was given.
    Wrong,
    /// Writes what nobody can read.
    Garbage,
    /// Panics.
    Panics,
}

impl Format for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn about(&self) -> &'static str {
        "for tests"
    }

    fn spaces(&self) -> Spaces {
        Spaces::One
    }

    fn render(&self, view: &View<'_>, stamp: &Stamp) -> Result<Rendered, RenderError> {
        let map = by_name("haproxy-map").unwrap();
        match self {
            Self::Wrong => {
                let other = second();
                let scope = Scope { space: None, service: "default".into() };
                map.render(&View::new(&other, &scope).unwrap(), stamp)
            }
            Self::Garbage => Ok(Rendered { body: b"garbage".to_vec(), ..map.render(view, stamp)? }),
            Self::Panics => panic!("a fault on purpose"),
        }
    }

    fn read(&self, file: &[u8]) -> Result<ReadBack, ReadError> {
        by_name("haproxy-map").unwrap().read(file)
    }
}

impl GroupsFormat for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn about(&self) -> &'static str {
        "for tests"
    }

    fn rows(&self, view: &View<'_>, context: &Context) -> Result<Rows, GroupsError> {
        let mut rows = groups_by_name("nginx-map").unwrap().rows(view, context)?;
        if matches!(self, Self::Wrong) {
            rows.rows.pop_first();
        }
        Ok(rows)
    }

    fn render(&self, rows: &Rows, stamp: &Stamp) -> Rendered {
        let mut rendered = groups_by_name("nginx-map").unwrap().render(rows, stamp);
        if matches!(self, Self::Garbage) {
            rendered.body = b"garbage".to_vec();
        }
        rendered
    }

    fn read(&self, file: &[u8]) -> Result<Rows, ReadError> {
        groups_by_name("nginx-map").unwrap().read(file)
    }
}

#[tokio::test]
async fn a_file_that_does_not_say_what_was_meant_never_goes_out() {
    for (liar, reason, word) in [
        (&Liar::Wrong, FailureReason::ReadBack, "10.0.0.0-10.0.0.255 should be answered with gz-01"),
        (&Liar::Garbage, FailureReason::ReadBack, ".edge.map.new: line 2"),
        (&Liar::Panics, FailureReason::Interrupted, "panic"),
    ] {
        let place = Place::new();
        let failure = failure(
            publish(&Export { format: TableFormat::Known(liar), ..place.export() }, &first(), now()).await,
        );
        assert_eq!(failure.reason, reason);
        assert!(failure.detail.contains(word), "{failure}");
        assert!(place.names().is_empty(), "{:?}", place.names());
    }
}

#[tokio::test]
async fn groups_that_do_not_say_what_was_meant_keep_the_table_back() {
    for (liar, reason, word) in [
        (&Liar::Wrong, FailureReason::GroupsIncomplete, "group centre has no row"),
        (&Liar::Garbage, FailureReason::ReadBack, ".groups.conf.new: line 2"),
    ] {
        let place = Place::new();
        let groups = Some(GroupsFile { format: liar, path: place.path("groups.conf") });
        let failure = failure(publish(&Export { groups, ..place.export() }, &first(), now()).await);
        assert_eq!(failure.reason, reason);
        assert!(failure.detail.contains(word), "{failure}");
        assert!(place.names().is_empty(), "{:?}", place.names());
    }
}

#[tokio::test]
async fn a_symbolic_link_stays_and_its_file_is_replaced() {
    let place = Place::new();
    fs::create_dir(place.path("real")).unwrap();
    fs::write(place.path("real/map"), "old").unwrap();
    symlink("hop", place.path("edge.map")).unwrap();
    symlink("real/map", place.path("hop")).unwrap();
    let export = Export { groups: None, ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    assert_eq!(fs::read_link(place.path("edge.map")).unwrap(), Path::new("hop"));
    assert_eq!(place.text("real/map"), rendered(&export, &first()));
    assert_eq!(place.text("real/.map.prev"), "old");
    assert!(place.path("real/map.manifest.json").exists());
    assert_eq!(place.names(), ["edge.map", "hop", "real"]);
}

#[tokio::test]
async fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let place = Place::new();
    fs::create_dir(place.path("real")).unwrap();
    symlink(place.path("real/map"), place.path("edge.map")).unwrap();
    let export = Export { groups: None, ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    assert_eq!(place.text("real/map"), rendered(&export, &first()));
    assert!(fs::symlink_metadata(place.path("edge.map")).unwrap().is_symlink());
}

#[tokio::test]
async fn what_is_no_file_is_no_target() {
    let place = Place::new();
    symlink("b", place.path("a")).unwrap();
    symlink("a", place.path("b")).unwrap();
    fs::create_dir(place.path("dir")).unwrap();
    fs::write(place.path("plain"), "").unwrap();
    for (name, word) in [
        ("a", "too many symbolic links"),
        ("dir", "is not a regular file"),
        ("missing/edge.map", "its folder"),
        ("plain/edge.map", "Not a directory"),
    ] {
        let export = Export { groups: None, path: place.path(name), ..place.export() };
        let failure = failure(publish(&export, &first(), now()).await);
        assert_eq!(failure.reason, FailureReason::Path, "{name}");
        assert!(failure.detail.contains(word), "{failure}");
    }
    let same = GroupsFile { path: place.path("edge.map"), ..place.export().groups.unwrap() };
    let failure = failure(publish(&Export { groups: Some(same), ..place.export() }, &first(), now()).await);
    assert_eq!(failure.reason, FailureReason::Path);
}

#[tokio::test]
async fn what_a_killed_run_left_is_cleared_away() {
    let place = Place::new();
    let export = place.export();
    manifest(publish(&export, &first(), now()).await);
    let left = [".edge.map.new", ".groups.conf.new", "..edge.map.prev.new", ".edge.map.manifest.json.new"];
    for name in left {
        fs::write(place.path(name), "half").unwrap();
    }
    assert!(is_unchanged(&publish(&export, &first(), now()).await));
    assert_eq!(place.names(), [".edge.map.reload", "edge.map", "edge.map.manifest.json", "groups.conf"]);
}

/// A link planted under the name of the file in the making is not written through.
#[tokio::test]
async fn a_planted_link_is_not_followed() {
    let place = Place::new();
    fs::write(place.path("victim"), "precious").unwrap();
    symlink("victim", place.path(".edge.map.new")).unwrap();
    manifest(publish(&place.export(), &first(), now()).await);
    assert_eq!(place.text("victim"), "precious");
    assert!(fs::symlink_metadata(place.path("edge.map")).unwrap().is_file());
}

/// Power went away after the rename on a file system that keeps names and not contents; or
/// somebody edited; or the manifest is gone.
#[tokio::test]
async fn files_that_are_not_what_the_manifest_says_are_written_anew() {
    let place = Place::new();
    let export = Export { reload: shell("echo >> reloads"), ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    let (table, groups) = (place.text("edge.map"), place.text("groups.conf"));
    let mut reloads = 1;
    for (name, content) in [
        ("edge.map", "\0".repeat(table.len())),
        ("groups.conf", "\0".repeat(groups.len())),
        ("edge.map", table.replace("gz-01", "gz-02")),
        ("edge.map.manifest.json", "{".to_owned()),
        ("edge.map.manifest.json", "{}".to_owned()),
    ] {
        fs::write(place.path(name), content).unwrap();
        manifest(publish(&export, &first(), now()).await);
        reloads += 1;
        assert_eq!((place.text("edge.map"), place.text("groups.conf")), (table.clone(), groups.clone()));
        assert_eq!(place.text("reloads").lines().count(), reloads, "{name}");
    }
    for name in ["edge.map", "groups.conf", "edge.map.manifest.json"] {
        fs::remove_file(place.path(name)).unwrap();
        manifest(publish(&export, &first(), now()).await);
        assert_eq!((place.text("edge.map"), place.text("groups.conf")), (table.clone(), groups.clone()));
    }
}

/// Generations of another store mean something else.
#[tokio::test]
async fn another_session_is_published_anew() {
    let place = Place::new();
    manifest(publish(&place.export(), &first(), now()).await);
    let other = Snapshot { session: Session(0xbb), ..first() };
    manifest(publish(&place.export(), &other, now()).await);
    assert!(place.text("edge.map").contains("session 00000000000000bb"));
}

#[tokio::test]
async fn mode_and_owner_are_kept() {
    let place = Place::new();
    let export = Export { mode: 0o640, ..place.export() };
    manifest(publish(&export, &first(), now()).await);
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("edge.map"), mode("groups.conf")), (0o640, 0o640));
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("SKIPPED: only root can give a file to somebody else");
        return;
    }
    std::os::unix::fs::chown(place.path("edge.map"), Some(1234), Some(4321)).unwrap();
    manifest(publish(&export, &second(), now()).await);
    let found = fs::metadata(place.path("edge.map")).unwrap();
    assert_eq!((found.uid(), found.gid()), (1234, 4321));
}

/// Folders stand where files should go: the steps that meet them fail by their own reason.
#[tokio::test]
async fn each_step_on_a_file_fails_by_its_own_reason() {
    for (blocked, reason) in [
        (".edge.map.new", FailureReason::Write),
        (".groups.conf.new", FailureReason::Write),
        (".edge.map.prev", FailureReason::Install),
        (".groups.conf.prev", FailureReason::Install),
        ("edge.map.manifest.json", FailureReason::Manifest),
    ] {
        let place = Place::new();
        let export = place.export();
        manifest(publish(&export, &first(), now()).await);
        let before = (place.text("edge.map"), place.text("groups.conf"));
        let path = place.path(blocked);
        let _ = fs::remove_file(&path);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("full"), "").unwrap();
        let failed = failure(publish(&export, &second(), now()).await);
        assert_eq!(failed.reason, reason, "{blocked}: {failed}");
        if reason == FailureReason::Manifest {
            assert_eq!(place.text("edge.map"), rendered(&export, &second()));
        } else {
            assert_eq!((place.text("edge.map"), place.text("groups.conf")), before, "{blocked}");
        }
        fs::remove_dir_all(&path).unwrap();
        manifest(publish(&export, &second(), now()).await);
        assert!(!place.names().iter().any(|name| name.ends_with(".new")), "{:?}", place.names());
    }
}

#[tokio::test]
async fn an_mmdb_with_knot_groups_is_published() {
    let place = Place::new();
    let export = Export {
        format: by_name("mmdb").unwrap().into(),
        path: place.path("gslb.mmdb"),
        groups: Some(GroupsFile { format: groups_by_name("knot").unwrap(), path: place.path("geo.conf") }),
        context: Context {
            name: Some("cdn.example.com".parse().unwrap()),
            ttl: Some(30),
            ..Context::default()
        },
        check: Some(Argv::checker(["test", "-s", "{file}"].map(str::to_owned).to_vec()).unwrap()),
        ..place.export()
    };
    manifest(publish(&export, &first(), now()).await);
    let bytes = fs::read(place.path("gslb.mmdb")).unwrap();
    let read = export.format.read(&bytes).unwrap();
    assert_eq!(read.lookup("", "10.0.0.255".parse().unwrap()).unwrap().as_str(), "gz-01");
    assert_eq!(read.lookup("", "10.0.1.0".parse().unwrap()).unwrap().as_str(), "centre");
    assert!(place.text("geo.conf").contains("  - geo: \"gz-01\"\n    A: [198.51.100.10]\n"));
}

/// nginx reads `NAME.bin` instead of NAME if it is not older in whole seconds.
#[tokio::test]
async fn what_the_consumer_made_of_the_file_before_is_removed() {
    let place = Place::new();
    let export = Export {
        format: by_name("nginx-geo-ranges").unwrap().into(),
        groups: None,
        check: checker("touch \"$0\".bin"),
        reload: shell("ls -A > seen; touch edge.map.bin"),
        ..place.export()
    };
    manifest(publish(&export, &first(), now()).await);
    assert!(place.path("edge.map.bin").exists());
    manifest(publish(&export, &second(), now()).await);
    assert_eq!(
        place.text("seen"),
        ".edge.map.prev\n.edge.map.reload\nedge.map\nedge.map.manifest.json\nseen\n"
    );
    // It is the new table's own that is there now; a table that stays keeps it.
    assert!(is_unchanged(&publish(&export, &second(), now()).await));
    assert!(place.path("edge.map.bin").exists());
    // Nor does one outlive a table that was taken back.
    let bad = Export { reload: shell("ls -A > seen; touch edge.map.bin; exit 1"), ..export };
    failure(publish(&bad, &first(), now()).await);
    assert_eq!(place.text("edge.map"), rendered(&bad, &second()));
    assert!(!place.text("seen").contains(".bin"), "removed again before the second reload");
    // A refused table leaves none either.
    let refusing = Export { check: checker("touch \"$0\".bin; exit 1"), ..bad };
    failure(publish(&refusing, &first(), now()).await);
    assert!(!place.names().iter().any(|name| name.contains(".new")), "{:?}", place.names());
}

#[test]
fn a_checker_must_be_told_the_file() {
    let argv = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    assert_eq!(Argv::checker(argv(&["nginx", "-t"])), Err(ArgvError::NoFile));
    assert_eq!(Argv::checker(argv(&["{file}"])), Err(ArgvError::NoFile));
    assert_eq!(Argv::new(argv(&[])), Err(ArgvError::Empty));
    assert_eq!(Argv::new(argv(&["", "x"])), Err(ArgvError::Empty));
    assert!(Argv::checker(argv(&["mmdblookup", "--file={file}"])).is_ok());
}

/// Commands run in the target's folder: a relative path would mean another file there.
#[test]
fn a_relative_target_is_made_absolute() {
    let target = Target::resolve(Path::new("Cargo.toml")).unwrap();
    assert!(target.path().is_absolute() && target.directory().join("Cargo.toml") == target.path());
}

#[test]
fn names_beside_a_target_are_hidden_but_for_the_manifest() {
    let place = Place::new();
    let target = Target::resolve(&place.path("geo.conf")).unwrap();
    assert_eq!(target.new_file(), place.path(".geo.conf.new"));
    assert_eq!(target.previous(), place.path(".geo.conf.prev"));
    assert_eq!(target.manifest(), place.path("geo.conf.manifest.json"));
}

#[test]
fn reasons_are_kebab_case() {
    let text = |reason: FailureReason| serde_json::to_value(reason).unwrap();
    assert_eq!(text(FailureReason::GroupsIncomplete), "groups-incomplete");
    assert_eq!(FailureReason::CheckTimeout.to_string(), "check-timeout");
}
