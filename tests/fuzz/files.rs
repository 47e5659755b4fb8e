//! Files: descriptors, and what our own strict readers read back.

use std::sync::LazyLock;

use crate::config::{Environment, Loader};
use crate::format::formats;
use crate::format::groups::groups_formats;
use crate::mib::{Descriptor, Origin};

/// Descriptors: one that is taken is taken again, word by word.
pub(super) fn descriptor(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parse = || Descriptor::parse("fuzz.toml", text, Origin::BuiltIn);
    match parse() {
        Ok(descriptor) => {
            assert_eq!(descriptor.source(), text);
            for table in descriptor.tables() {
                let columns = table.columns().columns;
                assert!(columns.windows(2).all(|two| two[0] < two[1]), "columns do not ascend");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Configurations, with an inventory behind a zero octet: one that is taken is printed, and
/// what is printed is taken.
pub(super) fn configuration(data: &[u8]) {
    static FOLDER: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder can be made"));
    let (toml, inventory) = data.split_at(data.iter().position(|octet| *octet == 0).unwrap_or(data.len()));
    // Only files of the fuzzer's own may be named.
    let elsewhere = ["/dev", "/proc", "/sys", ".."];
    if elsewhere.iter().any(|part| toml.windows(part.len()).any(|window| window == part.as_bytes())) {
        return;
    }
    let path = FOLDER.path().join("fuzz.toml");
    let load = |toml: &[u8]| {
        std::fs::write(&path, toml).expect("the folder can be written to");
        Loader { environment: Environment::default(), secrets: false }.load(&path)
    };
    std::fs::write(FOLDER.path().join("bas.csv"), inventory.get(1..).unwrap_or_default())
        .expect("the folder can be written to");
    match load(toml) {
        Ok(loaded) => {
            let printed = loaded.config.to_toml();
            let again = load(printed.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{printed}"));
            assert_eq!(again.config.to_toml(), printed);
        }
        Err(error) => {
            assert!(!error.reports.is_empty());
            assert!(error.to_string().len() <= 1 << 20, "a message of more than a megabyte");
        }
    }
}

/// Files of our own formats: what a reader takes is disjoint and in order.
pub(super) fn readback(data: &[u8]) {
    for format in formats() {
        let Ok(read) = format.read(data) else { continue };
        let sorted = read.rows().windows(2).all(|two| {
            let (a, b) = (&two[0], &two[1]);
            (&a.space, a.range.first().is_ipv6(), a.range.last())
                < (&b.space, b.range.first().is_ipv6(), b.range.first())
        });
        assert!(sorted, "{}: rows overlap or are out of order", format.name());
        assert!(read.rows().len() <= 129 * data.len(), "{}: rows out of nothing", format.name());
    }
    for format in groups_formats() {
        let _ = format.read(data);
    }
}
