//! Descriptors that are refused: what is said, and where.

use super::*;

const GOOD: &str = r#"name = "test"
vendor = "Test"

[detect]
sys-object-id = ["1.3.6.1.4.1.99999"]

[[table]]
name = "sections"
entry = "1.3.6.1.4.1.99999.1.2.1"
index = [{ name = "pool", type = "integer" }, { name = "section", type = "integer" }]

[table.columns]
start = { number = 3, type = "ip-address" }
end = { number = 4, type = "ip-address" }

[table.joins]
pools = { by = ["pool"] }

[table.ranges]
start = "start"
end = "end"
pool = "pools.name"

[[table]]
name = "pools"
entry = "1.3.6.1.4.1.99999.1.1.1"
index = [{ name = "pool", type = "integer" }]

[table.columns]
name = { number = 2, type = "text" }
"#;

/// Replaces one piece of a good descriptor; the place refused must begin with `at`.
#[track_caller]
fn refused(piece: &str, by: &str, message: &str, at: &str) {
    refused_in(GOOD, piece, by, message, at);
}

#[track_caller]
fn refused_in(good: &str, piece: &str, by: &str, message: &str, at: &str) {
    assert!(good.contains(piece), "{piece}");
    let source = good.replacen(piece, by, 1);
    let error = Descriptor::parse("test.toml", &source, Origin::BuiltIn).expect_err(by);
    assert!(error.message.contains(message), "{error}");
    let line = source.lines().nth(error.line - 1).unwrap();
    let meant: String = line.chars().skip(error.column - 1).collect();
    assert!(meant.starts_with(at), "{error}");
    assert!(error.to_string().contains(&format!("test.toml:{}:{}: ", error.line, error.column)));
}

#[test]
fn a_good_one_is_taken() {
    assert_eq!(parsed(GOOD).tables().len(), 2);
}

#[test]
fn a_misspelt_key_is_shown_with_its_place_and_the_keys_expected() {
    let source = GOOD.replacen("vendor", "vendour", 1);
    let error = Descriptor::parse("mibs/x.toml", &source, Origin::BuiltIn).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mibs/x.toml:2:1: unknown field `vendour`, expected one of `name`, `vendor`, `notes`, `encoding`, `group-as-vrf`, `default-vrf`, `detect`, `contexts`, `table`
  |
2 | vendour = \"Test\"
  | ^^^^^^^"
    );
}

#[test]
fn an_unknown_field_is_shown_with_its_place_and_the_fields_there_are() {
    let source = GOOD.replacen("end = \"end\"", "end = \"ende\"", 1);
    let error = Descriptor::parse("mibs/x.toml", &source, Origin::BuiltIn).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mibs/x.toml:21:7: table `sections` has no field `ende`, expected one of `pool`, `section`, `start`, `end`
   |
21 | end = \"ende\"
   |       ^^^^^^"
    );
}

#[test]
fn what_toml_itself_refuses_has_its_place() {
    refused("type = \"ip-address\"", "type = \"ip-adress\"", "unknown variant `ip-adress`", "\"ip-adress\"");
    refused("number = 3", "number = \"3\"", "invalid type", "\"3\"");
    refused("1.3.6.1.4.1.99999.1.2.1", "1.3.6.x", "is not an OID", "\"1.3.6.x\"");
    refused("vendor = \"Test\"", "vendor = ", "", "");
    refused("vendor = \"Test\"\n", "", "missing field `vendor`", "");
    refused("start = \"start\"", "start = 7", "invalid type", "7");
    refused("by = [\"pool\"]", "on = [\"pool\"]", "unknown field `on`", "on");
    refused("pool = \"pools.name\"", "poole = \"pools.name\"", "unknown field `poole`", "poole");
}

