//! Every committed input through its target: what once went wrong stays mended, and every
//! target has inputs that lead into it.

use std::fs;
use std::path::{Path, PathBuf};

use super::TARGETS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus")
}

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn committed_inputs_harm_nothing() {
    for (name, target) in TARGETS {
        let paths = inputs(&root().join(name));
        assert!(!paths.is_empty(), "{name} has no inputs");
        for path in paths {
            println!("{}", path.display());
            target(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_folder_of_inputs_has_its_target() {
    for path in inputs(&root()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(super::target(name).is_some(), "{} is no target's", path.display());
    }
}
