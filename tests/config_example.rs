//! The example configuration is what people read first: it must load, say the truth about
//! defaults, and name every key.
#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests, too

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use poolsync::config::{Config, ConfigError, Environment, Loaded, Loader};

const EXAMPLE: &str = include_str!("../config/poolsync.example.toml");

/// Keys whose line in the example is no default, because there is none.
const NO_DEFAULT: [&str; 28] = [
    "static-file",
    "distance-file",
    "place",
    "authorization",
    "sessions",
    "session",
    "distance",
    "demand",
    "pps",
    "source",
    "engine-id",
    "context",
    "context-engine-id",
    "encoding",
    "reply-from",
    "context-community",
    "pair",
    "vrfs = [\"\", \"iptv\"]",
    "pools",
    "group-as-vrf",
    "interval = \"1m\"",
    "file",
    "folder = \"bas.d\"",
    "nameservers",
    "only",
    "group",
    "canary",
    "folder = \"/etc/poolsync/mibs\"",
];

fn load(folder: &Path, text: &str) -> Result<Loaded, ConfigError> {
    let path = folder.join("poolsync.toml");
    fs::write(&path, text).unwrap();
    let variables = BTreeMap::from([
        ("SNMP_COMMUNITY".into(), "example-community".into()),
        ("CREDENTIALS_DIRECTORY".into(), folder.join("credentials").into()),
    ]);
    Loader { environment: Environment { variables }, secrets: true }.load(&path)
}

/// A folder with the credentials and the files that the example names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("credentials")).unwrap();
    fs::write(at("credentials/snmp-auth"), "example-authentication\n").unwrap();
    fs::write(at("credentials/snmp-priv"), "example-privacy\n").unwrap();
    fs::write(at("legacy.csv"), "range,bas\n192.0.2.128/25,gz-tianhe-2\n").unwrap();
    fs::write(at("bas.csv"), "name,address,snmp,edges\nsz-1,192.0.2.77,core,gz-01;centre\n").unwrap();
    fs::write(at("distances.csv"), "bas,gz-01,gz-02,centre\ngz-tianhe-1,1.5,,12\n").unwrap();
    fs::write(at("metrics.auth"), "Bearer example-metrics\n").unwrap();
    fs::create_dir(at("more")).unwrap();
    folder
}

#[test]
fn it_loads() {
    let folder = folder();
    let loaded = load(folder.path(), EXAMPLE).unwrap_or_else(|e| panic!("{e}"));
    let config = loaded.config;
    assert_eq!(config.default_edge.as_str(), "centre");
    assert_eq!(config.bas.len(), 2);
    assert_eq!(config.edges["gz-01"].addresses.len(), 2);
    assert_eq!(config.spaces.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["internet", "iptv"]);
    assert_eq!(config.exports["dns"].reload.as_deref().unwrap(), ["knotc", "reload"]);
}

#[test]
fn what_it_calls_a_default_is_one() {
    let folder = folder();
    let base = load(folder.path(), EXAMPLE).unwrap().config;
    let lines: Vec<&str> = EXAMPLE.lines().collect();
    let mut seen = 0;
    for (i, line) in lines.iter().enumerate() {
        let Some(line) =
            line.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
        else {
            continue;
        };
        let text: String =
            (0..lines.len()).map(|j| if i == j { line } else { lines[j] }.to_owned() + "\n").collect();
        let key = line.split(" =").next().unwrap();
        if NO_DEFAULT.iter().any(|sample| *sample == key || *sample == line) {
            continue;
        }
        let config = load(folder.path(), &text).unwrap_or_else(|e| panic!("line {}: {e}", i + 1)).config;
        assert_eq!(config, base, "line {}: {line}", i + 1);
        seen += 1;
    }
    assert!(seen > 30, "{seen} defaults were compared");
}

#[test]
fn what_has_no_default_is_a_good_example() {
    let folder = folder();
    fs::create_dir(folder.path().join("bas.d")).unwrap();
    for sample in [
        "static-file",
        "distance-file",
        "place",
        "authorization",
        "sessions",
        "session",
        "distance",
        "demand",
        "pps",
        "source",
        "engine-id",
        "context-engine-id",
        "encoding",
        "context-community",
        "reply-from",
        "pools",
        "group-as-vrf",
        "file",
        "nameservers",
        "only",
        "group",
        "canary",
    ] {
        let line = EXAMPLE.lines().find(|line| line.starts_with(&format!("#{sample} ="))).unwrap();
        let text = EXAMPLE.replacen(line, &line[1..], 1);
        let text = if sample == "source" { text.replace("[2001:db8::9]:1161", "192.0.2.10") } else { text };
        let config = load(folder.path(), &text).unwrap_or_else(|e| panic!("{sample}: {e}")).config;
        let printed = config.to_toml();
        let again =
            load(folder.path(), &printed).unwrap_or_else(|e| panic!("{sample}: {e}\n{printed}")).config;
        assert_eq!(again, config, "{sample}");
    }
}

/// The tables of the example: the octet at which a key can be put in, and its line. `edges`
/// by service is none: its keys are names.
fn openings(text: &str) -> Vec<(usize, usize)> {
    let mut found = vec![(0, 1)];
    for (number, line) in text.lines().enumerate() {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        if line.starts_with('[') {
            found.push((start + line.len() + 1, number + 2));
        } else if !line.starts_with('#') && !line.starts_with("edges") {
            found.extend(line.match_indices("{ ").map(|(at, _)| (start + at + 2, number + 1)));
        }
    }
    found
}

#[test]
fn an_unknown_key_in_any_table_of_it_is_found() {
    let folder = folder();
    let openings = openings(EXAMPLE);
    assert!(openings.len() > 25, "{}", openings.len());
    for (at, line) in openings {
        let inline = !EXAMPLE[..at].ends_with('\n') && at > 0;
        let key = if inline { "bogus-key = 1, " } else { "bogus-key = 1\n" };
        let text = format!("{}{key}{}", &EXAMPLE[..at], &EXAMPLE[at..]);
        let error = load(folder.path(), &text).map(drop).unwrap_err();
        let report = &error.reports[0];
        let start = EXAMPLE[..at].rfind('\n').map_or(0, |i| i + 1);
        assert_eq!((report.line, report.column), (line, at - start + 1), "{error}");
        let shown = error.to_string();
        assert!(shown.contains("^^^^^^^^^\n") && shown.contains("expected"), "{error}");
    }
}

#[test]
fn what_is_printed_reads_back_as_the_same() {
    let folder = folder();
    let config = load(folder.path(), EXAMPLE).unwrap().config;
    let printed = config.to_toml();
    for secret in ["example-community", "example-authentication", "example-privacy"] {
        assert!(!printed.contains(secret), "{printed}");
        assert!(!format!("{config:?}").contains(secret));
    }
    let again = load(folder.path(), &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again.config, config);
    assert_eq!(again.config.to_toml(), printed);
}

#[test]
fn without_secrets_it_loads_where_there_are_none() {
    let folder = folder();
    let path = folder.path().join("poolsync.toml");
    fs::write(&path, EXAMPLE).unwrap();
    let config = Config::load_without_secrets(&path).unwrap().config;
    assert_eq!(config.polling(&config.bas["gz-tianhe-1"]).unwrap().credentials, None);
}