#[test]
fn names_are_checked() {
    refused("name = \"test\"", "name = \"Te st\"", "is no name", "\"Te st\"");
    refused("name = \"pools\"", "name = \"pools@x\"", "is no name", "\"pools@x\"");
    refused("name = \"pools\"", "name = \"sections\"", "stands here twice", "\"sections\"");
    refused("99999.1.1.1\"", "99999.1.2.1\"", "has this entry already", "\"1.3.6");
    refused("\"1.3.6.1.4.1.99999.1.2.1\"", "\"1.3.6.1.4\"", "an entry is", "\"1.3.6.1.4\"");
    refused("vendor = \"Test\"", "vendor = \"Test\"\nencoding = \"klingon\"", "no encoding", "\"klingon\"");
    refused("sys-object-id = [\"1.3.6.1.4.1.99999\"]", "sys-object-id = []", "without a prefix", "[]");
    refused("[\"1.3.6.1.4.1.99999\"]", "[\"1.3.6.1.4.1\"]", "names an enterprise", "\"1.3.6.1.4.1\"");
}

#[test]
fn indexes_are_checked() {
    let first = "{ name = \"pool\", type = \"integer\" }, ";
    let implied = "{ name = \"pool\", type = \"octets-implied\" }, ";
    refused(first, implied, "can only be the last part", "{ name = \"pool\"");
    let fixed = "{ name = \"pool\", type = \"octets-fixed\" }, ";
    refused(first, fixed, "needs its `length`", "{ name = \"pool\"");
    let fixed = "{ name = \"pool\", type = \"octets-fixed\", length = 0 }, ";
    refused(first, fixed, "a length is 1 to 128", "0");
    let long = "{ name = \"pool\", type = \"octets\", length = 4 }, ";
    refused(first, long, "only octets-fixed has a length", "4");
    let twice = "{ name = \"section\", type = \"integer\" }, ";
    refused(first, twice, "stands here twice", "\"section\"");
    let untyped = "{ name = \"pool\", type = \"inet-address\" }, ";
    refused(first, untyped, "needs `address-type`", "{ name = \"pool\"");
    let later = "{ name = \"pool\", type = \"inet-address\", address-type = \"section\" }, ";
    refused(first, later, "before this one", "\"section\"");
    let typed = "{ name = \"pool\", type = \"integer\", address-type = \"section\" }, ";
    refused(first, typed, "only inet-address", "\"section\"");
    let index = "index = [{ name = \"pool\", type = \"integer\" }]";
    refused(index, "index = []", "at least one index part", "[]");
}

#[test]
fn columns_are_checked() {
    let end = "end = { number = 4, type = \"ip-address\" }";
    refused(end, "end = { number = 3, type = \"ip-address\" }", "column 3 is", "3");
    refused(end, "end = { number = 0, type = \"ip-address\" }", "numbered from 1", "0");
    refused(end, "end = { number = 4, type = \"inet-address\" }", "needs `address-type`", "{ number = 4");
    let typed = "end = { number = 4, type = \"inet-address\", address-type = \"pool\" }";
    refused(end, typed, "is not of type inet-address-type", "\"pool\"");
    let typed = "end = { number = 4, type = \"ip-address\", address-type = \"pool\" }";
    refused(end, typed, "only inet-address", "\"pool\"");
    let optional = "end = { number = 4, type = \"ip-address\", optional = true }";
    refused(end, optional, "`end` of `sections` is optional", "[table.ranges]");
    let two = format!(
        "{end}\na = {{ number = 8, type = \"row-status\" }}\nb = {{ number = 9, type = \"row-status\" }}"
    );
    refused(end, &two, "one row status", "{ number = 9");
    let status = format!("{end}\na = {{ number = 8, type = \"row-status\", optional = true }}");
    refused(end, &status, "optional as it is", "true");
    let twin = format!("{end}\nsection = {{ number = 1, type = \"text\" }}");
    refused(end, &twin, "the index part of this name is a number, the column is text", "section");
    refused("name = { number = 2, type = \"text\" }", "", "at least one column", "");
}

