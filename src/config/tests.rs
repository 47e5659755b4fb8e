//! What the configuration means, once it is in order; what is not (`broken`); steering (`steer`).

mod broken;
mod steer;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::snmp::{AuthProtocol, Credentials, KeyExtension, Limits, PrivacyProtocol, User};

const HEAD: &str =
    "default-edge = \"c\"\n[edge.c]\naddresses = [\"198.51.100.1\"]\n[edge.d]\nhost = \"d.example.net\"\n";
const V2: &str = "[snmp.v2]\nversion = \"2c\"\ncommunity = { env = \"COMMUNITY\" }\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn load(&self, text: impl AsRef<[u8]>) -> Result<Loaded, ConfigError> {
        self.write("config.toml", text);
        let variables =
            [("COMMUNITY", "Bv4hNs82Lq6t"), ("CREDENTIALS_DIRECTORY", self.0.path().to_str().unwrap())];
        let variables = variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Loader { environment: Environment { variables }, secrets: true }.load(&self.path("config.toml"))
    }
}

fn load(text: &str) -> Loaded {
    Folder::new().load(text).unwrap_or_else(|e| panic!("{e}"))
}

/// The places and messages of an error.
fn faults(error: &ConfigError) -> Vec<(usize, usize, &str)> {
    error.reports.iter().map(|report| (report.line, report.column, report.message.as_str())).collect()
}

fn warnings(loaded: &Loaded) -> Vec<(usize, usize, &str)> {
    loaded.warnings.iter().map(|report| (report.line, report.column, report.message.as_str())).collect()
}

#[test]
fn the_example_names_every_key() {
    let example = include_str!("../../config/poolsync.example.toml");
    for (table, keys) in KEYS {
        for key in *keys {
            let forms = [
                format!("\n{key} ="),
                format!("\n#{key} ="),
                format!("{{ {key} ="),
                format!(", {key} ="),
                format!("[{key}"),
                format!("[[{key}"),
            ];
            assert!(forms.iter().any(|form| example.contains(form.as_str())), "`{key}` of {table}");
        }
    }
}

#[test]
fn the_least_configuration_has_the_defaults() {
    let loaded = load("default-edge = \"c\"\n[edge.c]\nhost = \"c.example.net\"\n");
    let config = loaded.config;
    assert_eq!(config.store.path, Path::new("/var/lib/poolsync/poolsync.db"));
    assert_eq!(config.store.keep, Duration::from_secs(90 * 24 * 3600));
    assert_eq!(config.poll.interval, Duration::from_secs(300));
    assert_eq!(config.poll.limits, Limits::default());
    assert_eq!(config.poll.first_publish.millionths(), 950_000);
    assert_eq!((config.guard.remove, config.guard.add_bas), (Share::percent(10), Share::percent(200)));
    assert_eq!((config.guard.max_range.v4, config.guard.max_range.v6), (8, 20));
    assert_eq!(config.stale.after, Duration::from_secs(1800));
    assert_eq!(config.control.socket, Path::new("/run/poolsync/control.sock"));
    assert!(config.http.listen.is_empty());
    for vrf in ["", "default", "global", "Base"] {
        assert_eq!(config.space_of(vrf).map(Name::as_str), Some("internet"));
    }
    assert_eq!(config.space_of("iptv"), None);
    assert_eq!(loaded.warnings.len(), 1, "no BAS is configured");
}

#[test]
fn a_store_elsewhere_has_its_socket_beside_it() {
    let folder = Folder::new();
    let config = folder.load(format!("{HEAD}[store]\npath = \"data/p.db\"\n")).unwrap().config;
    assert_eq!(config.store.path, folder.path("data/p.db"), "relative to the file's folder");
    assert_eq!(config.control.socket, folder.path("data/p.db.sock"));
}

