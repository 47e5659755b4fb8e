//! Files that cannot be read, and octets that are no configuration.

use super::*;

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Config::load(Path::new("/nonexistent/poolsync.toml")).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/nonexistent/poolsync.toml: this file cannot be read: No such file or directory (os error 2)\n"
    );
}

#[test]
fn octets_that_are_no_utf8_are_pointed_at() {
    let error = Folder::new().load(b"default-edge = \"c\"\n# caf\xe9\n").map(drop).unwrap_err();
    assert_eq!(faults(&error), [(2, 6, "this is not UTF-8")]);
}

#[test]
fn many_faults_are_counted() {
    let routers: String = (0..150)
        .map(|i| format!("[bas.b{i}]\naddress = \"192.0.2.{i}\"\nsnmp = \"v9\"\nedges = [\"c\"]\n"))
        .collect();
    let error = Folder::new().load(format!("{HEAD}{V2}{routers}")).map(drop).unwrap_err();
    assert_eq!((error.reports.len(), error.more), (100, 50));
    assert!(error.to_string().ends_with("\nand 130 more\n"), "20 of 150 are shown");
}

#[test]
fn places_stand_in_a_line_with_tabs_and_letters_of_any_width() {
    let error = Folder::new()
        .load("default-edge = \"c\"\n[edge.c]\n\taddresses = [ \"é\" ]\n")
        .map(drop)
        .unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("\n3 | \taddresses = [ \"é\" ]\n  | \t              ^^^\n"), "{shown}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn any_octets_are_read_without_panic(octets in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        if let Err(error) = Folder::new().load(&octets) {
            proptest::prop_assert!(!error.to_string().is_empty());
        }
    }

    /// A good configuration with a stretch of it replaced.
    #[test]
    fn any_damage_is_read_without_panic(at in 0..2000_usize, len in 0..40_usize, with in "[\"'\\[\\]{}=.,\n a-z0-9é#%]{0,12}") {
        let text = format!("{HEAD}{V2}{BAS}[[static]]\nrange = \"203.0.113.0/24\"\nbas = \"a\"\n[export.e]\nformat = \"csv\"\npath = \"e.csv\"\nreload = [\"a\"]\n");
        let at = at % text.len();
        let text = format!("{}{with}{}", &text[..at], &text[(at + len).min(text.len())..]);
        if let Err(error) = Folder::new().load(&text) {
            for report in &error.reports {
                proptest::prop_assert!(report.line > 0 && report.line <= text.lines().count() + 1);
            }
        }
    }

    #[test]
    fn any_inventory_is_read_without_panic(rows in "(name|address|snmp|edges|edges.x|pools|\"|,|\n|;|é| |a|v2){0,40}") {
        let folder = Folder::new();
        folder.write("bas.csv", &rows);
        let _ = folder.load(format!("static-file = \"bas.csv\"\n{HEAD}{V2}[inventory]\nfile = \"bas.csv\"\n"));
    }
}