#[test]
fn joins_are_checked() {
    let join = "pools = { by = [\"pool\"] }";
    refused(join, "pool = { by = [\"pool\"] }", "unknown table `pool`, expected one of", "pool");
    refused(join, "sections = { by = [\"pool\"] }", "not joined to itself", "sections");
    refused(join, "pools = {}", "a join needs `by`", "{}");
    refused(join, "pools = { by = [\"pool\"], whole-index = true }", "a join needs `by`", "{ by");
    refused(join, "pools = { by = [\"pool\", \"section\"] }", "has 1 index parts", "{ by");
    refused(join, "pools = { by = [\"start\"] }", "they cannot be compared", "\"start\"");
    refused(join, "pools = { by = [\"pol\"] }", "has no field `pol`", "\"pol\"");
    refused(join, "pools = { by = [\"pool\"], to = \"nam\" }", "has no field `nam`", "\"nam\"");
    refused(join, "pools = { by = [\"pool\"], to = \"name\" }", "they cannot be compared", "\"pool\"");
    refused(join, "pools = { by = [\"pool\", \"section\"], to = \"name\" }", "names one", "{ by");
    refused(join, "pools = { whole-index = true }", "are not made alike", "{ whole-index");
    refused(join, "", "`pools` is not joined to `sections`", "\"pools.name\"");
}

#[test]
fn recipes_are_checked() {
    refused("start = \"start\"\n", "", "exactly one of these", "[table.ranges]");
    refused(
        "start = \"start\"",
        "start = \"start\"\nmask = \"end\"",
        "exactly one of these",
        "[table.ranges]",
    );
    refused("start = \"start\"", "start = \"pool\"", "`pool` is a number, expected an address", "\"pool\"");
    refused("\"pools.name\"", "\"start\"", "`start` is an address, expected text", "\"start\"");
    refused("\"pools.name\"", "\"pools.nme\"", "table `pools` has no field `nme`", "\"pools.nme\"");
    refused(
        "\"pools.name\"",
        "\"names.name\"",
        "`names` is not joined to `sections` (joined: `pools`)",
        "\"names.name\"",
    );
    let more = |more: &str| format!("end = \"end\"\n{more}");
    let end = "end = \"end\"";
    refused(end, &more("size = \"pools.name\""), "is text, expected a number", "\"pools.name\"");
    refused(end, &more("only = { start = [1] }"), "expected a number or an address type or bits", "start");
    refused(end, &more("only = { pool = [] }"), "no row would count", "pool");
    let exclude = "exclude = { field = \"start\", equals = 0, within = [] }";
    refused(end, &more(exclude), "told by index parts alone", "\"start\"");
    let exclude = "exclude = { field = \"pool\", equals = 1, others = 1, within = [] }";
    refused(end, &more(exclude), "cannot take out and be taken out of", "1");
    refused(end, &more("fallback-for = { pools = [\"pool\"] }"), "gives no ranges", "pools");
    refused(end, &more("fallback-for = { nothing = [\"pool\"] }"), "unknown table `nothing`", "nothing");
}

/// `GOOD` with ranges of the pools too, made of one column, and a fallback for the sections.
fn with_fallback(same: &str) -> String {
    let by = format!(
        "name = {{ number = 2, type = \"text\" }}\na = {{ number = 3, type = \"ip-address\" }}\n\n[table.ranges]\nstart = \"a\"\nend = \"a\"\npool = \"name\"\nfallback-for = {{ sections = {same} }}"
    );
    GOOD.replacen("name = { number = 2, type = \"text\" }", &by, 1)
}