#[test]
fn the_bas_goes_before_its_profile_and_that_before_poll() {
    let text = format!(
        "{HEAD}[poll]\ntimeout = \"1s\"\nretries = 1\nmax-rows = 1\npps = 1\nsource = \"192.0.2.1\"\ninterval = \"1m\"\n{V2}\
         timeout = \"2s\"\nretries = 2\npps = 2\nreply-from = [\"192.0.2.2\"]\nencoding = \"gbk\"\ncontext-community = \"{{community}}@{{context}}\"\n\
         [bas.x]\naddress = \"192.0.2.9\"\nsnmp = \"v2\"\nedges = [\"c\"]\ntimeout = \"3s\"\nreply-from = []\ninterval = \"3m\"\nencoding = \"big5\"\n"
    );
    let config = load(&text).config;
    let polling = config.polling(&config.bas["x"]).unwrap();
    let limits = Limits { timeout: Duration::from_secs(3), retries: 2, max_rows: 1, ..Limits::default() };
    assert_eq!(polling.limits, limits);
    assert_eq!((polling.pps, polling.source), (Some(2), Some("192.0.2.1".parse().unwrap())));
    assert_eq!((polling.reply_from, polling.interval), (Vec::new(), Duration::from_secs(180)));
    assert_eq!(polling.encoding.unwrap().0, encoding_rs::BIG5);
    assert_eq!(polling.credentials, Some(Credentials::V2c(snmp::Secret::new("Bv4hNs82Lq6t"))));
    assert_eq!(polling.context_community, Some(ContextCommunity::At));
    let other = config.polling_by(&config.snmp["v2"]);
    assert_eq!((other.limits.timeout, other.interval), (Duration::from_secs(2), Duration::from_secs(60)));
}

#[test]
fn a_profile_of_snmpv3_becomes_its_user() {
    let folder = Folder::new();
    folder.write("auth", "auth password\r\n").write("keys/priv", b"pr\xffvacy password\n\n");
    let text = format!(
        "{HEAD}[snmp.core]\nversion = \"3\"\nuser = \"poolsync\"\nauth = {{ protocol = \"sha384\", secret = {{ credential = \"auth\" }} }}\n\
         privacy = {{ protocol = \"aes256\", secret = {{ file = \"keys/priv\" }} }}\nkey-extension = \"reeder\"\n\
         engine-id = \"80001F8804\"\ncontext = \"vr1\"\ncontext-engine-id = \"8000000001\"\n[snmp.open]\nversion = \"3\"\nuser = \"guest\"\n"
    );
    let config = folder.load(&text).unwrap().config;
    let user = User {
        name: "poolsync".into(),
        auth: Some((AuthProtocol::Sha384, snmp::Secret::new("auth password"))),
        privacy: Some((PrivacyProtocol::Aes256, snmp::Secret::new(*b"pr\xffvacy password\n"))),
        key_extension: KeyExtension::Reeder,
        engine_id: Some(vec![0x80, 0, 0x1f, 0x88, 4]),
    };
    assert_eq!(config.snmp["core"].credentials(), Some(Credentials::V3(user)));
    let context = snmp::Context { name: b"vr1".to_vec(), engine_id: Some(vec![0x80, 0, 0, 0, 1]) };
    assert_eq!(config.snmp["core"].context, context);
    let Some(Credentials::V3(guest)) = config.snmp["open"].credentials() else { panic!("SNMPv3") };
    assert_eq!((guest.auth, guest.privacy, guest.engine_id), (None, None, None));
}

#[test]
fn secrets_are_shown_nowhere() {
    let text = format!("{HEAD}[snmp.a]\nversion = \"2c\"\ncommunity = \"Zq7xWv93Kp5m\"\n");
    let loaded = load(&text);
    assert!(warnings(&loaded).contains(&(8, 13, "this secret stands in the configuration itself")));
    let shown = format!("{loaded:?} {} {}", loaded.config.to_toml(), loaded.warnings[0]);
    let sources = shown.matches("Zq7xWv93Kp5m").count();
    assert_eq!(sources, 0, "{shown}");
    let Version::V2c { community, .. } = &loaded.config.snmp["a"].version else { panic!("SNMPv2c") };
    assert_eq!(community.to_string(), "********");
    assert_eq!(format!("{community:?}"), "Secret(Inline)");
}

