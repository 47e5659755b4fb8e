//! The reference of the descriptor's keys, held to the code: what the parser would have taken
//! in place of an unknown word is what stands in the document, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

const REFERENCE: &str = include_str!("../../../mibs/README.md");

/// The first words of the tables of a document, by heading.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in REFERENCE.lines() {
        if let Some(title) = line.strip_prefix("### ").or_else(|| line.strip_prefix("## ")) {
            heading = title.replace('`', "");
        } else if let Some(row) = line.strip_prefix("| `") {
            let word = row.split('`').next().unwrap();
            let new = words.entry(heading.clone()).or_default().insert(word.to_owned());
            assert!(new, "{word} stands twice under {heading}");
        }
    }
    words
}

/// What the parser says it expected in place of `zzz`.
fn expected(source: &str) -> BTreeSet<String> {
    let error = Descriptor::parse("x.toml", source, Origin::BuiltIn).unwrap_err();
    assert!(error.message.contains("`zzz`"), "{error}");
    let (_, expected) = error.message.split_once("expected").unwrap();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

const TABLE: &str = "name = \"x\"\nvendor = \"x\"\n[[table]]\nname = \"t\"\nentry = \"1.3.6.1.4.1.9.1\"\n";
const INDEX: &str = "index = [{ name = \"i\", type = \"integer\" }]\n";
const COLUMNS: &str = "[table.columns]\nc = { number = 1, type = \"text\" }\n";

#[test]
fn every_key_and_type_is_in_the_reference_and_nothing_else() {
    let ranges = format!("{TABLE}{INDEX}{COLUMNS}[table.ranges]\n");
    let joins = format!("{TABLE}{INDEX}{COLUMNS}[table.joins]\n");
    let sections = [
        ("The file", "zzz = 1\n".to_owned()),
        ("[detect]", "[detect]\nzzz = 1\n".to_owned()),
        ("sys-descr", "[detect]\nsys-descr = { zzz = 1 }\n".to_owned()),
        ("[contexts]", "[contexts]\nzzz = 1\n".to_owned()),
        ("[[table]]", "[[table]]\nzzz = 1\n".to_owned()),
        ("Parts of an index", format!("{TABLE}index = [{{ zzz = 1 }}]\n")),
        ("Types of index parts", format!("{TABLE}index = [{{ name = \"i\", type = \"zzz\" }}]\n")),
        ("Entries of columns", format!("{TABLE}{INDEX}[table.columns]\nc = {{ zzz = 1 }}\n")),
        (
            "Types of columns",
            format!("{TABLE}{INDEX}[table.columns]\nc = {{ number = 1, type = \"zzz\" }}\n"),
        ),
        ("Entries of joins", format!("{joins}t = {{ zzz = 1 }}\n")),
        ("[table.ranges]", format!("{ranges}zzz = 1\n")),
        ("Entries of kinds", format!("{ranges}kinds = [{{ zzz = 1 }}]\n")),
        ("lengths", format!("{ranges}lengths = {{ zzz = 1 }}\n")),
        ("exclude", format!("{ranges}exclude = {{ zzz = 1 }}\n")),
    ];
    let mut documented = documented();
    for (heading, source) in sections {
        let words = documented.remove(heading).unwrap_or_else(|| panic!("no table under {heading}"));
        assert_eq!(words, expected(&source), "{heading}");
    }
    let reasons = RejectReason::ALL.map(|reason| serde_json::to_value(reason).unwrap());
    let reasons: BTreeSet<String> = reasons.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    assert_eq!(documented.remove("Why a row claims nothing"), Some(reasons));
    assert_eq!(documented, BTreeMap::new(), "tables of nothing");
}

#[test]
fn the_example_is_a_descriptor_that_can_be_used() {
    let (_, example) = REFERENCE.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let descriptor = parsed(example);
    let walk = "1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.99999.1.4
1.3.6.1.4.1.99999.2.1.1.3.7.1|64|192.0.2.1
1.3.6.1.4.1.99999.2.1.1.4.7.1|64|192.0.2.9
1.3.6.1.4.1.99999.2.2.1.2.7|4|gold
";
    let replay = replay(&descriptor, &Recording::parse(walk).unwrap(), Settings::default());
    assert!(replay.known && replay.unused_objects == 0);
    assert_eq!(replay.tables[0].rows[0].ranges[0].pool, "gold");
}

#[test]
fn all_reasons_are_among_all() {
    // A new reason does not compile before it stands here, and in `ALL`.
    let number = |reason: RejectReason| match reason {
        RejectReason::AmbiguousJoin => 0,
        RejectReason::BadCell => 1,
        RejectReason::BadIndex => 2,
        RejectReason::Contradiction => 3,
        RejectReason::Excluded => 4,
        RejectReason::Filtered => 5,
        RejectReason::MissingCell => 6,
        RejectReason::MissingRow => 7,
        RejectReason::NoAddress => 8,
        RejectReason::NotActive => 9,
        RejectReason::Reversed => 10,
        RejectReason::Unresolved => 11,
    };
    assert!(RejectReason::ALL.map(number).iter().enumerate().all(|(at, number)| at == *number));
}