#[test]
fn ways_of_making_a_range_are_checked() {
    let ends = "start = \"start\"\nend = \"end\"\n";
    refused(ends, "gateway = \"start\"\n", "exactly one of these", "[table.ranges]");
    refused(ends, "prefix = \"start\"\n", "exactly one of these", "[table.ranges]");
    refused(
        ends,
        "first-prefix = \"start\"\nlast-prefix = \"end\"\n",
        "exactly one of these",
        "[table.ranges]",
    );
    refused(ends, "kinds = []\n", "without a kind", "[table.ranges]");
    let kinds = "kinds = [{ start = \"start\", end = \"end\" }]\n";
    refused(ends, &format!("{kinds}mask = \"end\"\n"), "each kind says", "\"end\"");
    refused(ends, "kinds = [{ start = \"start\" }]\n", "exactly one of these", "{ start");
    refused(
        ends,
        "kinds = [{ start = \"start\", end = \"end\", only = { pool = [] } }]\n",
        "no row would count",
        "pool",
    );
    refused(ends, "kinds = [{ begin = \"start\" }]\n", "unknown field `begin`", "begin");
    let pool = "pool = \"pools.name\"";
    refused(pool, "", "exactly one", "[table.ranges]");
    refused(pool, "pool = \"pools.name\"\npool-name = \"x\"", "exactly one", "[table.ranges]");
    refused(pool, "pool-name = \"\"", "exactly one", "[table.ranges]");
    let both = "pool = \"pools.name\"\nvrf = \"pools.name\"\ngroup = \"pools.name\"";
    refused(pool, both, "gives the VRF already", "\"pools.name\"");
    refused(pool, "pool = \"pools.name\"\ngroup = \"start\"", "expected text", "\"start\"");
    refused(pool, "pool = \"pools.name\"\ndelegated-len = \"start\"", "expected a number", "\"start\"");
    refused(pool, "pool = \"pools.name\"\ndelegated-only = { pool = [1] }", "nothing to restrict", "pool");
    let lengths = |lengths: &str| format!("pool = \"pools.name\"\nlengths = {lengths}");
    refused(pool, &lengths("{ v4 = [8, 29] }"), "only ranges that are one prefix", "{ v4");
    refused(pool, &lengths("{ v4 = [8, 33] }"), "from 0 to 32", "[8, 33]");
    refused(pool, &lengths("{ v6 = [64, 20] }"), "from 0 to 128", "[64, 20]");
    refused(pool, &lengths("{}"), "lengths are for", "{}");
}

#[test]
fn cells_that_stand_for_something_are_checked() {
    let end = "end = { number = 4, type = \"ip-address\" }";
    let otherwise =
        |value: &str| format!("end = {{ number = 4, type = \"ip-address\", otherwise = {value} }}");
    refused(end, &otherwise("7"), "`end` is an address, not a number", "7");
    refused(end, &otherwise("\"pool\""), "no other field that holds an address", "\"pool\"");
    refused(end, &otherwise("\"end\""), "no other field that holds an address", "\"end\"");
    refused(end, &otherwise("\"ende\""), "has no field `ende`", "\"ende\"");
    refused(end, &otherwise("true"), "a number or the name of a field", "true");
    let optional = "end = { number = 4, type = \"ip-address\", otherwise = \"start\", optional = false }";
    refused(end, optional, "it is not optional too", "\"start\"");
    let start = "start = { number = 3, type = \"ip-address\" }";
    let good = GOOD.replacen(end, &otherwise("\"start\""), 1);
    let circle = "start = { number = 3, type = \"ip-address\", otherwise = \"end\" }";
    refused_in(&good, start, circle, "may itself be missing", "\"");
}