#[test]
fn a_secret_that_everybody_can_read_deserves_a_word() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("key", "community-of-all");
    let text = format!("{HEAD}[snmp.a]\nversion = \"2c\"\ncommunity = {{ file = \"key\" }}\n");
    for (mode, words) in [(0o644, 1), (0o640, 0)] {
        fs::set_permissions(folder.path("key"), fs::Permissions::from_mode(mode)).unwrap();
        let loaded = folder.load(&text).unwrap();
        let open = loaded.warnings.iter().filter(|report| report.message.starts_with("everybody")).count();
        assert_eq!(open, words, "{mode:o}");
    }
}

const BAS: &str = "[bas.a]\naddress = \"192.0.2.1\"\nsnmp = \"v2\"\nedges = { default = [\"c\"], iptv = [\"d\", \"c\"] }\npair = \"ab\"\n\
    [bas.b]\naddress = \"192.0.2.2\"\nsnmp = \"v2\"\nedges = { iptv = [\"d\", \"c\"], default = [\"c\"] }\npair = \"ab\"\n\
    [bas.z]\naddress = \"192.0.2.3\"\nsnmp = \"v2\"\nedges = [\"d\"]\n";

#[test]
fn pairs_and_static_lines_are_owners() {
    let lines = "[[static]]\nrange = \"203.0.113.0/24\"\nbas = \"a\"\n[[static]]\nrange = \"203.0.114.0/24\"\nedges = [\"d\", \"c\"]\nmode = \"override\"\n";
    let config = load(&format!("{HEAD}{V2}{BAS}{lines}")).config;
    let owners: Vec<Name> = config.statics.iter().map(|line| config.owner_of(line)).collect();
    assert_eq!(owners, ["ab".into(), "edges:d,c".into()] as [Name; 2]);
    assert_eq!((config.statics[0].mode, config.statics[1].mode), (Mode::Fill, Mode::Override));
    let names = |names: &[&str]| names.iter().map(|name| Name::from(*name)).collect::<Vec<_>>();
    let expected: BTreeMap<Name, BTreeMap<Name, Vec<Name>>> = [
        ("ab".into(), [("default".into(), names(&["c"])), ("iptv".into(), names(&["d", "c"]))].into()),
        ("edges:d,c".into(), [("default".into(), names(&["d", "c"]))].into()),
        ("z".into(), [("default".into(), names(&["d"]))].into()),
    ]
    .into();
    assert_eq!(config.edges_by_owner(), expected);
}

#[test]
fn a_profile_whose_notifications_are_refused_deserves_a_word() {
    let text = |listen: &str| {
        format!(
            "{HEAD}[snmp.v3]\nversion = \"3\"\nuser = \"u\"\n[snmp.unused]\nversion = \"3\"\nuser = \"u\"\n\
             [bas.a]\naddress = \"192.0.2.1\"\nsnmp = \"v3\"\nedges = [\"c\"]\n[notifications]\nlisten = [{listen}]\n"
        )
    };
    let loaded = load(&text("\"127.0.0.1\""));
    assert_eq!(loaded.config.notifications.listen, ["127.0.0.1:1162".parse().unwrap()]);
    let warning = "notifications of BASes of this profile are refused: they are not signed";
    assert_eq!(warnings(&loaded), [(6, 7, warning)]);
    assert_eq!(warnings(&load(&text(""))), []);
}

