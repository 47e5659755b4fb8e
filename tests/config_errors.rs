//! Every way in which a configuration can be wrong: each `*.toml` of tests/data/config has
//! its whole message in the `.err` beside it.
#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests, too

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use poolsync::config::{ConfigError, Environment, Loaded, Loader};

fn load(path: &Path) -> Result<Loaded, ConfigError> {
    let variables =
        [("COMMUNITY", "Bv4hNs82Lq6t"), ("PASSWORD", "Gd3jRf71Mc9y"), ("SHORT", "Zq7xWv9"), ("EMPTY", "")];
    let variables: BTreeMap<_, _> =
        variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    Loader { environment: Environment { variables }, secrets: true }.load(path)
}

/// The message, with paths from the project's folder.
fn message(path: &Path) -> String {
    let error = load(path).map(drop).expect_err(&path.display().to_string());
    error.to_string().replace(concat!(env!("CARGO_MANIFEST_DIR"), "/"), "")
}

fn cases() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in ["tests/data/config", "tests/data/config/inventory", "tests/data/config/csv"] {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.extend(entries.filter(|path| path.extension().is_some_and(|e| e == "toml")));
    }
    all.sort();
    all
}

#[test]
fn each_fault_is_told_with_its_line_and_what_was_expected() {
    let cases = cases();
    assert!(cases.len() >= 24, "{}", cases.len());
    let mut wrong = String::new();
    for path in cases {
        let expected = fs::read_to_string(path.with_extension("err")).unwrap_or_default();
        let told = message(&path);
        if told != expected {
            wrong += &format!("=== {}\n--- expected\n{expected}--- told\n{told}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// No piece of a secret of four letters or more is in any message.
#[test]
fn no_message_holds_a_secret() {
    for path in cases() {
        let told = message(&path);
        for piece in
            ["Zq7xWv93Kp5m", "Bv4hNs82Lq6t", "Gd3jRf71Mc9y"].iter().flat_map(|s| s.as_bytes().windows(4))
        {
            let piece = std::str::from_utf8(piece).unwrap();
            assert!(!told.contains(piece), "{piece} in {told}");
        }
    }
}