#[test]
fn networks_and_single_rows_are_checked() {
    let end = "end = { number = 4, type = \"ip-address\" }";
    refused(end, "end = { number = 4, type = \"network\" }", "needs `address-type`", "{ number = 4");
    refused(end, "end = { number = 4, type = \"network-octets\" }", "needs `address-type`", "{ number = 4");
    refused(
        end,
        "end = { number = 4, type = \"network-text\" }",
        "is a network, expected an address",
        "\"end\"",
    );
    let text = GOOD.replacen(end, "end = { number = 4, type = \"network-text\" }", 1);
    let network = "prefix = \"end\"\n";
    let text = text.replacen("start = { number = 3, type = \"ip-address\" }\n", "", 1);
    parsed(&text.replacen("start = \"start\"\nend = \"end\"\n", network, 1));
    let join = "pools = { by = [\"pool\"] }";
    refused(join, "pools = { by = [\"pool\"], single = true }", "joined by nothing else", "{ by");
    refused(join, "pools = { whole-index = true, single = true }", "joined by nothing else", "{ whole");
    parsed(&GOOD.replacen(join, "pools = { single = true }", 1));
    let entry = "entry = \"1.3.6.1.4.1.99999.1.2.1\"";
    refused(entry, &format!("{entry}\nmax-rows = 0"), "not worth reading", "0");
    refused(entry, &format!("{entry}\nmax-rows = -1"), "", "-1");
}

#[test]
fn a_fallback_says_by_what_the_better_table_is_seen_to_lack_a_row() {
    let good = with_fallback("[\"pool\"]");
    assert_eq!(parsed(&good).tables().filter(|table| table.is_fallback()).count(), 1);
    let piece = "sections = [\"pool\"]";
    refused_in(&good, piece, "sections = []", "name the fields", "[]");
    refused_in(&good, piece, "sections = [\"section\"]", "has no field `section`", "\"section\"");
    refused_in(&good, piece, "sections = [\"name\"]", "table `sections` has no field `name`", "\"name\"");
    refused_in(&good, piece, "pools = [\"pool\"]", "would be a fallback for itself", "[table.ranges]");
    let both = good.replacen(
        "pool = \"pools.name\"",
        "pool = \"pools.name\"\nfallback-for = { pools = [\"pool\"] }",
        1,
    );
    refused_in(
        &both,
        "name = \"test\"",
        "name = \"other\"",
        "would be a fallback for itself",
        "[table.ranges]",
    );
    let typed = good.replacen("a = { number = 3", "start = { number = 3", 1).replacen(
        "start = \"a\"\nend = \"a\"",
        "start = \"start\"\nend = \"start\"",
        1,
    );
    refused_in(
        &typed,
        piece,
        "sections = [\"start\", \"end\"]",
        "table `pools` has no field `end`",
        "\"end\"",
    );
    let named = typed.replacen(
        "start = { number = 3, type = \"ip-address\" }\nend",
        "start = { number = 3, type = \"ip-address\" }\nname = { number = 7, type = \"ip-address\" }\nend",
        1,
    );
    refused_in(&named, piece, "sections = [\"name\"]", "they cannot be compared", "\"name\"");
}

#[test]
fn what_is_read_for_nothing_is_refused() {
    let end = "end = { number = 4, type = \"ip-address\" }";
    let more = format!("{end}\nsize = {{ number = 5, type = \"count\" }}");
    refused(end, &more, "nothing uses column `size`", "size");
    let join = "pool = \"pools.name\"";
    let named = "name = { number = 9, type = \"text\" }\n\n[table.joins]\npools = { by = [\"pool\"] }\n\n[table.ranges]\nstart = \"start\"\nend = \"end\"\npool = \"name\"";
    let piece = "\n[table.joins]\npools = { by = [\"pool\"] }\n\n[table.ranges]\nstart = \"start\"\nend = \"end\"\npool = \"pools.name\"";
    assert!(piece.contains(join));
    refused(piece, named, "nothing uses the join to `pools`", "pools");
    let unjoined = named.replace("[table.joins]\npools = { by = [\"pool\"] }\n\n", "");
    refused(piece, &unjoined, "nothing uses table `pools`", "\"pools\"");
    let ranges = "[table.ranges]\nstart = \"start\"\nend = \"end\"\npool = \"pools.name\"\n";
    refused(ranges, "", "no table has [table.ranges]", "[[table]]");
}