#[test]
fn whether_a_group_is_a_vrf_is_said_in_a_table_and_in_a_cell() {
    let folder = Folder::new();
    folder.write(
        "bas.csv",
        "name,address,snmp,edges,group-as-vrf\na,192.0.2.1,v2,c,false\nb,192.0.2.2,v2,c,true\ne,192.0.2.3,v2,c,\n",
    );
    let text = format!(
        "{HEAD}{V2}[inventory]\nfile = \"bas.csv\"\n[bas.f]\naddress = \"192.0.2.4\"\nsnmp = \"v2\"\nedges = [\"c\"]\n\
         group-as-vrf = false\n"
    );
    let config = folder.load(text).unwrap().config;
    let said: Vec<Option<bool>> =
        ["a", "b", "e", "f"].iter().map(|name| config.bas[*name].group_as_vrf).collect();
    assert_eq!(said, [Some(false), Some(true), None, Some(false)]);
    folder.write("bas.csv", "name,address,snmp,edges,group-as-vrf\na,192.0.2.1,v2,c,no\n");
    let error = folder.load(format!("{HEAD}{V2}[inventory]\nfile = \"bas.csv\"\n")).unwrap_err();
    assert_eq!(faults(&error), [(2, 18, "this is a string")]);
}

#[test]
fn an_inventory_says_what_tables_say() {
    let folder = Folder::new();
    folder.write(
        "fleet/bas.csv",
        "\u{feff}name,address,snmp,edges.default,edges.iptv,pair,mib,pools.exclude,vrfs\r\n\
         a,192.0.2.1,v2,c,d c,ab,,test-*;x,\r\n\"b\",192.0.2.2,v2,\"c\",d;c,ab,zte-uas,,iptv\r\n",
    );
    folder.write("bas.d/z.toml", "[bas.z]\naddress = \"192.0.2.3\"\nsnmp = \"v2\"\nedges = [\"d\"]\n");
    folder.write(
        "legacy.csv",
        "# kept by hand\nrange,bas,edges\n203.0.113.0/24,a,\n\n203.0.114.7-203.0.114.9,,d;c\n",
    );
    let head = format!("static-file = \"legacy.csv\"\n{HEAD}{V2}[inventory]\nfile = \"fleet/bas.csv\"\n");
    let loaded = folder.load(&head).unwrap_or_else(|e| panic!("{e}"));
    let config = &loaded.config;
    assert_eq!(config.edges_by_owner().len(), 3, "ab, z and edges:d,c");
    assert_eq!(config.bas["a"].edges["iptv"], ["d".into(), "c".into()] as [Name; 2]);
    assert_eq!(config.bas["a"].mib, Descriptor::Auto);
    assert_eq!(config.bas["b"].mib, Descriptor::Named("zte-uas".into()));
    assert!(!config.bas["a"].pools.takes("test-1") && config.bas["a"].pools.takes("test"));
    assert_eq!(config.bas["b"].vrfs.as_deref(), Some(&["iptv".into()] as &[Name]));
    assert_eq!(config.statics[1].target, Target::Edges(["d".into(), "c".into()].into()));
    assert_eq!(config.statics[1].range, "203.0.114.7-203.0.114.9".parse().unwrap());
    let names: Vec<_> = loaded.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["config.toml", "z.toml", "bas.csv", "legacy.csv"]);
    assert_eq!(warnings(&loaded), [(3, 38, "the VRF `iptv` belongs to no space: its pools enter no table")]);
    let printed = config.to_toml();
    assert_eq!(&Folder::new().load(&printed).unwrap().config, config, "{printed}");
}

#[test]
fn pools_are_filtered_by_name() {
    let glob = |texts: &[&str]| texts.iter().map(|text| Glob::new(*text)).collect();
    let filter = PoolFilter { include: glob(&["iptv-*", "x"]), exclude: glob(&["*-test"]) };
    for (pool, taken) in [("iptv-1", true), ("x", true), ("iptv-test", false), ("y", false)] {
        assert_eq!(filter.takes(pool), taken, "{pool}");
    }
    assert!(PoolFilter::default().takes("anything"));
}

