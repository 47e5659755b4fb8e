//! Holds the modules to the direction of their dependencies: a module may use only what
//! stands to its left in the list of layers.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The layers, left to right. Modules of one rank know nothing of each other.
const LAYERS: &[&[&str]] = &[
    &["address", "logging", "metrics"],
    &["table"],
    &["format", "store", "steer", "snmp"],
    &["mib"],
    &["poll", "load", "trap", "publish", "coverage"],
    // Parameters for all that stands to its right; lower layers get small structs.
    &["config"],
    &["cycle"],
    &["http"],
    &["daemon"],
    &["cli"],
];

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a source names as `crate::MODULE`, with the line of each first mention.
fn uses(text: &str) -> BTreeMap<String, usize> {
    let mut used = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        for rest in code.split("crate::").skip(1) {
            for module in named(rest) {
                used.entry(module).or_insert(number + 1);
            }
        }
    }
    used
}

/// The module behind `crate::`, or all of them in `crate::{a::b, c}`.
fn named(rest: &str) -> Vec<String> {
    let word =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    match rest.strip_prefix('{') {
        Some(list) => list.split(',').map(word).filter(|w| !w.is_empty()).collect(),
        None => vec![word(rest)],
    }
}

#[test]
fn modules_use_only_what_stands_to_their_left() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in files {
        let inside = file.strip_prefix(&src).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if module == "lib" || module == "main" {
            continue;
        }
        let own = rank(&module).unwrap_or_else(|| panic!("{module} has no place among the layers"));
        let text = fs::read_to_string(&file).unwrap();
        for (used, line) in uses(&text) {
            let Some(other) = rank(&used) else {
                wrong.push(format!("{}:{line}: `{used}` has no place among the layers", inside.display()));
                continue;
            };
            seen += 1;
            if used != module && other >= own {
                wrong.push(format!("{}:{line}: `{module}` may not use `{used}`", inside.display()));
            }
        }
    }
    assert!(seen > 20, "only {seen} uses were found: the reading of the sources must be broken");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_pure_core_does_no_io() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for module in ["address", "table", "steer"] {
        sources(&src.join(module), &mut files);
    }
    let banned = [
        "tokio",
        "std::fs",
        "std::io",
        "std::time::SystemTime",
        "Instant::now",
        "Timestamp::now",
        "async fn",
        "tracing",
    ];
    let mut wrong = Vec::new();
    for file in files {
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            for word in banned {
                if code.contains(word) {
                    wrong.push(format!("{}:{}: {word}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_direction_would_be_found() {
    assert_eq!(uses("use crate::store::Store;").keys().collect::<Vec<_>>(), ["store"]);
    assert_eq!(uses("use crate::{table::Name, address};").keys().collect::<Vec<_>>(), ["address", "table"]);
    assert!(uses("// use crate::cli::x;").is_empty());
    assert!(rank("store") > rank("table") && rank("cli") > rank("daemon"));
}