#[test]
fn contexts_are_checked() {
    let built_in = include_str!("../../../mibs/juniper-junose.toml");
    let junose =
        |piece: &str, by: &str, message: &str, at: &str| refused_in(built_in, piece, by, message, at);
    junose("table = \"routers\"", "table = \"router\"", "unknown table `router`", "\"router\"");
    junose("table = \"routers\"", "table = \"pools\"", "gives neither ranges nor joins", "\"pools\"");
    junose("vrf = \"name\"", "vrf = \"status\"", "must be a column of type text", "\"status\"");
    junose("vrf = \"name\"", "vrf = \"nme\"", "has no field `nme`", "\"nme\"");
    junose(
        "pool = \"pools.name\"",
        "pool = \"pools.name\"\nvrf = \"pools.name\"",
        "the VRF is the context's",
        "\"pools.name\"",
    );
    junose("default = \"router1\"\n", "", "missing field `default`", "");
    let joined = "pools = { by = [\"pool\"] }\nrouters = { by = [\"pool\"] }";
    junose("pools = { by = [\"pool\"] }", joined, "nothing can be joined to it", "\"profiles\"");
}

#[test]
fn a_descriptor_says_in_words_what_it_reads() {
    let words = built_in("juniper-junose").describe();
    for line in [
        "juniper-junose: Juniper JUNOSe (E-series: ERX, E320, E120)",
        "Chosen by auto where sysObjectID lies under 1.3.6.1.4.1.4874.1.1.1.",
        "Table profiles (juniAddressPoolProfileTable, 1.3.6.1.4.1.4874.2.2.21.1.1.3.1):",
        "  index: pool (one arc), profile (one arc)",
        "  joined to pools by pool",
        "  ranges: from start (column 3) to end (column 4)",
        "  pool: name (column 3) of pools",
        "  VRF: the context's",
        "  only where profiles has no row of the same pool, and was read completely or is not there",
    ] {
        assert!(words.lines().any(|other| other == line), "{line}\n{words}");
    }
    let words = built_in("zte-uas").describe();
    assert!(
        words.contains("  in the index and as a column, and must agree: name, virtual-route, start, end\n"),
        "{words}"
    );
    let words = built_in("h3c-comware").describe();
    for line in [
        "  ranges: from start (column 8) to end (column 9), where it is set",
        "      else: network network (column 2) with mask mask (column 3)",
        "  only rows where type (column 1) is 2",
    ] {
        assert!(words.lines().any(|other| other == line), "{line}\n{words}");
    }
    let words = built_in("ericsson-redback").describe();
    for line in [
        "  ranges: network start (index) with mask mask (column 4), where type (column 13) is 0",
        "      else: from start (index) to end (column 14), where type (column 13) is 1",
        "  joined to context by being its only row",
        "The VRF local is the default one, and counts as none.",
        "  ranges: prefixes first (index) to last (column 7), each of length length (index)",
        "  delegated prefixes are of length length (index), where type (index) is 2",
    ] {
        assert!(words.lines().any(|other| other == line), "{line}\n{words}");
    }
    let words = built_in("standard-connected").describe();
    for line in [
        "  ranges: the network of gateway address (index) with mask mask (column 3)",
        "  only IPv4 prefixes of /9 to /29",
        "  too large to be read beyond 20000 rows",
    ] {
        assert!(words.lines().any(|other| other == line), "{line}\n{words}");
    }
    let words = built_in("cisco-ios").describe();
    assert!(
        words.contains("  VRF: the pool group group (column 7), unless group-as-vrf = false\n"),
        "{words}"
    );
    assert!(words.contains("and sysDescr has not \"IOS XR\"."), "{words}");
    let unchosen: String = GOOD.replacen("[detect]\nsys-object-id = [\"1.3.6.1.4.1.99999\"]\n", "", 1);
    assert!(parsed(&unchosen).describe().contains("Never chosen by auto"));
}