#[test]
fn what_is_likely_a_slip_deserves_a_word() {
    let text = format!(
        "{HEAD}{V2}[snmp.v3]\nversion = \"3\"\nuser = \"x\"\nkey-extension = \"reeder\"\n\
         [bas.x]\naddress = \"2001:db8::1:161\"\nsnmp = \"v2\"\nedges = [\"c\"]\nvrfs = [\"\", \"voice\"]\n\
         [export.e]\nformat = \"csv\"\npath = \"e.csv\"\nservice = \"iptv\"\nonly = [\"gz-*\"]\n"
    );
    assert_eq!(
        warnings(&load(&text)),
        [
            (12, 17, "this has no effect: only aes192 and aes256 stretch keys"),
            (14, 11, "this is the address 2001:db8::1:161, port 161"),
            (17, 13, "the VRF `voice` belongs to no space: its pools enter no table"),
            (21, 11, "no BAS has edges for the service `iptv`: all answer with `default`"),
            (22, 8, "this fits no BAS: the export holds nothing but the default edge"),
        ]
    );
}

/// What a consumer will not bear is told before there is a table.
#[test]
fn consumers_limits_are_warned_of() {
    let mut text = format!("{HEAD}{V2}");
    for n in 0..254 {
        text += &format!(
            "[edge.e{n}]\naddresses = [\"198.51.100.1\"]\n[bas.b{n}]\naddress = \"192.0.2.{n}\"\nsnmp = \"v2\"\nedges = [\"e{n}\"]\n"
        );
    }
    let at = text.lines().count();
    let export = |more: &str| {
        let text = format!("{text}[export.x]\nformat = \"gdnsd-nets\"\npath = \"nets\"\n{more}");
        let loaded = load(&text);
        warnings(&loaded).into_iter().map(|(line, _, text)| (line - at, text.to_owned())).collect::<Vec<_>>()
    };
    let many =
        "gdnsd-nets with 255 groups: above 254, gdnsd refuses its configuration: a map holds 254 datacenters";
    let pace = "at this pace the consumer may never take a change up";
    assert_eq!(export(""), [(1, pace.to_owned()), (2, many.to_owned())]);
    // One region alone has few groups, and a consumer that is told need not settle.
    assert_eq!(export("only = [\"b1*\"]\nmin-interval = \"15s\"\n"), []);
    assert_eq!(export("only = [\"b1*\"]\nreload = [\"gdnsdctl\", \"replace\"]\n"), []);
    let early =
        "only = [\"b1*\"]\nmin-interval = \"15s\"\nname = \"a.net\"\ncanary = { dns = \"127.0.0.1:53\" }\n";
    assert_eq!(export(early), [(7, "the consumer cannot answer anew in this time".to_owned())]);
}

#[test]
fn descriptors_are_checked_by_those_who_know_them() {
    let text = format!(
        "{HEAD}{V2}[bas.x]\naddress = \"192.0.2.1\"\nsnmp = \"v2\"\nedges = [\"c\"]\nmib = \"huawei-ip4\"\n"
    );
    let loaded = load(&text);
    assert!(loaded.check_descriptors(&["huawei-ip4"]).is_ok());
    let error = loaded.check_descriptors(&["zte-uas", "huawei-ipv4"]).unwrap_err();
    assert_eq!(faults(&error), [(13, 7, "there is no descriptor `huawei-ip4`")]);
    assert_eq!(
        error.reports[0].help,
        ["did you mean `huawei-ipv4`? expected one of `auto`, `zte-uas`, `huawei-ipv4`"]
    );
}

#[test]
fn the_example_lists_the_formats_there_are() {
    let example = include_str!("../../config/poolsync.example.toml");
    let comment = |key: &str| {
        let (before, _) = example.split_once(&format!("\n{key} = ")).unwrap();
        before.rsplit("\n\n").next().unwrap().rsplit("\n[").next().unwrap().to_owned()
    };
    let listed = comment("format");
    for format in crate::format::formats() {
        assert!(listed.contains(format.name()), "{}: {listed}", format.name());
    }
    let listed = comment("groups");
    for format in crate::format::groups::groups_formats() {
        assert!(listed.contains(format.name()), "{}: {listed}", format.name());
    }
}
