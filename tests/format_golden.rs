//! Every format of the list against a file that was written by hand.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

#[path = "data/formats/fixture.rs"]
mod fixture;

use std::fs;
use std::path::PathBuf;

use poolsync::format::groups::{Context, groups_formats};
use poolsync::format::{Format, Scope, Spaces, Stamp, Template, View, formats};
use poolsync::table::{Name, Snapshot};

fn golden(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn scope(spaces: Spaces) -> Scope {
    let space = match spaces {
        Spaces::Named => None,
        Spaces::One => Some(Name::from("internet")),
    };
    Scope { space, service: "default".into() }
}

fn view(snapshot: &Snapshot, spaces: Spaces) -> View<'_> {
    View::new(snapshot, &scope(spaces)).unwrap()
}

fn same(name: &str, found: &[u8], wanted: &[u8]) {
    if found != wanted {
        let (found, wanted) = (String::from_utf8_lossy(found), String::from_utf8_lossy(wanted));
        panic!("{name} is\n{found}\nand should be\n{wanted}");
    }
}

#[test]
fn every_table_format_gives_its_golden_file() {
    let snapshot = fixture::fixed();
    for format in formats() {
        let view = view(&snapshot, format.spaces());
        let rendered = format.render(&view, &Stamp::from(&snapshot)).unwrap();
        same(format.name(), &rendered.bytes(), &golden(&format!("{}.golden", format.name())));
    }
}

/// The templates that are built in, with what their exports say.
fn shipped() -> Vec<(&'static str, Template)> {
    Template::names().map(|name| (name, Template::shipped(name, &context()).unwrap())).collect()
}

fn context() -> Context {
    Context {
        name: Some("cdn.example.com".parse().unwrap()),
        ttl: Some(30),
        nameservers: vec!["ns1.example.net".parse().unwrap(), "ns2.example.net".parse().unwrap()],
        table: Some("/srv/gslb/table".into()),
    }
}

#[test]
fn every_shipped_template_gives_its_golden_file_and_reads_it() {
    let snapshot = fixture::fixed();
    let templates = shipped();
    assert_eq!(templates.len(), 5);
    for (name, template) in &templates {
        let view = view(&snapshot, template.spaces());
        let file =
            if *name == "plain" { "template.golden".to_owned() } else { format!("template-{name}.golden") };
        let golden = golden(&file);
        same(name, &template.render(&view, &Stamp::from(&snapshot)).unwrap().bytes(), &golden);
        template.read(&golden).unwrap().verify(&view, template.excluded()).unwrap();
        for length in 0..golden.len() {
            assert!(template.read(&golden[..length]).is_err(), "{name} of {length} octets");
        }
    }
}

#[test]
fn every_golden_table_reads_back_as_the_table() {
    let snapshot = fixture::fixed();
    for format in formats() {
        let read = format.read(&golden(&format!("{}.golden", format.name()))).unwrap();
        read.verify(&view(&snapshot, format.spaces()), format.excluded()).unwrap();
        let at = |ip: &str| read.lookup("internet", ip.parse().unwrap()).map(|t| t.as_str().to_owned());
        assert_eq!(at("10.0.0.0").as_deref(), Some("gz-01"), "{}", format.name());
        assert_eq!(at("10.0.1.127").as_deref(), Some("gz-01"), "{}", format.name());
        // nginx cannot read this address.
        let ones = if format.name().starts_with("nginx-geo") { "centre" } else { "g-0a1b2c3d4e" };
        assert_eq!(at("255.255.255.255").as_deref(), Some(ones), "{}", format.name());
        let default = read.default().map(|t| t.as_str().to_owned());
        for miss in ["10.0.1.128", "0.0.0.0", "255.255.255.254", "2001:db8:280::", "ffff::"] {
            assert_eq!(at(miss), default, "{} at {miss}", format.name());
        }
    }
}

#[test]
fn every_groups_format_gives_its_golden_file_and_reads_it() {
    let snapshot = fixture::fixed();
    let view = view(&snapshot, Spaces::Named);
    let context = Context { name: Some("CDN.example.com.".parse().unwrap()), ..context() };
    for format in groups_formats() {
        let rows = format.rows(&view, &context).unwrap();
        let golden = golden(&format!("groups-{}.golden", format.name()));
        same(format.name(), &format.render(&rows, &Stamp::from(&snapshot)).bytes(), &golden);
        assert_eq!(format.read(&golden).unwrap(), rows, "{}", format.name());
        let tokens: Vec<&str> = rows.rows.keys().map(|t| t.as_str()).collect();
        assert_eq!(tokens, ["centre", "g-0a1b2c3d4e", "gz-01", "sh-01"]);
    }
}

#[test]
fn the_body_does_not_depend_on_the_stamp_and_the_rest_does() {
    let snapshot = fixture::fixed();
    let later =
        Snapshot { generation: 43, committed: "2026-01-02T04:00:00Z".parse().unwrap(), ..snapshot.clone() };
    for format in formats() {
        let view = view(&snapshot, format.spaces());
        let old = format.render(&view, &Stamp::from(&snapshot)).unwrap();
        let new = format.render(&view, &Stamp::from(&later)).unwrap();
        assert_eq!(old.body, new.body, "{}", format.name());
        let stamped = !matches!(format.name(), "csv" | "ndjson");
        assert_eq!(old.bytes() != new.bytes(), stamped, "{}", format.name());
    }
}

/// A file that was cut short or altered anywhere never passes as whole, in the formats that
/// can tell: the others are watched over by the manifest's checksum.
#[test]
fn a_file_cut_short_is_refused() {
    for format in formats() {
        let whole = golden(&format!("{}.golden", format.name()));
        let by_line = matches!(format.name(), "csv" | "ndjson");
        for length in 0..whole.len() {
            // Cut behind a record, these two are whole files of fewer rows.
            let record = by_line && (length == 0 || whole[length - 1] == b'\n');
            // The last line end alone is no loss to JSON.
            let last = matches!(format.name(), "json" | "czf" | "czf-deep") && length == whole.len() - 1;
            if !record && !last {
                assert!(format.read(&whole[..length]).is_err(), "{} of {length} octets", format.name());
            }
        }
        let mut nulls = whole.clone();
        nulls.fill(0);
        assert!(format.read(&nulls).is_err(), "{} of NULs", format.name());
    }
}