#[test]
fn a_descriptor_in_short_is_data() {
    let summary = serde_json::to_value(built_in("huawei").summary()).unwrap();
    assert_eq!(summary["name"], "huawei");
    assert_eq!(summary["file"], serde_json::Value::Null);
    assert_eq!(summary["sys_object_ids"], serde_json::json!(["1.3.6.1.4.1.2011.2"]));
    assert_eq!(
        summary["tables"][0],
        serde_json::json!({
            "name": "sections", "mib": "hwIPSectionTable", "entry": "1.3.6.1.4.1.2011.6.8.1.2.1",
            "columns": [3, 4, 5, 6, 10], "ranges": true, "fallback": false
        })
    );
    assert_eq!(summary["tables"][1]["fallback"], true);
}

#[test]
fn a_folder_adds_and_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("mine.toml", GOOD);
    write("zte.toml", &GOOD.replacen("name = \"test\"", "name = \"zte-uas\"", 1));
    write("notes.txt", "not a descriptor");
    let library = Library::built_in().with_folder(folder.path()).unwrap();
    assert_eq!(library.iter().len(), Library::built_in().iter().len() + 1);
    assert_eq!(library.get("zte-uas").unwrap().vendor(), "Test");
    assert_eq!(library.get("test").unwrap().origin(), &Origin::File(folder.path().join("mine.toml")));
    assert_eq!(library.get("huawei").unwrap().origin(), &Origin::BuiltIn);

    write("twice.toml", GOOD);
    let error = Library::built_in().with_folder(folder.path()).unwrap_err();
    assert!(matches!(error, LibraryError::Twice { .. }), "{error}");
    write("twice.toml", "name = ");
    let error = Library::built_in().with_folder(folder.path()).unwrap_err().to_string();
    assert!(error.contains("twice.toml:1:"), "{error}");
    let missing = Library::built_in().with_folder(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(missing, LibraryError::Unreadable { .. }));
}

#[test]
fn auto_goes_by_the_longest_prefix_and_the_description() {
    let library = Library::built_in();
    let names = |oid: &str, descr: &str| -> Vec<String> {
        let candidates = library.candidates(&oid.parse().unwrap(), descr);
        candidates.iter().map(|candidate| candidate.name().to_string()).collect()
    };
    assert_eq!(names("1.3.6.1.4.1.4874.1.1.1.1.3", ""), ["juniper-junose"]);
    assert_eq!(names("1.3.6.1.4.1.2011.2.89.5", ""), ["huawei"]);
    assert_eq!(names("1.3.6.1.4.1.9.1.2093", "Cisco IOS Software, ASR1000"), ["cisco-ios"]);
    assert_eq!(names("1.3.6.1.4.1.9.1.1017", "Cisco IOS XR Software (Cisco ASR9K Series)"), ["cisco-ios-xr"]);
    assert_eq!(names("1.3.6.1.4.1.3902.3.100.27", ""), ["zte-uas"]);
    assert_eq!(names("1.3.6.1.4.1.54268", ""), ["netelastic-flexbng"]);
    assert_eq!(names("1.3.6.1.4.1.2636.1.1.1.2.21", ""), ["juniper-junos"]);
    assert_eq!(names("1.3.6.1.4.1.2636.1.1.1.4.21", ""), [""; 0]);
    assert_eq!(names("1.3.6.1.4.1.6527.1.3.17", ""), ["nokia-sros"]);
    assert_eq!(names("1.3.6.1.4.1.2352.1.15", ""), ["ericsson-redback"]);
    assert_eq!(names("1.3.6.1.4.1.193.218.1.18", ""), ["ericsson-ssr"]);
    assert_eq!(names("1.3.6.1.4.1.25506.11.1.172", ""), ["h3c-comware"]);
    // RouterOS has no pool table.
    assert_eq!(names("1.3.6.1.4.1.14988.1", ""), [""; 0]);
    // By arc, not by text: 542 is no prefix of 54268, and 9.1 none of 91.
    assert_eq!(names("1.3.6.1.4.1.91.1", ""), [""; 0]);
}
