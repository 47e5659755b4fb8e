//! The recipe of the README for a router that no descriptor covers, step by step, on a box that
//! nobody has ever seen, served by `snmpsimd`. Descriptor and configuration are the README's own.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::path::Path;

use serde_json::Value;
use support::json::text;
use support::poolsync::{self, Outcome};
use support::scratch::Scratch;
use support::site::{self, Site, configuration};
use support::{have, repository, snmpsim};

/// The section of the README, without the indentation of its list.
fn section() -> String {
    let readme = site::content(&repository("README.md"));
    let (_, section) = readme.split_once("\n## A router that no descriptor covers\n").unwrap();
    let section = section.split_once("\n## ").unwrap().0;
    section.lines().map(|line| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n").collect()
}

/// Its blocks of code in a language, in order.
fn blocks(section: &str, language: &str) -> Vec<String> {
    let blocks = section.split("```").skip(1).step_by(2);
    let mut found = Vec::new();
    for block in blocks {
        let (head, body) = block.split_once('\n').unwrap();
        if head == language {
            found.push(body.to_owned());
        }
    }
    found
}

/// Runs a command line of the README, on this router and with these files.
fn run(line: &str, address: &str, folder: &Path) -> Outcome {
    let mut words = line.split_whitespace().filter(|word| *word != "COMMUNITY=...");
    assert_eq!(words.next(), Some("poolsync"), "{line}");
    let mut command = poolsync::command(words.map(|word| if word == "192.0.2.9" { address } else { word }));
    command.env("COMMUNITY", "acme").current_dir(folder);
    poolsync::run_command(command)
}

/// Ranges as `POOL VRF SPACE FIRST LAST DELEGATED`.
fn ranges(walk: &Value) -> Vec<String> {
    let list = walk["ranges"].as_array().unwrap().iter();
    list.map(|range| {
        let [pool, vrf, first, last] = ["pool", "vrf", "first", "last"].map(|key| text(&range[key]));
        let space = range["space"].as_str().unwrap_or("none");
        format!("{pool} [{vrf}] {space} {first} {last} {}", range["delegated_len"])
    })
    .collect()
}

#[test]
fn the_recipe_leads_from_an_unknown_box_to_its_addresses() {
    if !have("the_recipe_leads_from_an_unknown_box_to_its_addresses", &["snmpsimd"]) {
        return;
    }
    let scratch = Scratch::new();
    let simulator = snmpsim::Simulator::start(&scratch, &[repository("tests/data/recipe/acme.snmprec")]);
    let address = simulator.address().to_string();
    let work = scratch.folder("work");
    let section = section();
    let commands: Vec<String> =
        blocks(&section, "").iter().flat_map(|block| block.lines()).map(str::to_owned).collect();
    let [save, check, replay, walk] = &commands[..] else { panic!("{commands:?}") };
    let [descriptor, used] = &blocks(&section, "toml")[..] else { panic!("{section}") };

    // 1. It is unknown; the way on is shown, and everything of the vendor's is saved.
    let unknown = run(save, &address, &work).expect(1);
    unknown.clone().said(&[
        "no-descriptor",
        "1.3.6.1.4.1.99999.1.9000",
        "A router that no descriptor covers",
    ]);
    let saved = site::content(&work.join("router.snmprec"));
    let served = site::content(&repository("tests/data/recipe/acme.snmprec"));
    assert_eq!(saved, served, "all that it has");
    let plain = run(save.split_once(" --save").unwrap().0, &address, &work).expect(1);
    plain.said(&["`--save FILE` records what it has", "mib check DESCRIPTOR --walk FILE"]);

    // 2. What the README reads off the recording is there.
    assert!(
        section.contains("`4.104.111.109.101` is \"home\"")
            && saved.contains(".4.104.111.109.101.1|64|198.18.0.10")
    );

    // 3. and 4. A slip is shown where it is; then every row.
    std::fs::write(work.join("acme.toml"), descriptor.replacen("octets16", "octets-16", 1)).unwrap();
    let slip = run(check, &address, &work).expect(1);
    slip.said(&["acme.toml:35:", "octets-16", "octets16", "^"]);
    std::fs::write(work.join("acme.toml"), descriptor).unwrap();
    run(check, &address, &work).expect(0);
    let rows = run(replay, &address, &work).expect(0).stdout;
    for line in [
        "acme knows this router by its sysObjectID and sysDescr.",
        "Table ranges (1.3.6.1.4.1.99999.2.1.1): complete, 6 rows: 4 listed, 2 rejected, 0 passed over",
        "    -> pool home: 198.18.0.10 - 198.18.3.254",
        "    -> pool tv in VRF iptv: 100.64.0.2 - 100.64.7.253",
        "    -> pool home-pd: 2001:db8:4000:: - 2001:db8:4fff:ffff:ffff:ffff:ffff:ffff, delegated by /56",
        "2 objects of the recording are not used.",
    ] {
        assert!(rows.lines().any(|other| other == line), "{line} in:\n{rows}");
    }

    // 5. The router itself.
    let read = run(walk, &address, &work).expect(0);
    read.clone().said(&["`corp-a` belongs to no space", "`iptv` belongs to no space"]);
    assert!(read.stdout.contains("row 3.111.108.100.1 of ranges: not active"), "{}", read.stdout);
    assert!(read.stdout.contains("row 4.118.111.105.100.1 of ranges: nothing configured"), "{}", read.stdout);
    let expected = [
        "tv [iptv] none 100.64.0.2 100.64.7.253 null",
        "corp [corp-a] none 192.168.4.10 192.168.4.20 null",
        "home [] internet 198.18.0.10 198.18.3.254 null",
        "home [] internet 198.18.8.0 198.18.8.127 null",
        "home-pd [] internet 2001:db8:4000:: 2001:db8:4fff:ffff:ffff:ffff:ffff:ffff 56",
        "tv-nd [iptv] none 2001:db8:5000:: 2001:db8:5000:ffff:ffff:ffff:ffff:ffff 64",
    ];
    assert_eq!(ranges(&run(&format!("{walk} --json"), &address, &work).expect(0).json()), expected);
    let replayed =
        run("poolsync walk --replay router.snmprec --mib acme.toml --json", &address, &work).expect(0);
    assert_eq!(ranges(&replayed.json()), expected);

    // 6. In the configuration, found by itself.
    let mibs = scratch.folder("mibs");
    std::fs::copy(work.join("acme.toml"), mibs.join("acme.toml")).unwrap();
    let text = configuration(&[("acme-1", simulator.address(), "east")]).replacen(
        &format!("{{ env = \"{}\" }}", site::COMMUNITY_ENV),
        "\"acme\"",
        1,
    ) + &used.replace("/etc/poolsync/mibs", mibs.to_str().unwrap());
    let site = Site::new(scratch, &text);
    site.run(&["check"]).expect(0);
    site.run(&["poll"]).expect(0);
    assert_eq!(site.run(&["status", "--json"]).expect(0).json()["bas"][0]["descriptor"], "acme");
    let found = site.run(&["lookup", "198.18.2.1", "--json"]).expect(0).json();
    assert_eq!([&found[0]["group"], &found[0]["entry"]["pool"]], ["east", "home"]);
    let found = site.run(&["lookup", "100.64.1.1", "--space", "iptv", "--json"]).expect(0).json();
    assert_eq!(found[0]["entry"]["pool"], "tv");
    // Without space for it, the corporate pool enters no table.
    assert_eq!(site.entries().len(), 5, "{:?}", site.entries());
}
